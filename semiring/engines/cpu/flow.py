"""Maximum flows by blocking flows in levels, found from both ends; one thread.

A phase labels vertices with their distance from what is left of the supplies, and others with their distance to what is
left of the demands, level by level, on the side whose next level has fewer entries.  Where the sides meet, the distance
D of the two is known, and a depth-first search sends as much as paths of D entries can carry.  A path of such a search
follows the first labels as far as they are complete, and then the second ones.  D grows from phase to phase.

Capacities are never written: `flow` is the net flow of each entry, f(v, u) = -f(u, v).  So what is left of (u, v) is
a(u, v) - f(u, v), and seen from v, at the entry (v, u), it is at(v, u) + f(v, u), where at is the transpose of a.

Sources: Dinic, "Algorithm for Solution of a Problem of Maximum Flow in Networks with Power Estimation", Soviet Math.
Dokl. 11, 1970; Pohl, "Bi-directional Search", Machine Intelligence 6, 1971.
"""

from __future__ import annotations

import numpy as np

from ...dtypes import FP64
from ...formats import CSR, IndexList, VectorStore, index_dtype
from ...memory.allocation import require
from ..registry import RESIDENT, implements
from ..requests.graphs import MaximumFlow, MaximumFlowResult
from . import presence
from .atomics import FEW_STEPS, stopped
from .compile import inlined, kernel
from .operands import Array, matrix_of, values_of
from .rows import lower_bound
from .select import kept_rows
from .threads import run
from .types import position, value_at

# Labels of vertices without one, and of vertices from which nothing more can be sent in the phase.
_FREE, _DEAD = -1, -2
_BOOL = np.dtype(np.bool_)


@implements(MaximumFlow, engine="cpu", accepts=RESIDENT)
def flow(q: MaximumFlow) -> MaximumFlowResult:
    """Send along shortest paths until there are none."""
    a, n = q.a, q.a.nrows
    index = index_dtype(n)
    require("flow", "cpu", 8 * a.nvals + n * (32 + 6 * index.itemsize + 2 * index_dtype(a.nvals).itemsize))
    supply, demand = _dense(q.supply), _dense(q.demand)
    given, taking = np.flatnonzero(supply > 0), np.flatnonzero(demand > 0)
    left, wanted = supply.copy(), demand.copy()
    sent = np.zeros(a.nvals, np.float64)
    labels = np.full(n, _FREE, index), np.full(n, _FREE, index)
    queues = np.empty(n, index), np.empty(n, index)
    cursor, reverse = np.empty(n, index_dtype(a.nvals)), np.empty(n, np.int64)
    path, entries = np.empty(n + 1, index), np.empty(n, np.int64)
    side = np.zeros(n, np.bool_)
    network = (matrix_of(a), values_of(q.by_column), sent, left, wanted, given, taking)
    scratch = (cursor, path, entries, reverse, side)
    run(_send, 1, *network, np.float64(q.least), labels, queues, scratch, work=a.nvals + n)
    carried = kept_rows(CSR(a.pattern, FP64, sent), sent > 0)
    return MaximumFlowResult(
        carried,
        _stored(np.subtract(supply, left, out=supply)),
        _stored(np.subtract(demand, wanted, out=demand)),
        presence.from_slots(n, _BOOL, presence.from_flags(side), None, np.True_),
    )


def _dense(u: VectorStore) -> Array:
    """Return the values of a vector, 0 where it has no entry."""
    if isinstance(u, IndexList):
        made = np.zeros(u.size, np.float64)
        made[u.indices] = u.iso if u.values is None else u.values
        return made
    words, values = presence.slots(u)
    made = np.full(u.size, values)
    if words is not None:
        made[~presence.to_flags(words, u.size)] = 0.0
    return made


def _stored(values: Array) -> VectorStore:
    """Return the values above 0."""
    indices = np.flatnonzero(values > 0).astype(index_dtype(values.size))
    return IndexList(values.size, FP64, indices, values[indices])


@inlined
def _capacity(values, p):
    """Return the capacity of an entry: 0 for NaN too."""
    x = np.float64(value_at(values, p))
    return x if x > 0.0 else 0.0


@inlined
def _begin(vertices, amounts, least, indptr, labels, cursor, queue):
    """Label those of the vertices with an amount left by 0; return their number, and that of entries of their rows."""
    tail = width = 0
    for v in vertices:
        if amounts[v] > least:
            labels[v] = 0
            cursor[v] = indptr[v]
            queue[tail] = v
            tail += 1
            width += int(indptr[v + 1]) - int(indptr[v])
    return tail, width


@inlined
def _expand(indptr, indices, capacities, sign, flow, least, labels, others, cursor, queue, head, tail, level):
    """Label the next level; return the end of the queue, the width of the level, and whether it met the other side.

    sign: -1 from the supplies, +1 from the demands.  A level that met the other side is not completed.
    """
    last, width = tail, 0
    for s in range(head, last):
        v = position(queue, s)
        for p in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            w = position(indices, p)
            if labels[w] == _FREE and _capacity(capacities, p) + sign * flow[p] > least:
                if others[w] != _FREE:
                    return tail, width, True
                labels[w] = level
                cursor[w] = indptr[w]
                queue[tail] = w
                tail += 1
                width += int(indptr[w + 1]) - int(indptr[w])
    return tail, width, False


@inlined
def _advance(indptr, indices, capacities, flow, least, labels, label, cursor, v, target):
    """Return the first entry of row v, from its cursor on, that leads to this label; the end of the row for none.

    target: the only vertex with this label, if it is known, else -1.
    """
    p, last = int(cursor[v]), int(indptr[v + 1])
    if target >= 0:
        p = lower_bound(indices, p, last, target)
        if p < last and position(indices, p) != target:
            p = last
    while p < last:
        if labels[position(indices, p)] == label and _capacity(capacities, p) - flow[p] > least:
            break
        p = last if target >= 0 else p + 1
    cursor[v] = p
    return p


@inlined
def _augment(indptr, indices, capacities, flow, amount, path, entries, reverse, d):
    """Send an amount along a path of d entries; return the place of the first one that is full, or d."""
    first = d
    for s in range(d - 1, -1, -1):
        p = entries[s]
        if reverse[s] < 0:
            w = position(path, s + 1)
            reverse[s] = lower_bound(indices, np.int64(indptr[w]), np.int64(indptr[w + 1]), position(path, s))
        capacity = _capacity(capacities, p)
        if capacity - flow[p] <= amount:
            flow[p] = capacity
            first = s
        else:
            flow[p] += amount
        flow[reverse[s]] = -flow[p]
    return first


@kernel
def _send(t, threads, control, matrix, by_column, flow, supply, demand, given, taking, least, labels, queues, scratch):
    """flow: zeros.  supply, demand: replaced by what is left, at the vertices given and taking.

    labels, above and below: `_FREE`; then distances from vertices with a supply left, and to those with a demand.
    """
    (indptr, indices, capacities), (above, below), (starts, ends) = matrix, labels, queues
    cursor, path, entries, reverse, side = scratch
    n, steps = supply.size, 0
    for v in given:
        amount = min(supply[v], demand[v])
        if amount > 0.0:
            supply[v] -= amount
            demand[v] -= amount
    while True:
        start_tail, start_width = _begin(given, supply, least, indptr, above, cursor, starts)
        end_tail, end_width = _begin(taking, demand, least, indptr, below, cursor, ends)
        roots, target = start_tail, np.int64(ends[0]) if end_tail == 1 else np.int64(-1)
        start_head, end_head, a, b, met = 0, 0, 0, 0, False
        while not met and start_head < start_tail and end_head < end_tail:
            if stopped(control):
                return
            if start_width <= end_width:
                head, start_head = start_head, start_tail
                start_tail, start_width, met = _expand(
                    indptr,
                    indices,
                    capacities,
                    -1.0,
                    flow,
                    least,
                    above,
                    below,
                    cursor,
                    starts,
                    head,
                    start_tail,
                    a + 1,
                )
                a += 0 if met else 1
            else:
                head, end_head, level = end_head, end_tail, b + 1
                end_tail, end_width, met = _expand(
                    indptr, indices, by_column, 1.0, flow, least, below, above, cursor, ends, head, end_tail, level
                )
                b += 0 if met else 1
        if not met:
            within = start_head == start_tail
            for v in range(n):
                side[v] = above[v] != _FREE if within else below[v] == _FREE
            return
        d = a + b + 1
        for root in range(roots):
            path[0], depth = starts[root], 0
            source = position(starts, root)
            while depth >= 0 and supply[source] > least:
                steps += 1
                if steps & FEW_STEPS == 0 and stopped(control):
                    return
                v = position(path, depth)
                if depth == d:
                    amount = min(supply[source], demand[v])
                    for s in range(d):
                        amount = min(amount, _capacity(capacities, entries[s]) - flow[entries[s]])
                    depth = _augment(indptr, indices, capacities, flow, amount, path, entries, reverse, d)
                    supply[source] -= amount
                    demand[v] -= amount
                    if demand[v] <= least:
                        below[v] = _DEAD
                        depth = min(depth, d - 1)
                    continue
                if depth < a:
                    p = _advance(indptr, indices, capacities, flow, least, above, depth + 1, cursor, v, -1)
                else:
                    last = target if depth == d - 1 else np.int64(-1)
                    p = _advance(indptr, indices, capacities, flow, least, below, d - depth - 1, cursor, v, last)
                if p < np.int64(indptr[v + 1]):
                    entries[depth] = p
                    reverse[depth] = -1
                    depth += 1
                    path[depth] = position(indices, p)
                else:
                    if depth <= a:
                        above[v] = _DEAD
                    else:
                        below[v] = _DEAD
                    depth -= 1
        for s in range(start_tail):
            above[position(starts, s)] = _FREE
        for s in range(end_tail):
            below[position(ends, s)] = _FREE
