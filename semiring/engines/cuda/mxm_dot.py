"""Products under a mask with few entries: a dot product for each entry of the mask."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP32, INT8, INT32, INT64
from ...formats import CSR, word_count
from ...formats.csr import empty_csr
from ...operators.types import TypedSemiring
from ..operands import simplified
from ..recording import note
from ..spec import Mxm
from . import samples, tuning
from .arguments import arguments
from .kernel import Kernel, kernel
from .launch import BLOCK, counter, grid, multiprocessors, read_words, scratch, values_of
from .mxm_dense import constant
from .mxm_panels import rows_cost, sorted_cost
from .primitives import compact_csr
from .specialise import constants, semiring, typedefs

__all__ = ["dot_products"]

_FILE = "mxm_dot.cuh"
_BYTE = np.dtype(np.uint8)
_SAMPLES = 1 << 16


class _Plan(NamedTuple):
    """The call plan: the packer of ``DotArguments``, and the kernels."""

    pack: Callable[..., bytes]
    estimate: Kernel
    rows: Kernel
    small: Kernel
    large: Kernel


@functools.lru_cache(maxsize=1024)
def _plan(
    ring: TypedSemiring,
    keeps: bool,
    valued: bool,
    lanes: int,
    elements: tuple[Any, ...],
    *integers: np.dtype[Any],
) -> _Plan:
    """Return the plan.

    keeps: results have values of their own.  valued: the mask admits entries by value.  lanes: for an entry of the
    mask.  elements: the types of the values of A, B and the mask.  integers: AP, AI, BP, BI, MP, MI of the kernels.
    """
    types = dict(zip(("A", "B", "M"), elements, strict=True))
    prologue = (
        typedefs(**dict(zip(("AP", "AI", "BP", "BI", "MP", "MI"), integers, strict=True)))
        + typedefs(**types)
        + constants(VALUED=valued, KEEPS=keeps, FORM=2, GROUP=lanes)
        + _sizes()
        + semiring(ring)
    )
    names = ("mxm_dot_estimate", "mxm_dot_list", "mxm_dot_small", "mxm_dot_large")
    return _Plan(arguments(_FILE, "DotArguments", **types), *(kernel(_FILE, name, prologue) for name in names))


def _sizes() -> str:
    return constants(
        SMALL=tuning.DOT_SMALL, LARGE=tuning.DOT_LARGE, SEGMENT=tuning.DOT_SEGMENT, SWAP=tuning.DOT_SWAP,
        SEARCHED=tuning.SEARCHED_PROBE,
    )  # fmt: skip


def dot_products(q: Mxm) -> CSR | None:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j) for the entries (i, j) of the mask; None if another method costs less.

    The cost, in probes of a hash table, is estimated from a sample of the mask and of A.  Memory beyond the result: a
    value and a bit for each entry of the mask, 24 bytes a row, and 16 bytes for each DOT_SEGMENT entries of the mask.
    Synchronises: reads the estimates and the number of entries of the result.
    """
    mask = simplified(q.mask)
    if isinstance(mask, bool) or mask.complement or not isinstance(mask.store, CSR):
        return None
    assert q.by_column is not None
    m, a, t, z = mask.store, q.a, q.by_column.get(), q.semiring.z
    if m.nvals == 0:  # nothing to sample
        return empty_csr(a.nrows, q.ncols, z, "cuda")
    iso, valued = constant(q), not mask.structural
    marks = cupy.zeros(word_count(m.nvals), np.uint32)
    values = cupy.empty(m.nvals, z) if iso is None else None
    segments = a.nrows + m.nvals // tuning.DOT_SEGMENT + 1
    memory, (small, large) = scratch(8 * a.nrows, 16 * segments)
    state = counter(4)
    (a_values, a_iso), (b_values, b_iso) = values_of(a), values_of(t)
    m_values, m_iso = values_of(m) if valued else (None, _BYTE.type(0))
    types = (
        (a.dtype, t.dtype, m.dtype if valued else _BYTE),
        a.indptr.dtype, a.indices.dtype, t.indptr.dtype, t.indices.dtype, m.indptr.dtype, m.indices.dtype,
    )  # fmt: skip
    packed = _plan(q.semiring, iso is None, valued, 1, *types).pack(
        a_indptr=a.indptr, a_indices=a.indices, a_values=a_values, a_iso=a_iso, t_indptr=t.indptr, t_indices=t.indices,
        t_values=b_values, b_iso=b_iso, mask_indptr=m.indptr, mask_indices=m.indices, mask_values=m_values,
        mask_iso=m_iso, nrows=a.nrows, marks=marks, values=values, small=small, large=large, state=state,
    )  # fmt: skip
    probes, products = _estimates(q, _plan(q.semiring, iso is None, valued, 1, *types), packed, m)
    if q.method == "auto" and q.by_row.ready and min(sorted_cost(products), rows_cost(q, products)) < probes:
        return None
    note(method="dot", probes=probes)
    plan = _plan(q.semiring, iso is None, valued, _lanes(probes / m.nvals), *types)
    plan.rows(grid(a.nrows), BLOCK, packed)
    shared = (
        tuning.DOT_LARGE * 2 * (a.indices.dtype.itemsize + (4 if iso is None and "x" in q.semiring.mult.uses else 0))
    )
    blocks = multiprocessors() * 8
    plan.small(blocks, BLOCK, packed)
    plan.large(blocks, BLOCK, packed, shared=shared + 64)
    del memory  # referenced until the last kernel that uses it is queued
    whole = CSR(m.pattern, z, values, iso)
    return compact_csr(whole, marks)  # synchronises


def _estimates(q: Mxm, plan: _Plan, packed: bytes, m: CSR) -> tuple[int, int]:
    """Return the expected probes, and the expected products of the whole product, from samples.  Synchronises."""
    sums, samples = counter(2), min(_SAMPLES, m.nvals)
    b_indptr = q.by_row.get().indptr if q.by_row.ready else None
    plan.estimate(grid(samples), BLOCK, packed, b_indptr, q.a.nvals, m.nvals, samples, sums)
    probes, products = read_words(sums.data.ptr, 2)  # synchronises
    return probes * m.nvals // samples, products * q.a.nvals // samples


def _lanes(average: float) -> int:
    """Return the lanes for an entry of the mask, so that each has DOT_PROBES probes or more on average."""
    lanes = 1
    while lanes < 32 and 2 * lanes * tuning.DOT_PROBES <= average:
        lanes *= 2
    return lanes


def catalogue() -> Iterator[samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalogue for the kernels of this module."""
    for number, ring in enumerate(samples.SEMIRINGS):
        types = typedefs(AP=INT64, AI=INT32, A=FP32, BP=INT32, BI=INT64, B=INT8, MP=INT32, MI=INT32, M=INT8)
        flags = constants(VALUED=number > 1, KEEPS=not ring.add.is_any, FORM=2, GROUP=(1, 8, 32)[number % 3])
        yield _FILE, types + flags + _sizes() + semiring(ring)
