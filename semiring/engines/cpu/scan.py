"""Running totals of each row by a monoid."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, with_values
from ...memory.allocation import require
from ..registry import implements
from ..requests.operations import Scan
from ..shared.iso_results import reduced_value
from . import types
from .compile import kernel
from .operands import kernel_array, values_of
from .rows import lower_bound
from .threads import parts_for, run
from .types import combine, converted, put, value_at


@implements(Scan, engine="cpu")
def scan(q: Scan) -> CSR:
    """t(i, j) = (+)_l a(i, l), l <= j: the parts of a pass have equally many entries, so a row may be in several."""
    a, z = q.a, q.monoid.z
    same = reduced_value(q.monoid, a.iso)
    if same is not None:
        return with_values(a, z, None, same)
    require("scan", "cpu", a.nvals * z.itemsize)
    indptr, made, parts = kernel_array(a.indptr), np.empty(a.nvals, z), parts_for(a.nvals)
    tails = np.empty(parts, z)
    add = types.monoid(q.monoid)
    run(_scan_part, parts, indptr, values_of(a), add, made, tails)
    if parts > 1:
        run(_carry_over, parts, indptr, add, made, tails)
    return with_values(a, z, made, None)


@kernel
def _scan_part(t, threads, control, indptr, values, add, made, tails):
    """Compute the totals of the entries of a part as if no row had begun before it; tails[t] is the last of them."""
    p, end = made.size * t // threads, made.size * (t + 1) // threads
    if p == end:
        return
    row = lower_bound(indptr, 0, indptr.size, p + 1) - 1
    while p < end:
        row_end = min(np.int64(indptr[row + 1]), end)
        if p < row_end:
            total = converted(add, value_at(values, p))
            put(made, p, total)
            for s in range(p + 1, row_end):
                total = converted(add, combine(add, total, converted(add, value_at(values, s))))
                put(made, s, total)
            tails[t] = total
            p = row_end
        row += 1


@kernel
def _carry_over(t, threads, control, indptr, add, made, tails):
    """Add the total of the parts before to the entries of the row that begins in one of them."""
    p, end = made.size * t // threads, made.size * (t + 1) // threads
    if p == 0 or p == end:
        return
    row = lower_bound(indptr, 0, indptr.size, p + 1) - 1
    begin, row_end = np.int64(indptr[row]), min(np.int64(indptr[row + 1]), end)
    if begin == p:
        return
    # The parts from the one that holds the beginning of the row; no part before this one is empty.
    s = t - 1
    while made.size * s // threads > begin:
        s -= 1
    total = tails[s]
    for other in range(s + 1, t):
        total = converted(add, combine(add, total, tails[other]))
    for at in range(p, row_end):
        put(made, at, converted(add, combine(add, total, made[np.uintp(at)])))
