"""Operations within rows: each listed row by itself, wherever it is in the matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ...formats import CSR
from .. import registry
from ..registry import renumbers
from ..spec_rows import Scan, SelectK, SortedRows, SortRows
from .elementwise import note
from .lists import restored, rows_of
from .rewriting import with_all_rows_first


@renumbers(Scan)
def scan(q: Scan, engine: str) -> CSR:
    """t(i, j) = (+)_l a(i, l) for l <= j."""
    listed = rows_of(q.a)
    note(listed)
    return restored(registry.run(replace(q, a=listed.matrix), engine), q.a.shape, listed.rows)


@renumbers(SortRows)
def sort_rows(q: SortRows, engine: str) -> SortedRows:
    """The entries of each row in the order of their values."""
    listed = rows_of(q.a)
    note(listed)
    made = registry.run(replace(q, a=listed.matrix), engine)
    return SortedRows(*(restored(part, q.a.shape, listed.rows) for part in (made.values, made.columns)))


@renumbers(SelectK)
def select_k(q: SelectK, engine: str) -> CSR:
    """Up to k entries of each row."""
    if q.how == "random":  # which ones depends on the number of the row
        return cast(CSR, with_all_rows_first(q, engine))
    listed = rows_of(q.a)
    note(listed)
    return restored(registry.run(replace(q, a=listed.matrix), engine), q.a.shape, listed.rows)
