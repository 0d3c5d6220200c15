"""The argument `weight` of every function that has it: None, a switch, or a field of records."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from semiring.exceptions import InvalidValue
from tests.algorithms.calls import FUNCTIONS, Call, calls, differences, outcome
from tests.algorithms.inputs import STRUCTURES, matrix

WEIGHTED = [name for name, function in FUNCTIONS.items() if "weight" in inspect.signature(function).parameters]
ROAD = np.dtype([("km", np.float64), ("lanes of a road", np.int32)])


@pytest.fixture(autouse=True)
def specification() -> Iterator[None]:
    """What an argument means is decided above the engines."""
    with sr.use("reference"):
        yield


def records(structure: str) -> Matrix:
    rows, columns, n = made = STRUCTURES[structure]
    values = np.zeros(rows.size, ROAD)
    values["km"], values["lanes of a road"] = made.weights / 2, made.weights
    return Matrix.from_coo(rows, columns, values, nrows=n, ncols=n)


def call_with(name: str, weight: Any) -> Call:
    return Call(name, {**calls(name)[0].given, "weight": weight})


def test_all_have_one_name_and_one_default() -> None:
    assert len(WEIGHTED) == 26
    for name, function in FUNCTIONS.items():
        parameters = inspect.signature(function).parameters
        assert not {"weights", "weighted"} & set(parameters), name
        if name in WEIGHTED:
            assert parameters["weight"].default is None, name


@pytest.mark.costly
@pytest.mark.parametrize("name", WEIGHTED)
def test_a_field_is_the_matrix_of_its_values(name: str) -> None:
    A = records("undirected")
    for field, values in (("km", "float64"), ("lanes of a road", "int64")):
        plain = matrix("undirected", values, dtype=ROAD[field])
        expected = outcome(call_with(name, True), plain)
        call = call_with(name, field)
        assert not differences(call, outcome(call, A), expected)
    for nothing in (None, False):
        call = call_with(name, nothing)
        assert not differences(call, outcome(call, A), outcome(call, matrix("undirected")))


@pytest.mark.parametrize("name", WEIGHTED)
def test_no_field(name: str) -> None:
    A = records("undirected")
    with pytest.raises(InvalidValue, match=f"^{name}: weight='miles' must be a field of the values, which are .*km"):
        call_with(name, "miles")(A)
    with pytest.raises(InvalidValue, match=f"^{name}: weight='km' must be a field of the values, which are int64"):
        call_with(name, "km")(matrix("undirected", "int64"))
    with pytest.raises(InvalidValue, match=f"^{name}: weight is None, True or the name of a field, got 1$"):
        call_with(name, 1)(A)
