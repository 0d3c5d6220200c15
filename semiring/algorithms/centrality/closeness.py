"""Closeness and harmonic centrality, from the numbers of vertices in each level of a search from every vertex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring import Matrix, Vector, binary, ops, unary
from semiring.exceptions import InvalidValue

from ..checks import is_many, row, square
from ..paths import bfs_levels
from ..progress import Progress, reporter

_SOURCES = 1024  # searched together; `ops.closure_many` has groups of up to so many
# On a CPU, graphs with more levels are searched from one vertex at a time: a search of many reads the bits of all
# vertices in each level (measured: 36 and 459 ms for a vertex of the roads of New York, two cores shared with others).
_DEEP = 100

_inverse = unary.register_anonymous("select(x == 0, 0, 1 / x)", "inverse")
_ratio = binary.register_anonymous("select(y > 0, x / y, 0)", "ratio")


@ops.reports_memory
def closeness(A: Matrix, vertices: Any = None, *, wf_improved: bool = True, progress: Progress | None = None) -> Vector:
    """c(v) = (r - 1) / (sum over the r vertices u that reach v, itself included, of the distance from u to v).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v of length 1; values are not read.  Distances lead to v, as in NetworkX;
        use ``A.T`` for those from v.
    vertices : sequence of rows; default: all
    wf_improved : bool
        Multiply by (r - 1) / (n - 1) (Wasserman, Faust), so that small components do not rank first.
    progress : function of (vertices done, vertices), called after each group

    Returns
    -------
    Vector of size n, float64; missing for vertices that are not in `vertices`, 0 for those that no other reaches.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, OutOfMemory

    Notes
    -----
    Cost and memory as `ops.closure_many` without levels: O(nvals) a level for up to 1,024 vertices together.  On a CPU,
    graphs of more than 100 levels are searched from one vertex at a time, O(nvals) each.  Synchronises a few times for
    each group.

    Sources: Freeman, "Centrality in Social Networks: Conceptual Clarification", 1979; Wasserman, Faust, "Social Network
    Analysis", 1994.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> {v: round(c, 3) for v, c in sr.algorithms.closeness(A | A.T).to_dict().items()}
    {0: 0.667, 1: 1.0, 2: 0.667}
    """
    n = square("closeness", A)
    reached, total = _sums("closeness", A, vertices, lambda depth: depth, progress)
    others = reached.apply("minus", right=1.0)
    nearness = others.ewise_mult(total, _ratio)
    if wf_improved:
        nearness = nearness.ewise_mult(others, "times").apply("truediv", right=float(max(n - 1, 1)))
    return nearness.new()


@ops.reports_memory
def harmonic(A: Matrix, vertices: Any = None, *, normalized: bool = False, progress: Progress | None = None) -> Vector:
    """c(v) = sum over the other vertices u that reach v of 1 / (distance from u to v).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v of length 1; values are not read.  Distances lead to v, as in NetworkX;
        use ``A.T`` for those from v.
    vertices : sequence of rows; default: all
    normalized : bool
        Divide by n - 1.
    progress : function of (vertices done, vertices), called after each group

    Returns
    -------
    Vector of size n, float64; missing for vertices that are not in `vertices`.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, OutOfMemory

    Notes
    -----
    Cost, memory and synchronisation as `closeness`.

    Sources: Boldi, Vigna, "Axioms for Centrality", 2014.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.harmonic(A).to_dict()
    {0: 0.0, 1: 1.0, 2: 1.5}
    """
    n = square("harmonic", A)
    _, total = _sums("harmonic", A, vertices, lambda depth: depth.apply(_inverse), progress)
    return total.apply("truediv", right=float(max(n - 1, 1))).new() if normalized else total


def _sums(
    name: str, A: Matrix, vertices: Any, weigh: Callable[[Vector], Vector], progress: Progress | None
) -> tuple[Vector, Vector]:
    """Return, for each of the vertices, how many vertices reach it, and the sum of the weights of their distances.

    weigh : returns the weights of distances, which are of float64
    """
    n, report = A.nrows, reporter(name, progress)
    if vertices is None:
        chosen = np.arange(n)
    elif is_many(vertices):
        chosen = np.array([row(name, v, n) for v in vertices], np.int64)
    else:
        raise InvalidValue(f"{name}: vertices must be a sequence of rows, got {vertices!r}")
    reached, total = (Vector(np.float64, n, device=A.device) for _ in range(2))
    into = A if A.is_symmetric_structure else A.T
    if chosen.size and A.device == "cpu" and _depth(into, chosen[:: max(1, chosen.size // 3)].tolist()) > _DEEP:
        for done, v in enumerate(chosen.tolist(), 1):
            levels = bfs_levels(into, v).dup(dtype=np.float64)
            reached[v], total[v] = levels.nvals, weigh(levels).reduce("plus")
            report(done, chosen.size)
        return reached, total
    for first in range(0, chosen.size, _SOURCES):
        group = chosen[first : first + _SOURCES]
        found = ops.closure_many(group, into, levels=False, counts=True)
        depth = ops.singletons(Vector(bool, found.steps, device=A.device)).dup(dtype=np.float64)
        reached(accum="second")[group] << found.counts.reduce_rowwise("plus")
        total(accum="second")[group] << found.counts.mxv(weigh(depth), "plus_times")
        report(first + group.size, chosen.size)
    return reached, total


def _depth(A: Matrix, vertices: list[int]) -> int:
    """Return the largest number of levels of searches from a few vertices."""
    return max(int(bfs_levels(A, v).reduce("max").get(0)) + 1 for v in vertices)
