"""The entries of an object for which a condition holds: by operator, by mask, by region.

A condition marks entries by one bit each.  On dense vectors the marks are the result's presence words, and the
value slots are shared with the operand: one launch, no waiting.  On index lists and matrices the marked entries
are moved together, and their number is read back once (synchronises).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np

from ...dtypes import FP32, FP64, INT32, INT64
from ...formats import CSR, Bitmap, IndexList, Store, word_count
from ...operators.types import TypedIndexUnary
from ..numpy_helpers import cast
from ..operands import Index, Mask
from ..registry import implements
from ..spec import Keep, Outside, Select
from . import samples
from .kernel import Kernel, kernel
from .launch import BLOCK, bitmap, counter, grid, values_of, words_of
from .primitives import as_dense, compact_csr, compact_list, entry_form, sort_keys
from .specialise import constants, indexunary, typedefs

_BYTE = np.dtype(np.uint8)
_INT32 = np.dtype(np.int32)
# An index array is searched if the dimension is larger than this factor times its members, or times _FEW if larger:
# bits then take more memory than the array does (reasoned: 64 bits a member; 8 MB of bits are cleared in microseconds).
_SEARCHED = 64
_FEW = 1 << 20


@implements(Select, engine="cuda")
def select(q: Select) -> Store:
    """The entries of a for which op(a(i, j), i, j, k) holds."""
    k = q.k if q.k.dtype == q.op.k else cast(q.k, q.op.k)[()]
    form, n, places = entry_form(q.a)
    return _marked(q.a, select_plan(form, q.op, q.a.dtype), n, places, (*values_of(q.a), k))


@functools.lru_cache(maxsize=1024)
def select_plan(form: str, op: TypedIndexUnary, element: np.dtype[Any]) -> Kernel:
    """The kernel for entries of this form (`entry_form`) and type."""
    return kernel("select.cuh", "select_mark", form + indexunary("keep", op) + typedefs(A=element, K=op.k))


@implements(Keep, engine="cuda")
def keep(q: Keep) -> Store:
    """The entries of a that the mask admits."""
    prologue, arguments = mask_arguments(q.mask)
    form, n, places = entry_form(q.a)
    return _marked(q.a, kernel("keep.cuh", "keep_mark", form + prologue), n, places, arguments)


@implements(Outside, engine="cuda")
def outside(q: Outside) -> Store:
    """The entries of a that are outside the region rows x columns.

    An index array becomes a bitmap of the dimension; if the dimension is far larger than the array, it is searched.
    """
    cols = Index(1, 1) if q.cols is None else q.cols
    arguments = (*_members(q.rows), *_members(cols))
    form, n, places = entry_form(q.a)
    return _marked(q.a, kernel("outside.cuh", "outside_mark", form), n, places, arguments)


def mask_arguments(mask: Mask) -> tuple[str, tuple[Any, ...]]:
    """A mask for `keep_mark` and `mxm_mark`: its part of the prologue, and its arguments.

    An index list becomes a bitmap on the way (one launch).
    """
    valued = not mask.structural
    store = mask.store
    element = store.dtype if valued else _BYTE
    values, iso = values_of(store) if valued else (None, _BYTE.type(0))
    complement = np.int32(mask.complement)
    if isinstance(store, CSR):
        types = typedefs(MP=store.indptr.dtype, MI=store.indices.dtype, M=element)
        return types + constants(VALUED=valued), (store.indptr, store.indices, None, values, iso, complement)
    dense = as_dense(store)
    values, iso = values_of(dense) if valued else (None, _BYTE.type(0))
    types = typedefs(MP=_INT32, MI=_INT32, M=element) + constants(VALUED=valued)
    return types, (None, None, words_of(dense), values, iso, complement)


def _members(index: Index) -> tuple[Any, ...]:
    """The arguments (words, sorted, start, step, count) of a set of positions; a range runs upwards."""
    if index.array is not None and index.size > _SEARCHED * max(index.count, _FEW):
        keys, _ = sort_keys(index.array.astype(np.uint64), None)
        return None, keys, 0, 1, index.count
    if index.array is not None:
        words = cupy.zeros(word_count(index.size), np.uint32)
        prologue = typedefs(P=_INT32, I=index.array.dtype) + constants(FORM=0)
        run = kernel("outside.cuh", "outside_members", prologue)
        run(grid(index.count), BLOCK, index.count, index.array, words)
        return words, None, 0, 1, 0
    if index.count <= 1 or index.step == 0:
        return None, None, index.start, 1, min(index.count, 1)
    if index.step < 0:
        return None, None, index.start + index.step * (index.count - 1), -index.step, index.count
    return None, None, index.start, index.step, index.count


def _marked(a: Store, mark: Kernel, n: int, places: tuple[Any, ...], arguments: tuple[Any, ...]) -> Store:
    """Run a marking kernel over the n slots of a, and gather what it marked."""
    marks = cupy.empty(word_count(n), np.uint32)
    dense = not isinstance(a, (CSR, IndexList))
    count = counter() if dense else None
    present = a.words if isinstance(a, Bitmap) else None
    mark(grid(n, per_thread=8), BLOCK, n, present, *places, *arguments, marks, count)
    if isinstance(a, CSR):
        return compact_csr(a, marks) if n else a
    if isinstance(a, IndexList):
        if n == 0:
            return a
        return compact_list(a.size, a.dtype, n, marks, a.indices, a.values, a.iso)  # synchronises
    return bitmap(a.size, a.dtype, marks, a.iso if a.values is None else a.values, 0 if n == 0 else count)


def catalogue() -> Iterator[samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalogue for the kernels of this module."""
    for form in samples.FORMS:
        entry_types = typedefs(P=INT64, I=INT32) + constants(FORM=form)
        for op in (samples.VALUE, samples.ROW, samples.BAND):
            yield "select.cuh", entry_types + indexunary("keep", op) + typedefs(A=FP64, K=op.k)
        for valued in (True, False):
            yield "keep.cuh", entry_types + typedefs(MP=INT32, MI=INT32, M=FP32) + constants(VALUED=valued)
        yield "outside.cuh", entry_types
