"""Test of a structure for symmetry, in one pass over slices.

A comparison with the transpose would need uncompressed rows.  Instead: with D = A - A' over the structure (entries -1,
0 and 1) and vectors x, y of random numbers modulo 2^64, the number x' D y is 0 if D is.  If D is not, some row of it
holds a 1 or -1, so that this entry of D y is uniform, and so is x' D y: it is 0 with a probability below 65 / 2^64.
The numbers of two such pairs are both 0 with a probability below 2^-115.

    x' D y  =  sum over rows i of   x(i) (sum of y over the row)  -  y(i) (sum of x over the row)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats import CSR, Array, array_module, structure_only
from ...memory.allocation import require
from ...memory.arrays import to_host
from .. import registry
from ..registry import slicing_rule
from ..requests.operations import IsSymmetric
from ..rows.bounds import slice_bounds
from ..rows.slices import note_slices, walk

_WORDS = 4  # two pairs of random vectors, as the columns x0 y0 x1 y1
# Entries of one gather: their random numbers need 32 bytes each.
_GATHERED = 1 << 22


@slicing_rule(IsSymmetric)
def is_symmetric(q: IsSymmetric, engine: str) -> bool:
    """Test exactly where there is one slice; else by random numbers, wrong with a probability below 2^-115."""
    pattern = q.pattern
    if pattern.nrows != pattern.ncols:
        return False
    where = slice_bounds(pattern)
    rows, selected = where.rows, where.filled()
    a = structure_only(pattern)
    note_slices(rows, selected)
    if len(rows) == 2:
        (row_slice,) = walk(a, engine, rows, (0,))
        return bool(registry.run(IsSymmetric(row_slice.rows.pattern), engine))
    require("is_symmetric", pattern.device, pattern.nrows * _WORDS * 8)
    xp = array_module(pattern.device)
    numbers = _random_numbers(pattern.nrows, xp)
    difference = xp.zeros(2, dtype=np.uint64)
    for row_slice in walk(a, engine, rows, selected):
        sums = _row_sums(row_slice.rows, numbers, xp)
        own = numbers[row_slice.first : row_slice.last]
        difference += (own[:, 0::2] * sums[:, 1::2] - own[:, 1::2] * sums[:, 0::2]).sum(axis=0, dtype=np.uint64)
    return not bool(to_host(difference).any())  # synchronizes


def _row_sums(rows: CSR, numbers: Array, xp: Any) -> Array:
    """Return for each row the sums of the numbers of its columns, as differences of prefix sums."""
    ends = xp.zeros((rows.nrows + 1, _WORDS), dtype=np.uint64)
    so_far = xp.zeros(_WORDS, dtype=np.uint64)
    for first in range(0, rows.nvals, _GATHERED):
        last = min(first + _GATHERED, rows.nvals)
        running = numbers[rows.indices[first:last]].cumsum(axis=0, dtype=np.uint64)
        running += so_far
        # Rows that end among these entries.  synchronizes
        edges = xp.asarray(np.array([first + 1, last + 1])).astype(rows.indptr.dtype)
        begin, end = to_host(xp.searchsorted(rows.indptr, edges)).tolist()
        ends[begin:end] = running[rows.indptr[begin:end] - (first + 1)]
        so_far = running[-1]
    return ends[1:] - ends[:-1]


def _random_numbers(count: int, xp: Any) -> Array:
    """Return (count, 4) numbers by SplitMix64, four sequences from four random seeds, on the device.

    Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
    """
    seeds = np.random.default_rng().integers(0, 2**64 - 1, _WORDS, dtype=np.uint64, endpoint=True)
    z = xp.arange(1, count + 1, dtype=np.uint64)[:, None] * np.uint64(0x9E3779B97F4A7C15) + xp.asarray(seeds)[None, :]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
