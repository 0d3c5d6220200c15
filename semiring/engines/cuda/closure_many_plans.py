"""Call plans of searches from many sources, and the memory of a group of sources."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...dtypes import INT32, INT64
from ...formats import CODECS, CSR, Array, index_dtype, word_count
from . import compile_samples, tuning
from .arguments import arguments
from .columns import codec_types, column_argument, side_by_side, transposed_codec, types_of_both
from .degrees import degrees
from .kernel import Handles, Kernel, kernel
from .launch import multiprocessors
from .packing import packing
from .specialize import constants, typedefs

__all__ = ["INSTEAD", "STATE_BYTES", "ManyMatrix", "group_words", "many_matrix", "words_of_sources"]

INSTEAD = "search from one source at a time"
STATE_BYTES = 1024
# The first planes of a group hold the levels up to 2^4 - 1.
FIRST_PLANES = 4
_FILE = "closure_many.cuh"
_WORD_BITS = 32
_MOST_WORDS = 32


class _Plan(NamedTuple):
    """The kernel, and the packer of ``ManyArguments``."""

    search: Kernel
    pack: Callable[..., bytes]

    def launch(self, given: bytes) -> None:
        """Queue the kernel on all blocks that are resident together."""
        blocks = multiprocessors() * self.search.resident_blocks(tuning.GRID_BLOCK)
        self.search(blocks, tuning.GRID_BLOCK, given, cooperative=True)


class ManyMatrix(NamedTuple):
    """What the searches of all groups share: the arguments that describe the matrix, and their types.

    t: the transpose, None for pushes only.  nonempty: the bitmap of its rows that have entries.  segments: slots for
    segments of long rows.
    """

    a: CSR
    t: CSR | None
    columns: str
    indices: tuple[Array, Array]
    nonempty: Array | None
    segments: int
    shift: int
    skewed: bool

    def plan(self, words: int, levels: bool, counts: bool) -> _Plan:
        """Return the plan for rows of so many words, cached."""
        return _plan(self.a.pattern.indptr.dtype, self.columns, self.t is not None, words, levels, counts)

    def group_bytes(self, words: int, planes: int) -> int:
        """Return the bytes of a group beside its counts: rows of bits, planes, bitmaps, lists, segments."""
        n: int = self.a.nrows
        listed = index_dtype(n).itemsize + 2 * self.a.pattern.indptr.dtype.itemsize
        bits = 4 * n * words * (3 + planes) + 3 * 4 * word_count(n)
        return bits + 2 * n * int(listed) + 8 * self.segments + STATE_BYTES


def many_matrix(a: CSR, t: CSR | None) -> ManyMatrix:
    """Return the description of a matrix.  Synchronizes the first time that a pattern is searched."""
    shift = packing("closure_many", a.nrows, a.nvals, INSTEAD)
    here, there = side_by_side(a.pattern, a.pattern if t is None else t.pattern)
    skewed = degrees(a.pattern).longest > tuning.SKEWED_ROW
    segments = 0 if t is None else min(t.nvals // 128, tuning.SEGMENTS) + 1
    nonempty = None if t is None else degrees(t.pattern).words
    indices = column_argument(here), column_argument(there)
    return ManyMatrix(a, t, types_of_both(here, there), indices, nonempty, segments, shift, skewed)


@functools.lru_cache(maxsize=256)
def _plan(offset: np.dtype[Any], columns: str, may_pull: bool, words: int, levels: bool, counts: bool) -> _Plan:
    prologue = (
        typedefs(P=offset)
        + columns
        + constants(WORDS=words, MAY_PULL=may_pull, LEVELS=levels, COUNTS=counts)
        + constants(**tuning.cost_constants(tuning.DEVICE))
        + constants(GRID_BLOCK=tuning.GRID_BLOCK, GRID_RESIDENT=tuning.GRID_RESIDENT, EAGER_EDGES=tuning.EAGER_EDGES)
        + constants(LONG_ROW=tuning.LONG_ROW, CLAIM_WORDS=tuning.CLAIM_WORDS)
    )
    return _Plan(kernel(_FILE, "closure_many", prologue), arguments(_FILE, "ManyArguments"))


def words_of_sources(sources: int) -> int:
    """Return the words of a row of bits for so many sources, up to 1,024: a power of two."""
    return 1 << max(0, -(-sources // _WORD_BITS) - 1).bit_length()


def group_words(sources: int, matrix: ManyMatrix, planes: int, free: int | None) -> int:
    """Return the words of a row for the largest groups whose bits fit in the free memory; one, if none fit."""
    words = min(words_of_sources(min(sources, _MOST_WORDS * _WORD_BITS)), _MOST_WORDS)
    while words > 1 and free is not None and matrix.group_bytes(words, planes) > free:
        words //= 2
    return words


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for number, words in enumerate((1, 2, 4, 8, 16, 32)):
        column, stored = (INT32, INT64)[number % 2], CODECS[number // 2 % len(CODECS)]
        for columns, transposed, index in (
            (compile_samples.UNCOMPRESSED, "uncompressed", INT32),
            (codec_types("uncompressed", INT64), stored, INT64),
            (compile_samples.COMPRESSED[number % len(compile_samples.COMPRESSED)], stored, column),
        ):
            part = (number + (index is INT64)) % 3
            yield _plan(index, columns + transposed_codec(transposed), part != 1, words, part != 2, part != 0)
