"""Products of small matrices: sums are accumulated in one slot for each position of the result."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import cupy
import numpy as np
from cupy.cuda import get_current_stream

from ...formats import CSR, Pattern, word_count
from ...formats.csr import empty_csr
from ..recording import note
from ..registry import implements
from ..requests.operations import Mxm
from . import tuning
from .arguments import arguments
from .degrees import degrees
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, read_words
from .mxm_operands import operands, sampled

_FILE = "mxm_dense.cuh"
_INT32 = np.dtype(np.int32)
_STATE_BYTES = 256


class _Plan(NamedTuple):
    """The call plan: the kernels, and the packer of ``DenseArguments``."""

    accumulate: Kernel
    rows: Kernel
    pack: Callable[..., bytes]


@functools.lru_cache(maxsize=1024)
def _plan(prologue: str) -> _Plan:
    accumulate, rows = (kernel(_FILE, name, prologue) for name in ("mxm_dense", "mxm_dense_rows"))
    return _Plan(accumulate, rows, arguments(_FILE, "DenseArguments"))


def is_small(q: Mxm) -> bool:
    """Return True if few slots are needed, and no warp has many steps.  Synchronizes if row lengths are not cached.

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

    Memory beyond the result: a value and two bits for each position.  Synchronizes: the number of entries is read back.
    """
    a, b, z = q.a, q.b, q.semiring.z
    nrows, ncols = a.nrows, b.ncols
    note(method="dense")
    if a.nvals == 0 or b.nvals == 0:
        return empty_csr(nrows, ncols, z, "cuda")
    given = operands(q)
    iso, plan = given.iso, _plan(given.prologue)
    words = word_count(ncols)
    bits = 4 * nrows * words
    slots_at = _STATE_BYTES + (bits if q.mask is None else 2 * bits)
    slots_at += -slots_at % _STATE_BYTES
    memory = cupy.cuda.alloc(slots_at + (32 * nrows * words * z.itemsize if iso is None else 0))
    memory.memset_async(0, slots_at, get_current_stream())
    state, marks = memory.ptr, memory.ptr + _STATE_BYTES
    indptr = cupy.empty(nrows + 1, _INT32)
    blocks = grid(32 * nrows)
    plan.accumulate(blocks, BLOCK, given.packed, plan.pack(
        words=words, marks=marks, admitted=marks + bits, slots=state + slots_at, state=state, indptr=indptr,
    ))  # fmt: skip
    (nvals,) = read_words(state + 8, 1)  # synchronizes
    indices = cupy.empty(nvals, _INT32)
    values = None if iso is not None else cupy.empty(nvals, z)
    plan.rows(blocks, BLOCK, nrows, words, marks, state + slots_at, indptr, indices, values)
    return CSR(Pattern(nrows, ncols, indptr, indices), z, values, iso)


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return tuple(_plan(prologue) for prologue, _ in sampled())
