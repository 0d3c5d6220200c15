"""Operators on arrays of entries, and the left fold of a monoid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..shared.expression_numpy import cast, evaluate

if TYPE_CHECKING:
    from ...operators.types import TypedBinary, TypedIndexUnary, TypedMonoid

Values = np.ndarray[Any, Any]


def binary(op: TypedBinary, x: Values, y: Values, xi: Values, xj: Values, yi: Values, yj: Values) -> Values:
    """Z = op(x, y): arguments cast to the operator's types, the result to its z."""
    variables = _read(op.uses, {"x": (x, op.x), "y": (y, op.y)}) | {"xi": xi, "xj": xj, "yi": yi, "yj": yj}
    return np.broadcast_to(evaluate(op.expr, variables, op.z), x.shape)


def indexunary(op: TypedIndexUnary, x: Values, i: Values, j: Values, k: np.generic) -> Values:
    """Z = op(x, i, j, k)."""
    variables = _read(op.uses, {"x": (x, op.x), "k": (k, op.k)}) | {"i": i, "j": j}
    return np.broadcast_to(evaluate(op.expr, variables, op.z), x.shape)


def _read(uses: frozenset[str], given: dict[str, tuple[Any, np.dtype[Any]]]) -> dict[str, Values]:
    """Return the operands that an operator reads, in its types: a record that is not read has no other type."""
    return {name: cast(value, dtype) for name, (value, dtype) in given.items() if name in uses}


def combine(op: TypedBinary, x: Values, y: Values) -> Values:
    """Z = op(x, y) where the operator uses values only: accumulators, duplicates, monoids."""
    zero = np.zeros(x.shape, np.int64)
    return binary(op, x, y, zero, zero, zero, zero)


class Fold:
    """Running totals of a monoid, one for each slot of an array; a slot is absent until a value is added."""

    def __init__(self, monoid: TypedMonoid, shape: tuple[int, ...]) -> None:
        self.monoid = monoid
        self.values = np.zeros(shape, monoid.op.z)
        self.present = np.zeros(shape, np.bool_)

    def add(self, where: Values, z: Values) -> None:
        """Add z to the totals, total = total (+) z, in the slots `where` (a mask of bool; one z for each)."""
        z = cast(z, self.monoid.op.z)
        seen = self.present[where]
        total = np.where(seen, self.values[where], z)
        if not self.monoid.is_any:
            total[seen] = cast(combine(self.monoid.op, total[seen], z[seen]), self.monoid.op.z)
        self.values[where] = total
        self.present[where] = True
