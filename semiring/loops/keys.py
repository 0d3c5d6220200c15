"""What the program of a loop depends on: the key by which it is kept, and objects that forbid to keep it."""

from __future__ import annotations

import inspect
import types
from typing import Any

import numpy as np

from ..engines.traced import Untraceable
from ..facade.holder import Holder
from ..facade.matrix import Matrix
from ..facade.vector import Vector

# Modules whose members do not change.
_CONSTANT_MODULES = frozenset({__package__.rpartition(".")[0], "numpy", "math", "builtins"})
_VALUES = (bool, str, bytes, type(None), complex, np.generic, np.dtype)


class Unknown(Exception):
    """A program may depend on more than is known of an object."""


def check_aliases(scope: dict[str, Any], values: list[Any], depth: int = 4) -> None:
    """Raise Untraceable if an object holds a vector or list that is a variable too: the program would not see changes.

    values: the objects, whose elements and attributes are searched; vectors among `scope` itself are variables.
    """
    variables = {id(value): name for name, value in scope.items() if isinstance(value, Vector) or is_list(value)}
    own = set(map(id, scope.values()))
    for level in range(depth):
        for value in values:
            if id(value) in variables and (level or id(value) not in own):
                kind = "vector" if isinstance(value, Vector) else "list"
                raise Untraceable(f"the {kind} {variables[id(value)]} is held by another object, too")
        inside: list[Any] = []
        for value in values:
            function = getattr(value, "__wrapped__", None)
            if isinstance(value, dict):
                inside += value.values()
            elif isinstance(function, types.FunctionType):  # another compiled function, which reads its own names
                names = inspect.getclosurevars(function)
                inside += [*names.nonlocals.values(), *names.globals.values()]
            elif isinstance(value, (list, tuple, set)):
                inside += value
            elif not isinstance(value, (Holder, type, types.ModuleType, types.FunctionType)):
                inside += getattr(value, "__dict__", {}).values()
        values = inside


def is_list(value: Any) -> bool:
    """Return whether a value is a list of vectors of one type and size, or an empty list."""
    if type(value) is not list:
        return False
    kinds = {(type(item), item.size, item.dtype) if isinstance(item, Vector) else None for item in value}
    return len(kinds) <= 1 and None not in kinds


def held_names(scope: dict[str, Any]) -> tuple[str, ...]:
    """Return the variables whose vectors are in a list of another variable."""
    inside = {id(item) for value in scope.values() if is_list(value) for item in value}
    return tuple(name for name in sorted(scope) if id(scope[name]) in inside)


def constants(scope: dict[str, Any], static: set[str]) -> Any:
    """Return the values of the numbers that are constants of a program."""
    return tuple((name, repr(scope[name])) for name in sorted(static))  # 0.0 is equal to -0.0


def constant(name: str, value: Any) -> Any:
    """Return what a program depends on of a value that is a constant of it."""
    if type(value) in (int, float):
        return name, type(value), repr(value)
    if isinstance(value, (Vector, Matrix, list)):
        raise Unknown  # its contents may change
    return described(name, value)


def described(name: str, value: Any) -> Any:
    """Return what a program depends on: of vectors and numbers the type, of matrices and constants which it is."""
    if isinstance(value, Vector):
        store = value.store
        iso = None if store.iso is None else store.iso.tobytes()
        labels = None if value._labels is None else id(value._labels)
        return name, store.dtype, store.size, store.format == "full", iso, labels, type(value)
    if type(value) in (int, float):
        if type(value) is int and not -(2**63) <= value < 2**63:
            raise Untraceable(f"{name} is an integer beyond 64 bits")
        return name, type(value)
    if isinstance(value, Matrix):
        store, transposed = value.operand
        return name, id(store), transposed
    if is_list(value):
        if not value:
            return name, "list"
        first = value[0]
        if any(item._labels is not first._labels for item in value):
            raise Untraceable("a list of vectors with different labels")
        return name, "list", first.size, first.dtype, None if first._labels is None else id(first._labels), type(first)
    if isinstance(value, _VALUES):
        return name, type(value), repr(value)
    if isinstance(value, tuple):
        return name, tuple(constant("", item) for item in value)
    if isinstance(value, types.ModuleType):
        if value.__name__.partition(".")[0] not in _CONSTANT_MODULES:
            raise Unknown
        return name, value.__name__
    if isinstance(value, (type, types.BuiltinFunctionType, types.FunctionType)):
        return name, value
    module = type(value).__module__
    if module.startswith(f"{__package__.rpartition('.')[0]}.operators") or (module == "builtins" and callable(value)):
        return name, id(value)
    raise Unknown
