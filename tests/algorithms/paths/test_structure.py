"""Searches, acyclic graphs, reachability and extents: those of NetworkX and SciPy."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from semiring import Matrix, algorithms
from semiring.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue


def drawn(n: int, degree: float, seed: int) -> Any:
    return nx.gnm_random_graph(n, int(n * degree), seed=seed, directed=True)


DIRECTED = {
    "one": nx.empty_graph(1, nx.DiGraph),
    "no-edges": nx.empty_graph(4, nx.DiGraph),
    "path": nx.path_graph(50, nx.DiGraph),
    "cycle": nx.cycle_graph(9, nx.DiGraph),
    "tree": nx.balanced_tree(3, 3, nx.DiGraph),
    **{f"drawn-{n}-{degree}": drawn(n, degree, n) for n in (15, 60) for degree in (0.6, 1.2, 3)},
}
directed = pytest.mark.parametrize("G", DIRECTED.values(), ids=DIRECTED)


def matrix(G: Any, weight: Any = True) -> Matrix:
    S = sp.csr_array(nx.to_scipy_sparse_array(G, nodelist=range(len(G)), format="csr"))
    return Matrix.from_csr(S.indptr, S.indices, weight, ncols=len(G))


def acyclic(G: Any) -> Any:
    """The edges from lower to higher vertices."""
    made = nx.empty_graph(len(G), nx.DiGraph)
    made.add_edges_from((u, v) for u, v in G.edges if u < v)
    return made


@directed
def test_searches_of_bounded_depth(G: Any) -> None:
    A, n = matrix(G), len(G)
    for depth in (0, 1, 3, None):
        expected = nx.single_source_shortest_path_length(G, 0, cutoff=depth)
        assert algorithms.bfs_levels(A, 0, max_depth=depth).to_dict() == expected
        sources = [0, n // 2, n - 1, 0]
        rows = algorithms.bfs_levels(A, sources, max_depth=depth)
        for k, s in enumerate(sources):
            assert rows[k].new().to_dict() == nx.single_source_shortest_path_length(G, s, cutoff=depth)
        layers = {v: level for level, layer in enumerate(nx.bfs_layers(G, sorted(set(sources)))) for v in layer}
        kept = {v: level for v, level in layers.items() if depth is None or level <= depth}
        assert algorithms.bfs_levels(A, sources, nearest=True, max_depth=depth).to_dict() == kept
    assert algorithms.bfs_levels(A, [], nearest=True).nvals == 0
    for bad in (-1, 1.5):
        with pytest.raises(InvalidValue, match="max_depth"):
            algorithms.bfs_levels(A, 0, max_depth=bad)  # type: ignore[call-overload]


@directed
def test_ancestors_and_descendants(G: Any) -> None:
    A = matrix(G)
    for v in {0, len(G) // 2, len(G) - 1}:
        assert algorithms.descendants(A, v).to_dict() == dict.fromkeys(nx.descendants(G, v), True)
        assert algorithms.ancestors(A, v).to_dict() == dict.fromkeys(nx.ancestors(G, v), True)
        assert algorithms.has_path(A, 0, v) == nx.has_path(G, 0, v)


@directed
def test_generations(G: Any) -> None:
    assert algorithms.is_dag(matrix(G)) == nx.is_directed_acyclic_graph(G)
    D = acyclic(G)
    A = matrix(D)
    assert algorithms.is_dag(A)
    steps = []
    found = algorithms.topological_generations(A, progress=lambda *step: steps.append(step)).to_dict()
    assert found == {v: g for g, layer in enumerate(nx.topological_generations(D)) for v in layer}
    assert steps[-1] == (len(G), len(G))
    order = [int(v) for v in algorithms.topological_order(A).to_numpy()]
    assert order == sorted(range(len(G)), key=lambda v: (found[v], v))


def test_cycles_have_no_order() -> None:
    for pairs in ([(0, 1), (1, 2), (2, 1)], [(0, 1), (1, 1)]):
        A = Matrix.from_edgelist(pairs, nrows=3, ncols=3)
        assert not algorithms.is_dag(A)
        for call in (algorithms.topological_generations, algorithms.topological_order, algorithms.longest_paths):
            with pytest.raises(InvalidValue, match=rf"{call.__name__}: the graph has a cycle.*condensation"):
                call(A)


@pytest.mark.costly
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@directed
def test_longest_paths(G: Any, dtype: Any) -> None:
    D = acyclic(G)
    rng = np.random.default_rng(1)
    for u, v in D.edges:
        D[u][v]["weight"] = int(rng.integers(-3, 9))
    A = matrix(D)
    if D.number_of_edges():
        i, j, w = zip(*D.edges(data="weight"), strict=True)
        A = Matrix.from_coo(i, j, np.array(w, dtype), nrows=len(D), ncols=len(D))
    length: dict[int, Any] = {}
    for v in nx.topological_sort(D):
        length[v] = max([0, *(length[u] + D[u][v]["weight"] for u in D.predecessors(v))])
    assert algorithms.longest_paths(A).to_dict() == length
    assert max(length.values()) == nx.dag_longest_path_length(D)


@pytest.mark.costly
@directed
def test_transitive_closure(G: Any) -> None:
    A = matrix(G)
    for reflexive, kind in ((False, False), (True, True)):
        T = nx.transitive_closure(G, reflexive=kind)
        found = algorithms.transitive_closure(A, reflexive=reflexive)
        assert found.dtype == np.bool_
        assert found.to_dicts() == {u: dict.fromkeys(sorted(T[u]), True) for u in range(len(G)) if len(T[u])}
    looped = Matrix.from_edgelist([(0, 0), (0, 1)], nrows=2, ncols=2)
    assert algorithms.transitive_closure(looped).to_dicts() == {0: {0: True, 1: True}}


@directed
def test_walks(G: Any) -> None:
    theirs = nx.to_numpy_array(G, nodelist=range(len(G)), dtype=int)
    for length in (0, 1, 2, 5):
        found = algorithms.number_of_walks(matrix(G, 7), length).to_dense(0)
        found = found.get() if hasattr(found, "get") else found
        np.testing.assert_array_equal(found, np.linalg.matrix_power(theirs, length))


UNDIRECTED = {
    **{name: nx.Graph(G) for name, G in DIRECTED.items()},
    "cliques": nx.connected_caveman_graph(4, 6),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 9)),
    "karate": nx.karate_club_graph(),
    "apart": nx.disjoint_union(nx.path_graph(12), nx.star_graph(9)),
}


@pytest.mark.parametrize("G", UNDIRECTED.values(), ids=UNDIRECTED)
def test_extents(G: Any) -> None:
    A, n = matrix(G), len(G)
    expected = {}
    for part in nx.connected_components(G):
        expected.update(nx.eccentricity(G.subgraph(part)))
    steps: list[int] = []
    assert algorithms.eccentricity(A, progress=lambda done, _: steps.append(done)).to_dict() == expected
    assert steps[-1] == n
    assert len(steps) <= n + 1
    assert algorithms.diameter(A) == max(expected.values())
    assert algorithms.radius(A) == min(expected.values())


def test_bad_input() -> None:
    arrow = Matrix.from_edgelist([(0, 1)], nrows=3, ncols=3)
    for call in (algorithms.eccentricity, algorithms.diameter, algorithms.radius):
        with pytest.raises(InvalidValue, match=f"{call.__name__}: the graph must be undirected"):
            call(arrow)
        empty = call(Matrix(bool, 0, 0))
        assert (empty if isinstance(empty, int) else empty.size) == 0
    for square in (algorithms.is_dag, algorithms.transitive_closure, algorithms.topological_order):
        with pytest.raises(DimensionMismatch, match=f"{square.__name__}: .*square"):
            square(Matrix(bool, 2, 3))
    for search in (algorithms.descendants, algorithms.ancestors):
        with pytest.raises(IndexOutOfBound, match=f"{search.__name__}: source 3"):
            search(arrow, 3)
    with pytest.raises(InvalidValue, match="number_of_walks: length"):
        algorithms.number_of_walks(arrow, -1)
    with pytest.raises(IndexOutOfBound, match="bfs_levels: source 5"):
        algorithms.bfs_levels(arrow, [0, 5], nearest=True)


@pytest.mark.parametrize("codec", ["varint", "packed"])
def test_compressed(codec: str) -> None:
    A = matrix(UNDIRECTED["drawn-60-1.2"])
    C = A.compress(codec)
    assert algorithms.eccentricity(C).isequal(algorithms.eccentricity(A))
    assert algorithms.transitive_closure(C).isequal(algorithms.transitive_closure(A))
    assert algorithms.bfs_levels(C, [1, 2], nearest=True).isequal(algorithms.bfs_levels(A, [1, 2], nearest=True))
    D = matrix(acyclic(DIRECTED["drawn-60-3"]))
    assert algorithms.topological_order(D.compress(codec)).isequal(algorithms.topological_order(D))
