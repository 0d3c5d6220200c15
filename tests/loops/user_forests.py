"""Loops of the engines as users write them: over forests, acyclic graphs and the edges in order, and votes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix, Vector, agg, unary
from tests.loops.programs import bellman_ford, symmetric

_lengths = sr.compile(strict=True)(bellman_ford)
lowest_free = unary.register_anonymous("band(bnot(x), x + 1)", "lowest_free")


def subtree_sums(parent: Vector, values: Vector) -> Any:
    """Sums over the descendants: a climb from each leaf, which ends where a vertex has children that are not complete.

    pending(v): the children of v that are not complete, and -1 once v is.
    """
    n = parent.size
    total = values.dup()
    pending = Vector.full(0, n)
    for v in range(n):
        above = parent[v].value
        if above != v:
            pending[above] += 1
    for leaf in range(n):
        v = leaf
        while pending[v].value == 0:
            pending[v] = -1
            above = parent[v].value
            if above == v:
                break
            total[above] += total[v].value
            pending[above] -= 1
            v = above
    return total


def subtree_sums_by_rounds(parent: Vector, values: Vector) -> Any:
    """Sums over the descendants within 2^k edges, for k = 0, 1, ...: the reach of a sum doubles in each round.

    above(v): the ancestor 2^k edges above v; n where there is none.
    """
    n = parent.size
    above, total = _below_one(parent), Vector.full(0, n + 1)
    total[:n] << values
    while above.reduce("min").get(n) < n:
        total(accum="plus") << total.reduce_by(above, "plus")
        total[n] = 0
        above = above[above]
    return total[:n].new()


def path_sums(parent: Vector, values: Vector) -> Any:
    """Sums over the ancestors: a climb to a complete vertex, whose path is completed on the way back."""
    n = parent.size
    total = values.dup()
    complete = Vector.full(False, n)
    path = Vector.full(0, n)
    for start in range(n):
        v = start
        length = 0
        while not complete[v].value:
            complete[v] = True
            if parent[v].value == v:
                break
            path[length] = v
            length += 1
            v = parent[v].value
        while length > 0:
            length -= 1
            below = path[length].value
            total[below] += total[v].value
            v = below
    return total


def path_sums_by_rounds(parent: Vector, values: Vector) -> Any:
    """Sums over the ancestors within 2^k edges, for k = 0, 1, ..."""
    n = parent.size
    above, total = _below_one(parent), Vector.full(0, n + 1)
    total[:n] << values
    while above.reduce("min").get(n) < n:
        total(accum="plus") << total[above]
        above = above[above]
    return total[:n].new()


def _below_one(parent: Vector) -> Vector:
    """The parents of a forest whose trees hang from one further vertex, n."""
    n = parent.size
    above = Vector.full(n, n + 1)
    above[:n] << parent
    root = parent.ewise_mult(Vector.full(0, n).apply("rowindex"), "eq").select("==", True)
    root.resize(n + 1)
    above(root.S) << n
    return above


def kruskal(lower: Vector, upper: Vector, n: int) -> Any:
    """The edges that join two trees, in the order in which they are given: union-find with halved paths."""
    tree = Vector.full(0, n).apply("rowindex")
    joins = Vector.full(False, lower.size)
    left = n - 1
    for p in range(lower.size):
        a, b = lower[p].value, upper[p].value
        while tree[a].value != a:
            tree[a] = tree[tree[a].value].value
            a = tree[a].value
        while tree[b].value != b:
            tree[b] = tree[tree[b].value].value
            b = tree[b].value
        tree[max(a, b)] = min(a, b)
        joins[p] = a != b
        if a != b:
            left -= 1
        if left == 0:
            break
    return joins


_joins = sr.compile(strict=True)(kruskal)


def spanning_forest(A: Matrix) -> Matrix:
    """The lightest entries that join all trees: sorted on the host, visited by `kruskal`."""
    rows, columns, values = A.to_coo()
    order = np.argsort(values, kind="stable")
    joins = _joins(Vector.from_dense(rows[order]), Vector.from_dense(columns[order]), A.nrows)
    kept = np.sort(order[joins.to_numpy()])
    return Matrix.from_coo(rows[kept], columns[kept], values[kept], nrows=A.nrows, ncols=A.ncols)


def path_counts(T: Matrix, start: Vector) -> Any:
    """The numbers of paths to each vertex of an acyclic graph, a generation at a time; start: full."""
    waiting = Vector.full(0, T.nrows)
    waiting(accum="plus") << T.reduce_columnwise(agg.count)
    paths = start.dup()
    last = waiting.select("==", 0)
    while last.nvals:
        paths(accum="plus") << paths.dup(mask=last.S).vxm(T, "plus_first")
        left = waiting.ewise_mult(last.vxm(T, "plus_pair"), "minus")
        waiting(left.S) << left
        last = left.select("==", 0)
    return paths


def greedy_colors(T: Matrix) -> Any:
    """Bits of colors: each vertex gets the lowest bit that none of its predecessors has, a generation at a time."""
    n = T.nrows
    waiting = Vector.full(0, n)
    waiting(accum="plus") << T.reduce_columnwise(agg.count)
    bits = Vector.full(0, n, np.uint64)
    last = waiting.select("==", 0)
    while last.nvals:
        chosen = bits.dup(mask=last.S).apply(lowest_free)
        bits(last.S) << chosen
        bits(accum="bor") << chosen.vxm(T, "bor_first")
        left = waiting.ewise_mult(last.vxm(T, "plus_pair"), "minus")
        waiting(left.S) << left
        last = left.select("==", 0)
    return bits


def elected(A: Matrix, most: int = 10) -> Any:
    """The most frequent label of the neighbors, of several the smallest: a product with the matrix of the labels."""
    n = A.nrows
    label = Vector.full(0, n).apply("rowindex")
    for _ in range(most):
        to_label = Matrix.from_coo(np.arange(n), label.to_numpy(), 1, nrows=n, ncols=n)
        _, first = A.mxm(to_label, "plus_pair").maxloc()
        following = label.dup()
        following(first.S) << first
        if following.isequal(label):
            break
        label = following
    return label


def lengths_from_each(A: Matrix, sources: Iterable[int]) -> Any:
    """Lengths of shortest paths from several sources: a search of each is compiled, the loop over them is Python's."""
    return sr.concat([[_lengths(A, s).reshape(1, A.nrows)] for s in sources])


_rng = np.random.default_rng(2)
_PARENT = Vector.from_dense(np.array([0, 0, 1, 1, 3, 5, 5, 6, 0, 8]))
_VALUES = Vector.from_dense(_rng.integers(0, 9, 10))
_A = symmetric(30, 60, 1)
_ROWS, _COLUMNS, _ = _A.select("triu", 1).new().to_coo()
_T = _A.select("triu", 1).new()
# Function and arguments.
FORESTS: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (subtree_sums, (_PARENT, _VALUES)),
    (subtree_sums_by_rounds, (_PARENT, _VALUES)),
    (path_sums, (_PARENT, _VALUES)),
    (path_sums_by_rounds, (_PARENT, _VALUES)),
    (kruskal, (Vector.from_dense(_ROWS), Vector.from_dense(_COLUMNS), 30)),
    (path_counts, (_T, Vector.full(1.0, 30))),
    (greedy_colors, (_T,)),
)
