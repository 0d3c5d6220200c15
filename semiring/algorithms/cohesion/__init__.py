"""How closely vertices are joined: triangles, clustering, cores and trusses."""

from .burkhardt import triangle_centrality
from .clustering import average_clustering, clustering, transitivity
from .core import core_numbers, k_core
from .degrees import generalized_degree, rich_club
from .graphlets import graphlet_degrees
from .squares import square_clustering
from .triangles import edge_triangles, triangle_count, triangles
from .truss import k_truss, truss_numbers

__all__ = [
    "average_clustering",
    "clustering",
    "core_numbers",
    "edge_triangles",
    "generalized_degree",
    "graphlet_degrees",
    "k_core",
    "k_truss",
    "rich_club",
    "square_clustering",
    "transitivity",
    "triangle_centrality",
    "triangle_count",
    "triangles",
    "truss_numbers",
]
