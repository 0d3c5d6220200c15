"""Which functions python-graphblas's test suite has, and what each of them is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

# Files about the implementation: its C library, its expressions, its HTML, its recorder.
_ABOUT_THE_IMPLEMENTATION = {
    "test_auto_init.py",
    "test_core.py",
    "test_descriptor.py",
    "test_external_init.py",
    "test_formatting.py",
    "test_operator_types.py",
    "test_recorder.py",
    "test_ss_utils.py",
    "test_ssjit.py",
}
# Functions about operators and types that use private names, for which `private_names` has stand-ins.
_PRIVATE_FILES = {"test_dtype.py", "test_numpyops.py", "test_op.py"}
# User-defined operators and types.
_USER_DEFINED = re.compile(r"\bregister_|\budt\b|UDT|supports_udfs|\blambda x|Parameterized|record_dtype|INT64\[")
# Attributes of python-graphblas that are no part of its interface, once code under `if suitesparse:` is left out.
_INTERNAL = re.compile(
    r"\.gb_obj|\b(?:gb\.)?core\.|\boperator\.\w|\bget_semiring\b|\blib\.|getmembers|_delayed|_deprecated|orig_semirings"
    r"|orig_binaryops|getsizeof"
    r"|\bUpdater\b|\bensure_type\b|resolved_indexes|(?<!dtypes)\._[a-z]\w+"
)


class Function(NamedTuple):
    """One test function: its file, its name, and its kind.

    ``"plain"``: the interface; ``"user-defined"``: with operators or types of the user; ``"private"``: about operators
    and types, by private names that have stand-ins; ``"internal"``: about the implementation, and not run.
    """

    file: str
    name: str
    kind: str

    @property
    def key(self) -> str:
        return f"{self.file}::{self.name}"


def folder() -> Path:
    """The folder of the test suite, which the wheel of python-graphblas contains."""
    found = find_spec("graphblas")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "tests"


def functions(where: Path) -> Iterator[Function]:
    """Yield every test function."""
    for path in sorted(where.glob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield Function(path.name, node.name, _kind(path.name, node))


def _kind(file: str, node: ast.FunctionDef) -> str:
    text = ast.unparse(node)
    if file in _PRIVATE_FILES and _is_private(text, node):
        return "private"
    if "test_reduce_agg_" in node.name and "skipif('not suitesparse')" in text:
        return "private"
    if file in _ABOUT_THE_IMPLEMENTATION or node.name.startswith("test_ss_") or "skipif('not suitesparse')" in text:
        return "internal"
    if "skipif('supports_udfs')" in text:  # about an installation without numba
        return "internal"
    if _USER_DEFINED.search(text):
        return "user-defined"
    return "internal" if _is_private(text, node) else "plain"


def _is_private(text: str, node: ast.FunctionDef) -> bool:
    """Whether a function without operators or types of the user uses private names, or is about a part of them."""
    if "skipif('supports_udfs')" in text:
        return True
    if _USER_DEFINED.search(text):
        return False
    return _INTERNAL.search(ast.unparse(_WithoutSuiteSparse().visit(node))) is not None


class _WithoutSuiteSparse(ast.NodeTransformer):
    """Removes the blocks that run with SuiteSparse alone."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if "suitesparse" in ast.unparse(node.test):
            return node.orelse or [ast.Pass()]
        return node
