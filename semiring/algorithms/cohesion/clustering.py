"""Clustering: how many of the pairs of neighbors of a vertex are joined.

All coefficients come from products of the entries U above the diagonal of W = A + A', in the order of degrees, under
the mask of the edges (`oriented`): over plus_times, and times the third edge, for (W W W)(v, v); over plus_second for
the arcs between the neighbors of v, which are the edge opposite to v in each of its triangles.

Sources: Watts, Strogatz, "Collective dynamics of 'small-world' networks", Nature 393, 1998; Onnela, Saramäki, Kertész,
Kaski, "Intensity and coherence of motifs in weighted complex networks", Physical Review E 71, 2005; Fagiolo,
"Clustering in complex directed networks", Physical Review E 76, 2007; Iosup et al., "LDBC Graphalytics", PVLDB 9(13),
2016.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector
from semiring.exceptions import InvalidValue

from ..checks import Weight, choice, read_weight, square, undirected, weights
from ..vertex_labels import algorithm
from .oriented import closed_walks, degrees, oriented, without_loops
from .triangles import triangle_count, triangles


@algorithm("v")
def clustering(A: Matrix, *, weight: Weight = None, method: str = "fagiolo") -> Vector:
    """c(v) = (W W W)(v, v) / (2 (d(v) (d(v) - 1) - 2 r(v))), W = A + A'.

    d(v) is the number of arcs that leave or enter v, r(v) the number of neighbors joined to it by arcs in both
    directions.  On an undirected graph, which stores every edge in both directions, this is the share of the pairs of
    neighbors of v that are joined: 2 t(v) / (d (d - 1)) for t(v) triangles and d neighbors.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an arc from u to v; self-loops are ignored.
    weight : True or str, optional
        True: W = cbrt(A) + cbrt(A'), A divided by its largest value: a triangle counts the geometric mean of its
        weights; str: that field of records in place of A.  Default: values are not read, and every entry counts 1.
    method : ``"fagiolo"`` or ``"graphalytics"``
        The definition on directed graphs: the equation above, that of Fagiolo and NetworkX, looks for directed
        triangles.  That of LDBC Graphalytics counts the arcs among the neighbors N(v), by arcs of either direction:
        c(v) = arcs / (|N(v)| (|N(v)| - 1)).  It has no weights.

    Returns
    -------
    Vector of size n, full, float64, from 0 to 1; 0 where v has fewer than two neighbors.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        For weights that are negative, infinite or NaN, and for weights with ``"graphalytics"``; for another method.
    DomainMismatch
        For complex weights.

    Notes
    -----
    ``"fagiolo"`` equals ``networkx.clustering``, on directed and undirected graphs, except that NetworkX divides by the
    largest weight of self-loops too.  Both methods are equal on undirected graphs.

    Cost as `triangle_count` of the graph without directions, with ``"graphalytics"`` for directed graphs twice; memory
    8 bytes an edge, and for directed graphs and weights that of A + A'.  Synchronizes.

    Sources: Watts, Strogatz, "Collective dynamics of 'small-world' networks", Nature 393, 1998; Onnela, Saramäki,
    Kertész, Kaski, "Intensity and coherence of motifs in weighted complex networks", Physical Review E 71, 2005;
    Fagiolo, "Clustering in complex directed networks", Physical Review E 76, 2007; Iosup et al., "LDBC Graphalytics: A
    Benchmark for Large-Scale Graph Analysis on Parallel and Distributed Platforms", PVLDB 9(13), 2016.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0)])
    >>> G = A.ewise_add(A.T, "any")
    >>> {v: round(c, 3) for v, c in sr.algorithms.clustering(G).to_dict().items()}
    {0: 0.667, 1: 1.0, 2: 0.667, 3: 1.0}
    >>> {v: round(c, 3) for v, c in sr.algorithms.clustering(A).to_dict().items()}
    {0: 0.333, 1: 0.5, 2: 0.333, 3: 0.5}
    """
    n = square("clustering", A)
    choice("clustering", "method", method, ("fagiolo", "graphalytics"))
    A, weighted = read_weight("clustering", A, weight)
    if weighted and method == "graphalytics":
        raise InvalidValue('clustering: method="graphalytics" has no weights')
    if weighted:
        weights("clustering", A, least=0, finite=True)
    P = without_loops(A)
    if A.is_symmetric_structure and not weighted:
        return share(triangles(A).apply("times", right=2), _pairs(degrees(P)), n)
    arcs = _both(P, np.int64(1))
    if method == "graphalytics":
        return _of_arcs(arcs, n)
    total = arcs.reduce_rowwise("plus")
    mutual = arcs.select("==", 2).apply("second", right=np.int64(2)).reduce_rowwise("plus")
    possible = _pairs(total).ewise_union(mutual, "minus", 0, 0).apply("times", right=2)
    W = _both(_roots(A)) if weighted else arcs
    graph = oriented(W)
    closed = closed_walks(graph, "plus_times", weight="times").apply("times", right=2)  # in both directions
    return share(graph.restored(closed), possible, n)


@algorithm()
def average_clustering(A: Matrix, *, weight: Weight = None, count_zeros: bool = True) -> float:
    """Return the mean over the vertices of `clustering`.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an arc from u to v; self-loops are ignored.
    weight : as in `clustering`
    count_zeros : whether vertices whose coefficient is 0 count

    Returns
    -------
    float; 0 if no vertex counts.

    Raises
    ------
    DimensionMismatch, InvalidValue, DomainMismatch
        As `clustering`.

    Notes
    -----
    Cost and memory as `clustering`.  Synchronizes.

    Source: Watts, Strogatz, "Collective dynamics of 'small-world' networks", Nature 393, 1998; without zeros: Kaiser,
    "Mean clustering coefficients: the role of isolated nodes and leafs on clustering measures for small-world
    networks", New Journal of Physics 10, 2008.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> round(sr.algorithms.average_clustering(A.ewise_add(A.T, "any")), 3)
    0.583
    """
    square("average_clustering", A)
    A, weighted = read_weight("average_clustering", A, weight)
    found = clustering(A, weight=weighted)
    if not count_zeros:
        found = found.select("!=", 0).wait()
    return float(found.reduce("plus").get(0)) / found.nvals if found.nvals else 0.0  # synchronizes


@algorithm()
def transitivity(A: Matrix) -> float:
    """Return 3 triangles / the number of paths of two edges: the share of these paths that an edge closes.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph.  Values are not read; self-loops are ignored.

    Returns
    -------
    float, from 0 to 1; 0 where there is no path of two edges.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure of A is not symmetric.

    Notes
    -----
    Cost as `triangle_count`.  Synchronizes.

    Source: Newman, Watts, Strogatz, "Random graph models of social networks", PNAS 99, 2002.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> sr.algorithms.transitivity(A.ewise_add(A.T, "any"))
    0.6
    """
    undirected("transitivity", A)
    paths = int(_pairs(degrees(without_loops(A))).reduce("plus").get(0)) // 2  # synchronizes
    return 3 * triangle_count(A) / paths if paths else 0.0


def _of_arcs(arcs: Matrix, n: int) -> Vector:
    """c(v) = the arcs among the neighbors of v / the ordered pairs of these."""
    graph = oriented(arcs)
    U, L = graph.upper, graph.lower
    found = Vector.full(np.int64(0), n, device=arcs.device)
    for X, mask in ((U, U), (U, L), (L, L)):  # v has the lowest number of a triangle, the middle one, the highest
        found(accum="plus") << X.mxm(U.T, "plus_second", mask=mask.S, method=graph.method).reduce_rowwise("plus")
    return share(graph.restored(found), graph.restored(_pairs(degrees(graph.matrix))), n)


def _pairs(degree: Vector) -> Vector:
    """p(v) = d(v) (d(v) - 1)."""
    return degree.ewise_mult(degree.apply("minus", right=1), "times")


def _both(M: Matrix, value: np.generic | None = None) -> Matrix:
    """W = M + M'; value: of each entry of M instead of its own."""
    M = M if value is None else M.apply("second", right=value).dup()
    return M.ewise_add(M.T, "plus").wait()


def _roots(A: Matrix) -> Matrix:
    """R(u, v) = the cube root of A(u, v) over the largest weight, for u other than v; 0 if all weights are 0."""
    M = A.select("offdiag").dup(np.float64)
    most = M.reduce_scalar("max").get(0)  # synchronizes
    return M.apply("truediv", right=most or 1.0).apply("cbrt")


def share(part: Vector, whole: Vector, n: int) -> Vector:
    """c(v) = part(v) / whole(v), 0 where `whole` is 0 or missing."""
    c = Vector.full(0.0, n, device=part.device)
    c(accum="second") << part.ewise_mult(whole.select(">", 0), "truediv")
    return c
