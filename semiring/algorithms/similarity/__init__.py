"""How similar vertices are by their neighbors; samples of neighbors and walks; degrees."""

from .degrees import DegreeStatistics, degree_histogram, degree_statistics
from .neighbors import adamic_adar, common_neighbors, cosine, jaccard, overlap, resource_allocation
from .sampling import sample_neighbors
from .walks import node2vec_walks, random_walks

__all__ = [
    "DegreeStatistics",
    "adamic_adar",
    "common_neighbors",
    "cosine",
    "degree_histogram",
    "degree_statistics",
    "jaccard",
    "node2vec_walks",
    "overlap",
    "random_walks",
    "resource_allocation",
    "sample_neighbors",
]
