"""Products with the transpose of a matrix whose rows all have offsets, and whose transpose lists its rows."""

from __future__ import annotations

import pytest

import semiring as sr
from semiring import Matrix, Vector

pytestmark = pytest.mark.one_process("formats, codecs and placements are of parts")

N = 1 << 20
ROWS, COLUMNS, VALUES = [5, N - 1, 7], [9, 3, N - 2], [1.0, 2.0, 3.0]


def nearly_empty() -> Matrix:
    A = Matrix.from_coo(ROWS, COLUMNS, VALUES, shape=(N, N)).convert("csr")
    assert A.format == "csr"
    return A


@pytest.mark.parametrize("direction", ["push", "pull", "auto"])
@pytest.mark.parametrize("op", ["plus_times", "any_pair"])
def test_a_product_with_a_vector(direction: str, op: str) -> None:
    u = Vector.full(2.0, N)
    expected = dict(zip(COLUMNS, [2 * x for x in VALUES] if op == "plus_times" else [1.0] * 3, strict=True))
    with sr.config.set(direction=direction):
        for found in (u.vxm(nearly_empty(), op), nearly_empty().T.mxv(u, op)):
            assert found.to_dict() == expected


@pytest.mark.parametrize("masked", [False, True])
def test_products_of_matrices(masked: bool) -> None:
    def product(A: Matrix, B: Matrix, C: Matrix) -> dict[int, dict[int, float]]:
        return A.mxm(B, mask=C.S if masked else None).to_dicts()

    B = nearly_empty()
    D = Matrix.from_coo(ROWS, ROWS, True, shape=(N, N)).convert("csr")
    E = Matrix.from_coo(COLUMNS, COLUMNS, True, shape=(N, N)).convert("csr")
    squares = [x * x for x in VALUES]
    assert product(B, B.T, D) == {i: {i: x} for i, x in zip(ROWS, squares, strict=True)}
    assert product(B.T, B, E) == {j: {j: x} for j, x in zip(COLUMNS, squares, strict=True)}
    assert product(B.T, nearly_empty().T, D) == {}
