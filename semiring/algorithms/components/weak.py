"""Connected components, by union-find over rows (Afforest) and in pure algebra (FastSV).

Two vertices are in one component if a path joins them, with edges in both directions (weak components).
"""

from __future__ import annotations

from semiring import Matrix, Vector, ops, semiring
from semiring.exceptions import InvalidValue

from ..checks import square

# Neighbours of each row that are hooked before the search for the giant component.  Two suffice to join most of it
# (Sutton et al., section V).
_SAMPLED_NEIGHBOURS = 2


@ops.reports_memory
def connected_components(A: Matrix, *, method: str = "afforest") -> Vector:
    """label(v) = the smallest vertex that a path joins to v, with edges in both directions.

    Parameters
    ----------
    A : Matrix, n x n
        A stored entry (u, v) joins u and v; values are not read.
    method : ``"afforest"`` or ``"fastsv"``
        Union-find over the rows, or matrix-vector products.

    Returns
    -------
    Vector of size n, full, int32 (int64 from n = 2**31).

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        For another method.

    Notes
    -----
    Afforest costs O(n + the entries outside the giant component); FastSV O(nvals) a round, O(log n) rounds or fewer in
    practice.  The first call on a matrix determines whether its structure is symmetric, and caches it.  After that
    Afforest does not synchronise; FastSV does once a round.

    Sources: Sutton, Ben-Nun, Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling", IPDPS
    2018; Zhang, Azad, Hu, "FastSV: A Distributed-Memory Connected Component Algorithm with Fast Convergence", SIAM PP
    2020.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (2, 1), (3, 4)], nrows=6, ncols=6)
    >>> sr.algorithms.connected_components(A).to_dict()
    {0: 0, 1: 0, 2: 0, 3: 3, 4: 3, 5: 5}
    """
    n = square("connected_components", A)
    if method == "afforest":
        return _afforest(A, n)
    if method == "fastsv":
        return _fastsv(A, n)
    raise InvalidValue(f"connected_components: method is 'afforest' or 'fastsv', got {method!r}")


def _afforest(A: Matrix, n: int) -> Vector:
    """Hook a few neighbours of every row; find the giant component in a sample; hook the rest of the other rows.

    Rows inside the giant component may be skipped where the structure is symmetric, because the row at the other end
    of each of their edges holds the same edge.  Otherwise no row is skipped.
    """
    forest = ops.singletons(Vector(bool, n, device=A.device))
    forest, visited = ops.link_sample(forest, A, neighbours=_SAMPLED_NEIGHBOURS)
    giant = ops.most_frequent(forest) if A.is_symmetric_structure else None
    return ops.link(forest, A, first=visited, skip=giant)


def _fastsv(A: Matrix, n: int) -> Vector:
    """Hook the trees of neighbours by the smallest grandparent, until no label changes.

    m(i) min= min_k gf(k) over the neighbours k of i          (the smallest grandparent of a neighbour)
    f(f(i)) min= m(i);   f(i) min= m(i);   f(i) min= gf(i)    (hook the root, hook i, shortcut)
    gf = f(f)
    """
    f = ops.singletons(Vector(bool, n, device=A.device))
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
        if following.isequal(grandparent):  # synchronises
            return f
        grandparent = following
