"""Elementwise operations: requests on the vectors of nrows ncols entries.

An operator that reads positions is executed on rows: in the vector, a position is one number.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ...formats import CSR, BitmapPattern, Full, IndexList, VectorStore, array_module, is_bitmap, structure_only
from ...formats.bitmap import bit_count, prefers_bitmap, words_of_flags
from ...formats.placement import place
from ...operators.expression import Expression
from ...operators.types import TypedBinary, TypedSemiring
from .. import recording, registry
from ..registry import bitmap_rule
from ..requests.operands import Mask, Rows
from ..requests.operations import (
    Apply,
    Convert,
    Ewise,
    Keep,
    Mxv,
    Outside,
    ReduceRows,
    ReduceScalar,
    ScalarResult,
    Select,
    WriteMatrix,
    WriteVector,
)
from ..rows.bits import bits_of, listed, with_bits
from ..shared.iso_results import POSITIONS, cast_value
from .rewriting import rows_first
from .vectors import flat, flat_mask, members, shaped


def note() -> None:
    """Record for `explain` that the kernels for vectors are used."""
    recording.note(kernel="bits")


@bitmap_rule(Apply)
def apply(q: Apply, engine: str) -> CSR:
    """T = op(a(i, j), i, j, k) on the structure of a, which the result shares."""
    a = q.a
    assert isinstance(a, CSR)
    if q.op.uses & {"i", "j"}:
        return _spread(a, cast(CSR, rows_first(q, engine)), engine)
    note()
    done = registry.run(replace(q, a=bits_of(a)), engine)
    if isinstance(done, IndexList) and done.values is not None:  # it has the entries of a, without slots for the others
        done = registry.run(Convert(done, "bitmap"), engine)
    return CSR(a.pattern, q.op.z, done.values, done.iso)


def _spread(a: CSR, done: CSR, engine: str) -> CSR:
    """Return a bitmap matrix with the values of `done`, which has the same entries as rows."""
    if done.values is None:
        return CSR(a.pattern, done.dtype, None, done.iso)
    positions = listed(bits_of(structure_only(a.pattern)), engine)
    values = array_module(a.device).empty(a.pattern.slots, dtype=done.dtype)
    values[positions.indices] = done.values
    return CSR(a.pattern, done.dtype, values)


@bitmap_rule(Select)
def select(q: Select, engine: str) -> CSR:
    """T = the entries of a for which op(a(i, j), i, j, k) holds."""
    a = q.a
    assert isinstance(a, CSR)
    if not q.op.uses & {"i", "j"}:
        note()
        return shaped(registry.run(replace(q, a=bits_of(a)), engine), a.shape, engine)
    made = cast(CSR, rows_first(q, engine))
    return with_bits(made, engine) if prefers_bitmap(made.nvals, a.pattern.slots, has_bits=False) else made


@bitmap_rule(Keep)
def keep(q: Keep, engine: str) -> CSR:
    """T = the entries of a that the mask admits; with bits only if a has them."""
    a = q.a
    assert isinstance(a, CSR)
    note()
    made = registry.run(Keep(flat(a, engine), flat_mask(q.mask, engine)), engine)
    return shaped(made, a.shape, engine, rows=not is_bitmap(a))


@bitmap_rule(Outside)
def outside(q: Outside, engine: str) -> CSR:
    """T = the entries of a outside the region rows x columns: those of which a mask with its bits is the complement."""
    a = q.a
    assert isinstance(a, CSR)
    assert q.cols is not None
    xp = array_module(a.device)
    region = xp.zeros(a.shape, dtype=bool)
    region[members(q.rows, a.device)[:, None], members(q.cols, a.device)[None, :]] = True
    words = words_of_flags(region)
    inside = structure_only(BitmapPattern(a.nrows, a.ncols, words, bit_count(words)))
    return keep(Keep(a, Mask(inside, True, True)), engine)


@bitmap_rule(Ewise)
def ewise(q: Ewise, engine: str) -> CSR:
    """T = op(a, b)."""
    if q.op.uses & POSITIONS:
        return cast(CSR, rows_first(q, engine))
    note()
    a, b = q.a, q.b
    assert isinstance(a, CSR)
    made = registry.run(replace(q, a=flat(a, engine), b=flat(b, engine)), engine)
    return shaped(made, a.shape, engine, grows=q.mode != "intersect")


@bitmap_rule(ReduceRows)
def reduce_rows(q: ReduceRows, engine: str) -> VectorStore:
    """t(i) = (+)_j a(i, j), as the product with a vector of ones whose values are not read."""
    a, z = place(q.a, "device"), q.monoid.dtype
    if not registry.accepts(Mxv, engine, a.kind):
        return cast(VectorStore, rows_first(q, engine))
    note()
    first = TypedBinary("first", z, z, z, Expression("x"))
    ones = Full(a.ncols, z, None, cast_value(1, z), a.device)
    product = Mxv(a.nrows, a.ncols, Rows(a), Rows(None), ones, TypedSemiring(q.monoid, first), False)
    return cast(VectorStore, registry.run(product, engine))


@bitmap_rule(ReduceScalar)
def reduce_scalar(q: ReduceScalar, engine: str) -> ScalarResult:
    """(+) over all entries."""
    assert isinstance(q.a, CSR)
    note()
    return cast(ScalarResult, registry.run(replace(q, a=bits_of(q.a)), engine))


def _writes_bits(q: WriteMatrix, engine: str) -> bool:
    """Return True if the output or the result has bits, and the engine writes vectors at once."""
    if not (is_bitmap(q.c) or is_bitmap(q.t)) or (q.accum is not None and q.accum.uses & POSITIONS):
        return False
    return registry.implemented(WriteVector, engine)


@bitmap_rule(WriteMatrix, when=_writes_bits)
def write_matrix(q: WriteMatrix, engine: str) -> CSR:
    """C<M, replace> accum= T, by the same write of vectors."""
    note()
    mask = None if q.mask is None else flat_mask(q.mask, engine)
    c, t = flat(q.c, engine), flat(q.t, engine)
    return shaped(registry.run(WriteVector(c, t, mask, q.accum, q.replace), engine), q.c.shape, engine)
