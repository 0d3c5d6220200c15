"""Elementwise operations and extraction on rows of very different lengths, which kernels process in different ways."""

from __future__ import annotations

import numpy as np
import pytest

from semiring.engines import registry
from semiring.engines.requests.operands import Index
from semiring.engines.requests.operations import Ewise, ExtractMatrix, Select
from semiring.formats import CSR, Pattern
from semiring.operators.expression import Expression
from semiring.operators.types import TypedBinary, TypedIndexUnary

I8 = np.dtype(np.int64)
MINUS = TypedBinary("minus", I8, I8, I8, Expression("x - y"))
NCOLS = 900


def matrix(rows: list[np.ndarray], seed: int) -> CSR:
    """A matrix with these columns in each row and random values."""
    indptr = np.concatenate(([0], np.cumsum([row.size for row in rows]))).astype(np.int32)
    indices = np.concatenate(rows).astype(np.int32)
    values = np.random.default_rng(seed).integers(1, 100, indices.size)
    return CSR(Pattern(len(rows), NCOLS, indptr, indices), I8, values)


def operands() -> tuple[CSR, CSR]:
    """Pairs of rows: either is empty, few in many, a prefix, equal, in turns, apart, and random."""
    rng = np.random.default_rng(0)
    every, none, few = np.arange(NCOLS), np.array([], np.int64), np.array([0, 7, 450, 899])
    half, other = (np.flatnonzero(rng.random(NCOLS) < 0.5) for _ in range(2))
    pairs = [(none, every), (few, every), (few, half), (half[:100], half), (half, half), (every[::2], every[1::2])]
    pairs += [(every[:400], every[400:]), (half, other), (none, none), (half[100:], half)]
    pairs += [(right, left) for left, right in pairs]
    return matrix([left for left, _ in pairs], 1), matrix([right for _, right in pairs], 2)


def dense(a: CSR) -> tuple[np.ndarray, np.ndarray]:
    """The values, zero where absent, and the presence."""
    values, present = np.zeros((a.nrows, a.ncols), np.int64), np.zeros((a.nrows, a.ncols), np.bool_)
    rows = np.repeat(np.arange(a.nrows), np.diff(a.indptr))
    values[rows, a.indices], present[rows, a.indices] = a.values, True
    for i in range(a.nrows):
        assert (np.diff(a.indices[a.indptr[i] : a.indptr[i + 1]]) > 0).all()
    return values, present


@pytest.mark.parametrize("mode", ["intersect", "union", pytest.param("fill", marks=pytest.mark.wide)])
def test_rows_of_any_lengths_combine(mode: str) -> None:
    a, b = operands()
    filled = mode == "fill"
    c = registry.run(Ewise(a, b, MINUS, mode, np.int64(5) if filled else None, np.int64(7) if filled else None), "cpu")
    (x, left), (y, right) = dense(a), dense(b)
    values, present = dense(c)
    np.testing.assert_array_equal(present, left & right if mode == "intersect" else left | right)
    alone = np.where(left, x - 7, 5 - y) if filled else np.where(left, x, y)
    np.testing.assert_array_equal(values, np.where(present, np.where(left & right, x - y, alone), 0))


def test_many_entries_are_selected_and_renumbered() -> None:
    a, _ = operands()
    x, left = dense(a)
    over = registry.run(
        Select(a, TypedIndexUnary("valuegt", I8, I8, np.dtype(np.bool_), Expression("x > k")), np.int64(50)), "cpu"
    )
    values, present = dense(over)
    np.testing.assert_array_equal(present, left & (x > 50))
    np.testing.assert_array_equal(values, np.where(x > 50, x, 0))
    chosen = np.flatnonzero(np.random.default_rng(3).random(NCOLS) < 0.3)
    c = registry.run(ExtractMatrix(a, Index(a.nrows, a.nrows), Index(NCOLS, chosen.size, array=chosen)), "cpu")
    values, present = dense(c)
    np.testing.assert_array_equal(present, left[:, chosen])
    np.testing.assert_array_equal(values, x[:, chosen])
