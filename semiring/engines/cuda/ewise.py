"""Two objects, element by element."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP64, INT8, INT32, INT64
from ...formats import CSR, Array, Bitmap, Full, IndexList, Pattern, Store, VectorStore, index_dtype, word_count
from ...operators.types import TypedBinary
from ...record_types import zero
from ..registry import implements
from ..requests.operations import Ewise
from ..shared.iso_results import ewise_value
from . import compile_samples, tuning
from .arguments import arguments
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, bitmap, counter, full, grid, values_of, words_of
from .primitives import LIST, ROWS, as_dense, cast_array, width
from .row_tiles import TILE_TEXT, Passes, written
from .specialize import binary, constants, typedefs

_MODES = {"intersect": 0, "union": 1, "fill": 2}
_INT32 = np.dtype(np.int32)
# Steps of a tile, and threads that process it: MERGE_PATH and MERGE_THREADS of kernels/ewise_tiles.cuh.
_PATH = tuning.TILE - 2
_THREADS = tuning.TILE // 16


@implements(Ewise, engine="cuda")
def ewise(q: Ewise) -> Store:
    """t = op(a, b) on the intersection, or the union.

    Dense vectors: one launch, no wait for the device.  Matrices, and two index lists, are merged in tiles of equal
    numbers of steps, however skewed the rows are; the number of entries is read back (synchronizes).
    """
    if isinstance(q.a, CSR) or (isinstance(q.a, IndexList) and isinstance(q.b, IndexList)):
        return _sorted(q)
    assert not isinstance(q.b, CSR)
    return _dense(q, as_dense(q.a), as_dense(q.b))


class _Plan(NamedTuple):
    """The call plan of an element-wise operation: its kernels' text, and the values that replace an absent operand.

    alpha, beta: 0 where the mode does not read them.
    """

    prologue: str
    dense: Kernel
    alpha: np.generic
    beta: np.generic


@functools.lru_cache(maxsize=1024)
def _plan(
    op: TypedBinary, a: np.dtype[Any], b: np.dtype[Any], mode: str, alpha: np.dtype[Any], beta: np.dtype[Any]
) -> _Plan:
    types = typedefs(A=a, B=b, Z=op.z, ALPHA=alpha, BETA=beta)
    prologue = types + constants(MODE=_MODES[mode]) + TILE_TEXT + binary("combine", op)
    slots = typedefs(I=_INT32, P=_INT32, BP=_INT32, O=_INT32) + constants(FORM=0)
    return _Plan(prologue, kernel("ewise.cuh", "ewise_dense", prologue + slots), zero(alpha), zero(beta))


def _planned(q: Ewise) -> tuple[_Plan, np.generic, np.generic]:
    """Return the plan, and the values that replace an absent operand."""
    z = q.op.z
    plan = _plan(
        q.op,
        q.a.dtype,
        q.b.dtype,
        q.mode,
        z if q.alpha is None else q.alpha.dtype,
        z if q.beta is None else q.beta.dtype,
    )
    return plan, plan.alpha if q.alpha is None else q.alpha, plan.beta if q.beta is None else q.beta


def _dense(q: Ewise, a: Bitmap | Full, b: Bitmap | Full) -> VectorStore:
    size, z = a.size, q.op.z
    iso = ewise_value(q)
    either = q.mode != "intersect"
    certain = (isinstance(a, Full), isinstance(b, Full))
    whole = any(certain) if either else all(certain)
    words = None if whole else cupy.empty(word_count(size), np.uint32)
    count = None if whole else counter()
    values = None if iso is not None else cupy.empty(size, z)
    if words is not None or values is not None:
        plan, alpha, beta = _planned(q)
        operands = (words_of(a), *values_of(a), words_of(b), *values_of(b))
        plan.dense(grid(size), BLOCK, size, *operands, alpha, beta, words, values, count)
    if words is None or count is None:
        return full(size, z, iso if values is None else values)
    return bitmap(size, z, words, iso if values is None else values, count if size else 0)


class _MergePlan(NamedTuple):
    """The call plan of a merge of sorted operands: its kernels, and the packer of their arguments."""

    bounds: Kernel
    passes: Passes
    pack: Callable[..., bytes]


@functools.lru_cache(maxsize=1024)
def _merge_plan(
    prologue: str, form: int, types: tuple[np.dtype[Any], ...], values: tuple[np.dtype[Any], ...]
) -> _MergePlan:
    """types: I, P, BP and O of the kernels.  values: A, B, ALPHA and BETA."""
    text = prologue + constants(FORM=form) + typedefs(**dict(zip(("I", "P", "BP", "O"), types, strict=True)))
    given = dict(zip(("A", "B", "ALPHA", "BETA"), values, strict=True))
    bounds, one, first, second = (
        kernel("ewise.cuh", name, text) for name in ("ewise_bounds", "ewise_merge", "ewise_count", "ewise_write")
    )
    return _MergePlan(bounds, Passes(one, first, second), arguments("ewise.cuh", "EwiseArguments", **given))


def _sorted(q: Ewise) -> Store:
    """Combine two sorted operands: CSR matrices, or two index lists as one row."""
    a, b = q.a, q.b
    assert isinstance(a, (CSR, IndexList))
    assert isinstance(b, (CSR, IndexList))
    na, nb, z = a.nvals, b.nvals, q.op.z
    form, nrows, a_indptr = (ROWS, a.nrows, a.indptr) if isinstance(a, CSR) else (LIST, 1, None)
    b_indptr = b.indptr if isinstance(b, CSR) else None
    bound = min(na, nb) if q.mode == "intersect" else na + nb
    iso = ewise_value(q)
    if bound == 0:
        indptr = None if a_indptr is None else cupy.zeros(nrows + 1, _INT32)
        indices = cupy.empty(0, a.indices.dtype)
        return _store(a, z, indptr, indices, None if iso is not None else cupy.empty(0, z), iso)
    plan, alpha, beta = _planned(q)
    offset = index_dtype(bound)
    types = (a.indices.dtype, *(_INT32 if p is None else p.dtype for p in (a_indptr, b_indptr)), offset)
    merge = _merge_plan(plan.prologue, form, types, (a.dtype, b.dtype, alpha.dtype, beta.dtype))
    tiles = -(-(nrows + na + nb) // _PATH)
    bounds = cupy.empty(2 * (tiles + 1), np.int64)
    merge.bounds(grid(tiles + 1), BLOCK, nrows, na, a_indptr, a.indices, nb, b_indptr, b.indices, tiles, bounds)
    indptr = None if a_indptr is None else cupy.empty(nrows + 1, offset)
    (a_values, a_iso), (b_values, b_iso) = values_of(a), values_of(b)
    bits = width(a.ncols if isinstance(a, CSR) else a.size)

    def launch(run: Kernel, *, marks: Any, words: Any, columns: Any, values: Any) -> None:
        packed = merge.pack(
            nrows=nrows, na=na, a_indptr=a_indptr, a_indices=a.indices, a_values=a_values, a_iso=a_iso,
            nb=nb, b_indptr=b_indptr, b_indices=b.indices, b_values=b_values, b_iso=b_iso, alpha=alpha, beta=beta,
            column_bits=bits, bounds=bounds, tiles=tiles, steps=marks, words=words, out_indptr=indptr,
            out_indices=columns, out_values=values,
        )  # fmt: skip
        run(tiles, _THREADS, packed)

    value = z if iso is None else None
    total, indices, values = written(merge.passes, launch, tiles, _THREADS, bound, a.indices.dtype, value)
    return _store(a, z, None if indptr is None else cast_array(indptr, index_dtype(total)), indices, values, iso)


def _store(
    a: CSR | IndexList,
    z: np.dtype[Any],
    indptr: Array | None,
    indices: Array,
    values: Array | None,
    iso: np.generic | None,
) -> Store:
    """Return an object of the shape of a."""
    if isinstance(a, CSR):
        assert indptr is not None
        return CSR(Pattern(a.nrows, a.ncols, indptr, indices), z, values, iso)
    return IndexList(a.size, z, indices, values, iso)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for mode in _MODES:
        plan = _plan(compile_samples.TIMES, INT8, FP64, mode, INT8, FP64)
        yield plan
        for form, index in ((LIST, INT32), (ROWS, INT64)):
            types = index, INT32, INT64 if form == ROWS else INT32, INT64
            yield _merge_plan(plan.prologue, form, types, (INT8, FP64, INT8, FP64))
