"""Edge lists whose vertices are named by text: the distinct names, numbered without a Python object for each field."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import GuessedLayout, InvalidFormat
from semiring.io.text_scan import unescaped
from semiring.labels import number_columns
from semiring.labels.distinct import MANY, Texts, number_texts

__all__ = ["as_integers", "in_two_sets", "is_quoted", "number_names", "warn_if_unrepeated"]

_CANONICAL: Final = re.compile(r"0|-?[1-9][0-9]{0,999}")  # Python converts 4,300 digits at most; longer names are text


def number_names(
    text: NDArray[np.uint8], spans: NDArray[Any], name: str, line_of: Callable[[int], int]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the distinct names in ascending order, and the ranks of sources and targets.

    spans: where sources begin and end in the text, and where targets do.  InvalidFormat for names that are not UTF-8.
    """
    text, spans = unescaped(text, spans)
    columns = [Texts(text, spans[k], spans[k + 1]) for k in (0, 2)]
    try:
        if spans[0].size + spans[2].size >= MANY:
            names, (rows, cols) = number_texts(columns)
            labels = np.empty(len(names), object)
            labels[:] = names
        else:
            listed = {role: _listed(column) for role, column in zip(("source", "target"), columns, strict=True)}
            labels, (rows, cols) = number_columns(name, listed)
    except ValueError as error:  # UnicodeDecodeError, and InvalidValue of the labels
        at, byte = _first_undecodable(columns)
        if at < 0:
            raise
        raise InvalidFormat(f"{name}:{line_of(at)}: expected ids in UTF-8, found the byte {byte:#04x}") from error
    return (labels if len(labels) else labels.astype(object)), rows, cols


def _listed(column: Texts) -> list[str]:
    bounds = zip(column.starts.tolist(), column.stops.tolist(), strict=True)
    return [column.data[first:last].tobytes().decode() for first, last in bounds]


def _first_undecodable(columns: list[Texts]) -> tuple[int, int]:
    """Return the row and the wrong byte of the first text that is not UTF-8; row -1 if there is none."""
    for row in range(columns[0].starts.size):
        for column in columns:
            content = column.data[column.starts[row] : column.stops[row]].tobytes()
            try:
                content.decode()
            except UnicodeDecodeError as error:
                return row, content[error.start]
    return -1, 0


def is_quoted(text: NDArray[np.uint8], spans: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each text of the columns with these starts and stops is in quotes."""
    firsts = np.concatenate(spans[::2])
    return np.asarray((firsts > 0) & (text[np.maximum(firsts, 1) - 1] == ord('"')), np.bool_)


def as_integers(
    labels: NDArray[Any], rows: NDArray[Any], cols: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return names that are all integers, as they are printed, as integers in ascending order; others unchanged."""
    if not all(map(_CANONICAL.fullmatch, labels.tolist())):
        return labels, rows, cols
    numbers = np.array([int(label) for label in labels.tolist()], object)
    order = np.argsort(numbers)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    numbers = numbers[order]
    if numbers.size and numbers[0] >= -(2**63) and numbers[-1] < 2**63:
        numbers = numbers.astype(np.int64)
    elif numbers.size and numbers[0] >= 0 and numbers[-1] < 2**64:
        numbers = numbers.astype(np.uint64)
    return numbers, rank[rows], rank[cols]


def in_two_sets(
    labels: NDArray[Any], rows: NDArray[Any], cols: NDArray[Any], quoted: tuple[Any, Any], present: Any = None
) -> tuple[tuple[NDArray[Any], NDArray[Any]], NDArray[Any], NDArray[Any]]:
    """Return the labels of sources and those of targets, and the ranks of both among their own.

    Each side is of integers if all its labels are printed ones and it is not quoted.  present: the ranks that occur,
    where other processes have edges too.
    """
    sides, ranks = [], []
    for k, column in enumerate((rows, cols)):
        occurs = np.zeros(len(labels), np.bool_)
        occurs[column if present is None else present[k]] = True
        own, rank = labels[occurs], (np.cumsum(occurs) - 1)[column]
        if not quoted[k]:
            own, rank, _ = as_integers(own, rank, rank[:0])
        sides.append(own)
        ranks.append(rank)
    return (sides[0], sides[1]), ranks[0], ranks[1]


def warn_if_unrepeated(name: str, line: int, repetitions: int, first: tuple[Any, Any]) -> None:
    """Warn that the first line may hold names of columns, if none of its ids occurs again."""
    if not repetitions:
        warnings.warn(
            f"{name}:{line}: this line was read as an edge, and neither {first[0]!r} nor {first[1]!r} occurs again: "
            f"header=True if it holds the names of columns, header=False if it is an edge",
            GuessedLayout,
            stacklevel=3,
        )
