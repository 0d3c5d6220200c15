"""Scalars in Python's arithmetic: numbers of NumPy, in the types of the operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..ops.apply import scalar_dtype


class Numeric:
    """Arithmetic and order of a Scalar, by its value."""

    __slots__ = ()

    _dtype: np.dtype[Any]

    def _unwrapped(self) -> Any:
        """Return the value; EmptyObject if there is none."""
        raise NotImplementedError

    def _partner(self, other: Any) -> Any:
        """Return the other operand; a Python integer that does not fit in this type gets a type that holds it."""
        value = unwrapped(other)
        if isinstance(value, bool) or not isinstance(value, int) or self._dtype.kind not in "iu":
            return value
        low, high = dtypes.limits(self._dtype)
        return value if int(low) <= value <= int(high) else scalar_dtype(value, self._dtype).type(value)

    def __add__(self, other: Any) -> Any:
        return self._unwrapped() + self._partner(other)

    def __radd__(self, other: Any) -> Any:
        return self._partner(other) + self._unwrapped()

    def __sub__(self, other: Any) -> Any:
        return self._unwrapped() - self._partner(other)

    def __rsub__(self, other: Any) -> Any:
        return self._partner(other) - self._unwrapped()

    def __mul__(self, other: Any) -> Any:
        return self._unwrapped() * self._partner(other)

    def __rmul__(self, other: Any) -> Any:
        return self._partner(other) * self._unwrapped()

    def __truediv__(self, other: Any) -> Any:
        return self._unwrapped() / self._partner(other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._partner(other) / self._unwrapped()

    def __floordiv__(self, other: Any) -> Any:
        return self._unwrapped() // self._partner(other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._partner(other) // self._unwrapped()

    def __mod__(self, other: Any) -> Any:
        return self._unwrapped() % self._partner(other)

    def __rmod__(self, other: Any) -> Any:
        return self._partner(other) % self._unwrapped()

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __pow__(self, other: Any) -> Any:
        return self._unwrapped() ** self._partner(other)

    def __rpow__(self, other: Any) -> Any:
        return self._partner(other) ** self._unwrapped()

    def __lt__(self, other: Any) -> Any:
        return self._unwrapped() < unwrapped(other)

    def __le__(self, other: Any) -> Any:
        return self._unwrapped() <= unwrapped(other)

    def __gt__(self, other: Any) -> Any:
        return self._unwrapped() > unwrapped(other)

    def __ge__(self, other: Any) -> Any:
        return self._unwrapped() >= unwrapped(other)

    def __neg__(self) -> Any:
        return -self._unwrapped()

    def __abs__(self) -> Any:
        return abs(self._unwrapped())


def unwrapped(value: Any) -> Any:
    """Return the value of a Scalar (EmptyObject if there is none), anything else unchanged."""
    return value._unwrapped() if isinstance(value, Numeric) else value
