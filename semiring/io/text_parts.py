"""Parts of a text, which begin with a line: how many lines they have, and their scans on several threads."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.memory.thread_pool import parallel_each

__all__ = ["COUNTED_BYTES", "PART_BYTES", "gathered", "line_count", "scan_parts"]

#: Bytes that one thread scans at a time; a text of more than twice as many is scanned on several.
PART_BYTES: Final = 1 << 23
#: Bytes that are compared with a character at a time.
COUNTED_BYTES: Final = 1 << 20


def scan_parts(
    text: NDArray[np.uint8], start: int, capacity: int, scan: Callable[..., tuple[Any, ...]], delimited: bool
) -> tuple[list[int], list[tuple[Any, ...]]] | None:
    """Scan parts of a text on several threads: the first row that each part writes, and what `scan` returns of it.

    None where a part has an error, which a scan from the start finds with its line; where lines may end in quotes; and
    where there are more lines than rows fit in the text.
    """
    slices = [text[begin : begin + COUNTED_BYTES] for begin in range(start, len(text), COUNTED_BYTES)]
    if delimited and any(bool(np.any(part == ord('"'))) for part in slices):
        return None
    bounds = [start]
    for begin in range(start + PART_BYTES, len(text), PART_BYTES):
        ends = np.flatnonzero(text[begin : begin + COUNTED_BYTES] == ord("\n"))
        if ends.size and begin > bounds[-1]:
            bounds.append(begin + int(ends[0]) + 1)
    bounds.append(len(text))
    counts = [line_count(text[begin:end], 0) for begin, end in itertools.pairwise(bounds)]
    if sum(counts) > capacity:
        return None
    rows = [0, *itertools.accumulate(counts)]
    hard = np.empty((0, 4), np.int64)
    found: list[tuple[Any, ...]] = [scan(start, start, 1, 0, 0, hard)] * len(counts)  # compiles

    def scan_part(k: int) -> None:
        found[k] = scan(bounds[k], bounds[k + 1], 1, rows[k], rows[k + 1], hard)

    parallel_each(range(len(counts)), scan_part)
    return (rows, found) if all(part[0] == 0 for part in found) else None


def gathered(
    arrays: tuple[NDArray[Any], ...], firsts: list[int], found: list[tuple[Any, ...]]
) -> tuple[int, bool, bool]:
    """Close the gaps between the rows of parts, which blank lines leave; return the rows, any < 0, any > 2**63 - 1."""
    rows = 0
    for first, part in zip(firsts, found, strict=False):
        count = int(part[3]) - first
        if first > rows:
            for array in arrays:
                array[:, rows : rows + count] = array[:, first : first + count]
        rows += count
    return rows, any(bool(part[7]) for part in found), any(bool(part[8]) for part in found)


def line_count(text: NDArray[np.uint8], start: int) -> int:
    """Return the number of lines from byte `start` to the end, also a last one without a newline."""
    ends = sum(
        int(np.count_nonzero(text[begin : begin + COUNTED_BYTES] == ord("\n")))
        for begin in range(start, len(text), COUNTED_BYTES)
    )
    return ends + int(len(text) > start and text[-1] != ord("\n"))
