"""Closures of many sources on the CPU: each method, against the specification; and which one is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.dtypes import BOOL, INT32, INT64
from semiring.engines import registry
from semiring.engines.cpu import closure_many, closure_many_per_source
from semiring.engines.requests.graphs import ClosureMany, ClosureManyResult
from semiring.formats import CSR
from semiring.memory import allocation
from tests.draw import both_ways, make_matrix, seeds, some_sizes
from tests.ops.test_closure_many import compare, distances, matrix, random_graph, table

FEW = settings(max_examples=settings().max_examples // 2)


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    with sr.use("cpu"):
        yield


def apart(q: ClosureMany) -> ClosureManyResult:
    assert closure_many_per_source.fits(q)
    return closure_many_per_source.Searches(q).result()


def in_turn(q: ClosureMany) -> ClosureManyResult:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(closure_many_per_source, "MANY_TO_SHARE", 0)
        found = closure_many_per_source.in_turn(q)
    assert found is not None
    return found


METHODS: dict[str, Callable[[ClosureMany], ClosureManyResult]] = {
    "together": closure_many.together,
    "apart": apart,
    "in turn": in_turn,
}


@FEW
@given(data=st.data())
def test_every_method_is_the_specification(data: st.DataObject) -> None:
    n = data.draw(some_sizes, label="n")
    density = data.draw(st.sampled_from((0.0, 0.02, 0.05, 0.2)), label="density")
    seed = data.draw(seeds, label="seed")
    a = make_matrix(n, n, BOOL, density, True, seed)
    sources = np.random.default_rng(seed).integers(0, n, data.draw(st.sampled_from((1, 2, 63, 64, 65)), label="k"))
    by_row, by_column = both_ways(a, data.draw(st.booleans(), label="transpose is ready"))
    levels, counts = data.draw(st.sampled_from([(True, False), (False, True), (True, True)]), label="results")
    direction = data.draw(st.sampled_from(("auto", "push", "pull")), label="direction")
    dtype = data.draw(st.sampled_from((INT32, INT64)), label="dtype")
    spec = ClosureMany(by_row, by_column, sources, dtype, levels, counts, direction)
    expected = registry.run(spec, "reference")
    for method in METHODS.values():
        compare(method(spec), expected)


def spec(A: sr.Matrix, sources: Any, *, levels: bool = True, counts: bool = True) -> ClosureMany:
    store: CSR = A.store
    by_row, by_column = both_ways(store, True)
    return ClosureMany(by_row, by_column, np.asarray(sources, np.int64), INT32, levels, counts)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_distances(method: str, symmetric: bool) -> None:
    """Against SciPy, with repeated sources, several groups of bits, and several batches of searches that count."""
    n, k = 700, 1100
    graph = random_graph(n, 2 * n, symmetric=symmetric)
    sources = np.random.default_rng(2).integers(0, n, k)
    expected = distances(graph, sources)
    counts = [np.bincount(row[row >= 0]) for row in expected]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(closure_many_per_source, "_BATCH", 100 * n)
        for levels in (True, False):
            found = METHODS[method](spec(matrix(graph), sources, levels=levels))
            assert found.counts is not None
            np.testing.assert_array_equal(found.counts.values, np.concatenate(counts))
            np.testing.assert_array_equal(np.diff(found.counts.pattern.indptr), [row.size for row in counts])
            if levels:
                np.testing.assert_array_equal(table(sr.Matrix(bool, k, n).with_store(found.levels)), expected)


def choice(q: ClosureMany) -> str:
    """The method that is chosen."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(closure_many, "available", lambda: 2)
        patched.setattr(closure_many_per_source, "available", lambda: 2)
        patched.setattr(closure_many, "together", lambda q: "together")
        patched.setattr(closure_many.Searches, "result", lambda self: "apart")
        found: Any = closure_many.closure_many(q)
    return found if isinstance(found, str) else "in turn"


def test_the_method_depends_on_how_many_sources_share_a_row() -> None:
    random = sr.random.uniform(2000, 16, seed=1)
    grid = sr.random.grid2d(40, 50)
    many = np.random.default_rng(1).integers(0, 2000, 500)
    assert choice(spec(random, many)) == "together"
    assert choice(spec(random, many[:10])) == "apart"
    assert choice(spec(grid, many[:200])) == "apart"
    isolated = sr.Matrix(bool, 2000, 2000)
    assert choice(spec(isolated, many)) == "apart"
    assert choice(spec(random, many[:1])) == "in turn"


def test_a_table_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bits need less memory than the levels of all vertices, of which few are reached."""
    n, k = 800, 100
    A = sr.Matrix.from_coo(np.arange(0, n, 2), np.arange(1, n, 2), True, shape=(n, n))
    q = spec(A, np.arange(k), counts=False)
    assert choice(q) == "apart"
    monkeypatch.setattr(allocation, "_UNASKED", 0)
    monkeypatch.setattr(allocation, "free_memory", lambda device: 8 * n * k - 1)
    assert choice(q) == "together"
    compare(closure_many.closure_many(q), registry.run(q, "reference"))


def test_few_sources_share_threads_where_levels_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closure_many, "available", lambda: 8)
    monkeypatch.setattr(closure_many_per_source, "MANY_TO_SHARE", 1000)
    random, grid = sr.random.uniform(1000, 16, seed=1), sr.random.grid2d(20, 50)
    assert closure_many_per_source.in_turn(spec(random, [3, 5, 7])) is not None
    assert closure_many_per_source.in_turn(spec(grid, [3, 5, 7])) is None
