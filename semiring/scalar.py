"""A single value that may be missing, and may still be pending."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from . import dtypes, operators
from .exceptions import EmptyObject
from .ops.apply import scalar_dtype
from .ops.cast import cast_scalar


class Scalar:
    """A value of one type, or none.

    Parameters
    ----------
    dtype : type of the value
    name : shown by `repr`
    """

    __slots__ = ("__weakref__", "_compute", "_dtype", "_target", "_value", "name")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, dtype: Any = float, *, name: str | None = None) -> None:
        self._dtype: np.dtype[Any] = dtypes.lookup(dtype)
        self._value: np.generic | None = None
        self._compute: Callable[[], np.generic | None] | None = None
        # How `A[i, j] << x` reaches A; None for a scalar that came from elsewhere.
        self._target: Callable[[Any], None] | None = None
        self.name = name

    @classmethod
    def from_value(cls, value: Any, dtype: Any = None, *, name: str | None = None) -> Self:
        """A scalar that holds `value`."""
        value = value._bare() if isinstance(value, Scalar) else value
        made = cls(np.asarray(value).dtype if dtype is None else dtype, name=name)
        made._value = None if value is None else cast_scalar(value, made._dtype)
        return made

    @classmethod
    def pending(
        cls,
        dtype: np.dtype[Any],
        compute: Callable[[], np.generic | None],
        target: Callable[[Any], None] | None = None,
    ) -> Self:
        """A scalar whose value is computed when it is first looked at."""
        made = cls(dtype)
        made._compute, made._target = compute, target
        return made

    def get(self, default: Any = None) -> Any:
        """The value, or `default` if there is none.  Synchronises if it is pending on the GPU."""
        if self._compute is not None:
            value = self._compute()
            self._value = None if value is None else cast_scalar(value, self._dtype)
            self._compute = None
        return default if self._value is None else self._value

    @property
    def value(self) -> Any:
        """The value (a NumPy scalar), or None if there is none.  Synchronises if it is pending on the GPU."""
        return self.get()

    @value.setter
    def value(self, value: Any) -> None:
        self.update(value)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the value."""
        return self._dtype

    @property
    def is_empty(self) -> bool:
        """True if there is no value."""
        return self.get() is None

    @property
    def nvals(self) -> int:
        """1 with a value, 0 without."""
        return 0 if self.is_empty else 1

    def update(self, value: Any) -> Self:
        """Take another value (None or an empty Scalar empties it); the type stays."""
        value = value.get() if isinstance(value, Scalar) else value
        if self._target is not None:
            self._target(value)
        self._value = None if value is None else cast_scalar(value, self._dtype)
        self._compute = None
        return self

    def __lshift__(self, value: Any) -> Self:
        return self.update(value)

    def clear(self) -> None:
        """Forget the value."""
        self._value = self._compute = None

    def dup(self, dtype: Any = None, *, name: str | None = None) -> Scalar:
        """A copy, cast to `dtype` if given."""
        made = Scalar(self._dtype if dtype is None else dtype, name=name)
        return made.update(self.get())

    new = dup

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> Scalar:
        """op(value), op(value, right) or op(left, value); empty stays empty."""
        from .engines.numpy_helpers import evaluate

        x = self.get()
        if right is not None or left is not None:
            other = _bare(right if left is None else left)
            a, b = (x, other) if left is None else (other, x)
            pair = [self._dtype, scalar_dtype(other, self._dtype)]
            typed = operators.lookup_binary(op).typed(*(pair if left is None else pair[::-1]))
            made = Scalar(typed.z)
            if x is not None:
                variables = {"x": cast_scalar(a, typed.x), "y": cast_scalar(b, typed.y)}
                made.update(evaluate(typed.expr, variables, typed.z)[()])
            return made
        unary = operators.lookup_unary(op).typed(self._dtype)
        made = Scalar(unary.z)
        if x is not None:
            made.update(evaluate(unary.expr, {"x": cast_scalar(x, unary.x)}, unary.z)[()])
        return made

    def _with_operator(self, operator: Any, *rest: Any) -> Scalar:
        return self.apply(operator, *rest)

    def _bare(self) -> Any:
        """The value for use as an argument; EmptyObject if there is none."""
        value = self.get()
        if value is None:
            raise EmptyObject("the Scalar is empty where a value is needed; test .is_empty, or use .get(default)")
        return value

    def isequal(self, other: Any, *, check_dtype: bool = False) -> bool:
        """True if both are empty, or both hold equal values (NaN equals NaN)."""
        a, b = self.get(), other.get() if isinstance(other, Scalar) else other
        if check_dtype and isinstance(other, Scalar) and self._dtype != other._dtype:
            return False
        if a is None or b is None:
            return a is None and b is None
        return bool(a == b or (a != a and b != b))

    def isclose(self, other: Any, *, rel_tol: float = 1e-7, abs_tol: float = 0.0) -> bool:
        """True if both are empty, or both hold values that agree within the tolerances."""
        a, b = self.get(), other.get() if isinstance(other, Scalar) else other
        if a is None or b is None:
            return a is None and b is None
        return bool(np.isclose(a, b, rtol=rel_tol, atol=abs_tol, equal_nan=True))

    def __eq__(self, other: object) -> bool:
        return self.isequal(other)

    def __bool__(self) -> bool:
        return bool(self.get(False))

    def __int__(self) -> int:
        return int(self._bare())

    def __float__(self) -> float:
        return float(self._bare())

    def __index__(self) -> int:
        return self._bare().__index__()  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return np.asarray(self._bare(), dtype=dtype)

    def __add__(self, other: Any) -> Any:
        return self._bare() + _bare(other)

    def __radd__(self, other: Any) -> Any:
        return other + self._bare()

    def __sub__(self, other: Any) -> Any:
        return self._bare() - _bare(other)

    def __rsub__(self, other: Any) -> Any:
        return other - self._bare()

    def __mul__(self, other: Any) -> Any:
        return self._bare() * _bare(other)

    def __rmul__(self, other: Any) -> Any:
        return other * self._bare()

    def __truediv__(self, other: Any) -> Any:
        return self._bare() / _bare(other)

    def __rtruediv__(self, other: Any) -> Any:
        return other / self._bare()

    def __lt__(self, other: Any) -> bool:
        return bool(self._bare() < _bare(other))

    def __le__(self, other: Any) -> bool:
        return bool(self._bare() <= _bare(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self._bare() > _bare(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self._bare() >= _bare(other))

    def __neg__(self) -> Any:
        return -self._bare()

    def __abs__(self) -> Any:
        return abs(self._bare())

    def __reduce__(self) -> Any:
        return Scalar.from_value, (self.get(), self._dtype)

    def __repr__(self) -> str:
        value = self.get()
        shown = "empty" if value is None else str(value)
        label = f"{self.name!r}, " if self.name else ""
        return f"Scalar({label}{self._dtype}, {shown})"


def _bare(value: Any) -> Any:
    return value._bare() if isinstance(value, Scalar) else value
