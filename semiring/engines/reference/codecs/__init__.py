"""Compressed rows, tile by tile as `formats.ccsr` defines them.

The module of each codec has three functions for one tile: `encode`, `decode` and `check_base`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ....exceptions import InvalidFormat
from ....formats import CSR, TILE, AnyPattern, Codec, CompressedPattern, Pattern, index_dtype
from ....formats.ccsr import at_dtype, check_arrays
from ....formats.codecs import DEFINITIONS
from ....formats.pattern import scalar_facts
from ....formats.tiles import column_bits
from ...registry import EVERY_KIND, implements
from ...requests.storage import CheckCompressed, Encode, MeasureCompressed, Slices


def _codec(name: Codec) -> Any:
    """Return the module of a codec."""
    return importlib.import_module(f"{__name__}.{name}")


@implements(Encode, engine="reference", accepts=EVERY_KIND)
def compress(q: Encode) -> CompressedPattern:
    """Encode the structure as compressed rows."""
    return encode(q.pattern, q.codec, q.before)


@implements(MeasureCompressed, engine="reference", accepts=EVERY_KIND)
def measure(q: MeasureCompressed) -> int:
    """Return the bytes of the structure as compressed rows, measured on the encoded arrays."""
    return encode(q.pattern, q.codec).nbytes


@implements(CheckCompressed, engine="reference", accepts=EVERY_KIND)
def check(q: CheckCompressed) -> None:
    """Raise InvalidFormat unless the compressed pattern is well formed."""
    pattern = q.pattern
    if not isinstance(pattern, CompressedPattern):
        return
    check_arrays(pattern)
    indptr, at = pattern.indptr.tolist(), pattern.at.tolist()
    for name, offsets, last in (
        ("indptr", indptr, pattern.nvals),
        ("at", at, pattern.stream.size - DEFINITIONS[pattern.codec].padding),
    ):
        if offsets[0] != 0 or offsets[-1] != last:
            raise InvalidFormat(f"{name} goes from {offsets[0]} to {offsets[-1]}; expected 0 to {last}")
        for k in range(1, len(offsets)):
            if offsets[k] < offsets[k - 1]:
                raise InvalidFormat(f"{name}[{k}] is {offsets[k]}, less than the {offsets[k - 1]} before it")
    begins, before = set(indptr), -1
    for p, column in enumerate(decode(pattern).tolist()):
        before = -1 if p in begins else before
        if not before < column < pattern.ncols:
            raise InvalidFormat(
                f"stream: entry {p} has column {column}; expected ascending columns of a row below {pattern.ncols}"
            )
        if p % TILE == 0:
            part = pattern.stream[at[p // TILE] : at[p // TILE + 1]].tolist()
            _codec(pattern.codec).check_base(part, column, None if p in begins else before, p // TILE)
        before = column


@implements(Slices, engine="reference", accepts=EVERY_KIND)
def slices(q: Slices) -> Iterator[CSR]:
    """Yield the rows of each slice, decoded."""
    indptr, columns = q.a.indptr, decode(q.a.pattern)
    for s in q.wanted:
        first, last = q.bounds[s], q.bounds[s + 1]
        part = slice(int(indptr[first]), int(indptr[last]))
        offsets = (indptr[first : last + 1] - indptr[first]).astype(index_dtype(part.stop - part.start))
        values = None if q.a.values is None else q.a.values[part]
        yield CSR(Pattern(last - first, q.a.ncols, offsets, columns[part]), q.a.dtype, values, q.a.iso)


def encode(pattern: AnyPattern, codec: Codec, before: int = -1) -> CompressedPattern:
    """Encode the pattern as compressed rows; `before` as in `requests.storage.Encode`."""
    columns, indptr = decode(pattern).tolist(), pattern.indptr.tolist()
    bits = column_bits(pattern.ncols)
    numbers = _numbers(columns, indptr, before)
    stream: list[int] = []
    base, at = [], [0]
    for first in range(0, len(columns), TILE):
        tile = slice(first, first + TILE)
        stream += _codec(codec).encode(columns[tile], numbers[tile], bits)
        base.append(columns[first])
        at.append(len(stream))
    stream += [0] * DEFINITIONS[codec].padding
    return CompressedPattern(
        pattern.nrows,
        pattern.ncols,
        len(columns),
        codec,
        np.array(indptr, index_dtype(len(columns))),
        np.array(base, index_dtype(pattern.ncols)),
        np.array(at, at_dtype(len(stream))),
        np.array(stream, DEFINITIONS[codec].element),
        scalar_facts(pattern),
    )


def _numbers(columns: list[int], indptr: list[int], before: int) -> list[int]:
    """Return the column of the first entry of each row, the gap of every other."""
    begins = set(indptr)
    numbers = [column if p in begins else column - columns[p - 1] for p, column in enumerate(columns)]
    if before >= 0 and indptr[1:2] > [0]:
        numbers[0] = columns[0] - before
    return numbers


def decode(pattern: AnyPattern) -> np.ndarray[Any, Any]:
    """Return the columns of all entries; InvalidFormat where a tile violates `formats.ccsr`."""
    if not isinstance(pattern, CompressedPattern):
        return np.asarray(pattern.entries)
    begins, base, at = set(pattern.indptr.tolist()), pattern.base.tolist(), pattern.at.tolist()
    columns: list[int] = []
    for t in range(pattern.ntiles):
        count = min(TILE, pattern.nvals - t * TILE)
        part = pattern.stream[at[t] : at[t + 1]].tolist()
        columns += _codec(pattern.codec).decode(part, base[t], t, count, column_bits(pattern.ncols), begins)
    limit = np.iinfo(index_dtype(pattern.ncols)).max
    if max(columns, default=0) > limit:
        raise InvalidFormat(f"stream: a column is {max(columns)}; expected columns below {pattern.ncols}")
    return np.array(columns, index_dtype(pattern.ncols))
