"""Properties of the structure of a graph, and matrices that describe it."""

from .boundaries import cut_size, edge_boundary, is_dominating_set, node_boundary
from .counts import density, is_regular, isolates, reciprocity, vertex_reciprocity
from .matrices import (
    Incidence,
    Laplacian,
    LineGraph,
    complement,
    incidence_matrix,
    laplacian,
    line_graph,
    modularity_matrix,
)
from .mixing import average_neighbor_degree, degree_assortativity, s_metric

__all__ = [
    "Incidence",
    "Laplacian",
    "LineGraph",
    "average_neighbor_degree",
    "complement",
    "cut_size",
    "degree_assortativity",
    "density",
    "edge_boundary",
    "incidence_matrix",
    "is_dominating_set",
    "is_regular",
    "isolates",
    "laplacian",
    "line_graph",
    "modularity_matrix",
    "node_boundary",
    "reciprocity",
    "s_metric",
    "vertex_reciprocity",
]
