"""The runner of SciPy's tests, on one file; all of them are `python -m tests.csgraph_conformance`."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from tests.csgraph_conformance.__main__ import folder, reasons

ROOT = folder()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tests in a process of its own, in which SciPy's functions are replaced."""
    from tests.conftest import ROOT as project

    command = [sys.executable, "-m", "tests.csgraph_conformance", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=project, check=False)


@pytest.mark.exhaustive
def test_the_runner_counts_cases() -> None:
    finished = run("test_connected_components")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "26 functions replaced; 8 passed, 0 failed, 0 skipped" in finished.stdout


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", [(), ("--by-time",)])
def test_the_cases_that_fail_are_the_listed_ones(mode: tuple[str, ...]) -> None:
    finished = run(*mode)
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_the_listed_functions_exist() -> None:
    for key in reasons():
        file, _, name = key.partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert any(isinstance(node, ast.FunctionDef) and node.name == name.partition("[")[0] for node in tree.body)
