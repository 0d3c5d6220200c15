"""The public functions of peeling, of sums along the paths of a forest, of spanning forests and of flows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..memory.allocation import reports_memory
from .api import HasMatrix, HasVector, M, V, operand_of
from .flow import flow as _flow
from .peel import peel as _peel
from .span import span as _span
from .structure import transposed
from .treefix import treefix as _treefix

__all__ = ["Routed", "flow", "peel", "span", "treefix"]


@reports_memory
def peel(counts: V, a: HasMatrix, *, least: int | None = None) -> V:
    """t(i) = the largest k such that i is in a set S of rows with  counts(i) - lost(i) >= k,  or 0 if it is negative.

    lost(i) is the number of entries of row i in columns outside S.  Rows whose counts are below k are removed, and
    their columns subtracted from the counts of the others, until there are none; those that are left have level k.
    With the numbers of entries as counts, the levels of a symmetric matrix are the core numbers of its graph.

    Parameters
    ----------
    counts : Vector of size n, full, int32 or int64
    a : Matrix, n x n (or its ``.T``)
        Values are not read.
    least : int, optional
        One level alone: t(i) = least where i has this level or a higher one, and 0 elsewhere.

    Returns
    -------
    Vector of size n, full, of the type of `counts`.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, DeviceMismatch, OutOfMemory

    Notes
    -----
    Each entry is visited once, and a row once for each level up to its own: of core numbers both together are
    O(n + nvals).  On a CPU with one thread, on a GPU in one launch.  The transpose is derived and cached unless the
    structure is symmetric.  Memory beside it: four indices a row and the counts.  Synchronizes for facts of the
    structure, the first time that a matrix is used.  Entries that kernels do not address, and that do not fit in the
    memory of the device, are read in slices, once a round.

    Sources: Matula, Beck, "Smallest-last ordering and clustering and graph coloring algorithms", Journal of the ACM 30,
    1983; by levels: Dasari, Desh, Zubair, "ParK: An efficient algorithm for k-core decomposition on multicore
    processors", IEEE Big Data 2014.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> degree = Vector.from_dense([2, 2, 3, 1])
    >>> sr.ops.peel(degree, A | A.T).to_dict(), sr.ops.peel(degree, A | A.T, least=2).to_dict()
    ({0: 2, 1: 2, 2: 2, 3: 1}, {0: 2, 1: 2, 2: 2, 3: 0})
    """
    matrix, transposed = operand_of("peel", a)
    return counts.with_store(_peel(counts.store, matrix, transposed=transposed, least=least))  # type: ignore[no-any-return]


@reports_memory
def treefix(parent: V, values: V, op: Any = "plus", *, towards: str = "roots") -> V:
    """t(v) = (+) of values(w) over the vertices w of the subtree of v, or over those on the path from v to its root.

    Both include v.  Sizes of subtrees, depths, preorder numbers and the extremes of subtrees are such sums.

    Parameters
    ----------
    parent : Vector of size n, full, int32 or int64
        A forest: a number from 0 to n - 1 for each vertex; a root is its own parent.
    values : Vector of size n, full
    op : monoid, by object or name
        Commutative; not ``any``.
    towards : ``"roots"`` or ``"leaves"``
        Sums over subtrees, or over the paths to the roots.

    Returns
    -------
    Vector of size n, full, of the type of the monoid.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, NotSupported, UnknownOperator, DeviceMismatch, OutOfMemory
        InvalidValue also for a parent out of range, and for a cycle.

    Notes
    -----
    Cost O(n) on a CPU, with one thread, and towards the roots on a GPU, there in a time that grows with the height;
    towards the leaves O(n log height) on a GPU.  Synchronizes once on a GPU, where values have 8 bytes or fewer.  Sums
    of floats depend on their order.

    Source: Leiserson, Maggs, "Communication-Efficient Parallel Algorithms for Distributed Random-Access Machines",
    Algorithmica 3, 1988, where these sums are named leaffix and rootfix.

    Examples
    --------
    >>> parent = Vector.from_dense([0, 0, 0, 2])
    >>> ones = Vector.full(1, 4)
    >>> sr.ops.treefix(parent, ones).to_dict()
    {0: 4, 1: 1, 2: 2, 3: 1}
    >>> sr.ops.treefix(parent, ones, towards="leaves").to_dict()
    {0: 1, 1: 2, 2: 2, 3: 3}
    """
    return parent.with_store(_treefix(parent.store, values.store, op, towards=towards))  # type: ignore[no-any-return]


@reports_memory
def span(a: M, *, largest: bool = False) -> M:
    """T = the entries (i, j) of A that join two trees of a growing forest, visited in the order of their values.

    Each entry is an edge between i and j, in either direction.  Equal values are visited by row, then by column, so
    that the result is unique.  The triangle of a symmetric matrix gives its minimum spanning forest.

    Parameters
    ----------
    a : Matrix, n x n (or its ``.T``)
        Real values; NaN is behind all numbers.  Entries of the diagonal join nothing.
    largest : bool
        Whether entries are visited from the largest value on.

    Returns
    -------
    Matrix, n x n: n minus the number of components entries of `a`.

    Raises
    ------
    DimensionMismatch, DomainMismatch, OutOfMemory
    NotSupported
        On a GPU for entries in host memory.

    Notes
    -----
    On a CPU O(nvals log nvals), and nearly O(nvals) where all values are equal; one thread (Kruskal's algorithm).  On a
    GPU at most log2(n) rounds of O(nvals) (Borůvka's); synchronizes once a round.

    Sources: Kruskal, "On the Shortest Spanning Subtree of a Graph and the Traveling Salesman Problem", Proc. AMS 7,
    1956; Nešetřil, Milková, Nešetřilová, "Otakar Borůvka on Minimum Spanning Tree Problem", Discrete Mathematics 233,
    2001.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [5, 1, 2], shape=(3, 3), device="cpu")
    >>> sr.ops.span(A).to_dicts(), sr.ops.span(A, largest=True).to_dicts()
    ({0: {2: 1}, 1: {2: 2}}, {0: {1: 5}, 1: {2: 2}})
    """
    matrix, is_transposed = operand_of("span", a)
    return a.with_store(_span(transposed(matrix) if is_transposed else matrix, largest=largest))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Routed:
    """A maximum flow from supplies to demands, and a minimum cut.

    Attributes
    ----------
    flow : Matrix, n x n, int64 or float64
        F(u, v) > 0: what flows along entry (u, v); missing where nothing flows.
    sent, received : Vectors of size n, of the type of `flow`
        What is used of each supply, and of each demand; missing where nothing is.
    side : Vector of size n, boolean
        True on the side of the supplies in a minimum cut: the entries that leave it are full, supplies outside are used
        up, and so are demands inside.  Missing for the other vertices.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1], [2, 2], [3, 4], shape=(3, 3), device="cpu")
    >>> found = sr.ops.flow(Vector.full(5, 3, device="cpu"), A, Vector.from_coo([2], [20], size=3, device="cpu"))
    >>> found.flow.to_dicts(), found.sent.to_dict(), found.received.to_dict(), found.side.to_dict()
    ({0: {2: 3}, 1: {2: 4}}, {0: 3, 1: 4, 2: 5}, {2: 12}, {0: True, 1: True})
    """

    flow: Any
    sent: Any
    received: Any
    side: Any


@reports_memory
def flow(supply: HasVector, a: HasMatrix, demand: HasVector) -> Routed:
    """max over F, s, d of sum_v s(v), where  0 <= F <= A,  0 <= s <= supply,  0 <= d <= demand,  and at every vertex v

        s(v) + sum_u F(u, v) = d(v) + sum_w F(v, w).

    Supplies flow along the entries of A to demands, as much of them as possible.  A maximum flow between two vertices
    has one supply and one demand; between two sets of vertices, a transport, or a matching of rows and columns with
    capacities, has many.

    Parameters
    ----------
    supply, demand : Vectors of size n
        Real, finite, not negative.  Missing entries are 0.
    a : Matrix, n x n (or its ``.T``)
        The value of entry (u, v) is the capacity of the edge from u to v, real.  Values that are not above 0 admit
        nothing; the diagonal has no effect.

    Returns
    -------
    Routed : int64, exact, if no operand is of floats, else float64.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, DeviceMismatch, OutOfMemory
        InvalidValue also for integers if both supplies and demands sum to 2**53 or more.
    NotSupported
        On a GPU and on a grid of processes, where `semiring.algorithms.maximum_flow` sends by trees.

    Notes
    -----
    Which of several flows is returned depends on the operands alone.  Blocking flows in levels, found from the supplies
    and the demands at once: a phase costs O(n + nvals) and one step for each entry of a path; there are at most n
    phases, in practice few.  One thread.  The transpose is derived and cached; a matrix whose structure is not
    symmetric is united with its transpose in each call.  Memory: 8 bytes an entry, and 72 a row.  Of floats, residues
    up to 2**-48 of the smaller of the two sums count as 0.

    Sources: Dinic, "Algorithm for Solution of a Problem of Maximum Flow in Networks with Power Estimation", Soviet
    Math. Dokl. 11, 1970; Pohl, "Bi-directional Search", Machine Intelligence 6, 1971.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [3, 1, 2], shape=(3, 3), device="cpu")
    >>> supply, demand = (Vector.from_coo([v], [9], size=3, device="cpu") for v in (0, 2))
    >>> found = sr.ops.flow(supply, A, demand)
    >>> found.sent.to_dict(), found.flow.to_dicts()
    ({0: 3}, {0: {1: 2, 2: 1}, 1: {2: 2}})
    """
    matrix, transposed = operand_of("flow", a)
    made = _flow(supply.store, matrix, demand.store, transposed=transposed)
    sent, received, side = (supply.with_store(store) for store in (made.sent, made.received, made.side))
    return Routed(a.with_store(made.flow), sent, received, side)
