"""Facts about the rows of a pattern, computed once and kept with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import cupy
import numpy as np

from ...formats import AnyPattern, Array, VectorStore, word_count
from .compile import kernel
from .launch import BLOCK, bitmap, full, grid, read_back
from .specialise import typedefs

__all__ = ["Degrees", "degrees", "present_rows"]


@dataclass(frozen=True)
class Degrees:
    """words: a presence bit for every row with entries; nonempty: their number; longest: the most entries in a row.

    Products with a full vector have exactly these rows, and so share the words with their results.
    """

    words: Array
    nonempty: int
    longest: int

    # Stays true where only the entries of the pattern move.
    of_rows: ClassVar[bool] = True


def degrees(pattern: AnyPattern) -> Degrees:
    """The facts about a pattern's rows.  Synchronises the first time that a pattern is asked."""
    known = pattern.facts.get("cuda.degrees")
    if isinstance(known, Degrees):
        return known
    words = cupy.empty(word_count(pattern.nrows), np.uint32)
    counts = cupy.zeros(2, np.uint64)
    run = kernel("degrees.cuh", "degrees", typedefs(P=pattern.indptr.dtype))
    run(grid(pattern.nrows), BLOCK, pattern.indptr, pattern.nrows, words, counts)
    nonempty, longest = (int(count) for count in read_back(counts))  # synchronises
    made = Degrees(words, nonempty, longest)
    pattern.facts["cuda.degrees"] = made
    pattern.facts["max_degree"] = longest
    return made


def present_rows(pattern: AnyPattern, dtype: np.dtype[Any], values: Array | np.generic) -> VectorStore:
    """A vector with an entry for every row of the pattern that has entries; full if all have.

    values: a slot for every row, or the value that all entries share.
    """
    facts = degrees(pattern)
    if facts.nonempty == pattern.nrows:
        return full(pattern.nrows, dtype, values)
    return bitmap(pattern.nrows, dtype, facts.words, values, facts.nonempty)
