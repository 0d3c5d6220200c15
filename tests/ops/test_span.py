"""Spanning forests in the order of values: the specification, and Kruskal's algorithm in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring import Matrix
from semiring.dtypes import BOOL, FP32, FP64, INT8, INT64, UINT64
from semiring.engines import registry
from semiring.engines.requests.graphs import Span
from semiring.exceptions import DimensionMismatch, DomainMismatch
from tests.compare import check
from tests.draw import matrices


@pytest.mark.parametrize("dtype", [BOOL, INT8, INT64, UINT64, FP32, FP64], ids=str)
@given(data=st.data())
def test_entries_are_as_the_specification(dtype: Any, engine: str, data: st.DataObject) -> None:
    if not registry.implemented(Span, engine):
        pytest.skip("this engine has no spanning forests")
    n = data.draw(st.sampled_from((0, 1, 2, 7, 30)))
    check(Span(data.draw(matrices(n, n, dtype)), data.draw(st.booleans())), engine)


def by_definition(entries: list[tuple[Any, int, int]], n: int) -> set[tuple[int, int]]:
    tree, kept = list(range(n)), set()
    for _, i, j in entries:
        if tree[i] != tree[j]:
            kept.add((i, j))
            tree = [tree[i] if label == tree[j] else label for label in tree]
    return kept


@pytest.mark.parametrize("values", ["few", "wide", "floats"])
@pytest.mark.parametrize("largest", [False, True])
def test_definition(values: str, largest: bool) -> None:
    """Keys that fit 32 bits, keys that do not, and equal values."""
    rng = np.random.default_rng(4)
    n, m = 60, 300
    drawn = {
        "few": rng.integers(-3, 3, m),
        "wide": rng.integers(-(2**62), 2**62, m),
        "floats": rng.normal(size=m),
    }[values]
    with sr.use("cpu"):
        A = Matrix.from_coo(rng.integers(0, n, m), rng.integers(0, n, m), drawn, shape=(n, n), dup_op="first")
        rows, columns, weights = (part.tolist() for part in A.to_coo())
        sign = -1 if largest else 1
        order = sorted(zip([sign * w for w in weights], rows, columns, strict=True))
        T = sr.ops.span(A, largest=largest)
        assert {place for place, _ in T.items()} == by_definition(order, n)
        assert T.isequal(A.dup(mask=T.S))
        turned = sr.ops.span(A.T.dup().T, largest=largest)
        assert turned.isequal(T)


def test_refused_operands() -> None:
    with pytest.raises(DimensionMismatch, match="square"):
        sr.ops.span(Matrix(int, 2, 3))
    with pytest.raises(DomainMismatch, match="order"):
        sr.ops.span(Matrix.from_coo([0], [1], [1j], shape=(2, 2)))


@pytest.mark.parametrize("values", ["ties", "wide", "one value"])
def test_engines_return_the_forest_of_the_cpu(values: str, engine: str) -> None:
    """Of a graph of several components, with long chains and rows of many entries."""
    if engine == "reference":
        pytest.skip("a graph for engines")
    rng = np.random.default_rng(7)
    n = 5000
    rows = np.concatenate([np.arange(2000), rng.integers(0, n - 100, 20000), np.zeros(3000, np.int64)])
    columns = np.concatenate([np.arange(1, 2001), rng.integers(0, n - 100, 20000), np.arange(3000)])
    drawn: Any = {"ties": rng.integers(0, 5, rows.size), "wide": rng.random(rows.size), "one value": True}[values]
    with sr.use("cpu"):
        A = Matrix.from_coo(rows, columns, drawn, shape=(n, n), dup_op="first")
        expected = sr.ops.span(A)
    assert 3000 < expected.nvals < n
    assert sr.ops.span(A.to(engine)).to("cpu").isequal(expected)
