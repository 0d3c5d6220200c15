"""Searches and paths from vertices: levels, parents, distances, extents, orders of acyclic graphs."""

from .acyclic import is_dag, longest_paths, topological_generations, topological_order
from .ancestry import lowest_common_ancestor, lowest_common_ancestors
from .averages import average_shortest_path_length, global_efficiency, local_efficiency, wiener_index
from .bfs import BfsTrace, bfs_levels, bfs_parents, bfs_trace
from .extent import diameter, eccentricity, radius
from .k_shortest import k_shortest_paths
from .languages import context_free_path_query, regular_path_query
from .pairs import all_pairs, number_of_walks, transitive_closure
from .route import Route, ancestors, descendants, has_path, shortest_path
from .sssp import ShortestPaths, shortest_path_tree, sssp, sssp_parents
from .widest import most_reliable_paths, widest_paths

__all__ = [
    "BfsTrace",
    "Route",
    "ShortestPaths",
    "all_pairs",
    "ancestors",
    "average_shortest_path_length",
    "bfs_levels",
    "bfs_parents",
    "bfs_trace",
    "context_free_path_query",
    "descendants",
    "diameter",
    "eccentricity",
    "global_efficiency",
    "has_path",
    "is_dag",
    "k_shortest_paths",
    "local_efficiency",
    "longest_paths",
    "lowest_common_ancestor",
    "lowest_common_ancestors",
    "most_reliable_paths",
    "number_of_walks",
    "radius",
    "regular_path_query",
    "shortest_path",
    "shortest_path_tree",
    "sssp",
    "sssp_parents",
    "topological_generations",
    "topological_order",
    "transitive_closure",
    "widest_paths",
    "wiener_index",
]
