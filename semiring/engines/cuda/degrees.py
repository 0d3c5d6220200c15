"""Facts about the rows of a pattern, computed once and cached with it."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import cupy
import numpy as np

from ...dtypes import INT32, INT64
from ...formats import AnyPattern, Array, VectorStore, word_count
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, bitmap, full, grid, read_back
from .specialize import constants, typedefs

__all__ = ["Degrees", "degrees", "present_rows"]


class Degrees:
    """Facts about the rows of a pattern.

    words: the presence bit of every non-empty row.  Products with a full vector have exactly these rows, so their
    results share the words.
    """

    __slots__ = ("_counts", "_read", "words")

    # Remains valid if the entries of the pattern are moved to other memory.
    from_offsets: ClassVar[bool] = True

    def __init__(self, words: Array, counts: Array) -> None:
        """counts: on the device, the number of non-empty rows, and the maximum number of entries in a row."""
        self.words = words
        self._counts = counts
        self._read: tuple[int, int] | None = None

    @property
    def nonempty(self) -> int:
        """The number of non-empty rows.  Synchronizes the first time."""
        return self._counted()[0]

    @property
    def longest(self) -> int:
        """The maximum number of entries in a row.  Synchronizes the first time."""
        return self._counted()[1]

    def _counted(self) -> tuple[int, int]:
        if self._read is None:
            nonempty, longest = read_back(self._counts)  # synchronizes
            self._read = int(nonempty), int(longest)
        return self._read

    @property
    def present(self) -> Array | int:
        """The number of non-empty rows; on the device until it is first read."""
        return self._counts if self._read is None else self._read[0]


def degrees(pattern: AnyPattern) -> Degrees:
    """Return the facts about a pattern's rows.  Does not wait for the device: numbers are read at first access."""
    known = pattern.facts.get("cuda.degrees")
    if isinstance(known, Degrees):
        return known
    words = cupy.empty(word_count(pattern.nrows), np.uint32)
    counts = cupy.zeros(2, np.uint64)
    _kernel(pattern.indptr.dtype)(grid(pattern.nrows), BLOCK, pattern.indptr, pattern.nrows, words, counts)
    made = Degrees(words, counts)
    pattern.facts["cuda.degrees"] = made
    return made


@functools.cache
def _kernel(offset: np.dtype[Any]) -> Kernel:
    return kernel("degrees.cuh", "degrees", typedefs(P=offset, X=INT64) + constants(LISTED=False))


def present_rows(pattern: AnyPattern, dtype: np.dtype[Any], values: Array | np.generic) -> VectorStore:
    """Return a vector with an entry for each non-empty row of the pattern; full if all rows are known to be non-empty.

    values: a slot for every row, or the value that all entries share.
    """
    facts = degrees(pattern)
    present = facts.present
    if isinstance(present, int) and present == pattern.nrows:
        return full(pattern.nrows, dtype, values)
    return bitmap(pattern.nrows, dtype, facts.words, values, present)


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return _kernel(INT32), _kernel(INT64)
