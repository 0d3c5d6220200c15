"""The table of implementations, parsed from the engines' source: not imported, so the libraries of an engine are not
needed, and conditions are available as text.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from semiring.engines import registry
from semiring.engines.registry import PIPELINE, UNCOMPRESSED, Accepts, bitmap_rule, hypersparse_rule, slicing_rule

# The rules that serve all engines, and what each decorator's implementations accept by default.
_RULES = {"hypersparse": hypersparse_rule, "bitmap": bitmap_rule, "slicing": slicing_rule}
_DECORATORS = {"implements": UNCOMPRESSED} | {f"{name}_rule": rule.accepts for name, rule in _RULES.items()}


@dataclass(frozen=True)
class Row:
    """One implementation: its operation, its engine, its condition on the spec ``q``, and the writes that it fuses.

    accepts: the formats and placements of its matrices.  Implementations for all engines have the engine ``"any"``.
    """

    operation: str
    engine: str
    name: str
    when: str
    fuses: tuple[str, ...]
    about: str
    accepts: str
    priority: int = 0


def rows(engine: str) -> list[Row]:
    """Return the implementations of one engine; those of one operation in the order of selection.

    Engine ``"any"``: those that process slices or renumbered matrices, where no implementation of an engine accepts the
    storage kind.
    """
    folders = [
        files("semiring.engines") / name
        for name in ([rule.package for rule in PIPELINE] if engine == "any" else [engine])
    ]
    found = (row for folder in folders for source in _sources(folder) for row in _of_module(source))
    return sorted(found, key=lambda row: -row.priority)


def _sources(folder: Traversable) -> Iterator[str]:
    """Yield the text of every module in the folder and its subfolders."""
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _sources(item)
        elif item.name.endswith(".py"):
            yield item.read_text(encoding="utf-8")


def _of_module(source: str) -> Iterator[Row]:
    for node in ast.parse(source).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in reversed(node.decorator_list):  # as Python applies them
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) in _DECORATORS:
                yield _row(node, decorator)


def _row(function: ast.FunctionDef, decorator: ast.Call) -> Row:
    given = {word.arg: word.value for word in decorator.keywords}
    operation = _operations()[ast.unparse(decorator.args[0])]
    fuses = ast.literal_eval(given["fuses"]) if "fuses" in given else ()
    about = (ast.get_docstring(function) or "").split("\n")[0]
    when = _condition(given["when"]) if "when" in given else ""
    engine = ast.literal_eval(given["engine"]) if "engine" in given else "any"
    accepts: Accepts = _DECORATORS[ast.unparse(decorator.func)]
    if "accepts" in given:  # a constant of the registry
        accepts = getattr(registry, ast.unparse(given["accepts"]))
    priority = ast.literal_eval(given["priority"]) if "priority" in given else 0
    return Row(operation, engine, function.name, when, tuple(sorted(fuses)), about, accepts.shown(), priority)


@functools.cache
def _operations() -> dict[str, str]:
    """Map each spec class to the name of its operation."""
    found = {}
    for room in ("requests", "programs", "rows"):
        for source in _sources(files("semiring.engines") / room):
            for node in ast.parse(source).body:
                operation = _operation(node)
                if isinstance(node, ast.ClassDef) and operation is not None:
                    found[node.name] = operation
    return found


def _operation(node: ast.stmt) -> str | None:
    """Return the value of ``name: ClassVar[str] = "..."`` in a class, or None."""
    for line in node.body if isinstance(node, ast.ClassDef) else []:
        if isinstance(line, ast.AnnAssign) and ast.unparse(line.target) == "name" and line.value is not None:
            return str(ast.literal_eval(line.value))
    return None


def _condition(node: ast.expr) -> str:
    """Return the text of a lambda's body, or of any other expression."""
    return ast.unparse(node.body if isinstance(node, ast.Lambda) else node)
