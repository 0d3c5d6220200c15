"""What the lines of an edge list hold, as its first lines and the options determine it."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.dtypes import UINT64, lookup
from semiring.exceptions import InvalidFormat, InvalidValue
from semiring.io.edge_names import are_names, fields_of, is_header, warn_of_columns
from semiring.io.files import Progress
from semiring.io.text_scan import (
    INTEGER,
    REAL,
    SKIP,
    Column,
    character_classes,
    line_of_row,
    next_line,
    scan_table,
)

__all__ = ["EdgeLayout", "edge_layout", "is_text_id"]

# Far beyond any matrix that fits a machine, and far enough below 2**63 for index arithmetic.
_LARGEST_ID: Final = 2**60


@dataclass(frozen=True)
class EdgeLayout:
    """The columns of an edge list, and where its edges begin.

    Attributes
    ----------
    name : str
        The file, for messages.
    start, line : int
        Byte and line of the first edge.
    width : int
        Columns of a line.
    named, weighted, relabel : bool
        Whether the ids are text, as the first line has them; whether the third column is a weight; whether ids are
        numbered.
    base : int
    nrows, ncols : int or None
        As given, or one for the other.
    comments : str
    unsigned : bool
        Whether weights are uint64.
    seen : int
        How many of the first two lines of the text have been found.
    """

    name: str
    start: int
    line: int
    width: int
    named: bool
    weighted: bool
    relabel: bool
    base: int
    nrows: int | None
    ncols: int | None
    comments: str
    unsigned: bool
    seen: int

    def scanned(
        self, text: NDArray[np.uint8], start: int, line: int, progress: Progress | None = None
    ) -> tuple[NDArray[np.int64], NDArray[Any] | None]:
        """Return ends and weights of the edges from byte `start` on, which is in line number `line`.

        Weights are integers, or else real numbers.  Raises InvalidFormat, and OutOfMemory.
        """
        try:
            try:
                return self._scan(text, start, line, INTEGER, progress)
            except InvalidFormat:
                if not self.weighted:
                    raise
                return self._scan(text, start, line, REAL, progress)
        except InvalidFormat as error:
            if self.relabel or not is_text_id(error):
                raise
            raise InvalidFormat(f"{error}; relabel=True numbers ids that are text") from error

    def line_of(self, text: NDArray[np.uint8], start: int, line: int, edge: int) -> int:
        """Return the line of an edge, of which `start` and `line` are those of the first one."""
        return line_of_row(text, start, line, edge, self._columns(INTEGER), self._classes)

    def _scan(
        self, text: NDArray[np.uint8], start: int, line: int, kind: int, progress: Progress | None
    ) -> tuple[NDArray[np.int64], NDArray[Any] | None]:
        table = scan_table(text, start, line, self._columns(kind), self._classes, name=self.name, progress=progress)
        if not self.weighted:
            return table.ints, None
        if kind == REAL:
            return table.ints, table.reals[0]
        return table.ints, table.ints[2].view(UINT64) if table.large else table.ints[2]

    @property
    def _classes(self) -> NDArray[np.uint8]:
        return character_classes(b",", self.comments.encode())

    def _columns(self, kind: int) -> tuple[Column, ...]:
        low, rows, cols = (-(2**63), 2**63 - 1, 2**63 - 1) if self.relabel else (self.base, _LARGEST_ID, _LARGEST_ID)
        if self.nrows is not None and self.ncols is not None:
            rows, cols = self.base + self.nrows - 1, self.base + self.ncols - 1
        read = [Column("source", INTEGER, low, rows), Column("target", INTEGER, low, cols)]
        if self.weighted:
            weight = (0, 2**64 - 1) if self.unsigned else (-(2**63), 2**63 - 1)
            read.append(Column("weight", kind, *weight))
        return (*read, *(Column("column", SKIP) for _ in range(self.width - len(read))))


def edge_layout(
    text: NDArray[np.uint8],
    name: str,
    *,
    relabel: bool,
    weights: bool | None,
    base: int,
    comments: str,
    skip_lines: int,
    nrows: int | None,
    ncols: int | None,
    dtype: Any,
    vertices: bool = False,
) -> EdgeLayout:
    """Return the layout of the edges of a text.

    vertices: whether the ids are listed elsewhere, and so are integers; the others are options of `read_edgelist`.
    Raises InvalidFormat, and InvalidValue for an option.
    """
    if relabel and not (nrows is None and ncols is None):
        raise InvalidValue("expected either relabel=True, which gives the shape, or nrows= and ncols=; got both")
    base, skip_lines = _whole("base", base, -(2**60)), _whole("skip_lines", skip_lines, 0)
    nrows = None if nrows is None else _whole("nrows", nrows, 0)
    ncols = None if ncols is None else _whole("ncols", ncols, 0)
    classes = character_classes(b",", comments.encode())
    start, line = _after_lines(text, skip_lines)
    first = next_line(text, start, line, classes)
    second = None if first is None else next_line(text, first[2], first[3], classes)
    seen = sum(each is not None for each in (first, second))
    if first is not None and is_header(first[0], None if second is None else second[0]):
        (start, line), first = first[2:], second
    named = relabel and not vertices and first is not None and are_names(first[0])
    width = 2
    if first is not None:
        width = len(fields_of(first[0]) if named else first[0].replace(",", " ").split())
    weighted = width > 2 if weights is None else weights
    if first is not None and not named:
        if width < 2:
            raise InvalidFormat(f"{name}:{first[1]}: expected two ids, found {first[0][:60]!r}")
        if weighted and width < 3:
            raise InvalidFormat(f"{name}:{first[1]}: expected source, target and weight, found {first[0][:60]!r}")
        if weighted and width > 3:
            warn_of_columns(name, first[1], width - 3)
    nrows = ncols if nrows is None else nrows
    ncols = nrows if ncols is None else ncols
    unsigned = dtype is not None and lookup(dtype) == UINT64
    width = max(width, 3 if weighted else 2)
    return EdgeLayout(name, start, line, width, named, weighted, relabel, base, nrows, ncols, comments, unsigned, seen)


def is_text_id(error: InvalidFormat) -> bool:
    """Return whether an id was found that is no integer."""
    return "expected an integer as" in str(error)


def _whole(name: str, value: Any, low: int) -> int:
    """Return an integer argument from `low` to 2**60."""
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if not low <= number <= _LARGEST_ID:
        raise InvalidValue(f"{name}=: expected an integer from {low} to 2**60, got {value!r}")
    return number


def _after_lines(text: NDArray[np.uint8], count: int) -> tuple[int, int]:
    """Return the byte offset and number of the line after the first ``count``."""
    position = 0
    for skipped in range(count):
        ends = np.flatnonzero(text[position : position + (1 << 16)] == 10)
        if not ends.size:
            return len(text), skipped + 1
        position += int(ends[0]) + 1
    return position, count + 1
