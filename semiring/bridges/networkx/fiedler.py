"""The second eigenvalue of the Laplacian and its vector, which separate a graph into two parts."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from networkx.utils import create_random_state
from numpy.typing import NDArray

from semiring import Matrix
from semiring import algorithms as sr
from semiring.exceptions import ConvergenceFailure

from .communities import _seed
from .graph import Graph, Node
from .registry import implements, refuse

_METHODS = ("tracemin", "tracemin_pcg", "tracemin_lu", "lanczos", "lobpcg")


def _graph(G: Graph, weight: Any) -> Matrix:
    """Return the undirected graph of the absolute weights, without self-loops and zeros; both directions are added."""
    if len(G) < 2:
        raise nx.NetworkXError("graph has less than two nodes.")
    values = G.weights(weight)
    lengths = np.ones(len(G.cols)) if values is None else np.abs(values).astype(np.float64)
    kept = (G.rows != G.cols) & (lengths != 0)
    rows, cols, lengths = G.rows[kept], G.cols[kept], lengths[kept]
    if G.is_directed():
        rows, cols, lengths = np.append(rows, cols), np.append(cols, rows), np.append(lengths, lengths)
    n = len(G)
    return Matrix.from_coo(rows, cols, lengths, shape=(n, n), dup_op="plus", device=G.device)


def _fiedler(A: Matrix, normalized: bool, tol: float, method: str, seed: Any) -> Any:
    if normalized:
        raise refuse("the normalized Laplacian")
    if method not in _METHODS:
        raise nx.NetworkXError(f"unknown method {method!r}.")
    try:
        return sr.fiedler_vector(A, weight=True, tol=tol, seed=_seed(create_random_state(seed)))
    except ConvergenceFailure as failure:
        raise refuse("an eigenvector that more iterations are needed for") from failure


@implements()
def algebraic_connectivity(
    G: Graph,
    weight: Any = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> float:
    """Return the second smallest eigenvalue of the Laplacian; 0 if the graph is not connected."""
    A = _graph(G, weight)
    if not sr.is_connected(A):
        return 0.0
    return float(_fiedler(A, normalized, tol, method, seed).value)


@implements()
def fiedler_vector(
    G: Graph,
    weight: Any = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> NDArray[np.float64]:
    """Return the eigenvector of the second smallest eigenvalue of the Laplacian."""
    A = _graph(G, weight)
    if not sr.is_connected(A):
        raise nx.NetworkXError("graph is not connected.")
    if len(G) == 2:
        return np.array([1.0, -1.0])
    return np.asarray(_fiedler(A, normalized, tol, method, seed).vector.to_numpy())


@implements()
def spectral_bisection(
    G: Graph,
    weight: Any = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> tuple[set[Node], set[Node]]:
    """Return the nodes where the Fiedler vector has the sign of the first node, and the others."""
    if G.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    vector = fiedler_vector(G, weight, normalized, tol, method, seed)
    second = (vector if vector[0] < 0 else -vector) >= 0
    return set(G.labels(np.flatnonzero(~second))), set(G.labels(np.flatnonzero(second)))
