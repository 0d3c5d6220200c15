"""Components of graphs."""

from .weak import connected_components

__all__ = ["connected_components"]
