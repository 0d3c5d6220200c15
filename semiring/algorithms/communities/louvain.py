"""Louvain's method: local moving and coarsening in turn, repeated from its own result."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from semiring import Matrix, Vector, ops

from ..checks import number, seed_of
from ..progress import Progress, reporter
from ..vertex_labels import algorithm
from .coarsening import grouped, numbered
from .moving import Communities, Level, best_of_starts, first_level, moved

# Steps of random numbers of a level, and of a pass.
_LEVEL, _PASS = 64, 4096
_MOST_PASSES = 16


@algorithm(labels="v", levels="v")
@ops.small_as_whole
def louvain(
    A: Matrix,
    *,
    resolution: float = 1.0,
    tol: float = 1e-4,
    seed: int = 0,
    progress: Progress | None = None,
) -> Communities:
    """Find communities of high modularity (`semiring.algorithms.modularity`).

    Every vertex moves to the neighboring community of highest gain, until none gains; then communities become the
    vertices of a coarser graph, which is treated likewise.  When a level joins nothing, a further run of all levels
    starts with the communities found, as long as runs raise modularity and communities still join.

    Parameters
    ----------
    A : Matrix, n x n, symmetric
        Values are finite weights, of at least 0; a self-loop counts twice.
    resolution : at least 0
        Larger values favor smaller communities.
    tol : at least 0
        Runs end when one raises modularity by less, and after 16.
    seed : int
        Chooses which vertices move at a time.  Equal seeds find equal communities on every engine.
    progress : callable
        Called as ``progress(levels done, None)``.

    Returns
    -------
    Communities

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue, OutOfMemory

    Notes
    -----
    Graphs below 8,192 entries start eight times, and below 65,536 four times; the best communities are returned.  Cost
    O(n + nvals) a pass, at most 5 passes a level (`ops.local_moving`), and two products a level.  Synchronizes once a
    pass.

    Sources: Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks", J. Stat. Mech.
    2008; vertices move by parts as in Que, Checconi, Petrini, Gunnels, "Scalable Community Detection with the Louvain
    Algorithm", IPDPS 2015; and vote again only beside one that has moved as in Traag, Waltman, van Eck, "From Louvain
    to Leiden", Scientific Reports 9, 2019.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    >>> found = sr.algorithms.louvain(A | A.T)
    >>> found.labels.to_dict(), round(found.modularity, 3)
    ({0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 1}, 0.357)
    """
    report = reporter("louvain", progress)
    finest = first_level("louvain", A, resolution)
    tol, seed = number("louvain", "tol", tol), seed_of("louvain", seed)
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
        before, joined = best, 0.0
        level, own, history = finest, labels, []
        found = labels
        for depth in range(_PASS // _LEVEL):
            groups, k = numbered(moved(level, own, seed, first + attempt * _PASS + depth * _LEVEL))
            coarser = level.coarser(grouped(level.whole, groups, k))
            reached = coarser.modularity()
            level_done()
            if reached <= best and (depth or attempt):
                break
            if depth:
                joined += reached - best
            found = groups if depth == 0 else groups[found]
            best = reached
            history.append(found)
            if k == level.n:
                break
            level, own = coarser, ops.singletons(coarser.mass)
        if history:
            labels, levels = found, tuple(history)
        # Where no communities join, the next run would move the same vertices again.
        if best - before < tol or (attempt and joined < tol):
            break
    return Communities(labels, best, levels)
