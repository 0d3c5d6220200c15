"""Edge lists: what is written is read back with relabel=True as the same edges between the same labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring import Matrix
from tests.io.test_labels_in_text import (
    HOSTILE,
    QUOTING,
    WHITE,
    edges,
    labels_of_integers,
    labels_of_text,
    on_the_cpu,
    ring,
    round_trip,
)

# `.el` files hold no weights, and this module writes every format.
pytestmark = pytest.mark.filterwarnings("ignore::semiring.exceptions.LostWeights")

__all__ = ["on_the_cpu"]


@given(labels=st.one_of(labels_of_text, labels_of_integers))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("kind", [*WHITE, *QUOTING, ".csv.gz"])
def test_labels_come_back(tmp_path: Path, kind: str, labels: list[Any]) -> None:
    round_trip(tmp_path / f"a{kind}", labels)


@pytest.mark.parametrize("kind", QUOTING)
@pytest.mark.parametrize("header", [None, False])
def test_all_hostile_labels_come_back_in_csv(tmp_path: Path, kind: str, header: bool | None) -> None:
    A = ring(["first", *HOSTILE])
    sr.io.write(tmp_path / f"a{kind}", A, header=header)
    assert edges(sr.io.read(tmp_path / f"a{kind}", relabel=True)) == edges(A)
    for label in HOSTILE:
        assert round_trip(tmp_path / f"b{kind}", [label, "x y"])


@pytest.mark.parametrize("kind", [*WHITE, *QUOTING])
@pytest.mark.parametrize(
    "names", [("user", "item"), ("u", "v"), ("start", "end"), ("person", "friend"), ("from", "to")]
)
def test_an_edge_between_names_of_columns_is_an_edge(tmp_path: Path, kind: str, names: tuple[str, str]) -> None:
    A = Matrix.from_edgelist([names], relabel=True)
    sr.io.write(tmp_path / f"b{kind}", A)
    assert sr.io.read(tmp_path / f"b{kind}", relabel=True).nvals == 1
    assert round_trip(tmp_path / f"a{kind}", list(names))
