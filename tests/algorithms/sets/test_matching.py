"""Matchings: maximal ones by their property, maximum ones by the sizes of SciPy and NetworkX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import semiring as sr
from semiring.algorithms.sets import maximum_matching
from semiring.exceptions import DimensionMismatch, InvalidValue
from tests.algorithms.components.drawn import UNDIRECTED, drawn, matrix, pattern, undirected


def pairs(mate: sr.Vector) -> dict[int, int]:
    found = mate.to_dict()
    assert all(found[found[v]] == v and found[v] != v for v in found)
    return found


@undirected
@pytest.mark.parametrize("weighted", [False, True])
def test_maximal_matching(S: Any, weighted: bool) -> None:
    n = S.shape[0]
    rng = np.random.default_rng(n)
    drawn = rng.integers(1, 5, (n, n)).astype(float)
    W = sp.csr_array(S.multiply(np.maximum(drawn, drawn.T)))
    mate = pairs(sr.algorithms.maximal_matching(matrix(W, None), weight=weighted, seed=3))
    edges = {(i, j) for i, j in zip(*W.nonzero(), strict=True) if i != j}
    assert all((v, u) in edges for v, u in mate.items())
    assert all(i in mate or j in mate for i, j in edges)
    if weighted and edges:
        graph = nx.Graph([(i, j, {"weight": W[i, j]}) for i, j in edges])
        best = sum(graph[i][j]["weight"] for i, j in nx.max_weight_matching(graph))
        assert sum(W[v, u] for v, u in mate.items()) >= best  # each edge counts twice: at least half of the best


def size_of(A: sr.Matrix, **options: Any) -> int:
    return len(pairs(sr.algorithms.maximal_matching(A, **options))) // 2


SPARSE = {
    "general": lambda seed: nx.gnm_random_graph(60, 120, seed=seed),
    "sparse": lambda seed: nx.gnm_random_graph(80, 60, seed=seed),
    "bipartite": lambda seed: nx.bipartite.gnmk_random_graph(40, 40, 130, seed=seed),
    "tree": lambda seed: nx.random_labeled_tree(80, seed=seed),
    "grid": lambda seed: nx.convert_node_labels_to_integers(nx.grid_2d_graph(8, 9)),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", SPARSE)
def test_maximal_matchings_are_close_to_maximum_ones(kind: str, weighted: bool) -> None:
    """Of ends of equal degree and weight any edge may be chosen; equal weights decide nothing."""
    found, best = 0, 0
    for seed in range(10):
        G = SPARSE[kind](seed)
        A = matrix(nx.to_scipy_sparse_array(G, dtype=np.float64), None)
        sizes = [size_of(A, weight=weighted, seed=each) for each in range(3)]
        most = len(nx.max_weight_matching(G, maxcardinality=True))
        assert all(0.8 * most <= size <= most for size in sizes)
        found, best = found + sum(sizes), best + 3 * most
    assert found >= 0.93 * best


def test_weights_of_few_values() -> None:
    """Of several edges of the largest weight, those with ends of low degree are taken first; integers of 8 bits too."""
    found, best = 0.0, 0.0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        G = nx.gnm_random_graph(60, 150, seed=seed)
        for _, _, edge in G.edges(data=True):
            edge["weight"] = int(rng.integers(1, 4))
        A = matrix(nx.to_scipy_sparse_array(G, dtype=np.int8), None)
        mate = pairs(sr.algorithms.maximal_matching(A, weight=True, seed=seed))
        found += sum(G[u][v]["weight"] for u, v in mate.items()) / 2
        best += sum(G[u][v]["weight"] for u, v in nx.max_weight_matching(G))
    assert 0.9 * best <= found <= best


def test_degrees_beyond_the_type_of_the_weights() -> None:
    """Each of 256 vertices next to the first one has a neighbor of degree 1, and prefers it."""
    near = np.arange(1, 257)
    rows, cols = np.concatenate([np.zeros(256, int), near]), np.concatenate([near, near + 256])
    S = sp.csr_array((np.ones(512, np.int8), (rows, cols)), shape=(513, 513))
    rounds: list[int] = []
    mate = sr.algorithms.maximal_matching(
        matrix(S + S.T, None), weight=True, progress=lambda done, _: rounds.append(done)
    )
    assert pairs(mate) == {**dict(enumerate(range(257, 513), 1)), **dict(enumerate(range(1, 257), 257))}
    assert rounds == [1]


# File, mode (heavy, light or 0 without weights), value, and the share of it that the mean of ten seeds has to reach:
# LAGraph's test_MaximalMatching.c.  Values are exact optima where the share is 0.85, else those of a greedy matching.
LAGRAPH = [
    ("random_unweighted_bipartite1.mtx", "", 150, 0.85),
    ("random_unweighted_bipartite2.mtx", "", 150, 0.85),
    ("random_unweighted_bipartite1.mtx", "", 143, 0.90),
    ("random_unweighted_bipartite2.mtx", "", 147, 0.90),
    ("random_unweighted_general1.mtx", "", 25, 0.85),
    ("random_unweighted_general2.mtx", "", 100, 0.85),
    ("random_unweighted_general1.mtx", "", 24, 0.90),
    ("random_unweighted_general2.mtx", "", 95, 0.90),
    ("random_weighted_bipartite1.mtx.gz", "heavy", 775940425564, 0.90),
    ("random_weighted_bipartite2.mtx", "heavy", 417490248760, 0.90),
    ("random_weighted_bipartite1.mtx.gz", "light", 181453589490, 0.80),
    ("random_weighted_bipartite2.mtx", "light", 133704435764, 0.80),
    ("random_weighted_general1.mtx.gz", "heavy", 783685067769, 0.90),
    ("random_weighted_general1.mtx.gz", "light", 165090013148, 0.80),
]


@pytest.mark.parametrize(("file", "mode", "value", "share"), LAGRAPH)
def test_lagraph_thresholds(shared_data: Path, file: str, mode: str, value: int, share: float) -> None:
    A = sr.io.read(shared_data / "lagraph" / file)
    W = A.dup("float64") if mode != "light" else A.dup("float64").apply("ainv").dup()
    reached = []
    for seed in range(10):
        mate = sr.algorithms.maximal_matching(W, weight=bool(mode), seed=seed)
        assert pairs(mate)
        if mode:
            weight = abs(W.select("offdiag").ewise_mult(chosen(mate), "first").reduce_scalar("plus").value) / 2
            reached.append(value / weight if mode == "light" else weight / value)
        else:
            reached.append(mate.nvals / 2 / value)
    assert min(reached) >= share
    assert np.mean(reached) >= share + 0.05


def chosen(mate: sr.Vector) -> sr.Matrix:
    found = mate.to_dict()
    return sr.Matrix.from_coo(list(found), list(found.values()), True, shape=(mate.size, mate.size))


def test_maximal_matchings_are_equal_on_all_engines() -> None:
    S = undirected_pattern(60, 2.5)
    W = sp.csr_array(S.multiply(np.add.outer(np.arange(60), np.arange(60)) % 5 + 1.0))
    for weighted in (False, True):
        found = []
        for engine in ("cpu", "reference"):
            with sr.use(engine):
                found.append(sr.algorithms.maximal_matching(matrix(W, None), weight=weighted, seed=4).to_dict())
        assert found[0] == found[1]
        again = sr.algorithms.maximal_matching(matrix(W, None), weight=weighted, seed=4).to_dict()
        assert again == found[0]


def test_long_paths_take_few_rounds() -> None:
    A = matrix(UNDIRECTED["path"])
    rounds: list[int] = []
    sr.algorithms.maximal_matching(A, progress=lambda done, total: rounds.append(done))
    assert max(rounds) <= 8


BIPARTITE = {
    "null": sp.csr_array((0, 0)),
    "no-columns": sp.csr_array((3, 0)),
    "no-rows": sp.csr_array((0, 3)),
    "no-edges": sp.csr_array((3, 4)),
    "one": sp.csr_array(np.ones((1, 1))),
    "complete": sp.csr_array(np.ones((5, 8))),
    "staircase": sp.csr_array(sp.eye_array(60) + sp.eye_array(60, k=1)),
    "star": sp.csr_array(np.ones((6, 1))),
    **{
        f"drawn-{m}-{n}-{degree}": sp.random_array(
            (m, n), density=degree / n, rng=np.random.default_rng(m), format="csr"
        )
        for m, n in ((40, 40), (70, 50), (50, 90))
        for degree in (1, 2, 3)
    },
}


@pytest.mark.parametrize("codec", [None, "packed"])
@pytest.mark.parametrize("S", BIPARTITE.values(), ids=BIPARTITE)
def test_maximum_bipartite_matching(S: Any, codec: str | None) -> None:
    A = matrix(S)
    if codec is not None and S.nnz:
        A = A.compress(codec)
    mate = sr.algorithms.maximum_bipartite_matching(A, seed=2).to_dict()
    assert len(set(mate.values())) == len(mate)
    assert all(S[i, j] != 0 for i, j in mate.items())
    size = 0 if S.nnz == 0 else (csgraph.maximum_bipartite_matching(S, perm_type="column") >= 0).sum()
    assert len(mate) == size
    graph = nx.Graph([(int(i), ("c", int(j))) for i, j in zip(*S.nonzero(), strict=True)])
    theirs = nx.bipartite.maximum_matching(graph, top_nodes=[v for v in graph if isinstance(v, int)])
    assert len(mate) == len(theirs) // 2


def test_augmentation_of_a_long_path() -> None:
    """Rows i of a path are adjacent to columns i and i + 1, and the last row to its own column only."""
    n = 80
    S = sp.csr_array(sp.eye_array(n) + sp.eye_array(n, k=1))
    for seed in range(4):
        mate = sr.algorithms.maximum_bipartite_matching(matrix(S), seed=seed).to_dict()
        assert mate == {i: i for i in range(n)}


def matched_with_progress(S: Any) -> tuple[sr.Vector, list[int]]:
    """The matching, and the numbers of pairs after each phase."""
    sizes: list[int] = []
    found = sr.algorithms.maximum_bipartite_matching(matrix(S), progress=lambda done, _: sizes.append(done))
    return found, sizes


@pytest.mark.parametrize("after", [1, 2])
def test_restricted_searches_find_the_same_matching(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows and columns that alternating paths cannot visit change neither trees nor the matching."""
    restricted = set()
    for m, n, degree in ((900, 700, 2.2), (700, 900, 2.2), (800, 800, 2.7), (300, 300, 1.2)):
        S = sp.random_array((m, n), density=degree / n, rng=np.random.default_rng(m), format="csr")
        monkeypatch.setattr(maximum_matching, "_RESTRICTED", 10**6)
        whole, sizes = matched_with_progress(S)
        monkeypatch.setattr(maximum_matching, "_RESTRICTED", after)
        found, same_sizes = matched_with_progress(S)
        assert found.isequal(whole)
        assert same_sizes == sizes
        assert found.nvals == sizes[-1] == (csgraph.maximum_bipartite_matching(S) >= 0).sum()
        restricted.add(len(sizes) > after + 1)
    assert True in restricted


def test_the_maximum_matching_depends_on_the_seed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is that of the specification, whatever the number of threads."""
    from semiring.engines.cpu import closure, mxv, threads

    S = undirected_pattern(3000, 1.4)
    with sr.use("cpu"):
        A = matrix(S, None)
        first = sr.algorithms.maximum_bipartite_matching(A, seed=1)
        assert not sr.algorithms.maximum_bipartite_matching(A, seed=2).isequal(first)
        monkeypatch.setattr(closure, "MANY_TO_SHARE", 100)
        monkeypatch.setattr(threads, "_WORK_PER_THREAD", 100)
        monkeypatch.setattr(mxv, "_BLOCK_EDGES", 100)
        for count in (1, 2, 5):
            monkeypatch.setattr(threads, "available", lambda count=count: count)
            monkeypatch.setattr(closure, "available", lambda count=count: count)
            assert sr.algorithms.maximum_bipartite_matching(A, seed=1).isequal(first)
    small = undirected_pattern(60, 1.4)
    found = {}
    for engine in ("cpu", "reference"):
        with sr.use(engine):
            found[engine] = sr.algorithms.maximum_bipartite_matching(matrix(small, None), seed=1).to_dict()
    assert found["cpu"] == found["reference"]


def undirected_pattern(n: int, degree: float) -> Any:
    S = drawn(n, degree, n)
    return pattern(S + S.T)


def test_bad_input() -> None:
    with pytest.raises(DimensionMismatch):
        sr.algorithms.maximal_matching(sr.Matrix(bool, 2, 3))
    with pytest.raises(InvalidValue, match="undirected"):
        sr.algorithms.maximal_matching(sr.Matrix.from_edgelist([(0, 1)], nrows=2, ncols=2))
    with pytest.raises(InvalidValue, match="differs"):
        sr.algorithms.maximal_matching(sr.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0]), weight=True)
    with pytest.raises(InvalidValue, match="Matrix"):
        sr.algorithms.maximum_bipartite_matching(np.ones((2, 2)))
    with pytest.raises(InvalidValue, match="seed"):
        sr.algorithms.maximum_bipartite_matching(sr.Matrix(bool, 2, 2), seed="x")
