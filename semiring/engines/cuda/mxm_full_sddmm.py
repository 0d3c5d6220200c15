"""Products of full rows under a sparse mask (SDDMM): a dot product for each entry of the mask."""

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
from ..shared.iso_results import product_value
from . import compile_samples, tuning
from .algebra import ring_facts
from .arguments import arguments
from .kernel import Handles, Kernel, kernel
from .launch import values_of
from .mxm_full_rows import product_rows
from .mxm_full_spmm import Lanes, values_at_once
from .primitives import compact_csr
from .specialize import constants, semiring, typedefs

__all__ = ["full_under_mask"]

_FILE = "mxm_full_sddmm.cuh"
_BYTE = np.dtype(np.uint8)


class _Flags(NamedTuple):
    """Constants of ``mxm_full_sddmm.cuh``."""

    CHUNKED: bool
    MARKED: bool
    VALUED: bool
    A_EVERY: bool
    B_EVERY: bool
    A_VALUES: bool
    B_VALUES: bool


class _Plan(NamedTuple):
    """The call plan: the packer of ``SddmmArguments``, and the kernel."""

    pack: Callable[..., bytes]
    run: Kernel


@functools.lru_cache(maxsize=1024)
def _lanes(inner: int, values: int, entries: int) -> Lanes:
    """Return how lanes divide the work.  entries: of an average row of the mask."""
    packs = -(-inner // values)
    repeats = min(tuning.FULL_REPEATS, 1 << max(packs - 1, 0).bit_length())
    group = min(32, 1 << max(-(-packs // repeats) - 1, 0).bit_length())
    unroll = max(tuning.FULL_UNROLL // repeats, 1)
    each = min(32 // group, 1 << max(entries // (2 * unroll) - 1, 0).bit_length())
    return Lanes(group, each, values, repeats, unroll)


@functools.lru_cache(maxsize=1024)
def _plan(
    ring: TypedSemiring, lanes: Lanes, flags: _Flags, elements: tuple[Any, ...], *integers: np.dtype[Any]
) -> _Plan:
    """Return the plan.  elements: the types of the values of A, B', the mask.  integers: MP, MI, AP, BP."""
    facts, types = ring_facts(ring), dict(zip(("A", "B", "M"), elements, strict=True))
    prologue = (
        typedefs(**dict(zip(("MP", "MI", "AP", "BP"), integers, strict=True)), **types)
        + constants(**lanes._asdict(), **flags._asdict(), SEGMENT=tuning.FULL_SEGMENT, BLOCK=tuning.FULL_BLOCK)
        + constants(STARTED=facts.start is not None)
        + semiring(ring)
    )
    return _Plan(arguments(_FILE, "SddmmArguments", **types, Z=ring.z), kernel(_FILE, "mxm_sddmm", prologue))


def full_under_mask(a: CSR, t: CSR, ring: TypedSemiring, mask: Mask) -> CSR:
    """c(i, j) = (+)_k a(i, k) (x) t(j, k) for the entries (i, j) that the mask admits; a and t have full rows.

    The result shares the pattern of a structural mask if no row of a and t is empty; otherwise entries are marked, and
    their number is read back.  Synchronizes also if the long rows of the mask are not known.
    """
    m, z, facts, stride = mask.store, ring.z, ring_facts(ring), a.ncols
    assert isinstance(m, CSR)
    assert isinstance(a.pattern, FullPattern)
    assert isinstance(t.pattern, FullPattern)
    if m.nvals == 0 or a.nvals == 0 or t.nvals == 0:
        return empty_csr(a.nrows, t.nrows, z, "cuda")
    note(method="sddmm")
    structural = mask.structural or (m.iso is not None and bool(m.iso))
    every = a.pattern.every_row, t.pattern.every_row
    iso = product_value(ring, a.iso, t.iso)
    if structural and all(every) and iso is not None:
        return CSR(m.pattern, z, None, iso)
    reads = facts.x and a.values is not None, facts.y and t.values is not None
    inner = 1 if facts.is_any else stride  # any one product suffices
    values = values_at_once(inner, 16, a.values if reads[0] else None, t.values if reads[1] else None)
    lanes = _lanes(inner, values, m.nvals // max(m.nrows, 1))
    chunked = inner > lanes.G * lanes.V * lanes.R
    flags = _Flags(chunked, not (structural and all(every)), not structural, *every, *reads)
    plan = _plan(
        ring, lanes, flags, (a.dtype, t.dtype, _BYTE if structural else m.dtype),
        m.indptr.dtype, m.indices.dtype, a.indptr.dtype, t.indptr.dtype,
    )  # fmt: skip
    segments = product_rows(m.pattern).segments(m.pattern)
    out = cupy.empty(m.nvals, z) if iso is None else None
    marks = cupy.zeros(word_count(m.nvals), np.uint32) if flags.MARKED else None
    (a_values, a_iso), (t_values, t_iso) = values_of(a), values_of(t)
    m_values, m_iso = (None, _BYTE.type(0)) if structural else values_of(m)
    blocks = -(-(m.nrows + segments.segment_count) // (tuning.FULL_BLOCK // (lanes.G * lanes.E)))
    plan.run(blocks, tuning.FULL_BLOCK, plan.pack(
        mask_indptr=m.indptr, mask_indices=m.indices, mask_values=m_values, mask_iso=m_iso, a_indptr=a.indptr,
        a_values=a_values, a_iso=a_iso, t_indptr=t.indptr, t_values=t_values, t_iso=t_iso,
        start=zero(z) if facts.start is None else facts.start, nrows=m.nrows, inner=inner, stride=stride,
        segment_count=segments.segment_count, segments=segments.segments, values=out, marks=marks,
    ))  # fmt: skip
    made = CSR(m.pattern, z, out, iso)
    return made if marks is None else compact_csr(made, marks)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    integers = INT64, INT32, INT32, INT64
    for number, ring in enumerate(compile_samples.SEMIRINGS):
        facts, valued = ring_facts(ring), number > 2
        inner, values = ((20, 2), (33, 1), (64, 4), (4096, 4), (1, 1))[number]
        lanes = _lanes(inner, values, 8 << number)
        chunked, every = inner > lanes.G * lanes.V * lanes.R, (number != 2, number != 4)
        reads = facts.x and number != 1, facts.y and number != 3
        flags = _Flags(chunked, valued or not all(every), valued, *every, *reads)
        yield _plan(ring, lanes, flags, (FP32, INT8, INT8 if valued else _BYTE), *integers)
    for ring in compile_samples.WIDE_SEMIRINGS:
        flags = _Flags(False, True, False, True, False, True, True)
        yield _plan(ring, _lanes(64, 2, 16), flags, (ring.z, ring.z, _BYTE), *integers)
