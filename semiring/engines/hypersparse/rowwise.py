"""Operations within rows: each listed row by itself, wherever it is in the matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ...formats import CSR, IndexList
from .. import registry
from ..registry import hypersparse_rule
from ..requests.operands import Mask
from ..requests.operations import Keep, Located, LocateRows, Scan, SelectK, SortedRows, SortRows
from ..shared.order import random_keys
from .elementwise import note
from .lists import Listed, index_list, restored, row_numbers, rows_of


@hypersparse_rule(Scan)
def scan(q: Scan, engine: str) -> CSR:
    """t(i, j) = (+)_l a(i, l) for l <= j."""
    listed = rows_of(q.a)
    note(listed)
    return restored(registry.run(replace(q, a=listed.matrix), engine), q.a.shape, listed.rows)


@hypersparse_rule(SortRows)
def sort_rows(q: SortRows, engine: str) -> SortedRows:
    """The entries of each row in the order of their values."""
    listed = rows_of(q.a)
    note(listed)
    made = registry.run(replace(q, a=listed.matrix), engine)
    return SortedRows(*(restored(part, q.a.shape, listed.rows) for part in (made.values, made.columns)))


@hypersparse_rule(LocateRows)
def locate_rows(q: LocateRows, engine: str) -> Located:
    """w(i) = min_j a(i, j), p(i) = the first such j: every listed row has entries."""
    listed = rows_of(q.a)
    note(listed)
    made = registry.run(replace(q, a=listed.matrix), engine)
    parts = (index_list(part, engine) for part in (made.values, made.positions))
    return Located(*(IndexList(q.a.nrows, t.dtype, listed.rows, t.values, t.iso) for t in parts))


@hypersparse_rule(SelectK)
def select_k(q: SelectK, engine: str) -> CSR:
    """Up to k entries of each row."""
    listed = rows_of(q.a)
    note(listed)
    made = _at_random(q, listed, engine) if q.how == "random" else registry.run(replace(q, a=listed.matrix), engine)
    return restored(made, q.a.shape, listed.rows)


def _at_random(q: SelectK, listed: Listed, engine: str) -> CSR:
    """Return the listed rows with k random entries of each: keys depend on the number of the row in the whole."""
    a = listed.matrix
    keys = random_keys(q.seed, row_numbers(listed.rows, a.indptr, a.nvals), a.indices)
    chosen = registry.run(replace(q, a=CSR(a.pattern, keys.dtype, keys), how="smallest"), engine)
    return cast(CSR, registry.run(Keep(a, Mask(chosen, True, False)), engine))
