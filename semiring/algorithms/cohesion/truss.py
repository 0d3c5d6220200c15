"""Trusses: the largest subgraphs whose edges are all in k - 2 triangles or more.

S(u, v), the support of an edge, counts its triangles among the edges that remain.  Edges of too little support are
removed; R holds them, and S' the others.  A triangle that is lost has an edge in R, so the supports that remain are

    S'<S'> -= R S + (R S')'    over plus_pair

unless so many edges go that a product of those that remain costs less.

Sources: Cohen, "Trusses: Cohesive Subgraphs for Social Network Analysis", NSA technical report, 2008; Davis,
"Graph algorithms via SuiteSparse:GraphBLAS: triangle counting and k-truss", HPEC 2018; Low et al., "Linear algebraic
formulation of edge-centric k-truss algorithms with adjacency matrices", HPEC 2018.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix

from ..checks import count, undirected
from ..ordering import inverse
from ..progress import Progress, reporter
from ..vertex_labels import algorithm
from .oriented import oriented, without_loops
from .triangles import supports

# Supports are updated if at most one in so many edges is removed, and computed again otherwise.  Measured on two cores,
# truss numbers of kron12: 2 1.27 s, 16 1.19, 64 1.63.
_UPDATE = 16


@algorithm("vv")
def k_truss(A: Matrix, k: int) -> Matrix:
    """B = the entries of A in its k-truss, the largest subgraph whose edges are all in k - 2 of its triangles or more.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph; self-loops are ignored.
    k : the 2-truss, and those of smaller k, are the whole graph

    Returns
    -------
    Matrix, n x n: the edges of the truss with their values in A.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure of A is not symmetric, or k is not a count.

    Notes
    -----
    Cost as `edge_triangles`, at most as often as edges are removed, and less for each step that removes few.  Memory 24
    bytes an entry of A.  Synchronizes once a step.

    Source: Cohen, "Trusses: Cohesive Subgraphs for Social Network Analysis", NSA technical report, 2008; as products:
    Davis, "Graph algorithms via SuiteSparse:GraphBLAS: triangle counting and k-truss", HPEC 2018.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> sr.algorithms.k_truss(A.ewise_add(A.T, "any"), 3).select("triu").to_dicts()
    {0: {1: True, 2: True}, 1: {2: True}}
    """
    undirected("k_truss", A)
    k = count("k_truss", "k", k)
    if k <= 2:
        return A.select("offdiag").wait()
    graph = oriented(without_loops(A))
    S = _trimmed(supports(graph.matrix, graph.lower, graph.method), k - 2, graph.method)
    if graph.order is not None:
        S = S.permute(inverse(graph.order))
    return A.dup(mask=S.S)


@algorithm("vv")
def truss_numbers(A: Matrix, *, progress: Progress | None = None) -> Matrix:
    """T(u, v) = the largest k such that the edge {u, v} is in the k-truss of A.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph.  Values are not read; self-loops are ignored.
    progress : ``progress(done, total)``, called with the number of entries removed after each level

    Returns
    -------
    Matrix, n x n, symmetric, int64: an entry of at least 2 for each edge.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure of A is not symmetric, or `progress` cannot be called.

    Notes
    -----
    Cost as `edge_triangles`, and for each step O(the entries that remain + the products with the edges removed).
    Memory 48 bytes an entry of A.  Synchronizes once a step.

    Source: Wang, Cheng, "Truss decomposition in massive networks", PVLDB 5(9), 2012.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> sr.algorithms.truss_numbers(A.ewise_add(A.T, "any")).select("triu").to_dicts()
    {0: {1: 3, 2: 3}, 1: {2: 3}, 2: {3: 2}}
    """
    undirected("truss_numbers", A)
    report = reporter("truss_numbers", progress)
    graph = oriented(without_loops(A))
    S = supports(graph.matrix, graph.lower, graph.method)
    T = S.apply("second", right=np.int64(2)).dup()
    while (least := S.reduce_scalar("min").value) is not None:  # synchronizes
        T(accum="second") << S.apply("second", right=np.int64(least + 2))
        S = _trimmed(S, int(least) + 1, graph.method)
        report(T.nvals - S.nvals, T.nvals)
    if not T.nvals:
        report(0, 0)
    if graph.order is not None:
        T = T.permute(inverse(graph.order))
    return T.wait()


def _trimmed(S: Matrix, least: int, method: str) -> Matrix:
    """Return the supports of the largest subgraph whose edges all have at least so much."""
    while (removed := S.select("<", least).wait()).nvals:  # synchronizes
        left = S.select(">=", least).wait()
        if removed.nvals * _UPDATE > S.nvals:
            structure = left.apply("one").dup(bool)
            S = supports(structure, structure.select("tril", -1), method)
        else:
            lost = removed.mxm(S, "plus_pair", mask=left.S)
            lost(accum="plus") << removed.mxm(left, "plus_pair", mask=left.S).T
            left(accum="minus") << lost
            S = left
    return S
