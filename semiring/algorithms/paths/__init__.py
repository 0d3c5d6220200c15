"""Searches and paths from vertices: levels, parents, distances, extents, orders of acyclic graphs."""

from .acyclic import is_dag, longest_paths, topological_generations, topological_order
from .bfs import BfsTrace, bfs_layers, bfs_levels, bfs_parents, bfs_trace
from .extent import diameter, eccentricity, radius
from .pairs import all_pairs, number_of_walks, transitive_closure
from .route import ancestors, descendants, has_path, shortest_path
from .sssp import ShortestPaths, sssp, sssp_parents
from .widest import most_reliable_paths, widest_paths

__all__ = [
    "BfsTrace",
    "ShortestPaths",
    "all_pairs",
    "ancestors",
    "bfs_layers",
    "bfs_levels",
    "bfs_parents",
    "bfs_trace",
    "descendants",
    "diameter",
    "eccentricity",
    "has_path",
    "is_dag",
    "longest_paths",
    "most_reliable_paths",
    "number_of_walks",
    "radius",
    "shortest_path",
    "sssp",
    "sssp_parents",
    "topological_generations",
    "topological_order",
    "transitive_closure",
    "widest_paths",
]
