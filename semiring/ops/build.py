"""Build stores from arrays: pairs and triples in any order, one value everywhere, the identity."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .. import operators
from ..config import engine_for
from ..devices import dispatched, in_parts, local_device, on_device
from ..engines import registry
from ..engines.hypersparse.extraction import built
from ..engines.requests.operations import BuildMatrix, BuildVector
from ..engines.shared.expression_numpy import cast as cast_values
from ..exceptions import IndexOutOfBound, InvalidValue
from ..formats import CSR, Array, IndexList, Pattern, VectorStore, device_of, index_dtype
from ..formats.full import every_row_full
from ..formats.hypersparse import prefers_hypersparse
from ..formats.vectors import SingleEntry
from ..memory.allocation import allocating, require_rows
from ..memory.arrays import array_module, as_type, copied, to_device, to_host
from .cast import cast_scalar


def build_vector(indices: Array, values: Any, size: int, dtype: np.dtype[Any], dup_op: Any, device: str) -> VectorStore:
    """Return a vector from (index, value) pairs; `values` is an array as long as `indices`, or one scalar."""
    if indices.size == 1 and isinstance(indices, np.ndarray) and getattr(values, "ndim", 0) == 0:
        index = int(indices[0]) if indices.dtype.kind in "iu" else -1
        if not 0 <= index < size:
            _checked_indices("indices", indices, size)  # raises
        return SingleEntry(size, dtype, index, cast_scalar(values, dtype), device)
    given = indices, values
    with allocating("build", device):
        indices = bounded_indices("indices", indices, size, device)
        values, iso = entry_values(values, int(indices.size), dtype, device)
    if indices.size <= 1 and not in_parts(device):  # nothing to sort: the frontier of one source needs no kernel
        indices = copied(indices) if indices is given[0] else indices
        values = copied(values) if values is not None and values is given[1] else values
        return IndexList(size, dtype, indices, values, iso)
    spec = BuildVector(size, dtype, indices, values, iso, duplicate_operator(dup_op, dtype))
    return cast(VectorStore, registry.run(spec, engine_for(device)))


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
    """Return a matrix from (row, column, value) triples; `values` is an array, or one scalar."""
    given = {id(array) for array in (rows, cols, values)}
    rows, cols, values, iso = checked_triples(rows, cols, values, (nrows, ncols), dtype, device)
    if rows.size <= 1:  # the store of one entry keeps these arrays
        rows, cols, values = (copied(array) if id(array) in given else array for array in (rows, cols, values))
    spec = BuildMatrix(nrows, ncols, dtype, rows, cols, values, iso, duplicate_operator(dup_op, dtype))
    return from_triples("build", spec, device)


def checked_triples(
    rows: Array, cols: Array, values: Any, shape: tuple[int, ...], dtype: np.dtype[Any], device: str
) -> tuple[Array, Array, Array | None, np.generic | None]:
    """Return (row, column, value) triples on the device, in the types of the entries of a matrix of this shape.

    The last two are values, or None and the value of all.  Arrays that are so already are returned as they are.
    """
    if rows.size != cols.size:
        raise InvalidValue(f"rows and columns must be equally long, got {rows.size} and {cols.size}")
    with allocating("build", device):
        rows = bounded_indices("rows", rows, shape[0], device)
        cols = bounded_indices("columns", cols, shape[1], device)
        return rows, cols, *entry_values(values, int(rows.size), dtype, device)


@dispatched(2)
def from_triples(operation: str, spec: BuildMatrix, device: str) -> CSR:
    """Return the matrix of checked triples: hypersparse if the rule selects that."""
    count = int(spec.rows.size)
    if prefers_hypersparse(spec.nrows, count):
        with allocating(operation, device):
            return built(spec, engine_for(device))
    require_rows(operation, device, spec.nrows, count, 0 if spec.values is None else spec.dtype.itemsize, scratch=8)
    return cast(CSR, registry.run(spec, engine_for(device)))


def full_matrix(shape: tuple[int, int], value: Any, dtype: np.dtype[Any], device: str) -> CSR:
    """A(i, j) = value everywhere.  Memory O(nrows)."""
    require_rows("from_scalar", device, shape[0], 0, 0)
    pattern = every_row_full(*shape, local_device(device))
    return cast(CSR, on_device(device, CSR(pattern, dtype, None, cast_scalar(value, dtype))))


def filled_region(shape: tuple[int, int], value: Any, dtype: np.dtype[Any], device: str, *, operation: str) -> CSR:
    """A(i, j) = value everywhere, as uncompressed rows.  Memory O(nrows ncols) for the structure."""
    nrows, ncols = shape
    require_rows(operation, device, nrows, nrows * ncols, 0, scratch=4)
    xp = array_module(device)
    offsets = xp.arange(nrows + 1, dtype=np.int64) * ncols
    columns = xp.tile(xp.arange(ncols, dtype=index_dtype(ncols)), nrows)
    pattern = Pattern(nrows, ncols, offsets.astype(index_dtype(nrows * ncols)), columns)
    return cast(CSR, on_device(device, CSR(pattern, dtype, None, cast_scalar(value, dtype))))


def identity_matrix(n: int, value: Any, dtype: np.dtype[Any], device: str) -> CSR:
    """A(i, i) = value."""
    require_rows("identity", device, n, n, 0)
    xp = array_module(device)
    with allocating("identity", device):
        offsets, columns = xp.arange(n + 1, dtype=index_dtype(n)), xp.arange(n, dtype=index_dtype(n))
    pattern = Pattern(n, n, offsets, columns, {"symmetric": True})
    return cast(CSR, on_device(device, CSR(pattern, dtype, None, cast_scalar(value, dtype))))


def duplicate_operator(dup_op: Any, dtype: np.dtype[Any]) -> Any:
    """Return the typed binary operator that combines entries at one position; None for None.

    Engines combine in the order of the input, so ``"last"`` is `second`.
    """
    if dup_op is None:
        return None
    return operators.lookup_binary("second" if _is_text(dup_op, "last") else dup_op).typed(dtype, dtype)


def is_mean(dup_op: Any) -> bool:
    """Return whether repeated entries are to be averaged, which is a composition of two sums and no operator."""
    return _is_text(dup_op, "mean")


def _is_text(dup_op: Any, text: str) -> bool:
    return isinstance(dup_op, str) and dup_op == text


def entry_values(
    values: Any, count: int, dtype: np.dtype[Any], device: str, *, convert: bool = True
) -> tuple[Array | None, np.generic | None]:
    """Return (values, iso) of `count` entries: an array on `device` and None, or for a scalar None and its value.

    convert: whether an array is cast to `dtype`.  InvalidValue for an array of another length.
    """
    if getattr(values, "ndim", 0) == 0:
        return None, cast_scalar(values, dtype)
    if values.ndim != 1 or values.size != count:
        raise InvalidValue(f"values must hold {count} numbers, one for each entry; got shape {values.shape}")
    values = to_device(values, device)
    if values.dtype != dtype and convert:
        values = cast_values(values, dtype) if isinstance(values, np.ndarray) else as_type(values, dtype)
    return values, None


def bounded_indices(name: str, array: Array, size: int, device: str) -> Array:
    """Return an index array, checked against its dimension (on the GPU two numbers are read back: synchronizes)."""
    if array.ndim == 1 and array.size == 0:
        return array_module(device).zeros(0, dtype=index_dtype(size))
    return to_device(as_type(_checked_indices(name, array, size), index_dtype(size), copy=False), device)


def _checked_indices(name: str, array: Array, size: int) -> Array:
    if array.ndim != 1:
        raise InvalidValue(f"{name} must be one-dimensional, got {array.ndim} dimensions")
    if array.dtype.kind not in "iu":
        raise InvalidValue(f"{name} must hold integers, got {array.dtype}")
    if isinstance(array, np.ndarray):
        low, high = int(array.min()), int(array.max())
    else:  # checked where it is stored, before it is copied
        low, high = int(to_host(array.min())), int(to_host(array.max()))  # synchronizes, twice
    if low < 0 or high >= size:
        wrong = low if low < 0 else high
        at = int(to_host(array_module(device_of(array)).flatnonzero(array == wrong)[:1])[0])
        raise IndexOutOfBound(f"{name}[{at}] = {wrong} is out of bounds for {_axis(name)} with size {size}")
    return array


def _axis(name: str) -> str:
    return {"rows": "the rows", "columns": "the columns", "labels": "the groups"}.get(name, "a vector")
