"""The steps of `benchmarks.sanitize` for products of matrices, by every method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import semiring as sr
from semiring import Matrix, Vector

from .inputs import Small

__all__ = ["STEPS"]


def _searched(s: Small) -> Matrix:
    """Rows of A exceed the tables of warps and blocks: they are searched where they are."""
    from semiring.engines.cuda import mxm_dot, tuning

    with mock.patch.multiple(tuning, DOT_SMALL=4, DOT_LARGE=8):
        mxm_dot._plan.cache_clear()
        try:
            return s.A.mxm(s.A, "plus_times", mask=s.A.S, method="dot").wait()
        finally:
            mxm_dot._plan.cache_clear()


def _pairs(s: Small, method: str, ring: str, mask: Any, other: Matrix | None = None) -> Matrix:
    """A product by pairs of rows, which are in tables that they fill several times, or searched where they are."""
    B = s.A if other is None else other
    if s.A.device == "cpu":
        return s.A.mxm(B.T, ring, mask=mask)
    from semiring.engines.cuda import mxm_dot, tuning

    item = -(1 << 40) if method == "tables" else 1 << 40
    with mock.patch.multiple(tuning, PAIR_LAUNCHES=-(1 << 40), PAIR_ITEM=item, PAIR_TABLE=512, PAIR_PART=500):
        mxm_dot._pair_plan.cache_clear()
        try:
            return s.A.mxm(B.T, ring, mask=mask, method="dot").wait()
        finally:
            mxm_dot._pair_plan.cache_clear()


def _split(s: Small, mask: Any = None) -> Matrix:
    """A product in batches, as with little memory."""
    if s.A.device == "cpu":
        return s.A.mxm(s.A, "plus_times", mask=mask)
    from semiring.engines.cuda import mxm

    with mock.patch.multiple(mxm, _PRODUCT_BYTES=1 << 40, _SMALLEST_BATCH=512):
        return s.A.mxm(s.A, "plus_times", mask=mask, method="sort").wait()


def _every_class(A: Matrix, semiring: Any, **options: Any) -> Matrix:
    """A A, whose rows are merged, in tables of a warp, in tables of a block of three sizes, and in panels.

    Of the A of `Small`, rows with 16 products or fewer would be merged, those with up to 25 have the table of a warp,
    two with 320 the smallest table of a block, and the hub has panels; of S, rows have the larger tables of a block.
    """
    if A.device == "cpu":
        return A.mxm(A, semiring, **options)
    from semiring.engines.cuda import tuning

    with mock.patch.multiple(
        tuning, MERGE_PRODUCTS=16, HASH_SMALL=64, HASH_MEDIUM=320, HASH_LARGE=400, HASH_LARGEST=500, ROWS_SLOTS=1e-6
    ):
        return A.mxm(A, semiring, method="hash", **options).wait()


def _summed(C: Matrix) -> Vector:
    """The sum of all entries, by which a step reduces a product that is not stored."""
    return Vector.from_dense([C.reduce_scalar("plus").value])


# 0 is not neutral for negative numbers, so sums have no exact start value.
WIDER = sr.monoid.register_anonymous(lambda x, y: x if x > y else y, identity=0)
ORDERED = sr.semiring.register_anonymous(WIDER, sr.binary.minus)

# The steps, by name.  Each returns a Matrix or a Vector.
STEPS: dict[str, Callable[[Small], Any]] = {
    "mxm": lambda s: s.A.mxm(s.E, "plus_times"),
    "mxm any_pair": lambda s: s.S.mxm(s.S, "any_pair"),
    "mxm any_second": lambda s: s.A.mxm(s.E, "any_second").apply("one"),
    "mxm masked": lambda s: s.A.mxm(s.A, "plus_pair", mask=s.S.S),
    "mxm complemented": lambda s: s.A.mxm(s.E, "min_plus", mask=~s.A.S),
    "mxm of even rows": lambda s: s.E.mxm(s.E, "plus_times"),
    "mxm of even rows, masked": lambda s: s.E.mxm(s.E, "min_plus", mask=s.A.S),
    "mxm of even rows, complemented": lambda s: s.E.mxm(s.E, "any_pair", mask=~s.A.V),
    "mxm by a sort": lambda s: s.A.mxm(s.E, "plus_times", method="sort"),
    "mxm by rows": lambda s: s.A.mxm(s.E, "plus_times", method="rows"),
    "mxm by rows, masked": lambda s: s.A.mxm(s.E, "min_plus", mask=s.A.V, method="rows"),
    "mxm by rows, complemented": lambda s: s.E.mxm(s.E, "any_pair", mask=~s.A.S, method="rows"),
    "mxm by dot products": lambda s: s.A.mxm(s.E, "plus_times", mask=s.A.S, method="dot"),
    "mxm by dot products, any": lambda s: s.S.mxm(s.S, "any_pair", mask=s.A.V, method="dot"),
    "mxm by dot products, long rows": _searched,
    "mxm by dot products, summed": lambda s: _summed(s.S.mxm(s.S, "plus_pair", mask=s.A.S, method="dot")),
    "mxm by dot products, reduced": lambda s: _summed(s.A.mxm(s.E, "min_plus", mask=s.A.V, method="dot")),
    "mxm by dot products, rows reduced": lambda s: s.A.mxm(s.A, mask=s.A.S, method="dot").reduce_rowwise("max"),
    "mxm by dot products, selected": lambda s: s.A.mxm(s.A, mask=s.A.S, method="dot").select(">", 9),
    "mxm by pairs, tables": lambda s: _pairs(s, "tables", "plus_times", s.A.S),
    "mxm by pairs, tables of bits": lambda s: _pairs(s, "tables", "plus_pair", s.A.V, s.E),
    "mxm by pairs, searches": lambda s: _pairs(s, "searches", "plus_times", s.A.S, s.E),
    "mxm by pairs, any": lambda s: _pairs(s, "searches", "any_pair", s.A.S),
    "mxm in batches": _split,
    "mxm in batches, masked": lambda s: _split(s, s.E.S),
    "mxm by hash tables": lambda s: _every_class(s.A, "plus_times"),
    "mxm by hash tables, masked": lambda s: _every_class(s.A, "min_plus", mask=s.A.V),
    "mxm by hash tables, complemented": lambda s: _every_class(s.A, "any_pair", mask=~s.E.S),
    "mxm by hash tables, any": lambda s: _every_class(s.A, "any_second").apply("one"),
    "mxm by hash tables, in order": lambda s: _every_class(s.A, ORDERED),
    "mxm by hash tables of blocks": lambda s: _every_class(s.S, "plus_pair"),
    "mxm by hash tables of blocks, masked": lambda s: _every_class(s.S, "min_firsti", mask=s.A.V),
    "mxm by rows, in order": lambda s: s.A.mxm(s.E, ORDERED, method="rows"),
    "mxm by merging": lambda s: s.E.mxm(s.E, "plus_times", method="hash"),
    "mxm by merging, masked": lambda s: s.E.mxm(s.E, "min_plus", mask=s.A.V, method="hash"),
}
