"""The tiers of the tests: the parts of the exhaustive one are disjoint, and together are all of it."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import ROOT, is_in_part, part, stage


def item(name: str, *marks: str, drawn: bool = False, fixtures: tuple[str, ...] = ()) -> Any:
    """The attributes of a collected test that the tiers use."""
    return SimpleNamespace(
        nodeid=name,
        function=SimpleNamespace(is_hypothesis_test=drawn),
        fixturenames=fixtures,
        get_closest_marker=lambda mark: mark in marks or None,
    )


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


def test_the_tour_runs_first_then_semantics_then_the_rest() -> None:
    files = ["tests/io/test_srb.py", "tests/ops/test_link.py", "tests/test_tour.py", "tests/operators/test_laws.py"]
    ordered = sorted(files, key=lambda name: stage(ROOT / name))
    assert ordered[0] == "tests/test_tour.py"
    assert ordered[-1] == "tests/io/test_srb.py"
