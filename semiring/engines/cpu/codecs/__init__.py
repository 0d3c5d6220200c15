"""Compressed rows on the CPU: encoding, decoding of any range of entries, checks, and slices of rows of any kind.

The module of each codec has the functions `measure`, `encode`, `decode` and `check`, and the messages of its faults.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ....exceptions import InvalidFormat
from ....formats import CSR, TILE, AnyPattern, Codec, CompressedPattern, Pattern, index_dtype
from ....formats.ccsr import at_dtype, check_arrays, compressed_nbytes
from ....formats.codecs import DEFINITIONS
from ....formats.pattern import scalar_facts
from ....formats.tiles import tile_count
from ...registry import EVERY_KIND, implements
from ...requests.storage import CheckCompressed, Encode, MeasureCompressed, Slices
from ..operands import Array, kernel_array
from ..threads import parts_for
from . import walk


@functools.cache
def _codec(name: Codec) -> Any:
    """Return the module of a codec."""
    return importlib.import_module(f"{__name__}.{name}")


@implements(Encode, engine="cpu", accepts=EVERY_KIND)
def encode(q: Encode) -> CompressedPattern:
    """Encode the structure as compressed rows: measure all tiles, then each thread writes its own."""
    pattern, codec, definition = q.pattern, q.codec, DEFINITIONS[q.codec]
    indptr, indices = kernel_array(pattern.indptr), kernel_array(columns(pattern))
    sizes, widths = _measured(indptr, indices, pattern.ncols, codec, q.before)
    used = int(sizes.sum())
    at = np.zeros(sizes.size + 1, at_dtype(used + definition.padding))
    np.cumsum(sizes, out=at[1:])
    stream = np.zeros(used + definition.padding, definition.element)
    _codec(codec).encode(indptr, indices, pattern.ncols, q.before, parts_for(indices.size), widths, at, stream)
    base = indices[::TILE].astype(index_dtype(pattern.ncols))
    shape = pattern.nrows, pattern.ncols, int(indices.size)
    return CompressedPattern(*shape, codec, pattern.indptr, base, at, stream, scalar_facts(pattern))


@implements(MeasureCompressed, engine="cpu", accepts=EVERY_KIND)
def measure(q: MeasureCompressed) -> int:
    """Return the bytes of the structure as compressed rows."""
    pattern = q.pattern
    sizes, _ = _measured(kernel_array(pattern.indptr), kernel_array(columns(pattern)), pattern.ncols, q.codec, -1)
    return compressed_nbytes(pattern.nrows, pattern.ncols, pattern.nvals, q.codec, int(sizes.sum()))


def _measured(indptr: Array, indices: Array, ncols: int, codec: Codec, before: int) -> tuple[Array, Array]:
    """Return (elements of the stream, width) of each tile; widths are undefined if the codec has none."""
    ntiles, parts = tile_count(indices.size), parts_for(indices.size)
    sizes, widths = np.empty(ntiles, np.int64), np.empty(ntiles, np.uint8)
    _codec(codec).measure(indptr, indices, ncols, before, parts, sizes, widths)
    return sizes, widths


def columns(pattern: AnyPattern, first: int = 0, last: int | None = None) -> Array:
    """Return the columns of entries `first` up to `last` (None: the end): a view, or decoded by all threads."""
    last = pattern.nvals if last is None else last
    if isinstance(pattern, Pattern):
        return np.asarray(pattern.indices[first:last])
    out = np.empty(last - first, index_dtype(pattern.ncols))
    if last > first:
        _codec(pattern.codec).decode(pattern, first, last, parts_for(last - first), out)
    return out


@implements(Slices, engine="cpu", accepts=EVERY_KIND)
def slices(q: Slices) -> Iterator[CSR]:
    """Yield the rows of each slice: views of uncompressed rows and of values, decoded columns of compressed rows."""
    a = q.a
    for s in q.wanted:
        first, last = q.bounds[s], q.bounds[s + 1]
        begin, end = int(a.indptr[first]), int(a.indptr[last])
        offsets = (a.indptr[first : last + 1] - begin).astype(index_dtype(end - begin), copy=False)
        values = None if a.values is None else np.asarray(a.values[begin:end])
        yield CSR(Pattern(last - first, a.ncols, offsets, columns(a.pattern, begin, end)), a.dtype, values, a.iso)


@implements(CheckCompressed, engine="cpu", accepts=EVERY_KIND)
def check(q: CheckCompressed) -> None:
    """Raise InvalidFormat unless the compressed pattern is well formed."""
    pattern = q.pattern
    if not isinstance(pattern, CompressedPattern):
        return
    check_arrays(pattern)
    _check_offsets("indptr", pattern.indptr, pattern.nvals)
    _check_offsets("at", pattern.at, int(pattern.stream.size) - DEFINITIONS[pattern.codec].padding)
    parts, codec = parts_for(pattern.nvals), _codec(pattern.codec)
    found = np.zeros((parts, 3), np.int64)
    codec.check(pattern, parts, found)
    faults = sorted((tile, entry, fault) for fault, tile, entry in found.tolist() if fault)
    if faults:
        tile, entry, fault = faults[0]
        message = {**walk.FAULTS, **codec.FAULTS}[fault]
        raise InvalidFormat(message.format(tile=tile, entry=entry, ncols=pattern.ncols))


def _check_offsets(name: str, offsets: Array, last: int) -> None:
    """Raise InvalidFormat unless the offsets rise from 0 to `last`."""
    if offsets[0] != 0 or offsets[-1] != last:
        raise InvalidFormat(f"{name} goes from {offsets[0]} to {offsets[-1]}; expected 0 to {last}")
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if falls.size:
        at = int(falls[0]) + 1
        raise InvalidFormat(f"{name}[{at}] is {offsets[at]}, less than the {offsets[at - 1]} before it")
