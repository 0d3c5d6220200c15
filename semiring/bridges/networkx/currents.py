"""Electrical currents and random walks: measures that need the inverse of a Laplacian.

C is the inverse of the Laplacian without the row and column of node 0, in which C is 0.  A current of 1 from s to t
makes the potential p(v) = C(v, s) - C(v, t), and sends w (p(u) - p(v)) along an edge (u, v) of weight w.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import algorithms as sr

from .communicability import keep_small, scipy_array
from .graph import Graph, Node
from .registry import implements, refuse

_SOLVERS = ("full", "lu", "cg")
#: Currents that are computed together: about 64 MiB.
_BATCH = 2**23


def _inverse(G: Graph, weight: Any, dtype: Any, solver: str) -> NDArray[np.float64]:
    """Return C of a connected graph with positive weights."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if not sr.is_connected(G.structure):
        raise nx.NetworkXError("Graph not connected.")
    values = G.weights(weight)
    if solver not in _SOLVERS or dtype is not float or len(G) < 3:
        raise refuse("currents with another solver or type, or of fewer than three nodes")
    if values is not None and not values.min() > 0:
        raise refuse("currents with weights that are not positive")
    made: NDArray[np.float64] = keep_small(G, ("potentials", weight), lambda: _inverted(G, weight))
    return made


def _inverted(G: Graph, weight: Any) -> NDArray[np.float64]:
    L = -scipy_array(G, weight).toarray()
    np.fill_diagonal(L, 0)
    np.fill_diagonal(L, -L.sum(axis=1))
    C = np.zeros_like(L)
    C[1:, 1:] = np.linalg.inv(L[1:, 1:])
    return np.asarray(C)


@implements()
def current_flow_closeness_centrality(
    G: Graph, weight: Any = None, dtype: Any = float, solver: str = "lu"
) -> dict[Node, float]:
    """Return 1 / the sum of the effective resistances to the other nodes: C(v, v) + C(w, w) - 2 C(v, w)."""
    C = _inverse(G, weight, dtype, solver)
    return G.by_node(1 / (len(G) * C.diagonal() + C.trace() - 2 * C.sum(axis=1)))


def _currents(G: Graph, weight: Any, C: NDArray[np.float64]) -> Iterator[tuple[Any, Any, NDArray[np.float64]]]:
    """Yield batches of edges: their ends, and w C(u, x) - w C(v, x) for every x."""
    rows, cols = G.edge_rows()
    values = G.weights(weight)
    lengths = np.ones(len(rows)) if values is None else values[_edges(G)].astype(np.float64)
    kept = rows != cols
    rows, cols, lengths = rows[kept], cols[kept], lengths[kept]
    step = max(1, _BATCH // len(G))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        yield rows[part], cols[part], lengths[part, None] * (C[rows[part]] - C[cols[part]])


def _edges(G: Graph) -> Any:
    return slice(None) if G.neighbors.once is None else G.neighbors.once


def _throughput(currents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each edge the sum of its currents between all pairs: that of |p(s) - p(t)| over s < t."""
    n = currents.shape[1]
    currents.sort(axis=1)
    return np.asarray(currents @ (2 * np.arange(n) + 1.0 - n))


def _simple(G: Graph) -> None:
    if G.is_multigraph() or G.loops:
        raise refuse("currents along parallel edges or self-loops")


@implements()
def current_flow_betweenness_centrality(
    G: Graph, normalized: bool = True, weight: Any = None, dtype: Any = float, solver: str = "full"
) -> dict[Node, float]:
    """Return the sum of the currents through each node between all pairs of others."""
    _simple(G)
    C = _inverse(G, weight, dtype, solver)
    n, total = len(G), np.zeros(len(G))
    for rows, cols, currents in _currents(G, weight, C):
        through = _throughput(currents)
        total += np.bincount(rows, through, n) + np.bincount(cols, through, n)
    return G.by_node((total / 2 - (n - 1) / 2) * _pairs(n, normalized))


def _pairs(n: int, normalized: bool) -> float:
    return 2.0 / ((n - 1.0) * (n - 2.0) if normalized else 2.0)


@implements()
def edge_current_flow_betweenness_centrality(
    G: Graph, normalized: bool = True, weight: Any = None, dtype: Any = float, solver: str = "full"
) -> dict[Any, float]:
    """Return the sum of the currents along each edge between all pairs of nodes."""
    _simple(G)
    C = _inverse(G, weight, dtype, solver)
    through = np.concatenate([_throughput(currents) for _, _, currents in _currents(G, weight, C)])
    rows, cols = G.edge_rows()
    rank = np.empty(len(G), np.int64)
    rank[_ordering(G)] = np.arange(len(G))
    first = np.where(rank[rows] < rank[cols], rows, cols)
    values = (through * (_pairs(len(G), normalized) / 2)).tolist()
    return dict(zip(zip(G.labels(first), G.labels(rows + cols - first), strict=True), values, strict=True))


def _ordering(G: Graph) -> list[int]:
    """Return the rows in the reverse Cuthill-McKee order of NetworkX, by which it names an edge (u, v) or (v, u)."""
    H = nx.Graph()
    H.add_nodes_from(range(len(G)))
    H.add_edges_from(zip(G.rows.tolist(), G.cols.tolist(), strict=True))
    return list(nx.utils.reverse_cuthill_mckee_ordering(H))


@implements()
def second_order_centrality(G: Graph, weight: Any = "weight") -> dict[Node, float]:
    """Return the standard deviation of the time between two visits of each node by a random walk.

    Self-loops give all nodes the greatest degree.  The walk then visits them equally often, and the sum over i of the
    expected times from i to j is n**2 Z(j, j), where Z is the inverse of I - P + 1/n.
    """
    n = len(G)
    if n == 0:
        raise nx.NetworkXException("Empty graph.")
    if not sr.is_connected(G.structure):
        raise nx.NetworkXException("Non connected graph.")
    values = G.weights(weight)
    if values is not None and (values < 0).any():
        raise nx.NetworkXException("Graph has negative edge weights.")
    if n == 1 or G.loops or G.is_multigraph() or weight != "weight":
        raise refuse("second order centrality of one node, with self-loops, parallel edges or another weight")
    P = scipy_array(G, weight).toarray()
    degrees = P.sum(axis=1)
    if not degrees.max() > 0:
        raise refuse("a walk without weights")
    np.fill_diagonal(P, degrees.max() - degrees)
    P /= degrees.max()
    try:
        Z = np.linalg.inv(np.identity(n) - P + 1.0 / n)
    except np.linalg.LinAlgError as error:
        raise refuse("a walk that does not reach all nodes") from error
    with np.errstate(invalid="ignore"):
        return G.by_node(np.sqrt(2 * n * n * Z.diagonal() - n * (n + 1)))
