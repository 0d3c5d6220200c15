"""The documentation runs: every example, the Python of every page from its top; and every command parses."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from semiring.bridges.cli.program import parser
from tests import sampling
from tests.networkx_conformance.installed import with_entry_points

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What a page shows below a program is what all its programs print.
SHOWN_OUTPUT = re.compile(r"^```python\n[^`]*^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A block of a page, or a cell of a page that is a notebook.
BLOCK = re.compile(r"^```(?:python|\{code-cell\} python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def python_of(page: Path) -> str:
    """Return the Python blocks of a Markdown page as one program, each line at its number in the page."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * text.count("\n")
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1))
        code = block[1].splitlines()
        lines[first : first + len(code)] = code
    return "\n".join(lines).rstrip() + "\n"


ALGORITHMS = sorted((ROOT / "docs/algorithms").glob("*.md"))
MARKDOWN = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *ALGORITHMS]
# The short tier takes one of the pages on algorithms, which compile many kernels.
SAMPLE = [page for page in MARKDOWN if page not in ALGORITHMS] + sampling.draw("pages", ALGORITHMS, 1)
PAGES = [page for page in MARKDOWN if python_of(page).strip()]


def commands_of(page: Path) -> list[list[str]]:
    """Return the words of every `semiring` command that a page shows, in pipes too, without redirections."""
    blocks = SHELL.findall(page.read_text(encoding="utf-8"))
    parts = [part for block in blocks for line in block.splitlines() for part in line.split(" | ")]
    lines = [part.partition(" > ")[0] for part in parts if part.startswith("semiring ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


SHOWN = [(page.stem, words) for page in MARKDOWN for words in commands_of(page)]


# Programs that draw, by the name of their file.
DRAW = ("gallery", "page_plots", "page_tour")


def run(program: Path, engine: str, *path: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, where a warning is an error; new objects are on the engine under test.

    The reference engine is left to the tests of the operations: the programs are too large for dense arrays. `path`
    precedes the folders that Python imports from.
    """
    if program.stem in DRAW:
        pytest.importorskip("matplotlib")
    command = [sys.executable, "-W", "error", str(program)]
    environment = os.environ | {"MPLBACKEND": "Agg", "SEMIRING_DEVICE": "cpu" if engine == "reference" else engine}
    if path:
        environment["PYTHONPATH"] = os.pathsep.join(map(str, (*path, ROOT)))
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=environment)


@pytest.mark.costly
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example: Path, engine: str) -> None:
    finished = run(example, engine)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.strip(), "an example says what it found"


def marks(page: Path) -> list[pytest.MarkDecorator]:
    """Return the marks of a page: only those on algorithms are sampled."""
    return sampling.marks(page, SAMPLE, pytest.mark.wide) if page in ALGORITHMS else []


@pytest.mark.costly
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=marks(page), id=page.stem) for page in PAGES],
)
def test_page_runs(page: Path, tmp_path: Path, engine: str) -> None:
    program = tmp_path / f"page_{page.stem}.py"  # not the name of a module that it imports
    program.write_text(python_of(page), encoding="utf-8")
    finished = run(program, engine, with_entry_points(tmp_path))
    assert finished.returncode == 0, finished.stderr
    shown = "".join(SHOWN_OUTPUT.findall(page.read_text(encoding="utf-8")))
    assert not shown or finished.stdout == shown


@pytest.mark.parametrize(("page", "words"), SHOWN, ids=[f"{page}: {' '.join(words)}" for page, words in SHOWN])
def test_command_is_understood(page: str, words: list[str]) -> None:
    assert parser().parse_args(words).run
