"""The worked programs of the specification (`examples/specification.py`) equal NetworkX and published results."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import semiring as sr
from tests.conftest import ROOT

FILE = ROOT / "examples" / "specification.py"
spec = importlib.util.spec_from_file_location("specification", FILE)
assert spec is not None
assert spec.loader is not None
programs: Any = importlib.util.module_from_spec(spec)
spec.loader.exec_module(programs)

GRAPHS = {
    "small": lambda: nx.gnp_random_graph(10, 0.35, seed=4),
    "apart": lambda: nx.disjoint_union(nx.cycle_graph(5), nx.empty_graph(2)),
    "directed": lambda: nx.gn_graph(12, seed=3).reverse(),
    "karate": nx.karate_club_graph,
    "miserables": nx.les_miserables_graph,
}
# Graphs of many entries need compiled kernels, which the short tier leaves to the others.
MANY = ("karate", "miserables")


def by_graph(*names: str) -> pytest.MarkDecorator:
    marked = [pytest.param(name, marks=[pytest.mark.wide] if name in MANY else []) for name in names]
    return pytest.mark.parametrize("name", marked)


@pytest.fixture(autouse=True)
def kernels_for_few() -> None:
    """Run the kernels that users get: those of large operands, which `tests.conftest` selects, take long to compile."""


def graph_of(name: str) -> tuple[Any, sr.Matrix]:
    graph = nx.convert_node_labels_to_integers(GRAPHS[name]())
    for _, _, data in graph.edges(data=True):
        data.clear()  # the programs are for graphs without weights
    return graph, sr.io.from_networkx(graph)


@by_graph(*GRAPHS)
def test_breadth_first_search(name: str) -> None:
    graph, A = graph_of(name)
    levels = {v: d + 1 for v, d in nx.single_source_shortest_path_length(graph, 0).items()}
    assert programs.level_bfs(A, 0).to_dict() == levels
    assert programs.level_bfs_by_apply(A, 0).to_dict() == levels
    parents = programs.parent_bfs(A, 0).to_dict()
    assert parents.keys() == levels.keys()
    assert parents.pop(0) == 0
    assert all(graph.has_edge(u, v) and levels[u] == levels[v] - 1 for v, u in parents.items())


@pytest.mark.costly
@by_graph(*GRAPHS)
def test_betweenness(name: str) -> None:
    graph, A = graph_of(name)
    sources = [0, 3, 4]
    expected = nx.betweenness_centrality_subset(graph, sources, list(graph), normalized=False)
    halved = 1 if graph.is_directed() else 2  # NetworkX halves the sums of undirected graphs
    wanted = np.array([expected[v] * halved for v in range(A.nrows)])
    one_by_one = sum(programs.dependencies(A, source).to_numpy() for source in sources)
    np.testing.assert_allclose(one_by_one, wanted, atol=1e-9)
    np.testing.assert_allclose(programs.batched_dependencies(A, sources).to_numpy(), wanted, atol=1e-9)


@by_graph("karate", "small", "apart")
@pytest.mark.parametrize("seed", range(3))
def test_independent_set(name: str, seed: int) -> None:
    graph, A = graph_of(name)
    assert_maximal(graph, programs.independent_set(A, seed))


def assert_maximal(graph: Any, members: sr.Vector) -> None:
    chosen = {v for v, inside in members.to_dict().items() if inside}
    assert not graph.subgraph(chosen).edges
    assert all(v in chosen or chosen.intersection(graph[v]) for v in graph)


@by_graph("karate", "miserables", "small", "apart")
def test_triangles(name: str) -> None:
    graph, A = graph_of(name)
    assert programs.triangles(A.select("tril", -1)) == sum(nx.triangles(graph).values()) // 3


@by_graph(*GRAPHS)
def test_exchange(name: str) -> None:
    _, A = graph_of(name)
    assert all(made.isequal(A, check_dtype=True) for made in programs.exchange(A))


# -- real graphs with results of others --------------------------------------------------------------------


def read(folder: Path, name: str) -> tuple[sr.Matrix, dict[str, Any]]:
    """Return a graph without loops and weights, and its published results."""
    A = sr.io.read(folder / name).select("offdiag").apply("one").new()
    return A, json.loads((folder / "truth.json").read_text())[name]


@pytest.mark.wide
@pytest.mark.parametrize("name", ["lagraph/karate.mtx", "lagraph/bcsstk13.mtx.gz"])
def test_programs_on_real_graphs(shared_data: Path, name: str) -> None:
    A, truth = read(shared_data, name)
    levels = programs.level_bfs(A, truth["bfs_first"]["source_index"])
    assert levels.nvals == truth["bfs_first"]["reached"]
    assert levels.reduce("plus").value - levels.nvals == truth["bfs_first"]["sum_levels"]
    assert programs.level_bfs_by_apply(A, truth["bfs_first"]["source_index"]).isequal(levels)
    assert programs.parent_bfs(A, truth["bfs_first"]["source_index"]).nvals == levels.nvals
    assert programs.triangles(A.select("tril", -1)) == truth["triangles"]
    members = programs.independent_set(A).select("==", True).new()
    neighbors = A.mxv(members, "lor_land").new()
    assert not members.ewise_mult(neighbors).nvals
    assert members.ewise_add(neighbors, "lor").nvals == A.nrows


@pytest.mark.wide
def test_betweenness_of_four_sources(shared_data: Path) -> None:
    A, _ = read(shared_data, "lagraph/karate.mtx")
    published = json.loads((shared_data / "lagraph" / "lagraph_expected.json").read_text())
    expected = published["betweenness_4_sources"]["karate.mtx"]
    found = programs.batched_dependencies(A, expected["sources"]).to_numpy()
    np.testing.assert_allclose(found, expected["bc"], atol=1e-4)


@pytest.mark.exhaustive
def test_betweenness_of_every_source(shared_data: Path) -> None:
    A, truth = read(shared_data, "lagraph/jagmesh7.mtx.gz")
    found = programs.batched_dependencies(A, range(A.nrows)).to_numpy() / 2
    assert found.argmax() == truth["betweenness_undirected"]["argmax"]
    np.testing.assert_allclose(found.sum(), truth["betweenness_undirected"]["sum"])
