"""Maximum flow and minimum cut: blocking preflows by levels.

A *preflow* may leave more in a vertex than it passes on: its excess e.  R(u, v) is the residual capacity of an edge:
what may still flow along it, and what may be sent back.  A phase, with d(v) the fewest residual edges from v to the
target:

    L      = the entries of R with d(u) = d(v) + 1
    level by level, from the largest d to 1:
        before(u, v) = the sum of L(u, x) over the entries x before v            (scan)
        push(u, v)   = min(L(u, v), max(0, e(u) - before(u, v)))
        e           += the column sums of push - its row sums
    R      = R - pushes + pushes^T

Afterwards every vertex that still has excess is farther from the target than before, so that there are at most n
phases.  The first phases bring as much as possible to the sink; the others bring the rest back to the source.

Sources: Dinic, "Algorithm for Solution of a Problem of Maximum Flow in Networks with Power Estimation", Soviet Math.
Dokl. 11, 1970; Karzanov, "Determining the Maximal Flow in a Network by the Method of Preflows", 1974; Goldberg, Tarjan,
"A New Approach to the Maximum-Flow Problem", JACM 35(4), 1988.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring import Matrix, Vector, ops, semiring, vstack
from semiring.exceptions import InvalidValue

from ..checks import row, square, weights
from ..entries import listed
from ..progress import Progress, reporter


@dataclass(frozen=True)
class Flow:
    """A maximum flow, and a minimum cut of the same value.

    Attributes
    ----------
    value : int or float
        What flows from the source to the sink.
    flow : Matrix, n x n, int64 or float64
        flow(u, v) > 0: what flows along edge (u, v); missing where nothing flows.
    source_side : Vector of size n, boolean
        True for the vertices on the side of the source in a minimum cut: the edges that leave them are full, and their
        capacities sum to the value.  Missing for the others.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], [3, 2, 1, 5], shape=(4, 4))
    >>> found = sr.algorithms.maximum_flow(A, 0, 3)
    >>> found.value, found.flow.to_dicts(), found.source_side.to_dict()
    (3, {0: {1: 1, 2: 2}, 1: {3: 1}, 2: {3: 2}}, {0: True, 1: True})
    """

    value: Any
    flow: Matrix
    source_side: Vector


@ops.reports_memory
def maximum_flow(A: Matrix, source: int, target: int, *, progress: Progress | None = None) -> Flow:
    """max over f of sum_v f(s, v) - f(v, s), where 0 <= f <= A, and as much enters each other vertex as leaves it.

    Parameters
    ----------
    A : Matrix, n x n
        The value of entry (u, v) is the capacity of the edge from u to v: finite and not negative; booleans count as 0
        and 1.  For an undirected edge store both directions.  Self-loops are ignored.
    source, target : int
        Two different vertices.
    progress : callable, optional
        ``progress(done, None)`` is called with the number of phases after each one; an exception in it ends the
        computation.

    Returns
    -------
    Flow : integers are exact.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    IndexOutOfBound
        If a vertex is not a row of A.
    InvalidValue
        If source and target are equal, or a capacity is negative, NaN or infinite.
    DomainMismatch
        For complex capacities.

    Notes
    -----
    Cost O(n + nvals) a phase, and operations of cost O(n) for each of its levels; at most 2 n phases, few where paths
    are short, and slow where they are long, as on roads.  The capacities of each row must sum to less than 2**63.
    Synchronises a few times for each level.

    Sources: Dinic, 1970; Karzanov, 1974; Goldberg, Tarjan, "A New Approach to the Maximum-Flow Problem", JACM 35(4),
    1988.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1, 2, 1], [1, 2, 3, 3, 2], [10, 5, 4, 9, 6], shape=(4, 4))
    >>> sr.algorithms.maximum_flow(A, 0, 3).value
    13
    """
    n = square("maximum_flow", A)
    s, t = row("maximum_flow", source, n), row("maximum_flow", target, n)
    if s == t:
        raise InvalidValue(f"maximum_flow: source and target are the same vertex, {s}")
    weights("maximum_flow", A, least=0)
    if A.dtype.kind == "f" and bool(A.apply("isinf").reduce_scalar("lor")):
        raise InvalidValue("maximum_flow: a capacity is infinite; use a number that exceeds the sum of the others")
    report = reporter("maximum_flow", progress)
    capacity = Matrix(np.float64 if A.dtype.kind == "f" else np.int64, n, n, device=A.device)
    capacity << A.select("offdiag")
    capacity = capacity.select(">", 0)
    leaving = capacity[s].dup()
    excess = Vector.full(0, n, capacity.dtype, device=A.device)
    excess(accum="plus") << leaving
    excess[s] = 0
    pushed = Matrix(capacity.dtype, n, n, device=A.device)
    pushed[s, :] << leaving
    residual = _after(capacity, pushed)
    phases = _Counter(report)
    residual, excess = _drain(residual, excess, t, {s, t}, phases)
    value = excess[t].value
    behind = ops.closure(Vector.from_coo([t], True, size=n, device=A.device), residual.T, semiring.any_pair)
    source_side = Vector.full(True, n, device=A.device).dup(mask=~behind.S)
    residual, _ = _drain(residual, excess, s, {s, t}, phases)
    flow = capacity.ewise_union(residual, "minus", 0, 0).select(">", 0)
    return Flow(value, flow, source_side)


class _Counter:
    """Counts phases for `progress`."""

    def __init__(self, report: Callable[[int, int | None], object]) -> None:
        self._report, self._count = report, 0

    def __call__(self) -> None:
        self._count += 1
        self._report(self._count, None)


def _drain(residual: Matrix, excess: Vector, target: int, ends: set[int], phase: _Counter) -> tuple[Matrix, Vector]:
    """Push the excess of all vertices but the ends to the target, as far as it can get; return what remains."""
    n = residual.nrows
    start = Vector.from_coo([target], 0, np.int32, size=n, device=residual.device)
    while True:
        distance = ops.closure(start, residual.T, semiring.min_plus, weight=np.int32(1))
        active = excess.select(">", 0).dup(mask=distance.S)
        for end in ends:
            del active[end]
        if active.nvals == 0:  # synchronises
            return residual, excess
        for end in ends - {target}:
            del distance[end]
        pushed, excess = _blocking_preflow(residual, excess, distance)
        residual = _after(residual, pushed)
        phase()


def _after(residual: Matrix, pushed: Matrix) -> Matrix:
    """R - P + P^T, without zeros."""
    return residual.ewise_union(pushed, "minus", 0, 0).ewise_add(pushed.T, "plus").select(">", 0)


def _blocking_preflow(residual: Matrix, excess: Vector, distance: Vector) -> tuple[Matrix, Vector]:
    """Push the excess down the levels; return what was pushed along each edge, and the excess after it."""
    n = residual.nrows
    _, far_first = listed(distance.sort(">")[1])
    ones = Vector.full(1, far_first.nvals, np.int64, device=residual.device)
    sizes = ones.reduce_by(listed(distance)[1], "plus", size=n).to_dict()  # synchronises
    level = Vector.full(-2, n, np.int64, device=residual.device)
    level(distance.S) << distance
    steps = level.ewise_mult(residual, "first").ewise_mult(level, "minus")
    admissible = residual.dup(mask=steps.apply("==", right=1).V)[far_first, :]
    pushes, top = [], 0
    excess = excess.dup()
    for size in reversed([size for d, size in sizes.items() if d > 0]):
        vertices = far_first[top : top + size].dup()
        pushes.append(_push(admissible[top : top + size, :].dup(), excess[vertices].dup()))
        excess(accum="plus") << pushes[-1].reduce_columnwise("plus")
        excess[vertices](accum="minus") << pushes[-1].reduce_rowwise("plus")
        top += size
    by_level = vstack(pushes)
    rows, cols, amounts = by_level.to_coo()
    rows = far_first[Vector.from_dense(rows, device=residual.device)].to_coo()[1]
    return Matrix.from_coo(rows, cols, amounts, shape=(n, n), device=residual.device), excess


def _push(capacity: Matrix, excess: Vector) -> Matrix:
    """min(L(u, v), e(u) - before(u, v)), where positive: each row passes on its excess in the order of its columns."""
    before = capacity.scan("plus").ewise_mult(capacity, "minus")
    room = excess.ewise_mult(before, "minus")
    return room.ewise_mult(capacity, "min").select(">", 0)
