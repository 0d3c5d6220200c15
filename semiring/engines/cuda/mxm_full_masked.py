"""Products of a sparse matrix with full rows under a mask: each row by the method of less cost."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP32, INT8, INT32, INT64
from ...formats import CSR, FullPattern, word_count
from ...formats.csr import empty_csr
from ...operators.types import TypedSemiring
from ...record_types import zero
from ..recording import note
from ..requests.operands import Mask
from . import compile_samples, tuning
from .algebra import ring_facts
from .arguments import arguments
from .degrees import degrees
from .kernel import Handles, Kernel, kernel
from .launch import values_of
from .mxm_full_rows import product_rows, whole_rows
from .mxm_full_spmm import sparse_times_full
from .primitives import compact_csr
from .specialize import constants, semiring, typedefs

__all__ = ["sparse_full_under_mask"]

_FILE = "mxm_full_masked.cuh"
_BYTE = np.dtype(np.uint8)
# Bytes that the memory transfers for one value.
_SECTOR = 32


class _Flags(NamedTuple):
    """Constants of ``mxm_full_masked.cuh``."""

    G: int
    E: int
    UNROLL: int
    VALUED: bool
    EVERY_ROW: bool
    A_VALUES: bool
    B_VALUES: bool


class _Plan(NamedTuple):
    """The call plan: the packer of ``MaskedArguments``, and the kernel."""

    pack: Callable[..., bytes]
    run: Kernel


@functools.lru_cache(maxsize=1024)
def _plan(ring: TypedSemiring, flags: _Flags, elements: tuple[Any, ...], *integers: np.dtype[Any]) -> _Plan:
    """Return the plan.  elements: the types of the values of A, B, the mask.  integers: AP, AI, BP, MP, MI, CP."""
    types = dict(zip(("A", "B", "M"), elements, strict=True))
    prologue = (
        typedefs(**dict(zip(("AP", "AI", "BP", "MP", "MI", "CP"), integers, strict=True)), **types)
        + constants(**flags._asdict(), BLOCK=tuning.FULL_BLOCK)
        + constants(STARTED=ring_facts(ring).start is not None)
        + semiring(ring)
    )
    pack = arguments(_FILE, "MaskedArguments", **types, Z=ring.z)
    return _Plan(pack, kernel(_FILE, "mxm_full_masked", prologue))


def _power(n: int, most: int) -> int:
    """Return the smallest power of two that is at least n, within 1 to `most`."""
    return min(1 << max(n - 1, 0).bit_length(), most)


def sparse_full_under_mask(a: CSR, b: CSR, ring: TypedSemiring, mask: Mask) -> CSR:
    """t(i, j) = (+)_k a(i, k) (x) b(k, j) for the entries (i, j) that the mask admits, for sparse a and full b.

    Results have values of their own.  Memory beyond the result: a value and a bit for each entry of the mask, and the
    rows of which all columns are computed.  Synchronizes: reads their number, and that of the entries.
    """
    m, z, facts, full, width = mask.store, ring.z, ring_facts(ring), b.pattern, b.ncols
    assert isinstance(m, CSR)
    assert isinstance(full, FullPattern)
    if m.nvals == 0 or a.nvals == 0 or b.nvals == 0:
        return empty_csr(a.nrows, width, z, "cuda")
    structural = mask.structural or (m.iso is not None and bool(m.iso))
    product = a.pattern if full.every_row else product_rows(a.pattern).result(a.pattern, width, full)
    present = degrees(product).words
    reads = facts.x and a.values is not None, facts.y and b.values is not None
    share = max(1, _SECTOR // b.dtype.itemsize) if reads[1] else 1
    rows = whole_rows(a.pattern, present, m.pattern, width, share)  # synchronizes
    whole = sparse_times_full(a, b, ring, rows=rows)
    note(method="masked rows", whole_rows=rows.nvals // max(width, 1))
    unroll = tuning.FULL_UNROLL
    lanes = _power(m.nvals // max(m.nrows, 1), 32)
    groups = 1 if facts.is_any else _power(a.nvals // max(a.nrows, 1) // (2 * unroll), 32 // lanes)
    plan = _plan(
        ring, _Flags(lanes, groups, unroll, not structural, full.every_row, *reads),
        (a.dtype, b.dtype, _BYTE if structural else m.dtype),
        a.indptr.dtype, a.indices.dtype, full.indptr.dtype, m.indptr.dtype, m.indices.dtype, rows.indptr.dtype,
    )  # fmt: skip
    out = cupy.empty(m.nvals, z)
    marks = cupy.zeros(word_count(m.nvals), np.uint32)
    (a_values, a_iso), (b_values, b_iso) = values_of(a), values_of(b)
    m_values, m_iso = (None, _BYTE.type(0)) if structural else values_of(m)
    plan.run(-(-a.nrows // (tuning.FULL_BLOCK // (lanes * groups))), tuning.FULL_BLOCK, plan.pack(
        a_indptr=a.indptr, a_indices=a.indices, a_values=a_values, a_iso=a_iso, b_indptr=full.indptr,
        b_values=b_values, b_iso=b_iso, mask_indptr=m.indptr, mask_indices=m.indices, mask_values=m_values,
        mask_iso=m_iso, present=present, c_indptr=rows.indptr, c_values=whole.values,
        start=zero(z) if facts.start is None else facts.start, nrows=a.nrows, width=width, values=out, marks=marks,
    ))  # fmt: skip
    return compact_csr(CSR(m.pattern, z, out), marks)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    integers = INT64, INT32, INT32, INT32, INT64, INT64
    for number, ring in enumerate(compile_samples.SEMIRINGS):
        facts, valued = ring_facts(ring), number > 2
        lanes, groups = (1, 4, 32, 2, 8)[number], (32, 2, 1, 8, 1)[number]
        flags = _Flags(lanes, groups, tuning.FULL_UNROLL, valued, number != 2, facts.x, facts.y)
        yield _plan(ring, flags, (FP32, INT8, INT8 if valued else _BYTE), *integers)
    for ring in compile_samples.WIDE_SEMIRINGS:
        flags = _Flags(4, 2, tuning.FULL_UNROLL, False, True, True, True)
        yield _plan(ring, flags, (ring.z, ring.z, _BYTE), *integers)
