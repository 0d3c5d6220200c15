"""Votes: each process decides for the rows of its segment, with a copy of the labels of all columns.

The scores of a row are added up in the order of its columns, as on one process, so where sums are rounded they are
rounded alike.  Memory O(n) on every process for labels, masses and totals, beside the entries of its rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...dtypes import BOOL, FP64
from ...engines import registry
from ...engines.requests.graphs import LocalMoving, Vote, key_of_pass
from ...engines.requests.operands import Index
from ...engines.rows.residency import resident
from ...engines.shared.expression_numpy import FUNCTIONS
from ...formats import CSR, Array, Full, array_module, dense_values, index_dtype, structure_only
from ...memory.arrays import to_device
from ...ops.extract import extract_matrix
from ..grid import Grid
from ..partition import local, slice_vector, vector
from ..routing import by_owner, exchanged, triples
from ..rows import global_rows, whole_rows
from ..rules import grid_rule
from ..scattering import allgather_store


@grid_rule(Vote)
def vote(q: Vote, grid: Grid) -> Any:
    """Count the votes of the rows of the segment."""
    n = q.a.nrows
    first, last = grid.segment(n)
    rows = None if q.rows is None else dense_values(local(q.rows))
    labels, mass, totals = (None if v is None else allgather_store(v) for v in (q.labels, q.mass, q.totals))
    assert labels is not None
    own = replace(q, a=global_rows(grid, q.a), labels=labels, mass=mass, totals=totals, rows=_own(rows, n, grid))
    return vector(grid, n, slice_vector(registry.run(own, grid.engine), first, last, grid.engine))


def _own(rows: Array | None, n: int, grid: Grid) -> Full:
    """Return which of all rows vote: some of those of the segment, or all of them."""
    first, last = grid.segment(n)
    voters = array_module(grid.local).zeros(n, np.bool_)
    voters[first:last] = True if rows is None else rows
    return Full(n, BOOL, voters)


@grid_rule(LocalMoving)
def local_moving(q: LocalMoving, grid: Grid) -> Any:
    """Vote part by part: labels that change are sent to all processes, and active columns to those who hold their rows.

    Every process has all labels; which rows are active it keeps for its segment.
    """
    xp, n, dtype = array_module(grid.local), q.a.nrows, q.labels.dtype
    first, last = grid.segment(n)
    rows, a = whole_rows(grid, q.a), resident(global_rows(grid, q.a))
    labels = dense_values(allgather_store(q.labels)).copy()
    mass = None if q.mass is None else allgather_store(q.mass)
    active = xp.ones(last - first, np.bool_)
    for number in range(q.passes):
        part = _parts(q, number, first, last, grid)
        waiting, moves = active.copy(), 0
        for p in range(q.parts):
            voters = waiting & (part == p)
            if not grid.all_reduce_sum(int(voters.sum())):
                continue
            active &= ~voters
            totals = None if mass is None else _totals(labels, dense_values(mass), grid)
            before = Full(n, dtype, labels)
            spec = Vote(a, before, mass, totals, q.rate, _own(voters, n, grid), q.keep)
            found = dense_values(registry.run(spec, grid.engine))[first:last]
            moved = xp.flatnonzero(found != labels[first:last])
            changes = grid.comm.allgather((moved + first, found[moved]))
            labels = labels.copy()
            for at, new in changes:
                labels[at] = new
                moves += int(at.size)
            active[_neighbors(rows, moved, labels, first, grid)] = True
        if moves <= q.few:
            break
    return vector(grid, n, Full(last - first, dtype, labels[first:last]))


def _parts(q: LocalMoving, number: int, first: int, last: int, grid: Grid) -> Array:
    """Return the part of each row of the segment in a pass, computed on the host as all engines compute it."""
    rows = np.arange(first, last)
    drawn = FUNCTIONS["random"](rows, np.zeros(rows.size, np.int64), key_of_pass(q.seed, number))
    return to_device(np.floor(q.parts * drawn).astype(np.int64), grid.local)


def _totals(labels: Array, mass: Array, grid: Grid) -> Full:
    """Return the mass of each group."""
    xp = array_module(grid.local)
    groups = xp.flatnonzero((labels >= 0) & (labels < labels.size))
    return Full(labels.size, FP64, xp.bincount(labels[groups], mass[groups], labels.size))


def _neighbors(rows: CSR, moved: Array, labels: Array, first: int, grid: Grid) -> Array:
    """Return the rows of the segment that are columns of rows that moved, in other groups.  Collective."""
    xp = array_module(grid.local)
    index = Index(rows.nrows, int(moved.size), array=moved.astype(index_dtype(rows.nrows), copy=False))
    chosen = extract_matrix(structure_only(rows.pattern), index, Index(rows.ncols, rows.ncols)).into()
    t = triples(chosen, 0, 0)
    others = xp.unique(t.cols[labels[t.cols] != labels[moved[t.rows] + first]])
    _, targets = by_owner(others, int(labels.size), grid)
    return exchanged(grid, targets)[0] - first
