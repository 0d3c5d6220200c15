"""The group with the most weight among the entries of each row.

The groups of a short row are searched in a list; those of a longer one are added up in a dense array of the thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import Full
from ...memory.allocation import require
from ..registry import RESIDENT, implements
from ..requests.graphs import Vote
from .atomics import CHUNKS_PER_THREAD, next_chunk, stopped
from .compile import inlined, kernel
from .operands import kernel_array, matrix_of
from .rows import share
from .threads import run, threads_for
from .types import value_at

# Entries of a row up to which its groups are compared one by one (reasoned: the list of groups is in the first cache).
SHORT = 16


@implements(Vote, engine="cpu", accepts=RESIDENT)
def vote(q: Vote) -> Full:
    """t(i) = the group of the highest sum of a(i, j), less rate mass(i) total(G)."""
    a, n = q.a, q.a.nrows
    work = a.nvals + n
    threads = threads_for(work)
    require("vote", "cpu", threads * n * 16 + n * q.labels.dtype.itemsize)
    labels = full_array(q.labels)
    made = labels.copy()
    scored = q.mass is not None and q.totals is not None
    masses = (full_array(q.mass), full_array(q.totals)) if q.mass is not None and q.totals is not None else (NONE, NONE)
    votes = _EVERY if q.rows is None else full_array(q.rows)
    marks, sums = np.zeros((threads, n), np.int64), np.empty((threads, n))
    lists = np.empty((threads, n), labels.dtype)
    scoring, scratch = (*masses, scored, q.rate, q.keep), (marks, sums, lists)
    run(_vote, threads, *matrix_of(a), labels, votes, scoring, scratch, made, work=work)
    return Full(n, q.labels.dtype, made)


NONE = np.zeros(1)
_EVERY = np.zeros(0, np.bool_)


def full_array(v: Full) -> Any:
    """Return the values of a full vector as a kernel argument."""
    return np.full(v.size, v.iso) if v.values is None else kernel_array(v.values)


@kernel
def _vote(t, threads, control, indptr, indices, values, labels, votes, scoring, scratch, made):
    (mass, totals, scored, rate, keep), (marks, sums, lists) = scoring, scratch
    mark, total, listed, few, partial = marks[t], sums[t], lists[t], np.empty(SHORT, np.int64), np.empty(SHORT)
    chunks = threads * CHUNKS_PER_THREAD
    while True:
        chunk = next_chunk(control)
        if chunk >= chunks:
            return
        for i in range(share(indptr, chunk, chunks), share(indptr, chunk + 1, chunks)):
            if stopped(control):
                return
            if votes.size == 0 or votes[i]:
                made[i] = group_of(
                    i, indptr, indices, values, labels, mass, totals, scored, rate, keep,
                    i + 1, mark, total, listed, few, partial,
                )  # fmt: skip


@inlined
def group_of(
    i, indptr, indices, values, labels, mass, totals, scored, rate, keep, stamp, mark, total, listed, few, partial
):
    """Return the group that row i elects, or its own.

    stamp: above every entry of `mark`, which becomes its number.  mark, total, listed: of one slot a row.  few,
    partial: of `SHORT` slots.
    """
    begin, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
    own = np.int64(labels[i])
    weight = mass[i] if scored else 0.0
    best, group, own_sum, found = -np.inf, np.int64(-1), 0.0, 0
    if end - begin <= SHORT:
        for p in range(begin, end):
            g, x = np.int64(labels[indices[p]]), np.float64(value_at(values, p))
            if g < 0 or g >= mark.size:
                continue
            s = 0
            while s < found and few[s] != g:
                s += 1
            if s == found:
                few[s], partial[s] = g, x
                found += 1
            else:
                partial[s] += x
        for s in range(found):
            g = few[s]
            if keep and g == own:
                own_sum = partial[s]
                continue
            score = _score(partial[s], g, own, weight, totals, scored, rate)
            if score > best or (score == best and (g < group or group < 0)):
                best, group = score, g
    else:
        for p in range(begin, end):
            g, x = np.int64(labels[indices[p]]), np.float64(value_at(values, p))
            if g < 0 or g >= mark.size:
                continue
            if mark[g] == stamp:
                total[g] += x
            else:
                mark[g] = stamp
                total[g] = x
                listed[found] = g
                found += 1
        for s in range(found):
            g = np.int64(listed[s])
            if keep and g == own:
                own_sum = total[g]
                continue
            score = _score(total[g], g, own, weight, totals, scored, rate)
            if score > best or (score == best and (g < group or group < 0)):
                best, group = score, g
    if group < 0:
        return own
    if keep and 0 <= own < mark.size and _score(own_sum, own, own, weight, totals, scored, rate) >= best:
        return own
    return group


@inlined
def _score(sum, group, own, weight, totals, scored, rate):
    """Return the score of a group; operations are rounded one by one."""
    if not scored:
        return sum
    other = totals[group]
    if group == own:
        other -= weight
    return sum - rate * weight * other
