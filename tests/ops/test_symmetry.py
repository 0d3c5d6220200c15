"""Symmetry: of the structure and of values, cached, and kept by operations that preserve it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from semiring import Matrix, Vector, binary
from semiring.ops import structure

rng = np.random.default_rng(3)
DENSE = np.where(rng.random((9, 9)) < 0.5, rng.integers(1, 5, (9, 9)), 0)
ORDER = [3, 1, 4, 0, 8, 2, 6, 7, 5]
KEPT: dict[str, Callable[[Matrix], Matrix]] = {
    "offdiag": lambda A: A.select("offdiag"),
    "diag": lambda A: A.select("diag"),
    "values": lambda A: A.select(">", 3),
    "permute": lambda A: A.permute(ORDER),
    "extract": lambda A: same_positions(A, ORDER[:5]),
    "extract, repeated": lambda A: same_positions(A, [2, 2, 7]),
}
NOT_KEPT: dict[str, Callable[[Matrix], Matrix]] = {
    "tril": lambda A: A.select("tril"),
    "offdiag of 1": lambda A: A.select("offdiag", 1),
    "extract": lambda A: A[[0, 1, 2], [1, 2, 3]],
    "permute": lambda A: A.permute(ORDER, sorted(ORDER)),
}


def same_positions(A: Matrix, positions: list[int]) -> Matrix:
    part: Matrix = A[positions, positions]
    return part


def symmetric() -> Matrix:
    A = Matrix.from_dense(DENSE, missing_value=0)
    S: Matrix = A.ewise_add(A.T, "max").dup()
    return S


@pytest.mark.parametrize("name", KEPT)
def test_symmetry_is_known_without_a_check(name: str) -> None:
    A = symmetric()
    assert A.is_symmetric
    made = KEPT[name](A).wait()
    assert structure.knows_symmetric(made.store, values=True)
    assert made.isequal(made.T.dup())


@pytest.mark.parametrize("name", NOT_KEPT)
def test_symmetry_is_not_assumed(name: str) -> None:
    A = symmetric()
    assert A.is_symmetric
    made = NOT_KEPT[name](A).wait()
    assert not structure.knows_symmetric(made.store, values=False)
    assert not made.is_symmetric


def test_values_are_compared() -> None:
    A = symmetric()
    B = A.ewise_mult(Vector.from_dense(np.arange(9)), binary.plus).wait()
    assert B.is_symmetric_structure
    assert not B.is_symmetric
    assert not structure.knows_symmetric(B.select(">", 4).wait().store, values=False)
    assert not Matrix(int, 2, 3).is_symmetric
    assert Matrix(int, 0, 0).is_symmetric
    assert A.apply("one").is_symmetric
    assert not Matrix.from_coo([0], [1], [2], shape=(2, 2)).is_symmetric


def test_a_change_is_a_matrix_of_its_own() -> None:
    A = symmetric()
    assert A.is_symmetric
    A[0, 1] = 77
    assert not A.is_symmetric
    A[1, 0] = 77
    assert A.is_symmetric
