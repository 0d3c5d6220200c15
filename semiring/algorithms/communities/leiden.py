"""The Leiden algorithm: Louvain's method whose communities are connected."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from semiring import Matrix, Vector, ops

from ..checks import number, seed_of
from ..components import connected_components
from ..progress import Progress, reporter
from ..randomness import uniform
from ..vertex_labels import algorithm
from .coarsening import grouped, mass_of_groups, numbered, within
from .modularity import row_sums
from .moving import Communities, Level, best_of_starts, first_level, moved

# Steps of random numbers: those of a refinement follow those of the moves of its level.
_REFINEMENT, _LEVEL, _PASS = 64, 128, 8192
_MOST_PASSES = 16
# The parts of the vertices that join parts of their communities one after the other.
_PARTS = 4


@algorithm(labels="v", levels="v")
@ops.small_as_whole
def leiden(
    A: Matrix,
    *,
    resolution: float = 1.0,
    tol: float = 1e-3,
    seed: int = 0,
    progress: Progress | None = None,
) -> Communities:
    """Find connected communities of high modularity (`semiring.algorithms.modularity`).

    As `louvain`, but the vertices of the next level are parts of the communities: single vertices that join a
    neighboring part within their community, so that a part is connected and can still change its community.

    Parameters
    ----------
    A : Matrix, n x n, symmetric
        Values are finite weights, of at least 0; a self-loop counts twice.
    resolution : at least 0
        Larger values favor smaller communities.
    tol : at least 0
        Passes end when one raises modularity by less, and after 16.
    seed : int
        Equal seeds find equal communities on every engine.
    progress : callable
        Called as ``progress(levels done, None)``.

    Returns
    -------
    Communities : the vertices of each are connected by edges within it.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, OutOfMemory

    Notes
    -----
    A vertex joins the part of highest gain, where the paper draws one by its gain.  Small graphs start several times,
    as in `louvain`.  Cost O(n + nvals) a pass, at most 6 passes a level, and two products a level.  Synchronizes once a
    pass.

    Source: Traag, Waltman, van Eck, "From Louvain to Leiden: guaranteeing well-connected communities", Scientific
    Reports 9, 2019.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    >>> sr.algorithms.leiden(A | A.T).labels.to_dict()
    {0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 1}
    """
    report = reporter("leiden", progress)
    finest = first_level("leiden", A, resolution)
    tol, seed = number("leiden", "tol", tol), seed_of("leiden", seed)
    labels = ops.singletons(finest.mass)
    if finest.total == 0:
        report(0, None)
        return Communities(labels, float("nan"), (labels,))
    levels = itertools.count(1)
    return best_of_starts(
        finest, lambda step: _from_singletons(finest, tol, seed, step, lambda: report(next(levels), None))
    )


def _from_singletons(finest: Level, tol: float, seed: int, first: int, level_done: Callable[[], object]) -> Communities:
    """Return the communities of one run.  first: the step of its first random numbers."""
    labels = ops.singletons(finest.mass)
    levels: tuple[Vector, ...] = (labels,)
    best = finest.modularity()
    for attempt in range(_MOST_PASSES):
        level, own, parts, history = finest, labels, ops.singletons(labels), []
        for depth in range(_PASS // _LEVEL):
            step = first + attempt * _PASS + depth * _LEVEL
            own, k = numbered(moved(level, own, seed, step))
            history.append(own[parts])
            level_done()
            if k == level.n:
                break
            refined, count = numbered(_refined(level, own, seed, step + _REFINEMENT))
            if count == level.n:
                break
            parts = refined[parts]
            community = Vector(own.dtype, count, device=own.device)
            community(accum="any")[refined] << own
            level = level.coarser(grouped(level.whole, refined, count))
            own, _ = numbered(community.convert("full"))
        inside = within(finest.edges, history[-1]).dup()
        found, k = numbered(connected_components(inside))
        reached = finest.modularity(inside, mass_of_groups(found, finest.mass, k))
        if attempt and reached <= best:
            break
        gain, best, labels, levels = reached - best, reached, found, (*history[:-1], found)
        if attempt and gain < tol:
            break
    return Communities(labels, best, levels)


def _refined(level: Level, community: Vector, seed: int, step: int) -> Vector:
    """Return the parts of the communities: single vertices join a part of their community, and then stay there.

    Vertices that are still alone join when it is the turn of their random quarter.  Nobody joins a vertex that leaves
    at the same time, so parts are connected.
    """
    n, rate, device = level.n, level.resolution / level.total, community.device
    edges = within(level.edges, community)
    parts = ops.singletons(community)
    one = Vector.full(1.0, n, device=device)
    # Vertices that belong well to their community: K(v, c) >= r k(v) k(c without v) / W.
    rest = mass_of_groups(community, level.mass, n)[community].ewise_add(level.mass, "minus")
    bound = level.mass.ewise_mult(rest, "times").apply("times", right=rate)
    belongs = row_sums(edges).ewise_mult(bound, "ge")
    drawn = uniform(n, seed, step, device=device).apply("times", right=float(_PARTS))
    for part in range(_PARTS):
        alone = mass_of_groups(parts, one, n)[parts].apply("==", right=1.0)
        turn = drawn.apply("<", right=part + 1.0).ewise_mult(drawn.apply(">=", right=float(part)), "land")
        voters = turn.ewise_mult(alone, "land").ewise_mult(belongs, "land")
        wanted = ops.vote(
            edges, parts, mass=level.mass, totals=mass_of_groups(parts, level.mass, n), rate=rate, rows=voters,
            ties="own",
        )  # fmt: skip
        leaving = wanted.ewise_mult(parts, "ne")
        joined = leaving.ewise_mult(leaving[wanted], "gt")  # leaves, and whom it joins does not
        following = parts.dup()
        following(joined.V) << wanted
        parts = following
    return parts
