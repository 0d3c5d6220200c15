"""Conversion from and to NetworkX graphs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semiring.dtypes import lookup
from semiring.exceptions import DimensionMismatch, InvalidValue
from semiring.io.edge_lists import edges_to_matrix
from semiring.io.label_sets import common_labels, named_values
from semiring.io.networkx_arrays import Column, Neighbors, attribute, fill_adjacency, read_neighbors
from semiring.io.triples import TRUE, Triples, host_triples
from semiring.labels import Labels
from semiring.labels.coding import value_codes
from semiring.memory.arrays import as_type
from semiring.optional import needed
from semiring.record_types import of_columns

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["from_networkx", "networkx_triples", "to_networkx"]


def from_networkx(
    G: Any,
    weight: Hashable | list[Hashable] | None = None,
    nodelist: Iterable[Hashable] | None = None,
    dtype: Any = None,
    *,
    dup_op: Any = None,
    node_attributes: bool | Iterable[Hashable] = False,
    value_labels: bool | Labels = False,
) -> Matrix:
    """Return the adjacency matrix of a NetworkX graph: ``A(i, j)`` is the weight of the edge from node i to node j.

    Parameters
    ----------
    G : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        An undirected graph becomes a symmetric matrix.
    weight : str, or a list of them, optional
        The edge attribute that holds the value; an edge without it has the value 1. Of a list, each value is a record
        of these attributes. By default no attribute is read, and the matrix is iso-valued.
    nodelist : iterable of nodes, optional
        The order of rows and columns; by default that of the graph. Edges of nodes that are not in it are omitted.
    dtype : optional
        By default bool without weights, else the dtype that NumPy infers from them.
    dup_op : binary operator, optional
        How to combine parallel edges of a multigraph with weights; without weights they are one entry.
    node_attributes : bool, or names of attributes
        Read these attributes of nodes, or all, as ``.labels.attributes``; None where a node lacks one.
    value_labels : bool or Labels
        The attribute `weight` holds names, such as kinds of roads: store each as the rank of its name, in
        ``.value_labels`` of the result, or in these Labels.

    Returns
    -------
    Matrix
        Its ``.labels`` are the nodes.

    Raises
    ------
    InvalidValue
        A node of ``nodelist`` occurs twice or is not in the graph, a weight is not a number, an edge lacks
        an attribute of names, or no node has an attribute that is named.
    DuplicateIndex
        Parallel edges with weights, without ``dup_op``.

    Notes
    -----
    O(nodes + edges), in Python.

    Examples
    --------
    >>> import networkx as nx
    >>> G = nx.Graph()
    >>> G.add_edge("a", "b", weight=5)
    >>> sr.io.from_networkx(G, weight="weight").to_dicts()
    {0: {1: 5}, 1: {0: 5}}
    """
    chosen = None if nodelist is None else list(nodelist)
    names: list[Labels] = []

    def coded(G: Any, neighbors: Neighbors, name: Hashable) -> NDArray[np.int64]:
        column = attribute(G._adj, neighbors, name)
        if column is None or column.present is not None:
            raise InvalidValue(f"edge attribute {name!r}: expected a name for each edge, and one lacks it")
        codes, found = value_codes("from_networkx", str(name), column.values, value_labels, dup_op, dtype)
        names.append(found)
        return codes

    if value_labels is not False and (weight is None or isinstance(weight, list)):
        raise InvalidValue(f"from_networkx: value_labels= is for one attribute of names, got weight={weight!r}")
    read = _weights if value_labels is False else coded
    triples, nodes = networkx_triples(G, weight, chosen, dtype, read), list(G) if chosen is None else chosen
    A = edges_to_matrix(replace(triples, labels=Labels(nodes, _attributes(G, nodes, node_attributes))), dup_op)
    A.value_labels = names[0] if names else None
    return A


def _attributes(G: Any, nodes: list[Hashable], wanted: bool | Iterable[Hashable]) -> dict[Hashable, list[Any]]:
    """Return attributes of nodes as columns, with None where a node lacks one."""
    if not wanted:
        return {}
    data = [G.nodes[node] for node in nodes]
    names = list(dict.fromkeys(name for attributes in data for name in attributes))
    if wanted is not True:
        known, names = set(names), [wanted] if isinstance(wanted, str) else list(wanted)
        if nodes and (missing := [name for name in names if name not in known]):
            raise InvalidValue(f"from_networkx: no node has the attribute {missing[0]!r}")
    return {name: [attributes.get(name) for attributes in data] for name in names}


def networkx_triples(
    G: Any,
    weight: Hashable | list[Hashable] | None = None,
    nodelist: Iterable[Hashable] | None = None,
    dtype: Any = None,
    read: Callable[[Any, Neighbors, Hashable], NDArray[Any]] | None = None,
) -> Triples:
    """Read the entries of `from_networkx` as arrays; read: what returns an attribute of every slot."""
    read = read or _weights
    if not hasattr(G, "adjacency"):
        raise InvalidValue(f"from_networkx: expected a graph of NetworkX, got {type(G).__name__}")
    neighbors = read_neighbors(G)
    rows, cols, n = neighbors.rows, neighbors.cols, len(neighbors.nodes)
    values: Any
    if weight is None:
        values = TRUE if dtype is None else lookup(dtype).type(1)
    elif isinstance(weight, list):
        if dtype is not None or not weight:
            raise InvalidValue("from_networkx: a list of weights names one attribute at least, and has no dtype")
        values = of_columns({str(name): read(G, neighbors, name) for name in weight})
    else:
        values = read(G, neighbors, weight)
        values = as_type(values, lookup(values.dtype if dtype is None else dtype), copy=False)
    if nodelist is not None:
        place, n = _places(neighbors, list(nodelist))
        kept = (place[rows] >= 0) & (place[cols] >= 0)
        rows, cols = place[rows[kept]], place[cols[kept]]
        values = values[kept] if isinstance(values, np.ndarray) else values
    return Triples(n, n, rows, cols, values)


def _weights(G: Any, neighbors: Neighbors, name: Hashable) -> NDArray[Any]:
    """Return an attribute of every slot, 1 where an edge lacks it."""
    column = attribute(G._adj, neighbors, name)
    values = np.ones(len(neighbors.cols), np.int64) if column is None else column.filled(1)
    if values.dtype.kind not in "biufc":
        raise InvalidValue(
            f"edge attribute {name!r}: expected a number for each edge, got {values.dtype} values; value_labels=True "
            f"numbers names"
        )
    return values


def _places(neighbors: Neighbors, wanted: list[Hashable]) -> tuple[NDArray[np.int64], int]:
    """Return the place of each node in a list of nodes, -1 where it is not in it, and the length of the list."""
    place = np.full(len(neighbors.nodes), -1)
    index = dict(zip(neighbors.nodes, range(len(neighbors.nodes)), strict=True))
    for number, node in enumerate(wanted):
        row = index.get(node)
        if row is None:
            raise InvalidValue(f"nodelist: expected nodes of the graph, got {node!r}")
        if place[row] >= 0:
            raise InvalidValue(f"nodelist: expected each node once, got {node!r} twice")
        place[row] = number
    return place, len(wanted)


def to_networkx(
    A: Matrix, weight: str | None = "weight", *, create_using: Any = None, nodes: Sequence[Hashable] | None = None
) -> Any:
    """Return the NetworkX graph whose adjacency matrix is ``A``: an edge from i to j for each stored entry ``A(i, j)``.

    Parameters
    ----------
    A : Matrix
        Square.
    weight : str, optional
        The edge attribute that receives the value; None for none. A bool matrix whose entries are all True, as iso
        value, sets none, and the fields of records are attributes of their names; values with ``.value_labels`` are
        these names. Attributes of labels are those of nodes, but for None.
    create_using : graph type or graph, optional
        ``networkx.DiGraph`` by default; ``networkx.Graph`` for an undirected graph, whose entries (i, j) and (j, i) are
        one edge.
    nodes : sequence, optional
        The node of each row; by default its label, or 0, 1, ... without labels.

    Returns
    -------
    The graph.

    Raises
    ------
    DimensionMismatch
        ``A`` is not square.
    InvalidValue
        ``nodes`` does not name each row once, or is missing where rows and columns have different labels.
    NotSupported
        The package networkx is not installed.

    Notes
    -----
    O(nrows + nvals), in Python. Synchronizes and copies to the host where ``A`` is on the GPU.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1], [1, 2], [5, 6], shape=(3, 3))
    >>> sorted(sr.io.to_networkx(A).edges(data="weight"))
    [(0, 1, 5), (1, 2, 6)]
    """
    networkx = needed("to_networkx", "networkx")
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"to_networkx: expected a square matrix, got {A.nrows} x {A.ncols}")
    names: list[Hashable] = list((common_labels("to_networkx", A) or range(A.nrows)) if nodes is None else nodes)
    if len(set(names)) != A.nrows or len(names) != A.nrows:
        raise InvalidValue(f"nodes: expected {A.nrows} different nodes, got {len(names)} ({len(set(names))} different)")
    G = networkx.empty_graph(0, create_using=networkx.DiGraph if create_using is None else create_using)
    G.add_nodes_from(names)
    if nodes is None and A.labels is not None:
        for name, column in A.labels.attributes.items():
            G.add_nodes_from((node, {name: x}) for node, x in zip(names, column.tolist(), strict=True) if x is not None)
    entries = named_values(A, host_triples(A))
    has_values = weight is not None and not entries.are_true
    if type(G) in (networkx.DiGraph, networkx.Graph) and (G.is_directed() or A.is_symmetric_structure):
        _fill(G, names, entries, weight if has_values else None)
        return G
    rows, cols = entries.rows.tolist(), entries.cols.tolist()
    if not has_values:
        G.add_edges_from((names[i], names[j]) for i, j in zip(rows, cols, strict=True))
        return G
    columns = {name: values.tolist() for name, values in _columns(entries, weight).items()}
    data = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
    G.add_edges_from((names[i], names[j], its) for i, j, its in zip(rows, cols, data, strict=True))
    return G


def _columns(entries: Triples, weight: str | None) -> dict[str, NDArray[Any]]:
    """Return the values of entries by the names of attributes: the fields of records, or one."""
    values = np.broadcast_to(entries.values, len(entries.rows))
    if values.dtype.names is None or weight is None:
        return {} if weight is None else {weight: values}
    return {name: values[name] for name in values.dtype.names}


def _fill(G: Any, names: list[Hashable], entries: Triples, weight: str | None) -> None:
    """Write entries, sorted by rows, into an empty graph."""
    rows, cols = entries.rows.astype(np.int64, copy=False), entries.cols.astype(np.int64, copy=False)
    indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=len(names))))
    neighbors = Neighbors(names, names == list(range(len(names))), G.is_directed(), indptr, cols)
    columns = {}
    for name, values in _columns(entries, weight).items():
        if not G.is_directed():  # of A(i, j) and A(j, i) the edge has the one in the later row
            later = cols <= rows
            of_edge = np.empty(int(np.count_nonzero(later)), values.dtype)
            of_edge[neighbors.edge[later]] = values[later]
            values = of_edge[neighbors.edge]
        columns[name] = Column(values)
    fill_adjacency(G, neighbors, columns)
