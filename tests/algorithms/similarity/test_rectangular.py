"""Similarity of the rows of an m x n matrix, such as users by their items: an m x m result with the labels of rows."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Labels, Matrix
from semiring.exceptions import DimensionMismatch, InvalidValue

Array = np.ndarray[Any, Any]
NAMES = ["adamic_adar", "common_neighbors", "cosine", "jaccard", "overlap", "resource_allocation"]


def similarity(name: str, D: Array, u: int, v: int, weighted: bool) -> float:
    """The similarity of rows u and v of a dense matrix by its definition, 0 where they have no column in common."""
    x, y, rows = D[u], D[v], [set(np.flatnonzero(row).tolist()) for row in D]
    common, degree = sorted(rows[u] & rows[v]), (D != 0).sum(axis=0)
    if u == v or not common:
        return 0.0
    if name == "adamic_adar":
        return float((1 / np.log(degree[common])).sum())
    if name == "resource_allocation":
        return float((1 / degree[common]).sum())
    if not weighted:
        x, y = (x != 0).astype(float), (y != 0).astype(float)
    if name == "cosine":
        return float(x @ y / np.sqrt((x @ x) * (y @ y)))
    both = float(np.minimum(x, y).sum())
    return {
        "common_neighbors": both,
        "jaccard": both / np.maximum(x, y).sum(),
        "overlap": both / min(x.sum(), y.sum()),
    }[name]


@pytest.mark.costly
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(5, 9), (9, 4), (1, 6), (3, 0), (0, 3)])
def test_similarity_of_rows(name: str, shape: tuple[int, int]) -> None:
    D = np.random.default_rng(3).integers(-2, 5, shape).clip(0).astype(float)
    A, function, m = Matrix.from_dense(D, missing_value=0), getattr(sr.algorithms, name), shape[0]
    A.row_labels, A.column_labels = (
        Labels([f"user {k}" for k in range(m)]),
        Labels([f"item {k}" for k in range(shape[1])]),
    )
    for options in ({}, {"weight": True}) if "weight" in inspect.signature(function).parameters else ({},):
        expected = np.array([[similarity(name, D, u, v, bool(options)) for v in range(m)] for u in range(m)]).reshape(
            m, m
        )
        found = function(A, **options)
        np.testing.assert_allclose(found.to("cpu").to_dense(fill_value=0), expected)
        pairs = Matrix.from_dense((expected > 0) & (np.arange(m) % 2 == 0), missing_value=False)
        masked = function(A, pairs, **options)
        np.testing.assert_allclose(masked.to("cpu").to_dense(fill_value=0), expected * (np.arange(m) % 2 == 0))
        best = function(A, top=1, **options)
        np.testing.assert_allclose(
            best.to("cpu").reduce_rowwise("max").to_dense(fill_value=0), expected.max(axis=1, initial=0)
        )
        assert found.labels == masked.labels == best.labels == A.row_labels


@pytest.mark.parametrize("name", NAMES)
def test_errors(name: str) -> None:
    function = getattr(sr.algorithms, name)
    with pytest.raises(DimensionMismatch, match=rf"^{name}: pairs has shape \(5, 5\), .* expected 2 x 2$"):
        function(Matrix(bool, 2, 5), Matrix(bool, 5, 5))
    for options in ({}, {"weight": True}) if "weight" in inspect.signature(function).parameters else ({},):
        with pytest.raises(InvalidValue, match=f"^{name}: expected a Matrix"):
            function(np.ones((2, 5)), **options)
