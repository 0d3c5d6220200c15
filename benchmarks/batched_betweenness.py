"""Betweenness from a batch of sources as a user writes it, over the public interface of each library.

Row s of every matrix belongs to source s.  The forward loop counts the shortest paths, level by level; the backward
loop sums the shares of vertices, under the structure of each level (Brandes, 2001; in linear algebra, LAGraph).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import semiring as sr

from . import peers

__all__ = ["ours", "theirs"]


def ours(A: sr.Matrix, sources: Any) -> sr.Vector:
    """b(v) = the sum over sources s and all t of the share of the shortest paths on which v lies."""
    batch, n = len(sources), A.nrows
    paths = sr.Matrix.from_coo(np.arange(batch), sources, 1.0, nrows=batch, ncols=n)
    levels = [paths.dup()]
    while True:
        frontier = sr.Matrix(float, batch, n)
        frontier(~paths.S) << levels[-1].mxm(A, "plus_first")
        if frontier.nvals == 0:
            break
        levels.append(frontier)
        paths(accum="plus") << frontier
    shares = sr.Matrix(float, batch, n)
    shares << 1.0
    W = sr.Matrix(float, batch, n)
    for depth in range(len(levels) - 1, 0, -1):
        W(levels[depth].S, replace=True) << shares.ewise_mult(paths, "truediv")
        W(levels[depth - 1].S, replace=True) << W.mxm(A, "plus_first")
        shares(accum="plus") << W.ewise_mult(paths, "times")
    return shares.reduce_columnwise("plus").new()


def theirs(A: Any, sources: Any) -> Any:
    """The same with python-graphblas."""
    gb = peers.graphblas()
    batch, n = len(sources), A.nrows
    paths = gb.Matrix.from_coo(np.arange(batch), sources, 1.0, nrows=batch, ncols=n)
    levels = [paths.dup()]
    while True:
        frontier = gb.Matrix(float, batch, n)
        frontier(~paths.S) << gb.semiring.plus_first(levels[-1] @ A)
        if frontier.nvals == 0:
            break
        levels.append(frontier)
        paths(gb.binary.plus) << frontier
    shares = gb.Matrix(float, batch, n)
    shares << 1.0
    W = gb.Matrix(float, batch, n)
    for depth in range(len(levels) - 1, 0, -1):
        W(levels[depth].S, replace=True) << shares.ewise_mult(paths, gb.binary.truediv)
        W(levels[depth - 1].S, replace=True) << gb.semiring.plus_first(W @ A)
        shares(gb.binary.plus) << W.ewise_mult(paths, gb.binary.times)
    return shares.reduce_columnwise(gb.monoid.plus).new()
