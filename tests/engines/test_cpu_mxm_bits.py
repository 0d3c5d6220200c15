"""Products whose rows are found word by word: the same entries, bit for bit, as one product after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.engines.cpu.mxm_bits import packed_rows, words_of

pytestmark = pytest.mark.one_process("kernels and plans are of parts")


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    """Kernels of the CPU engine, also where there is a GPU."""
    with sr.use("cpu"):
        yield


SPECIAL = np.array([-0.0, 0.0, np.inf, -np.inf, np.nan, 1.5, -2.0])


def drawn(rng: np.random.Generator, m: int, n: int, values: Any) -> Any:
    """A dense mask and values: rows of every length from none to all columns."""
    present = rng.random((m, n)) < rng.permutation(np.linspace(0, 1.05, m))[:, None] ** 2
    return present, rng.choice(values, (m, n))


def matrix(present: Any, values: Any) -> sr.Matrix:
    rows, columns = present.nonzero()
    return sr.Matrix.from_coo(rows, columns, values[rows, columns], shape=present.shape)


def product(a: Any, b: Any, add: Any, mult: Any) -> dict[tuple[int, int], Any]:
    """Each sum begins with its first product, and takes the others in the order of k."""
    made: dict[tuple[int, int], Any] = {}
    with np.errstate(all="ignore"):
        for i, k in zip(*a[0].nonzero(), strict=True):
            for j in b[0][k].nonzero()[0]:
                z = mult(a[1][i, k], b[1][k, j])
                made[i, j] = add(made[i, j], z) if (i, j) in made else z
    return made


@pytest.mark.parametrize("ncols", [1, 64, 65, 300])
@pytest.mark.parametrize("mask", ["none", "complement", "structure"])
@pytest.mark.parametrize(
    ("ring", "add", "dtype"),
    [
        ("plus_times", np.add, np.float64),
        pytest.param("min_times", np.fmin, np.float64, marks=pytest.mark.wide),
        pytest.param("plus_times", np.add, np.int8, marks=pytest.mark.wide),
        pytest.param("plus_times", np.add, np.float32, marks=pytest.mark.wide),
    ],
)
def test_products(ring: str, add: Any, dtype: Any, ncols: int, mask: str) -> None:
    rng = np.random.default_rng(ncols)
    values = (SPECIAL if np.dtype(dtype).kind == "f" else np.arange(-120, 120)).astype(dtype)
    a, b = drawn(rng, 30, 25, values), drawn(rng, 25, ncols, values)
    admitted = rng.random((30, ncols)) < 0.4
    M = matrix(admitted, admitted)
    given: Any = {"none": None, "complement": ~M.S, "structure": M.S}[mask]
    expected = product(a, b, add, np.multiply)
    if mask != "none":
        expected = {at: z for at, z in expected.items() if admitted[at] == (mask == "structure")}
    rows, columns, found = matrix(*a).mxm(matrix(*b), ring, mask=given).to_coo()
    assert list(zip(rows, columns, strict=True)) == sorted(expected)
    right = np.array([expected[at] for at in sorted(expected)], dtype)
    assert np.array_equal(found, right, equal_nan=found.dtype.kind == "f")
    if add is np.add:  # the least of 0 and -0 is either
        assert np.array_equal(np.signbit(found)[found == found], np.signbit(right)[right == right])


def test_a_monoid_whose_identity_is_not_neutral_for_all_values() -> None:
    """The largest of negative numbers is not the identity 0 that a user states."""
    largest = sr.monoid.register_anonymous(lambda x, y: x if x > y else y, identity=0)
    rng = np.random.default_rng(1)
    a, b = drawn(rng, 9, 8, np.arange(1, 5)), drawn(rng, 8, 70, -np.arange(1, 5))
    made = matrix(*a).mxm(matrix(*b), sr.semiring.register_anonymous(largest, sr.binary.times))
    rows, columns, values = made.to_coo()
    expected = product(a, b, max, np.multiply)
    assert dict(zip(zip(rows, columns, strict=True), values, strict=True)) == expected


def test_packed_rows() -> None:
    present = np.zeros((5, 130), bool)
    present[1, ::2] = present[3, [0, 64, 129]] = present[4, 63] = True
    indptr, indices, _ = matrix(present, present).to_csr()
    number, packed = packed_rows(indptr, indices, 130, 1000)
    assert number.tolist() == [-1, 0, -1, 1, -1]
    bits = np.unpackbits(packed.view(np.uint8), bitorder="little").reshape(2, -1)[:, :130]
    assert np.array_equal(bits, present[[1, 3]])
    assert packed.size == 2 * words_of(130)
    assert packed_rows(indptr, indices, 130, 11)[0].size == 0  # no row of the result has enough products
