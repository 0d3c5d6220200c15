"""The matrix-vector product: pull (by rows, or balanced for skewed rows) or push, chosen by rule."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import UINT8
from ...formats import CSR, AnyPattern, Array, Bitmap, Full, IndexList, VectorStore, index_dtype, word_count
from ...formats.vectors import empty_vector
from ...memory.budget import free_device_memory
from ...operators.types import TypedSemiring
from ..constants import mxv_value
from ..direction import Work, prefers_pull, preset
from ..operands import Mask, admitted_count, simplified
from ..recording import note
from ..registry import ADDRESSABLE, implements, run
from ..sliced.bounds import slice_bounds
from ..spec import Convert, Mxv
from . import tuning
from .algebra import ring_facts
from .columns import column_argument, column_types
from .degrees import degrees, present_rows
from .kernel import Kernel, kernel
from .launch import BLOCK, Counter, bitmap, counter, grid, multiprocessors, read_one, scratch, values_of, words_of
from .packing import packable, packing
from .primitives import as_dense, filled
from .specialise import constants, semiring, typedefs

_INT64 = np.dtype(np.int64)
# Call plans of one matrix; a program uses few semirings and types with it.
_PLANS = 64
_BALANCED = ("mxv_tiles", "mxv_balanced", "mxv_carry")


class _Mask(NamedTuple):
    """A mask as kernel arguments; form 0 is none, 1 presence, 2 presence and value, 3 value alone.

    simple: the mask in its simplest form; None if it admits everything.
    """

    form: int = 0
    complement: bool = False
    words: Array | None = None
    values: Array | None = None
    dtype: np.dtype[Any] = UINT8
    simple: Mask | None = None


_NO_MASK = _Mask()


class _Choice(NamedTuple):
    """push: follow the edges of the vector's entries.  likely: a pull expects to hit an entry in a few probes."""

    push: bool
    likely: bool = False


def _in_slices(q: Mxv) -> dict[str, Any] | None:
    """Return the fields to replace for a product slice by slice: a pull over all entries of a pinned compressed matrix.

    Bulk decoding by slices uses more of the interconnect's bandwidth than rows that wait for their tiles.  Condition:
    two uncompressed slices fit beside the result.
    """
    if not q.by_row.ready or q.nout == 0:
        return None
    a, u = q.by_row.get(), q.vector
    if a.placement != "pinned" or a.format != "ccsr" or mxv_value(q, a, u) is not None:
        return None
    mask = _mask(q.mask, q.nout)
    if mask is None or mask.form != 0:
        return None
    choice = _choose(q, mask)
    early = ring_facts(q.semiring).early and (choice.likely or degrees(a.pattern).longest <= tuning.EARLY_ROW)
    if choice.push or early:
        return None
    entry = index_dtype(a.ncols).itemsize + (0 if a.values is None else a.dtype.itemsize)
    needed = 2 * max(slice_bounds(a.pattern).held(), default=0) * entry + q.nout * (q.semiring.z.itemsize + 1)
    if needed > free_device_memory():
        return None
    if isinstance(u, IndexList):
        u = run(Convert(u, "bitmap"), "cuda")  # once, and not for each slice
    return {"vector": u, "direction": "pull"}


@implements(Mxv, engine="cuda", fuses=("mask",), accepts=ADDRESSABLE, in_slices=_in_slices)
def mxv(q: Mxv) -> VectorStore:
    """Rows that the mask does not admit are skipped before any work; pattern-only products read no values.

    Synchronises only for cached facts: the longest row the first time that a matrix is used, and the number of entries
    of a bitmap vector if it was not known; and, if these do not decide whether to push, for the number of edges of its
    entries.  A pinned compressed matrix that is read completely is processed slice by slice, if there is memory for two
    slices, and synchronises for the bounds of the slices and for the longest row of each.
    """
    mask = _mask(q.mask, q.nout)
    if mask is None or q.nout == 0:
        return empty_vector(q.nout, q.semiring.z, "cuda")
    choice = _choose(q, mask)
    return _push(q, mask) if choice.push else _pull(q, mask, choice.likely)


def _mask(mask: Mask | None, nout: int) -> _Mask | None:
    """None if the mask admits nothing."""
    if mask is None:
        return _NO_MASK
    simple = simplified(mask)
    if isinstance(simple, bool):
        return _NO_MASK if simple else None
    store = simple.store
    assert not isinstance(store, CSR)
    store = as_dense(store)
    if isinstance(store, Full):
        return _Mask(3, simple.complement, None, store.values, store.dtype, simple)
    if not simple.structural:
        return _Mask(2, simple.complement, store.words, store.values, store.dtype, simple)
    return _Mask(1, simple.complement, store.words, simple=simple)


_FULL = _Choice(False, True)


def _choose(q: Mxv, mask: _Mask) -> _Choice:
    """Choose push (one atomic for each edge of u's entries) or pull (probes until the sums are terminal)."""
    u = q.vector
    if isinstance(u, Full) and q.direction == "auto" and q.by_row.ready:  # as in `preset`; the common case
        return _FULL
    facts, known = ring_facts(q.semiring), preset(q)
    may_push = known != "pull" and (facts.is_any or facts.start is not None)
    if max(q.nout, q.ninner) >= 2**31 > min(q.nout, q.ninner):
        may_push = False  # lists hold rows in the type of columns
    if q.direction == "auto" and not packable(_listed(u), (q.by_row if q.by_row.ready else q.by_column).get().nvals):
        may_push = False  # where it is forced, `_push` raises
    if q.direction != "auto" or not may_push:
        return _Choice(may_push, _is_dense(u))
    present = u.nvals  # synchronises where the number is still on the device
    if known == "push":  # the rows that a pull needs would have to be derived, for this product and later ones
        entries = q.by_column.get().nvals
        derived = Work(entries, 0, 0, facts.early, derived=entries)
        return _Choice(
            not prefers_pull(tuning.DEVICE, derived, present, entries * present / max(q.ninner, 1)), _is_dense(u)
        )
    if present == 0:
        return _Choice(True)
    entries = q.by_row.get().nvals
    admitted = admitted_count(mask.simple, q.nout)
    work = Work(entries, admitted, entries * admitted // q.nout, facts.early, push_words=word_count(q.nout))

    def pays(edges: int) -> bool:
        return not prefers_pull(tuning.DEVICE, work, present, edges)

    if facts.early and present * tuning.CROWDED_SHARE >= q.ninner:  # the edges are not counted
        return _Choice(pays(entries), True)
    columns = q.by_column.get().pattern
    if pays(min(entries, present * degrees(columns).longest)):
        return _Choice(True)
    if not pays(present):  # an empty row costs a push no less
        return _Choice(False, _is_dense(u))
    edges = _edges(columns, u)  # synchronises
    return _Choice(pays(edges), edges * tuning.DENSE_SHARE >= entries)


def _is_dense(u: VectorStore) -> bool:
    """Whether a warp expects a hit in one round, as far as that is known without waiting."""
    return (not isinstance(u, Bitmap) or u.count.known) and u.nvals * tuning.DENSE_SHARE >= u.size


def _edges(pattern: AnyPattern, u: VectorStore) -> int:
    """The number of entries in the rows of a pattern that u has.  Synchronises."""
    if isinstance(u, Full):
        return pattern.nvals
    listed = isinstance(u, IndexList)
    indices = u.indices if isinstance(u, IndexList) else None
    words = u.words if isinstance(u, Bitmap) else None
    items = u.nvals if listed else u.size
    prologue = typedefs(P=pattern.indptr.dtype, X=_INT64 if indices is None else indices.dtype)
    total = counter()
    run_edges = kernel("edges.cuh", "count_edges", prologue + constants(LISTED=listed, FORM=2))
    run_edges(grid(items), BLOCK, pattern.indptr, indices, words, items, total)
    return read_one(total)  # synchronises


class _Types(NamedTuple):
    """What the text of a product's kernels depends on besides the semiring."""

    offset: np.dtype[Any]
    columns: str
    element: np.dtype[Any]
    operand: np.dtype[Any]
    masked: np.dtype[Any]
    flip: bool
    u_full: bool
    form: int
    complement: bool
    valued: bool


def _types(q: Mxv, a: CSR, mask: _Mask, valued: bool) -> _Types:
    u = q.vector
    return _Types(
        a.pattern.indptr.dtype, column_types(a.pattern), a.dtype, u.dtype, mask.dtype, q.flip, isinstance(u, Full),
        mask.form, mask.complement, valued,
    )  # fmt: skip


@functools.lru_cache(maxsize=1024)
def _prologue(ring: TypedSemiring, types: _Types) -> str:
    named = typedefs(P=types.offset, A=types.element, U=types.operand, M=types.masked) + types.columns
    flags = constants(
        FLIP=types.flip, U_FULL=types.u_full, MASK=types.form, COMPLEMENT=types.complement, VALUED=types.valued
    )
    return semiring(ring) + named + flags


@functools.lru_cache(maxsize=1024)
def _pull_kernel(ring: TypedSemiring, types: _Types, entry: str, lanes: int) -> Kernel:
    return kernel("mxv_pull.cuh", entry, _prologue(ring, types) + constants(GROUP=lanes, PROBES=tuning.PROBES))


@functools.lru_cache(maxsize=1024)
def _balanced_kernels(ring: TypedSemiring, types: _Types) -> tuple[Kernel, Kernel, Kernel]:
    text = _prologue(ring, types) + constants(TILE=tuning.TILE, BLOCK=tuning.TILE_BLOCK)
    tiles, balanced, carry = (kernel("mxv_balanced.cuh", name, text) for name in _BALANCED)
    return tiles, balanced, carry


@functools.lru_cache(maxsize=1024)
def _push_kernels(ring: TypedSemiring, types: _Types, form: int) -> tuple[Kernel, Kernel]:
    """form: of the vector: 0 an index list, 1 a bitmap, 2 full."""
    own = constants(U_FORM=form, NATIVE=ring_facts(ring).native, BLOCK=tuning.PUSH_BLOCK)
    text = _prologue(ring, types) + own
    return kernel("mxv_push.cuh", "mxv_list", text), kernel("mxv_push.cuh", "mxv_push", text)


class _Rows(NamedTuple):
    """The strategy of a pull over the rows of a pattern, and the kernels of earlier pulls; cached with the pattern."""

    skewed: bool
    lanes: int
    longest: int
    plans: dict[tuple[Any, ...], _PullPlan]


class _PullPlan(NamedTuple):
    """The call plan of a pull: its name for `explain`, and its kernel or the three of a balanced pull."""

    chosen: str
    kernel: Kernel | None
    balanced: tuple[Kernel, Kernel, Kernel] | None


def _rows(a: CSR) -> _Rows:
    known: _Rows | None = a.pattern.facts.get("cuda.pull")
    if known is None:
        facts = degrees(a.pattern)
        average = a.nvals / max(facts.nonempty, 1)  # synchronises, once for a pattern
        skewed = facts.longest > max(tuning.SKEWED_ROW, tuning.BALANCED_SKEW * average)
        known = a.pattern.facts["cuda.pull"] = _Rows(skewed, _lanes(a, average), facts.longest, {})
    return known


def _pull_plan(q: Mxv, a: CSR, mask: _Mask, rows: _Rows, valued: bool, likely: bool) -> _PullPlan:
    """valued: products have values of their own.  likely: see `_Choice`."""
    if len(rows.plans) >= _PLANS:
        rows.plans.clear()
    types = _types(q, a, mask, valued)
    early = (not valued or ring_facts(q.semiring).early) and (likely or rows.longest <= tuning.EARLY_ROW)
    if early or not rows.skewed:
        chosen, lanes = ("early", 1) if early else ("group", rows.lanes)
        return _PullPlan(chosen, _pull_kernel(q.semiring, types, f"mxv_pull_{chosen}", lanes), None)
    return _PullPlan("balanced", None, _balanced_kernels(q.semiring, types))


def _pull(q: Mxv, mask: _Mask, likely: bool) -> VectorStore:
    a, u = q.by_row.get(), as_dense(q.vector)
    rows = _rows(a)
    constant = mxv_value(q, a, u)
    words: Array | None
    count: Counter | int | None
    known = isinstance(u, Full) and mask.form == 0
    if known:
        # Which rows of the product have an entry is a fact of the pattern: only values are left to compute.
        if constant is not None:
            note(direction="pull", kernel="none")
            return present_rows(a.pattern, q.semiring.z, constant)
        words = count = None
    else:
        words, count = cupy.empty(word_count(q.nout), np.uint32), counter()
    values = None if constant is not None else cupy.empty(q.nout, q.semiring.z)
    arguments = (
        a.pattern.indptr, column_argument(a.pattern), *values_of(a), words_of(u), *values_of(u), mask.words,
        mask.values, words, values, q.nout,
    )  # fmt: skip
    key = (
        q.semiring, a.dtype, u.dtype, type(u), mask.form, mask.complement, mask.dtype, q.flip, constant is None, likely
    )  # fmt: skip
    plan = rows.plans.get(key)
    if plan is None:
        plan = rows.plans[key] = _pull_plan(q, a, mask, rows, constant is None, likely)
    if plan.kernel is not None:
        plan.kernel(grid(32 * word_count(q.nout)), BLOCK, *arguments, count)
    elif plan.balanced is not None:
        _balanced(a, plan.balanced, arguments, words, values, count)
    note(direction="pull", kernel=plan.chosen)
    if known:
        assert values is not None
        return present_rows(a.pattern, q.semiring.z, values)
    assert words is not None
    return bitmap(q.nout, q.semiring.z, words, values if constant is None else constant, count)


def _lanes(a: CSR, average: float) -> int:
    """Return the lanes that process a row together; for compressed rows one or all, which decode by prefix sums."""
    if a.format == "ccsr":
        return 32 if average > tuning.DECODED_ROW else 1
    lanes = 1
    while lanes < 32 and 2 * lanes <= average:
        lanes *= 2
    return lanes


def _tiles(pattern: AnyPattern, run_tiles: Kernel) -> Array:
    """Return the positions at which tiles begin; cached with the pattern."""
    known = pattern.facts.get("cuda.tiles")
    if known is None:
        tiles = -(-(pattern.nrows + pattern.nvals) // tuning.TILE)
        known = cupy.empty(tiles + 1, np.int64)
        run_tiles(grid(tiles + 1), BLOCK, pattern.indptr, pattern.nrows, pattern.nvals, known, tiles)
        pattern.facts["cuda.tiles"] = known
    return known


def _balanced(
    a: CSR,
    kernels: tuple[Kernel, Kernel, Kernel],
    arguments: tuple[Any, ...],
    words: Array | None,
    values: Array | None,
    count: Any,
) -> None:
    """words, count: None where presence is known beforehand."""
    run_tiles, run_balanced, run_carry = kernels
    first_row = _tiles(a.pattern, run_tiles)
    tiles = int(first_row.size) - 1
    hit = cupy.empty(tiles, np.bool_)
    value = None if values is None else cupy.empty(tiles, values.dtype)
    if words is not None:
        words.data.memset_async(0, words.nbytes)
    block = tuning.TILE_BLOCK
    run_balanced(tiles, block, *arguments, a.nvals, first_row, hit, value)
    run_carry(-(-tiles // block), block, a.indptr, first_row, hit, value, tiles, words, values, a.nrows)
    if words is not None:
        size = int(words.size)
        kernel("popcount.cuh", "count_bits")(grid(size), BLOCK, words, size, count)


def _listed(u: VectorStore) -> int:
    """A bound on the entries of u that does not wait for the device."""
    if isinstance(u, IndexList) or (isinstance(u, Bitmap) and u.count.known):
        return u.nvals
    return u.size


def _push(q: Mxv, mask: _Mask) -> VectorStore:
    a, u, z, facts = q.by_column.get(), q.vector, q.semiring.z, ring_facts(q.semiring)
    shift = packing("mxv", _listed(u), a.nvals, "let direction be 'auto'")
    constant = mxv_value(q, a, u)
    form = 0 if isinstance(u, IndexList) else 1 if isinstance(u, Bitmap) else 2
    block = tuning.PUSH_BLOCK
    plans = a.pattern.facts.setdefault("cuda.push", {})
    key = q.semiring, a.dtype, u.dtype, form, mask.form, mask.complement, mask.dtype, q.flip, constant is None
    kernels = plans.get(key)
    if kernels is None:
        if len(plans) >= _PLANS:
            plans.clear()
        kernels = plans[key] = _push_kernels(q.semiring, _types(q, a, mask, constant is None), form)
    run_list, run_push = kernels
    words = cupy.empty(word_count(q.nout), np.uint32)
    words.data.memset_async(0, words.nbytes)
    values = None
    if constant is None:
        values = cupy.empty(q.nout, z) if facts.start is None else filled(q.nout, facts.start)

    items = u.nvals if isinstance(u, IndexList) else u.size
    listed = _listed(u)
    column, offsets = index_dtype(a.ncols), listed * a.indptr.dtype.itemsize
    # The values of the vector, where the product reads them, are listed with the rows.
    carries = constant is None and (facts.x if q.flip else facts.y)
    lists = scratch(listed * column.itemsize, offsets, offsets, listed * u.dtype.itemsize if carries else 0)
    row, start, before, at = lists[1]
    carried = at if carries else None
    edges, count = counter(), counter()
    u_indices = u.indices.astype(column, copy=False) if isinstance(u, IndexList) else None
    u_words = u.words if isinstance(u, Bitmap) else None
    run_list(
        grid(items, block, 1 if form == 0 else 4), block, a.indptr, u_indices, u_words, *values_of(u), items, row,
        start, before, carried, edges, shift,
    )  # fmt: skip
    run_push(
        4 * multiprocessors(), block, a.indptr, column_argument(a.pattern), *values_of(a), None, *values_of(u),
        mask.words, mask.values, words, values, q.nout, row, start, before,
        carried, edges, shift, count,
    )  # fmt: skip
    note(direction="push", kernel="push")
    return bitmap(q.nout, z, words, values if constant is None else constant, count)
