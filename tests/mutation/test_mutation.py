"""The machinery of mutation runs: which positions are changed, how they are drawn, where they run, what is reported."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.mutation import suspects
from tests.mutation.__main__ import MODULES
from tests.mutation.copies import Copy
from tests.mutation.drawing import Change, Draw, Mutant, annotated, edit, sample
from tests.mutation.running import Campaign, Result, read, report, verdict

ROOT = Path(__file__).resolve().parent.parent.parent
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
        database.execute(
            "create table mutation_specs (module_path text, operator_name text, occurrence integer, "
            "start_pos_row integer, start_pos_col integer)"
        )
        for row, column in [(2, 7), (4, 11), (6, 4), (6, 13), (1, 4)]:
            for occurrence in range(3):
                values = ("module.py", f"core/{occurrence}", occurrence, row, column)
                database.execute("insert into mutation_specs values (?, ?, ?, ?, ?)", values)
    return path


def mutant(after: str, line: int = 6) -> Mutant:
    """An edit of `SOURCE`."""
    return edit(Change("module.py", line, 4, "core/X", 0), SOURCE, after)


@pytest.fixture
def drawn() -> Draw:
    """Three mutants."""
    return Draw(7, 30, [mutant(SOURCE.replace("+ 1", after)) for after in ("- 1", "+ 2", "")])


def test_annotations_and_assertions_are_not_changed() -> None:
    assert annotated(SOURCE) == {2, 3, 4, 5}


def test_a_sample_has_one_mutant_a_place(session: Path) -> None:
    places, changes = sample(session, session.parent, 10, seed=1)
    assert places == 3
    assert sorted((change.line, change.column) for change in changes) == [(1, 4), (6, 4), (6, 13)]
    assert sample(session, session.parent, 10, seed=1) == (places, changes)


@pytest.mark.parametrize("after", ["a - 1", "a", "a + 1 + 1", "not a + 1", "aa + 1", ""])
def test_an_edit_makes_the_change(after: str) -> None:
    changed = SOURCE.replace("a + 1", after)
    made = mutant(changed)
    assert made.apply(SOURCE) == changed
    assert made.difference(SOURCE).splitlines()[1:] == ["-    return a + 1", f"+    return {after}"]
    with pytest.raises(ValueError, match="draw them again"):
        made.apply(f"{SOURCE}\n")


def test_a_draw_is_read_as_written(drawn: Draw, tmp_path: Path) -> None:
    drawn.write(tmp_path / "mutants.jsonl")
    assert Draw.read(tmp_path / "mutants.jsonl") == drawn
    assert len({mutant.name for mutant in drawn.mutants}) == 3


def test_a_copy_changes_and_restores_a_module(tmp_path: Path) -> None:
    copy = Copy(tmp_path, cores=2)
    copy.root.mkdir()
    path = copy.root / "module.py"
    path.write_text(SOURCE)
    os.utime(path, ns=(10**18, 10**18))
    made = mutant(SOURCE.replace("+ 1", "- 1"))
    with copy.changed(made):
        assert path.read_text() == made.apply(SOURCE)
    assert path.read_text() == SOURCE
    assert path.stat().st_mtime_ns == 10**18


def test_a_copy_ends_its_tests_at_the_limit(tmp_path: Path) -> None:
    copy = Copy(tmp_path, cores=2)
    copy.root.mkdir()
    (copy.root / "conftest.py").write_text("import time; time.sleep(100)")
    before = time.monotonic()
    assert copy.run([], 0.4, threading.Event()) is None
    assert time.monotonic() - before < 20


CONFTEST = """from hypothesis import settings
settings.register_profile("unshrunk")
def pytest_addoption(parser):
    parser.addoption("--engine")
    parser.addoption("--seed")
"""


@pytest.mark.costly
@pytest.mark.parametrize(
    ("body", "outcome"),
    [("assert True", "survived"), ("assert False", "killed"), ("import time; time.sleep(60)", "slow"), ("(", "killed")],
)
def test_the_outcome_of_tests(body: str, outcome: str, tmp_path: Path) -> None:
    copy = Copy(tmp_path, cores=2)
    copy.root.mkdir()
    (copy.root / "conftest.py").write_text(CONFTEST)
    (copy.root / "test_f.py").write_text(f"def test_f():\n    {body}\n")
    code = copy.run(["-p", "no:xdist", "--timeout=1"], 60.0, threading.Event())
    test = {"survived": "", "killed": "test_f.py::test_f", "slow": "test_f.py::test_f"}[outcome]
    assert verdict(code, copy.log.read_text()) == (outcome, "test_f.py" if body == "(" else test)


def test_a_stopped_campaign_keeps_its_results(drawn: Draw, tmp_path: Path) -> None:
    """The results of the file are not run again, and what the time does not suffice for is reported as not tried."""
    (tmp_path / "module.py").write_text(SOURCE)
    first = drawn.mutants[0]
    known = Result(first.name, "killed", first.module, first.line, first.operator, 1.0, "tests/test_f.py::f", "")
    out = tmp_path / "out.jsonl"
    out.write_text(f'{json.dumps(asdict(known))}\n{{"mutant": "cut')
    assert read(out) == {first.name: known}
    campaign = Campaign(tmp_path, drawn, processes=1, seconds=0.0, limit=1.0, out=out)
    assert campaign.results == {first.name: known}
    assert out.read_text() == f"{json.dumps(asdict(known))}\n"
    assert report(drawn, campaign.results).splitlines()[-1] == (
        "3 mutants drawn of 30 places, seed 7: 1 killed, 0 slow, 0 survived, 0 unfinished, 2 not tried"
    )


def test_a_report_names_what_no_test_detected(drawn: Draw) -> None:
    survivor = drawn.mutants[1]
    result = Result(survivor.name, "survived", "module.py", 6, "core/X", 1.0, "", "+    return a + 2")
    lines = report(drawn, {survivor.name: result}).splitlines()
    assert f"survived module.py:6 core/X ({survivor.name})" in lines
    assert "+    return a + 2" in lines
    assert report(drawn, {m.name: replace(result, outcome="killed") for m in drawn.mutants}).count("\n") == 0


@pytest.mark.parametrize("module", [*MODULES, "semiring/ops/closure.py", "semiring/engines/sliced/products.py"])
def test_the_tests_of_a_module_exist(module: str) -> None:
    chosen = suspects.tests_of(module, ROOT)
    assert chosen
    assert not [test for test in [*chosen, suspects.LAST] if not (ROOT / test).exists()]
    if module.endswith("closure.py"):
        assert "tests/ops/test_closure.py" in chosen[:2]
