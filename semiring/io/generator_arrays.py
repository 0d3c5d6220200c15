"""Generated graphs as CSR arrays, the same on every device for one seed.

Randomness is a function of (seed, stream, counter), without a state: edge number e of a graph is the same for every
chunk, thread and device that draws it. The function is SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable
Pseudorandom Number Generators", OOPSLA 2014), whose i-th output does not depend on the others. All arithmetic is on
64-bit integers, exact on both NumPy and CuPy, which are passed as ``xp``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from semiring.exceptions import InvalidValue
from semiring.memory.arrays import Array, index_dtype

__all__ = [
    "compress",
    "distinct_rows",
    "kronecker_edges",
    "lattice",
    "permutation",
    "random_bits",
    "star_arrays",
    "uniform_edges",
    "uniform_weights",
]

_GOLDEN: Final = 0x9E3779B97F4A7C15
_MASK: Final = 2**64 - 1

# The purpose of a random number; each purpose has its own sequence.
EDGES: Final = 0
LABELS: Final = 1
WEIGHTS: Final = 2

#: Edges drawn at a time: bounds the temporary arrays to some hundred megabytes.
CHUNK_EDGES: Final = 1 << 22
# Sorted keys compacted at a time: bounds temporary arrays, where there may be billions of keys.
_SLICE_KEYS: Final = 1 << 27


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def random_bits(counters: Array, seed: int, stream: int) -> Array:
    """Return 64 random bits for each counter as uint64: output ``counter`` of SplitMix64 seeded by (seed, stream)."""
    key = _mix(_mix(seed & _MASK) + _GOLDEN * (stream + 1) & _MASK)
    z = counters.astype(np.uint64) * np.uint64(_GOLDEN)
    z += np.uint64(key)
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z


def kronecker_edges(
    xp: Any, scale: int, first: int, count: int, seed: int, a: float, b: float, c: float
) -> tuple[Array, Array]:
    """Draw edges ``first`` to ``first + count`` of a stochastic Kronecker graph on ``2**scale`` vertices, as int64.

    Each level of the recursion picks a quadrant of the adjacency matrix with the probabilities a, b, c and the rest,
    and so one bit of the row and one of the column.
    """
    words = (scale + 1) // 2
    thresholds = [np.uint64(round(share * 2**32)) for share in (a, a + b, a + b + c)]
    base = xp.arange(first, first + count, dtype=np.uint64) * np.uint64(max(words, 1))
    rows = xp.zeros(count, dtype=np.int64)
    cols = xp.zeros(count, dtype=np.int64)
    bits = base
    for level in range(scale):
        if level % 2 == 0:
            bits = random_bits(base + np.uint64(level // 2), seed, EDGES)
        draw = bits & np.uint64(0xFFFFFFFF) if level % 2 == 0 else bits >> np.uint64(32)
        low_half = draw >= thresholds[1]
        right_half = (draw >= thresholds[0]) ^ low_half ^ (draw >= thresholds[2])
        rows |= low_half.astype(np.int64) << level
        cols |= right_half.astype(np.int64) << level
    return rows, cols


def uniform_edges(xp: Any, n: int, first: int, count: int, seed: int) -> tuple[Array, Array]:
    """Draw edges ``first`` to ``first + count`` between uniform random vertices below ``n``, as int64 ends."""
    counters = xp.arange(2 * first, 2 * (first + count), dtype=np.uint64)
    # 64 random bits leave a bias below n / 2**64 in the remainder.
    ends = (random_bits(counters, seed, EDGES) % np.uint64(max(n, 1))).astype(np.int64)
    return ends[::2], ends[1::2]


def permutation(xp: Any, n: int, seed: int) -> Array:
    """Return a random order of ``range(n)``: a stable sort by random keys (about n**2 / 2**65 ties)."""
    return xp.argsort(random_bits(xp.arange(n, dtype=np.uint64), seed, LABELS), kind="stable")


def compress(
    xp: Any, chunks: Iterable[tuple[Array, Array]], most: int, n: int, *, symmetric: bool, loops: bool
) -> tuple[Array, Array]:
    """Build ``(indptr, indices)`` of the at most ``most`` distinct edges, in both directions if symmetric.

    O(m log m) for the sort of m 64-bit keys, on the device that holds them. Memory: 16 bytes for each key, the
    need of a sort on the GPU.
    """
    keys = xp.empty(2 * most if symmetric else most, dtype=np.int64)
    filled = 0
    for rows, cols in chunks:
        if not loops:
            off = rows != cols
            rows, cols = rows[off], cols[off]
        directions = ((rows, cols), (cols, rows)) if symmetric else ((rows, cols),)
        for starts, ends in directions:
            keys[filled : filled + len(starts)] = starts * n + ends
            filled += len(starts)
    return distinct_rows(xp, keys[:filled], n, n)


def distinct_rows(xp: Any, keys: Array, nrows: int, ncols: int) -> tuple[Array, Array]:
    """Build ``(indptr, indices)`` of the distinct keys ``row * ncols + column``, which are sorted in place."""
    keys.sort()
    keys = keys[: _distinct_to_front(xp, keys)]
    starts = xp.arange(nrows + 1, dtype=np.int64) * ncols
    indptr = xp.searchsorted(keys, starts).astype(index_dtype(int(keys.size)))
    indices = xp.empty(keys.size, dtype=index_dtype(ncols))
    for first in range(0, int(keys.size), _SLICE_KEYS):
        indices[first : first + _SLICE_KEYS] = keys[first : first + _SLICE_KEYS] % max(ncols, 1)
    return indptr, indices


def _distinct_to_front(xp: Any, keys: Array) -> int:
    """Move the distinct keys of sorted ones to the front, slice by slice; return their number. Synchronizes."""
    kept = 0
    for first in range(0, int(keys.size), _SLICE_KEYS):
        part = keys[first : first + _SLICE_KEYS]
        fresh = xp.empty(part.size, dtype=bool)
        xp.not_equal(part[1:], part[:-1], out=fresh[1:])
        # The key before the slice may have been overwritten; the last distinct key equals it.
        fresh[:1] = True if not kept else part[:1] != keys[kept - 1 : kept]
        distinct = part[fresh]  # synchronizes
        keys[kept : kept + len(distinct)] = distinct
        kept += len(distinct)
    return kept


def uniform_weights(
    xp: Any, indptr: Array, indices: Array, seed: int, low: int, high: int, *, block: tuple[int, int, int] | None = None
) -> Array:
    """Return an int32 weight from ``low`` to ``high`` for each entry, the same for (i, j) and (j, i).

    block: the first row and the first column of the arrays in a graph of n vertices, and n; None: they are all of it.
    """
    top, left, n = (0, 0, int(indptr.size) - 1) if block is None else block
    count = int(indices.size)
    weights = xp.empty(count, dtype=np.int32)
    for first in range(0, count, CHUNK_EDGES):
        last = min(first + CHUNK_EDGES, count)
        rows = xp.searchsorted(indptr, xp.arange(first, last, dtype=indptr.dtype), side="right").astype(np.int64) + (
            top - 1
        )
        cols = indices[first:last].astype(np.int64) + left
        pairs = xp.minimum(rows, cols) * n + xp.maximum(rows, cols)
        bits = random_bits(pairs, seed, WEIGHTS) % np.uint64(high - low + 1)
        weights[first:last] = bits.astype(np.int32) + np.int32(low)
    return weights


def lattice(
    xp: Any, shape: tuple[int, ...], rows: tuple[int, int] | None = None, cols: tuple[int, int] | None = None
) -> tuple[Array, Array]:
    """Build ``(indptr, indices)`` of the grid of points; neighbors differ by one in one coordinate. O(points).

    rows, cols: the bounds of a block, whose positions count from 0; None: all.
    """
    n = math.prod(shape)
    (top, bottom), (left, right) = rows or (0, n), cols or (0, n)
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    points = xp.arange(top, bottom, dtype=index_dtype(n))
    # Neighbors in ascending order: the largest step back first, the largest step ahead last.
    steps = [(axis, -1) for axis in range(len(shape))] + [(axis, 1) for axis in reversed(range(len(shape)))]
    there = xp.empty((bottom - top, len(steps)), dtype=bool)
    for slot, (axis, sign) in enumerate(steps):
        coordinate = points // strides[axis] % shape[axis]
        there[:, slot] = coordinate > 0 if sign < 0 else coordinate < shape[axis] - 1
    jumps = xp.asarray(np.array([sign * strides[axis] for axis, sign in steps], dtype=points.dtype))
    neighbors = points[:, None] + jumps
    if (left, right) != (0, n):
        there &= (neighbors >= left) & (neighbors < right)
    indices = neighbors[there]
    indptr = xp.zeros(bottom - top + 1, dtype=index_dtype(int(indices.size)))
    indptr[1:] = xp.cumsum(there.sum(axis=1), dtype=np.int64)
    return indptr, (indices - indices.dtype.type(left)).astype(index_dtype(right - left), copy=False)


def star_arrays(xp: Any, leaves: int) -> tuple[Array, Array]:
    """Build ``(indptr, indices)`` of a star: vertex 0 and its ``leaves``. O(leaves)."""
    n = leaves + 1
    indptr = xp.arange(leaves - 1, 2 * leaves + 1, dtype=index_dtype(2 * leaves))
    indptr[0] = 0
    indices = xp.zeros(2 * leaves, dtype=index_dtype(n))
    indices[:leaves] = xp.arange(1, n, dtype=indices.dtype)
    return indptr, indices


def checked(name: str, value: int, low: int, high: int) -> int:
    """Return ``value`` as an int; `InvalidValue` if it is outside the limits."""
    if not low <= int(value) <= high:
        raise InvalidValue(f"{name}: expected {low} to {high}, got {value}")
    return int(value)
