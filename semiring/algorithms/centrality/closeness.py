"""Closeness and harmonic centrality, from the numbers of vertices in each level of a search from every vertex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring import Matrix, Vector, binary, ops
from semiring.exceptions import InvalidValue

from ..checks import is_many, row, square
from ..progress import Progress, reporter

_SOURCES = 1024  # searched together; `ops.closure_many` has groups of up to so many

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
    Cost and memory as `ops.closure_many` without levels: O(nvals) a level for up to 1,024 vertices together.
    Synchronises a few times for each group.

    Sources: Freeman, "Centrality in Social Networks: Conceptual Clarification", 1979; Wasserman, Faust, "Social Network
    Analysis", 1994.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> {v: round(c, 3) for v, c in sr.algorithms.closeness(A | A.T).to_dict().items()}
    {0: 0.667, 1: 1.0, 2: 0.667}
    """
    n = square("closeness", A)

    def measure(counts: Matrix, depth: Vector) -> Vector:
        others = counts.reduce_rowwise("plus").apply("minus", right=1.0)
        nearness = others.ewise_mult(counts.mxv(depth, "plus_times"), _ratio)
        if not wf_improved:
            return nearness
        return nearness.ewise_mult(others, "times").apply("truediv", right=float(max(n - 1, 1)))

    return _of_levels("closeness", A, vertices, measure, progress)


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

    def measure(counts: Matrix, depth: Vector) -> Vector:
        total = counts.mxv(Vector.full(1.0, depth.size, device=depth.device).ewise_mult(depth, _ratio), "plus_times")
        return total.apply("truediv", right=float(max(n - 1, 1))) if normalized else total

    return _of_levels("harmonic", A, vertices, measure, progress)


def _of_levels(
    name: str,
    A: Matrix,
    vertices: Any,
    measure: Callable[[Matrix, Vector], Vector],
    progress: Progress | None,
) -> Vector:
    """Return a measure of the levels of each vertex.

    measure : of counts (a row for each vertex, a column for each level) and the levels' numbers from 0
    """
    report = reporter(name, progress)
    if vertices is None:
        chosen = np.arange(A.nrows)
    elif is_many(vertices):
        chosen = np.array([row(name, v, A.nrows) for v in vertices], np.int64)
    else:
        raise InvalidValue(f"{name}: vertices must be a sequence of rows, got {vertices!r}")
    result = Vector(np.float64, A.nrows, device=A.device)
    for first in range(0, chosen.size, _SOURCES):
        group = chosen[first : first + _SOURCES]
        found = ops.closure_many(group, A.T, levels=False, counts=True)
        depth = ops.singletons(Vector(bool, found.steps, device=A.device)).dup(dtype=np.float64)
        result(accum="second")[group] << measure(found.counts, depth)
        report(first + group.size, chosen.size)
    return result
