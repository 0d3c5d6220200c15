"""Algorithms as users write them: each runs step by step and compiled, and both must agree."""

from __future__ import annotations

from typing import Any

import numpy as np

import semiring as sr
from semiring import Matrix, Vector


def bfs_levels(A: Matrix, s: int) -> Vector:
    """Levels of a breadth-first search."""
    level = Vector(np.int32, A.nrows)
    frontier = Vector.from_coo([s], True, size=A.nrows)
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        frontier(~level.S, replace=True) << frontier.vxm(A, "any_pair")
        depth += 1
    return level


def bfs_parents(A: Matrix, s: int) -> Vector:
    """A parent of each vertex that is reached: the smallest on the level before."""
    parent = Vector.from_coo([s], s, size=A.nrows, dtype=np.int64)
    frontier = Vector.from_coo([s], s, size=A.nrows, dtype=np.int64)
    while frontier.nvals:
        frontier(~parent.S, replace=True) << frontier.vxm(A, "any_secondi")
        parent(frontier.S) << frontier
    return parent


def bfs_to_depth(A: Matrix, s: int, most: int) -> Vector:
    """Levels up to a depth."""
    level = Vector(np.int32, A.nrows)
    frontier = Vector.from_coo([s], True, size=A.nrows)
    for depth in range(most + 1):
        level(frontier.S) << depth
        frontier(~level.S, replace=True) << frontier.vxm(A, "any_pair")
        if not frontier.nvals:
            break
    return level


def distance(A: Matrix, s: int, t: int) -> int:
    """The number of edges of a shortest path, or -1: the search ends at its target."""
    seen = Vector.from_coo([s], True, size=A.nrows)
    frontier = seen.dup()
    depth = 0
    while frontier.nvals > 0:
        if frontier.get(t) is not None:
            return depth
        frontier(~seen.S, replace=True) << frontier.vxm(A, "any_pair")
        seen(frontier.S) << True
        depth += 1
    return -1


def two_sided(A: Matrix, s: int, t: int) -> int:
    """The number of edges of a shortest path, searched from both ends."""
    n = A.nrows
    here, there = Vector.from_coo([s], True, size=n), Vector.from_coo([t], True, size=n)
    seen, met = here.dup(), there.dup()
    steps = 0
    while here.nvals and there.nvals:
        if here.ewise_mult(met, "land").nvals or there.ewise_mult(seen, "land").nvals:
            return steps
        if here.nvals <= there.nvals:
            here(~seen.S, replace=True) << here.vxm(A, "any_pair")
            seen(here.S) << True
        else:
            there(~met.S, replace=True) << A.mxv(there, "any_pair")
            met(there.S) << True
        steps += 1
    return -1


def rank(A: Matrix, damping: float = 0.85, tol: float = 1e-9) -> Vector:
    """PageRank until the change is small; vertices without edges lose their rank."""
    n = A.nrows
    out = A.reduce_rowwise("plus")
    r = Vector.full(1 / n, n)
    while True:
        share = r.ewise_mult(out, "truediv")
        arriving = share.vxm(A).ewise_add(Vector.full(0.0, n), "plus")
        following = arriving * damping + (1 - damping) / n
        if (following - r).apply("abs").reduce("plus").get(0.0) < tol:
            return following
        r = following


def rank_steps(A: Matrix, steps: int = 20, damping: float = 0.85) -> Vector:
    """PageRank, a fixed number of iterations, written into two vectors."""
    n = A.nrows
    scale = A.reduce_rowwise("plus").apply("minv")
    r = Vector.full(1 / n, n)
    for _ in range(steps):
        share = r.ewise_mult(scale)
        r << Vector.full((1 - damping) / n, n)
        r(accum="plus") << share.vxm(A).apply("times", right=damping)
    return r


def hits(A: Matrix, steps: int = 10) -> tuple[Vector, Vector]:
    """Hubs and authorities, each of sum 1."""
    h = Vector.full(1 / A.nrows, A.nrows)
    a = h.dup()
    for _ in range(steps):
        a = h.vxm(A).ewise_add(Vector.full(0.0, A.nrows))
        a = a / a.reduce("plus").get(1.0)
        h = A.mxv(a).ewise_add(Vector.full(0.0, A.nrows))
        h = h / h.reduce("plus").get(1.0)
    return h, a


def components(A: Matrix) -> Vector:
    """Connected components by FastSV: stochastic hooking, and shortcutting until nothing changes."""
    n = A.nrows
    f = Vector.full(0, n).apply("rowindex")
    grandparent = f.dup()
    while True:
        before = grandparent.dup()
        least = A.mxv(grandparent, "min_second")
        f(accum="min")[f] << least.ewise_add(f, "min")
        f(accum="min") << least
        f(accum="min") << grandparent
        grandparent << f[f]
        if grandparent.isequal(before):
            return f


def bellman_ford(A: Matrix, s: int) -> Vector:
    """Lengths of shortest paths: the rows whose length has changed relax their edges."""
    length = Vector.from_coo([s], 0.0, size=A.nrows)
    frontier = length.dup()
    while frontier.nvals:
        relaxed = frontier.vxm(A, "min_plus")
        shorter = relaxed.ewise_mult(length, "lt").select("==", True)
        new = Vector(float, A.nrows)
        new(~length.S) << relaxed
        frontier = new.ewise_add(relaxed.dup(mask=shorter.S), "min")
        length(accum="min") << relaxed
    return length


def independent_set(A: Matrix, seed: int) -> Vector:
    """Luby's algorithm: local maxima of random scores join the set."""
    n = A.nrows
    chosen = Vector(bool, n)
    candidates = Vector.full(True, n)
    degree = A.reduce_rowwise(sr.agg.count)
    candidates(degree.S, replace=True) << True
    chosen(~degree.S) << True
    step = seed
    while candidates.nvals:
        score = candidates.apply("rowindex").apply("times", right=2654435761).apply("plus", right=step)
        score << score.apply("bxor", right=step * 40503)
        most = A.mxv(score, "max_second", mask=candidates.S)
        winners = score.ewise_add(most, "max").ewise_mult(score, "eq").select("==", True)
        chosen(winners.S) << True
        candidates(~winners.S, replace=True) << candidates
        losers = A.mxv(winners, "any_pair", mask=candidates.S)
        candidates(~losers.S, replace=True) << candidates
        step += 1
    return chosen


def core_numbers(A: Matrix) -> Vector:
    """The largest k for which a vertex is in the k-core, by peeling."""
    n = A.nrows
    degree = Vector.full(0, n)
    degree(accum="plus") << A.reduce_rowwise(sr.agg.count)
    core = Vector.full(0, n)
    k = 0
    while degree.nvals:
        peeled = degree.select("<=", k)
        while peeled.nvals:
            core(peeled.S) << k
            degree(~peeled.S, replace=True) << degree
            lost = A.mxv(peeled, "plus_pair", mask=degree.S)
            degree(accum="minus") << lost
            peeled = degree.select("<=", k)
        k += 1
    return core


def labels(A: Matrix, steps: int = 30) -> Vector:
    """The least label that reaches each vertex: min label propagation."""
    f = Vector.from_dense(np.arange(A.nrows, dtype=np.int32))
    changed = f.nvals
    for _ in range(steps):
        before = f.dup()
        f(accum="min") << f.vxm(A, "min_first")
        changed = f.ewise_mult(before, "ne").select("==", True).nvals
        if changed == 0:
            break
    return f


def katz(A: Matrix, alpha: float = 0.01, beta: float = 1.0, most: int = 50, tol: float = 1e-8) -> Vector:
    """Katz centrality."""
    n = A.nrows
    x = Vector.full(0.0, n)
    error = 1.0
    k = 0
    while k < most and error > tol:
        following = x.vxm(A).ewise_add(Vector.full(0.0, n)) * alpha + beta
        error = (following - x).apply("abs").reduce("max").get(0.0)
        x = following
        k += 1
    return x


def widest(A: Matrix, s: int) -> Vector:
    """The largest capacity of a path, where its least edge counts."""
    width = Vector.from_coo([s], np.inf, size=A.nrows, dtype=float)
    while True:
        before = width.dup()
        width(accum="max") << width.vxm(A, "max_min")
        if width.isequal(before):
            break
    return width


def level_sums(A: Matrix, s: int) -> tuple[int, int, float]:
    """Several numbers that change: depth, the sum of levels, and their mean."""
    level = Vector(np.int64, A.nrows)
    frontier = Vector.from_coo([s], True, size=A.nrows)
    depth, total, largest = 0, 0, 0
    while frontier.nvals:
        level(frontier.S) << depth
        total += depth * frontier.nvals
        largest = max(largest, frontier.nvals)
        frontier(~level.S, replace=True) << frontier.vxm(A, "any_pair")
        depth += 1
    return depth, total + largest, total / level.nvals


def far(A: Matrix, s: int, weight_limit: float) -> Vector:
    """The vertices that are reached along edges below a limit of weight."""
    B = A.select("<", weight_limit)
    return bfs_levels(B, s)


def extremes(A: Matrix, steps: int = 5) -> tuple[Vector, Vector, Vector]:
    """The least number around each vertex, of numbers that ascend at first, and the greatest, of two that descend."""
    n = A.nrows
    least = Vector.full(0, n).apply("rowindex")
    most = least.apply("ainv").dup(np.int32)
    few = most.apply("max", right=-3)
    for _ in range(steps):
        least(accum="min") << A.mxv(least, "min_second")
        most(accum="max") << most.vxm(A, "max_first")
        few << few.ewise_add(few.vxm(A, "max_first"), "max")
    return least, most, few


def kept(A: Matrix, s: int) -> tuple[Vector, int]:
    """Entries that masks keep, of a full vector and of one with half of the positions, level by level of a search."""
    n = A.nrows
    number = Vector.full(0, n).apply("rowindex")
    even = number.apply("mod", right=2).select("==", 0)
    seen = Vector.from_coo([s], True, size=n)
    frontier = seen.dup()
    total = 0
    while frontier.nvals:
        found = number.dup(mask=frontier.S)
        total += found.reduce("plus").get(0) + 3 * even.dup(mask=frontier.S).nvals + found.dup(mask=even.S).nvals
        even(~frontier.S, replace=True) << even
        number(found.S) << found.apply("plus", right=1)
        frontier(~seen.S, replace=True) << frontier.vxm(A, "any_pair")
        seen(frontier.S) << True
    return number, total


def symmetric(n: int, edges: int, seed: int, **weights: Any) -> Matrix:
    """A random symmetric graph without loops."""
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, n, edges), rng.integers(0, n, edges)
    keep = rows != cols
    rows, cols = rows[keep], cols[keep]
    values = rng.integers(1, 10, rows.size).astype(float)
    every = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    return Matrix.from_coo(*every, np.concatenate([values, values]), nrows=n, ncols=n, dup_op="min", **weights)


# Name, function, arguments after the matrix.
PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "bfs_levels": (bfs_levels, (0,)),
    "bfs_parents": (bfs_parents, (0,)),
    "bfs_to_depth": (bfs_to_depth, (0, 2)),
    "distance": (distance, (0, 7)),
    "two_sided": (two_sided, (0, 7)),
    "rank": (rank, ()),
    "rank_steps": (rank_steps, ()),
    "hits": (hits, ()),
    "components": (components, ()),
    "bellman_ford": (bellman_ford, (0,)),
    "independent_set": (independent_set, (1,)),
    "core_numbers": (core_numbers, ()),
    "labels": (labels, ()),
    "katz": (katz, ()),
    "widest": (widest, (0,)),
    "level_sums": (level_sums, (0,)),
    "extremes": (extremes, ()),
    "kept": (kept, (0,)),
}
