"""Generated graphs: edges are written as sort keys, and structures without edges that are drawn in one launch.

Random numbers are those of `engines.shared.draw_numpy`, bit for bit.  A graph needs the kernels of ``draw.cuh`` and
those of `build`, and no element-wise kernel of CuPy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np

from ...dtypes import BOOL, INT32, INT64
from ...formats import Array, Pattern, index_dtype
from ...memory.allocation import require
from ..registry import implements
from ..requests.draw import BuildKeys, DrawEdges, DrawOrder, DrawWeights, Lattice, Star, column_bits
from ..shared.draw_numpy import EDGES, LABELS, WEIGHTS, sequence_key
from .build import assembled
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, counter, grid, one_wave
from .primitives import counting, put
from .radix import sorted_keys
from .specialize import constants, typedefs


@implements(DrawEdges, engine="cuda")
def draw_edges(q: DrawEdges) -> Array:
    """Keys of random edges, in one launch.  Without loops it synchronizes: the number of edges is read back."""
    edges, blocks, bits = q.edges, grid(q.count), np.int32(column_bits(q.edges.n))
    symmetric, sequence = bool(q.symmetric), sequence_key(edges.seed, EDGES)
    keys = cupy.empty(2 * q.count if symmetric else q.count, np.int64)
    kept = None if q.loops else counter()
    if edges.shares is None:
        run = _kernel("draw_uniform")
        run(blocks, BLOCK, q.first, q.count, bits, np.uint64(edges.n), sequence, symmetric, kept, keys)
    else:
        one, two, three = map(np.uint64, edges.shares)
        run, order = _kernel("draw_rmat"), edges.order
        run(blocks, BLOCK, q.first, q.count, bits, one, two, three, sequence, order, symmetric, kept, keys)
    if kept is not None:
        keys = keys[: kept.read() * (2 if symmetric else 1)]  # synchronizes
    if q.report is not None and q.count:
        q.report(q.count)
    return keys


@implements(BuildKeys, engine="cuda")
def build_keys(q: BuildKeys) -> Pattern:
    """The structure of distinct keys.  Synchronizes: their number is read back.

    Memory: 17 bytes a key, the need of the sort.
    """
    made = assembled(q.nrows, q.ncols, BOOL, _joined(q.parts), None, np.bool_(True), None, refuse=False)
    return Pattern(q.nrows, q.ncols, made.indptr, made.indices)


def _joined(parts: list[Array]) -> Array:
    """Return the keys of all parts as unsigned integers, and empty the list."""
    if len(parts) != 1:
        keys, filled = cupy.empty(sum(part.size for part in parts), np.int64), 0
        for part in parts:
            put(keys, filled, part)
            filled += part.size
        parts[:] = [keys]
    return parts.pop().view(np.uint64)


@implements(DrawOrder, engine="cuda")
def draw_order(q: DrawOrder) -> Array:
    """A random order of ``range(n)``: a stable sort by random keys."""
    keys = cupy.empty(q.n, np.uint64)
    _kernel("draw_numbers")(grid(q.n), BLOCK, q.n, sequence_key(q.seed, LABELS), keys)
    order = sorted_keys(keys, counting(q.n, INT64), 64)[1]
    assert order is not None
    return order


@implements(DrawWeights, engine="cuda")
def draw_weights(q: DrawWeights) -> Array:
    """Random weights, in one launch; does not synchronize."""
    indptr, indices = q.pattern.indptr, q.pattern.indices
    nvals, weights = int(indices.size), cupy.empty(indices.size, np.int32)
    run = _kernel("draw_weights", indptr.dtype, indices.dtype)
    run(
        one_wave(run, nvals, 4), BLOCK, nvals, indptr, q.pattern.nrows, indices, q.top, q.left, np.uint64(q.n),
        sequence_key(q.seed, WEIGHTS), np.uint64(q.high - q.low + 1), np.int32(q.low), weights,
    )  # fmt: skip
    return weights


@implements(Lattice, engine="cuda")
def lattice(q: Lattice) -> Pattern:
    """The structure of a grid of points, a thread a point; does not synchronize."""
    (top, bottom), (left, right) = q.rows, q.cols
    base = _entries_before(q, top)
    nvals = _entries_before(q, bottom) - base
    offset, column = index_dtype(nvals), index_dtype(right - left)
    require("grid", "cuda", (bottom - top + 1) * offset.itemsize + nvals * column.itemsize)
    indptr, indices = cupy.empty(bottom - top + 1, offset), cupy.empty(nvals, column)
    side, stride0, stride1 = _axes(q.shape)
    run = _kernel("draw_lattice", offset, column)
    run(grid(int(indptr.size)), BLOCK, side, stride0, stride1, top, bottom, left, right, base, indptr, indices)
    return Pattern(bottom - top, right - left, indptr, indices)


def _axes(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the first side, and the distances of neighbors along the first and second axis of three."""
    first, second, third = (1,) * (3 - len(shape)) + shape
    return first, second * third, third


def _entries_before(q: Lattice, x: int) -> int:
    """Return the entries of rows below x in the columns of the block, and a constant: the sums of ``draw_lattice``."""
    found, (left, right) = 0, q.cols
    for axis, side in enumerate(q.shape):
        stride = math.prod(q.shape[axis + 1 :])
        low, high = left + stride, min(x, right + stride)
        found += _with_neighbor(max(low, high), stride, stride * side)
        low, high = max(stride, left), min(x + stride, right)
        found += _with_neighbor(max(low, high), stride, stride * side)
    return found


def _with_neighbor(x: int, stride: int, period: int) -> int:
    """Return how many points below x have a neighbor at distance -stride."""
    return x // period * (period - stride) + max(x % period - stride, 0) if period else 0


@implements(Star, engine="cuda")
def star(q: Star) -> Pattern:
    """The structure of a star, in one launch; does not synchronize."""
    n, nvals = q.leaves + 1, 2 * q.leaves
    indptr, indices = cupy.empty(n + 1, index_dtype(nvals)), cupy.empty(nvals, index_dtype(n))
    run = _kernel("draw_star", indptr.dtype, indices.dtype)
    run(grid(max(n + 1, nvals)), BLOCK, q.leaves, indptr, indices)
    return Pattern(n, n, indptr, indices)


@functools.cache
def _kernel(entry: str, offset: np.dtype[Any] = INT32, column: np.dtype[Any] = INT32) -> Kernel:
    return kernel("draw.cuh", entry, typedefs(O=offset, J=column) + constants(FORM=2))


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    yield _kernel("draw_rmat"), _kernel("draw_uniform"), _kernel("draw_numbers")
    for offset, column in ((INT32, INT32), (INT64, INT64)):
        yield tuple(_kernel(f"draw_{name}", offset, column) for name in ("weights", "lattice", "star"))
