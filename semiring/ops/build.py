"""Stores from arrays: pairs and triples in any order, compressed rows, diagonals."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .. import operators
from ..config import engine_for
from ..engines import registry
from ..engines.memory import allocating, require
from ..engines.spec import BuildMatrix, BuildVector, ImportCSR
from ..exceptions import IndexOutOfBound, InvalidValue
from ..formats import CSR, Array, IndexList, Pattern, VectorStore, device_of, index_dtype
from ..formats.arrays import array_module, to_device, to_host
from .cast import cast_scalar
from .fit import arriving, checked_placement, moved
from .stream_in import import_streamed


def build_vector(indices: Array, values: Any, size: int, dtype: np.dtype[Any], dup_op: Any, device: str) -> VectorStore:
    """A vector from (index, value) pairs; `values` is an array as long as `indices`, or one scalar."""
    given = indices, values
    with allocating("build", device):
        indices = bounded_indices("indices", indices, size, device)
        values, iso = _values(values, int(indices.size), dtype, device)
    if indices.size <= 1:  # nothing to sort: a source needs no kernel
        indices = indices.copy() if indices is given[0] else indices
        values = values.copy() if values is not None and values is given[1] else values
        return IndexList(size, dtype, indices, values, iso)
    return cast(
        VectorStore,
        registry.run(BuildVector(size, dtype, indices, values, iso, _dup(dup_op, dtype)), engine_for(device)),
    )


def build_matrix(
    rows: Array,
    cols: Array,
    values: Any,
    nrows: int,
    ncols: int,
    dtype: np.dtype[Any],
    dup_op: Any,
    device: str,
) -> CSR:
    """A matrix from (row, column, value) triples; `values` is an array, or one scalar."""
    if rows.size != cols.size:
        raise InvalidValue(f"rows and columns must be equally long, got {rows.size} and {cols.size}")
    with allocating("build", device):
        rows = bounded_indices("rows", rows, nrows, device)
        cols = bounded_indices("columns", cols, ncols, device)
        values, iso = _values(values, int(rows.size), dtype, device)
    require_rows("build", device, nrows, int(rows.size), 0 if values is None else dtype.itemsize, scratch=8)
    spec = BuildMatrix(nrows, ncols, dtype, rows, cols, values, iso, _dup(dup_op, dtype))
    return cast(CSR, registry.run(spec, engine_for(device)))


def require_rows(operation: str, device: str, nrows: int, nvals: int, itemsize: int, *, scratch: int = 0) -> None:
    """OutOfMemory unless compressed rows of this size fit in what is free.

    itemsize: bytes of a value.  scratch: what the work needs besides, in bytes a row and an entry; it also needs
    another offset a row.  Where few rows have entries, the work is on these alone.
    """
    offset = index_dtype(nvals).itemsize
    sparse = nrows > 64 * (nvals + 1)
    per_row = offset + (offset + scratch if scratch and not sparse else 0)
    hint = ""
    if sparse:
        hint = (
            f"the indices are far larger than the number of entries (rows: {nrows:,}, entries: {nvals:,}): relabel the "
            f"vertices, from 0 without gaps, or give a smaller nrows="
        )
    require(operation, device, (nrows + 1) * per_row + nvals * (4 + itemsize + scratch), hint=hint)


def full_matrix(
    shape: tuple[int, int], value: Any, dtype: np.dtype[Any], device: str, *, operation: str = "from_scalar"
) -> CSR:
    """A(i, j) = value everywhere.  Memory O(nrows ncols) for the structure."""
    nrows, ncols = shape
    require_rows(operation, device, nrows, nrows * ncols, 0, scratch=4)
    xp = array_module(device)
    offsets = xp.arange(nrows + 1, dtype=np.int64) * ncols
    columns = xp.tile(xp.arange(ncols, dtype=index_dtype(ncols)), nrows)
    pattern = Pattern(nrows, ncols, offsets.astype(index_dtype(nrows * ncols)), columns)
    return CSR(pattern, dtype, None, cast_scalar(value, dtype))


def identity_matrix(n: int, value: Any, dtype: np.dtype[Any], device: str) -> CSR:
    """A(i, i) = value."""
    require_rows("identity", device, n, n, 0)
    xp = array_module(device)
    with allocating("identity", device):
        offsets, columns = xp.arange(n + 1, dtype=index_dtype(n)), xp.arange(n, dtype=index_dtype(n))
    pattern = Pattern(n, n, offsets, columns, {"symmetric": True})
    return CSR(pattern, dtype, None, cast_scalar(value, dtype))


def import_csr(
    indptr: Array,
    indices: Array,
    values: Any,
    ncols: int,
    dtype: np.dtype[Any],
    dup_op: Any,
    device: str,
    placement: str = "device",
) -> CSR:
    """A matrix from compressed rows as they come; checked (one read-back on the GPU: synchronises).

    placement: where its entries are to lie.  What is in host memory and is to stay there never is on the GPU whole.
    Raises OutOfMemory, saying what would fit, if it does not fit there.
    """
    for name, array in (("indptr", indptr), ("col_indices", indices)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InvalidValue(f"{name} must be a one-dimensional array of integers, got {array.ndim}-d {array.dtype}")
    if indptr.size == 0:
        raise InvalidValue("indptr must have nrows + 1 elements, got none")
    chosen = arriving(indptr, indices, values, ncols, dtype, device, checked_placement(placement))
    if chosen != "device" and device == "cuda" and device_of(indices) == "cpu":
        x, iso = _values(to_host(values), int(indices.size), dtype, "cpu", convert=False)
        with allocating("from_csr", device):
            return import_streamed(to_host(indptr), indices, x, iso, ncols, dtype, _dup(dup_op, dtype), chosen)
    with allocating("from_csr", device):
        indptr, indices = to_device(indptr, device), to_device(indices, device)
        values, iso = _values(values, int(indices.size), dtype, device)
    spec = ImportCSR(int(indptr.size) - 1, ncols, dtype, indptr, indices, values, iso, _dup(dup_op, dtype))
    made = cast(CSR, registry.run(spec, engine_for(device)))
    return moved(made, chosen, None, "from_csr")


def _dup(dup_op: Any, dtype: np.dtype[Any]) -> Any:
    return None if dup_op is None else operators.lookup_binary(dup_op).typed(dtype, dtype)


def _values(
    values: Any, count: int, dtype: np.dtype[Any], device: str, *, convert: bool = True
) -> tuple[Array | None, np.generic | None]:
    if getattr(values, "ndim", 0) == 0:
        return None, cast_scalar(values, dtype)
    if values.ndim != 1 or values.size != count:
        raise InvalidValue(f"values must hold {count} numbers, one for each entry; got shape {values.shape}")
    values = to_device(values, device)
    if values.dtype != dtype and convert:
        from ..engines.numpy_helpers import cast as cast_values

        values = cast_values(values, dtype) if device == "cpu" else values.astype(dtype)
    return values, None


def bounded_indices(name: str, array: Array, size: int, device: str) -> Array:
    """An index array, checked against its dimension (on the GPU two numbers are read back: synchronises)."""
    if array.ndim != 1:
        raise InvalidValue(f"{name} must be one-dimensional, got {array.ndim} dimensions")
    if array.size == 0:
        return array_module(device).zeros(0, dtype=index_dtype(size))
    if array.dtype.kind not in "iu":
        raise InvalidValue(f"{name} must hold integers, got {array.dtype}")
    if isinstance(array, np.ndarray):
        low, high = int(array.min()), int(array.max())
    else:  # checked where it is stored, before it moves
        xp = array_module("cuda")
        low, high = (int(value) for value in to_host(xp.stack([array.min(), array.max()])))  # synchronises
    if low < 0 or high >= size:
        wrong = low if low < 0 else high
        at = int(to_host(array_module(device_of(array)).flatnonzero(array == wrong)[:1])[0])
        raise IndexOutOfBound(f"{name}[{at}] = {wrong} is out of bounds for {_axis(name)} with size {size}")
    return to_device(array.astype(index_dtype(size), copy=False), device)


def _axis(name: str) -> str:
    return {"rows": "the rows", "columns": "the columns"}.get(name, "a vector")
