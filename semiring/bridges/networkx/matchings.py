"""Whether edges are a matching."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.matching import matching_dict_to_set
from numpy.typing import NDArray

from .graph import Graph
from .registry import implements, refuse
from .sorted_sets import among


def _matched(G: Graph, matching: Any) -> NDArray[np.bool_] | None:
    """Return which rows the edges of a matching join, or None if they are no matching."""
    edges: Iterable[Any] = matching_dict_to_set(matching) if isinstance(matching, dict) else matching
    matched = bytearray(len(G))
    rows: list[int] = []
    error: nx.NetworkXError | None = None
    is_matching = True
    for edge in edges:
        if len(edge) != 2:
            error = nx.NetworkXError(f"matching has non-2-tuple edge {edge}")
            break
        u, v = edge
        if u not in G or v not in G:
            error = nx.NetworkXError(f"matching contains edge {edge} with node not in G")
            break
        i, j = G.index[u], G.index[v]
        if i == j or matched[i] or matched[j]:
            is_matching = False
            break
        rows += [i, j]
        matched[i] = matched[j] = 1
    pairs = np.array(rows, np.int64).reshape(-1, 2)
    n = max(len(G), 1)
    if not among(pairs[:, 0] * n + pairs[:, 1], G.rows * n + G.cols).all():
        return None  # an edge that is missing precedes what ended the loop
    if error is not None:
        raise error
    return np.frombuffer(matched, np.bool_) if is_matching else None


@implements()
def is_matching(G: Graph, matching: Any) -> bool:
    """Return whether no two edges have a common node."""
    return _matched(G, matching) is not None


@implements()
def is_maximal_matching(G: Graph, matching: Any) -> bool:
    """Return whether the edges are a matching to which no edge can be added."""
    if G.is_multigraph():
        raise refuse("a multigraph, whose edges NetworkX does not unpack")
    matched = _matched(G, matching)
    return matched is not None and not bool((~matched[G.rows] & ~matched[G.cols] & (G.rows != G.cols)).any())


@implements()
def is_perfect_matching(G: Graph, matching: Any) -> bool:
    """Return whether the edges are a matching that joins every node."""
    matched = _matched(G, matching)
    return matched is not None and bool(matched.all())
