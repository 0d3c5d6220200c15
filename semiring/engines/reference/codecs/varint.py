"""The varint codec, number by number (the layout is in `formats.codecs.varint`)."""

from __future__ import annotations

from ....exceptions import InvalidFormat
from ....formats import TILE

_MOST_BYTES = 9


def encode(columns: list[int], numbers: list[int], bits: int) -> list[int]:
    """Return the bytes of one tile."""
    return [byte for number in numbers for byte in leb128(number)]


def leb128(number: int) -> list[int]:
    """Return the bytes of a number: 7 bits each, least significant first, the top bit set on all but the last."""
    encoded = []
    while number >= 128:
        encoded.append(number % 128 + 128)
        number //= 128
    return [*encoded, number]


def decode(part: list[int], base: int, t: int, count: int, bits: int, begins: set[int]) -> list[int]:
    """Return the columns of tile t; the number of its first entry is skipped."""
    columns = [base]
    for p, number in enumerate(_numbers(part, count, t)[1:], start=t * TILE + 1):
        columns.append(number if p in begins else number + columns[-1])
    return columns


def check_base(part: list[int], base: int, before: int | None, t: int) -> None:
    """Raise InvalidFormat unless the first number of tile t agrees with its base; `before`: the column before it."""
    number = _numbers(part, None, t)[0]
    if base != number + (before or 0):
        raise InvalidFormat(f"base[{t}] is {base}, which differs from the column by its first number {number}")


def _numbers(part: list[int], count: int | None, t: int) -> list[int]:
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
