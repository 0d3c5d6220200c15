"""Matrix from and to arrays: compressed rows and columns, triples; from one value.

`Matrix` binds these functions as its methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..engines.rows.residency import listed_or_resident, resident
from ..exceptions import InvalidFormat, OutputNotEmpty
from ..formats.parts import whole_of
from ..memory.allocation import allocating
from ..ops import structure
from ..ops.build import build_matrix, full_matrix, identity_matrix
from ..ops.extract import column_numbers, row_numbers
from ..storage.chunked_import import import_csr
from ..storage.coerce import as_indices, extent, size_for, sizes, value_type
from .display import counted
from .exports import exported_indices, exported_values
from .means import check_mean_fits, is_mean, mean_of
from .operand import device_for, exported
from .values import as_values, one_value

if TYPE_CHECKING:
    from .matrix import Matrix

M = TypeVar("M", bound="Matrix")


def from_csr(
    cls: type[Matrix],
    indptr: Any,
    col_indices: Any,
    values: Any = None,
    dtype: Any = None,
    *,
    nrows: int | None = None,
    ncols: int | None = None,
    shape: tuple[int, int] | None = None,
    dup_op: Any = None,
    copy: bool = True,
    name: str | None = None,
    device: str | None = None,
    placement: str = "device",
) -> Matrix:
    """Row i holds the columns col_indices[indptr[i]:indptr[i + 1]], in any order.

    Parameters
    ----------
    indptr : nrows + 1 offsets
    col_indices : columns
    values : as many values; or one for all; or None, which means True
    dtype : type of the values; by default theirs
    nrows, ncols (or shape) : by default as many rows as `indptr` has, and the largest column + 1
    dup_op : binary operator that combines repeated columns of a row, ``"last"`` or ``"mean"``, as `from_coo`
    copy : False: share arrays that have the types of the result, sorted rows, and stay on their device.  They must not
        be written to afterwards, as every object that shares them would change
    name : shown by `repr`
    device : ``"cpu"`` or ``"cuda"``; by default the GPU if an array is there, else the configured one
    placement : ``"device"``, ``"pinned"``, ``"host"`` or ``"auto"``, as `Matrix.to`

    Raises
    ------
    InvalidFormat
        For offsets that do not start at 0, decrease, or do not end at the number of columns given, and columns
        out of range; names the array and the position.
    OutOfMemory
        If it does not fit at its placement; the message reports, with bytes, what would fit.
    DuplicateIndex, InvalidValue, DomainMismatch

    Notes
    -----
    Cost O(nvals), to check and to copy.  On the GPU that synchronizes.  NumPy arrays that stay in host memory are
    checked on the GPU slice by slice; with ``copy=False`` those of 32 MB or more are page-locked in place.
    Index types of the result are int32 below 2**31 columns, and below 2**31 entries for `indptr`; else int64.

    Examples
    --------
    >>> Matrix.from_csr([0, 2, 2, 3], [0, 2, 1], [5, 6, 7]).to_dicts()
    {0: {0: 5, 2: 6}, 2: {1: 7}}
    """
    if dup_op is not None and is_mean(dup_op):
        shared: dict[str, Any] = {"nrows": nrows, "ncols": ncols, "shape": shape, "device": device}
        return mean_of(  # type: ignore[no-any-return]
            lambda x, t, dup: from_csr(cls, indptr, col_indices, x, t, dup_op=dup, placement=placement, **shared),
            values, dtype, name,
        )  # fmt: skip
    where = device_for(indptr, col_indices, values, device=device)
    indptr, col_indices = as_indices("indptr", indptr), as_indices("col_indices", col_indices)
    values = np.asarray(True) if values is None else as_values(values, dtype, ndim=1 if cls._infers_arrays else None)
    chosen = value_type("values", values, dtype)
    nrows, ncols = sizes("from_csr", shape, nrows=nrows, ncols=ncols)
    ncols = size_for(col_indices) if ncols is None else ncols
    if nrows is not None and indptr.size != nrows + 1:
        raise InvalidFormat(f"indptr must have nrows + 1 = {nrows + 1} elements, got {indptr.size}")
    store = import_csr(indptr, col_indices, values, extent("ncols", ncols), chosen, dup_op, where, placement, copy=copy)
    return cls._new(store, name=name)


def from_csc(
    cls: type[Matrix],
    indptr: Any,
    row_indices: Any,
    values: Any = None,
    dtype: Any = None,
    *,
    nrows: int | None = None,
    ncols: int | None = None,
    shape: tuple[int, int] | None = None,
    dup_op: Any = None,
    copy: bool = True,
    name: str | None = None,
    device: str | None = None,
) -> Matrix:
    """Column j holds the rows row_indices[indptr[j]:indptr[j + 1]], in any order.

    Parameters
    ----------
    indptr : ncols + 1 offsets
    row_indices : rows
    values, dtype, dup_op, copy, name, device : as `from_csr`
    nrows, ncols (or shape) : by default the largest row + 1, and as many columns as `indptr` has

    Raises
    ------
    InvalidFormat, DuplicateIndex, InvalidValue, DomainMismatch

    Notes
    -----
    Cost O(nvals): the rows are derived from the columns.

    Examples
    --------
    >>> Matrix.from_csc([0, 1, 1, 3], [0, 0, 2], [5, 6, 7]).to_dicts()
    {0: {0: 5, 2: 6}, 2: {2: 7}}
    """
    nrows, ncols = sizes("from_csc", shape, nrows=nrows, ncols=ncols)
    columns = cls.from_csr(
        indptr, row_indices, values, dtype, nrows=ncols, ncols=nrows, dup_op=dup_op, copy=copy, device=device
    )
    return cls._new(structure.transposed(columns.store), name=name)


def from_coo(
    cls: type[Matrix],
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
) -> Matrix:
    """A(rows[p], columns[p]) = values[p].

    Parameters
    ----------
    rows, columns : integers, in any order
    values, dtype, name, device : as `from_csr`
    nrows, ncols (or shape) : by default the largest index + 1
    dup_op : binary operator that combines repeated positions, from the first on; ``"last"`` keeps the last value,
        ``"mean"`` averages: of integers and bools in float64, whatever `dtype` is

    Raises
    ------
    DuplicateIndex
        If a position repeats and there is no `dup_op`.
    IndexOutOfBound, InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost O(k log k) for k triples, twice for ``"mean"``.  On the GPU the checks synchronize.

    Examples
    --------
    >>> Matrix.from_coo([1, 0, 1], [0, 2, 0], [5, 6, 7], dup_op="plus").to_dicts()
    {0: {2: 6}, 1: {0: 12}}
    >>> Matrix.from_coo([1, 0, 1], [0, 2, 0], [5, 6, 8], dup_op="mean").to_dicts()
    {0: {2: 6.0}, 1: {0: 6.5}}
    >>> Matrix.from_coo([0, 1], [1, 2], True, shape=(3, 3)).to_dicts()
    {0: {1: True}, 1: {2: True}}
    """
    if dup_op is not None and is_mean(dup_op):
        shared: dict[str, Any] = {"nrows": nrows, "ncols": ncols, "shape": shape, "device": device}
        return mean_of(  # type: ignore[no-any-return]
            lambda x, t, dup: from_coo(cls, rows, columns, x, t, dup_op=dup, **shared), values, dtype, name
        )
    where = device_for(rows, columns, values, device=device)
    rows, columns = as_indices("rows", rows), as_indices("columns", columns)
    values = np.asarray(True) if values is None else as_values(values, dtype, ndim=1 if cls._infers_arrays else None)
    chosen = value_type("values", values, dtype)
    nrows, ncols = sizes("from_coo", shape, nrows=nrows, ncols=ncols)
    nrows = extent("nrows", size_for(rows) if nrows is None else nrows)
    ncols = extent("ncols", size_for(columns) if ncols is None else ncols)
    return cls._new(build_matrix(rows, columns, values, nrows, ncols, chosen, dup_op, where), name=name)


def from_scalar(
    cls: type[Matrix],
    value: Any,
    nrows: int | None = None,
    ncols: int | None = None,
    dtype: Any = None,
    *,
    shape: tuple[int, int] | None = None,
    name: str | None = None,
    device: str | None = None,
) -> Matrix:
    """A(i, j) = value everywhere; the value is stored once, and the format is ``"full"``.

    Parameters
    ----------
    value : number or Scalar
    nrows, ncols (or shape) : the number of rows and of columns
    dtype : type of the value; by default its own
    name : shown by `repr`
    device : ``"cpu"`` or ``"cuda"``; by default the configured one

    Raises
    ------
    InvalidValue, EmptyObject, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost and memory O(nrows).

    Examples
    --------
    >>> A = Matrix.from_scalar(2.5, 2, 3)
    >>> A.format, A.nvals, A[1, 2].value
    ('full', 6, 2.5)
    """
    value, where = one_value(value, dtype), device_for(device=device)
    chosen = value_type("value", np.asarray(value), dtype)
    nrows, ncols = sizes("from_scalar", shape, nrows=nrows, ncols=ncols)
    whole = extent("nrows", nrows), extent("ncols", ncols)
    with allocating("from_scalar", where):
        return cls._new(full_matrix(whole, value, chosen, where), name=name)


def identity(
    cls: type[Matrix], n: int, dtype: Any = None, *, value: Any = 1, name: str | None = None, device: str | None = None
) -> Matrix:
    """A(i, i) = value, which is stored once.

    Parameters
    ----------
    n : number of rows and columns
    dtype : type of the value; by default its own
    value : number or Scalar
    name : shown by `repr`
    device : ``"cpu"`` or ``"cuda"``; by default the configured one

    Raises
    ------
    InvalidValue, EmptyObject, DomainMismatch

    Notes
    -----
    Cost and memory O(n).

    Examples
    --------
    >>> Matrix.identity(3).to_dicts(), Matrix.identity(2, value=2.5).to_dicts()
    ({0: {0: 1}, 1: {1: 1}, 2: {2: 1}}, {0: {0: 2.5}, 1: {1: 2.5}})
    """
    value = one_value(value, dtype)
    chosen = value_type("value", np.asarray(value), dtype)
    return cls._new(identity_matrix(extent("n", n), value, chosen, device_for(device=device)), name=name)


def build(
    self: M,
    rows: Any,
    columns: Any,
    values: Any,
    *,
    dup_op: Any = None,
    clear: bool = False,
    nrows: int | None = None,
    ncols: int | None = None,
) -> M:
    """Fill this empty matrix, A(rows[p], columns[p]) = values[p], and return it.

    Parameters
    ----------
    rows, columns, values, dup_op : as `from_coo`
    clear : replace the entries that there are
    nrows, ncols : the new shape; None: unchanged

    Raises
    ------
    OutputNotEmpty
        If it has entries, and not `clear`.
    DuplicateIndex, IndexOutOfBound, InvalidValue, DomainMismatch

    Notes
    -----
    Cost O(k log k) for k triples.  On the GPU the checks synchronize.

    Examples
    --------
    >>> Matrix(int, 2, 3).build([0, 1], [2, 0], [5, 6]).to_dicts()
    {0: {2: 5}, 1: {0: 6}}
    """
    if not clear and self.nvals:
        raise OutputNotEmpty(
            f"build: the Matrix already has {counted(self.nvals)}; call .clear() first, or give clear=True"
        )
    nrows = self.store.nrows if nrows is None else extent("nrows", nrows)
    ncols = self.store.ncols if ncols is None else extent("ncols", ncols)
    rows, columns = as_indices("rows", rows), as_indices("columns", columns)
    dtype = self._described.dtype
    if dup_op is not None and is_mean(dup_op):
        check_mean_fits(dtype)
        made = type(self).from_coo(
            rows, columns, values, dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, device=self.device
        )
        self._become(made.store)
        return self
    self._become(build_matrix(rows, columns, as_values(values, dtype), nrows, ncols, dtype, dup_op, self.device))
    return self


# -- exports ---------------------------------------------------------------------------------------------


def to_csr(
    self: Matrix, dtype: Any = None, *, index_dtype: Any = np.int64, device: str | None = None, sort: bool = True
) -> tuple[Any, Any, Any]:
    """(indptr, col_indices, values): arrays that the matrix may share.

    Parameters
    ----------
    dtype : type of the values; None: unchanged
    sort : accepted for programs of python-graphblas; columns are ascending either way
    index_dtype : type of `indptr` and `col_indices`.  None: each as it is stored (columns int32 below 2**31
        columns, offsets int32 below 2**31 entries) and without a copy; arithmetic on int32 wraps at 2**31.
    device : ``"cpu"`` returns NumPy arrays, ``"cuda"`` CuPy arrays; None: those of the matrix's device

    Raises
    ------
    InvalidValue
        If the type cannot hold the last column or the number of entries.
    DomainMismatch, OutOfMemory

    Notes
    -----
    NumPy arrays are read-only, CuPy arrays must not be written to: take copies.  Cost O(nvals + nrows) and 8 bytes
    for each entry and row with int64 indices; with ``index_dtype=None`` O(1), or O(nvals) for one value that all
    entries share, and for rows that are compressed or not in the memory of the device.  Does not synchronize,
    except to execute a pending operation, and for such rows.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [0, 2, 1], [5, 6, 7])
    >>> [part.tolist() for part in A.to_csr()]
    [[0, 2, 2, 3], [0, 2, 1], [5, 6, 7]]
    """
    return _compressed("to_csr", self.store, index_dtype, device, dtype)


def to_csc(
    self: Matrix, dtype: Any = None, *, index_dtype: Any = np.int64, device: str | None = None, sort: bool = True
) -> tuple[Any, Any, Any]:
    """(indptr, row_indices, values): `to_csr` of the transpose.

    Parameters
    ----------
    dtype, index_dtype, device, sort : as `to_csr`; the rows of a column are ascending either way

    Raises
    ------
    InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost as `to_csr`, and O(nvals) once for the transpose, which is cached.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [0, 2, 1], [5, 6, 7])
    >>> [part.tolist() for part in A.to_csc()]
    [[0, 1, 2, 3], [0, 2, 0], [5, 7, 6]]
    """
    return _compressed("to_csc", structure.transposed(self.store), index_dtype, device, dtype)


def _compressed(operation: str, store: Any, index_dtype: Any, device: str | None, dtype: Any) -> tuple[Any, Any, Any]:
    store = resident(whole_of(store))
    indptr = exported_indices(operation, store.indptr, store.nvals + 1, index_dtype)
    indices = exported_indices(operation, store.indices, store.ncols, index_dtype)
    return exported(indptr, device), exported(indices, device), exported_values(operation, store, dtype, device)


def to_coo(
    self: Matrix,
    dtype: Any = None,
    *,
    index_dtype: Any = np.int64,
    device: str | None = None,
    rows: bool = True,
    columns: bool = True,
    values: bool = True,
    sort: bool = True,
) -> tuple[Any, Any, Any]:
    """(rows, columns, values), by row and then by column.

    Parameters
    ----------
    dtype : type of the values; None: unchanged
    rows, columns, values : False: None in place of that array
    sort : accepted for programs of python-graphblas; the order is the same either way
    index_dtype : type of `rows` and `columns`; None: the types in which they are stored, see `to_csr`
    device : ``"cpu"`` returns NumPy arrays, ``"cuda"`` CuPy arrays; None: those of the matrix's device

    Raises
    ------
    InvalidValue
        If the type cannot hold the last row or column.
    DomainMismatch, OutOfMemory

    Notes
    -----
    Some arrays are shared with the matrix, as in `to_csr`.  Cost O(nvals); 16 bytes an entry
    for int64 indices, half of that with ``index_dtype=None``, which shares the columns.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [0, 2, 1], [5, 6, 7])
    >>> [part.tolist() for part in A.to_coo()]
    [[0, 0, 2], [0, 2, 1], [5, 6, 7]]
    """
    store = listed_or_resident(whole_of(self.store))
    return (
        exported(exported_indices("to_coo", row_numbers(store), store.nrows, index_dtype), device) if rows else None,
        exported(exported_indices("to_coo", column_numbers(store), store.ncols, index_dtype), device)
        if columns
        else None,
        exported_values("to_coo", store, dtype, device) if values else None,
    )
