"""What computes a graph in host memory, as users run it: by time, on graphs on both sides of each measured bound."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph as theirs

from semiring import csgraph as ours
from semiring.bridges.csgraph import conversion
from tests.csgraph.given import Array, is_tree, on_gpu, same

# The package has a function of the name of this module.
SPREADS = import_module("semiring.bridges.csgraph.dijkstra")._spreads
pytestmark = pytest.mark.skipif(on_gpu(), reason="a graph in host memory")


@pytest.fixture(autouse=True)
def by_time(everything_here: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion.Policy, "by_time", True)


def drawn(n: int, degree: int, seed: int, *, symmetric: bool = False) -> Any:
    """Uniform random edges with whole weights, one for each position."""
    rng = np.random.default_rng(seed)
    S = sp.csr_array((rng.integers(1, 99, n * degree), rng.integers(0, n, (2, n * degree))), shape=(n, n), dtype=float)
    S.sum_duplicates()
    return sp.csr_array(S + S.T) if symmetric else S


def grid(side: int) -> Any:
    """Roads: each vertex is joined with its neighbors on a square grid, in both directions."""
    line = sp.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[-1, 1])
    return sp.csr_array(sp.kronsum(line, line))


GRAPHS: dict[str, Any] = {
    "small": drawn(60, 3, 1),
    "dense": drawn(600, 40, 2),
    "spreading": drawn(12_000, 4, 3),
    "spreading, many predecessors": drawn(12_000, 6, 4),
    "roads": grid(110),
}
LARGER = ("dense", "spreading, many predecessors")
OPTIONS = {"unweighted": True, "min_only": True, "limit": 40.0}


@pytest.mark.parametrize(
    "kind", ["small", "spreading", "roads", *(pytest.param(kind, marks=pytest.mark.wide) for kind in LARGER)]
)
@pytest.mark.parametrize(
    "named",
    [{}, *(pytest.param({name: value}, marks=pytest.mark.wide) for name, value in OPTIONS.items())],
    ids=str,
)
def test_distances_are_scipys(kind: str, named: dict[str, Any]) -> None:
    S = GRAPHS[kind]
    for indices in (np.arange(20), 3):
        expected = theirs.dijkstra(S, indices=indices, **named)
        same(ours.dijkstra(S, indices=indices, **named), expected)
        distance, before, *_ = ours.dijkstra(S, indices=indices, return_predecessors=True, **named)
        same(distance, expected)
        assert before.shape == distance.shape


@pytest.mark.parametrize(("kind", "spreads"), [("small", False), ("roads", False), ("spreading", True)])
def test_spreading(kind: str, spreads: bool) -> None:
    for indices in (None, 7, -7, [7, 8], np.zeros((2, 2), int)):
        assert SPREADS(GRAPHS[kind], indices) == spreads
    assert not SPREADS(sp.csr_array((12_000, 12_000)), 0)


def test_predecessors_of_a_spreading_graph() -> None:
    S = GRAPHS["spreading, many predecessors"]
    distance, before = ours.dijkstra(S, indices=5, return_predecessors=True)
    same(distance, theirs.dijkstra(S, indices=5))
    reached = np.flatnonzero(before >= 0)
    np.testing.assert_allclose(distance[before[reached]] + S[before[reached], reached], distance[reached])
    assert before[5] == -9999
    assert (before[np.isinf(distance)] == -9999).all()


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("search", ["breadth_first_order", "depth_first_order"])
def test_undirected_orders_are_scipys(search: str, symmetric: bool) -> None:
    S = drawn(1500, 20, 5, symmetric=symmetric)
    assert conversion.by_rows(S, False) == symmetric
    expected: tuple[Array, Array] = getattr(theirs, search)(S, 4, directed=False)
    for found, wanted in zip(getattr(ours, search)(S, 4, directed=False), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_predecessors_of_all_pairs() -> None:
    S = drawn(150, 2, 6)
    lengths = np.where(S.toarray() == 0, np.inf, S.toarray())
    distance, before = ours.floyd_warshall(S, return_predecessors=True)
    same(distance, theirs.floyd_warshall(S))
    for source in range(150):
        is_tree(distance[source], before[source], lengths, source)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
def test_flows(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    S = drawn(300, 20, 8).astype(dtype)
    expected = theirs.maximum_flow(S, 1, 2)
    for by_scipy in (True, False):
        monkeypatch.setattr(conversion.Policy, "by_time", by_scipy)
        found = ours.maximum_flow(S, 1, 2)
        assert found.flow_value == expected.flow_value
        assert found.flow.dtype == np.int32
        flow = found.flow.toarray()
        np.testing.assert_array_equal(flow, -flow.T)
        assert (flow <= S.toarray()).all()
        net = flow.sum(axis=1)
        assert net[1] == -net[2] == expected.flow_value
        assert not np.delete(net, [1, 2]).any()


def test_flows_beyond_int32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion.Policy, "by_time", False)
    wide = np.array([[0, 2**40], [0, 0]])
    found = ours.maximum_flow(sp.csr_array(wide), 0, 1)
    assert found.flow_value == 2**40
    assert found.flow.toarray().tolist() == [[0, 2**40], [-(2**40), 0]]


@pytest.mark.parametrize("n", [20, 400])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.lil_array])
def test_dense_arrays(n: int, make: Any) -> None:
    S = make(drawn(n, 3, 7))
    for null_value in (0, np.inf):
        same(ours.csgraph_to_dense(S, null_value), theirs.csgraph_to_dense(S, null_value))
