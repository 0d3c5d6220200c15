"""Breadth-first spanning forests: parents, preorder numbers and reductions over subtrees, in O(log depth) rounds.

With P_k(v) the 2^k-th ancestor of v, sums over the descendants within distance 2^k of v, and over its ancestors,
double their reach in each round:

    down_{k+1}(v) = down_k(v) (+) down_k of all u with P_k(u) = v        (a scatter)
    up_{k+1}(v)   = up_k(v) (+) up_k(P_k(v))                             (a gather)
    P_{k+1}       = P_k(P_k)

The trees of all components hang from one further vertex, number n, which is its own parent.

Source of the doubling: Wyllie, "The Complexity of Parallel Computations", 1979; Hillis, Steele, "Data Parallel
Algorithms", CACM 29(12), 1986.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring import Matrix, Vector, ops, semiring

from .weak import connected_components


@dataclass(frozen=True)
class Forest:
    """A rooted spanning forest of n vertices below vertex n.

    parent: of size n + 1.  jumps: P_0, P_1, ... as long as one of them is below n.  first, size: the preorder
    number of each vertex, and how many vertices its subtree has, of size n + 1: the subtree of v has the numbers
    first(v) to first(v) + size(v) - 1.
    """

    parent: Vector
    jumps: tuple[Vector, ...]
    first: Vector
    size: Vector


def spanning_forest(A: Matrix) -> Forest:
    """Search A, which is symmetric, from the smallest vertex of each component; number the vertices in preorder."""
    n = A.nrows
    dtype = np.int32 if n < 2**31 - 1 else np.int64
    label = connected_components(A)
    root = label.ewise_mult(label.apply("rowindex"), "eq").select("==", True)
    found = ops.closure(root.apply("rowindex"), A, semiring.any_secondi[dtype])
    parent = Vector.full(n, n + 1, dtype, device=A.device)
    parent[:n] << found
    parent(root_mask(root, n).S) << n
    jumps, jump = [], parent
    while bool(jump.reduce("min") < n):  # synchronises
        jumps.append(jump)
        jump = jump[jump].dup()
    size = subtree(Vector.full(1, n + 1, dtype, device=A.device), tuple(jumps), "plus")
    return Forest(parent, tuple(jumps), _preorder(parent, size, tuple(jumps)), size)


def root_mask(root: Vector, n: int) -> Vector:
    """Return the roots as a vector of size n + 1."""
    mask = root.dup()
    mask.resize(n + 1)
    return mask


def subtree(value: Vector, jumps: tuple[Vector, ...], op: Any) -> Vector:
    """t(v) = (+) of value(u) over the subtree of v, for v < n; for v = n only of an idempotent monoid."""
    total = value.dup()
    for jump in jumps:
        total(accum=op)[jump] << total.dup()
    return total


def _preorder(parent: Vector, size: Vector, jumps: tuple[Vector, ...]) -> Vector:
    """first(v) = the sum of the offsets of v and its ancestors: 1 and the sizes of the smaller siblings of each."""
    n = parent.size - 1
    children, parents = parent[:n].to_coo()
    tree = Matrix.from_coo(parents, children, size[:n].to_coo()[1], nrows=n + 1, ncols=n, device=parent.device)
    offset = Vector.full(0, n + 1, size.dtype, device=parent.device)
    before = tree.scan("plus").ewise_add(tree, "minus").reduce_columnwise("plus")
    offset[:n] << before.apply("plus", right=1)
    for jump in jumps:
        offset(accum="plus") << offset[jump].dup()
    return offset
