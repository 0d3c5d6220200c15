"""Elementwise operations at few positions: a sparse mask or operand lists them, and all others are probed there.

The cost is that of the listed entries, whatever the operands hold: a full matrix or a bitmap is read at a position, and
a row of many entries is searched.  So the product of a full matrix and a sparse one, and a sum of large matrices under
a mask of few entries, visit those few alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, Array, Bitmap, Full, FullPattern, IndexList, Pattern, VectorStore, index_dtype, is_bitmap
from ..recording import note
from ..registry import ROWS_OR_SLOTS, implements
from ..requests.operands import Mask, simplified
from ..requests.operations import Ewise
from ..shared.iso_results import POSITIONS, cast_value, ewise_value
from . import types
from .compile import kernel
from .ewise_matrix import left_alone, right_alone
from .operands import kernel_array, values_of
from .rows import lower_bound, share
from .select import kept_rows, mask_pattern
from .threads import parts_for, run, total
from .types import call, present, put, value_at

# Entries that a merge visits in the time of a listed position (reasoned: two searches in rows of a thousand entries).
_MERGED = 8
# Where the entry of an operand at a listed position is: it is the listed entry, or in the slot of the position, always
# or if its bit is set; or it is searched in a row.
_LISTED, _EVERYWHERE, _BITS, _ROWS = 0, 1, 2, 3
_NO_OFFSETS, _NO_BITS = np.zeros(0, np.int32), np.zeros(0, np.uint32)


def _lists(x: Any) -> bool:
    """Return whether a matrix or vector lists its entries."""
    return isinstance(x.pattern, Pattern) if isinstance(x, CSR) else isinstance(x, IndexList)


def _lister(q: Ewise, mask: Mask | None) -> Any:
    """Return the mask's store or the operand that lists the fewest positions of the result; None if none does."""
    found = None if mask is None or mask.complement or not _lists(mask.store) else mask.store
    if q.mode == "intersect":
        for x in (q.a, q.b):
            if _lists(x) and (found is None or x.nvals < found.nvals):
                found = x
    return found


def _has_empty_rows(x: Any) -> bool:
    """Return whether a matrix of full rows has others, whose positions have no slots."""
    return isinstance(x, CSR) and isinstance(x.pattern, FullPattern) and not x.pattern.every_row


def _is_few(q: Ewise) -> bool:
    """Return whether the listed positions cost less than the operands."""
    a, b, mask = q.a, q.b, simplified(q.mask)
    if q.mask is None:
        if q.mode != "intersect" or not isinstance(a, CSR) or _lists(a) == _lists(b):
            return False
    elif isinstance(mask, bool) or (not isinstance(a, CSR) and q.op.uses & POSITIONS):
        return False
    lister = _lister(q, None if isinstance(mask, bool) else mask)
    if lister is None or _has_empty_rows(a) or _has_empty_rows(b):
        return False
    if isinstance(mask, bool):
        return True
    return (mask.structural or lister is mask.store) and lister.nvals * _MERGED <= a.nvals + b.nvals


@implements(Ewise, engine="cpu", accepts=ROWS_OR_SLOTS, when=_is_few, fuses=("mask",), priority=1)
def ewise_probed(q: Ewise) -> CSR | VectorStore:
    """T = op(a, b) where the mask admits, at the positions that the mask or an operand lists."""
    mask = None if q.mask is None else simplified(q.mask)
    assert not isinstance(mask, bool)
    lister = _lister(q, mask)
    if mask is None or lister is not mask.store:
        listed = _pattern(lister, None)
    else:
        listed, mask = mask_pattern(mask) if isinstance(lister, CSR) else _pattern(lister, mask), None
    note(kernel="probed", positions=listed.nvals)
    row = _at_positions(q, listed, mask)
    return row if isinstance(q.a, CSR) else IndexList(q.a.size, row.dtype, row.indices, row.values, row.iso)


def _pattern(x: Any, mask: Mask | None) -> Pattern:
    """Return the entries that a matrix, or as one row a vector, lists; with a mask, those that are not zero."""
    if isinstance(x, CSR):
        assert isinstance(x.pattern, Pattern)
        return x.pattern
    indices = x.indices if mask is None or mask.structural else x.indices[x.values != 0]
    return Pattern(1, x.size, np.array([0, indices.size], index_dtype(indices.size)), indices)


def _at_positions(q: Ewise, listed: Pattern, mask: Mask | None) -> CSR:
    """Return the result at the listed positions that the mask admits."""
    constant = ewise_value(q)
    read, count = constant is None, listed.nvals
    fill = read and q.mode == "fill"
    alpha, beta = (cast_value(q.alpha, q.op.x), cast_value(q.beta, q.op.y)) if fill else (None, None)
    if mask is None:
        found = np.empty(count, np.bool_)
        found.fill(True)
    else:
        found = (_slots(mask.store, listed) >= 0) != mask.complement
    made = np.empty(count, q.op.z) if read else None
    left = _slots(q.a, listed)
    right = left if _in_every_slot(q.a) and _in_every_slot(q.b) else _slots(q.b, listed)
    operands = (left, values_of(q.a, read), right, values_of(q.b, read), q.mode == "intersect")
    op = types.binary(q.op) if read else None
    rows, parts = (kernel_array(listed.indptr), kernel_array(listed.indices)), parts_for(count)
    counts = np.zeros(parts, np.int64)
    run(_at_slots, parts, *rows, *operands, op, alpha, beta, found, made, counts)
    every = CSR(listed, q.op.z, made, constant)
    return every if total(counts) == count else kept_rows(every, found)


def _in_every_slot(x: Any) -> bool:
    """Return whether a matrix or vector has an entry at each position."""
    return isinstance(x.pattern, FullPattern) if isinstance(x, CSR) else isinstance(x, Full)


def _slots(x: Any, listed: Pattern) -> Array:
    """Return the slot of the entry of an operand at each listed position, or -1."""
    kind, indptr, indices, words = _ROWS, _NO_OFFSETS, _NO_OFFSETS, _NO_BITS
    if _in_every_slot(x):
        kind = _EVERYWHERE
    elif isinstance(x, Bitmap) or is_bitmap(x):
        kind, words = _BITS, kernel_array(x.words if isinstance(x, Bitmap) else x.pattern.words)
    else:
        pattern = _pattern(x, None)
        if pattern is listed or (isinstance(x, IndexList) and x.indices is listed.indices):
            kind = _LISTED
        else:
            indptr, indices = kernel_array(pattern.indptr), kernel_array(pattern.indices)
    slots = np.empty(listed.nvals, np.int64)
    rows = kernel_array(listed.indptr), kernel_array(listed.indices)
    run(_locate, parts_for(listed.nvals), *rows, listed.ncols, kind, indptr, indices, words, slots)
    return slots


@kernel
def _locate(t, threads, control, indptr, indices, ncols, kind, x_indptr, x_indices, words, slots):
    for i in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        base = np.int64(i) * ncols
        r = end = np.int64(0)
        if kind == _ROWS:
            r, end = np.int64(x_indptr[i]), np.int64(x_indptr[i + 1])
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            place = base + np.int64(j)
            if kind == _LISTED:
                slots[p] = p
            elif kind == _EVERYWHERE or (kind == _BITS and present(words, place)):
                slots[p] = place
            elif kind == _BITS:
                slots[p] = -1
            else:  # the listed columns ascend
                r = lower_bound(x_indices, r, end, j)
                slots[p] = r if r < end and x_indices[r] == j else -1


@kernel
def _at_slots(
    t, threads, control, indptr, indices, aslots, avals, bslots, bvals, intersect, op, alpha, beta, found, made, counts
):
    """found: whether the mask admits each listed position; then, whether the result has an entry there."""
    count = 0
    for row in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        i = np.int64(row)
        for p in range(indptr[row], indptr[row + 1]):
            j, x, y = np.int64(indices[p]), aslots[p], bslots[p]
            if not found[p]:
                continue
            if x >= 0 and y >= 0:
                put(made, p, call(op, value_at(avals, x), value_at(bvals, y), i, j, i, j))
            elif intersect or (x < 0 and y < 0):
                found[p] = False
                continue
            elif x >= 0:
                put(made, p, left_alone(op, value_at(avals, x), beta, i, j))
            else:
                put(made, p, right_alone(op, alpha, value_at(bvals, y), i, j))
            count += 1
    counts[t] = count
