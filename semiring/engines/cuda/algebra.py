"""Properties of operators that hosts of kernels determine before a launch: constants, start values, native atomics."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ...dtypes import BOOL
from ...formats import CSR, IndexList, VectorStore
from ...operators.types import TypedBinary, TypedMonoid, TypedSemiring
from ..numpy_helpers import cast, evaluate_scalars

__all__ = [
    "Arrivals",
    "arrivals",
    "constant_product",
    "evaluate_once",
    "native_atomic",
    "reads_positions",
    "ring_facts",
    "start_value",
]

_POSITIONS = frozenset(("xi", "xj", "yi", "yj"))


class RingFacts(NamedTuple):
    """Properties of a semiring that hosts of kernels check, determined once.

    positions: products depend on the positions of the operands.  x, y: products read this operand.  selects: sums of
    equal products are that product.  early: sums are likely to reach the terminal value before the end of their row
    (the limits of a number type seldom occur).  is_any: the first product is the sum.  start: see `start_value`.
    native: see `native_atomic`.
    """

    positions: bool
    x: bool
    y: bool
    selects: bool
    early: bool
    is_any: bool
    start: np.generic | None
    native: int


@functools.lru_cache(maxsize=1024)
def ring_facts(ring: TypedSemiring) -> RingFacts:
    """Return the facts of a semiring."""
    add, mult = ring.add, ring.mult
    return RingFacts(
        positions=reads_positions(mult),
        x="x" in mult.uses,
        y="y" in mult.uses,
        selects=add.is_any or "idempotent" in add.op.laws,
        early=add.is_any or (add.terminal is not None and add.dtype == BOOL),
        is_any=add.is_any,
        start=start_value(add),
        native=native_atomic(add),
    )


def reads_positions(op: TypedBinary) -> bool:
    """Return True if the result depends on the positions of the operands."""
    return bool(op.uses & _POSITIONS)


def evaluate_once(op: TypedBinary, x: np.generic | None, y: np.generic | None) -> np.generic:
    """Compute ``op(x, y)`` of scalars on the host; an operand that the expression does not read may be None."""
    operands: list[tuple[str, Any]] = []
    for name, value, dtype in (("x", x, op.x), ("y", y, op.y)):
        if value is not None:
            operands.append((name, value if value.dtype == dtype else cast(value, dtype)[()]))
    return evaluate_scalars(op.expr, op.z, operands)


def constant_product(ring: TypedSemiring, a: CSR, u: VectorStore, flip: bool) -> np.generic | None:
    """Return the value that all results of a product share, or None; if it exists, only presence is computed."""
    facts = ring_facts(ring)
    if facts.positions or not facts.selects:
        return None
    x, y = (u.iso, a.iso) if flip else (a.iso, u.iso)
    if (facts.x and x is None) or (facts.y and y is None):
        return None
    return evaluate_once(ring.mult, x if facts.x else None, y if facts.y else None)


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


class Arrivals(NamedTuple):
    """The value that a level-synchronous closure computes for an entry.

    kind: 0 only its presence, 1 one value for each level, 2 a value of its own.
    first: kind 1: the value before the first level.  constant: kind 0: the value of all entries.
    """

    kind: int
    first: np.generic | None = None
    constant: np.generic | None = None


def arrivals(ring: TypedSemiring, frontier: IndexList, a: CSR) -> Arrivals:
    """Return the minimum that a closure from these entries over `a` must compute."""
    facts = ring_facts(ring)
    if facts.positions or (facts.x and frontier.iso is None) or (facts.y and a.iso is None):
        return Arrivals(2)
    if frontier.iso is None:
        return Arrivals(1)
    source, weight = frontier.iso, a.iso if facts.y else None
    key = (None, b"") if weight is None else (weight.dtype, weight.tobytes())
    first, stays = _first_step(ring, source.dtype, source.tobytes(), *key)
    return Arrivals(0, constant=first) if stays else Arrivals(1, first)


@functools.lru_cache(maxsize=256)
def _first_step(
    ring: TypedSemiring, dtype: np.dtype[Any], source: bytes, weight_dtype: np.dtype[Any] | None, weight: bytes
) -> tuple[np.generic, bool]:
    """Return the value of the sources in the semiring's type, and whether a step leaves it unchanged.

    Values are given by their bytes, because 0.0 and -0.0 are equal, and NaN differs from itself.
    """
    first: np.generic = cast(np.frombuffer(source, dtype)[0], ring.z)[()]  # type: ignore[assignment]
    y: Any = None if weight_dtype is None else np.frombuffer(weight, weight_dtype)[0]
    return first, bool(evaluate_once(ring.mult, first, y) == first)
