"""Votes by definition: one, and passes of votes by parts of the rows."""

from __future__ import annotations

import numpy as np

from ...dtypes import BOOL, FP64
from ...formats import Full
from ..registry import implements
from ..requests.graphs import LocalMoving, Vote, key_of_pass
from ..shared.expression_numpy import FUNCTIONS
from .dense import densify


@implements(Vote, engine="reference")
def vote(q: Vote) -> Full:
    """t(i) = argmax over G of sum of a(i, j) for label(j) = G, less rate mass(i) total(G)."""
    a, present = densify(q.a)
    labels = densify(q.labels)[0]
    mass, totals = (None if store is None else densify(store)[0] for store in (q.mass, q.totals))
    votes = None if q.rows is None else densify(q.rows)[0]
    made = labels.copy()
    for i in range(q.a.nrows):
        if votes is not None and not votes[i]:
            continue
        own = int(labels[i])
        sums: dict[int, float] = {own: 0.0} if q.keep and 0 <= own < labels.size else {}
        for j in present[i].nonzero()[0]:
            group = int(labels[j])
            if 0 <= group < labels.size:
                sums[group] = sums.get(group, 0.0) + float(a[i, j])
        if mass is not None and totals is not None:
            for group in sums:
                other = float(totals[group]) - (float(mass[i]) if group == own else 0.0)
                sums[group] -= q.rate * float(mass[i]) * other
        # NaN equals nothing, itself neither.
        scores = {group: score for group, score in sums.items() if score == score}
        if not scores:
            continue
        best = max(scores.values())
        if not (q.keep and scores.get(own, -float("inf")) == best):
            made[i] = min(group for group, score in scores.items() if score == best)
    return Full(q.labels.size, q.labels.dtype, made)


@implements(LocalMoving, engine="reference")
def local_moving(q: LocalMoving) -> Full:
    """t = the labels after votes of active rows, part by part; neighbors of rows that moved are active."""
    n, present = q.a.nrows, densify(q.a)[1]
    labels = densify(q.labels)[0]
    mass = None if q.mass is None else densify(q.mass)[0]
    active = np.ones(n, np.bool_)
    for number in range(q.passes):
        part = np.floor(q.parts * FUNCTIONS["random"](np.arange(n), np.zeros(n, int), key_of_pass(q.seed, number)))
        voters, moves = active.copy(), 0
        for p in range(q.parts):
            rows = voters & (part == p)
            if not rows.any():
                continue
            active &= ~rows
            groups = np.flatnonzero((labels >= 0) & (labels < n))
            totals = None if mass is None else Full(n, FP64, np.bincount(labels[groups], mass[groups], n))
            before = Full(n, q.labels.dtype, labels)
            found = vote(Vote(q.a, before, q.mass, totals, q.rate, Full(n, BOOL, rows), q.keep)).values
            assert found is not None
            moved = np.flatnonzero(found != labels)
            labels, moves = found, moves + moved.size
            active |= (present[moved] & (labels[None, :] != labels[moved][:, None])).any(0)
        if moves <= q.few:
            break
    return Full(n, q.labels.dtype, labels)
