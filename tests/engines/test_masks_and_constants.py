"""Predicates that all engines share: masks in their simplest form, and values that need no entry."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.engines.requests.operands import Mask, admitted_count, simplified
from semiring.engines.shared.iso_results import binary_value, sum_value
from semiring.formats import Full, IndexList

INDICES = np.array([1, 3], np.int32)
BOOL = np.dtype(np.bool_)


@pytest.mark.parametrize("complement", [False, True])
def test_a_mask_that_lists_all_or_nothing_is_no_mask(complement: bool) -> None:
    nothing = IndexList(5, BOOL, INDICES, None, np.False_)
    everything = Full(5, BOOL, None, np.True_, "cpu")
    assert simplified(Mask(nothing, False, complement)) is complement
    assert simplified(Mask(everything, False, complement)) is not complement
    assert simplified(Mask(everything, True, complement)) is not complement
    assert simplified(None) is True


def test_a_mask_of_one_nonzero_value_is_structural() -> None:
    store = IndexList(5, np.dtype(np.float64), INDICES, None, np.float64(np.nan))
    simple = simplified(Mask(store, False, True))
    assert isinstance(simple, Mask)
    assert (simple.structural, simple.complement, admitted_count(simple, 5)) == (True, True, 3)


def test_a_mask_of_values_stays_as_it_is() -> None:
    mask = Mask(IndexList(5, BOOL, INDICES, np.array([True, False])), False, False)
    assert simplified(mask) is mask
    assert admitted_count(mask, 5) == 5  # a bound


def test_sums_of_one_value() -> None:
    plus, least = sr.monoid.plus.typed(np.float64), sr.monoid.min.typed(np.float64)
    assert sum_value(plus, np.float64(2)) is None
    assert sum_value(plus, np.float64(0)) == 0
    assert np.isnan(sum_value(least, np.float64(np.nan)))
    assert binary_value(least.op, np.float64(1), None) is None
