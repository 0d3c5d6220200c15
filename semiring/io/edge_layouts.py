"""What the lines of an edge list hold, as its first lines and the options determine it."""

from __future__ import annotations

import operator
import re
import warnings
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.dtypes import UINT64, lookup
from semiring.exceptions import GuessedLayout, IgnoredColumns, InvalidFormat, InvalidValue
from semiring.io.edge_dialect import (
    BOM,
    Record,
    checked_comment,
    checked_separator,
    dialect_of,
    names_columns,
)
from semiring.io.files import Progress
from semiring.io.text_scan import CANONICAL, INTEGER, REAL, SKIP, TEXT, Column, Grammar, Table, line_of_row, scan_table

__all__ = ["EdgeLayout", "edge_layout", "is_large_id", "is_text_id", "warn_of_columns"]

# Far beyond any matrix that fits a machine, and far enough below 2**63 for index arithmetic.
_LARGEST_ID: Final = 2**60
_CANONICAL: Final = re.compile(r"0|-?[1-9][0-9]*")


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
    chosen : tuple of int
        The columns of source, target and weight; -1: no weights.
    named, relabel, strict : bool
        Whether the ids are text, as the first line has them; whether ids are numbered; whether they are integers only
        if all are written as integers are printed.
    unsure : bool
        Whether the first line may hold names of columns.
    base : int
    nrows, ncols : int or None
        As given, or one for the other.
    grammar : Grammar
    unsigned : bool
        Whether weights are uint64.
    enough : bool
        Whether more of the text cannot change the layout.
    """

    name: str
    start: int
    line: int
    width: int
    chosen: tuple[int, int, int]
    named: bool
    relabel: bool
    strict: bool
    unsure: bool
    base: int
    nrows: int | None
    ncols: int | None
    grammar: Grammar
    unsigned: bool
    enough: bool

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self.chosen[2] >= 0

    def scanned(
        self, text: NDArray[np.uint8], start: int, line: int, progress: Progress | None = None, *, names: bool = False
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return ends and weights of the edges from byte `start` on, which is in line number `line`.

        names: ends are text, of which begin and end are returned.  Weights are integers, or else real numbers.  Raises
        InvalidFormat, and OutOfMemory.
        """
        attempts = [(INTEGER, "."), (REAL, "."), (REAL, ",")]
        if not self.weighted:
            attempts = attempts[:1]
        elif self.grammar.separator == ",":
            attempts = attempts[:2]
        failed: InvalidFormat | None = None
        for kind, point in attempts:
            grammar = replace(self.grammar, point=point)
            try:
                table = scan_table(
                    text, start, line, self._columns(kind, names), grammar.classes, name=self.name, grammar=grammar,
                    progress=progress,
                )  # fmt: skip
            except InvalidFormat as error:
                failed = error if failed is None or point == "." else failed
                if not (self.weighted and _is_weight(error)):
                    break
            else:
                return self._parts(table, kind, names)
        assert failed is not None
        hint = self._hint(failed)
        if hint:
            raise InvalidFormat(f"{failed}; {hint}") from failed
        raise failed

    def _hint(self, error: InvalidFormat) -> str:
        """Return the option with which the text could be read."""
        if str(error).rpartition("found ")[2][:2] in ("'#", "'%") and not self.grammar.comments:
            return "comment='#%' skips lines that begin with these"
        if is_text_id(error) and not self.relabel:
            return "relabel=True numbers ids that are text"
        if _is_weight(error) and self.line == _line_of(error):
            return "header=True reads this line as the names of columns"
        return ""

    def line_of(self, text: NDArray[np.uint8], start: int, line: int, edge: int) -> int:
        """Return the line of an edge, of which `start` and `line` are those of the first one."""
        return line_of_row(
            text, start, line, edge, self._columns(INTEGER, False), self.grammar.classes, self.grammar
        )  # fmt: skip

    def _parts(self, table: Table, kind: int, names: bool) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return ends and weights: the columns of a table are in the order of the file."""
        source, target, weight = self.chosen
        parts = table.spans if names else table.ints
        places = [k for k in (source, target, weight) if k >= 0 and (not names or k != weight)]
        if kind == REAL:
            places = [source, target]
        ranks = [sorted(places).index(k) for k in (source, target)]
        rows = [2 * rank + k for rank in ranks for k in (0, 1)] if names else ranks
        ends = parts if rows == list(range(len(parts))) else parts[rows]
        if weight < 0:
            return ends, None
        if kind == REAL:
            return ends, table.reals[0]
        weights = table.ints[0 if names else sorted(places).index(weight)]
        return ends, weights.view(UINT64) if table.large else weights

    def _columns(self, kind: int, names: bool) -> tuple[Column, ...]:
        low, rows, cols = (-(2**63), 2**63 - 1, 2**63 - 1) if self.relabel else (self.base, _LARGEST_ID, _LARGEST_ID)
        if self.nrows is not None and self.ncols is not None:
            rows, cols = self.base + self.nrows - 1, self.base + self.ncols - 1
        read = [Column("column", SKIP) for _ in range(self.width)]
        source, target, weight = self.chosen
        end = TEXT if names else CANONICAL if self.strict else INTEGER
        read[source], read[target] = Column("source", end, low, rows), Column("target", end, low, cols)
        if self.weighted:
            read[weight] = Column("weight", kind, *((0, 2**64 - 1) if self.unsigned else (-(2**63), 2**63 - 1)))
        return tuple(read)


def edge_layout(
    text: NDArray[np.uint8],
    name: str,
    *,
    kind: str,
    relabel: bool,
    header: bool | None,
    sep: str | None,
    comment: str | None,
    source: str | int | None,
    target: str | int | None,
    weight: str | int | None,
    weights: bool | None,
    base: int,
    skip_lines: int,
    nrows: int | None,
    ncols: int | None,
    dtype: Any,
    vertices: bool = False,
    whole: bool = True,
) -> EdgeLayout:
    """Return the layout of the edges of a text.

    kind: the extension of the file.  vertices: whether the ids are listed elsewhere, and so are integers.  whole: the
    text is not the beginning of a longer one.  The others are options of `read_edgelist`.  Raises InvalidFormat, and
    InvalidValue for an option.  Warns GuessedLayout and IgnoredColumns.
    """
    if not isinstance(relabel, bool):
        raise InvalidValue(f"relabel=: expected True or False for text, got {relabel!r}; two sets are bipartite=True")
    if relabel and not (nrows is None and ncols is None):
        raise InvalidValue("expected either relabel=True, which gives the shape, or nrows= and ncols=; got both")
    if header not in (None, True, False):
        raise InvalidValue(f"header=: expected True, False or None, got {header!r}")
    base, skip_lines = _whole("base", base, -(2**60)), _whole("skip_lines", skip_lines, 0)
    nrows = None if nrows is None else _whole("nrows", nrows, 0)
    ncols = None if ncols is None else _whole("ncols", ncols, 0)
    begin = len(BOM) if text[: len(BOM)].tobytes() == BOM else 0
    start, line = _after_lines(text, begin, skip_lines)
    dialect = dialect_of(text, start, line, kind, checked_separator(sep), checked_comment(comment), relabel=relabel)
    start, line, records = dialect.start, dialect.line, dialect.records
    keys = (source, target, weight)
    certain = header is not None
    if header is None:
        header, certain = _names_columns(records, keys, weights)
        if header and not certain:
            ends = " and ".join(repr(field) for field in records[0].fields[:2])
            _warn(name, records[0].line, f"{ends} were read as names of columns; header=False reads them as an edge")
    if dialect.guess and not (header and dialect.guess_line <= records[0].line):
        _warn(name, dialect.guess_line, dialect.guess)
    titles = records[0].fields if header and records else None
    if titles is not None:
        (start, line), records = records[0].following, records[1:]
    first = records[0] if records else None
    width = len(first.fields) if first is not None else len(titles or "ab")
    chosen = _chosen(keys, weights, titles, width)
    if first is not None:
        at = f"{name}:{first.line}"
        if width < 2:
            raise InvalidFormat(f"{at}: expected two ids, found {' '.join(first.fields)[:60]!r}")
        if chosen[2] >= width:
            shown = " ".join(first.fields)[:60]
            raise InvalidFormat(f"{at}: expected source, target and weight, found {shown!r}")
        if chosen[2] >= 0 and width > 3 and keys == (None, None, None):
            warn_of_columns(name, first.line, width - 3)
    nrows = ncols if nrows is None else nrows
    ncols = nrows if ncols is None else ncols
    strict = relabel and not vertices
    named = strict and first is not None and _is_named(first, chosen)
    unsure = named and not certain and len(records) > 1
    unsigned = dtype is not None and lookup(dtype) == UINT64
    grammar = Grammar(dialect.separator, dialect.comments.encode())
    enough = whole or len(dialect.records) > 1
    return EdgeLayout(
        name, start, line, max(width, *(k + 1 for k in chosen)), chosen, named, relabel, strict, unsure, base, nrows,
        ncols, grammar, unsigned, enough,
    )  # fmt: skip


def _warn(name: str, line: int, what: str) -> None:
    warnings.warn(f"{name}:{line}: {what}", GuessedLayout, stacklevel=4)


def warn_of_columns(name: str, line: int, count: int) -> None:
    """Warn of columns after the weight."""
    warnings.warn(
        f"{name}:{line}: columns after the weight are ignored, {count} a line; weights=False reads the ends alone",
        IgnoredColumns,
        stacklevel=3,
    )


def _names_columns(records: list[Record], keys: tuple[Any, Any, Any], weights: bool | None) -> tuple[bool, bool]:
    """Return whether the first record holds the names of columns, and whether that is certain."""
    texts = [key for key in keys if isinstance(key, str)]
    if texts:  # `_chosen` reports the names that are missing
        return True, True
    if not records:
        return False, True
    width = len(records[0].fields)
    try:
        chosen = _chosen(keys, weights if width > 2 else False, None, width)
    except InvalidValue:
        return False, True
    return names_columns(records, chosen if weights is not False else (*chosen[:2], -1))


def _chosen(keys: tuple[Any, Any, Any], weights: bool | None, titles: list[str] | None, width: int) -> Any:
    """Return the columns of source, target and weight, -1 for no weights."""
    source, target, weight = (
        _column(role, key, titles, width) for role, key in zip(("source", "target", "weight"), keys, strict=True)
    )
    if (source is None) != (target is None):
        missing = "source" if source is None else "target"
        raise InvalidValue(f"column {missing}= is missing; the columns of both ends are given together")
    if weight is not None and weights is False:
        raise InvalidValue("expected weights=False or weight=, got both")
    if source is None:
        if weight is None:
            return 0, 1, 2 if (width > 2 if weights is None else weights) else -1
        source, target = [k for k in range(max(width, 3)) if k != weight][:2]
    elif weights and weight is None:
        raise InvalidValue("weights=True: expected a column weight= beside those of the ends")
    found = [k for k in (source, target, weight) if k is not None]
    if len(set(found)) < len(found):
        raise InvalidValue(f"source=, target= and weight= must be different columns, got {keys}")
    return source, target, -1 if weight is None else weight


def _column(role: str, key: Any, titles: list[str] | None, width: int) -> int | None:
    """Return the number of the column with this name, or of this number; None for None."""
    if key is None:
        return None
    if isinstance(key, str) and titles is not None:
        if titles.count(key) == 1:
            return titles.index(key)
        problem = "is the name of two columns" if key in titles else "is not in the file"
        listed = ", ".join(map(repr, titles[:8])) + (", ..." if len(titles) > 8 else "")
        raise InvalidValue(f"column {role}={key!r} {problem}; the columns are {listed}")
    if isinstance(key, str):
        raise InvalidValue(f"column {role}={key!r}: the file has no names of columns; give its number, from 0")
    number = _whole(role, key, -width)
    if number >= width:
        raise InvalidValue(f"column {role}={number}: the file has {width} columns, counted from 0")
    return number % width


def _is_named(record: Record, chosen: tuple[int, int, int]) -> bool:
    """Return whether an end of the edge in a record is text."""
    return not all(_CANONICAL.fullmatch(record.fields[k]) and not record.quoted[k] for k in chosen[:2])


def _is_weight(error: InvalidFormat) -> bool:
    """Return whether the error is that of a weight."""
    return " as weight" in str(error) or "expected weight" in str(error)


def _line_of(error: InvalidFormat) -> int:
    """Return the line that an error names."""
    found = re.search(r":([0-9]+): expected", str(error))
    return int(found[1]) if found else 0


def is_large_id(error: InvalidFormat) -> bool:
    """Return whether an id was found that int64 does not hold."""
    return re.search(r"expected (source|target) from -9223372036854775808 ", str(error)) is not None


def is_text_id(error: InvalidFormat) -> bool:
    """Return whether an id was found that is no integer."""
    return re.search("expected an integer as (source|target)", str(error)) is not None


def _whole(name: str, value: Any, low: int) -> int:
    """Return an integer argument from `low` to 2**60."""
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if not low <= number <= _LARGEST_ID:
        raise InvalidValue(f"{name}=: expected an integer from {low} to 2**60, got {value!r}")
    return number


def _after_lines(text: NDArray[np.uint8], position: int, count: int) -> tuple[int, int]:
    """Return the byte offset and number of the line after the first ``count``, which begin at byte `position`."""
    for skipped in range(count):
        ends = np.flatnonzero(text[position : position + (1 << 16)] == 10)
        if not ends.size:
            return len(text), skipped + 1
        position += int(ends[0]) + 1
    return position, count + 1
