"""Parents of a closure: every value follows from that of its parent, and the parents form a forest of the starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.exceptions import ConvergenceFailure, DomainMismatch
from tests import sampling

N = 60
OPERATORS: dict[str, Any] = {
    "plus": lambda x, y: x + y,
    "min": min,
    "max": max,
    "times": lambda x, y: x * y,
    "first": lambda x, y: x,
}


def host(array: Any) -> Any:
    return array.get() if hasattr(array, "get") else np.asarray(array)


def drawn(seed: int, dtype: str, low: float, high: float, nvals: int = 240) -> Matrix:
    """A directed graph with these weights, and some vertices that are not reached."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, N - 5, nvals), rng.integers(0, N - 5, nvals)
    return Matrix.from_coo(rows, columns, rng.uniform(low, high, nvals).astype(dtype), shape=(N, N), dup_op="first")


def verify(start: Vector, A: Matrix, ring: Any, name: str, weight: Any = None) -> None:
    """Check the certificate of a closure, and that its parents are a forest of the starts that kept their value."""
    values, parents = sr.ops.closure_with_parents(start, A, ring, weight=weight)
    assert parents.dtype == np.int32
    value, parent, first = values.to_dict(), parents.to_dict(), start.to_dict()
    assert value.keys() == parent.keys() >= first.keys()
    scalar, multiply = values.dtype.type, OPERATORS[name.partition("_")[2]]
    better = min if name.startswith("min") else max
    products = {
        (i, j): scalar(multiply(scalar(value[i]), scalar(x if weight is None else weight)))
        for i, row in A.to_dicts().items()
        for j, x in row.items()
        if i in value
    }
    assert all(better(x, value[j]) == value[j] for (_, j), x in products.items())
    assert all(better(x, value[j]) == value[j] for j, x in first.items())
    for v, p in parent.items():
        assert value[v] == (first[v] if p == v else products[p, v])
        seen = {v}
        while parent[v] != v:
            v = parent[v]
            assert v not in seen
            seen.add(v)


# (semiring, start, least and greatest weight, type).
CASES = [
    ("min_plus", 0, 0, 3, "int64"),  # many weights of 0
    ("min_plus", 0, 0, 9, "float32"),
    ("max_min", 100, 0, 5, "uint8"),  # values that equal their operand
    ("max_times", 1, 0.1, 1, "float64"),
    ("min_max", 0, 0, 9, "int32"),
    ("max_first", 3, 0, 9, "int64"),
]
SAMPLE = sampling.draw("parents", range(len(CASES)), 1)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("ring", "first", "low", "high", "dtype"),
    [
        pytest.param(*case, id=f"{case[0]}-{case[-1]}", marks=sampling.marks(number, SAMPLE, pytest.mark.wide))
        for number, case in enumerate(CASES)
    ],
)
def test_values_follow_from_those_of_parents(ring: str, first: float, low: float, high: float, dtype: str) -> None:
    A = drawn(1, dtype, low, high)
    typed = getattr(sr.semiring, ring)[dtype]
    for fusion in (True, False):
        with sr.config.set(fusion=fusion):
            verify(Vector.from_coo([3], [first], dtype, size=N), A, typed, ring)
            verify(Vector.from_coo([0, 7, 50], [first, first + 1, first + 1], dtype, size=N), A.T, typed, ring)


def test_starts_that_a_path_improves_have_parents() -> None:
    A = Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 0], [1, 1, 1, 1], shape=(4, 4))
    start = Vector.from_coo([0, 2], [0, 9], size=4)
    values, parents = sr.ops.closure_with_parents(start, A, "min_plus")
    assert values.to_dict() == {0: 0, 1: 1, 2: 2, 3: 3}
    assert parents.to_dict() == {0: 0, 1: 0, 2: 1, 3: 2}


@pytest.mark.costly
@pytest.mark.parametrize("weight", [0, 1])
def test_equal_weights(weight: int) -> None:
    A = drawn(2, "int64", 0, 9)
    for sources in ([4], [4, 30]):
        start = Vector.from_coo(sources, 0, np.int64, size=N)
        verify(start, A, sr.semiring.min_plus[np.int64], "min_plus", weight=np.int64(weight))
    verify(Vector.from_coo([4], [7], size=N), A, sr.semiring.max_min[np.int64], "max_min", weight=np.int64(9))


@pytest.mark.costly
def test_negative_weights() -> None:
    rng = np.random.default_rng(5)
    potential = rng.integers(-20, 20, N)
    A = drawn(3, "int64", 0, 5)
    rows, columns, weights = map(host, A.to_coo())
    shifted = Matrix.from_coo(rows, columns, weights + potential[rows] - potential[columns], shape=(N, N))
    assert (weights + potential[rows] - potential[columns]).min() < 0
    verify(Vector.from_coo([3], [0], size=N), shifted, sr.semiring.min_plus[np.int64], "min_plus")


def test_without_parents() -> None:
    A = drawn(4, "int64", 0, 9)
    start = Vector.from_coo([0], [0], size=N)
    for ring in ("lor_land", "any_pair", "bor_band"):
        with pytest.raises(DomainMismatch, match="closure_with_parents: the value of an entry"):
            sr.ops.closure_with_parents(start, A, ring)
    with pytest.raises(DomainMismatch, match="reads positions"):
        sr.ops.closure_with_parents(start, A, "min_secondi")
    with pytest.raises(ConvergenceFailure):
        sr.ops.closure_with_parents(start, A, "min_plus", max_steps=1)
    empty, none = sr.ops.closure_with_parents(Vector(np.int64, N), A, "min_plus")
    assert empty.nvals == none.nvals == 0


@pytest.mark.costly
def test_values_that_became_infinite() -> None:
    """Every value after an infinite one is equal to it, so the order of steps must not choose the parents."""
    acyclic = Matrix.from_coo([0, 1, 2, 0, 3], [1, 2, 3, 3, 4], [1.0, -np.inf, 2.0, 5.0, 1.0], shape=(5, 5))
    verify(Vector.from_coo([0], [0.0], size=5), acyclic, "min_plus", "min_plus")
    weights = [1.0, 1.0, -np.inf, -np.inf, 3.0, 3.0]
    cycle = Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], weights, shape=(4, 4))
    start = Vector.from_coo([0], [0.0], size=4)
    values, parents = sr.ops.closure_with_parents(start, cycle, "min_plus", max_steps=20)
    assert set(values.to_dict().values()) == {-np.inf}
    assert parents.nvals == 0  # the start itself has improved, so there is no root
