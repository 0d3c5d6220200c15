"""Generated graphs in NumPy, and the definition of their random numbers, which are the same on every engine.

Randomness is a function of (seed, stream, counter), without a state: edge number e of a graph is the same for every
chunk, thread and device that draws it. The function is SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable
Pseudorandom Number Generators", OOPSLA 2014), whose i-th output does not depend on the others. All arithmetic is on
64-bit integers, and exact.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ...formats import Array, Pattern, index_dtype
from ...memory.allocation import require
from ..requests import draw
from ..requests.draw import (
    BuildKeys,
    DrawEdges,
    DrawOrder,
    DrawWeights,
    Lattice,
    RandomEdges,
    Star,
    column_bits,
)

__all__ = [
    "EDGES",
    "LABELS",
    "WEIGHTS",
    "build_keys",
    "draw_edges",
    "draw_order",
    "draw_weights",
    "lattice",
    "random_bits",
    "sequence_key",
    "star",
]

_GOLDEN: Final = 0x9E3779B97F4A7C15
_MASK: Final = 2**64 - 1

# The purpose of a random number; each purpose has its own sequence.
EDGES: Final = 0
LABELS: Final = 1
WEIGHTS: Final = 2

# Sorted keys compacted at a time: bounds temporary arrays, where there may be billions of keys.
_SLICE_KEYS: Final = 1 << 27


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def sequence_key(seed: int, stream: int) -> np.uint64:
    """Return the state before output 0 of the sequence of (seed, stream)."""
    return np.uint64(_mix(_mix(seed & _MASK) + _GOLDEN * (stream + 1) & _MASK))


def random_bits(counters: Array, seed: int, stream: int) -> Array:
    """Return 64 random bits for each counter as uint64: output ``counter`` of SplitMix64 seeded by (seed, stream)."""
    z = counters.astype(np.uint64) * np.uint64(_GOLDEN)
    z += sequence_key(seed, stream)
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z


def draw_edges(q: DrawEdges) -> Array:
    """Keys of random edges, chunk by chunk.  O(count log n) for R-MAT, else O(count)."""
    bits, end = column_bits(q.edges.n), q.first + q.count
    keys = np.empty(2 * q.count if q.symmetric else q.count, dtype=np.int64)
    filled = 0
    for first in range(q.first, end, draw.CHUNK_EDGES):
        count = min(draw.CHUNK_EDGES, end - first)
        rows, cols = _ends(q.edges, first, count)
        if not q.loops:
            off = rows != cols
            rows, cols = rows[off], cols[off]
        for starts, ends in ((rows, cols), (cols, rows)) if q.symmetric else ((rows, cols),):
            part = keys[filled : filled + len(starts)]
            np.left_shift(starts, bits, out=part)
            part |= ends
            filled += len(starts)
        if q.report is not None:
            q.report(first + count - q.first)
    return keys[:filled]


def _ends(edges: RandomEdges, first: int, count: int) -> tuple[Array, Array]:
    """Return the rows and columns of edges ``first`` to ``first + count`` as int64."""
    if edges.shares is None:
        return _uniform(edges.n, first, count, edges.seed)
    rows, cols = _rmat(column_bits(edges.n), first, count, edges.seed, edges.shares)
    return (rows, cols) if edges.order is None else (edges.order[rows], edges.order[cols])


def _rmat(scale: int, first: int, count: int, seed: int, shares: tuple[int, int, int]) -> tuple[Array, Array]:
    """Draw edges of a stochastic Kronecker graph on ``2**scale`` vertices.

    Each level of the recursion picks a quadrant of the adjacency matrix, and so one bit of the row and one of the
    column.
    """
    words = (scale + 1) // 2
    thresholds = [np.uint64(share) for share in shares]
    base = np.arange(first, first + count, dtype=np.uint64) * np.uint64(max(words, 1))
    rows = np.zeros(count, dtype=np.int64)
    cols = np.zeros(count, dtype=np.int64)
    bits = base
    for level in range(scale):
        if level % 2 == 0:
            bits = random_bits(base + np.uint64(level // 2), seed, EDGES)
        drawn = bits & np.uint64(0xFFFFFFFF) if level % 2 == 0 else bits >> np.uint64(32)
        low_half = drawn >= thresholds[1]
        right_half = (drawn >= thresholds[0]) ^ low_half ^ (drawn >= thresholds[2])
        rows |= low_half.astype(np.int64) << level
        cols |= right_half.astype(np.int64) << level
    return rows, cols


def _uniform(n: int, first: int, count: int, seed: int) -> tuple[Array, Array]:
    """Draw edges between uniform random vertices below ``n``."""
    counters = np.arange(2 * first, 2 * (first + count), dtype=np.uint64)
    # 64 random bits leave a bias below n / 2**64 in the remainder.
    ends = (random_bits(counters, seed, EDGES) % np.uint64(max(n, 1))).astype(np.int64)
    return ends[::2], ends[1::2]


def draw_order(q: DrawOrder) -> Array:
    """A random order of ``range(n)``: a stable sort by random keys (about n**2 / 2**65 ties)."""
    return np.argsort(random_bits(np.arange(q.n, dtype=np.uint64), q.seed, LABELS), kind="stable")


def build_keys(q: BuildKeys) -> Pattern:
    """The structure of distinct keys.  O(m log m) for the sort of m keys, in place if they are one array."""
    bits = column_bits(q.ncols)
    alone = len(q.parts) == 1 and q.parts[0].flags.writeable  # one of a message may not be
    keys = q.parts[0] if alone else np.concatenate((np.zeros(0, np.int64), *q.parts))
    q.parts.clear()
    keys.sort()
    keys = keys[: _distinct_to_front(keys)]
    indptr = np.searchsorted(keys, np.arange(q.nrows + 1, dtype=np.int64) << bits).astype(index_dtype(keys.size))
    indices = np.empty(keys.size, dtype=index_dtype(q.ncols))
    for first in range(0, keys.size, _SLICE_KEYS):
        indices[first : first + _SLICE_KEYS] = keys[first : first + _SLICE_KEYS] & ((1 << bits) - 1)
    return Pattern(q.nrows, q.ncols, indptr, indices)


def _distinct_to_front(keys: Array) -> int:
    """Move the distinct keys of sorted ones to the front, slice by slice; return their number."""
    kept = 0
    for first in range(0, keys.size, _SLICE_KEYS):
        part = keys[first : first + _SLICE_KEYS]
        fresh = np.empty(part.size, dtype=bool)
        np.not_equal(part[1:], part[:-1], out=fresh[1:])
        # The key before the slice may have been overwritten; the last distinct key equals it.
        fresh[:1] = True if not kept else part[:1] != keys[kept - 1 : kept]
        distinct = part[fresh]
        keys[kept : kept + len(distinct)] = distinct
        kept += len(distinct)
    return kept


def draw_weights(q: DrawWeights) -> Array:
    """Random weights, chunk by chunk.  O(entries log n)."""
    indptr, indices = q.pattern.indptr, q.pattern.indices
    count = int(indices.size)
    weights = np.empty(count, dtype=np.int32)
    for first in range(0, count, draw.CHUNK_EDGES):
        last = min(first + draw.CHUNK_EDGES, count)
        places = np.arange(first, last, dtype=indptr.dtype)
        rows = np.searchsorted(indptr, places, side="right").astype(np.int64) + (q.top - 1)
        cols = indices[first:last].astype(np.int64) + q.left
        pairs = np.minimum(rows, cols) * q.n + np.maximum(rows, cols)
        bits = random_bits(pairs, q.seed, WEIGHTS) % np.uint64(q.high - q.low + 1)
        weights[first:last] = bits.astype(np.int32) + np.int32(q.low)
    return weights


def lattice(q: Lattice) -> Pattern:
    """The structure of a grid of points.  O(points)."""
    shape, n = q.shape, math.prod(q.shape)
    (top, bottom), (left, right) = q.rows, q.cols
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    # Neighbors in ascending order: the largest step back first, the largest step ahead last.
    steps = [(axis, -1) for axis in range(len(shape))] + [(axis, 1) for axis in reversed(range(len(shape)))]
    # For each point and direction, whether a neighbor exists, and its number; then the columns, and offsets.
    index = index_dtype(n * len(steps)).itemsize
    require("grid", "cpu", (bottom - top) * (len(steps) * (1 + 2 * index) + 3 * index))
    points = np.arange(top, bottom, dtype=index_dtype(n))
    there = np.empty((bottom - top, len(steps)), dtype=bool)
    for slot, (axis, sign) in enumerate(steps):
        coordinate = points // strides[axis] % shape[axis]
        there[:, slot] = coordinate > 0 if sign < 0 else coordinate < shape[axis] - 1
    jumps = np.array([sign * strides[axis] for axis, sign in steps], dtype=points.dtype)
    neighbors = points[:, None] + jumps
    if (left, right) != (0, n):
        there &= (neighbors >= left) & (neighbors < right)
    indices = neighbors[there]
    indptr = np.zeros(bottom - top + 1, dtype=index_dtype(int(indices.size)))
    indptr[1:] = np.cumsum(there.sum(axis=1), dtype=np.int64)
    columns = (indices - indices.dtype.type(left)).astype(index_dtype(right - left), copy=False)
    return Pattern(bottom - top, right - left, indptr, columns)


def star(q: Star) -> Pattern:
    """The structure of a star.  O(leaves)."""
    leaves, n = q.leaves, q.leaves + 1
    indptr = np.arange(leaves - 1, 2 * leaves + 1, dtype=index_dtype(2 * leaves))
    indptr[0] = 0
    indices = np.zeros(2 * leaves, dtype=index_dtype(n))
    indices[:leaves] = np.arange(1, n, dtype=indices.dtype)
    return Pattern(n, n, indptr, indices)
