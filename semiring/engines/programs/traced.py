"""Numbers that the program of a traced loop computes, and whether a loop is traced.

A `Number` records arithmetic in the `Recorder` in use.  What Python must decide now, such as the truth of a `Number`,
raises `Untraceable`; where inputs of the loop alone determine it, `NeedsValue`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NoReturn

import numpy as np

from ...exceptions import SemiringError
from ...formats import Bitmap, Full
from ...symbolic import Symbolic
from .program import Compute, Structure, Values

__all__ = [
    "FUNCTIONS", "NeedsValue", "Number", "Typed", "Untraceable", "check_target", "comparison", "computed", "current",
    "is_traced", "kind_of", "kind_of_dtype", "made", "negated", "present", "select", "truth", "with_missing",
    "without_missing",
]  # fmt: skip


class Untraceable(SemiringError):
    """A loop does something that cannot be compiled; the loop then runs step by step."""


class NeedsValue(Exception):
    """Python needs the value of inputs of the loop, which then are constants of the program."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(*names)
        self.names = names


class Number(Symbolic):
    """A Python number (`kind` ``"int"``, ``"float"`` or ``"bool"``) that the program computes.

    missing: a number that is true where there is none, as for an element that is not stored; None: there always is.
    origins: the variables whose values before the loop alone determine it; None: others do, too.
    """

    __slots__ = ("kind", "missing", "origins")
    __hash__ = None  # type: ignore[assignment]
    ndim = 0

    def __init__(self, kind: str, missing: Number | None = None, origins: frozenset[str] | None = None) -> None:
        self.kind, self.missing, self.origins = kind, missing, origins

    def traced_index(self, size: int, axis: str) -> Number | int:
        """Return it as a position below `size`, which the program checks."""
        if self.kind != "int":
            raise Untraceable(f"an index of {axis} that is a {self.kind}")
        current().emit(Compute(Number("int"), "within", (present(self), 0, size - 1)))
        return self if size > 1 else 0

    # -- where operations expect a number ----------------------------------------------------------------

    def traced_dtype(self, beside: np.dtype[Any]) -> np.dtype[Any]:
        """Return the type in which it is combined with values of a type, as `ops.apply.scalar_dtype` does.

        An integer must fit into the type of its partner, which the program checks.
        """
        if beside.kind not in "biufc":
            raise Untraceable("a number beside records")
        if self.kind == "float":
            return beside if beside.kind in "fc" else np.dtype(np.float64)
        if self.kind == "int" and beside.kind == "b":
            return np.dtype(np.int64)
        if self.kind == "int" and beside.kind in "iu":
            check_fits(self, beside)
        return beside

    def traced_cast(self, dtype: np.dtype[Any]) -> Typed:
        """Return the value in a type, as `ops.cast.cast_scalar` does."""
        if dtype.kind not in "biuf":
            raise Untraceable(f"a number that changes in the loop, as {dtype}")
        return Typed(present(self), dtype)

    def traced_present(self) -> Number:
        """Return it, where there must be a value: the program checks it."""
        return present(self)  # type: ignore[no-any-return]

    # -- arithmetic ----------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return _arithmetic("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _arithmetic("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _arithmetic("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _arithmetic("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return _arithmetic("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _arithmetic("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _arithmetic("truediv", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _arithmetic("truediv", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _arithmetic("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _arithmetic("floordiv", other, self)

    def __mod__(self, other: Any) -> Any:
        return _arithmetic("mod", self, other)

    def __rmod__(self, other: Any) -> Any:
        return _arithmetic("mod", other, self)

    def __neg__(self) -> Any:
        return _arithmetic("sub", 0, self) if self.kind != "float" else computed("neg", "float", self)

    def __pos__(self) -> Any:
        return self if self.kind != "bool" else _arithmetic("add", 0, self)

    def __abs__(self) -> Any:
        return computed("abs", "int" if self.kind == "bool" else self.kind, self)

    __array_ufunc__ = None  # a number of NumPy beside it leaves the operation to this class

    def __lt__(self, other: Any) -> Any:
        return comparison("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return comparison("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return comparison("gt", self, other)

    def __ge__(self, other: Any) -> Any:
        return comparison("ge", self, other)

    def __eq__(self, other: object) -> Any:
        return comparison("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return comparison("ne", self, other)

    def __and__(self, other: Any) -> Any:
        return computed("and", "bool", self, other) if kind_of(self) == kind_of(other) == "bool" else self._refuse()

    def __or__(self, other: Any) -> Any:
        return computed("or", "bool", self, other) if kind_of(self) == kind_of(other) == "bool" else self._refuse()

    def __pow__(self, other: Any) -> Any:
        if other == 2 and type(other) is int:
            return _arithmetic("mul", self, self)
        return computed("sqrt", "float", self) if type(other) is float and other == 0.5 else self._refuse()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        if self.origins is not None:
            raise NeedsValue(self.origins)
        raise Untraceable("Python needs the value of a number that the loop computes")

    __bool__ = __int__ = __float__ = __index__ = __complex__ = __iter__ = __format__ = __array__ = _refuse
    __rand__ = __ror__ = __xor__ = __rxor__ = __rpow__ = __round__ = __trunc__ = _refuse
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = __divmod__ = __rdivmod__ = __len__ = _refuse

    def __repr__(self) -> str:
        return f"<{self.kind} computed by the loop>"


class Typed(Symbolic):
    """A number of the program in a NumPy type: a scalar operand of a request, or the result of a reduction."""

    __slots__ = ("dtype", "number")
    __hash__ = None  # type: ignore[assignment]
    ndim = 0

    def __init__(self, number: Number, dtype: np.dtype[Any]) -> None:
        self.number, self.dtype = number, dtype

    def traced_cast(self, dtype: np.dtype[Any]) -> Typed:
        """Return the value in another type; exact conversions alone."""
        if dtype == self.dtype:
            return self
        if not np.can_cast(self.dtype, dtype, "safe"):
            raise Untraceable(f"a Scalar of {self.dtype} as {dtype}")
        return Typed(self.number, dtype)

    def traced_index(self, size: int, axis: str) -> Number | int:
        """Return it as a position below `size`, which the program checks."""
        return Number.traced_index(present(self), size, axis)

    def traced_dtype(self, beside: np.dtype[Any]) -> np.dtype[Any]:
        """Return its type: a value with a type of its own keeps it."""
        return self.dtype

    def traced_get(self, default: Any) -> Any:
        """Return the Python number, or `default` where there is none."""
        number = self.number
        if number.missing is None:
            return number
        if default is None:  # the tracer of the function allows a missing one where it tests for None
            return number if current().optional else present(number)
        return select(number.missing, default, Number(number.kind, None), of=number)

    def traced_present(self) -> Typed:
        """Return it, where there must be a value: the program checks it."""
        return self if self.number.missing is None else Typed(present(self.number), self.dtype)

    def traced_missing(self) -> Any:
        """Return whether there is no value."""
        return self.number.missing if self.number.missing is not None else False

    def _compare(self, op: str, other: Any) -> Any:
        if self.dtype.kind == "f" and self.dtype.itemsize != 8:
            raise Untraceable(f"a comparison of a Scalar of {self.dtype}; use its .value")
        return comparison(op, present(self.number), other)

    def __lt__(self, other: Any) -> Any:
        return self._compare("lt", other)

    def __le__(self, other: Any) -> Any:
        return self._compare("le", other)

    def __gt__(self, other: Any) -> Any:
        return self._compare("gt", other)

    def __ge__(self, other: Any) -> Any:
        return self._compare("ge", other)

    def __eq__(self, other: object) -> Any:
        return self._compare("eq", other)

    def __ne__(self, other: object) -> Any:
        return self._compare("ne", other)

    def _calculate(self, op: str, a: Any, b: Any) -> Typed:
        """Return the number of NumPy that a op b is, for the types in which Python's numbers compute."""
        for value in (a, b):
            if isinstance(value, Typed) and value.dtype not in (np.dtype(np.int64), np.dtype(np.float64)):
                raise Untraceable(f"arithmetic of a Scalar of {value.dtype}; use its .value")
            if isinstance(value, np.generic):
                raise Untraceable(f"arithmetic of a Scalar with a value of {value.dtype}; use its .value")
        made = _arithmetic(op, a, b)
        return Typed(made, np.dtype(np.int64 if made.kind == "int" else np.float64))

    def __add__(self, other: Any) -> Typed:
        return self._calculate("add", self, other)

    def __radd__(self, other: Any) -> Typed:
        return self._calculate("add", other, self)

    def __sub__(self, other: Any) -> Typed:
        return self._calculate("sub", self, other)

    def __rsub__(self, other: Any) -> Typed:
        return self._calculate("sub", other, self)

    def __mul__(self, other: Any) -> Typed:
        return self._calculate("mul", self, other)

    def __rmul__(self, other: Any) -> Typed:
        return self._calculate("mul", other, self)

    def __truediv__(self, other: Any) -> Typed:
        return self._calculate("truediv", self, other)

    def __rtruediv__(self, other: Any) -> Typed:
        return self._calculate("truediv", other, self)

    def _refuse(self, *_: Any) -> NoReturn:
        raise Untraceable("arithmetic of a Scalar that the loop computes; use its .value")

    __bool__ = __int__ = __float__ = __index__ = __complex__ = __array__ = __neg__ = __abs__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _refuse


# The recorder of the loop that this thread traces, else None; `users` counts them in all threads, so that a request
# reads no context variable while there is none.
RECORDER: ContextVar[Any] = ContextVar("semiring_recorder", default=None)
users = 0
_lock = threading.Lock()


def count_users(change: int) -> None:
    global users
    with _lock:
        users += change


def current() -> Any:
    """Return the recorder in use."""
    recorder = RECORDER.get()
    if recorder is None:
        raise Untraceable("a number of a compiled loop is used outside of it")
    return recorder


def is_traced(value: Any) -> bool:
    """Return whether a store has placeholders in the place of arrays, or a value that the program computes."""
    if isinstance(value, Bitmap):
        return isinstance(value.words, Structure)
    if isinstance(value, Full):
        return isinstance(value.values, Values) or isinstance(value.iso, Typed)
    return False


def made(holder: Any) -> None:
    """Note an object that an operation makes, if a loop is traced."""
    recorder = RECORDER.get()
    if recorder is not None:
        recorder.made(holder)


def check_target(holder: Any) -> None:
    """Raise Untraceable for a write to an object that exists outside of the loop that is traced."""
    recorder = RECORDER.get()
    if recorder is not None and id(holder) not in recorder.own and not is_traced(holder._store):
        raise Untraceable("a write to an object that no variable of the function names")
    if recorder is not None and id(holder) in recorder.held:
        raise Untraceable("a write to a Vector that a list holds, too")
    if recorder is not None and recorder.kept is not None and id(holder) in recorder.kept:
        raise Untraceable("a write within an expression that Python may not evaluate; write an if statement")


def kind_of(value: Any) -> str:
    """Return the kind of a Python number; Untraceable for anything else."""
    if isinstance(value, Number):
        return value.kind
    if type(value) in (bool, int, float):
        return type(value).__name__
    if isinstance(value, Typed):
        return kind_of_dtype(value.dtype)
    raise Untraceable(f"arithmetic of a number with {type(value).__name__}")


def kind_of_dtype(dtype: np.dtype[Any]) -> str:
    """Return the kind of the Python number that a value of this type becomes."""
    found = {"b": "bool", "i": "int", "u": "int", "f": "float"}.get(dtype.kind)
    if found is None or dtype == np.uint64:
        raise Untraceable(f"a value of {dtype} as a number")
    return found


def present(value: Any) -> Any:
    """Return a number that surely has a value: the program checks it here."""
    if isinstance(value, Typed):
        value = value.number
    if isinstance(value, Number) and value.missing is not None:
        made = Number(value.kind)
        current().emit(Compute(made, "present", (value.missing, value)))
        return made
    return value


def without_missing(value: Any) -> Any:
    """Return a value of a type that is zero where there is none."""
    if not isinstance(value, Typed) or value.number.missing is None:
        return value
    zero = {"bool": False, "int": 0, "float": 0.0}[value.number.kind]
    return Typed(value.traced_get(zero), value.dtype)


def with_missing(value: Any, missing: Any) -> Any:
    """Return a value that is missing where a number is true."""
    if isinstance(missing, Number):
        value.number.missing = missing
    return value


def computed(op: str, kind: str, *operands: Any) -> Number:
    """Return a number that a step of the program computes from others."""
    numbers = [present(operand) for operand in operands]
    origins = [operand.origins for operand in numbers if isinstance(operand, Number)]
    known = None if any(each is None for each in origins) else frozenset().union(*(each or () for each in origins))
    made = Number(kind, None, known)
    current().emit(Compute(made, op, tuple(numbers)))
    return made


def check_fits(number: Number, dtype: np.dtype[Any]) -> None:
    """Let the program check that an integer fits into a type."""
    limits = np.iinfo(dtype)
    low, high = max(limits.min, -(2**63)), min(limits.max, 2**63 - 1)
    current().emit(Compute(Number("int"), "within", (present(number), int(low), int(high))))


_INTEGERS = ("bool", "int")


def _arithmetic(op: str, a: Any, b: Any) -> Any:
    if any(hasattr(value, "_settle_traced") for value in (a, b)):
        return NotImplemented  # a Vector or a Scalar computes it
    kinds = kind_of(a), kind_of(b)
    kind = "int" if op != "truediv" and all(kind in _INTEGERS for kind in kinds) else "float"
    return computed(f"{op}_{kind}", kind, a, b)


def comparison(op: str, a: Any, b: Any) -> Number:
    """Return the truth of a comparison, named as in `operator`."""
    a, b = (value.item() if isinstance(value, (np.float64, np.int64, np.bool_)) else value for value in (a, b))
    kinds = kind_of(a), kind_of(b)
    kind = "int" if all(kind in _INTEGERS for kind in kinds) else "float"
    return computed(f"{op}_{kind}", "bool", a, b)


def truth(value: Any) -> Number:
    """Return the truth of a number, or of a list of vectors."""
    if isinstance(value, Symbolic) and not isinstance(value, (Number, Typed)):
        value = value.traced_get(None)
    number = present(value)
    return number if number.kind == "bool" else computed("truth", "bool", number)


def negated(value: Any) -> Number:
    """Return ``not value``."""
    return computed("not", "bool", truth(value))


def select(test: Number, a: Any, b: Any, *, of: Any = None) -> Any:
    """Return ``a if test else b`` of two numbers of one kind."""
    first, second = kind_of(a), kind_of(b)
    if first != second:
        raise Untraceable(f"a number that is sometimes {first} and sometimes {second}")
    made = Number(first)
    # `of` is the number that may be missing: it is not read where the test holds.
    current().emit(Compute(made, "select", (test, a, b if of is None else of)))
    return made


# Functions of numbers that programs compute; others need a value now.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    abs: abs,
    bool: truth,
    float: lambda x: computed("to_float", "float", x) if kind_of(x) != "float" else present(x),
    int: lambda x: x if kind_of(x) == "int" else computed("to_int", "int", x),
    min: lambda *xs: _least("lt", *xs),
    max: lambda *xs: _least("gt", *xs),
    math.sqrt: lambda x: computed("sqrt", "float", x),
    math.isnan: lambda x: computed("isnan", "bool", x),
    math.isfinite: lambda x: computed("isfinite", "bool", x),
    math.isinf: lambda x: computed("isinf", "bool", x),
}


def _least(op: str, *values: Any) -> Any:
    found = values[0]
    for value in values[1:]:
        found = select(comparison(op, value, found), value, found)
    return found
