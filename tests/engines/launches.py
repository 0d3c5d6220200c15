"""The launches in a module of the CUDA engine, read from its text: the kernel of each, and how many arguments it has.

A launch is a call of a kernel handle: ``kernel(file, entry, ...)(grid, block, ...)``, a local name of such a handle, or
a field of a call plan.  Names are resolved within their function and their module; other launches are left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

_BOUNDS = re.compile(r"ONE_CLUSTER|__launch_bounds__\([^)]*\)")
_SIGNATURE = re.compile(r'extern "C" __global__\s+void\s+(\w+)\(([^)]*)\)')
# More fields than a plan has: elements after a tuple of unknown length are not resolved.
_MANY = 100
# The kinds of parameters that an argument of each kind is never passed to.
_REFUSED = {
    "null": {"number", "struct"},
    "number": {"pointer", "struct"},
    "struct": {"pointer", "number"},
    "any": set(),
}


class Launch(NamedTuple):
    """A launch. kinds: of each argument "null", "number", "struct", or "any"; the grid and the block are left out."""

    line: int
    file: str
    entry: str
    kinds: tuple[str, ...]


def signatures(text: str) -> dict[str, tuple[str, ...]]:
    """The parameters of each kernel in a text: "pointer", "struct" or "number"."""
    return {
        name: tuple(map(_parameter, filter(None, map(str.strip, parameters.split(",")))))
        for name, parameters in _SIGNATURE.findall(_BOUNDS.sub("", re.sub(r"//.*", "", text)))
    }


def _parameter(declared: str) -> str:
    return "pointer" if "*" in declared else "struct" if "Argument" in declared.rsplit(" ", 1)[0] else "number"


def fits(kinds: tuple[str, ...], parameters: tuple[str, ...]) -> bool:
    """Whether arguments of these kinds agree with the parameters of a kernel, as far as their text shows."""
    return len(kinds) == len(parameters) and all(
        to not in _REFUSED[kind] for kind, to in zip(kinds, parameters, strict=True)
    )


class Module:
    """The text of a module, its constants, functions with results of fixed length, and kernels by field of a plan."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self.names = _assigned(self.tree.body)
        self.functions = [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]
        self.lengths = {f.name: n for f in self.functions if (n := _length_of_type(f.returns)) is not None}
        self.lengths["values_of"] = 2
        self.fields: dict[str, set[tuple[str, str]]] = {}
        # The functions that return one expression, which may be a kernel.
        results = {f: [node.value for node in ast.walk(f) if isinstance(node, ast.Return)] for f in self.functions}
        self.returned = {f.name: (f, values[0]) for f, values in results.items() if len(values) == 1 and values[0]}
        classes = {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}
        for function in self.functions:
            scope = _Scope(self, function)
            for call in ast.walk(function):
                made = classes.get(getattr(getattr(call, "func", None), "id", ""))
                if made is not None and isinstance(call, ast.Call):
                    self._add_fields(made, call, scope)

    def _add_fields(self, made: ast.ClassDef, call: ast.Call, scope: _Scope) -> None:
        fields = [node.target for node in made.body if isinstance(node, ast.AnnAssign)]
        given = [handle for argument in call.args for handle in scope.handles(argument)]
        pairs = [(getattr(field, "id", ""), handle) for field, handle in zip(fields, given, strict=False)]
        pairs += [(str(named.arg), handle) for named in call.keywords for handle in scope.handles(named.value)]
        for field, handle in pairs:
            if handle is not None:
                self.fields.setdefault(field, set()).add(handle)

    def launches(self) -> Iterator[Launch]:
        """Every launch whose kernel and number of arguments are known from the text."""
        for function in self.functions:
            scope = _Scope(self, function)
            for call in ast.walk(function):
                if not isinstance(call, ast.Call) or len(call.args) < 2 or getattr(call.func, "id", "") == "kernel":
                    continue
                kinds = [kind for argument in call.args[2:] for kind in scope.kinds(argument)]
                if None in kinds:
                    continue
                for file, entry in scope.called(call):
                    yield Launch(call.lineno, file, entry, tuple(str(kind) for kind in kinds))


class _Scope:
    """The names of a function, and of its module."""

    def __init__(self, module: Module, function: ast.FunctionDef) -> None:
        self._module, self._names = module, {**module.names}
        for name, values in _assigned(list(ast.walk(function))).items():
            self._names[name] = values

    def called(self, call: ast.Call) -> set[tuple[str, str]]:
        """The kernels that a call may launch."""
        if isinstance(call.func, ast.Call):
            return {handle for handle in self.handles(call.func) if handle is not None}
        if isinstance(call.func, ast.Attribute):
            return self._module.fields.get(call.func.attr, set())
        before = [value for value in self._names.get(getattr(call.func, "id", ""), ()) if value.lineno <= call.lineno]
        return {handle for value in before[-1:] for handle in self.handles(value) if handle is not None}

    def handles(self, value: ast.expr) -> list[tuple[str, str] | None]:
        """The kernels of an expression, or of each element of one with a star; None for anything else."""
        if isinstance(value, ast.Starred) and isinstance(value.value, ast.GeneratorExp):
            files, names = self._files(value.value.elt), self._constants(value.value.generators[0].iter)
            return [(file, _entry(value.value.elt, name)) for name in names for file in files]
        if isinstance(value, ast.Starred):
            return [None] * (self._length(value.value, 0) or _MANY)
        if isinstance(value, ast.Name):
            known = self._names.get(value.id, [])
            return self.handles(known[0]) if len(known) == 1 and isinstance(known[0], ast.Call) else [None]
        if isinstance(value, ast.Call) and (made := self._module.returned.get(getattr(value.func, "id", ""))):
            function, result = made
            scope = _Scope(self._module, function)
            for parameter, argument in zip(function.args.args, value.args, strict=False):
                if isinstance(argument, ast.Constant):  # the name of the entry
                    scope._names[parameter.arg] = [argument]
            return scope.handles(result) if result is not value else [None]
        names = self._constants(value.args[1]) if isinstance(value, ast.Call) and len(value.args) > 1 else []
        found = [(file, name) for file in self._files(value) for name in names]
        return list(found) if len(found) == 1 else [None]

    def _files(self, value: ast.expr) -> list[str]:
        """The file of a call of `kernel`, in a list; none for anything else."""
        if not isinstance(value, ast.Call) or getattr(value.func, "id", "") != "kernel" or len(value.args) < 2:
            return []
        return self._constants(value.args[0])

    def _constants(self, value: ast.expr) -> list[str]:
        """The strings of a literal, a tuple of them, or a name of one."""
        if isinstance(value, ast.Constant):
            return [str(value.value)]
        if isinstance(value, ast.Tuple):
            return [text for item in value.elts for text in self._constants(item)]
        known = self._names.get(getattr(value, "id", ""), ())
        return self._constants(known[0]) if len(known) == 1 else []

    def kinds(self, value: ast.expr) -> list[str | None]:
        """The kind of an argument, or those of the elements of one with a star; [None] if their number is unknown."""
        if not isinstance(value, ast.Starred):
            return [_kind(value)]
        count = self._length(value.value, 0)
        return [None] if count is None else ["any"] * count

    def _length(self, value: ast.expr, depth: int) -> int | None:
        """The number of elements of a tuple."""
        if depth > 4:
            return None
        if isinstance(value, ast.Tuple):
            lengths = [
                self._length(item.value, depth + 1) if isinstance(item, ast.Starred) else 1 for item in value.elts
            ]
            return None if None in lengths else sum(length or 0 for length in lengths)
        if isinstance(value, ast.IfExp):
            return self._same(value.body, value.orelse, depth=depth)
        if isinstance(value, ast.Call):
            return self._module.lengths.get(getattr(value.func, "id", ""))
        known = self._names.get(getattr(value, "id", ""), ())
        return self._same(*known, depth=depth) if known else None

    def _same(self, *values: ast.expr, depth: int) -> int | None:
        lengths = {self._length(value, depth + 1) for value in values}
        return lengths.pop() if len(lengths) == 1 else None


def _assigned(nodes: list[ast.AST] | list[ast.stmt]) -> dict[str, list[ast.expr]]:
    """The values that are assigned to each name; those of a tuple, and kernels that a loop makes, one by one."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        elif isinstance(node, ast.Assign):
            targets = node.targets
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(node.value)
            elif isinstance(target, ast.Tuple):
                for item, value in zip(target.elts, _elements(node.value), strict=False):
                    if isinstance(item, ast.Name):
                        found.setdefault(item.id, []).append(value)
    return found


def _elements(value: ast.expr) -> list[ast.expr]:
    """The elements of a tuple, or of ``(kernel(file, name, ...) for name in ("a", "b"))``."""
    if isinstance(value, ast.Tuple):
        return value.elts
    if not isinstance(value, ast.GeneratorExp) or not isinstance(value.elt, ast.Call):
        return []
    names, call = value.generators[0].iter, value.elt
    made = []
    for name in names.elts if isinstance(names, ast.Tuple) and len(call.args) > 1 else ():
        entry = ast.Constant(_entry(call, str(name.value))) if isinstance(name, ast.Constant) else name
        made.append(ast.copy_location(ast.Call(call.func, [call.args[0], entry, *call.args[2:]], call.keywords), value))
    return made


def _entry(call: ast.expr, name: str) -> str:
    """The entry of ``kernel(file, name, ...)`` or ``kernel(file, f"prefix_{name}", ...)`` for one value of `name`."""
    made = call.args[1] if isinstance(call, ast.Call) and len(call.args) > 1 else None
    if not isinstance(made, ast.JoinedStr):
        return name
    return "".join(str(part.value) if isinstance(part, ast.Constant) else name for part in made.values)


def _length_of_type(annotation: ast.expr | None) -> int | None:
    """The number of elements of ``tuple[A, B]``."""
    text = "" if annotation is None else ast.unparse(annotation)
    if not text.startswith("tuple[") or "..." in text or "|" in text:
        return None
    inside = annotation.slice if isinstance(annotation, ast.Subscript) else None
    return len(inside.elts) if isinstance(inside, ast.Tuple) else 1


def _kind(value: ast.expr) -> str:
    if isinstance(value, ast.Constant):
        return "null" if value.value is None else "number"
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr == "pack":
            return "struct"
        if getattr(value.func.value, "id", "") == "np":
            return "number"
    return "struct" if getattr(value, "attr", getattr(value, "id", "")) == "packed" else "any"
