"""Every algorithm on every graph with known results, by property and against other programs."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path

import pytest

import semiring as sr
from semiring import algorithms
from tests import sampling
from tests.algorithms.proofs import DEFINITION, PROOFS
from tests.algorithms.proofs.case import Case
from tests.algorithms.proofs.table import OF_THEIR_FAMILIES, RECORDED, proofs_of, table, used
from tests.algorithms.test_truth import TRUTH, graph, matrix
from tests.conftest import ROOT

MODULES = {"SciPy": "scipy", "NetworkX": "networkx", "igraph": "igraph", "NetworKit": "networkit"}
FAMILIES = sorted({proof.family for proof in PROOFS})
TINY = [name for name, fact in TRUTH.items() if fact["simple_arcs"] < 500]
SAMPLE = [(name, sampling.draw("proved family", FAMILIES, 1)[0]) for name in sampling.draw("proved", TINY, 1)]
GRAPHS = [
    pytest.param(name, family, marks=sampling.marks((name, family), SAMPLE), id=f"{family}-{name}")
    for name in TRUTH
    for family in FAMILIES
] or [pytest.param("none", "none", marks=pytest.mark.skip(reason="no shared graphs"))]


def names_of_functions() -> list[str]:
    return [name for name in algorithms.__all__ if inspect.isfunction(getattr(algorithms, name))]


@pytest.mark.costly
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("name", "family"), GRAPHS)
def test_proofs(shared_data: Path, name: str, family: str) -> None:
    case = Case(name, matrix(graph(name, shared_data)))
    wrong = []
    for proof in PROOFS:
        missing = proof.by != DEFINITION and importlib.util.find_spec(MODULES[proof.by]) is None
        if proof.family == family and case.entries <= proof.entries and not missing:
            try:
                proof.run(case)
            except AssertionError as error:
                wrong.append(f"{proof.name} ({proof.by}): {str(error)[:2000]}")
    assert not wrong, f"{name}:\n" + "\n".join(wrong)


def test_every_function_is_proved_twice() -> None:
    """By its defining property, or in two other ways: by programs, or by results that others recorded."""
    for name in set(names_of_functions()) - OF_THEIR_FAMILIES:
        assert used(name, DEFINITION) or proofs_of(name) > 1, f"{name} has one proof only"


def test_the_table_of_proofs() -> None:
    page = (ROOT / "docs" / "algorithms" / "proofs.md").read_text()
    assert table() in page, "write the table of docs/algorithms/proofs.md by python -m tests.algorithms.proofs.table"
    assert not set(RECORDED) - set(names_of_functions())


def test_proofs_find_wrong_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof by property fails where a result is changed."""
    A = sr.random.uniform(40, 4, seed=1)
    case = Case("drawn", A | A.T)
    right = algorithms.core_numbers
    monkeypatch.setattr(algorithms, "core_numbers", lambda A: right(A).apply("plus", right=1).new())
    proof = next(proof for proof in PROOFS if proof.name == "cores")
    with pytest.raises(AssertionError):
        proof.run(case)
