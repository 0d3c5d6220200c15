"""Functions of the CPU engine have annotations, unless numba compiles them: mypy does not require them there."""

from __future__ import annotations

import ast
from pathlib import Path

import semiring.engines.cpu

FOLDER = Path(semiring.engines.cpu.__file__).parent
COMPILED = {"kernel", "device", "inlined", "reassociated", "by_types", "overload_for"}


def compilers(node: ast.AST) -> set[str]:
    """Return the decorators of `compile` and `types` that an expression names."""
    return COMPILED & {getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(node)}


def unannotated(tree: ast.AST) -> list[str]:
    """Return the functions without a return type that are neither decorated for numba, nor named by a function or call
    that is.
    """
    passed: set[str] = set()
    for node in ast.walk(tree):
        if (isinstance(node, ast.Call) and compilers(node.func)) or (
            isinstance(node, ast.FunctionDef) and any(map(compilers, node.decorator_list))
        ):
            passed |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    found = []
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef):
            found += unannotated(node)
        elif not any(map(compilers, node.decorator_list)):
            found += [node.name] if node.returns is None and node.name not in passed else unannotated(node)
    return found


def test_only_compiled_functions_lack_annotations() -> None:
    found = {path.name: unannotated(ast.parse(path.read_text(encoding="utf-8"))) for path in FOLDER.rglob("*.py")}
    assert {name: functions for name, functions in found.items() if functions} == {}


def test_a_function_without_annotations_is_found() -> None:
    source = "@kernel\ndef f(x):\n    return x\n\n\ndef g(x):\n    return x\n"
    assert unannotated(ast.parse(source)) == ["g"]
