"""Labels in the comments of a Matrix Market file, so that they stay with it when it is moved, copied or compressed.

For each label set (:mod:`semiring.io.label_sets`) a line ``%%labels 3 rows columns``, with their number and what they
name, and after it a line ``%%label JSON`` for each label, in ASCII.  The format limits lines to 1024 bytes: longer
labels continue in lines ``%%label+ JSON``.  To other programs all are comments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat, InvalidValue
from semiring.io.label_sets import ROLES, grouped, json_labels, parsed_labels
from semiring.labels import Labels

__all__ = ["FIRST", "label_comments", "read_label_comments"]

FIRST: Final = "%%labels "
_LABEL: Final = "%%label "
_MORE: Final = "%%label+ "
_JSON_BYTES: Final = 1000
_BLOCK: Final = re.compile(rb"(?:%%label[s+]? [^\n]*\n)*")


def label_comments(function: str, sets: Mapping[str, Labels]) -> list[str]:
    """Return the comments that hold label sets, without the first ``%`` of each line.  Raises InvalidType."""
    lines: list[str] = []
    for labels, roles in grouped(sets):
        lines.append(f"{FIRST[1:]}{len(labels)} {' '.join(roles)}")
        for text in json_labels(function, labels):
            lines.append(_LABEL[1:] + text[:_JSON_BYTES])
            for begin in range(_JSON_BYTES, len(text), _JSON_BYTES):
                lines.append(_MORE[1:] + text[begin : begin + _JSON_BYTES])
    return lines


def read_label_comments(
    text: NDArray[np.uint8], position: int, line: int, name: str
) -> tuple[dict[str, Labels], int, int]:
    """Return the label sets that begin at a byte, in line number `line`, and the byte and line after them.

    Raises InvalidFormat.
    """
    content: Any = text
    found = _BLOCK.match(content, position)
    end = position if found is None else found.end()
    lines = text[position:end].tobytes().decode("ascii", "backslashreplace").split("\n")[:-1]
    if end == len(text):
        raise InvalidFormat(f"{name}:{line + len(lines)}: expected a line with the sizes, found the end of the file")
    sets: dict[str, Labels] = {}
    heads = [at for at, content in enumerate(lines) if content.startswith(FIRST)]
    for first, last in zip(heads, [*heads[1:], len(lines)], strict=True):
        count, *roles = lines[first].rstrip("\r").removeprefix(FIRST).split()
        texts: list[str] = []
        for content in lines[first + 1 : last]:
            content = content.rstrip("\r")
            if content.startswith(_LABEL):
                texts.append(content.removeprefix(_LABEL))
            elif texts:
                texts[-1] += content.removeprefix(_MORE)
        place = f"{name}:{line + first}"
        if count != str(len(texts)) or not roles or not set(roles) <= {*ROLES} - {*sets}:
            raise InvalidFormat(f"{place}: expected the labels of rows, columns or values, found {lines[first]!r:.60}")
        try:
            labels = Labels(_column(parsed_labels(texts)))
        except (ValueError, RecursionError, InvalidValue) as error:
            raise InvalidFormat(f"{place}: expected {count} labels in JSON, found: {error}") from error
        sets |= dict.fromkeys(roles, labels)
    return {role: sets[role] for role in ROLES if role in sets}, end, line + len(lines)


def _column(labels: list[Any]) -> Any:
    """Return labels as an array of objects, of tuples too."""
    column = np.empty(len(labels), object)
    column[:] = labels
    return column
