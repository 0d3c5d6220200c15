"""Votes by random parts of the rows, until no row moves: a sequence of launches a part, one read-back a pass."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP64, INT32, INT64
from ...formats import Full, index_dtype, uncompressed_pattern
from ...memory.arrays import copied
from ..registry import RESIDENT, implements
from ..requests.graphs import LocalMoving, key_of_pass
from . import tuning
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, counter, grid
from .primitives import filled
from .specialize import constants, typedefs
from .vote import full_array, launcher, rows_by_length

_FILE = "local_moving.cuh"
# Blocks that mark the neighbors of one row of more than VOTE_LARGE entries.
_SLICES = 32


class _Plan(NamedTuple):
    totals: Kernel
    choose: Kernel
    commit: Kernel
    mark: Kernel
    mark_long: Kernel


@implements(LocalMoving, engine="cuda", accepts=RESIDENT)
def local_moving(q: LocalMoving) -> Full:
    """t = the labels after votes of active rows, part by part; neighbors of rows that moved are active.

    Synchronizes once a pass.
    """
    a, n = q.a, q.a.nrows
    labels = copied(full_array(q.labels))
    if a.nvals == 0:
        return Full(n, q.labels.dtype, labels)
    scored = q.mass is not None
    plan = _plan(a.indptr.dtype, a.indices.dtype, labels.dtype, index_dtype(n), scored)
    mass = None if q.mass is None else full_array(q.mass)
    totals = None if mass is None else cupy.zeros(n, FP64)
    if scored:
        plan.totals(grid(n), BLOCK, n, labels, mass, totals)
    wanted, votes = copied(labels), cupy.empty(n, np.bool_)
    active, following = filled(n, np.bool_(True)), cupy.zeros(n, np.bool_)
    vote = launcher(a, labels, wanted, votes, mass, totals, q.rate, q.keep)  # synchronizes the first time
    longest = rows_by_length(uncompressed_pattern(a.pattern)).rows[-1]
    for number in range(q.passes):
        key, moves = key_of_pass(q.seed, number), counter()
        for part in range(q.parts):
            plan.choose(grid(n), BLOCK, n, active, key, q.parts, part, votes, following)
            vote()
            plan.commit(grid(n), BLOCK, n, wanted, mass, labels, totals, votes, moves)
            plan.mark(grid(n), BLOCK, n, a.indptr, a.indices, votes, labels, following)
            if longest.size:
                given = int(longest.size), longest, _SLICES, a.indptr, a.indices, votes, labels, following
                plan.mark_long(grid(longest.size * _SLICES, 1), BLOCK, *given)
        if moves.read() <= q.few:  # synchronizes
            break
        active, following = following, active
        following.data.memset_async(0, following.nbytes)
    return Full(n, q.labels.dtype, labels)


@functools.lru_cache(maxsize=256)
def _plan(
    offset: np.dtype[Any], column: np.dtype[Any], label: np.dtype[Any], row: np.dtype[Any], scored: bool
) -> _Plan:
    text = typedefs(P=offset, I=column, L=label, R=row) + constants(SCORED=scored, LONG=tuning.VOTE_LARGE)
    return _Plan(*(kernel(_FILE, f"moving_{name}", text) for name in _Plan._fields))


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return _plan(INT32, INT32, INT32, INT32, False), _plan(INT64, INT32, INT64, INT32, True)
