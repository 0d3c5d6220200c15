"""Matrix from and to arrays: compressed rows and columns, lists of those that have entries, triples, dense arrays.

`Matrix` binds these functions as its methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..devices import local_device, on_device, whole_of
from ..engines.rows.bits import bits_of
from ..engines.rows.residency import listed_or_resident, resident
from ..engines.sliced.dense_rows import dense_matrix, is_dense
from ..exceptions import InvalidFormat, InvalidType, InvalidValue, OutputNotEmpty
from ..formats import CSR, BitmapPattern, HyperPattern, array_module, dense_values, device_of, is_bitmap
from ..formats.bitmap import bit_count, flags_of_words, words_of_flags
from ..formats.hypersparse import hypersparse, listed_rows, settled, wrong_list
from ..memory.allocation import allocating, require
from ..memory.arrays import as_type, to_device
from ..memory.arrays import index_dtype as index_type
from ..ops import structure
from ..ops.build import build_matrix, full_matrix, identity_matrix, is_mean
from ..ops.cast import cast_scalar
from ..ops.extract import column_numbers, row_numbers
from ..record_types import shown
from ..storage.chunked_import import import_csr
from ..storage.coerce import as_indices, extent, size_for, sizes, value_type
from .display import counted
from .operand import (
    as_values,
    check_mean_fits,
    dense_dtype,
    device_for,
    differs,
    exported,
    exported_indices,
    exported_values,
    mean_of,
    one_value,
    scalar,
)

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


def from_dcsr(
    cls: type[Matrix],
    compressed_rows: Any,
    indptr: Any,
    col_indices: Any,
    values: Any = 1.0,
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
    """Row compressed_rows[p] holds the columns col_indices[indptr[p]:indptr[p + 1]]; all other rows are empty.

    Parameters
    ----------
    compressed_rows : the rows that are listed, ascending without repeats
    indptr : an offset for each listed row, and the number of columns given
    col_indices : columns, in any order within a row
    values : as many values, or one for all
    dtype : type of the values; by default theirs
    nrows, ncols (or shape) : by default the last listed row + 1, and the largest column + 1
    dup_op : binary operator that combines repeated columns of a row, ``"last"`` or ``"mean"``, as `Matrix.from_coo`
    copy : False: share arrays as `from_csr`; they must not be written to afterwards
    name : shown by `repr`
    device : ``"cpu"`` or ``"cuda"``; by default the GPU if an array is there, else the configured one

    Returns
    -------
    Matrix; hypersparse if it has at least 2^20 rows of which a share of at most ``config.hyper_switch`` has entries.

    Raises
    ------
    InvalidFormat
        For rows that do not ascend, repeat or are out of range, and for offsets and columns as `from_csr`; names the
        array and the position.
    DuplicateIndex, InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost and memory O(nvals + listed rows), whatever the shape.  Synchronizes on the GPU.

    Examples
    --------
    >>> A = Matrix.from_dcsr([3, 10**9], [0, 2, 3], [0, 5, 1], [1.0, 2.0, 3.0], shape=(2 * 10**9, 6))
    >>> A.format, A.nvals, A.get(10**9, 1)
    ('hypersparse', 3, 3.0)
    """
    if dup_op is not None and is_mean(dup_op):
        shared: dict[str, Any] = {"nrows": nrows, "ncols": ncols, "shape": shape, "device": device}
        return mean_of(  # type: ignore[no-any-return]
            lambda x, t, dup: from_dcsr(cls, compressed_rows, indptr, col_indices, x, t, dup_op=dup, **shared),
            values, dtype, name,
        )  # fmt: skip
    where = device_for(compressed_rows, indptr, col_indices, values, device=device)
    rows, indptr = as_indices("compressed_rows", compressed_rows), as_indices("indptr", indptr)
    col_indices, values = (
        as_indices("col_indices", col_indices),
        as_values(values, dtype, ndim=1 if cls._infers_arrays else None),
    )
    chosen = value_type("values", values, dtype)
    nrows, ncols = sizes("from_dcsr", shape, nrows=nrows, ncols=ncols)
    nrows = extent("nrows", size_for(rows[-1:]) if nrows is None else nrows)
    ncols = extent("ncols", size_for(col_indices) if ncols is None else ncols)
    wrong = wrong_list(rows, nrows)
    if wrong is not None:
        raise InvalidFormat(f"compressed_rows: {wrong[0]}")
    if indptr.size != rows.size + 1:
        raise InvalidFormat(f"indptr must have {rows.size + 1} elements, one more than listed rows, got {indptr.size}")
    inner = import_csr(indptr, col_indices, values, ncols, chosen, dup_op, local_device(where), copy=copy)
    with allocating("from_dcsr", where):
        numbers = to_device(rows, where).astype(index_type(nrows), copy=copy)
        used, offsets = listed_rows(inner.indptr, numbers)
        pattern = HyperPattern(nrows, ncols, used, offsets, inner.indices)
        made = settled(CSR(pattern, inner.dtype, inner.values, inner.iso))
        return cls._new(on_device(where, made), name=name)


def from_dcsc(
    cls: type[Matrix],
    compressed_cols: Any,
    indptr: Any,
    row_indices: Any,
    values: Any = 1.0,
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
    """Column compressed_cols[p] holds the rows row_indices[indptr[p]:indptr[p + 1]]; all other columns are empty.

    Parameters
    ----------
    compressed_cols : the columns that are listed, ascending without repeats
    indptr : an offset for each listed column, and the number of rows given
    row_indices : rows, in any order within a column
    values, dtype, dup_op, copy, name, device : as `from_dcsr`
    nrows, ncols (or shape) : by default the largest row + 1, and the last listed column + 1

    Raises
    ------
    InvalidFormat, DuplicateIndex, InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost as `from_dcsr`, and that of a transpose.

    Examples
    --------
    >>> Matrix.from_dcsc([1, 5], [0, 1, 3], [0, 0, 2], [5, 6, 7], shape=(3, 6)).to_dicts()
    {0: {1: 5, 5: 6}, 2: {5: 7}}
    """
    nrows, ncols = sizes("from_dcsc", shape, nrows=nrows, ncols=ncols)
    columns = cls.from_dcsr(
        compressed_cols, indptr, row_indices, values, dtype, nrows=ncols, ncols=nrows, dup_op=dup_op, copy=copy,
        device=device,
    )  # fmt: skip
    return cls._new(structure.transposed(columns.store), name=name)


def to_dcsr(
    self: Matrix, dtype: Any = None, *, index_dtype: Any = np.int64, device: str | None = None, sort: bool = True
) -> tuple[Any, Any, Any, Any]:
    """(compressed_rows, indptr, col_indices, values): the rows that have entries, and arrays as `to_csr` of these.

    Parameters
    ----------
    dtype : type of the values; None: unchanged
    index_dtype : type of the first three arrays; None: the types in which they are stored
    device : of the arrays, as in `to_csr`
    sort : accepted for programs of python-graphblas; columns are ascending either way

    Raises
    ------
    InvalidValue
        If the type cannot hold the last row or column, or the number of entries.
    DomainMismatch, OutOfMemory

    Notes
    -----
    Some arrays are shared with the matrix, as in `to_csr`.  Cost O(nvals), and O(nrows) for a matrix that is
    not hypersparse, for which it synchronizes.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [0, 2, 1], [5, 6, 7])
    >>> [part.tolist() for part in A.to_dcsr()]
    [[0, 2], [0, 2, 3], [0, 2, 1], [5, 6, 7]]
    """
    return _listed("to_dcsr", self.store, dtype, index_dtype, device)


def to_dcsc(
    self: Matrix, dtype: Any = None, *, index_dtype: Any = np.int64, device: str | None = None, sort: bool = True
) -> tuple[Any, Any, Any, Any]:
    """(compressed_cols, indptr, row_indices, values): `to_dcsr` of the transpose.

    Parameters
    ----------
    dtype, index_dtype, device, sort : as `to_dcsr`; the rows of a column are ascending either way

    Raises
    ------
    InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost as `to_dcsr`, and O(nvals) once for the transpose, which is cached.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [0, 2, 1], [5, 6, 7])
    >>> [part.tolist() for part in A.to_dcsc()]
    [[0, 1, 2], [0, 1, 2, 3], [0, 2, 0], [5, 7, 6]]
    """
    return _listed("to_dcsc", structure.transposed(self.store), dtype, index_dtype, device)


def _listed(operation: str, store: CSR, dtype: Any, index_dtype: Any, device: str | None) -> tuple[Any, Any, Any, Any]:
    store = hypersparse(listed_or_resident(whole_of(store)))
    pattern = store.pattern
    assert isinstance(pattern, HyperPattern)
    rows = exported_indices(operation, pattern.rows, store.nrows, index_dtype)
    indptr = exported_indices(operation, pattern.offsets, store.nvals + 1, index_dtype)
    indices = exported_indices(operation, pattern.indices, store.ncols, index_dtype)
    values = exported_values(operation, store, dtype, device)
    return exported(rows, device), exported(indptr, device), exported(indices, device), values


def restored(
    cls: type[Matrix],
    arrays: tuple[Any, Any, Any],
    values: Any,
    dtype: str,
    shape: tuple[int, int],
    name: str | None,
    placement: str,
) -> Matrix:
    """Return a hypersparse matrix that was pickled."""
    made = cls.from_dcsr(*arrays, values, np.dtype(dtype), shape=shape, copy=False, name=name).convert("hypersparse")
    return made if placement == "device" else made.to(placement=placement)


def from_dense(
    cls: type[Matrix],
    values: Any,
    missing_value: Any = None,
    *,
    dtype: Any = None,
    format: str | None = None,
    copy: bool = True,
    name: str | None = None,
    device: str | None = None,
) -> Matrix:
    """A(i, j) = values[i, j], except where it equals `missing_value`.

    Parameters
    ----------
    values : two-dimensional array of NumPy, CuPy or any library with DLPack (PyTorch, for example), or nested lists
    missing_value : the value that represents a missing entry (NaN matches NaN); None: all are present, and the format
        is ``"full"``
    dtype : type of the values; by default theirs
    format : ``"bitmap"``: a bit for each position marks the entries, and the values keep their positions, which is
        faster to make; None: ``"csr"`` where there is a `missing_value`
    copy : False: share the values if they have the type, are on the device, contiguous by rows, and none is
        missing or the format is ``"bitmap"``.  The array must not be written to afterwards.
    name : shown by `repr`
    device : ``"cpu"`` or ``"cuda"``; by default the GPU if the array is there, else the configured one

    Raises
    ------
    InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost O(nrows ncols); O(nrows) for values that are shared.  With a `missing_value` it synchronizes on the GPU.

    Examples
    --------
    >>> Matrix.from_dense([[5, 0], [0, 7]], missing_value=0).to_dicts()
    {0: {0: 5}, 1: {1: 7}}
    >>> Matrix.from_dense(np.ones((2, 3))).format
    'full'
    """
    where = device_for(values, device=device)
    array = as_values(values, dtype, ndim=2 if cls._infers_arrays else None, name="from_dense")
    if array.ndim == 0:
        raise InvalidType(
            f"from_dense: expected an array or a list, got {values!r}; Matrix.from_scalar repeats a value"
        )
    if array.ndim != 2:
        raise InvalidValue(f"from_dense: expected two dimensions, got shape {array.shape}")
    chosen = value_type("from_dense", array, dtype)
    if format not in (None, BitmapPattern.format):
        raise InvalidValue(f"from_dense: a format is None or 'bitmap', got {format!r}")
    if format is None and missing_value is None:
        with allocating("from_dense", where):
            made = dense_matrix(_held(array, chosen, local_device(where), copy), *array.shape)
            return cls._new(on_device(where, made), name=name)
    if format is not None:
        with allocating("from_dense", where):
            same = to_device(array, where)
            words = words_of_flags(
                array_module(where).ones(array.shape, bool) if missing_value is None else differs(same, missing_value)
            )
            nrows, ncols = array.shape
            pattern = BitmapPattern(nrows, ncols, words, bit_count(words))
            made = CSR(pattern, chosen, _held(array, chosen, local_device(where), copy).reshape(-1))
            return cls._new(on_device(where, made), name=name)
    rows, columns = differs(array, missing_value).nonzero()
    return cls.from_coo(rows, columns, array[rows, columns], chosen, shape=array.shape, name=name, device=where)


def _held(array: Any, dtype: Any, device: str, copy: bool) -> Any:
    """Return the array on the device, contiguous by rows; itself if it is that already and no `copy` is requested."""
    same = array if device_of(array) == device else to_device(array, device)
    return as_type(same, dtype, copy=copy and same is array)


def to_dense(self: Matrix, fill_value: Any = None, dtype: Any = None, *, device: str | None = None) -> Any:
    """Return an array of shape (nrows, ncols), the caller's own.

    Parameters
    ----------
    fill_value : the value where nothing is stored; needed unless all positions hold a value
    dtype : type of the array, to which values and `fill_value` are cast; by default the one that holds both
    device : ``"cpu"`` returns NumPy arrays, ``"cuda"`` CuPy arrays; None: those of the matrix's device

    Raises
    ------
    InvalidValue
        If an entry is missing and there is no `fill_value`.
    DomainMismatch, OutOfMemory

    Notes
    -----
    Cost O(nrows ncols).  To read the values of a matrix in the format ``"full"`` without a copy, use DLPack:
    ``numpy.from_dlpack(A)``, or that of CuPy or PyTorch.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1], [0, 2], [5, 6], shape=(2, 3))
    >>> A.to_dense(fill_value=0).tolist()
    [[5, 0, 0], [0, 0, 6]]
    """
    store, fill = whole_of(self.store), scalar(fill_value)
    missing = store.nrows * store.ncols - store.nvals
    if fill is None and missing:
        raise InvalidType(f"to_dense: {missing} of {store.nrows} x {store.ncols} are missing; give fill_value=")
    chosen = dense_dtype(store.dtype, fill, dtype)
    require("to_dense", store.device, store.nrows * store.ncols * chosen.itemsize)
    with allocating("to_dense", store.device):
        if is_dense(store):
            whole = as_type(dense_values(store), chosen, copy=store.iso is None).reshape(store.shape)
            return exported(shown(whole), device)
        if is_bitmap(store):
            return exported(shown(_filled(store, fill, chosen)), device)
        store = resident(store)
        array = array_module(store.device).full(
            store.shape, cast_scalar(0 if fill is None else fill, chosen), dtype=chosen
        )
        array[row_numbers(store), store.indices] = as_type(dense_values(store), chosen)
    return exported(shown(array), device)


def _filled(store: CSR, fill: Any, dtype: Any) -> Any:
    """Return the values of a bitmap matrix, and `fill` at the positions without entries."""
    bits = bits_of(store)
    present = flags_of_words(bits.words, bits.size)
    absent = cast_scalar(0 if fill is None else fill, dtype)
    values = as_type(dense_values(bits), dtype, copy=False)
    if values.dtype.names is not None:  # CuPy's `where` has no records
        values = values.copy()
        values[~present] = absent
        return values.reshape(store.shape)
    return array_module(store.device).where(present, values, absent).reshape(store.shape)


def dlpack(self: Matrix, **options: Any) -> Any:
    """Return the values as a two-dimensional DLPack capsule, without a copy.

    ``numpy.from_dlpack(A)``, ``cupy.from_dlpack(A)`` and ``torch.from_dlpack(A)`` call it.  The array shares the memory
    of this matrix and must not be written to.

    Parameters
    ----------
    **options : as the protocol defines them (``stream``, ``max_version``, ``dl_device``, ``copy``)

    Raises
    ------
    BufferError
        Unless every position holds a value, the format is ``"full"`` and the values are in the memory of the device;
        `to_dense` has no such conditions.
    """
    return _shared(self).__dlpack__(**options)


def dlpack_device(self: Matrix) -> tuple[int, int]:
    """Return (device type, device number), as the DLPack protocol defines them."""
    if self.device == "cpu":
        return 1, 0
    pattern = self.store.pattern
    return 2, int(getattr(pattern, pattern.ARRAYS[0]).device.id)


def _shared(self: Matrix) -> Any:
    """Return the values as a two-dimensional array that shares their memory."""
    store = self.store
    if not is_dense(store) or store.values is None:
        raise BufferError(
            f"only a full matrix with a value for each position shares its memory, this one is {self.format!r} with "
            f"{store.nvals} of {store.nrows} x {store.ncols}; use to_dense(fill_value=...)"
        )
    return store.values.reshape(store.shape)
