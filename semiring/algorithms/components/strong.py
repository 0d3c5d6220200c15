"""Strongly connected components: trimming, one forward and backward search, then coloring.

Two vertices are in one component if each has a path to the other.  Three steps, each a loop of matrix operations:

    trim       a vertex without a predecessor, or without a successor, among the rest is a component by itself
    pivot      C = reached(p, A) and reached(p, A^T) is the component of p, a vertex of large degree
    color     c = min over the keys of all vertices with a path to v;  the vertices of color c that reach the root of
               c, within the color, are its component

Keys are random, so that a long chain of small components takes O(log n) rounds of coloring rather than n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semiring import Matrix, Vector, agg, compile, ops, semiring

from ..checks import Values, partition, square
from ..index_vectors import listed, positions
from ..progress import Progress, reporter
from ..randomness import distinct
from ..vertex_labels import algorithm
from .weak import connected_components

# Trimming is repeated while it removes at least this part of the vertices that remain.
_WORTH_TRIMMING = 1 / 16


@algorithm("v>v")
def strongly_connected_components(A: Matrix, *, progress: Progress | None = None) -> Vector:
    """label(v) = the smallest vertex w with a path from v to w and a path from w to v.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.  Self-loops change nothing.
    progress : callable, optional
        ``progress(done, None)`` is called with the number of rounds after each one; an exception in it ends the
        computation.

    Returns
    -------
    Vector of size n, full, int32 (int64 from n = 2**31).

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If `progress` is not callable.

    Notes
    -----
    Of a symmetric structure the components are those of `connected_components`.  Else trimming and the search from the
    pivot cost O(n + nvals) a round; the rest of the graph is extracted, and a round of coloring costs O(n + nvals) of
    that rest for each step of its longest chain of labels, in expected O(log n) rounds.  The first call on a matrix
    determines whether its structure is symmetric, and its transpose, and caches them.  Synchronizes a few times a
    round.

    Sources: Fleischer, Hendrickson, Pınar, "On Identifying Strongly Connected Components in Parallel", IPDPS Workshops
    2000 (forward and backward); McLendon et al., "Finding Strongly Connected Components in Distributed Graphs", JPDC
    65(8), 2005 (trimming); Orzan, "On Distributed Verification and Verified Distribution", 2004 (coloring); Slota,
    Rajamanickam, Madduri, "BFS and Coloring-Based Parallel Algorithms for Strongly Connected Components", IPDPS 2014.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3)], nrows=6, ncols=6)
    >>> sr.algorithms.strongly_connected_components(A).to_dict()
    {0: 0, 1: 0, 2: 0, 3: 3, 4: 3, 5: 5}
    """
    n = square("strongly_connected_components", A)
    report = reporter("strongly_connected_components", progress)
    if A.is_symmetric_structure:
        label = connected_components(A)
        report(1, None)
        return label
    label = ops.singletons(Vector(bool, n, device=A.device))
    rest = _trimmed(A)
    rounds = 0
    if rest.nvals:
        giant = _component_of_pivot(A, rest)
        label(giant.S) << giant.apply("rowindex").reduce("min")
        rest = rest.dup(mask=~giant.S)
        report(rounds := 1, None)
    vertices = positions(rest)
    B = A[vertices, vertices]
    while B.nvals:
        B, vertices = _coloring_round(B, vertices, label, seed=rounds)
        report(rounds := rounds + 1, None)
    if rounds == 0:
        report(0, None)
    return label


@compile
def _trimmed(A: Matrix) -> Vector:
    """Return the vertices, each true, that remain after those without predecessors or successors are removed."""
    rest = Vector.full(True, A.nrows, device=A.device)
    while True:
        before = rest.nvals  # synchronizes
        rest = A.mxv(rest, semiring.any_pair[bool], mask=rest.S)
        rest = rest.vxm(A, semiring.any_pair[bool], mask=rest.S)
        if before - rest.nvals <= _WORTH_TRIMMING * before:
            return rest


def _component_of_pivot(A: Matrix, rest: Vector) -> Vector:
    """Return the component, each vertex true, of the vertex of `rest` from which most edges leave."""
    degree = A.apply("second", right=np.int64(1)).reduce_rowwise("plus").dup(mask=rest.S)
    pivot = int(degree.reduce(agg.argmax))  # synchronizes
    start = Vector.from_coo([pivot], True, size=A.nrows, device=A.device)
    forward = ops.closure(start, A, semiring.any_pair[bool])
    return forward & ops.closure(start, A.T, semiring.any_pair[bool])


def _coloring_round(B: Matrix, vertices: Vector, label: Vector, seed: int) -> tuple[Matrix, Vector]:
    """Label the component of the root of each color; return the edges within colors of the rest, and its vertices."""
    n = B.nrows
    key = distinct(n, seed, device=B.device)
    color = ops.closure(key, B, semiring.min_first)
    root = color.ewise_mult(key, "eq").select("==", True)
    within = color.ewise_mult(B, "first").ewise_mult(color, "eq").select("==", True)
    found = ops.closure(root.apply("rowindex"), within.T, semiring.any_first)
    members, roots = listed(found)
    names = vertices[members]
    smallest = Vector.full(label.size, n, label.dtype, device=B.device)
    smallest(accum="min")[roots] << names
    label[names] << smallest[roots]
    rest = positions(Vector.full(True, n, device=B.device).dup(mask=~found.S))
    return within[rest, rest], vertices[rest]


@dataclass(frozen=True)
class Condensation:
    """The graph of the strong components.

    Attributes
    ----------
    graph : Matrix, k x k, boolean
        An entry (a, b), a != b: an edge leads from a vertex of component a to one of component b.  It has no cycle.
    component : Vector of size n, full, int64
        The number of the component of each vertex, from 0 to k - 1, in the order of their smallest vertices.
    representative : Vector of size k, full, int64
        The smallest vertex of each component.

    Examples
    --------
    >>> C = sr.algorithms.condensation(Matrix.from_edgelist([(0, 1), (1, 0), (1, 2)]))
    >>> C.component.to_dict(), C.graph.to_dicts()
    ({0: 0, 1: 0, 2: 1}, {0: {1: True}})
    """

    graph: Matrix
    component: Vector
    representative: Vector


@algorithm(component="v", representative=".>v")
def condensation(A: Matrix, labels: Values | None = None) -> Condensation:
    """C(a, b) = any_{u in a, v in b} A(u, v) for the strong components a != b: C = S^T A S without its diagonal.

    S(v, a) is true where vertex v is in component a.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    labels : Vector of size n, full, of integers, optional
        For each vertex a vertex that represents its component, as `strongly_connected_components` returns them, which
        is the default; another partition of the vertices gives its quotient graph.

    Returns
    -------
    Condensation

    Raises
    ------
    DimensionMismatch, IndexOutOfBound
        If A is not square, or labels have another size.
    InvalidValue
        Unless labels are a full Vector in which every label labels itself.

    Notes
    -----
    Cost that of the components, and O(n + nvals) for the products.  Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 3), (3, 2)])
    >>> sr.algorithms.condensation(A).representative.to_dict()
    {0: 0, 1: 2}
    """
    n = square("condensation", A)
    label = (
        strongly_connected_components(A) if labels is None else partition("condensation", "labels", labels, n, A.device)
    )
    representative = positions(label.ewise_mult(label.apply("rowindex"), "eq").select("==", True))
    k = representative.size
    number = Vector(np.int64, n, device=A.device)
    number[representative] << Vector.full(0, k, np.int64, device=A.device).apply("rowindex")
    component = number[label].dup()
    members = _selector(component, k)
    quotient = members.T.mxm(A.mxm(members, semiring.any_pair[bool]), semiring.any_pair[bool])
    return Condensation(quotient.select("offdiag"), component, representative)


def _selector(component: Vector, k: int) -> Matrix:
    """S(v, component(v)) = true."""
    vertices, numbers = component.to_coo()
    return Matrix.from_coo(vertices, numbers, True, nrows=component.size, ncols=k, device=component.device)
