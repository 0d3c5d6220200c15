"""The functions of `semiring.csgraph`: those of `scipy.sparse.csgraph`, on CPUs and GPUs."""

from __future__ import annotations

from scipy.sparse.csgraph import NegativeCycleError

from .components import connected_components
from .dense import (
    construct_dist_matrix,
    csgraph_from_dense,
    csgraph_from_masked,
    csgraph_masked_from_dense,
    csgraph_to_dense,
    csgraph_to_masked,
    reconstruct_path,
)
from .dijkstra import dijkstra
from .flows import MaximumFlowResult, maximum_flow
from .floyd_warshall import floyd_warshall
from .laplacian import laplacian
from .matching import maximum_bipartite_matching, min_weight_full_bipartite_matching, structural_rank
from .ordering import reverse_cuthill_mckee
from .paths import bellman_ford, johnson, shortest_path, yen
from .spanning import minimum_spanning_tree
from .traversal import breadth_first_order, breadth_first_tree, depth_first_order, depth_first_tree

__all__ = [
    "MaximumFlowResult",
    "NegativeCycleError",
    "bellman_ford",
    "breadth_first_order",
    "breadth_first_tree",
    "connected_components",
    "construct_dist_matrix",
    "csgraph_from_dense",
    "csgraph_from_masked",
    "csgraph_masked_from_dense",
    "csgraph_to_dense",
    "csgraph_to_masked",
    "depth_first_order",
    "depth_first_tree",
    "dijkstra",
    "floyd_warshall",
    "johnson",
    "laplacian",
    "maximum_bipartite_matching",
    "maximum_flow",
    "min_weight_full_bipartite_matching",
    "minimum_spanning_tree",
    "reconstruct_path",
    "reverse_cuthill_mckee",
    "shortest_path",
    "structural_rank",
    "yen",
]
