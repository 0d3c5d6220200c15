"""Shortest paths without negative weights: `scipy.sparse.csgraph.dijkstra`, and when SciPy takes less time for them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csgraph as scipy_csgraph

from .conversion import NONE, in_place_of, is_for_scipy, is_on_gpu, to_csr, weighted
from .distances import Distances, roots, sources_of

_scipys = scipy_csgraph.dijkstra
_NEGATIVE = (
    "Graph has negative weights: dijkstra will give inaccurate results if the graph contains negative cycles. "
    "Consider johnson or bellman_ford."
)

# Measured on two cores, on corners of the roads of New York and of kron16 and on uniform random graphs of three to
# twelve entries a vertex, of 300 vertices and more, from 1 to 256 sources.
# The fewest entries of weighted graphs, and vertices of others, of all searches together.
_ENTRIES, _VERTICES = 20_000, 8_000
# The fewest entries a vertex with which weighted searches take less time here, and entries with predecessors.
_DENSE, _PREDECESSORS = 8, 50_000
# With fewer entries a vertex: of how many vertices, all searches together, two at a time take less time here.
_LARGE, _PARALLEL = 4_000, 200_000
# Graphs of so many vertices spread if so many are reached in so many steps; on roads it is 140.
_SPREADING, _MANY, _STEPS = 10_000, 500, 6


@in_place_of(_scipys, least=1_000)
def dijkstra(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = np.inf,
    min_only: bool = False,
) -> Any:
    """distance(i, v) = the least sum of weights along a path from vertex indices[i] to v; infinity without a path.

    Parameters
    ----------
    csgraph : N x N array or sparse matrix, of SciPy or CuPy
        The entry (u, v) is the length of the edge from u to v, not negative.  Zeros of a sparse matrix are edges, of an
        array none.
    directed : bool
        False: edges count in both directions, with the lesser weight.
    indices : int or array of int, optional
        The sources; by default all vertices.
    return_predecessors : bool
    unweighted : bool
        Whether every edge has length 1.
    limit : float
        Distances above it are infinity.
    min_only : bool
        Whether the distances are those from the nearest of the sources.

    Returns
    -------
    array of float64, of the shape of `indices` and N, or N if `min_only`
    array of int32 : for `return_predecessors`, the vertex before v on its path, else -9999
    array of N int32 : for both, the source from which v is reached, else -9999

    Raises
    ------
    ValueError
        For a vertex out of range, a negative limit, or if the graph is not square.
    NegativeCycleError
        For a graph on a GPU with a cycle of negative weight that is reached.

    Notes
    -----
    A UserWarning is given for negative weights.  Which of several predecessors is returned is unspecified.  In host
    memory SciPy computes small graphs, searches with a limit, and weighted ones from few sources that spread slowly,
    such as on roads.  Otherwise: for each source one search of cost O(N + nnz) where most vertices are expanded once,
    on a GPU O(nnz) more for predecessors; the limit does not reduce it.  Searches of several sources run side by side,
    except for predecessors.  Synchronizes once a source, for predecessors a few times.

    Source: Meyer, Sanders, "Delta-Stepping: A Parallelizable Shortest Path Algorithm", J. Algorithms 49, 2003.

    Examples
    --------
    >>> graph = np.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]])
    >>> distance, before = sr.csgraph.dijkstra(graph, indices=0, return_predecessors=True)
    >>> distance.tolist(), before.tolist()
    ([0.0, 1.0, 3.0], [-9999, 0, 1])
    """
    given = directed, indices, return_predecessors, unweighted, limit, min_only
    searches = 1 if min_only else csgraph.shape[0] if indices is None else np.size(indices)
    if is_for_scipy(csgraph, limit < np.inf or _is_small(csgraph, searches, unweighted)):
        return _scipys(csgraph, *given)
    csr = to_csr(csgraph, directed=directed)
    if is_for_scipy(csr, not unweighted) and _takes_longer(csr, searches, indices, return_predecessors):
        return _scipys(csr, *given)
    is_negative = bool((csr.data < 0).any())  # synchronizes
    if is_negative and not is_on_gpu(csr):
        return _scipys(csr, *given)
    if is_negative:
        warnings.warn(_NEGATIVE, stacklevel=3)
    sources = sources_of(indices, csr.shape[0])
    if limit < 0:
        raise ValueError("limit must be >= 0")
    lengths = Distances(weighted(csr, directed=directed), unweighted=unweighted)
    if min_only:
        return _nearest(lengths, np.atleast_1d(sources).reshape(-1), limit, return_predecessors)
    return each(lengths, sources, return_predecessors, limit)


def _is_small(csgraph: Any, searches: int, unweighted: bool) -> bool:
    """Whether the searches of a graph take SciPy less time than it takes to begin here."""
    if unweighted:
        return bool(searches * csgraph.shape[0] < _VERTICES)
    return bool(searches * csgraph.size < _ENTRIES)


def _takes_longer(csr: Any, searches: int, indices: Any, return_predecessors: bool) -> bool:
    """Whether weighted searches of a graph in host memory take longer here than SciPy's."""
    n = csr.shape[0]
    if csr.nnz >= _DENSE * n or _spreads(csr, indices):
        return return_predecessors and csr.nnz < _PREDECESSORS
    is_parallel = searches > 1 and n >= _LARGE and searches * n >= _PARALLEL
    return return_predecessors or not is_parallel


def _spreads(csr: Any, indices: Any) -> bool:
    """Whether a few steps lead to many vertices, as in social networks and unlike on roads; SciPy's heap grows then."""
    n = csr.shape[0]
    if n < _SPREADING:
        return False
    reached = frontier = np.ravel(0 if indices is None else indices)[:1].astype(np.int64) % n
    for _ in range(_STEPS):
        frontier = np.setdiff1d(csr[frontier].indices, reached)
        reached = np.append(reached, frontier)
        if frontier.size == 0 or reached.size >= _MANY:
            break
    return bool(reached.size >= _MANY)


def each(lengths: Distances, sources: np.ndarray[Any, Any], return_predecessors: bool, limit: float = np.inf) -> Any:
    """Return the distances from each source, and predecessors, in the shape of the sources."""
    xp, shape, flat = lengths.xp, (*sources.shape, lengths.n), np.atleast_1d(sources).reshape(-1)
    if not return_predecessors:
        return _within(lengths.of_each(flat), limit, xp).reshape(shape)
    distance, before = lengths.trees(flat)
    before = xp.where(distance > limit, np.int32(NONE), before) if limit < np.inf else before
    return _within(distance, limit, xp).reshape(shape), before.reshape(shape)


def _nearest(lengths: Distances, sources: np.ndarray[Any, Any], limit: float, return_predecessors: bool) -> Any:
    """Return the distance from the nearest source, and for predecessors these and the source."""
    xp = lengths.xp
    if not return_predecessors:
        return _within(lengths.of(sources), limit, xp)
    distance, before = lengths.tree(sources)
    before = xp.where(distance > limit, np.int32(NONE), before) if limit < np.inf else before
    distance = _within(distance, limit, xp)
    return distance, before, roots(before, distance, xp)


def _within(distance: Any, limit: float, xp: Any) -> Any:
    return xp.where(distance > limit, np.inf, distance) if limit < np.inf else distance
