"""Results of the backend and of NetworkX are equal, in type and order too, on graphs of every kind."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx.utils.backends import _registered_algorithms

from semiring.bridges.networkx.registry import FUNCTIONS
from tests import sampling


def weighted(G: Any, seed: int) -> Any:
    """The graph with texts as nodes, and a weight for most edges; shortest paths are unique."""
    rng = np.random.default_rng(seed)
    G = nx.relabel_nodes(G, {node: f"n{node}" for node in G})
    for number, (*_, data) in enumerate(G.edges(data=True)):
        if number % 7:
            data["weight"] = data["capacity"] = float(rng.integers(1, 100)) + number / 1024
    return G


def with_parallel_edges(G: Any) -> Any:
    M = (nx.MultiDiGraph if G.is_directed() else nx.MultiGraph)(G)
    M.add_edges_from(list(G.edges)[::5], weight=2.25, capacity=1.0)
    return M


def acyclic() -> Any:
    G = nx.gnp_random_graph(24, 0.15, seed=3, directed=True)
    return weighted(nx.DiGraph((u, v) for u, v in G.edges if u < v), 3)


SPARSE = weighted(nx.disjoint_union(nx.gnp_random_graph(24, 0.1, seed=5), nx.path_graph(3)), 1)
CONNECTED = weighted(nx.connected_watts_strogatz_graph(24, 4, 0.3, seed=2), 2)
DIRECTED = weighted(nx.gnp_random_graph(24, 0.12, seed=4, directed=True), 4)
STRONG = weighted(nx.compose(nx.cycle_graph(12, nx.DiGraph), nx.gnp_random_graph(12, 0.1, seed=6, directed=True)), 6)
LOOPS = CONNECTED.copy()
LOOPS.add_edges_from([("n1", "n1"), ("n5", "n5")], weight=0.5)
BIPARTITE = weighted(nx.bipartite.random_graph(9, 12, 0.4, seed=1), 7)
TREE = weighted(nx.balanced_tree(2, 3), 8)
GRAPHS = {
    "sparse": SPARSE,
    "connected": CONNECTED,
    "directed": DIRECTED,
    "strong": STRONG,
    "loops": LOOPS,
    "parallel": with_parallel_edges(CONNECTED),
    "parallel directed": with_parallel_edges(DIRECTED),
    "acyclic": acyclic(),
    "bipartite": BIPARTITE,
    "tree": TREE,
    "tournament": weighted(nx.tournament.random_tournament(9, seed=1), 10),
    "one": nx.DiGraph({"n0": {}}),
    "eulerian": weighted(nx.circulant_graph(9, [1, 2]), 11),
    "cycle": weighted(nx.cycle_graph(8, nx.DiGraph), 12),
    "arborescence": weighted(nx.balanced_tree(2, 3, create_using=nx.DiGraph), 9),
    "empty": nx.empty_graph(3),
    "null": nx.null_graph(),
    "karate": nx.karate_club_graph(),
}

for graph in GRAPHS.values():
    for number, (_, known) in enumerate(graph.nodes(data=True)):
        known.update(
            size=number % 4 - 1.5, **({} if graph is DIRECTED else {"color": ("red", "green")[number % 3 > 1]})
        )

# Arguments after the graph, by function; for others none, and the weights where a function has the parameter.
PAIR = ("n0", "n7")
MATCHINGS = (
    {"matching": set()},
    {"matching": {("n0", "n1"), ("n2", "n3")}},
    {"matching": {"n0": "n1", "n1": "n0"}},
    {"matching": [("n0", "n0")]},
    {"matching": [("n0", "none")]},
    {"matching": [("n0", "n2", "n3")]},
)
ARGUMENTS: dict[str, tuple[dict[str, Any], ...]] = {
    "betweenness_centrality": ({}, {"k": 5, "seed": 1, "weight": "weight"}, {"normalized": False, "endpoints": True}),
    "edge_betweenness_centrality": ({}, {"k": 5, "seed": 1}, {"k": 5, "seed": 1, "weight": "weight"}),
    "lowest_common_ancestor": ({"node1": "n7", "node2": "n12"}, {"node1": "n0", "node2": "n1", "default": "none"}),
    "average_neighbor_degree": ({}, {"nodes": ["n1", "n2"]}),
    "closeness_centrality": ({}, {"u": "n1"}, {"distance": "weight"}, {"wf_improved": False}),
    "harmonic_centrality": ({}, {"nbunch": ["n1", "n3"]}, {"sources": ["n2"]}, {"distance": "weight"}),
    "pagerank": ({}, {"personalization": {"n1": 2, "n4": 1}}, {"dangling": {"n0": 1}, "alpha": 0.5}, {"weight": None}),
    "katz_centrality": ({"alpha": 0.01}, {"alpha": 0.001, "weight": "weight"}),
    "eccentricity": ({}, {"v": "n1"}, {"v": ["n1", "n2"]}, {"weight": "weight"}),
    "shortest_path": ({}, {"source": "n0"}, {"target": "n3"}, {"source": "n0", "weight": "weight"}),
    "shortest_path_length": (
        {},
        {"source": "n0"},
        {"target": "n3", "weight": "weight"},
        {"source": "n0", "target": "n7"},
    ),
    "predecessor": (
        {"source": "n0"},
        {"source": "n0", "target": "n7", "return_seen": True},
        {"source": "n0", "cutoff": 2},
    ),
    "bfs_edges": ({"source": "n0"}, {"source": "n0", "depth_limit": 2}),
    "bfs_layers": ({"sources": ["n0"]}, {"sources": "n3"}),
    "descendants_at_distance": ({"source": "n0", "distance": 2},),
    "ego_graph": ({"n": "n0"}, {"n": "n0", "radius": 60, "distance": "weight"}, {"n": "n0", "center": False}),
    "clustering": ({}, {"nodes": "n1"}, {"nodes": ["n2", "n1"]}, {"weight": "weight"}),
    "triangles": ({}, {"nodes": "n1"}, {"nodes": ["n2", "n1"]}),
    "average_clustering": ({}, {"count_zeros": False}, {"nodes": ["n1", "n2"]}),
    "k_core": ({}, {"k": 2}),
    "k_corona": ({"k": 2},),
    "k_truss": ({"k": 3},),
    "rich_club_coefficient": ({"normalized": False},),
    "modularity": ({"communities": "halves"}, {"communities": "halves", "resolution": 0.5, "weight": None}),
    "partition_quality": ({"partition": "halves"},),
    "maximum_flow_value": ({"_s": "n0", "_t": "n7"},),
    "minimum_cut_value": ({"_s": "n0", "_t": "n7"},),
    "minimum_spanning_edges": ({}, {"data": False}, {"keys": False}),
    "group_closeness_centrality": ({"S": ["n0", "n3"]}, {"S": ["n0", "n3"], "weight": "weight"}),
    "dijkstra_predecessor_and_distance": ({"source": "n0"}, {"source": "n0", "cutoff": 80}),
    "multi_source_dijkstra": ({"sources": ["n0", "n3"]}, {"sources": ["n0", "n3"], "target": "n7"}),
    "reciprocity": ({}, {"nodes": ["n0", "n1"]}),
    "is_k_regular": ({"k": 4},),
    "number_of_walks": ({"walk_length": 3},),
    "convert_node_labels_to_integers": ({}, {"first_label": 3, "label_attribute": "old"}),
    "relabel_nodes": ({"mapping": {"n0": "zero"}}, {"mapping": str.upper}),
    "to_scipy_sparse_array": ({}, {"nodelist": ["n3", "n1"]}, {"weight": None, "format": "coo"}),
    "jaccard_coefficient": ({}, {"ebunch": [("n0", "n1"), ("n2", "n2"), ("n0", "n1")]}),
    "transitive_closure": ({}, {"reflexive": None}, {"reflexive": True}),
    "bipartite_degree_centrality": ({"nodes": "top"},),
    "bipartite_betweenness_centrality": ({"nodes": "top"},),
    "density": ({"nodes": "top"},),
    "biadjacency_matrix": ({"row_order": "top", "column_order": "bottom"}, {"row_order": "top", "column_order": "top"}),
    "dag_longest_path": ({}, {"weight": None}, {"default_weight": 5}),
    "all_triangles": ({}, {"nbunch": ["n3", "n1"]}, {"nbunch": "n2"}),
    "astar_path": ({"source": "n0", "target": "n7"}, {"source": "n0", "target": "n7", "cutoff": 20}),
    "astar_path_length": ({"source": "n0", "target": "n7"}, {"source": "n0", "target": "n7", "cutoff": 20}),
    "bethe_hessian_matrix": ({}, {"r": 2, "nodelist": ["n2", "n1"]}),
    "bfs_labeled_edges": ({"sources": "n0"}, {"sources": ["n3", "n0"]}),
    "closeness_vitality": ({}, {"node": "n1"}, {"node": "n2", "wiener_index": 100}),
    "edge_boundary": (
        {"nbunch1": ["n0", "n1"]},
        {"nbunch1": ["n0", "n1", "none"], "nbunch2": ["n2", "n3", "n7"], "data": True},
        {"nbunch1": ["n0", "n4"], "data": "weight", "default": "none", "keys": True},
    ),
    "greedy_color": ({}, {"strategy": "nonesuch"}, {"strategy": "DSATUR"}, {"interchange": True}),
    "has_eulerian_path": ({}, {"source": "n0"}),
    "incidence_matrix": ({}, {"oriented": True, "weight": "weight"}, {"nodelist": ["n1", "n0"], "dtype": int}),
    "is_connected_dominating_set": ({"nbunch": ["n0", "n1"]}, {"nbunch": [f"n{number}" for number in range(24)]}),
    "is_matching": MATCHINGS,
    "is_maximal_matching": MATCHINGS,
    "is_perfect_matching": MATCHINGS,
    "is_reachable": ({"s": "n0", "t": "n7"},),
    "line_graph": ({},),
    "local_bridges": ({}, {"with_span": False}, {"weight": "weight"}),
    "modularity_matrix": ({}, {"nodelist": ["n3", "n1"]}),
    "directed_modularity_matrix": ({}, {"nodelist": ["n3", "n1"]}),
    "normalized_laplacian_matrix": ({}, {"nodelist": ["n3", "n1"]}, {"weight": None}),
    "power": ({"k": 2}, {"k": 0}),
    "simrank_similarity": (
        {"importance_factor": 0.5},
        {"source": "n0"},
        {"source": "n0", "target": "n3"},
        {"max_iterations": 3},
        {"target": "none"},
    ),
    "stochastic_graph": ({}, {"weight": "capacity"}),
    "triadic_census": ({}, {"nodelist": ["n0", "n3"]}, {"nodelist": ["n0", "none"]}),
    "voronoi_cells": ({"center_nodes": ["n0", "n3"]}, {"center_nodes": []}, {"center_nodes": ["none"]}),
    "cut_size": ({"S": ["n0", "n1"], "T": ["n2", "n5"], "weight": "weight"}, {"S": ["n0", "n1"]}),
    "volume": ({"S": ["n0", "n1"], "weight": "weight"},),
}
SETS = ({"S": ["n0", "n1", "n2"]}, {"S": ["n0", "n1"], "T": ["n2", "n5", "n6"]})
ARGUMENTS |= dict.fromkeys(("conductance", "normalized_cut_size", "edge_expansion", "mixing_expansion"), SETS)
ARGUMENTS |= dict.fromkeys(
    [f"group_{kind}degree_centrality" for kind in ("", "in_", "out_")], ({"S": ["n0", "n3"]}, {"S": ["n2"]})
)
SOURCES = ({"sources": ["n0", "n3"]}, {"sources": ["n5"], "cutoff": 90})
ARGUMENTS |= dict.fromkeys(("multi_source_dijkstra_path", "multi_source_dijkstra_path_length"), SOURCES)
ARGUMENTS |= dict.fromkeys(("node_expansion", "boundary_expansion"), SETS[:1])
DEPTHS = ({}, {"source": "n0"}, {"source": "n3", "depth_limit": 2}, {"source": "none"}, {"depth_limit": 1})
ARGUMENTS |= dict.fromkeys([name for name in FUNCTIONS if name.startswith("dfs_")], DEPTHS)
ARGUMENTS |= {"node_boundary": ({"nbunch1": ["n0", "n1"]},), "is_dominating_set": ({"nbunch": ["n0", "n1"]},)}

NODES = ["n0", "n2", "n5", "n7"]
COLORED = {"attribute": "color"}
PROJECTION = {"nodes": "top"}
ARGUMENTS |= dict.fromkeys(("degree_assortativity_coefficient", "degree_pearson_correlation_coefficient"), (
    {}, {"x": "in", "y": "out"}, {"weight": "weight"}, {"nodes": NODES},
))  # fmt: skip
ARGUMENTS |= {
    "degree_mixing_dict": ({}, {"x": "in", "normalized": True}, {"nodes": NODES, "weight": "weight"}),
    "degree_mixing_matrix": ({"mapping": "degrees"}, {"mapping": "degrees", "normalized": False}),
    "node_degree_xy": ({}, {"x": "in", "y": "in", "nodes": NODES}),
    "node_attribute_xy": (COLORED, {**COLORED, "nodes": NODES}),
    "attribute_mixing_dict": (COLORED, {**COLORED, "nodes": NODES, "normalized": True}),
    "attribute_mixing_matrix": ({**COLORED, "mapping": {"red": 2, "green": 0, None: 1}},),
    "attribute_assortativity_coefficient": (COLORED, {**COLORED, "nodes": NODES}),
    "numeric_assortativity_coefficient": ({"attribute": "size"}, {"attribute": "color"}),
    "average_degree_connectivity": ({}, {"source": "in", "target": "out"}, {"nodes": NODES}, {"nodes": "n2"}),
    "second_order_centrality": ({}, {"weight": None}),
    "laplacian_centrality": ({}, {"normalized": False, "weight": None}, {"nodelist": ["n3", "n1"]}),
    "spectral_bipartivity": ({}, {"nodes": ["n3", "n1"], "weight": None}),
    "katz_centrality_numpy": ({"alpha": 0.01}, {"alpha": 0.001, "weight": "weight", "normalized": False}, {"alpha": 3}),
    "current_flow_closeness_centrality": ({}, {"weight": "weight"}, {"solver": "full"}),
    "current_flow_betweenness_centrality": ({}, {"weight": "weight", "normalized": False}),
    "edge_current_flow_betweenness_centrality": ({}, {"weight": "weight", "normalized": False}),
    "percolation_centrality": ({}, {"states": "numbers"}),
    "betweenness_centrality_subset": (
        {"sources": NODES, "targets": ["n3", "n2"]},
        {"sources": ["n1"], "targets": NODES, "normalized": True},
    ),
    "newman_betweenness_centrality": ({}, {"cutoff": 2, "normalized": False}, {"v": "n2"}),
    "local_reaching_centrality": ({"v": "n2"},),
    "trophic_incoherence_parameter": ({}, {"cannibalism": True}, {"weight": None}),
    "flow_hierarchy": ({}, {"weight": "weight"}),
    "common_neighbor_centrality": ({}, {"alpha": 1}, {"ebunch": [("n0", "n1"), ("n2", "n5"), ("n0", "n1")]}),
    "projected_graph": (PROJECTION, {**PROJECTION, "multigraph": True}, {"nodes": ["n0", "n3"]}),
    "bipartite_closeness_centrality": (PROJECTION, {**PROJECTION, "normalized": False}),
    "latapy_clustering": ({}, {"mode": "min"}, {"mode": "max", "nodes": ["n0", "n3"]}, {"mode": "other"}),
    "bipartite_average_clustering": ({}, {"mode": "min", "nodes": ["n0", "n3"]}),
    "node_redundancy": ({}, {"nodes": ["n0", "n3"]}),
    "is_bipartite_node_set": (PROJECTION, {"nodes": "bottom"}, {"nodes": ["n0"]}, {"nodes": ["n0", "n0"]}),
    "birank": (
        PROJECTION,
        {**PROJECTION, "top_personalization": {"n0": 1}, "weight": None},
        {**PROJECTION, "alpha": 2},
    ),
    "minimum_weight_full_matching": ({}, {"top_nodes": "top"}),
    "max_weight_matching": ({}, {"maxcardinality": True}),
    "edge_connectivity": ({}, {"s": "n0", "t": "n7"}, {"s": "n0"}, {"cutoff": 2}),
    "node_connectivity": ({}, {"s": "n0", "t": "n7"}, {"s": "n0", "t": "none"}),
    "local_edge_connectivity": ({"s": "n0", "t": "n7"}, {"s": "n0", "t": "n7", "cutoff": 1}),
    "local_node_connectivity": ({"s": "n0", "t": "n7"},),
    "all_pairs_node_connectivity": ({"nbunch": NODES},),
    "minimum_st_edge_cut": ({"s": "n0", "t": "n7"}, {"s": "n0", "t": "none"}),
    "minimum_st_node_cut": ({"s": "n0", "t": "n7"},),
    "minimum_cut": ({"_s": "n0", "_t": "n7"},),
    "is_k_edge_connected": ({"k": 1}, {"k": 2}, {"k": 3}),
    "is_locally_k_edge_connected": ({"s": "n0", "t": "n7", "k": 1}, {"s": "n0", "t": "n7", "k": 2}),
    "k_edge_components": ({"k": 1}, {"k": 2}, {"k": 3}),
    "k_edge_subgraphs": ({"k": 1}, {"k": 2}, {"k": 3}),
    "kruskal_mst_edges": ({"minimum": True}, {"minimum": False, "data": False}),
    "algebraic_connectivity": ({}, {"weight": None, "tol": 1e-9}),
    "edge_betweenness_partition": ({"number_of_sets": 4}, {"number_of_sets": 3, "weight": "weight"}),
    "approximate_diameter": ({"seed": 1}, {"seed": 2}),
    "is_partition": ({"communities": "halves"}, {"communities": [{"n1"}]}),
}
ARGUMENTS |= dict.fromkeys(
    ("cn_soundarajan_hopcroft", "ra_index_soundarajan_hopcroft", "within_inter_cluster"),
    ({"community": "color"}, {"community": "color", "ebunch": [("n0", "n1"), ("n2", "n2"), ("n0", "n1")]}),
)
ARGUMENTS |= dict.fromkeys([f"{place}_community_edges" for place in ("intra", "inter")], ({"partition": "halves"},))
ARGUMENTS |= {"inter_community_non_edges": ({"partition": "halves"},)}

# Equal up to what the table of the backend says: another path, set or partition; or graphs, tested in test_graphs.py.
OTHERS = {
    "bidirectional_shortest_path", "maximal_independent_set", "maximal_matching", "hopcroft_karp_matching",
    "louvain_communities", "leiden_communities", "asyn_lpa_communities", "fast_label_propagation_communities",
    "label_propagation_communities", "maximum_flow", "dominating_set", "condensation", "louvain_partitions",
    "leiden_partitions", "min_maximal_matching", "max_weight_matching", "min_weight_matching", "eppstein_matching",
    "to_vertex_cover", "minimum_edge_cut", "minimum_node_cut", "stoer_wagner", "fiedler_vector", "spectral_bisection",
    "girvan_newman", "prim_mst_edges", "boruvka_mst_edges", "weighted_projected_graph",
    "collaboration_weighted_projected_graph", "overlap_weighted_projected_graph", "cartesian_product", "tensor_product",
    "strong_product", "lexicographic_product",
}  # fmt: skip
# Dictionaries, lists and iterators in another order of their elements.
UNORDERED = {
    "common_neighbor_centrality", "cn_soundarajan_hopcroft", "ra_index_soundarajan_hopcroft", "within_inter_cluster",
    "attracting_components", "articulation_points", "biconnected_components", "biconnected_component_edges", "bridges",
    "bellman_ford_predecessor_and_distance", "color", "center", "single_source_bellman_ford",
    "goldberg_radzik", "harmonic_centrality", "kosaraju_strongly_connected_components",
    "single_source_bellman_ford_path", "single_source_bellman_ford_path_length", "all_pairs_bellman_ford_path",
    "all_pairs_bellman_ford_path_length", "bipartite_degree_centrality", "bipartite_betweenness_centrality",
    "single_source_all_shortest_paths", "all_pairs_all_shortest_paths", "transitive_closure", "transitive_closure_dag",
    "jaccard_coefficient", "adamic_adar_index", "resource_allocation_index", "preferential_attachment", "johnson",
    "minimum_spanning_edges", "maximum_spanning_edges", "all_shortest_paths", "triangles", "k_crust",
    "single_target_shortest_path", "single_target_shortest_path_length", "ancestors", "shortest_path",
    "shortest_path_length", "group_closeness_centrality", "dijkstra_predecessor_and_distance", "floyd_warshall",
    "generalized_degree", "edge_boundary", "voronoi_cells", "all_triangles",
    "node_degree_xy", "degree_mixing_dict", "k_edge_components", "k_edge_subgraphs",
    "edge_current_flow_betweenness_centrality", "current_flow_betweenness_centrality", "onion_layers",
    "current_flow_closeness_centrality", "minimum_weight_full_matching", "birank", "bipartite_closeness_centrality",
}  # fmt: skip
# Functions with several legal results, by graph: equally short paths, singular vectors of equal singular values.
AMBIGUOUS = {
    "karate": {name for name in FUNCTIONS if "bellman_ford" in name or name in ("goldberg_radzik", "johnson")},
    "bipartite": {"hits"},
    "tree": {"hits"},
    "arborescence": {"hits"},
    "cycle": {"hits"},
    "acyclic": {"lowest_common_ancestor", "all_pairs_lowest_common_ancestor"},
}
PREDICTIONS = {
    "jaccard_coefficient", "adamic_adar_index", "resource_allocation_index", "preferential_attachment",
    "common_neighbor_centrality", "cn_soundarajan_hopcroft", "ra_index_soundarajan_hopcroft", "within_inter_cluster",
}  # fmt: skip
FIRST_PARAMETERS = {"source": "n0", "target": "n7", "n": "n0", "u": "n0", "v": "n7", "root": "n0"}


def calls(name: str, G: Any) -> Iterator[dict[str, Any]]:
    """Yield the arguments of a function for a graph."""
    import inspect

    parameters = list(inspect.signature(FUNCTIONS[name]).parameters.values())[1:]
    needed = {
        p.name: FIRST_PARAMETERS.get(p.name) for p in parameters if p.default is p.empty and p.kind != p.VAR_KEYWORD
    }
    top = [node for node in G if int(str(node).lstrip("n")) < 9]
    words = {"top": top, "bottom": [v for v in G if v not in top], "halves": [set(top), set(G) - set(top)]}
    words = words if top and len(top) < len(G) else {}
    degrees = {d for edges in ("", "in_", "out_") for _, d in getattr(G, f"{edges}degree", G.degree)}
    words |= {"degrees": {d: i for i, d in enumerate(degrees)}, "numbers": {v: i % 5 / 4 for i, v in enumerate(G)}}
    for given in ARGUMENTS.get(name, ({},)):
        chosen = {
            **needed,
            **{key: words.get(value, value) if isinstance(value, str) else value for key, value in given.items()},
        }
        if name.startswith("bipartite") and not words:
            continue
        yield chosen
        if not given and any(p.name == "weight" and p.default is None for p in parameters):
            yield {**chosen, "weight": "weight"}


def evaluated(compute: Callable[[], Any]) -> tuple[str, Any]:
    """Return the result, with iterators as lists, or the kind of the error."""
    try:
        result = compute()
        return "result", [*result] if isinstance(result, Iterator) else result
    except NotImplementedError:
        return "refused", None
    except Exception as error:
        return "error", next(
            kind for kind in type(error).__mro__ if kind.__module__ in ("builtins", "networkx.exception")
        )


def rounded(value: Any) -> str:
    """A key that sorts results alike that differ in the last bits."""
    if isinstance(value, list):
        return "[" + ", ".join(map(rounded, value)) + "]"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def plain(value: Any, ordered: bool) -> Any:
    """Return a value such that equal results are equal lists of leaves."""
    if isinstance(value, nx.Graph):
        ends = (edge[:2] if value.is_directed() else sorted(edge[:2], key=str) for edge in value.edges)
        edges = sorted(repr((*pair, data)) for pair, (*_, data) in zip(ends, value.edges(data=True), strict=True))
        return [type(value).__name__, sorted(map(repr, value.nodes(data=True))), edges, repr(sorted(value.graph))]
    if hasattr(value, "toarray"):
        return [value.format, value.dtype.str, value.toarray().tolist()]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        items = [[plain(key, ordered), plain(item, ordered)] for key, item in value.items()]
        return ["dict", *(items if ordered else sorted(items, key=rounded))]
    if isinstance(value, (set, frozenset)):
        return ["set", *sorted(map(repr, value))]
    if isinstance(value, (list, tuple)):
        parts = [plain(item, ordered) for item in value]
        return [type(value).__name__, *(parts if ordered else sorted(parts, key=rounded))]
    return float(value) if type(value) is int and abs(value) < 2**53 else value


def close(a: Any, b: Any) -> bool:
    """Whether two nested lists have equal leaves, floats up to rounding; numbers of any type are comparable."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-7) or (a != a and b != b)
    return bool(a == b)


def unoriented(scores: Any) -> Any:
    """Sort the nodes of each scored pair: NetworkX lists missing edges in the order of a set."""
    return [(*sorted(pair, key=str), score) for *pair, score in scores] if isinstance(scores, list) else scores


def public(name: str) -> Callable[..., Any]:
    """Return the function that users call, which checks the kind of the graph before it dispatches."""
    original = _registered_algorithms[name].orig_func
    found: Callable[..., Any] = getattr(sys.modules[original.__module__], original.__name__)
    return found


SAMPLE = sampling.draw("functions of NetworkX", sorted(FUNCTIONS), 8)


@pytest.mark.costly
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=sampling.marks(n, SAMPLE, pytest.mark.exhaustive)) for n in sorted(set(FUNCTIONS) - OTHERS)],
)
def test_results_are_those_of_networkx(name: str) -> None:
    function = public(name)
    computed = 0
    for label, G in GRAPHS.items():
        if name in AMBIGUOUS.get(label, ()):
            continue
        for given in calls(name, G):
            own = evaluated(lambda G=G, given=given: function(G, **given, backend="semiring"))
            if own[0] == "refused":
                continue
            theirs = evaluated(lambda G=G, given=given: function(G, **given))
            computed += own[0] == "result"
            ordered = name not in UNORDERED
            assert own[0] == theirs[0], (label, given, own, theirs)
            if own[0] == "error":
                assert own[1] is theirs[1], (label, given, own, theirs)
            else:
                scored = name in PREDICTIONS and "ebunch" not in given
                a, b = (plain(unoriented(v) if scored else v, ordered) for v in (own[1], theirs[1]))
                assert type(own[1]) is type(theirs[1]) or isinstance(own[1], (int, float)), (label, given, own, theirs)
                assert close(a, b), (label, given, a, b)
    assert computed, "no graph was computed by the backend"


@pytest.mark.parametrize("strategy", ["random_sequential", "connected_sequential", "connected_sequential_dfs"])
def test_greedy_colors_in_other_orders(strategy: str) -> None:
    """The colors are those of NetworkX for the order in which they are returned."""
    for G in (CONNECTED, LOOPS, GRAPHS["parallel"], nx.karate_club_graph(), nx.empty_graph(2)):
        random.seed(7)
        found = nx.greedy_color(G, strategy, backend="semiring")
        assert list(found.items()) == list(nx.greedy_color(G, lambda G, colors, order=list(found): order).items())
        if strategy == "random_sequential":
            random.seed(7)
            assert list(found.items()) == list(nx.greedy_color(G, strategy).items())
        elif len(G) == 34:  # a search from node 0
            search = nx.bfs_edges if strategy == "connected_sequential" else nx.dfs_edges
            assert list(found) == [0, *(child for _, child in search(G, 0))]


@pytest.mark.costly
def test_dominating_sets() -> None:
    for G in (SPARSE, LOOPS, GRAPHS["parallel"], nx.star_graph(4), nx.empty_graph(1)):
        for start in (None, list(G)[-1]):
            found = nx.dominating_set(G, start, backend="semiring")
            assert nx.is_dominating_set(G, found)
            assert start is None or start in found
    with pytest.raises(nx.NetworkXError):
        nx.dominating_set(SPARSE, "none", backend="semiring")
