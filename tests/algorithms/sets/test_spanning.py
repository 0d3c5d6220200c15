"""Minimum spanning forests: the weights of SciPy, NetworkX and igraph; the cut property on larger graphs."""

from __future__ import annotations

from typing import Any

import igraph
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import semiring as sr
from semiring.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from tests.algorithms.components.drawn import UNDIRECTED, matrix, undirected


def weighted(S: Any, kind: str) -> Any:
    """Symmetric weights for a pattern: few distinct integers, floats of both signs, or unsigned numbers."""
    upper = sp.triu(S, format="coo")
    rng = np.random.default_rng(upper.nnz)
    drawn = {
        "ties": rng.integers(1, 4, upper.nnz),
        "floats": rng.normal(size=upper.nnz),
        "unsigned": rng.integers(1, 256, upper.nnz),
    }[kind]
    dtype = {"ties": np.int32, "floats": np.float64, "unsigned": np.uint8}[kind]
    made = sp.coo_array((drawn.astype(dtype), upper.coords), S.shape)
    off = made.row != made.col
    values = np.concatenate([made.data, made.data[off]])
    rows, cols = np.concatenate([made.row, made.col[off]]), np.concatenate([made.col, made.row[off]])
    order = np.lexsort((cols, rows))
    indptr = np.searchsorted(rows[order], np.arange(S.shape[0] + 1))
    return indptr, cols[order], values[order]


def as_matrix(arrays: Any) -> sr.Matrix:
    return sr.Matrix.from_csr(*arrays, ncols=arrays[0].size - 1)


def listed(F: sr.Matrix) -> tuple[Any, Any, Any]:
    return tuple(np.asarray(part.get() if hasattr(part, "get") else part) for part in F.to_coo())


def check(arrays: Any, F: sr.Matrix, *, maximum: bool = False) -> None:
    """F is part of the graph, symmetric, spans its components without a cycle, and has the weight that igraph finds."""
    n = arrays[0].size - 1
    rows = np.repeat(np.arange(n), np.diff(arrays[0]))
    once = rows < arrays[1]
    assert F.isequal(F.T)
    assert F.nvals == 0 or F.isequal(as_matrix(arrays).dup(mask=F.S))
    theirs = igraph.Graph(n=n, edges=np.column_stack([rows[once], arrays[1][once]]).tolist())
    weights = arrays[2][once].astype(np.float64) * (-1 if maximum else 1)
    chosen = theirs.spanning_tree(weights=weights.tolist(), return_tree=False) if theirs.ecount() else []
    i, j, values = listed(F)
    assert (i < j).sum() == len(chosen) == n - len(theirs.components())
    np.testing.assert_allclose(values[i < j].astype(np.float64).sum(), arrays[2][once][chosen].astype(float).sum())
    spanned = sp.coo_array((np.ones(i.size), (i, j)), (n, n))
    assert n == 0 or csgraph.connected_components(spanned)[0] == len(theirs.components())


@undirected
@pytest.mark.parametrize("kind", ["ties", "floats"])
def test_forest(S: Any, kind: str) -> None:
    arrays = weighted(S, kind)
    F = sr.algorithms.minimum_spanning_forest(as_matrix(arrays))
    assert F.dtype == arrays[2].dtype
    check(arrays, F)


@pytest.mark.parametrize("kind", ["ties", pytest.param("unsigned", marks=pytest.mark.wide), "floats"])
@pytest.mark.parametrize("codec", [None, "packed"])
def test_maximum_and_storage_kinds(kind: str, codec: str | None) -> None:
    arrays = weighted(UNDIRECTED["drawn-90-3"], kind)
    A = as_matrix(arrays)
    A = A if codec is None else A.compress(codec)
    check(arrays, sr.algorithms.minimum_spanning_forest(A))
    check(arrays, sr.algorithms.minimum_spanning_forest(A, maximum=True), maximum=True)


def test_ties_prefer_smaller_vertices() -> None:
    """The forest is Kruskal's in the order of (weight, smaller end, larger end)."""
    arrays = weighted(UNDIRECTED["drawn-90-3"], "ties")
    n = arrays[0].size - 1
    rows, tree = np.repeat(np.arange(n), np.diff(arrays[0])), np.arange(n)
    expected = set()
    for _, a, b in sorted(zip(arrays[2].tolist(), rows.tolist(), arrays[1].tolist(), strict=True)):
        if a < b and tree[a] != tree[b]:
            tree[tree == tree[a]] = tree[b]
            expected.add((a, b))
    i, j, _ = listed(sr.algorithms.minimum_spanning_forest(as_matrix(arrays)))
    assert {(a, b) for a, b in zip(i.tolist(), j.tolist(), strict=True) if a < b} == expected


@pytest.mark.parametrize("kind", ["ties", "floats"])
def test_both_algorithms_return_the_same_forest(kind: str) -> None:
    A = as_matrix(weighted(UNDIRECTED["drawn-90-3"], kind))
    for maximum in (False, True):
        F = sr.algorithms.minimum_spanning_forest(A, maximum=maximum, method="boruvka")
        assert F.isequal(sr.algorithms.minimum_spanning_forest(A, maximum=maximum))
    with pytest.raises(InvalidValue, match="method"):
        sr.algorithms.minimum_spanning_forest(A, method="prim")


def test_structure_and_explicit_zeros() -> None:
    A = sr.Matrix.from_coo([0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 2, 0], [0, 0, 5, 5, 7, 7], nrows=3, ncols=3)
    assert sr.algorithms.minimum_spanning_forest(A).to_dicts() == {0: {1: 0}, 1: {0: 0, 2: 5}, 2: {1: 5}}
    P = matrix(UNDIRECTED["two-cliques"])
    assert sr.algorithms.minimum_spanning_forest(P).nvals == 2 * 10


def test_bad_input() -> None:
    call = sr.algorithms.minimum_spanning_forest
    with pytest.raises(DimensionMismatch):
        call(sr.Matrix(float, 2, 3))
    with pytest.raises(InvalidValue, match="undirected"):
        call(sr.Matrix.from_edgelist([(0, 1)], nrows=2, ncols=2))
    with pytest.raises(InvalidValue, match="differs"):
        call(sr.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0]))
    with pytest.raises(InvalidValue, match="NaN"):
        call(sr.Matrix.from_coo([0, 1, 2, 1], [1, 0, 1, 2], [np.nan, np.nan, 1.0, 1.0]))
    with pytest.raises(DomainMismatch):
        call(sr.Matrix.from_coo([0, 1], [1, 0], [1j, 1j]))
