"""Functions of the CPU engine have annotations, unless numba compiles them: mypy does not require them there."""

from __future__ import annotations

import ast
from pathlib import Path

import semiring.engines.cpu

FOLDER = Path(semiring.engines.cpu.__file__).parent
COMPILED = {"kernel", "device", "inlined", "reassociated", "overload_for"}


def is_compiled(function: ast.FunctionDef) -> bool:
    """Return whether a decorator of `compile` or `types` is on the function, or it is replaced by an overload."""
    names = {
        node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
        for d in function.decorator_list
        for node in ast.walk(d)
    }
    return bool(names & COMPILED) or isinstance(function.body[-1], ast.Raise)


def unannotated(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            if is_compiled(node):
                continue
            if node.returns is None:
                found.append(node.name)
        found += unannotated(node)
    return found


def test_only_compiled_functions_lack_annotations() -> None:
    found = {path.name: unannotated(ast.parse(path.read_text(encoding="utf-8"))) for path in FOLDER.rglob("*.py")}
    assert {name: functions for name, functions in found.items() if functions} == {}


def test_a_function_without_annotations_is_found() -> None:
    source = "@kernel\ndef f(x):\n    return x\n\n\ndef g(x):\n    return x\n"
    assert unannotated(ast.parse(source)) == ["g"]
