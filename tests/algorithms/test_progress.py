"""Every function with the parameter `progress` calls it, whatever the graph and however few steps there are."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from semiring.exceptions import SemiringError
from tests.algorithms.calls import FUNCTIONS, Call, calls
from tests.algorithms.inputs import matrix

FUNCTIONS_WITH_PROGRESS = [name for name, f in FUNCTIONS.items() if "progress" in inspect.signature(f).parameters]
# Parameters that leave nothing to do.
NO_STEPS = {"max_iter": 0, "length": 0, "rounds": 0, "k": 0, "number": 0, "sources": [], "vertices": []}
BY_NAME: dict[str, tuple[dict[str, Any], ...]] = {
    "pagerank": ({"max_iter": 0, "tol": 0}, {"max_iter": 0, "tol": 0, "personalization": 0}),
    "sssp": ({"source": []}, {"source": 0, "method": "bellman_ford"}),
    "maximum_flow": ({"method": "trees"},),
    "minimum_spanning_forest": ({"method": "boruvka"},),
    "fiedler_vector": ({"seed": 2},),
}
GRAPHS = ("null", "no-edges", "edge", "acyclic", "directed", "undirected-loops")


def appender(seen: list[Any]) -> Any:
    """Of a matrix, a function of progress that lists its calls."""
    return lambda A: lambda done, total: seen.append((done, total))


@pytest.mark.costly
@pytest.mark.parametrize("name", FUNCTIONS_WITH_PROGRESS)
def test_every_path_reports(name: str) -> None:
    """On the reference engine, where no kernel is compiled: which steps there are does not depend on the engine."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    first = calls(name)[0].given
    none = [{word: value} for word, value in NO_STEPS.items() if word in parameters]
    extra = [Call(name, {**first, **given}) for given in (*none, *BY_NAME.get(name, ()))]
    returned = 0
    with sr.use("reference"):
        for structure in GRAPHS:
            A = matrix(structure, "float64")
            for call in (*calls(name), *extra):
                seen: list[tuple[int, int | None]] = []
                observed = Call(name, {**call.given, "progress": appender(seen)})
                try:
                    observed(A)
                except SemiringError:  # such as a graph of the wrong kind
                    continue
                returned += 1
                done = [step[0] for step in seen]
                assert seen, f"{call} of {structure} does not report"
                assert done == sorted(done), f"{call} of {structure}: {seen}"
                assert all(total is None or step <= total for step, total in seen), f"{call} of {structure}: {seen}"
    assert returned


def test_the_strong_components_of_an_undirected_graph_report() -> None:
    A = Matrix.from_coo([0, 1], [1, 0], np.ones(2), shape=(3, 3))
    seen: list[tuple[int, int | None]] = []
    assert sr.algorithms.strongly_connected_components(A, progress=appender(seen)(A)).to_dict() == {0: 0, 1: 0, 2: 2}
    assert seen == [(1, None)]
