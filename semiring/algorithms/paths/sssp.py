"""Shortest paths with any weights: distances, predecessors and negative cycles.

    distance = closure({source: 0}, A, min_plus)

The engine relaxes the edges that leave vertices whose distance improved, from the nearest vertex on; with negative
weights in any order.  Bellman-Ford's method is the same in rounds:  d = min(d, f A),  where f is d at the vertices
that improved.  Predecessors are the parents of the closure: a tree even where weights are 0.

Sources: Bellman, "On a Routing Problem", 1958; Ford, "Network Flow Theory", 1956; Meyer, Sanders, "Delta-Stepping: A
Parallelizable Shortest Path Algorithm", J. Algorithms 49, 2003.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np

import semiring as sr
from semiring import Matrix, Vector, compile, ops, semiring
from semiring.exceptions import ConvergenceFailure, DomainMismatch, InvalidValue, NegativeCycle

from ..checks import Vertex, Vertices, choice, each_row, is_many, number, of_vertices, row, square
from ..checks import weights as check_weights
from ..progress import Progress, is_silent, reporter
from ..vertex_labels import algorithm
from .cycles import improving_cycle

# Sources that are computed together, where progress is reported.
_GROUP = 64
# search(name, A, source): the distances from a source.
Search: TypeAlias = Callable[[str, Matrix, int], Vector]


class ShortestPaths(NamedTuple):
    """Distances from a source, and the tree of shortest paths.

    Attributes
    ----------
    distance : Vector of size n
        As `sssp` returns it.
    parent : Vector of size n, int32 (int64 from n = 2**31 - 1)
        The vertex before each on its path, and the source for itself; missing where there is no path.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1], [1, 2], [1, 2], shape=(3, 3))
    >>> sr.algorithms.shortest_path_tree(A, 0).parent.to_dict()
    {0: 0, 1: 0, 2: 1}
    """

    distance: Vector
    parent: Vector


@overload
def sssp(  # type: ignore[overload-overlap]  # text is a sequence of text
    A: Matrix, source: Vertex, *, method: str = "auto", cutoff: float | None = None, progress: Progress | None = None
) -> Vector: ...
@overload
def sssp(
    A: Matrix,
    source: Vertices,
    *,
    method: str = "auto",
    cutoff: float | None = None,
    progress: Progress | None = None,
) -> Matrix: ...
@algorithm("v|sv")
def sssp(
    A: Matrix,
    source: Vertex | Vertices,
    *,
    method: str = "auto",
    cutoff: float | None = None,
    progress: Progress | None = None,
) -> Vector | Matrix:
    """distance(v) = the least sum of weights A(u, w) along a path from the source to v; missing without a path.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v with that weight; negative weights are allowed, explicit zeros are
        edges of weight 0, infinite weights are edges, and edges of weight NaN are ignored.  Booleans count as 0 and 1.
    source : int, or a name in ``A.labels``; or a sequence of k of them
    method : ``"auto"``, ``"delta_stepping"`` or ``"bellman_ford"``
        See Notes; all have the same result.
    cutoff : float, optional
        Return distances of at most this only.
    progress : callable, optional
        ``progress(done, k)`` is called for each source, after groups of 64; an exception in it ends the computation.

    Returns
    -------
    Vector of size n: float32 or float64 as A; int64 for integers and booleans.  For k sources a k x n Matrix, one row
    each.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound
    InvalidValue
        If `cutoff` is negative or NaN, or `progress` is not callable; for another method; and for
        ``"delta_stepping"``, if a weight is negative or NaN.
    DomainMismatch
        For complex weights.
    NegativeCycle
        If a cycle of negative weight can be reached: ``.cycle`` lists its vertices in order.

    Notes
    -----
    ``"auto"`` is the closure of the engine, one call.  It expands vertices by distance, in ranges whose width it
    adapts; the first edge that makes a distance less than that of its start (a negative weight) ends the order, and
    rows that changed are expanded until none does.  ``"delta_stepping"`` is the same call after a check that no weight
    is negative.  ``"bellman_ford"`` is one product a step, of the vertices that improved in the step before: at most n
    steps, which are one program (`compile`).

    Cost O(n + nvals) a source where no weight is negative and most vertices are expanded once, at worst O(nvals) a
    step and as many steps as the shortest paths have edges; the cutoff does not reduce it.  On a CPU each of several
    sources is computed by one thread.  To name a negative cycle takes a few products for each of its vertices.  Integer
    distances that overflow int64 wrap around; floating ones are infinite, and NaN for inf - inf.  Synchronizes once a
    source.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(4, 4))
    >>> sr.algorithms.sssp(A, 0).to_dict()
    {0: 0, 1: 1, 2: 3}
    >>> sr.algorithms.sssp(A, [0, 1], cutoff=2).to_dicts()
    {0: {0: 0, 1: 1}, 1: {1: 0, 2: 2}}
    """
    n = square("sssp", A)
    search = _METHODS[choice("sssp", "method", method, tuple(_METHODS))]
    if method == "delta_stepping":
        _check_delta_stepping(A)
    most = None if cutoff is None else number("sssp", "cutoff", cutoff)
    report = reporter("sssp", progress)
    if not is_many(source):
        distance = _within(search("sssp", A, row("sssp", source, n)), most)
        report(1, 1)
        return distance
    return distances_from("sssp", A, each_row("sssp", source, n), most, report, search)


@algorithm("v>v")
def sssp_parents(A: Matrix, source: Vertex) -> Vector:
    """parent(v) = the vertex before v on a shortest path from the source; parent(source) = source.

    Parents form a tree.  Which of several is returned is unspecified.  Missing where there is no path.

    Parameters
    ----------
    A : Matrix, n x n
        As for `sssp`.
    source : int, or a name in ``A.labels``

    Returns
    -------
    Vector of size n, int32 (int64 from n = 2**31 - 1).

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch
    NegativeCycle
        If a cycle of negative weight can be reached.

    Notes
    -----
    Cost and synchronization as `shortest_path_tree`, which returns the distances too.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(4, 4))
    >>> sr.algorithms.sssp_parents(A, 0).to_dict()
    {0: 0, 1: 0, 2: 1}
    """
    n = square("sssp_parents", A)
    return tree("sssp_parents", A, row("sssp_parents", source, n)).parent


@algorithm(distance="v", parent="v>v")
def shortest_path_tree(A: Matrix, source: Vertex) -> ShortestPaths:
    """(distance, parent): distance(v) = distance(parent(v)) + A(parent(v), v), and parent(source) = source.

    Parents form a tree.  Which of several is returned is unspecified.

    Parameters
    ----------
    A : Matrix, n x n
        As for `sssp`.
    source : int, or a name in ``A.labels``

    Returns
    -------
    ShortestPaths

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch
    NegativeCycle
        If a cycle of negative weight can be reached.

    Notes
    -----
    Cost that of `sssp`, and on a GPU O(nvals) more (`ops.closure_with_parents`).  Synchronizes a few times.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(4, 4))
    >>> distance, parent = sr.algorithms.shortest_path_tree(A, 0)
    >>> distance.to_dict(), parent.to_dict()
    ({0: 0, 1: 1, 2: 3}, {0: 0, 1: 0, 2: 1})
    """
    n = square("shortest_path_tree", A)
    return tree("shortest_path_tree", A, row("shortest_path_tree", source, n))


def tree(name: str, A: Matrix, source: int) -> ShortestPaths:
    """Return the distances from a source, and the tree of shortest paths."""
    return ShortestPaths(*_settled(ops.closure_with_parents, name, A, _start(A, source), source))


def tight(A: Matrix, distance: Vector) -> Matrix:
    """T(u, v) = true where distance(u) + A(u, v) = distance(v)."""
    return distance.ewise_mult(A, "plus").ewise_mult(distance, "eq").select("==", True)


def weight_type(A: Matrix) -> np.dtype[Any]:
    """Return the type of distances; DomainMismatch for complex weights."""
    if A.dtype.kind not in "biuf":
        raise DomainMismatch(f"sssp: weights are real numbers, got a matrix of {A.dtype}")
    return A.dtype if A.dtype.kind == "f" else np.dtype(np.int64)


def without_nan(A: Matrix) -> Matrix:
    """Return A without the entries that are NaN.  Synchronizes."""
    if A.dtype.kind != "f" or not A.nvals:
        return A
    nan = A.apply("isnan")
    return A.dup(mask=~nan.V) if bool(nan.reduce_scalar("lor")) else A


def distances_from(
    name: str, A: Matrix, sources: list[int], most: float | None, report: Progress, search: Search | None = None
) -> Matrix:
    """Return the distances from each source, of at most `most`, as the rows of a Matrix."""
    k, n = len(sources), A.nrows
    if k == 0 or n == 0:
        report(0, 0)
        return Matrix(weight_type(A), k, n, device=A.device)
    size = 1 if search is _by_rounds else k if is_silent(report) else _GROUP
    parts = []
    for first in range(0, k, size):
        group = sources[first : first + size]
        found = _by_rounds(name, A, group[0]).reshape(1, n) if search is _by_rounds else _from_each(name, A, group)
        parts.append(found if most is None else found.select("<=", most).dup())
        for done in range(first, first + len(group)):
            report(done + 1, k)
    return parts[0] if len(parts) == 1 else sr.concat([[part] for part in parts])


def _from_each(name: str, A: Matrix, sources: list[int]) -> Matrix:
    """Return the distances from each source, as the rows of a Matrix: one closure."""
    dtype, k = weight_type(A), len(sources)
    starts = Matrix.from_coo(np.arange(k), np.array(sources), 0, dtype, shape=(k, A.nrows), device=A.device)
    try:
        return ops.closure(starts, A, semiring.min_plus[dtype])
    except ConvergenceFailure as failure:
        unsettled, source = failure.result[0, :].dup(), sources[failure.row or 0]
    raise _negative_cycle(name, A, unsettled, source)


def settled(name: str, A: Matrix, start: Vector, source: int | None) -> Vector:
    """Return min over u of start(u) + the distance from u; NegativeCycle if there is none.

    source : the vertex that the message names as the start of paths
    """
    return _settled(ops.closure, name, A, start, source)  # type: ignore[no-any-return]


def _settled(closure: Callable[..., Any], name: str, A: Matrix, start: Vector, source: int | None) -> Any:
    try:
        return closure(start, A, semiring.min_plus[weight_type(A)])
    except ConvergenceFailure as failure:
        unsettled = failure.result
    raise _negative_cycle(name, A, unsettled, source)


def _negative_cycle(name: str, A: Matrix, unsettled: Vector, source: int | None) -> NegativeCycle:
    """Return the error for distances that a cycle of negative weight reduces indefinitely."""
    cycle = improving_cycle(unsettled, A)
    reached = () if source is None else (source,)
    shown = " -> ".join(["{}"] * min(len(cycle), 8) + ["..."] * (len(cycle) > 8) + ["{}"])
    text = f"{name}: a cycle of negative weight{' can be reached from {}' * len(reached)}: {shown}"
    return of_vertices(NegativeCycle, text, *reached, *cycle[:8], cycle[0], vertex=cycle[0], cycle=cycle)


def _within(distance: Vector, most: float | None) -> Vector:
    return distance if most is None else distance.select("<=", most)


def _start(A: Matrix, source: int) -> Vector:
    return Vector.from_coo([source], 0, weight_type(A), size=A.nrows, device=A.device)


def _distances(name: str, A: Matrix, source: int) -> Vector:
    return settled(name, A, _start(A, source), source)


def _by_rounds(name: str, A: Matrix, source: int) -> Vector:
    """Return the distances: in each round the edges of the vertices that improved in the one before."""
    A = without_nan(A)
    distance, settled = _rounds(A, _start(A, source), weight_type(A))
    if not settled:
        raise _negative_cycle(name, A, distance, source)
    return distance


@compile
def _rounds(A: Matrix, distance: Vector, dtype: Any) -> tuple[Vector, bool]:
    """d = min(d, f A), f being d where it improved: until nothing improves, or for n rounds; whether nothing does.

    distance : d at first; it is changed
    """
    frontier = distance.dup()
    for _ in range(A.nrows):
        offered = frontier.vxm(A, semiring.min_plus[dtype])
        better = offered.ewise_mult(distance, "lt").select("==", True)
        frontier = offered.dup(mask=~distance.S).ewise_add(offered.dup(mask=better.S), "min")  # no vertex is in both
        if frontier.nvals == 0:  # synchronizes
            return distance, True
        distance(accum="min") << frontier
    return distance, False


def _check_delta_stepping(A: Matrix) -> None:
    check_weights("sssp", A)
    if A.nvals and A.dtype.kind in "if" and (least := A.reduce_scalar("min").value) < 0:
        raise InvalidValue(
            f"sssp: delta_stepping expects weights of at least 0, got {least}; "
            'method="auto" and method="bellman_ford" accept negative weights'
        )


_METHODS: dict[str, Search] = {"auto": _distances, "delta_stepping": _distances, "bellman_ford": _by_rounds}
