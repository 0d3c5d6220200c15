"""The write of a matrix:  C<M, replace> accum= T,  in at most seven launches and one read-back."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import BOOL, FP64, INT8, INT32, INT64
from ...formats import CSR, Pattern, index_dtype, word_count
from ...operators.types import TypedBinary
from ..registry import implements
from ..requests.operands import Mask
from ..requests.operations import WriteMatrix
from ..shared.iso_results import write_value
from . import compile_samples
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, read_one, values_of
from .primitives import ROWS, scan_marks
from .specialize import binary, constants, typedefs

_FILE = "write_matrix.cuh"
_INT32 = np.dtype(np.int32)
_BYTE = np.dtype(np.uint8)
_NO, _YES = np.int32(0), np.int32(1)
_UNMASKED = (None, None, None, np.uint8(0), _NO)


@implements(WriteMatrix, engine="cuda")
def write_matrix(q: WriteMatrix) -> CSR:
    """C<M, replace> accum= T: the entries of C and of T that remain are marked, then written to their positions.

    A binary search finds the partner of each entry, so skewed rows cost no more than even ones.  The number of
    entries is read back (synchronizes).
    """
    c, t, nrows = q.c, q.t, q.c.nrows
    nc, nt = c.nvals, t.nvals
    types = (c.dtype, t.dtype, c.indices.dtype, c.indptr.dtype, t.indptr.dtype, index_dtype(nc + nt))
    plan = _plan(types, q.accum, *_mask_types(q.mask))
    on_c, on_t = (c.indptr, c.indices), (t.indptr, t.indices)
    masking = _UNMASKED if q.mask is None else _mask_arguments(q.mask)
    marks = cupy.empty(word_count(nc) + (0 if q.mask is None else word_count(nt)), np.uint32)
    replace = _YES if q.replace else _NO
    plan.mark_c(grid(nc, per_thread=8), BLOCK, nrows, nc, *on_c, *on_t, *masking, replace, marks)
    if q.mask is not None:
        plan.mark_t(grid(nt, per_thread=8), BLOCK, nrows, nc, nt, *on_t, *masking, marks)
    ranks = scan_marks(marks, nc + nt)
    total = read_one(ranks[-1:]) + (nt if q.mask is None else 0)  # synchronizes
    iso = write_value(q)
    indices = cupy.empty(total, c.indices.dtype)
    values = None if iso is not None else cupy.empty(total, c.dtype)
    if total:
        out = (marks, ranks, indices, values)
        plan.from_c(grid(nc), BLOCK, nrows, nc, *on_c, *values_of(c), *on_t, *out)
        plan.from_t(grid(nt), BLOCK, nrows, nc, *on_c, *values_of(c), nt, *on_t, *values_of(t), *out)
    indptr = cupy.empty(nrows + 1, index_dtype(total))
    offsets = _offsets_kernel(plan.prologue, indptr.dtype)
    offsets(grid(nrows + 1), BLOCK, nrows, nc, c.indptr, t.indptr, marks, ranks, indptr)
    return CSR(Pattern(nrows, c.ncols, indptr, indices), c.dtype, values, iso)


class _Plan(NamedTuple):
    """The call plan: the kernels, and the text that they share with `write_offsets`."""

    prologue: str
    mark_c: Kernel
    mark_t: Kernel
    from_c: Kernel
    from_t: Kernel


@functools.lru_cache(maxsize=1024)
def _plan(
    types: tuple[np.dtype[Any], ...],
    accum: TypedBinary | None,
    masked: bool,
    valued: np.dtype[Any] | None,
    mask_offset: np.dtype[Any],
) -> _Plan:
    """Return the plan.

    types: C, T, I, CP, TP, R of the kernels.  valued: the type of the mask's values, where they are read.
    """
    prologue = (
        typedefs(**dict(zip(("C", "T", "I", "CP", "TP", "R"), types, strict=True)))
        + typedefs(MP=mask_offset, M=_BYTE if valued is None else valued)
        + constants(FORM=ROWS, MASKED=masked, VALUED=valued is not None, ACCUMULATED=accum is not None)
        + ("" if accum is None else binary("accumulate", accum))
    )
    names = ("write_mark_c", "write_mark_t", "write_from_c", "write_from_t")
    return _Plan(prologue, *(kernel(_FILE, name, prologue + typedefs(O=_INT32)) for name in names))


@functools.lru_cache(maxsize=1024)
def _offsets_kernel(prologue: str, offset: np.dtype[Any]) -> Kernel:
    return kernel(_FILE, "write_offsets", prologue + typedefs(O=offset))


def _mask_types(mask: Mask | None) -> tuple[bool, np.dtype[Any] | None, np.dtype[Any]]:
    """Return whether there is a mask, the type of its values where they are read, and that of its row offsets."""
    if mask is None:
        return False, None, _INT32
    assert isinstance(mask.store, CSR)
    return True, None if mask.structural else mask.store.dtype, mask.store.indptr.dtype


def _mask_arguments(mask: Mask) -> tuple[Any, ...]:
    store = mask.store
    assert isinstance(store, CSR)
    values, iso = (None, _BYTE.type(0)) if mask.structural else values_of(store)
    return store.indptr, store.indices, values, iso, _YES if mask.complement else _NO


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for number, (masked, valued) in enumerate(((False, None), (True, None), (True, BOOL))):
        index, other = (INT32, INT64)[:: (1, -1)[number % 2]]
        for accum in (compile_samples.PLUS32, compile_samples.SECONDI, None):
            plan = _plan((INT8, FP64, index, other, index, other), accum, masked, valued, other)
            yield plan, _offsets_kernel(plan.prologue, index)
