"""Properties of the structure of a graph, and matrices that describe it."""

from .boundaries import cut_size, edge_boundary, is_dominating_set, node_boundary
from .counts import density, is_regular, isolates, reciprocity, vertex_reciprocity
from .fiedler import Fiedler, fiedler_vector
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
from .swapping import swap_edges
from .triads import triad_census

__all__ = [
    "Fiedler",
    "Incidence",
    "Laplacian",
    "LineGraph",
    "average_neighbor_degree",
    "complement",
    "cut_size",
    "degree_assortativity",
    "density",
    "edge_boundary",
    "fiedler_vector",
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
    "swap_edges",
    "triad_census",
    "vertex_reciprocity",
]
