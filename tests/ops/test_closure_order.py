"""Closures of min and max expand rows from the best value on: the order must not change any result.

A closure that records a trace expands every changed row step by step, without an order: the same entries must follow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import semiring as sr
from semiring import Matrix, Vector
from tests import sampling

N = 400


def host(array: Any) -> Any:
    return array.get() if hasattr(array, "get") else np.asarray(array)


def same(start: Vector, A: Matrix, ring: Any) -> Vector:
    """The closure, after comparison with the one without an order."""
    found = sr.ops.closure(start, A, ring)
    unordered = sr.ops.closure_with_trace(start, A, ring).vector
    (i, x), (j, y) = (tuple(map(host, v.to_coo())) for v in (found, unordered))
    np.testing.assert_array_equal(i, j)
    np.testing.assert_array_equal(x, y)
    return found


def grid(values: Any, rows: int = 20, cols: int = 20) -> Matrix:
    """A grid with these values for its entries, cyclically."""
    indptr, indices, _ = sr.random.grid2d(rows, cols).to_csr()
    return Matrix.from_csr(indptr, indices, np.resize(np.asarray(values), int(indices.size)), ncols=rows * cols)


def drawn(dtype: str, low: float, high: float, size: int = 5000) -> Any:
    return np.random.default_rng(3).uniform(low, high, size).astype(dtype)


# (semiring, start, least and greatest weight); paths of the grid have up to 38 entries.
RINGS = [
    ("min_plus", 0, 0, 3),
    ("max_min", 120, 0, 120),
    ("min_max", 0, 0, 120),
    ("max_first", 7, 0, 120),
    ("max_second", 1, 0, 120),
    ("min_times", 1, 1, 2),
]
CASES = [(*ring, dtype) for ring in RINGS for dtype in ("int8", "uint8", "int64", "uint64", "float32", "float64")]
# The CPU engine compiles two kernels for each.
SAMPLE = sampling.draw("orders", range(len(CASES)), 1)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("ring", "start", "low", "high", "dtype"),
    [
        pytest.param(*case, id=f"{case[0]}-{case[-1]}", marks=sampling.marks(number, SAMPLE, pytest.mark.wide))
        for number, case in enumerate(CASES)
    ],
)
def test_the_order_changes_nothing(ring: str, start: int, low: float, high: float, dtype: str) -> None:
    A = grid(drawn(dtype, low, high))
    same(Vector.from_coo([0, 77], [start, start], dtype, size=N), A, getattr(sr.semiring, ring)[dtype])


@pytest.mark.costly
@pytest.mark.parametrize(
    "values",
    [
        pytest.param(np.array([1, 10**12, 3, 10**6, 1, 10**15]), id="weights of all magnitudes"),
        pytest.param(drawn("float64", 0, 9) * 1e-310, id="tiny weights"),
        pytest.param(10.0 ** np.arange(-300, 300), id="floats of all magnitudes"),
        pytest.param(np.array([0.0, 0.0, 0.0, 1.0]), id="mostly zeros"),
        pytest.param(np.array([1.0, np.inf, 2.0, np.inf, np.inf]), id="infinite weights"),
        pytest.param(np.array([np.inf, np.inf, np.inf, np.inf, np.inf, 1.0]), id="mostly infinite weights"),
        pytest.param(np.array([1.0, np.nan, 2.0, 0.5]), id="NaN"),
        pytest.param(np.array([2**62, 2**61, 5, 2**60]), id="sums that wrap around"),
    ],
)
def test_ranges_of_weights(values: Any) -> None:
    if values.dtype.kind == "i" and values.max() > 2**59:  # of a short path, so that the sums settle
        A = Matrix.from_coo([0, 1, 2, 0], [1, 2, 3, 3], values, shape=(4, 4))
        same(Vector.from_coo([0], 0, "int64", size=4), A, sr.semiring.min_plus)
        return
    A = grid(values)
    same(Vector.from_coo([210], 0, values.dtype, size=N), A, sr.semiring.min_plus)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("ring", "start"),
    [
        ("max_min", {0: np.inf}),
        pytest.param("max_times", {0: 1}, marks=pytest.mark.wide),
        pytest.param("min_max", {0: -np.inf, 5: 0}, marks=pytest.mark.wide),
    ],
)
def test_widest_and_most_reliable_paths(ring: str, start: dict[int, float]) -> None:
    A = grid(drawn("float64", 0, 1))
    same(Vector.from_coo(list(start), list(start.values()), "float64", size=N), A, getattr(sr.semiring, ring))


@pytest.mark.costly
def test_labels() -> None:
    """Every row starts with its number; the least one of its component spreads."""
    rng = np.random.default_rng(5)
    i, j = rng.integers(0, N, (2, 300))
    A = Matrix.from_coo(np.r_[i, j], np.r_[j, i], True, nrows=N, ncols=N, dup_op="lor")
    labels = Vector.from_coo(np.arange(N), np.arange(N), "int64", size=N)
    found = same(labels, A, sr.semiring.min_first["int64"])
    assert host(found.to_dense()).tolist() == host(sr.algorithms.connected_components(A).to_dense()).tolist()


@pytest.mark.parametrize("ring", ["min_plus", pytest.param("max_plus", marks=pytest.mark.wide)])
def test_negative_weights(ring: str) -> None:
    """Arcs from lower to higher rows only: longest paths, and shortest ones with weights of both signs."""
    rng = np.random.default_rng(7)
    i, j = np.sort(rng.integers(0, N, (2, 3000)), axis=0)
    kept = i < j
    A = Matrix.from_coo(i[kept], j[kept], rng.integers(-50, 50, kept.sum()), nrows=N, ncols=N, dup_op="min")
    start = Vector.from_coo([int(i[kept].min())], 0, "int64", size=N)
    same(start, A, getattr(sr.semiring, ring))


@pytest.mark.costly
def test_a_cycle_that_improves_for_ever() -> None:
    A = grid(drawn("int64", 1, 255))
    A[300, 320] = -200
    A[320, 300] = -200
    with pytest.raises(sr.exceptions.NegativeCycle) as caught:
        sr.algorithms.sssp(A, 0)
    assert 0 <= caught.value.vertex < N


@pytest.mark.costly
@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32"])
@pytest.mark.parametrize("shape", [(1, 3000), (60, 70)])
def test_distances_of_another_program(shape: tuple[int, int], dtype: str) -> None:
    A = grid(drawn(dtype, 1, 255, 20000), *shape)
    indptr, indices, values = map(host, A.to_csr())
    theirs = dijkstra(csr_array((values.astype(float), indices, indptr), shape=A.shape), indices=17)
    np.testing.assert_allclose(host(sr.algorithms.sssp(A, 17).to_dense()), theirs, rtol=1e-4)
