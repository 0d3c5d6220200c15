"""The tiers of the tests: the sample of the short one, and the parts of the exhaustive one, which together are all."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from tests import costs, sampling
from tests.conftest import (
    ROOT,
    files_of_families,
    is_in_part,
    is_long,
    one_in,
    part,
    pytest_generate_tests,
    seed,
    several_folders,
    share_of_costly,
    stage,
)


def item(name: str, *marks: str, drawn: bool = False, fixtures: tuple[str, ...] = ()) -> Any:
    """The attributes of a collected test that the tiers use."""
    return SimpleNamespace(
        nodeid=name,
        function=SimpleNamespace(is_hypothesis_test=drawn),
        fixturenames=fixtures,
        get_closest_marker=lambda mark: mark in marks or None,
    )


def run_of(*arguments: str, costly: int | None = None) -> Any:
    """The attributes of pytest's configuration that the tiers use."""
    parameters = SimpleNamespace(dir=ROOT)
    return SimpleNamespace(args=list(arguments), invocation_params=parameters, getoption={"--costly": costly}.get)


@pytest.mark.parametrize("parts", [1, 2, 24])
def test_each_test_of_the_tier_is_in_one_part(parts: int) -> None:
    tier = [item(f"test_{number}", "exhaustive") for number in range(300)]
    tier += [item("test_wide", "wide"), item("test_drawn", drawn=True)]
    for one in tier:
        assert sum(is_in_part(one, k, parts) for k in range(1, parts + 1)) == 1
    sizes = [sum(is_in_part(one, k, parts) for one in tier) for k in range(1, parts + 1)]
    assert min(sizes) > 0


def test_campaigns_are_in_every_part_and_what_never_changes_in_none() -> None:
    campaign, same = item("test_files", fixtures=("trial_count",)), item("test_repr")
    assert all(is_in_part(campaign, k, 24) for k in range(1, 25))
    assert not any(is_in_part(same, k, 24) for k in range(1, 25))


def test_a_part_is_read() -> None:
    assert part("3/24") == (3, 24)
    for text in ("0/24", "25/24", "3", "a/b", "3/", "-1/4"):
        with pytest.raises(argparse.ArgumentTypeError, match="K/N"):
            part(text)


def test_a_share_is_read() -> None:
    assert one_in("1/4") == 4
    for text in ("0/4", "2/4", "1/0", "4", "1/"):
        with pytest.raises(argparse.ArgumentTypeError, match="1/N"):
            one_in(text)


def test_the_tour_runs_first_then_semantics_then_the_rest() -> None:
    files = ["tests/io/test_srb.py", "tests/ops/test_link.py", "tests/test_tour.py", "tests/operators/test_laws.py"]
    ordered = sorted(files, key=lambda name: stage(ROOT / name))
    assert ordered[0] == "tests/test_tour.py"
    assert ordered[-1] == "tests/io/test_srb.py"


def test_a_seed_determines_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = []
    for number in (1, 2, 1):
        monkeypatch.setattr(sampling, "seed", number)
        samples.append(sampling.draw("rows", range(100), 10))
        assert samples[-1] == sorted(set(samples[-1]))
        assert len(samples[-1]) == 10
    assert samples[0] == samples[2] != samples[1]
    assert sampling.draw("others", range(100), 10) != samples[2]
    assert sampling.draw("few", range(3), 10) == [0, 1, 2]


def test_samples_of_many_runs_are_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[int] = set()
    for number in range(60):
        monkeypatch.setattr(sampling, "seed", number)
        seen.update(sampling.draw("rows", range(20), 4))
    assert seen == set(range(20))


def test_a_run_takes_two_files_of_families(monkeypatch: pytest.MonkeyPatch) -> None:
    files = files_of_families()
    assert ROOT / "tests/algorithms/paths/test_distances.py" in files
    assert ROOT / "tests/algorithms/test_truth.py" not in files
    monkeypatch.setattr(sampling, "exhaustive", False)
    monkeypatch.setattr(sampling, "engine", "cpu")
    seen: set[str] = set()
    for number in range(120):
        monkeypatch.setattr(sampling, "seed", number)
        assert len(sampling.files_of_families("abcdefgh")) == 2
        seen.update(sampling.files_of_families("abcdefgh"))
    assert seen == set("abcdefgh")
    monkeypatch.setattr(sampling, "engine", "cuda")
    assert sampling.files_of_families("abcdefgh") == "abcdefgh"


def test_whoever_names_one_folder_runs_all_of_it() -> None:
    def several(*arguments: str) -> bool:
        return several_folders(run_of(*arguments))

    assert not several("tests/algorithms")
    assert not several("tests/algorithms/test_truth.py::test_bfs", "tests/algorithms/paths")
    assert not several(str(ROOT / "tests" / "test_tour.py"))
    assert several("tests")
    assert several(".")
    assert several("tests/ops", "tests/io")
    assert share_of_costly(run_of("tests/ops")) == 1
    assert share_of_costly(run_of("tests")) == sampling.COSTLY
    assert share_of_costly(run_of("tests/ops", "tests/io", costly=4)) == 4


def test_rows_outside_the_sample_are_left_to_the_exhaustive_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "exhaustive", False)
    rows = "abcde"
    inside = [row for row in rows if not sampling.marks(row, "bd")]
    assert inside == ["b", "d"]
    monkeypatch.setattr(sampling, "exhaustive", True)
    assert all(sampling.marks(row, "bd") for row in rows)  # its parts do not depend on the seed


def test_a_share_of_the_costly_tests_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    costly = [item(f"test_{number:03}", "costly") for number in range(144)]
    others = [item("test_other"), item("test_wide", "wide")]
    monkeypatch.setattr(sampling, "seed", 1)
    left = {one.nodeid for one in sampling.left_of_costly(costly + others, 72)}
    assert len(left) == 142
    assert {one.nodeid for one in sampling.left_of_costly(others + costly[::-1], 72)} == left
    seen: set[str] = set()
    for number in range(900):
        monkeypatch.setattr(sampling, "seed", number)
        seen |= {one.nodeid for one in costly} - {one.nodeid for one in sampling.left_of_costly(costly, 72)}
    assert len(seen) == 144
    assert sampling.left_of_costly(others) == []
    assert len(sampling.left_of_costly(costly, 4)) == 108
    assert sampling.left_of_costly(costly, 1) == []
    assert len(sampling.left_of_costly(2 * costly)) == 287


def test_functions_with_recorded_costs_are_costly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "costs", lambda: {"test_long": 3.5, "test_marked": 2.0})
    items = [item("test_long[a]"), item("test_long"), item("test_marked", "costly"), item("test_longer")]
    added: list[str] = []
    for one in items:
        one.add_marker = lambda mark, name=one.nodeid: added.append(f"{name} {mark}")
    sampling.mark_costly(items)
    assert added == ["test_long[a] costly", "test_long costly"]


def test_functions_with_recorded_costs_exist() -> None:
    """One that was renamed would run every time: write its new name, or measure again."""
    for name in sampling.costs():
        file, *_, function = name.split("::")
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), name


def test_functions_share_the_compilation_of_their_kernels() -> None:
    own = {"a": 5.0, "b": 1.5, "c": 0.5, "d": 0.5, "e": 8.0, "f": 0.25, costs.KEPT: 9.0}
    kernels = {"a": "12", "b": "23", "c": "3", "d": "4", "e": "", "f": "567", costs.KEPT: "4567"}
    calls = {"a": "xy", "b": "x", "c": "x", "d": "xy", "e": "z", "f": "x", costs.KEPT: "x"}
    found = costs.costly(own, kernels, dict.fromkeys("1234567", 1.0), calls)
    # Nothing but e calls z, and without a nothing but d calls y; a run without f would compile its kernels.
    assert found == {"a": 6.5, "b": 3.0, "c": 1.5}


def test_parameters_outside_the_run_make_no_tests(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.conftest.marks_left_out", lambda config: {"wide"})
    rows = [1, pytest.param(2, marks=pytest.mark.wide), pytest.param(3, marks=pytest.mark.slow)]

    def of_run(values: list[Any], *marks: str, **options: Any) -> list[Any]:
        made: list[list[Any]] = []
        run = SimpleNamespace(config=request.config, definition=item("test_rows", *marks))
        run.parametrize = lambda names, values, **options: made.append(values)
        pytest_generate_tests(run)
        run.parametrize("row", values, **options)
        return made[0]

    assert of_run(rows) == [rows[0], rows[2]]
    assert of_run(rows, ids=["a", "b", "c"]) == rows
    assert of_run(rows, "wide") == rows[:1]
    assert of_run(rows[1:2]) == rows[1:2]  # and is deselected


def test_long_tests_run_first_in_the_exhaustive_tier() -> None:
    assert is_long(item("test_files", fixtures=("trial_count",)))
    assert is_long(item("test_networkx", "exhaustive", "slow"))
    assert is_long(item("test_searches", "timeout"))
    assert not is_long(item("test_other", "exhaustive"))


def test_a_seed_is_read() -> None:
    assert seed("4294967295") == 2**32 - 1
    for text in ("-1", "4294967296", "1.5", "a"):
        with pytest.raises(argparse.ArgumentTypeError, match="seed"):
            seed(text)
