"""Matrices with full rows (`formats.full`): their rows as slices, and operations that need no columns.

An operation here works on the values as a dense array, in the memory of the device; it returns None for operands that
it does not serve, which are then read as uncompressed slices.  Columns of a full row are generated, so slices of the
pattern alone cost no reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from ...formats import (
    CSR,
    AnyPattern,
    Array,
    Full,
    FullPattern,
    Pattern,
    VectorStore,
    array_module,
    dense_values,
    index_dtype,
)
from ...formats.full import every_row_full
from ...memory.arrays import as_type, assign_at, copied, device_of, to_device, to_host
from ...operators.expression import Expression
from ...operators.types import TypedIndexUnary
from .. import recording, registry
from ..registry import slicing_rule
from ..requests.operands import Index, Mask
from ..requests.operations import Apply, Ewise, ExtractMatrix, ExtractRow, Keep, Transpose
from ..requests.storage import Slices
from ..rows.bits import positions

_INT64 = np.dtype(np.int64)


@slicing_rule(Slices)
def row_slices(q: Slices, engine: str) -> Iterator[CSR]:
    """Yield the rows of each slice, with generated columns.  Synchronizes once: offsets are read back."""
    a, pattern = q.a, q.a.pattern
    assert isinstance(pattern, FullPattern)
    xp = array_module(a.device)
    ends = [q.bounds[s + side] for s in q.wanted for side in (0, 1)]
    at = to_host(xp.take(pattern.indptr, xp.asarray(np.array(ends, np.int64)))).tolist()  # synchronizes
    for k, s in enumerate(q.wanted):
        first, last, begin, end = q.bounds[s], q.bounds[s + 1], at[2 * k], at[2 * k + 1]
        offsets = pattern.indptr[first : last + 1] - begin if begin else pattern.indptr[first : last + 1]
        offsets = as_type(offsets, index_dtype(end - begin), copy=False)
        values = None if a.values is None else to_device(a.values[begin:end], a.device)
        yield CSR(Pattern(last - first, a.ncols, offsets, pattern.columns(begin, end)), a.dtype, values, a.iso)


def is_dense(a: Any) -> TypeGuard[CSR]:
    """Return True for a matrix in which every position holds a value, with values in the memory of the device."""
    if not isinstance(a, CSR) or not a.pattern.every_row:
        return False
    return a.values is None or device_of(a.values) == a.device


def dense_matrix(values: Array, nrows: int, ncols: int) -> CSR:
    """Return the matrix of these values, nrows x ncols in row-major order; a contiguous array is shared."""
    flat = array_module(device_of(values)).ascontiguousarray(values).reshape(-1)
    return CSR(every_row_full(nrows, ncols, device_of(values)), flat.dtype, flat)


def transpose(q: Transpose) -> CSR | None:
    """t(j, i) = a(i, j), where every position holds a value."""
    a = q.a
    if not is_dense(a):
        return None
    recording.note(kernel="dense transpose")
    if a.values is None:
        return CSR(every_row_full(a.ncols, a.nrows, a.device), a.dtype, None, a.iso)
    return dense_matrix(a.values.reshape(a.shape).T, a.ncols, a.nrows)


def extract_row(q: ExtractRow) -> VectorStore | None:
    """t(j) = a(row, j), where every position holds a value."""
    a = q.a
    if not is_dense(a):
        return None
    values = None if a.values is None else a.values[q.row * a.ncols : (q.row + 1) * a.ncols].copy()
    return Full(a.ncols, a.dtype, values, a.iso, a.device)


def extract_matrix(q: ExtractMatrix) -> CSR | None:
    """t(p, q) = a(rows[p], cols[q]), where every position holds a value."""
    a = q.a
    if not is_dense(a):
        return None
    recording.note(kernel="dense extract")
    shape = q.rows.count, q.cols.count
    if a.values is None:
        return CSR(every_row_full(*shape, a.device), a.dtype, None, a.iso)
    values = a.values.reshape(a.shape)
    rows, cols = _selector(q.rows), _selector(q.cols)
    part = values[:, cols][rows] if shape[1] < a.ncols else values[rows][:, cols]
    return dense_matrix(part.copy() if part.base is not None else part, *shape)


def _selector(index: Index) -> Any:
    """Return a set of positions as an index of an array."""
    if index.array is not None:
        return index.array
    if index.step > 0:
        return slice(index.start, index.start + index.count * index.step, index.step)
    stop = index.start + index.count * index.step
    return slice(index.start, None if stop < 0 else stop, index.step)


def keep(q: Keep, engine: str) -> CSR | None:
    """T = the entries of a that a mask admits, where every position of a holds a value and the mask is sparse."""
    a, mask = q.a, q.mask
    admitted = mask.store
    if not is_dense(a) or mask.complement or not _is_resident(admitted):
        return None
    if not mask.structural:
        admitted = registry.run(Keep(admitted, Mask(admitted, False, False)), engine)
    recording.note(kernel="gather from dense")
    values = None if a.values is None else _at(a, admitted, engine)
    return CSR(admitted.pattern, a.dtype, values, a.iso)


def ewise(q: Ewise, engine: str) -> CSR | None:
    """T = op(a, b) on values alone: of two matrices without missing entries, or of such a one and sparse rows.

    The operator must read no positions.
    """
    a, b = q.a, q.b
    if q.op.uses & {"xi", "xj", "yi", "yj"}:
        return None
    if is_dense(a) and is_dense(b):
        recording.note(kernel="dense")
        done = registry.run(replace(q, a=_vector(a), b=_vector(b), mode="intersect"), engine)
        return _of_vector(done, a.pattern, q.op.z)
    if is_dense(a) and _is_resident(b):
        return _mixed(q, a, b, engine, dense_first=True)
    if is_dense(b) and _is_resident(a):
        return _mixed(q, b, a, engine, dense_first=False)
    return None


def _mixed(q: Ewise, dense: CSR, sparse: CSR, engine: str, *, dense_first: bool) -> CSR:
    """Combine a dense matrix and a sparse one: the values of the sparse one with those at its positions."""
    recording.note(kernel="dense and sparse")
    there = None if dense.values is None else _at(dense, sparse, engine)
    near = Full(sparse.nvals, dense.dtype, there, dense.iso, dense.device)
    here = _vector(sparse)
    pair = (near, here) if dense_first else (here, near)
    both = registry.run(Ewise(*pair, q.op, "intersect"), engine)
    if q.mode == "intersect":
        return _of_vector(both, sparse.pattern, q.op.z)
    if q.mode == "union":
        cast = TypedIndexUnary("identity", dense.dtype, np.dtype(np.bool_), q.op.z, Expression("x"))
        alone = dense_values(registry.run(Apply(_vector(dense), cast, np.bool_(False)), engine))
    else:
        dtype, value = (q.op.y, q.beta) if dense_first else (q.op.x, q.alpha)
        absent = Full(dense.nvals, dtype, None, value, dense.device)
        sides = (_vector(dense), absent) if dense_first else (absent, _vector(dense))
        alone = dense_values(registry.run(Ewise(*sides, q.op, "intersect"), engine))
    alone = copied(alone)  # an operator may return a side unchanged
    if sparse.nvals:
        assign_at(alone, positions(sparse, engine), dense_values(both))
    return CSR(dense.pattern, q.op.z, alone)


def _is_resident(a: Any) -> TypeGuard[CSR]:
    """Return True for uncompressed rows in the memory of the device."""
    return isinstance(a, CSR) and isinstance(a.pattern, Pattern) and a.placement == "device"


def _vector(a: CSR) -> Full:
    """Return the values as a vector of all entries."""
    return Full(a.nvals, a.dtype, a.values, a.iso, a.device)


def _of_vector(done: VectorStore, pattern: AnyPattern, dtype: np.dtype[Any]) -> CSR:
    """Return the matrix of this pattern whose values are those of a vector without missing entries."""
    assert done.nvals == pattern.nvals
    return CSR(pattern, dtype, done.values, done.iso)


def _at(dense: CSR, sparse: CSR, engine: str) -> Array:
    """Return the values of a dense matrix at the positions of a sparse one, in its order."""
    assert dense.values is not None
    return array_module(dense.device).take(dense.values, positions(sparse, engine))
