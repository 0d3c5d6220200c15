"""How good a partition of the vertices is: modularity, coverage and performance."""

from __future__ import annotations

from dataclasses import dataclass

from semiring import Matrix, Vector

from ..checks import Values, number, square, undirected, weights
from ..scaling import bounded
from ..vertex_labels import algorithm
from .coarsening import labels_of, mass_of_groups, number_of, within


@algorithm()
def modularity(A: Matrix, labels: Values, *, resolution: float = 1.0, directed: bool = False) -> float:
    """Q = sum over groups c of  in(c) / W - r out(c) in'(c) / W^2: edges within groups, less those of chance.

    in(c) is the weight within the group, out(c) and in'(c) are the weights of all edges that leave and enter its
    vertices, W is the weight of all edges, and r the resolution.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge of weight A(u, v), which is finite; an undirected graph stores each in both
        directions.
    labels : Vector of size n, full, integer; or {vertex: community}
        The group of each vertex, a number from 0.
    resolution : r, at least 0
        Larger values favor smaller groups.
    directed : bool
        False: A must be symmetric, and a self-loop counts twice, as it has two ends.

    Returns
    -------
    float, at most 1; NaN for a graph without weight.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, IndexOutOfBound

    Notes
    -----
    Cost O(n + nvals), in a few passes.  Synchronizes.

    Sources: Newman, Girvan, "Finding and evaluating community structure in networks", Phys. Rev. E 69, 2004; Leicht,
    Newman, "Community structure in directed networks", Phys. Rev. Lett. 100, 2008.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 0), (2, 3), (3, 2)])
    >>> sr.algorithms.modularity(A, Vector.from_dense([0, 0, 1, 1]))
    0.5
    """
    if directed:
        square("modularity", A)
    else:
        undirected("modularity", A, values=True)
    weights("modularity", A, finite=True)
    labels = labels_of("modularity", labels, A)
    resolution = number("modularity", "resolution", resolution)
    k = number_of("modularity", labels)
    A, _ = bounded(A, 4 * A.nvals, powers=2)
    A = A.dup("float64") if directed else doubled(A)
    total = float(A.reduce_scalar("plus").value or 0)
    if total == 0:
        return float("nan")
    leaving = mass_of_groups(labels, row_sums(A), k)
    entering = mass_of_groups(labels, row_sums(A.T), k) if directed else leaving
    inside = float(within(A, labels).reduce_scalar("plus").value or 0)
    expected = leaving.apply("truediv", right=total).inner(entering.apply("truediv", right=total)).value
    return inside / total - resolution * float(expected or 0)


def doubled(A: Matrix) -> Matrix:
    """Return A in float64 with its diagonal doubled: a self-loop has two ends."""
    A = A.dup("float64")
    loops = A.select("diag")
    return A.ewise_add(loops, "plus") if loops.nvals else A


def row_sums(A: Matrix) -> Vector:
    """k(u) = the sum of A(u, v) over v: a full Vector of float64."""
    return Vector.full(0.0, A.nrows, device=A.device).ewise_add(A.reduce_rowwise("plus"), "plus")


@dataclass(frozen=True)
class PartitionQuality:
    """How the edges of a graph fit a partition; self-loops are not counted.

    Attributes
    ----------
    groups : the number of labels in use
    intra_edges, inter_edges : edges within groups, and between them
    coverage : intra_edges / edges; NaN without edges
    performance : (intra_edges + pairs of vertices in two groups without an edge) / pairs; NaN without pairs.  Pairs are
        ordered in a directed graph.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)])
    >>> quality = sr.algorithms.partition_quality(A, Vector.from_dense([0, 0, 1]))
    >>> quality.coverage, quality.inter_edges
    (0.5, 1)
    """

    groups: int
    intra_edges: int
    inter_edges: int
    coverage: float
    performance: float


@algorithm()
def partition_quality(A: Matrix, labels: Values) -> PartitionQuality:
    """Count the edges within and between groups, with coverage and performance.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; if the structure is symmetric, (u, v) and (v, u) are one edge of an
        undirected graph.  Values are not read, and self-loops are not counted.
    labels : Vector of size n, full, integer; or {vertex: community}
        The group of each vertex, a number from 0.

    Returns
    -------
    PartitionQuality

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, IndexOutOfBound

    Notes
    -----
    Cost O(n + nvals).  Synchronizes.

    Source: Fortunato, "Community Detection in Graphs", Physics Reports 486, 2010, section III C.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2), (2, 1)])
    >>> sr.algorithms.partition_quality(A, Vector.from_dense([0, 0, 1])).performance
    0.6666666666666666
    """
    n = square("partition_quality", A)
    ends = 2 if A.is_symmetric_structure else 1
    labels = labels_of("partition_quality", labels, A)
    k = number_of("partition_quality", labels)
    edges = A.select("offdiag")
    intra = within(edges, labels).nvals // ends
    inter = edges.nvals // ends - intra
    sizes = mass_of_groups(labels, Vector.full(1.0, n, device=A.device), k).select(">", 0)
    pairs = n * (n - 1) // ends
    inside = int(sizes.inner(sizes.apply("minus", right=1.0)).value or 0) // ends
    good = intra + (pairs - inside) - inter
    return PartitionQuality(
        groups=sizes.nvals,
        intra_edges=intra,
        inter_edges=inter,
        coverage=intra / (intra + inter) if intra + inter else float("nan"),
        performance=good / pairs if pairs else float("nan"),
    )
