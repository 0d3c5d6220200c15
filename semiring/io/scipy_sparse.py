"""Conversion from and to SciPy sparse matrices and arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import DomainMismatch, InvalidValue

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix
    from semiring.facade.vector import Vector

__all__ = ["from_scipy_sparse", "to_scipy_sparse"]

_FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


def from_scipy_sparse(S: Any, *, dup_op: Any = None, copy: bool = True, name: str | None = None) -> Matrix:
    """Return a Matrix with the entries of a SciPy sparse matrix or array, explicit zeros included.

    Parameters
    ----------
    S : SciPy sparse matrix or array
        It is not changed.
    dup_op : binary operator, optional
        How to combine entries at the same position; by default they are added, as SciPy defines them.
    copy : bool
        The result is independent of ``S``. With False it shares the arrays of a canonical csr on the CPU, which must
        not be written to afterwards.
    name : str, optional
        Shown by ``repr``.

    Raises
    ------
    InvalidValue
        ``S`` is not a two-dimensional SciPy sparse object.
    DomainMismatch
        Its dtype is not one of the 11.

    Notes
    -----
    O(nnz); O(nnz) to check alone for arrays that are shared.

    Examples
    --------
    >>> import scipy.sparse
    >>> sr.io.from_scipy_sparse(scipy.sparse.csr_array([[0, 5], [6, 0]])).to_dicts()
    {0: {1: 5}, 1: {0: 6}}
    """
    from scipy.sparse import issparse

    from semiring.facade.matrix import Matrix

    if not issparse(S) or S.ndim != 2:
        raise InvalidValue(f"expected a two-dimensional SciPy sparse matrix or array, got {type(S).__name__}")
    if dup_op is not None and S.format == "coo":  # the only format whose conversion adds them
        rows, columns = S.coords
        return Matrix.from_coo(rows, columns, S.data, shape=S.shape, dup_op=dup_op, name=name)
    csr = S.tocsr()
    if not csr.has_canonical_format:
        csr = csr.copy() if csr is S else csr
        csr.sum_duplicates()
    own = csr is not S
    return Matrix.from_csr(csr.indptr, csr.indices, csr.data, ncols=csr.shape[1], copy=copy and not own, name=name)


def to_scipy_sparse(A: Matrix | Vector, format: str = "csr", *, copy: bool = True) -> Any:
    """Return a Matrix as a SciPy sparse array in any of SciPy's formats; iso values are written out.

    Parameters
    ----------
    A : Matrix, or Vector
        A Vector becomes a matrix of one row, or with ``"csc"`` of one column.
    format : str
        One of ``bsr coo csc csr dia dok lil``.
    copy : bool
        The result is an independent copy. With False a csr or coo shares the arrays of a matrix on the CPU; those
        are then read-only, since other objects may share them too.

    Raises
    ------
    InvalidValue
        An unknown format.

    Notes
    -----
    O(nvals). Synchronizes and copies to the host where ``A`` is on the GPU.

    Examples
    --------
    >>> S = sr.io.to_scipy_sparse(Matrix.from_coo([0, 1], [1, 0], [5, 6]))
    >>> S.toarray().tolist(), S.format
    ([[0, 5], [6, 0]], 'csr')
    """
    from scipy.sparse import csr_array

    from semiring.facade.matrix import Matrix
    from semiring.memory.allocation import require
    from semiring.memory.arrays import index_dtype, to_host

    if format not in _FORMATS:
        raise InvalidValue(f"expected format= one of {', '.join(_FORMATS)}; got {format!r}")

    if not isinstance(A, Matrix):
        return _vector(A, format)

    def exported(array: Any) -> NDArray[Any]:
        host: NDArray[Any] = to_host(array)
        if host is not array:  # a copy from the GPU, which no object shares
            return host
        result: NDArray[Any] = host.copy() if copy else host.view()
        if not copy:
            result.flags.writeable = False
        return result

    if A.dtype.names is not None:
        raise DomainMismatch("to_scipy_sparse: SciPy's matrices hold numbers, not records; export a field")
    width = index_dtype(A.ncols).itemsize + A.dtype.itemsize
    require("to_scipy_sparse", "cpu", A.nvals * width if copy else 0)
    indptr, indices, values = A.to_csr(index_dtype=None)
    data = np.full(A.nvals, A.iso_value, dtype=A.dtype) if A.is_iso else exported(values)
    csr = csr_array((data, exported(indices), exported(indptr)), shape=(A.nrows, A.ncols))
    csr.has_canonical_format = True
    return csr.asformat(format)


def _vector(v: Vector, format: str) -> Any:
    """Return a Vector as a matrix of one row, or of one column in the format by columns."""
    from scipy.sparse import coo_array

    from semiring.memory.arrays import to_host

    indices, values = (np.array(to_host(part)) for part in v.to_coo())
    zeros = np.zeros_like(indices)
    by_columns = format == "csc"
    places, shape = ((indices, zeros), (v.size, 1)) if by_columns else ((zeros, indices), (1, v.size))
    return coo_array((values, places), shape=shape).asformat(format)
