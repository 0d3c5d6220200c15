"""Two objects, element by element."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP64, INT8, INT32, INT64
from ...formats import CSR, Bitmap, Full, IndexList, Pattern, Store, VectorStore, index_dtype, word_count
from ...operators.types import TypedBinary
from ..constants import ewise_value
from ..registry import implements
from ..spec import Ewise
from . import samples
from .kernel import Kernel, kernel
from .launch import BLOCK, bitmap, counter, full, grid, read_one, values_of, words_of
from .primitives import LIST, ROWS, as_dense, scan_marks
from .specialise import binary, constants, typedefs

_MODES = {"intersect": 0, "union": 1, "fill": 2}
_INT32 = np.dtype(np.int32)


@implements(Ewise, engine="cuda")
def ewise(q: Ewise) -> Store:
    """t = op(a, b) on the intersection, or the union.

    Dense vectors: one launch, no wait for the device.  Matrices, and two index lists: a binary search finds the partner
    of each entry, so skewed rows cost no more than even ones; the number of partners is read back (synchronises).
    """
    if isinstance(q.a, CSR) or (isinstance(q.a, IndexList) and isinstance(q.b, IndexList)):
        return _sorted(q)
    assert not isinstance(q.b, CSR)
    return _dense(q, as_dense(q.a), as_dense(q.b))


class _Plan(NamedTuple):
    """The call plan of an element-wise operation: its kernels' text, and the values that replace an absent operand.

    alpha, beta: 0 where the mode does not read them.
    """

    prologue: str
    dense: Kernel
    alpha: np.generic
    beta: np.generic


@functools.lru_cache(maxsize=1024)
def _plan(
    op: TypedBinary, a: np.dtype[Any], b: np.dtype[Any], mode: str, alpha: np.dtype[Any], beta: np.dtype[Any]
) -> _Plan:
    types = typedefs(A=a, B=b, Z=op.z, ALPHA=alpha, BETA=beta)
    prologue = types + constants(MODE=_MODES[mode]) + binary("combine", op)
    slots = typedefs(I=_INT32, AP=_INT32, BP=_INT32, P=_INT32, R=_INT32, O=_INT32) + constants(FORM=0)
    return _Plan(prologue, kernel("ewise.cuh", "ewise_dense", prologue + slots), alpha.type(0), beta.type(0))


def _planned(q: Ewise) -> tuple[_Plan, np.generic, np.generic]:
    """Return the plan, and the values that replace an absent operand."""
    z = q.op.z
    plan = _plan(
        q.op,
        q.a.dtype,
        q.b.dtype,
        q.mode,
        z if q.alpha is None else q.alpha.dtype,
        z if q.beta is None else q.beta.dtype,
    )
    return plan, plan.alpha if q.alpha is None else q.alpha, plan.beta if q.beta is None else q.beta


@functools.lru_cache(maxsize=1024)
def _sorted_kernels(
    prologue: str, form: int, index: np.dtype[Any], ap: np.dtype[Any], bp: np.dtype[Any], rank: np.dtype[Any]
) -> tuple[str, tuple[Kernel, Kernel, Kernel]]:
    """Return the text that `ewise_indptr` shares, and the kernels that mark and write."""
    text = prologue + constants(FORM=form) + typedefs(I=index, AP=ap, BP=bp, R=rank)
    mark, write_a, write_b = (
        kernel("ewise.cuh", name, text + typedefs(O=_INT32))
        for name in ("ewise_mark", "ewise_write_a", "ewise_write_b")
    )
    return text, (mark, write_a, write_b)


def _dense(q: Ewise, a: Bitmap | Full, b: Bitmap | Full) -> VectorStore:
    size, z = a.size, q.op.z
    iso = ewise_value(q)
    either = q.mode != "intersect"
    certain = (isinstance(a, Full), isinstance(b, Full))
    whole = any(certain) if either else all(certain)
    words = None if whole else cupy.empty(word_count(size), np.uint32)
    count = None if whole else counter()
    values = None if iso is not None else cupy.empty(size, z)
    if words is not None or values is not None:
        plan, alpha, beta = _planned(q)
        operands = (words_of(a), *values_of(a), words_of(b), *values_of(b))
        plan.dense(grid(size), BLOCK, size, *operands, alpha, beta, words, values, count)
    if words is None or count is None:
        return full(size, z, iso if values is None else values)
    return bitmap(size, z, words, iso if values is None else values, count if size else 0)


def _sorted(q: Ewise) -> Store:
    """Combine two sorted operands: CSR matrices, or two index lists as one row."""
    a, b = q.a, q.b
    assert isinstance(a, (CSR, IndexList))
    assert isinstance(b, (CSR, IndexList))
    na, nb, z = a.nvals, b.nvals, q.op.z
    rows = isinstance(a, CSR)
    nrows = a.nrows if isinstance(a, CSR) else 0
    a_indptr = a.indptr if isinstance(a, CSR) else None
    b_indptr = b.indptr if isinstance(b, CSR) else None
    plan, alpha, beta = _planned(q)
    marks = cupy.empty(word_count(na), np.uint32)
    text, (mark, write_a, write_b) = _sorted_kernels(
        plan.prologue,
        ROWS if rows else LIST,
        a.indices.dtype,
        _INT32 if a_indptr is None else a_indptr.dtype,
        _INT32 if b_indptr is None else b_indptr.dtype,
        index_dtype(na),
    )
    on_a, on_b = (na, a_indptr, a.indices), (nb, b_indptr, b.indices)
    mark(grid(na, per_thread=8), BLOCK, nrows, *on_a, *on_b, marks)
    ranks = scan_marks(marks, na)
    partners = read_one(ranks[-1:])  # synchronises
    total = partners if q.mode == "intersect" else na + nb - partners
    iso = ewise_value(q)
    indices = cupy.empty(total, a.indices.dtype)
    values = None if iso is not None else cupy.empty(total, z)
    if total:
        out = (marks, ranks, indices, values)
        write_a(grid(na), BLOCK, nrows, *on_a, *values_of(a), *on_b, *values_of(b), beta, *out)
        if q.mode != "intersect":
            write_b(grid(nb), BLOCK, nrows, *on_b, *values_of(b), *on_a, alpha, *out)
    if not isinstance(a, CSR):
        return IndexList(a.size, z, indices, values, iso)
    indptr = cupy.empty(nrows + 1, index_dtype(total))
    run = kernel("ewise.cuh", "ewise_indptr", text + typedefs(O=indptr.dtype))
    run(grid(nrows + 1), BLOCK, nrows, a_indptr, b_indptr, marks, ranks, indptr)
    return CSR(Pattern(nrows, a.ncols, indptr, indices), z, values, iso)


def catalogue() -> Iterator[samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalogue for the kernels of this module."""
    for form, mode in product(samples.FORMS, _MODES.values()):
        types = typedefs(A=INT8, B=FP64, Z=FP64, ALPHA=INT8, BETA=FP64, I=INT32, AP=INT32, BP=INT64, R=INT32)
        rest = typedefs(O=INT64) + ("" if form else typedefs(P=INT32))
        yield "ewise.cuh", types + rest + constants(FORM=form, MODE=mode) + binary("combine", samples.TIMES)
