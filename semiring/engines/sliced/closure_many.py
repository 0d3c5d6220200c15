"""The closure of many sources over a matrix that an engine does not read whole.

Addressable compressed rows are decoded once, if they fit uncompressed.  Otherwise the sources are searched one by one:
a search from one source has methods of its own for entries in host memory.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ...formats import CSR, Array, IndexList, Pattern, array_module, index_dtype
from ...formats.vectors import SingleEntry
from ...memory.arrays import to_device, to_host
from ...operators import lookup_semiring
from .. import recording, registry
from ..registry import slicing_rule
from ..requests.graphs import Closure, ClosureMany, ClosureManyResult, counts_matrix
from ..requests.operands import Rows
from .closure import decoded
from .vectors import converted


@slicing_rule(ClosureMany)
def closure_many(q: ClosureMany, engine: str) -> ClosureManyResult:
    """S, S A, S A^2, ...: over decoded rows, or source by source.

    Source by source, each costs and synchronizes as the closure of one source.
    """
    uncompressed = decoded(q, engine)
    if uncompressed is not None:
        recording.note(kernel="uncompressed first")
        return cast(ClosureManyResult, registry.run(uncompressed, engine))
    recording.note(kernel="source by source")
    found = [_levels(q, int(source), engine) for source in q.sources]
    counts, steps = counts_matrix([_counted(row) for row in found], q.by_row.get().device)
    return ClosureManyResult(_stacked(q, found) if q.levels else None, counts if q.counts else None, steps)


def _levels(q: ClosureMany, source: int, engine: str) -> IndexList:
    """Return the levels of one source."""
    dtype, a = q.dtype, q.by_row.get()

    def steps(rows: CSR) -> CSR:
        return CSR(rows.pattern, dtype, None, dtype.type(1))

    by_column = Rows(steps(q.by_column.get()) if q.by_column.ready else None, lambda: steps(q.by_column.get()))
    found = registry.run(
        Closure(
            frontier=SingleEntry(a.nrows, dtype, source, dtype.type(0), a.device),
            by_row=Rows(steps(a)),
            by_column=by_column,
            semiring=lookup_semiring("min_plus").typed(dtype, dtype),
            final_on_arrival=True,
            max_steps=a.nrows,
            direction=q.direction,
        ),
        engine,
    )
    return cast(IndexList, converted(found.store, "index", engine))


def _values(row: IndexList) -> Array:
    if row.values is not None:
        return row.values
    return array_module(row.device).full(row.nvals, row.iso, dtype=row.dtype)


def _counted(row: IndexList) -> np.ndarray[Any, Any]:
    """Return the rows of each level, a column.  Synchronizes."""
    return to_host(array_module(row.device).bincount(_values(row))).reshape(-1, 1)


def _stacked(q: ClosureMany, found: list[IndexList]) -> CSR:
    """Return the levels of all sources as the rows of a matrix."""
    device, n = q.by_row.get().device, q.by_row.get().nrows
    xp = array_module(device)
    offsets = np.zeros(len(found) + 1, np.int64)
    np.cumsum([row.nvals for row in found], out=offsets[1:])
    indptr = to_device(offsets.astype(index_dtype(int(offsets[-1]))), device)
    indices = xp.concatenate([row.indices for row in found])
    return CSR(Pattern(len(found), n, indptr, indices), q.dtype, xp.concatenate([_values(row) for row in found]))
