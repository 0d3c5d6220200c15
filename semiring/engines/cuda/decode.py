"""Bulk decoding: a range of the entries of a compressed pattern to uncompressed columns."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...formats import TILE, AnyPattern, Array
from ...formats.codecs import DEFINITIONS
from . import compile_samples
from .columns import column_mask, column_types
from .kernel import Handles, Kernel, kernel
from .launch import grid
from .specialize import typedefs

__all__ = ["decode_range"]

_BLOCK = 256
_GROUP = 8  # tiles that a warp processes at a time


def decode_range(
    pattern: AnyPattern,
    first: int,
    last: int,
    out: Array,
    stream: Array | None = None,
    position: int = 0,
) -> None:
    """Set ``out[p - first]`` to the column of entry p, for ``first <= p < last``.

    A warp decodes a tile of 128 entries; bytes are read once, in lines of 16, from device memory or, over the
    interconnect, from pinned memory.  Stores are 16 bytes wide if the address of ``out[0]`` and `first` agree modulo 16
    bytes (as for a view that begins at element ``first % 4`` of an array).  One launch; does not wait for the device.

    Parameters
    ----------
    pattern : compressed rows
        In device memory or pinned; or host, if `stream` is given.
    first, last : int
        The range of entries; all tiles that overlap it are read completely.
    out : cupy.ndarray
        At least ``last - first`` columns, of the type of ``pattern.base``.
    stream : cupy.ndarray, optional
        Holds the stream from element `position` on, at least the elements ``at[first // 128]`` to
        ``at[ceil(last / 128)]`` and the padding of the codec.  It need not be aligned, but memory must be readable from
        the preceding multiple of 16 bytes on.
    position : int
        See `stream`.

    Columns are correct for a well-formed stream; for any other stream no read is out of bounds.
    """
    assert 0 <= first <= last <= pattern.nvals
    assert pattern.codec is not None
    assert out.dtype == pattern.base.dtype
    assert out.size >= last - first
    assert stream is not None or pattern.placement != "host"
    held = pattern.entries if stream is None else stream
    if first == last:
        return
    readable = position + int(held.size) - DEFINITIONS[pattern.codec].padding
    assert readable >= position
    origin = np.uint64((held.data.ptr - position * held.dtype.itemsize) % 2**64)
    groups = -(-(-(-last // TILE) - first // TILE) // _GROUP)
    _kernel(column_types(pattern), pattern.indptr.dtype)(
        grid(32 * groups), _BLOCK, origin, position, readable, pattern.base, pattern.at, pattern.indptr, pattern.nrows,
        column_mask(pattern.ncols), pattern.nvals, first, last, out,
    )  # fmt: skip


@functools.cache
def _kernel(columns: str, offset: np.dtype[Any]) -> Kernel:
    return kernel("decode.cuh", "decode_tiles", columns + typedefs(P=offset))


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return tuple(_kernel(*given) for given in compile_samples.codecs())
