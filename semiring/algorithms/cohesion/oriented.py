"""Edges by degree: the structure in which triangles are found.

A triangle is an edge whose ends have a common neighbor, so triangles are counted by products under the mask of the
edges.  Where degrees differ much, vertices are numbered by ascending degree, so that U, the entries above the diagonal,
leads to higher degrees and has short rows.  A triangle of i < j < k is then counted

    at its lower edge, between i and j,   by C<L> = U U':  row j, column i
    at its longest, between i and k,      by C<L> = L U':  row k, column i

with a sum by rows and one by columns for each vertex that is to count it.  Both are sums over the rows of L, so the
processes of a grid that have all of U divide these (`shares`): every one has rows of each degree, as the last ones have
most of the work.

The numbers matter for the choice of U alone: it may hold the entries that lead to a higher degree, or to the same and a
higher number, in any order of the vertices.  So where no process has the whole matrix, the vertices stay in place: the
order of degrees would send all entries.

Source: Latapy, "Main-memory triangle computations for very large (sparse (power-law)) graphs", Theoretical Computer
Science 407, 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from semiring import Matrix, Vector, indexunary

from ..ordering import degree_order, restore

# Vertices are reordered if the highest degree is more than so many times the mean one.  Reasoned: on road networks the
# reordering takes as long as the product that it would speed up; on Kronecker graphs the product takes a third.  Rows
# that are all short are combined as wholes: a dot product for each edge costs more than its few entries.
_SKEW = 8

# The shares of the rows of L, of which each process of a grid takes as many in turn.  Multiples of the golden section
# spread the rows of a process, however many shares it has.
shares = range(64)
_in_shares = indexunary.register_anonymous(
    lambda x, i, j, k: (((39 * i) % 64) >= (k // 64)) & (((39 * i) % 64) <= (k % 64)), "in_shares"
)


@dataclass(frozen=True)
class Oriented:
    """A symmetric matrix without a diagonal, its entries to later and to earlier rows, and the order of its rows.

    upper, lower: the entries above and below the diagonal; or those that lead to higher and to lower degrees, and
    between equal degrees those above and below the diagonal.
    order: order(k) is the vertex of row k; None where it is k.  method: of the products under a mask.
    """

    matrix: Matrix
    upper: Matrix
    lower: Matrix
    order: Vector | None
    method: str

    def of_shares(self, chosen: Sequence[int]) -> Oriented:
        """Return the graph with the rows of `lower` that are in consecutive shares of all."""
        if len(chosen) == len(shares):
            return self
        lower = self.lower.select(_in_shares, np.int64(len(shares) * chosen[0] + chosen[-1])).wait()
        return replace(self, lower=lower)

    def restored(self, v: Vector) -> Vector:
        """Return a vector over the rows as one over the vertices."""
        return v if self.order is None else restore(v, self.order)


def without_loops(A: Matrix) -> Matrix:
    """Return the structure of A without its diagonal, as a boolean matrix."""
    return A.apply("one").dup(bool).select("offdiag")


def degrees(P: Matrix) -> Vector:
    """d(v) = the number of entries in row v, int64; missing where there is none."""
    return P.apply("second", right=np.int64(1)).reduce_rowwise("plus")


def oriented(P: Matrix) -> Oriented:
    """Return P, symmetric and without a diagonal, in the order of degrees if they differ much.  Synchronizes."""
    n, order, method = P.nrows, None, "hash"
    most = degrees(P).reduce("max").value or 0
    if most * n > _SKEW * P.nvals:
        if P.format == "parts":
            return Oriented(P, *_by_degree(P), None, "auto")
        order, method = degree_order(P, descending=False), "auto"
        P = P.permute(order)
    return Oriented(P, P.select("triu", 1).wait(), P.select("tril", -1).wait(), order, method)


def _by_degree(P: Matrix) -> tuple[Matrix, Matrix]:
    """Return the entries of P that lead to higher degrees, or to the same and a higher number; and the others."""
    d = degrees(P)
    change = d.ewise_mult(P, "first").ewise_mult(d, "minus").wait()  # d(i) - d(j)
    equal = change.select("==", 0).wait()
    upper = change.select("<", 0).ewise_add(equal.select("triu", 1), "any").wait()
    lower = change.select(">", 0).ewise_add(equal.select("tril", -1), "any").wait()
    return P.dup(mask=upper.S), P.dup(mask=lower.S)


def closed_walks(graph: Oriented, ring: str = "plus_pair", weight: str | None = None) -> Vector:
    """t(v) = the sum over the triangles of v of their products under `ring`: a full Vector over the rows.

    weight: an operator that combines the product of two edges with the value of the third; None: the value is not read.
    """
    U, L, method = graph.upper, graph.lower, graph.method
    low = U.mxm(U.T, ring, mask=L.S, method=method).wait()  # a pending product would be computed for each of the sums
    high = L.mxm(U.T, ring, mask=L.S, method=method)
    if weight is not None:
        low, high = low.ewise_mult(L, weight).wait(), high.ewise_mult(L, weight)
    t = Vector.full(low.dtype.type(0), low.nrows, low.dtype, device=low.device)
    for part in (low.reduce_rowwise("plus"), low.reduce_columnwise("plus"), high.reduce_rowwise("plus")):
        t(accum="plus") << part
    return t
