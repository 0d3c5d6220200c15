"""The write of a vector:  C<M, replace> accum= T,  in one launch."""

from __future__ import annotations

import functools
from typing import Any

import cupy
import numpy as np

from ...formats import CSR, Array, Full, IndexList, VectorStore, word_count
from ...formats.values import with_values
from ...operators.types import TypedBinary
from ..constants import write_value
from ..numpy_helpers import cast
from ..operands import Mask
from ..registry import implements
from ..spec import WriteVector
from .kernel import Kernel, kernel
from .launch import BLOCK, bitmap, counter, full, grid, values_of, words_of
from .primitives import as_dense, cast_array
from .specialise import binary, constants, typedefs

_BYTE = np.dtype(np.uint8)
_ZERO = np.uint8(0)
_NO, _YES = np.int32(0), np.int32(1)
# Never called; the kernel names it in a branch that is left out.
_NO_ACCUMULATOR = "DEVICE C accumulate(C c, T t) { return c; }\n"


@implements(WriteVector, engine="cuda")
def write_vector(q: WriteVector) -> VectorStore:
    """C<M, replace> accum= T: one launch for bitmaps and full vectors, one more for each index list among them.

    Does not wait for the device: the result is a bitmap whose count stays on the device, or full if that is certain.
    """
    size, dtype = q.c.size, q.c.dtype
    if q.accum is None and q.mask is None:
        return _cast(q.t, dtype)
    c, t = _Operand(q.c), _Operand(q.t)
    mask = None if q.mask is None else _Operand(_vector(q.mask))
    iso = write_value(q)
    out_values = None if iso is not None else cupy.empty(size, dtype)
    if _stays_full(q, c, t):
        words = count = None
    else:
        words = cupy.empty(word_count(size), np.uint32)
        count = counter()
    if size and (words is not None or out_values is not None):
        masking = (None, _YES, None, _ZERO, _NO)
        masked = None
        if q.mask is not None and mask is not None:
            masked = None if q.mask.structural else mask.dtype
            reads = (None, _ZERO) if q.mask.structural else (mask.values, mask.iso)
            masking = (mask.words, mask.all, *reads, _YES if q.mask.complement else _NO)
        write = _kernel(dtype, t.dtype, q.accum, q.mask is not None, masked)
        replace = _YES if q.replace else _NO
        write(grid(size), BLOCK, size, *c.arguments, *t.arguments, *masking, replace, words, out_values, count)
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
    prologue += _NO_ACCUMULATOR if accum is None else binary("accumulate", accum)
    return kernel("write.cuh", "write_vector", prologue)


class _Operand:
    """A vector as the kernel reads it: presence words, whether all are present where there are no words, values."""

    __slots__ = ("all", "dtype", "empty", "iso", "store", "values", "words")

    def __init__(self, store: VectorStore) -> None:
        self.store = store
        self.dtype = store.dtype
        self.words: Array | None = None
        self.values: Array | None = None
        self.iso: np.generic
        self.empty = False
        self.all = _YES
        if isinstance(store, IndexList):
            self.empty = store.nvals == 0
            if self.empty:
                self.all, self.iso = _NO, store.dtype.type(0)
                return
            store = as_dense(store)
        self.words = words_of(store)
        self.values, self.iso = values_of(store)

    @property
    def is_full(self) -> bool:
        """True if every entry is known to be present."""
        return isinstance(self.store, Full)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Return the kernel arguments of the operand."""
        return self.words, self.all, self.values, self.iso


def _vector(mask: Mask) -> VectorStore:
    assert not isinstance(mask.store, CSR)
    return mask.store


def _stays_full(q: WriteVector, c: _Operand, t: _Operand) -> bool:
    """Return True if every entry of the result is certain to be present."""
    whole = t.is_full or (q.accum is not None and c.is_full)
    return whole and (q.mask is None or (c.is_full and not q.replace))


def _cast(t: VectorStore, dtype: np.dtype[Any]) -> VectorStore:
    """Return T in C's type; T itself if nothing changes."""
    if t.dtype == dtype:
        return t
    values = None if t.values is None else cast_array(t.values, dtype)
    iso = None if t.iso is None else dtype.type(cast(t.iso, dtype)[()])
    made = with_values(t, dtype, values, iso)
    assert not isinstance(made, CSR)
    return made
