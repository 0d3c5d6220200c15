"""A matrix and a full vector, entry by entry: a product with a diagonal matrix."""

from __future__ import annotations

import numpy as np

from ...formats import CSR, Full, with_values
from ...memory.allocation import require
from ..registry import implements
from ..requests.operations import Scale
from ..shared.iso_results import binary_value
from . import types
from .compile import kernel
from .operands import rows_of, values_of
from .rows import share
from .threads import parts_for, run
from .types import call, position, put, value_at


@implements(Scale, engine="cpu")
def scale(q: Scale) -> CSR:
    """t(i, j) = op(a(i, j), u(j)), or op(u(i), a(i, j)): one pass over the entries."""
    a: CSR = q.a
    x: CSR | Full = q.u if q.by_rows else a
    y: CSR | Full = a if q.by_rows else q.u
    constant = binary_value(q.op, x.iso, y.iso)
    if constant is not None:
        return with_values(a, q.op.z, None, constant)
    require("scale", "cpu", a.nvals * q.op.z.itemsize)
    made = np.empty(a.nvals, q.op.z)
    read = values_of(x, "x" in q.op.uses), values_of(y, "y" in q.op.uses)
    run(_scale, parts_for(a.nvals + a.nrows), *rows_of(a), *read, types.binary(q.op), q.by_rows or None, made)
    return with_values(a, q.op.z, made, None)


@kernel
def _scale(t, threads, control, indptr, indices, xvals, yvals, op, by_rows, made):
    """x is the matrix and y the vector; by_rows: exchanged, and an entry of the vector for each row, else None."""
    for row in range(share(indptr, t, threads), share(indptr, t + 1, threads)):
        i = np.int64(row)
        for p in range(np.int64(indptr[row]), np.int64(indptr[row + 1])):
            j = position(indices, p)
            x, y = (p, j) if by_rows is None else (i, p)
            put(made, p, call(op, value_at(xvals, x), value_at(yvals, y), i, j, i, j))
