"""How central each vertex is."""

from .pagerank import pagerank

__all__ = ["pagerank"]
