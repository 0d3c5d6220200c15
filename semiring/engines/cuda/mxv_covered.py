"""Vectors that have an entry in each column that has entries: a pull treats them as full.

A rank divided by degrees lacks the vertices without edges, which no entry of the matrix refers to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

import cupy
import numpy as np

from ...dtypes import INT32
from ...formats import AnyPattern, Array, Bitmap, Pattern, word_count
from . import compile_samples, tuning
from .kernel import kernel
from .launch import BLOCK, counter, grid, read_one
from .specialize import typedefs

__all__ = ["covered_columns", "covers"]

_FACT = "cuda.covered"


def covers(u: Bitmap, pattern: AnyPattern) -> bool:
    """Return whether no entry of a large pattern is in a column in which u lacks one.  Synchronizes.

    The columns that have entries are cached with the pattern.
    """
    if not _is_large(pattern):
        return False
    columns, nonempty = _columns(pattern)
    if u.count.known and u.nvals < nonempty:
        return False
    nwords = word_count(u.size)
    missing = counter()
    run = kernel("covered.cuh", "covered_missing", typedefs(J=pattern.indices.dtype))
    run(grid(nwords), BLOCK, columns, u.words, nwords, missing)
    return read_one(missing) == 0  # synchronizes


def covered_columns(pattern: AnyPattern) -> Array | None:
    """Return the presence words of the columns that have entries; None where `covers` is false for any vector.

    Synchronizes once for a pattern.
    """
    return _columns(pattern)[0] if _is_large(pattern) else None


def _is_large(pattern: AnyPattern) -> TypeGuard[Pattern]:
    return isinstance(pattern, Pattern) and pattern.placement == "device" and pattern.nvals >= tuning.RANKED_ENTRIES


def _columns(pattern: Pattern) -> tuple[Array, int]:
    """Return the presence words of the columns that have entries, and their number."""
    known: tuple[Array, int] | None = pattern.facts.get(_FACT)
    if known is None:
        nwords = word_count(pattern.ncols)
        words, count = cupy.zeros(nwords, np.uint32), counter()
        run = kernel("covered.cuh", "covered_columns", typedefs(J=pattern.indices.dtype))
        run(grid(pattern.nvals), BLOCK, pattern.indices, pattern.nvals, words)
        kernel("popcount.cuh", "count_bits")(grid(nwords), BLOCK, words, nwords, count)
        known = pattern.facts[_FACT] = words, read_one(count)  # synchronizes
    return known


def catalog() -> Iterator[compile_samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalog for the kernels of this module."""
    yield "covered.cuh", typedefs(J=INT32)
