"""Results of which NetworkX returns another: matchings, cuts, covers, trees, communities of the same quality."""

from __future__ import annotations

import random
from contextlib import nullcontext
from typing import Any

import networkx as nx
import numpy as np
import pytest

from tests.nx_backend.test_results import BIPARTITE, CONNECTED, DIRECTED, GRAPHS, LOOPS, SPARSE, STRONG, TREE, weighted

pytestmark = pytest.mark.costly
bipartite = nx.bipartite


def weight_of(G: Any, edges: Any) -> float:
    return float(sum(G.edges[edge].get("weight", 1) for edge in edges))


def path_of_blocks() -> Any:
    """Six complete graphs in a row, joined by one edge each: communities without ties."""
    G = nx.Graph()
    for block in range(6):
        members = range(10 * block, 10 * block + 4 + block % 3)
        G.add_edges_from((u, v) for u in members for v in members if u < v)
        if block:
            G.add_edge(10 * block - 10, 10 * block + 1)
    return G


@pytest.mark.parametrize("label", ["bipartite", "tree", "integers", "negative", "empty"])
@pytest.mark.parametrize("most", [False, True])
def test_matchings_of_greatest_weight(label: str, most: bool) -> None:
    rng = np.random.default_rng(len(label))
    G = GRAPHS.get(label)
    if G is None:
        G = bipartite.random_graph(30, 20, 0.15, seed=4)
        for *_, data in G.edges(data=True):
            data["weight"] = int(rng.integers(-50 if label == "negative" else 1, 60))
    found = nx.max_weight_matching(G, maxcardinality=most, backend="semiring")
    expected = nx.max_weight_matching(G, maxcardinality=most)
    assert nx.is_matching(G, found)
    assert all(edge in G.edges for edge in found)
    assert weight_of(G, found) == pytest.approx(weight_of(G, expected))
    assert not most or len(found) == len(expected)


@pytest.mark.parametrize("label", ["bipartite", "tree"])
def test_matchings_of_least_weight(label: str) -> None:
    G = GRAPHS[label]
    found, expected = (nx.min_weight_matching(G, backend=backend) for backend in ("semiring", "networkx"))
    assert len(found) == len(expected)
    assert weight_of(G, found) == pytest.approx(weight_of(G, expected))


def test_full_matchings_of_zeros_and_of_too_few_edges() -> None:
    G = bipartite.complete_bipartite_graph(4, 6)
    for u, v, data in G.edges(data=True):
        data["weight"] = (3 * u + 5 * v) % 7 - 3
    total = [
        weight_of(G, bipartite.minimum_weight_full_matching(G, backend=name).items()) for name in (None, "semiring")
    ]
    assert total[0] == total[1]
    H = nx.Graph([(0, "a"), (1, "a"), (2, "a"), (2, "b"), (2, "c")])
    for backend in (None, "semiring"):
        with pytest.raises(ValueError, match="cost matrix is infeasible"):
            bipartite.minimum_weight_full_matching(H, top_nodes=[0, 1, 2], backend=backend)


def test_weighted_matchings_of_odd_cycles_are_left_to_networkx() -> None:
    with pytest.raises(NotImplementedError):
        nx.max_weight_matching(nx.cycle_graph(5), backend="semiring")


@pytest.mark.parametrize("w", [1.0, 1e160, 1e-170, 5e-324 * 2**40])
def test_correlations_do_not_depend_on_the_unit(w: float) -> None:
    G = nx.gnm_random_graph(12, 25, seed=4)
    for number, (*_, data) in enumerate(G.edges(data=True)):
        data["weight"] = (number % 6 + 1) * w
    H = G.copy()
    nx.set_node_attributes(G, {node: node % 5 * w for node in G}, "size")
    nx.set_node_attributes(H, {node: node % 5 for node in G}, "size")
    found = nx.degree_pearson_correlation_coefficient(G, weight="weight", backend="semiring")
    assert found == pytest.approx(nx.degree_pearson_correlation_coefficient(G, weight="weight"))
    found = nx.numeric_assortativity_coefficient(G, "size", backend="semiring")
    assert found == pytest.approx(nx.numeric_assortativity_coefficient(H, "size"))


def test_correlations_of_constant_or_infinite_values_are_left_to_networkx() -> None:
    G = nx.path_graph(4)
    nx.set_edge_attributes(G, 1e308, "weight")
    with pytest.raises(NotImplementedError):  # the degree of the vertices inside is infinite
        nx.degree_pearson_correlation_coefficient(G, weight="weight", backend="semiring")
    with pytest.raises(NotImplementedError):
        nx.degree_pearson_correlation_coefficient(nx.cycle_graph(5), backend="semiring")


@pytest.mark.parametrize("name", ["betweenness_centrality", "edge_betweenness_centrality"])
def test_betweenness_with_infinite_weights_is_left_to_networkx(name: str) -> None:
    """NetworkX counts each edge between vertices of infinite distance as one of a shortest path."""
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, 1), (1, 2, float("inf")), (2, 3, 1)])
    with pytest.raises(NotImplementedError):
        getattr(nx, name)(G, weight="weight", backend="semiring")


@pytest.mark.parametrize("G", [BIPARTITE, TREE], ids=["bipartite", "tree"])
def test_a_cover_has_a_node_for_each_edge_of_a_matching(G: Any) -> None:
    matching = bipartite.eppstein_matching(G, backend="semiring")
    assert len(matching) == len(bipartite.eppstein_matching(G))
    cover = bipartite.to_vertex_cover(G, matching, backend="semiring")
    assert cover == bipartite.to_vertex_cover(G, matching)
    assert 2 * len(cover) == len(matching)


@pytest.mark.parametrize("name", ["weighted", "collaboration_weighted", "overlap_weighted"])
def test_projections_with_weights_keep_attributes(name: str) -> None:
    G = weighted(nx.bipartite.random_graph(9, 12, 0.4, seed=1), 7)
    nx.set_node_attributes(G, "red", "color")
    G.graph["name"] = "drawn"
    top = [f"n{number}" for number in range(9)]
    function = getattr(bipartite, f"{name}_projected_graph")
    found, expected = (function(G, top, backend=backend) for backend in ("semiring", "networkx"))
    assert found.graph == expected.graph
    assert dict(found.nodes(data=True)) == dict(expected.nodes(data=True))
    assert {frozenset(edge) for edge in found.edges} == {frozenset(edge) for edge in expected.edges}
    assert all(data == pytest.approx(expected.edges[u, v]) for u, v, data in found.edges(data=True))


@pytest.mark.parametrize("G", [CONNECTED, SPARSE, STRONG, nx.complete_graph(6)], ids=["one", "parts", "strong", "all"])
def test_cuts_of_whole_graphs(G: Any) -> None:
    if not (nx.is_weakly_connected(G) if G.is_directed() else nx.is_connected(G)):
        for function in (nx.minimum_edge_cut, nx.minimum_node_cut):
            with pytest.raises(nx.NetworkXError, match="not connected"):
                function(G, backend="semiring")
        return
    connected = nx.is_strongly_connected if G.is_directed() else nx.is_connected
    edges = nx.minimum_edge_cut(G, backend="semiring")
    assert len(edges) == nx.edge_connectivity(G)
    H = G.copy()
    H.remove_edges_from(edges)
    assert not connected(H)
    if not G.is_directed():
        nodes = nx.minimum_node_cut(G, backend="semiring")
        assert len(nodes) == nx.node_connectivity(G)
        H = G.copy()
        H.remove_nodes_from(nodes)
        assert len(H) <= 1 or not connected(H)


def test_the_least_cut_of_all() -> None:
    value, parts = nx.stoer_wagner(CONNECTED, backend="semiring")
    assert value == pytest.approx(nx.stoer_wagner(CONNECTED)[0])
    assert set(parts[0]) | set(parts[1]) == set(CONNECTED)
    assert nx.cut_size(CONNECTED, *parts, weight="weight") == pytest.approx(value)


@pytest.mark.parametrize("name", ["prim_mst_edges", "boruvka_mst_edges"])
def test_spanning_trees_have_the_least_weight(name: str) -> None:
    function = getattr(nx.algorithms.tree.mst, name)
    for minimum in (True, False):
        trees = [list(function(CONNECTED, minimum, data=False, backend=b)) for b in ("semiring", "networkx")]
        assert {frozenset(edge) for edge in trees[0]} == {frozenset(edge) for edge in trees[1]}


@pytest.mark.costly
@pytest.mark.parametrize("name", ["louvain_partitions", "leiden_partitions"])
def test_levels_end_with_the_communities(name: str) -> None:
    G = path_of_blocks()
    levels = list(getattr(nx.community, name)(G, seed=1, backend="semiring"))
    assert all(nx.community.is_partition(G, level) for level in levels)
    communities = getattr(nx.community, name.replace("partitions", "communities"))
    first = communities(G, seed=1, max_level=1, backend="semiring")
    assert {frozenset(part) for part in first} == {frozenset(part) for part in levels[0]}
    last = communities(G, seed=1, backend="semiring")
    assert {frozenset(part) for part in levels[-1]} == {frozenset(part) for part in last}
    assert len(last) == 6


def test_removal_of_central_edges() -> None:
    G = path_of_blocks()
    found, expected = (list(nx.community.girvan_newman(G, backend=backend)) for backend in ("semiring", "networkx"))
    assert [set(map(frozenset, parts)) for parts in found[:5]] == [set(map(frozenset, parts)) for parts in expected[:5]]
    assert len(found[-1]) == len(G)


def test_the_fiedler_vector_up_to_its_sign() -> None:
    found, expected = (nx.fiedler_vector(CONNECTED, seed=1, backend=backend) for backend in ("semiring", "networkx"))
    assert min(np.abs(found - expected).max(), np.abs(found + expected).max()) < 1e-5
    halves, others = (nx.spectral_bisection(CONNECTED, seed=1, backend=b) for b in ("semiring", "networkx"))
    assert {frozenset(half) for half in halves} == {frozenset(half) for half in others}


def test_a_maximal_matching_of_a_directed_graph_is_refused_as_by_networkx() -> None:
    for backend in ("semiring", "networkx"):
        with pytest.raises(nx.NetworkXNotImplemented):
            nx.algorithms.approximation.min_maximal_matching(DIRECTED, backend=backend)
    found = nx.algorithms.approximation.min_maximal_matching(CONNECTED, backend="semiring")
    assert nx.is_maximal_matching(CONNECTED, found)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_cores_of_directed_graphs_and_sums_over_parallel_edges(kind: Any) -> None:
    G = kind(nx.gnp_random_graph(30, 0.15, seed=9, directed=True))
    if G.is_multigraph():
        G.add_edges_from(list(G.edges())[::3])
    else:
        for name in ("core_number", "k_core", "k_shell", "k_crust"):
            found, expected = (getattr(nx, name)(G, backend=backend) for backend in ("semiring", "networkx"))
            assert dict(found) == dict(expected) if name == "core_number" else set(found) == set(expected)
    for function in (nx.load_centrality, nx.percolation_centrality):
        assert function(G, backend="semiring") == pytest.approx(function(G))


@pytest.mark.parametrize("length", [3, 4, 5, 6, 9, 30])
def test_girth(length: int) -> None:
    G = nx.disjoint_union(nx.cycle_graph(length), nx.path_graph(6))
    nx.add_path(G, [0, "a", "b", "c"])
    assert nx.girth(G, backend="semiring") == nx.girth(G) == length
    G.remove_edge(0, 1)
    assert nx.girth(G, backend="semiring") == nx.girth(G)


def small(kind: Any, seed: int) -> Any:
    """A graph of few nodes, mostly with self-loops and parallel edges."""
    drawn = random.Random(seed)
    G = kind(nx.gnp_random_graph(drawn.randint(1, 14), drawn.choice([0.03, 0.08, 0.2]), seed=seed, directed=True))
    if seed % 3:
        G.add_edges_from([(0, 0), *list(G.edges())[::3]])
    for number, (*_, data) in enumerate(G.edges(data=True)):
        data["weight"] = number % 5 + (seed % 2) / 2
    return nx.relabel_nodes(G, {node: f"n{node}" for node in G})


def result_of(function: Any, *args: Any, **how: Any) -> Any:
    try:
        return function(*args, **how)
    except nx.NetworkXException as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_the_first_cycle_is_that_of_networkx(kind: Any) -> None:
    for seed in range(40):
        G = small(kind, seed)
        for source in (None, "n0", ["n0", next(reversed(list(G)))], "none"):
            assert result_of(nx.find_cycle, G, source, backend="semiring") == result_of(nx.find_cycle, G, source)
    with pytest.raises(NotImplementedError):
        nx.find_cycle(G, orientation="ignore", backend="semiring")


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("resolution", [0.5, 1, 2])
def test_directed_communities_are_those_of_networkx_for_the_same_seed(kind: Any, resolution: float) -> None:
    for seed in range(12):
        G = small(kind, seed)
        weight = None if seed % 4 == 0 else "weight"
        if not G.number_of_edges() or not G.size(weight=weight):
            with pytest.raises(ZeroDivisionError) if G.number_of_edges() else nullcontext():
                list(nx.community.louvain_partitions(G, weight=weight, seed=seed, backend="semiring"))
            continue
        how = {"weight": weight, "resolution": resolution, "seed": seed}
        levels = list(nx.community.louvain_partitions(G, **how))
        assert list(nx.community.louvain_partitions(G, **how, backend="semiring")) == levels
        assert nx.community.louvain_communities(G, **how, backend="semiring") == levels[-1]
        assert nx.community.louvain_communities(G, **how, max_level=1, backend="semiring") == levels[0]


def test_common_ancestors_lead_to_no_other_one() -> None:
    for seed in range(12):
        drawn = small(nx.DiGraph, seed)
        G = nx.DiGraph((u, v) for u, v in drawn.edges if int(u[1:]) < int(v[1:]))
        if not len(G):
            continue
        expected = dict(nx.all_pairs_lowest_common_ancestor(G))
        found = dict(nx.all_pairs_lowest_common_ancestor(G, backend="semiring"))
        assert list(found) == list(expected)
        for pair, node in found.items():
            above = set.intersection(*(nx.ancestors(G, end) | {end} for end in pair))
            assert node in above
            assert not nx.descendants(G, node) & above
        for few in (list(found)[:3], list(found)[:30]):
            assert set(dict(nx.all_pairs_lowest_common_ancestor(G, few, backend="semiring"))) == set(few)


@pytest.mark.parametrize("function", [nx.triangles, nx.clustering])
def test_triangles_of_few_nodes(function: Any) -> None:
    for G in (LOOPS, SPARSE):
        for nodes in ("n1", ["n1"], ["n2", "none", "n1"], list(G), []):
            assert function(G, nodes, backend="semiring") == pytest.approx(function(G, nodes))
        assert function(G, iter(["n1", "n2"]), backend="semiring") == pytest.approx(function(G, ["n1", "n2"]))
