"""Local moving, the step of Louvain's method and of Leiden's: vertices move to the neighbouring group of highest gain.

    gain(v, c) = K(v, c) - r k(v) k(c - v) / W,      K(v, c) = sum of A(v, u) over label(u) = c

k(v) is the sum of row v, k(c - v) that of the rows of c other than v, and W the sum of all.

All vertices of a random quarter move at a time, by one vote: most of their neighbours stay, so that few moves spoil
each other.  In large graphs vertices vote again only after a neighbour has moved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from semiring import Matrix, Vector, ops
from semiring.exceptions import InvalidValue

from ..checks import number, undirected, weights
from ..randomness import uniform
from .coarsening import mass_of_groups
from .modularity import doubled, row_sums

# The parts of the vertices of which one moves at a time, and the votes after which a level ends (measured on the real
# graphs of the tests: halves end in lower modularity, more votes gain less than a further pass).
_PARTS, _VOTES = 4, 20
# Entries from which on only vertices beside one that has moved vote again: below, a vote of all costs no more than
# finding them.
_MANY = 1 << 18


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

    def modularity(self) -> float:
        """The modularity of the partition into single vertices.  Synchronises."""
        inside = float(self.whole.select("diag").reduce_scalar("plus").value or 0)
        share = self.mass.apply("truediv", right=self.total)
        return inside / self.total - self.resolution * float(share.inner(share).value or 0)


def first_level(name: str, A: Matrix, resolution: float) -> Level:
    """Check the arguments, and return the level of the graph itself.

    Weights are rounded to multiples of 2^-52 of a power of two above their sum, if they are not integers: sums are then
    exact, and every engine and every order of additions finds the same communities.
    """
    undirected(name, A, values=True)
    weights(name, A, least=0)
    resolution = number(name, "resolution", resolution)
    whole = doubled(A)
    total = float(whole.reduce_scalar("plus").value or 0)
    if not math.isfinite(total):
        raise InvalidValue(f"{name}: the sum of the weights must be finite, got {total}")
    if A.dtype.kind == "f" and total > 0:
        whole = rounded(whole, total)
        total = float(whole.reduce_scalar("plus").value or 0)
    return Level(whole.select("offdiag"), whole, row_sums(whole), total, resolution)


def rounded(A: Matrix, total: float) -> Matrix:
    """Return A with values rounded to multiples of 2^-52 of a bound of `total`: sums up to it are exact."""
    unit = 2.0 ** (math.frexp(total)[1] - 51)
    return A.apply("truediv", right=unit).apply("rint").apply("times", right=unit) if unit > 0 else A


def moved(level: Level, labels: Vector, seed: int, step: int) -> Vector:
    """Return the labels after votes until no vertex gains by a move, or for the largest number of votes.

    Synchronises once a vote.
    """
    n, device = level.n, labels.device
    active, quiet = None, 0
    for vote in range(_VOTES):
        voters = uniform(n, seed, step + vote, device=device).apply("<", right=1 / _PARTS)
        if active is not None:
            voters = voters.ewise_mult(active, "land")
        found = ops.vote(
            level.edges, labels, mass=level.mass, totals=mass_of_groups(labels, level.mass, n),
            rate=level.resolution / level.total, rows=voters, ties="own",
        )  # fmt: skip
        left = found.ewise_mult(labels, "ne").select("==", True)
        labels = found
        quiet = 0 if left.nvals else quiet + 1  # synchronises
        if quiet == _PARTS:
            break
        if level.edges.nvals >= _MANY:
            beside = left.vxm(level.edges, "any_pair").dup(bool)
            rest = voters.apply("lnot") if active is None else active.ewise_mult(voters, "gt")
            active = rest.ewise_add(beside, "lor")
    return labels
