"""Compressed rows on the CPU: encoding, decoding of any range of entries, checks, and slices of rows of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...exceptions import InvalidFormat
from ...formats import CSR, TILE, AnyPattern, Codec, CompressedPattern, Pattern, index_dtype
from ...formats.ccsr import (
    ELEMENT,
    PADDING,
    at_dtype,
    check_arrays,
    column_bits,
    compressed_nbytes,
    tile_count,
)
from ...formats.pattern import scalar_facts
from ..registry import EVERY_KIND, implements
from ..spec_storage import CheckCompressed, Encode, MeasureCompressed, Slices
from .codecs_check import FAULTS, check_tiles
from .operands import Array, kernel_array
from .packed import decode_packed, encode_packed, measure_packed
from .threads import parts_for, run
from .varint import decode_varint, encode_varint, measure_varint


@implements(Encode, engine="cpu", accepts=EVERY_KIND)
def encode(q: Encode) -> CompressedPattern:
    """Encode the structure as compressed rows: measure all tiles, then each thread writes its own."""
    pattern, codec = q.pattern, q.codec
    indptr, indices = kernel_array(pattern.indptr), kernel_array(columns(pattern))
    parts = parts_for(indices.size)
    sizes, widths = _measured(indptr, indices, pattern.ncols, codec, q.before)
    used = int(sizes.sum())
    at = np.zeros(sizes.size + 1, at_dtype(used + PADDING[codec]))
    np.cumsum(sizes, out=at[1:])
    stream = np.zeros(used + PADDING[codec], ELEMENT[codec])
    if codec == "packed":
        run(encode_packed, parts, indices, *modulus(pattern.ncols), widths, at, stream)
    else:
        run(encode_varint, parts, indptr, indices, q.before, at, stream)
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
    """Return (elements of the stream, width) of each tile; varint has no widths."""
    ntiles, parts = tile_count(indices.size), parts_for(indices.size)
    sizes, widths = np.empty(ntiles, np.int64), np.empty(ntiles, np.uint8)
    if codec == "packed":
        run(measure_packed, parts, indices, *modulus(ncols), widths, sizes)
    else:
        run(measure_varint, parts, indptr, indices, before, sizes)
    return sizes, widths


def modulus(ncols: int) -> tuple[np.uint64, int]:
    """Return (2^b - 1, words of the column of entry 64), the arguments of kernels of the packed codec."""
    bits = column_bits(ncols)
    return np.uint64((1 << bits) - 1), 1 if bits <= 31 else 2


def columns(pattern: AnyPattern, first: int = 0, last: int | None = None) -> Array:
    """Return the columns of entries `first` up to `last` (None: the end): a view, or decoded by all threads."""
    last = pattern.nvals if last is None else last
    if isinstance(pattern, Pattern):
        return np.asarray(pattern.indices[first:last])
    out = np.empty(last - first, index_dtype(pattern.ncols))
    if last > first:
        stream, at, base = kernel_array(pattern.stream), kernel_array(pattern.at), kernel_array(pattern.base)
        parts = parts_for(last - first)
        if pattern.codec == "packed":
            tiles: tuple[Any, ...] = (stream, at, base, pattern.nvals, *modulus(pattern.ncols))
            run(decode_packed, parts, *tiles, first, last, out)
        else:
            run(decode_varint, parts, stream, at, base, kernel_array(pattern.indptr), first, last, out)
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
    if isinstance(pattern, Pattern):
        return
    check_arrays(pattern)
    _check_offsets("indptr", pattern.indptr, pattern.nvals)
    _check_offsets("at", pattern.at, int(pattern.stream.size) - PADDING[pattern.codec])
    parts = parts_for(pattern.nvals)
    found = np.zeros((parts, 3), np.int64)
    arrays = tuple(kernel_array(array) for array in (pattern.indptr, pattern.base, pattern.at, pattern.stream))
    packing = (column_bits(pattern.ncols), *modulus(pattern.ncols)) if pattern.codec == "packed" else None
    run(check_tiles, parts, *arrays, packing, pattern.ncols, found)
    faults = sorted((tile, entry, fault) for fault, tile, entry in found.tolist() if fault)
    if faults:
        tile, entry, fault = faults[0]
        raise InvalidFormat(FAULTS[fault].format(tile=tile, entry=entry, ncols=pattern.ncols))


def _check_offsets(name: str, offsets: Array, last: int) -> None:
    """Raise InvalidFormat unless the offsets rise from 0 to `last`."""
    if offsets[0] != 0 or offsets[-1] != last:
        raise InvalidFormat(f"{name} goes from {offsets[0]} to {offsets[-1]}; expected 0 to {last}")
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if falls.size:
        at = int(falls[0]) + 1
        raise InvalidFormat(f"{name}[{at}] is {offsets[at]}, less than the {offsets[at - 1]} before it")
