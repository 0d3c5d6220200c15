"""Products of small matrices: sums are accumulated in one slot for each position of the result."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np
from cupy.cuda import get_current_stream

from ...dtypes import FP32, INT8, INT32, INT64
from ...formats import CSR, Pattern, word_count
from ...formats.csr import empty_csr
from ...operators.types import TypedSemiring
from ..constants import product_value
from ..recording import note
from ..registry import implements
from ..spec import Mxm
from . import samples, tuning
from .arguments import arguments
from .degrees import degrees
from .kernel import Kernel, kernel
from .launch import BLOCK, grid, read_words, values_of
from .specialise import constants, semiring, typedefs

_FILE = "mxm_dense.cuh"
_INT32 = np.dtype(np.int32)
_BYTE = np.dtype(np.uint8)
_STATE_BYTES = 256


class _Plan(NamedTuple):
    """The call plan: the kernels, and the packer of ``DenseArguments``."""

    accumulate: Kernel
    rows: Kernel
    pack: Callable[..., bytes]


@functools.lru_cache(maxsize=1024)
def _plan(
    ring: TypedSemiring,
    mask: tuple[bool, bool] | None,
    keeps: bool,
    elements: tuple[Any, ...],
    *integers: np.dtype[Any],
) -> _Plan:
    """Return the plan.

    mask: whether it admits by value, and whether it is complemented.  keeps: results have values of their own.
    elements: the types of the values of A, B and the mask.  integers: AP, AI, BP, BI, MP, MI of the kernel.
    """
    valued, complement = mask or (False, False)
    prologue = (
        typedefs(**dict(zip(("AP", "AI", "BP", "BI", "MP", "MI"), integers, strict=True)))
        + typedefs(**dict(zip(("A", "B", "M"), elements, strict=True)))
        + constants(MASKED=mask is not None, VALUED=valued, COMPLEMENT=complement, KEEPS=keeps)
        + semiring(ring)
    )
    types = dict(zip(("A", "B", "M"), elements, strict=True))
    pack = arguments(_FILE, "DenseArguments", **types)
    return _Plan(kernel(_FILE, "mxm_dense", prologue), kernel(_FILE, "mxm_dense_rows", prologue), pack)


def constant(q: Mxm) -> np.generic | None:
    """Return the value of every result if products are constant and the monoid is `any`, else None."""
    return product_value(q.semiring, q.a.iso, q.b.iso) if q.semiring.add.is_any else None


def is_small(q: Mxm) -> bool:
    """Return True if few slots are needed, and no warp has many steps.  Synchronises if row lengths are not cached.

    A warp has a step for 32 entries of a row of B, and one for 32 presence words of its row of the result.
    """
    a, ncols = q.a, q.ncols
    words = word_count(ncols)
    if (
        q.method not in ("auto", "dense")
        or a.nrows * words > tuning.DENSE_SLOTS // 32
        or words // 32 > tuning.DENSE_STEPS
    ):
        return False
    b = q.b
    most = min(a.nvals, a.ncols) * -(-min(b.nvals, b.ncols) // 32)
    if most > tuning.DENSE_STEPS:
        most = degrees(a.pattern).longest * -(-degrees(b.pattern).longest // 32)
    return most <= tuning.DENSE_STEPS


@implements(Mxm, engine="cuda", fuses=("mask",), when=is_small, priority=1)
def mxm_dense(q: Mxm) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j) of small matrices, in two launches.

    Memory beyond the result: a value and two bits for each position.  Synchronises: the number of entries is read back.
    """
    a, b, z, mask = q.a, q.b, q.semiring.z, q.mask
    nrows, ncols = a.nrows, b.ncols
    note(method="dense")
    if a.nvals == 0 or b.nvals == 0:
        return empty_csr(nrows, ncols, z, "cuda")
    iso = constant(q)
    m = None if mask is None else mask.store
    assert m is None or isinstance(m, CSR)
    valued = mask is not None and not mask.structural
    plan = _plan(
        q.semiring,
        None if mask is None else (valued, mask.complement),
        iso is None,
        (a.dtype, b.dtype, m.dtype if m is not None and valued else _BYTE),
        a.indptr.dtype, a.indices.dtype, b.indptr.dtype, b.indices.dtype,
        _INT32 if m is None else m.indptr.dtype, _INT32 if m is None else m.indices.dtype,
    )  # fmt: skip
    words = word_count(ncols)
    bits = 4 * nrows * words
    slots_at = _STATE_BYTES + (bits if m is None else 2 * bits)
    slots_at += -slots_at % _STATE_BYTES
    memory = cupy.cuda.alloc(slots_at + (32 * nrows * words * z.itemsize if iso is None else 0))
    memory.memset_async(0, slots_at, get_current_stream())
    state, marks = memory.ptr, memory.ptr + _STATE_BYTES
    indptr = cupy.empty(nrows + 1, _INT32)
    (a_values, a_iso), (b_values, b_iso) = values_of(a), values_of(b)
    m_values, m_iso = values_of(m) if m is not None and valued else (None, _BYTE.type(0))
    blocks = grid(32 * nrows)
    plan.accumulate(blocks, BLOCK, plan.pack(
        a_indptr=a.indptr, a_indices=a.indices, a_values=a_values, a_iso=a_iso, b_indptr=b.indptr, b_indices=b.indices,
        b_values=b_values, b_iso=b_iso, mask_indptr=None if m is None else m.indptr,
        mask_indices=None if m is None else m.indices, mask_values=m_values, mask_iso=m_iso, nrows=nrows, words=words,
        marks=marks, admitted=marks + bits, slots=state + slots_at, state=state, indptr=indptr,
    ))  # fmt: skip
    (nvals,) = read_words(state + 8, 1)  # synchronises
    indices = cupy.empty(nvals, _INT32)
    values = None if iso is not None else cupy.empty(nvals, z)
    plan.rows(blocks, BLOCK, nrows, words, marks, state + slots_at, indptr, indices, values)
    return CSR(Pattern(nrows, ncols, indptr, indices), z, values, iso)


def catalogue() -> Iterator[samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalogue for the kernels of this module."""
    for number, ring in enumerate(samples.SEMIRINGS):
        types = typedefs(AP=INT64, AI=INT32, A=FP32, BP=INT32, BI=INT64, B=INT8, MP=INT32, MI=INT32, M=INT8)
        flags = constants(MASKED=number > 0, VALUED=number > 1, COMPLEMENT=number > 2, KEEPS=not ring.add.is_any)
        yield _FILE, types + flags + semiring(ring)
