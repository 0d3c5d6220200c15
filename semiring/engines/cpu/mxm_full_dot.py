"""Products of full matrices at chosen positions: a dot product of two contiguous rows for each of them.

Integer sums, and sums of floats without an operator of the user, are vectorized: floats are then added in another
order than that of the columns.  Other sums of floats have four partial results, so that an operation need not wait for
the one before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import Array, Pattern
from ...memory.allocation import require
from ...operators.types import TypedSemiring
from . import types
from .atomics import CHUNKS_PER_THREAD, FEW_STEPS, next_chunk, stopped
from .compile import device, kernel, reassociated
from .mxm_full_rows import operators_of
from .operands import kernel_array
from .rows import lower_bound
from .threads import run, threads_for
from .types import combine, position, product, put, stops, value_at

__all__ = ["dot_values"]

# Products between two tests for a terminal value.
_TESTED = 128
# Columns whose products take the time of an entry visited (reasoned: a vector instruction for 4 to 16 of them).
_COLUMNS_PER_ENTRY = 8


def dot_values(
    entries: Pattern,
    left: tuple[Array | None, Any],
    right: tuple[Array | None, Any],
    inner: tuple[int, Array | None],
    semiring: TypedSemiring,
) -> Array:
    """Return for each entry (i, j) the sum of the products of row i of one matrix and row j of another.

    left, right: for each matrix the ranks of its rows among those stored (None: all are), and the values or an iso
    value.  inner: the length of the rows, and the numbers of their columns (None: 0, 1, ...).  There is a column, and
    the rows of all entries are stored.
    """
    add, mult, reads_left, reads_right = operators_of(semiring)
    require("mxm", "cpu", entries.nvals * semiring.z.itemsize)
    made = np.empty(entries.nvals, semiring.z)
    work = entries.nvals * (1 + inner[0] // _COLUMNS_PER_ENTRY)
    rows = (kernel_array(entries.indptr), kernel_array(entries.indices), left[0], right[0])
    values = (left[1] if reads_left else None, right[1] if reads_right else None)
    run(_dots, threads_for(work), *rows, *values, *inner, add, mult, made, work=work)
    return made


@kernel
def _dots(t, threads, control, indptr, indices, a_ranks, b_ranks, avals, bvals, width, columns, add, mult, made):
    chunks = threads * CHUNKS_PER_THREAD
    while True:
        chunk = next_chunk(control)
        if chunk >= chunks:
            return
        first, last = made.size * chunk // chunks, made.size * (chunk + 1) // chunks
        i = lower_bound(indptr, 0, indptr.size, first + 1) - 1
        for m in range(first, last):
            if m & FEW_STEPS == 0 and stopped(control):
                return
            while indptr[i + 1] <= m:
                i += 1
            j = np.int64(indices[m])
            a, b = position(a_ranks, i) * width, position(b_ranks, j) * width
            put(made, m, _dot(add, mult, avals, bvals, a, b, width, columns, np.int64(i), j))


@types.by_types
def _dot(add, mult, avals, bvals, a, b, width, columns, i, j):
    """Return the sum of the products of the values from a and from b on; by the method that suits the operators."""
    method = _in_order
    if np.dtype(add.result).kind == "f":
        # Sums of products or of operands may be added in any order: none loses digits that another order would keep.
        any_order = mult.expr.is_multiplication or mult.expr.projection in ("x", "y")
        method = _reordered if add.expr.is_addition and any_order else _by_fours
    return lambda add, mult, avals, bvals, a, b, width, columns, i, j: method(
        add, mult, avals, bvals, a, b, width, columns, i, j
    )


def _one_after_another(add, mult, avals, bvals, a, b, width, columns, i, j):
    """Add the products in one loop, which the compiler vectorizes if it may reorder them."""
    total = product(mult, None, value_at(avals, a), value_at(bvals, b), i, position(columns, 0), j)
    k = 1
    while k < width and not stops(add, total):
        end = min(k + _TESTED, width)
        for p in range(k, end):
            x, y = value_at(avals, a + p), value_at(bvals, b + p)
            total = combine(add, total, product(mult, None, x, y, i, position(columns, p), j))
        k = end
    return total


_in_order = device(_one_after_another)
_reordered = reassociated(_one_after_another)


@device
def _by_fours(add, mult, avals, bvals, a, b, width, columns, i, j):
    """Add the products to four partial results in turns."""
    if width < 8:
        return _in_order(add, mult, avals, bvals, a, b, width, columns, i, j)
    s0 = product(mult, None, value_at(avals, a), value_at(bvals, b), i, position(columns, 0), j)
    s1 = product(mult, None, value_at(avals, a + 1), value_at(bvals, b + 1), i, position(columns, 1), j)
    s2 = product(mult, None, value_at(avals, a + 2), value_at(bvals, b + 2), i, position(columns, 2), j)
    s3 = product(mult, None, value_at(avals, a + 3), value_at(bvals, b + 3), i, position(columns, 3), j)
    k = 4
    while k + 4 <= width and not stops(add, s0):
        x, y = value_at(avals, a + k), value_at(bvals, b + k)
        s0 = combine(add, s0, product(mult, None, x, y, i, position(columns, k), j))
        x, y = value_at(avals, a + k + 1), value_at(bvals, b + k + 1)
        s1 = combine(add, s1, product(mult, None, x, y, i, position(columns, k + 1), j))
        x, y = value_at(avals, a + k + 2), value_at(bvals, b + k + 2)
        s2 = combine(add, s2, product(mult, None, x, y, i, position(columns, k + 2), j))
        x, y = value_at(avals, a + k + 3), value_at(bvals, b + k + 3)
        s3 = combine(add, s3, product(mult, None, x, y, i, position(columns, k + 3), j))
        k += 4
    total = combine(add, combine(add, s0, s1), combine(add, s2, s3))
    while k < width and not stops(add, total):
        x, y = value_at(avals, a + k), value_at(bvals, b + k)
        total = combine(add, total, product(mult, None, x, y, i, position(columns, k), j))
        k += 1
    return total
