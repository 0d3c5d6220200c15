"""The runner of SciPy's tests, on one file; all of them are `python -m tests.csgraph_conformance`."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.csgraph_conformance.__main__ import MODES, Calls, folder, reasons

ROOT = folder()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tests in a process of its own, in which SciPy's functions are replaced."""
    from tests.conftest import ROOT as project

    command = [sys.executable, "-m", "tests.csgraph_conformance", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=project, check=False)


def test_calls_are_counted_by_what_computes_them() -> None:
    calls = Calls()
    theirs = {name: calls.theirs(name, len) for name in ("dijkstra", "csgraph_from_dense")}
    passed_on = calls.ours("dijkstra", theirs["dijkstra"])
    converted = calls.ours("dijkstra", theirs["csgraph_from_dense"])
    conversion = calls.ours("csgraph_from_dense", theirs["csgraph_from_dense"])
    nested = calls.ours("shortest_path", passed_on)
    for function in (passed_on, converted, conversion, nested):
        assert function("abc") == 3
    with pytest.raises(TypeError):
        passed_on(None)
    assert (calls.made, calls.here) == (5, 1)


@pytest.mark.exhaustive
def test_the_runner_counts_both_ways() -> None:
    finished = run("test_connected_components")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stdout.splitlines() == [
        "26 functions, as called: 8 passed, 0 failed, 0 skipped; 0 of 15 calls computed here",
        "26 functions, everything computed here: 8 passed, 0 failed, 0 skipped; 8 of 15 calls computed here",
    ]


@pytest.mark.exhaustive
@pytest.mark.slow
def test_the_cases_that_fail_and_the_counts_are_the_listed_ones() -> None:
    pytest.importorskip("sparse")
    finished = run()
    assert finished.returncode == 0, finished.stdout + finished.stderr
    table = (Path(__file__).parent / "failures.md").read_text(encoding="utf-8")
    page = (Path(__file__).parents[2] / "docs" / "csgraph.md").read_text(encoding="utf-8")
    for mode in MODES:
        counts = re.search(rf"{mode}: (\d+) passed, (\d+) failed, (\d+) skipped; (\d+ of \d+) calls", finished.stdout)
        assert counts is not None
        row = next(line for line in table.splitlines() if line.startswith(f"| {mode}"))
        assert row.endswith("| {} | {} | {} | {} |".format(*counts.groups()))
        assert f"{counts[1]} cases pass" in page
        assert counts[4].split()[-1] in page


def test_the_listed_functions_exist() -> None:
    for key in reasons():
        file, _, name = key.partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert any(isinstance(node, ast.FunctionDef) and node.name == name.partition("[")[0] for node in tree.body)
