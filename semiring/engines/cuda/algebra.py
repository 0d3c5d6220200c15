"""Properties of operators that hosts of kernels determine before a launch: start values, native atomics."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ...operators import table
from ...operators.expression import Expression
from ...operators.families import Monoid
from ...operators.types import TypedBinary, TypedMonoid, TypedSemiring
from ..shared.direction import ends_early

__all__ = ["native_atomic", "ring_facts", "start_value"]


class RingFacts(NamedTuple):
    """Properties of a semiring that hosts of kernels check, determined once.

    x, y: products read this operand.  early: see `ends_early`.  is_any: the first product is the sum.  start: see
    `start_value`.  native: see `native_atomic`.
    """

    x: bool
    y: bool
    early: bool
    is_any: bool
    start: np.generic | None
    native: int


# The built-in monoids with an identity, by the expression of their operator.
_BUILTIN: dict[Expression, Monoid] = {
    monoid.op.expr: monoid
    for monoid in (table.find("monoid", name) for name in table.names("monoid"))
    if monoid.builtin and not monoid.is_any
}


@functools.lru_cache(maxsize=1024)
def ring_facts(ring: TypedSemiring) -> RingFacts:
    """Return the facts of a semiring."""
    add, mult = ring.add, ring.mult
    start = start_value(add)
    return RingFacts(
        x="x" in mult.uses,
        y="y" in mult.uses,
        early=ends_early(add),
        is_any=add.is_any,
        start=start,
        native=native_atomic(add.op),
    )


@functools.lru_cache(maxsize=1024)
def start_value(monoid: TypedMonoid) -> np.generic | None:
    """Return e with  e (+) x = x  for every x of the type, or None: the initial value of slots that combine results.

    It is the identity of the built-in monoid with the same operator.  The one that a user declares may change values,
    as 0 of a maximum changes negative numbers.  Floats have an exact one: fmin and fmax return the other operand of a
    NaN (infinity would hide one), and -0.0 + x is x even for x = -0.0.

    No atomic instruction changes 16 bytes: of the monoids of complex128 only the sum, whose parts are added one by
    one, has a start value.
    """
    dtype, expr = monoid.dtype, monoid.expr
    known = None if monoid.is_any else _BUILTIN.get(expr)
    if known is None or dtype not in known.types or (dtype.itemsize > 8 and not expr.is_addition):
        return None
    if dtype.kind == "c" and expr.is_addition:
        zero: np.generic = dtype.type(complex(-0.0, -0.0))
        return zero
    if dtype.kind == "f" and (expr.order or expr.is_addition):
        exact: np.generic = dtype.type(np.nan if expr.order else -0.0)
        return exact
    return known.typed(dtype).identity


def native_atomic(op: TypedBinary) -> int:
    """Return the atomic instruction of an operator: 1 add, 2 min, 3 max, 4 add by parts; 0 if it has none.

    Without one compare-and-swap is used.
    """
    dtype: np.dtype[Any] = op.z
    known = 1 if op.expr.is_addition else {-1: 2, 1: 3}.get(op.expr.order, 0)
    if dtype.kind == "c":
        return 4 if known == 1 and op.x == op.y == op.z else 0
    whole = dtype.kind in "iu" or (dtype.kind == "f" and known == 1)
    return known if op.x == op.y == op.z and dtype.itemsize >= 4 and whole else 0
