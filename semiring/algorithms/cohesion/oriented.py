"""Edges by degree: the structure in which triangles are found.

A triangle is an edge whose ends have a common neighbour, so triangles are counted by products under the mask of the
edges.  One entry of the mask for each edge suffices, C(i, j) with j < i, and the shorter of the two rows should be the
one whose entries are looked up in the other: vertices are numbered by ascending degree where degrees differ much.

Source: Latapy, "Main-memory triangle computations for very large (sparse (power-law)) graphs", Theoretical Computer
Science 407, 2008.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semiring import Matrix, Vector

from ..ordering import degree_order, restore

# Vertices are reordered if the highest degree is more than so many times the mean one.  Reasoned: on road networks the
# reordering takes as long as the product that it would speed up; on Kronecker graphs the product takes a third.
_SKEW = 8


@dataclass(frozen=True)
class Oriented:
    """A symmetric matrix without a diagonal, its entries below the diagonal, and the order of its rows.

    order: order(k) is the vertex of row k; None where it is k.
    """

    matrix: Matrix
    lower: Matrix
    order: Vector | None

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
    """Return P, symmetric and without a diagonal, in the order of degrees if they differ much.  Synchronises."""
    n, order = P.nrows, None
    most = degrees(P).reduce("max").value or 0
    if most * n > _SKEW * P.nvals:
        order = degree_order(P, descending=False)
        P = P.permute(order)
    return Oriented(P, P.select("tril", -1), order)


def ends(C: Matrix, op: str = "plus") -> Vector:
    """w(v) = the sum of C(e) over the edges e with end v, C storing each edge once: a full Vector."""
    w = Vector.full(C.dtype.type(0), C.nrows, C.dtype, device=C.device)
    w(accum=op) << C.reduce_rowwise(op)
    w(accum=op) << C.reduce_columnwise(op)
    return w
