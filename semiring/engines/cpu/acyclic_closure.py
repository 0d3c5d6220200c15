"""The closure of a vector under an acyclic matrix: rows in the order in which their last predecessor is finished.

One thread: a row is read once, and the next one depends on it.
"""

from __future__ import annotations

import numpy as np

from ...formats import index_dtype
from ..registry import implements
from ..requests.graphs import AcyclicClosure, AcyclicResult
from . import presence, types
from .atomics import FEW_STEPS, stopped
from .compile import kernel
from .mxv import product_plan
from .operands import rows_of, values_of
from .threads import run
from .types import call_at, combine, converted, position, present, product, put, value_at


@implements(AcyclicClosure, engine="cpu")
def acyclic_closure(q: AcyclicClosure) -> AcyclicResult:
    """Push every row when the last of its predecessors is finished; O(n + nvals), in an order that never changes."""
    a, n, z = q.a, q.a.nrows, q.semiring.z
    plan = product_plan(q.semiring, True)
    words, given = presence.slots(q.x)
    words = presence.all_bits(n) if words is None else words.copy()
    values = presence.empty_slots("acyclic_closure", n, z)
    values[:] = given
    indptr, indices = rows_of(a)
    waiting = np.zeros(n, index_dtype(n))
    queue = np.empty(n, index_dtype(n))
    state = np.zeros(2, np.int64)
    then = None if q.then is None else types.indexunary(q.then)
    operators = (plan.add, plan.mult, then)
    vectors = (values, words, waiting, queue, state)
    run(_follow, 1, indptr, indices, values_of(a, plan.matrix_read), *operators, *vectors, work=a.nvals + n)
    return AcyclicResult(presence.from_slots(n, z, words, values, None), int(state[0]))


@kernel
def _follow(t, threads, control, indptr, indices, avals, add, mult, then, values, words, waiting, queue, state):
    """state[0]: the number of finished rows.  waiting: zeros; queue: room for all rows."""
    n, tail, head = waiting.size, 0, 0
    for p in range(np.int64(indptr[n])):
        waiting[position(indices, p)] += 1
    for v in range(n):
        if waiting[v] == 0:
            queue[tail] = v
            tail += 1
    while head < tail:
        if head & FEW_STEPS == 0 and stopped(control):
            return
        k = position(queue, head)
        head += 1
        held = present(words, k)
        if held and then is not None:
            put(values, k, converted(values, call_at(then, value_at(values, k), np.int64(0), np.int64(0), None)))
        x = value_at(values, k)
        for p in range(np.int64(indptr[np.uintp(k)]), np.int64(indptr[np.uintp(k + 1)])):
            o = position(indices, p)
            if held:
                term = converted(values, product(mult, True, value_at(avals, p), x, o, k, 0))
                w, bit = np.uintp(o) >> np.uintp(5), np.uint32(1) << np.uint32(o & 31)
                if words[w] & bit:
                    put(values, o, converted(values, combine(add, value_at(values, o), term)))
                else:
                    words[w] |= bit
                    put(values, o, term)
            left = waiting[np.uintp(o)] - 1
            waiting[np.uintp(o)] = left
            if left == 0:
                queue[np.uintp(tail)] = o
                tail += 1
    state[0] = head
