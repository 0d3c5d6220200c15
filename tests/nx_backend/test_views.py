"""Views: no conversion of a view is used again, whatever changes in the graph beneath."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest

VIEWS: dict[str, Callable[[Any], Any]] = {
    "subgraph": lambda G: G.subgraph([0, 1, 2, 3, 9]),
    "subgraph of all": lambda G: G.subgraph(range(12)),
    "subgraph of a subgraph": lambda G: G.subgraph(range(11)).subgraph([0, 1, 2, 3, 9]),
    "edge_subgraph": lambda G: G.edge_subgraph([edge for edge in G.edges if 5 not in edge]),
    "restricted_view": lambda G: nx.restricted_view(G, [5], []),
    "subgraph_view": lambda G: nx.subgraph_view(G, filter_node=lambda node: node != 5),
    "induced_subgraph": lambda G: nx.induced_subgraph(G, [0, 1, 2, 3, 9]),
    "to_undirected": lambda G: G.to_undirected(as_view=True),
    "to_directed": lambda G: G.to_directed(as_view=True),
    "copy": lambda G: G.copy(as_view=True),
    "generic_graph_view": nx.graphviews.generic_graph_view,
}
DIRECTED: dict[str, Callable[[Any], Any]] = {
    "reverse": lambda G: G.reverse(copy=False),
    "reverse_view": nx.reverse_view,
    "subgraph of the reverse": lambda G: G.reverse(copy=False).subgraph([0, 1, 2, 3, 9]),
}


def add_node(G: Any) -> None:
    G.add_node(9)


def remove_node(G: Any) -> None:
    G.remove_node(1)


def add_edge(G: Any) -> None:
    G.add_edge(0, 3, weight=2)


def remove_edge(G: Any) -> None:
    G.remove_edge(0, 1)


def set_attribute(G: Any) -> None:
    G.add_edge(1, 2, *([0] if G.is_multigraph() else []), weight=70)


def set_attributes(G: Any) -> None:
    nx.set_edge_attributes(G, 70, "weight")


def write_attribute(G: Any) -> None:
    data = G.edges[(1, 2, 0) if G.is_multigraph() else (1, 2)]
    data["weight"] = 70


CHANGES = [add_node, remove_node, add_edge, remove_edge, set_attribute, set_attributes, write_attribute]


def ring(kind: Any) -> Any:
    G = kind()
    nx.add_cycle(G, range(6), weight=3)
    return G


def facts(G: Any, backend: str | None) -> Any:
    matrix = nx.to_scipy_sparse_array(G, nodelist=None, weight="weight", backend=backend)
    return matrix.toarray().tolist()


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in (nx.Graph, nx.DiGraph) for name in VIEWS]
    + [(nx.DiGraph, name) for name in DIRECTED]
    + [(nx.MultiGraph, "subgraph"), (nx.MultiDiGraph, "reverse")],
)
def test_a_view_is_converted_again_after_a_change(kind: Any, name: str, change: Callable[[Any], None]) -> None:
    G = ring(kind)
    view = (VIEWS | DIRECTED)[name](G)
    other = copy.copy(view)
    for seen in (view, other):
        assert facts(seen, "semiring") == facts(seen, None)
    change(G)
    for seen in (view, other):
        assert facts(seen, "semiring") == facts(seen, None)
        assert not seen.__networkx_cache__


def test_a_failed_conversion_of_a_view_is_not_kept() -> None:
    G = ring(nx.Graph)
    G.add_edge(0, 1, weight="far")
    view = G.subgraph([0, 1, 2])
    with pytest.raises(NotImplementedError):
        facts(view, "semiring")
    G.add_edge(0, 1, weight=4)
    assert facts(view, "semiring") == facts(view, None)


def test_results_of_functions_that_return_views_are_not_kept() -> None:
    G = ring(nx.Graph)
    part = nx.k_core(G, 2, backend="semiring")  # a copy: in NetworkX too
    G.remove_edge(0, 1)
    assert part.number_of_edges() == 6
    with nx.config(backend_priority=["semiring"]), nx.config.backends.semiring(minimum_size=0):
        view = G.subgraph([0, 1, 2, 3])
        assert nx.number_connected_components(view) == 2
        G.add_edge(0, 3)
        assert nx.number_connected_components(view) == 1
        G.remove_node(2)
        assert nx.diameter(view) == nx.diameter(view.copy()) if nx.is_connected(view) else True


def test_graph_attributes_are_those_at_the_call() -> None:
    G = ring(nx.DiGraph)
    nx.pagerank(G, backend="semiring")
    G.graph["name"] = "changed"
    assert nx.reverse(G, backend="semiring").graph == nx.reverse(G).graph == {"name": "changed"}


class Counted(nx.Graph):  # type: ignore[misc]
    """A graph that counts how often its edges are counted."""

    counted = 0

    def number_of_edges(self, u: Any = None, v: Any = None) -> int:
        Counted.counted += 1
        return int(super().number_of_edges(u, v))

    def size(self, weight: Any = None) -> Any:
        Counted.counted += 1
        return super().size(weight)


@pytest.mark.parametrize("least", [None, 10**9])
def test_the_edges_of_a_view_are_not_counted_at_every_inner_call(least: int | None) -> None:
    view = Counted(nx.connected_watts_strogatz_graph(60, 4, 0.1, seed=1)).subgraph(range(50))
    expected = nx.diameter(view, backend="networkx")
    Counted.counted = 0
    with nx.config(backend_priority=["semiring"]), nx.config.backends.semiring(minimum_size=least):
        assert nx.diameter(view) == expected
    assert Counted.counted == 0


@pytest.mark.slow
def test_the_diameter_of_a_view_takes_no_longer() -> None:
    view = nx.connected_watts_strogatz_graph(600, 6, 0.1, seed=1).subgraph(range(300))
    taken = {}
    for priority in ([], ["semiring"], [], ["semiring"]):
        with nx.config(backend_priority=priority):
            start = time.perf_counter()
            nx.diameter(view)
            taken[bool(priority)] = time.perf_counter() - start
    assert taken[True] <= 1.5 * taken[False]
