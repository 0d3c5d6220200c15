"""The closure under an acyclic matrix: its definition, what it computes, storage kinds, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, ops
from semiring.exceptions import DimensionMismatch, GraphProperty, InvalidValue, NotSupported

nx: Any = pytest.importorskip("networkx")

# The others are compiled in exhaustive runs.
SEMIRINGS = (
    "plus_times",
    "any_secondi",
    "max_plus",
    *(
        pytest.param(name, marks=pytest.mark.exhaustive)
        for name in (
            "plus_first",
            "plus_second",
            "min_plus",
            "min_max",
            "times_plus",
            "bor_first",
            "any_first",
            "max_secondi",
        )
    ),
)
TYPES = (np.int8, np.uint16, np.int32, np.uint64, np.float32, np.bool_)


def acyclic(n: int, density: float, seed: int, dtype: Any = np.int64) -> Matrix:
    """Entries from lower to higher rows, in random order of the rows."""
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(np.triu(rng.random((n, n)) < density, 1))
    names = rng.permutation(n)
    return Matrix.from_coo(names[rows], names[cols], rng.integers(1, 4, rows.size), dtype, shape=(n, n))


def starts(n: int, share: float, seed: int, dtype: Any = np.int64) -> Vector:
    rng = np.random.default_rng(seed)
    at = np.flatnonzero(rng.random(n) < share)
    return Vector.from_coo(at, rng.integers(1, 5, at.size), dtype, size=n)


def expected(x: Vector, A: Matrix, ring: str, then: Any = None) -> Vector:
    """The result of the reference engine."""
    with sr.use("reference"):
        return ops.acyclic_closure(x.to("cpu"), A.to("cpu"), ring, then=then)


@pytest.mark.parametrize("ring", SEMIRINGS)
@pytest.mark.parametrize(("n", "density", "share"), [(1, 0, 1), (40, 0.1, 0.3), (40, 0.5, 1), (70, 0.05, 0.1)])
def test_it_is_its_definition(ring: str, n: int, density: float, share: float) -> None:
    A, x = acyclic(n, density, n), starts(n, share, n + 1)
    got = ops.acyclic_closure(x, A, ring)
    wanted = expected(x, A, ring)
    assert got.dtype == wanted.dtype
    if ring.startswith("any"):
        assert set(got.to_dict()) == set(wanted.to_dict())
        edges = A.to_dicts()
        for v, value in got.to_dict().items():
            before = {u for u, row in edges.items() if v in row and u in got}
            allowed = before if ring == "any_secondi" else {got[u].value for u in before}
            assert value in allowed | ({x[v].value} if v in x else set())
    else:
        assert got.to_dict() == wanted.to_dict()


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", TYPES)
def test_types(dtype: Any) -> None:
    A, x = acyclic(30, 0.15, 3, dtype), starts(30, 0.4, 4, dtype)
    for ring in ("max_min", "lor_land" if dtype == np.bool_ else "plus_times"):
        got, wanted = ops.acyclic_closure(x, A, ring), expected(x, A, ring)
        assert got.isclose(wanted.to(got.device), rel_tol=1e-4)
        assert got.dtype == wanted.dtype


@pytest.mark.parametrize(
    "then", [lambda x: 10 * x + 1, *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("ainv", "sqrt"))]
)
def test_a_step_applies_to_finished_sums(then: Any) -> None:
    A, x = acyclic(25, 0.2, 5, np.float64), starts(25, 1, 6, np.float64)
    wanted = expected(x, A, "plus_times", then)
    assert ops.acyclic_closure(x, A, "plus_times", then=then).isclose(wanted.to(x.device), rel_tol=1e-9)
    assert not wanted.isequal(expected(x, A, "plus_times"))


def test_paths_and_longest_paths_are_those_of_networkx() -> None:
    A = acyclic(60, 0.08, 7)
    G = nx.DiGraph()
    G.add_nodes_from(range(60))
    G.add_weighted_edges_from((u, v, w) for u, row in A.to_dicts().items() for v, w in row.items())
    source = next(iter(nx.topological_sort(G)))
    counted = {source: 1}
    for v in nx.topological_sort(G):
        for u in G.predecessors(v):
            counted[v] = counted.get(v, 0) + counted.get(u, 0)
    counted = {v: number for v, number in counted.items() if number}
    assert ops.acyclic_closure(Vector.from_coo([source], [1], size=60), A, "plus_first").to_dict() == counted
    longest = ops.acyclic_closure(Vector.full(0, 60), A, "max_plus")
    assert longest.reduce("max").value == nx.dag_longest_path_length(G)
    levels = ops.acyclic_closure(Vector.full(0, 60), A.apply("one"), "max_plus").to_dict()
    assert levels == {v: g for g, group in enumerate(nx.topological_generations(G)) for v in group}


def test_long_paths_and_long_rows() -> None:
    n = 5000
    path = Matrix.from_coo(range(n - 1), range(1, n), True, shape=(n, n))
    one = Vector.from_coo([0], [1], size=n)
    assert ops.acyclic_closure(one, path.apply("second", right=1), "plus_times").to_dict() == dict.fromkeys(range(n), 1)
    # One row leads to all others, and all lead to the last one.
    rows = [0] * (n - 2) + list(range(1, n - 1))
    star = Matrix.from_coo(rows, [*range(1, n - 1), *[n - 1] * (n - 2)], True, shape=(n, n))
    assert ops.acyclic_closure(one, star, "plus_first")[n - 1].value == n - 2


def test_the_transpose() -> None:
    A, x = acyclic(40, 0.1, 8), starts(40, 0.2, 9)
    assert ops.acyclic_closure(x, A.T, "plus_times").isequal(ops.acyclic_closure(x, A.T.dup(), "plus_times"))


def test_storage_kinds() -> None:
    A, x = acyclic(80, 0.1, 10), starts(80, 0.3, 11)
    wanted = expected(x, A, "plus_times")
    for made in (A.dup().compress("varint"), A.dup().compress("packed"), A.to(placement="host")):
        assert ops.acyclic_closure(x, made, "plus_times").to_dict() == wanted.to_dict()
    wide = Matrix.from_coo([3, 10**7], [10**7, 5], [2, 3], shape=(10**7 + 1, 10**7 + 1))
    found = ops.acyclic_closure(Vector.from_coo([3], [1], size=10**7 + 1), wide, "plus_times")
    assert found.to_dict() == {3: 1, 5: 6, 10**7: 2}


def test_empty() -> None:
    assert ops.acyclic_closure(Vector(int, 0), Matrix(int, 0, 0), "plus_times").size == 0
    assert ops.acyclic_closure(Vector(int, 3), Matrix(int, 3, 3), "plus_times").nvals == 0
    assert ops.acyclic_closure(Vector.full(2, 3), Matrix(int, 3, 3), "plus_times").to_dict() == {0: 2, 1: 2, 2: 2}


def test_what_it_refuses() -> None:
    A, x = acyclic(5, 0.5, 1), Vector.full(1, 5)
    loop = A.dup()
    loop[2, 2] = 1
    for cyclic in (loop, Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=5, ncols=5)):
        with pytest.raises(GraphProperty, match="cycle"):
            ops.acyclic_closure(x, cyclic, "plus_first")
    with pytest.raises(DimensionMismatch):
        ops.acyclic_closure(x, Matrix(int, 5, 4), "plus_times")
    with pytest.raises(DimensionMismatch):
        ops.acyclic_closure(Vector(int, 4), A, "plus_times")
    with pytest.raises(InvalidValue):
        ops.acyclic_closure(x, x, "plus_times")  # type: ignore[arg-type]


@pytest.mark.costly
def test_large_values_on_a_gpu(engine: str) -> None:
    A, x = acyclic(6, 0.5, 1, np.complex128), Vector.full(1 + 1j, 6)
    if engine == "cuda":
        with pytest.raises(NotSupported, match="cpu"):
            ops.acyclic_closure(x, A, "plus_times")
    else:
        wanted = expected(x, A, "plus_times")
        assert ops.acyclic_closure(x, A, "plus_times").to("cpu").isclose(wanted)
