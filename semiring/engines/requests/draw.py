"""The specs of generated graphs: random edges as sort keys, their structure, weights; lattices and stars.

Every engine returns the same arrays for the same request.  A random number is output `counter` of SplitMix64 seeded by
(seed, purpose), so a number does not depend on the chunk, thread or process that computes it
(`engines.shared.draw_numpy`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from ...formats import Array, Pattern
from ...formats.records import record
from .operands import Spec

__all__ = [
    "CHUNK_EDGES",
    "BuildKeys",
    "DrawEdges",
    "DrawOrder",
    "DrawWeights",
    "Lattice",
    "RandomEdges",
    "Star",
    "column_bits",
]

#: Edges whose ends are in memory at a time, where they are not written as keys at once: some hundred megabytes.
CHUNK_EDGES = 1 << 22


def column_bits(ncols: int) -> int:
    """Return how many low bits of a key hold the column: those of the largest one."""
    return max(ncols - 1, 0).bit_length()


@record
class RandomEdges:
    """Edges between n vertices, of which number e is a function of the seed and e.

    shares: for R-MAT, where n is a power of two: the probabilities of the first quadrant, of the first two, and of the
    first three, in units of 2**-32; None: both ends are uniform.
    order: ``order[v]`` is the final number of vertex v, an int64 array; None: v.  For R-MAT.
    """

    n: int
    seed: int
    shares: tuple[int, int, int] | None = None
    order: Array | None = None


@record
class DrawEdges(Spec):
    """The keys ``row << column_bits(n) | column`` of edges first .. first + count - 1, as int64, in any order.

    symmetric: of both directions of each edge.  loops: False: without those from a vertex to itself.
    report: called with the number of edges drawn so far; None: not reported.
    """

    name: ClassVar[str] = "draw_edges"
    edges: RandomEdges
    first: int
    count: int
    symmetric: bool
    loops: bool
    report: Callable[[int], None] | None = None


@record
class BuildKeys(Spec):
    """The structure, a Pattern, of the distinct keys ``row << column_bits(ncols) | column``.

    parts: arrays of int64; the list is emptied, and the arrays may be overwritten.
    """

    name: ClassVar[str] = "build_keys"
    nrows: int
    ncols: int
    parts: list[Array]


@record
class DrawOrder(Spec):
    """A random order of 0, ..., n - 1: the int64 positions of n random keys after a stable sort."""

    name: ClassVar[str] = "draw_order"
    n: int
    seed: int


@record
class DrawWeights(Spec):
    """An int32 weight from low to high for each entry, the same for (i, j) and (j, i).

    top, left: the first row and column of the pattern in the graph; n: the number of vertices of the graph.
    """

    name: ClassVar[str] = "draw_weights"
    pattern: Pattern
    seed: int
    low: int
    high: int
    top: int
    left: int
    n: int


@record
class Lattice(Spec):
    """The structure, a Pattern, of a grid of points of which neighbors differ by one in one coordinate.

    shape: up to three sides, the last coordinate fastest.  rows, cols: the bounds of a block, whose positions count
    from 0.
    """

    name: ClassVar[str] = "lattice"
    shape: tuple[int, ...]
    rows: tuple[int, int]
    cols: tuple[int, int]


@record
class Star(Spec):
    """The structure, a Pattern, of vertex 0 and its `leaves`."""

    name: ClassVar[str] = "star"
    leaves: int
