"""Components, trees and sets of a graph are the same in every storage kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from tests.algorithms.components.drawn import drawn

al = sr.algorithms
KINDS: dict[str, Callable[[sr.Matrix], sr.Matrix]] = {
    "packed": lambda A: A.compress("packed"),
    "varint": lambda A: A.compress("varint"),
    "hypersparse": lambda A: A.dup().convert("hypersparse"),
    "bitmap": lambda A: A.dup().convert("bitmap"),
    "pinned": lambda A: A.to(placement="pinned"),
    "host": lambda A: A.to(placement="host"),
    "packed-host": lambda A: A.compress("packed").to(placement="host"),
}
UNDIRECTED: dict[str, Callable[[sr.Matrix], Any]] = {
    "bridges": al.bridges,
    "articulation_points": al.articulation_points,
    "biconnected_components": lambda A: al.biconnected_components(A).edges,
    "minimum_spanning_forest": al.minimum_spanning_forest,
    "maximal_independent_set": al.maximal_independent_set,
    "coloring": al.coloring,
    "maximal_matching": lambda A: al.maximal_matching(A, weight=True),
    "maximum_bipartite_matching": al.maximum_bipartite_matching,
}
DIRECTED: dict[str, Callable[[sr.Matrix], Any]] = {
    "strongly_connected_components": al.strongly_connected_components,
    "condensation": lambda A: al.condensation(A).graph,
    "maximum_flow": lambda A: al.maximum_flow(A, 0, 1).source_side,
}


def weighted(S: Any) -> sr.Matrix:
    """Weights from 1 to 9 that are the same in both directions."""
    S = sp.csr_array(S)
    rows = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
    values = (np.minimum(rows, S.indices) * 31 + np.maximum(rows, S.indices) * 17) % 9 + 1
    return sr.Matrix.from_csr(S.indptr, S.indices, values, ncols=S.shape[1])


@pytest.mark.parametrize(
    "kind", [kind if kind == "packed" else pytest.param(kind, marks=pytest.mark.wide) for kind in KINDS]
)
def test_same_results(kind: str) -> None:
    S = drawn(60, 1.3, 5)
    for functions, graph in ((UNDIRECTED, weighted(S + S.T)), (DIRECTED, weighted(S))):
        stored = KINDS[kind](graph)
        for name, function in functions.items():
            assert function(stored).isequal(function(graph)), name
