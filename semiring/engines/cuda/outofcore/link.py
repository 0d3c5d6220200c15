"""Union-find over the rows of a matrix whose entries reside in host memory: only entries that take part are read.

It lists no rows, so it also supports device-resident matrices that are too large for `packing`.
"""

from __future__ import annotations

from collections.abc import Iterator

import cupy
import numpy as np

from ....dtypes import INT32, INT64
from ....formats import Full, word_count
from ....memory.arrays import copied
from ...recording import note, noting
from ...registry import EVERY_KIND, implements
from ...requests.graphs import Link
from .. import compile_samples
from ..kernel import Handles
from ..launch import BLOCK, grid
from ..packing import linked_rows, packable
from ..specialize import typedefs
from .passes import Passes, entry_types, out_of_core, pass_kernel

_FILE = "outofcore_link.cuh"


def _serves(q: Link) -> bool:
    """Entries in host memory, or too many for the list of long rows in `link`."""
    return out_of_core(q.pattern) or not packable(linked_rows(q), q.pattern.nvals)


@implements(Link, engine="cuda", when=_serves, accepts=EVERY_KIND, priority=1)
def link_outofcore(q: Link) -> Full:
    """The entries of the rows that take part, in the order of their addresses; compare-and-swap hooking.

    Memory beyond the matrix and both forests: a bit a row and a bit for 128 entries, and two buffers where the entries
    are streamed; only then, once, it synchronizes.
    """
    forest, pattern = q.forest, q.pattern
    assert isinstance(forest, Full)
    n = pattern.nrows
    parent = cupy.full(n, forest.iso, forest.dtype) if forest.values is None else copied(forest.values)
    if pattern.nvals == 0:
        return Full(n, forest.dtype, parent)
    passes = Passes(pattern)
    rows, tiles = cupy.empty(word_count(n), np.uint32), cupy.zeros(passes.words, np.uint32)
    labels = typedefs(F=forest.dtype)
    last = -1 if q.last is None else q.last
    skipped = q.skipped()  # synchronizes where the label is still on the device
    skip = forest.dtype.type(0 if skipped is None else skipped)
    pass_kernel(_FILE, "outofcore_list", passes.prologue, labels)(
        grid(n), BLOCK, pattern.indptr, n, parent, q.first, last, np.bool_(skipped is not None), skip, rows, tiles
    )
    passes.run(_FILE, "outofcore_link", labels, rows, tiles, passes.plan(tiles), parent, q.first, last)
    pass_kernel(_FILE, "outofcore_flatten", passes.prologue, labels)(grid(n), BLOCK, parent, n)
    if noting():
        note(host_bytes=passes.host_bytes())  # synchronizes
    return Full(n, forest.dtype, parent)


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for number, columns in enumerate(compile_samples.ALL_COLUMNS):
        index, label = (INT32, INT64)[:: (1, -1)[number % 2]]
        for entry in ("outofcore_list", "outofcore_link", "outofcore_flatten"):
            yield pass_kernel(_FILE, entry, entry_types(index, columns), typedefs(F=label))
