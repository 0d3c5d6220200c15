"""Union-find, entry by entry."""

from __future__ import annotations

import numpy as np

from ...formats import Full, VectorStore, uncompressed_pattern
from ..registry import EVERY_KIND, implements
from ..requests.graphs import Link
from ..requests.operations import ScalarResult
from ..rows.link_sample import LinkSample, LinkSampleResult, MostFrequent, frequent_label, link_first
from .dense import densify


@implements(Link, engine="reference")
def link(q: Link) -> VectorStore:
    """Unite i and j for each entry (i, j) at positions [first, last) of its row; then flatten every tree.

    The root of a united tree is its smallest member, so the result is the same on every engine.
    """
    parent = densify(q.forest)[0].tolist()
    pattern = uncompressed_pattern(q.pattern)
    indptr, columns = pattern.indptr.tolist(), pattern.indices.tolist()
    before, skip = [_root(parent, v) for v in range(q.pattern.nrows)], q.skipped()
    for i in range(q.pattern.nrows):
        if before[i] == skip:
            continue
        for j in columns[indptr[i] : indptr[i + 1]][q.first : q.last]:
            a, b = _root(parent, i), _root(parent, j)
            parent[max(a, b)] = min(a, b)
    flat = [_root(parent, v) for v in range(len(parent))]
    return Full(q.forest.size, q.forest.dtype, np.array(flat, q.forest.dtype))


@implements(LinkSample, engine="reference", accepts=EVERY_KIND)
def link_sample(q: LinkSample) -> LinkSampleResult:
    """Link the first neighbors of every row, one neighbor at a time."""
    return link_first(q, "reference")


@implements(MostFrequent, engine="reference")
def most_frequent(q: MostFrequent) -> ScalarResult:
    """A label that is most frequent in a sample of the forest."""
    return frequent_label(q)


def _root(parent: list[int], v: int) -> int:
    while parent[v] != v:
        v = parent[v]
    return v
