"""Products with short rows: each row by the method of its size, and all assembled into one matrix.

A thread merges a row with few products; a warp or a block accumulates a longer row in a hash table in shared memory;
the longest rows, and those for which that costs less, are accumulated in panels of columns (`mxm_panels`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import INT32, INT64
from ...formats import CSR, Array, Pattern, index_dtype
from ...memory.allocation import allocating
from ..recording import note
from ..requests.operations import Mxm
from . import tuning
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, Counter, counter, grid, multiprocessors, read_one, read_words
from .mxm_operands import Operands, operands, sampled
from .mxm_panels import Panels, panels_bytes, panels_cost
from .primitives import cast_array, exclusive_scan
from .specialize import constants, typedefs

__all__ = ["Bins", "bins", "hash_product"]

_MERGE, _HASH = "mxm_merge.cuh", "mxm_hash.cuh"
_INT64 = np.dtype(np.int64)
_SHORT = np.dtype(np.uint16)
# Classes of rows, as in ``mxm_bins.cuh``: without products, merged, and those in tables; then longer ones.
_MERGED, _TABLES, _CLASSES = 1, 2, 7
# Bytes of the results of a warp in shared memory: eight warps of a block have 40 KB, five blocks of a multiprocessor.
_STAGE_BYTES = 5 << 10


class Bins(NamedTuple):
    """Rows of a product by their number of products.

    sizes: the number of each row, at most 65535.  rows, entries, products: of each class, the entries in A.  estimated:
    the rows whose products were not counted, but estimated from some of their entries.  totals: all these numbers on
    the device.
    """

    sizes: Array
    totals: Counter
    rows: tuple[int, ...]
    entries: tuple[int, ...]
    products: tuple[int, ...]
    estimated: int

    @property
    def total(self) -> int:
        """The products of all rows."""
        return sum(self.products)

    def split(self, q: Mxm) -> tuple[int, float]:
        """Return the first class for which panels cost less than tables, and the cost of the whole product."""
        merged = 5 * tuning.PRODUCT_LAUNCH + tuning.MERGED_PRODUCT * self.products[_MERGED]
        listed = any(self.rows[_TABLES:]) * tuning.PRODUCT_LAUNCH
        costs = {}
        for first in range(_TABLES, _CLASSES):
            tables = sum(
                2 * tuning.PRODUCT_LAUNCH + tuning.HASHED_PRODUCT * self.products[c]
                for c in range(_TABLES, first)
                if self.rows[c]
            )
            rows, entries, products = (sum(counts[first:]) for counts in (self.rows, self.entries, self.products))
            costs[first] = merged + listed + tables + (panels_cost(q, rows, entries, products) if rows else 0)
        first = min(costs, key=lambda first: costs[first])
        return first, costs[first]

    def scratch(self, q: Mxm) -> int:
        """Return the bytes beside the result that its assembly needs."""
        return 16 * q.a.nrows + panels_bytes(q, sum(self.rows[self.split(q)[0] :]))


def _limits() -> str:
    return constants(
        LISTS=tuning.MERGE_LISTS, MERGED=tuning.MERGE_PRODUCTS,
        SMALL=tuning.HASH_SMALL, MEDIUM=tuning.HASH_MEDIUM, LARGE=tuning.HASH_LARGE, LARGEST=tuning.HASH_LARGEST,
    )  # fmt: skip


@functools.cache
def _bins_kernels(limits: str, *types: np.dtype[Any]) -> tuple[Kernel, Kernel]:
    """Return the kernels that count the products of rows, and that list the rows.  types: AP, AI, BP and R."""
    text = typedefs(**dict(zip(("AP", "AI", "BP", "R"), types, strict=True))) + limits
    return kernel("mxm_bins.cuh", "mxm_bins", text), kernel("mxm_bins.cuh", "mxm_bins_list", text)


def _bins_of(q: Mxm) -> tuple[Kernel, Kernel]:
    return _bins_kernels(_limits(), q.a.indptr.dtype, q.a.indices.dtype, q.b.indptr.dtype, index_dtype(q.a.nrows))


def _merge_limits(entry_bytes: int) -> str:
    return _limits() + constants(STAGE=_STAGE_BYTES // entry_bytes // 32 * 32)


@functools.lru_cache(maxsize=1024)
def _kernel(file: str, entry: str, prologue: str, offset: np.dtype[Any], limits: str = "") -> Kernel:
    """prologue: of the `Operands`.  offset: the type of the offsets of the result."""
    return kernel(file, entry, prologue + typedefs(P=offset) + limits)


def bins(q: Mxm) -> Bins:
    """Count the products of each row, and the rows of each class.  Synchronizes.  Memory: 2 bytes a row."""
    a = q.a
    sizes, count = cupy.empty(a.nrows, _SHORT), 3 * _CLASSES
    totals = counter(count + 1)
    count_products, _ = _bins_of(q)
    count_products(grid(a.nrows), BLOCK, a.nrows, a.indptr, a.indices, q.b.indptr, sizes, totals)
    words = read_words(totals.data.ptr, count + 1)  # synchronizes
    return Bins(sizes, totals, words[0:count:3], words[1:count:3], words[2:count:3], words[count])


class _Part(NamedTuple):
    """Rows in hash tables of a warp or of a block.  slots: of a table.  tables: of a block."""

    team: str
    rows: Array
    slots: int
    tables: int

    def run(self, entry: Kernel, given: Operands, sizes: Array, slot_bytes: int, *out: Array | None) -> None:
        """Launch a kernel whose tables have so many bytes a slot."""
        size = int(self.rows.size)
        # The kernels have up to 64 bytes of shared memory beside the tables.
        entry(
            min(-(-size // self.tables), multiprocessors() * 32), BLOCK, given.packed, size, self.rows, sizes,
            self.slots, *out, shared=self.tables * self.slots * slot_bytes + 64,
        )  # fmt: skip


class _Rows:
    """The rows of a product by class: counted, then stored."""

    def __init__(self, q: Mxm, given: Operands, bins: Bins, offset: np.dtype[Any]) -> None:
        """offset: the type of the offsets of the result."""
        self._q, self._given, self._sizes, self._offset = q, given, bins.sizes, offset
        self._limits = _merge_limits(given.entry_bytes)
        self._key = q.b.indices.dtype.itemsize
        self._value = max(q.semiring.z.itemsize, 4) if given.iso is None else 0
        self._parts: list[_Part] = []
        self._panels: Panels | None = None
        if not any(bins.rows[_TABLES:]):
            return
        listed = cupy.empty(sum(bins.rows[_TABLES:]), index_dtype(q.a.nrows))
        starts = [0, *accumulate(bins.rows[_TABLES:])]
        _, list_rows = _bins_of(q)
        list_rows(grid(q.a.nrows), BLOCK, q.a.nrows, q.a.indptr, bins.sizes, bins.totals, counter(_CLASSES), listed)
        first, _ = bins.split(q)
        most = (tuning.HASH_SMALL, tuning.HASH_MEDIUM, tuning.HASH_LARGE, tuning.HASH_LARGEST)
        for c, products in enumerate(most[: first - _TABLES]):
            rows = listed[starts[c] : starts[c + 1]]
            if rows.size:
                team, tables = ("warp", BLOCK // 32) if c == 0 else ("block", 1)
                self._parts.append(_Part(team, rows, 1 << (3 * products // 2).bit_length(), tables))
        rows = listed[starts[first - _TABLES] :]
        if rows.size:
            self._panels = Panels(q, given, rows, int(rows.size), offset)

    def _kernel(self, file: str, name: str) -> Kernel:
        limits = self._limits if file == _MERGE else ""
        return _kernel(file, name, self._given.prologue, self._offset, limits)

    def count(self) -> Array:
        """Return the number of entries of each row of the result."""
        q, given = self._q, self._given
        counts = cupy.empty(q.a.nrows, given.column)
        self._kernel(_MERGE, "mxm_merge_count")(grid(q.a.nrows), BLOCK, given.packed, self._sizes, counts)
        for part in self._parts:
            run = self._kernel(_HASH, f"mxm_hash_count_{part.team}")
            part.run(run, given, self._sizes, self._key, counts)
        if self._panels is not None:
            self._panels.count()
            self._panels.put_counts(counts)
        return counts

    def store(self, offsets: Array, indices: Array, values: Array | None) -> None:
        """Store the entries of all rows."""
        given = self._given
        self._kernel(_MERGE, "mxm_merge_store")(
            grid(self._q.a.nrows), BLOCK, given.packed, self._sizes, offsets, indices, values
        )
        for part in self._parts:
            run = self._kernel(_HASH, f"mxm_hash_store_{part.team}")
            part.run(run, given, self._sizes, self._key + self._value, offsets, indices, values)
        if self._panels is not None:
            self._panels.store(offsets, indices, values)


def hash_product(q: Mxm, sizes: Bins) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j), each row by the method of its size.

    Each product is visited twice.  Memory beyond the result: 16 bytes a row, and 16 a panel of a long row.
    Synchronizes: reads the number of entries.
    """
    a, z = q.a, q.semiring.z
    note(method="hash", products=sizes.total, rows=sizes.rows)
    # Rows have no more entries than products, so these bound the offsets if all are counted.
    offset = _INT64 if sizes.estimated else index_dtype(sizes.total)
    with allocating("mxm", "cuda"):
        given = operands(q)
        work = _Rows(q, given, sizes, offset)
        offsets = exclusive_scan(work.count(), offset)
    nvals = read_one(offsets[-1:])  # synchronizes
    size = nvals * given.entry_bytes + (a.nrows + 1) * offset.itemsize
    with allocating("mxm", "cuda", needed=lambda: size):
        indices = cupy.empty(nvals, given.column)
        values = None if given.iso is not None else cupy.empty(nvals, z)
        work.store(offsets, indices, values)
        indptr = cast_array(offsets, index_dtype(nvals))
    return CSR(Pattern(a.nrows, q.ncols, indptr, indices), z, values, given.iso)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    yield _bins_kernels(_limits(), INT64, INT32, INT32, INT64), _bins_kernels(_limits(), INT32, INT64, INT64, INT32)
    for prologue, entry_bytes in sampled():
        for step in ("count", "store"):
            yield _kernel(_MERGE, f"mxm_merge_{step}", prologue, INT64, _merge_limits(entry_bytes))
            yield tuple(_kernel(_HASH, f"mxm_hash_{step}_{team}", prologue, INT64) for team in ("warp", "block"))
