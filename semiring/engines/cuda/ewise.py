"""Two objects, element by element."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from ...formats import CSR, Bitmap, Full, IndexList, Pattern, Store, VectorStore, index_dtype, word_count
from ..numpy_helpers import cast, evaluate
from ..registry import implements
from ..spec import Ewise
from .kernel import kernel
from .launch import BLOCK, bitmap, counter, full, grid, read_one, values_of, words_of
from .primitives import LIST, ROWS, as_dense, scan_marks
from .specialise import binary, constants, typedefs

_MODES = {"intersect": 0, "union": 1, "fill": 2}
_POSITIONS = frozenset({"xi", "xj", "yi", "yj"})
_INT32 = np.dtype(np.int32)


@implements(Ewise, engine="cuda")
def ewise(q: Ewise) -> Store:
    """t = op(a, b) on the intersection, or the union.

    Dense vectors: one launch, nothing waits.  Matrices, and two index lists: each entry looks for its partner by
    binary search, so skewed rows cost no more than even ones; the number of partners is read back (synchronises).
    """
    if isinstance(q.a, CSR) or (isinstance(q.a, IndexList) and isinstance(q.b, IndexList)):
        return _sorted(q)
    assert not isinstance(q.b, CSR)
    return _dense(q, as_dense(q.a), as_dense(q.b))


def _prologue(q: Ewise) -> tuple[str, np.generic, np.generic]:
    """The types and the operator, and the values that stand for an absent side."""
    alpha = q.op.z.type(0) if q.alpha is None else q.alpha
    beta = q.op.z.type(0) if q.beta is None else q.beta
    types = typedefs(A=q.a.dtype, B=q.b.dtype, Z=q.op.z, ALPHA=alpha.dtype, BETA=beta.dtype)
    return types + constants(MODE=_MODES[q.mode]) + binary("combine", q.op), alpha, beta


def _shared_value(q: Ewise) -> np.generic | None:
    """The one value of all results, if both sides have one and it can be known here."""
    if q.op.uses & _POSITIONS:
        return None
    x = None if q.a.iso is None else cast(q.a.iso, q.op.x)
    y = None if q.b.iso is None else cast(q.b.iso, q.op.y)
    if ("x" in q.op.uses and x is None) or ("y" in q.op.uses and y is None):
        return None
    both = _evaluated(q, x, y)
    sides = [both]
    if q.mode == "union":
        if q.a.iso is None or q.b.iso is None:
            return None
        sides += [cast(q.a.iso, q.op.z), cast(q.b.iso, q.op.z)]
    elif q.mode == "fill":
        assert q.alpha is not None
        assert q.beta is not None
        sides += [_evaluated(q, x, cast(q.beta, q.op.y)), _evaluated(q, cast(q.alpha, q.op.x), y)]
    if any(side.tobytes() != both.tobytes() for side in sides):
        return None
    value: np.generic = q.op.z.type(both[()])
    return value


def _evaluated(q: Ewise, x: Any, y: Any) -> Any:
    zero = np.zeros((), np.int64)
    variables = {"x": zero if x is None else x, "y": zero if y is None else y}
    return evaluate(q.op.expr, variables, q.op.z)


def _dense(q: Ewise, a: Bitmap | Full, b: Bitmap | Full) -> VectorStore:
    size, z = a.size, q.op.z
    iso = _shared_value(q)
    either = q.mode != "intersect"
    certain = (isinstance(a, Full), isinstance(b, Full))
    whole = any(certain) if either else all(certain)
    words = None if whole else cupy.empty(word_count(size), np.uint32)
    count = None if whole else counter()
    values = None if iso is not None else cupy.empty(size, z)
    if words is not None or values is not None:
        prologue, alpha, beta = _prologue(q)
        prologue += typedefs(I=_INT32, AP=_INT32, BP=_INT32, P=_INT32, R=_INT32, O=_INT32) + constants(FORM=0)
        run = kernel("ewise.cuh", "ewise_dense", prologue)
        operands = (words_of(a), *values_of(a), words_of(b), *values_of(b))
        run(grid(size), BLOCK, size, *operands, alpha, beta, words, values, count)
    if words is None or count is None:
        return full(size, z, iso if values is None else values)
    return bitmap(size, z, words, iso if values is None else values, count if size else 0)


def _sorted(q: Ewise) -> Store:
    """Both sides sorted: compressed rows, or two index lists as one row."""
    a, b = q.a, q.b
    assert isinstance(a, (CSR, IndexList))
    assert isinstance(b, (CSR, IndexList))
    na, nb, z = a.nvals, b.nvals, q.op.z
    rows = isinstance(a, CSR)
    nrows = a.nrows if isinstance(a, CSR) else 0
    a_indptr = a.indptr if isinstance(a, CSR) else None
    b_indptr = b.indptr if isinstance(b, CSR) else None
    prologue, alpha, beta = _prologue(q)
    marks = cupy.empty(word_count(na), np.uint32)
    prologue += constants(FORM=ROWS if rows else LIST) + typedefs(
        I=a.indices.dtype,
        AP=_INT32 if a_indptr is None else a_indptr.dtype,
        BP=_INT32 if b_indptr is None else b_indptr.dtype,
        R=index_dtype(na),
    )
    first = prologue + typedefs(O=_INT32)
    on_a, on_b = (na, a_indptr, a.indices), (nb, b_indptr, b.indices)
    kernel("ewise.cuh", "ewise_mark", first)(grid(na, per_thread=8), BLOCK, nrows, *on_a, *on_b, marks)
    ranks = scan_marks(marks, na)
    partners = read_one(ranks[-1:])  # synchronises
    total = partners if q.mode == "intersect" else na + nb - partners
    iso = _shared_value(q)
    indices = cupy.empty(total, a.indices.dtype)
    values = None if iso is not None else cupy.empty(total, z)
    if total:
        out = (marks, ranks, indices, values)
        kernel("ewise.cuh", "ewise_write_a", first)(
            grid(na), BLOCK, nrows, *on_a, *values_of(a), *on_b, *values_of(b), beta, *out
        )
        if q.mode != "intersect":
            kernel("ewise.cuh", "ewise_write_b", first)(
                grid(nb), BLOCK, nrows, *on_b, *values_of(b), *on_a, alpha, *out
            )
    if not isinstance(a, CSR):
        return IndexList(a.size, z, indices, values, iso)
    indptr = cupy.empty(nrows + 1, index_dtype(total))
    run = kernel("ewise.cuh", "ewise_indptr", prologue + typedefs(O=indptr.dtype))
    run(grid(nrows + 1), BLOCK, nrows, a_indptr, b_indptr, marks, ranks, indptr)
    return CSR(Pattern(nrows, a.ncols, indptr, indices), z, values, iso)
