"""The write of a matrix:  C<M, replace> accum= T,  in at most seven launches and one read-back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import BOOL, FP64, INT8, INT32, INT64
from ...formats import CSR, Array, Pattern, index_dtype, word_count
from ...operators.types import TypedBinary
from ..registry import implements
from ..requests.operands import Mask
from ..requests.operations import WriteMatrix
from ..shared.iso_results import write_value
from . import compile_samples
from .arguments import arguments
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, read_one, values_of
from .primitives import ROWS, scan_marks
from .specialize import binary, constants, typedefs

_FILE = "write_matrix.cuh"
_INT32 = np.dtype(np.int32)
_BYTE = np.dtype(np.uint8)


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
    marks = cupy.empty(word_count(nc) + (0 if q.mask is None else word_count(nt)), np.uint32)
    packed = _packed(plan, q, marks)
    plan.mark_c(grid(nc, per_thread=8), BLOCK, packed)
    if q.mask is not None:
        plan.mark_t(grid(nt, per_thread=8), BLOCK, packed)
    ranks = scan_marks(marks, nc + nt)
    total = read_one(ranks[-1:]) + (nt if q.mask is None else 0)  # synchronizes
    iso = write_value(q)
    indices = cupy.empty(total, c.indices.dtype)
    values = None if iso is not None else cupy.empty(total, c.dtype)
    packed = _packed(plan, q, marks, ranks, indices, values)
    if total:
        plan.from_c(grid(nc), BLOCK, packed)
        plan.from_t(grid(nt), BLOCK, packed)
    indptr = cupy.empty(nrows + 1, index_dtype(total))
    offsets = _offsets_kernel(plan.prologue, indptr.dtype)
    offsets(grid(nrows + 1), BLOCK, packed, indptr)
    return CSR(Pattern(nrows, c.ncols, indptr, indices), c.dtype, values, iso)


class _Plan(NamedTuple):
    """The call plan: the packer of ``WriteArguments``, the kernels, and the text that `write_offsets` shares."""

    pack: Callable[..., bytes]
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
    element = _BYTE if valued is None else valued
    prologue = (
        typedefs(**dict(zip(("C", "T", "I", "CP", "TP", "R"), types, strict=True)))
        + typedefs(MP=mask_offset, M=element)
        + constants(FORM=ROWS, MASKED=masked, VALUED=valued is not None, ACCUMULATED=accum is not None)
        + ("" if accum is None else binary("accumulate", accum))
    )
    names = ("write_mark_c", "write_mark_t", "write_from_c", "write_from_t")
    pack = arguments(_FILE, "WriteArguments", C=types[0], T=types[1], M=element)
    return _Plan(pack, prologue, *(kernel(_FILE, name, prologue + typedefs(O=_INT32)) for name in names))


@functools.lru_cache(maxsize=1024)
def _offsets_kernel(prologue: str, offset: np.dtype[Any]) -> Kernel:
    return kernel(_FILE, "write_offsets", prologue + typedefs(O=offset))


def _mask_types(mask: Mask | None) -> tuple[bool, np.dtype[Any] | None, np.dtype[Any]]:
    """Return whether there is a mask, the type of its values where they are read, and that of its row offsets."""
    if mask is None:
        return False, None, _INT32
    assert isinstance(mask.store, CSR)
    return True, None if mask.structural else mask.store.dtype, mask.store.indptr.dtype


def _packed(
    plan: _Plan, q: WriteMatrix, marks: Array, ranks: Array | None = None, indices: Any = None, values: Any = None
) -> bytes:
    """Return ``WriteArguments``.  ranks, indices, values: None for the kernels that mark."""
    store = None if q.mask is None else q.mask.store
    assert store is None or isinstance(store, CSR)
    mask_values, mask_iso = (None, 0) if q.mask is None or q.mask.structural else values_of(q.mask.store)
    (c_values, c_iso), (t_values, t_iso) = values_of(q.c), values_of(q.t)
    return plan.pack(
        nrows=q.c.nrows, nc=q.c.nvals, nt=q.t.nvals, c_indptr=q.c.indptr, c_indices=q.c.indices, c_values=c_values,
        c_iso=c_iso, t_indptr=q.t.indptr, t_indices=q.t.indices, t_values=t_values, t_iso=t_iso,
        mask_indptr=None if store is None else store.indptr, mask_indices=None if store is None else store.indices,
        mask_values=mask_values, mask_iso=mask_iso, complement=q.mask is not None and q.mask.complement,
        replace=q.replace, marks=marks, ranks=ranks, out_indices=indices, out_values=values,
    )  # fmt: skip


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for number, (masked, valued) in enumerate(((False, None), (True, None), (True, BOOL))):
        index, other = (INT32, INT64)[:: (1, -1)[number % 2]]
        for accum in (compile_samples.PLUS32, compile_samples.SECONDI, None):
            plan = _plan((INT8, FP64, index, other, index, other), accum, masked, valued, other)
            yield plan, _offsets_kernel(plan.prologue, index)
