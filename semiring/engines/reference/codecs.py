"""The codecs of compressed rows, number by number as `formats.ccsr` defines them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ...exceptions import InvalidFormat
from ...formats import CSR, TILE, AnyPattern, Codec, CompressedPattern, Pattern, index_dtype
from ...formats.ccsr import ELEMENT, PADDING, at_dtype, check_arrays, column_bits
from ...formats.pattern import scalar_facts
from ..registry import EVERY_KIND, implements
from ..spec_storage import CheckCompressed, Encode, MeasureCompressed, Slices

_MOST_BYTES = 9


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
    if isinstance(pattern, Pattern):
        return
    check_arrays(pattern)
    indptr, at = pattern.indptr.tolist(), pattern.at.tolist()
    for name, offsets, last in (
        ("indptr", indptr, pattern.nvals),
        ("at", at, pattern.stream.size - PADDING[pattern.codec]),
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
        if pattern.codec == "varint" and p % TILE == 0:
            number = _varint_numbers(pattern.stream[at[p // TILE] : at[p // TILE + 1]].tolist(), None, p // TILE)[0]
            if column != (number if p in begins else before + number):
                raise InvalidFormat(
                    f"base[{p // TILE}] is {column}, which differs from the column by its first number {number}"
                )
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
    """Encode the pattern as compressed rows; `before` as in `spec_storage.Encode`."""
    columns, indptr = decode(pattern).tolist(), pattern.indptr.tolist()
    bits = column_bits(pattern.ncols)
    numbers = _numbers(columns, indptr, before)
    stream: list[int] = []
    base, at = [], [0]
    for first in range(0, len(columns), TILE):
        if codec == "varint":
            for number in numbers[first : first + TILE]:
                stream += leb128(number)
        else:
            stream += _packed_words(columns[first : first + TILE], bits)
        base.append(columns[first])
        at.append(len(stream))
    stream += [0] * PADDING[codec]
    return CompressedPattern(
        pattern.nrows,
        pattern.ncols,
        len(columns),
        codec,
        np.array(indptr, index_dtype(len(columns))),
        np.array(base, index_dtype(pattern.ncols)),
        np.array(at, at_dtype(len(stream))),
        np.array(stream, ELEMENT[codec]),
        scalar_facts(pattern),
    )


def _numbers(columns: list[int], indptr: list[int], before: int) -> list[int]:
    """Return the column of the first entry of each row, the gap of every other."""
    begins = set(indptr)
    numbers = [column if p in begins else column - columns[p - 1] for p, column in enumerate(columns)]
    if before >= 0 and indptr[1:2] > [0]:
        numbers[0] = columns[0] - before
    return numbers


def leb128(number: int) -> list[int]:
    """Return the bytes of a number: 7 bits each, least significant first, the top bit set on all but the last."""
    encoded = []
    while number >= 128:
        encoded.append(number % 128 + 128)
        number //= 128
    return [*encoded, number]


def _packed_words(columns: list[int], bits: int) -> list[int]:
    """Return the words of one tile, with the least width of those that make it smallest."""
    gaps = [0, *((column - previous) % 2**bits for previous, column in pairwise(columns))]
    longest = max(gaps).bit_length()
    return min((_words_of_width(columns, gaps, w, bits) for w in range(longest + 1)), key=len)


def _words_of_width(columns: list[int], gaps: list[int], w: int, bits: int) -> list[int]:
    slots = [s for s, gap in enumerate(gaps) if gap.bit_length() > w]
    high = [gaps[s] >> w for s in slots]
    h = max(high, default=0).bit_length()
    words = [w + 64 * len(slots) + 16384 * h]
    if len(columns) > 64:
        words += _bit_string([columns[64]], 32 if bits <= 31 else 64)
    for chunk in range(0, len(gaps), 32):
        low = [gap % 2**w for gap in gaps[chunk : chunk + 32]]
        words += _bit_string(low + [0] * (32 - len(low)), w)
    return words + _bit_string(slots, 8) + _bit_string(high, h)


def _bit_string(numbers: list[int], width: int) -> list[int]:
    """Concatenate numbers of `width` bits from the lowest bit up, as words padded with 0."""
    whole = sum(number << (k * width) for k, number in enumerate(numbers))
    return [(whole >> (32 * k)) % 2**32 for k in range(-(-len(numbers) * width // 32))]


def decode(pattern: AnyPattern) -> np.ndarray[Any, Any]:
    """Return the columns of all entries; InvalidFormat where a tile violates `formats.ccsr`."""
    if isinstance(pattern, Pattern):
        return np.asarray(pattern.indices)
    begins, base, at = set(pattern.indptr.tolist()), pattern.base.tolist(), pattern.at.tolist()
    columns: list[int] = []
    for t in range(pattern.ntiles):
        count = min(TILE, pattern.nvals - t * TILE)
        part = pattern.stream[at[t] : at[t + 1]].tolist()
        if pattern.codec == "varint":
            columns += _varint_tile(_varint_numbers(part, count, t), base[t], t * TILE, begins)
        else:
            columns += _packed_tile(part, base[t], count, column_bits(pattern.ncols), t)
    limit = np.iinfo(index_dtype(pattern.ncols)).max
    if max(columns, default=0) > limit:
        raise InvalidFormat(f"stream: a column is {max(columns)}; expected columns below {pattern.ncols}")
    return np.array(columns, index_dtype(pattern.ncols))


def _varint_tile(numbers: list[int], base: int, first: int, begins: set[int]) -> list[int]:
    """Return the columns of the tile that begins with entry `first`; the number of that entry is skipped."""
    columns = [base]
    for p, number in enumerate(numbers[1:], start=first + 1):
        columns.append(number if p in begins else number + columns[-1])
    return columns


def _varint_numbers(part: list[int], count: int | None, t: int) -> list[int]:
    """Return the numbers of tile t: `count` of them, unless that is None."""
    numbers: list[int] = []
    digits: list[int] = []
    for byte in part:
        digits.append(byte % 128)
        if byte < 128:
            numbers.append(sum(digit * 128**k for k, digit in enumerate(digits)))
            digits = []
        elif len(digits) == _MOST_BYTES:
            raise InvalidFormat(f"stream: tile {t} has a number of more than {_MOST_BYTES} bytes")
    if digits or count not in (None, len(numbers)):
        raise InvalidFormat(f"stream: tile {t} has {len(numbers)} whole numbers; expected {count}")
    return numbers


def _packed_tile(part: list[int], base: int, count: int, bits: int, t: int) -> list[int]:
    """Return the columns of one tile."""
    header = part[0] if part else -1
    w, x, h = header % 64, header // 64 % 256, header // 16384
    anchor = 0 if count <= 64 else 1 if bits <= 31 else 2
    sizes = [1, anchor, w * -(-count // 32), -(-x // 4), -(-x * h // 32)]
    if header < 0 or x >= TILE or w + h > bits or sum(sizes) != len(part):
        raise InvalidFormat(
            f"stream: tile {t} has {len(part)} words and the header {header}; expected {sum(sizes)} words"
        )
    starts = [sum(sizes[:k]) for k in range(6)]
    whole = [sum(word << (32 * k) for k, word in enumerate(part[a:b])) for a, b in pairwise(starts)]
    gaps = [(whole[2] >> (s * w)) % 2**w for s in range(count)]
    slots = [(whole[3] >> (8 * e)) % 256 for e in range(x)]
    if gaps[0] or any(not a < b < count for a, b in pairwise([0, *slots])):
        raise InvalidFormat(f"stream: tile {t}: expected 0 in slot 0 and ascending exceptions, found {slots}")
    for e, s in enumerate(slots):
        gaps[s] += (whole[4] >> (e * h)) % 2**h << w
    columns = [base]
    for gap in gaps[1:]:
        columns.append((columns[-1] + gap) % 2**bits)
    if anchor and whole[1] != columns[64]:
        raise InvalidFormat(f"stream: tile {t} states column {whole[1]} for entry 64; expected {columns[64]}")
    return columns
