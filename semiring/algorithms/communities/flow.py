"""Clustering by flow: Markov clustering, in products of matrices, and peer pressure, in votes."""

from __future__ import annotations

from semiring import Matrix, Vector, ops
from semiring.exceptions import ConvergenceFailure, InvalidValue

from ..checks import count, number, square, weights
from ..components import connected_components
from ..progress import Progress, reporter
from ..scaling import bounded_rows, row_shares
from ..vertex_labels import algorithm
from .coarsening import numbered
from .moving import rounded


@algorithm("v")
@ops.small_as_whole
def markov_clustering(
    A: Matrix,
    *,
    expansion: int = 2,
    inflation: float = 2.0,
    prune: float = 1e-4,
    tol: float = 1e-6,
    max_iter: int = 100,
    progress: Progress | None = None,
) -> Vector:
    """R <- the rows of (R^e).^r, pruned and scaled to sum 1, from R = abs(A) with self-loops: clusters of the limit.

    A walk of e steps stays within a cluster with high probability, and the power r raises high probabilities above low
    ones, until every row holds few equal entries.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v of weight abs(A(u, v)), which must be finite; every vertex gets a
        self-loop of its largest weight.
    expansion : e, at least 2
    inflation : r, above 1
        Larger values find smaller clusters.
    prune : in [0, 1]
        Smaller probabilities are removed after each step.
    tol : at least 0
        Ends when no probability changes by more; smaller ones are not edges of the limit.
    max_iter : int
    progress : callable
        Called as ``progress(iterations done, max_iter)``.

    Returns
    -------
    Vector of size n, full: clusters are numbered from 0 in the order of their smallest vertices.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, OutOfMemory
    ConvergenceFailure
        After `max_iter` iterations; ``.result`` holds the clusters of the last matrix.

    Notes
    -----
    Cost: e - 1 products an iteration, whose size `prune` bounds: at most 1 / prune entries a row.  Synchronizes once an
    iteration.

    LAGr_MarkovClustering of LAGraph differs: it scales columns, adds self-loops of weight 1 where there are none, and
    returns for each column the row of its largest entry.  It divides by sums of signed weights, which may be 0.

    Source: van Dongen, "Graph Clustering by Flow Simulation", PhD thesis, University of Utrecht, 2000.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    >>> sr.algorithms.markov_clustering(A | A.T).to_dict()
    {0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 1}
    """
    n = square("markov_clustering", A)
    weights("markov_clustering", A, finite=True)
    expansion = count("markov_clustering", "expansion", expansion)
    max_iter = count("markov_clustering", "max_iter", max_iter)
    inflation = number("markov_clustering", "inflation", inflation)
    prune = number("markov_clustering", "prune", prune, high=1)
    tol, report = number("markov_clustering", "tol", tol), reporter("markov_clustering", progress)
    if expansion < 2 or inflation <= 1:
        raise InvalidValue(
            f"markov_clustering: expansion must be at least 2 and inflation above 1, got {expansion} and {inflation}"
        )
    flow = row_shares(_with_loops(A.dup("float64").apply("abs"), n))
    for done in range(max_iter):
        following = flow
        for _ in range(expansion - 1):
            following = following.mxm(flow)
        # The largest entry of a row remains, whatever the threshold.
        raised = row_shares(following, lambda M: M.apply("pow", right=inflation))
        kept = raised.select(">=", prune)
        following = row_shares(kept.ewise_add(raised.selectk("largest", 1), "any"))
        change = following.ewise_union(flow, "minus", 0.0, 0.0).apply("abs").reduce_scalar("max").value
        flow = following
        report(done + 1, max_iter)
        if (change or 0) <= tol:
            return _clusters(flow, tol)
    clusters = _clusters(flow, tol)
    if max_iter == 0:
        report(0, 0)
    if max_iter and n:
        raise ConvergenceFailure(
            f"markov_clustering: probabilities still change after {max_iter} iterations",
            result=clusters,
            iterations=max_iter,
        )
    return clusters


def _clusters(flow: Matrix, tol: float) -> Vector:
    """Return the components of the probabilities above `tol`."""
    return numbered(connected_components(flow.select(">", tol)))[0]


def _with_loops(A: Matrix, n: int) -> Matrix:
    """Return A in float64 without zeros, and with a self-loop of its largest magnitude, or of 1, at each vertex."""
    present = A.dup("float64").select("!=", 0)
    largest = Vector.full(1.0, n, device=A.device).ewise_add(present.apply("abs").reduce_rowwise("max"), "second")
    return present.ewise_add(largest.diag(), "max")


@algorithm("v")
@ops.small_as_whole
def peer_pressure(A: Matrix, *, max_iter: int = 50, progress: Progress | None = None) -> Vector:
    """c(v) = the cluster with the most votes A(u, v) / (sum over w of abs(A(u, w))) of u, of several the smallest.

    Every vertex has one vote, which it divides among its neighbors and itself by the weights of its edges; a share is
    a vote against where the weight is negative.  All vertices move at once, from clusters of one vertex, until none
    moves.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v of finite weight; every vertex gets a self-loop of its largest
        abs(A(u, v)).
    max_iter : int
    progress : callable
        Called as ``progress(iterations done, max_iter)``.

    Returns
    -------
    Vector of size n, full: clusters are numbered from 0 in the order of their smallest vertices.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, OutOfMemory
    ConvergenceFailure
        If vertices still move after `max_iter` iterations; ``.result`` holds the clusters.

    Notes
    -----
    Cost O(n + nvals) an iteration.  Votes are rounded so that their sums are exact.  Synchronizes once an iteration.

    LAGr_PeerPressureClustering of LAGraph differs where weights are not ones: it gives every vertex a self-loop of
    weight 1, divides by sums of signed weights cast to integers (0 for weights below 1: infinite votes), compares
    rounded sums, and returns the clusters of its last iteration even if vertices still move.

    Source: Gilbert, Reinhardt, Shah, "A Unified Framework for Numerical and Combinatorial Computing", Computing in
    Science & Engineering 10(2), 2008.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    >>> sr.algorithms.peer_pressure(A | A.T).to_dict()
    {0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 1}
    """
    n = square("peer_pressure", A)
    weights("peer_pressure", A, finite=True)
    max_iter, report = count("peer_pressure", "max_iter", max_iter), reporter("peer_pressure", progress)
    edges, _, total = bounded_rows(_with_loops(A, n), lambda M: M.apply("abs"))
    votes = rounded(total.apply("minv").ewise_mult(edges, "times"), float(max(n, 1))).T.dup()
    clusters = ops.singletons(Vector(bool, n, device=A.device))
    for done in range(max_iter):
        following = ops.vote(votes, clusters)
        report(done + 1, max_iter)
        if following.isequal(clusters):  # synchronizes
            return numbered(clusters)[0]
        clusters = following
    clusters = numbered(clusters)[0]
    if max_iter == 0:
        report(0, 0)
    if max_iter and n:
        raise ConvergenceFailure(
            f"peer_pressure: vertices still move after {max_iter} iterations", result=clusters, iterations=max_iter
        )
    return clusters
