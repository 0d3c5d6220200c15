"""Conversion from and to SciPy sparse matrices and arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidValue

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["from_scipy_sparse", "to_scipy_sparse"]

_FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


def from_scipy_sparse(S: Any) -> Matrix:
    """Return a Matrix with the entries of a SciPy sparse matrix or array, explicit zeros included.

    Entries at the same position are added, as SciPy defines them. ``S`` is not changed.

    Raises
    ------
    InvalidValue
        ``S`` is not a two-dimensional SciPy sparse object.
    DomainMismatch
        Its dtype is not one of the 11.

    Notes
    -----
    A canonical csr shares its arrays with the result on the CPU engine, so do not write into them afterwards;
    anything else costs a conversion, O(nnz).
    """
    from scipy.sparse import issparse

    from semiring.facade.matrix import Matrix

    if not issparse(S) or S.ndim != 2:
        raise InvalidValue(f"expected a two-dimensional SciPy sparse matrix or array, got {type(S).__name__}")
    csr = S.tocsr()
    if not csr.has_canonical_format:
        csr = csr.copy() if csr is S else csr
        csr.sum_duplicates()
    return Matrix.from_csr(csr.indptr, csr.indices, csr.data, ncols=csr.shape[1])


def to_scipy_sparse(A: Matrix, format: str = "csr", *, copy: bool = True) -> Any:
    """Return a Matrix as a SciPy sparse array in any of SciPy's formats; iso values are written out.

    Parameters
    ----------
    A : Matrix
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
    O(nvals). Synchronises and copies to the host where ``A`` is on the GPU.
    """
    from scipy.sparse import csr_array

    from semiring.memory.allocation import require
    from semiring.memory.arrays import index_dtype, to_host

    if format not in _FORMATS:
        raise InvalidValue(f"expected format= one of {', '.join(_FORMATS)}; got {format!r}")

    def exported(array: Any) -> NDArray[Any]:
        host: NDArray[Any] = to_host(array)
        if host is not array:  # a copy from the GPU, which no object shares
            return host
        result: NDArray[Any] = host.copy() if copy else host.view()
        if not copy:
            result.flags.writeable = False
        return result

    width = index_dtype(A.ncols).itemsize + A.dtype.itemsize
    require("to_scipy_sparse", "cpu", A.nvals * width if copy else 0)
    indptr, indices, values = A.to_csr(index_dtype=None)
    data = np.full(A.nvals, A.iso_value, dtype=A.dtype) if A.is_iso else exported(values)
    csr = csr_array((data, exported(indices), exported(indptr)), shape=(A.nrows, A.ncols))
    csr.has_canonical_format = True
    return csr.asformat(format)
