"""The sizes of a frontier plot for each level, computed from a finished search by matrix operations.

The terms are those of Merrill, Garland, Grimshaw, "Scalable GPU Graph Traversal", PPoPP 2012, section 3.2: the edge
frontier of a level is every edge that leaves its vertices, its duplicate-free subset is the set of their ends, and the
vertex frontier is the part of these that is in no earlier level. They depend on the graph and the source only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import semiring as sr
from semiring.bridges.cli.search import Search

# The limit of products, one a level: a path of a million vertices would need a million.
MOST_PRODUCTS = 4096


@dataclass(frozen=True)
class Frontiers:
    """For each level: vertices in it, distinct ends of the edges that leave it (None: not computed), those edges."""

    title: str
    vertices: NDArray[np.int64]
    ends: NDArray[np.int64] | None
    edges: NDArray[np.int64]

    @property
    def series(self) -> list[tuple[str, NDArray[np.int64]]]:
        """The series of the plot, from the largest to the smallest."""
        ends = [] if self.ends is None else [("without duplicates", self.ends)]
        return [("edge frontier", self.edges), *ends, ("vertex frontier", self.vertices)]


def frontiers(title: str, A: sr.Matrix, found: Search) -> Frontiers:
    """Compute the sizes for a search.

    ends(d) = nvals(F any.pair A), F = the vertices of level d

    Cost: O(n) a level and O(nvals) in total. Above `MOST_PRODUCTS` levels the distinct ends are omitted.
    """
    depth = found.vertices.size
    ends = None
    if depth <= MOST_PRODUCTS:
        levels = found.levels
        sizes = [levels.select("==", d).vxm(A, "any_pair").nvals for d in range(depth)]
        ends = np.array(sizes, np.int64)
    return Frontiers(title, found.vertices, ends, found.edges)
