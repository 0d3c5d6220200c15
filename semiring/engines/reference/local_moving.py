"""Votes by random parts of the rows, until no row moves."""

from __future__ import annotations

import numpy as np

from ...dtypes import BOOL, FP64
from ...formats import Full
from ..registry import implements
from ..requests.graphs import LocalMoving, Vote, key_of_pass
from ..shared.expression_numpy import FUNCTIONS
from .dense import densify
from .vote import vote


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
