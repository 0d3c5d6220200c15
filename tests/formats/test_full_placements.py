"""Full matrices in pinned and in host memory: every operation has the result that it has in device memory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.formats import PLACEMENTS
from tests import sampling
from tests.formats.test_full import KINDS, OPERATIONS, SHAPE, assert_alike, fixed, full, some_rows
from tests.storage_kinds import small_slices

pytestmark = pytest.mark.one_process("formats, codecs and placements are of parts")

OTHERS = [placement for placement in PLACEMENTS if placement != "device"]
CASES = list(product(OPERATIONS, KINDS, OTHERS))
SAMPLE = sampling.draw("full placements", CASES, 20)


@pytest.mark.parametrize(
    ("name", "kind", "placement"), [pytest.param(*c, marks=sampling.marks(c, SAMPLE)) for c in CASES]
)
def test_operations(name: str, kind: str, placement: str) -> None:
    a = KINDS[kind]()
    moved = a.to(placement=placement)
    assert (moved.format, moved.placement) == ("full", placement)
    expected = OPERATIONS[name](a)
    assert_alike(OPERATIONS[name](moved), expected)
    with small_slices(10):
        assert_alike(OPERATIONS[name](KINDS[kind]().to(placement=placement)), expected)
    assert (moved.format, moved.placement) == ("full", placement)


def with_fifteen_rows() -> Matrix:
    return Matrix.from_dense(np.arange(15 * SHAPE[0]).reshape(15, SHAPE[0]) % 5 - 2.0)


# Products of operands X, Y in some placement and of a mask M of the shape of the result.
PRODUCTS: dict[str, tuple[Callable[[], Matrix], Callable[[], Matrix], bool]] = {
    "sparse full": (lambda: fixed()[:, :5].new(), full, False),
    "full sparse": (with_fifteen_rows, fixed, False),
    "full full": (with_fifteen_rows, full, False),
    "full full'": (full, some_rows, True),
    "full sparse'": (full, fixed, True),
}


MOVED = [case for case in product(PRODUCTS, PLACEMENTS, PLACEMENTS) if case[1:] != ("device", "device")]
MOVED_SAMPLE = sampling.draw("products of placed full matrices", MOVED, 12)


@pytest.mark.parametrize(
    ("name", "first", "second"), [pytest.param(*case, marks=sampling.marks(case, MOVED_SAMPLE)) for case in MOVED]
)
def test_products(name: str, first: str, second: str) -> None:
    left, right, transposed = PRODUCTS[name]
    x, y = left(), right()
    shape = x.nrows, y.nrows if transposed else y.ncols
    mask = Matrix.from_coo([0, 1, 1, 4], [1, 0, 2, 4], [1, 0, 1, 1], shape=shape)
    with small_slices(12):
        p, q = x.to(placement=first), y.to(placement=second)
        for ring in ("plus_times", "any_firsti") if sampling.exhaustive else ("plus_times",):
            for masked in (None, mask.S, ~mask.V, mask.to(placement=first).V):
                made = p.mxm(q.T if transposed else q, ring, mask=masked)
                expected = x.mxm(y.T if transposed else y, ring, mask=masked)
                assert made.new().isequal(expected.new(), check_dtype=True)
                assert made.reduce_scalar("max").value == expected.reduce_scalar("max").value


@pytest.mark.costly
@pytest.mark.parametrize("placement", OTHERS)
def test_vectors_and_writes(placement: str) -> None:
    a = full().to(placement=placement)
    u, v = Vector.from_dense(np.arange(float(SHAPE[1]))), Vector.from_coo([1, 3], [2.0, 1.0], size=SHAPE[0])
    for direction in ("auto", "push", "pull"):
        with sr.config.set(direction=direction), small_slices(10):
            assert a.mxv(u).isequal(full().mxv(u))
            assert v.vxm(a, "min_plus").isequal(v.vxm(full(), "min_plus"))
            assert a.T.mxv(v).isequal(full().T.mxv(v))
    c: Any = fixed().to(placement=placement)
    c(accum="plus") << a
    assert c.isequal(full().ewise_add(fixed(), "plus"))
