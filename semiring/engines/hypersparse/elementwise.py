"""Elementwise operations: matrices are laid out on the union of their rows; columns keep their numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from ...exceptions import NotSupported
from ...formats import CSR, Array, IndexList, Pattern, VectorStore, array_module, index_dtype
from ...operators.expression import Expression
from ...operators.types import TypedBinary, TypedIndexUnary
from .. import recording, registry
from ..registry import hypersparse_rule
from ..requests.operands import Index, Mask
from ..requests.operations import Apply, Ewise, Keep, Outside, ReduceRows, ReduceScalar, ScalarResult, Select
from .lists import INT64, Listed, distinct, found_in, index_list, is_listed, laid_out, restored, row_numbers, rows_of
from .numbering import carried, scalar_values, with_numbers
from .rewriting import with_all_rows_first


@hypersparse_rule(Apply)
def apply(q: Apply, engine: str) -> CSR:
    """T = op(a(i, j), i, j, k) on the structure of a, which the result shares."""
    assert isinstance(q.a, CSR)
    listed = rows_of(q.a)
    note(listed)
    done = _applied(listed, q.a.nrows, q.op, q.k, engine)
    return CSR(q.a.pattern, q.op.z, done.values, done.iso)


@hypersparse_rule(Select)
def select(q: Select, engine: str) -> CSR:
    """T = the entries of a for which op(a(i, j), i, j, k) holds."""
    assert isinstance(q.a, CSR)
    listed = rows_of(q.a)
    note(listed)
    if "i" not in q.op.uses:
        made = registry.run(replace(q, a=listed.matrix), engine)
    else:
        found = _applied(listed, q.a.nrows, q.op, q.k, engine)
        # In the order of the entries, but perhaps in another layout of rows and columns.
        flags = CSR(listed.matrix.pattern, found.dtype, found.values, found.iso)
        made = registry.run(Keep(listed.matrix, Mask(flags, False, False)), engine)
    return restored(made, q.a.shape, listed.rows)


def _applied(a: Listed, nrows: int, op: TypedIndexUnary, k: np.generic, engine: str) -> CSR:
    """Return op on the listed rows, of which it reads the numbers in the whole matrix."""
    matrix, uses = a.matrix, op.uses
    if "i" not in uses:
        return cast(CSR, registry.run(Apply(matrix, op, k), engine))
    rows = row_numbers(a.rows, matrix.indptr, matrix.nvals)
    if "x" not in uses:
        binary = TypedBinary(f"{op.name}_listed", op.k, INT64, op.z, op.expr.renamed({"k": "x", "i": "y", "j": "xj"}))
        spec: Any = Ewise(scalar_values(matrix, k), with_numbers(matrix, rows), binary, "intersect")
    elif "k" not in uses:
        binary = TypedBinary(f"{op.name}_listed", op.x, INT64, op.z, op.expr.renamed({"i": "y", "j": "xj"}))
        spec = Ewise(matrix, with_numbers(matrix, rows), binary, "intersect")
    elif "j" not in uses:
        spec = Apply(_entry_rows(matrix, rows, nrows), replace(op, expr=op.expr.renamed({"i": "j"})), k)
    else:
        raise NotSupported(
            f"{op.name} reads the value, the row, the column and the thunk, which is not supported for hypersparse "
            f"matrices; bind the thunk in the operator, or convert('csr')"
        )
    return cast(CSR, registry.run(spec, engine))


def _entry_rows(matrix: CSR, rows: Array, nrows: int) -> CSR:
    """Return the entries, one in each row, with the row of each in the whole matrix as its column."""
    xp, nvals = array_module(matrix.device), matrix.nvals
    offsets = xp.arange(nvals + 1, dtype=index_dtype(nvals))
    pattern = Pattern(nvals, nrows, offsets, rows.astype(index_dtype(nrows), copy=False))
    return CSR(pattern, matrix.dtype, matrix.values, matrix.iso)


def note(*listed: Listed) -> None:
    """Record for `explain` the number of listed rows."""
    recording.note(kernel="listed rows", rows=sum(int(a.rows.size) for a in listed))


def together(*stores: CSR) -> tuple[Array, list[CSR]]:
    """Return the union of the rows of hypersparse matrices, and the matrices laid out on it."""
    listed = [rows_of(store) for store in stores]
    note(*listed)
    rows = distinct(*(each.rows for each in listed))
    return rows, [laid_out(each.matrix, each.rows, rows) for each in listed]


@hypersparse_rule(Keep)
def keep(q: Keep, engine: str) -> CSR:
    """T = the entries of a that the mask admits."""
    a, mask = q.a, q.mask
    if not is_listed(a) or not is_listed(mask.store):  # the other one has an offset for each row
        return cast(CSR, with_all_rows_first(q, engine))
    rows, (here, there) = together(a, mask.store)
    made = registry.run(Keep(here, replace(mask, store=there)), engine)
    return restored(made, a.shape, rows)


@hypersparse_rule(Ewise)
def ewise(q: Ewise, engine: str) -> CSR:
    """T = op(a, b)."""
    a, b = q.a, q.b
    if not is_listed(a) or not is_listed(b):  # the other one has an offset for each row
        return cast(CSR, with_all_rows_first(q, engine))
    if q.op.uses & {"xi", "yi"} and q.mode != "intersect":
        return _united(q, a, b, engine)
    rows, (here, there) = together(a, b)
    op, x, y = carried(q.op, {"xi": "i", "yi": "i"}, "i", "i")
    if x is not None:
        here = with_numbers(here, row_numbers(rows, here.indptr, here.nvals))
    if y is not None:
        there = with_numbers(there, row_numbers(rows, there.indptr, there.nvals))
    made = registry.run(replace(q, a=here, b=there, op=op), engine)
    return restored(made, a.shape, rows)


def _united(q: Ewise, a: CSR, b: CSR, engine: str) -> CSR:
    """T = op(a, b) on the union, for an operator that reads rows: combined from the intersection."""

    def union(one: CSR, other: CSR, name: str, dtype: np.dtype[Any]) -> CSR:
        op = TypedBinary(name, dtype, dtype, dtype, Expression("x" if name == "first" else "y"))
        return cast(CSR, registry.run(Ewise(one, other, op, "union"), engine))

    if q.mode == "fill":
        assert q.alpha is not None
        assert q.beta is not None
        left = union(_cast(a, q.op.x, engine), CSR(b.pattern, q.op.x, None, q.alpha), "first", q.op.x)
        right = union(_cast(b, q.op.y, engine), CSR(a.pattern, q.op.y, None, q.beta), "first", q.op.y)
        return cast(CSR, registry.run(Ewise(left, right, q.op, "intersect"), engine))
    both = registry.run(replace(q, mode="intersect"), engine)
    alone = union(_cast(a, q.op.z, engine), _cast(b, q.op.z, engine), "first", q.op.z)
    return union(alone, both, "second", q.op.z)


def _cast(a: CSR, dtype: np.dtype[Any], engine: str) -> CSR:
    if a.dtype == dtype:
        return a
    op = TypedIndexUnary("identity", a.dtype, np.dtype(np.bool_), dtype, Expression("x"))
    return cast(CSR, registry.run(Apply(a, op, np.bool_(False)), engine))


@hypersparse_rule(Outside)
def outside(q: Outside, engine: str) -> CSR:
    """T = the entries of a that are outside the region rows x columns."""
    assert isinstance(q.a, CSR)
    listed = rows_of(q.a)
    note(listed)
    within = distinct(rows_within(listed.rows, q.rows)[1])
    count = int(listed.rows.size)
    region = Index(count, int(within.size), array=within.astype(index_dtype(count), copy=False))
    made = registry.run(Outside(listed.matrix, region, q.cols), engine)
    return restored(made, q.a.shape, listed.rows)


def rows_within(rows: Array, index: Index) -> tuple[Array, Array]:
    """Return (p, q) with p ascending: member p of the index is the listed row ``rows[q]``.  Synchronizes."""
    if index.array is not None:
        return found_in(rows, index.array)
    xp = array_module("cpu" if isinstance(rows, np.ndarray) else "cuda")
    wide = rows.astype(INT64, copy=False) - index.start
    member = wide // index.step
    here = xp.flatnonzero((wide % index.step == 0) & (member >= 0) & (member < index.count))
    if index.step < 0:
        here = xp.ascontiguousarray(here[::-1])
    return member[here], here


@hypersparse_rule(ReduceRows)
def reduce_rows(q: ReduceRows, engine: str) -> VectorStore:
    """t(i) = (+)_j a(i, j): every listed row has entries."""
    listed = rows_of(q.a)
    note(listed)
    t = index_list(registry.run(replace(q, a=listed.matrix), engine), engine)
    return IndexList(q.a.nrows, t.dtype, listed.rows, t.values, t.iso)


@hypersparse_rule(ReduceScalar)
def reduce_scalar(q: ReduceScalar, engine: str) -> ScalarResult:
    """(+) over all entries."""
    assert isinstance(q.a, CSR)
    listed = rows_of(q.a)
    note(listed)
    return cast(ScalarResult, registry.run(replace(q, a=listed.matrix), engine))
