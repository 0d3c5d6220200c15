"""Searches from many sources, group by group: a row of source bits has a bounded width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..formats import CSR, Pattern, index_dtype
from ..memory.arrays import to_device

__all__ = ["counts_matrix", "group_bounds"]


def group_bounds(sources: int, most: int) -> list[tuple[int, int]]:
    """Return the first and last (exclusive) source of each group of up to `most`."""
    return [(first, min(first + most, sources)) for first in range(0, sources, most)]


def counts_matrix(parts: Sequence[np.ndarray[Any, Any]], device: str) -> tuple[CSR, int]:
    """Return the counts of all sources as a matrix, int64, and its number of columns.

    parts: for each group an array of levels by sources, in host memory.  A source reaches rows in every level up to its
    last one, so a row of the matrix has the columns 0 to that level.
    """
    steps = max((int(np.count_nonzero(part.any(axis=1))) for part in parts), default=0)
    lengths = [np.count_nonzero(part, axis=0) for part in parts]
    offsets = np.zeros(sum(part.shape[1] for part in parts) + 1, np.int64)
    np.cumsum(np.concatenate(lengths), out=offsets[1:])
    nvals = int(offsets[-1])
    columns = np.concatenate([np.nonzero(part.T)[1] for part in parts])
    values = np.concatenate([part.T[part.T > 0] for part in parts])
    indptr, indices = offsets.astype(index_dtype(nvals)), columns.astype(index_dtype(steps))
    pattern = Pattern(offsets.size - 1, steps, to_device(indptr, device), to_device(indices, device))
    return CSR(pattern, np.dtype(np.int64), to_device(values.astype(np.int64), device)), steps
