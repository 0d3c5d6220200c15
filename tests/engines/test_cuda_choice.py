"""Products whose direction the device chooses: the same result as either forced direction, and no wait for counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

cupy = pytest.importorskip("cupy")

import semiring as sr  # noqa: E402
from semiring.config import config  # noqa: E402
from semiring.formats import Bitmap, Count, word_count  # noqa: E402
from semiring.memory.arrays import Transfers  # noqa: E402

pytestmark = pytest.mark.gpu

SIZE = 5000


@pytest.fixture
def on_the_gpu() -> Iterator[None]:
    with config.set(device="cuda"):
        yield


def skewed(seed: int, codec: str | None) -> sr.Matrix:
    """A matrix of rows of very different lengths, with its transpose at hand."""
    rng = np.random.default_rng(seed)
    rows, cols = (SIZE * rng.random((2, 12 * SIZE)) ** 3).astype(np.int64)
    A = sr.Matrix.from_coo(rows, cols, rng.integers(1, 9, rows.size), nrows=SIZE, ncols=SIZE, dup_op="any")
    if codec is not None:
        A = A.compress(codec)
    A.T.mxv(sr.Vector.full(1, SIZE), "any_pair").wait()  # computes the transpose
    return A


def vector(seed: int, present: int, known: bool) -> sr.Vector:
    """A bitmap with about so many entries, whose number may be on the device alone."""
    rng = np.random.default_rng(seed)
    bits = np.zeros(32 * word_count(SIZE), np.uint8)
    bits[rng.choice(SIZE, present, replace=False)] = 1
    words = cupy.asarray(np.packbits(bits, bitorder="little").view(np.uint32))
    values = cupy.asarray(rng.integers(1, 9, SIZE))
    count: Any = present if known else cupy.asarray(np.array([present]))
    made = sr.Vector(np.int64, SIZE)
    made._become(Bitmap(SIZE, np.dtype(np.int64), words, values, None, Count(count)))
    return made


@pytest.mark.usefixtures("on_the_gpu")
@pytest.mark.parametrize("codec", [None, "varint", "packed"])
@pytest.mark.parametrize("semiring", ["any_pair", "any_secondi", "lor_land", "any_second"])
@pytest.mark.parametrize("known", [True, False])
def test_both_directions_and_the_choice_agree(codec: str | None, semiring: str, known: bool) -> None:
    A = skewed(1, codec)
    if semiring == "lor_land":
        A = A.apply("one").dup(bool)
        A.T.mxv(sr.Vector.full(True, SIZE), "any_pair").wait()
    directions = set()
    for number, present in enumerate((0, 1, 3, 20, 60, 300, 311, 313, 900, SIZE)):
        u = vector(number, present, known)
        if semiring == "lor_land":
            u = u.dup(bool)
        mask = vector(100 + number, (10, 2500, 4990)[number % 3], number % 2 == 0)
        for limit in (None, mask.S, ~mask.S, ~mask.V):
            results = []
            for direction in ("push", "pull"):
                with sr.config.set(direction=direction):
                    results.append(A.mxv(u, semiring, mask=limit))
            with sr.explain() as log:
                chosen = A.mxv(u, semiring, mask=limit)
                chosen.wait()
            directions |= {call.details["direction"] for call in log if call.operation == "mxv"}
            assert chosen.apply("one").isequal(results[0].apply("one"))
            assert chosen.apply("one").isequal(results[1].apply("one"))
            assert chosen.nvals == results[0].nvals  # counted by whichever kernel ran
            if not semiring.startswith("any_second"):  # `any` may keep any of several values
                assert chosen.isequal(results[0])
            elif chosen.nvals:
                legal = A.mxv(u, "min" + semiring[3:]), A.mxv(u, "max" + semiring[3:])
                assert chosen.ewise_mult(legal[0], ">=").reduce("land").value
                assert chosen.ewise_mult(legal[1], "<=").reduce("land").value
    assert directions == {"push", "pull"}


@pytest.mark.usefixtures("on_the_gpu")
def test_nothing_waits_for_counts_that_are_on_the_device() -> None:
    A, mask = skewed(2, None), vector(7, 2500, known=False)
    for _ in range(2):  # the first call reads the longest row, a fact of the pattern
        u = vector(8, 100, known=False)
        before = Transfers.copies
        made = A.mxv(u, "any_pair", mask=~mask.S)
        assert made.store.format == "bitmap"
    assert Transfers.copies == before
    assert made.isequal(A.mxv(u, "any_pair").dup(mask=~mask.S))
