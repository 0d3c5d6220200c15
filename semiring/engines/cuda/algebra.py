"""Properties of operators that hosts of kernels determine before a launch: start values, native atomics."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ...dtypes import BOOL
from ...operators.types import TypedBinary, TypedMonoid, TypedSemiring

__all__ = ["native_atomic", "ring_facts", "start_value"]


class RingFacts(NamedTuple):
    """Properties of a semiring that hosts of kernels check, determined once.

    x, y: products read this operand.  early: sums are likely to reach the terminal value before the end of their row
    (the limits of a number type seldom occur).  is_any: the first product is the sum.  start: see `start_value`.
    native: see `native_atomic`.  exact: `start` changes no value of the type; the identity of a user-defined monoid may
    change some, such as negative numbers.
    """

    x: bool
    y: bool
    early: bool
    is_any: bool
    start: np.generic | None
    native: int
    exact: bool


# The operators of the built-in monoids with an identity.
_WITH_IDENTITY = frozenset(
    ["x + y", "x * y", "min(x, y)", "max(x, y)", "x == y"]
    + [f"{name}(x, y)" for name in ("land", "lor", "lxor", "lxnor", "band", "bor", "bxor", "bxnor")]
)


@functools.lru_cache(maxsize=1024)
def ring_facts(ring: TypedSemiring) -> RingFacts:
    """Return the facts of a semiring."""
    add, mult = ring.add, ring.mult
    return RingFacts(
        x="x" in mult.uses,
        y="y" in mult.uses,
        early=add.is_any or (add.terminal is not None and add.dtype == BOOL),
        is_any=add.is_any,
        start=start_value(add),
        native=native_atomic(add),
        exact=add.op.expr in _WITH_IDENTITY,
    )


def start_value(monoid: TypedMonoid) -> np.generic | None:
    """Return an exact neutral element of the monoid, or None: the initial value of slots that results combine into.

    It is the identity, but exact for floats: fmin and fmax return the other operand of a NaN (infinity would hide one),
    and -0.0 + x is x even for x = -0.0.
    """
    dtype = monoid.dtype
    if monoid.is_any or monoid.identity is None:
        return None
    if dtype.kind == "f":
        exact = {"min(x, y)": np.nan, "max(x, y)": np.nan, "x + y": -0.0}.get(monoid.op.expr)
        if exact is not None:
            start: np.generic = dtype.type(exact)
            return start
    return monoid.identity


_NATIVE: dict[str, int] = {"x + y": 1, "min(x, y)": 2, "max(x, y)": 3}


def native_atomic(monoid: TypedMonoid) -> int:
    """Return the atomic instruction of the monoid: 1 add, 2 min, 3 max; 0 if it has none (compare-and-swap is used)."""
    op: TypedBinary = monoid.op
    dtype: np.dtype[Any] = monoid.dtype
    known = _NATIVE.get(op.expr, 0)
    whole = dtype.kind in "iu" or (dtype.kind == "f" and known == 1)
    return known if op.x == op.y == op.z and dtype.itemsize >= 4 and whole else 0
