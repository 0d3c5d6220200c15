"""Peeling: rows whose counts fall below a level, as columns of removed rows are subtracted, are removed in turn.

    t(i) = max k: i in S, and counts(i) - (the entries of row i in columns outside S) >= k for every row of S

With the numbers of entries as counts, the levels of a symmetric matrix are the core numbers of its graph.  One call
removes all rows; a loop of products would decide on the host for each of the thousands of rounds.
"""

from __future__ import annotations

from typing import cast

from ..dtypes import INT32, INT64
from ..engines import registry
from ..engines.requests.graphs import Peel
from ..exceptions import DimensionMismatch, InvalidValue
from ..formats import CSR, Full, VectorStore
from . import check, structure

__all__ = ["peel"]


def peel(counts: VectorStore, a: CSR, *, transposed: bool = False, least: int | None = None) -> Full:
    """Return the level of each row, of the type of `counts`; see `semiring.ops.peel`."""
    if a.nrows != a.ncols:
        raise DimensionMismatch(f"peel: the matrix must be square, got shape {a.shape}")
    if least is not None and least < 1:
        raise InvalidValue(f"peel: least must be positive, got {least}")
    engine = check.engine_of("peel", counts, a)
    full = check.full_vector("peel", "counts", counts, a.nrows, (INT32, INT64))
    pattern = a.pattern if transposed else structure.transposed(a, values=False).pattern
    return cast(Full, registry.run(Peel(full, pattern, least), engine))
