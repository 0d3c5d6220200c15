"""Colors, matchings and sets of vertices as users compute them."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring import Matrix, Vector


def jones_plassmann(A: Matrix, seed: int = 3) -> Any:
    """Color by rounds: vertices of the largest weight among their uncolored neighbors get a color."""
    n = A.nrows
    color = Vector(int, n)
    weight = Vector.from_dense(np.random.default_rng(seed).permutation(n))
    left = weight.dup()
    c = 0
    while left.nvals:
        highest = A.mxv(left, "max_second", mask=left.S)
        winners = left.ewise_mult(highest, "gt").select("==", True)
        alone = left.dup(mask=~highest.S)
        color(winners.S) << c
        color(alone.S) << c
        left(~color.S, replace=True) << left
        c += 1
    return color


def greedy_luby(A: Matrix) -> Any:
    """A coloring by maximal independent sets."""
    n = A.nrows
    color = Vector.full(0, n)
    left = Vector.full(1, n)
    k = 0
    while left.nvals > 0:
        k += 1
        candidates = left.dup()
        while candidates.nvals > 0:
            score = candidates.apply("times", right=1).apply("rowindex")
            best = A.mxv(score, "max_second", mask=candidates.S)
            win = score.ewise_add(best, "max").ewise_mult(score, "eq").select("==", True)
            color(win.S) << k
            left(~win.S, replace=True) << left
            candidates(~win.S, replace=True) << candidates
            gone = A.mxv(win, "any_pair", mask=candidates.S)
            candidates(~gone.S, replace=True) << candidates
    return color


def k_core(A: Matrix, k: int) -> Any:
    """The vertices of the k-core."""
    n = A.nrows
    alive = Vector.full(True, n)
    while True:
        degree = A.mxv(alive, "plus_pair", mask=alive.S)
        keep = degree.select(">=", k)
        if keep.nvals == alive.nvals:
            return alive
        alive = keep.apply("one").dup(bool)


def handshake(A: Matrix) -> Any:
    """A matching: vertices that choose each other."""
    n = A.nrows
    mate = Vector(np.int64, n)
    free = Vector.from_dense(np.arange(n))
    while True:
        choice = A.mxv(free, "max_second", mask=free.S)
        if not choice.nvals:
            return mate
        idx = Vector.from_dense(np.arange(n))
        idx(choice.S) << choice
        back = idx[idx]
        mutual = back.ewise_mult(Vector.from_dense(np.arange(n)), "eq").select("==", True)
        mutual(choice.S, replace=True) << mutual
        mate(mutual.S) << choice
        free(~mate.S, replace=True) << free


def handshake2(A: Matrix) -> Any:
    """A matching, with the choice in a vector that stays full."""
    n = A.nrows
    me = Vector.from_dense(np.arange(n))
    mate = Vector(np.int64, n)
    free = me.dup()
    while free.nvals:
        choice = A.mxv(free, "max_second", mask=free.S)
        if choice.nvals == 0:
            break
        choice = me.dup()
        choice(choice.S) << choice
        mutual = choice[choice].ewise_mult(me, "eq").select("==", True).dup(mask=choice.S)
        mate(mutual.S) << choice
        free(~mate.S, replace=True) << free
    return mate


def bipartite(A: Matrix) -> Any:
    """Two colors of each component; None where there is an odd cycle."""
    n = A.nrows
    side = Vector(np.int8, n)
    for s in range(n):
        if s in side:
            continue
        side[s] = 0
        frontier = Vector(bool, n)
        frontier[s] = True
        c = 0
        while frontier.nvals:
            nb = frontier.vxm(A, "any_pair")
            clash = side.dup(mask=nb.S).select("==", c)
            if clash.nvals:
                return None
            c = 1 - c
            frontier = nb.dup(mask=~side.S)
            side(frontier.S) << c
    return side


def two_colors(A: Matrix, s: int) -> Any:
    """Whether the component of a vertex is bipartite."""
    n = A.nrows
    red, blue = Vector.from_coo([s], True, size=n), Vector(bool, n)
    while True:
        nr, nb = red.nvals, blue.nvals
        blue(accum="lor") << red.vxm(A, "any_pair")
        red(accum="lor") << blue.vxm(A, "any_pair")
        if red.ewise_mult(blue, "land").nvals:
            return False
        if (nr, nb) == (red.nvals, blue.nvals):
            return True


def triangle_free_mis(A: Matrix, seed: int = 1) -> Any:
    """An independent set by random scores that are drawn before the loop."""
    n = A.nrows
    rng = np.random.default_rng(seed)
    score = Vector.from_dense(rng.random(n))
    mis = Vector(bool, n)
    cand = score.dup()
    while cand.nvals:
        m = cand.vxm(A, "max_first")
        win = cand.ewise_mult(m, "gt").select("==", True)
        free = cand.dup(mask=~m.S)
        win = win.ewise_add(free.apply("one").dup(bool), "lor")
        mis(win.S) << True
        dead = win.vxm(A, "any_pair")
        cand(~mis.S, replace=True) << cand
        cand(~dead.S, replace=True) << cand
    return mis
