"""Eccentricities, diameter and radius of undirected graphs, exactly, from few searches.

A search from v with eccentricity e bounds that of every vertex w at distance d:

    max(d, e - d) <= eccentricity(w) <= e + d

The next search starts where a bound is largest or smallest, in turn, and among such vertices at one of most neighbors.
On most graphs of the real world tens of searches determine the diameter of millions of vertices; graphs in which all
vertices look alike (cycles, regular grids) need many.

Paths that do not exist are ignored: the eccentricity of a vertex is that within its component.

Source: Takes, Kosters, "Computing the Eccentricity Distribution of Large Graphs", Algorithms 6(1), 2013.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, agg

from ..checks import undirected
from ..components import connected_components
from ..progress import Progress, reporter
from ..vertex_labels import algorithm
from .bfs import bfs_levels


@algorithm("v")
def eccentricity(A: Matrix, *, progress: Progress | None = None) -> Vector:
    """e(v) = the greatest distance, in edges, from v to a vertex of its component.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph; values are not read, self-loops are ignored.
    progress : callable, optional
        ``progress(done, n)`` is called with the number of vertices whose eccentricity is known, after each search; an
        exception in it ends the computation.

    Returns
    -------
    Vector of size n, full, int64.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure is not symmetric, or `progress` is not callable.

    Notes
    -----
    Cost O(n + nvals) a search; how many are needed depends on the graph, at least one for each component of three or
    more vertices, at worst n.  Synchronizes a few times a search.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)], nrows=4, ncols=4)
    >>> sr.algorithms.eccentricity(A | A.T).to_dict()
    {0: 3, 1: 2, 2: 2, 3: 3}
    """
    undirected("eccentricity", A)
    return _bounded(A, "", reporter("eccentricity", progress))


@algorithm()
def diameter(A: Matrix, *, progress: Progress | None = None) -> int:
    """Return the greatest distance, in edges, between two vertices of one component; 0 for no vertex.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph; values are not read, self-loops are ignored.
    progress : callable, optional
        ``progress(done, n)`` is called with the number of vertices that cannot change the result, after each search;
        an exception in it ends the computation.

    Returns
    -------
    int

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure is not symmetric, or `progress` is not callable.

    Notes
    -----
    Cost O(n + nvals) a search; often tens of them, at worst n.  Synchronizes a few times a search.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)], nrows=5, ncols=5)
    >>> sr.algorithms.diameter(A | A.T)
    3
    """
    undirected("diameter", A)
    return int(_bounded(A, "max", reporter("diameter", progress)).reduce("max").get(0))


@algorithm()
def radius(A: Matrix, *, progress: Progress | None = None) -> int:
    """Return the least eccentricity of a vertex; 0 for no vertex, and where a vertex has no neighbor.

    Parameters
    ----------
    A : Matrix, n x n, of symmetric structure
        An undirected graph; values are not read, self-loops are ignored.
    progress : callable, optional
        As for `diameter`.

    Returns
    -------
    int

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If the structure is not symmetric, or `progress` is not callable.

    Notes
    -----
    Cost and synchronization as `diameter`.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)], nrows=4, ncols=4)
    >>> sr.algorithms.radius(A | A.T)
    2
    """
    undirected("radius", A)
    return int(_bounded(A, "min", reporter("radius", progress)).reduce("min").get(0))


def _bounded(A: Matrix, wanted: str, report: Progress) -> Vector:
    """Return lower ("max") or upper ("min") bounds whose extreme is exact, or for "" all eccentricities."""
    n, device = A.nrows, A.device
    lower = Vector.full(0, n, np.int64, device=device)
    upper = _largest(A)
    lower << upper.apply("min", right=1)  # a vertex that is not alone has a neighbor
    degree = Vector.full(0, n, np.int64, device=device)
    degree(accum="plus") << A.apply("second", right=np.int64(1)).reduce_rowwise("plus")
    highest = True
    while True:
        rest = _open(lower, upper, wanted)
        report(n - rest.nvals, n)  # synchronizes
        if rest.nvals == 0:
            return upper if wanted == "min" else lower
        if highest:
            v = _best(upper.apply("times", right=n + 1).ewise_add(degree, "plus"), rest)
        else:
            v = _best(degree.ewise_add(lower.apply("times", right=n + 1), "minus"), rest)
        highest = not highest
        distance = bfs_levels(A, v).dup(np.int64)
        reach = int(distance.reduce("max"))  # synchronizes
        lower(accum="max") << distance
        lower(accum="max") << distance.apply("minus", left=reach)
        upper(accum="min") << distance.apply("plus", right=reach)


def _largest(A: Matrix) -> Vector:
    """u(v) = the number of other vertices in the component of v."""
    n = A.nrows
    label = connected_components(A)
    size = Vector.full(0, n, np.int64, device=A.device)
    size(accum="plus")[label] << Vector.full(1, n, np.int64, device=A.device)
    return size[label].apply("minus", right=1).dup()


def _open(lower: Vector, upper: Vector, wanted: str) -> Vector:
    """Return the vertices, each true, whose bounds differ and may still change the result."""
    rest = lower.ewise_mult(upper, "lt").select("==", True)
    if wanted == "max" and rest.nvals:
        most = int(lower.reduce("max"))
        return rest & upper.select(">", most).apply("one")
    if wanted == "min" and rest.nvals:
        least = int(upper.reduce("min"))
        return rest & lower.select("<", least).apply("one")
    return rest


def _best(key: Vector, rest: Vector) -> int:
    """Return the first vertex of `rest` with the largest key."""
    return int(key.dup(mask=rest.S).reduce(agg.argmax))  # synchronizes
