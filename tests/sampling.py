"""The sample of the short tier: which parts of the largest cross products, and which costly tests, one run takes.

Costly are the tests with that mark, and those that `COSTS` lists: it records, by function, the processor seconds that a
run with an empty kernel cache saves without it, which `python -m tests.costs` measures.

One seed determines the sample.  `conftest` draws a new one for each run, prints it, and passes it to all workers;
``--seed N`` repeats the run that printed N.  A test samples a product by `draw` where it makes its parameters, so the
sample is a property of the collection, not of the order in which tests run.

The exhaustive tier samples nothing: there every part has the mark under which that tier collects it, so that its parts
(``--part K/N``) are the same for every seed.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

T = TypeVar("T")

COSTS = Path(__file__).with_name("costs.txt")
# A run of all tests takes one in so many of the costly tests.
COSTLY = 288

# Set by `conftest` before the collection.
seed = 0
exhaustive = False
engine = "cpu"


def generator(name: str) -> np.random.Generator:
    """The random numbers of one product; products of different names are drawn independently."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def draw(name: str, population: Iterable[T], count: int) -> list[T]:
    """Return `count` members of a population (all, if it has no more), in its order."""
    members = list(population)
    chosen = generator(name).permutation(len(members))[:count]
    return [members[number] for number in sorted(chosen)]


def files_of_families(files: Collection[str]) -> Collection[str]:
    """The files about one family of algorithms that a run of the short tier takes: two on the CPU, else all."""
    return draw("files of families", files, 2) if engine == "cpu" and not exhaustive else files


@functools.cache
def costs() -> dict[str, float]:
    """The seconds that `COSTS` records, by the name of the test function."""
    lines = [line.split() for line in COSTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {name: float(seconds) for seconds, name in lines}


def function_of(item: pytest.Item) -> str:
    """The name of a test without its parameters."""
    return item.nodeid.partition("[")[0]


def mark_costly(items: Iterable[pytest.Item]) -> None:
    """Mark the tests that `COSTS` lists as ``costly``."""
    for item in items:
        if function_of(item) in costs() and not item.get_closest_marker("costly"):
            item.add_marker("costly")


def left_of_costly(items: Iterable[pytest.Item], one_in: int = COSTLY) -> list[pytest.Item]:
    """The tests marked ``costly`` that a run of the short tier leaves out: all but one in `one_in`."""
    costly = sorted((item for item in items if item.get_closest_marker("costly")), key=lambda item: item.nodeid)
    return draw("costly tests", costly, len(costly) * (one_in - 1) // one_in)


def marks(row: T, sample: Collection[T], mark: pytest.MarkDecorator | None = None) -> list[pytest.MarkDecorator]:
    """Return the marks of one row of a product: none for a row of the sample, else `mark` (``exhaustive``)."""
    if row in sample and not exhaustive:
        return []
    return [pytest.mark.exhaustive if mark is None else mark]
