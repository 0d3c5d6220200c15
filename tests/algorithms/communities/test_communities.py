"""Louvain's method, Leiden's and modularity, beside NetworkX and igraph."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.algorithms import (
    coarsen,
    connected_components,
    core_numbers,
    ego_graph,
    ensemble_clustering,
    induced_subgraph,
    leiden,
    louvain,
    modularity,
    partition_quality,
)
from semiring.algorithms.randomness import thunk
from semiring.exceptions import DimensionMismatch, DomainMismatch, IndexOutOfBound, InvalidValue
from tests.graphs import load

METHODS = {"louvain": louvain, "leiden": leiden, "ensemble": ensemble_clustering}
methods = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def undirected(n: int, density: float, seed: int, *, weighted: bool = False, loops: bool = False) -> Any:
    """A random symmetric array."""
    rng = np.random.default_rng(seed)
    a = np.triu(rng.random((n, n)) < density, 0 if loops else 1).astype(float)
    if weighted:
        a *= rng.uniform(0.1, 3, (n, n))
    return a + np.triu(a, 1).T


def matrix(a: Any) -> Matrix:
    return Matrix.from_dense(a, missing_value=0)


def groups_of(labels: Any) -> list[set[int]]:
    return [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]


def by_definition(a: Any, labels: Any, resolution: float, directed: bool) -> float:
    """Q, pair by pair."""
    a = a if directed else a + np.diag(np.diag(a))
    together = labels[:, None] == labels[None, :]
    chance = np.outer(a.sum(1), a.sum(0)) / a.sum() ** 2
    return float((together * (a / a.sum() - resolution * chance)).sum())


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("resolution", [1.0, 0.3])
@pytest.mark.parametrize("loops", [False, True])
def test_modularity(directed: bool, resolution: float, loops: bool) -> None:
    """By its definition, and as NetworkX and igraph compute it."""
    a = undirected(40, 0.15, 3, weighted=True, loops=loops)
    if directed:
        a *= np.random.default_rng(5).random(a.shape) < 0.6
    labels = np.random.default_rng(4).integers(0, 6, 40)
    q = modularity(matrix(a), Vector.from_dense(labels), resolution=resolution, directed=directed)
    assert q == pytest.approx(by_definition(a, labels, resolution, directed), abs=1e-12)
    G = nx.from_numpy_array(a, create_using=nx.DiGraph if directed else nx.Graph)
    assert q == pytest.approx(nx.community.modularity(G, groups_of(labels), resolution=resolution), abs=1e-12)
    if not directed:
        edges = np.argwhere(np.triu(a))
        H = igraph.Graph(n=40, edges=edges.tolist())
        weights = a[edges[:, 0], edges[:, 1]].tolist()
        assert q == pytest.approx(H.modularity(labels.tolist(), weights, resolution), abs=1e-12)


def test_modularity_of_types_and_kinds() -> None:
    a = undirected(30, 0.2, 1)
    A, labels = matrix(a), Vector.from_dense(np.arange(30) % 4)
    q = modularity(A, labels)
    for dtype in ("uint8", "int16", "float32", "bool"):
        assert modularity(A.dup(dtype), labels) == pytest.approx(q, abs=1e-12)
    assert modularity(A.compress("varint"), labels) == pytest.approx(q, abs=1e-12)
    assert modularity(A.to(placement="host"), labels.dup("uint8")) == pytest.approx(q, abs=1e-12)
    assert math.isnan(modularity(Matrix(float, 3, 3), Vector.from_dense([0, 0, 1])))
    assert math.isnan(modularity(Matrix(float, 0, 0), Vector(int, 0)))


@pytest.mark.parametrize("seed", range(3))
def test_partition_quality(seed: int) -> None:
    a = undirected(25, 0.2, seed)
    labels = np.random.default_rng(seed).integers(0, 4, 25)
    found = partition_quality(matrix(a), Vector.from_dense(labels))
    G = nx.from_numpy_array(a)
    coverage, performance = nx.community.partition_quality(G, groups_of(labels))
    assert found.coverage == pytest.approx(coverage)
    assert found.performance == pytest.approx(performance)
    assert found.inter_edges == nx.community.quality.inter_community_edges(G, groups_of(labels))
    assert found.intra_edges == nx.community.quality.intra_community_edges(G, groups_of(labels))
    assert found.groups == len(np.unique(labels))
    nothing = partition_quality(Matrix(bool, 1, 1), Vector.from_dense([0]))
    assert math.isnan(nothing.coverage)
    assert math.isnan(nothing.performance)


@pytest.mark.parametrize("seed", range(3))
def test_partition_quality_of_directed_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = (rng.random((25, 25)) < 0.2).astype(float)
    np.fill_diagonal(a, 0)
    labels = rng.integers(0, 4, 25)
    found = partition_quality(matrix(a), Vector.from_dense(labels))
    G = nx.from_numpy_array(a, create_using=nx.DiGraph)
    coverage, performance = nx.community.partition_quality(G, groups_of(labels))
    assert (found.coverage, found.performance) == pytest.approx((coverage, performance))
    assert (found.intra_edges + found.inter_edges, found.groups) == (G.number_of_edges(), 4)
    loops = matrix(a + np.eye(25))
    assert partition_quality(loops, Vector.from_dense(labels)) == found


# LAGraph's test_peer_pressure.c: coverage, performance and modularity of its clusters.  west0067 is directed.
LAGRAPH = {
    "A.mtx": (1.0, 0.714286, 0.0), "jagmesh7.mtx.gz": (0.653359, 0.989642, 0.641262),
    "west0067.mtx": (0.181507, 0.841701, 0.043324), "bcsstk13.mtx.gz": (0.048510, 0.977048, 0.042696),
    "karate.mtx": (0.243590, 0.887701, 0.158120), "mcl.mtx": (0.833333, 0.866667, 0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", LAGRAPH)
def test_quality_of_the_clusters_of_lagraph(name: str, shared_data: Path) -> None:
    folder = shared_data / "lagraph"
    A = sr.io.read(folder / name).apply("one").dup(float).select("offdiag").dup()
    labels = sr.io.read(folder / f"{name.partition('.')[0]}_cluster.mtx")[:, 0].dup()
    quality = partition_quality(A, labels)
    found = quality.coverage, quality.performance, modularity(A, labels, directed=True)
    assert found == pytest.approx(LAGRAPH[name], abs=1e-6)


def planted(groups: int, size: int, inside: float, outside: float, seed: int) -> tuple[Any, Any]:
    """A graph with known communities, and their labels."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(groups), size)
    p = np.where(labels[:, None] == labels[None, :], inside, outside)
    upper = np.triu(rng.random(p.shape) < p, 1).astype(float)
    return upper + upper.T, labels


@methods
def test_planted_communities_are_found(method: Any) -> None:
    a, labels = planted(8, 25, 0.5, 0.01, 1)
    order = np.random.default_rng(2).permutation(labels.size)
    found = method(matrix(a[order][:, order]))
    expected = Vector.from_dense(labels[order])
    assert {frozenset(group) for group in groups_of(found.labels.to_numpy())} == {
        frozenset(group) for group in groups_of(labels[order])
    }
    assert found.modularity == pytest.approx(modularity(matrix(a[order][:, order]), expected), abs=1e-12)


@methods
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("resolution", [1.0, 2.5])
def test_result_and_its_modularity(method: Any, weighted: bool, resolution: float) -> None:
    """The reported modularity is that of the labels; numbers ascend by smallest vertex; levels only join."""
    a = undirected(50, 0.08, 11, weighted=weighted, loops=True)
    A = matrix(a)
    found = method(A, resolution=resolution, seed=3)
    labels = found.labels.to_numpy()
    assert found.modularity == pytest.approx(by_definition(a, labels, resolution, False), abs=1e-9)
    _, first = np.unique(labels, return_index=True)
    assert (np.diff(first) > 0).all()
    assert np.array_equal(np.unique(labels), np.arange(labels.max() + 1))
    assert found.levels[-1].isequal(found.labels)
    assert method(A, resolution=resolution, seed=3).labels.isequal(found.labels)
    reached = [by_definition(a, level.to_numpy(), resolution, False) for level in found.levels]
    assert method is ensemble_clustering or reached == sorted(reached)


@methods
def test_communities_do_not_depend_on_engine_or_storage(method: Any) -> None:
    a = undirected(16, 0.3, 2, weighted=True)
    A = matrix(a)
    found = method(A).labels
    assert method(A.compress("packed")).labels.isequal(found)
    assert method(A.to(placement="pinned")).labels.isequal(found)
    with sr.use("reference"):
        assert method(matrix(a)).labels.to_dict() == found.to_dict()


def test_ensemble_clustering_is_as_its_definition() -> None:
    """The weights of the last call of `louvain`, from the labels of the partitions."""
    a = undirected(40, 0.1, 6)
    A = matrix(a)
    labels = [
        sr.ops.local_moving(
            A, Vector.from_dense(np.arange(40)), mass=A.reduce_rowwise("plus").ewise_add(Vector.full(0.0, 40), "plus"),
            rate=1 / a.sum(), parts=8, max_passes=5, seed=thunk(4, 64 * i),
        ).to_numpy()
        for i in range(3)
    ]  # fmt: skip
    share = np.mean([label[:, None] == label[None, :] for label in labels], 0)
    core = core_numbers(A).to_numpy() >= 2
    weights = np.where(core[:, None] & core[None, :], 0.2 + 0.8 * share, 0.2) * (a > 0)
    expected = louvain(matrix(weights), seed=4).labels
    found = ensemble_clustering(A, partitions=3, min_weight=0.2, seed=4)
    assert found.labels.isequal(expected)
    assert found.modularity == pytest.approx(modularity(A, expected), abs=1e-12)
    with pytest.raises(InvalidValue, match="partitions"):
        ensemble_clustering(A, partitions=0)
    with pytest.raises(InvalidValue, match="min_weight"):
        ensemble_clustering(A, min_weight=1.5)


def test_communities_of_leiden_are_connected() -> None:
    for seed in range(2):
        A = matrix(undirected(80, 0.035, seed))
        labels = leiden(A, seed=seed).labels.to_numpy()
        parts = connected_components(matrix(A.to_numpy(0) * (labels[:, None] == labels[None, :]))).to_numpy()
        assert len(np.unique(parts)) == labels.max() + 1


@methods
def test_special_graphs(method: Any) -> None:
    assert method(Matrix(float, 0, 0)).labels.size == 0
    empty = method(Matrix(float, 3, 3))
    assert empty.labels.to_dict() == {0: 0, 1: 1, 2: 2}
    assert math.isnan(empty.modularity)
    # An isolated vertex stays alone; a self-loop counts twice; an explicit zero is an edge without weight.
    A = Matrix.from_coo([0, 1, 3, 2, 0], [1, 0, 3, 0, 2], [1.0, 1.0, 2.0, 0.0, 0.0], shape=(5, 5))
    found = method(A)
    assert found.labels.to_dict() == {0: 0, 1: 0, 2: 1, 3: 2, 4: 3}
    G = nx.Graph([(0, 1, {"weight": 1.0}), (3, 3, {"weight": 2.0})])
    assert found.modularity == pytest.approx(nx.community.modularity(G, [{0, 1}, {3}]))
    unsigned = matrix(undirected(20, 0.3, 1)).dup("uint8")
    assert method(unsigned).labels.isequal(method(unsigned.dup("float32")).labels)


@methods
def test_bad_input(method: Any) -> None:
    A = matrix(undirected(6, 0.5, 1))
    with pytest.raises(DimensionMismatch, match="square"):
        method(Matrix(float, 2, 3))
    with pytest.raises(InvalidValue, match="undirected"):
        method(Matrix.from_edgelist([(0, 1), (1, 2)]))
    with pytest.raises(InvalidValue, match="differs"):
        method(Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0]))
    with pytest.raises(InvalidValue, match="negative"):
        method(A.apply("ainv"))
    with pytest.raises(InvalidValue, match=r"NaN|finite|differs"):
        method(A.apply("times", right=np.nan))
    with pytest.raises(InvalidValue, match="finite"):
        method(A.apply("times", right=np.inf))
    with pytest.raises(DomainMismatch, match="real"):
        method(A.dup("complex128"))
    for refused in ({"resolution": -1}, {"tol": np.nan}, {"seed": 1.5}, {"progress": 3}):
        with pytest.raises(InvalidValue):
            method(A, **refused)


@methods
def test_progress(method: Any) -> None:
    A = matrix(undirected(30, 0.2, 1))
    calls: list[tuple[int, int | None]] = []
    method(A, progress=lambda done, total: calls.append((done, total)))
    assert calls[0] == (1, 17 if method is ensemble_clustering else None)
    assert [done for done, _ in calls] == list(range(1, len(calls) + 1))

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        method(A, progress=stop)


def test_labels_are_checked() -> None:
    A = matrix(undirected(4, 0.9, 1))
    for function in (modularity, partition_quality, coarsen):
        with pytest.raises(DimensionMismatch):
            function(A, Vector.from_dense([0, 1]))
        with pytest.raises(InvalidValue, match="3 of 4 have none"):
            function(A, Vector.from_coo([0], [1], size=4))
        with pytest.raises(DomainMismatch, match="integers"):
            function(A, Vector.full(0.5, 4))
        with pytest.raises(IndexOutOfBound, match="-1"):
            function(A, Vector.from_dense([0, -1, 2, 3]))
        with pytest.raises(InvalidValue):
            function(A, [0, 1, 2, 3])


@pytest.mark.parametrize("op", ["plus", "max"])
def test_coarsen(op: str) -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(0, 9, (20, 20)) * (rng.random((20, 20)) < 0.3)
    labels = rng.integers(0, 5, 20)
    S = np.eye(labels.max() + 1)[labels]
    C = coarsen(matrix(a), Vector.from_dense(labels), op=op)
    if op == "plus":
        assert np.array_equal(C.to_numpy(0), S.T @ a @ S)
    else:
        for (g, h), x in C.items():
            assert x == a[np.ix_(labels == g, labels == h)].max()
    assert coarsen(Matrix(float, 0, 0), Vector(int, 0)).shape == (0, 0)


def test_subgraphs() -> None:
    a = undirected(20, 0.15, 4)
    A, G = matrix(a), nx.from_numpy_array(a)
    assert np.array_equal(induced_subgraph(A, [7, 2, 9]).to_numpy(0), a[np.ix_([7, 2, 9], [7, 2, 9])])
    for radius in (0, 1, 2, 30):
        distance, ego = ego_graph(A, 3, radius)
        expected = nx.single_source_shortest_path_length(G, 3, cutoff=radius)
        assert distance.to_dict() == expected
        nodes = sorted(expected)
        assert np.array_equal(ego.to_numpy(0), a[np.ix_(nodes, nodes)])
    with pytest.raises(IndexOutOfBound):
        ego_graph(A, 20)
    with pytest.raises(InvalidValue):
        ego_graph(A, 0, -1)
    with pytest.raises(IndexOutOfBound):
        induced_subgraph(A, [20])


REAL = {
    "lagraph/karate.mtx": (louvain,), "lagraph/jagmesh7.mtx.gz": (louvain, leiden), "lagraph/west0067.mtx": (louvain,),
    "lagraph/random_weighted_general1.mtx.gz": (louvain, leiden), "social/openflights_routes.dat.gz": (louvain,),
    "networkit/jazz.graph": (louvain, leiden), "snap/CA-GrQc.txt.gz": (leiden,),
    "cugraph/email-Eu-core.csv.gz": (louvain,),
}  # fmt: skip


@functools.cache
def simple(folder: Path, name: str) -> Any:
    facts = {"id_rule": "", "id_base": 1 if name.startswith("lagraph") else 0, "weighted": False, "directed": False}
    return load(folder, name, {**_facts(folder).get(name, facts), "directed": False, "weighted": False})


@functools.cache
def _facts(folder: Path) -> Any:
    import json

    return json.loads((folder / "truth.json").read_text())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.wide] if name.startswith(("snap", "social", "cugraph")) else [])
        for name in REAL
    ],
)
def test_modularity_is_no_lower_than_that_of_networkx(name: str, shared_data: Path) -> None:
    g = simple(shared_data, name)
    A = Matrix.from_csr(g.indptr, g.indices, True, ncols=g.n)
    G = nx.from_scipy_sparse_array(g.scipy())
    theirs = nx.community.modularity(G, nx.community.louvain_communities(G, weight=None, seed=1), weight=None)
    for method in REAL[name]:
        found = method(A)
        ours = nx.community.modularity(G, groups_of(found.labels.to_numpy()), weight=None)
        assert found.modularity == pytest.approx(ours, abs=1e-9)
        assert ours >= theirs - 1e-12
