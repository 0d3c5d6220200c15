"""Maximum flow and minimum cut: along shortest paths one by one, and along all of a tree at once.

The first is one operation on a CPU (`semiring.ops.flow`), with a supply at the source and a demand at the target.

The second consists of operations whose work is parallel.  R(u, v) is the residual capacity of an edge: what may still
flow along it, and what may be sent back.  A phase sends as much as can flow in one tree of shortest paths from the
source, to the edges of the target that its vertices have:

    parent     = the closure of the source's edges under R                            (any_secondi)
    absorb(v)  = R(v, t) + sum over the children c of min(R(v, c), absorb(c))         (plus_min, leaves first)
    before(c)  = R(v, t) + sum of min(R(v, x), absorb(x)) over the children x before c  (scan)
    f(c)       = min(R(v, c), absorb(c), max(0, f(v) - before(c)))                    (from the root)
    R          = R - f along the edges, + f against them

The two sums over the tree are acyclic closures.  The edges of a tree lead from one level to the next, so that no
distance from the source ever decreases, as in the algorithm of Edmonds and Karp, of which a phase does many steps.

Sources: Edmonds, Karp, "Theoretical Improvements in Algorithmic Efficiency for Network Flow Problems", JACM 19(2),
1972; Dinic, "Algorithm for Solution of a Problem of Maximum Flow in Networks with Power Estimation", Soviet Math. Dokl.
11, 1970.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring import Matrix, Vector, binary, monoid, ops, select, semiring
from semiring.exceptions import InvalidValue

from ..checks import Vertex, choice, row, square, weights
from ..index_vectors import listed, positions
from ..progress import Progress, reporter
from ..scaling import bounded
from ..vertex_labels import algorithm

# Integers up to it and one more are exact in float64; and the share of a bound below which the difference of floats
# counts as zero.
_EXACT, _SMALL = (1 << 53) - 1, 2.0**-48
_TOO_MUCH = "maximum_flow: integer capacities at the source and the target sum to 2**53 - 1 or more"
# Edges that carry something, without self-loops and those into one vertex.
_edge_not_into = select.register_anonymous("land(x > 0, land(i != j, j != k))", "edge_not_into")
# The entry (u, v) if u is the parent of v.
_of_parent = binary.register_anonymous("select(xi == y, x, 0)", "entry_of_parent")
# min(limit, max(0, f - before)): the limit of an entry is the imaginary part of its value, `before` the real part.
_share = semiring.register_anonymous(
    monoid.plus, binary.register_anonymous("min(imag(y), max(0.0, real(x) - real(y)))", "share"), "plus_share"
)


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


@algorithm(flow="vv", source_side="v")
def maximum_flow(
    A: Matrix, source: Vertex, target: Vertex, *, method: str = "auto", progress: Progress | None = None
) -> Flow:
    """max over f of sum_v f(s, v) - f(v, s), where 0 <= f <= A, and as much enters each other vertex as leaves it.

    Parameters
    ----------
    A : Matrix, n x n
        The value of entry (u, v) is the capacity of the edge from u to v: finite and not negative; booleans count as 0
        and 1.  For an undirected edge store both directions.  Self-loops are ignored.
    source, target : int, or a name in ``A.labels``
        Two different vertices.
    method : ``"auto"``, ``"paths"`` or ``"trees"``
        Whether flow is sent along one path after the other, or along a tree of paths in each phase; by default along
        paths on a CPU, and along trees on a GPU and on a grid of processes.
    progress : callable, optional
        ``progress(done, None)`` is called with the number of phases after each one, and along paths once at the end; an
        exception in it ends the computation.

    Returns
    -------
    Flow : integers are exact.  Which of several flows and cuts is returned depends on A alone along paths, and is
        unspecified along trees.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    IndexOutOfBound
        If a vertex is not a row of A.
    InvalidValue
        If source and target are equal; a capacity is negative, NaN or infinite; or integers that leave the source, and
        those that enter the target, sum to 2**53 - 1 or more; for another method.
    DomainMismatch
        For complex capacities.
    NotSupported
        For paths on a GPU or a grid of processes.

    Notes
    -----
    Along paths, cost and memory of `ops.flow`: O(n + nvals) a phase, at most n phases, one thread.  Along trees
    O(n + nvals) a phase: passes over the entries, a search and two acyclic closures; at most n nvals phases.  Phases
    are few in practice.  Computes in float64: integers are exact, since their sum is limited; of floats, residual
    capacities below 2**-47 of the capacity of source and target count as 0.  Synchronizes a few times a phase.

    Sources: Edmonds, Karp, "Theoretical Improvements in Algorithmic Efficiency for Network Flow Problems", JACM 19(2),
    1972; Dinic, 1970.

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
    chosen = choice("maximum_flow", "method", method, ("auto", "paths", "trees"))
    A, unit = bounded(A, 4 * A.nvals)
    if chosen == "paths" or (chosen == "auto" and A.device == "cpu"):
        found = _along_paths(A, s, t)
        report(1, None)
    else:
        found = _along_trees(A, s, t, report)
    if unit == 1:
        return found
    return Flow(found.value / unit, found.flow.apply("times", right=1 / unit).dup(), found.source_side)


def _along_paths(A: Matrix, s: int, t: int) -> Flow:
    """Return the flow from a supply at the source to a demand at the target, each more than can flow."""
    n, whole = A.nrows, A.dtype.kind != "f"
    bound = _sum(A[s, :], s)
    if not whole or bound >= _EXACT:
        bound = min(bound, _sum(A[:, t], t))
    if whole and bound >= _EXACT:
        raise InvalidValue(_TOO_MUCH)
    most: Any = int(bound) + 1 if whole else min(2 * bound or 1.0, sys.float_info.max)
    supply, demand = (Vector.from_coo([v], [most], size=n, device=A.device) for v in (s, t))
    found = ops.flow(supply, A, demand)
    return Flow(found.sent.get(s, 0 if whole else 0.0), found.flow, found.side)


def _sum(line: Vector, itself: int) -> float:
    """Return the sum of capacities, without that of a self-loop."""
    return float(line.dup(dtype=np.float64).reduce("plus").get(0.0)) - float(line.get(itself, 0))


def _along_trees(A: Matrix, s: int, t: int, report: Progress) -> Flow:
    """Return the flow by trees of shortest paths."""
    n, whole = A.nrows, A.dtype.kind != "f"
    # A search begins beside the source and ends beside the target: no path of it leads into either.
    residual = Matrix(np.float64, n, n, device=A.device)
    residual << A.select(_edge_not_into, s).select(_edge_not_into, t)
    sources, sinks = (line.select(">", 0).dup(dtype=np.float64) for line in (A[s, :], A[:, t]))
    direct = sources.get(t, 0.0)
    for line in (sources, sinks):
        del line[[s, t]]
    bound = min(sources.reduce("plus").get(0.0), sinks.reduce("plus").get(0.0))
    if whole and bound + direct >= _EXACT:
        raise InvalidValue(_TOO_MUCH)
    left = _Residual(residual.dup(), sources, sinks, 0.0 if whole else bound * _SMALL)
    phases = 0
    reached = Vector(np.int64, n, device=A.device)
    while left.sources.nvals and left.sinks.nvals:  # synchronizes
        reached = _search(left, s)
        if reached.ewise_mult(left.sinks, "pair").nvals == 0:
            break
        _send_through_tree(left, reached, s)
        report(phases := phases + 1, None)
    if phases == 0:
        report(0, None)
    # Either all that leaves the source is used, or all that enters the target, or no path leads from one to the other.
    source_side = Vector(bool, n, device=A.device)
    if left.sources.nvals:
        cut = reached if left.sinks.nvals else Vector.full(True, n, device=A.device)
        source_side(cut.S) << True
    source_side[s] = True
    del source_side[t]
    flow = residual.ewise_union(left.inner, "minus", 0, 0).select(">", 0)
    sent, received = (_used(before, after) for before, after in ((sources, left.sources), (sinks, left.sinks)))
    if direct:
        sent[t] = direct
    flow[s, :] << sent
    flow(accum="plus")[:, t] << received
    value = direct + received.reduce("plus").get(0.0)
    if not whole:
        return Flow(value, flow, source_side)
    integers = Matrix(np.int64, n, n, device=A.device)
    integers << flow
    return Flow(int(value), integers, source_side)


@dataclass
class _Residual:
    """What may still flow: between other vertices, from the source, to the target; no zeros.

    least: what is not more counts as zero.
    """

    inner: Matrix
    sources: Vector
    sinks: Vector
    least: float


def _used(before: Vector, after: Vector) -> Vector:
    return before.ewise_union(after, "minus", 0, 0).select(">", 0).dup()


def _search(left: _Residual, s: int) -> Vector:
    """Return the parent of each vertex in a tree of shortest paths from s."""
    begin = left.sources.apply("second", right=np.int64(s))
    return ops.closure(begin, left.inner, semiring.any_secondi, direction="push")


def _send_through_tree(left: _Residual, parent: Vector, s: int) -> None:
    """Send as much as the tree can carry, and subtract it from what is left.

    All sums are over the vertices on paths to the target alone.
    """
    n, device = parent.size, parent.device
    vertices, above = _on_paths(left.sinks, parent)
    k, root = vertices.size, Vector.from_coo([s], True, size=n, device=device)[vertices]
    sources, sinks = left.sources[vertices], left.sinks[vertices]
    capacity = left.inner[vertices, vertices].ewise_mult(above, _of_parent).reduce_columnwise("plus")
    capacity = capacity.select(">", 0).dup()
    capacity(sources.S) << sources
    to_target = Vector.full(0.0, k, device=device)
    to_target(sinks.S) << sinks
    children, limits = listed(capacity)
    absorb = ops.acyclic_closure(to_target, _matrix(children, above[children], limits, k), semiring.plus_min)
    places, most = listed(absorb[children].ewise_mult(limits, "min").select(">", 0))
    children = children[places].dup()
    downwards = _matrix(above[children], children, most, k)
    before = to_target.ewise_mult(downwards.scan("plus").ewise_mult(downwards, "minus"), "plus")
    shares = before.apply("cmplx", right=0.0).ewise_mult(downwards.apply("cmplx", left=0.0), "plus")
    f = ops.acyclic_closure(root.apply("second", right=np.inf), shares, _share).select(">", 0).dup(mask=~root.S)
    begun = f.ewise_mult(sources, "first").dup()
    left.sinks = _less(left.sinks, vertices, f.ewise_mult(sinks, "min"), left.least)
    left.sources = _less(left.sources, vertices, begun, left.least)
    places, amounts = listed(f.dup(mask=~begun.S))
    pushed = _matrix(vertices[above[places]], vertices[places], amounts, n)
    left.inner(accum="plus") << pushed.T.ewise_union(pushed, "minus", 0, 0)  # plus: reverse edges may be new
    left.inner = left.inner.select(">", left.least).dup()


def _on_paths(sinks: Vector, parent: Vector) -> tuple[Vector, Vector]:
    """Return the vertices on the paths of the tree to these, in ascending order, and the place of the parent of each.

    The root, which has no parent, is the parent of itself.
    """
    n, device = parent.size, parent.device
    numbers = Vector.full(0, n, np.int64, device=device).apply("rowindex").dup()
    above = numbers.ewise_add(parent, "second").dup()
    marked = Vector.full(False, n, device=device)
    marked(parent.ewise_mult(sinks, "pair").S) << True
    vertices = positions(ops.treefix(above, marked, "lor", towards="roots").select("==", True))
    numbers[vertices] = Vector.full(0, vertices.size, np.int64, device=device).apply("rowindex")
    return vertices, numbers[above[vertices]].dup()


def _less(amounts: Vector, vertices: Vector, used: Vector, least: float) -> Vector:
    """Return the amounts less what is used of them, without those up to `least`.  used: over these vertices."""
    places, values = listed(used)
    spent = Vector(np.float64, amounts.size, device=amounts.device)
    spent[vertices[places]] = values
    return amounts.ewise_union(spent, "minus", 0, 0).select(">", least).dup()


def _matrix(rows: Vector, cols: Vector, values: Vector, n: int) -> Matrix:
    """Return the n x n matrix with these entries, from full vectors."""
    i, j, x = (v.to_coo()[1] for v in (rows, cols, values))
    return Matrix.from_coo(i, j, x, np.float64, shape=(n, n), device=values.device)
