"""The table of implementations as it stands in the engines' source: read, not imported, so no engine's libraries are
needed, and conditions are there as text.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Row:
    """One implementation: what it answers, where, under which condition on the question ``q``, and what it absorbs.

    takes: the forms of matrices that it reads.  The answers slice by slice have the engine ``"any"``.
    """

    operation: str
    engine: str
    name: str
    when: str
    absorbs: tuple[str, ...]
    about: str
    takes: tuple[str, ...] = ("plain",)


_FORMS = ("plain", "compressed", "host")


def rows(engine: str) -> list[Row]:
    """The implementations of one engine; those of one operation in the order in which they are asked.

    Engine ``"any"``: what answers slice by slice, on every engine, where no implementation takes the form.
    """
    folder = files("semiring.engines") / ("sliced" if engine == "any" else engine)
    modules = sorted(path.name.removesuffix(".py") for path in folder.iterdir() if path.name.endswith(".py"))
    first = _imported((folder / "__init__.py").read_text(encoding="utf-8"))
    modules.sort(key=lambda name: first.index(name) if name in first else len(first))
    return [row for name in modules for row in _of_module((folder / f"{name}.py").read_text(encoding="utf-8"))]


def _imported(source: str) -> list[str]:
    """The modules of an engine in the order in which it imports them, which is the order in which they are asked."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "OPERATIONS":
            return list(ast.literal_eval(node.value))
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module is None:
            return [name.name for name in node.names]
    return []


def _of_module(source: str) -> Iterator[Row]:
    for node in ast.parse(source).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in reversed(node.decorator_list):  # as Python applies them
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) in ("implements", "slices"):
                yield _row(node, decorator)


def _row(function: ast.FunctionDef, decorator: ast.Call) -> Row:
    given = {word.arg: word.value for word in decorator.keywords}
    question = _questions()[ast.unparse(decorator.args[0])]
    absorbs = ast.literal_eval(given["absorbs"]) if "absorbs" in given else ()
    about = (ast.get_docstring(function) or "").split("\n")[0]
    when = _condition(given["when"]) if "when" in given else ""
    engine = ast.literal_eval(given["engine"]) if "engine" in given else "any"
    takes = _takes(given["takes"]) if "takes" in given else ("plain",) if "engine" in given else _FORMS
    return Row(question, engine, function.name, when, tuple(sorted(absorbs)), about, takes)


def _takes(node: ast.expr) -> tuple[str, ...]:
    """The forms named; all of them for what is made of `registry.FORMS`."""
    return tuple(ast.literal_eval(node)) if isinstance(node, ast.Tuple) else _FORMS


@functools.cache
def _questions() -> dict[str, str]:
    """Class -> the name of the operation that it asks for; questions are declared beside the engines' folders."""
    found = {}
    for path in files("semiring.engines").iterdir():
        if path.name.endswith(".py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                operation = _operation(node)
                if isinstance(node, ast.ClassDef) and operation is not None:
                    found[node.name] = operation
    return found


def _operation(node: ast.stmt) -> str | None:
    """What ``name: ClassVar[str] = "..."`` in a class says."""
    for line in node.body if isinstance(node, ast.ClassDef) else []:
        if isinstance(line, ast.AnnAssign) and ast.unparse(line.target) == "name" and line.value is not None:
            return str(ast.literal_eval(line.value))
    return None


def _condition(node: ast.expr) -> str:
    """The body of a lambda; of anything else its own text."""
    return ast.unparse(node.body if isinstance(node, ast.Lambda) else node)
