"""The columns of a pattern as kernels take them, whichever way they are stored (``kernels/columns.cuh``)."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import cupy
import numpy as np

from ...formats import Array, CompressedPattern, Pattern, index_dtype
from ...formats.ccsr import column_bits
from ...formats.csr import AnyPattern
from .specialise import constants, typedefs

__all__ = [
    "CODEC_NUMBERS",
    "codec_of",
    "codec_types",
    "column_argument",
    "column_mask",
    "column_types",
    "side_by_side",
    "transposed_codec",
    "types_of_both",
]

# The values of CODEC in kernel text.
CODEC_NUMBERS = {"plain": 0, "varint": 1, "packed": 2}
_FACT = "cuda.columns"
_WIDE = "cuda.wide_offsets"
_UINT32 = np.dtype(np.uint32)
_INT64 = np.dtype(np.int64)


@functools.lru_cache(maxsize=64)
def codec_types(codec: str, column: np.dtype[Any], offset: np.dtype[Any] = _UINT32) -> str:
    """The piece of a prologue that defines CODEC, J (the type of columns) and AT (of tile offsets; unused if plain)."""
    return typedefs(J=column, AT=offset) + constants(CODEC=CODEC_NUMBERS[codec]) + _readers(codec)


def transposed_codec(codec: str) -> str:
    """The piece of a prologue that defines T_CODEC, how the columns of the transpose are stored."""
    return constants(T_CODEC=CODEC_NUMBERS[codec]) + _readers(codec)


def _readers(codec: str) -> str:
    """What includes the readers of a codec in the kernel's text."""
    return "" if codec == "plain" else f"#define READS_{codec.upper()}\n"


def codec_of(pattern: AnyPattern) -> str:
    """``"plain"``, ``"varint"`` or ``"packed"``."""
    return "plain" if isinstance(pattern, Pattern) else pattern.codec


def column_types(pattern: AnyPattern) -> str:
    """The piece of a prologue that makes ``columns.cuh`` read the columns of `pattern`: J, AT and CODEC."""
    if isinstance(pattern, Pattern):
        return codec_types("plain", pattern.indices.dtype)
    return codec_types(pattern.codec, pattern.base.dtype, pattern.at.dtype)


def column_argument(pattern: AnyPattern) -> Array:
    """The kernel argument of type ``ColumnsArgument``: the columns themselves, or a descriptor in device memory.

    The descriptor is made once for a pattern and kept in its facts.  The entries lie in device memory or are pinned.
    """
    assert pattern.placement != "host", "kernels cannot address what is streamed"
    if isinstance(pattern, Pattern):
        return pattern.indices
    arrays = (pattern.stream, pattern.base, pattern.at)
    kept = pattern.facts.get(_FACT)
    # A copy of the pattern with other arrays may share its facts.
    if kept is None or any(old is not new for old, new in zip(kept[1], arrays, strict=True)):
        kept = pattern.facts[_FACT] = (_described(pattern), arrays)
    made: Array = kept[0]
    return made


def side_by_side(a: AnyPattern, t: AnyPattern) -> tuple[AnyPattern, AnyPattern]:
    """Both patterns as one kernel reads them: with tile offsets of one type.

    The streams of a matrix and its transpose may lie on two sides of 2^32 elements; then the offsets of the narrower
    are widened, 8 bytes a tile of 128 entries, which are kept with it.
    """
    if isinstance(a, CompressedPattern) and isinstance(t, CompressedPattern) and a.at.dtype != t.at.dtype:
        return _with_wide_offsets(a), _with_wide_offsets(t)
    return a, t


def _with_wide_offsets(pattern: CompressedPattern) -> CompressedPattern:
    if pattern.at.dtype == _INT64:
        return pattern
    kept: CompressedPattern | None = pattern.facts.get(_WIDE)
    if kept is None or kept.stream is not pattern.stream:
        kept = pattern.facts[_WIDE] = replace(pattern, at=pattern.at.astype(_INT64), facts={})
    return kept


def types_of_both(a: AnyPattern, t: AnyPattern) -> str:
    """`column_types` for a kernel that also reads the transpose, stored as T_CODEC says; both are `side_by_side`."""
    tiled = t if isinstance(t, CompressedPattern) else a
    offset = tiled.at.dtype if isinstance(tiled, CompressedPattern) else _UINT32
    types = codec_types(codec_of(a), index_dtype(a.ncols), offset)
    return types + transposed_codec(codec_of(t))


def column_mask(ncols: int) -> np.uint64:
    """2^b - 1, where b is the number of bits of a column."""
    return np.uint64((1 << column_bits(ncols)) - 1)


def _described(pattern: CompressedPattern) -> Array:
    """The struct ``CompressedColumns``, field by field."""
    stream = pattern.stream
    assert stream.data.ptr % 16 == 0, "a stream begins at a multiple of 16"
    mask = int(column_mask(pattern.ncols))
    fields = (stream.data.ptr, pattern.base.data.ptr, pattern.at.data.ptr, mask, pattern.nvals, stream.size)
    return cupy.asarray(np.array(fields, np.uint64))
