"""Validation of compressed rows from external sources: an error names the position of the first defect."""

from __future__ import annotations

import functools
from itertools import product
from typing import Any

import cupy
import numpy as np

from ...exceptions import InvalidFormat
from ...formats import TILE, Array, CompressedPattern
from ...formats.ccsr import check_arrays
from ...formats.codecs import DEFINITIONS
from ..registry import ADDRESSABLE, implements
from ..requests.storage import CheckCompressed
from . import compile_samples
from .columns import column_mask, column_types
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, read_back
from .specialize import typedefs

__all__ = ["check_compressed"]

_NONE = np.iinfo(np.uint64).max
_GROUP = 8  # tiles that a warp processes at a time


@implements(CheckCompressed, engine="cuda", accepts=ADDRESSABLE)
def check_compressed(q: CheckCompressed) -> None:
    """Check types and sizes, then the offsets, then decode all tiles, one warp each, without storing the columns.

    Synchronizes: the first and last offsets, and the defects found in the offsets and in the tiles, are read back.
    """
    pattern = q.pattern
    if not isinstance(pattern, CompressedPattern):
        return
    check_arrays(pattern)
    _check_offsets(pattern)
    if pattern.nvals:
        _check_tiles(pattern)


@functools.cache
def _kernel(entry: str, columns: str, offset: np.dtype[Any]) -> Kernel:
    return kernel("check_compressed.cuh", entry, columns + typedefs(P=offset))


def _check_offsets(pattern: CompressedPattern) -> None:
    first = cupy.full(2, _NONE, np.uint64)
    ends = cupy.empty(4, np.int64)
    _kernel("check_tile_offsets", column_types(pattern), pattern.indptr.dtype)(
        max(1, grid(max(pattern.nrows, pattern.ntiles))), BLOCK,
        pattern.indptr, pattern.nrows, pattern.at, pattern.ntiles, first, ends,
    )  # fmt: skip
    lies = read_back(ends).reshape(2, 2).tolist()  # synchronizes
    falls = read_back(first).tolist()  # synchronizes
    wanted = (pattern.nvals, int(pattern.stream.size) - DEFINITIONS[pattern.codec].padding)
    for name, (begin, end), last in zip(("indptr", "at"), lies, wanted, strict=True):
        if begin != 0 or end != last:
            raise InvalidFormat(f"{name} goes from {begin} to {end}; expected 0 to {last}")
    for name, offsets, k in zip(("indptr", "at"), (pattern.indptr, pattern.at), falls, strict=True):
        if k != _NONE:
            before, here = read_back(offsets[k - 1 : k + 1]).tolist()  # synchronizes
            raise InvalidFormat(f"{name}[{k}] is {here}, less than the {before} before it")


def _check_tiles(pattern: CompressedPattern) -> None:
    first: Array = cupy.full(4, _NONE, np.uint64)
    _kernel("check_tiles", column_types(pattern), pattern.indptr.dtype)(
        grid(32 * -(-pattern.ntiles // _GROUP), 256), 256, pattern.stream, int(pattern.stream.size), pattern.base,
        pattern.at, pattern.indptr, pattern.nrows, pattern.ncols,
        column_mask(pattern.ncols), pattern.nvals, first,
    )  # fmt: skip
    tile, base, middle, entry = (int(place) for place in read_back(first))  # synchronizes
    if tile != _NONE:
        entries = f"the entries {tile * TILE} to {min(tile * TILE + TILE, pattern.nvals) - 1}"
        raise InvalidFormat(f"stream: tile {tile} ({entries}) is not what the {pattern.codec} codec writes")
    if base != _NONE:
        raise InvalidFormat(f"base[{base}] is not the column of entry {base * TILE}, as the stream has it")
    if middle != _NONE:
        raise InvalidFormat(f"stream: tile {middle} has a stored column 64 that differs from the decoded one")
    if entry != _NONE:
        raise InvalidFormat(
            f"stream: the column of entry {entry} is out of place; expected ascending columns of a row below "
            f"{pattern.ncols}"
        )


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    names = "check_tile_offsets", "check_tiles"
    return tuple(_kernel(name, *given) for name, given in product(names, compile_samples.codecs()))
