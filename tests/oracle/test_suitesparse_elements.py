"""Random sequences of writes to single elements and reads of them, in SuiteSparse:GraphBLAS and here."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import semiring as sr
from tests import sampling

pytest.importorskip("graphblas", reason="python-graphblas is not installed")

from tests.oracle.test_suitesparse import assert_equal

pytestmark = pytest.mark.oracle

OPERATORS = ("plus", "minus", "times", "min", "max", "first", "second")
SEQUENCES, STEPS = 40, 80


def pair(gb: Any, rng: np.random.Generator, form: str, dtype: str) -> tuple[Any, Any]:
    """Return one object of both libraries, made of the same entries."""
    shape = tuple(rng.integers(1, 15, 1 if form == "vector" else 2).tolist())
    at = np.nonzero(rng.random(shape) < rng.choice([0.0, 0.3, 1.0]))
    values = (rng.integers(0, 2) if rng.random() < 0.3 else rng.integers(0, 5, at[0].size)) + np.zeros(at[0].size)
    sizes = {"size": shape[0]} if form == "vector" else {"nrows": shape[0], "ncols": shape[1]}
    name = "Vector" if form == "vector" else "Matrix"
    ours, theirs = (getattr(lib, name).from_coo(*at, values.astype(dtype), dtype, **sizes) for lib in (sr, gb))
    if form == "vector":
        ours.convert(str(rng.choice(["index", "bitmap", "full"] if ours.nvals == ours.size else ["index", "bitmap"])))
    return ours, theirs


def run_sequence(gb: Any, form: str, dtype: str, number: int) -> None:
    rng = np.random.default_rng([sampling.seed, number, form == "matrix", np.dtype(dtype).num])
    ours, theirs = pair(gb, rng, form, dtype)
    for _ in range(int(rng.integers(1, STEPS))):
        at: Any = tuple(int(rng.integers(size)) for size in ours.shape)
        at = at if form == "matrix" else at[0]
        name, action = OPERATORS[int(rng.integers(len(OPERATORS)))], rng.random()
        # There the type of the matrix alone determines the accumulator; here a float with integers makes it a float.
        fraction = rng.random() < 0.3 and (dtype == "float64" or action < 0.4)
        value: Any = 2.75 if fraction else int(rng.integers(4))
        for x, library in ((ours, sr), (theirs, gb)):
            accum = getattr(library.binary, name)
            if action < 0.4:
                x[at] = value
            elif action < 0.6:
                del x[at]
            elif action < 0.8:
                x(accum)[at] << value
            elif action < 0.9:
                x[at](accum) << value
        assert ours[at].value == theirs[at].new().value
        if action > 0.97:
            ours << ours.apply("identity")
            assert ours.nvals == theirs.nvals
            assert_equal(ours, theirs)
    assert_equal(ours, theirs)


@pytest.mark.parametrize("dtype", ["int64", "float64", pytest.param("int8", marks=pytest.mark.wide)])
@pytest.mark.parametrize("form", ["vector", "matrix"])
def test_sequences(form: str, dtype: str) -> None:
    gb = importlib.import_module("graphblas")
    gb.init("suitesparse", blocking=True)
    for number in range(2000 if sampling.exhaustive else SEQUENCES):
        run_sequence(gb, form, dtype, number)
