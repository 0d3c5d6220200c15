"""How central each vertex is."""

from .betweenness import betweenness, edge_betweenness
from .closeness import closeness, harmonic
from .degree import degree_centrality, degrees, in_degree_centrality, out_degree_centrality
from .eigenvector import eigenvector_centrality, katz_centrality
from .google import google_matrix
from .hits import Hits, hits
from .pagerank import pagerank
from .voterank import voterank

__all__ = [
    "Hits",
    "betweenness",
    "closeness",
    "degree_centrality",
    "degrees",
    "edge_betweenness",
    "eigenvector_centrality",
    "google_matrix",
    "harmonic",
    "hits",
    "in_degree_centrality",
    "katz_centrality",
    "out_degree_centrality",
    "pagerank",
    "voterank",
]
