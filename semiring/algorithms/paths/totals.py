"""For each vertex, how many vertices reach it, and a sum over their distances: what means of distances rest on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring import Matrix, Vector, ops
from semiring.exceptions import InvalidValue

from ..checks import each_row, is_many
from ..checks import weights as check_weights
from ..progress import Progress, reporter
from ..scaling import bounded
from .sssp import sssp

_SOURCES = 1024  # searched together; `ops.closure_many` has groups of up to so many
# With weights, so many distances are in memory at once, or those from so many vertices.
_DISTANCES, _LEAST = 1 << 22, 16


def totals(
    name: str,
    A: Matrix,
    vertices: Any,
    weigh: Callable[[Any], Any],
    progress: Progress | None,
    *,
    weighted: bool = False,
) -> tuple[Vector, Vector, float]:
    """Return, for each of the vertices, how many vertices reach it, and the sum of the weights of their distances.

    With it the power of 4 by which the distances are multiplied, so that finite ones can be summed; 1 for ordinary
    ones.

    vertices : a sequence of rows, or None for all
    weigh : returns the weights of distances, a Vector or Matrix of float64
    weighted : whether the length of an edge is its value, which must not be negative, or 1
    """
    n, report = A.nrows, reporter(name, progress)
    if vertices is None:
        chosen = np.arange(n)
    elif is_many(vertices):
        chosen = np.array(each_row(name, vertices, n), np.int64)
    else:
        raise InvalidValue(f"{name}: vertices must be a sequence of rows, got {vertices!r}")
    unit = 1.0
    if weighted:
        check_weights(name, A, least=0)
        A, unit = bounded(A, max(n, 1) ** 3, dtype=A.dtype if A.dtype.kind == "f" else np.dtype(np.float64))
    into = A if A.is_symmetric_structure and not weighted else A.T
    reached, total = (Vector(np.float64, n, device=A.device) for _ in range(2))
    size = min(_SOURCES, max(_DISTANCES // max(n, 1), _LEAST)) if weighted else _SOURCES
    for first in range(0, chosen.size, size):
        group = chosen[first : first + size]
        if weighted:
            distance = sssp(into, group).dup(dtype=np.float64)
            reached(accum="second")[group] << distance.reduce_rowwise("count")
            total(accum="second")[group] << weigh(distance).reduce_rowwise("plus")
        else:
            found = ops.closure_many(group, into, levels=False, counts=True)
            depth = ops.singletons(Vector(bool, found.steps, device=A.device)).dup(dtype=np.float64)
            reached(accum="second")[group] << found.counts.reduce_rowwise("plus")
            total(accum="second")[group] << found.counts.mxv(weigh(depth), "plus_times")
        report(first + group.size, chosen.size)
    if not chosen.size:
        report(0, 0)
    return reached, total, unit
