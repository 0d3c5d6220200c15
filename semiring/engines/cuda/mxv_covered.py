"""Vectors that have an entry in each column that has entries: a pull treats them as full.

A rank divided by degrees lacks the vertices without edges, which no entry of the matrix refers to.
"""

from __future__ import annotations

import functools
from typing import Any, TypeGuard

import cupy
import numpy as np

from ...dtypes import INT32
from ...formats import AnyPattern, Array, Bitmap, Pattern, word_count
from . import tuning
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, counter, grid, read_one
from .mxv_kernels import count_bits_kernel
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
    _kernel("covered_missing", pattern.indices.dtype)(grid(nwords), BLOCK, columns, u.words, nwords, missing)
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
        _kernel("covered_columns", pattern.indices.dtype)(
            grid(pattern.nvals), BLOCK, pattern.indices, pattern.nvals, words
        )
        count_bits_kernel()(grid(nwords), BLOCK, words, nwords, count)
        known = pattern.facts[_FACT] = words, read_one(count)  # synchronizes
    return known


@functools.cache
def _kernel(entry: str, column: np.dtype[Any]) -> Kernel:
    return kernel("covered.cuh", entry, typedefs(J=column))


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return _kernel("covered_missing", INT32), _kernel("covered_columns", INT32)
