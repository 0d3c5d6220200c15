"""Small graphs for measures of centrality, as NetworkX graphs, and conversions."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import semiring as sr

Array = np.ndarray[Any, Any]


def _weighted(graph: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    for _, _, data in graph.edges(data=True):
        data.clear()
        data["weight"] = int(rng.integers(1, 9))
    return graph


GRAPHS = {
    "null": nx.empty_graph(0),
    "one": nx.empty_graph(1),
    "no-edges": nx.empty_graph(4),
    "pair": nx.path_graph(2),
    "path": nx.path_graph(21),
    "star": nx.star_graph(7),
    "apart": nx.disjoint_union(nx.cycle_graph(5), nx.empty_graph(2)),
    "loops": nx.Graph([(0, 0), (0, 1), (1, 2), (2, 2), (2, 3)]),
    "karate": nx.karate_club_graph(),
    "drawn": nx.gnp_random_graph(40, 0.08, seed=1),
    "directed-path": nx.path_graph(6, create_using=nx.DiGraph),
    "directed-tree": nx.gn_graph(25, seed=3),
    "directed-drawn": nx.gnp_random_graph(40, 0.06, seed=2, directed=True),
    "directed-loops": nx.DiGraph([(0, 0), (0, 1), (1, 2), (2, 0), (3, 2), (3, 3)]),
}
GRAPHS = {name: _weighted(nx.convert_node_labels_to_integers(graph), 7) for name, graph in GRAPHS.items()}
by_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
SOME = ("karate", "apart", "directed-drawn")
by_some = pytest.mark.parametrize("graph", [GRAPHS[name] for name in SOME], ids=SOME)


def matrix(graph: Any, weight: str | None = None) -> sr.Matrix:
    """The graph as a Matrix, symmetric where it is undirected."""
    if len(graph) == 0:
        return sr.Matrix(bool, 0, 0)
    return sr.io.from_networkx(graph, weight=weight)


def listed(found: dict[int, float]) -> Array:
    """The values of a dictionary of NetworkX by vertex."""
    return np.array([found[v] for v in range(len(found))], np.float64)


def host(v: sr.Vector) -> Array:
    """A full Vector as an array."""
    assert v.nvals == v.size
    return np.asarray(v.to_numpy())
