"""Label propagation: every vertex adopts the most frequent label of its neighbors."""

from __future__ import annotations

from semiring import Matrix, Vector, ops
from semiring.exceptions import ConvergenceFailure, InvalidValue

from ..checks import choice, count, seed_of, square, weights
from ..progress import Progress, reporter
from ..randomness import thunk, uniform
from ..scaling import bounded
from ..vertex_labels import algorithm

# The parts of the vertices that vote one after the other, and the iterations between two reports.
_PARTS, _BATCH = 8, 16


@algorithm("v>v")
@ops.small_as_whole
def label_propagation(
    A: Matrix,
    *,
    method: str = "asynchronous",
    seed: int = 0,
    max_iter: int | None = None,
    progress: Progress | None = None,
) -> Vector:
    """Return labels of which none has more weight among the neighbors of its vertex than another one.

    Every vertex adopts the label of the largest weight among its neighbors, of several the one that comes first in a
    random order; vertices by random eighths, and again only after a neighbor of another label has changed.

    ``"synchronous"`` is the rule of LDBC Graphalytics: labels are at first the numbers of the vertices, and in each
    iteration all change at once, L(v) to the most frequent L(u) over the edges that join u and v, of several the
    smallest.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge whose value is its weight, of at least 0.  A directed edge is read in both
        directions.  Self-loops are not counted.  With ``"synchronous"`` every entry counts 1, whatever its value.
    method : ``"asynchronous"`` or ``"synchronous"``
    seed : int
        Chooses the order of the labels, and which vertices change at a time.  ``"synchronous"`` has none.
    max_iter : int, optional
        The largest number of times that a vertex votes, up to 65,536; default: 100.  With ``"synchronous"`` the number
        of iterations, fewer if no label changes any more; default: 10.
    progress : callable
        Called as ``progress(iterations done, None)``; with ``"synchronous"``, ``progress(iterations done, max_iter)``.

    Returns
    -------
    Vector of size n, full, int32 (int64 from n = 2**31): labels are numbers of vertices.

    Raises
    ------
    DimensionMismatch, OutOfMemory
    DomainMismatch
        For complex weights, unless ``"synchronous"``.
    InvalidValue
        For negative weights and NaN, unless ``"synchronous"``; for a seed, if ``"synchronous"``; for other methods.
    ConvergenceFailure
        After `max_iter` iterations, unless ``"synchronous"``; ``.result`` holds the labels.

    Notes
    -----
    Cost O(n) an iteration, and the entries of the rows that vote; every 16 iterations a vote of all.  The order of the
    labels stands for the random choice among equal ones in the sources: labels converge, and join more.
    ``"synchronous"``: cost O(n + nvals) an iteration; a directed graph is first united with its transpose.
    Synchronizes once an iteration.

    Sources: Raghavan, Albert, Kumara, "Near linear time algorithm to detect community structures in large-scale
    networks", Phys. Rev. E 76, 2007; Traag, Subelj, "Large network community detection by fast label propagation",
    Scientific Reports 13, 2023; Iosup et al., "The LDBC Graphalytics Benchmark", arXiv:2011.15028.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    >>> labels = sr.algorithms.label_propagation(A | A.T)
    >>> sr.algorithms.modularity(A | A.T, labels) > 0.3
    True
    >>> sr.algorithms.label_propagation(A | A.T, method="synchronous").to_dict()
    {0: 0, 1: 0, 2: 0, 3: 2, 4: 2, 5: 2}
    """
    n = square("label_propagation", A)
    choice("label_propagation", "method", method, ("asynchronous", "synchronous"))
    seed, report = seed_of("label_propagation", seed), reporter("label_propagation", progress)
    if max_iter is not None:
        max_iter = count("label_propagation", "max_iter", max_iter)
    if method == "synchronous":
        if seed:
            raise InvalidValue(f'label_propagation: method="synchronous" has no seed, got {seed}')
        return _synchronous(A, n, 10 if max_iter is None else max_iter, report)
    return _asynchronous(A, n, seed, 100 if max_iter is None else max_iter, report)


def _synchronous(A: Matrix, n: int, max_iter: int, report: Progress) -> Vector:
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


def _asynchronous(A: Matrix, n: int, seed: int, max_iter: int, report: Progress) -> Vector:
    weights("label_propagation", A, least=0)
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
