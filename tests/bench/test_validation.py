"""The validators of the suites accept correct results and reject every kind of wrong one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semiring.bridges.bench import graph500, graphalytics, validation
from semiring.bridges.bench.validation import WrongResult

#  0 - 1 - 2 - 3,  0 - 4 - 3,  1 - 4,  5 - 6;  7 alone.  1 - 2 is listed twice, and 3 - 3 is a self-loop.
EDGES = [(0, 1), (1, 2), (3, 2), (0, 4), (4, 3), (1, 4), (5, 6), (2, 1), (3, 3)]
WEIGHTS = np.array([0.25, 0.5, 0.25, 0.75, 0.5, 0.125, 0.5, 0.875, 0.0])
PARENTS = np.array([0, 0, 1, 4, 0, -1, -1, -1])
DISTANCES = np.array([0, 0.25, 0.75, 0.875, 0.375, -1, -1, -1])
SHORTEST = np.array([0, 0, 1, 4, 1, -1, -1, -1])
ENDS = tuple(np.array(EDGES).T)


def csr(weights: Any = None) -> tuple[Any, ...]:
    """The edges as CSR arrays, in both directions and once."""
    both = sorted({(a, b) for i, j in EDGES for a, b in ((i, j), (j, i))})
    indptr = np.searchsorted([i for i, _ in both], np.arange(9))
    least = {(a, b): w for (i, j), w in reversed(list(zip(EDGES, WEIGHTS, strict=True))) for a, b in ((i, j), (j, i))}
    columns = np.array([j for _, j in both])
    return (indptr, columns) if weights is None else (indptr, columns, np.array([least[pair] for pair in both]))


def changed(array: Any, **at: float) -> Any:
    """A copy with other values: v3=0 sets element 3."""
    made = array.copy()
    for name, value in at.items():
        made[int(name[1:])] = value
    return made


def test_trees_of_graph500_are_accepted() -> None:
    assert validation.graph500_tree(ENDS, 0, PARENTS) == 8  # with the repeated edge and the self-loop
    assert validation.graph500_tree(ENDS, 0, SHORTEST, WEIGHTS, DISTANCES) == 8
    assert validation.graph500_tree(ENDS, 7, changed(np.full(8, -1), v7=7)) == 0


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        (changed(PARENTS, v0=-1), "root is not its own parent"),
        (changed(PARENTS, v3=8), "not a vertex"),
        (changed(PARENTS, v1=2, v2=1), "cycle"),
        (changed(PARENTS, v2=2), "cycle"),  # a second root
        (changed(PARENTS, v4=1, v3=4), "more than one"),  # 0 - 4 joins levels 0 and 2, by a longer path
        (changed(PARENTS, v3=-1), "leaves the tree"),  # a claim that 3 is not connected
        (changed(PARENTS, v3=5), "a parent is not reached"),
        (changed(PARENTS, v5=0), "leaves the tree"),  # 5 is reached without an edge, and 6 is not
        (changed(PARENTS, v7=0), "joined by no edge"),
        (changed(PARENTS, v3=1), "joined by no edge"),  # of the right level, and no neighbor
    ],
)
def test_wrong_parents_are_rejected(parents: Any, message: str) -> None:
    with pytest.raises(WrongResult, match=message):
        validation.graph500_tree(ENDS, 0, parents)


@pytest.mark.parametrize(
    ("parents", "distances", "message"),
    [
        (SHORTEST, changed(DISTANCES, v0=0.5), "distance of the root"),
        (SHORTEST, changed(DISTANCES, v3=-1), "different vertices"),
        (changed(SHORTEST, v3=2), DISTANCES, "of the weight"),  # an edge, of another weight
        (SHORTEST, changed(DISTANCES, v2=0.7), "of the weight"),
        (SHORTEST, changed(DISTANCES, v2=1.125), "further apart"),
        (changed(SHORTEST, v4=0), changed(DISTANCES, v4=0.75, v3=1.0), "further apart"),  # a tree, and not the shortest
        (SHORTEST, DISTANCES * 2, "further apart"),
    ],
)
def test_wrong_distances_of_graph500_are_rejected(parents: Any, distances: Any, message: str) -> None:
    with pytest.raises(WrongResult, match=message):
        validation.graph500_tree(ENDS, 0, parents, WEIGHTS, distances)


@pytest.mark.parametrize("change", [{"v2": 0.7}, {"v2": 0.8}, {"v5": 1.0}, {"v3": -1.0}, {"v0": 0.1}])
def test_wrong_distances_are_rejected(change: dict[str, float]) -> None:
    validation.distances(*csr(WEIGHTS), 0, DISTANCES)
    with pytest.raises(WrongResult):
        validation.distances(*csr(WEIGHTS), 0, changed(DISTANCES, **change))


def test_components_are_counted_on_directed_graphs() -> None:
    indptr, indices = csr()
    assert validation.component_count(indptr, indices) == 3
    # 2 -> 0 <- 1, 3 -> 2, 4: no path joins 1 and 3.
    assert validation.component_count(np.array([0, 0, 1, 2, 3, 3]), np.array([0, 0, 2])) == 2
    with pytest.raises(WrongResult, match="expected 3"):
        validation.components(indptr, indices, np.array([0, 0, 0, 0, 0, 0, 0, 7]), 3)


def test_one_more_iteration_of_pagerank() -> None:
    indptr, indices = np.array([0, 1, 2, 3]), np.array([1, 2, 0])  # a cycle
    assert validation.pagerank_error(indptr, indices, np.full(3, 1 / 3), 0.85) < 1e-15
    found = validation.pagerank_error(indptr, indices, np.array([0.5, 0.25, 0.25]), 0.85)
    # The ranks become .2625, .475, .2625.
    assert math.isclose(found, 0.475)


def test_dependencies_against_networkx() -> None:
    nx = pytest.importorskip("networkx")
    G = nx.Graph(EDGES)
    expected = nx.betweenness_centrality_subset(G, [0, 3], list(G))
    found = validation.betweenness(*csr(), [0, 3])
    assert all(math.isclose(found[v], 2 * x) for v, x in expected.items())


@pytest.mark.parametrize(
    ("name", "found", "accepted"),
    [
        ("bfs", [0, 1, graphalytics.FAR], True),
        ("bfs", [0, 2, graphalytics.FAR], False),
        ("cdlp", [0, 1, graphalytics.FAR], True),
        ("cdlp", [7, 1, graphalytics.FAR], False),
        ("wcc", [5, 3, 9], True),  # other names of the same parts
        ("wcc", [5, 5, 9], False),
        ("pr", [0, 1 + 9e-5, graphalytics.FAR], True),
        ("pr", [0, 1 + 2e-4, graphalytics.FAR], False),
        ("sssp", [0, np.inf, graphalytics.FAR], False),
        ("lcc", [0, np.nan, graphalytics.FAR], False),
    ],
)
def test_matches_of_graphalytics(name: str, found: list[float], accepted: bool) -> None:
    kind = np.float64 if name in ("pr", "sssp", "lcc") else np.int64
    compare: Callable[[], None] = lambda: graphalytics.match(  # noqa: E731
        name, np.array(found, kind), np.array([0, 1, graphalytics.FAR], kind)
    )
    if accepted:
        compare()
        return
    with pytest.raises(WrongResult):
        compare()


def test_infinite_distances_match() -> None:
    graphalytics.match("sssp", np.array([0, np.inf]), np.array([0, np.inf]))
    with pytest.raises(WrongResult):
        graphalytics.match("sssp", np.array([0, 3.0]), np.array([0, np.inf]))


def test_statistics_by_hand() -> None:
    """Five values: the quartiles of the reference program are means of two neighbors where n is no multiple of 4."""
    found = graph500.statistics([4.0, 1.0, 2.0, 8.0, 16.0])
    expected = {"min": 1, "firstquartile": 2, "median": 4, "thirdquartile": 8, "max": 16, "mean": 6.2}
    assert {name: found[name] for name in expected} == expected
    assert math.isclose(found["stddev"], math.sqrt((5.2**2 + 4.2**2 + 2.2**2 + 1.8**2 + 9.8**2) / 4))
    assert graph500.statistics([1.0, 2.0, 3.0, 4.0])["firstquartile"] == 1.5
    assert graph500.statistics([3.0])["stddev"] == 0


def test_rates_by_hand() -> None:
    """2 edges in 1 s and 6 in 1 s: 2 / (1/2 + 1/6) = 3 edges a second."""
    found = graph500.teps_statistics([1.0, 1.0], [2, 6])
    assert (found["min"], found["max"]) == (2, 6)
    assert math.isclose(found["median"], 3)
    assert math.isclose(found["harmonic_mean"], 3)
    # The standard deviation of 1/2 and 1/6 is sqrt(2)/6; over (1/3)**2 and sqrt(1): 3 sqrt(2)/2.
    assert math.isclose(found["harmonic_stddev"], 1.5 * math.sqrt(2))


def test_the_block_has_the_lines_of_the_reference_program() -> None:
    searches = graph500.Searches([1.0, 1.0], [2, 6], [0.5, 0.5])
    lines = graph500.block(3, 16, 0.25, 0.5, searches, searches).splitlines()
    assert lines[:6] == [
        "SCALE:                          3",
        "edgefactor:                     16",
        "NBFS:                           2",
        "graph_generation:               0.25",
        "num_mpi_processes:              1",
        "construction_time:              0.5",
    ]
    assert "bfs  harmonic_mean_TEPS:     !  3" in lines
    assert "sssp harmonic_stddev_TEPS:      2.12132" in lines
    assert "min_nedge:                      2" in lines
    assert "bfs  firstquartile_time:        1" in lines
    assert len(lines) == 6 + 7 * 7
