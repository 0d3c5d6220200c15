"""The k shortest paths without repeated vertices.

Another path than the known ones leaves one of them at some vertex u, by an edge (u, v) that no known path with the same
vertices up to u has, and then takes a shortest path to the target that avoids those vertices.  With the distances d to
the target in the whole graph, the length of such a path is at least

    length(source ... u) + min_v (A(u, v) + d(v))

so a deviation waits with this bound.  When it is the least of all, its path is computed: the tree of shortest paths to
the target has it if the path from v there avoids the vertices up to u; else a search of the graph without them.

Sources: Yen, "Finding the K Shortest Loopless Paths in a Network", Management Science 17(11), 1971; Lawler, "A
Procedure for Computing the K Best Solutions", Management Science 18(7), 1972 (no deviation twice); Martins, Pascoal, "A
New Implementation of Yen's Ranking Loopless Paths Algorithm", 4OR 1, 2003 (paths of the tree); Kurz, Mutzel, "A
Sidetrack-Based Algorithm for Finding the k Shortest Simple Paths", ISAAC 2016 (bounds that wait).
"""

from __future__ import annotations

import heapq
from itertools import accumulate, count
from typing import Any, NamedTuple

import numpy as np

from semiring import Matrix, Vector, agg, select

from ..checks import Vertex, row, square
from ..checks import count as checked_count
from ..progress import Progress, reporter
from ..vertex_labels import algorithm
from .chains import chain
from .route import Route
from .sssp import ShortestPaths, tree, weight_type, without_nan

# In row i of those of a route from place k - 1 on: entries that lead to the route up to its next vertex, at place x.
_passed = select.register_anonymous("x <= i + k", "passed")


class _Deviation(NamedTuple):
    """The paths that begin with `prefix` and continue with none of `blocked`; v: the next vertex of the least bound."""

    prefix: list[int]
    blocked: frozenset[int]
    v: int


@algorithm(vertices=">v")
def k_shortest_paths(
    A: Matrix, source: Vertex, target: Vertex, k: int, *, progress: Progress | None = None
) -> list[Route]:
    """Return the k shortest paths from the source to the target that repeat no vertex, by length; fewer if there are.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v with that weight, as for `sssp`.
    source, target : int, or a name in ``A.labels``
    k : int
    progress : callable, optional
        ``progress(found, k)`` is called after each path; an exception in it ends the computation.

    Returns
    -------
    list of Route
        Which of equally long paths are returned, and in which order, is unspecified.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, DomainMismatch
    InvalidValue
        If k is negative or not an integer, or `progress` is not callable.
    NegativeCycle
        If a cycle of negative weight leads to the target.

    Notes
    -----
    Cost one search for the tree of shortest paths to the target, for each path the edges that leave its vertices, and a
    search for each deviation that the tree does not determine: few in practice, at worst one for each vertex of the
    paths.  Synchronizes a few times for each path and search.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1, 1, 2], [1, 2, 2, 3, 3], [1, 4, 1, 5, 1], shape=(4, 4))
    >>> for route in sr.algorithms.k_shortest_paths(A, 0, 3, 3):
    ...     print(route.length, route.vertices)
    3 [0, 1, 2, 3]
    5 [0, 2, 3]
    6 [0, 1, 3]
    """
    n = square("k_shortest_paths", A)
    s, t = row("k_shortest_paths", source, n), row("k_shortest_paths", target, n)
    most, report = checked_count("k_shortest_paths", "k", k), reporter("k_shortest_paths", progress)
    A = without_nan(A)
    into = A.T
    whole = tree("k_shortest_paths", into, t)
    found: list[Route] = []
    if most == 0 or whole.parent.get(s) is None:  # synchronizes
        report(0, most)
        return found
    # Bounds, a number that decides between equal ones, and what has this length or more: a path or deviations.
    turn, waiting = count(), list[tuple[Any, int, Any]]()
    vertices = chain(whole.parent, s)
    first = Route(whole.distance.get(s), vertices)
    heapq.heappush(waiting, (first.length, next(turn), (first, 0, frozenset[int]())))
    while waiting and len(found) < most:
        _, _, item = heapq.heappop(waiting)
        if isinstance(item, _Deviation):
            made = _completed(A, into, whole, t, item)
            if made is not None:
                heapq.heappush(waiting, (made.length, next(turn), (made, len(item.prefix) - 1, item.blocked)))
            continue
        route, at, blocked = item
        found.append(route)
        report(len(found), most)
        if len(found) < most:
            for bound, deviation in _deviations(A, whole.distance, route.vertices, at, blocked):
                heapq.heappush(waiting, (bound, next(turn), deviation))
    return sorted(found, key=lambda route: route.length)


def _deviations(
    A: Matrix, distance: Vector, route: list[int], at: int, blocked: frozenset[int]
) -> list[tuple[Any, _Deviation]]:
    """Return the deviations from a route at its vertices from the place `at` on, with their bounds.

    blocked : next vertices at that place that other routes have
    """
    if len(route) < 2:
        return []
    lengths = [0, *accumulate(_weights(A, route))]
    rows = A[route[at:-1], :].dup(dtype=weight_type(A))
    place = Vector.from_coo(route, np.arange(len(route)), size=A.nrows, device=A.device)
    # Not along the route, nor to a vertex of it up to the place, nor where others went.
    closed = rows.ewise_mult(place, "second").select(_passed, at + 1).apply("one").dup(bool)
    others = Matrix.from_coo([0] * len(blocked), sorted(blocked), True, shape=rows.shape, device=A.device)
    offers = rows.ewise_mult(distance, "plus").dup(mask=~closed.ewise_add(others, "lor").S)
    least, where = (part.to_dict() for part in offers.minloc())
    return [
        (
            lengths[at + i] + value,
            _Deviation(route[: at + i + 1], frozenset({route[at + i + 1], *(blocked if i == 0 else ())}), where[i]),
        )
        for i, value in least.items()
    ]


def _completed(A: Matrix, into: Matrix, whole: ShortestPaths, t: int, deviation: _Deviation) -> Route | None:
    """Return the shortest path of a deviation, or None if there is none."""
    prefix = deviation.prefix
    rest = chain(whole.parent, deviation.v)
    if not set(prefix).isdisjoint(rest):
        keep = Vector.full(True, A.nrows, device=A.device).dup(
            mask=~Vector.from_coo(prefix, True, size=A.nrows, device=A.device).S
        )
        distance, parent = tree("k_shortest_paths", into.ewise_mult(keep, "first"), t)
        blocked = Vector.from_coo(sorted(deviation.blocked), True, size=A.nrows, device=A.device)
        offers = A[prefix[-1], :].ewise_mult(distance, "plus").dup(mask=~blocked.S)
        if offers.nvals == 0:  # synchronizes
            return None
        rest = chain(parent, int(offers.reduce(agg.argmin)))
    vertices = [*prefix, *rest]
    return Route(sum(_weights(A, vertices)), vertices)


def _weights(A: Matrix, route: list[int]) -> list[Any]:
    """Return the weights along a route."""
    if len(route) < 2:
        return []
    rows = A[route[:-1], :]
    along = Matrix.from_coo(np.arange(len(route) - 1), route[1:], True, shape=rows.shape, device=A.device)
    weights = rows.dup(dtype=weight_type(A)).ewise_mult(along, "first").reduce_rowwise("any")
    return weights.to_numpy().tolist()  # type: ignore[no-any-return]
