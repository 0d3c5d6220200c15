"""Expressions of a traced loop: calls, conditions, and what is known while it is traced."""

from __future__ import annotations

import builtins
import functools
import math
import operator
import types
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..engines.programs import traced
from ..engines.programs.traced import FUNCTIONS, Number, Typed, Untraceable
from ..engines.programs.tracing import Recorder
from ..facade.matrix import Matrix
from ..facade.scalar import Scalar
from ..facade.vector import Vector
from ..facade.writing import Target
from ..symbolic import Symbolic
from .lists import TracedList
from .matrices import Operand


class Undefined:
    """The value of a variable that is not assigned, or of which it is not known which object it names."""

    def __init__(self, why: str = "is not assigned before the loop") -> None:
        self.why = why

    def __getattr__(self, name: str) -> Any:
        raise Untraceable(f"a variable that {self.why}")


_PURE = {
    len, range, isinstance, type, getattr, hasattr, str, repr, tuple, slice, complex, sum, sorted, pow, round, divmod,
    builtins.all, builtins.any,
}  # fmt: skip
# Functions of NumPy that make equal arrays of equal arguments, and functions that take the number of a Scalar.
_ARRAYS: frozenset[Any] = frozenset({np.arange, np.zeros, np.ones, np.full, np.linspace})
_CONVERTING = frozenset({float, int, bool, math.sqrt, math.isnan, math.isfinite, math.isinf})
_DEEPEST = 16
_FUNCTIONS = (types.BuiltinFunctionType, types.FunctionType, type(np.full))
_PACKAGE = __package__.rpartition(".")[0]
_PURE_MODULES = tuple(f"{_PACKAGE}.{name}" for name in ("facade", "operators", "ops", "dtypes", "exceptions"))
IMMUTABLE = (bool, int, float, complex, str, bytes, tuple, frozenset, np.generic, np.dtype, type(None), range, slice)
# Methods that change an object in place in a way that is not traced, or read its contents now.
_READING = frozenset({
    "build", "clear", "convert", "resize", "wait", "items", "to_coo", "to_dense", "to_dict", "to_numpy", "to_pandas",
    "to_polars", "to_arrow", "hist", "spy", "draw", "to_edgelist", "to_dicts", "to_csr", "to_csc", "to",
})  # fmt: skip


def is_static(value: Any) -> bool:
    """Return whether a value is known while the loop is traced."""
    if isinstance(value, Undefined):
        raise Untraceable(f"a variable that {value.why}")
    if isinstance(value, Scalar):
        value = value._read()
    return not isinstance(value, Symbolic)


def unchanged(value: Any, before: Any) -> bool:
    """Return whether a variable surely has the value that it had."""
    if value is before:
        return True
    if isinstance(before, (Symbolic, Vector, Matrix, Scalar, Undefined)) or type(value) is not type(before):
        return False
    if isinstance(value, tuple):
        return len(value) == len(before) and all(map(unchanged, value, before))
    if isinstance(value, (float, complex, np.generic)):
        return repr(value) == repr(before)  # 0.0 is equal to -0.0
    return bool(isinstance(value, IMMUTABLE) and value == before)


class Expressions:
    """The part of a tracer that the rewritten expressions call."""

    recorder: Recorder
    _depth: int
    _inline: Callable[[Any], Callable[..., Any] | None]

    def own(self, value: Any) -> Any:
        """Mark an object as one that the loop made, so that it may write to it."""
        if isinstance(value, (Vector, Matrix, Scalar)):
            self.recorder.own[id(value)] = value
        return value

    def call(self, function: Any, *args: Any, **named: Any) -> Any:
        """f(*args): of an object of this package, of numbers, or of another compiled function."""
        if isinstance(getattr(function, "__self__", None), TracedList):
            return self.own(function(*args, **named))
        if function is len and isinstance(args[0], TracedList):
            return args[0].length()
        inner = self._inline(function)
        if inner is not None:
            if self._depth > _DEEPEST:
                raise Untraceable("functions that call each other")
            self._depth += 1
            try:
                return inner(self, *args, **named)
            finally:
                self._depth -= 1
        known = FUNCTIONS.get(function) if isinstance(function, (types.BuiltinFunctionType, type)) else None
        if known is not None and not named:
            if function in _CONVERTING:
                args = tuple(arg.value if isinstance(arg, Scalar) else arg for arg in args)
            if any(isinstance(arg, (Number, Typed)) for arg in args):
                return known(*args)
        target = getattr(function, "__self__", None)
        if isinstance(target, Vector) and function.__name__ == "clear":
            target << self.own(Vector(target.dtype, target.size))
            return None
        if isinstance(function, _FUNCTIONS) and function in _ARRAYS:
            made: Any = function
            return made(*(arg if is_static(arg) else float(arg) for arg in args), **named)
        if function is np.isnan or function is np.sqrt:
            raise Untraceable(f"a call of numpy.{function.__name__}; use that of math")
        if not self._is_pure(function):
            name = getattr(function, "__qualname__", type(function).__name__)
            raise Untraceable(f"a call of {name}, which may have effects that a program does not repeat")
        return self.own(function(*args, **named))

    def _is_pure(self, function: Any) -> bool:
        if isinstance(function, type):
            return function in (Vector, Scalar) or issubclass(function, (Vector, Scalar, np.generic, *IMMUTABLE))
        try:
            if function in FUNCTIONS or function in _PURE:
                return True
        except TypeError:  # a Vector has no hash
            return isinstance(function, (Vector, Scalar))
        if getattr(function, "__module__", None) == "math" or isinstance(function, np.ufunc):
            return True
        of = getattr(function, "__self__", None)
        if of is not None and not isinstance(of, types.ModuleType):
            if getattr(function, "__name__", "") in _READING:
                return False
            of = of if isinstance(of, type) else type(of)
            return issubclass(of, (*IMMUTABLE, Number, Operand)) or of.__module__.startswith(_PURE_MODULES)
        module = getattr(function, "__module__", None) or type(function).__module__
        return module.startswith(_PURE_MODULES) or type(function).__module__.startswith(_PURE_MODULES)

    def new_list(self) -> TracedList:
        """``[]``."""
        made = TracedList(self.recorder)
        made.clear()
        return made

    def set_item(self, target: Any, key: Any, value: Any) -> None:
        """target[key] = value."""
        if not isinstance(target, (Vector, Target)):
            raise Untraceable(f"an assignment to an element of a {type(target).__name__}")
        target[key] = value

    def delete(self, target: Any, key: Any) -> None:
        """``del target[key]``."""
        if not isinstance(target, Vector) or not isinstance(key, (int, Number)):
            raise Untraceable(f"del of a part of a {type(target).__name__}")
        gone = self.own(Vector(bool, target.size))
        gone[key] = True
        target(~gone.S, replace=True) << target

    def items(self, value: Any) -> tuple[Any, ...]:
        """Return the items of a tuple that is assigned to elements; Scalars are read before any is written."""
        if not isinstance(value, tuple):
            raise Untraceable(f"an assignment of a {type(value).__name__} to several targets")
        for item in value:
            if isinstance(item, Scalar):
                item._read()
        return value

    def augment(self, name: str, target: Any, key: Any, value: Callable[[], Any]) -> None:
        """``target[key] += value`` and the like; name: of the function of `operator`."""
        if not isinstance(target, Vector):
            raise Untraceable(f"an assignment to an element of a {type(target).__name__}")
        self.set_item(target, key, getattr(operator, name)(target[key], value()))

    def both(self, *operands: Callable[[], Any]) -> Any:
        """``a and b``."""
        return self._joined(operands, stop=False)

    def either(self, *operands: Callable[[], Any]) -> Any:
        """``a or b``."""
        return self._joined(operands, stop=True)

    def _joined(self, operands: Sequence[Callable[[], Any]], *, stop: bool) -> Any:
        made: Any = None
        for number, operand in enumerate(operands):
            with nullcontext() if made is None else self.recorder.unwritten():
                value = operand()
            if is_static(value):
                if bool(value) is stop:
                    return value if made is None else stop
                if made is None and number + 1 == len(operands):
                    return value
                continue
            truth = traced.truth(value)
            made = truth if made is None else traced.computed("or" if stop else "and", "bool", made, truth)
        return made if made is not None else not stop

    def negate(self, value: Any) -> Any:
        """``not value``."""
        return not value if is_static(value) else traced.negated(value)

    def choose(self, test: Any, a: Callable[[], Any], b: Callable[[], Any]) -> Any:
        """``a if test else b``."""
        if is_static(test):
            return a() if test else b()
        with self.recorder.unwritten():
            first, second = a(), b()
        if isinstance(first, (Vector, Matrix)) or isinstance(second, (Vector, Matrix)):
            raise Untraceable("a conditional expression of vectors; write an if statement")
        return traced.select(traced.truth(test), traced.present(first), traced.present(second))

    def contains(self, item: Any, container: Any) -> Any:
        """``item in container``; of a Vector, whether the position has an entry."""
        if not isinstance(container, Vector):
            return item in container
        return self.negate(self.is_none(lambda: container.get(item)))

    def equal(self, a: Any, b: Any) -> Any:
        """``a == b`` of tuples, whose items may be numbers of the program."""
        if not (type(a) is type(b) is tuple and len(a) == len(b)):
            return a == b
        return self._joined([functools.partial(self.equal, *pair) for pair in zip(a, b, strict=True)], stop=False)

    def is_none(self, operand: Callable[[], Any]) -> Any:
        """``value is None``."""
        before = self.recorder.optional
        self.recorder.optional = True
        try:
            value = operand()
        finally:
            self.recorder.optional = before
        if isinstance(value, Number):
            return value.missing if value.missing is not None else False
        return value is None
