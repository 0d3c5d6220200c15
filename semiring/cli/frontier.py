"""The sizes that a frontier plot shows, level by level, computed from a finished search by matrix operations.

In the words of Merrill, Garland, Grimshaw, "Scalable GPU Graph Traversal", PPoPP 2012, section 3.2: the edge frontier
of a level is every edge that leaves its vertices, its duplicate-free subset is the set of their ends, and the vertex
frontier is the part of these that no level before had. They belong to the graph and the source, not to an engine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import semiring as sr
from semiring.cli.search import Search

# One product a level: a path of a million vertices would take a million of them.
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
        """What is drawn, from the largest to the smallest."""
        ends = [] if self.ends is None else [("without duplicates", self.ends)]
        return [("edge frontier", self.edges), *ends, ("vertex frontier", self.vertices)]


def frontiers(title: str, A: sr.Matrix, found: Search) -> Frontiers:
    """The sizes for a search.

    ends(d) = nvals(F any.pair A), F = the vertices of level d

    Cost: O(n) a level and O(nvals) together. Above `MOST_PRODUCTS` levels the distinct ends are left out.
    """
    depth = found.vertices.size
    ends = None
    if depth <= MOST_PRODUCTS:
        levels = found.levels
        sizes = [levels.select("==", d).vxm(A, "any_pair").nvals for d in range(depth)]
        ends = np.array(sizes, np.int64)
    return Frontiers(title, found.vertices, ends, found.edges)
