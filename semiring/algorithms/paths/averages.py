"""Means of the distances of all pairs: of the distances, of their inverses, and of those among neighbors."""

from __future__ import annotations

import math

import numpy as np

from semiring import Matrix, Vector, ops, unary
from semiring.exceptions import GraphProperty

from ..checks import Weight, processor, read_weight, square, undirected
from ..progress import Progress, reporter
from ..vertex_labels import algorithm
from .totals import totals

_inverse = unary.register_anonymous("select(x == 0, 0, 1 / x)", "inverse")

# Pairs of a vertex and a neighbor that are searched together.
_PAIRS = {"cpu": 4096, "cuda": 2**17}


@algorithm()
def average_shortest_path_length(A: Matrix, *, weight: Weight = None, progress: Progress | None = None) -> float:
    """Return the mean of the distance from u to v over the pairs u != v; 0 for fewer than two vertices.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.
    weight : True or str, optional
        True: the length of an edge is its value, which must not be negative; str: that field of its record.
        Default: values are not read, and every length is 1.
    progress : callable, optional
        ``progress(done, n)`` is called with the vertices that are searched; an exception in it ends the computation.

    Returns
    -------
    float
        Infinite if a distance is.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    GraphProperty
        If some vertex does not reach another one.
    DomainMismatch, InvalidValue
        For complex, negative and NaN weights; or if `progress` is not callable.

    Notes
    -----
    Cost that of n searches: O(nvals) a level for up to 1,024 vertices together, with weights one `sssp` each.
    Synchronizes a few times for each group.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> round(sr.algorithms.average_shortest_path_length(A | A.T), 3)
    1.333
    """
    n = square("average_shortest_path_length", A)
    A, weighted = read_weight("average_shortest_path_length", A, weight)
    length, unit, connected = _sum_of_distances("average_shortest_path_length", A, weighted, progress)
    if not connected:
        raise GraphProperty(
            "average_shortest_path_length: some vertex does not reach another one; take the parts that "
            "sr.algorithms.strongly_connected_components finds one by one, or global_efficiency"
        )
    return length / max(n * (n - 1), 1) / unit


@algorithm()
def wiener_index(A: Matrix, *, weight: Weight = None, progress: Progress | None = None) -> float:
    """Return the sum of the distances of all pairs; infinity if it exceeds float64 or a vertex does not reach another.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.  Where A equals its transpose (in structure, and with `weight` in
        values), a pair counts once; else (u, v) and (v, u) are two pairs.
    weight : True or str, optional
        True: the length of an edge is its value, which must not be negative; str: that field of its record.
        Default: values are not read, and every length is 1.
    progress : callable, optional
        As for `average_shortest_path_length`.

    Returns
    -------
    float

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue

    Notes
    -----
    Cost and synchronization as `average_shortest_path_length`.

    Source: Wiener, "Structural Determination of Paraffin Boiling Points", J. Am. Chem. Soc. 69(1), 1947.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.wiener_index(A | A.T)
    4.0
    """
    square("wiener_index", A)
    A, weighted = read_weight("wiener_index", A, weight)
    length, unit, connected = _sum_of_distances("wiener_index", A, weighted, progress)
    both = A.is_symmetric_structure and (not weighted or A.is_iso or A.isequal(A.T))
    return length / (2 if both else 1) / unit if connected else math.inf


@algorithm()
def global_efficiency(A: Matrix, *, weight: Weight = None, progress: Progress | None = None) -> float:
    """Return the mean of 1 / (distance from u to v) over the pairs u != v, with 0 where v is not reached.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.
    weight : True or str, optional
        True: the length of an edge is its value, which must not be negative; str: that field of its record.
        Default: values are not read, and every length is 1.  A pair of distance 0 counts 0.
    progress : callable, optional
        As for `average_shortest_path_length`.

    Returns
    -------
    float
        0 for fewer than two vertices.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue

    Notes
    -----
    Cost and synchronization as `average_shortest_path_length`.

    Source: Latora, Marchiori, "Efficient Behavior of Small-World Networks", Physical Review Letters 87, 2001.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)], nrows=4, ncols=4)
    >>> round(sr.algorithms.global_efficiency(A | A.T), 3)
    0.417
    """
    n = square("global_efficiency", A)
    A, weighted = read_weight("global_efficiency", A, weight)
    _, nearness, unit = totals("global_efficiency", A, None, _inverted, progress, weighted=weighted)
    return float(nearness.reduce("plus").get(0.0)) / max(n * (n - 1), 1) * unit


@algorithm("v")
def local_efficiency(A: Matrix, *, progress: Progress | None = None) -> Vector:
    """e(v) = the `global_efficiency` of the graph that the neighbors of v induce; v itself is not in it.

    The mean of e is the local efficiency of the graph.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph; values are not read, self-loops are ignored.
    progress : callable, optional
        ``progress(done, total)`` is called with numbers of pairs of a vertex and a neighbor, after each group; an
        exception in it ends the computation.

    Returns
    -------
    Vector of size n, full, float64: 0 for vertices with fewer than two neighbors.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    GraphProperty, InvalidValue
        If the structure is not symmetric; or `progress` is not callable.

    Notes
    -----
    The graphs of the neighbors of some vertices are one graph, whose vertices are pairs (v, u), and are searched
    together.  Cost O(sum over the pairs (v, u) of the degree of u) to make these graphs, and a search of its graph from
    each pair.  Memory for the graph of a group, of at least one vertex.  Synchronizes a few times for each group.

    Source: Latora, Marchiori, "Efficient Behavior of Small-World Networks", Physical Review Letters 87, 2001.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (1, 2), (2, 3)])
    >>> [round(e, 3) for e in sr.algorithms.local_efficiency(A | A.T).to_numpy().tolist()]
    [1.0, 1.0, 0.333, 0.0]
    """
    n = undirected("local_efficiency", A)
    report = reporter("local_efficiency", progress)
    S = A.select("offdiag").apply("second", right=True).dup()
    degree = Vector.full(0, n, np.int64, device=A.device)
    degree(accum="plus") << S.reduce_rowwise("count")
    ends = degree.scan().to_numpy()  # of the pairs of each vertex
    nearness = Vector.full(0.0, n, device=A.device)
    first = done = 0
    while first < n:
        last = max(first + 1, int(np.searchsorted(ends, done + _PAIRS[processor(A)], side="right")))
        part = S[first:last, :]
        if part.nvals:
            around, H = _neighborhoods(S, part)
            _, total, _ = totals("local_efficiency", H, None, _inverted, None)
            nearness[first:last](accum="plus") << total.reduce_by(around, size=last - first)
        first, done = last, int(ends[last - 1])
        report(done, S.nvals)
    if n == 0:
        report(0, 0)
    others = degree.apply("minus", right=1)
    most = degree.ewise_mult(others, "times").apply("max", right=1)
    return nearness.ewise_mult(most, "truediv").dup()


def _neighborhoods(S: Matrix, part: Matrix) -> tuple[Vector, Matrix]:
    """Return for the entries p = (v, u) of `part`, in its order: v, and H(p, q) = true where q = (v, w) and S(u, w)."""
    m, device = part.nvals, S.device
    indptr, near, _ = part.to_csr()
    numbers = ops.singletons(Vector(bool, m, device=device))
    numbered = Matrix.from_csr(indptr, near, numbers.to_dense(), ncols=S.ncols, copy=False, device=device)
    around = Vector.from_dense(part.to_coo(values=False)[0], device=device)
    chosen = Matrix.from_coo(numbers.to_dense(), around.to_dense(), True, shape=(m, part.nrows), device=device)
    found = chosen.mxm(numbered, "any_second", mask=S[near, :].S)
    p, _, q = found.to_coo()
    return around, Matrix.from_coo(p, q, True, shape=(m, m), device=device)


def _sum_of_distances(name: str, A: Matrix, weighted: bool, progress: Progress | None) -> tuple[float, float, bool]:
    """Return the sum of the distances of all pairs, its factor, and whether every vertex reaches every other one."""
    reached, length, unit = totals(name, A, None, lambda distance: distance, progress, weighted=weighted)
    return float(length.reduce("plus").get(0.0)), unit, float(reached.reduce("min").get(0.0)) >= A.nrows


def _inverted(distance: Vector) -> Vector:
    return distance.apply(_inverse)
