"""Graph algorithms, each a composition of public matrix operations that users can write themselves."""

from . import ordering
from .centrality import pagerank
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
    "bfs_levels",
    "bfs_order",
    "bfs_parents",
    "bfs_trace",
    "biconnected_components",
    "bridges",
    "condensation",
    "connected_components",
    "degree_order",
    "is_bipartite",
    "is_connected",
    "locality_order",
    "ordering",
    "pagerank",
    "reverse_cuthill_mckee",
    "sssp",
    "strongly_connected_components",
    "two_colouring",
]


def __dir__() -> list[str]:
    return sorted(__all__)
