"""Functions of the adjacency matrix: its exponential, its principal eigenvector, and the energy of its Laplacian.

The exponential of a symmetric matrix A = V diag(w) V' is V diag(exp w) V': one decomposition
serves all of its centralities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import eigs

from semiring import algorithms as sr
from semiring.exceptions import ConvergenceFailure

from .centrality import as_vector
from .components import strong
from .graph import Graph, Node
from .registry import implements, left_to_networkx, refuse

#: Dense matrices of at most so many rows are kept: 32 MiB.
_LARGEST_KEPT = 2048
#: The change of a vector, for each of its entries, at which further steps of an iteration only change rounding errors.
_NEGLIGIBLE = 1e-15


def scipy_array(G: Graph, weight: Any) -> sparse.csr_array:
    """Return the adjacency matrix in float64, where parallel edges are added."""
    values = G.weights(weight)
    data = np.ones(len(G.cols)) if values is None else values.astype(np.float64)
    made = sparse.csr_array((data, G.cols, G.neighbors.indptr), shape=(len(G), len(G)), copy=True)
    made.sum_duplicates()
    return made


def spectrum(G: Graph, weight: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the eigenvalues and the eigenvectors, as columns, of a symmetric adjacency matrix."""

    def make() -> Any:
        return tuple(np.linalg.eigh(scipy_array(G, weight).toarray()))

    made: tuple[NDArray[np.float64], NDArray[np.float64]] = keep_small(G, ("spectrum", weight), make)
    return made


def keep_small(G: Graph, key: Any, make: Callable[[], Any]) -> Any:
    """Return a dense matrix of all pairs of nodes, kept with the graph if it is small."""
    return G.kept(key, make) if len(G) <= _LARGEST_KEPT else make()


@implements()
def subgraph_centrality(G: Graph, *, normalized: bool = False) -> dict[Node, float]:
    """Return the diagonal of exp(A): closed walks at each node, those of k steps divided by k!."""
    if len(G) == 0:
        raise refuse("the spectrum of a null graph")
    w, V = spectrum(G, None)
    return G.by_node((V * V) @ np.exp(w - w.max() if normalized else w))


@implements()
def subgraph_centrality_exp(G: Graph, *, normalized: bool = False) -> dict[Node, float]:
    """Return the diagonal of exp(A): closed walks at each node, those of k steps divided by k!."""
    if normalized:
        raise refuse("subgraph_centrality_exp with normalized")
    return subgraph_centrality(G)


@implements()
def estrada_index(G: Graph) -> float:
    """Return the trace of exp(A)."""
    if G.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    if G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")
    return float(np.sum(list(subgraph_centrality(G).values())))


@implements()
def communicability(G: Graph) -> dict[Node, dict[Node, float]]:
    """Return exp(A): walks between each two nodes, those of k steps divided by k!."""
    if len(G) == 0:
        raise refuse("the spectrum of a null graph")
    w, V = spectrum(G, None)
    rows = ((V * np.exp(w)) @ V.T).tolist()
    return {node: dict(zip(G.nodes, row, strict=True)) for node, row in zip(G.nodes, rows, strict=True)}


implements(name="communicability_exp")(communicability)


@implements()
def spectral_bipartivity(G: Graph, nodes: Any = None, weight: Any = "weight") -> Any:
    """Return the share of closed walks of an even number of steps: trace(cosh A) / trace(exp A), or by node."""
    if G.is_directed() or len(G) == 0:
        raise refuse("the spectrum of a directed or a null graph")
    w, V = spectrum(G, weight if G.weights(weight) is not None or G.is_multigraph() else None)
    with np.errstate(over="ignore"):
        even, every = ((V * V) @ walks(w) for walks in (np.cosh, np.exp))
    if not np.isfinite(every).all():
        raise refuse("an exponential that exceeds float64")
    if nodes is None:
        return float(even.sum() / every.sum())
    return {node: float(even[G.index[node]] / every[G.index[node]]) for node in nodes}


@implements()
def eigenvector_centrality_numpy(G: Graph, weight: Any = None, max_iter: int = 50, tol: float = 0) -> dict[Node, float]:
    """Return the principal eigenvector of the adjacency matrix, by the Arnoldi iteration."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    connected = bool((strong(G) == 0).all()) if G.is_directed() else sr.is_connected(G.structure)
    if not connected:
        raise nx.AmbiguousSolution(
            "`eigenvector_centrality_numpy` does not give consistent results for disconnected graphs"
        )
    _, vectors = eigs(scipy_array(G, weight).T, k=1, which="LR", maxiter=max_iter, tol=tol)
    largest = vectors.ravel().real
    return G.by_node(largest / (np.sign(largest.sum()) * np.linalg.norm(largest)))


@implements()
def katz_centrality_numpy(
    G: Graph, alpha: float = 0.1, beta: Any = 1.0, normalized: bool = True, weight: Any = None
) -> dict[Node, float]:
    """Return the solution of x = alpha A' x + beta, by iteration."""
    if len(G) == 0:
        return {}
    if len(G) == 1:
        raise refuse("the Katz centrality of one node")
    if hasattr(beta, "keys"):
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node")
        bias: Any = as_vector(G, beta)
    else:
        if not isinstance(beta, (int, float, np.floating, np.integer)):
            raise refuse("a bias that is not a number")
        bias = float(beta)
    weighted = G.weights(weight) is not None
    try:
        x = left_to_networkx(
            lambda: sr.katz_centrality(
                G.matrix(weight), alpha, bias, weight=weighted, normalized=False, tol=_NEGLIGIBLE, max_iter=1000
            )
        ).to_numpy()
    except ConvergenceFailure as failure:
        raise refuse("a Katz centrality whose walks have no finite sum") from failure
    norm = np.sign(x.sum()) * np.linalg.norm(x) if normalized else 1
    if not norm or not np.isfinite(x).all():
        raise refuse("a Katz centrality of norm 0 or that exceeds float64")
    found: dict[Node, float] = G.by_node(x / norm)
    return {node: found[node] for node in beta} if hasattr(beta, "keys") else found


@implements()
def laplacian_centrality(
    G: Graph,
    normalized: bool = True,
    nodelist: Any = None,
    weight: Any = "weight",
    walk_type: Any = None,
    alpha: float = 0.95,
) -> dict[Node, float]:
    """Return by how much the sum of the squares of the Laplacian decreases without each node.

    Without node v the squares of row and column v are missing, and the degree d(u) of a neighbor is less by the weight
    a of its edge:  L(v, v)**2 + sum over u of 2 a**2 + L(u, u)**2 - (L(u, u) - a)**2.
    """
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("null graph has no centrality defined")
    if G.is_directed():
        raise refuse("the Laplacian of a directed graph")
    A = scipy_array(G, weight)
    if G.loops == 0 and A.sum() == 0:
        if normalized:
            raise ZeroDivisionError("graph with no edges has zero full energy")
        return dict.fromkeys(G, 0)
    rows = list(range(len(G)))
    if nodelist is not None:
        if len(set(G.nbunch(nodelist))) != len(nodelist):
            raise nx.NetworkXError("nodelist has duplicate nodes or nodes not in G")
        rows = [G.index[node] for node in nodelist]
    diagonal = A.sum(axis=1) - A.diagonal()
    A.setdiag(0)
    a = abs(A)
    squares = a.multiply(a).sum(axis=1)
    lost = diagonal**2 + 2 * squares + 2 * (a @ diagonal) - squares
    whole = float((diagonal**2).sum() + squares.sum())
    if normalized:
        if not whole:
            raise refuse("a Laplacian without energy")
        lost = lost / whole
    return dict(zip(G.labels(rows), lost[rows].tolist(), strict=True))
