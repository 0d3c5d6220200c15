"""Products with a full matrix B, row by row: multiples of rows of B are added to a row of the result.

The loop over the columns reads and writes contiguous values without a dependence between them, so the compiler
vectorizes it for every semiring.  A pass adds the rows of four entries of A, which quarters the accesses to the result.
Products are added in the order of the entries, as in `mxm`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, Array, FullPattern
from ...formats.full import full_rows
from ...memory.allocation import require
from ...operators.types import TypedSemiring
from ..shared.iso_results import product_value
from . import types
from .atomics import CHUNKS_PER_THREAD, next_chunk, stopped
from .compile import device, kernel
from .operands import kernel_array, rows_of, values_of
from .rows import share
from .select import kept_rows
from .threads import run, threads_for
from .tuning import COLUMNS, LEAST_COLUMNS
from .types import combine, position, product, put, stops, value_at

__all__ = ["COLUMNS_PER_ENTRY", "operators_of", "row_products"]

# Columns whose products take the time of an entry visited (reasoned: a vector instruction for 4 to 16 of them).
COLUMNS_PER_ENTRY = 8


def row_products(
    a: CSR,
    b: CSR,
    semiring: TypedSemiring,
    *,
    flip: bool = False,
    rows: Array | None = None,
    columns: int = COLUMNS,
) -> CSR:
    """Return t(i, :) = (+)_k A(i, k) (x) B(k, :) for uncompressed rows A and a full matrix B.

    A row is empty where no entry of the row of A meets a row of B.  flip: the multiplication is (x)(B(k, j), A(i, k)),
    and its positions are those of a product B' A'.  rows: a flag for each row, whether to compute it; None: all rows.
    columns: the columns that a chunk of the work computes.
    """
    assert isinstance(b.pattern, FullPattern)
    every_row = b.pattern.every_row
    if not every_row:
        a = kept_rows(a, (np.diff(b.indptr) > 0)[a.indices])
    present = np.diff(a.indptr) > 0
    pattern = full_rows(present if rows is None else present & rows, b.ncols)
    known = product_value(semiring, *((b.iso, a.iso) if flip else (a.iso, b.iso)))
    if known is not None:
        return CSR(pattern, semiring.z, None, known)
    require("mxm", "cpu", pattern.nvals * semiring.z.itemsize)
    made = np.empty(pattern.nvals, semiring.z)
    if pattern.nvals == 0:
        return CSR(pattern, semiring.z, made)
    work = (a.nvals + a.nrows) * (1 + b.ncols // COLUMNS_PER_ENTRY)
    threads = threads_for(work)
    if threads > 1 and int(np.diff(a.indptr).max()) * 4 * threads > a.nvals:  # the columns of a long row are divided
        columns = min(columns, max(LEAST_COLUMNS, -(-b.ncols // (4 * threads))))
    add, mult, reads_a, reads_b = operators_of(semiring, flip=flip)
    indptr, indices = rows_of(a)
    structure = (indptr, indices, kernel_array(b.indptr), kernel_array(pattern.indptr))
    values = (values_of(a, reads_a), values_of(b, reads_b))
    run(_add_rows, threads, *structure, *values, add, mult, flip or None, every_row, b.ncols, columns, made, work=work)
    return CSR(pattern, semiring.z, made)


def operators_of(semiring: TypedSemiring, *, flip: bool = False) -> tuple[Any, Any, bool, bool]:
    """Return monoid and multiplication as kernel arguments, and whether the operands A and B are read."""
    uses = semiring.mult.uses
    read = "x" in uses, "y" in uses
    return (types.monoid(semiring.add), types.binary(semiring.mult), *(read[::-1] if flip else read))


@device
def _settled(add, made, first, last):
    """Return whether no further operand changes any of these values."""
    for p in range(first, last):  # noqa: SIM110  (numba compiles no generator expression)
        if not stops(add, value_at(made, p)):
            return False
    return True


@device
def _start(indptr, k, every_row, width):
    """Return the position of the first value of row k, in which `width` values are stored."""
    return k * width if every_row else np.int64(indptr[k])


@kernel
def _add_rows(
    t,
    threads,
    control,
    a_indptr,
    a_indices,
    b_indptr,
    c_indptr,
    avals,
    bvals,
    add,
    mult,
    flip,
    every_row,
    width,
    columns,
    made,
):
    """Compute the values of the result: all rows, `columns` columns at a time."""
    blocks = (width + columns - 1) // columns
    parts = threads * CHUNKS_PER_THREAD
    while True:
        chunk = next_chunk(control)
        if chunk >= parts * blocks:
            return
        block, part = chunk // parts, chunk % parts
        low, high = block * columns, min((block + 1) * columns, width)
        for i in range(share(a_indptr, part, parts), share(a_indptr, part + 1, parts)):
            if stopped(control):
                return
            p, end = np.int64(a_indptr[i]), np.int64(a_indptr[i + 1])
            row, c = np.int64(i), np.int64(c_indptr[i])
            if c == c_indptr[i + 1]:
                continue
            k0, x0 = position(a_indices, p), value_at(avals, p)
            b0 = _start(b_indptr, k0, every_row, width)
            for j in range(low, high):
                put(made, c + j, product(mult, flip, x0, value_at(bvals, b0 + j), row, k0, j))
            p += 1
            while p < end and not _settled(add, made, c + low, c + high):
                k0, x0 = position(a_indices, p), value_at(avals, p)
                b0 = _start(b_indptr, k0, every_row, width)
                if end - p < 4:
                    for j in range(low, high):
                        total = combine(
                            add, value_at(made, c + j), product(mult, flip, x0, value_at(bvals, b0 + j), row, k0, j)
                        )
                        put(made, c + j, total)
                    p += 1
                    continue
                k1, x1 = position(a_indices, p + 1), value_at(avals, p + 1)
                k2, x2 = position(a_indices, p + 2), value_at(avals, p + 2)
                k3, x3 = position(a_indices, p + 3), value_at(avals, p + 3)
                b1 = _start(b_indptr, k1, every_row, width)
                b2 = _start(b_indptr, k2, every_row, width)
                b3 = _start(b_indptr, k3, every_row, width)
                for j in range(low, high):
                    total = value_at(made, c + j)
                    total = combine(add, total, product(mult, flip, x0, value_at(bvals, b0 + j), row, k0, j))
                    total = combine(add, total, product(mult, flip, x1, value_at(bvals, b1 + j), row, k1, j))
                    total = combine(add, total, product(mult, flip, x2, value_at(bvals, b2 + j), row, k2, j))
                    total = combine(add, total, product(mult, flip, x3, value_at(bvals, b3 + j), row, k3, j))
                    put(made, c + j, total)
                p += 4
