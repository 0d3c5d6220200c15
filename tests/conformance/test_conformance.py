"""The runner of python-graphblas's test suite, on a few functions; the whole suite is `python -m tests.conformance`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conformance import reasons, suite

pytest.importorskip("graphblas")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the suite in a process of its own, in which ``graphblas`` is this library."""
    command = [sys.executable, "-m", "tests.conformance", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=suite.ROOT, check=False)


@pytest.mark.costly
@pytest.mark.oracle
def test_the_runner_counts_functions() -> None:
    finished = run("test_vector.py::test_dup", "test_vector.py::test_vxm", "test_matrix.py::test_mxm")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "plain: 3 of 3 functions pass; 0 are skipped" in finished.stdout


def test_a_file_without_functions_of_the_interface_runs_nothing() -> None:
    """All of test_mask are about the implementation: pytest without arguments would run the folder it is in."""
    finished = run("test_mask")
    assert (finished.returncode, "no function is run: test_mask.py" in finished.stdout) == (2, True)


@pytest.mark.oracle
@pytest.mark.exhaustive
@pytest.mark.slow
def test_the_functions_that_fail_are_the_listed_ones() -> None:
    finished = run()
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.costly
def test_the_listed_functions_exist() -> None:
    found = {function.key: function.kind for function in suite.functions(suite.folder())}
    assert not [key for key in reasons.reasons() if found.get(key) not in ("plain", "user-defined", "private")]
