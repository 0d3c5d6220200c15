"""The matrix-vector product: pull (by rows, or balanced for skewed rows) or push, chosen by rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from ...dtypes import BOOL, UINT8
from ...formats import CSR, Array, Bitmap, Full, IndexList, Pattern, VectorStore, word_count
from ...formats.vectors import empty_vector
from .. import spec
from ..registry import implements, note, run
from ..spec import Convert, Mxv
from . import tuning
from .algebra import constant_product, native_atomic, start_value
from .compile import kernel
from .degrees import degrees
from .launch import BLOCK, bitmap, counter, full, grid, multiprocessors, values_of
from .primitives import filled
from .specialise import constants, semiring, typedefs


@dataclass(frozen=True)
class _Mask:
    """A mask as kernels take it; form 0 is none, 1 presence, 2 presence and value, 3 value alone.

    admitted: how many results it admits, where that is known without waiting for the device.
    """

    form: int = 0
    complement: bool = False
    words: Array | None = None
    values: Array | None = None
    dtype: np.dtype[Any] = UINT8
    admitted: int | None = None


@implements(Mxv, engine="cuda", absorbs=("mask",))
def mxv(q: Mxv) -> VectorStore:
    """Rows that the mask does not admit are skipped before any work; pattern-only products read no values.

    Synchronises only for facts that are kept: the longest row the first time that a matrix is used, and the number
    of entries of a bitmap vector if it was not known and both directions are at hand.
    """
    mask = _mask(q.mask, q.nout)
    if mask is None or q.nout == 0:
        return empty_vector(q.nout, q.semiring.z, "cuda")
    if _pushes(q, mask):
        return _push(q, mask)
    return _pull(q, mask)


def _mask(mask: spec.Mask | None, nout: int) -> _Mask | None:
    """None if the mask admits nothing."""
    if mask is None:
        return _Mask(admitted=nout)
    store = mask.store
    assert not isinstance(store, CSR)
    structural = mask.structural or (store.iso is not None and bool(store.iso))
    if not structural and store.iso is not None:  # every entry is 0
        return _Mask(admitted=nout) if mask.complement else None
    if isinstance(store, Full) and structural:
        return None if mask.complement else _Mask(admitted=nout)
    if isinstance(store, IndexList):
        store = run(Convert(store, "bitmap"), "cuda")
    if isinstance(store, Full):
        return _Mask(3, mask.complement, None, store.values, store.dtype)
    assert isinstance(store, Bitmap)
    if not structural:
        return _Mask(2, mask.complement, store.words, store.values, store.dtype)
    admitted = store.count.get() if store.count.known else None
    if admitted is not None and mask.complement:
        admitted = nout - admitted
    return _Mask(1, mask.complement, store.words, admitted=admitted)


def _pushes(q: Mxv, mask: _Mask) -> bool:
    """Push follows the edges of u's entries, each for an atomic; pull probes until its sums are finished."""
    add = q.semiring.add
    may_push = add.is_any or start_value(add) is not None
    if max(q.nout, q.ninner) >= 2**31 > min(q.nout, q.ninner):
        may_push = False  # lists hold rows in the type of columns
    if q.direction != "auto" or not may_push:
        return may_push and q.direction == "push"
    if isinstance(q.vector, Full) and q.by_row.ready:
        return False
    if q.by_row.ready and not q.by_column.ready:
        return False
    present = q.vector.nvals  # synchronises where the number is still on the device
    if not q.by_row.ready:
        return present * tuning.SPARSE_SHARE <= q.ninner
    if present == 0:
        return True
    entries = q.by_row.get().nvals
    admitted = q.nout if mask.admitted is None else mask.admitted
    share = admitted / max(q.nout, 1)
    probes = entries * share
    if _finishes_early(q):
        probes = min(probes, admitted * q.ninner / present)
    edges = entries * present / max(q.ninner, 1)
    return tuning.PUSH_COST * edges + q.nout / tuning.SWEEP_ROWS < probes


def _finishes_early(q: Mxv) -> bool:
    """True if sums are likely to be finished before their row is: the ends of a number type seldom turn up."""
    add = q.semiring.add
    return add.is_any or (add.terminal is not None and add.dtype == BOOL)


def _prologue(q: Mxv, a: CSR, mask: _Mask, valued: bool) -> str:
    types = typedefs(P=a.indptr.dtype, J=a.indices.dtype, A=a.dtype, U=q.vector.dtype, M=mask.dtype)
    u_full = isinstance(q.vector, Full)
    flags = constants(FLIP=q.flip, U_FULL=u_full, MASK=mask.form, COMPLEMENT=mask.complement, VALUED=valued)
    return semiring(q.semiring) + types + flags


def _result(q: Mxv, words: Array, values: Array | np.generic, count: Array | int) -> VectorStore:
    if isinstance(count, int) and count == q.nout:
        return full(q.nout, q.semiring.z, values)
    return bitmap(q.nout, q.semiring.z, words, values, count)


def _pull(q: Mxv, mask: _Mask) -> VectorStore:
    a, u = q.by_row.get(), q.vector
    if isinstance(u, IndexList):
        u = run(Convert(u, "bitmap"), "cuda")
    facts = degrees(a.pattern)
    z = q.semiring.z
    constant = constant_product(q.semiring, a, u, q.flip)
    prologue = _prologue(q, a, mask, constant is None)
    words = cupy.empty(word_count(q.nout), np.uint32)
    values = None if constant is not None else cupy.empty(q.nout, z)
    # Which rows of a full vector's product have an entry is a fact of the pattern.
    count = facts.nonempty if isinstance(u, Full) and mask.form == 0 else counter()
    u_words = u.words if isinstance(u, Bitmap) else None
    arguments = (
        a.indptr, a.indices, *values_of(a), u_words, *values_of(u), mask.words, mask.values, words, values, q.nout
    )  # fmt: skip
    counted = counter() if isinstance(count, int) else count

    average = a.nvals / max(facts.nonempty, 1)
    skewed = facts.longest > max(tuning.SKEWED_ROW, tuning.BALANCED_SKEW * average)
    early = constant is not None or _finishes_early(q)
    if early and facts.longest > tuning.EARLY_ROW:
        early = isinstance(u, Full) or (u.count.known and u.nvals * tuning.DENSE_SHARE >= u.size)
    if early:
        run_early = kernel("mxv_pull.cuh", "mxv_pull_early", prologue + _shape(1))
        run_early(grid(32 * words.size), BLOCK, *arguments, counted)
    elif skewed:
        _balanced(a, prologue, arguments, words, values, None if isinstance(count, int) else counted)
    else:
        lanes = 1
        while lanes < 32 and 2 * lanes <= average:
            lanes *= 2
        run_group = kernel("mxv_pull.cuh", "mxv_pull_group", prologue + _shape(lanes))
        run_group(grid(32 * words.size), BLOCK, *arguments, counted)
    note(direction="pull", kernel="early" if early else "balanced" if skewed else "group")
    return _result(q, words, values if constant is None else constant, count)


def _shape(lanes: int) -> str:
    return constants(GROUP=lanes, PROBES=tuning.PROBES)


def _tiles(pattern: Pattern, prologue: str) -> Array:
    """Where the tiles begin: kept with the pattern."""
    known = pattern.facts.get("cuda.tiles")
    if known is None:
        tiles = -(-(pattern.nrows + pattern.nvals) // tuning.TILE)
        known = cupy.empty(tiles + 1, np.int64)
        run_tiles = kernel("mxv_balanced.cuh", "mxv_tiles", prologue)
        run_tiles(grid(tiles + 1), BLOCK, pattern.indptr, pattern.nrows, pattern.nvals, known, tiles)
        pattern.facts["cuda.tiles"] = known
    return known


def _balanced(
    a: CSR, prologue: str, arguments: tuple[Any, ...], words: Array, values: Array | None, count: Array | None
) -> None:
    prologue += constants(TILE=tuning.TILE, BLOCK=tuning.TILE_BLOCK)
    first_row = _tiles(a.pattern, prologue)
    tiles = int(first_row.size) - 1
    row, hit = cupy.empty(tiles, np.int64), cupy.empty(tiles, np.bool_)
    value = None if values is None else cupy.empty(tiles, values.dtype)
    words.data.memset_async(0, words.nbytes, cupy.cuda.get_current_stream())
    kernel("mxv_balanced.cuh", "mxv_balanced", prologue)(
        tiles, tuning.TILE_BLOCK, *arguments, a.nvals, first_row, row, hit, value
    )
    kernel("mxv_balanced.cuh", "mxv_carry", prologue)(
        -(-tiles // tuning.TILE_BLOCK), tuning.TILE_BLOCK, row, hit, value, tiles, words, values, a.nrows
    )
    if count is not None:
        _count(prologue, words, count)


def _count(prologue: str, words: Array, count: Array) -> None:
    run_count = kernel("mxv_balanced.cuh", "mxv_count", prologue)
    run_count(grid(int(words.size)), BLOCK, words, int(words.size), count)


def _push(q: Mxv, mask: _Mask) -> VectorStore:
    a, u, add, z = q.by_column.get(), q.vector, q.semiring.add, q.semiring.z
    constant = constant_product(q.semiring, a, u, q.flip)
    form = 0 if isinstance(u, IndexList) else 1 if isinstance(u, Bitmap) else 2
    block = tuning.PUSH_BLOCK
    base = _prologue(q, a, mask, constant is None)
    prologue = base + constants(U_FORM=form, NATIVE=native_atomic(add), BLOCK=block)
    words = cupy.empty(word_count(q.nout), np.uint32)
    words.data.memset_async(0, words.nbytes, cupy.cuda.get_current_stream())
    values = None
    if constant is None:
        start = start_value(add)
        values = cupy.empty(q.nout, z) if start is None else filled(q.nout, start)

    items = u.nvals if isinstance(u, IndexList) else u.size
    listed = u.count.get() if isinstance(u, Bitmap) and u.count.known else items
    row = cupy.empty(listed, a.indices.dtype)
    place = cupy.empty((2, listed), a.indptr.dtype)
    carried = cupy.empty(listed, u.dtype)
    edges, shift = counter(), a.nvals.bit_length()
    u_indices = u.indices.astype(row.dtype, copy=False) if isinstance(u, IndexList) else None
    u_words = u.words if isinstance(u, Bitmap) else None
    kernel("mxv_push.cuh", "mxv_list", prologue)(
        grid(items, block, 1 if form == 0 else 4), block, a.indptr, u_indices, u_words, *values_of(u), items, row,
        place[0], place[1], carried, edges, shift,
    )  # fmt: skip
    kernel("mxv_push.cuh", "mxv_push", prologue)(
        4 * multiprocessors(), block, a.indptr, a.indices, *values_of(a), None, *values_of(u), mask.words,
        mask.values, words, values, q.nout, row, place[0], place[1],
        carried, edges, shift,
    )  # fmt: skip
    count = counter()
    _count(base + constants(TILE=tuning.TILE, BLOCK=tuning.TILE_BLOCK), words, count)
    note(direction="push", kernel="push")
    return _result(q, words, values if constant is None else constant, count)
