"""The machinery of mutation runs: which positions are changed, how they are drawn, and which tests then run."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.mutation import suspects
from tests.mutation.__main__ import MODULES, annotated, results, sample

SOURCE = """def f(
    a: int | None,
) -> int | None:
    assert a or not a
    b: int | str
    return a + 1
"""


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of cosmic-ray: three mutants for each position, on five lines of one module."""
    (tmp_path / "module.py").write_text(SOURCE)
    path = tmp_path / "session.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("create table work_items (job_id text)")
        database.execute(
            "create table mutation_specs (module_path text, operator_name text, occurrence integer, "
            "start_pos_row integer, start_pos_col integer, job_id text)"
        )
        database.execute("create table work_results (test_outcome text, output text, diff text, job_id text)")
        for place, (row, column) in enumerate([(2, 7), (4, 11), (6, 4), (6, 13), (1, 4)]):
            for occurrence in range(3):
                job = f"{place}-{occurrence}"
                database.execute("insert into work_items values (?)", (job,))
                values = ("module.py", f"core/{occurrence}", occurrence, row, column, job)
                database.execute("insert into mutation_specs values (?, ?, ?, ?, ?, ?)", values)
    return path


def test_annotations_and_assertions_are_not_changed() -> None:
    assert annotated(SOURCE) == {2, 3, 4, 5}


def test_a_sample_has_one_mutant_a_place(session: Path) -> None:
    assert sample(session, session.parent, 10, seed=1) == 3
    with sqlite3.connect(session) as database:
        kept = database.execute("select start_pos_row, start_pos_col from mutation_specs order by 1, 2").fetchall()
        assert kept == [(1, 4), (6, 4), (6, 13)]
        assert database.execute("select count(*) from work_items").fetchone() == (3,)


def test_outcomes_are_read(session: Path) -> None:
    rows = [("0-0", "SURVIVED", ""), ("1-0", "KILLED", "1 failed"), ("2-0", "KILLED", "timeout")]
    with sqlite3.connect(session) as database:
        for job, outcome, output in rows:
            database.execute("insert into work_results values (?, ?, 'diff', ?)", (outcome, output, job))
    assert [outcome for outcome, *_ in results(session)] == ["SURVIVED", "KILLED", "SLOW"]


@pytest.mark.parametrize("module", [*MODULES, "semiring/ops/closure.py", "semiring/engines/sliced/products.py"])
def test_the_tests_of_a_module_exist(module: str) -> None:
    chosen = suspects.tests_of(module)
    assert chosen
    assert not [test for test in chosen if not Path(test).exists()]
    if module.endswith("closure.py"):
        assert "tests/ops/test_closure.py" in chosen[:2]
