"""C<M> accum= T in the arrays of C, for the positions of a list or a bitmap, in one launch."""

from __future__ import annotations

import functools
from itertools import product
from typing import Any

import numpy as np

from ...dtypes import BOOL, FP64, INT8, INT32, INT64, UINT32
from ...formats import CSR, Bitmap, Full, IndexList, VectorStore, word_count
from ...operators.types import TypedBinary
from ..registry import implements
from ..requests.operations import UpdateVector
from . import compile_samples
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, bitmap, counter, full, grid, values_of
from .specialize import binary, constants, typedefs
from .write import NO_ACCUMULATOR, operand

_BYTE = np.dtype(np.uint8)
_ZERO = np.uint8(0)
_NO, _YES = np.int32(0), np.int32(1)
# The kernel arguments of no mask: words, whether all are present, values, iso value, complement.
_UNMASKED: tuple[Any, ...] = (None, _YES, None, _ZERO, _NO)


@implements(UpdateVector, engine="cuda")
def update_vector(q: UpdateVector) -> VectorStore:
    """Write the listed positions; without an accumulator delete those that T lacks.

    One launch, and one more for each other index list among T and the mask.  Does not wait for the device: the number
    of entries stays there.
    """
    c, t, listed, mask = q.c, q.t, q.listed, q.mask
    assert isinstance(listed, (IndexList, Bitmap))
    items = listed.nvals if isinstance(listed, IndexList) else word_count(listed.size)
    positions = listed.indices if isinstance(listed, IndexList) else listed.words
    aligned = isinstance(t, IndexList) and isinstance(listed, IndexList) and t.indices is listed.indices
    source = (None, _YES, *values_of(t)) if aligned else operand(t)
    masking, masked = _UNMASKED, None
    if mask is not None:
        assert not isinstance(mask.store, CSR)
        present, everywhere, mask_values, mask_iso = operand(mask.store)
        if mask.structural:
            mask_values, mask_iso = None, _ZERO
        else:
            masked = mask.store.dtype
        masking = (present, everywhere, mask_values, mask_iso, _YES if mask.complement else _NO)
    words, before, known, count = None, None, 0, None
    if not isinstance(c, Full):
        words, count = c.words, counter()
        before, known = (None, c.count.get()) if c.count.known else (c.count.source, 0)
    if items:
        run = _kernel(
            c.dtype, t.dtype, q.accum, mask is not None, masked, positions.dtype, isinstance(listed, IndexList)
        )
        place = (words, c.values, before, known, count)
        run(grid(items), BLOCK, items, positions, _YES if aligned else _NO, *source, *masking, *place)
    elif words is not None:
        return bitmap(c.size, c.dtype, words, c.values, known if before is None else before)
    return full(c.size, c.dtype, c.values) if words is None else bitmap(c.size, c.dtype, words, c.values, count)


@functools.lru_cache(maxsize=1024)
def _kernel(
    c: np.dtype[Any],
    t: np.dtype[Any],
    accum: TypedBinary | None,
    masked: bool,
    valued: np.dtype[Any] | None,
    index: np.dtype[Any],
    listed: bool,
) -> Kernel:
    """valued: the type of the mask's values, where they are read.  index: of the positions, or of presence words."""
    prologue = typedefs(C=c, T=t, M=_BYTE if valued is None else valued, I=index)
    prologue += constants(FORM=0, MASKED=masked, VALUED=valued is not None, ACCUMULATED=accum is not None)
    prologue += constants(LISTED=listed)
    prologue += NO_ACCUMULATOR if accum is None else binary("accumulate", accum)
    return kernel("update.cuh", "update_vector", prologue)


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    listed = (False, None, INT32, True), (True, None, INT64, True), (True, BOOL, INT32, True)
    cases = product(
        (compile_samples.PLUS32, None), (*listed, (False, None, UINT32, False), (True, BOOL, UINT32, False))
    )
    return tuple(_kernel(INT8, FP64, accum, *case) for accum, case in cases)
