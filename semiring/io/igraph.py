"""Conversion from and to graphs of igraph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.exceptions import DimensionMismatch, InvalidValue
from semiring.io.edge_lists import edges_to_matrix
from semiring.io.triples import TRUE, Triples, host_triples
from semiring.labels import Labels
from semiring.optional import needed

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["from_igraph", "to_igraph"]


def from_igraph(G: Any, weight: str | None = None, *, dup_op: Any = None) -> Matrix:
    """Return the adjacency matrix of a graph of igraph; its labels are the attribute ``name`` of the vertices.

    Parameters
    ----------
    G : igraph.Graph
        An undirected graph becomes a symmetric matrix.
    weight : str, optional
        The edge attribute that holds the value; by default none is read, and the matrix is iso-valued.
    dup_op : binary operator, optional
        How to combine parallel edges with weights; without weights they are one entry.

    Returns
    -------
    Matrix

    Raises
    ------
    InvalidValue
        A graph of another library, an edge attribute that does not exist or holds something else than numbers, or
        vertex names that repeat.
    DuplicateIndex

    Notes
    -----
    Cost O(vertices + edges), in Python.

    Examples
    --------
    >>> import igraph
    >>> sr.io.from_igraph(igraph.Graph([(0, 1), (1, 2)])).to_dicts()
    {0: {1: True}, 1: {0: True, 2: True}, 2: {1: True}}
    """
    if not hasattr(G, "get_edgelist"):
        raise InvalidValue(f"from_igraph: expected a graph of igraph, got {type(G).__name__}")
    n = G.vcount()
    ends = np.array(G.get_edgelist(), np.int64).reshape(-1, 2)
    values: Any = TRUE
    if weight is not None:
        if weight not in G.es.attributes():
            raise InvalidValue(f"from_igraph: edges have no attribute {weight!r}; they have {G.es.attributes()}")
        values = np.asarray(G.es[weight])
        if values.dtype.kind not in "biufc" and values.size:
            raise InvalidValue(f"edge attribute {weight!r}: expected a number for each edge, got {values.dtype} values")
    triples = Triples(n, n, ends[:, 0], ends[:, 1], values)
    A = edges_to_matrix(triples if G.is_directed() else triples.symmetrised(), dup_op)
    if "name" in G.vs.attributes():
        A.labels = Labels(G.vs["name"])
    return A


def to_igraph(A: Matrix, weight: str | None = "weight", *, directed: bool = True) -> Any:
    """Return the graph of igraph whose adjacency matrix is ``A``, with the labels as the attribute ``name``.

    Parameters
    ----------
    A : Matrix
        Square.
    weight : str, optional
        The edge attribute that receives the values; None for none.  An iso-valued bool matrix sets none.
    directed : bool
        False: an undirected graph, of the entries (i, j) with i <= j; the matrix must have a symmetric structure.

    Returns
    -------
    igraph.Graph

    Raises
    ------
    DimensionMismatch
        The matrix is not square.
    InvalidValue
        ``directed=False`` for a matrix without a symmetric structure.
    NotSupported
        igraph is not installed.

    Notes
    -----
    Cost O(nrows + nvals), in Python.  Synchronises, and copies to the host.

    Examples
    --------
    >>> G = sr.io.to_igraph(Matrix.from_coo([0, 1], [1, 2], [5, 6], shape=(3, 3)))
    >>> G.get_edgelist(), G.es["weight"]
    ([(0, 1), (1, 2)], [5, 6])
    """
    igraph = needed("to_igraph", "igraph")
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"to_igraph: expected a square matrix, got {A.nrows} x {A.ncols}")
    if not directed:
        if not A.is_symmetric_structure:
            raise InvalidValue("to_igraph: an undirected graph needs a symmetric structure; use A | A.T")
        A = A.select("triu")
    entries = host_triples(A)
    G = igraph.Graph(n=A.nrows, edges=np.stack([entries.rows, entries.cols], axis=1), directed=directed)
    iso = not isinstance(entries.values, np.ndarray)
    if weight is not None and not (iso and entries.values.dtype == np.bool_):
        G.es[weight] = np.broadcast_to(entries.values, len(entries.rows)).tolist()
    if A.labels is not None:
        G.vs["name"] = list(A.labels)
    return G
