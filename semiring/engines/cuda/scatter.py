"""Scatter of entries to given positions, which may repeat."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cupy
import numpy as np

from ...dtypes import BOOL, FP32, FP64, INT8, INT32, INT64, UINT16, UINT32, UINT64
from ...formats import CSR, Array, Bitmap, IndexList, Pattern, VectorStore, index_dtype, with_values, word_count
from ...operators.types import TypedBinary
from ..registry import implements
from ..requests.operands import Index
from ..requests.operations import ScatterMatrix, ScatterVector
from . import compile_samples
from .algebra import native_atomic
from .build import build
from .extract import LISTED, index_arguments
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, bitmap, counter, grid, values_of
from .primitives import cast_array, compact_list, counting, gather, rows_of_entries
from .specialize import binary, constants, typedefs

_INT32 = np.dtype(np.int32)
_INT64 = np.dtype(np.int64)
_WIDE = {"i": INT32, "u": UINT32}
_ORDERLESS = frozenset({"commutative", "associative"})
_NO_DUP = "DEVICE U dup(U x, U y) { return x; }\n"


@implements(ScatterVector, engine="cuda")
def scatter_vector(q: ScatterVector) -> VectorStore:
    """t(index[p]) = u(p).

    Without `dup`, and with one that is commutative and associative: at most three launches and a memset, nothing
    waits; sums of floats may differ in order from run to run.  With any other, and of values of other sizes than 1, 2,
    4 or 8 bytes (complex128 with any but plus, records), the entries are sorted by where they go and combined in the
    order of p (synchronizes).
    Where plus, min or max is one atomic instruction (32 and 64 bits; plus of floats, min and max of integers), an index
    that repeats often costs little; else the threads that meet there wait for each other.  Integers of 8 and 16 bits
    are therefore combined in 32 bits, and narrowed at the end.
    """
    wide = None if q.dup is None or q.dup.z != q.u.dtype else _widened(q.dup)
    if wide is not None:
        return _cast(scatter_vector(ScatterVector(_cast(q.u, wide.z), q.index, wide)), q.u.dtype)
    native = 0 if q.dup is None or q.dup.z != q.u.dtype else native_atomic(q.dup)
    if q.dup is not None and not (q.dup.laws >= _ORDERLESS and (q.u.dtype.itemsize in (1, 2, 4, 8) or native)):
        return _in_order(q)
    u, size = q.u, q.index.size
    listed = u.indices if isinstance(u, IndexList) else None
    n = u.nvals if isinstance(u, IndexList) else u.size
    winner = np.dtype(np.uint32 if n < 2**32 - 2 else np.uint64)
    winners = cupy.empty(size, winner)
    if size:
        winners.data.memset_async(0xFF, winners.nbytes)
    x, position = index_arguments(q.index)
    plan = q.dup, native, u.dtype, x, _INT32 if listed is None else listed.dtype, winner
    source = (u.words if isinstance(u, Bitmap) else None, listed, *position)
    values, iso = values_of(u)
    shared = q.dup is None and u.values is None
    out = None if shared else cupy.empty(size, u.dtype)
    words, count = cupy.empty(word_count(size), np.uint32), counter()
    _kernel("claim", *plan)(grid(n), BLOCK, n, *source, winners)
    _kernel("settle", *plan)(grid(size), BLOCK, size, winners, values, iso, words, out, count)
    if q.dup is not None:
        _kernel("combine", *plan)(grid(n), BLOCK, n, *source, winners, values, iso, out)
    return bitmap(size, u.dtype, words, iso if out is None else out, count if size else 0)


@functools.lru_cache(maxsize=1024)
def _kernel(name: str, dup: TypedBinary | None, native: int, *types: np.dtype[Any]) -> Kernel:
    text = typedefs(**dict(zip(("U", "X", "L", "W"), types, strict=True)))
    text += constants(FORM=0, COMBINED=dup is not None, NATIVE=native)
    return kernel("scatter.cuh", f"scatter_{name}", text + (_NO_DUP if dup is None else binary("dup", dup)))


@functools.lru_cache(maxsize=64)
def _widened(op: TypedBinary) -> TypedBinary | None:
    """Return plus, min or max of 8 or 16 bits as an operator of 32 bits: the same results when narrowed; or None."""
    if op.z.itemsize > 2 or op.z.kind not in "iu" or not op.x == op.y == op.z:
        return None
    made = replace(op, x=_WIDE[op.z.kind], y=_WIDE[op.z.kind], z=_WIDE[op.z.kind])
    return made if native_atomic(made) else None


def _cast(u: VectorStore, dtype: np.dtype[Any]) -> VectorStore:
    """Return the vector with its values cast to an integer type."""
    values = None if u.values is None else cast_array(u.values, dtype)
    return with_values(u, dtype, values, None if u.iso is None else dtype.type(u.iso.astype(dtype)))


def _targets(index: Index, p: Array | None = None) -> Array:
    """Return the target position of each p, in order; of all p, or of those given at a cost of their number alone."""
    if index.array is None and p is not None and index.count > LISTED:
        return p.astype(np.int64) * index.step + index.start
    if index.array is None:
        whole = counting(index.count, _INT64, index.start, index.step)
    else:
        whole = cupy.ascontiguousarray(index.array)
    return whole if p is None else gather(whole, p)


def _in_order(q: ScatterVector) -> VectorStore:
    u = q.u
    if isinstance(u, Bitmap):
        u = compact_list(u.size, u.dtype, u.size, u.words, None, u.values, u.iso)  # synchronizes
    targets = _targets(q.index, u.indices if isinstance(u, IndexList) else None)
    made = build(1, q.index.size, u.dtype, None, targets, u.values, u.iso, q.dup, refuse=False)
    return IndexList(q.index.size, u.dtype, made.indices, made.values, made.iso)


@implements(ScatterMatrix, engine="cuda")
def scatter_matrix(q: ScatterMatrix) -> CSR:
    """t(rows[p], cols[q]) = a(p, q): sorted by place, repeats combined in order.

    Entries in ascending ranges of rows and columns are in order.  Others are sorted, which synchronizes: the number of
    distinct places is read back.
    """
    a = q.a
    if all(index.array is None and index.step > 0 for index in (q.rows, q.cols)):
        return _in_ranges(a, q.rows, q.cols)
    rows = _targets(q.rows, rows_of_entries(a))
    cols = a.indices if q.cols.is_all else _targets(q.cols, a.indices)
    return build(q.rows.size, q.cols.size, a.dtype, rows, cols, a.values, a.iso, q.dup, refuse=False)


def _in_ranges(a: CSR, rows: Index, cols: Index) -> CSR:
    """Return t(rows[p], cols[q]) = a(p, q) for ascending ranges; values are those of a."""
    indices = a.indices
    if not cols.is_all:
        indices = cupy.empty(a.nvals, index_dtype(cols.size))
    offsets, columns = _rows_plan(a.indptr.dtype, a.indices.dtype, indices.dtype)
    indptr = cupy.empty(rows.size + 1, a.indptr.dtype)
    offsets(grid(rows.size + 1), BLOCK, rows.size, rows.count, rows.start, rows.step, a.indptr, indptr)
    if not cols.is_all:
        columns(grid(a.nvals), BLOCK, a.nvals, cols.start, cols.step, a.indices, indices)
    return CSR(Pattern(rows.size, cols.size, indptr, indices), a.dtype, a.values, a.iso)


@functools.cache
def _rows_plan(offset: np.dtype[Any], column: np.dtype[Any], moved: np.dtype[Any]) -> tuple[Kernel, Kernel]:
    """Return the kernels that write the offsets, and the columns, of type `moved`."""
    text = typedefs(P=offset, I=column, J=moved)
    file = "scatter_rows.cuh"
    return kernel(file, "scatter_offsets", text), kernel(file, "scatter_columns", text)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    plans: list[Any] = []
    for value, winner in ((BOOL, UINT32), (INT8, UINT64), (UINT16, UINT32), (FP32, UINT32), (FP64, UINT64)):
        plans += ((dup, 0, value, INT64, INT32, winner) for dup in (compile_samples.PLUS32, None))
    for ring in compile_samples.SEMIRINGS[:3] + compile_samples.COMPLEX_SEMIRINGS[:2]:
        plans.append((ring.add.op, native_atomic(ring.add.op), ring.z, INT32, INT64, UINT32))
    yield from (_kernel(name, *plan) for plan in plans for name in ("claim", "settle", "combine"))
    yield _rows_plan(INT32, INT32, INT64), _rows_plan(INT64, INT32, INT32)
