"""Products with long rows: a block accumulates a row in panels of columns, in shared memory."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import INT64
from ...formats import CSR, Array, Pattern, index_dtype
from ...memory.allocation import allocating
from ..recording import note
from ..requests.operations import Mxm
from . import tuning
from .algebra import ring_facts
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, counter, grid, multiprocessors, read_one
from .mxm_operands import Operands, constant, operands, sampled
from .primitives import cast_array, exclusive_scan
from .specialize import constants, typedefs

__all__ = ["Panels", "panels_bytes", "panels_cost", "panels_product"]

_FILE = "mxm_panels.cuh"
_INT64 = np.dtype(np.int64)
_BLOCK = 512
# Bytes of the slots of a panel: two blocks of a multiprocessor, or three, have theirs at once.
_SLOT_BYTES = 1 << 16
# Columns of a panel without slots: 16 KB of presence bits, and as many of the mask.
_MOST_COLUMNS = 1 << 17
_LEAST_COLUMNS = 1 << 10


def panels_cost(q: Mxm, rows: int, entries: int, products: int) -> float:
    """Return the cost of so many rows, with so many entries in A, and products, in panels."""
    facts, iso = ring_facts(q.semiring), constant(q)
    panel, panels = _panels(q)
    slots = rows * panels * panel // (1 if iso is None else 32)
    product = tuning.ROWS_PRODUCT
    if iso is None and not facts.is_any and facts.start is None:
        product *= tuning.ORDERED_PRODUCT
    launches = 6 * tuning.PRODUCT_LAUNCH
    return product * products + tuning.ROWS_ENTRY * entries * panels + slots / tuning.ROWS_SLOTS + launches


def panels_bytes(q: Mxm, rows: int) -> int:
    """Return the bytes of scratch for so many rows in panels."""
    return 16 * rows * _panels(q)[1]


def _panels(q: Mxm) -> tuple[int, int]:
    """Return the columns of a panel, a power of two, and the panels of a row."""
    most = _MOST_COLUMNS if constant(q) is not None else _SLOT_BYTES // max(q.semiring.z.itemsize, 4)
    panel = max(_LEAST_COLUMNS, min(most, 1 << (q.ncols - 1).bit_length()))
    return panel, -(-q.ncols // panel)


class _Plan(NamedTuple):
    counts: Kernel
    total: Kernel
    stores: Kernel


@functools.lru_cache(maxsize=1024)
def _plan(prologue: str, offset: np.dtype[Any], panel: int) -> _Plan:
    text = prologue + typedefs(P=offset) + constants(PANEL=panel, BLOCK=_BLOCK)
    return _Plan(*(kernel(_FILE, f"mxm_panels_{name}", text) for name in ("count", "total", "store")))


class Panels:
    """Some rows of a product, or all: first their entries are counted, then stored.

    Each product is visited twice, and each panel costs its slots: it pays where rows of the result are long.
    Memory: 16 bytes a row and panel.
    """

    def __init__(self, q: Mxm, given: Operands, rows: Array | None, count: int, offset: np.dtype[Any]) -> None:
        """rows: their numbers; None: all rows.  offset: the type of the offsets of the result."""
        self.panel, self.panels = _panels(q)
        self._rows, self._count, self._packed = rows, count, given.packed
        self._plan = _plan(given.prologue, offset, self.panel)
        self._shared = self.panel * max(q.semiring.z.itemsize, 4) if given.iso is None else 0
        self._blocks = multiprocessors() * (2048 // _BLOCK)
        self.offsets: Array = None

    def count(self) -> None:
        """Count the entries; `offsets` is their scan, by row and panel."""
        counts = cupy.empty(self._count * self.panels, _INT64)
        self._plan.counts(self._blocks, _BLOCK, self._packed, self._count, self._rows, self.panels, counter(), counts)
        self.offsets = exclusive_scan(counts, _INT64)

    def put_counts(self, counts: Array) -> None:
        """Set the elements of `counts` for the rows to the numbers of their entries; after `count`."""
        self._plan.total(grid(self._count), BLOCK, self._count, self._rows, self.panels, self.offsets, counts)

    def store(self, starts: Array | None, indices: Array, values: Array | None) -> None:
        """Store the entries.  starts: the offsets of all rows of the result; None: `offsets` has them."""
        self._plan.stores(
            self._blocks, _BLOCK, self._packed, self._count, self._rows, self.panels, counter(),
            self.offsets, starts, indices, values, shared=self._shared,
        )  # fmt: skip


def panels_product(q: Mxm, products: int) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j), row by row.  Synchronizes: reads the number of entries."""
    a, z = q.a, q.semiring.z
    with allocating("mxm", "cuda"):
        given = operands(q)
        work = Panels(q, given, None, a.nrows, _INT64)
        note(method="rows", products=products, panels=work.panels)
        work.count()
    nvals = read_one(work.offsets[-1:])  # synchronizes
    size = nvals * given.entry_bytes + (a.nrows + 1) * 8
    with allocating("mxm", "cuda", needed=lambda: size):
        indices = cupy.empty(nvals, given.column)
        values = None if given.iso is not None else cupy.empty(nvals, z)
        indptr = cast_array(cupy.ascontiguousarray(work.offsets[:: work.panels]), index_dtype(nvals))
    work.store(None, indices, values)
    return CSR(Pattern(a.nrows, q.ncols, indptr, indices), z, values, given.iso)


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    given = enumerate(sampled())
    return tuple(_plan(prologue, INT64, _LEAST_COLUMNS << min(number, 5)) for number, (prologue, _) in given)
