"""Replacement of whole rows: the rows of the result are copied from one of two matrices."""

from __future__ import annotations

import functools
from typing import Any

import cupy
import numpy as np

from ...dtypes import INT32, INT64, UINT8, UINT32, UINT64
from ...formats import CSR, Pattern, index_dtype
from ...memory.allocation import require
from ..registry import implements
from ..requests.operations import ReplaceRows
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
    types = x, number, c.indptr.dtype, a.indptr.dtype, offset, c.indices.dtype, moved(c.dtype)
    sources = cupy.empty(n, number)
    sources.data.memset_async(0xFF, sources.nbytes)
    repeats = counter()
    _kernel("sources", *types)(grid(q.rows.count), BLOCK, q.rows.count, *position, sources, repeats)
    if (q.rows.array is not None or q.rows.step == 0) and read_one(repeats):  # synchronizes
        return None
    blocks = -(-n // tuning.TILE)
    offsets, words = (cupy.empty if n else cupy.zeros)(n + 1, offset), lookback_words(blocks)
    _kernel("offsets", *types)(blocks, TILE_BLOCK, n, sources, c.indptr, a.indptr, offsets, words)
    total = read_one(words)  # synchronizes
    require("assign", "cuda", total * (c.indices.dtype.itemsize + (0 if same else c.dtype.itemsize)))
    indices, values = cupy.empty(total, c.indices.dtype), None if same else cupy.empty(total, c.dtype)
    first_row = find_tiles(offsets, n, total)
    _kernel("rows", *types)(
        int(first_row.size) - 1, TILE_BLOCK, n, sources, *_entries(c, c), *_entries(a, c), offsets, total, first_row,
        indices, values,
    )  # fmt: skip
    pattern = Pattern(n, c.ncols, cast_array(offsets, index_dtype(total)), indices)
    return CSR(pattern, c.dtype, values, c.iso if same else None)


@functools.lru_cache(maxsize=1024)
def _kernel(name: str, *types: np.dtype[Any]) -> Kernel:
    text = typedefs(**dict(zip(("X", "N", "P", "Q", "O", "I", "V"), types, strict=True)))
    return kernel(_FILE, f"replace_{name}", text + TILE_TEXT + constants(FORM=2))


def _entries(a: CSR, c: CSR) -> tuple[Any, ...]:
    """Return the arguments (indptr, indices, values, iso) of a; columns as those of c, iso as an unsigned integer."""
    kind = moved(a.dtype).type
    return (
        a.indptr,
        cast_array(a.indices, c.indices.dtype),
        a.values,
        kind(0) if a.iso is None else np.asarray(a.iso).view(kind)[()],
    )


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    some = (INT32, UINT32, INT32, INT32, INT32, INT32, UINT8), (INT64, UINT64, INT64, INT32, INT64, INT32, UINT64)
    return tuple(_kernel(name, *types) for name in ("sources", "offsets", "rows") for types in some)
