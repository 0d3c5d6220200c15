"""Products under a mask with few entries: a dot product for each entry of the mask."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP32, INT8, INT32, INT64
from ...formats import CSR, Array, VectorStore, word_count
from ...operators import binary
from ...operators.types import TypedMonoid, TypedSemiring
from ...record_types import zero
from ..recording import note
from ..requests.operands import simplified
from ..requests.operations import Mxm
from . import compile_samples, tuning
from .arguments import arguments
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, Counter, bitmap, counter, grid, multiprocessors, read_words, scratch
from .mxm_operands import constant, fits, operand_packer, pack_operands
from .primitives import compact_csr, exclusive_scan
from .specialize import constants, semiring, typedefs
from .specialize import monoid as monoid_text

__all__ = ["DotProducts", "dot_products"]

_FILE = "mxm_dot.cuh"
_ESTIMATE = "mxm_dot_estimate.cuh"
_PAIRS = "mxm_pairs.cuh"
_ELEMENTS = ("A", "B", "M")
_BYTE = np.dtype(np.uint8)
_UINT32 = np.dtype(np.uint32)
_SAMPLES = 1 << 16
# What becomes of the results: the constant RESULT of the kernels.
STORED, REDUCED, SUMMED = range(3)


class _Outputs(NamedTuple):
    """The arguments that only some of the kernels read."""

    marks: Array | None = None
    values: Array | None = None
    totals: Array | None = None
    parts: Array | None = None
    small: int | None = None
    large: int | None = None
    state: Counter | None = None


class _Plan(NamedTuple):
    """The call plan: the packers of ``ProductArguments`` and of ``DotArguments``, and the kernels."""

    operands: Callable[..., bytes]
    pack: Callable[..., bytes]
    estimate: Kernel
    list: Kernel
    small: Kernel
    large: Kernel
    rows: Kernel


@functools.lru_cache(maxsize=1024)
def _plan(
    ring: TypedSemiring,
    monoid: TypedMonoid,
    result: int,
    keeps: bool,
    valued: bool,
    lanes: int,
    elements: tuple[Any, ...],
    *integers: np.dtype[Any],
) -> _Plan:
    """Return the plan.

    monoid: of a reduction; for STORED any.  result: STORED, REDUCED or SUMMED.  keeps: results have values of their
    own.  valued: the mask admits entries by value.  lanes: for an entry of the mask.  elements: the types of the values
    of A, B and the mask.  integers: AP, AI, BP, BI, MP, MI of the kernels.
    """
    types = dict(zip(_ELEMENTS, elements, strict=True))
    prologue = _prologue(ring, monoid, result, keeps, valued, lanes, types, integers)
    names = ("mxm_dot_list", "mxm_dot_small", "mxm_dot_large", "mxm_dot_rows")
    estimate = kernel(_ESTIMATE, "mxm_dot_estimate", prologue)
    packers = operand_packer(**types, Z=ring.z), arguments(_FILE, "DotArguments")
    return _Plan(*packers, estimate, *(kernel(_FILE, name, prologue) for name in names))


class _PairPlan(NamedTuple):
    """The call plan of pairs: the packers of ``ProductArguments`` and of ``PairArguments``, and the kernels."""

    operands: Callable[..., bytes]
    pack: Callable[..., bytes]
    tally: Kernel
    place: Kernel
    list: Kernel
    table: Kernel
    search: Kernel


@functools.lru_cache(maxsize=1024)
def _pair_plan(
    ring: TypedSemiring,
    keeps: bool,
    valued: bool,
    same: bool,
    elements: tuple[Any, ...],
    *integers: np.dtype[Any],
) -> _PairPlan:
    """Return the plan; same: A and the transpose of B have one pattern.  The others are those of `_plan`."""
    types = dict(zip(_ELEMENTS, elements, strict=True))
    prologue = _prologue(ring, ring.add, STORED, keeps, valued, 1, types, integers) + constants(
        SAME=same, PAIR_THREADS=tuning.PAIR_THREADS, PAIR_RESIDENT=tuning.PAIR_RESIDENT, PAIR_TABLE=tuning.PAIR_TABLE,
        PAIR_BATCH=tuning.PAIR_BATCH, PAIR_WIDE=tuning.PAIR_WIDE, PAIR_PART=tuning.PAIR_PART,
        PAIR_SEARCHED=tuning.PAIR_SEARCHED, PAIR_ITEM=tuning.PAIR_ITEM, PAIR_SPARSE=tuning.PAIR_SPARSE,
    )  # fmt: skip
    names = ("mxm_pairs_count", "mxm_pairs_place", "mxm_pairs_list", "mxm_pairs_table", "mxm_pairs_search")
    packers = operand_packer(**types, Z=ring.z), arguments(_PAIRS, "PairArguments")
    return _PairPlan(*packers, *(kernel(_PAIRS, name, prologue) for name in names))


def _prologue(
    ring: TypedSemiring,
    monoid: TypedMonoid,
    result: int,
    keeps: bool,
    valued: bool,
    lanes: int,
    types: dict[str, Any],
    integers: tuple[np.dtype[Any], ...],
) -> str:
    return (
        typedefs(**dict(zip(("AP", "AI", "BP", "BI", "MP", "MI"), integers, strict=True)))
        + typedefs(**types)
        + constants(VALUED=valued, KEEPS=keeps, RESULT=result, MASKED=True, COMPLEMENT=False, GROUP=lanes)
        + _sizes()
        + semiring(ring)
        + monoid_text("reduce", monoid)
    )


def _sizes() -> str:
    return constants(
        SMALL=tuning.DOT_SMALL, LARGE=tuning.DOT_LARGE, SEGMENT=tuning.DOT_SEGMENT, SWAP=tuning.DOT_SWAP,
        SEARCHED=tuning.SEARCHED_PROBE, BATCH=tuning.DOT_BATCH, DOT_RESIDENT=tuning.DOT_RESIDENT,
    )  # fmt: skip


def dot_products(q: Mxm, others: Callable[[], float]) -> CSR | None:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j) for the entries (i, j) of the mask; None if another method costs less.

    others: returns the least cost of other methods; see `DotProducts.of`.

    Memory beyond the result: a value and a bit for each entry of the mask, and that of `DotProducts`.  Synchronizes:
    reads the estimate and the number of entries of the result.
    """
    dots = DotProducts.of(q, others)
    if dots is None:
        return None
    whole, marks = dots.marked()
    return compact_csr(whole, marks)  # synchronizes


class DotProducts:
    """Dot products for the entries of a mask.

    Memory: 24 bytes a row, and 16 for each DOT_SEGMENT entries of the mask; a reduction needs a value and a bit more
    for each row and each such segment, and no memory for entries of the mask.  As pairs: 16 bytes for each row of A and
    column of B, and 24 for each entry of the mask.
    """

    def __init__(self, q: Mxm, m: CSR) -> None:
        """m: the store of the mask, which is not empty."""
        assert q.by_column is not None
        a, t = q.a, q.by_column.get()
        self.q, self.m, self.t, self.iso = q, m, t, constant(q)
        self.valued = q.mask is not None and not q.mask.structural
        self.types = (
            (a.dtype, t.dtype, m.dtype if self.valued else _BYTE),
            a.indptr.dtype, a.indices.dtype, t.indptr.dtype, t.indices.dtype, m.indptr.dtype, m.indices.dtype,
        )  # fmt: skip
        self.probes = 0
        self.pairs = False  # whether results that are stored are computed as pairs: see mxm_pairs.cuh

    @classmethod
    def of(cls, q: Mxm, others: Callable[[], float], *, reduced: bool = False) -> DotProducts | None:
        """Return the dot products; None if another method costs less, or the mask does not list positions.

        others: returns the least cost of other methods; not called if all their products, estimated from a sample of
        the entries of A, are more than the cost of dot products.  reduced: the results are reduced, and so not computed
        as pairs.  The costs, in probes of a table, are estimated from a sample of the mask.  Synchronizes: reads them.
        """
        mask = simplified(q.mask)
        if isinstance(mask, bool) or mask.complement or not isinstance(mask.store, CSR):
            return None
        made = cls(replace(q, mask=mask), mask.store)
        if mask.store.nvals == 0:  # nothing to sample
            return made
        cost, products = made._estimates(reduced)
        return None if cost > products and others() < cost else made

    def _estimates(self, reduced: bool) -> tuple[float, int]:
        """Return the cost, and the products of all rows, 0 if they are not estimated; sets `probes` and `pairs`.

        Synchronizes.
        """
        q, a, m, sums = self.q, self.q.a, self.m, counter(5)
        rows = q.by_row.get().indptr if q.by_row.ready else None
        if rows is not None and rows.dtype != self.t.indptr.dtype:
            rows = None
        plan, samples, of_a = self._plan(STORED, q.semiring.add, 1), min(_SAMPLES, m.nvals), min(_SAMPLES, a.nvals)
        packed = self._packed(plan, _Outputs())
        plan.estimate(grid(max(samples, of_a)), BLOCK, packed, m.nvals, samples, rows, a.nvals, of_a, sums)
        probes, longest, filled, shorter, products = read_words(sums.data.ptr, 5)  # synchronizes
        probes, filled, shorter = (total * m.nvals // samples for total in (probes, filled, shorter))
        cost = probes + tuning.DOT_ENTRY * m.nvals + tuning.DOT_SERIAL * longest
        self.probes, products = probes, products * a.nvals // of_a
        if reduced or m.nvals > tuning.PAIR_MOST or not fits(40 * m.nvals + 16 * self._longer_rows()):
            return cost, products
        pairs = tuning.PAIR_COLUMN * shorter + tuning.PAIR_ENTRY * m.nvals + self._longer_rows()
        pairs += tuning.PAIR_LAUNCHES * tuning.PRODUCT_LAUNCH
        self.pairs = pairs < cost + filled
        return min(cost, pairs), products

    def _same(self) -> bool:
        """Return whether A and the transpose of B have one pattern."""
        a, t = self.q.a, self.t
        return a.indptr is t.indptr and a.indices is t.indices

    def _longer_rows(self) -> int:
        return self.t.nrows + (0 if self._same() else self.q.a.nrows)

    def _plan(self, result: int, monoid: TypedMonoid, lanes: int) -> _Plan:
        return _plan(self.q.semiring, monoid, result, self.iso is None, self.valued, lanes, *self.types)

    def _packed(self, plan: _Plan, outputs: _Outputs) -> bytes:
        start = zero(self.q.semiring.z)  # these kernels begin with the first product
        return pack_operands(plan.operands, self.q.a, self.t, self.m, start, valued=self.valued) + plan.pack(
            marks=outputs.marks, values=outputs.values, small=outputs.small, large=outputs.large, state=outputs.state,
            totals=outputs.totals, parts=outputs.parts,
        )  # fmt: skip

    def marked(self) -> tuple[CSR, Array]:
        """Return a matrix with the structure of the mask, and a bit for each of its entries that is a result."""
        m, z = self.m, self.q.semiring.z
        marks = cupy.zeros(word_count(m.nvals), np.uint32)
        values = cupy.empty(m.nvals, z) if self.iso is None else None
        if m.nvals and self.pairs:
            self._run_pairs(marks, values)
        elif m.nvals:
            self._run(STORED, self.q.semiring.add, _Outputs(marks, values))
        return CSR(m.pattern, z, values, self.iso), marks

    def reduced(self, monoid: TypedMonoid, *, by_rows: bool) -> VectorStore:
        """Return the reduction of each row, or parts of the reduction of all rows; results have values of their own."""
        m, nrows, z = self.m, self.q.a.nrows, monoid.dtype
        slots = m.nvals // tuning.DOT_SEGMENT + nrows + 1
        totals, parts = cupy.empty(slots, z), cupy.zeros(word_count(slots), np.uint32)
        result = SUMMED if monoid == self.q.semiring.add and not monoid.is_any else REDUCED
        plan, packed = self._run(result, monoid, _Outputs(totals=totals, parts=parts))
        if not by_rows:
            return bitmap(slots, z, parts, totals, slots)  # the number of its entries is not read
        words, out, count = cupy.empty(word_count(nrows), np.uint32), cupy.empty(nrows, z), counter()
        plan.rows(grid(nrows), BLOCK, packed, words, out, count)
        return bitmap(nrows, z, words, out, count)

    def _run(self, result: int, monoid: TypedMonoid, outputs: _Outputs) -> tuple[_Plan, bytes]:
        a, m = self.q.a, self.m
        note(method="dot", probes=self.probes)
        lanes = 1 if result == SUMMED else _lanes(self.probes / max(m.nvals, 1))  # SUMMED has no groups of lanes
        plan = self._plan(result, monoid, lanes)
        memory, (small, large) = scratch(8 * a.nrows, 16 * (a.nrows + m.nvals // tuning.DOT_SEGMENT + 1))
        packed = self._packed(plan, outputs._replace(small=small, large=large, state=counter(4)))
        plan.list(grid(a.nrows), BLOCK, packed)
        reads_a = self.iso is None and "x" in self.q.semiring.mult.uses
        shared = tuning.DOT_LARGE * 2 * (a.indices.dtype.itemsize + (4 if reads_a else 0))
        blocks = multiprocessors() * 8
        plan.small(blocks, BLOCK, packed)
        plan.large(blocks, BLOCK, packed, shared=shared + 64)
        del memory  # referenced until the last kernel that uses it is queued
        return plan, packed

    def _run_pairs(self, marks: Array, values: Array | None) -> None:
        """Compute the results by the kernels of pairs."""
        m, nvals, rows = self.m, self.m.nvals, self._longer_rows()
        note(method="dot", probes=self.probes, kernel="pairs")
        plan = _pair_plan(self.q.semiring, self.iso is None, self.valued, self._same(), *self.types)
        cleared = cupy.zeros(3 * rows, np.uint32)
        counts = cleared[2 * rows :]
        memory, (ranks, entries, others, items) = scratch(4 * nvals, 4 * nvals, 8 * nvals, 8 * nvals)
        operands = pack_operands(
            plan.operands, self.q.a, self.t, m, zero(self.q.semiring.z), valued=self.valued
        )  # these kernels begin with the first product

        def packed(starts: Array | None) -> bytes:
            return operands + plan.pack(
                marks=marks, values=values, mask_nvals=nvals, longer_rows=rows, counts=counts, totals=cleared,
                starts=starts, ranks=ranks, entries=entries, others=others, items=items, state=state,
            )  # fmt: skip

        state = counter(3)
        plan.tally(grid(nvals), BLOCK, packed(None))
        given = packed(starts := exclusive_scan(counts, _UINT32))
        plan.place(grid(nvals), BLOCK, given)
        plan.list(grid(rows), BLOCK, given)
        plan.table(multiprocessors() * tuning.PAIR_RESIDENT, tuning.PAIR_THREADS, given)
        plan.search(grid(nvals), BLOCK, given)
        del memory, starts  # referenced until the last kernel that uses them is queued


def _lanes(average: float) -> int:
    """Return the lanes for an entry of the mask, so that each has DOT_PROBES probes or more on average."""
    lanes = 1
    while lanes < 32 and 2 * lanes * tuning.DOT_PROBES <= average:
        lanes *= 2
    return lanes


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    columns = TypedSemiring(compile_samples.MIN, binary.secondj[INT64])
    results = (SUMMED, REDUCED, SUMMED, STORED, STORED, SUMMED)
    for number, (ring, result) in enumerate(zip((*compile_samples.SEMIRINGS, columns), results, strict=True)):
        monoid, valued = compile_samples.MIN8 if result == REDUCED else ring.add, number > 1
        yield _plan(
            ring, monoid, result, not ring.add.is_any, valued, (1, 8, 1, 32, 8, 1)[number],
            (FP32, INT8, INT8 if valued else _BYTE), INT64, INT32, INT32, INT64, INT32, INT32,
        )  # fmt: skip
        yield _pair_plan(
            ring, not ring.add.is_any, valued, number % 2 == 0, (FP32, INT8, INT8 if valued else _BYTE),
            *((INT64, INT32, INT64, INT32) if number % 2 == 0 else (INT64, INT32, INT32, INT64)), INT32, INT32,
        )  # fmt: skip
