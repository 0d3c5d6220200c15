"""Communities: groups of vertices with many edges within, and how good they are."""

from .coarsening import coarsen
from .ecg import ensemble_clustering
from .flow import markov_clustering, peer_pressure
from .leiden import leiden
from .louvain import louvain
from .modularity import PartitionQuality, modularity, partition_quality
from .moving import Communities
from .propagation import label_propagation
from .subgraphs import ego_graph, induced_subgraph

__all__ = [
    "Communities",
    "PartitionQuality",
    "coarsen",
    "ego_graph",
    "ensemble_clustering",
    "induced_subgraph",
    "label_propagation",
    "leiden",
    "louvain",
    "markov_clustering",
    "modularity",
    "partition_quality",
    "peer_pressure",
]
