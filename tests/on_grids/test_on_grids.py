"""The runner of the tests on a grid, and its list; all of it is `python -m tests.on_grids`."""

from __future__ import annotations

import re

import pytest

from tests.on_grids.__main__ import FOLDERS, files, outcome_of, run
from tests.on_grids.reasons import ROOT, grid_reason, listed

MARK = re.compile(r'\bmark\.one_process\(\s*"([^"]+)"')

# Files that take less than a minute on the specification, for which nothing is compiled.
QUICK = {
    "tests/ops": (
        "accumulator_types closure equal every_operator layout link masks_of_same_structure permute record_types "
        "records symmetry"
    ),
    "tests/facade": (
        "edge_tables elements empty_scalars errors exact_accumulation friendly given graphblas_names labels "
        "masks memory numbering recorder scalar_operands settings tensors transposed"
    ),
}

OUTPUT = """
..s.sF                                                                   [100%]
=========================== short test summary info ============================
SKIPPED [2] tests/conftest.py:12: of one process: repr shows the part of one process
SKIPPED [1] tests/ranks.py:87: on a grid: encode is not supported on a grid of processes (2x1 cpu); use gather
SKIPPED [1] tests/facade/test_elements.py:293: counts copies from the GPU
FAILED tests/facade/test_elements.py::test_one - assert 1 == 2
1 failed, 7 passed, 4 skipped, 3 deselected in 1.25s
"""


def test_the_outcome_of_a_run() -> None:
    found = outcome_of(OUTPUT, 1, "test_elements.py")
    assert found.passed == 7
    assert found.skipped == {"repr shows the part of one process": 2, "encode": 1}
    assert [line.split()[1] for line in found.failed] == ["tests/facade/test_elements.py::test_one"]
    found.add(outcome_of("3 passed in 0.10s\n", 0, "test_other.py"))
    assert (found.passed, len(found.failed)) == (10, 1)
    assert outcome_of("", 5, "test_wide.py").failed == []
    assert "exit status 134" in outcome_of("... [100%]", 134, "test_other.py").failed[0]


def test_reasons() -> None:
    assert grid_reason("counts copies from the GPU") is None
    assert grid_reason("on a grid: records have no gaps; use others") == "records have no gaps"


def test_every_reason_of_a_mark_is_listed_and_used() -> None:
    found = {reason for path in (ROOT / "tests").rglob("test_*.py") for reason in MARK.findall(path.read_text("utf-8"))}
    assert found == {reason for reason, kind in listed().items() if kind == "mark"}


def test_the_files_of_the_folders() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in files(FOLDERS)}
    assert {"tests/ops/test_equal.py", "tests/algorithms/test_triangles.py"} <= names


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [f"{folder}/test_{name}.py" for folder in QUICK for name in QUICK[folder].split()])
def test_files_by_two_processes(name: str) -> None:
    pytest.importorskip("mpi4py")
    found = run(ROOT / name, engine="reference", seconds=240)
    assert found.failed == []
    assert found.passed
    assert not found.skipped.keys() - listed().keys()
