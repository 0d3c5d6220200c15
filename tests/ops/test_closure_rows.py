"""The closure of every row of a matrix: the specification, single closures, SciPy's distances, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import bellman_ford, dijkstra

import semiring as sr
from semiring import Matrix, ops
from semiring.config import config
from semiring.dtypes import FP64, INT64, UINT8
from semiring.engines import registry
from semiring.engines.cpu import closure_rows
from semiring.engines.requests.graphs import Closure, ClosureRows
from semiring.engines.requests.operations import ExtractRow
from semiring.engines.rows.residency import resident
from semiring.exceptions import ConvergenceFailure, DimensionMismatch, DomainMismatch, InvalidValue
from semiring.operators import lookup_semiring
from tests.compare import assert_same, check_invariants
from tests.draw import both_ways, make_matrix, seeds, some_sizes

FEW = settings(max_examples=settings().max_examples // 2)
DTYPES = {"min_plus": (FP64, INT64), "max_min": (UINT8,), "min_max": (INT64,)}
LATTICES = ("max_min", "min_max")


def spec(name: str, k: int, n: int, dtype: np.dtype[Any], density: float, seed: int, *, iso: bool) -> ClosureRows:
    a = make_matrix(n, n, dtype, density, False, seed)
    starts = make_matrix(k, n, dtype, 0.2, iso, seed + 1)
    by_row, by_column = both_ways(a, seed % 2 == 0)
    return ClosureRows(starts, by_row, by_column, lookup_semiring(name).typed(dtype, dtype))


@pytest.mark.costly
@FEW
@given(data=st.data())
def test_the_cpu_kernel_is_the_specification(data: st.DataObject) -> None:
    """Every row is that of a single closure; for semirings without rounding or overflow, also the reference's."""
    n = data.draw(some_sizes, label="n")
    name = data.draw(st.sampled_from(sorted(DTYPES)), label="semiring")
    dtype = data.draw(st.sampled_from(DTYPES[name]), label="dtype")
    density = data.draw(st.sampled_from((0.0, 0.05, 0.2)), label="density")
    k = data.draw(st.sampled_from((1, 2, 5)), label="k")
    q = spec(name, k, n, dtype, density, data.draw(seeds, label="seed"), iso=data.draw(st.booleans(), label="iso"))
    with pytest.MonkeyPatch.context() as patched:
        if data.draw(st.booleans(), label="batches of one thread"):
            patched.setattr(closure_rows, "_BATCH_BYTES", 1)
        found = closure_rows.closure_rows(q)
    if found.store is not None:
        check_invariants(found.store)
    for s in range(k):
        frontier = registry.run(ExtractRow(q.frontiers, s), "cpu")
        alone = registry.run(Closure(frontier, q.by_row, q.by_column, q.semiring, False, n), "cpu")
        if found.store is None and s == found.unsettled:
            assert not alone.converged
            return
        assert alone.converged
        if found.store is not None:
            assert_same(registry.run(ExtractRow(resident(found.store), s), "cpu"), alone.store)
    if name in LATTICES:
        assert found.store is not None
        assert_same(resident(found.store), registry.run(q, "reference").store)


def graph(n: int, entries: int, least: int = 1) -> Any:
    """A random graph with integer weights from `least`, in which edges lead to higher rows only if it is negative."""
    rng = np.random.default_rng(3)
    rows, cols = rng.integers(0, n, (2, entries))
    if least < 0:
        rows, cols = np.minimum(rows, cols), np.maximum(rows, cols)
    kept = rows != cols
    made = sp.coo_array((np.ones(int(kept.sum())), (rows[kept], cols[kept])), shape=(n, n)).tocsr()
    made.data = rng.integers(least, 100, made.nnz).astype(np.float64)
    made.data[made.data == 0] = 1
    return made


def starts_of(sources: list[int], n: int, engine: str) -> Matrix:
    device = "cuda" if engine == "cuda" else "cpu"
    return Matrix.from_coo(range(len(sources)), sources, 0.0, FP64, shape=(len(sources), n), device=device)


def matrix(made: Any, engine: str) -> Matrix:
    return sr.io.from_scipy_sparse(made).to("cuda" if engine == "cuda" else "cpu")


@pytest.mark.parametrize("least", [1, -20])
@pytest.mark.parametrize("entries", [900, 4000])
def test_distances(engine: str, least: int, entries: int) -> None:
    """Against SciPy and single closures: sparse and dense, with and without negative weights, repeated sources."""
    n, sources = 500, [0, 7, 7, 499, 250, 3]
    made = graph(n, entries, least)
    A, X = matrix(made, engine), starts_of(sources, n, engine)
    D = ops.closure(X, A, "min_plus")
    search = dijkstra if least > 0 else bellman_ford
    np.testing.assert_array_equal(D.to("cpu").to_dense(np.inf), search(made, indices=sources))
    for s in range(len(sources)):
        assert D[s, :].new().isequal(ops.closure(X[s, :].new(), A, "min_plus"))
    with config.set(fusion=False):
        assert ops.closure(X, A, "min_plus").isequal(D)


def test_levels_transposes_and_weights(engine: str) -> None:
    n, sources = 60, [0, 1, 2]
    made = graph(n, 200)
    A, X = matrix(made, engine), starts_of(sources, n, engine)
    hops = dijkstra(made, indices=sources, unweighted=True)
    np.testing.assert_array_equal(ops.closure(X, A, "min_plus", weight=1).to("cpu").to_dense(np.inf), hops)
    back = dijkstra(made.T.tocsr(), indices=sources)
    np.testing.assert_array_equal(ops.closure(X, A.T, "min_plus").to("cpu").to_dense(np.inf), back)
    turned = starts_of(sources, n, engine).T.new()
    assert ops.closure(turned.T, A.T, "min_plus").isequal(ops.closure(X, A.T, "min_plus"))


def test_frontiers_of_several_entries_and_of_none(engine: str) -> None:
    made = graph(80, 300)
    A = matrix(made, engine)
    X = Matrix.from_coo([0, 0, 2], [3, 9, 9], [5.0, 1.0, 2.0], shape=(3, 80), device=A.device)
    found = ops.closure(X, A, "min_plus").to("cpu").to_dense(np.inf)
    lengths = dijkstra(made, indices=[3, 9])
    np.testing.assert_array_equal(found[0], np.minimum(lengths[0] + 5, lengths[1] + 1))
    assert np.isinf(found[1]).all()
    np.testing.assert_array_equal(found[2], lengths[1] + 2)


def test_compressed_rows_and_no_rows(engine: str) -> None:
    made = graph(50, 300)
    A, X = matrix(made, engine), starts_of([4, 5], 50, engine)
    assert ops.closure(X, A.compress("varint"), "min_plus").isequal(ops.closure(X, A, "min_plus"))
    empty = ops.closure(Matrix(FP64, 0, 50, device=A.device), A, "min_plus")
    assert (empty.shape, empty.dtype, empty.nvals) == ((0, 50), FP64, 0)


def test_the_row_that_does_not_converge(engine: str) -> None:
    A = Matrix.from_coo([0, 1, 2], [1, 2, 1], [1.0, -2.0, 1.0], shape=(4, 4)).to("cuda" if engine == "cuda" else "cpu")
    X = starts_of([3, 0, 1], 4, engine)
    with pytest.raises(ConvergenceFailure) as failure:
        ops.closure(X, A, "min_plus")
    assert failure.value.row == 1
    assert failure.value.result.shape == (1, 4)
    with pytest.raises(ConvergenceFailure) as failure:
        ops.closure(X, A, "min_plus", max_steps=1)
    assert failure.value.row == 1


def test_bad_operands(engine: str) -> None:
    A = matrix(graph(20, 40), engine)
    with pytest.raises(DimensionMismatch, match="rows of size 20, got 19"):
        ops.closure(starts_of([0], 19, engine), A, "min_plus")
    with pytest.raises(DimensionMismatch, match="square"):
        ops.closure(starts_of([0], 20, engine), A[:, :19].new(), "min_plus")
    with pytest.raises(InvalidValue, match="a Vector or a Matrix first, got list"):
        ops.closure([0], A, "min_plus")  # type: ignore[type-var]
    with pytest.raises(DomainMismatch, match="idempotent"):
        ops.closure(starts_of([0], 20, engine), A, "plus_times")


def test_many_threads_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    made = graph(3000, 9000)
    A, X = matrix(made, "cpu"), starts_of(list(range(40)), 3000, "cpu")
    expected = ops.closure(X, A, "min_plus")
    for threads in (1, 3, 8):
        monkeypatch.setattr(closure_rows, "threads_for", lambda work, threads=threads: threads)
        assert ops.closure(X, A, "min_plus").isequal(expected)
    assert expected.isequal(sr.algorithms.sssp(A, list(range(40))))
