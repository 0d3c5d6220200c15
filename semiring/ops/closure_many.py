"""The boolean closure of many sources at once, level by level.

    R = S (+) S A (+) S A^2 (+) ... = S A*,  with S(s, sources[s]) = true

A row of R is the set of vertices that a source reaches; its level d is what appears for the first time in S A^d.  One
pass over the matrix advances all sources, so that a source costs far less than a search of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..config import config
from ..dtypes import largest
from ..engines import registry
from ..engines.requests.graphs import ClosureMany, ClosureManyResult
from ..engines.rows.residency import is_resident
from ..engines.shared.direction import derives_transpose
from ..exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue
from ..formats import CSR, structure_only
from ..formats.csr import empty_csr
from ..memory.arrays import to_host
from . import check, structure

_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)


def closure_many(
    sources: Any, a: CSR, *, transposed: bool = False, levels: bool = True, counts: bool = False
) -> ClosureManyResult:
    """Return the closure of the rows `sources` under `a`: levels, counts, or both.

    Shapes: A (n, n), whose values are not read; k sources; the levels (k, n), int32 (int64 from n = 2**31 - 1); the
    counts (k, number of levels), int64.
    Raises DimensionMismatch unless A is square, IndexOutOfBound for a source that is not a row, and InvalidValue for
    sources that are not a sequence of integers, or where neither result is requested.
    Cost: O(nvals) a level for up to 1,024 sources where levels are pulled.
    """
    if a.nrows != a.ncols:
        raise DimensionMismatch(f"closure_many: the matrix must be square, got shape {a.shape}")
    if not (levels or counts):
        raise InvalidValue("closure_many: neither levels nor counts are requested")
    chosen = _rows(sources, a.nrows)
    dtype = _INT32 if a.nrows < largest(_INT32) else _INT64
    engine = check.engine_of("closure_many", a)
    if chosen.size == 0:
        return ClosureManyResult(
            empty_csr(0, a.ncols, dtype, a.device) if levels else None,
            empty_csr(0, 0, _INT64, a.device) if counts else None,
            0,
        )
    a = structure_only(a.pattern)
    by_row = structure.rows(a, transposed, values=False)
    by_column = structure.rows(a, not transposed, values=False)
    if not by_column.ready and derives_transpose(config.direction, True, is_resident(a)):
        by_column.get()
    result: ClosureManyResult = registry.run(
        ClosureMany(by_row, by_column, chosen, dtype, levels, counts, config.direction), engine
    )
    return result


def _rows(sources: Any, n: int) -> np.ndarray[Any, Any]:
    """Return sources as an int64 array; IndexOutOfBound unless all are rows."""
    chosen = np.asarray(to_host(sources) if hasattr(sources, "__cuda_array_interface__") else sources)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise InvalidValue("closure_many: sources are a sequence of row numbers")
    wrong = np.flatnonzero((chosen < 0) | (chosen >= n))
    if wrong.size:
        at = int(wrong[0])
        raise IndexOutOfBound(f"closure_many: sources[{at}] = {chosen[at]} is out of bounds for a matrix of {n} rows")
    return chosen.astype(np.int64)
