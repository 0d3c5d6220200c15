"""How central each vertex is."""

from .betweenness import betweenness_centrality, edge_betweenness_centrality
from .closeness import closeness_centrality, harmonic_centrality
from .degree import degree_centrality, degrees, in_degree_centrality, out_degree_centrality
from .eigenvector import eigenvector_centrality, katz_centrality
from .google import google_matrix
from .hits import Hits, hits
from .pagerank import pagerank
from .voterank import voterank

__all__ = [
    "Hits",
    "betweenness_centrality",
    "closeness_centrality",
    "degree_centrality",
    "degrees",
    "edge_betweenness_centrality",
    "eigenvector_centrality",
    "google_matrix",
    "harmonic_centrality",
    "hits",
    "in_degree_centrality",
    "katz_centrality",
    "out_degree_centrality",
    "pagerank",
    "voterank",
]
