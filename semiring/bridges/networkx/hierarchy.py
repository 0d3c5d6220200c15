"""Hierarchies in directed graphs: what a node reaches, trophic levels, flow without cycles."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from semiring import algorithms as sr

from .components import strong
from .graph import Graph, Node
from .registry import implements, refuse
from .search import breadth_first


def _reaching(G: Graph) -> NDArray[np.float64]:
    """Return for each node the share of the others that it reaches; of undirected graphs the sum of 1 / distance."""
    if not G.is_directed():
        return sr.harmonic_centrality(G.structure).to_numpy(0.0) / (len(G) - 1)
    found = sr.condensation(G.structure)
    labels = strong(G)
    _, number, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    closure = sr.transitive_closure(found.graph, reflexive=True)
    rows, cols, _ = closure.to_coo(device="cpu")
    reached = np.bincount(np.asarray(rows), sizes[np.asarray(cols)], len(sizes))[number]
    return np.asarray((reached - 1) / (len(G) - 1))


@implements()
def global_reaching_centrality(G: Graph, weight: Any = None, normalized: bool = True) -> float:
    """Return the mean difference between the greatest local reaching centrality and that of each other node."""
    if weight is not None:
        raise refuse("reaching centrality with weights")
    if len(G.cols) == 0:
        raise nx.NetworkXError("Size of G must be positive")
    if len(G) == 1:
        raise refuse("reaching centrality of one node")
    found = _reaching(G)
    return float((found.max() - found).sum() / (len(G) - 1))


@implements()
def local_reaching_centrality(
    G: Graph, v: Node, paths: Any = None, weight: Any = None, normalized: bool = True
) -> float:
    """Return the share of the other nodes that a node reaches; of undirected graphs the mean of 1 / distance."""
    if paths is not None or weight is not None:
        raise refuse("reaching centrality with weights or given paths")
    if len(G.cols) == 0:
        raise nx.NetworkXError("Size of G must be positive")
    if len(G) == 1:
        raise nx.NetworkXError("local_reaching_centrality of a single node with self-loop not well-defined")
    search = breadth_first(G, [G.row(v, f"Source {v} not in G")])
    if G.is_directed():
        return (len(search.order) - 1) / (len(G) - 1)
    return float((1 / search.distance[search.order[1:]]).sum() / (len(G) - 1))


def _levels(G: Graph, weight: Any, slots: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return 1 + the mean level of the predecessors of each node, along some edges; 1 for a node without any."""
    n = len(G)
    rows, cols = G.rows[slots], G.cols[slots]
    basal = np.bincount(cols, minlength=n) == 0
    if not basal.any():
        raise nx.NetworkXError(
            "This graph has no basal nodes (nodes with no incoming edges)."
            "Trophic levels are not defined without at least one basal node."
        )
    if len(breadth_first(G, np.flatnonzero(basal).tolist()).order) < n:
        raise nx.NetworkXError(
            "Trophic levels are only defined for graphs where every node has a path from a basal node "
            "(basal nodes are nodes with no incoming edges)."
        )
    values = G.weights(weight)
    lengths = np.ones(len(rows)) if values is None else values[slots].astype(np.float64)
    if len(lengths) and not lengths.min() > 0:
        raise refuse("trophic levels with weights that are not positive")
    shares = lengths / np.bincount(cols, lengths, n)[cols]
    P = sparse.coo_array((shares, (cols, rows)), shape=(n, n))
    solved: NDArray[np.float64] = splu((sparse.eye_array(n) - P).tocsc()).solve(np.ones(n))
    solved[basal] = 1
    return solved


@implements()
def trophic_levels(G: Graph, weight: Any = "weight") -> dict[Node, float]:
    """Return 1 for nodes without predecessors, and 1 + the mean level of its predecessors for each other node."""
    levels = _levels(G, weight, np.ones(len(G.cols), np.bool_))
    basal = G.degrees("in") == 0
    found: dict[Node, float] = dict.fromkeys(G.labels(np.flatnonzero(basal)), 1)
    others = np.flatnonzero(~basal)
    found.update(zip(G.labels(others), levels[others].tolist(), strict=True))
    return found


@implements()
def trophic_differences(G: Graph, weight: Any = "weight") -> dict[Any, float]:
    """Return for each edge by how much the level of its head exceeds that of its tail."""
    if G.is_multigraph():
        raise refuse("trophic differences along parallel edges")
    levels = _levels(G, weight, np.ones(len(G.cols), np.bool_))
    return dict(zip(G.edges(), (levels[G.cols] - levels[G.rows]).tolist(), strict=True))


@implements()
def trophic_incoherence_parameter(G: Graph, weight: Any = "weight", cannibalism: bool = False) -> float:
    """Return the standard deviation of the trophic differences; self-loops count with `cannibalism`."""
    if G.is_multigraph():
        raise refuse("trophic differences along parallel edges")
    slots = np.ones(len(G.cols), np.bool_) if cannibalism else G.rows != G.cols
    levels = _levels(G, weight, slots)
    differences = (levels[G.cols] - levels[G.rows])[slots]
    if not differences.size:
        raise refuse("the deviation of no differences")
    return float(np.std(differences))


@implements()
def flow_hierarchy(G: Graph, weight: Any = None) -> float:
    """Return the share of the weight of the edges that are in no cycle."""
    if len(G.cols) == 0:
        raise nx.NetworkXError("flow_hierarchy not applicable to empty graphs")
    if not G.is_directed():
        raise nx.NetworkXError("G must be a digraph in flow_hierarchy")
    values = G.weights(weight)
    lengths = np.ones(len(G.cols), np.int64) if values is None else values
    labels = strong(G)
    total = lengths.sum().item()
    return float(1 - lengths[labels[G.rows] == labels[G.cols]].sum().item() / total)
