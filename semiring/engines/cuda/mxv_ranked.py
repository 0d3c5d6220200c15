"""Pulls over ranked columns: renumbered by the number of their entries, cached with the pattern after some products.

On a skewed graph few columns have most of the entries.  A product with a full vector copies the values of these columns
to shared memory, and gathers the others from the second-level cache, where a vector in the order of ranks needs little
space.  The renumbered columns are a copy of the columns of the entries, so they are made only where several products
have been computed and the memory is there.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import cupy
import numpy as np
from cupy.cuda import runtime

from ...dtypes import FP32, INT32, UINT8
from ...formats import CSR, AnyPattern, Array, Full, Pattern
from ...memory.budget import free_device_memory
from ...operators.types import TypedSemiring
from ..recording import note
from ..requests.operations import Mxv
from . import compile_samples, tuning
from .algebra import ring_facts
from .columns import column_types
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, Memory, counter, grid, multiprocessors, read_one, scratch, values_of
from .mxv_kernels import PLANS
from .primitives import counting, gather_kernel
from .radix import sort_keys
from .row_tiles import row_tiles
from .specialize import constants, semiring, typedefs

__all__ = [
    "Ranked",
    "RankedPlan",
    "pull_ranked",
    "ranked",
    "ranked_columns",
    "ranked_plan",
    "ranked_table",
    "used_plan",
]

_FACT = "cuda.ranked"
_THREADS = 1024
# Bytes of a column while columns are ranked: its count and itself, sorted too, and its rank.
_COLUMN_BYTES = 20
_POSITIONS = frozenset({"xi", "xj", "yi", "yj"})


class Ranked:
    """ranks: of the column of each entry.  columns: by rank.  plans: of products, by their types."""

    __slots__ = ("columns", "plans", "ranks")

    def __init__(self, ranks: Array, columns: Array) -> None:
        self.ranks, self.columns = ranks, columns
        self.plans: dict[tuple[Any, ...], RankedPlan] = {}


class RankedPlan(NamedTuple):
    """The kernels of a product, and what their launches need.

    table: the values in shared memory.  parts: bytes of the values by rank, and of the carries of tiles.
    """

    order: Kernel
    product: Kernel
    carry: Kernel
    first_row: Array
    tiles: int
    table: int
    shared: int
    parts: tuple[int, int, int]


class _Products:
    """The operations of a pattern with a full vector so far, and its ranked columns once they are made."""

    __slots__ = ("count", "found", "refused")

    def __init__(self) -> None:
        self.count = 0
        self.refused = False
        self.found: Ranked | None = None


def ranked_columns(q: Mxv, a: CSR, u: Full) -> Ranked | None:
    """Return the ranked columns of a skewed pattern for a product, or None where the usual pull is the better one.

    Synchronizes as `ranked`.
    """
    facts = ring_facts(q.semiring)
    if (
        u.values is None
        or not (facts.x if q.flip else facts.y)
        or facts.early
        or q.semiring.mult.uses & _POSITIONS
        or q.semiring.z.itemsize > 8
    ):
        return None
    return ranked(a.pattern)


def ranked(pattern: AnyPattern) -> Ranked | None:
    """Return the ranked columns of a skewed pattern, for an operation that gathers from a full vector, or None.

    They are made at operation number `tuning.RANKED_PRODUCTS` of the pattern.  Synchronizes then, for the share of the
    entries in the columns of the first ranks.
    """
    if (
        pattern.nvals < tuning.RANKED_ENTRIES
        or not isinstance(pattern, Pattern)
        or pattern.placement != "device"
        or pattern.indices.dtype != INT32
        or pattern.ncols > pattern.nvals
    ):
        return None
    known: _Products | None = pattern.facts.get(_FACT)
    if known is None:
        known = pattern.facts[_FACT] = _Products()
    if known.found is not None or known.refused:
        return known.found
    known.count += 1
    if known.count < tuning.RANKED_PRODUCTS:
        return None
    if tuning.RANKED_PART * (pattern.indices.nbytes + _COLUMN_BYTES * pattern.ncols) <= free_device_memory():
        known.found = _rank(pattern.indices, pattern.ncols)  # synchronizes
        known.refused = known.found is None
    return known.found


def _rank(indices: Array, n: int) -> Ranked | None:
    """Rank the n columns; None if those of the first ranks have too few of the entries.  Synchronizes."""
    entries = int(indices.size)
    plan = _rank_plan(indices.dtype)
    step = max(entries // tuning.RANKED_SAMPLE, 1)
    missing = cupy.empty(n, np.uint32)
    missing.data.memset_async(0xFF, missing.nbytes)
    plan.counts(grid(entries // step), BLOCK, indices, entries, step, missing)
    missing, columns = sort_keys(missing, counting(n, indices.dtype), 32)
    assert columns is not None
    first, total = min(_table(4, 4), n), counter()
    plan.share(grid(first), BLOCK, missing, first, total)
    if read_one(total) * step < tuning.RANKED_SHARE * entries / 100:  # synchronizes
        return None
    rank, ranks = cupy.empty(n, indices.dtype), cupy.empty(entries, indices.dtype)
    plan.invert(grid(n), BLOCK, columns, n, rank)
    plan.rename(grid(entries), BLOCK, indices, rank, entries, ranks)
    return Ranked(ranks, columns)


@functools.cache
class _RankPlan(NamedTuple):
    counts: Kernel
    share: Kernel
    invert: Kernel
    rename: Kernel


@functools.cache
def _rank_plan(column: np.dtype[Any]) -> _RankPlan:
    types = typedefs(J=column)
    return _RankPlan(
        *(kernel("ranked.cuh", f"ranked_{name}", types) for name in ("count", "share", "invert", "rename"))
    )


def _shared_bytes(device: int) -> int:
    return int(runtime.deviceGetAttribute(runtime.cudaDevAttrMaxSharedMemoryPerBlockOptin, device))


def _table(value: int, result: int) -> int:
    """The values of a vector that fit into shared memory beside the results of a block, by the bytes of both."""
    return ranked_table(value, tuning.RANKED_SHARED, _staged(result))


def ranked_table(value: int, most: int, beside: int = 0) -> int:
    """The values of so many bytes that fit into `most` bytes of shared memory beside others."""
    return (min(_shared_bytes(runtime.getDevice()), most) - beside) // value // 16 * 16


def _staged(result: int) -> int:
    """Bytes of shared memory for the products of the tiles of a block, by the bytes of one."""
    return result * tuning.RANKED_TILE * (_THREADS // 32)


@functools.lru_cache(maxsize=256)
def _kernels(
    ring: TypedSemiring, offset: np.dtype[Any], columns: str, element: np.dtype[Any], operand: np.dtype[Any],
    flip: bool, table: int,
) -> tuple[Kernel, Kernel]:  # fmt: skip
    text = semiring(ring) + typedefs(P=offset, A=element, U=operand, M=UINT8) + columns
    text += constants(FLIP=flip, U_FULL=True, MASK=0, COMPLEMENT=False, VALUED=True)
    text += constants(TILE=tuning.RANKED_TILE, BLOCK=_THREADS, TABLE=table)
    product, carry = (kernel("mxv_ranked.cuh", name, text) for name in ("mxv_ranked", "mxv_ranked_carry"))
    return product, carry


def _plan(q: Mxv, a: CSR, u: Full, found: Ranked) -> RankedPlan:
    element, result = u.dtype.itemsize, q.semiring.z.itemsize
    table = min(_table(element, result), a.ncols // 16 * 16)
    product, carry = _kernels(q.semiring, a.indptr.dtype, column_types(a.pattern), a.dtype, u.dtype, q.flip, table)
    first_row = row_tiles(a.pattern, tuning.RANKED_TILE)
    tiles = int(first_row.size) - 1
    shared = table * element + _staged(result)
    parts = a.ncols * element, tiles, tiles * result
    return RankedPlan(
        gather_kernel(found.columns.dtype, u.dtype), product, carry, first_row, tiles, table, shared, parts
    )


def ranked_plan(q: Mxv, a: CSR, u: Full, found: Ranked) -> RankedPlan:
    """Return the plan of a product, which is kept with the ranked columns."""
    key = q.semiring, a.dtype, u.dtype, q.flip
    plan = found.plans.get(key)
    if plan is None:
        if len(found.plans) >= PLANS:
            found.plans.clear()
        plan = found.plans[key] = _plan(q, a, u, found)
    return plan


def used_plan(q: Mxv, a: CSR) -> tuple[Ranked, RankedPlan] | None:
    """Return the ranked columns and the plan that a product of these types has used; None if there was none."""
    known: _Products | None = a.pattern.facts.get(_FACT)
    if known is None or known.found is None:
        return None
    plan = known.found.plans.get((q.semiring, a.dtype, q.vector.dtype, q.flip))
    return None if plan is None else (known.found, plan)


def pull_ranked(plan: RankedPlan, a: CSR, u: Any, found: Ranked, values: Any) -> None:
    """Write the values of the rows that are not empty; u, values: arrays, or other memory on the device."""
    memory, (ordered, hit, value) = scratch(*plan.parts)
    tiles, n = plan.tiles, a.ncols
    plan.order(grid(n), BLOCK, n, found.columns, 0, 0, None, u, None, Memory(memory), None)
    plan.product(
        multiprocessors(), _THREADS, a.indptr, found.ranks, *values_of(a), ordered, values, a.nrows, a.nvals,
        plan.first_row, hit, value, tiles, shared=plan.shared,
    )  # fmt: skip
    plan.carry(-(-tiles // _THREADS), _THREADS, a.indptr, plan.first_row, hit, value, tiles, None, values, a.nrows)
    note(ranked_bytes=int(found.ranks.nbytes + found.columns.nbytes))


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    types = INT32, compile_samples.UNCOMPRESSED, FP32
    plus, least = compile_samples.SEMIRINGS[:2]
    return _rank_plan(INT32), _kernels(plus, *types, FP32, False, 4096), _kernels(least, *types, INT32, True, 4096)
