"""Conversion between the formats of a vector."""

from __future__ import annotations

import functools

import cupy
import numpy as np

from ...dtypes import INT32, UINT8
from ...formats import Bitmap, Count, Full, IndexList, VectorStore, index_dtype, word_count
from ..registry import implements
from ..requests.operations import Convert
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid
from .primitives import as_dense, compact_list, counting
from .specialize import typedefs


@implements(Convert, engine="cuda")
def convert(q: Convert) -> VectorStore:
    """The same vector in another format.

    From a bitmap to an index list it synchronizes (the length is read back); other conversions are queued.  A
    conversion to full costs nothing: the result shares the value slots.
    """
    if q.u.format == q.to:
        return q.u
    if q.to == "index":
        return _listed(q.u)
    if q.to == "bitmap":
        return _with_words(q.u)
    return Full(q.u.size, q.u.dtype, q.u.values, q.u.iso, "cuda")


def _listed(u: VectorStore) -> IndexList:
    if isinstance(u, Bitmap):
        return compact_list(u.size, u.dtype, u.size, u.words, None, u.values, u.iso)
    assert isinstance(u, Full)
    return IndexList(u.size, u.dtype, counting(u.size, index_dtype(u.size)), u.values, u.iso)


def _with_words(u: VectorStore) -> Bitmap:
    if isinstance(u, Full):
        words = cupy.empty(word_count(u.size), np.uint32)
        _fill_kernel()(grid(words.size), BLOCK, u.size, words)
        return Bitmap(u.size, u.dtype, words, u.values, u.iso, Count(u.size))
    made = as_dense(u)
    assert isinstance(made, Bitmap)
    return made


@functools.cache
def _fill_kernel() -> Kernel:
    return kernel("convert.cuh", "convert_fill", typedefs(I=INT32, V=UINT8))


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return (_fill_kernel(),)
