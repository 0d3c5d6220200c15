"""CONTRIBUTING.md names what the project has, its sample is the code, and what it counts is what there is.

A block below a line ``<!-- hypothetical -->`` names files that were written to measure a cost and are not part of the
project.
"""

from __future__ import annotations

import ast
import functools
import re

import pytest

from tests.test_docs import CODE, ROOT, exists, expanded, package, resolves

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
HYPOTHETICAL = re.compile(r"^<!-- hypothetical -->\n```.*?^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What the project's commands write, and what is not a path.
WRITTEN = re.compile(r"\.venv/|docs/_build|/dev/null|\d+/\d+$|https?:|0x")
PACKAGE = ROOT / "semiring"


def paths_of(text: str) -> set[str]:
    """Everything that looks like a path in code and in blocks, with a folder or with the suffix of a source file."""
    text = HYPOTHETICAL.sub("", text)
    blocks = BLOCK.findall(text)
    words = {word for span in CODE.findall(BLOCK.sub("", text)) + blocks for word in span.split()}
    words = {re.sub(r"^[ab]/", "", word.rstrip(",;:").lstrip("+")) for word in words if not WRITTEN.search(word)}
    named = {word for word in words if re.fullmatch(r"[\w.*{},-]*(?:/[\w.*{},-]+)+/?|\w+\.(?:py|cuh|md|sh)", word)}
    return {path for word in named for path in expanded(word)}


def modules_of(text: str) -> set[str]:
    """The modules and objects of the project that the text names with dots."""
    return set(
        re.findall(r"\b(?:semiring|tests|benchmarks)(?:\.\w+)+", re.sub(r"\S*/\S*", "", HYPOTHETICAL.sub("", text)))
    )


def is_there(name: str) -> bool:
    """Whether a dotted name is a module or a public object."""
    path = name.replace(".", "/")
    return exists(f"{path}.py") or exists(package(name)) or exists(path) or resolves(name.removeprefix("semiring"))


def test_paths_exist() -> None:
    found = paths_of(PAGE)
    assert len(found) > 40
    assert [path for path in sorted(found) if not exists(path)] == []


def test_modules_exist() -> None:
    assert [name for name in sorted(modules_of(PAGE)) if not is_there(name)] == []


def test_the_checks_report_what_is_missing() -> None:
    text = "`ops/gone.py`, `engines/{cpu,gone}`, `semiring.gone`\n```diff\n+++ b/semiring/gone.py\n```\n"
    assert {path for path in paths_of(text) if not exists(path)} == {"ops/gone.py", "engines/gone", "semiring/gone.py"}
    assert not is_there("semiring.gone")
    assert is_there("semiring.exceptions")
    assert paths_of("<!-- hypothetical -->\n```\nsemiring/gone.py\n```\n") == set()


def test_the_sample_of_an_algorithm_is_in_its_files() -> None:
    (sample,) = [block for block in BLOCK.findall(PAGE) if "algorithms/" in block and "+++" in block]
    file, checked = "", 0
    for line in sample.splitlines():
        if line.startswith("+++ b/"):
            file = (ROOT / line.removeprefix("+++ b/")).read_text(encoding="utf-8")
        elif line.startswith("+"):
            assert f"{line[1:]}\n" in file, line
            checked += 1
    assert checked > 5


@functools.cache
def names_of_files() -> dict[str, set[str]]:
    """For each file of the package the names that its code uses or defines, and the modules that it imports."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        names = found.setdefault(path.relative_to(PACKAGE).as_posix(), set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, ast.ImportFrom):
                names.update(((node.module or "").rpartition(".")[2], *(alias.name for alias in node.names)))
    return found


def naming(*names: str) -> set[str]:
    """The files of the package whose code names one of these."""
    return {path for path, found in names_of_files().items() if not found.isdisjoint(names)}


def row(first: str) -> tuple[int, set[str]]:
    """The number and the files of a row of the table of additions."""
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {first}")]
    _, _, number, which, _ = line.split("|")
    return int(re.sub(r"\D.*", "", number.strip())), {path for span in CODE.findall(which) for path in expanded(span)}


@pytest.mark.parametrize("first", ["an algorithm, as", "an operation with", "a codec, as"])
def test_as_many_files_are_listed_as_counted(first: str) -> None:
    number, listed = row(first)
    assert len(listed) == number


def test_an_operation_costs_the_files_that_name_its_spec() -> None:
    """And the method, the kernels and the formula, which name the operation by a word."""
    _, listed = row("an operation with")
    by_word = {"facade/matrix_operations.py", "facade/recorder.py", "engines/cuda/kernels/kronecker.cuh"}
    assert naming("Kronecker") == listed - by_word
    for path in by_word:
        assert "kronecker" in (PACKAGE / path).read_text(encoding="utf-8")


def test_the_files_that_name_compressed_rows() -> None:
    listed = PAGE.partition("`CompressedPattern`, or its module:")[2].partition(". Its tiles")[0]
    files = {path for span in CODE.findall(listed) for path in expanded(span)}
    assert files == naming("CompressedPattern", "ccsr")
