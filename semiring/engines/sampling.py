"""Linking a sample of the entries: the question, and the answer that every engine can give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..formats import AnyPattern, VectorStore, dense_values
from .operands import Spec
from .registry import run
from .spec import Link, ScalarResult


@dataclass(frozen=True, eq=False)
class LinkSample(Spec):
    """Unite each row with up to `count` of its neighbours, whichever the engine finds cheapest.

    forest, pattern: as in `Link`.  The answer's forest is flat.
    """

    name: ClassVar[str] = "link_sample"
    forest: VectorStore
    pattern: AnyPattern
    count: int


@dataclass(frozen=True, eq=False)
class LinkSampleAnswer:
    """The new forest.  Every row is united with its neighbours at positions [0, visited), maybe with others too."""

    store: VectorStore
    visited: int


def link_first(q: LinkSample, engine: str) -> LinkSampleAnswer:
    """A pass for the first neighbour of every row, one for the second, and so on.

    Each pass ends with flat trees, so that the next one finds every root at once.
    """
    forest = q.forest
    for place in range(q.count):
        forest = run(Link(forest, q.pattern, place, place + 1, None), engine)
    return LinkSampleAnswer(forest, q.count)


@dataclass(frozen=True, eq=False)
class MostFrequent(Spec):
    """A label that is most frequent in a sample of a forest; gives a `ScalarResult`, None for an empty forest."""

    name: ClassVar[str] = "most_frequent"
    forest: VectorStore


# Labels that are drawn: a component that holds a tenth of the rows is missed once in 10**46.
_DRAWN = 1024


def frequent_label(q: MostFrequent) -> ScalarResult:
    """The label on the host, for engines whose vectors are NumPy arrays."""
    labels = dense_values(q.forest)
    if not labels.size:
        return None
    drawn = labels[np.random.default_rng(labels.size).integers(0, labels.size, _DRAWN)]
    found, counts = np.unique(drawn, return_counts=True)
    label: np.generic = found[counts.argmax()]
    return label
