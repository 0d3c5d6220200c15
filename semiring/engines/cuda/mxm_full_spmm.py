"""Products of a sparse matrix with full rows (SpMM): all columns of a row at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP32, INT8, INT32, INT64
from ...formats import CSR, Array, FullPattern
from ...operators.types import TypedSemiring
from ...record_types import zero
from ..recording import note
from ..shared.iso_results import product_value
from . import compile_samples, tuning
from .algebra import ring_facts
from .arguments import arguments
from .kernel import Handles, Kernel, kernel
from .launch import scratch, values_of
from .mxm_full_rows import product_rows
from .specialize import constants, semiring, typedefs

__all__ = ["Lanes", "sparse_times_full", "values_at_once"]

_FILE = "mxm_full_spmm.cuh"


class Lanes(NamedTuple):
    """How the lanes of a warp divide the work: see ``mxm_full_spmm.cuh``."""

    G: int
    E: int
    V: int
    R: int
    UNROLL: int


class _Plan(NamedTuple):
    """The call plan: the packer of ``SpmmArguments``, and the kernels."""

    pack: Callable[..., bytes]
    rows: Kernel
    combine: Kernel


def _power(n: int) -> int:
    """Return the smallest power of two that is at least n, and at least 1."""
    return 1 << max(n - 1, 0).bit_length()


def _power_below(n: int) -> int:
    """Return the largest power of two from 1 to 16 that is at most n; 1 for 0."""
    return min(16, 1 << (max(n, 1).bit_length() - 1))


def values_at_once(length: int, most: int, *arrays: Array | None) -> int:
    """Return how many values of rows of `length` a lane transfers at once, a power of two and at most `most`.

    arrays: of rows that are read, or None.  An instruction transfers up to 16 bytes, to which addresses are aligned;
    one value at once may be aligned to its parts only.
    """
    for array in arrays:
        if array is not None:
            size = array.dtype.itemsize
            most = min(most, 16 // size) if size in (1, 2, 4, 8) else 1  # wider values, and records of odd sizes
            while most > 1 and array.data.ptr % (most * size):
                most //= 2
    while length % most:
        most //= 2
    return most


@functools.lru_cache(maxsize=1024)
def lanes_for(width: int, values: int, entries: int, is_any: bool) -> Lanes:
    """Return how lanes divide rows of `width` values.

    values: of one lane at most.  entries: of an average row of the sparse matrix.  is_any: the first product suffices.
    """
    packs = -(-width // values)
    repeats = 2 if 32 < packs < 64 else 1
    group = min(32, _power(-(-packs // repeats)))
    if is_any:
        return Lanes(group, 1, values, repeats, 1)
    unroll = tuning.FULL_UNROLL // repeats
    return Lanes(group, min(32 // group, _power(entries // (2 * unroll))), values, repeats, unroll)


@functools.lru_cache(maxsize=1024)
def _plan(
    ring: TypedSemiring,
    lanes: Lanes,
    flip: bool,
    every_row: bool,
    reads: tuple[bool, bool],
    elements: tuple[Any, ...],
    *integers: np.dtype[Any],
) -> _Plan:
    """Return the plan.

    flip, every_row: FLIP and EVERY_ROW of the kernel.  reads: products read the array of values of A, of B.
    elements: the types of the values of A and B.  integers: AP, AI, BP, CP.
    """
    facts, types = ring_facts(ring), dict(zip(("A", "B"), elements, strict=True))
    prologue = (
        typedefs(**dict(zip(("AP", "AI", "BP", "CP"), integers, strict=True)), **types)
        + constants(
            **lanes._asdict(), SEGMENT=tuning.FULL_SEGMENT, BLOCK=tuning.FULL_BLOCK, FLIP=flip, EARLY=facts.early
        )
        + constants(EVERY_ROW=every_row, A_VALUES=reads[0], B_VALUES=reads[1])
        + constants(STARTED=facts.start is not None)
        + semiring(ring)
    )
    pack = arguments(_FILE, "SpmmArguments", **types, Z=ring.z)
    return _Plan(pack, kernel(_FILE, "mxm_spmm", prologue), kernel(_FILE, "mxm_spmm_combine", prologue))


def sparse_times_full(
    a: CSR, b: CSR, ring: TypedSemiring, *, flip: bool = False, rows: FullPattern | None = None
) -> CSR:
    """t(i, j) = (+)_k a(i, k) (x) b(k, j) for sparse a and full b; under `flip` the product is b(k, j) (x) a(i, k).

    rows: the rows to compute, all of which have a product; None: all rows.  The result has full rows.  Memory beyond
    the result: a row of it for each FULL_SEGMENT entries of long rows.
    Synchronizes if the rows of the result are not cached.
    """
    known, full, z, facts = product_rows(a.pattern), b.pattern, ring.z, ring_facts(ring)
    assert isinstance(full, FullPattern)
    width = b.ncols
    made = known.result(a.pattern, width, None if full.every_row else full) if rows is None else rows
    iso = product_value(ring, b.iso, a.iso) if flip else product_value(ring, a.iso, b.iso)
    if iso is not None or made.nvals == 0:
        note(method="spmm")
        return CSR(made, z, cupy.empty(0, z) if iso is None else None, iso)
    read_a, read_b = (facts.y, facts.x) if flip else (facts.x, facts.y)
    reads = read_a and a.values is not None, read_b and b.values is not None
    values = values_at_once(width, _power_below(32 // z.itemsize), b.values if reads[1] else None)
    lanes = lanes_for(width, values, a.nvals // max(a.nrows, 1), facts.is_any)
    segments = known.segments(a.pattern)
    note(method="spmm", lanes=lanes.G * lanes.E, segments=segments.segment_count)
    plan = _plan(
        ring, lanes, flip, full.every_row, reads, (a.dtype, b.dtype),
        a.indptr.dtype, a.indices.dtype, full.indptr.dtype, made.indptr.dtype,
    )  # fmt: skip
    out = cupy.empty(made.nvals, z)
    memory, (partial, hits) = (
        scratch(segments.segment_count * width * z.itemsize, segments.segment_count)
        if segments.segment_count
        else (None, (0, 0))
    )
    (a_values, a_iso), (b_values, b_iso) = values_of(a), values_of(b)
    per_block = tuning.FULL_BLOCK // (lanes.G * lanes.E)
    blocks = -(-(a.nrows + segments.segment_count) // per_block)
    panels = -(-width // (lanes.G * lanes.V * lanes.R))

    def packed(blocks: int) -> bytes:
        return plan.pack(
            a_indptr=a.indptr, a_indices=a.indices, a_values=a_values, a_iso=a_iso, b_indptr=full.indptr,
            b_values=b_values, b_iso=b_iso, c_indptr=made.indptr, c_values=out,
            start=zero(z) if facts.start is None else facts.start, nrows=a.nrows, width=width, blocks=blocks,
            segment_count=segments.segment_count, segments=segments.segments, long_rows=segments.long_rows,
            partial=partial, partial_hits=hits,
        )  # fmt: skip

    plan.rows(blocks * panels, tuning.FULL_BLOCK, packed(blocks))
    if segments.long_count:
        columns = -(-width // (lanes.G * lanes.V))
        plan.combine(segments.long_count * columns, tuning.FULL_BLOCK, packed(segments.long_count))
    del memory
    return CSR(made, z, out)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    integers = INT64, INT32, INT32, INT64
    for number, ring in enumerate(compile_samples.SEMIRINGS):
        facts, flip = ring_facts(ring), number % 2 == 1
        width, values = ((1, 1), (33, 1), (64, 4), (256, 4), (20, 2))[number]
        reads = (facts.y, facts.x) if flip else (facts.x, facts.y)
        lanes = lanes_for(width, values, 8 << number, facts.is_any)
        yield _plan(ring, lanes, flip, number != 2, reads, (FP32, INT8), *integers)
    for ring in compile_samples.WIDE_SEMIRINGS:
        lanes = lanes_for(64, max(1, 16 // ring.z.itemsize), 16, ring.add.is_any)
        yield _plan(ring, lanes, False, True, (True, True), (ring.z, ring.z), *integers)
