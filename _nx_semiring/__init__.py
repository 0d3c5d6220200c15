"""What NetworkX reads about the backend when it is imported.

It is a package of its own, because importing any module of `semiring` loads NumPy and some 190 modules, which every
``import networkx`` on a machine with this distribution would pay for.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["FUNCTIONS", "get_info"]

_ANOTHER_PATH = "Another of several shortest paths may be returned where lengths are 0 or negative."
_DIRECTED = "Directed graphs are left to NetworkX."
_FLOW = "Flow functions and negative capacities are left to NetworkX."
_HITS = (
    "By power iteration, up to 20 max_iter steps; without normalisation, edges or with negative weights "
    "left to NetworkX."
)
_LOUVAIN = (
    "Other communities than NetworkX's for the same seed; directed graphs, negative weights and max_level "
    "are left to NetworkX."
)
_NEGATIVE_LENGTHS = "Negative lengths are left to NetworkX."
_PROPAGATION = (
    "Other communities than NetworkX's for the same seed; directed graphs and negative weights are left to NetworkX."
)
_SORTED = "sort_neighbors is left to NetworkX."
_SPANNING_EDGES = "Sorted by weight for every algorithm; of edges of equal weight another may be chosen."
_SPANNING_TREE = "Of edges of equal weight another may be chosen."
_WEIGHTED_LOOPS = "Weights of graphs with self-loops are left to NetworkX."

#: The functions of the backend by their names in NetworkX's dispatch, and how they differ or what they do not compute.
#: ``tests/nx_backend/test_interface.py`` compares the names with those of `semiring.nx_backend`.
FUNCTIONS: Final[dict[str, str]] = {
    "adamic_adar_index": "Graphs with self-loops, and a node with itself, are left to NetworkX.",
    "adjacency_matrix": "",
    "all_pairs_all_shortest_paths": _NEGATIVE_LENGTHS,
    "all_pairs_bellman_ford_path": _ANOTHER_PATH,
    "all_pairs_bellman_ford_path_length": _ANOTHER_PATH,
    "all_pairs_dijkstra": _NEGATIVE_LENGTHS,
    "all_pairs_dijkstra_path": _NEGATIVE_LENGTHS,
    "all_pairs_dijkstra_path_length": _NEGATIVE_LENGTHS,
    "all_pairs_shortest_path": "",
    "all_pairs_shortest_path_length": "",
    "all_shortest_paths": _NEGATIVE_LENGTHS,
    "ancestors": "",
    "articulation_points": "",
    "asyn_lpa_communities": _PROPAGATION,
    "attracting_components": "",
    "average_clustering": _WEIGHTED_LOOPS,
    "average_shortest_path_length": _NEGATIVE_LENGTHS,
    "bellman_ford_path": _ANOTHER_PATH,
    "bellman_ford_path_length": _ANOTHER_PATH,
    "bellman_ford_predecessor_and_distance": _ANOTHER_PATH,
    "betweenness_centrality": "Weights are left to NetworkX.",
    "bfs_edges": _SORTED,
    "bfs_layers": "",
    "bfs_predecessors": _SORTED,
    "bfs_successors": _SORTED,
    "bfs_tree": _SORTED,
    "biadjacency_matrix": "Multigraphs are left to NetworkX.",
    "biconnected_component_edges": "",
    "biconnected_components": "",
    "bidirectional_dijkstra": _NEGATIVE_LENGTHS,
    "bidirectional_shortest_path": "Another of several shortest paths may be returned.",
    "bipartite_betweenness_centrality": "",
    "bipartite_degree_centrality": "",
    "boundary_expansion": "",
    "bridges": "",
    "center": _NEGATIVE_LENGTHS,
    "closeness_centrality": _NEGATIVE_LENGTHS,
    "clustering": _WEIGHTED_LOOPS,
    "color": "",
    "complement": "Multigraphs are left to NetworkX.",
    "condensation": "",
    "conductance": "",
    "connected_components": "",
    "convert_node_labels_to_integers": "Other orders than the default are left to NetworkX.",
    "core_number": _DIRECTED,
    "cut_size": "Overlapping sets, and a directed cut without its second set, are left to NetworkX.",
    "dag_longest_path": "A given topological order is left to NetworkX.",
    "dag_longest_path_length": "",
    "degree_centrality": "",
    "density": "",
    "descendants": "",
    "descendants_at_distance": "",
    "diameter": _NEGATIVE_LENGTHS,
    "dijkstra_path": _NEGATIVE_LENGTHS,
    "dijkstra_path_length": _NEGATIVE_LENGTHS,
    "dijkstra_predecessor_and_distance": _NEGATIVE_LENGTHS,
    "eccentricity": "Negative lengths and the parameter sp are left to NetworkX.",
    "edge_betweenness_centrality": "Weights and multigraphs are left to NetworkX.",
    "edge_expansion": "",
    "efficiency": "",
    "ego_graph": "undirected=True for directed graphs, and negative distances, are left to NetworkX.",
    "eigenvector_centrality": "Negative weights and start values are left to NetworkX.",
    "fast_label_propagation_communities": _PROPAGATION,
    "floyd_warshall": "Graphs with negative cycles are left to NetworkX.",
    "floyd_warshall_numpy": "Graphs with negative cycles are left to NetworkX.",
    "generalized_degree": "",
    "generic_bfs_edges": "neighbors is left to NetworkX.",
    "global_efficiency": "",
    "goldberg_radzik": _ANOTHER_PATH,
    "group_closeness_centrality": _NEGATIVE_LENGTHS,
    "group_degree_centrality": "",
    "group_in_degree_centrality": "",
    "group_out_degree_centrality": "",
    "harmonic_centrality": _NEGATIVE_LENGTHS,
    "harmonic_diameter": "Negative lengths and the parameter sp are left to NetworkX.",
    "has_bridges": "",
    "has_cycle": "",
    "has_path": "",
    "hits": _HITS,
    "hopcroft_karp_matching": _DIRECTED,
    "in_degree_centrality": "",
    "is_arborescence": "",
    "is_attracting_component": "",
    "is_biconnected": "",
    "is_bipartite": "",
    "is_branching": "",
    "is_connected": "",
    "is_directed_acyclic_graph": "",
    "is_dominating_set": "",
    "is_empty": "",
    "is_forest": "",
    "is_isolate": "",
    "is_k_regular": "",
    "is_negatively_weighted": "The weight of one edge is left to NetworkX.",
    "is_regular": "",
    "is_semiconnected": "",
    "is_strongly_connected": "",
    "is_tournament": "",
    "is_tree": "",
    "is_weakly_connected": "",
    "isolates": "",
    "jaccard_coefficient": "Graphs with self-loops are left to NetworkX.",
    "johnson": _ANOTHER_PATH,
    "k_core": _DIRECTED,
    "k_corona": _DIRECTED,
    "k_crust": _DIRECTED,
    "k_shell": _DIRECTED,
    "k_truss": "",
    "katz_centrality": "Negative weights and start values are left to NetworkX.",
    "kosaraju_strongly_connected_components": "A source is left to NetworkX.",
    "label_propagation_communities": "Other communities than NetworkX's.",
    "laplacian_matrix": "",
    "leiden_communities": "Undirected graphs without negative weights; max_level is not supported.",
    "louvain_communities": _LOUVAIN,
    "maximal_independent_set": "Another set than NetworkX's for the same seed.",
    "maximal_matching": "Another maximal matching than NetworkX's.",
    "maximum_flow": _FLOW,
    "maximum_flow_value": _FLOW,
    "maximum_spanning_edges": _SPANNING_EDGES,
    "maximum_spanning_tree": _SPANNING_TREE,
    "minimum_cut": _FLOW,
    "minimum_cut_value": _FLOW,
    "minimum_spanning_edges": _SPANNING_EDGES,
    "minimum_spanning_tree": _SPANNING_TREE,
    "mixing_expansion": "",
    "modularity": "Negative weights are left to NetworkX.",
    "multi_source_dijkstra": _NEGATIVE_LENGTHS,
    "multi_source_dijkstra_path": _NEGATIVE_LENGTHS,
    "multi_source_dijkstra_path_length": _NEGATIVE_LENGTHS,
    "negative_edge_cycle": "",
    "node_boundary": "",
    "node_connected_component": "",
    "node_expansion": "",
    "normalized_cut_size": "",
    "number_attracting_components": "",
    "number_connected_components": "",
    "number_of_isolates": "",
    "number_of_selfloops": "",
    "number_of_walks": "Multigraphs are left to NetworkX.",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "out_degree_centrality": "",
    "overall_reciprocity": "",
    "pagerank": "Negative weights are left to NetworkX.",
    "partition_quality": "",
    "periphery": _NEGATIVE_LENGTHS,
    "predecessor": "",
    "preferential_attachment": "",
    "radius": _NEGATIVE_LENGTHS,
    "reciprocity": "",
    "relabel_nodes": "Relabelling in place, and names that merge nodes, are left to NetworkX.",
    "resource_allocation_index": "Graphs with self-loops, and a node with itself, are left to NetworkX.",
    "reverse": "Multigraphs and views are left to NetworkX.",
    "rich_club_coefficient": "The coefficient normalised by a random graph is left to NetworkX.",
    "s_metric": "",
    "sets": "",
    "shortest_path": _NEGATIVE_LENGTHS,
    "shortest_path_length": _NEGATIVE_LENGTHS,
    "single_source_all_shortest_paths": _NEGATIVE_LENGTHS,
    "single_source_bellman_ford": _ANOTHER_PATH,
    "single_source_bellman_ford_path": _ANOTHER_PATH,
    "single_source_bellman_ford_path_length": _ANOTHER_PATH,
    "single_source_dijkstra": _NEGATIVE_LENGTHS,
    "single_source_dijkstra_path": _NEGATIVE_LENGTHS,
    "single_source_dijkstra_path_length": _NEGATIVE_LENGTHS,
    "single_source_shortest_path": "",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path": "",
    "single_target_shortest_path_length": "",
    "square_clustering": _DIRECTED,
    "strongly_connected_components": "",
    "to_dict_of_lists": "A list of nodes is left to NetworkX.",
    "to_scipy_sparse_array": "",
    "topological_generations": "",
    "topological_sort": "",
    "transitive_closure": "",
    "transitive_closure_dag": "",
    "transitivity": _DIRECTED,
    "triangles": "",
    "volume": "",
    "weakly_connected_components": "",
    "wiener_index": _NEGATIVE_LENGTHS,
}

#: Where matrices are made, None for the configured device; and the nodes and edges from which a graph is converted
#: under automatic dispatch.
SETTINGS: Final[dict[str, Any]] = {"device": None, "minimum_size": 10_000}


def get_info() -> dict[str, Any]:
    """Return the functions of the backend with their limits, and its settings: the target of the entry point."""
    return {
        "backend_name": "semiring",
        "project": "semiring",
        "package": "semiring",
        "short_summary": "Sparse linear algebra over semirings, on GPUs and CPUs.",
        "default_config": dict(SETTINGS),
        "functions": {name: {"additional_docs": note} if note else {} for name, note in FUNCTIONS.items()},
    }
