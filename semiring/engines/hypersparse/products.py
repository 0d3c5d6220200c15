"""Products, searches and symmetry: rows and columns are numbered by those that have entries."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from ...formats import (
    CSR,
    Array,
    HyperPattern,
    IndexList,
    Pattern,
    VectorStore,
    array_module,
    index_dtype,
    structure_only,
)
from ...memory.arrays import to_device, to_host
from ...operators.types import TypedSemiring
from .. import registry
from ..registry import hypersparse_rule
from ..requests.graphs import Closure, ClosureResult
from ..requests.operands import Rows
from ..requests.operations import IsSymmetric, Kronecker, Mxm, Mxv
from ..rows.slices import run_masked
from ..shared.iso_results import POSITIONS
from .elementwise import note
from .lists import (
    INT64,
    Listed,
    can_list,
    compacted,
    distinct,
    few,
    gathered,
    gathered_mask,
    index_list,
    is_listed,
    laid_out,
    positions,
    renumbered,
    restored,
    rows_of,
    spread,
    together_on_host,
    transpose_of,
)
from .numbering import carried, numbered
from .rewriting import with_all_rows_first


@hypersparse_rule(Mxv, fuses=("mask",))
def mxv(q: Mxv, engine: str) -> VectorStore:
    """t(o) = (+)_k M(o, k) (x) u(k), of the rows and columns of M that have entries."""
    by_row = q.by_row.ready and is_listed(q.by_row.get())
    held = (q.by_row if by_row else q.by_column).get()
    if not is_listed(held):
        return cast(VectorStore, with_all_rows_first(q, engine))
    listed = compacted(held)
    note(listed)
    assert listed.columns is not None
    # The list of the outputs, and that of the inner index.
    out, inner = (listed.rows, listed.columns) if by_row else (listed.columns, listed.rows)
    vector = gathered(q.vector, inner, engine)
    matrix, semiring = listed.matrix, q.semiring
    if semiring.mult.uses & POSITIONS:
        names = {"xi": "0", "xj": "k", "yi": "k", "yj": "o"} if q.flip else {"xi": "o", "xj": "k", "yi": "k", "yj": "0"}
        op, x, y = carried(semiring.mult, names, *(("k", "ok") if q.flip else ("ok", "k")))
        of_matrix, of_vector = (y, x) if q.flip else (x, y)
        if of_matrix is not None:
            matrix = numbered(listed, "rows" if (of_matrix == "o") == by_row else "columns")
        if of_vector is not None:
            entries = index_list(vector, engine)
            vector = replace(entries, dtype=INT64, values=inner[entries.indices].astype(INT64, copy=False), iso=None)
        semiring = TypedSemiring(semiring.add, op)
    this, other = Rows(matrix), transpose_of(matrix, engine)
    request = replace(
        q,
        nout=int(out.size),
        ninner=int(inner.size),
        by_row=this if by_row else other,
        by_column=other if by_row else this,
        vector=vector,
        semiring=semiring,
        mask=gathered_mask(q.mask, out, engine),
    )
    return spread(run_masked(request, engine), out, q.nout, engine)


@hypersparse_rule(Mxm, fuses=("mask",))
def mxm(q: Mxm, engine: str) -> CSR:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j), of the rows that have entries, and the inner indices of both operands."""
    b, mask = q.b, q.mask
    if not can_list(q.a) or (mask is not None and not _can_list(mask.store)):
        return cast(CSR, with_all_rows_first(q, engine))
    inner = is_listed(b)  # whether the inner index is renumbered; else B has an offset for each row
    wide = inner and index_dtype(b.ncols) == INT64
    one = compacted(q.a) if inner else rows_of(q.a)
    two = compacted(b) if wide else rows_of(b) if inner else Listed(one.rows[:0], None, b)
    note(one, two)
    over = None if mask is None else (compacted if wide else rows_of)(cast(CSR, mask.store))
    left, right, semiring = one.matrix, two.matrix, q.semiring
    if semiring.mult.uses & POSITIONS:
        if not inner:
            return cast(CSR, with_all_rows_first(q, engine))
        op, x, y = carried(semiring.mult, {"xi": "i", "xj": "k", "yi": "k", "yj": "j"}, "ik", "kj")
        left = numbered(one, {"i": "rows", "k": "columns", None: None}[x])
        right = numbered(two, {"k": "rows", "j": "columns", None: None}[y])
        semiring = TypedSemiring(semiring.add, op)
    if inner:
        assert one.columns is not None
        left, right = _inner_together(left, one.columns, right, two.rows)
    rows, columns = one.rows, two.columns
    if over is not None:
        rows = distinct(one.rows, over.rows)
        left, masked = laid_out(left, one.rows, rows), laid_out(over.matrix, over.rows, rows)
        if columns is not None:
            assert over.columns is not None
            columns = distinct(columns, over.columns)
            right, masked = renumbered(right, columns, two.columns), renumbered(masked, columns, over.columns)
        assert mask is not None
        mask = replace(mask, store=masked)
    by_column = transpose_of(right, engine) if inner else q.by_column
    request = Mxm(left, Rows(right) if inner else q.by_row, by_column, semiring, mask, q.method)
    return restored(run_masked(request, engine), (q.a.nrows, b.ncols), rows, columns)


def _inner_together(left: CSR, columns: Array, right: CSR, rows: Array) -> tuple[CSR, CSR]:
    """Return both factors with the inner index numbered by the union of the left columns and the right rows."""
    a, b = left.pattern, right.pattern
    assert isinstance(a, Pattern)
    assert isinstance(b, Pattern)
    if columns is rows:
        count, numbers, offsets = int(rows.size), a.indices, b.indptr
    elif b.indptr.dtype == np.int32 and few(columns, rows, a.indices, b.indptr):
        count, numbers, offsets = _few_together(columns, rows, a.indices, b.indptr)
    else:
        shared = distinct(columns, rows)
        count, before = int(shared.size), positions(rows, shared)
        numbers = positions(shared, columns)[a.indices].astype(index_dtype(count), copy=False)
        offsets = array_module(right.device).concatenate([b.indptr[before], b.indptr[-1:]])
    return (
        CSR(Pattern(a.nrows, count, a.indptr, numbers), left.dtype, left.values, left.iso),
        CSR(Pattern(count, b.ncols, offsets, b.indices), right.dtype, right.values, right.iso),
    )


def _few_together(columns: Array, rows: Array, indices: Array, indptr: Array) -> tuple[int, Array, Array]:
    """Return the size of the union, the left columns numbered by it, and the right offsets of its rows.

    By one copy in each direction: a sort and two searches on a GPU take longer.  Synchronizes.
    """
    listed, others, entries, offsets = together_on_host(columns, rows, indices, indptr)
    shared = np.union1d(listed, others)
    numbers = np.searchsorted(shared, listed)[entries]
    offsets = np.append(offsets[np.searchsorted(others, shared)], offsets[-1])
    made = to_device(np.concatenate([numbers, offsets]).astype(np.int32), "cuda")
    return int(shared.size), made[: numbers.size], made[numbers.size :]


def _can_list(store: object) -> bool:
    return isinstance(store, CSR) and can_list(store)


@hypersparse_rule(Kronecker)
def kronecker(q: Kronecker, engine: str) -> CSR:
    """t(i r + k, j c + l) = op(a(i, j), b(k, l)): every row of a result of listed rows has entries."""
    a, b = q.a, q.b
    if not can_list(a) or not can_list(b):
        return cast(CSR, with_all_rows_first(q, engine))
    one, two = compacted(a), compacted(b)
    note(one, two)
    op, x, y = carried(q.op, {"xi": "i", "xj": "j", "yi": "k", "yj": "l"}, "ij", "kl")
    left = numbered(one, {"i": "rows", "j": "columns", None: None}[x])
    right = numbered(two, {"k": "rows", "l": "columns", None: None}[y])
    made = registry.run(Kronecker(left, right, op), engine)
    assert one.columns is not None
    assert two.columns is not None
    rows, columns = _outer(one.rows, two.rows, b.nrows), _outer(one.columns, two.columns, b.ncols)
    return restored(made, (a.nrows * b.nrows, a.ncols * b.ncols), rows, columns)


def _outer(one: Array, two: Array, size: int) -> Array:
    """Return ``one[p] * size + two[q]`` for all p and q."""
    return (one.astype(INT64)[:, None] * size + two.astype(INT64)[None, :]).reshape(-1)


@hypersparse_rule(Closure)
def closure(q: Closure, engine: str) -> ClosureResult:
    """c = x A*, of the rows and columns of A that have entries, and those where x has."""
    by_row = q.by_row.ready and is_listed(q.by_row.get())
    a = (q.by_row if by_row else q.by_column).get()
    if not is_listed(a):
        return cast(ClosureResult, with_all_rows_first(q, engine))
    listed, frontier = compacted(a), index_list(q.frontier, engine)
    note(listed)
    assert listed.columns is not None
    numbers = distinct(listed.rows, listed.columns, frontier.indices)
    matrix, semiring = listed.matrix, q.semiring
    if semiring.mult.uses & POSITIONS:
        op, _, y = carried(semiring.mult, {"xi": "0", "xj": "k", "yi": "k", "yj": "j"}, "", "kj")
        # by_row holds A: its rows are the inner index.
        matrix = numbered(listed, None if y is None else "rows" if (y == "k") == by_row else "columns")
        semiring = TypedSemiring(semiring.add, op)
    square = laid_out(renumbered(matrix, numbers, listed.columns), listed.rows, numbers)
    this, other = Rows(square), transpose_of(square, engine)
    places = positions(numbers, frontier.indices)
    vector = IndexList(int(numbers.size), frontier.dtype, places, frontier.values, frontier.iso)
    request = replace(
        q,
        frontier=vector,
        by_row=this if by_row else other,
        by_column=other if by_row else this,
        semiring=semiring,
    )
    done: ClosureResult = registry.run(request, engine)
    return replace(done, store=spread(done.store, numbers, a.nrows, engine))


@hypersparse_rule(IsSymmetric)
def is_symmetric(q: IsSymmetric, engine: str) -> bool:
    """Return True if a(j, i) is present wherever a(i, j) is.  Synchronizes."""
    assert isinstance(q.pattern, HyperPattern)
    if q.pattern.nrows != q.pattern.ncols:
        return False
    listed = compacted(structure_only(q.pattern))
    assert listed.columns is not None
    if listed.rows.size != listed.columns.size:
        return False
    if bool(to_host((listed.rows != listed.columns).any())):  # synchronizes
        return False
    return bool(registry.run(IsSymmetric(listed.matrix.pattern), engine))
