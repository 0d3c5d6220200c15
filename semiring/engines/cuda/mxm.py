"""Matrix times matrix: expand all products, sort them, and combine those of equal position."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP32, INT8, INT32, INT64
from ...exceptions import NotSupported
from ...formats import CSR, Array, Pattern, index_dtype, word_count
from ...formats.csr import empty_csr
from ...memory.allocation import allocating
from ...memory.budget import free_device_memory
from ...operators.types import TypedSemiring
from ..recording import note
from ..registry import implements
from ..requests.operands import Mask, Rows
from ..requests.operations import Mxm
from . import compile_samples, tuning
from .build import assembled
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, read_back, read_one, values_of
from .mxm_dot import dot_products
from .mxm_hash import Bins, bins, hash_product
from .mxm_operands import constant, fits
from .mxm_panels import panels_bytes, panels_cost, panels_product
from .primitives import exclusive_scan, put, rows_kernel, width
from .select import mask_arguments, mask_text
from .specialize import constants, semiring, typedefs

_INT64 = np.dtype(np.int64)
_BYTE = np.dtype(np.uint8)
# Reasoned: a key and a value of 8 bytes, 40 bytes of `sort_keys`, and 8 bytes of marks, ranks and counters.
_PRODUCT_BYTES = 64
_SMALLEST_BATCH = 1 << 20
_NO_MASK = mask_text(_BYTE, False)


@implements(Mxm, engine="cuda", fuses=("mask",))
def mxm(q: Mxm) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j) by the method of least cost: dot products, rows by size, panels, or a sort.

    All but the sort allocate the entries of the result exactly.  Synchronizes: reads the number of products by size of
    rows, the estimate of dot products, and the number of entries.
    """
    a, z = q.a, q.semiring.z
    if a.nvals == 0 or a.nrows == 0 or any(rows.ready and rows.get().nvals == 0 for rows in _orientations(q)):
        return empty_csr(a.nrows, q.ncols, z, "cuda")
    if q.method == "sort":
        return _sorted(q)
    columns = q.by_column if q.mask is not None and q.method in ("auto", "dot") else None
    forced = q.method == "dot" or not q.by_row.ready

    @functools.cache
    def sizes() -> Bins:
        with allocating("mxm", "cuda"):
            return bins(q)  # synchronizes

    @functools.cache
    def cheapest() -> tuple[str, float]:
        return _cheapest(q, sizes())

    if columns is not None and (forced or columns.ready or _pays_columns(q, sizes().total)):
        found = _dot(q, lambda: math.inf if forced else cheapest()[1], forced)
        if found is not None:
            return found
    method, _ = cheapest()
    if method == "hash":
        return hash_product(q, sizes())
    if method == "rows":
        return panels_product(q, sizes().total)
    sizes.cache_clear()
    return _sorted(q)


def least_cost(q: Mxm) -> float:
    """Return the least cost of methods other than dot products; infinite if the request excludes them.

    Synchronizes: counts the products.
    """
    return math.inf if q.method == "dot" or not q.by_row.ready else _cheapest(q, bins(q))[1]


def _dot(q: Mxm, others: Callable[[], float], forced: bool) -> CSR | None:
    """Return the product by dot products; None if another method costs less, or if their slots do not fit.

    others: returns the least cost of other methods.  forced: there is no other method.
    """
    assert q.mask is not None
    slot = 0 if constant(q) is not None else q.semiring.z.itemsize
    needed = q.mask.store.nvals * (2 * slot + index_dtype(q.ncols).itemsize) + 40 * q.a.nrows
    if not forced and not fits(needed):
        return None
    with allocating("mxm", "cuda", needed=lambda: needed):
        return dot_products(q, others)


def _cheapest(q: Mxm, sizes: Bins) -> tuple[str, float]:
    """Return the method of least cost, or the one of the request, and its cost."""
    costs = {
        "hash": sizes.split(q)[1] if fits(sizes.scratch(q)) else math.inf,
        "rows": panels_cost(q, q.a.nrows, q.a.nvals, sizes.total) if fits(panels_bytes(q, q.a.nrows)) else math.inf,
        "sort": float(sizes.total * tuning.SORTED_PRODUCT + tuning.SORT_LAUNCHES * tuning.PRODUCT_LAUNCH),
    }
    method = q.method if q.method in costs else min(costs, key=lambda method: costs[method])
    return method, costs[method]


def _sorted(q: Mxm) -> CSR:
    """Return the product by a sort, in batches of rows that use up to half of the free memory each.

    A single row may exceed that.  Synchronizes.
    """
    a, z = q.a, q.semiring.z
    with allocating("mxm", "cuda"):
        plan = _Expansion(q)
    total = read_one(plan.offsets[-1:])  # synchronizes
    note(method="sort", products=total)
    bounds = plan.bounds(total)
    parts: list[CSR] = []
    with allocating("mxm", "cuda", needed=lambda: plan.needed(parts, total, len(bounds) > 2)):
        for begin, end in pairwise(bounds):
            if end[0] > begin[0]:
                parts.append(plan.batch(*begin, *end))
                plan.done = end[2]
        return parts[0] if len(parts) == 1 else _stacked(a.nrows, q.b.ncols, z, parts)


def _orientations(q: Mxm) -> list[Rows]:
    return [q.by_row] if q.by_column is None else [q.by_row, q.by_column]


def _pays_columns(q: Mxm, products: int) -> bool:
    """Return True if the transpose of B costs little beside the products, so that dot products are worth a look."""
    return (q.b.nvals + q.ncols) * tuning.DERIVE_PRODUCTS < products


class _Plan(NamedTuple):
    counts: Kernel
    bounds: Kernel
    mark: Kernel
    expand: Kernel


@functools.lru_cache(maxsize=1024)
def _plan(ring: TypedSemiring, mask: str, types: tuple[np.dtype[Any], ...]) -> _Plan:
    """mask: the part of the prologue that describes it.  types: AP, AI, A, BP, BI and B of the kernels."""
    named = typedefs(**dict(zip(("AP", "AI", "A", "BP", "BI", "B"), types, strict=True)))
    prologue = named + mask + constants(FORM=2) + semiring(ring)
    return _Plan(*(kernel("mxm.cuh", f"mxm_{name}", prologue) for name in ("count", "bounds", "mark", "expand")))


class _Expansion:
    """The products of A and B, numbered in the order of A's entries."""

    def __init__(self, q: Mxm) -> None:
        a, b = q.a, q.b
        self.q = q
        self.done = 0  # products that are in the parts of the result
        self.bits = width(b.ncols)
        mask, self.masking = (_NO_MASK, ()) if q.mask is None else _masking(q.mask)
        types = a.indptr.dtype, a.indices.dtype, a.dtype, b.indptr.dtype, b.indices.dtype, b.dtype
        self.plan = _plan(q.semiring, mask, types)
        self.iso = constant(q)
        products = cupy.empty(a.nvals, _INT64)
        self.plan.counts(grid(a.nvals), BLOCK, a.nvals, a.indices, b.indptr, products)
        self.offsets = exclusive_scan(products, _INT64)

    def bounds(self, total: int) -> list[tuple[int, int, int]]:
        """Return the partition bounds of batches: (row, entry of A, product) at each begin and at the end."""
        a = self.q.a
        batches = 1
        if not fits(2 * total * _PRODUCT_BYTES):
            batches = -(-total // max(free_device_memory() // 2 // _PRODUCT_BYTES, _SMALLEST_BATCH))
        if batches == 1:
            return [(0, 0, 0), (a.nrows, a.nvals, total)]
        limit = -(-total // batches)
        places = cupy.empty((batches + 1, 3), _INT64)
        self.plan.bounds(grid(batches + 1), BLOCK, batches, limit, a.nrows, a.indptr, self.offsets, places)
        return [(int(row), int(entry), int(product)) for row, entry, product in read_back(places)]  # synchronizes

    def needed(self, parts: list[CSR], total: int, stacked: bool) -> int:
        """Estimate the bytes of the whole result from the entries so far; without any, from one entry a product.

        The estimate doubles if parts are concatenated at the end.
        """
        so_far = sum(part.nvals for part in parts)
        entries = so_far * total // self.done if self.done else total
        entry = index_dtype(self.q.b.ncols).itemsize + (0 if self.iso is not None else self.q.semiring.z.itemsize)
        return (entries * entry + (self.q.a.nrows + 1) * index_dtype(entries).itemsize) * (2 if stacked else 1)

    def batch(self, row: int, entry: int, begin: int, end_row: int, end_entry: int, end: int) -> CSR:
        """The rows [row, end_row) of the result."""
        a, b, z = self.q.a, self.q.b, self.q.semiring.z
        rows, count = end_row - row, end - begin
        if self.bits + width(rows) > 64:
            raise NotSupported(f"mxm on the GPU needs rows * columns below 2**64 in a batch; got {rows} x {b.ncols}")
        walk = (a.nrows, a.indptr, a.indices)
        where = (a.nvals, self.offsets, begin, end)
        other = (b.indptr, b.indices)
        marks = ranks = None
        if self.masking:
            marks = cupy.zeros(word_count(count), np.uint32)
            self.plan.mark(grid(count), BLOCK, *walk, *where, *other, *self.masking, marks)
            ranks = exclusive_scan(marks, _INT64, popcount=True)
        kept = count if ranks is None else read_one(ranks[-1:])  # synchronizes
        keys = cupy.empty(kept, np.uint64)
        values = None if self.iso is not None else cupy.empty(kept, z)
        if kept:
            self.plan.expand(
                grid(count), BLOCK, *walk, *values_of(a), *where, *other, *values_of(b),
                marks, ranks, row, np.int32(self.bits), keys, values,
            )  # fmt: skip
        add = self.q.semiring.add
        dup = None if add.is_any else add.op
        return assembled(rows, b.ncols, z, keys, values, self.iso, dup, refuse=False)


def _masking(mask: Mask) -> tuple[str, tuple[Any, ...]]:
    text, (indptr, indices, _, *rest) = mask_arguments(mask)
    return text, (indptr, indices, *rest)


def _stacked(nrows: int, ncols: int, dtype: np.dtype[Any], parts: list[CSR]) -> CSR:
    """Matrices one below the other."""
    total = sum(part.nvals for part in parts)
    indices = cupy.empty(total, index_dtype(ncols))
    indptr = cupy.empty(nrows + 1, index_dtype(total))
    iso = parts[0].iso
    values: Array | None = None if iso is not None else cupy.empty(total, dtype)
    row = at = 0
    for part in parts:
        shift = rows_kernel("rows_shift", part.indptr.dtype, indptr.dtype)
        shift(grid(part.nrows + 1), BLOCK, part.nrows + 1, part.indptr, at, indptr[row:])
        put(indices, at, part.indices)
        if values is not None:
            put(values, at, part.values)
        row, at = row + part.nrows, at + part.nvals
    return CSR(Pattern(nrows, ncols, indptr, indices), dtype, values, iso)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for ring in compile_samples.SEMIRINGS:
        mask = mask_text(INT8, True) if ring.add.is_any else _NO_MASK
        yield _plan(ring, mask, (INT64, INT32, FP32, INT32, INT64, INT8))
