"""Facts about the rows of a pattern, computed once and kept with it."""

from __future__ import annotations

from typing import Any, ClassVar

import cupy
import numpy as np

from ...formats import AnyPattern, Array, VectorStore, word_count
from .kernel import kernel
from .launch import BLOCK, bitmap, full, grid, read_back
from .specialise import typedefs

__all__ = ["Degrees", "degrees", "present_rows"]


class Degrees:
    """words: a presence bit for every row that has entries.

    Products with a full vector have exactly these rows, and so share the words with their results.
    """

    __slots__ = ("_counts", "_read", "words")

    # Stays true where only the entries of the pattern move.
    from_offsets: ClassVar[bool] = True

    def __init__(self, words: Array, counts: Array) -> None:
        """counts: on the device, the number of rows that have entries, and the most entries in a row."""
        self.words = words
        self._counts = counts
        self._read: tuple[int, int] | None = None

    @property
    def nonempty(self) -> int:
        """The number of rows that have entries.  Synchronises the first time."""
        return self._counted()[0]

    @property
    def longest(self) -> int:
        """The most entries in a row.  Synchronises the first time."""
        return self._counted()[1]

    def _counted(self) -> tuple[int, int]:
        if self._read is None:
            nonempty, longest = read_back(self._counts)  # synchronises
            self._read = int(nonempty), int(longest)
        return self._read

    @property
    def present(self) -> Array | int:
        """The number of rows that have entries: on the device as long as nobody has read it."""
        return self._counts if self._read is None else self._read[0]


def degrees(pattern: AnyPattern) -> Degrees:
    """The facts about a pattern's rows.  Nothing waits: numbers are read when they are first looked at."""
    known = pattern.facts.get("cuda.degrees")
    if isinstance(known, Degrees):
        return known
    words = cupy.empty(word_count(pattern.nrows), np.uint32)
    counts = cupy.zeros(2, np.uint64)
    run = kernel("degrees.cuh", "degrees", typedefs(P=pattern.indptr.dtype))
    run(grid(pattern.nrows), BLOCK, pattern.indptr, pattern.nrows, words, counts)
    made = Degrees(words, counts)
    pattern.facts["cuda.degrees"] = made
    return made


def present_rows(pattern: AnyPattern, dtype: np.dtype[Any], values: Array | np.generic) -> VectorStore:
    """A vector with an entry for every row of the pattern that has entries; full if all are known to have.

    values: a slot for every row, or the value that all entries share.
    """
    facts = degrees(pattern)
    present = facts.present
    if isinstance(present, int) and present == pattern.nrows:
        return full(pattern.nrows, dtype, values)
    return bitmap(pattern.nrows, dtype, facts.words, values, present)
