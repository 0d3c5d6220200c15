"""The compiled loop of :mod:`semiring.io.text_scan`; a separate module, so that numba is imported on first use."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.engines.cpu.compile import device, kernel

__all__ = [
    "AFTER_QUOTE",
    "EMPTY_FIELD",
    "FINE",
    "NOT_A_NUMBER",
    "OUT_OF_RANGE",
    "TOO_FEW",
    "TOO_MANY",
    "UNCLOSED_QUOTE",
    "next_content",
    "scan_lines",
    "scan_lists",
    "unescape",
]

FINE: Final = 0
TOO_FEW: Final = 1
TOO_MANY: Final = 2
NOT_A_NUMBER: Final = 3
OUT_OF_RANGE: Final = 4
EMPTY_FIELD: Final = 5
UNCLOSED_QUOTE: Final = 6
AFTER_QUOTE: Final = 7

# Roles of bytes, as text_scan.character_classes sets them.
_SEPARATOR: Final = 1
_NEWLINE: Final = 2
_COMMENT: Final = 3
_COMMA: Final = 4

# Kinds of columns, as in text_scan.
_INTEGER: Final = 0
_REAL: Final = 1
_SKIP: Final = 2
_LETTER: Final = 3
_CANONICAL: Final = 4
_TEXT: Final = 5

_QUOTE: Final = 34

# 10**0 to 10**22 are the powers of ten that a double holds exactly (Clinger 1990, "How to read floating point
# numbers accurately"): with a mantissa below 2**53, one multiplication or division rounds correctly.
_POWERS: Final[NDArray[np.float64]] = np.array([float(10**e) for e in range(23)])
_EXACT_MANTISSA: Final = np.uint64(2**53)
_TEN: Final = np.uint64(10)
_LAST_SAFE: Final = np.uint64((2**64 - 1) // 10)
_LAST_DIGIT: Final = np.uint64((2**64 - 1) % 10)
_INT64_TOP: Final = np.uint64(2**63 - 1)


@kernel
def next_content(text: NDArray[np.uint8], position: int, line: int, classes: NDArray[np.uint8]) -> tuple[int, int]:
    """Return the line and byte of the first token from the start of a line on; byte -1 if there is none."""
    end = len(text)
    while position < end:
        role = classes[text[position]]
        if role == _NEWLINE:
            line += 1
        elif role == _COMMENT:
            while position < end and text[position] != 10:
                position += 1
            continue
        elif role != _SEPARATOR:
            return line, position
        position += 1
    return line, -1


@device
def _is_word(text: NDArray[np.uint8], first: int, last: int, word: Any) -> bool:
    """Return whether ``text[first:last]`` is ``word`` (in lower case) in any case."""
    if last - first != len(word):
        return False
    for q in range(len(word)):  # noqa: SIM110  (numba compiles no generator expression)
        if (text[first + q] | 32) != word[q]:
            return False
    return True


_NAN: Final = tuple(b"nan")
_INF: Final = tuple(b"inf")
_INFINITY: Final = tuple(b"infinity")


@device
def _decimal(text: NDArray[np.uint8], first: int, last: int, point: int) -> tuple[int, float]:
    """Read ``text[first:last]`` as a decimal: (0, value), (1, _) if it needs exact rounding, (2, _) if it is none."""
    p = first
    negative = False
    if text[p] == 43 or text[p] == 45:
        negative = text[p] == 45
        p += 1
    if p == last:
        return 2, 0.0
    if _is_word(text, p, last, _NAN):
        return 0, np.nan
    if _is_word(text, p, last, _INF) or _is_word(text, p, last, _INFINITY):
        return 0, -np.inf if negative else np.inf

    mantissa = np.uint64(0)
    digits = 0
    exponent = 0
    inexact = False
    seen_point = False
    while p < last:
        c = text[p]
        if c == point and not seen_point:
            seen_point = True
        elif 48 <= c <= 57:
            digits += 1
            if mantissa <= _LAST_SAFE - np.uint64(1):
                mantissa = mantissa * _TEN + np.uint64(c - 48)
                if seen_point:
                    exponent -= 1
            else:
                inexact = True
        else:
            break
        p += 1
    if digits == 0:
        return 2, 0.0
    if p < last:
        if (text[p] | 32) != 101:
            return 2, 0.0
        p += 1
        below = False
        if p < last and (text[p] == 43 or text[p] == 45):
            below = text[p] == 45
            p += 1
        if p == last:
            return 2, 0.0
        power = 0
        while p < last:
            c = text[p]
            if c < 48 or c > 57:
                return 2, 0.0
            if power < 100000:
                power = power * 10 + (c - 48)
            p += 1
        exponent += -power if below else power
    if inexact or mantissa > _EXACT_MANTISSA or exponent < -22 or exponent > 22:
        return 1, 0.0
    value = float(mantissa)
    value = value / _POWERS[-exponent] if exponent < 0 else value * _POWERS[exponent]
    return 0, -value if negative else value


@device
def _integer(text: NDArray[np.uint8], first: int, last: int) -> tuple[int, bool, np.uint64]:
    """Read ``text[first:last]`` as an integer: (0 fine, 1 above 2**64 - 1, 2 none), below zero, magnitude."""
    p = first
    negative = False
    if text[p] == 43 or text[p] == 45:
        negative = text[p] == 45
        p += 1
    magnitude = np.uint64(0)
    if p == last:
        return 2, negative, magnitude
    too_large = False
    while p < last:
        c = text[p]
        if c < 48 or c > 57:
            return 2, negative, magnitude
        digit = np.uint64(c - 48)
        if magnitude > _LAST_SAFE or (magnitude == _LAST_SAFE and digit > _LAST_DIGIT):
            too_large = True
        else:
            magnitude = magnitude * _TEN + digit
        p += 1
    return (1 if too_large else 0), negative, magnitude


@device
def _is_canonical(text: NDArray[np.uint8], first: int, last: int) -> bool:
    """Return whether an integer is written as it would be printed: no plus, no zero before other digits, no -0."""
    p = first + 1 if text[first] == 45 else first
    return bool(48 <= text[p] <= 57 and (text[p] != 48 or (last == p + 1 and p == first)))


@device
def _delimited_field(text: NDArray[np.uint8], p: int, classes: NDArray[np.uint8]) -> tuple[int, int, int, int, int]:
    """Read the field from byte p on, which a separator, a line end or the end of the text follows (RFC 4180).

    Returns
    -------
    (code, first, last, p, lines)
        The field is ``text[first:last]``, without blanks around it; p is the byte after it; `lines`: -1 for a field
        without quotes, else the number of line ends in it.
    """
    end = len(text)
    while p < end and classes[text[p]] == _SEPARATOR:
        p += 1
    first = p
    if p < end and text[p] == _QUOTE:
        lines = 0
        p += 1
        while p < end and (text[p] != _QUOTE or (p + 1 < end and text[p + 1] == _QUOTE)):
            lines += text[p] == 10
            p += 2 if text[p] == _QUOTE else 1
        if p >= end:
            return UNCLOSED_QUOTE, first, end, first, lines
        last = p
        p += 1
        while p < end and classes[text[p]] == _SEPARATOR:
            p += 1
        if p < end and classes[text[p]] != _NEWLINE and classes[text[p]] != _COMMA:
            return AFTER_QUOTE, first, last, p, lines
        return FINE, first + 1, last, p, lines
    while p < end and classes[text[p]] != _NEWLINE and classes[text[p]] != _COMMA:
        p += 1
    last = p
    while last > first and classes[text[last - 1]] == _SEPARATOR:
        last -= 1
    return FINE, first, last, p, -1


@kernel
def scan_lines(
    text: NDArray[np.uint8],
    position: int,
    stop: int,
    line: int,
    row: int,
    limit: int,
    classes: NDArray[np.uint8],
    delimited: bool,
    point: int,
    watched: int,
    kinds: NDArray[np.uint8],
    low: NDArray[np.int64],
    high: NDArray[np.uint64],
    ints: NDArray[np.int64],
    reals: NDArray[np.float64],
    spans: NDArray[Any],
    hard: NDArray[np.int64],
    keep: bool,
) -> tuple[int, int, int, int, int, int, int, bool, bool]:
    """Read whole lines while ``position < stop``, ``row < limit`` and ``hard`` has room for another line.

    delimited: a separator follows each field, and quotes may enclose one (RFC 4180); otherwise blanks separate fields.
    point: the byte of the decimal mark.  ``hard`` receives (row, real column, first byte, last byte) of decimals that
    one multiplication cannot round correctly; the caller converts them.  ``spans`` receives where texts begin and end.

    Returns
    -------
    (code, position, line, row, rows of `hard`, byte of the error, its column, any < 0, any > 2**63 - 1)
        The last two are of the column `watched`.  ``position`` and ``line`` are those of the next line to read, or of
        the line with the error.
    """
    end = len(text)
    n_columns = len(kinds)
    n_hard = 0
    below = above = False
    while position < stop and row < limit:
        if keep and len(hard) > 0 and n_hard + n_columns > len(hard):
            break
        column = int_column = real_column = text_column = commas = 0
        lines = 1
        p = position
        while p < end:
            role = classes[text[p]]
            if role == _SEPARATOR:
                p += 1
                continue
            if role == _NEWLINE and (not delimited or commas == 0):
                break
            if role == _COMMENT and column == 0 and commas == 0:
                while p < end and text[p] != 10:
                    p += 1
                break
            quoted = False
            if delimited:
                code, first, last, p, inside = _delimited_field(text, p, classes)
                if code != FINE:
                    return code, position, line, row, n_hard, p, column, below, above
                quoted = inside >= 0
                lines += max(inside, 0)
                commas = int(p < end and classes[text[p]] == _COMMA)
                p += commas
            else:
                if role == _COMMA:
                    commas += 1
                    if column == 0 or commas > 1:
                        return EMPTY_FIELD, position, line, row, n_hard, p, column, below, above
                    p += 1
                    continue
                first = p
                while p < end:
                    role = classes[text[p]]
                    if role in (_SEPARATOR, _NEWLINE, _COMMA):
                        break
                    p += 1
                last = p
                commas = 0
            if column == n_columns:
                return TOO_MANY, position, line, row, n_hard, first, column, below, above
            kind = kinds[column]
            if kind == _TEXT:
                if first == last and not quoted:
                    return EMPTY_FIELD, position, line, row, n_hard, first, column, below, above
                if keep:
                    spans[2 * text_column, row] = first
                    spans[2 * text_column + 1, row] = last
                text_column += 1
            elif kind in (_INTEGER, _CANONICAL):
                state, negative, magnitude = 2, False, np.uint64(0)
                if first == last:
                    return EMPTY_FIELD, position, line, row, n_hard, first, column, below, above
                if kind == _INTEGER or (not quoted and _is_canonical(text, first, last)):
                    state, negative, magnitude = _integer(text, first, last)
                if state == 2:
                    return NOT_A_NUMBER, position, line, row, n_hard, first, column, below, above
                if negative:
                    # 0 - low as uint64, since -low overflows for the lowest int64.
                    floor = np.uint64(0) - np.uint64(low[column]) if low[column] < 0 else np.uint64(0)
                    outside = magnitude > floor
                else:
                    outside = magnitude > high[column] or (low[column] > 0 and magnitude < np.uint64(low[column]))
                if state == 1 or outside or (negative and low[column] > 0):
                    return OUT_OF_RANGE, position, line, row, n_hard, first, column, below, above
                if column == watched:
                    below = below or bool(negative and magnitude > np.uint64(0))
                    above = above or bool(not negative and magnitude > _INT64_TOP)
                if keep:
                    ints[int_column, row] = np.int64(np.uint64(0) - magnitude if negative else magnitude)
                int_column += 1
            elif kind == _REAL:
                status, value = 0, np.nan  # of an empty field
                if first < last:
                    status, value = _decimal(text, first, last, point)
                if status == 2:
                    return NOT_A_NUMBER, position, line, row, n_hard, first, column, below, above
                if keep:
                    if status == 1:
                        hard[n_hard, 0] = row
                        hard[n_hard, 1] = real_column
                        hard[n_hard, 2] = first
                        hard[n_hard, 3] = last
                        n_hard += 1
                    else:
                        reals[real_column, row] = value
                real_column += 1
            elif kind == _LETTER and (last - first != 1 or text[first] != low[column]):
                return NOT_A_NUMBER, position, line, row, n_hard, first, column, below, above
            column += 1
            if delimited and commas == 0:
                break
        if delimited and commas > 0:  # the end of the text after a separator
            if column == n_columns:
                return TOO_MANY, position, line, row, n_hard, p, column, below, above
            if kinds[column] != _SKIP and kinds[column] != _REAL:
                return EMPTY_FIELD, position, line, row, n_hard, p, column, below, above
            if kinds[column] == _REAL and keep:
                reals[real_column, row] = np.nan
            column += 1
        elif commas > 0:
            return EMPTY_FIELD, position, line, row, n_hard, p, column, below, above
        if column > 0:
            if column < n_columns:
                return TOO_FEW, position, line, row, n_hard, p, column, below, above
            row += 1
        position = p + 1
        line += lines
    return FINE, position, line, row, n_hard, 0, 0, below, above


@kernel
def unescape(text: NDArray[np.uint8], firsts: NDArray[Any], lasts: NDArray[Any]) -> None:
    """Replace two quotes by one in the quoted texts ``text[firsts[k]:lasts[k]]``, which end earlier then."""
    for k in range(len(firsts)):
        first, last = firsts[k], lasts[k]
        if first == 0 or text[first - 1] != _QUOTE:
            continue
        q = p = first
        while p < last:
            text[q] = text[p]
            p += 2 if text[p] == _QUOTE else 1
            q += 1
        lasts[k] = q


@kernel
def scan_lists(
    text: NDArray[np.uint8],
    position: int,
    stop: int,
    line: int,
    lists: int,
    limit: int,
    classes: NDArray[np.uint8],
    numbers: NDArray[np.int64],
    offsets: NDArray[np.int64],
    lines: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    """Read whole lines while ``position < stop`` and ``lists < limit``, each of any number of integers.

    The integers are from 0 to ``2**63 - 1``; an empty line is a list too.  The first ``lists`` have been read already.
    List ``i`` is ``numbers[offsets[i]:offsets[i + 1]]`` and is in line ``lines[i]``.

    Returns
    -------
    (code, position, line, lists)
        The position is the byte of the error, or of the next line.
    """
    end = len(text)
    count = offsets[lists]
    while position < stop and lists < limit:
        comment, blank = False, True
        p = position
        while p < end:
            role = classes[text[p]]
            if role == _NEWLINE:
                break
            if role == _SEPARATOR:
                p += 1
                continue
            if role == _COMMENT and blank:
                comment = True
                while p < end and text[p] != 10:
                    p += 1
                break
            blank = False
            first = p
            while p < end and classes[text[p]] != _SEPARATOR and classes[text[p]] != _NEWLINE:
                p += 1
            state, negative, magnitude = _integer(text, first, p)
            if state == 2:
                return NOT_A_NUMBER, first, line, lists
            if state == 1 or negative or magnitude > _INT64_TOP:
                return OUT_OF_RANGE, first, line, lists
            numbers[count] = np.int64(magnitude)
            count += 1
        if not comment:
            lines[lists] = line
            lists += 1
            offsets[lists] = count
        position = p + 1
        line += 1
    return FINE, position, line, lists
