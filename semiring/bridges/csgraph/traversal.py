"""Searches in breadth and in depth: the orders and trees of `scipy.sparse.csgraph`.

A breadth-first order is a queue: vertices in the order of their first neighbors in it.  With pos(u) the position of u,
the vertices of the next level are sorted by

    first(v) = min_u pos(u)  over the frontier and A                                  (min_first)

and then by number; order(first(v)) is the predecessor of v.  In an undirected graph a vertex lists the ends of its own
row first: first(v) = min_u 2 pos(u) + B(u, v), where B is 0 for these and 1 for the others (min_plus).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csgraph as scipy_csgraph

from semiring import Matrix, Vector, semiring
from semiring.memory.arrays import index_dtype

from .conversion import NONE, by_rows, in_place_of, is_for_scipy, module_of, on_the_host, pattern, to_csr
from .dense import reconstruct_path

_scipys_breadth_first, _scipys_depth_first = scipy_csgraph.breadth_first_order, scipy_csgraph.depth_first_order


@in_place_of(_scipys_breadth_first, least=0)
def breadth_first_order(csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True) -> Any:
    """order = the vertices that a breadth-first search from `i_start` reaches, as it reaches them.

    Parameters
    ----------
    csgraph : N x N array or sparse matrix, of SciPy or CuPy
        An entry (u, v) is an edge from u to v; values are not read.
    i_start : int
    directed : bool
        False: edges count in both directions.
    return_predecessors : bool

    Returns
    -------
    array of int32
        The vertices in the order of their predecessors, those of one predecessor in ascending order.
    array of N int32 : for `return_predecessors`, the vertex from which v is reached first, else -9999

    Raises
    ------
    ValueError
        If the graph is not square, or `i_start` is no vertex of a graph on a GPU.

    Notes
    -----
    The same on a GPU as by SciPy, for rows with ascending columns.  SciPy computes it for a graph in host memory.  Cost
    O(N + nnz) and a sort of each level; synchronizes a few times a level.

    Examples
    --------
    >>> order, before = sr.csgraph.breadth_first_order(np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]]), 0)
    >>> order.tolist(), before.tolist()
    ([0, 1, 2], [-9999, 0, 0])
    """
    if is_for_scipy(csgraph, True):
        return _scipys_breadth_first(csgraph, i_start, by_rows(csgraph, directed), return_predecessors)
    csr = to_csr(csgraph, directed=directed)
    n, xp = csr.shape[0], module_of(csr)
    if not 0 <= i_start < n:
        raise ValueError(f"i_start must be a vertex from 0 to {n - 1}, got {i_start}")
    A = pattern(csr)
    scale = 1 if directed or A.is_symmetric_structure else 2
    number = index_dtype(scale * n)
    A = A if scale == 1 else _own_first(A, number)
    step = semiring.min_first[number] if scale == 1 else semiring.min_plus[number]
    order, before = xp.full(n, NONE, np.int32), xp.full(n, NONE, np.int32)
    order[0] = i_start
    reached, begin, end = Vector(bool, n, device=A.device), 0, 1
    frontier = Vector.from_coo([i_start], 0, number, size=n, device=A.device)
    while end > begin:
        reached(frontier.S) << True
        found, first = frontier.vxm(A, step, mask=~reached.S).to_coo(index_dtype=None)  # synchronizes
        turn = xp.argsort(first, kind="stable")
        begin, end = end, end + found.size
        before[found] = order[first // scale]
        order[begin:end] = found[turn]
        place = xp.empty(found.size, number)
        place[turn] = xp.arange(scale * begin, scale * end, scale, dtype=number)
        frontier = Vector.from_coo(found, place, size=n, device=A.device)
    return (order[:end], before) if return_predecessors else order[:end]


def _own_first(A: Matrix, number: np.dtype[Any]) -> Matrix:
    """B(u, v) = 0 where A(u, v) is stored, else 1 where A(v, u) is."""
    own, other = (side.apply("second", right=number.type(value)) for value, side in ((0, A), (1, A.T)))
    return own.ewise_add(other, "min")


@in_place_of(scipy_csgraph.breadth_first_tree, least=20_000)
def breadth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    """T(u, v) = the weight of the edge from u to v, where u is the predecessor of v in `breadth_first_order`.

    Parameters
    ----------
    csgraph, i_start, directed : as `breadth_first_order`; an edge that counts in both directions has the lesser weight

    Returns
    -------
    N x N sparse matrix of float64, in CSR format

    Raises
    ------
    ValueError
        As `breadth_first_order`.

    Notes
    -----
    Cost and synchronization as `breadth_first_order`.

    Examples
    --------
    >>> sr.csgraph.breadth_first_tree(np.array([[0, 3, 4], [0, 0, 5], [0, 0, 0]]), 0).toarray().tolist()
    [[0.0, 3.0, 4.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    _, before = breadth_first_order(csgraph, i_start, directed, True)
    return reconstruct_path(csgraph, before, directed)


def _depth_first(csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True) -> Any:
    """SciPy's `depth_first_order`, without a transposed copy of a graph whose rows list all edges."""
    return _scipys_depth_first(csgraph, i_start, by_rows(csgraph, directed), return_predecessors)


@on_the_host(_depth_first)
def depth_first_order(csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True) -> Any:
    """order = the vertices that a depth-first search from `i_start` reaches, as it reaches them.

    Parameters
    ----------
    csgraph, i_start, directed, return_predecessors : as `breadth_first_order`

    Returns
    -------
    array of int32
    array of N int32 : for `return_predecessors`, the vertex from which v is reached, else -9999

    Raises
    ------
    ValueError
        If the graph is not square.

    Notes
    -----
    Sequential, and computed by SciPy on the CPU.  A graph on a GPU is copied to the host, and its results back
    (synchronizes).

    Examples
    --------
    >>> order, before = sr.csgraph.depth_first_order(np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]]), 0)
    >>> order.tolist(), before.tolist()
    ([0, 1, 2], [-9999, 0, 1])
    """


@in_place_of(scipy_csgraph.depth_first_tree, least=20_000)
def depth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    """T(u, v) = the weight of the edge from u to v, where u is the predecessor of v in `depth_first_order`.

    Parameters
    ----------
    csgraph, i_start, directed : as `breadth_first_tree`

    Returns
    -------
    N x N sparse matrix of float64, in CSR format

    Raises
    ------
    ValueError
        If the graph is not square.

    Notes
    -----
    The order is that of `depth_first_order`, computed by SciPy on the CPU.

    Examples
    --------
    >>> sr.csgraph.depth_first_tree(np.array([[0, 3, 4], [0, 0, 5], [0, 0, 0]]), 0).toarray().tolist()
    [[0.0, 3.0, 0.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0]]
    """
    _, before = depth_first_order(csgraph, i_start, directed, True)
    return reconstruct_path(csgraph, before, directed)
