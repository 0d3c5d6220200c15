"""The size of the package: a change that needs more lines raises the limit here and says why in its message.

Lines of code are lines with a token that is neither comment nor docstring.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "semiring"
CORE = {"operators", "ops", "facade", "formats", "storage", "memory", "engines"}
# What there is; to become at most 27,000, 19,000, 16,000, 11,500 and 450.
LIMITS = {"code of the core": 42_550, "other code": 35_830, "docstrings": 27_100, "CUDA": 16_500, "files": 925}


def lines(source: str) -> tuple[int, int]:
    """Return the numbers of lines of code and of docstrings."""
    documented: set[int] = set()
    texts: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(
            node, clean=False
        ):
            first = node.body[0]
            documented.update(range(first.lineno, (first.end_lineno or 0) + 1))
        elif isinstance(node, (ast.Constant, ast.JoinedStr)):  # its lines may be empty, or begin as comments do
            texts.update(range(node.lineno, (node.end_lineno or 0) + 1))
    rows = enumerate(source.split("\n"), 1)  # half the time of a tokenizer
    code = {number for number, row in rows if row.strip() and not row.lstrip().startswith("#")}
    return len((code | texts) - documented), len(documented)


def test_the_package_does_not_grow_without_a_reason() -> None:
    found: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        code, documented = lines(path.read_text(encoding="utf-8"))
        folder = path.relative_to(PACKAGE).parts[0]
        found["code of the core" if folder in CORE else "other code"] += code
        found["docstrings"] += documented
        found["files"] += 1
    for path in PACKAGE.rglob("*.cuh"):
        found["CUDA"] += len(path.read_text(encoding="utf-8").splitlines())
        found["files"] += 1
    assert found.keys() == LIMITS.keys()
    assert {name: count for name, count in found.items() if count > LIMITS[name]} == {}


def test_lines_are_counted() -> None:
    assert lines('"""One,\ntwo."""\n\n# a comment\nx = (\n    1,\n)\n') == (3, 2)
    assert lines('x = """a\n\n# b\n"""\n# c\n') == (4, 0)
    assert lines('def f():\n    """One."""\n    return """\n    text"""\n') == (3, 1)
