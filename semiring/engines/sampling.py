"""Linking a sample of the entries: the question, and the answer that every engine can give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..formats import AnyPattern, VectorStore
from .operands import Spec
from .registry import run
from .spec import Link


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
