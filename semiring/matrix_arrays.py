"""Matrix from and to arrays: compressed rows and columns, triples, dense, edge lists."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np

from . import dtypes
from .base import device_for, scalar
from .exceptions import InvalidValue, OutputNotEmpty
from .formats import CSR, Pattern, array_module, dense_values, index_dtype
from .formats.arrays import to_host
from .formats.csr import empty_csr
from .infix import Infix
from .ops import structure
from .ops.build import build_matrix, import_csr
from .ops.cast import cast_scalar
from .vector import as_array, as_values, differs


class MatrixArrays(Infix):
    """The constructors and exports of `Matrix`."""

    __slots__ = ()

    def __init__(
        self,
        dtype: Any = float,
        nrows: int = 0,
        ncols: int = 0,
        *,
        name: str | None = None,
        device: str | None = None,
    ) -> None:
        nrows, ncols = extent("nrows", nrows), extent("ncols", ncols)
        store = empty_csr(nrows, ncols, dtypes.lookup(dtype), device_for(device=device))
        self._store, self._plan, self._remake, self._origin, self.name = store, None, None, None, name

    @classmethod
    def from_csr(
        cls,
        indptr: Any,
        col_indices: Any,
        values: Any = None,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        dup_op: Any = None,
        name: str | None = None,
        device: str | None = None,
    ) -> Self:
        """Row i holds the columns col_indices[indptr[i]:indptr[i + 1]], in any order.

        Parameters
        ----------
        indptr : nrows + 1 offsets
        col_indices : columns
        values : as many values; or one for all; or None, which means True
        dtype : type of the values; by default theirs
        ncols : number of columns; by default the largest column + 1
        dup_op : binary operator that combines repeated columns of a row

        Raises
        ------
        InvalidFormat
            For offsets that do not start at 0, decrease, or do not end at the number of columns given, and columns
            out of range; names the array and the position.
        DuplicateIndex, InvalidValue, DomainMismatch

        Notes
        -----
        Arrays that already have sorted rows and the right index types are shared, not copied.  Cost O(nvals) to
        check.  On the GPU that synchronises.
        """
        where = device_for(indptr, col_indices, values, device=device)
        indptr, col_indices = as_array(indptr, np.int64), as_array(col_indices, np.int64)
        values = np.asarray(True) if values is None else as_values(values)
        chosen = dtypes.lookup(values.dtype if dtype is None else dtype)
        if ncols is None:
            ncols = int(to_host(col_indices.max())) + 1 if col_indices.size else 0  # synchronises on the GPU
        if nrows is not None and indptr.size != nrows + 1:
            raise InvalidValue(f"indptr must have nrows + 1 = {nrows + 1} elements, got {indptr.size}")
        store = import_csr(indptr, col_indices, values, extent("ncols", ncols), chosen, dup_op, where)
        return cls._new(store, name=name)

    @classmethod
    def from_csc(
        cls,
        indptr: Any,
        row_indices: Any,
        values: Any = None,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        **named: Any,
    ) -> Self:
        """Column j holds the rows row_indices[indptr[j]:indptr[j + 1]]; parameters as `from_csr`."""
        columns = cls.from_csr(indptr, row_indices, values, dtype, ncols=nrows, **named)
        return cls._new(structure.transposed(columns.store), name=columns.name)

    @classmethod
    def from_coo(
        cls,
        rows: Any,
        columns: Any,
        values: Any = None,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        shape: tuple[int, int] | None = None,
        dup_op: Any = None,
        name: str | None = None,
        device: str | None = None,
    ) -> Self:
        """A(rows[p], columns[p]) = values[p].

        Parameters
        ----------
        rows, columns : integers, in any order
        values : as many values; or one for all; or None, which means True
        dtype : type of the values; by default theirs
        nrows, ncols (or shape) : by default the largest index + 1
        dup_op : binary operator that combines repeated positions

        Raises
        ------
        DuplicateIndex
            If a position repeats and there is no `dup_op`.
        IndexOutOfBound, InvalidValue, DomainMismatch

        Notes
        -----
        Cost O(k log k) for k triples.  On the GPU the checks synchronise.
        """
        if shape is not None:
            nrows, ncols = shape
        where = device_for(rows, columns, values, device=device)
        rows, columns = as_array(rows, np.int64), as_array(columns, np.int64)
        values = np.asarray(True) if values is None else as_values(values)
        chosen = dtypes.lookup(values.dtype if dtype is None else dtype)
        if nrows is None:
            nrows = int(to_host(rows.max())) + 1 if rows.size else 0  # synchronises on the GPU
        if ncols is None:
            ncols = int(to_host(columns.max())) + 1 if columns.size else 0  # synchronises on the GPU
        nrows, ncols = extent("nrows", nrows), extent("ncols", ncols)
        return cls._new(build_matrix(rows, columns, values, nrows, ncols, chosen, dup_op, where), name=name)

    @classmethod
    def from_edgelist(
        cls,
        edges: Any,
        values: Any = None,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        dup_op: Any = None,
        name: str | None = None,
    ) -> Self:
        """One entry for each edge (i, j), or (i, j, value); `edges` a list of tuples or an array of 2 or 3 columns."""
        if not hasattr(edges, "ndim"):
            edges = list(edges)
            if edges and len(edges[0]) == 3:
                if values is not None:
                    raise InvalidValue("from_edgelist: the edges hold values already; values= must be left out")
                values = [edge[2] for edge in edges]
                edges = [edge[:2] for edge in edges]
            edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        if edges.ndim != 2 or edges.shape[1] not in (2, 3):
            raise InvalidValue(f"from_edgelist: expected an array of 2 or 3 columns, got shape {edges.shape}")
        if edges.shape[1] == 3:
            values = edges[:, 2]
        ends = edges[:, :2] if edges.dtype.kind in "iu" else edges[:, :2].astype(np.int64)
        return cls.from_coo(ends[:, 0], ends[:, 1], values, dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name)

    @classmethod
    def from_dense(
        cls,
        values: Any,
        missing_value: Any = None,
        *,
        dtype: Any = None,
        name: str | None = None,
        device: str | None = None,
    ) -> Self:
        """A(i, j) = values[i, j], except where it equals `missing_value` (NaN matches NaN); None: all are present."""
        where = device_for(values, device=device)
        array = as_array(values)
        if array.ndim != 2:
            raise InvalidValue(f"from_dense: expected two dimensions, got shape {array.shape}")
        chosen = dtypes.lookup(array.dtype if dtype is None else dtype)
        present = differs(array, missing_value) if missing_value is not None else array_like_ones(array)
        rows, columns = present.nonzero()
        return cls.from_coo(rows, columns, array[rows, columns], chosen, shape=array.shape, name=name, device=where)

    @classmethod
    def from_scalar(
        cls,
        value: Any,
        nrows: int,
        ncols: int,
        dtype: Any = None,
        *,
        name: str | None = None,
        device: str | None = None,
    ) -> Self:
        """A(i, j) = value everywhere; the value is held once."""
        value = scalar(value)
        chosen = dtypes.lookup(np.asarray(value).dtype if dtype is None else dtype)
        nrows, ncols = extent("nrows", nrows), extent("ncols", ncols)
        xp = array_module(device_for(device=device))
        offsets = (xp.arange(nrows + 1, dtype=np.int64) * ncols).astype(index_dtype(nrows * ncols))
        columns = xp.tile(xp.arange(ncols, dtype=index_dtype(ncols)), nrows)
        pattern = Pattern(nrows, ncols, offsets, columns)
        return cls._new(CSR(pattern, chosen, None, cast_scalar(value, chosen)), name=name)

    @classmethod
    def identity(
        cls, n: int, dtype: Any = None, *, value: Any = 1, name: str | None = None, device: str | None = None
    ) -> Self:
        """A(i, i) = value, which is held once."""
        n = extent("n", n)
        chosen = dtypes.lookup(np.asarray(value).dtype if dtype is None else dtype)
        xp = array_module(device_for(device=device))
        pattern = Pattern(n, n, xp.arange(n + 1, dtype=index_dtype(n)), xp.arange(n, dtype=index_dtype(n)))
        pattern.facts["symmetric"] = True
        return cls._new(CSR(pattern, chosen, None, cast_scalar(value, chosen)), name=name)

    def build(self, rows: Any, columns: Any, values: Any, *, dup_op: Any = None) -> Self:
        """Fill this empty matrix from triples; OutputNotEmpty if it has entries."""
        if self.nvals:
            raise OutputNotEmpty(f"build: the Matrix already has {self.nvals} entries; call .clear() first")
        nrows, ncols = self.store.shape
        rows, columns = as_array(rows, np.int64), as_array(columns, np.int64)
        self._become(build_matrix(rows, columns, as_values(values), nrows, ncols, self.dtype, dup_op, self.device))
        return self

    # -- exports -----------------------------------------------------------------------------------------

    def to_csr(self) -> tuple[Any, Any, Any]:
        """(indptr, col_indices, values): arrays of this matrix's device, shared; do not write to them."""
        store = self.store
        return store.indptr, store.indices, dense_values(store)

    def to_csc(self) -> tuple[Any, Any, Any]:
        """(indptr, row_indices, values): those of the transpose, which is cached."""
        store = structure.transposed(self.store)
        return store.indptr, store.indices, dense_values(store)

    def to_coo(self) -> tuple[Any, Any, Any]:
        """(rows, columns, values), by row and then by column; arrays of this matrix's device."""
        store = self.store
        return row_numbers(store), store.indices, dense_values(store)

    def to_edgelist(self) -> tuple[Any, Any]:
        """(array of [row, column] pairs, values)."""
        rows, columns, values = self.to_coo()
        xp = array_module(self.device)
        return xp.stack([rows.astype(np.int64), columns.astype(np.int64)], axis=1), values

    def to_dense(self, fill_value: Any = None, dtype: Any = None) -> Any:
        """An array of shape (nrows, ncols); `fill_value` stands where nothing is stored (needed unless all are)."""
        store = self.store
        if fill_value is None:
            if store.nvals != store.nrows * store.ncols:
                raise InvalidValue("to_dense: some entries are missing; give fill_value=")
            fill_value = 0
        chosen = store.dtype if dtype is None else dtypes.lookup(dtype)
        array = array_module(store.device).full(store.shape, scalar(fill_value), dtype=chosen)
        array[row_numbers(store), store.indices] = dense_values(store).astype(chosen)
        return array

    def to_numpy(self, fill_value: Any = None) -> np.ndarray[Any, Any]:
        """`to_dense` as a NumPy array.  Synchronises on the GPU."""
        return to_host(self.to_dense(fill_value))

    def to_dicts(self) -> dict[int, dict[int, Any]]:
        """{row: {column: value}}, for rows that have entries.  Synchronises on the GPU."""
        answer: dict[int, dict[int, Any]] = {}
        rows, columns, values = (to_host(part).tolist() for part in self.to_coo())
        for i, j, x in zip(rows, columns, values, strict=True):
            answer.setdefault(i, {})[j] = x
        return answer

    @classmethod
    def from_dicts(
        cls,
        nested: dict[int, dict[int, Any]],
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
    ) -> Self:
        """A(i, j) = nested[i][j]."""
        triples = [(i, j, x) for i, row in nested.items() for j, x in row.items()]
        rows, columns, values = ([part[k] for part in triples] for k in range(3))
        return cls.from_coo(rows, columns, values, dtype, nrows=nrows, ncols=ncols)

    def __reduce__(self) -> Any:
        store = self.store
        indptr, indices = to_host(store.indptr), to_host(store.indices)
        values = store.iso if store.values is None else to_host(store.values)
        return _restore, (type(self), indptr, indices, values, store.dtype.str, store.ncols, self.name)


def _restore(cls: type[Any], indptr: Any, indices: Any, values: Any, dtype: str, ncols: int, name: str | None) -> Any:
    return cls.from_csr(indptr, indices, values, np.dtype(dtype), ncols=ncols, name=name)


def row_numbers(store: CSR) -> Any:
    """The row of each entry, in storage order."""
    xp = array_module(store.device)
    places = xp.arange(store.nvals, dtype=store.indptr.dtype)
    return (xp.searchsorted(store.indptr, places, side="right") - 1).astype(index_dtype(store.nrows))


def array_like_ones(array: Any) -> Any:
    """An array of True of the same shape on the same device."""
    return array_module("cuda" if hasattr(array, "get") else "cpu").ones(array.shape, dtype=bool)


def extent(name: str, value: Any) -> int:
    """A dimension: an integer that is not negative."""
    if isinstance(value, (bool, float)) or not hasattr(value, "__index__"):
        raise InvalidValue(f"{name} must be an integer, got {value!r}")
    if value < 0:
        raise InvalidValue(f"{name} must not be negative, got {value}")
    return cast(int, value.__index__())
