"""Local moving, the step of Louvain's method and of Leiden's: vertices move to the neighboring group of highest gain.

    gain(v, c) = K(v, c) - r k(v) k(c - v) / W,      K(v, c) = sum of A(v, u) over label(u) = c

k(v) is the sum of row v, k(c - v) that of the rows of c other than v, and W the sum of all.

Vertices move by random parts, in one call of `ops.local_moving`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from semiring import Matrix, Vector, ops

from ..checks import number, undirected, weights
from ..randomness import thunk
from ..scaling import bounded
from .modularity import doubled, row_sums

# The parts of the vertices that move one after the other, and the passes over them after which a level ends; below
# `_MANY` entries, and from there on.  Measured on the real graphs of the tests and on Kronecker graphs: the more parts,
# the more vertices of a large graph join in a pass (of kron18 the edges between groups after two passes are 95 of 100
# with 4 parts, 15 with 32); more passes end in no higher modularity, because groups are then large before any join.
_SMALL, _LARGE, _MANY = (8, 5), (32, 3), 1 << 18
# The number of starts below so many entries: on small graphs, chance decides more than any step of a method.
_STARTS = ((8, 1 << 13), (4, 1 << 16), (1, 1 << 63))
# Steps of random numbers of a start.
_START = 1 << 18


@dataclass(frozen=True)
class Communities:
    """A partition of the vertices into communities, and the coarser and finer ones of the run.

    Attributes
    ----------
    labels : Vector of size n, full
        The community of each vertex; they are numbered from 0 in the order of their smallest vertices.
    modularity : float
        Of these labels; NaN for a graph without weight.
    levels : tuple of Vectors
        The labels after each level of the last pass, from the finest; the last are `labels`.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 0), (2, 3), (3, 2)])
    >>> found = sr.algorithms.louvain(A)
    >>> found.labels.to_dict(), found.modularity
    ({0: 0, 1: 0, 2: 1, 3: 1}, 0.5)
    """

    labels: Vector
    modularity: float
    levels: tuple[Vector, ...]


@dataclass(frozen=True)
class Level:
    """The graph of one level.

    edges: its weights without the diagonal.  whole: with it.  mass: k(v), the sum of each row of the latter.  total: W.
    """

    edges: Matrix
    whole: Matrix
    mass: Vector
    total: float
    resolution: float

    @property
    def n(self) -> int:
        """The number of vertices."""
        return self.edges.nrows

    def coarser(self, whole: Matrix) -> Level:
        """The level of the groups, whose graph is `whole`."""
        return Level(whole.select("offdiag"), whole, row_sums(whole), self.total, self.resolution)

    def modularity(self, inside: Matrix | None = None, masses: Vector | None = None) -> float:
        """The modularity of a partition, by the edges within its groups and their masses.  Synchronizes.

        By default of the partition into single vertices.
        """
        within = 0 if inside is None else inside.reduce_scalar("plus").get(0)
        within += self.whole.select("diag").reduce_scalar("plus").get(0)
        share = (self.mass if masses is None else masses).apply("truediv", right=self.total)
        return float(within) / self.total - self.resolution * float(share.inner(share).value or 0)


def first_level(name: str, A: Matrix, resolution: float) -> Level:
    """Check the arguments, and return the level of the graph itself.

    Weights are rounded to multiples of 2^-52 of a power of two above their sum, if they are not integers: sums are then
    exact, and every engine and every order of additions finds the same communities.
    """
    undirected(name, A, values=True)
    weights(name, A, least=0, finite=True)
    resolution = number(name, "resolution", resolution)
    whole = doubled(bounded(A, 4 * A.nvals, powers=2)[0])
    total = float(whole.reduce_scalar("plus").value or 0)
    if A.dtype.kind == "f" and total > 0:
        whole = rounded(whole, total)
        total = float(whole.reduce_scalar("plus").value or 0)
    return Level(whole.select("offdiag"), whole, row_sums(whole), total, resolution)


def best_of_starts(finest: Level, run: Callable[[int], Communities]) -> Communities:
    """Return the communities of the highest modularity of `run(step)`, for several starts on a small graph.

    step: of the first random numbers of a start, which may use 2^18 steps.
    """
    starts = next(number for number, entries in _STARTS if finest.edges.nvals < entries)
    return max((run(start * _START) for start in range(starts)), key=lambda found: found.modularity)


def rounded(A: Matrix, total: float) -> Matrix:
    """Return A with values rounded to multiples of 2^-52 of a bound of `total`: sums up to it are exact."""
    unit = 2.0 ** (math.frexp(total)[1] - 51)
    return A.apply("truediv", right=unit).apply("rint").apply("times", right=unit) if unit > 0 else A


def moved(level: Level, labels: Vector, seed: int, step: int) -> Vector:
    """Return the labels after passes until no vertex gains by a move, or for the largest number of passes."""
    parts, passes = _SMALL if level.edges.nvals < _MANY else _LARGE
    return ops.local_moving(
        level.edges, labels, mass=level.mass, rate=level.resolution / level.total, parts=parts, seed=thunk(seed, step),
        max_passes=passes,
    )  # fmt: skip
