"""Matrices of a graph as arrays: incidence, modularity, normalized Laplacian, Bethe Hessian."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from scipy import sparse

from .convert import every_edge, whole
from .graph import Graph
from .operators import to_scipy_sparse_array
from .registry import implements, refuse


def _adjacency(G: Graph, nodelist: Any, weight: Any) -> Any:
    return to_scipy_sparse_array(G, list(G.nodes) if nodelist is None else nodelist, None, weight)


@implements()
def incidence_matrix(
    G: Graph,
    nodelist: Any = None,
    edgelist: Any = None,
    oriented: bool = False,
    weight: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Return the array with a column for each edge, which has an entry in the rows of its two ends."""
    if edgelist is not None:
        raise refuse("the incidence matrix of given edges")
    edges = every_edge(G)
    place = np.arange(len(G))
    height = len(G)
    if nodelist is not None:
        height = len(nodelist)
        rows = [G.index[node] for node in nodelist if node in G]
        if len(set(rows)) != height:
            raise refuse("rows that are no nodes, or the same node")
        place = np.full(len(G), -1)
        place[rows] = np.arange(height)
    tails, heads = G.rows[edges], G.cols[edges]
    proper = np.flatnonzero(tails != heads)
    tails, heads = place[tails[proper]], place[heads[proper]]
    if proper.size and min(tails.min(), heads.min()) < 0:
        raise nx.NetworkXError("an end of an edge in edgelist but not in nodelist")
    values = G.weights(weight)
    lengths = np.ones(proper.size) if values is None else values[edges[proper]]
    made = sparse.coo_array(
        (np.append(-lengths if oriented else lengths, lengths), (np.append(tails, heads), np.append(proper, proper))),
        shape=(height, edges.size),
        dtype=np.float64 if dtype is None else dtype,
    ).tocsc()
    made.eliminate_zeros()
    return made


@implements()
def normalized_laplacian_matrix(G: Graph, nodelist: Any = None, weight: Any = "weight") -> Any:
    """Return D^-1/2 (D - A) D^-1/2 as a SciPy array, where D holds the sums of the rows of A."""
    A = _adjacency(G, nodelist, weight)
    n = A.shape[0]
    sums = A.sum(axis=1)
    with np.errstate(divide="ignore"):
        scale = 1.0 / np.sqrt(sums)
    scale[np.isinf(scale)] = 0
    D, root = (sparse.dia_array((part, 0), shape=(n, n)).tocsr() for part in (sums, scale))
    return root @ ((D - A) @ root)


@implements()
def modularity_matrix(G: Graph, nodelist: Any = None, weight: Any = None) -> Any:
    """Return A - k k' / (2 m) as an array, where k are the sums of the rows and m is half of their sum."""
    A = _adjacency(G, nodelist, weight)
    k = A.sum(axis=1)
    return A - np.outer(k, k) / (2 * (k.sum() * 0.5))


@implements()
def directed_modularity_matrix(G: Graph, nodelist: Any = None, weight: Any = None) -> Any:
    """Return A - k_out k_in' / m as an array, with the sums of rows and columns, and m of all entries."""
    A = _adjacency(G, nodelist, weight)
    k_in, k_out = A.sum(axis=0), A.sum(axis=1)
    return A - np.outer(k_out, k_in) / k_in.sum()


@implements()
def bethe_hessian_matrix(G: Graph, r: Any = None, nodelist: Any = None) -> Any:
    """Return (r^2 - 1) I - r A + D as a SciPy array, where D holds the sums of the rows of A."""
    if r is None:
        degrees = G.degrees()
        r = int(degrees @ degrees) / int(degrees.sum()) - 1
    A = _adjacency(whole(G), nodelist, "weight")  # NetworkX converts no weights, and uses them
    n = A.shape[0]
    D = sparse.dia_array((A.sum(axis=1), 0), shape=(n, n)).tocsr()
    return (r**2 - 1) * sparse.eye_array(n, n, format="csr") - r * A + D
