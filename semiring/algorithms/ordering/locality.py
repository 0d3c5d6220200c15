"""An order in which the neighbors of a vertex, and vertices with the same neighbors, are near one another.

Compressed rows store the gaps between columns, which are small where the columns of a row are close.  Crawls and meshes
have such an order; random, hashed or degree-sorted identifiers have not, and a new order must be computed.  There are
two methods, both a few matrix operations:

*Shingles.*  h(v) is a random number of the vertex.  s(v) = min_k h(k) over the neighbors k of v is one product over
``min_second``.  Two vertices have the same s with a probability equal to the overlap of their neighborhoods (their
Jaccard coefficient), so that sorting by s, a second such number, and then the degree makes similar vertices adjacent.

*Hierarchical clusters.*  Each vertex joins its neighbor of least h, the one that determines s: the trees of these
choices are the first clusters.  Then each cluster joins the one with the largest edge weight relative to the sizes,
weight / sqrt(size i size j).  As in Borůvka's rounds, every cluster that has a neighbor joins one, so that the number
of clusters at least halves; after a few rounds there is one for each component.  The weights between clusters are the
product P' A P, where P(v, c) is stored if v is in c.

The order is that of the leaves of the tree of clusters, so that clusters are contiguous on every level.  Siblings,
clusters and vertices alike, are sorted by the least position of their vertices in the order of shingles.

Sources: Broder, "On the Resemblance and Containment of Documents", 1997; Chierichetti, Kumar, Lattanzi, Mitzenmacher,
Panconesi, Raghavan, "On Compressing Social Networks", KDD 2009 (shingles); Boldi, Rosa, Santini, Vigna, "Layered Label
Propagation", WWW 2011, and Arai, Shiokawa, Yamamuro, Onizuka, Iwamura, "Rabbit Order", IPDPS 2016 (hierarchical
clusters); Holtgrewe, Sanders, Schulz, "Engineering a Scalable High Quality Graph Partitioner", IPDPS 2010 (weights
divided by sizes); Borůvka, 1926.
"""

from __future__ import annotations

import numpy as np

from semiring import Matrix, Vector, binary, semiring

from ..checks import square
from ..components import connected_components
from ..vertex_labels import algorithm
from .degrees import degree_order
from .permutations import inverse, numbers, sorted_by

# Pairs of odd numbers, alternately multiplier and addend of a mixing round (31 bits of SplitMix64's and MurmurHash3's).
_MIXERS = ((0x476D1CE5, 0x133111EB), (0x5EBCA6B5, 0x42B2AE35))
_ROUNDS = 4
_folded = binary.register_anonymous("x ^ shr(x, y)", "folded")


@algorithm(".>v")
def locality_order(A: Matrix) -> Vector:
    """p(0), p(1), ... = the vertices so that those with edges or neighbors in common are near one another.

    The order for compression: ``A.permute(locality_order(A)).compress("packed")``.

    Parameters
    ----------
    A : Matrix, n x n
        Values are not read; an edge counts in both directions.

    Returns
    -------
    Vector of size n, full, int32 (int64 from n = 2**31): a permutation.  The same one on every call.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    OutOfMemory

    Notes
    -----
    Cost: two products with a vector, two of matrices for the edges between the first clusters, and a few more on
    the remaining clusters, whose number shrinks in every round: O(n + nvals) in all.  Memory: in the first product of
    matrices up to 8 bytes an entry.  Synchronizes a few times a round.

    Method and sources: see the module.

    Examples
    --------
    >>> A = sr.random.grid2d(30, 30)
    >>> p = sr.algorithms.locality_order(A)
    >>> A.permute(p).nvals == A.nvals, sorted(p.to_dict().values()) == list(range(900))
    (True, True)
    """
    n = square("locality_order", A)
    if n == 0:
        return numbers(0, A.device)
    edges = A.apply("second", right=np.int64(1))
    directed = not A.is_symmetric_structure
    hashes = [_random_numbers(n, mixers, A.device) for mixers in _MIXERS]
    near = [_least_of_neighbors(edges, h, directed) for h in hashes]
    # Isolated vertices have no shingle and are sorted last.
    bound = 1 << _bits(n)
    keys = [Vector.from_dense(s.to_dense(bound), device=A.device) for s in near]
    position = inverse(degree_order(A, descending=False))
    for key in keys:
        position = inverse(sorted_by(key, bound + 1, position, n))

    layers = [_joined(near[-1], _owners(hashes[-1], bound), n)]
    least = [position, _least_of_members(position, layers[0])]
    W = _between(A.apply("second", right=np.float32(1)), layers[0], directed)
    size = _member_counts(Vector.full(1, n, np.float32, device=A.device), layers[0])
    while W.nvals:  # synchronizes
        strongest = W.mxm(size.apply("sqrt").apply("minv").diag(), semiring.plus_times).reduce_rowwise("argmax")
        layers.append(_joined(strongest, None, W.nrows))
        least.append(_least_of_members(least[-1], layers[-1]))
        W = _between(W, layers[-1], False)
        size = _member_counts(size, layers[-1])

    order = sorted_by(least.pop(), n)
    while layers:
        above = inverse(order)
        order = sorted_by(above[layers.pop()], above.size, least.pop(), n)
    return order


def _bits(n: int) -> int:
    return max(1, (n - 1).bit_length())


def _random_numbers(n: int, mixers: tuple[int, int], device: str) -> Vector:
    """Return distinct pseudo-random numbers below the next power of two.

    Multiplication by an odd number and folding the upper half of the bits into the lower one are both bijective.
    """
    bits = _bits(n)
    x = numbers(n, device)
    multiplier, addend = mixers
    for _ in range(_ROUNDS):
        x = x.apply("times", right=np.int64(multiplier)).apply("plus", right=addend)
        x = x.apply("band", right=(1 << bits) - 1).apply(_folded, right=(bits + 1) // 2)
        multiplier, addend = addend, multiplier
    return x


def _least_of_neighbors(A: Matrix, h: Vector, directed: bool) -> Vector:
    """s(v) = min_k h(k) over the neighbors k of v; missing where it has none."""
    s = A.mxv(h, semiring.min_second)
    return s.ewise_add(A.T.mxv(h, semiring.min_second), "min") if directed else s


def _owners(h: Vector, bound: int) -> Vector:
    """Return the vertex of each random number: the inverse of h."""
    return Vector.from_coo(h.to_dense(), numbers(h.size, h.device).to_dense(), size=bound, device=h.device)


def _joined(choice: Vector, owners: Vector | None, n: int) -> Vector:
    """Return the cluster of each of n vertices (0, 1, ...), where each joins its choice, if it has one.

    owners: maps a choice to a vertex, if it is not itself one.
    """
    vertices, chosen = choice.to_coo(index_dtype=None)
    if owners is not None:
        chosen = owners[chosen].to_dense()
    label = connected_components(Matrix.from_coo(vertices, chosen, True, nrows=n, ncols=n, device=choice.device))
    roots, _ = label.dup(mask=label.ewise_mult(numbers(n, label.device), "eq").V).to_coo(index_dtype=None)
    number = Vector.from_coo(roots, numbers(int(roots.size), label.device).to_dense(), size=n, device=label.device)
    return Vector.from_dense(number[label].to_dense(), device=label.device)


def _least_of_members(position: Vector, cluster: Vector) -> Vector:
    """Return the least position in each cluster."""
    return _reduced(position, cluster, "min")


def _member_counts(size: Vector, cluster: Vector) -> Vector:
    """Return the sum of sizes in each cluster."""
    return _reduced(size, cluster, "plus")


def _reduced(values: Vector, cluster: Vector, op: str) -> Vector:
    count = int(cluster.reduce("max")) + 1  # synchronizes
    made = Vector.from_coo(cluster.to_dense(), values.to_dense(), size=count, dup_op=op, device=cluster.device)
    return Vector.from_dense(made.to_dense(), device=cluster.device)


def _between(W: Matrix, cluster: Vector, directed: bool) -> Matrix:
    """P' W P: the weight between each two clusters, without edges inside one."""
    vertices = numbers(cluster.size, cluster.device).to_dense()
    P = Matrix.from_coo(vertices, cluster.to_dense(), np.float32(1), nrows=cluster.size, device=cluster.device)
    between = P.T.mxm(W.mxm(P, "plus_first"), "plus_second").select("offdiag")
    return between.ewise_add(between.T, "plus") if directed else between
