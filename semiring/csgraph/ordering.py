"""Orders of rows: `scipy.sparse.csgraph.reverse_cuthill_mckee`."""

from __future__ import annotations

from typing import Any

from scipy.sparse import csgraph as scipy_csgraph

from .conversion import on_the_host


@on_the_host(scipy_csgraph.reverse_cuthill_mckee)
def reverse_cuthill_mckee(graph: Any, symmetric_mode: bool = False) -> Any:
    """p = the rows in an order of small bandwidth: all entries of A(p, p) are near the diagonal.

    Parameters
    ----------
    graph : N x N sparse matrix, of SciPy or CuPy
    symmetric_mode : bool
        Whether the structure is known to be symmetric; otherwise the union with its transpose is ordered.

    Returns
    -------
    array of N int32

    Raises
    ------
    TypeError
        For a graph that is not in CSR or CSC format.

    Notes
    -----
    Sequential, and computed by SciPy on the CPU.  A graph on a GPU is copied to the host, and the order back
    (synchronises).

    Source: Cuthill, McKee, "Reducing the Bandwidth of Sparse Symmetric Matrices", 1969.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> graph = sp.csr_array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    >>> sorted(sr.csgraph.reverse_cuthill_mckee(graph, True).tolist())
    [0, 1, 2]
    """
