"""The mask of a matrix-vector product as kernel arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...dtypes import UINT8
from ...formats import CSR, Array, Full
from ..requests.operands import Mask, simplified
from .primitives import as_dense

__all__ = ["NO_MASK", "KernelMask", "kernel_mask"]


class KernelMask(NamedTuple):
    """A mask as kernel arguments; form 0 is none, 1 presence, 2 presence and value, 3 value alone.

    simple: the mask in its simplest form; None if it admits everything.
    """

    form: int = 0
    complement: bool = False
    words: Array | None = None
    values: Array | None = None
    dtype: np.dtype[Any] = UINT8
    simple: Mask | None = None


NO_MASK = KernelMask()


def kernel_mask(mask: Mask | None, nout: int) -> KernelMask | None:
    """None if the mask admits nothing."""
    if mask is None:
        return NO_MASK
    simple = simplified(mask)
    if isinstance(simple, bool):
        return NO_MASK if simple else None
    store = simple.store
    assert not isinstance(store, CSR)
    store = as_dense(store)
    if isinstance(store, Full):
        return KernelMask(3, simple.complement, None, store.values, store.dtype, simple)
    if not simple.structural:
        return KernelMask(2, simple.complement, store.words, store.values, store.dtype, simple)
    return KernelMask(1, simple.complement, store.words, simple=simple)
