"""Which results have an entry for a vertex or a pair of vertices: these carry the labels of the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from semiring import Labels, Matrix, Vector

P = ParamSpec("P")
R = TypeVar("R")

# Functions whose Vectors of n entries are indexed by vertices.
OVER_VERTICES = frozenset(
    {
        "ancestors",
        "articulation_points",
        "average_neighbor_degree",
        "betweenness",
        "bfs_layers",
        "bfs_levels",
        "bfs_parents",
        "bfs_trace",
        "biconnected_components",
        "cdlp",
        "closeness",
        "clustering",
        "colouring",
        "connected_components",
        "core_numbers",
        "degree_centrality",
        "degrees",
        "descendants",
        "eccentricity",
        "eigenvector_centrality",
        "fiedler_vector",
        "harmonic",
        "hits",
        "in_degree_centrality",
        "isolates",
        "katz_centrality",
        "label_propagation",
        "laplacian",
        "lcc",
        "leiden",
        "local_efficiency",
        "longest_paths",
        "louvain",
        "lowest_common_ancestors",
        "markov_clustering",
        "maximal_independent_set",
        "maximal_matching",
        "maximum_bipartite_matching",
        "maximum_flow",
        "most_reliable_paths",
        "node_boundary",
        "out_degree_centrality",
        "pagerank",
        "peer_pressure",
        "square_clustering",
        "sssp",
        "sssp_parents",
        "strongly_connected_components",
        "topological_generations",
        "triangle_centrality",
        "triangles",
        "two_colouring",
        "vertex_reciprocity",
        "voterank",
        "widest_paths",
    }
)
# Functions whose n x n matrices are indexed by vertices.  `bfs_levels` is not one of these: with k sources it returns a
# k x n matrix, whose rows are sources even where k = n.
OVER_PAIRS = frozenset(
    {
        "adamic_adar",
        "all_pairs",
        "biconnected_components",
        "bridges",
        "common_neighbors",
        "complement",
        "cosine",
        "edge_betweenness",
        "edge_boundary",
        "edge_triangles",
        "google_matrix",
        "jaccard",
        "k_core",
        "k_truss",
        "laplacian",
        "maximum_flow",
        "minimum_spanning_forest",
        "modularity_matrix",
        "number_of_walks",
        "overlap",
        "resource_allocation",
        "swap_edges",
        "transitive_closure",
        "truss_numbers",
    }
)


def carrying(function: Callable[P, R], vertices: bool, pairs: bool) -> Callable[P, R]:
    """Return the function, whose results have the labels of its graph: Vectors, matrices, or both."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        labels = getattr(args[0] if args else kwargs.get("A"), "labels", None)
        result = function(*args, **kwargs)
        if isinstance(labels, Labels):
            _label(result, labels, vertices, pairs)
        return result

    return called


def _label(result: Any, labels: Labels, vertices: bool, pairs: bool) -> None:
    n = len(labels)
    if isinstance(result, Vector):
        if vertices and result.size == n:
            result.labels = labels
    elif isinstance(result, Matrix):
        if pairs and result.shape == (n, n):
            result.labels = labels
    elif isinstance(result, tuple):
        for part in result:
            _label(part, labels, vertices, pairs)
    elif dataclasses.is_dataclass(result):
        for field in dataclasses.fields(result):
            _label(getattr(result, field.name), labels, vertices, pairs)
