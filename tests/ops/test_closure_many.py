"""Closures of many sources: SciPy's distances, searches from one source, counts, groups, storage kinds and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph

import semiring as sr
from semiring import Matrix, ops
from semiring.config import config
from semiring.dtypes import BOOL, INT32, INT64
from semiring.engines import registry
from semiring.engines.requests.graphs import ClosureMany, ClosureManyResult
from semiring.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue, OutOfMemory
from semiring.formats import CODECS
from semiring.memory import allocation
from tests import storage_kinds
from tests.compare import assert_same, check_invariants, device_for, place
from tests.draw import both_ways, make_matrix, seeds, some_sizes

FEW = settings(max_examples=settings().max_examples // 2)
# Fewer, as many and more than a word of either engine, and several groups of the CPU engine.
NUMBERS = (1, 31, 32, 33, 64, 65)


def host(found: Any) -> Any:
    return found.to("cpu")


def run(spec: ClosureMany, engine: str) -> ClosureManyResult:
    """The result in host memory; the sources stay there."""
    device = device_for(engine)
    placed = ClosureMany(
        **{**vars(spec), "by_row": place(spec.by_row, device), "by_column": place(spec.by_column, device)}
    )
    found: ClosureManyResult = registry.run(placed, engine)
    parts = [None if part is None else host(part) for part in (found.levels, found.counts)]
    return ClosureManyResult(parts[0], parts[1], found.steps)


def compare(got: ClosureManyResult, expected: ClosureManyResult) -> None:
    assert got.steps == expected.steps
    for mine, theirs in ((got.levels, expected.levels), (got.counts, expected.counts)):
        assert (mine is None) == (theirs is None)
        if mine is not None and theirs is not None:
            check_invariants(mine)
            assert_same(mine, theirs)


@pytest.mark.costly
@FEW
@given(data=st.data())
def test_the_specification(engine: str, data: st.DataObject) -> None:
    n = data.draw(some_sizes, label="n")
    density = data.draw(st.sampled_from((0.0, 0.02, 0.05, 0.2)), label="density")
    seed = data.draw(seeds, label="seed")
    a = make_matrix(n, n, BOOL, density, True, seed)
    k = data.draw(st.sampled_from(NUMBERS), label="k")
    sources = np.random.default_rng(seed).integers(0, n, k)
    by_row, by_column = both_ways(a, data.draw(st.booleans(), label="transpose is ready"))
    levels, counts = data.draw(st.sampled_from([(True, False), (False, True), (True, True)]), label="results")
    direction = data.draw(st.sampled_from(("auto", "push", "pull")), label="direction")
    dtype = data.draw(st.sampled_from((INT32, INT64)), label="dtype")
    spec = ClosureMany(by_row, by_column, sources, dtype, levels, counts, direction)
    expected = registry.run(spec, "reference")
    compare(run(spec, engine), expected)
    if storage_kinds.is_chosen(ClosureMany(by_row, by_column, np.zeros(0), dtype), engine):
        kinds = storage_kinds.in_other_kinds(
            ClosureMany(place(by_row, device_for(engine)), place(by_column, device_for(engine)), np.zeros(0), dtype),
            engine,
        )
        other = ClosureMany(kinds.by_row, kinds.by_column, sources, dtype, levels, counts, direction)
        with storage_kinds.small_slices():
            compare(run(other, engine), expected)


def random_graph(n: int, entries: int, *, symmetric: bool, seed: int = 1) -> sp.csr_array:
    """A graph with a row of many entries, self-loops, and rows without entries."""
    draw = np.random.default_rng(seed)
    rows = np.concatenate([draw.integers(0, n, entries), np.full(n // 2, 3), np.arange(0, n, 9)])
    columns = np.concatenate([draw.integers(0, n, entries), draw.integers(0, n, n // 2), np.arange(0, n, 9)])
    kept = (rows % 7 != 5) & (columns % 7 != 5)
    graph = sp.coo_array((np.ones(int(kept.sum())), (rows[kept], columns[kept])), shape=(n, n)).tocsr()
    graph = graph + graph.T if symmetric else graph
    graph.data[:] = 1
    return sp.csr_array(graph)


def matrix(graph: sp.csr_array) -> Matrix:
    return sr.io.from_scipy_sparse(graph)


def table(found: Matrix) -> np.ndarray[Any, Any]:
    """Levels as an array, -1 where there are none."""
    check_invariants(host(found).store)
    return np.asarray(host(found).to_dense(-1))


def distances(graph: sp.csr_array, sources: Any) -> np.ndarray[Any, Any]:
    found = csgraph.dijkstra(graph, unweighted=True, indices=sources)
    return np.where(np.isinf(found), -1, found).astype(np.int64)


def counted(levels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.stack([(levels == depth).sum(axis=1) for depth in range(int(levels.max()) + 1)], axis=1)


@pytest.mark.costly
@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("k", [*NUMBERS, 200, 400, 1000, 1100])
def test_distances(k: int, symmetric: bool, direction: str) -> None:
    """Against SciPy, with repeated sources, and several groups of sources."""
    n = 600
    graph = random_graph(n, 3 * n, symmetric=symmetric)
    sources = np.random.default_rng(k).integers(0, n, k)
    with config.set(direction=direction):
        found = ops.closure_many(sources, matrix(graph), counts=True)
    expected = distances(graph, sources)
    np.testing.assert_array_equal(table(found.levels), expected)
    np.testing.assert_array_equal(np.asarray(host(found.counts).to_dense(0)), counted(expected))
    assert found.steps == expected.max() + 1
    assert (found.levels.dtype, found.counts.dtype) == (np.int32, np.int64)


@pytest.mark.costly
@pytest.mark.parametrize("placement", ["device", "pinned", "host"])
@pytest.mark.parametrize("codec", [None, *CODECS])
@pytest.mark.parametrize("symmetric", [True, False])
def test_storage_kinds(codec: Any, placement: Any, symmetric: bool) -> None:
    n = 500
    graph = random_graph(n, 4 * n, symmetric=symmetric)
    A = matrix(graph)
    A = (A if codec is None else A.compress(codec)).to(placement=placement)
    sources = [0, 3, 5, 3, *range(100, 140)]
    for direction in ("auto", "push", "pull"):
        with config.set(direction=direction):
            found = ops.closure_many(sources, A, counts=True)
        expected = distances(graph, sources)
        np.testing.assert_array_equal(table(found.levels), expected)
        np.testing.assert_array_equal(np.asarray(host(found.counts).to_dense(0)), counted(expected))


def test_levels_equal_those_of_single_searches() -> None:
    A = matrix(random_graph(400, 900, symmetric=False))
    sources = [7, 0, 399, 7, 5, 12]
    together = sr.algorithms.bfs_levels(A, sources)
    assert together.shape == (6, 400)
    for row, source in enumerate(sources):
        single = sr.algorithms.bfs_levels(A, source)
        assert together.dtype == single.dtype
        assert together[row, :].isequal(single)


@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
@pytest.mark.parametrize("n", [15, 16, 17, 300])
def test_long_paths(n: int, direction: str) -> None:
    """More levels than the first bit planes hold, and pushes after pulls."""
    graph = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1]).tocsr()
    sources = [0, n // 2, n - 1]
    with config.set(direction=direction):
        found = ops.closure_many(sources, matrix(graph), counts=True)
    expected = distances(graph, sources)
    np.testing.assert_array_equal(table(found.levels), expected)
    np.testing.assert_array_equal(np.asarray(host(found.counts).to_dense(0)), counted(expected))


@pytest.mark.parametrize("n", [700, 1500])
def test_counts_of_many_levels(n: int) -> None:
    """A directed path: as many levels as vertices."""
    graph = sp.diags_array([np.ones(n - 1)], offsets=[1]).tocsr()
    found = ops.closure_many([0, n - 2], matrix(graph), levels=False, counts=True)
    assert found.levels is None
    assert found.counts.shape == (2, n)
    assert found.counts.nvals == n + 2
    assert found.counts.reduce_scalar("min").value == found.counts.reduce_scalar("max").value == 1


def test_a_star_and_its_transpose() -> None:
    """One row of many entries, which all warps of a grid share."""
    n = 5000
    A = Matrix.from_coo(np.zeros(n - 1, np.int64), np.arange(1, n), True, nrows=n, ncols=n)
    outward = ops.closure_many([0, 1, 4999], A, counts=True)
    assert host(outward.counts).to_dense(0).tolist() == [[1, n - 1], [1, 0], [1, 0]]
    inward = ops.closure_many([0, 1, 4999], A.T, counts=True)
    assert host(inward.counts).to_dense(0).tolist() == [[1, 0], [1, 1], [1, 1]]
    assert host(inward.levels[1, :]).to_dict() == {0: 1, 1: 0}


def test_every_row_is_a_source() -> None:
    """The counts are those of A*: the sums over sources and over targets of a symmetric graph agree."""
    graph = random_graph(150, 300, symmetric=True)
    found = ops.closure_many(np.arange(150), matrix(graph), counts=True)
    levels = table(found.levels)
    np.testing.assert_array_equal(levels, levels.T)
    np.testing.assert_array_equal(levels, distances(graph, np.arange(150)))


@pytest.mark.parametrize("k", [1, 33])
def test_without_entries(k: int) -> None:
    found = ops.closure_many(np.arange(k), Matrix(bool, 40, 40), counts=True)
    assert found.levels.nvals == k
    assert host(found.counts).to_dense(0).tolist() == [[1]] * k
    assert found.steps == 1


def test_no_sources() -> None:
    A = Matrix.identity(5)
    found = ops.closure_many([], A, counts=True)
    assert (found.levels.shape, found.counts.shape, found.steps) == ((0, 5), (0, 0), 0)
    assert sr.algorithms.bfs_levels(A, []).shape == (0, 5)


def test_arrays_of_sources() -> None:
    A = Matrix.identity(9)
    for sources in (np.array([2, 8], np.uint8), (2, 8), range(2, 9, 6)):
        assert host(ops.closure_many(sources, A).levels).to_dense(-1)[1].tolist() == [-1] * 8 + [0]


@pytest.mark.parametrize(
    ("sources", "error", "message"),
    [
        ([0, 5], IndexOutOfBound, r"sources\[1\] = 5 is out of bounds for a matrix of 5 rows"),
        ([-1], IndexOutOfBound, r"sources\[0\] = -1"),
        ([0.5], InvalidValue, "sequence of row numbers"),
        ([[0]], InvalidValue, "sequence of row numbers"),
        (3, InvalidValue, "sequence of row numbers"),
    ],
)
def test_wrong_sources(sources: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=rf"^closure_many: .*{message}"):
        ops.closure_many(sources, Matrix.identity(5))


def test_wrong_arguments() -> None:
    with pytest.raises(DimensionMismatch, match=r"square, got shape \(3, 4\)"):
        ops.closure_many([0], Matrix(bool, 3, 4))
    with pytest.raises(InvalidValue, match="neither levels nor counts"):
        ops.closure_many([0], Matrix.identity(3), levels=False)
    with pytest.raises(InvalidValue, match="expected"):
        ops.closure_many([0], [0])  # type: ignore[arg-type]


def test_memory_is_checked_first(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bits of the smallest group do not fit: the error states what they need, and later calls work."""
    if engine == "reference":
        pytest.skip("the specification allocates dense arrays")
    A = matrix(random_graph(300, 900, symmetric=True))
    with monkeypatch.context() as patched:
        patched.setattr(allocation, "_UNASKED", 0)
        patched.setattr(allocation, "free_memory", lambda device: 100)
        with pytest.raises(OutOfMemory, match=r"^\w+: out of memory") as caught:
            ops.closure_many([0, 1], A)
    assert str(caught.value).startswith("closure_many") or " " in engine  # a grid may name an operation inside
    assert caught.value.free_bytes == 100
    assert caught.value.asked_bytes is not None
    assert caught.value.asked_bytes > 3 * 300 * 4
    assert ops.closure_many([0, 1], A).levels.nvals > 2


@pytest.mark.gpu
@pytest.mark.parametrize("free", [1, 60_000, 120_000])
def test_groups_are_as_large_as_memory_admits(engine: str, free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine != "cuda":
        pytest.skip("groups of the GPU engine")
    from semiring.engines.cuda import closure_many

    graph = random_graph(600, 1800, symmetric=True)
    sources = np.random.default_rng(2).integers(0, 600, 300)
    monkeypatch.setattr(closure_many, "free_memory", lambda device: free)
    found = ops.closure_many(sources, matrix(graph), counts=True)
    expected = distances(graph, sources)
    np.testing.assert_array_equal(table(found.levels), expected)
    np.testing.assert_array_equal(np.asarray(host(found.counts).to_dense(0)), counted(expected))
