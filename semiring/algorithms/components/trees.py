"""Breadth-first spanning forests: parents, preorder numbers and reductions over subtrees.

The trees of all components hang from one further vertex, number n, which is its own parent.  Sizes and extremes of
subtrees are sums towards the roots (`semiring.ops.treefix`).  The preorder number of a vertex is the sum, over the path
to its root, of 1 and the sizes of the smaller siblings.

Source: Tarjan, Vishkin, "An Efficient Parallel Biconnectivity Algorithm", SIAM J. Comput. 14(4), 1985.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring import Matrix, Vector, ops, semiring

from ..cached_property import kept
from .weak import connected_components


@dataclass(frozen=True)
class Forest:
    """A rooted spanning forest of n vertices below vertex n.

    parent: of size n + 1.  first, size: the preorder number of each vertex, and how many vertices its subtree has, of
    size n + 1: the subtree of v has the numbers first(v) to first(v) + size(v) - 1.
    """

    parent: Vector
    first: Vector
    size: Vector

    @kept
    def above(self) -> Vector:
        """Return `parent` without vertex n."""
        return self.parent[:-1].dup()

    @kept
    def number(self) -> Vector:
        """Return `first` without vertex n."""
        return self.first[:-1].dup()

    def subtree(self, value: Vector, op: Any) -> Vector:
        """t(v) = (+) of value(u) over the subtree of v."""
        return ops.treefix(self.parent, value, op, towards="roots")


def spanning_forest(A: Matrix) -> Forest:
    """Search A, which is symmetric, from the smallest vertex of each component; number the vertices in preorder."""
    n = A.nrows
    dtype = np.int32 if n < 2**31 - 1 else np.int64
    root = Vector.from_coo([0], 0, dtype, size=n, device=A.device)
    found = ops.closure(root, A, semiring.any_secondi[dtype])
    if found.nvals < n:  # not connected
        label = connected_components(A)
        root = label.ewise_mult(label.apply("rowindex"), "eq").select("==", True).apply("rowindex")
        found = ops.closure(root, A, semiring.any_secondi[dtype])
    parent = Vector.full(n, n + 1, dtype, device=A.device)
    parent[:n] << found
    parent(root_mask(root, n).S) << n
    size = ops.treefix(parent, Vector.full(1, n + 1, dtype, device=A.device), "plus", towards="roots")
    first = ops.treefix(parent, _offsets(parent, size), "plus", towards="leaves")
    return Forest(parent, first, size)


def root_mask(root: Vector, n: int) -> Vector:
    """Return the roots as a vector of size n + 1."""
    mask = root.dup()
    mask.resize(n + 1)
    return mask


def _offsets(parent: Vector, size: Vector) -> Vector:
    """o(v) = 1 and the sizes of the smaller siblings of v; 0 for vertex n.

    Running totals of the rows of a matrix with one entry for each vertex, in the row of its parent.
    """
    n = parent.size - 1
    ends = Vector.full(1, n + 1, np.int64, device=parent.device).apply("rowindex").to_dense()
    above, sizes = (vector[:n].dup().to_dense() for vector in (parent, size))
    children = Matrix.from_csr(ends, above, sizes, ncols=n + 1, copy=False, device=parent.device).T.dup()
    _, child, totals = children.scan("plus").to_csr()
    earlier = Vector.from_dense(totals, device=parent.device).ewise_mult(
        Vector.from_dense(children.to_csr()[2], device=parent.device), "minus"
    )
    offset = Vector.full(0, n + 1, size.dtype, device=parent.device)
    offset[child] << earlier.apply("plus", right=1)
    return offset
