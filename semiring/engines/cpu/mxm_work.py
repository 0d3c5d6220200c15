"""The work of matrix products, row by row: threads divide the rows by it, and a method is chosen."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, Array, index_dtype
from .compile import kernel
from .rows import share
from .threads import parts_for, run

__all__ = ["SWAP", "column_offsets", "probes_before", "products_before"]

# Entries of a row of B' for each of the row of A, from which on the latter are searched in the former (reasoned: the
# steps of a search among a thousand entries).
SWAP = 10


def products_before(a_indptr: Array, a_indices: Array, b_indptr: Array) -> Array:
    """Return the number of products A(i, k) B(k, j) of the rows before each row i, and of all rows."""
    work = np.zeros(a_indptr.size, np.int64)
    parts = parts_for(a_indices.size + a_indptr.size)
    run(_products, parts, a_indptr, a_indices, b_indptr, work)
    return work if parts == 1 else np.cumsum(work, out=work)


@kernel
def _products(t, threads, control, a_indptr, a_indices, b_indptr, work):
    """work[i + 1] = the products of row i; with one thread, those of all rows up to i."""
    found = np.int64(0)
    for i in range(share(a_indptr, t, threads), share(a_indptr, t + 1, threads)):
        if threads > 1:
            found = np.int64(0)
        for p in range(a_indptr[i], a_indptr[i + 1]):
            k = a_indices[p]
            found += np.int64(b_indptr[k + 1]) - np.int64(b_indptr[k])
        work[i + 1] = found


def column_offsets(b: CSR) -> Array:
    """Return the row offsets of the transpose of B."""
    offsets = np.zeros(b.ncols + 1, np.int64)
    np.cumsum(np.bincount(b.indices, minlength=b.ncols), out=offsets[1:])
    return offsets.astype(index_dtype(b.nvals), copy=False)


def probes_before(a_indptr: Array, t_indptr: Array, m_indptr: Array, m_indices: Array) -> Array:
    """Return the number of probes of the dot products of a mask in the rows before each row, and in all rows.

    t: the transpose of B.  m: the mask.
    """
    work = np.zeros(a_indptr.size, np.int64)
    run(_probes, parts_for(m_indices.size + a_indptr.size), a_indptr, t_indptr, m_indptr, m_indices, work)
    return np.cumsum(work, out=work)


@kernel
def _probes(t, threads, control, a_indptr, t_indptr, m_indptr, m_indices, work):
    """work[i + 1] = the probes of row i."""
    for i in range(share(m_indptr, t, threads), share(m_indptr, t + 1, threads)):
        swapped = SWAP * (np.int64(a_indptr[i + 1]) - np.int64(a_indptr[i]))
        found = np.int64(0)
        for m in range(m_indptr[i], m_indptr[i + 1]):
            j = m_indices[m]
            found += min(np.int64(t_indptr[j + 1]) - np.int64(t_indptr[j]), swapped)
        work[i + 1] = found
