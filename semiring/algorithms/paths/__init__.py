"""Searches and paths from vertices: levels, parents, distances."""

from .bfs import BfsTrace, bfs_levels, bfs_parents, bfs_trace
from .sssp import sssp

__all__ = ["BfsTrace", "bfs_levels", "bfs_parents", "bfs_trace", "sssp"]
