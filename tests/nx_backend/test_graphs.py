"""Functions that return a graph: class, attributes, keys and orders are those of NetworkX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx.utils.backends import _registered_algorithms

from semiring.bridges.networkx.registry import FUNCTIONS
from tests.nx_backend.test_results import public

# The tree of Gomory and Hu is one of several, of graphs with capacities: see test_choices.py.
RETURNING = sorted(
    name for name in FUNCTIONS if _registered_algorithms[name]._returns_graph and name != "gomory_hu_tree"
)

#: Arguments after the graph; None is the whole of it.
ARGUMENTS: dict[str, tuple[dict[str, Any], ...]] = {
    "bfs_tree": ({"source": "n5"}, {"source": "n3", "depth_limit": 1}, {"source": "n1", "reverse": True}),
    "convert_node_labels_to_integers": ({}, {"first_label": 5, "label_attribute": "was"}),
    "dfs_tree": ({}, {"source": "n5"}, {"source": "n5", "depth_limit": 2}),
    "ego_graph": ({"n": "n5"}, {"n": "n2", "radius": 5, "distance": "weight"}, {"n": "n1", "center": False}),
    "k_core": ({}, {"k": 1}),
    "k_corona": ({"k": 2},),
    "k_shell": ({}, {"k": 1}),
    "k_truss": ({"k": 3}, {"k": 2}),
    "power": ({"k": 1}, {"k": 2}),
    **dict.fromkeys(
        ("projected_graph", *(f"{kind}weighted_projected_graph" for kind in ("", "collaboration_", "overlap_"))),
        ({"nodes": ["n5", "n2", "alone"]},),
    ),
    "relabel_nodes": ({"mapping": str.upper}, {"mapping": {"n1": 1, "n3": (3, "n")}}),
    "reverse": ({}, {"copy": False}),
    "transitive_closure": ({}, {"reflexive": True}, {"reflexive": None}),
}
# Neighbors in another order: NetworkX adds the edges in the order of a set, or of a search.
OTHER_ORDER = {"transitive_closure", "transitive_closure_dag", "transitive_reduction", "moral_graph", "power"}
OTHER_ORDER |= {name for name in RETURNING if name.endswith("projected_graph")}
PRODUCTS = {name for name in RETURNING if name.endswith("_product")}


def example(kind: Any, seed: int, *, loops: bool, acyclic: bool = False) -> Any:
    """A graph with attributes of the graph, and of some nodes and edges; predecessors in another order than nodes."""
    rng = np.random.default_rng(seed)
    G = kind(name="example", made={"by": ["hand"]})
    nodes = [f"n{number}" for number in rng.permutation(9).tolist()]
    G.add_nodes_from(nodes[:4], color="red")
    G.add_node("alone", tags=["a", "b"])
    for number, (u, v) in enumerate(rng.integers(0, 8, (16, 2)).tolist()):
        low, high = min(u, v), max(u, v)
        if low == high and not loops:
            continue
        ends = (nodes[low], nodes[high]) if acyclic else (nodes[u], nodes[v])
        data = [{"weight": number % 5 + 1}, {"weight": number / 4, "via": ["x", number]}, {}][number % 3]
        if G.is_multigraph() and number % 4 == 0:
            G.add_edge(*ends, key=f"key{number}", **data)
        G.add_edge(*ends, **data)
    return G


EXAMPLES = {
    f"{kind.__name__}{' with loops' if loops else ''}{' acyclic' if acyclic else ''}": (kind, loops, acyclic)
    for kind in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
    for loops in (False, True)
    for acyclic in (False, True)
    if not (loops and acyclic)
}


def described(G: Any, ordered: bool = True) -> dict[str, Any]:
    """Everything that a graph consists of; NetworkX documents no order of predecessors."""
    return {
        "class": type(G),
        "graph": G.graph,
        "nodes": list(G.nodes(data=True)) if ordered else dict(G.nodes(data=True)),
        "edges": G._adj,
        "orders": {node: list(neighbors) for node, neighbors in G._adj.items()} if ordered else {},
        "keys": [list(keyed) for part in G._adj.values() for keyed in part.values()]
        if ordered and G.is_multigraph()
        else [],
    }


def checked(G: Any) -> None:
    """The dictionaries of both directions of an edge are the same, and no attributes are shared with another edge."""
    other = G._pred if G.is_directed() else G._adj
    assert all(other[v][u] is data for u, part in G._adj.items() for v, data in part.items())
    held = [id(data) for *_, data in G.edges(data=True)]
    assert len(held) == len(set(held))


def calls() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in RETURNING:
        for given in ARGUMENTS.get(name, ({},)):
            yield name, given


@pytest.mark.costly
@pytest.mark.parametrize("cached", [False, True], ids=["fresh", "cached"])
@pytest.mark.parametrize(("name", "given"), [pytest.param(*row, id=f"{row[0]}-{row[1]}") for row in calls()])
def test_graphs_are_those_of_networkx(name: str, given: dict[str, Any], cached: bool) -> None:
    function = public(name)
    computed = 0
    for label, (kind, loops, acyclic) in EXAMPLES.items():
        G = example(kind, 11, loops=loops, acyclic=acyclic)
        if cached:
            nx.is_empty(G, backend="semiring")  # converts without attributes
            assert (False, False) in G.__networkx_cache__["backends"]["semiring"]
        graphs = (G, example(kind, 12, loops=loops, acyclic=acyclic)) if name in PRODUCTS else (G,)
        try:
            found = function(*graphs, **given, backend="semiring")
        except NotImplementedError:
            continue
        except nx.NetworkXException as error:
            with pytest.raises(type(error)):
                function(*graphs, **given)
            continue
        expected = function(*graphs, **given)
        # NetworkX lists parts of less than half of the nodes, and the line graph of an undirected one, as sets.
        ordered = name not in OTHER_ORDER and 2 * len(expected) >= len(G)
        ordered &= name != "line_graph" or G.is_directed()
        assert described(found, ordered) == described(expected, ordered), label
        assert nx.utils.graphs_equal(found, expected), label
        checked(found)
        computed += 1
    assert computed or given.get("copy") is False, "no graph was computed by the backend"


class Named(nx.DiGraph):  # type: ignore[misc]
    """A class of which NetworkX makes further graphs."""


@pytest.mark.parametrize(
    "name", ["reverse", "complement", "relabel_nodes", pytest.param("transitive_closure", marks=pytest.mark.costly)]
)
def test_graphs_of_another_class_are_left_to_networkx(name: str) -> None:
    G = Named([(0, 1)])
    given = ({"mapping": {0: 2}},) if name == "relabel_nodes" else ({},)
    with pytest.raises(NotImplementedError):
        public(name)(G, **given[0], backend="semiring")
    assert nx.ancestors(G, 1, backend="semiring") == {0}


def test_attributes_are_copied_as_deep_as_by_networkx() -> None:
    G = example(nx.DiGraph, 11, loops=True)
    for function in (nx.reverse,):
        found = function(G, backend="semiring")
        for u, v, data in found.edges(data=True):
            assert all(value is not G[v][u][name] for name, value in data.items() if isinstance(value, list))
        assert found.graph["made"] is not G.graph["made"]
        assert found.nodes["alone"]["tags"] is not G.nodes["alone"]["tags"]


def test_a_change_of_the_graph_is_seen() -> None:
    G = example(nx.DiGraph, 11, loops=False)
    nx.is_empty(G, backend="semiring")
    G.add_edge("alone", "n1", via="road")
    assert nx.utils.graphs_equal(nx.reverse(G, backend="semiring"), nx.reverse(G))
