"""Sums along the paths of a forest: climbs from the leaves, or totals that double their reach."""

from __future__ import annotations

import functools
from itertools import product
from typing import Any

import cupy
import numpy as np

from ...dtypes import INT32, INT64
from ...exceptions import NotSupported
from ...formats import Full, dense_values
from ...memory.arrays import copied
from ...operators.types import TypedMonoid
from ..registry import implements
from ..requests.graphs import FOREST_CYCLE, FOREST_RANGE, Treefix, forest_error
from . import compile_samples
from .algebra import native_atomic
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, read_back
from .specialize import constants, monoid, typedefs

_FAILED, _COMPLETE, _OPEN = 0, 1, 2


@implements(Treefix, engine="cuda")
def treefix(q: Treefix) -> Full:
    """t(v) = (+) of u(w) over the descendants, or the ancestors, of v.  Synchronizes once, for errors."""
    if q.monoid.z.itemsize not in (1, 2, 4, 8):
        raise NotSupported(f"treefix: no atomic adds values of {q.monoid.z} on a GPU; add their parts one by one")
    n, parent = q.parent.size, dense_values(q.parent)
    values = dense_values(q.values)
    if n == 0:
        return Full(n, q.monoid.z, copied(values))
    children, up, down = _kernels(q.monoid, parent.dtype)
    rounds = n.bit_length() + 1
    state, blocks = cupy.zeros(_OPEN + rounds, np.uint64), grid(n)
    if q.up:
        counts = cupy.zeros(2 * n, np.uint32)
        made = copied(values)
        children(blocks, BLOCK, n, parent, counts, state)
        up(blocks, BLOCK, n, parent, counts, counts[n:], made, state)
        found = read_back(state)  # synchronizes
        cycle = int(found[_COMPLETE]) < n
    else:
        made, jumps = _doubled(down, parent, values, rounds, state, children)
        found = read_back(state)  # synchronizes
        passes = 1 + int(found[_OPEN:].argmin())  # the first round that left no vertex open was the last one
        cycle = bool(found[_OPEN:].all())
        made = made[(passes - 1) % 2]
        del jumps
    if found[_FAILED]:
        raise forest_error(FOREST_RANGE)
    if cycle:
        raise forest_error(FOREST_CYCLE)
    return Full(n, q.monoid.z, made)


def _doubled(down: Kernel, parent: Any, values: Any, rounds: int, state: Any, check: Kernel) -> tuple[Any, Any]:
    """Queue the rounds; return the two arrays of totals, and those of jumps.  Round r writes the arrays r % 2."""
    n = parent.size
    made, jumps = [cupy.empty_like(values) for _ in range(2)], [cupy.empty_like(parent) for _ in range(2)]
    check(grid(n), BLOCK, n, parent, None, state)
    before = parent, values
    for r in range(rounds):
        after = jumps[r % 2], made[r % 2]
        down(grid(n), BLOCK, n, r, before[0], after[0], before[1], after[1], state)
        before = after
    return made, jumps


@functools.lru_cache(maxsize=256)
def _kernels(add: TypedMonoid, parent: np.dtype[Any]) -> tuple[Kernel, Kernel, Kernel]:
    text = typedefs(F=parent, Z=add.z) + constants(NATIVE=native_atomic(add.op)) + monoid("add", add)
    children, up, down = (kernel("treefix.cuh", f"treefix_{name}", text) for name in ("children", "up", "down"))
    return children, up, down


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    sampled = compile_samples.PLUS, compile_samples.MIN, compile_samples.MIN8, compile_samples.LOR, compile_samples.ANY
    return tuple(_kernels(add, parent) for add, parent in product(sampled, (INT32, INT64)))
