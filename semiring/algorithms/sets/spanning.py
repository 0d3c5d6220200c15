"""Minimum spanning forest: Kruskal's algorithm, and Borůvka's.

Kruskal's visits the edges in order, and keeps those that join two trees: one operation (`semiring.ops.span`), which
proceeds by Borůvka's rounds on a GPU.  These are parallel: every component chooses the lightest edge that leaves it,
and these edges join the components.  By operations on matrices, which may be larger than the memory of the GPU:

    B(u, v)   = A(u, v) where label(u) != label(v)
    w(u)      = min_v B(u, v),  by the edge that is first in the order of (weight, smaller end, larger end)
    best(c)   = min over the vertices u of component c of w(u)
    label     = the components of the chosen edges

The order of edges is total, so that the choices form no cycle, and both algorithms return the same forest.  In a row it
is the order by (value, column).

Sources: Kruskal, "On the Shortest Spanning Subtree of a Graph and the Traveling Salesman Problem", Proc. AMS 7, 1956;
Borůvka, "O jistém problému minimálním", 1926; Nešetřil, Milková, Nešetřilová, "Otakar Borůvka on Minimum
Spanning Tree Problem", Discrete Mathematics 233, 2001.
"""

from __future__ import annotations

from semiring import Matrix, Vector, concat, ops

from ..checks import choice, processor, undirected, weights
from ..index_vectors import listed
from ..progress import Progress, reporter
from ..vertex_labels import algorithm


@algorithm("vv")
def minimum_spanning_forest(
    A: Matrix, *, maximum: bool = False, method: str = "auto", progress: Progress | None = None
) -> Matrix:
    """F = the edges of a spanning tree of each component, of the least total weight.

    Parameters
    ----------
    A : Matrix, n x n, symmetric
        The value of an edge is its weight: any real number; booleans count as 0 and 1.  Self-loops are ignored.
    maximum : bool
        Whether the total weight is the largest instead.
    method : ``"auto"``, ``"kruskal"`` or ``"boruvka"``
        ``"kruskal"``: one operation, `semiring.ops.span`; ``"boruvka"``: rounds of operations on matrices.  By default
        the first, but for a matrix on a GPU whose entries are in host memory.
    progress : callable, optional
        ``progress(done, None)`` is called with the number of rounds after each one, by Kruskal's algorithm once at the
        end; an exception in it ends the computation.

    Returns
    -------
    Matrix, n x n, symmetric, of the type of A: n minus the number of components edges, each in both directions.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If A is not symmetric, or a weight is NaN; for another method.
    DomainMismatch
        For complex weights.
    NotSupported
        For Kruskal's algorithm on a GPU, if the entries are in host memory.

    Notes
    -----
    Of edges of equal weight, the one with the smaller smaller end, then with the smaller larger end, is preferred, so
    that the result is unique.  On a CPU Kruskal's algorithm costs O(nvals log n), on one thread.  Borůvka's has at most
    log2(n) rounds of cost O(nvals + n), each of which synchronizes; rounds of operations on matrices extract the edges
    between components.

    Sources: Kruskal, "On the Shortest Spanning Subtree of a Graph and the Traveling Salesman Problem", Proc. AMS 7,
    1956; Borůvka, "O jistém problému minimálním", 1926.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 0], [1, 2, 2], [5, 1, 2], shape=(3, 3))
    >>> F = sr.algorithms.minimum_spanning_forest(A.ewise_add(A.T, "any"))
    >>> F.to_dicts()
    {0: {2: 2}, 1: {2: 1}, 2: {0: 2, 1: 1}}
    """
    undirected("minimum_spanning_forest", A, values=True)
    weights("minimum_spanning_forest", A)
    report = reporter("minimum_spanning_forest", progress)
    chosen_method = choice("minimum_spanning_forest", "method", method, ("auto", "kruskal", "boruvka"))
    at_once = processor(A) == "cpu" or A.placement == "device"
    if chosen_method == "kruskal" or (chosen_method == "auto" and at_once):
        half = ops.span(A.select("triu", 1), largest=maximum)
        report(1, None)
        return half.ewise_add(half.T, "any")
    return _by_rounds(A, maximum, report)


def _by_rounds(A: Matrix, maximum: bool, report: Progress) -> Matrix:
    """Return the forest by Borůvka's algorithm."""
    n = A.nrows
    label, rounds = ops.singletons(Vector(bool, n, device=A.device)), 0
    chosen: list[tuple[Vector, ...]] = []
    B = _between(A, label)
    while B.nvals:
        chosen.append(_chosen(B, label, maximum))
        label = ops.link(label, _edges(chosen[-1:], A))
        B = _between(B, label)
        report(rounds := rounds + 1, None)
    if rounds == 0:
        report(0, None)
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
