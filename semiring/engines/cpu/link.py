"""Union-find over the rows of a pattern.

Method: the link step of Afforest (Sutton, Ben-Nun, Barak, IPDPS 2018): the larger of two roots is hooked under the
smaller by compare-and-swap, repeatedly until both ends have one root.  Ordinary stores in a single pass would lose
hooks; this is exact on every graph.
"""

from __future__ import annotations

import numpy as np

from ...formats import Full, VectorStore, uncompressed_pattern
from ..registry import EVERY_KIND, implements
from ..requests.graphs import Link
from ..requests.operations import ScalarResult
from ..rows.link_sample import LinkSample, LinkSampleResult, MostFrequent, frequent_label, link_first
from .atomics import compare_swap, load, next_chunk
from .compile import kernel
from .operands import kernel_array
from .threads import parts_for, run, threads_for
from .types import position

_CHUNK = 1024


@implements(Link, engine="cpu")
def link(q: Link) -> VectorStore:
    """Unite i and its neighbors at positions [first, last) of every row i; the new forest is flat."""
    values = q.forest.values
    before = kernel_array(np.full(q.forest.size, q.forest.iso, q.forest.dtype) if values is None else values)
    forest = before.copy()
    pattern = uncompressed_pattern(q.pattern)
    visited = pattern.nvals if q.last is None else min(pattern.nvals, pattern.nrows * (q.last - q.first))
    last = np.iinfo(np.int64).max if q.last is None else q.last
    skipped = q.skipped()
    skip = -1 if skipped is None else skipped
    threads = threads_for(visited + pattern.nrows)
    arrays = (kernel_array(pattern.indptr), kernel_array(pattern.indices), before, forest)
    run(_link, threads, *arrays, q.first, last, skip, work=visited + pattern.nrows)
    run(_flatten, parts_for(q.forest.size), forest)
    return Full(q.forest.size, q.forest.dtype, forest)


@implements(LinkSample, engine="cpu", accepts=EVERY_KIND)
def link_sample(q: LinkSample) -> LinkSampleResult:
    """Link the first neighbors of every row, one neighbor at a time."""
    return link_first(q, "cpu")


@implements(MostFrequent, engine="cpu")
def most_frequent(q: MostFrequent) -> ScalarResult:
    """A label that is most frequent in a sample of the forest."""
    return frequent_label(q)


@kernel
def _link(t, threads, control, indptr, indices, before, forest, first, last, skip):
    n = indptr.size - 1
    while True:
        start = next_chunk(control) * _CHUNK
        if start >= n:
            break
        for i in range(start, min(start + _CHUNK, n)):
            if skip >= 0:
                root = np.int64(i)
                while np.int64(before[root]) != root:
                    root = np.int64(before[root])
                if root == skip:
                    continue
            begin, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
            stop = end if last >= end - begin else begin + last
            for p in range(begin + first, stop):
                a, b = np.int64(load(forest, i)), np.int64(load(forest, position(indices, p)))
                while a != b:
                    high, low = max(a, b), min(a, b)
                    over = np.int64(load(forest, high))
                    if over == low:
                        break
                    if over == high and np.int64(compare_swap(forest, high, high, low)) == high:
                        break
                    # Another thread was faster, or `high` is not a root: continue from the parents.
                    a = np.int64(load(forest, np.int64(load(forest, high))))
                    b = np.int64(load(forest, low))


@kernel
def _flatten(t, threads, control, forest):
    """Set every vertex to its root; roots no longer change, so the order does not matter."""
    n = forest.size
    for v in range(t * n // threads, (t + 1) * n // threads):
        root = np.int64(load(forest, v))
        while True:
            over = np.int64(load(forest, root))
            if over == root:
                break
            root = over
        forest[v] = root
