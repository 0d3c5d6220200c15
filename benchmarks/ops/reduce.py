"""w(i) = (+)_j A(i, j), its transpose, and the sum of all entries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import semiring as sr

from .. import checks, graphs
from .case import Case


def cases(A: sr.Matrix) -> Iterator[Case]:
    """Sums of float32 values; most columns of a skewed graph are short and a few are very long."""
    xp = graphs.module(A)
    M = graphs.floats(A, np.float32)
    exact = checks.double_precision(M)
    by_row = exact @ xp.ones(A.ncols)
    by_column = exact.T @ xp.ones(A.nrows)
    total = by_row.sum()
    n, read = A.nrows, 4 * A.nvals
    yield Case(
        "rows",
        lambda: M.reduce_rowwise("plus").wait(),
        read + 8 * n,
        lambda w: checks.close(w.to_dense(0), by_row, 1e-4),
    )
    yield Case(
        "columns",
        lambda: M.reduce_columnwise("plus").wait(),
        2 * read + 8 * n,
        lambda w: checks.close(w.to_dense(0), by_column, 1e-4),
    )
    yield Case(
        "scalar", lambda: M.reduce_scalar("plus").value, read, lambda s: checks.close(xp.asarray([s]), total, 1e-3)
    )
