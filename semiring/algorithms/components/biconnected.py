"""Bridges, articulation points and biconnected components, from one breadth-first spanning forest.

Let first(v) be the preorder number of v, last(v) that of the last vertex of its subtree, and

    low(v)  = min over u in the subtree of v and all x = u or (u, x) an edge outside the tree of first(x)
    high(v) = max of the same

The tree edge from p to its child v is a *fence* if no edge leaves the subtree of v past p: first(p) <= low(v) and
high(v) <= last(p).  It is a bridge if none leaves the subtree at all.  Two vertices are in one block if edges other
than fences join them (edges outside a breadth-first tree never join a vertex and its ancestor).  The block also
contains its head: the vertex above a fence whose lower end is in the block and whose upper end is not joined to it.

Sources: Tarjan, Vishkin, "An Efficient Parallel Biconnectivity Algorithm", SIAM J. Comput. 14(4), 1985; Dong, Wang, Gu,
Sun, "Provably Fast and Space-Efficient Parallel Biconnectivity", PPoPP 2023 (fences).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semiring import Matrix, Vector, binary, ops, select

from ..checks import undirected
from ..index_vectors import listed
from ..vertex_labels import algorithm
from .trees import Forest, spanning_forest

_leads_elsewhere = select.register_anonymous("x != j", "leads_elsewhere")
# Of entry (i, j) between the values at i and at j: whether one of them is the other's index.
_leads_to = binary.register_anonymous("x == yj", "leads_to")
_or_comes_from = binary.register_anonymous("x or y == xi", "or_comes_from")
# The same, and whether entry (j, i) is the same edge.
_or_comes_from_or_repeats = binary.register_anonymous("x or y == xi or xi <= xj", "or_comes_from_or_repeats")


@algorithm("vv")
def bridges(A: Matrix) -> Matrix:
    """B(u, v) = A(u, v) for the edges whose removal separates u from v.

    Parameters
    ----------
    A : Matrix, n x n, symmetric structure
        An entry is an edge; values are kept, not read.  Self-loops are no bridges.

    Returns
    -------
    Matrix, n x n, with the values of A.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If its structure is not symmetric.

    Notes
    -----
    Cost O(nvals + n log d), where d is the largest number of steps from the smallest vertex of a component.
    Synchronizes O(log d) times.

    Sources: see `biconnected_components`.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> sr.algorithms.bridges(A.ewise_add(A.T, "any")).to_edgelist()[0].tolist()
    [[2, 3], [3, 2]]
    """
    n = undirected("bridges", A)
    if n == 0:
        return A.dup()
    forest = spanning_forest(A)
    low, high = _reach(A, forest)
    last = forest.number.ewise_add(forest.size[:n].dup(), "plus").apply("minus", right=1)
    inside = low.ewise_mult(forest.number, "ge").ewise_mult(high.ewise_mult(last, "le"), "land")
    child = inside.select("==", True).dup(mask=forest.above.select("<", n).S)
    end = Vector.full(n, n, forest.parent.dtype, device=A.device)  # n: no bridge
    end << forest.above.dup(mask=child.S).ewise_add(end, "first")
    return A.dup(mask=end.ewise_mult(A, _leads_to).ewise_mult(end, _or_comes_from).V)


@dataclass(frozen=True)
class Blocks:
    """The biconnected components (blocks) of a graph.

    Attributes
    ----------
    edges : Matrix, n x n, symmetric, int64
        edges(u, v) = the number of the block of edge (u, v); self-loops are in none.
    heads : Vector of size n, int64
        heads(b) = the vertex of block b that is nearest to the smallest vertex of its component; missing where b is no
        number of a block.  The number of a block is the smallest of its vertices other than the head.
    articulation_points : Vector of size n, boolean
        True for the vertices that are in two blocks or more; missing elsewhere.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> blocks = sr.algorithms.biconnected_components(A.ewise_add(A.T, "any"))
    >>> blocks.heads.to_dict(), blocks.articulation_points.to_dict()
    ({1: 0, 3: 2}, {2: True})
    """

    edges: Matrix
    heads: Vector
    articulation_points: Vector


@algorithm(edges="vv", heads=".>v", articulation_points="v")
def biconnected_components(A: Matrix) -> Blocks:
    """block(u, v) = block(x, y) if and only if the two edges are equal, or on one cycle that repeats no vertex.

    Parameters
    ----------
    A : Matrix, n x n, symmetric structure
        An entry is an edge; values are not read, and self-loops are ignored.

    Returns
    -------
    Blocks

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If its structure is not symmetric.

    Notes
    -----
    Cost O(nvals + n log d), where d is the largest number of steps from the smallest vertex of a component.
    Synchronizes O(log d) times.

    Sources: Tarjan, Vishkin, "An Efficient Parallel Biconnectivity Algorithm", SIAM J. Comput. 14(4), 1985; Dong, Wang,
    Gu, Sun, "Provably Fast and Space-Efficient Parallel Biconnectivity", PPoPP 2023.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> sr.algorithms.biconnected_components(A.ewise_add(A.T, "any")).edges.to_dicts()[2]
    {0: 1, 1: 1, 3: 3}
    """
    n = undirected("biconnected_components", A)
    if n == 0:
        return Blocks(
            Matrix(np.int64, 0, 0, device=A.device), *(Vector(t, 0, device=A.device) for t in (np.int64, bool))
        )
    forest = spanning_forest(A)
    label, heads = _blocks(A, forest)
    # An edge has the label of its end that is numbered later: the other one may be the head.
    numbered = forest.number.ewise_mult(A.select("offdiag"), "first")
    lower = label.ewise_mult(numbered.ewise_mult(forest.number, "gt").select("==", True), "first")
    edges = Matrix(np.int64, n, n, device=A.device)
    edges << lower.ewise_add(lower.T, "any")
    return Blocks(edges, heads, _articulation(forest, heads))


@algorithm("v")
def articulation_points(A: Matrix) -> Vector:
    """a(v) = true for the vertices whose removal separates two others; missing elsewhere.

    Parameters
    ----------
    A : Matrix, n x n, symmetric structure
        An entry is an edge; values are not read, and self-loops are ignored.

    Returns
    -------
    Vector of size n, boolean.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If its structure is not symmetric.

    Notes
    -----
    Cost, synchronization and sources as `biconnected_components`, without its matrix of edges.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.articulation_points(A.ewise_add(A.T, "any")).to_dict()
    {1: True}
    """
    n = undirected("articulation_points", A)
    if n == 0:
        return Vector(bool, 0, device=A.device)
    forest = spanning_forest(A)
    return _articulation(forest, _blocks(A, forest)[1])


def _reach(A: Matrix, forest: Forest) -> tuple[Vector, Vector]:
    """low and high of each vertex.

    The entries (v, parent(v)) are left out; entries (v, child) change nothing, as the child is in the subtree of v.
    """
    n = A.nrows
    outside = forest.above.ewise_mult(A, "first").select(_leads_elsewhere)
    seen = outside.ewise_mult(forest.number, "second")
    reach = []
    for op in ("min", "max"):
        extreme = forest.first.dup()
        extreme[:n] << forest.number.ewise_add(seen.reduce_rowwise(op), op)
        reach.append(forest.subtree(extreme, op)[:n].dup())
    return reach[0], reach[1]


def _blocks(A: Matrix, forest: Forest) -> tuple[Vector, Vector]:
    """Label each vertex with the block in which it is not the head; return the head of each label."""
    n = A.nrows
    low, high = _reach(A, forest)
    parent, first = forest.above, forest.first
    last = first.ewise_add(forest.size, "plus").apply("minus", right=1)
    fence = first[parent].ewise_mult(low, "le").ewise_mult(last[parent].ewise_mult(high, "ge"), "land")
    above = parent.dup(mask=fence.V).select("<", n)
    end = Vector.full(n, n, parent.dtype, device=A.device)  # n: no fence
    end << above.ewise_add(end, "first")
    apart = end.ewise_mult(A, _leads_to).ewise_mult(end, _or_comes_from_or_repeats)
    label = ops.link(ops.singletons(Vector(bool, n, device=A.device)), apart.select("==", False))
    # A vertex above a fence is the head unless an edge around the fence puts it in the same block.
    children, parents = listed(above)
    blocks = label[children].dup()
    heads = Vector(np.int64, n, device=A.device)
    heads(accum="any")[blocks] << parents.dup(mask=blocks.ewise_mult(label[parents], "ne").V)
    return label, heads


def _articulation(forest: Forest, heads: Vector) -> Vector:
    """Vertices that are the head of a block and in another one: roots head two, others one."""
    n = heads.size
    _, head = listed(heads)
    headed = Vector(np.int64, n, device=heads.device)
    headed(accum="plus")[head] << 1
    least = forest.above.apply("==", right=n)
    return headed.ewise_mult(least, binary.gt).select("==", True)
