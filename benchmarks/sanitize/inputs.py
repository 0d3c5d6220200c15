"""The inputs of the steps of `benchmarks.sanitize`: small matrices and vectors in every format."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semiring import Matrix, Vector

from .. import graphs

__all__ = ["N", "Small", "small"]

N = 300  # rows; the hub's row is longer than what counts as skewed


@dataclass(frozen=True)
class Small:
    """The same objects on one engine.

    A: directed, weighted, with a hub; S: its symmetric pattern, iso; E: even rows; B: booleans.  u, v: full; p: bitmap;
    q: index list; m: boolean bitmap; f: of floats.
    """

    A: Matrix
    S: Matrix
    E: Matrix
    B: Matrix
    u: Vector
    v: Vector
    p: Vector
    q: Vector
    m: Vector
    f: Vector


def small() -> Small:
    """Objects on the device of new objects."""
    draw = np.random.default_rng(graphs.SEED)
    rows = np.concatenate([np.zeros(N, np.int64), np.repeat(np.arange(1, N), 5)])
    columns = np.concatenate([np.arange(N), draw.integers(0, N, 5 * (N - 1))])
    keys = np.unique(rows * N + columns)
    rows, columns = keys // N, keys % N
    values = draw.integers(1, 100, rows.size)
    both = np.unique(np.concatenate([keys, columns * N + rows]))
    even = np.unique(np.arange(1, N).repeat(4) * N + draw.integers(0, N, 4 * (N - 1)))
    x, y = draw.integers(1, 100, (2, N))
    some, few = np.flatnonzero(x < 60), np.flatnonzero(y < 10)
    return Small(
        A=Matrix.from_coo(rows, columns, values, shape=(N, N)),
        S=Matrix.from_coo(both // N, both % N, True, shape=(N, N)),
        E=Matrix.from_coo(even // N, even % N, draw.integers(1, 100, even.size), shape=(N, N)),
        B=Matrix.from_coo(rows, columns, values > 50, shape=(N, N)),
        u=Vector.from_dense(x),
        v=Vector.from_dense(y),
        p=Vector.from_coo(some, x[some], size=N).convert("bitmap"),
        q=Vector.from_coo(few, y[few], size=N),
        m=Vector.from_coo(some, x[some] > 30, size=N).convert("bitmap"),
        f=Vector.from_dense(x.astype(np.float32)),
    )
