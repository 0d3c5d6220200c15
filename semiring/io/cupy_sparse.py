"""Conversion from and to CuPy sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semiring.exceptions import DomainMismatch, InvalidValue
from semiring.optional import needed

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["from_cupy_sparse", "to_cupy_sparse"]

_DTYPES = ("bool", "float32", "float64", "complex64", "complex128")


def from_cupy_sparse(X: Any, *, copy: bool = True) -> Matrix:
    """Return a Matrix on the GPU with the entries of a CuPy sparse matrix, explicit zeros included.

    Entries at the same position are added. ``X`` is not changed.

    Parameters
    ----------
    X : CuPy sparse matrix
    copy : bool
        The result is independent of ``X``. With False it shares the buffers of a canonical csr (sorted columns, no
        duplicates), which must not be written to afterwards.

    Returns
    -------
    Matrix

    Raises
    ------
    InvalidValue
        ``X`` is not a CuPy sparse matrix.

    Notes
    -----
    Cost O(nnz) for a canonical csr, to check and to copy, else O(nnz log nnz).

    Examples
    --------
    >>> import cupyx.scipy.sparse  # doctest: +SKIP
    >>> sr.io.from_cupy_sparse(cupyx.scipy.sparse.eye(3, format="csr")).nvals  # doctest: +SKIP
    3
    """
    from cupyx.scipy.sparse import issparse

    from semiring.facade.matrix import Matrix

    if not issparse(X):
        raise InvalidValue(f"expected a CuPy sparse matrix, got {type(X).__name__}")
    csr = X.tocsr()
    if not csr.has_canonical_format:  # synchronizes, the first time
        csr = csr.copy() if csr is X else csr
        csr.sum_duplicates()
    return Matrix.from_csr(csr.indptr, csr.indices, csr.data, ncols=csr.shape[1], copy=copy and csr is X)


def to_cupy_sparse(A: Matrix) -> Any:
    """Return a Matrix as a ``cupyx.scipy.sparse.csr_matrix``; a matrix on the GPU shares its buffers with it.

    Iso values are written out; a matrix on the CPU is copied to the GPU. Do not write into shared buffers: every object
    that shares them would change. ``to_cupy_sparse(A).copy()`` is independent.

    Parameters
    ----------
    A : Matrix

    Returns
    -------
    ``cupyx.scipy.sparse.csr_matrix``

    Raises
    ------
    DomainMismatch
        CuPy's sparse matrices hold bool, float32, float64, complex64 and complex128 only.
    NotSupported
        CuPy is not installed.

    Notes
    -----
    Cost O(1) for a csr on the GPU with a value for each entry, else O(nvals).

    Examples
    --------
    >>> sr.io.to_cupy_sparse(Matrix.identity(3, float)).nnz  # doctest: +SKIP
    3
    """
    if A.dtype.name not in _DTYPES:
        raise DomainMismatch(
            f"CuPy's sparse matrices hold {', '.join(_DTYPES)}, got {A.dtype.name}; convert first, for example "
            f"A.dup(dtype='float64')"
        )
    cupy = needed("to_cupy_sparse", "cupy")
    from cupyx.scipy.sparse import csr_matrix

    indptr, indices, values = A.to_csr(index_dtype=None)
    data = cupy.full(A.nvals, A.iso_value, dtype=A.dtype) if A.is_iso else cupy.asarray(values)
    return csr_matrix((data, cupy.asarray(indices), cupy.asarray(indptr)), shape=(A.nrows, A.ncols), copy=False)
