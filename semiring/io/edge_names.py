"""Edge lists whose vertices are named by text: ``alice,bob,2.5``.

Names may hold blanks where a comma or a tab separates the columns, and then double quotes enclose a name that holds the
separator, as in CSV (RFC 4180).
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import IgnoredColumns, InvalidFormat

__all__ = ["NamedEdges", "are_names", "is_header", "numbers_of", "parse_named_edges", "warn_of_columns"]

_INTEGER = re.compile(r"[+-]?[0-9]+")
# The names that columns of ends have, without anything but letters and digits.
_SOURCES = {"source", "src", "from", "fromnode", "fromnodeid", "head", "sender", "node1", "nodea", "id1"}
_TARGETS = {"target", "dst", "dest", "destination", "to", "tonode", "tonodeid", "tail", "receiver"}
_TARGETS |= {"node2", "nodeb", "id2"}


class NamedEdges(NamedTuple):
    """The ends of edges as text, their weights as text if they are read, and the line of each edge."""

    sources: list[str]
    targets: list[str]
    weights: list[str] | None
    lines: list[int]


def separator_of(line: str) -> str | None:
    """Return what separates the columns of a line: a tab, a comma, or None for blanks."""
    return "\t" if "\t" in line.strip() else "," if "," in line else None


def fields_of(line: str) -> list[str]:
    """Return the columns of one line."""
    separator = separator_of(line)
    if separator is None:
        return line.split()
    return [field.strip() for field in next(csv.reader([line], delimiter=separator), [])]


def are_names(line: str) -> bool:
    """Return whether an end of the edge in a line is text."""
    ends = fields_of(line)[:2]
    return len(ends) == 2 and not all(_INTEGER.fullmatch(end) for end in ends)


def warn_of_columns(name: str, line: int, count: int) -> None:
    """Warn of columns after the weight."""
    warnings.warn(
        f"{name}:{line}: columns after the weight are ignored, {count} a line; weights=False reads the ends alone",
        IgnoredColumns,
        stacklevel=3,
    )


def is_header(first: str, second: str | None) -> bool:
    """Return whether the first line holds the names of columns.

    So it is if neither of its ends is a number and those of the second line are, or if its ends are usual names.
    """
    names = fields_of(first)[:2]
    if len(names) < 2 or any(_INTEGER.fullmatch(name) for name in names):
        return False
    source, target = (re.sub(r"[^a-z0-9]", "", name.lower()) for name in names)
    if source in _SOURCES and target in _TARGETS:
        return True
    ends = [] if second is None else fields_of(second)[:2]
    return len(ends) == 2 and all(_INTEGER.fullmatch(end) for end in ends)


def parse_named_edges(
    content: str, line: int, name: str, comments: str, weighted: bool | None, width: int = 0
) -> NamedEdges:
    """Parse lines of edges.

    content: the text from line number `line` on.  weighted: None: where the first line has a third column.
    width: the columns of a line; 0: those of the first line.
    """
    sources: list[str] = []
    targets: list[str] = []
    weights: list[str] = []
    lines: list[int] = []
    for at, fields in _rows(content, line, name, comments):
        if not width:
            width = len(fields)
            weighted = width > 2 if weighted is None else weighted
            if width < (3 if weighted else 2):
                expected = "source, target and weight" if weighted else "two ids"
                raise InvalidFormat(f"{name}:{at}: expected {expected}, found {' '.join(fields)[:60]!r}")
            if weighted and width > 3:
                warn_of_columns(name, at, width - 3)
        if len(fields) != width:
            raise InvalidFormat(f"{name}:{at}: expected {width} columns as in the first line, found {len(fields)}")
        if not fields[0] or not fields[1]:
            raise InvalidFormat(f"{name}:{at}: expected two ids, found an empty one")
        sources.append(fields[0])
        targets.append(fields[1])
        lines.append(at)
        if weighted:
            weights.append(fields[2])
    return NamedEdges(sources, targets, weights if weighted else None, lines)


def numbers_of(weights: list[str], name: str, lines: list[int]) -> NDArray[Any]:
    """Return weights as int64, where all are integers, or float64."""
    for kind in (int, float):
        try:
            return np.array([kind(weight) for weight in weights], np.int64 if kind is int else np.float64)
        except (ValueError, OverflowError):
            continue
    for at, weight in zip(lines, weights, strict=True):
        try:
            float(weight)
        except ValueError:
            advice = "; skip_lines=1 skips the names of columns" if at == lines[0] else ""
            raise InvalidFormat(f"{name}:{at}: expected a number as weight, found {weight!r}{advice}") from None
    raise AssertionError("every weight is a number")


def _rows(content: str, line: int, name: str, comments: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the columns of each line that is neither blank nor a comment."""
    kept = ((at, text) for at, text in enumerate(content.split("\n"), line) if _has_content(text, comments))
    first = next(kept, None)
    if first is None:
        return
    separator = separator_of(first[1])
    if separator is None:
        yield first[0], first[1].split()
        for at, text in kept:
            yield at, text.split()
        return
    numbers = [first[0]]

    def texts() -> Iterator[str]:
        yield first[1]
        for at, text in kept:
            numbers[0] = at
            yield text

    reader = csv.reader(texts(), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for fields in reader:
            yield numbers[0], [field.strip() for field in fields]
    except csv.Error as error:
        raise InvalidFormat(f"{name}:{numbers[0]}: expected columns separated by {separator!r}: {error}") from error


def _has_content(text: str, comments: str) -> bool:
    stripped = text.lstrip()
    return bool(stripped) and stripped[0] not in comments
