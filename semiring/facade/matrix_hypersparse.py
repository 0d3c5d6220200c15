"""Matrix from and to lists of the rows, or columns, that have entries: DCSR and DCSC arrays.

`Matrix` binds these functions as its methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..devices import local_device
from ..engines.rows.residency import listed_or_resident
from ..exceptions import InvalidFormat
from ..formats import CSR, HyperPattern
from ..formats.hypersparse import hypersparse, listed_rows, settled, wrong_list
from ..formats.parts import on_device, whole_of
from ..memory.allocation import allocating
from ..memory.arrays import index_dtype as index_type
from ..memory.arrays import to_device
from ..ops import structure
from ..storage.chunked_import import import_csr
from ..storage.coerce import as_indices, extent, size_for, sizes, value_type
from .exports import exported_indices, exported_values
from .means import is_mean, mean_of
from .operand import device_for, exported
from .values import as_values

if TYPE_CHECKING:
    from .matrix import Matrix


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
