"""The graph type of the backend, which its functions receive instead of a `networkx.Graph`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semiring import Matrix, Vector
from semiring.io.networkx_arrays import Column, Neighbors, column_of, objects_of, read_column

from .settings import device

Node = Hashable

#: NetworkX's limit of exact integer sums here: beyond it Python's integers continue, and int64 does not.
_LARGEST_SUM = 2**62


class Source(NamedTuple):
    """The dictionaries of the graph of NetworkX that a graph was converted from: of neighbors, nodes and itself."""

    adjacency: Mapping[Node, Any]
    nodes: Mapping[Node, dict[Any, Any]]
    graph: Mapping[Any, Any]


class Graph:
    """An immutable graph: the nodes and edges of a NetworkX graph in its order, and the matrices made from them.

    Parameters
    ----------
    neighbors : Neighbors
    columns : dict of edge attribute: Column
        One value for each slot of `neighbors`.
    edge_dicts : list of dict, optional
        All attributes of each edge, where all are kept; then `columns` is empty.
    node_data : list of dict, optional
        The attributes of each node, where any are kept.
    graph : dict
        The attributes of the graph.
    kind : type, optional
        The class of the graph of NetworkX.
    source : Source, optional
        Where attributes that were not converted can still be read.

    Notes
    -----
    Matrices are made when first needed, on the device of the settings at that time, and kept as long as the graph.
    NetworkX keeps the graph in ``G.__networkx_cache__`` and drops it when `G` changes.
    """

    __networkx_backend__ = "semiring"

    def __init__(
        self,
        neighbors: Neighbors,
        *,
        columns: Mapping[Any, Column] | None = None,
        edge_dicts: list[dict[Any, Any]] | None = None,
        node_data: list[dict[Any, Any]] | None = None,
        graph: Mapping[Any, Any] | None = None,
        kind: type | None = None,
        source: Source | None = None,
    ) -> None:
        self.__networkx_cache__: dict[str, Any] = {}
        self.neighbors = neighbors
        self.columns = dict(columns or {})
        self.edge_dicts = edge_dicts
        self.node_data = node_data
        self.graph = dict(graph or {})
        self.kind = kind
        self.source = source
        self._matrices: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self.neighbors.nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.neighbors.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.index
        except TypeError:
            return False

    def __str__(self) -> str:
        kind = f"{'Multi' if self.is_multigraph() else ''}{'Di' if self.neighbors.directed else ''}Graph"
        return f"semiring {kind} with {len(self)} nodes and {self.number_of_edges()} edges"

    def __repr__(self) -> str:
        return f"<{self}>"

    @property
    def device(self) -> str:
        """Where matrices are made."""
        return device()

    def is_directed(self) -> bool:
        """Return whether edges have a direction."""
        return self.neighbors.directed

    def is_multigraph(self) -> bool:
        """Return whether parallel edges are kept apart."""
        return self.neighbors.keys is not None

    @property
    def nodes(self) -> list[Node]:
        """The nodes, in the order of NetworkX: node i is row i of the matrices."""
        return self.neighbors.nodes

    def number_of_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self)

    order = number_of_nodes

    def number_of_edges(self) -> int:
        """Return the number of edges, parallel ones and self-loops included."""
        slots = len(self.neighbors.cols)
        return slots if self.neighbors.directed else (slots + self.loops) // 2

    @cached_property
    def loops(self) -> int:
        """The number of self-loops."""
        return int(np.count_nonzero(self.rows == self.neighbors.cols))

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of each slot."""
        return self.neighbors.rows

    @property
    def cols(self) -> NDArray[np.int64]:
        """The column of each slot."""
        return self.neighbors.cols

    @cached_property
    def index(self) -> dict[Node, int]:
        """The row of each node."""
        return dict(zip(self.nodes, range(len(self)), strict=True))

    def row(self, node: Node, message: str | None = None) -> int:
        """Return the row of a node; raise `networkx.NodeNotFound` if it is none."""
        try:
            return self.index[node]
        except KeyError:
            raise nx.NodeNotFound(message or f"Node {node} not found in graph") from None

    def nbunch(self, given: Any) -> list[int]:
        """Return the rows that an `nbunch` of NetworkX names: all for None, one node, or those of an iterable."""
        if given is None:
            return list(range(len(self)))
        if given in self:
            return [self.index[given]]
        try:
            return [self.index[node] for node in given if node in self.index]
        except TypeError as error:
            if "hashable" in str(error):
                raise nx.NetworkXError(f"Node {given} in sequence nbunch is not a valid node.") from error
            raise nx.NetworkXError("nbunch is not a node or a sequence of nodes.") from error

    def labels(self, rows: NDArray[Any] | Sequence[int]) -> list[Node]:
        """Return the nodes of rows."""
        numbers: list[int] = rows.tolist() if isinstance(rows, np.ndarray) else list(rows)
        return list(numbers) if self.neighbors.numbered else list(map(self.nodes.__getitem__, numbers))

    def by_node(self, values: Vector | NDArray[Any] | Iterable[Any]) -> dict[Node, Any]:
        """Return ``{node: value}`` in the order of the nodes, for one value for each."""
        array = values.to_numpy() if isinstance(values, Vector) else values
        listed = array.tolist() if isinstance(array, np.ndarray) else array
        found: dict[Node, Any] = self.index.copy()  # has room for all nodes, and their hashes
        found.update(zip(self.nodes, listed, strict=True))
        return found

    def members(self, v: Vector) -> set[Node]:
        """Return the nodes that a vector has an entry for."""
        return set(self.labels(np.asarray(entries(v)[0])))

    def select(self, values: Vector | NDArray[Any], nodes: Any) -> Any:
        """Return ``{node: value}`` for an `nbunch` of NetworkX; the value alone if it is one node."""
        array = values.to_numpy() if isinstance(values, Vector) else values
        if nodes is None:
            return self.by_node(array)
        if nodes in self:
            return array[self.index[nodes]].item()
        chosen = self.nbunch(nodes)
        return dict(zip(self.labels(chosen), array[chosen].tolist(), strict=True))

    # Edges -------------------------------------------------------------------------------------------------------

    def edge_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ends of each edge, in the order of NetworkX."""
        once = self.neighbors.once
        return (self.rows, self.cols) if once is None else (self.rows[once], self.cols[once])

    def edges(self) -> list[tuple[Node, Node]]:
        """Return the edges, in the order of NetworkX."""
        rows, cols = self.edge_rows()
        return list(zip(self.labels(rows), self.labels(cols), strict=True))

    def edge_attributes(self, slot: int) -> dict[Any, Any]:
        """Return the attributes of the edge of a slot, as a new dictionary."""
        if self.edge_dicts is not None:
            return dict(self.edge_dicts[int(self.neighbors.edge[slot])])
        return {
            name: column.values[slot].item() if isinstance(column.values[slot], np.generic) else column.values[slot]
            for name, column in self.columns.items()
            if column.present is None or column.present[slot]
        }

    def column(self, name: Any) -> Column | None:
        """Return an edge attribute of every slot; None where no edge has it."""
        if self.edge_dicts is None or name in self.columns:
            return self.columns.get(name)
        found = read_column(objects_of(self.edge_dicts, len(self.edge_dicts)), name)
        if found is not None:
            self.columns[name] = found = found[self.neighbors.edge]
        return found

    def weights(self, name: Any, default: Any = 1) -> NDArray[Any] | None:
        """Return a number for each slot, or None where all are 1.

        Raises
        ------
        NotImplementedError
            If a value is not a number, is NaN, or sums of it can exceed int64: NetworkX computes with what it is.
        """
        if name is None:
            return None
        key = ("weights", name, default)
        if key not in self._matrices:
            self._matrices[key] = self._numbers(name, default)
        found: NDArray[Any] | None = self._matrices[key]
        return found

    def _numbers(self, name: Any, default: Any) -> NDArray[Any] | None:
        if callable(name):
            raise NotImplementedError("a function as weight")
        column = self.column(name)
        if column is None:
            values = column_of([default]).values
            if values.dtype.kind in "biuf" and values[0] == 1:
                return None
            values = np.broadcast_to(values, self.cols.shape)
        else:
            values = column.filled(default)
        if values.dtype.kind not in "biuf":
            raise NotImplementedError(f"edge attribute {name!r} holds values that are not real numbers")
        if values.dtype.kind == "f":
            if np.isnan(values).any():
                raise NotImplementedError(f"edge attribute {name!r} holds NaN")
            return values.astype(np.float64, copy=False)
        if values.size and int(np.abs(values.astype(object) if values.dtype.kind == "u" else values).max()) * (
            len(values) + 1
        ) > (_LARGEST_SUM):
            raise NotImplementedError(f"edge attribute {name!r} holds integers whose sums may exceed 64 bits")
        return values.astype(np.int64, copy=False)

    def degrees(self, direction: str = "both") -> NDArray[np.int64]:
        """Return the degree of each row: ``"in"``, ``"out"`` or ``"both"``, where a self-loop counts twice."""
        n = len(self)
        out: NDArray[np.int64] = np.diff(self.neighbors.indptr)
        if direction == "out":
            return out
        if self.is_directed():
            entering = np.bincount(self.cols, minlength=n)
            return entering if direction == "in" else out + entering
        return out + np.bincount(self.rows[self.rows == self.cols], minlength=n)

    def at_edges(self, values: Matrix) -> NDArray[Any]:
        """Return the value of each edge, in the order of NetworkX, of a matrix with the structure of the graph."""
        rows, cols = self.edge_rows()
        found = values.to_coo(device="cpu")
        n = max(len(self), 1)
        stored = np.asarray(found[0]) * n + np.asarray(found[1])
        return np.asarray(found[2])[np.searchsorted(stored, rows * n + cols)]

    # Matrices ----------------------------------------------------------------------------------------------------

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return a result that only depends on the graph, made when first needed on each device."""
        key = (self.device, key)
        if key not in self._matrices:
            self._matrices[key] = make()
        return self._matrices[key]

    @property
    def structure(self) -> Matrix:
        """A(u, v) = true where there is an edge from u to v, in both directions if the graph is undirected."""
        made: Matrix = self.kept("structure", lambda: self._matrix(np.True_, "any"))
        return made

    @property
    def undirected_structure(self) -> Matrix:
        """A(u, v) = true where an edge joins u and v, in either direction."""
        if not self.neighbors.directed:
            return self.structure
        made: Matrix = self.kept("undirected", lambda: self.structure.ewise_add(self.structure.T, "any").wait())
        return made

    def matrix(self, weight: Any = None, combine: str = "plus", default: Any = 1) -> Matrix:
        """A(u, v) = the weights of the edges from u to v, combined by a monoid; an edge without the attribute has 1."""
        values = self.weights(weight, default)
        if not self.is_multigraph():
            combine = "any"
        key = ("matrix", weight if values is not None else None, combine, default if values is not None else 1)
        made: Matrix = self.kept(key, lambda: self._matrix(np.int64(1) if values is None else values, combine))
        return made

    def of_slots(self, values: NDArray[Any], combine: str = "any") -> Matrix:
        """Return the matrix of a value for each slot, where parallel edges are combined by a monoid."""
        return self._matrix(values, combine)

    def _matrix(self, values: Any, combine: str) -> Matrix:
        n, neighbors = len(self), self.neighbors
        if self.is_multigraph() and combine == "plus" and not isinstance(values, np.ndarray):
            values = np.full(len(neighbors.cols), values)
        return Matrix.from_csr(
            neighbors.indptr, neighbors.cols, values, ncols=n, copy=False, device=self.device,
            dup_op=combine if self.is_multigraph() else None,
        ).wait()  # fmt: skip


def entries(v: Vector) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the indices and values of a vector's entries as NumPy arrays, in ascending order."""
    indices, values = v.to_coo(device="cpu")
    return np.asarray(indices), np.asarray(values)
