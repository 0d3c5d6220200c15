"""Shortest paths between all pairs of a dense graph: `scipy.sparse.csgraph.floyd_warshall`, by blocks.

    for each block k of vertices:
        D(k, k) = D(k, k)*                                    (distances within the block, by repeated squaring)
        D(:, k) = min(D(:, k), D(:, k) D(k, k))
        D       = min(D, D(:, k) D(k, :))

over ``min_plus``: almost all work is in products of full matrices.

Source: Venkataraman, Sahni, Mukhopadhyaya, "A Blocked All-Pairs Shortest-Paths Algorithm", JEA 8, 2003.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csgraph as scipy_csgraph
from scipy.sparse.csgraph import NegativeCycleError

from semiring import Matrix, semiring
from semiring.memory.arrays import Array

from .conversion import NONE, in_place_of, is_for_scipy, is_on_gpu, module_of, to_csr
from .dense import edge_lengths
from .dijkstra import dijkstra
from .distances import Distances

_scipys = scipy_csgraph.floyd_warshall
_SHORTEST = semiring.min_plus[np.float64]
# Vertices below which SciPy takes less time; the smallest share of entries for which this does, and not searches, and
# for which SciPy's does with predecessors.
_FEW, _DENSE, _DENSE_PREDECESSORS = 100, 1 / 100, 1 / 40
# Rows of a block, and elements of the cube from which predecessors are taken.
_BLOCK = 128
_CUBE = 1 << 26


@in_place_of(_scipys, least=0)
def floyd_warshall(
    csgraph: Any,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
) -> Any:
    """distance(u, v) = the least sum of weights along a path from u to v; infinity without a path.

    Parameters
    ----------
    csgraph : N x N array or sparse matrix, of SciPy or CuPy
        The entry (u, v) is the length of the edge from u to v.  Zeros of a sparse matrix are edges, of an array none.
    directed : bool
        False: edges count in both directions, with the lesser weight.
    return_predecessors : bool
    unweighted : bool
        Whether every edge has length 1.
    overwrite : bool
        Whether an array of float64, in C order, is overwritten by the distances and returned.

    Returns
    -------
    N x N array of float64
    N x N array of int32 : for `return_predecessors`, the vertex before v on the path from u, else -9999

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight.
    ValueError
        If the graph is not square.

    Notes
    -----
    Cost O(N^3), in products of full matrices; predecessors take as many operations again.  Of a graph in host memory
    SciPy computes predecessors; but if fewer than one position in a hundred (for predecessors forty) has an entry and
    none is negative, everything is computed by searches from each vertex (`dijkstra`).  Sums are added in another order
    than SciPy's, so that distances may differ by rounding.  Synchronizes for each 128 vertices.

    Source: Venkataraman, Sahni, Mukhopadhyaya, "A Blocked All-Pairs Shortest-Paths Algorithm", JEA 8, 2003.

    Examples
    --------
    >>> sr.csgraph.floyd_warshall(np.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]])).tolist()
    [[0.0, 1.0, 3.0], [inf, 0.0, 2.0], [inf, inf, 0.0]]
    """
    given = directed, return_predecessors, unweighted
    if is_for_scipy(csgraph, True) and (csr := _sparse(csgraph, directed, return_predecessors)) is not None:
        found = dijkstra(csr, directed, None, *given[1:])
        return _delivered(found, csgraph, overwrite)
    if is_for_scipy(csgraph, csgraph.shape[0] < _FEW) or (return_predecessors and not is_on_gpu(csgraph)):
        return _scipys(csgraph, *given, overwrite)
    xp = module_of(csgraph)
    lengths = _lengths(csgraph, directed, unweighted, xp)
    distance = _closed(lengths.copy() if return_predecessors else lengths, xp)
    found = (distance, _predecessors(lengths, distance, xp)) if return_predecessors else distance
    return _delivered(found, csgraph, overwrite)


def _sparse(csgraph: Any, directed: bool, return_predecessors: bool) -> Any:
    """Return the graph as a CSR matrix if searches from every vertex take less time than blocks; else None."""
    n = csgraph.shape[0]
    if n < _FEW:
        return None
    csr = to_csr(csgraph, directed=directed)
    least = _DENSE_PREDECESSORS if return_predecessors else _DENSE
    searched = csr.nnz < least * n * n and bool((np.isfinite(csr.data) & (csr.data >= 0)).all())
    return csr if searched else None


def _lengths(csgraph: Any, directed: bool, unweighted: bool, xp: Any) -> Array:
    """Return `edge_lengths`, and 0 from a vertex to itself."""
    found = edge_lengths(csgraph, directed)
    if unweighted:
        found[xp.isfinite(found)] = 1.0
    xp.fill_diagonal(found, 0.0)
    return found


def _closed(distance: Array, xp: Any) -> Array:
    """Return the distances over all vertices, from lengths, in place."""
    n = distance.shape[0]
    for first in range(0, n, _BLOCK):
        k = slice(first, min(first + _BLOCK, n))
        within = _closed_block(distance[k, k], xp)
        is_negative = within.diagonal() < 0
        if bool(is_negative.any()):  # synchronizes
            raise NegativeCycleError(f"Negative cycle in nodes {first + xp.flatnonzero(is_negative)}")
        distance[k, k] = within
        distance[:, k] = xp.minimum(distance[:, k], _product(distance[:, k], within))
        xp.minimum(distance, _product(distance[:, k], distance[k]), out=distance)
    return distance


def _closed_block(within: Array, xp: Any) -> Array:
    """Return the distances within a block; some are negative on the diagonal if a cycle is negative."""
    for _ in range(max(within.shape[0] - 1, 1).bit_length()):
        within = xp.minimum(within, _small_product(within, xp))
    return within


def _small_product(x: Array, xp: Any) -> Array:
    """Return min_k x(i, k) + x(k, j): on a GPU in two launches, which take less time than a product of a Matrix."""
    return _product(x, x) if xp is np else (x[:, :, None] + x[None, :, :]).min(axis=1)


def _product(x: Array, y: Array) -> Array:
    """Return min_k x(i, k) + y(k, j)."""
    left, right = (Matrix.from_dense(part.copy(), dtype=np.float64) for part in (x, y))
    return left.mxm(right, _SHORTEST).to_dense()


def _delivered(found: Any, csgraph: Any, overwrite: bool) -> Any:
    """Return distances, and predecessors, with the distances in the array of the graph if that is to be overwritten."""
    given = getattr(csgraph, "dtype", None) == np.float64 and not hasattr(csgraph, "tocsr")
    if not (overwrite and given and csgraph.flags.c_contiguous and not np.ma.isMaskedArray(csgraph)):
        return found
    csgraph[...] = found[0] if isinstance(found, tuple) else found
    return (csgraph, *found[1:]) if isinstance(found, tuple) else csgraph


def _predecessors(lengths: Array, distance: Array, xp: Any) -> Array:
    """p(u, v) = the k != v with the least distance(u, k) + length(k, v), if that is a path back to u for every v."""
    n = distance.shape[0]
    xp.fill_diagonal(lengths, np.inf)
    before = xp.empty((n, n), np.int32)
    width = max(1, _CUBE // max(n * n, 1))
    for first in range(0, n, width):
        chunk = slice(first, first + width)
        before[:, chunk] = (distance[:, :, None] + lengths[None, :, chunk]).argmin(axis=1)
    each = xp.arange(n, dtype=np.int32)
    before[xp.isinf(distance)] = NONE
    xp.fill_diagonal(before, NONE)
    if _lead_back(before, each, xp):
        return before
    return _by_searches(lengths, distance, xp)


def _lead_back(before: Array, each: Array, xp: Any) -> bool:
    """Whether predecessors lead from every vertex back to the source of its row.  Synchronizes."""
    following = xp.where(before == NONE, each[None, :], before)
    xp.fill_diagonal(following, each)
    reached = before != NONE
    xp.fill_diagonal(reached, True)
    for _ in range(max(each.size - 1, 1).bit_length()):
        following = xp.take_along_axis(following, following, axis=1)
    return bool((following == each[:, None])[reached].all())


def _by_searches(lengths: Array, distance: Array, xp: Any) -> Array:
    """Return predecessors where paths of length 0 or negative lengths make the choice by distance ambiguous."""
    A = Matrix.from_dense(lengths, missing_value=np.inf)
    single = Distances(A)
    rows = [np.array([source], np.int32) for source in range(A.nrows)]
    return xp.stack([single.tree(source)[1] for source in rows])
