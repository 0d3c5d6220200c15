"""Matrices of SciPy and graphs of NetworkX, in both directions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring import Matrix
from semiring.exceptions import DimensionMismatch, DuplicateIndex, InvalidValue


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with sr.use("cpu"):
        yield


def dense(dtype: str) -> Any:
    return np.array([[0, 1, 0, 3], [0, 0, 0, 0], [5, 0, 1, 1]]).astype(dtype)


def triples(A: Any) -> list[tuple[int, int, Any]]:
    rows, cols, values = A.to_coo()
    return list(zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True))


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_scipy_exports_are_the_callers_own(layout: str) -> None:
    A = sr.io.from_scipy_sparse(sp.csr_array(dense("int32")))
    before = triples(A)
    S = sr.io.to_scipy_sparse(A, layout)
    S *= 2
    arrays = [getattr(S, part, None) for part in ("data", "indices", "indptr", "row", "col")]
    for array in arrays:
        if isinstance(array, np.ndarray) and array.dtype != object:
            array[...] = 0
    assert triples(A) == before


@pytest.mark.parametrize("layout", ["csr", "coo"])
def test_shared_scipy_exports_are_read_only(layout: str) -> None:
    A = sr.io.from_scipy_sparse(sp.csr_array(dense("int32")))
    S = sr.io.to_scipy_sparse(A, layout, copy=False)
    np.testing.assert_array_equal(S.toarray(), dense("int32"))
    assert np.shares_memory(S.data, A.to_csr()[2])
    with pytest.raises(ValueError, match="read-only"):
        S.data[0] = 9
    np.testing.assert_array_equal((S @ S.T).toarray(), dense("int32") @ dense("int32").T)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_scipy_both_ways(layout: str) -> None:
    S = sp.csr_array(dense("int32")).asformat(layout)
    A = sr.io.from_scipy_sparse(S)
    back = sr.io.to_scipy_sparse(A, layout)
    assert back.format == layout
    np.testing.assert_array_equal(back.toarray(), S.toarray())


def test_scipy_duplicates_add_and_zeros_stay() -> None:
    S = sp.csr_array((np.array([1, 2, 0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    assert triples(sr.io.from_scipy_sparse(S)) == [(0, 0, 0), (0, 1, 3)]
    assert S.nnz == 3
    with pytest.raises(InvalidValue, match="SciPy"):
        sr.io.from_scipy_sparse(np.eye(2))


def test_networkx_both_ways() -> None:
    G = nx.Graph([("a", "b", {"weight": 2.5}), ("b", "b", {"weight": 4.0}), ("b", "c")])
    A = sr.io.from_networkx(G, weight="weight")
    np.testing.assert_array_equal(A.to_dense(0), [[0, 2.5, 0], [2.5, 4, 1], [0, 1, 0]])
    assert sr.io.from_networkx(G).is_iso
    back = sr.io.to_networkx(A, create_using=nx.Graph, nodes=["a", "b", "c"])
    assert nx.utils.graphs_equal(back, nx.Graph([("a", "b", {"weight": 2.5}), ("b", "b", {"weight": 4.0}),
                                                 ("b", "c", {"weight": 1.0})]))  # fmt: skip
    part = sr.io.from_networkx(G, nodelist=["c", "b"])
    assert triples(part) == [(0, 1, True), (1, 0, True), (1, 1, True)]
    D = nx.MultiDiGraph([(0, 1, {"w": 1}), (0, 1, {"w": 2})])
    assert triples(sr.io.from_networkx(D)) == [(0, 1, True)]
    with pytest.raises(DuplicateIndex):
        sr.io.from_networkx(D, weight="w")
    assert triples(sr.io.from_networkx(D, weight="w", dup_op="plus")) == [(0, 1, 3)]


def test_networkx_errors() -> None:
    with pytest.raises(InvalidValue, match="'z'"):
        sr.io.from_networkx(nx.path_graph(2), nodelist=["z"])
    with pytest.raises(InvalidValue, match="twice"):
        sr.io.from_networkx(nx.path_graph(2), nodelist=[0, 0])
    with pytest.raises(InvalidValue, match="edge attribute 'w'"):
        sr.io.from_networkx(nx.Graph([(0, 1, {"w": "far"})]), weight="w")
    with pytest.raises(DimensionMismatch, match="2 x 3"):
        sr.io.to_networkx(Matrix(bool, 2, 3))
    with pytest.raises(InvalidValue, match="2 different nodes"):
        sr.io.to_networkx(Matrix(bool, 2, 2), nodes=["a", "a"])
