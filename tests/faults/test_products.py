"""Random products in child processes; `tests/ops/test_products.py` runs the same trials in one process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults import products
from tests.faults._product_cases import RINGS

SEED = 1


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
def test_products(engine: str, trial_count: Callable[[int, int, int], int]) -> None:
    count = trial_count(2, 2, 20_000)
    tally = products.trials(count, SEED, engine)
    assert tally.outcomes == {"ok": count}, str(tally)


def test_trials_of_a_campaign_have_every_semiring() -> None:
    rings = {str(products.trial(SEED, number, 2, "reference").ring) for number in range(2 * len(RINGS))}
    assert len(rings) == len(set(RINGS)) == len(RINGS)
