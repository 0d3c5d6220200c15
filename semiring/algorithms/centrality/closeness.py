"""Closeness and harmonic centrality, from sums over the distances of a search from every vertex."""

from __future__ import annotations

from semiring import Matrix, Vector, binary, unary

from ..checks import Vertices, Weight, read_weight, square
from ..paths.totals import totals
from ..progress import Progress
from ..vertex_labels import algorithm

_inverse = unary.register_anonymous("select(x == 0, 0, 1 / x)", "inverse")
_ratio = binary.register_anonymous("select(y > 0, x / y, 0)", "ratio")


@algorithm("v")
def closeness_centrality(
    A: Matrix,
    vertices: Vertices | None = None,
    *,
    weight: Weight = None,
    wf_improved: bool = True,
    progress: Progress | None = None,
) -> Vector:
    """c(v) = (r - 1) / (sum over the r vertices u that reach v, itself included, of the distance from u to v).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.  Distances lead to v, as in NetworkX; use ``A.T`` for those from v.
    vertices : sequence of rows or names; default: all
    weight : True or str, optional
        True: the length of an edge is its value, which must not be negative; str: that field of its record.
        Default: values are not read, and every length is 1.
    wf_improved : bool
        Multiply by (r - 1) / (n - 1) (Wasserman, Faust), so that small components do not rank first.
    progress : function of (vertices done, vertices), called after each group

    Returns
    -------
    Vector of size n, float64; missing for vertices that are not in `vertices`, 0 for those that no other reaches.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost and memory as `ops.closure_many` without levels: O(nvals) a level for up to 1,024 vertices together, or on a
    CPU O(n + nvals) for each vertex; with weights an `sssp` for each, whose distances are in memory
    for up to 1,024 vertices, on large graphs for 16.  Synchronizes a few times for each group.

    Sources: Freeman, "Centrality in Social Networks: Conceptual Clarification", 1979; Wasserman, Faust, "Social Network
    Analysis", 1994.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> {v: round(c, 3) for v, c in sr.algorithms.closeness_centrality(A | A.T).to_dict().items()}
    {0: 0.667, 1: 1.0, 2: 0.667}
    """
    n = square("closeness_centrality", A)
    A, weighted = read_weight("closeness_centrality", A, weight)
    reached, total, unit = totals(
        "closeness_centrality", A, vertices, lambda distance: distance, progress, weighted=weighted
    )
    others = reached.apply("minus", right=1.0)
    nearness = others.ewise_mult(total, _ratio)
    if wf_improved:
        nearness = nearness.ewise_mult(others, "times").apply("truediv", right=float(max(n - 1, 1)))
    return nearness.apply("times", right=unit).dup()


@algorithm("v")
def harmonic_centrality(
    A: Matrix,
    vertices: Vertices | None = None,
    *,
    weight: Weight = None,
    normalized: bool = False,
    progress: Progress | None = None,
) -> Vector:
    """c(v) = sum over the other vertices u that reach v of 1 / (distance from u to v).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v.  Distances lead to v, as in NetworkX; use ``A.T`` for those from v.
    vertices : sequence of rows or names; default: all
    weight : True or str, optional
        True: the length of an edge is its value, which must not be negative; str: that field of its record.
        Default: values are not read, and every length is 1.
    normalized : bool
        Divide by n - 1.
    progress : function of (vertices done, vertices), called after each group

    Returns
    -------
    Vector of size n, float64; missing for vertices that are not in `vertices`.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost, memory and synchronization as `closeness_centrality`.

    Sources: Boldi, Vigna, "Axioms for Centrality", 2014.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.harmonic_centrality(A).to_dict()
    {0: 0.0, 1: 1.0, 2: 1.5}
    """
    n = square("harmonic_centrality", A)
    A, weighted = read_weight("harmonic_centrality", A, weight)
    inverted = lambda distance: distance.apply(_inverse)  # noqa: E731
    _, total, unit = totals("harmonic_centrality", A, vertices, inverted, progress, weighted=weighted)
    if normalized:
        total = total.apply("truediv", right=float(max(n - 1, 1)))
    return total.apply("times", right=unit).dup()
