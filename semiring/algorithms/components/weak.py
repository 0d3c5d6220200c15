"""Connected components, by union-find over rows (Afforest) and in pure algebra (FastSV).

Two vertices are in one component if a path joins them, with edges in both directions (weak components).
"""

from __future__ import annotations

from semiring import Matrix, Vector, compile, ops, semiring
from semiring.exceptions import InvalidValue

from ..checks import Values, choice, partition, square
from ..vertex_labels import algorithm

# Afforest hooks a few neighbors of every row, finds the giant component in a sample of the labels, and hooks the rest
# of the other rows.  Two neighbors of each row suffice to join most of that component (Sutton et al., section V).
_SAMPLED_NEIGHBORS = 2


@algorithm("v>v")
def connected_components(A: Matrix, *, method: str = "afforest", start: Values | None = None) -> Vector:
    """label(v) = the smallest vertex that a path joins to v, with edges in both directions.

    Parameters
    ----------
    A : Matrix, n x n
        A stored entry (u, v) joins u and v; values are not read.
    method : ``"afforest"`` or ``"fastsv"``
        Union-find over the rows, or matrix-vector products.
    start : Vector of size n, full, of integers, optional
        The components of a graph to which A adds edges, as this function returned them: new edges are joined to an old
        result in O(n + nvals of A) by ``"afforest"``.

    Returns
    -------
    Vector of size n, full, int32 (int64 from n = 2**31).

    Raises
    ------
    DimensionMismatch
        If A is not square, or `start` has another size.
    InvalidValue
        For another method, and unless `start` holds the smallest vertex of each component.
    IndexOutOfBound
        If `start` is a mapping with another vertex.

    Notes
    -----
    Afforest costs O(n + the entries outside the giant component); FastSV O(nvals) a round, O(log n) rounds or fewer in
    practice.  The first call on a matrix determines whether its structure is symmetric, and caches it.  After that
    Afforest does not synchronize; FastSV does once a round.

    Sources: Sutton, Ben-Nun, Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling", IPDPS
    2018; Zhang, Azad, Hu, "FastSV: A Distributed-Memory Connected Component Algorithm with Fast Convergence", SIAM PP
    2020.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (2, 1), (3, 4)], nrows=6, ncols=6)
    >>> sr.algorithms.connected_components(A).to_dict()
    {0: 0, 1: 0, 2: 0, 3: 3, 4: 3, 5: 5}
    >>> added = Matrix.from_edgelist([(3, 5)], nrows=6, ncols=6)
    >>> sr.algorithms.connected_components(added, start=sr.algorithms.connected_components(A)).to_dict()
    {0: 0, 1: 0, 2: 0, 3: 3, 4: 3, 5: 3}
    """
    n = square("connected_components", A)
    forest = ops.singletons(Vector(bool, n, device=A.device))
    chosen = choice("connected_components", "method", method, ("afforest", "fastsv"))
    if start is None:
        return ops.link(forest, A, sample=_SAMPLED_NEIGHBORS) if chosen == "afforest" else _fastsv(A, forest)
    old = _forest(start, forest)
    return ops.link(old, A) if chosen == "afforest" else _fastsv(_with_stars(A, old), old)


@algorithm()
def is_connected(A: Matrix) -> bool:
    """Return whether a path joins each two vertices, with edges in both directions.

    Parameters
    ----------
    A : Matrix, n x n
        A stored entry (u, v) joins u and v; values are not read.

    Returns
    -------
    bool; False for a graph without vertices.

    Raises
    ------
    DimensionMismatch
        If A is not square.

    Notes
    -----
    Cost that of `connected_components`.  Synchronizes.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (2, 1)])
    >>> sr.algorithms.is_connected(A), sr.algorithms.is_connected(Matrix.from_edgelist([(0, 1)], nrows=3, ncols=3))
    (True, False)
    """
    return square("is_connected", A) > 0 and bool(connected_components(A).reduce("max") == 0)


def _forest(start: Values, singletons: Vector) -> Vector:
    """Return labels as a forest; InvalidValue unless each is the smallest vertex that has it."""
    label = partition("connected_components", "start", start, singletons.size, singletons.device)
    if bool(label.ewise_mult(singletons, "gt").reduce("lor")):
        raise InvalidValue("connected_components: a label in start is not the smallest vertex of its component")
    forest = singletons.dup()
    forest(accum="min") << label  # label(v) <= v: the labels as a full vector of the type of a forest
    return forest.convert("full")


def _with_stars(A: Matrix, forest: Vector) -> Matrix:
    """Return the pattern of A, and an edge from every vertex to its root: FastSV takes vertices out of their trees."""
    vertices, roots = forest.to_coo()
    stars = Matrix.from_coo(vertices, roots, True, nrows=A.nrows, ncols=A.nrows, device=A.device)
    return A.apply("one").ewise_add(stars, "any")


@compile
def _fastsv(A: Matrix, f: Vector) -> Vector:
    """Hook the trees of neighbors by the smallest grandparent, until no label changes.

    m(i) min= min_k gf(k) over the neighbors k of i          (the smallest grandparent of a neighbor)
    f(f(i)) min= m(i);   f(i) min= m(i);   f(i) min= gf(i)    (hook the root, hook i, shortcut)
    gf = f(f)
    """
    grandparent, lowest = f.dup(), f.dup()
    both = not A.is_symmetric_structure
    while True:
        lowest(accum="min") << A.mxv(grandparent, semiring.min_second)
        if both:
            lowest(accum="min") << A.T.mxv(grandparent, semiring.min_second)
        parent = f.dup()
        f(accum="min")[parent] << lowest
        f(accum="min") << lowest
        f(accum="min") << grandparent
        following = f[f]
        if following.isequal(grandparent):  # synchronizes
            return f
        grandparent = following
