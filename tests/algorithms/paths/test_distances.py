"""Distances, predecessors, routes and negative cycles: those of SciPy and NetworkX, and their definitions."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra, floyd_warshall

import semiring as sr
from semiring import Matrix, algorithms
from semiring.algorithms import Route
from semiring.exceptions import DimensionMismatch, DomainMismatch, IndexOutOfBound, InvalidValue, NegativeCycle

Array = np.ndarray[Any, Any]


def drawn(n: int, degree: float, seed: int, low: int = 1, high: int = 20) -> Any:
    """A directed graph with weights that are not 0, which SciPy does not store."""
    rng = np.random.default_rng(seed)
    m = int(n * degree)
    S = sp.coo_array((rng.integers(low, high, m), (rng.integers(0, n, m), rng.integers(0, n, m))), shape=(n, n))
    S = sp.csr_array(S)
    S.data[S.data == 0] = 1
    return S


def matrix(S: Any, dtype: Any = None) -> Matrix:
    data = S.data if dtype is None else S.data.astype(dtype)
    return Matrix.from_csr(S.indptr, S.indices, data, ncols=S.shape[1])


def dense(x: Any) -> Array:
    """With infinity where nothing is stored."""
    full = x.dup(np.float64).to_dense(np.inf)
    return np.asarray(full.get() if hasattr(full, "get") else full)


GRAPHS = {
    "one": sp.csr_array((1, 1)),
    "no-edges": sp.csr_array((4, 4)),
    "path": sp.csr_array(sp.eye_array(60, k=1) * 3),
    "cycle": sp.csr_array(sp.eye_array(30, k=1) + sp.eye_array(30, k=-29)),
    **{f"drawn-{n}-{degree}": drawn(n, degree, n) for n in (20, 70) for degree in (0.7, 1.5, 5)},
}
graphs = pytest.mark.parametrize("S", GRAPHS.values(), ids=GRAPHS)


@graphs
def test_distances_from_several_sources(S: Any) -> None:
    n = S.shape[0]
    sources = [0, n // 2, 0]
    theirs = dijkstra(S, indices=sources)
    found = algorithms.sssp(matrix(S, np.int64), sources)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(dense(found), theirs)
    np.testing.assert_array_equal(dense(algorithms.sssp(matrix(S, np.float32), 0)), theirs[0])
    near = np.where(theirs <= 9, theirs, np.inf)
    np.testing.assert_array_equal(dense(algorithms.sssp(matrix(S, np.float64), sources, cutoff=9)), near)
    assert algorithms.sssp(matrix(S), []).shape == (0, n)


@graphs
def test_predecessors_are_a_tree_of_shortest_paths(S: Any) -> None:
    A, n = matrix(S, np.int64), S.shape[0]
    distance, parent = algorithms.shortest_path_tree(A, 0)
    np.testing.assert_array_equal(dense(distance), dijkstra(S, indices=0))
    d, p = distance.to_dict(), parent.to_dict()
    assert d.keys() == p.keys()
    assert p[0] == 0
    for v, u in p.items():
        assert v == 0 or d[v] == d[u] + S[u, v]
    for target in (0, n // 3, n - 1):
        route = algorithms.shortest_path(A, 0, target, weight=True)
        assert (route is not None) == (target in d) == algorithms.has_path(A, 0, target)
        if route is not None:
            assert (route.vertices[0], route.vertices[-1]) == (0, target)
            assert sum(S[u, v] for u, v in itertools.pairwise(route.vertices)) == route.length == d[target]


@pytest.mark.costly
@graphs
@pytest.mark.parametrize("method", ["delta_stepping", "bellman_ford"])
def test_methods_agree(S: Any, method: str) -> None:
    n = S.shape[0]
    for dtype in (np.int64, np.float32):
        found = algorithms.sssp(matrix(S, dtype), [0, n // 2], method=method)
        np.testing.assert_array_equal(dense(found), dijkstra(S, indices=[0, n // 2]))
    assert algorithms.sssp(matrix(S, np.int64), 0, method=method, cutoff=9).isequal(
        algorithms.sssp(matrix(S, np.int64), 0, cutoff=9)
    )


def test_edges_of_weight_zero_make_no_cycle_of_predecessors() -> None:
    A = Matrix.from_coo([0, 1, 2, 3, 1, 3], [1, 2, 3, 1, 0, 4], [0.0] * 6, shape=(5, 5))
    distance, parent = algorithms.shortest_path_tree(A, 0)
    assert distance.to_dict() == dict.fromkeys(range(5), 0.0)
    assert parent.to_dict() == {0: 0, 1: 0, 2: 1, 3: 2, 4: 3}
    assert algorithms.shortest_path(A, 0, 4, weight=True) == Route(0.0, [0, 1, 2, 3, 4])


def test_the_fewest_edges() -> None:
    A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(4, 4))
    assert algorithms.shortest_path(A, 0, 2, weight=True) == Route(3, [0, 1, 2])
    assert algorithms.shortest_path(A, 0, 2) == Route(1, [0, 2])
    assert algorithms.shortest_path(A, 0, 3, weight=True) is None
    assert algorithms.shortest_path(A, 3, 3, weight=True) == Route(0, [3])


def test_a_route_is_no_list_and_no_pair() -> None:
    A = Matrix.from_coo([0, 1], [1, 2], [1, 2], shape=(3, 3))
    route = algorithms.shortest_path(A, 0, 2)
    assert route
    with pytest.raises(TypeError, match=r"^a Route has the parts \.length and \.vertices, and is no list or tuple"):
        list(route)  # type: ignore[call-overload]
    for use in (len, lambda route: route[0]):
        with pytest.raises(TypeError, match=r"has no len|not subscriptable"):
            use(route)
    with pytest.raises(TypeError, match="a Route has the parts"):
        for _, _ in algorithms.k_shortest_paths(A, 0, 2, 1):  # type: ignore[attr-defined]
            pass
    with pytest.raises(AttributeError, match="shortest_path_tree"):
        _ = algorithms.sssp_parents(A, 0).parent  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", range(8))
def test_weights_of_both_signs(seed: int) -> None:
    """The distances of SciPy, or a cycle whose weights have a negative sum, named in the order of its edges."""
    S = drawn(40, 1.4, seed, -2, 12)
    A = matrix(S, np.int64)
    G = nx.from_scipy_sparse_array(S, create_using=nx.DiGraph)
    if not nx.negative_edge_cycle(nx.DiGraph(G.subgraph([3, *nx.descendants(G, 3)]))):
        expected = nx.single_source_bellman_ford_path_length(G, 3)
        assert algorithms.sssp(A, 3).to_dict() == expected
        assert algorithms.sssp(A, 3, method="bellman_ford").to_dict() == expected
        return
    with pytest.raises(NegativeCycle):
        algorithms.sssp(A, 3, method="bellman_ford")
    with pytest.raises(NegativeCycle) as caught:
        algorithms.sssp(A, 3)
    cycle = caught.value.cycle
    assert cycle is not None
    assert cycle[0] == min(cycle) == caught.value.vertex
    assert len(set(cycle)) == len(cycle)
    assert sum(S[u, v] for u, v in zip(cycle, (*cycle[1:], cycle[0]), strict=True)) < 0
    assert " -> ".join(map(str, cycle[:8])) in str(caught.value)
    assert algorithms.has_path(A, 3, cycle[0])


def test_a_negative_cycle_behind_a_long_path() -> None:
    n = 300
    i = np.arange(n - 1)
    A = Matrix.from_coo(np.r_[i, n - 1], np.r_[i + 1, n - 3], np.r_[np.full(n - 1, 1.0), -2.5], shape=(n, n))
    with pytest.raises(NegativeCycle) as caught:
        algorithms.sssp(A, 0)
    assert caught.value.cycle == (n - 3, n - 2, n - 1)
    loop = Matrix.from_coo([0, 1], [1, 1], [1, -1], shape=(2, 2))
    with pytest.raises(NegativeCycle, match="1 -> 1"):
        algorithms.sssp_parents(loop, 0)


@graphs
@pytest.mark.parametrize("method", ["searches", "products", "auto"])
def test_all_pairs(S: Any, method: str) -> None:
    theirs = floyd_warshall(S)
    steps: list[tuple[int, int | None]] = []
    found = algorithms.all_pairs(matrix(S, np.int64), method=method, progress=lambda *step: steps.append(step))
    np.testing.assert_array_equal(dense(found), theirs)
    assert [done for done, _ in steps] == list(range(1, len(steps) + 1))


def test_all_pairs_with_negative_weights() -> None:
    """Potentials: SciPy's distances, exact for integers, and the same types as without."""
    rng = np.random.default_rng(4)
    S, h = drawn(60, 4, 8), rng.integers(-40, 40, 60)
    rows, columns = S.nonzero()
    S.data = S.data + h[columns] - h[rows]  # every cycle keeps its weight, which is positive
    S.data[S.data == 0] = 1
    theirs = floyd_warshall(S)
    for dtype in (np.int8, np.int64, np.float32, np.float64):
        found = algorithms.all_pairs(matrix(S, dtype), method="searches")
        assert found.dtype == (dtype if np.dtype(dtype).kind == "f" else np.int64)
        np.testing.assert_array_equal(dense(found), theirs)
    fractions = matrix(S, np.float64).apply("times", right=1 / 3).new()
    np.testing.assert_allclose(dense(algorithms.all_pairs(fractions, method="searches")), theirs / 3, atol=1e-12)
    assert algorithms.all_pairs(matrix(S, np.int64).compress("packed"), method="searches").isequal(
        algorithms.all_pairs(matrix(S, np.int64), method="products")
    )


def test_infinite_and_missing_weights() -> None:
    nan, inf = np.nan, np.inf
    A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], [-1.0, nan, 4.0, inf], shape=(4, 4))
    expected = {0: {0: 0, 1: -1, 2: 3, 3: inf}, 1: {1: 0, 2: 4, 3: inf}, 2: {2: 0, 3: inf}, 3: {3: 0}}
    assert algorithms.all_pairs(A, method="searches").to_dicts() == expected
    assert algorithms.sssp(A, 0, method="bellman_ford").to_dict() == algorithms.sssp(A, 0).to_dict() == expected[0]
    falling = Matrix.from_coo([0, 1], [1, 2], [-inf, 1.0], shape=(3, 3))
    assert algorithms.all_pairs(falling, method="searches").to_dicts()[0] == {0: 0, 1: -inf, 2: -inf}


@pytest.mark.costly
@pytest.mark.parametrize("method", ["searches", "products"])
def test_all_pairs_name_a_negative_cycle(method: str) -> None:
    A = Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 1], [5.0, 1.0, 1.0, -3.0], shape=(6, 6))
    with pytest.raises(NegativeCycle, match=r"all_pairs: .*1 -> 2 -> 3 -> 1") as caught:
        algorithms.all_pairs(A, method=method)
    assert caught.value.cycle == (1, 2, 3)


@pytest.mark.costly
@graphs
def test_widest_and_most_reliable_paths(S: Any) -> None:
    """The definition: no edge offers a better path, and each vertex has one that offers its value."""
    n = S.shape[0]
    capacities, chances = S.copy(), S.copy()
    chances.data = S.data / (S.data.max() + 1.0) if S.nnz else S.data
    for found, weighted, join in (
        (algorithms.widest_paths(matrix(capacities, np.int32), 0), capacities, min),
        (algorithms.widest_paths(matrix(capacities, np.float64), 0), capacities, min),
        (algorithms.most_reliable_paths(matrix(chances, np.float64), 0), chances, lambda x, y: x * y),
    ):
        best = found.to_dict()
        reached = dijkstra(S, indices=0) < np.inf
        assert sorted(best) == np.flatnonzero(reached).tolist()
        edges = sp.coo_array(weighted)
        offers: dict[int, list[Any]] = {v: [] for v in range(n)}
        for u, v, w in zip(*edges.coords, edges.data, strict=True):
            if u in best:
                offers[int(v)].append(join(best[int(u)], w))
        for v, value in best.items():
            if v != 0:
                assert value == max(offers[v])


def test_bad_input() -> None:
    A = Matrix.from_coo([0, 1], [1, 2], [1.0, 2.0], shape=(3, 3))
    wide = Matrix(float, 2, 3)
    for call in (algorithms.sssp, algorithms.sssp_parents, algorithms.widest_paths, algorithms.most_reliable_paths):
        with pytest.raises(DimensionMismatch, match=f"{call.__name__}: .*square"):
            call(wide, 0)  # type: ignore[operator]
        with pytest.raises(IndexOutOfBound, match=f"{call.__name__}: source 3"):
            call(A, 3)  # type: ignore[operator]
    with pytest.raises(InvalidValue, match="sssp: cutoff must not be negative"):
        algorithms.sssp(A, 0, cutoff=-1)
    with pytest.raises(InvalidValue, match="sssp: method is one of 'auto', 'delta_stepping', 'bellman_ford'"):
        algorithms.sssp(A, 0, method="dijkstra")
    with pytest.raises(InvalidValue, match=r"delta_stepping expects weights of at least 0, got -2.*bellman_ford"):
        algorithms.sssp(A.apply("ainv").new(), 0, method="delta_stepping")
    with pytest.raises(InvalidValue, match="most_reliable_paths: probabilities are at most 1, got 2"):
        algorithms.most_reliable_paths(A, 0)
    with pytest.raises(InvalidValue, match="widest_paths: a weight is NaN"):
        algorithms.widest_paths(A.apply("times", right=np.nan).dup(), 0)
    with pytest.raises(DomainMismatch):
        algorithms.widest_paths(A.dup(complex), 0)
    with pytest.raises(InvalidValue, match="all_pairs: method"):
        algorithms.all_pairs(A, method="floyd")

    def interrupt(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        algorithms.sssp(A, [0, 1], progress=interrupt)


@pytest.mark.costly
def test_booleans_and_stored_zeros() -> None:
    A = Matrix.from_coo([0, 1, 2], [1, 2, 3], [True, False, True], shape=(4, 4))
    assert algorithms.sssp(A, 0).to_dict() == {0: 0, 1: 1, 2: 1, 3: 2}
    assert algorithms.widest_paths(A, 0).to_dict() == {0: True, 1: True, 2: False, 3: False}
    assert algorithms.all_pairs(Matrix(int, 0, 0)).shape == (0, 0)


@pytest.mark.costly
@pytest.mark.parametrize("codec", ["varint", "packed"])
def test_compressed(codec: str) -> None:
    S = drawn(70, 5, 1)
    A = matrix(S, np.int64)
    C = A.compress(codec)
    assert algorithms.sssp(C, 0).isequal(algorithms.sssp(A, 0))
    assert algorithms.shortest_path(C, 0, 5, weight=True) is not None
    assert algorithms.widest_paths(C, 0).isequal(algorithms.widest_paths(A, 0))
    assert sr.algorithms.shortest_path_tree(C, 0).distance.isequal(algorithms.sssp(A, 0))
