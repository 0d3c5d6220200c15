"""Products by every method equal the specification and SuiteSparse: semirings, writes, storage kinds and shapes, drawn.

`tests.faults.products` defines the trials and runs any number of them: ``python -m tests.faults products --help``.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from tests import sampling
from tests.faults import products
from tests.faults._operation_sides import graphblas
from tests.faults._product_cases import RINGS, Ring, dense_of, draw
from tests.storage_kinds import KINDS

# Trials of a semiring, without and with --exhaustive.  On the CPU a short run has one of the common semirings, and few
# types and storage kinds, each of which the engine compiles for.
FEW, MANY = 32, 80
NARROW = {"formed": 0.04, "narrow": True}
COMMON = 8
ON_CPU = sampling.engine == "cpu"
SAMPLE = sampling.draw("semirings of products", RINGS[:COMMON] if ON_CPU else RINGS, 1 if ON_CPU else 6)


@pytest.fixture(scope="module")
def gb() -> Any:
    return graphblas() if importlib.util.find_spec("graphblas") is not None else None


@pytest.mark.costly
@pytest.mark.timeout(900)  # with an empty cache, an exhaustive run compiles the kernels of every write and storage kind
@pytest.mark.parametrize(
    "ring", [pytest.param(ring, id=str(ring), marks=sampling.marks(ring, SAMPLE)) for ring in RINGS]
)
def test_every_method(engine: str, gb: Any, ring: Ring) -> None:
    options: Any = NARROW if ON_CPU and not sampling.exhaustive else {}
    for number in range(MANY if sampling.exhaustive else FEW):
        q = draw(ring, sampling.seed, number, KINDS, large=engine != "reference", **options)
        differs = products.outcome(q, engine, gb)
        assert not differs, f"trial {number} of {q}: {differs}"


def trial_of(name: str) -> Any:
    """A small product over this semiring that has entries."""
    ring = next(ring for ring in RINGS if ring.name == name)
    for number in range(100):
        q = draw(ring, 1, number, KINDS, large=False)
        if q.mask == "none" and q.accum is None and q.over == "C":
            values, present = products.expected_of(q)
            if present.any():
                return q, values, present
    raise AssertionError(name)


@pytest.mark.parametrize("name", ["plus_times", "any_second"])
def test_differences_are_detected(name: str) -> None:
    q, values, present = trial_of(name)
    expected = values, present
    assert not products.difference(q, expected, expected)
    other = np.where(present, np.asarray(101, values.dtype), values)
    assert "values differ" in products.difference(q, (other, present), expected)
    assert "positions differ" in products.difference(q, (values, np.zeros_like(present)), expected)
    assert "type" in products.difference(q, (values.astype(np.float32), present), expected)


def test_a_value_of_any_inner_index_is_legal() -> None:
    q, values, present = trial_of("any_second")
    (_, a_present), (b, b_present) = (dense_of(q.operands[name]) for name in "AB")
    last = values.copy()
    for i, j in np.argwhere(present):
        last[i, j] = b[np.flatnonzero(a_present[i] & b_present[:, j])[-1], j]
    assert not products.difference(q, (last, present), (values, present))
