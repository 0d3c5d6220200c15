"""Operations on the entries of each row whose results are vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import registry
from ..registry import slicing_rule
from ..requests.operations import Located, LocateRows
from ..rows.bounds import slice_bounds
from ..rows.slices import note_slices, walk
from .vectors import Part, joined


@slicing_rule(LocateRows)
def locate_rows(q: LocateRows, engine: str) -> Located:
    """w(i) = min_j a(i, j), p(i) = the first such j: no row is in two slices."""
    a = q.a
    where = slice_bounds(a.pattern)
    rows, selected = where.rows, where.filled()
    note_slices(rows, selected)
    values, positions = [], []
    for part in walk(a, engine, rows, selected):
        found = registry.run(replace(q, a=part.rows), engine)
        values.append(Part(part.first, part.last, part.detached(found.values)))
        positions.append(Part(part.first, part.last, part.detached(found.positions)))
    return Located(
        joined(a.nrows, a.dtype, values, engine, a.device),
        joined(a.nrows, np.dtype(np.int64), positions, engine, a.device),
    )
