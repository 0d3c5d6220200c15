"""Every parameter of every function with values of every kind: a result or the documented error, never another one."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from semiring import Matrix, Vector
from semiring.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue, SemiringError
from tests import sampling
from tests.algorithms.calls import FUNCTIONS, Call, calls, differences, outcome
from tests.algorithms.inputs import matrix

N = 8


def strange() -> dict[str, Any]:
    """Values of every kind, some of which are right for some parameter."""
    return {
        "minus one": -1,
        "a half": 0.5,
        "2.5": 2.5,
        "NaN": float("nan"),
        "infinity": float("inf"),
        "an integer of NumPy": np.uint8(1),
        "zero": 0,
        "true": True,
        "none": None,
        "a word": "word",
        "an object": object(),
        "an empty list": [],
        "a list": [0, 1],
        "a nested list": [[0, 1], [1, 0]],
        "a list of fractions": [0.5],
        "a list with the last vertex": [0, N],
        "2^70": 2**70,
        "an array": np.array([0, 1]),
        "an array of no axis": np.array(1),
        "a Vector": Vector.from_dense(np.arange(N)),
        "a Vector with missing entries": Vector.from_coo([1, 3], [1, 3], size=N),
        "a Vector of NaN": Vector.full(float("nan"), N),
        "a Vector of zeros": Vector.full(0.0, N),
        "a Vector of words": Vector.full(1j, N),
        "a Vector of another size": Vector.from_dense(np.arange(3)),
        "a mapping": {1: 2, 3: 1},
        "an empty mapping": {},
        "a mapping of another vertex": {N: 1},
        "a mapping of words": {"word": 1, 0: "word"},
        "a set": {0, 1},
        "a Matrix": Matrix.identity(N),
        "a Matrix of another shape": Matrix(bool, 2, 3),
    }


# Parameters that bound the number of steps: a large number is a long computation, not an error.
STEPS = ("length", "max_iter", "max_depth", "radius", "k", "expansion", "partitions", "rounds")
OF_VERTICES = ("source", "target", "u", "v")
SAMPLE = sampling.draw("every parameter", FUNCTIONS, 1)
PARAMETERS = [
    pytest.param(name, parameter, id=f"{name}-{parameter}", marks=sampling.marks(name, SAMPLE, pytest.mark.wide))
    for name, function in FUNCTIONS.items()
    for parameter in inspect.signature(function).parameters
    if parameter != "A"
]


def call_with(name: str, parameter: str, value: Any) -> Call:
    given = calls(name)[0].given
    return Call(name, {**given, parameter: value if not callable(value) else lambda A: value})


def is_switch(name: str, parameter: str) -> bool:
    """Whether the parameter is read for its truth, which arrays and matrices lack."""
    return "bool" in str(inspect.signature(FUNCTIONS[name]).parameters[parameter].annotation)


@pytest.mark.costly
@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
@pytest.mark.parametrize("structure", ["undirected-loops", "acyclic"])
def test_any_value(name: str, parameter: str, structure: str) -> None:
    A, wrong = matrix(structure, "int64"), []
    for what, value in strange().items():
        if (parameter in STEPS and what == "2^70") or (is_switch(name, parameter) and np.ndim(value)):
            continue
        if parameter == "progress" and callable(value):
            continue
        try:
            outcome(call_with(name, parameter, value), A)
        except AssertionError as undocumented:
            wrong.append(f"{what}: {undocumented}")
        except Exception as other:
            wrong.append(f"{what}: {type(other).__name__}: {other}")
    assert not wrong, f"{name}, {parameter}:\n" + "\n".join(wrong)


@pytest.mark.parametrize(("name", "parameter"), [p for p in PARAMETERS if p.values[1] in OF_VERTICES])
def test_a_vertex_is_a_row_number(name: str, parameter: str) -> None:
    A = matrix("bipartite", "shares")
    for vertex in (-1, N, -(2**70), 2**70, np.int8(-1), np.uint64(N)):
        with pytest.raises(IndexOutOfBound, match=f"{name}: .*out of bounds"):
            call_with(name, parameter, vertex)(A)
    for other in (True, np.bool_(True), 1.0, np.float64(1), "1"):
        with pytest.raises(InvalidValue, match=f"{name}: .*row number"):
            call_with(name, parameter, other)(A)
    expected = outcome(call_with(name, parameter, 1), A)
    for same in (np.int8(1), np.uint64(1), np.array(1)):
        call = call_with(name, parameter, same)
        assert not differences(call, outcome(call, A), expected)


@pytest.mark.parametrize(("name", "parameter"), [p for p in PARAMETERS if p.values[1] == "seed"])
def test_a_seed(name: str, parameter: str) -> None:
    A = matrix("bipartite", "shares")
    for other in (1.5, True, "1", None, 2**63, -(2**63) - 1):
        with pytest.raises(InvalidValue, match=f"{name}: seed must be an integer"):
            call_with(name, "seed", other)(A)
    for seed in (-(2**63), -1, 2**63 - 1, np.int32(7)):
        first, second = (outcome(call_with(name, "seed", seed), A) for _ in range(2))
        assert not differences(call_with(name, "seed", seed), first, second)


class Stop(Exception):
    """Raised by a function of progress."""


@pytest.mark.parametrize(("name", "parameter"), [p for p in PARAMETERS if p.values[1] == "progress"])
@pytest.mark.parametrize("structure", ["bipartite", "acyclic"])
def test_progress(name: str, parameter: str, structure: str) -> None:
    """Called with whole numbers up to the total; an exception in it ends the computation; None is the default."""
    A, given = matrix(structure, "shares"), calls(name)[0].given
    seen: list[tuple[Any, Any]] = []

    def note(done: int, total: int | None) -> None:
        seen.append((done, total))

    def stop(done: int, total: int | None) -> None:
        raise Stop

    try:
        Call(name, {**given, "progress": lambda A: note})(A)
    except SemiringError:
        return  # not defined on such a graph
    assert all(type(done) is int and (total is None or type(total) is int) for done, total in seen), seen
    # A computation with nothing to do is reported once, with 0.
    assert all(total is None or 0 <= done <= total for done, total in seen), seen
    assert len(seen) == 1 or all(done > 0 for done, _ in seen), seen
    if seen:
        with pytest.raises(Stop):
            Call(name, {**given, "progress": lambda A: stop})(A)
    for other in (5, "bar", [print]):
        with pytest.raises(InvalidValue, match=f"{name}: progress must be a function"):
            call_with(name, "progress", other)(A)


@pytest.mark.parametrize(("name", "parameter"), [p for p in PARAMETERS if p.values[1] in ("start", "labels", "beta")])
def test_a_vector_of_another_size(name: str, parameter: str) -> None:
    with pytest.raises(DimensionMismatch, match=f"{name}: .*size 3"):
        call_with(name, parameter, Vector.full(1, 3))(matrix("bipartite"))
