"""What the program of a loop depends on: the key by which it is kept, and objects that forbid to keep it."""

from __future__ import annotations

import builtins
import functools
import inspect
import operator
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..engines.programs.traced import Untraceable
from ..facade.matrix import Matrix
from ..facade.storage_slot import Holder
from ..facade.vector import Vector

# Modules whose members do not change.
LIBRARY = __package__.rpartition(".")[0]
_ALGORITHMS = f"{LIBRARY}.algorithms."
_CONSTANT_MODULES = frozenset({LIBRARY, "numpy", "math", "builtins"})
_VALUES = (bool, str, bytes, type(None), complex, np.generic, np.dtype)
# Sizes and variables of which a value is remembered.
_SIZES = 256
# The value of a name that has none.
_ABSENT = object()


class Unknown(Exception):
    """A program may depend on more than is known of an object."""


class _Same:
    """An object in a key, equal to itself alone: it exists as long as the key."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)


class Variables:
    """The variables of a loop, and what a program depends on of their values.

    names: the variables.  varying: those, with a size, whose vectors of one value had different ones in several calls;
    programs read the value in place of being made for it.
    """

    def __init__(self, names: tuple[str, ...], package: str) -> None:
        self.names = names
        self._package = package
        self.varying: set[tuple[str, int]] = set()
        self._isos: dict[tuple[str, int], bytes] = {}

    def key(self, scope: dict[str, Any], matrix: Callable[[Matrix], Any] | None = None) -> list[Any]:
        """Return what a program depends on: types, and which variables name one object.

        matrix: what it depends on of a Matrix; by default which it is.

        Raises
        ------
        Unknown
            For a value of which nothing is known.
        Untraceable
            For one that no program has.
        """
        parts: list[Any] = []
        named: list[int] = []
        lists = False
        for name in self.names:
            value = scope.get(name, _ABSENT)
            kind = type(value)
            if isinstance(value, Vector):
                named.append(id(value))
                store = value._store
                if store is None:
                    store = value.store
                iso: Any = store.iso
                if iso is not None:
                    iso = self._iso((name, store.size), iso)
                labels = None if value._labels is None else _Same(value._labels)
                parts += kind, store.dtype, store.size, store.format == "full", iso, labels, store.device
            elif kind is float:
                parts.append(float)
            elif kind is int:
                if not -(2**63) <= value < 2**63:
                    raise Untraceable(f"{name} is an integer beyond 64 bits")
                parts.append(int)
            elif value is _ABSENT:
                parts.append(_ABSENT)
            else:
                if kind is list:
                    named.append(id(value))
                    lists = True
                parts.append(described(value) if matrix is None or not isinstance(value, Matrix) else matrix(value))
                callee = _outside_of(value, self._package) if callable(value) else None
                if callee is not None:
                    parts.append(callee.key())
        if len(set(named)) < len(named):
            parts.append(tuple(map(named.index, named)))
        if lists:
            parts.append(held_names({name: scope[name] for name in self.names if name in scope}))
        return parts

    def _iso(self, variable: tuple[str, int], iso: Any) -> bytes | None:
        """Return the value that a program is made for; None where it varies.  A truth value does not."""
        value: bytes = iso.tobytes()
        if iso.dtype.kind == "b":
            return value
        if len(self._isos) > _SIZES:
            self._isos.clear()
        if variable not in self.varying and self._isos.setdefault(variable, value) != value:
            self.varying.add(variable)
        return None if variable in self.varying else value


class Callee:
    """A function that traced loops may call: its statements become a part of their programs."""

    def __init__(self, function: types.FunctionType) -> None:
        self._function = function

    @functools.cached_property
    def _outside(self) -> Outside:
        return Outside(self._function, sorted(set(names_read(self._function.__code__))))


_plain: weakref.WeakKeyDictionary[types.FunctionType, Outside] = weakref.WeakKeyDictionary()


def package_of(value: Any) -> str:
    """Return the package of the module of a function."""
    return str(getattr(value, "__module__", None) or "").partition(".")[0]


def is_helper(value: Any, package: str) -> bool:
    """Return whether a value is a function of a package that a traced loop may call, as it may a compiled one.

    Not one that reads variables of functions around it, unless these are functions, types or modules.  Of this library
    the functions of algorithms: those of operations are executed while a loop is traced.
    """
    if type(value) is not types.FunctionType or value.__name__ == "<lambda>" or hasattr(value, "__wrapped__"):
        return False
    if package_of(value) != package or (package == LIBRARY and not value.__module__.startswith(_ALGORITHMS)):
        return False
    try:
        read = [cell.cell_contents for cell in value.__closure__ or ()]
    except ValueError:
        return False
    constant_types = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, Callee)
    return all(isinstance(item, constant_types) for item in read)


def _outside_of(value: Any, package: str) -> Outside | None:
    """Return what a function that a traced loop may call reads beside its variables; None for other values."""
    if isinstance(value, Callee):
        return value._outside
    if not is_helper(value, package):
        return None
    found = _plain.get(value)
    if found is None:
        found = _plain[value] = Outside(value, sorted(set(names_read(value.__code__))))
    return found


class Outside:
    """The names that code reads beside its variables, and what a program depends on of them.

    Their values are compared with those of the last call: what is described by the object itself does not change.
    """

    def __init__(self, function: types.FunctionType, names: list[str] | tuple[str, ...]) -> None:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        self._globals = function.__globals__
        self._package = package_of(function)
        self._names = [name for name in names if name not in cells]
        self._cells = [cells[name] for name in names if name in cells]
        self._order = [*self._names, *(name for name in names if name in cells)]
        # Values, what a program depends on of them, and the functions and matrices among them: set at once.
        self._last: tuple[list[Any], tuple[Any, ...], list[Outside], list[Matrix]] = [], (), [], []

    def values(self) -> list[Any]:
        """Return the values; Unknown if one has none yet."""
        found = [self._globals.get(name, _ABSENT) for name in self._names]
        try:
            return found + [cell.cell_contents for cell in self._cells] if self._cells else found
        except ValueError:
            raise Unknown from None

    def key(self, depth: int = 0) -> tuple[Any, ...]:
        """Return what a program depends on, also through functions that it calls; Unknown as `described`."""
        found = self.values()
        last, known, callees, matrices = self._last
        if len(last) != len(found) or not all(map(operator.is_, found, last)):
            _, known, callees, matrices = self._last = self._describe(found)
        if matrices:
            known += tuple(map(described, matrices))
        if not callees:
            return known
        if depth > 8:  # functions that call each other
            raise Unknown
        return known, *(callee.key(depth + 1) for callee in callees)

    def matrices(self, depth: int = 0) -> list[Matrix]:
        """Return the matrices among the values, and those that functions among them read; after `key`."""
        _, _, callees, matrices = self._last
        return matrices + [matrix for callee in callees if depth <= 8 for matrix in callee.matrices(depth + 1)]

    def _describe(self, found: list[Any]) -> tuple[list[Any], tuple[Any, ...], list[Outside], list[Matrix]]:
        made: list[Any] = []
        callees: list[Outside] = []
        matrices: list[Matrix] = []
        for name, value in zip(self._order, found, strict=True):
            if value is _ABSENT:
                made.append(name if hasattr(builtins, name) else (name, None))
            elif (callee := _outside_of(value, self._package)) is not None:
                callees.append(callee)
                made.append((name, value))
            elif isinstance(value, Matrix):
                matrices.append(value)
                made.append((name, "matrix"))
            else:
                made.append((name, constant(value)))
        return found, tuple(made), callees, matrices


def names_read(code: types.CodeType) -> Iterator[str]:
    """Return the names that code may read outside of itself, with names of attributes."""
    yield from code.co_names
    yield from code.co_freevars
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from names_read(inner)


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
            elif isinstance(function, types.FunctionType) or is_helper(value, package_of(value)):
                # A function that the loop may call reads its own names.
                names = inspect.getclosurevars(value if function is None else function)
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
    return tuple(name for name in sorted(scope) if id(scope[name]) in inside) if inside else ()


def constants(scope: dict[str, Any], static: set[str]) -> Any:
    """Return the values of the numbers that are constants of a program."""
    found = [(name, scope[name]) for name in sorted(static)]
    return tuple([(name, repr(value)) for name, value in found if type(value) in (int, float)])  # 0.0 is equal to -0.0


def constant(value: Any) -> Any:
    """Return what a program depends on of a value that is a constant of it."""
    if type(value) in (int, float):
        return type(value), repr(value)
    if isinstance(value, (Vector, Matrix, list)):
        raise Unknown  # its contents may change
    return described(value)


def described(value: Any) -> Any:
    """Return what a program depends on: of lists of vectors the type, of matrices and constants which it is."""
    if isinstance(value, Matrix):
        store, transposed = value.operand
        return id(store), transposed, store.device
    if is_list(value):
        if not value:
            return "list"
        first = value[0]
        if any(item._labels is not first._labels for item in value):
            raise Untraceable("a list of vectors with different labels")
        labels = None if first._labels is None else _Same(first._labels)
        devices = frozenset(item.device for item in value)
        return "list", first.size, first.dtype, labels, type(first), devices
    if isinstance(value, _VALUES):
        return type(value), repr(value)
    if isinstance(value, tuple):
        return tuple(map(constant, value))
    if isinstance(value, types.ModuleType):
        if value.__name__.partition(".")[0] not in _CONSTANT_MODULES:
            raise Unknown
        return value.__name__
    if isinstance(value, (type, types.BuiltinFunctionType, types.FunctionType)):
        return value
    module = type(value).__module__
    if module.startswith(f"{LIBRARY}.operators") or (module == "builtins" and callable(value)):
        return _Same(value)
    raise Unknown
