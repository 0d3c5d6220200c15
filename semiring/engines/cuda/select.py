"""The entries of an object for which a condition holds: by operator, by mask, by region.

Of vectors, a condition marks entries by one bit each.  On dense vectors the marks are the result's presence words, and
the value slots are shared with the operand: one launch, no waiting.  On index lists the marked entries are moved
together, and on matrices one pass tests and moves the entries; their number is read back once (synchronizes).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import cupy
import numpy as np

from ...dtypes import BOOL, FP32, FP64, INT32, INT64, UINT8, UINT16
from ...formats import CSR, Array, Bitmap, Full, IndexList, Store, word_count
from ...operators.expression import Expression
from ...operators.types import TypedIndexUnary
from ..registry import implements
from ..requests.operands import Index, Mask
from ..requests.operations import Keep, Outside, Select
from ..shared.expression_numpy import cast
from . import compile_samples
from .arguments import arguments
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, bitmap, counter, grid, values_of, words_of
from .primitives import DENSE, LIST, ROWS, as_dense, compact_list, moved, width
from .radix import sort_keys
from .row_tiles import TILE_TEXT, Passes, is_large, kept_rows
from .select_range import column_range, select_range
from .specialize import constants, indexunary, typedefs

# The kernels of a file: for vectors; for matrices in one pass, and the first of two passes.
_NAMES = {
    "select.cuh": ("select_mark", "select_rows", "select_count"),
    "keep.cuh": ("keep_mark", "keep_matrix", "keep_count"),
    "outside.cuh": ("outside_mark", "outside_rows", "outside_count"),
}
_BYTE = np.dtype(np.uint8)
_EVERY = TypedIndexUnary("every", UINT8, UINT8, BOOL, Expression("k == 0"))
_INT32 = np.dtype(np.int32)
# An index array is searched if the dimension is larger than this factor times its members, or times _FEW if larger:
# bits then take more memory than the array does (reasoned: 64 bits a member; 8 MB of bits are cleared in microseconds).
_SEARCHED = 64
_FEW = 1 << 20


@implements(Select, engine="cuda")
def select(q: Select) -> Store:
    """The entries of a for which op(a(i, j), i, j, k) holds.

    Conditions that hold in a range of columns, as `tril`, search the rows of a large matrix and read no other columns.
    """
    k = q.k if q.k.dtype == q.op.k else cast(q.k, q.op.k)[()]
    if isinstance(q.a, CSR) and is_large(q.a) and (columns := column_range(q.op.expr, k)) is not None:
        return select_range(q.a, columns)  # synchronizes
    return _kept(q.a, "select.cuh", _select_text(q.op, q.a.dtype), (*values_of(q.a), k))


def select_present(a: CSR, present: Array, op: TypedIndexUnary, k: Any) -> CSR:
    """Return the entries of a with a bit in `present` for which op(a(i, j), i, j, k) holds.  Synchronizes."""
    value = _BYTE if a.values is None else a.dtype
    plan = _rows_plan("select.cuh", _select_text(op, a.dtype), a.indptr.dtype, a.indices.dtype, value)
    return kept_rows(a, *plan, *values_of(a), k, present=present)  # synchronizes


@functools.lru_cache(maxsize=1024)
def _select_text(op: TypedIndexUnary, element: np.dtype[Any]) -> str:
    return indexunary("keep", op) + typedefs(A=element, K=op.k)


@implements(Keep, engine="cuda")
def keep(q: Keep) -> Store:
    """The entries of a that the mask admits.

    A valued mask of the same structure is not searched: its values mark the entries.
    """
    store = q.mask.store
    if (
        isinstance(q.a, CSR)
        and isinstance(store, CSR)
        and store.pattern is q.a.pattern
        and store.values is not None
        and not q.mask.structural
        and q.a.nvals
    ):
        admitted = TypedIndexUnary(
            "marked", store.dtype, store.dtype, BOOL, Expression("x == k" if q.mask.complement else "x != k")
        )
        entries = Full(store.nvals, store.dtype, store.values)
        marks = _kept(
            entries, "select.cuh", _select_text(admitted, store.dtype), (*values_of(entries), store.dtype.type(0))
        )
        assert isinstance(marks, Bitmap)
        return select_present(q.a, marks.words, _EVERY, np.uint8(0))
    return _kept(q.a, "keep.cuh", *mask_arguments(q.mask))


@implements(Outside, engine="cuda")
def outside(q: Outside) -> Store:
    """The entries of a that are outside the region rows x columns.

    An index array becomes a bitmap of the dimension; if the dimension is far larger than the array, it is searched.
    """
    cols = Index(1, 1) if q.cols is None else q.cols
    return _kept(q.a, "outside.cuh", "", (*_members(q.rows), *_members(cols)))


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
        text = mask_text(element, valued, store.indptr.dtype, store.indices.dtype)
        return text, (store.indptr, store.indices, None, values, iso, complement)
    dense = as_dense(store)
    values, iso = values_of(dense) if valued else (None, _BYTE.type(0))
    return mask_text(element, valued), (None, None, words_of(dense), values, iso, complement)


@functools.cache
def mask_text(
    element: np.dtype[Any], valued: bool, offset: np.dtype[Any] = _INT32, column: np.dtype[Any] = _INT32
) -> str:
    """Return the part of a prologue that describes a mask.  element: of its values."""
    return typedefs(MP=offset, MI=column, M=element) + constants(VALUED=valued)


def _members(index: Index) -> tuple[Any, ...]:
    """The arguments (words, sorted, start, step, count) of a set of positions; a range runs upwards."""
    if index.array is not None and index.size > _SEARCHED * max(index.count, _FEW):
        keys, _ = sort_keys(index.array.astype(np.uint64), None, width(index.size))
        return None, keys, 0, 1, index.count
    if index.array is not None:
        words = cupy.zeros(word_count(index.size), np.uint32)
        _members_kernel(index.array.dtype)(grid(index.count), BLOCK, index.count, index.array, words)
        return words, None, 0, 1, 0
    if index.count <= 1 or index.step == 0:
        return None, None, index.start, 1, min(index.count, 1)
    if index.step < 0:
        return None, None, index.start + index.step * (index.count - 1), -index.step, index.count
    return None, None, index.start, index.step, index.count


@functools.cache
def _members_kernel(index: np.dtype[Any]) -> Kernel:
    types = typedefs(P=_INT32, I=index, V=_BYTE)
    return kernel("outside.cuh", "outside_members", types + constants(FORM=DENSE) + TILE_TEXT)


def _kept(a: Store, file: str, text: str, given: tuple[Any, ...]) -> Store:
    """Return the entries of a that satisfy the condition of a kernel file.  text: of its prologue, beside the form."""
    if isinstance(a, CSR):
        if a.nvals == 0:
            return a
        value = _BYTE if a.values is None else a.dtype
        plan = _rows_plan(file, text, a.indptr.dtype, a.indices.dtype, value)
        return kept_rows(a, *plan, *given)  # synchronizes
    listed = a.indices if isinstance(a, IndexList) else None
    n = a.size if listed is None else a.nvals
    if listed is not None and n == 0:
        return a
    mark = _marks_plan(file, text, None if listed is None else listed.dtype)
    marks = cupy.empty(word_count(n), np.uint32)
    count = counter() if listed is None else None
    present = a.words if isinstance(a, Bitmap) else None
    mark(grid(n, per_thread=8), BLOCK, n, present, listed, *given, marks, count)
    if isinstance(a, IndexList):
        return compact_list(a.size, a.dtype, n, marks, a.indices, a.values, a.iso)  # synchronizes
    return bitmap(a.size, a.dtype, marks, a.iso if a.values is None else a.values, 0 if n == 0 else count)


@functools.lru_cache(maxsize=1024)
def _rows_plan(
    file: str, text: str, offset: np.dtype[Any], column: np.dtype[Any], value: np.dtype[Any]
) -> tuple[Passes, Callable[..., bytes]]:
    """Return the kernels for matrices, and the packer of their first argument."""
    types = typedefs(P=offset, I=column, V=moved(value)) + TILE_TEXT
    one, count = (kernel(file, name, types + constants(FORM=ROWS) + text) for name in _NAMES[file][1:])
    return Passes(one, count, kernel("keep_write.cuh", "keep_write", types)), arguments(file, "KeepArguments")


@functools.lru_cache(maxsize=1024)
def _marks_plan(file: str, text: str, listed: np.dtype[Any] | None) -> Kernel:
    """Return the kernel for vectors.  listed: the type of the indices of an index list."""
    types = typedefs(P=_INT32, I=_INT32 if listed is None else listed, V=_BYTE) + TILE_TEXT
    return kernel(file, _NAMES[file][0], types + constants(FORM=DENSE if listed is None else LIST) + text)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    conditions = [
        ("select.cuh", _select_text(op, FP64))
        for op in (compile_samples.VALUE, compile_samples.ROW, compile_samples.BAND)
    ]
    conditions += [("keep.cuh", mask_text(FP32 if valued else UINT8, valued)) for valued in (True, False)]
    for file, text in (*conditions, ("outside.cuh", "")):
        yield _marks_plan(file, text, None), _marks_plan(file, text, INT64)
        yield _rows_plan(file, text, INT64, INT32, UINT16)
    for value in (UINT8, FP32, FP64):
        yield _rows_plan("outside.cuh", "", INT64, (INT32, INT64)[value == FP32], value)
    yield _members_kernel(INT64)
