"""Label propagation: every vertex adopts the most frequent label of its neighbors."""

from __future__ import annotations

from semiring import Matrix, Vector, ops
from semiring.exceptions import ConvergenceFailure

from ..checks import count, seed_of, square, weights
from ..progress import Progress, reporter
from ..randomness import thunk, uniform
from ..scaling import bounded

# The parts of the vertices that vote one after the other, and the iterations between two reports.
_PARTS, _BATCH = 8, 16


@ops.reports_memory
def cdlp(A: Matrix, max_iter: int = 10, *, progress: Progress | None = None) -> Vector:
    """L(v) = the most frequent L(u) over the edges that join u and v, of several the smallest; `max_iter` times.

    Community detection by label propagation, with the rule of LDBC Graphalytics: labels are at first the numbers of the
    vertices, and all change at once.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge.  A directed edge is read in both directions, and two opposite edges count twice.
        Values are not read, and self-loops are not counted.
    max_iter : int
        Iterations; fewer if no label changes any more.
    progress : callable
        Called as ``progress(iterations done, max_iter)``.

    Returns
    -------
    Vector of size n, full, int32 (int64 from n = 2**31).  A vertex without edges keeps its number.

    Raises
    ------
    DimensionMismatch, InvalidValue, OutOfMemory

    Notes
    -----
    Cost O(n + nvals) an iteration; a directed graph is first united with its transpose.  Synchronizes once an
    iteration.

    Sources: Raghavan, Albert, Kumara, "Near linear time algorithm to detect community structures in large-scale
    networks", Phys. Rev. E 76, 2007; Iosup et al., "The LDBC Graphalytics Benchmark", arXiv:2011.15028.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (3, 4)])
    >>> sr.algorithms.cdlp(A).to_dict()
    {0: 0, 1: 0, 2: 0, 3: 3, 4: 4}
    """
    n = square("cdlp", A)
    max_iter, report = count("cdlp", "max_iter", max_iter), reporter("cdlp", progress)
    edges = _both_ways(A.apply("one").dup("int32") if A.dtype.kind == "c" else A.dup(bool).apply("second", right=1))
    labels = ops.singletons(Vector(bool, n, device=A.device))
    if max_iter == 0:
        report(0, 0)
    for done in range(max_iter):
        following = ops.vote(edges, labels)
        report(done + 1, max_iter)
        if following.isequal(labels):  # synchronizes
            break
        labels = following
    return labels


@ops.reports_memory
def label_propagation(A: Matrix, *, seed: int = 0, max_iter: int = 100, progress: Progress | None = None) -> Vector:
    """Return labels of which none has more weight among the neighbors of its vertex than another one.

    Every vertex adopts the label of the largest weight among its neighbors, of several the one that comes first in a
    random order; vertices by random eighths, and again only after a neighbor of another label has changed.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge whose value is its weight, of at least 0.  A directed edge is read in both
        directions.  Self-loops are not counted.
    seed : int
        Chooses the order of the labels, and which vertices change at a time.
    max_iter : int
        The largest number of times that a vertex votes, up to 65,536.
    progress : callable
        Called as ``progress(iterations done, None)``.

    Returns
    -------
    Vector of size n, full, int32 (int64 from n = 2**31): labels are numbers of vertices.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, OutOfMemory
    ConvergenceFailure
        After `max_iter` iterations; ``.result`` holds the labels.

    Notes
    -----
    Cost O(n) an iteration, and the entries of the rows that vote; every 16 iterations a vote of all.  The order of the
    labels stands for the random choice among equal ones in the sources: labels converge, and join more.  Synchronizes
    once an iteration.

    Sources: Raghavan, Albert, Kumara, "Near linear time algorithm to detect community structures in large-scale
    networks", Phys. Rev. E 76, 2007; Traag, Subelj, "Large network community detection by fast label propagation",
    Scientific Reports 13, 2023.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    >>> labels = sr.algorithms.label_propagation(A | A.T)
    >>> sr.algorithms.modularity(A | A.T, labels) > 0.3
    True
    """
    n = square("label_propagation", A)
    weights("label_propagation", A, least=0)
    seed, max_iter = seed_of("label_propagation", seed), count("label_propagation", "max_iter", max_iter)
    report = reporter("label_propagation", progress)
    edges = _both_ways(bounded(A, 2 * A.nvals)[0])
    vertices = ops.singletons(Vector(bool, n, device=A.device))
    _, named = uniform(n, seed, device=A.device).sort()  # the vertex that each label names
    named = named.dup(vertices.dtype).convert("full")
    labels = vertices.dup()
    labels[named] << vertices
    for done in range(0, max_iter, _BATCH):
        most = min(_BATCH, max_iter - done)
        labels = ops.local_moving(
            edges, labels, parts=_PARTS, seed=thunk(seed, 1 + done), max_passes=most, ties="smallest"
        )
        report(done + most, None)
        if ops.vote(edges, labels).isequal(labels):  # synchronizes
            return named[labels].convert("full")
    if max_iter == 0:
        report(0, None)
    labels = named[labels].convert("full")
    if max_iter:
        raise ConvergenceFailure(
            f"label_propagation: labels still change after {max_iter} iterations", result=labels, iterations=max_iter
        )
    return labels


def _both_ways(A: Matrix) -> Matrix:
    """Return A without its diagonal; of a directed graph the sum of A and its transpose."""
    if A.dtype.kind == "b":
        A = A.dup("int32")
    edges = A.select("offdiag")
    return edges if A.is_symmetric_structure else edges.ewise_add(edges.T, "plus")
