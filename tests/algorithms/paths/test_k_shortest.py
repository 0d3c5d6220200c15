"""The k shortest paths: those of NetworkX, SciPy and igraph, and the definition by enumeration."""

from __future__ import annotations

import itertools
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import yen

from semiring import Matrix, algorithms
from semiring.algorithms import Route, k_shortest_paths
from semiring.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue, NegativeCycle


def drawn(n: int, m: int, seed: int, low: int = 1, high: int = 9) -> Any:
    rng = np.random.default_rng(seed)
    S = sp.csr_array((rng.integers(low, high, m), (rng.integers(0, n, m), rng.integers(0, n, m))), shape=(n, n))
    S.data[S.data == 0] = 1
    S.indices, S.indptr = S.indices.astype(np.int32), S.indptr.astype(np.int32)  # SciPy's yen reads no others
    return S


def matrix(S: Any, dtype: Any = None) -> Matrix:
    return Matrix.from_csr(S.indptr, S.indices, S.data.astype(dtype or S.dtype), ncols=S.shape[1])


def every_path(S: Any, source: int, target: int) -> list[tuple[int, tuple[int, ...]]]:
    """All paths without repeated vertices, by enumeration."""
    found = []

    def extend(path: list[int], length: int) -> None:
        u = path[-1]
        if u == target:
            found.append((length, tuple(path)))
            return
        for place in range(S.indptr[u], S.indptr[u + 1]):
            v = int(S.indices[place])
            if v not in path:
                extend([*path, v], length + int(S.data[place]))

    extend([source], 0)
    return sorted(found)


def pairs(found: list[Route]) -> list[tuple[Any, list[Any]]]:
    return [(route.length, route.vertices) for route in found]


def check(found: list[Route], S: Any, source: int, target: int) -> None:
    """Different loopless paths of the graph, by length."""
    routes = [tuple(route.vertices) for route in found]
    assert len(set(routes)) == len(routes)
    for length, route in pairs(found):
        assert (route[0], route[-1]) == (source, target)
        assert len(set(route)) == len(route)
        assert sum(S[u, v] for u, v in itertools.pairwise(route)) == pytest.approx(length)
    lengths = [route.length for route in found]
    assert lengths == sorted(lengths)


@pytest.mark.costly
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("low", [1, -1])
def test_every_path_of_small_graphs(seed: int, low: int) -> None:
    S = drawn(7, 20, seed, low)
    graph = nx.from_scipy_sparse_array(S, create_using=nx.DiGraph)
    if nx.negative_edge_cycle(graph.subgraph(nx.ancestors(graph, 6) | {6}).copy()):
        with pytest.raises(NegativeCycle):
            k_shortest_paths(matrix(S), 0, 6, 1000)
        return
    found = k_shortest_paths(matrix(S), 0, 6, 1000)
    expected = every_path(S, 0, 6)
    assert sorted((length, tuple(route)) for length, route in pairs(found)) == expected
    check(found, S, 0, 6)
    fewer = k_shortest_paths(matrix(S), 0, 6, 3)
    assert [route.length for route in fewer] == [length for length, _ in expected[:3]]


@pytest.mark.costly
@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float64])
def test_networkx_scipy_and_igraph(dtype: Any) -> None:
    S = drawn(40, 160, 3)
    found = k_shortest_paths(matrix(S, dtype), 2, 31, 12)
    check(found, S, 2, 31)
    lengths = [route.length for route in found]
    graph = nx.from_scipy_sparse_array(S, create_using=nx.DiGraph)
    theirs = itertools.islice(nx.shortest_simple_paths(graph, 2, 31, weight="weight"), 12)
    assert lengths == [nx.path_weight(graph, path, "weight") for path in theirs]
    assert lengths == yen(S.astype(np.float64), 2, 31, 12).tolist()
    rows, columns = S.nonzero()
    other = igraph.Graph(n=40, edges=np.stack([rows, columns], 1), directed=True)
    paths = other.get_k_shortest_paths(2, 31, k=12, weights=S.data.tolist(), output="vpath")
    assert lengths == [sum(S[u, v] for u, v in itertools.pairwise(path)) for path in paths]
    assert isinstance(lengths[0], float if dtype is np.float64 else int)


def test_many_equal_paths_of_a_grid() -> None:
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 5))
    S = sp.csr_array(nx.to_scipy_sparse_array(graph, format="csr"))
    found = k_shortest_paths(matrix(S), 0, 24, 75)
    check(found, S, 0, 24)
    assert [route.length for route in found] == [8] * 70 + [10] * 5


def test_storage_kinds() -> None:
    S = drawn(30, 120, 5)
    A = matrix(S)
    lengths = [route.length for route in k_shortest_paths(A, 1, 7, 8)]
    for made in (A.compress("packed"), A.compress("varint"), A.to(placement="host"), A.dup().convert("hypersparse")):
        found = k_shortest_paths(made, 1, 7, 8)
        check(found, S, 1, 7)
        assert [route.length for route in found] == lengths


@pytest.mark.costly
def test_few_paths_and_bad_input() -> None:
    A = Matrix.from_coo([0, 1, 1, 2], [1, 2, 1, 3], [0.0, 2.0, 5.0, np.nan], shape=(4, 4))
    assert k_shortest_paths(A, 0, 2, 5) == [Route(2.0, [0, 1, 2])]
    assert k_shortest_paths(A, 0, 3, 5) == []  # an edge of weight NaN is ignored
    assert k_shortest_paths(A, 2, 0, 5) == k_shortest_paths(A, 0, 2, 0) == []
    assert k_shortest_paths(A, 1, 1, 5) == [Route(0.0, [1])]
    ones = Matrix.from_edgelist([(0, 1), (1, 2), (0, 2)])
    assert [route.length for route in k_shortest_paths(ones, 0, 2, 5)] == [1, 2]
    steps: list[tuple[int, int | None]] = []
    k_shortest_paths(ones, 0, 2, 2, progress=lambda *step: steps.append(step))
    assert steps == [(1, 2), (2, 2)]
    with pytest.raises(DimensionMismatch, match="k_shortest_paths"):
        k_shortest_paths(Matrix(float, 2, 3), 0, 1, 1)
    with pytest.raises(IndexOutOfBound, match="source 4"):
        k_shortest_paths(A, 0, 4, 1)
    with pytest.raises(InvalidValue, match="k must not be negative"):
        k_shortest_paths(A, 0, 1, -1)
    falling = Matrix.from_coo([0, 1, 2], [1, 2, 1], [1, -2, 1], shape=(3, 3))
    with pytest.raises(NegativeCycle, match=r"k_shortest_paths: .*1 -> 2"):
        k_shortest_paths(falling, 0, 2, 1)


def test_lists_and_numbers_hold_names_where_the_call_names_a_vertex() -> None:
    A = Matrix.from_edgelist([("ann", "bob", 1), ("bob", "eve", 2), ("ann", "eve", 9)], relabel=True)
    al = algorithms
    for source, target in (("ann", "eve"), (0, "eve"), ("ann", 2)):
        assert al.shortest_path(A, source, target, weight=True) == Route(3, ["ann", "bob", "eve"])
        assert [route.vertices for route in al.k_shortest_paths(A, source, target, 2)] == [
            ["ann", "bob", "eve"],
            ["ann", "eve"],
        ]
        assert al.lowest_common_ancestor(A, source, target) == "ann"
    assert al.shortest_path(A, 0, np.int64(2), weight=True) == Route(3, [0, 1, 2])
    assert [route.vertices for route in al.k_shortest_paths(A, 0, 2, 1)] == [[0, 1, 2]]
    assert al.lowest_common_ancestor(A, 1, 2) == 1
    assert al.shortest_path(A, "eve", "ann") is None
    assert al.k_shortest_paths(A, "eve", "ann", 2) == []
    assert al.lowest_common_ancestor(A.select("triu", 5), "eve", "ann") is None
    pairs = Matrix.from_edgelist([((0, 0), (0, 1))], relabel=True)  # labels that are tuples
    assert al.shortest_path(pairs, (0, 0), (0, 1)) == Route(1, [(0, 0), (0, 1)])
