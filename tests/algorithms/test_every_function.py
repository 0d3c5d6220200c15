"""Every function on every input: the result of the specification, or the documented error; in all storage kinds.

The inputs are those of `inputs`: structures from no vertex to complete graphs, values of every type, zeros, negative
numbers, infinities and NaN.  The specification is the reference engine; further properties need no second engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from semiring.exceptions import DimensionMismatch, InvalidValue
from tests import sampling
from tests.algorithms.calls import FUNCTIONS, calls, differences, outcome, reads_values
from tests.algorithms.inputs import INPUTS, STRUCTURES, VALUES, Structure, matrix

STORAGE_KINDS: dict[str, Callable[[Matrix], Matrix]] = {
    "packed": lambda A: A.compress("packed"),
    "varint": lambda A: A.compress("varint"),
    "hypersparse": lambda A: A.dup().convert("hypersparse"),
    "bitmap": lambda A: A.dup().convert("bitmap"),
    "pinned": lambda A: A.to(placement="pinned"),
    "host": lambda A: A.to(placement="host"),
    "packed-host": lambda A: A.compress("packed").to(placement="host"),
}
SAMPLE = sampling.draw("every function", FUNCTIONS, 1)
every_function = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=sampling.marks(name, SAMPLE, pytest.mark.wide)) for name in FUNCTIONS]
)


@pytest.fixture(autouse=True)
def kernels_for_few() -> None:
    """Run the kernels that users get: those of large operands take long to compile for every type."""


def sample(of: str, population: Iterable[Any], count: int) -> list[Any]:
    """All under --exhaustive, else a few, and more of them where no kernel takes long to compile."""
    return (
        list(population)
        if sampling.exhaustive
        else sampling.draw(of, population, count * (1 + 2 * (sampling.engine != "cpu")))
    )


def report(wrong: dict[str, str]) -> None:
    found = [f"{what}: {why}" for what, why in wrong.items() if why]
    assert not found, f"{len(found)} calls differ:\n" + "\n".join(found)


# Of a matrix of any shape: rows and columns may be two sets of vertices.
ANY_SHAPE = {
    "maximum_bipartite_matching", "adamic_adar", "common_neighbors", "cosine", "jaccard", "overlap",
    "resource_allocation",
}  # fmt: skip


@every_function
def test_the_result_of_the_specification(name: str) -> None:
    wrong = {}
    for structure, values in sample(f"inputs of {name}", INPUTS, 10):
        for call in calls(name):
            found = outcome(call, matrix(structure, values))
            with sr.use("reference"):
                expected = outcome(call, matrix(structure, values))
            wrong[f"{call} of {structure}, {values}"] = differences(call, found, expected)
    report(wrong)


@every_function
def test_no_graph(name: str) -> None:
    """Matrices that are not square, and other objects."""
    call = calls(name)[0]
    if name not in ANY_SHAPE:
        for shape in ((2, 3), (3, 2), (0, 1)):
            with pytest.raises(DimensionMismatch, match=f"{name}: .*square"):
                call(Matrix(bool, *shape))
    for other in (np.eye(3), "graph.mtx", None, 3, [[0, 1]]):
        with pytest.raises(InvalidValue, match=f"{name}: expected a Matrix.*make one with"):
            FUNCTIONS[name](other, **dict.fromkeys(call.given, 0))


@every_function
def test_the_argument_is_unchanged_and_the_result_repeats(name: str) -> None:
    wrong = {}
    for structure, values in sample(f"repeats of {name}", [("undirected-loops", "int64"), ("acyclic", "shares")], 2):
        A, before = matrix(structure, values), matrix(structure, values)
        for call in calls(name):
            first, second = outcome(call, A), outcome(call, A)
            wrong[f"{call} of {structure}, {values}"] = differences(call, second, first)
        assert A.isequal(before, check_dtype=True)
    report(wrong)


@every_function
def test_every_storage_kind(name: str) -> None:
    """Compressed, dense and listed rows, in memory of the device and of the host, whole and in slices."""
    wrong = {}
    graphs = [("undirected-loops", "shares"), ("directed", "int64"), ("acyclic", "float32"), ("no-edges", "true")]
    for kind in sample(f"storage kinds of {name}", STORAGE_KINDS, 2):
        for structure, values in graphs:
            for call in calls(name):
                expected = outcome(call, matrix(structure, values))
                found = outcome(call, STORAGE_KINDS[kind](matrix(structure, values)))
                wrong[f"{call} of {structure}, {values}, {kind}"] = differences(call, found, expected)
    report(wrong)


@every_function
def test_values_that_are_not_read(name: str) -> None:
    """Where the documentation says so, the result is the same for values of any type, NaN and zeros included."""
    if reads_values(name):
        pytest.skip("reads the values")
    call, wrong = calls(name)[0], {}
    for structure in sample(f"structures of {name}", STRUCTURES, 3):
        expected = outcome(call, matrix(structure))
        for values in VALUES:
            found = outcome(call, matrix(structure, values))
            if re.search("values are kept", FUNCTIONS[name].__doc__ or ""):
                assert _places(found) == _places(expected)
                continue
            wrong[f"{call} of {structure}, {values}"] = differences(call, found, expected)
    report(wrong)


@pytest.mark.costly
@every_function
def test_numbers_of_every_type(name: str) -> None:
    """The same weights as integers of 8 bits and as floats give the same numbers: no sum wraps around."""
    if name == "widest_paths":
        pytest.skip("the source has the greatest number of the type")
    wrong = {}
    for structure in sample(f"numbers of {name}", STRUCTURES, 3):
        for call in calls(name):
            expected = outcome(call, matrix(structure, "uint8", dtype=np.float64))
            for dtype in (np.uint8, np.int16, np.uint64, np.float32):
                found = outcome(call, matrix(structure, "uint8", dtype=dtype))
                wrong[f"{call} of {structure}, {np.dtype(dtype)}"] = differences(call, found, expected, types=False)
    report(wrong)


def _places(found: Any) -> Any:
    """An outcome without values."""
    return [[place.tolist() for place in part[2]] for part in found.values()] if isinstance(found, dict) else found


def test_the_structures() -> None:
    """They are what their names say."""
    for name, structure in STRUCTURES.items():
        arcs = set(zip(structure.rows.tolist(), structure.columns.tolist(), strict=True))
        both = {(v, u) for u, v in arcs} == arcs
        assert both == (name not in ("directed", "directed-loops", "acyclic")), name
        assert isinstance(structure, Structure)
