"""Counts and sums of a small type do not wrap: int64, uint64 or float64; a requested type is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from semiring import Matrix, Vector, agg, monoid, semiring
from semiring.dtypes import ALL, ORDERED, lookup, widest

COUNTING = ("pair", "oneb", "iseq", "isne", "isgt", "isge", "islt", "isle")
KINDS = {"b": np.int64, "i": np.int64, "u": np.uint64, "f": np.float64, "c": np.complex128}


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_the_widest_type_of_a_kind(dtype: Any) -> None:
    assert widest(dtype) == KINDS[dtype.kind]


@pytest.mark.parametrize("mult", COUNTING)
@pytest.mark.parametrize("dtype", ORDERED, ids=str)
def test_a_semiring_that_counts_has_the_widest_type(mult: str, dtype: Any) -> None:
    family = getattr(semiring, f"plus_{mult}")
    assert family.typed(dtype).z == family.typed(dtype, dtype).z == widest(dtype)
    assert family[dtype].z == (np.int64 if dtype.kind == "b" else dtype)  # booleans have no plus of their own


def test_operands_of_two_types_count_in_the_widest_of_both() -> None:
    assert semiring.plus_pair.typed("int8", "uint8").z == np.int64
    assert semiring.plus_pair.typed(bool, "uint8").z == np.uint64
    assert semiring.plus_pair.typed("uint8", "float32").z == np.float64


@pytest.mark.parametrize("name", ["plus_times", "plus_first", "plus_plus", "max_pair", "any_pair", "times_pair"])
def test_what_does_not_count_keeps_its_type(name: str) -> None:
    assert getattr(semiring, name).typed("int8").z == np.int8


@pytest.mark.costly
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool])
def test_three_hundred_products_are_three_hundred(dtype: type) -> None:
    row = Matrix.from_coo([0] * 300, range(300), np.ones(300, dtype), shape=(1, 300))
    ones = Vector.full(1, 300, dtype)
    assert row.mxm(row.T, "plus_pair")[0, 0].value == 300
    assert row.mxv(ones, "plus.pair")[0].value == 300
    assert ones.vxm(row.T, semiring.plus_oneb)[0].value == 300
    assert ones.inner(ones, "plus_pair").value == 300
    assert ones.inner(ones, "plus_iseq").value == 300


def test_a_requested_type_wraps() -> None:
    ones = Vector.full(1, 300, np.int8)
    for typed in (semiring.plus_pair[np.int8], "plus_pair[int8]"):
        found = ones.inner(ones, typed)
        assert (found.dtype, found.value) == (np.int8, 44)


SMALL = np.array([100, 100, -128], np.int8)
WIDE = SMALL.astype(float)
SUMS: dict[str, Any] = {
    "sum": 72, "prod": -1_280_000, "sum_of_squares": 36_384, "mean": 24.0, "L1norm": 328, "Linfnorm": 128,
    "peak_to_peak": 228, "hypot": np.linalg.norm(WIDE), "L2norm": np.linalg.norm(WIDE),
    "root_mean_square": np.sqrt((WIDE**2).mean()), "varp": WIDE.var(), "vars": WIDE.var(ddof=1),
    "stdp": WIDE.std(), "stds": WIDE.std(ddof=1), "sum_of_inverses": (1 / WIDE).sum(),
    "harmonic_mean": 3 / (1 / WIDE).sum(),
}  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize("name", SUMS)
def test_an_aggregator_of_a_small_type_does_not_wrap(name: str) -> None:
    found = Vector.from_dense(SMALL).reduce(name)
    assert found.value == pytest.approx(SUMS[name], rel=1e-12)
    assert found.dtype.itemsize == 8


def test_rows_are_summed_alike() -> None:
    A = Matrix.from_coo([0, 0, 0, 1], [0, 1, 2, 0], np.array([100, 100, -128, 5], np.int8), shape=(2, 3))
    assert A.reduce_rowwise("sum_of_squares").to_dict() == {0: 36_384, 1: 25}
    assert A.reduce_columnwise(agg.sum).dtype == np.int64
    assert A.reduce_scalar("sum").value == 77


@pytest.mark.parametrize("dtype", ORDERED, ids=str)
def test_types_of_aggregators(dtype: Any) -> None:
    for name in ("sum", "prod", "sum_of_squares", "L1norm", "peak_to_peak"):
        assert getattr(agg, name).typed(dtype).dtype == widest(dtype), name
    for name in ("count", "count_nonzero", "count_zero", "L0norm", "exists"):
        assert getattr(agg, name).typed(dtype).dtype == np.int64, name
    for name in ("mean", "varp", "stds", "hypot", "L2norm", "geometric_mean"):
        assert getattr(agg, name).typed(dtype).dtype == np.float64, name
    for name in ("min", "max", "any_value"):
        assert getattr(agg, name).typed(dtype).dtype == dtype, name


def test_the_sum_of_float32_is_that_of_float64() -> None:
    many = Vector.from_dense(np.array([2.0**24, 1, 1], np.float32))
    assert many.reduce("sum").value == 2**24 + 2
    assert many.reduce(agg.mean).value == (2**24 + 2) / 3


def test_a_monoid_keeps_its_type_and_python_sum_is_the_aggregator() -> None:
    v = Vector.from_dense(np.array([100, 100], np.int8))
    assert (v.reduce("plus").dtype, v.reduce(monoid.plus).value) == (np.int8, -56)
    assert v.reduce(sum).value == 200
    assert v.diag().reduce_rowwise(sum).dtype == lookup(int)
