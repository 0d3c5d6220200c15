"""Shortest paths: `bellman_ford`, `johnson`, `shortest_path` and `yen` of `scipy.sparse.csgraph`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csgraph as scipy_csgraph
from scipy.sparse.csgraph import NegativeCycleError

from .conversion import in_place_of, is_on_gpu, on_the_host, to_csr, weighted
from .dijkstra import dijkstra, each
from .distances import Distances, sources_of
from .floyd_warshall import floyd_warshall

# For all pairs products take less time if one position in so many has an entry, on a GPU for so many vertices.
_SPARSE, _PRODUCTS = 32, 4096


@in_place_of(scipy_csgraph.bellman_ford, least=500)
def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """distance(i, v) = the least sum of weights, which may be negative, along a path from vertex indices[i] to v.

    Parameters
    ----------
    csgraph, directed, indices, return_predecessors, unweighted : as `dijkstra`; weights may be negative

    Returns
    -------
    array of float64, of the shape of `indices` and N; infinity without a path
    array of int32 : for `return_predecessors`, as `dijkstra`

    Raises
    ------
    NegativeCycleError
        If a cycle of negative weight can be reached from a source.
    ValueError
        As `dijkstra`.

    Notes
    -----
    An undirected edge of negative weight is such a cycle.  Cost at worst O(nnz) for each edge of the longest shortest
    path, and as `dijkstra` where no weight is negative.  Synchronizes once a source, for predecessors a few times.

    Sources: Bellman, "On a Routing Problem", 1958; Ford, "Network Flow Theory", 1956.

    Examples
    --------
    >>> graph = np.array([[0, 4, 1], [0, 0, 0], [0, -2, 0]])
    >>> sr.csgraph.bellman_ford(graph, indices=0).tolist()
    [0.0, -1.0, 1.0]
    """
    csr = to_csr(csgraph, directed=directed)
    return _searched(csr, directed, indices, return_predecessors, unweighted, everywhere=False)


@in_place_of(scipy_csgraph.johnson, least=500)
def johnson(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """distance(i, v) = the least sum of weights, which may be negative, along a path from vertex indices[i] to v.

    Parameters
    ----------
    csgraph, directed, indices, return_predecessors, unweighted : as `dijkstra`; weights may be negative

    Returns
    -------
    array of float64, of the shape of `indices` and N; infinity without a path
    array of int32 : for `return_predecessors`, as `dijkstra`

    Raises
    ------
    NegativeCycleError
        If the graph has a cycle of negative weight, also one that no source reaches.
    ValueError
        As `dijkstra`.

    Notes
    -----
    The searches are those of `bellman_ford`, without other weights, so that no distance is rounded twice; with negative
    weights one search from all vertices comes first, which finds every negative cycle.

    Source: Johnson, "Efficient Algorithms for Shortest Paths in Sparse Networks", JACM 24(1), 1977.

    Examples
    --------
    >>> graph = np.array([[0, 4, 1], [0, 0, 0], [0, -2, 0]])
    >>> sr.csgraph.johnson(graph, indices=[0, 2]).tolist()
    [[0.0, -1.0, 1.0], [inf, -2.0, 0.0]]
    """
    csr = to_csr(csgraph, directed=directed)
    return _searched(csr, directed, indices, return_predecessors, unweighted, everywhere=True)


@in_place_of(scipy_csgraph.shortest_path, least=2_000)
def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
) -> Any:
    """distance(i, v) = the least sum of weights along a path from vertex indices[i] to v; infinity without a path.

    Parameters
    ----------
    csgraph : N x N array or sparse matrix, of SciPy or CuPy
        As for `dijkstra`; weights may be negative with all methods but ``"D"``.
    method : ``"FW"``, ``"D"``, ``"BF"``, ``"J"`` or ``"auto"``
        `floyd_warshall`, `dijkstra`, `bellman_ford` or `johnson`.  ``"auto"``: ``"FW"`` for all pairs if one position
        in thirty-two (for predecessors four) has an entry, on a GPU also for up to 4,096 vertices; else ``"J"`` with
        negative weights and ``"D"`` without.
    directed, return_predecessors, unweighted, indices : as `dijkstra`; no indices with ``"FW"``
    overwrite : as `floyd_warshall`

    Returns
    -------
    array of float64, of the shape of `indices` and N
    array of int32 : for `return_predecessors`, as `dijkstra`

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight.
    ValueError
        For another method, indices with ``"FW"``, a vertex out of range, or if the graph is not square.

    Notes
    -----
    Cost and synchronization as the function called.

    Examples
    --------
    >>> graph = np.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]])
    >>> sr.csgraph.shortest_path(graph, indices=0).tolist()
    [0.0, 1.0, 3.0]
    """
    if method == "auto":
        csr = to_csr(csgraph, directed=directed)
        method = _best(csr, indices, return_predecessors)
        csgraph = csgraph if method == "FW" else csr  # no second conversion
    given: dict[str, Any] = {"return_predecessors": return_predecessors, "unweighted": unweighted}
    if method == "FW":
        if indices is not None:
            raise ValueError("Cannot specify indices with method == 'FW'.")
        return floyd_warshall(csgraph, directed, overwrite=overwrite, **given)
    functions: dict[str, Any] = {"D": dijkstra, "BF": bellman_ford, "J": johnson}
    if method not in functions:
        raise ValueError(f"unrecognized method '{method}'")
    return functions[method](csgraph, directed, indices=indices, **given)


@on_the_host(scipy_csgraph.yen)
def yen(
    csgraph: Any,
    source: int,
    sink: int,
    K: int,
    *,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """distance(i) = the sum of weights along the i-th shortest path without loops from the source to the sink.

    Parameters
    ----------
    csgraph : N x N array or sparse matrix, of SciPy or CuPy
    source, sink : int
    K : int
        How many paths; fewer are returned if there are no more.
    directed, return_predecessors, unweighted : as `dijkstra`

    Returns
    -------
    array of float64, at most K
    array of int32 : for `return_predecessors`, a row for each path, as `dijkstra`

    Raises
    ------
    NegativeCycleError
    ValueError
        For a vertex out of range, or if the graph is not square.

    Notes
    -----
    Computed by SciPy on the CPU: a sequence of searches.  A graph on a GPU is copied to the host, and its results back
    (synchronizes).

    Source: Yen, "Finding the K Shortest Loopless Paths in a Network", Management Science 17(11), 1971.

    Examples
    --------
    >>> graph = np.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]])
    >>> sr.csgraph.yen(graph, 0, 2, 2).tolist()
    [3.0, 4.0]
    """


def _best(csr: Any, indices: Any, return_predecessors: bool) -> str:
    """Return the method that takes least time: what SciPy chooses, and ``"FW"`` also for graphs that are less dense."""
    n = csr.shape[0]
    if indices is None:
        # A search from each vertex takes a GPU longer than products do, as long as there are not too many vertices.
        by_products = n <= _PRODUCTS if is_on_gpu(csr) else csr.nnz * _SPARSE >= n * n and not return_predecessors
        if by_products or csr.nnz >= n * n / 4:
            return "FW"
    return "J" if bool((csr.data < 0).any()) else "D"  # synchronizes


def _searched(
    csr: Any, directed: bool, indices: Any, return_predecessors: bool, unweighted: bool, *, everywhere: bool
) -> Any:
    """Return distances, and predecessors, by searches with weights of any sign.

    everywhere: whether a negative cycle that no source reaches is an error.
    """
    sources = sources_of(indices, csr.shape[0])
    lengths = Distances(weighted(csr, directed=directed), unweighted=unweighted)
    if not unweighted and bool((csr.data < 0).any()):  # synchronizes
        if not directed:
            _refuse_undirected(lengths, np.arange(lengths.n) if everywhere else sources.reshape(-1))
        elif everywhere:
            lengths.of(np.arange(lengths.n))  # raises NegativeCycleError
    return each(lengths, sources, return_predecessors)


def _refuse_undirected(lengths: Distances, sources: np.ndarray[Any, Any]) -> None:
    """Raise NegativeCycleError if an undirected edge of negative weight is reached: it is a cycle."""
    rows, columns, weights = lengths.A.to_coo(index_dtype=None)
    reached = lengths.xp.isfinite(Distances(lengths.A, unweighted=True).of(sources))
    if bool((reached[rows] & (rows != columns) & (weights < 0)).any()):  # synchronizes
        raise NegativeCycleError("Negative cycle detected")
