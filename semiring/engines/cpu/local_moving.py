"""Votes by random parts of the rows, until no row moves.

The first thread lists the active rows of each part; all threads compute the votes of a part, then the first one moves
rows and totals, and all mark the neighbors of rows that moved.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, Full
from ...memory.allocation import require
from ..registry import RESIDENT, implements
from ..requests.graphs import LocalMoving, key_of_pass
from .atomics import next_chunk, stopped
from .compile import device, kernel
from .jobs import close_job, dismiss, join_job, leave_job, open_job
from .operands import kernel_array, rows_of
from .random_numbers import random
from .threads import assisted, threads_for
from .vote import NONE, SHORT, full_array, group_of

# The kinds of job, and the slots of the state of a call: the kind of the open job, the range of its rows, and the stamp
# of row 0 in the pass.
_VOTE, _MARK = range(2)
_KIND, _BEGIN, _END, _STAMP = range(4)
# Rows claimed at a time: a row of average length costs a tenth of a microsecond.
_CHUNK = 64
# Rows of a part from which helpers are worth their synchronization.
_MANY = 512


@implements(LocalMoving, engine="cpu", accepts=RESIDENT)
def local_moving(q: LocalMoving) -> Full:
    """t = the labels after votes of active rows, part by part; neighbors of rows that moved are active."""
    a, n = q.a, q.a.nrows
    threads = threads_for(a.nvals + n)
    require(
        "local_moving", "cpu", threads * n * 24 + a.nvals * 8 + n * (2 * q.labels.dtype.itemsize + 26) + 32 * q.parts
    )
    labels = full_array(q.labels).copy()
    masses: tuple[Any, Any] = (NONE, NONE)
    if q.mass is not None:
        mass, groups = full_array(q.mass), (labels >= 0) & (labels < n)
        masses = mass, np.bincount(labels[groups], mass[groups], n)
    keys = np.array([key_of_pass(q.seed, number) for number in range(q.passes)], np.int64)
    rows = np.empty(n, np.int64), np.empty(n, np.int64), np.ones(n, np.bool_), np.zeros(q.parts + 1, np.int64)
    scratch = (
        np.zeros((threads, n), np.int64), np.empty((threads, n)), np.empty((threads, n), np.int64),
        np.empty((threads, SHORT), np.int64), np.empty((threads, SHORT)),
    )  # fmt: skip
    scoring = (*masses, q.mass is not None, q.rate, q.keep)
    matrix, state = (*rows_of(a), _values(a)), np.zeros(4, np.int64)
    assisted(_move, threads, matrix, labels, scoring, q.few, keys, *rows, state, scratch, work=4 * (a.nvals + n))
    return Full(n, q.labels.dtype, labels)


def _values(a: CSR) -> Any:
    """Return the values, or their one value, in float64: a kernel for each type would compile for seconds."""
    return np.float64(a.iso) if a.values is None else kernel_array(a.values.astype(np.float64, copy=False))


@kernel
def _move(t, threads, control, matrix, labels, scoring, few, keys, listed, wanted, active, ends, state, scratch):
    mass, totals, scored, _, _ = scoring
    if t > 0:
        job = 0
        while True:
            job = join_job(control, job)
            if job == 0:
                return
            _work(t, control, matrix, labels, scoring, listed, wanted, active, state, scratch)
            leave_job(control)
    n, parts = labels.size, ends.size - 1
    for number in range(keys.size):
        state[_STAMP] = number * n + 1
        _list_by_part(keys[number], wanted, active, ends, listed)
        moves = 0
        for p in range(parts):
            begin, end = ends[p], ends[p + 1]
            if begin == end:
                continue
            _carry_out(
                _VOTE, begin, end, threads, control, matrix, labels, scoring, listed, wanted, active, state, scratch
            )
            if stopped(control):
                dismiss(control)
                return
            movers = begin
            for s in range(begin, end):
                i = listed[s]
                old, new = np.int64(labels[i]), wanted[i]
                if old == new:
                    continue
                if scored:
                    if 0 <= old < n:
                        totals[old] -= mass[i]
                    totals[new] += mass[i]
                labels[i] = new
                listed[movers] = i
                movers += 1
            moves += movers - begin
            _carry_out(
                _MARK, begin, movers, threads, control, matrix, labels, scoring, listed, wanted, active, state, scratch
            )
        if moves <= few:
            break
    dismiss(control)


@device
def _list_by_part(key, part, active, ends, listed):
    """List the active rows of part p in ascending order at positions ends[p] to ends[p + 1]."""
    parts = ends.size - 1
    ends[:] = 0
    for i in range(active.size):
        if active[i]:
            part[i] = np.int64(parts * random(i, 0, key))
            ends[part[i] + 1] += 1
    for p in range(1, parts + 1):
        ends[p] += ends[p - 1]
    for i in range(active.size):
        if active[i]:
            listed[ends[part[i]]] = i
            ends[part[i]] += 1
    for p in range(parts, 0, -1):
        ends[p] = ends[p - 1]
    ends[0] = 0


@device
def _carry_out(kind, begin, end, threads, control, matrix, labels, scoring, listed, wanted, active, state, scratch):
    """Compute a job on the listed rows of a range, with helpers if they are many."""
    state[_KIND], state[_BEGIN], state[_END] = kind, begin, end
    if threads > 1 and end - begin >= _MANY:
        open_job(control)
        _work(0, control, matrix, labels, scoring, listed, wanted, active, state, scratch)
        close_job(control)
    else:
        _range(0, kind, begin, end, state[_STAMP], matrix, labels, scoring, listed, wanted, active, scratch)


@device
def _work(t, control, matrix, labels, scoring, listed, wanted, active, state, scratch):
    """Compute chunks of the open job."""
    kind, begin, end, stamp = state[_KIND], state[_BEGIN], state[_END], state[_STAMP]
    while True:
        first = begin + next_chunk(control) * _CHUNK
        if first >= end:
            return
        _range(
            t, kind, first, min(first + _CHUNK, end), stamp, matrix, labels, scoring, listed, wanted, active, scratch
        )


@device
def _range(t, kind, begin, end, stamp, matrix, labels, scoring, listed, wanted, active, scratch):
    indptr, indices, values = matrix
    mass, totals, scored, rate, keep = scoring
    marks, sums, lists, groups, partials = scratch
    if kind == _VOTE:
        mark, total, found, few, partial = marks[t], sums[t], lists[t], groups[t], partials[t]
        for s in range(begin, end):
            i = listed[s]
            active[i] = False
            wanted[i] = group_of(
                i, indptr, indices, values, labels, mass, totals, scored, rate, keep,
                stamp + i, mark, total, found, few, partial,
            )  # fmt: skip
    else:
        for s in range(begin, end):
            i = listed[s]
            for p in range(np.int64(indptr[i]), np.int64(indptr[i + 1])):
                j = indices[p]
                if labels[j] != labels[i]:
                    active[j] = True
