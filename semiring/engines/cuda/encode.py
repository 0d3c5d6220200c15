"""Encoding of compressed rows on the device: the lengths of all tiles, their prefix sums, then the stream."""

from __future__ import annotations

import functools
from itertools import product
from typing import Any

import cupy
import numpy as np

from ...formats import Array, Codec, CompressedPattern, Pattern, index_dtype
from ...formats.ccsr import at_dtype, compressed_nbytes
from ...formats.codecs import DEFINITIONS
from ...formats.pattern import offset_facts
from ...formats.tiles import tile_count
from ..registry import implements
from ..requests.storage import Encode, MeasureCompressed
from . import compile_samples
from .columns import codec_types, column_mask
from .kernel import Handles, Kernel, kernel
from .launch import counter, grid, read_one
from .primitives import cast_array, exclusive_scan
from .specialize import typedefs

__all__ = ["encode", "measure_compressed"]

_BLOCK = 256
_UINT32 = np.dtype(np.uint32)
_INT64 = np.dtype(np.int64)


@implements(Encode, engine="cuda")
def encode(q: Encode) -> CompressedPattern:
    """Encode the entries by tiles; a warp encodes each tile twice, to measure it and to write it.

    Memory besides the result: 4 bytes a tile (5 if the codec has widths), and a second copy of its offsets if they
    need 64 bits.  Synchronizes: the length of the stream is read back for its allocation.
    """
    pattern = q.pattern
    assert isinstance(pattern, Pattern)
    codec, tiles = q.codec, tile_count(pattern.nvals)
    base = cupy.empty(tiles, index_dtype(pattern.ncols))
    definition = DEFINITIONS[codec]
    element, padding = definition.element, definition.padding
    if tiles == 0:
        at, stream = cupy.zeros(1, at_dtype(padding)), cupy.zeros(padding, element)
        return _made(pattern, codec, base, at, stream)
    sizes = cupy.empty(tiles, _UINT32)
    widths = cupy.empty(tiles, np.uint8) if definition.has_widths else None
    _sizes(pattern, codec, q.before, sizes, widths, None)
    fits_32_bits = tiles * definition.most_elements(pattern.ncols) + padding < 2**32
    at = exclusive_scan(sizes, _UINT32 if fits_32_bits else _INT64)
    del sizes
    total = read_one(at[-1:])  # synchronizes
    at = cast_array(at, at_dtype(total + padding))
    stream = cupy.empty(total + padding, element)
    stream[total:].fill(0)
    _kernel("encode_write", codec_types(codec, base.dtype, at.dtype), pattern.indptr.dtype)(
        _blocks(tiles, codec), _BLOCK, *_operands(pattern), q.before, at, widths, base, stream
    )
    return _made(pattern, codec, base, at, stream)


def _made(pattern: Pattern, codec: Codec, base: Array, at: Array, stream: Array) -> CompressedPattern:
    shape = (pattern.nrows, pattern.ncols, pattern.nvals)
    return CompressedPattern(*shape, codec, pattern.indptr, base, at, stream, offset_facts(pattern))


@implements(MeasureCompressed, engine="cuda")
def measure_compressed(q: MeasureCompressed) -> int:
    """The first half of encoding, of which only the sum is kept.  Synchronizes."""
    pattern = q.pattern
    assert isinstance(pattern, Pattern)
    tiles, total = tile_count(pattern.nvals), 0
    if tiles:
        sum_of_sizes = counter()
        _sizes(pattern, q.codec, -1, None, None, sum_of_sizes)
        total = read_one(sum_of_sizes)  # synchronizes
    return compressed_nbytes(pattern.nrows, pattern.ncols, pattern.nvals, q.codec, total)


def _blocks(tiles: int, codec: Codec) -> int:
    # One search for a row serves the eight consecutive tiles that a warp then encodes.
    return grid(32 * (-(-tiles // 8) if DEFINITIONS[codec].restarts_at_rows else tiles), _BLOCK)


def _operands(pattern: Pattern) -> tuple[Any, ...]:
    mask = column_mask(pattern.ncols)
    return pattern.indices, pattern.indptr, pattern.nrows, mask, pattern.nvals


def _sizes(
    pattern: Pattern, codec: Codec, before: int, sizes: Array | None, widths: Array | None, total: Array | None
) -> None:
    _kernel("encode_sizes", codec_types(codec, index_dtype(pattern.ncols)), pattern.indptr.dtype)(
        _blocks(tile_count(pattern.nvals), codec), _BLOCK, *_operands(pattern), before, sizes, widths, total
    )


@functools.cache
def _kernel(entry: str, columns: str, offset: np.dtype[Any]) -> Kernel:
    return kernel("encode.cuh", entry, columns + typedefs(P=offset))


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    names = "encode_sizes", "encode_write"
    return tuple(_kernel(name, *given) for name, given in product(names, compile_samples.codecs()))
