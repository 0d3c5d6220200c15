"""Graph algorithms, each a composition of public matrix operations: what users could have written themselves."""

from .bfs import BfsTrace, bfs_levels, bfs_parents, bfs_trace
from .components import connected_components
from .pagerank import pagerank
from .sssp import sssp

__all__ = ["BfsTrace", "bfs_levels", "bfs_parents", "bfs_trace", "connected_components", "pagerank", "sssp"]


def __dir__() -> list[str]:
    return sorted(__all__)
