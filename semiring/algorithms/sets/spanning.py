"""Minimum spanning forest: Borůvka's algorithm.

In each round every component chooses the lightest edge that leaves it, and these edges join the components:

    B(u, v)   = A(u, v) where label(u) != label(v)
    w(u)      = min_v B(u, v),  by the edge that is first in the order of (weight, smaller end, larger end)
    best(c)   = min over the vertices u of component c of w(u)
    label     = the components of the chosen edges

The order of edges is total, so that the choices form no cycle.  In a row it is the order by (value, column).

Source: Borůvka, "O jistém problému minimálním", 1926; Nešetřil, Milková, Nešetřilová, "Otakar Borůvka on Minimum
Spanning Tree Problem", Discrete Mathematics 233, 2001.
"""

from __future__ import annotations

from semiring import Matrix, Vector, concat, ops

from ..checks import undirected, weights
from ..entries import listed
from ..progress import Progress, reporter


@ops.reports_memory
def minimum_spanning_forest(A: Matrix, *, maximum: bool = False, progress: Progress | None = None) -> Matrix:
    """F = the edges of a spanning tree of each component, of the least total weight.

    Parameters
    ----------
    A : Matrix, n x n, symmetric
        The value of an edge is its weight: any real number; booleans count as 0 and 1.  Self-loops are ignored.
    maximum : bool
        Whether the total weight is the largest instead.
    progress : callable, optional
        ``progress(done, None)`` is called with the number of rounds after each one; an exception in it ends the
        computation.

    Returns
    -------
    Matrix, n x n, symmetric, of the type of A: n minus the number of components edges, each in both directions.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If A is not symmetric, or a weight is NaN.
    DomainMismatch
        For complex weights.

    Notes
    -----
    Of edges of equal weight, the one with the smaller smaller end, then with the smaller larger end, is preferred, so
    that the result is unique.  At most log2(n) rounds, each of cost O(the edges between components + n); these edges
    are extracted in each round.  Synchronises a few times a round.

    Source: Borůvka, "O jistém problému minimálním", 1926.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 0], [1, 2, 2], [5, 1, 2], shape=(3, 3))
    >>> F = sr.algorithms.minimum_spanning_forest(A.ewise_add(A.T, "any"))
    >>> F.to_dicts()
    {0: {2: 2}, 1: {2: 1}, 2: {0: 2, 1: 1}}
    """
    n = undirected("minimum_spanning_forest", A, values=True)
    weights("minimum_spanning_forest", A)
    report = reporter("minimum_spanning_forest", progress)
    label, rounds = ops.singletons(Vector(bool, n, device=A.device)), 0
    chosen: list[tuple[Vector, ...]] = []
    B = _between(A, label)
    while B.nvals:
        chosen.append(_chosen(B, label, maximum))
        label = ops.link(label, _edges(chosen[-1:], A))
        B = _between(B, label)
        report(rounds := rounds + 1, None)
    forest = _edges(chosen, A)
    return forest.ewise_add(forest.T, "any")


def _between(B: Matrix, label: Vector) -> Matrix:
    """Return the edges between components."""
    return B.dup(mask=label.ewise_mult(B, "first").ewise_mult(label, "ne").V)


def _chosen(B: Matrix, label: Vector, maximum: bool) -> tuple[Vector, ...]:
    """Return the ends and weights of the edge that each component chooses: two components may choose the same."""
    n = label.size
    op, (weight, column) = ("max", B.maxloc()) if maximum else ("min", B.minloc())
    lightest = weight.reduce_by(label, op)
    row = column.apply("rowindex")
    # The pair (smaller end, larger end) as one number, of vertices whose edge is as light as any of the component.
    pair = row.ewise_mult(column, "min").apply("times", right=n).ewise_add(row.ewise_mult(column, "max"), "plus")
    lightest_of_all = weight.ewise_mult(lightest[label], "eq")
    components, pairs = listed(pair.dup(mask=lightest_of_all.V).reduce_by(label, "min"))
    return pairs.apply("floordiv", right=n), pairs.apply("mod", right=n), lightest[components]


def _edges(chosen: list[tuple[Vector, ...]], A: Matrix) -> Matrix:
    """Return the edges of some rounds, each in one direction."""
    if not chosen:
        return Matrix(A.dtype, *A.shape, device=A.device)
    lower, upper, weight = (concat(list(part)).to_coo()[1] for part in zip(*chosen, strict=True))
    return Matrix.from_coo(lower, upper, weight, A.dtype, shape=A.shape, dup_op="any", device=A.device)
