"""Graph algorithms, each a composition of public matrix operations that users can write themselves."""

from . import ordering
from .centrality import pagerank
from .components import connected_components
from .ordering import bfs_order, degree_order, locality_order, reverse_cuthill_mckee
from .paths import BfsTrace, bfs_levels, bfs_parents, bfs_trace, sssp

__all__ = [
    "BfsTrace",
    "bfs_levels",
    "bfs_order",
    "bfs_parents",
    "bfs_trace",
    "connected_components",
    "degree_order",
    "locality_order",
    "ordering",
    "pagerank",
    "reverse_cuthill_mckee",
    "sssp",
]


def __dir__() -> list[str]:
    return sorted(__all__)
