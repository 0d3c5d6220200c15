"""Union-find over a sample of the entries: the specs, and an implementation for every engine."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...formats import AnyPattern, VectorStore, dense_values
from ...formats.records import record
from ..registry import run
from ..requests.graphs import Link
from ..requests.operands import Spec
from ..requests.operations import ScalarResult


@record
class LinkSample(Spec):
    """Hook each row to up to `count` of its neighbors, chosen by the engine for lowest cost.

    forest, pattern: as in `Link`.  The forest of the result is flat.
    """

    name: ClassVar[str] = "link_sample"
    forest: VectorStore
    pattern: AnyPattern
    count: int


@record
class LinkSampleResult:
    """The new forest.  Every row is hooked to its neighbors at positions [0, visited), possibly also to others."""

    store: VectorStore
    visited: int


def link_first(q: LinkSample, engine: str) -> LinkSampleResult:
    """Hook every row to its first neighbor in one pass, to its second in the next, and so on.

    Each pass ends with flat trees, so that the next pass finds every root in one step.
    """
    forest = q.forest
    for place in range(q.count):
        forest = run(Link(forest, q.pattern, place, place + 1, None), engine)
    return LinkSampleResult(forest, q.count)


@record
class LinkAll(Spec):
    """Hook all entries, those of a sample first: `LinkSample`, `MostFrequent` and `Link` in one request.

    forest, pattern: as in `Link`.  count: as in `LinkSample`.
    skips: whether the rows of the most frequent tree of the sample are not visited any further.  The structure is then
        symmetric: a skipped row is in one tree with its neighbors, or the neighbor visits it.

    For engines `ops.link` makes the three requests.  A grid of processes implements this one, so that the processes
    exchange their hooks once.
    """

    name: ClassVar[str] = "link_all"
    decodable: ClassVar[bool] = False
    forest: VectorStore
    pattern: AnyPattern
    count: int
    skips: bool


@record
class MostFrequent(Spec):
    """A label that is most frequent in a sample of a forest: a `ScalarResult`, None for an empty forest."""

    name: ClassVar[str] = "most_frequent"
    forest: VectorStore


# Sample size: a component that holds a tenth of the rows is missed with probability 10**-46.
_DRAWN = 1024


def frequent_label(q: MostFrequent) -> ScalarResult:
    """Return the most frequent label, computed on the host, for engines whose vectors are NumPy arrays."""
    labels = dense_values(q.forest)
    if not labels.size:
        return None
    drawn = labels[np.random.default_rng(labels.size).integers(0, labels.size, _DRAWN)]
    found, counts = np.unique(drawn, return_counts=True)
    label: np.generic = found[counts.argmax()]
    return label
