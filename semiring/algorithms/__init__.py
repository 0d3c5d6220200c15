"""Graph algorithms, each a composition of public matrix operations that users can write themselves."""

from . import ordering
from .centrality import pagerank
from .cohesion import (
    average_clustering,
    clustering,
    core_numbers,
    edge_triangles,
    generalized_degree,
    k_core,
    k_truss,
    lcc,
    rich_club,
    square_clustering,
    transitivity,
    triangle_centrality,
    triangle_count,
    triangles,
    truss_numbers,
)
from .components import (
    Blocks,
    Condensation,
    articulation_points,
    biconnected_components,
    bridges,
    condensation,
    connected_components,
    is_bipartite,
    is_connected,
    strongly_connected_components,
    two_colouring,
)
from .ordering import bfs_order, degree_order, locality_order, reverse_cuthill_mckee
from .paths import BfsTrace, bfs_levels, bfs_parents, bfs_trace, sssp

__all__ = [
    "BfsTrace",
    "Blocks",
    "Condensation",
    "articulation_points",
    "average_clustering",
    "bfs_levels",
    "bfs_order",
    "bfs_parents",
    "bfs_trace",
    "biconnected_components",
    "bridges",
    "clustering",
    "condensation",
    "connected_components",
    "core_numbers",
    "degree_order",
    "edge_triangles",
    "generalized_degree",
    "is_bipartite",
    "is_connected",
    "k_core",
    "k_truss",
    "lcc",
    "locality_order",
    "ordering",
    "pagerank",
    "reverse_cuthill_mckee",
    "rich_club",
    "square_clustering",
    "sssp",
    "strongly_connected_components",
    "transitivity",
    "triangle_centrality",
    "triangle_count",
    "triangles",
    "truss_numbers",
    "two_colouring",
]


def __dir__() -> list[str]:
    return sorted(__all__)
