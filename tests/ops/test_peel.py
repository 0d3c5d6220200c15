"""Peeling: the specification, its definition in plain Python, and NetworkX agree."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring import Matrix, Vector
from semiring.config import engine_for
from semiring.dtypes import BOOL, INT32, INT64
from semiring.engines.requests.graphs import Peel
from semiring.engines.sliced import peel as rounds
from semiring.exceptions import DimensionMismatch, DomainMismatch, InvalidValue, OutOfMemory
from semiring.formats import Full
from tests.compare import check
from tests.draw import matrices

sizes = st.sampled_from((0, 1, 2, 5, 9, 33))


def full(values: Any, dtype: Any = INT32) -> Full:
    made = np.asarray(values).astype(dtype)
    return Full(made.size, made.dtype, made)


@given(data=st.data())
def test_levels_are_as_the_specification(engine: str, data: st.DataObject) -> None:
    """Also counts that are negative, and above the number of entries."""
    n = data.draw(sizes)
    a = data.draw(matrices(n, n, BOOL))
    counts = np.random.default_rng(data.draw(st.integers(0, 99))).integers(-2, data.draw(st.integers(1, n + 9)), n)
    least = data.draw(st.sampled_from((None, 1, 2, 5)))
    check(Peel(full(counts, data.draw(st.sampled_from((INT32, INT64)))), a.pattern, least), engine)
    if n:
        check(Peel(Full(n, INT32, None, np.int32(3), "cpu"), a.pattern, least), engine)


def by_definition(counts: list[int], rows: list[list[int]]) -> list[int]:
    """Remove one row of the least count at a time."""
    left, level, remain = list(counts), [0] * len(counts), set(range(len(counts)))
    k = 0
    while remain:
        i = min(remain, key=lambda i: left[i])
        k = max(k, left[i])
        level[i] = k
        remain.remove(i)
        for j in remain:
            left[j] -= i in rows[j]
    return level


@pytest.mark.parametrize("seed", range(6))
def test_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 30
    A = Matrix.from_dense(rng.random((n, n)) < 0.2, missing_value=False)
    rows = [A[i, :].new().to_coo(device="cpu")[0].tolist() for i in range(n)]
    counts = rng.integers(-1, 12, n)
    expected = by_definition(counts.tolist(), rows)
    found = sr.ops.peel(Vector.from_dense(counts), A)
    assert found.to_dense().tolist() == expected
    assert found.dtype == "int64"
    T = A.T.dup()
    assert sr.ops.peel(Vector.from_dense(counts), T.T).to_dense().tolist() == expected
    for k in (1, 3, 6):
        assert sr.ops.peel(Vector.from_dense(counts), A, least=k).to_dense().tolist() == [
            k if x >= k else 0 for x in expected
        ]


def undirected() -> tuple[Matrix, Vector, Vector]:
    """A graph, its degrees and its core numbers by NetworkX."""
    A = sr.random.kronecker(9, 6, seed=2)
    counts = Vector.full(np.int32(0), A.nrows)
    counts(accum="plus") << A.apply("second", right=np.int32(1)).reduce_rowwise("plus")
    G = nx.Graph()
    G.add_nodes_from(range(A.nrows))
    G.add_edges_from(A.select("tril", -1).to_edgelist()[0].tolist())
    return A, counts, Vector.from_dense(np.array([core for _, core in sorted(nx.core_number(G).items())], np.int32))


@pytest.mark.parametrize("codec", [None, "varint", "packed"])
def test_core_numbers_of_networkx(codec: str | None) -> None:
    A, counts, expected = undirected()
    assert sr.ops.peel(counts, A if codec is None else A.compress(codec)).isequal(expected)


def test_rounds_of_a_matrix_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def full_memory(*_: Any) -> None:
        raise OutOfMemory("no room")

    A, counts, expected = undirected()
    engine, pattern = engine_for(A.device), A.compress().store.pattern
    monkeypatch.setattr(rounds, "uncompressed_first", full_memory)
    found = counts.with_store(rounds.peel(Peel(counts.store, pattern), engine))
    assert found.isequal(expected)
    one = counts.with_store(rounds.peel(Peel(counts.store, pattern, 4), engine))
    assert one.isequal(expected.apply(">=", 4).apply("times", right=np.int32(4)))


def test_a_path_and_a_star_and_a_clique() -> None:
    n = 3000
    path = Matrix.from_edgelist([(i, i + 1) for i in range(n - 1)], nrows=n, ncols=n)
    star = Matrix.from_edgelist([(0, i) for i in range(1, n)], nrows=n, ncols=n)
    for A in (path, star):
        A = A | A.T
        counts = A.apply("second", right=np.int32(1)).reduce_rowwise("plus").convert("full")
        assert sr.ops.peel(counts, A).to_dense().tolist() == [1] * n
        assert sr.ops.peel(counts, A, least=2).to_dense().tolist() == [0] * n
    clique = Matrix.from_dense(np.ones((70, 70), bool))
    assert sr.ops.peel(Vector.full(np.int64(69), 70), clique).to_dense().tolist() == [69] * 70


def test_refused_operands() -> None:
    A = Matrix.from_edgelist([(0, 1)], nrows=3, ncols=3)
    counts = Vector.full(np.int32(1), 3)
    with pytest.raises(DimensionMismatch, match="square"):
        sr.ops.peel(counts, Matrix(bool, 3, 4))
    with pytest.raises(DimensionMismatch, match="counts has size 3"):
        sr.ops.peel(counts, Matrix(bool, 4, 4))
    with pytest.raises(DomainMismatch, match="counts must be int32 or int64"):
        sr.ops.peel(Vector.full(1.0, 3), A)
    with pytest.raises(InvalidValue, match="counts must have an entry"):
        sr.ops.peel(Vector.from_coo([0], [1], size=3, dtype="int32"), A)
    with pytest.raises(InvalidValue, match="least must be positive"):
        sr.ops.peel(counts, A, least=0)
    with pytest.raises(InvalidValue, match="expected a Vector and then a Matrix"):
        sr.ops.peel(counts, counts)
