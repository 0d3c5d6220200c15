"""Values of results that follow from the operands without visiting an entry: iso-valued operands.

Each function returns the value that all entries of a result share, or None if entries must be visited.  If there is a
value, an engine computes only which entries are present.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...formats import CSR, IndexList, VectorStore
from ...record_types import of_value
from ..requests.operations import Apply, Ewise, Mxv, WriteMatrix, WriteVector
from .expression_numpy import cast, evaluate_scalars, scalar

if TYPE_CHECKING:
    from ...operators.types import TypedBinary, TypedMonoid, TypedSemiring

# The variables of an operator that reads positions.
POSITIONS = frozenset({"xi", "xj", "yi", "yj"})


def cast_value(value: Any, dtype: np.dtype[Any]) -> np.generic:
    """Convert a value to a scalar of `dtype`."""
    if isinstance(value, np.generic) and value.dtype == dtype:
        return value
    if dtype.names is None:
        if type(value) is int:
            return _cast_integer(value, dtype)
        if isinstance(value, np.generic) and not isinstance(value, np.void):
            return _cast_bytes(value.tobytes(), value.dtype, dtype)
    elif not isinstance(value, np.void):
        return of_value(value, dtype)
    return _cast(value, dtype)


def _cast(value: Any, dtype: np.dtype[Any]) -> np.generic:
    return scalar(cast(np.asarray(value).reshape(1), dtype), dtype)


@functools.lru_cache(maxsize=256)
def _cast_integer(value: int, dtype: np.dtype[Any]) -> np.generic:
    return _cast(value, dtype)


@functools.lru_cache(maxsize=256)
def _cast_bytes(value: bytes, given: np.dtype[Any], dtype: np.dtype[Any]) -> np.generic:
    """Convert a scalar given by its bytes, because 0.0 and -0.0 are equal, and NaN differs from itself."""
    return _cast(np.frombuffer(value, given)[0], dtype)


def _same(a: np.generic | None, b: np.generic | None) -> bool:
    """Return whether both are one value of one type; -0.0 differs from 0.0, and NaN equals itself."""
    return a is not None and b is not None and a.tobytes() == b.tobytes()


def binary_value(op: TypedBinary, x: np.generic | None, y: np.generic | None) -> np.generic | None:
    """Return op(x, y); None if the operator reads a position or an operand that is None."""
    uses = op.uses
    if not uses:
        return _only_value(op)
    if ("x" in uses and x is None) or ("y" in uses and y is None) or uses & POSITIONS:
        return None
    given = (("x", x, op.x), ("y", y, op.y))
    return evaluate_scalars(op.expr, op.z, [(name, cast_value(v, dtype)) for name, v, dtype in given if name in uses])


@functools.lru_cache(maxsize=256)
def _only_value(op: TypedBinary) -> np.generic:
    """Return the value of an operator that reads nothing."""
    return evaluate_scalars(op.expr, op.z, [])


def sum_value(add: TypedMonoid, z: np.generic | None) -> np.generic | None:
    """Return the sum of any number of terms `z`, if that is `z`."""
    if z is None or add.is_any or "idempotent" in add.op.laws:
        return z
    return z if _same(binary_value(add.op, z, z), z) else None


def product_value(ring: TypedSemiring, x: np.generic | None, y: np.generic | None) -> np.generic | None:
    """Return the value of a matrix product of operands with the values x and y."""
    uses = ring.mult.uses
    if ("x" in uses and x is None) or ("y" in uses and y is None) or uses & POSITIONS:
        return None
    of_x = (None, b"") if x is None else (x.dtype, x.tobytes())
    of_y = (None, b"") if y is None else (y.dtype, y.tobytes())
    return _product_value(ring, *of_x, *of_y)


@functools.lru_cache(maxsize=1024)
def _product_value(ring: TypedSemiring, x_type: Any, x: bytes, y_type: Any, y: bytes) -> np.generic | None:
    """Return `product_value` for operands of these bytes, because -0.0 equals 0.0, and NaN differs from itself."""
    left, right = (None if of is None else scalar(np.frombuffer(raw, of), of) for of, raw in ((x_type, x), (y_type, y)))
    return sum_value(ring.add, binary_value(ring.mult, left, right))


def mxv_value(q: Mxv, a: CSR, u: VectorStore) -> np.generic | None:
    """Return the value of a matrix-vector product of `a`, in either orientation, and `u`."""
    return product_value(q.semiring, *((u.iso, a.iso) if q.flip else (a.iso, u.iso)))


def reduced_value(add: TypedMonoid, iso: np.generic | None) -> np.generic | None:
    """Return the value of a reduction of entries with the value `iso`."""
    return None if iso is None else sum_value(add, cast_value(iso, add.z))


def apply_value(q: Apply) -> np.generic | None:
    """Return the value of the function for all entries."""
    op, uses = q.op, q.op.uses
    if "i" in uses or "j" in uses or ("x" in uses and q.a.iso is None):
        return None
    given = (("x", q.a.iso, op.x), ("k", q.k, op.k))
    return evaluate_scalars(op.expr, op.z, [(name, cast_value(v, dtype)) for name, v, dtype in given if name in uses])


def ewise_value(q: Ewise) -> np.generic | None:
    """Return the value of all entries, with an operand absent or not."""
    if q.a.iso is None and q.b.iso is None and q.op.uses:
        return None
    both = binary_value(q.op, q.a.iso, q.b.iso)
    if both is None or q.mode == "intersect":
        return both
    if q.mode == "fill":
        alone = [binary_value(q.op, q.a.iso, q.beta), binary_value(q.op, q.alpha, q.b.iso)]
    else:
        alone = [None if side.iso is None else cast_value(side.iso, q.op.z) for side in (q.a, q.b)]
    return both if all(_same(value, both) for value in alone) else None


def shared_value(tiles: Sequence[CSR], dtype: np.dtype[Any]) -> np.generic | None:
    """Return the value, cast to `dtype`, that all entries of several matrices share; 0 if there is no entry."""
    values = [None if tile.iso is None else cast_value(tile.iso, dtype) for tile in tiles if tile.nvals]
    if not values:
        return cast_value(0, dtype)
    return values[0] if all(_same(value, values[0]) for value in values) else None


def write_value(q: WriteVector | WriteMatrix) -> np.generic | None:
    """Return the value of all entries of the output: all are from T, or those of C and T agree."""
    if q.t.iso is None:
        return None
    alone = (isinstance(q.c, (CSR, IndexList)) and q.c.nvals == 0) or (q.replace and q.accum is None)
    if q.c.iso is None and not alone:
        return None
    new = cast_value(q.t.iso, q.c.dtype)
    if alone:
        return new
    if not _same(q.c.iso, new):
        return None
    if q.accum is None:
        return new
    both = binary_value(q.accum, q.c.iso, q.t.iso)
    return new if both is not None and _same(cast_value(both, q.c.dtype), new) else None


class Arrivals(NamedTuple):
    """The value that a level-synchronous closure computes for an entry.

    kind: 0 only its presence, 1 one value for each level, 2 a value of its own.
    first: kind 1: the value before the first level.  constant: kind 0: the value of all entries.
    """

    kind: int
    first: np.generic | None = None
    constant: np.generic | None = None


def arrivals(ring: TypedSemiring, frontier: VectorStore | CSR, a: CSR) -> Arrivals:
    """Return the minimum that a closure from these entries over `a` must compute."""
    uses = ring.mult.uses
    if ("x" in uses and frontier.iso is None) or ("y" in uses and a.iso is None) or uses & POSITIONS:
        return Arrivals(2)
    if frontier.iso is None:
        return Arrivals(1)
    source, weight = frontier.iso, a.iso if "y" in uses else None
    key = (None, b"") if weight is None else (weight.dtype, weight.tobytes())
    first, stays = _first_step(ring, source.dtype, source.tobytes(), *key)
    return Arrivals(0, constant=first) if stays else Arrivals(1, first)


@functools.lru_cache(maxsize=256)
def _first_step(
    ring: TypedSemiring, source_dtype: np.dtype[Any], source: bytes, weight_dtype: np.dtype[Any] | None, weight: bytes
) -> tuple[np.generic, bool]:
    """Return the value of the sources in the semiring's type, and whether a step leaves it unchanged.

    Values are given by their bytes, because 0.0 and -0.0 are equal, and NaN differs from itself.
    """
    first = cast_value(np.frombuffer(source, source_dtype)[0], ring.z)
    y: Any = None if weight_dtype is None else np.frombuffer(weight, weight_dtype)[0]
    return first, _same(binary_value(ring.mult, first, y), first)
