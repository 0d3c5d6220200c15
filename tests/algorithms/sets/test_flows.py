"""Maximum flows: the values of SciPy and NetworkX; conservation, capacities, and a cut of the same value."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import semiring as sr
from semiring.exceptions import DimensionMismatch, DomainMismatch, IndexOutOfBound, InvalidValue
from tests.algorithms.components.drawn import DIRECTED, drawn, matrix


def capacities(S: Any, dtype: Any) -> Any:
    S = sp.csr_array(S)
    rng = np.random.default_rng(S.nnz)
    return sp.csr_array((rng.integers(0, 20, S.nnz).astype(dtype), S.indices, S.indptr), shape=S.shape)


def check(C: Any, source: int, target: int, codec: str | None = None) -> Any:
    A = matrix(C, None)
    A = A if codec is None else A.compress(codec)
    verify(C, source, target, sr.algorithms.maximum_flow(A, source, target, method="trees"))
    found = sr.algorithms.maximum_flow(A, source, target)
    verify(C, source, target, found)
    return found


def verify(C: Any, source: int, target: int, found: Any) -> None:
    """The value of two other programs; conservation, limits, and a cut of this value."""
    whole = sp.csr_array(C).astype(np.int32)
    assert found.value == csgraph.maximum_flow(whole, source, target).flow_value
    graph = nx.DiGraph()
    graph.add_nodes_from(range(C.shape[0]))
    graph.add_weighted_edges_from(zip(*C.nonzero(), C.data[C.data != 0].tolist(), strict=True), weight="capacity")
    assert found.value == nx.maximum_flow_value(graph, source, target)
    i, j, x = (np.asarray(part.get() if hasattr(part, "get") else part) for part in found.flow.to_coo())
    flow, limit = np.zeros(C.shape), C.toarray().astype(float)
    flow[i, j] = x
    assert (x > 0).all()
    assert (flow <= limit).all()
    expected = np.zeros(C.shape[0])
    expected[source], expected[target] = found.value, -found.value
    np.testing.assert_array_equal(flow.sum(axis=1) - flow.sum(axis=0), expected)
    side = np.zeros(C.shape[0], bool)
    side[list(found.source_side.to_dict())] = True
    assert side[source]
    assert not side[target]
    assert limit[side][:, ~side].sum() == found.value


@pytest.mark.parametrize(
    "dtype", [np.int64, *(pytest.param(dtype, marks=pytest.mark.wide) for dtype in (np.float64, np.uint8))]
)
@pytest.mark.parametrize("name", [name for name, S in DIRECTED.items() if S.shape[0] > 1])
def test_flow(name: str, dtype: Any) -> None:
    C = capacities(DIRECTED[name], dtype)
    found = check(C, 0, C.shape[0] - 1)
    assert found.flow.dtype == (np.float64 if dtype is np.float64 else np.int64)


@pytest.mark.parametrize("seed", range(4))
def test_dense_networks_return_excess(seed: int) -> None:
    """Large capacities at the source, and few at the sink: most of the excess returns."""
    C = capacities(drawn(25, 6, seed), np.int64).tolil()
    C[0, :] = 40
    check(sp.csr_array(C), 0, 24, "packed")


def test_structure_of_booleans_counts_disjoint_paths() -> None:
    S = DIRECTED["complete"]
    assert sr.algorithms.maximum_flow(matrix(S), 0, 6).value == 6


def test_both_directions_and_unreached_target() -> None:
    A = sr.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [3.5, 3.5, 2.25, 2.25], nrows=4, ncols=4)
    assert sr.algorithms.maximum_flow(A, 0, 2).value == 2.25
    none = sr.algorithms.maximum_flow(A, 0, 3)
    assert (none.value, none.flow.nvals, none.source_side.to_dict()) == (0.0, 0, {0: True, 1: True, 2: True})


def test_a_path_over_a_reverse_edge_that_is_not_in_the_graph() -> None:
    # The first phase may use 4 -> 3 -> 7; the second one then needs 3 -> 4.
    edges = [(0, 1), (0, 4), (1, 2), (2, 3), (3, 7), (4, 3), (4, 5), (5, 6), (6, 7)]
    A = sr.Matrix.from_edgelist(edges, 10)
    found = sr.algorithms.maximum_flow(A, 0, 7)
    assert found.value == 20
    assert found.flow.to_dicts() == {i: {j: 10} for i, j in edges if (i, j) not in {(0, 4), (4, 3)}} | {
        0: {1: 10, 4: 10}, 4: {5: 10}
    }  # fmt: skip


@pytest.mark.parametrize("method", ["auto", "trees"])
def test_integers_beyond_the_exact_ones(method: str) -> None:
    """The sum of one end may be large, not those of both."""
    large = 2**53
    for entries, value in (([large, 5], 5), ([5, large], 5), ([large - 2, large - 2], large - 2)):
        A = sr.Matrix.from_coo([0, 1], [1, 2], entries, np.uint64, nrows=3, ncols=3)
        found = sr.algorithms.maximum_flow(A, 0, 2, method=method)
        assert (found.value, found.flow[0, 1].value) == (value, value)
    A = sr.Matrix.from_coo([0, 1], [1, 2], [large, large], nrows=3, ncols=3)
    with pytest.raises(InvalidValue, match=r"2\*\*53 - 1 or more"):
        sr.algorithms.maximum_flow(A, 0, 2, method=method)


def test_bad_input() -> None:
    call = sr.algorithms.maximum_flow
    A = sr.Matrix.from_coo([0, 1], [1, 2], [1.0, 2.0], nrows=3, ncols=3)
    with pytest.raises(DimensionMismatch):
        call(sr.Matrix(float, 2, 3), 0, 1)
    with pytest.raises(IndexOutOfBound):
        call(A, 0, 3)
    with pytest.raises(InvalidValue, match="same vertex"):
        call(A, 1, 1)
    with pytest.raises(InvalidValue, match="'auto', 'paths', 'trees'"):
        call(A, 0, 1, method="dinic")
    for value, match in ((-1.0, "negative"), (np.nan, "NaN"), (np.inf, "infinite")):
        with pytest.raises(InvalidValue, match=match):
            call(sr.Matrix.from_coo([0, 1], [1, 2], [value, 2.0], nrows=3, ncols=3), 0, 2)
    with pytest.raises(DomainMismatch):
        call(sr.Matrix.from_coo([0], [1], [1j], nrows=3, ncols=3), 0, 2)
