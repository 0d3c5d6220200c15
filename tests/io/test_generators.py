"""Generated graphs: their shapes, their structure, and the arguments that generators refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.exceptions import InvalidValue


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with sr.use("cpu"):
        yield


def test_kronecker_is_a_graph500_graph() -> None:
    A = sr.random.kronecker(10, seed=3)
    S = sr.io.to_scipy_sparse(A)
    assert A.shape == (1024, 1024)
    assert A.is_iso
    assert (S != S.T).nnz == 0
    assert S.diagonal().sum() == 0
    assert 15_000 < A.nvals < 32_768
    assert sr.random.kronecker(10, seed=3).isequal(A)
    assert not sr.random.kronecker(10, seed=4).isequal(A)
    W = sr.random.kronecker(10, seed=3, weights="uniform")
    S = sr.io.to_scipy_sparse(W)
    assert W.dtype == np.int32
    assert (S != S.T).nnz == 0
    assert (S.data.min(), S.data.max()) == (1, 255)


def test_other_generators() -> None:
    assert sr.random.rmat(4, 2, seed=1).shape == (16, 16)
    assert sr.random.uniform(100, 3, seed=1).is_symmetric_structure
    assert sr.random.star(4).nvals == 8
    assert sr.random.grid3d(2, 3, 4).nvals == 2 * (1 * 3 * 4 + 2 * 2 * 4 + 2 * 3 * 3)
    assert sr.random.path(1).nvals == 0
    assert sr.random.uniform(0).shape == (0, 0)
    assert sr.random.rmat(0).shape == (1, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sr.random.rmat(32), "scale: expected 0 to 31"),
        (lambda: sr.random.rmat(3, a=0.9, b=0.9), "probabilities"),
        (lambda: sr.random.rmat(3, -1), "edge_factor"),
        (lambda: sr.random.kronecker(3, weights="normal"), "weights"),
        (lambda: sr.random.path(-1), "side"),
    ],
)
def test_generators_refuse_what_makes_no_sense(call: Any, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        call()


def test_generators_name_their_keyword_arguments() -> None:
    uniform: Any = sr.random.uniform
    with pytest.raises(TypeError, match=r"uniform: expected n and edge_factor by position and seed= .*; got 3"):
        uniform(10, 10, 0.5)


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("kronecker", (10,), {"seed": 3, "weights": "uniform"}),
        ("rmat", (0,), {}),
        ("rmat", (9, 5), {"seed": -1, "a": 0.3, "symmetric": True}),
        ("rmat", (8, 3), {"loops": False, "permute": True}),
        ("rmat", (16,), {}),  # as many keys as the radix sort of the GPU is used for
        ("uniform", (0,), {}),
        ("uniform", (1,), {}),
        ("uniform", (777, 5), {"weights": "uniform"}),
        ("uniform", (5000, 300), {"symmetric": False, "loops": True}),
        ("grid2d", (0, 3), {}),
        ("grid2d", (31, 20), {}),
        ("grid3d", (7, 1, 12), {}),
        ("path", (3000,), {}),
        ("star", (0,), {}),
        ("star", (1000,), {}),
    ],
)
def test_graphs_are_equal_on_every_engine(
    engine: str, name: str, arguments: tuple[int, ...], options: dict[str, Any]
) -> None:
    generator = getattr(sr.random, name)
    expected = generator(*arguments, **options)
    with sr.use(engine):
        A = generator(*arguments, **options)
        assert A.is_iso == expected.is_iso
        assert A.is_symmetric_structure == expected.is_symmetric_structure
        made = A.to("cpu")
    for array, other in zip(made.to_csr(index_dtype=None), expected.to_csr(index_dtype=None), strict=True):
        assert array.dtype == other.dtype
        np.testing.assert_array_equal(array, other)


def test_progress_is_reported() -> None:
    steps: list[tuple[str, float]] = []
    sr.random.uniform(50, progress=lambda *step: steps.append(step))
    assert steps == [("drawing edges", 1.0), ("sorting edges", 0.0)]
