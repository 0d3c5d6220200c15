"""The columns of a pattern as kernel arguments, for every storage kind (``kernels/columns.cuh``)."""

from __future__ import annotations

import functools
from typing import Any

import cupy
import numpy as np

from ...formats import AnyPattern, Array, index_dtype
from ...formats.tiles import column_bits
from .specialize import typedefs

__all__ = [
    "codec_of",
    "codec_types",
    "column_argument",
    "column_mask",
    "column_types",
    "side_by_side",
    "transposed_codec",
    "types_of_both",
]

_FACT = "cuda.columns"
_WIDE = "cuda.wide_offsets"
_UINT32 = np.dtype(np.uint32)
_INT64 = np.dtype(np.int64)


@functools.lru_cache(maxsize=64)
def codec_types(codec: str, column: np.dtype[Any], offset: np.dtype[Any] = _UINT32) -> str:
    """Return the prologue lines for J (type of columns), AT (type of tile offsets; unused if uncompressed), CODEC."""
    return typedefs(J=column, AT=offset) + f"typedef struct {codec} CODEC;\n"


def transposed_codec(codec: str) -> str:
    """Return the prologue line for T_CODEC, the codec of the columns of the transpose."""
    return f"typedef struct {codec} T_CODEC;\n"


def codec_of(pattern: AnyPattern) -> str:
    """Return the name of the codec, or ``"uncompressed"``."""
    return pattern.codec or "uncompressed"


def column_types(pattern: AnyPattern) -> str:
    """Return the prologue lines that make ``columns.cuh`` read the columns of `pattern`: J, AT and CODEC."""
    if pattern.codec is None:
        return codec_types("uncompressed", pattern.entries.dtype)
    return codec_types(pattern.codec, pattern.base.dtype, pattern.at.dtype)


def column_argument(pattern: AnyPattern) -> Array:
    """Return the kernel argument of type ``ColumnsArgument``: the columns, or a descriptor in device memory.

    The descriptor is built once for a pattern and cached in its facts.  The entries are in device or pinned memory.
    """
    assert pattern.placement != "host", "kernels cannot address what is streamed"
    if pattern.codec is None:
        return pattern.entries
    arrays = (pattern.entries, pattern.base, pattern.at)
    kept = pattern.facts.get(_FACT)
    # A copy of the pattern with other arrays may share its facts.
    if kept is None or any(old is not new for old, new in zip(kept[1], arrays, strict=True)):
        kept = pattern.facts[_FACT] = (_described(pattern), arrays)
    made: Array = kept[0]
    return made


def side_by_side(a: AnyPattern, t: AnyPattern) -> tuple[AnyPattern, AnyPattern]:
    """Return both patterns with tile offsets of one type, as one kernel requires.

    If only one of the streams of a matrix and its transpose has 2^32 elements or more, the offsets of the other are
    widened, 8 bytes a tile of 128 entries, and cached with it.
    """
    if a.at is not None and t.at is not None and a.at.dtype != t.at.dtype:
        return _with_wide_offsets(a), _with_wide_offsets(t)
    return a, t


def _with_wide_offsets(pattern: AnyPattern) -> AnyPattern:
    if pattern.at.dtype == _INT64:
        return pattern
    kept: AnyPattern | None = pattern.facts.get(_WIDE)
    if kept is None or kept.entries is not pattern.entries:
        arrays = {**{name: getattr(pattern, name) for name in pattern.ARRAYS}, "at": pattern.at.astype(_INT64)}
        kept = pattern.facts[_WIDE] = pattern.with_arrays(arrays, {}, pattern.placement)
    return kept


def types_of_both(a: AnyPattern, t: AnyPattern) -> str:
    """Return `column_types` for a kernel that also reads the transpose (T_CODEC); both patterns are `side_by_side`."""
    tiled = a if t.at is None else t
    offset = _UINT32 if tiled.at is None else tiled.at.dtype
    types = codec_types(codec_of(a), index_dtype(a.ncols), offset)
    return types + transposed_codec(codec_of(t))


def column_mask(ncols: int) -> np.uint64:
    """Return 2^b - 1, where b is the number of bits of a column."""
    return np.uint64((1 << column_bits(ncols)) - 1)


def _described(pattern: AnyPattern) -> Array:
    """Return the struct ``CompressedColumns``, field by field."""
    stream = pattern.entries
    assert stream.data.ptr % 16 == 0, "a stream begins at a multiple of 16"
    mask = int(column_mask(pattern.ncols))
    fields = (stream.data.ptr, pattern.base.data.ptr, pattern.at.data.ptr, mask, pattern.nvals, stream.size)
    return cupy.asarray(np.array(fields, np.uint64))
