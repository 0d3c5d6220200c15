"""Functions that a loop is given: what they read of the functions around them, and forms of them for a trace.

A function that is made anew in each call has other cells each time, and the same code.  So the program of a loop
belongs to the code, and what the cells hold are variables of the loop, like its own.
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

from ..engines.programs.traced import Untraceable
from ..exceptions import NotSupported
from ..facade.vector import Vector
from .keys import LIBRARY, Callee, Outside, names_read, package_of
from .rewriter import call_arguments, calls_while_loop
from .source import inlined, parsed

# The attribute of a function of a trace that returns its traced form.
FORM = "__sr_form__"


def plain_function(value: Any) -> types.FunctionType | None:
    """Return the function that a value is or was compiled from; None for other callables."""
    if isinstance(value, Callee):
        return value._function
    return value if type(value) is types.FunctionType and not hasattr(value, "__wrapped__") else None


def capture(functions: tuple[types.FunctionType, ...], signature: list[int], values: list[Any]) -> None:
    """Append what functions read of the functions around them to `values`, and its structure to `signature`.

    Functions among the cells are captured in turn.  Equal signatures have the same code and positions of values.

    Raises
    ------
    Untraceable
        If a variable has no value yet.
    """
    seen: dict[int, int] = {}
    for function in functions:
        _capture(function, package_of(functions[-1]), signature, values, seen)


def _capture(
    function: types.FunctionType, package: str, signature: list[int], values: list[Any], seen: dict[int, int]
) -> None:
    defaults = function.__defaults__ or ()
    named = function.__kwdefaults__ or {}
    signature += id(function.__code__), id(function.__globals__), len(defaults), len(named)
    values += defaults
    values += named.values()
    for cell in function.__closure__ or ():
        found = seen.get(id(cell))
        if found is not None:
            signature.append(found)
            continue
        seen[id(cell)] = len(seen)
        try:
            value = cell.cell_contents
        except ValueError:
            raise Untraceable(f"{function.__name__} reads a variable that has no value yet") from None
        inner = captured_function(value, package)
        if inner is None:
            signature.append(-1)
            values.append(value)
        else:
            _capture(inner, package, signature, values, seen)


def captured_function(value: Any, package: str) -> types.FunctionType | None:
    """Return the function that a cell holds, if a traced loop may call it."""
    if type(value) is types.FunctionType and (package_of(value) != package or package == LIBRARY):
        return None
    return plain_function(value)


class _Part:
    """A captured function without what it reads: `cells` has the numbers of its cells.

    defaults, named: the variables of the defaults of parameters, and of those that are named in calls.
    """

    def __init__(self, function: types.FunctionType, defaults: tuple[str, ...], named: dict[str, str]) -> None:
        code = function.__code__
        cells = tuple(types.CellType() for _ in code.co_freevars)
        self.bare: Any = types.FunctionType(code, function.__globals__, function.__name__, None, cells)
        self.bare.__qualname__, self.bare.__module__ = function.__qualname__, function.__module__
        self.defaults, self.named = defaults, named
        self.cells: list[int] = []
        self.outer: dict[str, str] = {}  # names of the module whose vectors are variables

    @functools.cached_property
    def tree(self) -> ast.FunctionDef:
        return parsed(self.bare)[0]

    @functools.cached_property
    def form(self) -> Any:
        return inlined(self.bare, tuple(self.outer))

    @property
    def numbers(self) -> dict[str, int]:
        """The cells by the names of their variables."""
        return dict(zip(self.bare.__code__.co_freevars, self.cells, strict=True))


class Captures:
    """The functions of a signature, without what they capture.

    names: variables of a loop, one for each captured value, and for each vector that is a variable of the module.
    static: those of which a program is made for each value, because operators of the user read them.
    """

    def __init__(self, functions: tuple[types.FunctionType, ...], taken: tuple[str, ...]) -> None:
        self._package = package_of(functions[-1])
        self._taken = set(taken)
        self.names: list[str] = []
        self._leaves: dict[int, str] = {}
        self._inner: dict[int, _Part] = {}
        seen: dict[int, int] = {}
        self._roots = [self._part(function, seen) for function in functions]
        self.static: set[str] = set()
        self._module: dict[tuple[int, str], tuple[dict[str, Any], str, str]] = {}
        self._outside: list[Outside] = []
        self._read: set[int] = set()
        for root in self._roots:
            self._inspect(root)

    def codes(self) -> list[types.CodeType]:
        """Return the code of all functions, whose identities are in the signature."""
        return [part.bare.__code__ for part in (*self._roots, *self._inner.values())]

    def values(self, captured: list[Any]) -> list[Any]:
        """Return the values of the variables."""
        if not self._module:
            return captured
        return captured + [namespace.get(name) for namespace, name, _ in self._module.values()]

    def outside(self) -> Outside:
        """Return what the functions read of their modules."""
        return Several(self._outside)

    def cell_names(self) -> set[str]:
        """Return the names of variables of functions around them that the functions read."""
        return {name for part in (*self._roots, *self._inner.values()) for name in part.numbers}

    def functions(self, arguments: dict[str, Any]) -> list[types.FunctionType]:
        """Return the functions for values of the variables; they have their traced forms as an attribute."""
        cells: dict[int, types.CellType] = {}

        def cell(number: int) -> types.CellType:
            found = cells.get(number)
            if found is None:
                found = cells[number] = types.CellType()
                inner = self._inner.get(number)
                found.cell_contents = arguments[self._leaves[number]] if inner is None else function(inner)
            return found

        def function(part: _Part) -> types.FunctionType:
            made = _with(part.bare, {name: cell(number) for name, number in part.numbers.items()}, defaults(part))
            setattr(made, FORM, lambda: form(part))
            return made

        def form(part: _Part) -> types.FunctionType:
            found = {name: cell(number) for name, number in part.numbers.items()}
            found |= {name: types.CellType(arguments[variable]) for name, variable in part.outer.items()}
            return _with(part.form, found, defaults(part))

        def defaults(part: _Part) -> tuple[tuple[Any, ...], dict[str, Any]]:
            named = {name: arguments[variable] for name, variable in part.named.items()}
            return tuple(arguments[name] for name in part.defaults), named

        return [function(root) for root in self._roots]

    def forms(self, arguments: dict[str, Any]) -> list[Callable[..., Any]]:
        """Return the traced forms of the functions, for values of the variables."""
        return [getattr(made, FORM)() for made in self.functions(arguments)]

    def _part(self, function: types.FunctionType, seen: dict[int, int]) -> _Part:
        """Describe a function, in the order of `capture`."""
        code, count = function.__code__, len(function.__defaults__ or ())
        named = code.co_varnames[code.co_argcount - count : code.co_argcount]
        defaults = tuple(map(self._variable, named))
        part = _Part(function, defaults, {name: self._variable(name) for name in function.__kwdefaults__ or {}})
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            number = seen.get(id(cell))
            if number is None:
                number = seen[id(cell)] = len(seen)
                inner = captured_function(cell.cell_contents, self._package)
                if inner is None:
                    self._leaves[number] = self._variable(name)
                else:
                    self._inner[number] = self._part(inner, seen)
            part.cells.append(number)
        return part

    def _variable(self, name: str) -> str:
        made = unused_name(name, self._taken)
        self.names.append(made)
        return made

    def _inspect(self, part: _Part) -> None:
        """Find what a function that is called reads of its module, and which variables operators read."""
        nodes = list(ast.walk(part.tree))
        read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        called: set[str] = set()
        operators = {node for node in nodes if isinstance(node, ast.Lambda)}
        for node in nodes:
            if isinstance(node, ast.Call):
                # The functions that an inner while_loop is given are called by it.
                functions = [node.func, *(call_arguments(node) if calls_while_loop(node) else ())]
                called |= {item.id for item in functions if isinstance(item, ast.Name)}
                operators -= {item for item in functions if isinstance(item, ast.Lambda)}
        by_operators = {inner.id for node in operators for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        code = part.bare.__code__
        namespace = part.bare.__globals__
        # Names in annotations and decorators are not those of the code.
        own = {*code.co_freevars, *code.co_varnames, *code.co_cellvars}
        outside = sorted((read & set(names_read(code))) - own)
        for name in outside:
            if isinstance(namespace.get(name), Vector):
                found = self._module.get((id(namespace), name))
                if found is None:
                    found = self._module[id(namespace), name] = namespace, name, self._variable(name)
                part.outer[name] = found[2]
        self._outside.append(Outside(part.bare, [name for name in outside if name not in part.outer]))
        for name, number in part.numbers.items():
            if number in self._leaves:
                self.static |= {self._leaves[number]} if name in by_operators else set()
            elif number not in self._read:
                self._read.add(number)
                if name not in called:
                    self.static |= set(self._reached(self._inner[number], set()))
                try:
                    self._inspect(self._inner[number])
                except NotSupported:  # without a source it is not called in a program
                    continue

    def _reached(self, part: _Part, seen: set[int]) -> Iterator[str]:
        """Yield the variables that a function reads, also through others."""
        yield from (*part.defaults, *part.named.values())
        for number in part.cells:
            if number in self._leaves:
                yield self._leaves[number]
            elif number not in seen:
                seen.add(number)
                yield from self._reached(self._inner[number], seen)


class Several(Outside):
    """What several functions read of their modules."""

    def __init__(self, parts: list[Outside]) -> None:
        self._parts = parts

    def values(self) -> list[Any]:
        """Return the values of all."""
        return [value for part in self._parts for value in part.values()]

    def key(self, depth: int = 0) -> tuple[Any, ...]:
        """Return the keys of all."""
        return tuple([part.key(depth) for part in self._parts])

    def matrices(self, depth: int = 0) -> list[Any]:
        """Return the matrices of all."""
        return [matrix for part in self._parts for matrix in part.matrices(depth)]


def unused_name(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, and take it."""
    made, number = name, 1
    while made in taken:
        number += 1
        made = f"{name}_{number}"
    taken.add(made)
    return made


def _with(
    function: types.FunctionType, cells: dict[str, types.CellType], defaults: tuple[tuple[Any, ...], dict[str, Any]]
) -> types.FunctionType:
    """Return a function with other cells and defaults."""
    code = function.__code__
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(code, function.__globals__, function.__name__, defaults[0] or None, closure)
    made.__kwdefaults__ = defaults[1] or None
    made.__module__ = function.__module__
    return made
