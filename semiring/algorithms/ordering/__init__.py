"""Orders of the vertices, and the mapping of results of a reordered graph to the original.

An order is a permutation as a full Vector p of integers: p(k) is the vertex that becomes vertex k, so that
``A.permute(p)`` is the reordered matrix, B(i, j) = A(p(i), p(j)).  Results on B use the new numbers; `restore` maps
them to the numbers of A, and `inverse` maps a source to its new number:

    B = A.permute(p)
    levels = restore(bfs_levels(B, inverse(p)[source].value), p)
"""

from .degrees import degree_order
from .locality import locality_order
from .permutations import inverse, restore
from .traversal import bfs_order, reverse_cuthill_mckee

__all__ = ["bfs_order", "degree_order", "inverse", "locality_order", "restore", "reverse_cuthill_mckee"]


def __dir__() -> list[str]:
    return sorted(__all__)
