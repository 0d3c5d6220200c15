"""Algorithms whose loops are compiled: each is one program, unless something observes its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, algorithms
from semiring.engines.cpu import program
from semiring.loops import plans
from tests.loops import interpreted

CALLS: dict[str, Callable[..., Any]] = {
    "pagerank": algorithms.pagerank,
    "pagerank of one seed": lambda A, **given: algorithms.pagerank(A, personalization=0, **given),
    "pagerank of seeds, sinks and a start": lambda A, **given: algorithms.pagerank(
        A, personalization={0: 1, 3: 2}, dangling={1: 1}, start={2: 1}, **given
    ),
    "pagerank without sinks": lambda A, **given: algorithms.pagerank(A, dangling="drop", max_iter=100, **given),
    "hits": algorithms.hits,
    "eigenvector": algorithms.eigenvector_centrality,
    "katz": lambda A, **given: algorithms.katz_centrality(A, 0.01, **given),
    "independent set": algorithms.maximal_independent_set,
}
FLOATING = {"pagerank", "hits", "eigenvector", "katz"}


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run kernels of programs as Python: each would be compiled."""
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)


def graph(kind: str) -> Matrix:
    """A matrix of 40 rows, of which the last has no entries: symmetric, or with ``sinks`` that edges enter."""
    random = np.random.default_rng(5)
    rows, columns = random.integers(10 if kind == "sinks" else 0, 39, 150), random.integers(0, 39, 150)
    values = random.integers(1, 9, 150).astype("float64" if kind == "sinks" else kind)
    A = Matrix.from_coo(rows, columns, values, nrows=40, ncols=40, dup_op="any")
    return A if kind == "sinks" else A.ewise_add(A.T, "max").new()


def same(a: Any, b: Any) -> bool:
    """Return whether two results agree; floating sums up to their order."""
    if isinstance(a, tuple):
        return all(map(same, a, b))
    if isinstance(a, Vector):
        return bool(a.dtype == b.dtype and (a.isclose(b, rel_tol=1e-5) if a.dtype.kind == "f" else a.isequal(b)))
    return bool(a == b)


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["float64", "float32", "bool", "sinks"])
@pytest.mark.parametrize("name", CALLS)
def test_a_loop_is_one_program(name: str, kind: str) -> None:
    function, word = CALLS[name], name.partition(" ")[0]
    if kind == "sinks" and word not in FLOATING:
        pytest.skip("for symmetric matrices")
    given = [{}, *([{"weight": True}] if word in FLOATING and kind != "bool" else [])]
    given += [{"dtype": np.float32, "tol": 1e-3}] if word in FLOATING else []
    with sr.use("cpu"):
        A = graph(kind)
        for arguments in given:
            with plans.recorded() as loops:
                found = function(A, **arguments)
            assert [loop.reason for loop in loops] == [""]
            assert loops[0].compiled
            seen: list[int] = []
            with plans.recorded() as loops:
                expected = function(A, **arguments, progress=lambda done, total: seen.append(done))  # noqa: B023
            assert not loops[0].compiled
            assert seen == list(range(1, len(seen) + 1)) != []
            assert same(found, expected)
            with sr.use("reference"):
                assert same(found, function(A, **arguments))


@pytest.mark.costly
def test_loops_that_report_no_steps_are_programs() -> None:
    calls: dict[str, Callable[[Matrix], Any]] = {
        "generations": lambda A: algorithms.topological_generations(A.select("triu").select("offdiag").new()),
        "longest paths": lambda A: algorithms.longest_paths(A.select("triu").select("offdiag").new())[0],
        "fastsv": lambda A: algorithms.connected_components(A, method="fastsv"),
        "trimming": lambda A: algorithms.strongly_connected_components(A.select("triu").new()),
    }
    A = graph("float64").ewise_add(Matrix.from_edgelist([(k, k + 1) for k in range(39)], nrows=40, ncols=40), "any")
    A = A.ewise_add(A.T, "any").new()
    with sr.use("cpu"):
        for name, call in calls.items():
            with plans.recorded() as loops:
                found = call(A)
            assert loops, name
            assert [loop.reason for loop in loops if not loop.compiled] == [], name
            with sr.use("reference"):
                expected = call(A)
            assert same(found, expected), name
