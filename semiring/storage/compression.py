"""Encode and decode the rows of a matrix; in host memory slice by slice, so that the device never holds all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..config import engine_for
from ..devices import dispatched
from ..engines import registry
from ..engines.requests.storage import Encode, MeasureCompressed, Slices
from ..engines.rows.bits import rows_of, with_bits
from ..engines.rows.bounds import slice_bounds
from ..engines.rows.encoding import Encoder, measured
from ..engines.rows.residency import is_resident, resident
from ..exceptions import InvalidValue
from ..formats import (
    CODECS,
    CSR,
    BitmapPattern,
    Codec,
    FullPattern,
    HyperPattern,
    Pattern,
    array_module,
    index_dtype,
    is_bitmap,
    structure_only,
)
from ..formats.ccsr import compressed_nbytes
from ..formats.hypersparse import hypersparse, with_all_rows
from ..formats.pattern import offset_facts
from ..formats.placement import place
from ..memory.arrays import to_host
from ..memory.locked import locked_empty
from ..memory.placement import placed
from ..memory.transfer import download

# The formats that `convert` makes.
_CONVERTED = (Pattern.format, FullPattern.format, BitmapPattern.format, HyperPattern.format)


def checked_codec(codec: Any) -> Codec:
    """Return `codec` if it is the name of a codec; InvalidValue otherwise."""
    if codec not in CODECS:
        raise InvalidValue(f"unknown codec {codec!r}; expected one of {', '.join(map(repr, CODECS))}")
    return str(codec)


@dispatched()
def compress(a: CSR, codec: Any) -> CSR:
    """Return the matrix with compressed rows, at the same placement; itself if they are compressed already.

    Values are shared.  Cost O(nvals), twice for entries outside the memory of a GPU.  Synchronizes on the GPU.
    """
    codec = checked_codec(codec)
    a = decompress(a) if is_bitmap(a) else with_all_rows(a)
    pattern = a.pattern
    if pattern.codec == codec:
        return a
    engine, facts = engine_for(a.device), offset_facts(pattern)
    if is_resident(a):
        made = replace(registry.run(Encode(pattern, codec), engine), facts=facts)
    else:
        # Page-locked and device memory are allocated once, at their final size; pageable memory grows as it is written.
        used = measured(_slices(a, engine), a.ncols, codec, engine) if a.device == "cuda" else None
        encoder = Encoder(a.ncols, codec, engine, pattern.indptr, used=used, placement=pattern.placement)
        for rows in _slices(a, engine):
            encoder.feed(rows)
        made = encoder.finish(facts)
    return CSR(made, a.dtype, a.values, a.iso)


@dispatched()
def decompress(a: CSR) -> CSR:
    """Return the matrix with uncompressed rows, at the same placement; itself if it is uncompressed.

    Values are shared, except those of a bitmap matrix.  Cost O(nvals); O(nrows) for a hypersparse matrix,
    O(nrows ncols / 32 + nvals) for a bitmap matrix.
    """
    a = with_all_rows(a)
    pattern = a.pattern
    if isinstance(pattern, Pattern):
        return a
    if is_bitmap(a):
        return place(rows_of(a, engine_for(a.device)), a.placement)
    if pattern.placement == "device":
        return CSR(resident(structure_only(a.pattern)).pattern, a.dtype, a.values, a.iso)
    engine, dtype = engine_for(a.device), index_dtype(a.ncols)
    columns = locked_empty(a.nvals, dtype) if a.device == "cuda" else np.empty(a.nvals, dtype)
    done = 0
    for rows in _slices(a, engine):
        part = columns[done : done + rows.nvals]
        if a.device == "cuda":
            download(rows.indices, part)  # synchronizes
        else:
            part[...] = rows.indices
        done += rows.nvals
    entries = placed(columns, pattern.placement, a.device)
    made = Pattern(a.nrows, a.ncols, pattern.indptr, entries, offset_facts(pattern), pattern.placement)
    return CSR(made, a.dtype, a.values, a.iso)


@dispatched()
def convert(a: CSR, to: Any) -> CSR:
    """Return the matrix in a format of `_CONVERTED`; InvalidValue for another one, or rows that are not full.

    Values are shared, except to and from ``"bitmap"``.  Cost O(nrows), O(nvals) to ``"csr"`` from compressed rows,
    O(nrows ncols) to ``"bitmap"``.  Synchronizes.
    """
    if to not in _CONVERTED:
        formats = f"{', '.join(map(repr, _CONVERTED[:-1]))} or {_CONVERTED[-1]!r}"
        raise InvalidValue(f"convert: a matrix is converted to {formats}; got {to!r} (compress makes 'ccsr')")
    if a.format == to:
        return a
    if to == Pattern.format:
        return decompress(a)
    if to == HyperPattern.format:
        return hypersparse(decompress(a))
    if to == BitmapPattern.format:
        return place(with_bits(resident(a), engine_for(a.device)), a.placement)
    a = with_all_rows(a)
    pattern = a.pattern
    lengths = array_module(a.device).diff(pattern.indptr)
    partial = int(to_host(((lengths != 0) & (lengths != a.ncols)).sum()))  # synchronizes
    if partial:
        raise InvalidValue(
            f"convert: rows of a full matrix hold all {a.ncols} columns or none; {partial} of {a.nrows} rows do not "
            f"(ewise_union with a full matrix fills them)"
        )
    a = decompress(a) if is_bitmap(a) else a
    facts = offset_facts(pattern)
    made = FullPattern(a.nrows, a.ncols, a.nvals, pattern.indptr, facts, pattern.placement)
    return CSR(made, a.dtype, a.values, a.iso)


@dispatched()
def measure(a: CSR, codec: Any) -> int:
    """Return the bytes that the matrix would occupy with compressed rows, values included; exact.  Cost O(nvals).

    Of a matrix in parts those of the block of this process.
    """
    codec, a = checked_codec(codec), decompress(a) if is_bitmap(a) else with_all_rows(a)
    engine, pattern = engine_for(a.device), a.pattern
    values = 0 if a.values is None else int(a.values.nbytes)
    if pattern.codec == codec:
        return a.nbytes
    if is_resident(a):
        return values + int(registry.run(MeasureCompressed(pattern, codec), engine))
    used = measured(_slices(a, engine), a.ncols, codec, engine)
    return values + compressed_nbytes(a.nrows, a.ncols, a.nvals, codec, used)


def _slices(a: CSR, engine: str) -> Any:
    """Return the slices of the structure, one after another."""
    bounds = slice_bounds(a.pattern).rows
    return registry.run(Slices(structure_only(a.pattern), bounds, tuple(range(len(bounds) - 1))), engine)
