"""A strict one-pass parser of lines of numbers, which reports the line of an error.

Graph files are tables of numbers, one row a line. This module reads such a table from raw bytes with one compiled
loop (some hundred million bytes a second on one core) that accepts only numbers: it reports the byte of ``1.5x``,
``1.2.3``, a missing or an extra column, or an integer out of its range. Integers are exact over
int64 and uint64; decimals are correctly rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.engines import registry
from semiring.exceptions import InvalidFormat
from semiring.io.files import Progress
from semiring.io.text_parts import COUNTED_BYTES, PART_BYTES, gathered, line_count, scan_parts
from semiring.memory.allocation import require

__all__ = [
    "CANONICAL",
    "INTEGER",
    "LETTER",
    "REAL",
    "SKIP",
    "TEXT",
    "Column",
    "Grammar",
    "Lists",
    "Table",
    "character_classes",
    "line_of_row",
    "next_line",
    "scan_lists",
    "scan_table",
    "unescaped",
]

# The content of a column.
INTEGER: Final = 0
REAL: Final = 1
SKIP: Final = 2
# One letter, the same in each line; its code is Column.low.
LETTER: Final = 3
# An integer as it is printed, without quotes.
CANONICAL: Final = 4
# Any text: the table has where it begins and ends.
TEXT: Final = 5

# Bytes of text for one call of the compiled loop: between calls, progress is reported and Ctrl-C takes effect.
_SLICE_BYTES: Final = 1 << 26
# Decimals of one slice that need Python's own conversion before the loop pauses to have them converted.
_HARD_ROWS: Final = 1 << 16
# More rows than any text has; the number in a header may exceed the integers of compiled code.
_NO_LIMIT: Final = 2**62


@dataclass(frozen=True)
class Column:
    """The content of one column: its name in messages, its kind, and for integers the range, ends included."""

    name: str
    kind: int
    low: int = -(2**63)
    high: int = 2**64 - 1


@dataclass(frozen=True)
class Grammar:
    """How columns are separated: by blanks, or by a separator, where quotes may enclose a field (RFC 4180).

    Attributes
    ----------
    separator : str
        Empty: blanks.
    comments : bytes
        A line that begins with one of these is a comment.
    point : str
        The decimal mark.
    """

    separator: str = ""
    comments: bytes = b""
    point: str = "."

    @property
    def classes(self) -> NDArray[np.uint8]:
        """The role of each byte value."""
        return character_classes(self.separator.encode(), self.comments)


@dataclass(frozen=True)
class Table:
    """The numbers of a table.

    Attributes
    ----------
    ints : int64 array, shape (integer columns, rows)
        Integers above ``2**63 - 1`` are stored as the bit pattern of their uint64.
    reals : float64 array, shape (real columns, rows)
    spans : int32 or int64 array, shape (2 * columns of text, rows)
        Where the texts of each column begin, and where they end.
    rows : int
    negative, large : bool
        Whether the column of weights, or else the last one, holds a number below 0, and one above ``2**63 - 1``.
    """

    ints: NDArray[np.int64]
    reals: NDArray[np.float64]
    spans: NDArray[Any]
    rows: int
    negative: bool
    large: bool


@dataclass(frozen=True)
class Lists:
    """Lists of integers, one a line: list ``i`` is ``numbers[offsets[i]:offsets[i + 1]]``, in line ``lines[i]``."""

    numbers: NDArray[np.int64]
    offsets: NDArray[np.int64]
    lines: NDArray[np.int64]


def character_classes(separators: bytes, comments: bytes) -> NDArray[np.uint8]:
    """Return the role of each byte value: 1 separator, 2 end of line, 3 comment (at the start of a line), 4 comma."""
    classes = np.zeros(256, dtype=np.uint8)
    classes[np.frombuffer(b" \t\r", dtype=np.uint8)] = 1
    classes[np.frombuffer(separators, dtype=np.uint8)] = 4
    classes[np.frombuffer(comments, dtype=np.uint8)] = 3
    classes[ord("\n")] = 2
    return classes


def scan_table(
    text: NDArray[np.uint8],
    start: int,
    line: int,
    columns: tuple[Column, ...],
    classes: NDArray[np.uint8],
    *,
    name: str,
    expected_rows: int | None = None,
    keep: bool = True,
    grammar: Grammar | None = None,
    progress: Progress | None = None,
) -> Table:
    """Read the table that begins at byte ``start``, which is in line ``line`` (1-based).

    grammar: if it has a separator, that and not blanks separates columns.  Blank lines and comment lines are skipped.
    With ``expected_rows``, more or fewer are an error. With ``keep=False`` the text is checked and nothing is stored.

    Raises
    ------
    InvalidFormat
        With the file's name, the line, what was expected and what was found.
    OutOfMemory
        The numbers, 8 bytes each, do not fit in the free memory.
    """
    kernel = _compiled()

    kinds = np.array([column.kind for column in columns], dtype=np.uint8)
    low = np.array([max(column.low, -(2**63)) for column in columns], dtype=np.int64)
    high = np.array([column.high for column in columns], dtype=np.uint64)
    capacity = 0
    if keep:
        capacity = line_count(text, start) if expected_rows is None else expected_rows
        # A size line may state more rows than the file holds: allocate only for rows that fit in the text.
        capacity = min(capacity, (len(text) - start) // (2 * len(columns)) + 1)
    stored = sum(kind in (INTEGER, CANONICAL, REAL) for kind in kinds.tolist())
    place_type = np.int32 if len(text) < 2**31 else np.int64
    texts = int(np.sum(kinds == TEXT)) if keep else 0
    require(f"reading {name}", "cpu", (8 * stored + 2 * texts * np.dtype(place_type).itemsize) * capacity)
    spans = np.empty((2 * texts, capacity), dtype=place_type)
    ints = np.empty((int(np.sum((kinds == INTEGER) | (kinds == CANONICAL))), capacity), dtype=np.int64)
    reals = np.empty((int(np.sum(kinds == REAL)), capacity), dtype=np.float64)
    hard = np.empty((_HARD_ROWS if keep and len(reals) else 0, 4), dtype=np.int64)
    negative = large = False
    delimited, point = _grammar_arguments(grammar)
    watched = next((k for k, column in enumerate(columns) if column.name == "weight"), len(columns) - 1)

    def scan(begin: int, stop: int, at: int, row: int, limit: int, hard: NDArray[np.int64]) -> tuple[Any, ...]:
        found: tuple[Any, ...] = kernel.scan_lines(
            text, begin, stop, at, row, limit, classes, delimited, point, watched, kinds, low, high, ints, reals, spans,
            hard, keep,
        )  # fmt: skip
        return found

    if keep and expected_rows is None and not len(reals) and len(text) - start > 2 * PART_BYTES:
        done = scan_parts(text, start, capacity, scan, delimited)
        if done is not None:
            if progress is not None:
                progress(f"parsing {name}", 1.0)
            rows, negative, large = gathered((ints, spans), *done)
            return Table(ints[:, :rows], reals[:, :rows], spans[:, :rows], rows, negative, large)
    rows, position, end, first_line = 0, start, len(text), line
    limit = _NO_LIMIT if expected_rows is None else min(expected_rows, _NO_LIMIT)
    while position < end and rows < limit:
        stop = min(position + _SLICE_BYTES, end)
        code, position, line, rows, n_hard, place, column, below, above = scan(position, stop, line, rows, limit, hard)
        if code != kernel.FINE:
            raise _malformed(text, name, int(line), int(place), columns, int(column), int(code), classes)
        for row, which, first, last in hard[:n_hard].tolist():
            reals[which, row] = value = float(text[first:last].tobytes().replace(bytes([point]), b"."))
            if value in (np.inf, -np.inf):
                at = line_of_row(text, start, first_line, row, columns, classes, grammar)
                raise InvalidFormat(
                    f"{name}:{at}: expected a number that float64 holds, found {_token(text, first, classes)}"
                )
        negative, large = negative or bool(below), large or bool(above)
        if progress is not None:
            progress(f"parsing {name}", position / end)
    if expected_rows is not None:
        _check_row_count(text, name, position, line, rows, expected_rows, classes)
    return Table(ints[:, :rows], reals[:, :rows], spans[:, :rows], int(rows), negative, large)


def _grammar_arguments(grammar: Grammar | None) -> tuple[bool, int]:
    """Return whether a separator delimits columns, and the byte of the decimal mark."""
    return (False, ord(".")) if grammar is None else (bool(grammar.separator), ord(grammar.point))


def unescaped(text: NDArray[np.uint8], spans: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Return a text and the spans of its columns of text, with one quote for two in fields in quotes.

    The text itself if it has no two quotes in a row, else a copy.
    """
    parts = (text[begin : begin + COUNTED_BYTES + 1] == ord('"') for begin in range(0, len(text), COUNTED_BYTES))
    if not any(bool(np.any(part[1:] & part[:-1])) for part in parts):
        return text, spans
    kernel = _compiled()
    require("reading quotes", "cpu", text.nbytes)
    text = text.copy()
    spans = spans.copy()
    for k in range(0, len(spans), 2):
        kernel.unescape(text, spans[k], spans[k + 1])
    text.flags.writeable = False
    return text, spans


def _compiled() -> Any:
    """Return the module of the compiled loops.  Loads the engine first, so that no interrupt breaks numba's import."""
    registry.load("cpu")
    from semiring.io import text_scan_kernel

    return text_scan_kernel


def next_line(
    text: NDArray[np.uint8], start: int, line: int, classes: NDArray[np.uint8]
) -> tuple[str, int, int, int] | None:
    """Return the next line with content: its text, its number, and byte and number of the following line."""
    kernel = _compiled()

    line, place = kernel.next_content(text, start, line, classes)
    if place < 0:
        return None
    size = 1 << 12
    while True:
        chunk = text[place : place + size].tobytes()
        at = chunk.find(b"\n")
        if at >= 0 or place + size >= len(text):
            break
        size *= 4
    content = chunk if at < 0 else chunk[:at]
    return (
        content.decode("utf-8", "backslashreplace"),
        int(line),
        int(place) + len(content) + 1,
        int(line) + 1,
    )


def scan_lists(
    text: NDArray[np.uint8],
    start: int,
    line: int,
    count: int,
    classes: NDArray[np.uint8],
    *,
    name: str,
    progress: Progress | None = None,
) -> Lists:
    """Read ``count`` lines of non-negative integers; comment lines are skipped, an empty line is an empty list.

    Raises
    ------
    InvalidFormat
        Something else than such an integer, fewer lines, or anything but white space after them.
    """
    kernel = _compiled()

    # A header may state more lines than the file has: allocate only for lines that fit in the text.
    possible = min(count, len(text) - start + 1) if len(text) > start else 0
    numbers = np.empty(max(len(text) - start, 0) // 2 + 1, dtype=np.int64)
    offsets = np.zeros(possible + 1, dtype=np.int64)
    lines = np.zeros(possible, dtype=np.int64)
    position, lists = start, 0
    while position < len(text) and lists < possible:
        stop = min(position + _SLICE_BYTES, len(text))
        code, position, line, lists = kernel.scan_lists(
            text, position, stop, line, lists, possible, classes, numbers, offsets, lines
        )
        if code != kernel.FINE:
            raise InvalidFormat(
                f"{name}:{line}: expected integers from 0 to 2**63 - 1, found {_token(text, int(position), classes)}"
            )
        if progress is not None:
            progress(f"parsing {name}", min(position / len(text), 1.0))
    _check_row_count(text, name, int(position), int(line), int(lists), count, classes)
    return Lists(numbers[: offsets[lists]], offsets, lines)


def line_of_row(
    text: NDArray[np.uint8],
    start: int,
    line: int,
    row: int,
    columns: tuple[Column, ...],
    classes: NDArray[np.uint8],
    grammar: Grammar | None = None,
) -> int:
    """Return the line (1-based) of row ``row`` of a table that has been read without an error."""
    kernel = _compiled()

    kinds = np.full(len(columns), SKIP, dtype=np.uint8)
    zeros = np.zeros(len(columns), dtype=np.int64)
    nothing = np.empty((0, 0))
    delimited, point = _grammar_arguments(grammar)
    spans = nothing.astype(np.int32 if len(text) < 2**31 else np.int64)

    def after(rows: int) -> tuple[Any, ...]:
        """Return position and line after so many rows."""
        result: tuple[Any, ...] = kernel.scan_lines(
            text, start, len(text), line, 0, rows, classes, delimited, point, 0, kinds, zeros, zeros.astype(np.uint64),
            nothing.astype(np.int64), nothing, spans, np.empty((0, 4), dtype=np.int64), False,
        )  # fmt: skip
        return result[1:3]

    if not delimited:
        return int(after(row + 1)[1]) - 1
    position, at = after(row)  # the row may have several lines
    return int(kernel.next_content(text, position, at, classes)[0])


def _check_row_count(
    text: NDArray[np.uint8],
    name: str,
    position: int,
    line: int,
    rows: int,
    expected: int,
    classes: NDArray[np.uint8],
) -> None:
    kernel = _compiled()

    if rows < expected:
        raise InvalidFormat(f"{name}:{line}: expected {expected} entries, found the end of the file after {rows}")
    line, place = kernel.next_content(text, position, line, classes)
    if place >= 0:
        raise InvalidFormat(
            f"{name}:{line}: expected the end of the file after {expected} entries, "
            f"found {_token(text, place, classes)}"
        )


def _token(text: NDArray[np.uint8], place: int, classes: NDArray[np.uint8]) -> str:
    """Return the characters from ``place`` to the next separator, quoted, at most 40."""
    head = text[place : place + 200]
    # A comment character is one only at the start of a line: role 3 does not end a token.
    ends = np.flatnonzero(np.isin(classes[head], (1, 2, 4)))
    word = head[: int(ends[0]) if ends.size else None].tobytes().decode("utf-8", "backslashreplace")
    return repr(word if len(word) <= 40 else word[:40] + "...")


def _malformed(
    text: NDArray[np.uint8],
    name: str,
    line: int,
    place: int,
    columns: tuple[Column, ...],
    number: int,
    code: int,
    classes: NDArray[np.uint8],
) -> InvalidFormat:
    kernel = _compiled()

    expected = f"{len(columns)} columns ({', '.join(column.name for column in columns)})"
    column = columns[min(number, len(columns) - 1)]
    if code == kernel.TOO_FEW:
        return InvalidFormat(f"{name}:{line}: expected {expected}, found {number}")
    if code == kernel.TOO_MANY:
        return InvalidFormat(f"{name}:{line}: expected {expected}, found one more: {_token(text, place, classes)}")
    if code == kernel.EMPTY_FIELD:
        return InvalidFormat(f"{name}:{line}: expected {expected}, found an empty field as {column.name}")
    if code == kernel.UNCLOSED_QUOTE:
        return InvalidFormat(f"{name}:{line}: expected a quote that ends the column, found the end of the file")
    if code == kernel.AFTER_QUOTE:
        return InvalidFormat(
            f"{name}:{line}: expected a separator after a column in quotes, found {_token(text, place, classes)}"
        )
    found = _token(text, place, classes)
    if code == kernel.OUT_OF_RANGE:
        return InvalidFormat(f"{name}:{line}: expected {column.name} from {column.low} to {column.high}, found {found}")
    if column.kind == LETTER:
        return InvalidFormat(f"{name}:{line}: expected {chr(column.low)!r} first, found {found}")
    kind = "an integer" if column.kind in (INTEGER, CANONICAL) else "a number"
    return InvalidFormat(f"{name}:{line}: expected {kind} as {column.name}, found {found}")
