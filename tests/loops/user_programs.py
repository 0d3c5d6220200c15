"""Programs as users write them, beside those of `programs`: each compiles, and has the results of plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from semiring import Matrix, Vector, agg, binary, semiring
from tests.loops.programs import symmetric
from tests.loops.user_iterations import (
    cg,
    cg_inner,
    eigenvector,
    grow_types,
    heat,
    hits2,
    jacobi,
    katz2,
    label_prop,
    power,
    ppr,
    walk,
)
from tests.loops.user_sets import (
    bipartite,
    greedy_luby,
    handshake,
    handshake2,
    jones_plassmann,
    k_core,
    triangle_free_mis,
    two_colors,
)


def delta_stepping(A: Matrix, s: int, delta: float = 3.0) -> Any:
    """Shortest paths by delta-stepping: buckets of lengths, whose light edges are relaxed until nothing changes."""
    n = A.nrows
    light = A.select("<=", delta)
    heavy = A.select(">", delta)
    dist = Vector.from_coo([s], 0.0, size=n)
    k = 0
    while dist.select(">=", k * delta).nvals:
        bucket = dist.select(">=", k * delta).select("<", (k + 1) * delta)
        settled = Vector(bool, n)
        while bucket.nvals:
            settled(bucket.S) << True
            relaxed = bucket.vxm(light, "min_plus")
            better = relaxed.ewise_mult(dist, "lt").select("==", True)
            fresh = relaxed.dup(mask=~dist.S)
            dist(accum="min") << relaxed
            changed = fresh.ewise_add(relaxed.dup(mask=better.S), "min")
            bucket = changed.select("<", (k + 1) * delta)
        done = dist.dup(mask=settled.S)
        dist(accum="min") << done.vxm(heavy, "min_plus")
        k += 1
    return dist


def betweenness(A: Matrix, sources: Iterable[int]) -> Any:
    """Betweenness from several sources: the loops over levels are compiled, that over sources is Python's."""
    n = A.nrows
    score = Vector.full(0.0, n)
    for s in sources:
        paths = Vector.from_coo([s], 1.0, size=n)
        frontier = Vector.from_coo([s], 1.0, size=n)
        levels = []
        while frontier.nvals:
            levels.append(frontier)
            frontier = frontier.vxm(A, "plus_first", mask=~paths.S)
            paths(frontier.S) << frontier
        delta = Vector.full(0.0, n)
        for d in range(len(levels) - 1, 0, -1):
            w = (delta + 1.0).ewise_mult(paths, "truediv").dup(mask=levels[d].S)
            back = A.mxv(w, "plus_second", mask=levels[d - 1].S)
            delta(accum="plus") << back.ewise_mult(paths, "times")
        delta[s] = 0.0
        score(accum="plus") << delta
    return score


def search_to(A: Matrix, s: int, t: int) -> Any:
    """The number of edges of a shortest path, or -1."""
    frontier = Vector.from_coo([s], True, size=A.nrows)
    level = Vector(int, A.nrows)
    d = 0
    while frontier.nvals and t not in frontier:
        level(frontier.S) << d
        frontier(~level.S, replace=True) << frontier.vxm(A, "any_pair")
        d += 1
    return d if frontier.nvals else -1


def eccentricities(A: Matrix, sources: Iterable[int]) -> Any:
    """The eccentricities of some vertices, by a search of each."""
    n = A.nrows
    ecc = Vector(int, n)
    for s in sources:
        seen = Vector.from_coo([s], True, size=n)
        frontier = seen.dup()
        d = 0
        while True:
            frontier(~seen.S, replace=True) << frontier.vxm(A, "any_pair")
            if not frontier.nvals:
                break
            seen(frontier.S) << True
            d += 1
        ecc[s] = d
    return ecc


def eccentricities_all(A: Matrix) -> Any:
    """The eccentricities of all vertices."""
    n = A.nrows
    ecc = Vector(int, n)
    for s in range(n):
        seen = Vector(bool, n)
        frontier = Vector(bool, n)
        frontier[s] = True
        d = -1
        while frontier.nvals:
            seen(frontier.S) << True
            frontier(~seen.S, replace=True) << frontier.vxm(A, "any_pair")
            d += 1
        ecc[s] = d
    return ecc


def closeness(A: Matrix, s: int) -> Any:
    """The closeness of a vertex within its component."""
    n = A.nrows
    level = Vector(int, n)
    frontier = Vector.from_coo([s], True, size=n)
    total, d = 0, 0
    while frontier.nvals:
        level(frontier.S) << d
        total += d * frontier.nvals
        d += 1
        frontier(~level.S, replace=True) << A.mxv(frontier, "any_pair")
    return (level.nvals - 1) / total if total else 0.0


def kahn(A: Matrix) -> Any:
    """Topological levels."""
    n = A.nrows
    indegree = Vector.full(0, n)
    indegree(accum="plus") << A.reduce_columnwise(agg.count)
    level = Vector(int, n)
    ready = indegree.select("==", 0)
    d = 0
    while ready.nvals:
        level(ready.S) << d
        indegree(~ready.S, replace=True) << indegree
        indegree(accum="minus") << ready.vxm(A, "plus_pair", mask=indegree.S)
        ready = indegree.select("==", 0)
        d += 1
    if indegree.nvals:
        raise ValueError("a cycle")
    return level


def scc_of(A: Matrix, s: int) -> Any:
    """The strongly connected component of a vertex."""
    n = A.nrows
    forward = Vector.from_coo([s], True, size=n)
    f = forward.dup()
    while f.nvals:
        f(~forward.S, replace=True) << f.vxm(A, "lor_land")
        forward(f.S) << True
    backward = Vector.from_coo([s], True, size=n)
    f = backward.dup()
    while f.nvals:
        f(~backward.S, replace=True) << A.mxv(f, "lor_land")
        backward(f.S) << True
    return forward.ewise_mult(backward, "land")


def bf_parents(A: Matrix, s: int) -> Any:
    """Shortest paths by at most n rounds."""
    n = A.nrows
    d = Vector.from_coo([s], 0.0, size=n)
    Vector.from_coo([s], s, size=n)
    for _ in range(n):
        relaxed = d.vxm(A, "min_plus")
        better = relaxed.ewise_mult(d, "lt").select("==", True)
        new = relaxed.dup(mask=~d.S)
        if better.nvals + new.nvals == 0:
            break
        d(accum="min") << relaxed
    return d


def widest(A: Matrix, s: int) -> Any:
    """Widest paths, of the vertices whose width has changed."""
    n = A.nrows
    w = Vector.from_coo([s], math.inf, size=n)
    f = w.dup()
    while f.nvals:
        r = f.vxm(A, "max_min")
        better = r.ewise_mult(w, "gt").select("==", True)
        f = r.dup(mask=~w.S).ewise_add(r.dup(mask=better.S))
        w(accum="max") << r
    return w


def filtered(A: Matrix, s: int, limit: float) -> Any:
    """A search along edges whose least weight is below a limit."""
    n = A.nrows
    level = Vector(int, n)
    frontier = Vector.from_coo([s], 1.0, size=n)
    d = 0
    while frontier.nvals:
        level(frontier.S) << d
        hit = frontier.vxm(A, "min_second").select("<", limit)
        frontier(~level.S, replace=True) << hit.apply("one")
        d += 1
    return level


def floyd_pivot(A: Matrix, s: int) -> Any:
    """Shortest paths through vertices in turn."""
    n = A.nrows
    d = Vector.from_coo([s], 0.0, size=n)
    for k in range(n):
        if k in d:
            e = Vector(float, n)
            e[k] = d[k].value
            d(accum="min") << e.vxm(A, "min_plus")
    return d


def bidirectional(A: Matrix, s: int, t: int) -> Any:
    """The length of a shortest path from both ends, with levels."""
    n = A.nrows
    df, db = Vector(int, n), Vector(int, n)
    f, b = Vector.from_coo([s], True, size=n), Vector.from_coo([t], True, size=n)
    i = 0
    j = 0
    while f.nvals and b.nvals:
        df(f.S) << i
        db(b.S) << j
        both = df.ewise_mult(db, "plus")
        if both.nvals:
            return both.reduce("min").value
        if f.nvals < b.nvals:
            f(~df.S, replace=True) << f.vxm(A, "any_pair")
            i += 1
        else:
            b(~db.S, replace=True) << A.mxv(b, "any_pair")
            j += 1
    return None


def connected_count(A: Matrix) -> Any:
    """The number of components."""
    n = A.nrows
    label = Vector(int, n)
    count = 0
    for s in range(n):
        if label.get(s) is None:
            frontier = Vector(bool, n)
            frontier[s] = True
            while frontier.nvals:
                label(frontier.S) << count
                frontier(~label.S, replace=True) << frontier.vxm(A, "any_pair")
            count += 1
    return count


def sssp_simple(A: Matrix, s: int) -> Any:
    """Shortest paths until two iterations are equal."""
    d = Vector.from_coo([s], 0.0, size=A.nrows)
    while True:
        old = d.dup()
        d(accum=binary.min) << d.vxm(A, semiring.min_plus)
        if d.isequal(old):
            return d


def msbfs(A: Matrix, sources: Iterable[int]) -> Any:
    """The number of walks to each vertex from several sources."""
    n = A.nrows
    reach = Vector(int, n)
    for s in sources:
        reach[s] = 1
    f = reach.dup()
    while f.nvals:
        f(~reach.S, replace=True) << f.vxm(A, "plus_first")
        reach(f.S) << f
    return reach


def reach_types(A: Matrix, s: int) -> Any:
    """A search whose frontier has another type after its first level."""
    seen = Vector.from_coo([s], True, size=A.nrows)
    frontier = seen
    steps = 0
    while frontier.nvals:
        frontier = frontier.vxm(A, "any_pair", mask=~seen.S)
        seen(frontier.S) << True
        steps += 1
    return seen, steps


def _directed(A: Matrix) -> Matrix:
    """The edges to larger vertices: a graph without cycles."""
    rows, cols, values = A.to_coo()
    keep = rows < cols
    return Matrix.from_coo(rows[keep], cols[keep], values[keep], nrows=A.nrows, ncols=A.ncols)


S = symmetric(60, 120, 0)
D = _directed(S)
B = Vector.from_dense(np.random.default_rng(0).random(60))
# Function and arguments.
USER_PROGRAMS: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (reach_types, (S, 0)),
    (grow_types, (S,)),
    (delta_stepping, (S, 0)),
    (jones_plassmann, (S,)),
    (greedy_luby, (S,)),
    (katz2, (S,)),
    (betweenness, (S, [0, 3, 5])),
    (search_to, (S, 0, 7)),
    (k_core, (S, 3)),
    (eccentricities, (S, [0, 3, 5])),
    (eccentricities_all, (S,)),
    (closeness, (S, 0)),
    (ppr, (S, 0)),
    (eigenvector, (S,)),
    (handshake, (S,)),
    (handshake2, (S,)),
    (bipartite, (D,)),
    (two_colors, (S, 0)),
    (kahn, (D,)),
    (scc_of, (D, 3)),
    (bf_parents, (S, 0)),
    (widest, (S, 0)),
    (walk, (S, 0)),
    (cg, (S, B)),
    (cg_inner, (S, B)),
    (jacobi, (S, B)),
    (power, (S,)),
    (heat, (S, 0)),
    (label_prop, (S,)),
    (hits2, (S,)),
    (filtered, (S, 0, 6.0)),
    (floyd_pivot, (S, 0)),
    (bidirectional, (S, 0, 7)),
    (connected_count, (S,)),
    (sssp_simple, (S, 0)),
    (msbfs, (S, [1, 2])),
    (triangle_free_mis, (S,)),
)
