"""A graph of the size of Friendster: 65.6 M vertices, 3.6 G stored entries, skewed degrees, one component.

Friendster itself is not redistributed here.  The substitute is an R-MAT graph (0.45, 0.22, 0.22, 0.11), its
labels shuffled, made symmetric, without loops and repeated edges, and a random recursive tree through all vertices
(vertex v is joined to a random earlier one), so that it is one component.  Friendster's own largest degree is 5,214;
here it is some hundred thousand.

Every edge is a function of its number, so the rows can be generated range by range, in the memory of one range, and
do not depend on the number of ranges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import semiring as sr

Array = Any
# Cumulative probabilities of the quadrants, as parts of 2^16.
_QUADRANTS = (29491, 43909, 58327)
_CHUNK = 1 << 26
_GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Social:
    """The graph's parameters.

    vertices: how many.  draws: how many R-MAT edges are drawn; about a tenth are duplicates or loops.
    """

    vertices: int
    draws: int
    seed: int = 1

    @property
    def bits(self) -> int:
        """Levels of the R-MAT recursion."""
        return max(1, (self.vertices - 1).bit_length())


FRIENDSTER = Social(65_608_366, 1_741_000_000)


def rows(graph: Social, xp: Any, parts: int = 1) -> Iterator[tuple[int, Array, Array]]:
    """(first row, indptr, columns) for `parts` consecutive ranges of rows, in order.

    xp: NumPy or CuPy.
    """
    n = graph.vertices
    label = _shuffle(xp, n, graph.seed)
    bounds = [n * part // parts for part in range(parts + 1)]
    for low, high in pairwise(bounds):
        found = []
        for u, v in _edges(graph, xp):
            i, j = label[u], label[v]
            for row, column in ((i, j), (j, i)):
                mine = (row >= low) & (row < high) & (row != column)
                found.append(((row[mine] - low) << 32) | column[mine])
        keys = xp.concatenate(found)
        del found
        keys.sort()
        first = xp.ones(keys.size, dtype=bool)
        first[1:] = keys[1:] != keys[:-1]
        keys = keys[first]
        indptr = xp.searchsorted(keys, xp.arange(high - low + 1, dtype=np.int64) << 32)
        yield low, indptr.astype(np.int64), (keys & 0xFFFFFFFF).astype(np.int32)


def matrix(graph: Social, parts: int = 1) -> sr.Matrix:
    """The graph as an uncompressed matrix on the default device."""
    xp = _module()
    indptr, indices, total = [xp.zeros(1, np.int64)], [], 0
    for _, offsets, columns in rows(graph, xp, parts):
        indptr.append(offsets[1:] + total)
        indices.append(columns)
        total += int(columns.size)
    made = sr.Matrix.from_csr(xp.concatenate(indptr), xp.concatenate(indices), True, ncols=graph.vertices, copy=False)
    return made


def _module() -> Any:
    if sr.Matrix(bool, 1, 1).device == "cpu":
        return np
    import cupy

    return cupy


def _edges(graph: Social, xp: Any) -> Iterator[tuple[Array, Array]]:
    """(u, v), chunk by chunk: the R-MAT edges, then the tree."""
    n = graph.vertices
    for start in range(0, graph.draws, _CHUNK):
        number = xp.arange(start, min(start + _CHUNK, graph.draws), dtype=np.uint64)
        yield _rmat(graph, xp, number)
    for start in range(1, n, _CHUNK):
        number = xp.arange(start, min(start + _CHUNK, n), dtype=np.uint64)
        earlier = _mix(xp, number + np.uint64(graph.seed << 40)) % number
        yield number.astype(np.int64), earlier.astype(np.int64)


def _rmat(graph: Social, xp: Any, number: Array) -> tuple[Array, Array]:
    if xp is not np:
        u, v = xp.empty(number.size, np.int64), xp.empty(number.size, np.int64)
        _kernel()(number, np.uint64(graph.seed), np.int32(graph.bits), np.int64(graph.vertices), u, v)
        return u, v
    u, v = np.zeros((2, number.size), np.int64)
    a, b, c = _QUADRANTS
    for bit in range(graph.bits):
        if bit % 4 == 0:
            random = _mix(xp, number * np.uint64(8) + np.uint64(bit // 4) + np.uint64(graph.seed << 52))
        part = (random >> np.uint64(16 * (bit % 4))) & np.uint64(0xFFFF)
        u = 2 * u + (part >= b)
        v = 2 * v + (((part >= a) & (part < b)) | (part >= c))
    return u % graph.vertices, v % graph.vertices


def _kernel() -> Any:
    """`_rmat` in one launch: the same numbers."""
    import cupy

    a, b, c = _QUADRANTS
    return cupy.ElementwiseKernel(
        "uint64 number, uint64 seed, int32 bits, int64 n",
        "int64 u, int64 v",
        f"""
        long long row = 0, column = 0;
        unsigned long long random = 0;
        for (int bit = 0; bit < bits; bit++) {{
            if (bit % 4 == 0) random = mix(number * 8 + bit / 4 + (seed << 52));
            const unsigned part = unsigned(random >> (16 * (bit % 4))) & 0xFFFFu;
            row = 2 * row + (part >= {b});
            column = 2 * column + ((part >= {a} && part < {b}) || part >= {c});
        }}
        u = row % n;
        v = column % n;
        """,
        "social_rmat",
        preamble=f"""
        __device__ unsigned long long mix(unsigned long long x) {{
            x += {_GOLDEN}ull;
            x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
            x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
            return x ^ (x >> 31);
        }}
        """,
    )


def _mix(xp: Any, x: Array) -> Array:
    """Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014), modulo 2^64."""
    x = x + np.uint64(_GOLDEN)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _shuffle(xp: Any, n: int, seed: int) -> Array:
    """A random permutation of the labels, the same on every device."""
    return xp.argsort(_mix(xp, xp.arange(n, dtype=np.uint64) + np.uint64(seed << 44))).astype(np.int64)
