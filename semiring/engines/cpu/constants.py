"""Values of results that follow from the operands without visiting an entry: iso-valued operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..numpy_helpers import cast, evaluate_scalars

if TYPE_CHECKING:
    from ...operators.types import TypedBinary, TypedIndexUnary, TypedMonoid

_POSITIONS = frozenset({"xi", "xj", "yi", "yj"})


def cast_value(value: Any, dtype: np.dtype[Any]) -> np.generic:
    """Convert a value to a scalar of `dtype`."""
    if isinstance(value, np.generic) and value.dtype == dtype:
        return value
    made: np.generic = dtype.type(cast(np.asarray(value).reshape(1), dtype)[0])
    return made


def binary_value(op: TypedBinary, x: np.generic | None, y: np.generic | None) -> np.generic | None:
    """Return op(x, y); None if the operator reads a position or an operand that is None."""
    if op.uses & _POSITIONS or ("x" in op.uses and x is None) or ("y" in op.uses and y is None):
        return None
    operands = {"x": (x, op.x), "y": (y, op.y)}
    return evaluate_scalars(op.expr, op.z, [(name, cast_value(*operands[name])) for name in op.uses])


def indexunary_value(op: TypedIndexUnary, x: np.generic, k: np.generic) -> np.generic | None:
    """Return op(x, k); None if the operator reads a position."""
    if op.uses & {"i", "j"}:
        return None
    return evaluate_scalars(op.expr, op.z, [("x", cast_value(x, op.x)), ("k", cast_value(k, op.k))])


def sum_value(add: TypedMonoid, z: np.generic | None) -> np.generic | None:
    """Return the sum of any number of terms `z`, if that is `z`; else None."""
    if z is None or add.is_any:
        return z
    return z if binary_value(add.op, z, z) == z else None
