"""What the plots show, counted on the device of the object; only the counts are copied to the host.

Matrices may be of any storage kind: rows that are compressed, or not in the memory of the device, are read in parts.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semiring.engines.rows.residency import resident, resident_rows
from semiring.exceptions import InvalidValue
from semiring.formats import CSR, Array, HyperPattern, array_module, device_of, is_bitmap, structure_only
from semiring.memory.arrays import to_host

# The entries of one part, unless one row has more.
_PART = 1 << 23


class Cells(NamedTuple):
    """The entries in each cell of a grid over a matrix: cell (p, q) has `height` rows and `width` columns."""

    counts: NDArray[np.int64]
    height: int
    width: int


def entries_in_cells(a: CSR, most: int, places: Array | None = None) -> Cells:
    """Count the entries in each cell of a grid of at most `most` by `most` cells.

    places: the new number of each row and column, for a square matrix in another order; None: as they are.
    Cost O(nvals).  Synchronizes.
    """
    height, width = (max(-(-size // most), 1) for size in a.shape)
    down, across = (-(-size // step) for size, step in zip(a.shape, (height, width), strict=True))
    xp, pattern = array_module(a.device), a.pattern
    listed = pattern.rows if isinstance(pattern, HyperPattern) else None
    whole = structure_only(pattern.inner if isinstance(pattern, HyperPattern) else pattern)
    counts = xp.zeros(down * across, np.int64)
    for first, last in pairwise(_parts(whole)):
        part = resident_rows(whole, first, last)
        rows = xp.searchsorted(part.indptr, xp.arange(part.nvals, dtype=part.indptr.dtype), side="right") - 1 + first
        rows, columns = rows if listed is None else listed[rows], part.indices
        if places is not None:
            rows, columns = places[rows], places[columns]
        cells = (rows // height).astype(np.int64) * across + columns // width
        counts += xp.bincount(cells, minlength=down * across)
    return Cells(to_host(counts).reshape(down, across), height, width)


def _parts(a: CSR) -> list[int]:
    """Return bounds of rows with about `_PART` entries between two of them."""
    if a.nvals <= _PART:
        return [0, a.nrows] if a.nvals else [0]
    xp = array_module(a.device)
    marks = xp.arange(_PART, a.nvals, _PART, dtype=a.indptr.dtype)
    return sorted({0, *to_host(xp.searchsorted(a.indptr, marks, side="left")).tolist(), a.nrows})


class Histogram(NamedTuple):
    """The values in each bin: ``edges[p] <= x < edges[p + 1]``; the values that are not finite are in none."""

    counts: NDArray[np.int64]
    edges: NDArray[np.float64]
    not_finite: int


def histogram(x: Any, bins: int) -> Histogram:
    """Count the values of a vector or a matrix in equal bins; integers of a small range in one bin each.

    Cost O(nvals).  Synchronizes.
    """
    store = x.store
    if store.dtype.kind not in "biuf":
        raise InvalidValue(f"hist: expected real values, got {store.dtype}")
    if not store.nvals or store.iso is not None:
        values: Any = np.full(min(store.nvals, 1), store.iso if store.nvals else 0)
        weight = store.nvals
    elif x.ndim == 1:
        values, weight = x.to_coo(indices=False)[1], 1
    else:
        values, weight = (resident(store) if is_bitmap(store) else store).values, 1
    xp = array_module(device_of(values))
    total = int(values.size)
    if values.dtype.kind == "f":
        values = values[xp.isfinite(values)]
    elif values.dtype.kind == "b":
        values = values.view(np.uint8)
    left_out = total - int(values.size)
    if not values.size:
        return Histogram(np.zeros(1, np.int64), np.array([0.0, 1.0]), left_out * weight)
    low, high = (float(x) for x in to_host(xp.stack([values.min(), values.max()])))
    if values.dtype.kind in "iu" and high - low < bins:
        count, low, high = int(high - low) + 1, low - 0.5, high + 0.5
    else:
        count = bins
        if low == high:
            low, high = low - 0.5, high + 0.5
    counts, _ = xp.histogram(values.astype(np.float64, copy=False), bins=count, range=(low, high))
    return Histogram(to_host(counts).astype(np.int64) * weight, np.linspace(low, high, count + 1), left_out * weight)


def distinct(values: Array) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct values, ascending, and how often each occurs.  Synchronizes."""
    found, counts = array_module(device_of(values)).unique(values, return_counts=True)
    return to_host(found), to_host(counts).astype(np.int64)


def sizes_of_levels(levels: Any, edges: Array | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Return the vertices of each level and, from the number of edges of each vertex, the edges that leave it.

    levels: a Vector of integers from 0.  Synchronizes.
    """
    if levels.dtype.kind not in "iu":
        raise InvalidValue(f"frontiers: levels are integers, got {levels.dtype}")
    indices, values = levels.to_coo(index_dtype=None)
    xp = array_module(device_of(values))
    if values.size and int(to_host(values.min())) < 0:
        raise InvalidValue("frontiers: levels are integers from 0, got a negative one")
    if not values.size:
        return np.zeros(0, np.int64), None if edges is None else np.zeros(0, np.int64)
    values = values.astype(np.int64, copy=False)
    vertices = to_host(xp.bincount(values)).astype(np.int64)
    if edges is None:
        return vertices, None
    leaving = xp.bincount(values, weights=edges[indices].astype(np.float64))
    return vertices, to_host(leaving).astype(np.int64)
