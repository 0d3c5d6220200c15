"""Replacement of whole rows: the rows of the result are copied from one of two matrices."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import INT32, INT64, UINT8, UINT32, UINT64
from ...formats import CSR, Pattern, index_dtype
from ...memory.allocation import require
from ..registry import implements
from ..spec_fused import ReplaceRows
from . import tuning
from .extract import index_arguments
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, counter, grid, read_one
from .primitives import cast_array, moved
from .row_tiles import TILE_BLOCK, TILE_TEXT, find_tiles, lookback_words
from .specialize import constants, typedefs

_FILE = "replace_rows.cuh"


@implements(ReplaceRows, engine="cuda")
def replace_rows(q: ReplaceRows) -> CSR | None:
    """t(rows[p], :) = a(p, :), and the other rows of c.  Synchronizes: the number of entries is read back.

    Memory beside the result: 12 to 24 bytes a row.
    """
    c, a, n = q.c, q.a, q.c.nrows
    x, position = index_arguments(q.rows)
    number = np.dtype(np.uint32 if q.rows.count < 2**32 - 1 else np.uint64)
    offset = index_dtype(c.nvals + a.nvals)
    same = c.iso is not None and a.iso is not None and c.iso.tobytes() == a.iso.tobytes()
    plan = _plan(x, number, c.indptr.dtype, a.indptr.dtype, offset, c.indices.dtype, c.dtype)
    sources = cupy.empty(n, number)
    sources.data.memset_async(0xFF, sources.nbytes)
    repeats = counter()
    plan.sources(grid(q.rows.count), BLOCK, q.rows.count, *position, sources, repeats)
    if (q.rows.array is not None or q.rows.step == 0) and read_one(repeats):  # synchronizes
        return None
    blocks = -(-n // tuning.TILE)
    offsets, words = (cupy.empty if n else cupy.zeros)(n + 1, offset), lookback_words(blocks)
    plan.offsets(blocks, TILE_BLOCK, n, sources, c.indptr, a.indptr, offsets, words)
    total = read_one(words)  # synchronizes
    require("assign", "cuda", total * (c.indices.dtype.itemsize + (0 if same else c.dtype.itemsize)))
    indices, values = cupy.empty(total, c.indices.dtype), None if same else cupy.empty(total, c.dtype)
    first_row = find_tiles(offsets, n, total)
    plan.rows(
        int(first_row.size) - 1, TILE_BLOCK, n, sources, *_entries(c, c), *_entries(a, c), offsets, total, first_row,
        indices, values,
    )  # fmt: skip
    pattern = Pattern(n, c.ncols, cast_array(offsets, index_dtype(total)), indices)
    return CSR(pattern, c.dtype, values, c.iso if same else None)


class _Plan(NamedTuple):
    sources: Kernel
    offsets: Kernel
    rows: Kernel


@functools.lru_cache(maxsize=1024)
def _plan(*types: np.dtype[Any]) -> _Plan:
    """Return the kernels for the types X, N, P, Q, O and I, and for values of a type."""
    text = typedefs(**dict(zip(("X", "N", "P", "Q", "O", "I"), types[:-1], strict=True)), V=moved(types[-1]))
    text += TILE_TEXT + constants(FORM=2)
    return _Plan(*(kernel(_FILE, f"replace_{name}", text) for name in _Plan._fields))


def _entries(a: CSR, c: CSR) -> tuple[Any, ...]:
    """Return the arguments (indptr, indices, values, iso) of a; columns as those of c, iso as an unsigned integer."""
    kind = moved(a.dtype).type
    return (
        a.indptr,
        cast_array(a.indices, c.indices.dtype),
        a.values,
        kind(0) if a.iso is None else np.asarray(a.iso).view(kind)[()],
    )


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for index, number, value in ((INT32, UINT32, UINT8), (INT64, UINT64, UINT64)):
        yield _plan(index, number, index, INT32, index, INT32, value)
