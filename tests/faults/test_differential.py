"""Random operations give what the specification and SuiteSparse give, and the campaign covers what it draws from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from semiring.formats import CSR
from tests import sampling
from tests.draw import make_matrix, make_vector
from tests.faults import differential
from tests.faults._differential_cases import CASES, DRAW, Block, gathered, large_size, places, spread

# Enough for a part of one operation on an engine that compiles; the specification compiles nothing.
SECONDS = 6.0


@pytest.mark.costly
@pytest.mark.oracle
@pytest.mark.timeout(900)
def test_the_specification_is_as_suitesparse(trial_count: Callable[[int, int, int], int]) -> None:
    pytest.importorskip("graphblas", reason="python-graphblas is not installed")
    seed = int(sampling.generator("differential, specification").integers(2**31))
    tally = differential.trials(trial_count(160, 6000, 100_000), seed, "reference")
    assert not tally.failed, str(tally)
    assert tally.outcomes["ok"] > tally.outcomes["refused"]


@pytest.mark.costly
@pytest.mark.timeout(900)
def test_an_engine_is_as_the_specification(engine: str, trial_count: Callable[[int, int, int], int]) -> None:
    seed = int(sampling.generator("differential").integers(2**31))
    seconds = None if sampling.exhaustive else SECONDS
    tally = differential.trials(trial_count(12, 600, 20_000), seed, engine, seconds)
    assert not tally.failed, str(tally)


def test_blocks_have_every_operation() -> None:
    """A round of blocks has each case once; other rounds draw other storage kinds."""
    first = [Block(5, number) for number in range(len(CASES))]
    assert Counter(block.case for block in first) == Counter(CASES)
    assert {block.case.operation for block in first} == set(DRAW)
    again = [Block(5, number + len(CASES)) for number in range(len(CASES))]
    assert [block.case for block in again] == [block.case for block in first]
    assert any(one.kinds != other.kinds for one, other in zip(first, again, strict=True))


def test_trials_are_repeatable_and_differ() -> None:
    texts = [str(differential.Difference(3, number, 10, "reference")) for number in range(30)]
    assert texts == [str(differential.Difference(3, number, 10, "reference")) for number in range(30)]
    assert len(set(texts)) == len(texts)


def test_large_dimensions_are_gathered_again() -> None:
    for dtype in (np.dtype(np.int64), np.dtype(np.float32)):
        a = make_matrix(5, 8, dtype, 0.4, False, 1)
        b = spread(a)
        assert isinstance(b, CSR)
        assert b.shape == (large_size(5), large_size(8))
        rows = np.repeat(np.arange(b.nrows), np.diff(b.indptr))
        at, values, shape, _ = gathered(([rows, b.indices], b.values, b.shape, "int64"), (5, 8))
        assert (at[0] == np.repeat(np.arange(5), np.diff(a.indptr))).all()
        assert (at[1] == a.indices).all()
        assert (values == a.values).all()
        assert shape == (5, 8)
        for format in ("index", "bitmap", "full"):
            u = make_vector(17, dtype, format, 0.5, False, 2)
            assert spread(u).nvals == u.nvals
    elsewhere = np.setdiff1d(np.arange(large_size(3)), places(3))[:1]
    with pytest.raises(AssertionError, match="none can be"):
        gathered(([elsewhere], np.ones(1), (large_size(3),), "float64"), (3,))
