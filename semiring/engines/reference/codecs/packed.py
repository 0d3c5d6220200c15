"""The packed codec, gap by gap (the layout is in `formats.codecs.packed`)."""

from __future__ import annotations

from itertools import pairwise

from ....exceptions import InvalidFormat
from ....formats import TILE


def encode(columns: list[int], numbers: list[int], bits: int) -> list[int]:
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


def decode(part: list[int], base: int, t: int, count: int, bits: int, begins: set[int]) -> list[int]:
    """Return the columns of tile t."""
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


def check_base(part: list[int], base: int, before: int | None, t: int) -> None:
    """Do nothing: a tile does not contain the column of its first entry."""
