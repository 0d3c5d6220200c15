"""The write of a vector:  C<M, replace> accum= T,  in one launch."""

from __future__ import annotations

import functools
from itertools import product
from typing import Any

import cupy
import numpy as np

from ...dtypes import BOOL, FP64, INT8
from ...formats import CSR, Array, Bitmap, Full, IndexList, VectorStore, word_count
from ...formats.values import with_values
from ...operators.types import TypedBinary
from ...record_types import zero
from ..registry import implements
from ..requests.operations import WriteVector
from ..shared.expression_numpy import cast, scalar
from ..shared.iso_results import write_value
from . import compile_samples
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, bitmap, counter, full, grid, values_of
from .primitives import as_dense, cast_array
from .specialize import binary, constants, typedefs

_BYTE = np.dtype(np.uint8)
_ZERO = np.uint8(0)
_NO, _YES = np.int32(0), np.int32(1)
# The kernel arguments of no mask: words, whether all are present, values, iso value, complement.
_UNMASKED: tuple[Any, ...] = (None, _YES, None, _ZERO, _NO)
# Never called; the kernel names it in a branch that is left out.
NO_ACCUMULATOR = "DEVICE C accumulate(C c, T t) { return c; }\n"


@implements(WriteVector, engine="cuda")
def write_vector(q: WriteVector) -> VectorStore:
    """C<M, replace> accum= T: one launch for bitmaps and full vectors, one more for each index list among them.

    Does not wait for the device: the result is a bitmap whose count stays on the device, or full if that is certain.
    """
    size, dtype = q.c.size, q.c.dtype
    if q.accum is None and q.mask is None:
        return _cast(q.t, dtype)
    iso = write_value(q)
    out_values = None if iso is not None else cupy.empty(size, dtype)
    if _stays_full(q):
        words = count = None
    else:
        words = cupy.empty(word_count(size), np.uint32)
        count = counter()
    if size and (words is not None or out_values is not None):
        mask, masking, masked = q.mask, _UNMASKED, None
        if mask is not None:
            assert not isinstance(mask.store, CSR)
            present, everywhere, mask_values, mask_iso = operand(mask.store)
            if mask.structural:
                mask_values, mask_iso = None, _ZERO
            else:
                masked = mask.store.dtype
            masking = (present, everywhere, mask_values, mask_iso, _YES if mask.complement else _NO)
        write = _kernel(dtype, q.t.dtype, q.accum, mask is not None, masked)
        replace = _YES if q.replace else _NO
        write(grid(size), BLOCK, size, *operand(q.c), *operand(q.t), *masking, replace, words, out_values, count)
    values = iso if out_values is None else out_values
    if words is None:
        return full(size, dtype, values)
    return bitmap(size, dtype, words, values, 0 if size == 0 or count is None else count)


@functools.lru_cache(maxsize=1024)
def _kernel(
    c: np.dtype[Any], t: np.dtype[Any], accum: TypedBinary | None, masked: bool, valued: np.dtype[Any] | None
) -> Kernel:
    """valued: the type of the mask's values, where they are read."""
    prologue = typedefs(C=c, T=t, M=_BYTE if valued is None else valued)
    prologue += constants(FORM=0, MASKED=masked, VALUED=valued is not None, ACCUMULATED=accum is not None)
    prologue += NO_ACCUMULATOR if accum is None else binary("accumulate", accum)
    return kernel("write.cuh", "write_vector", prologue)


def operand(store: VectorStore) -> tuple[Array | None, np.int32, Array | None, np.generic]:
    """The kernel arguments of a vector: presence words, whether all are present where there are none, values, iso."""
    if isinstance(store, IndexList):
        if store.nvals == 0:
            return None, _NO, None, zero(store.dtype)
        store = as_dense(store)
    words = store.words if isinstance(store, Bitmap) else None
    return words, _YES, *values_of(store)


def _stays_full(q: WriteVector) -> bool:
    """Return True if every entry of the result is certain to be present."""
    c_full = isinstance(q.c, Full)
    whole = isinstance(q.t, Full) or (q.accum is not None and c_full)
    return whole and (q.mask is None or (c_full and not q.replace))


def _cast(t: VectorStore, dtype: np.dtype[Any]) -> VectorStore:
    """Return T in C's type; T itself if nothing changes."""
    if t.dtype == dtype:
        return t
    values = None if t.values is None else cast_array(t.values, dtype)
    iso = None if t.iso is None else scalar(cast(t.iso, dtype), dtype)
    made = with_values(t, dtype, values, iso)
    assert not isinstance(made, CSR)
    return made


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    cases = product((compile_samples.PLUS32, None), ((False, None), (True, None), (True, BOOL)))
    return tuple(_kernel(INT8, FP64, accum, *masking) for accum, masking in cases)
