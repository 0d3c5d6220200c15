"""Arrays from the dictionaries of a NetworkX graph, and the dictionaries from arrays.

NetworkX stores ``adjacency[u][v] = data``, or ``adjacency[u][v][key] = data`` for parallel edges.  The functions here
read and write these dictionaries with iterators that run in C: a Python loop over the edges takes several times as
long.  The dictionaries are scattered over the memory, so each is read once, from one end of an undirected edge, and in
the order of their addresses; nodes are recognized by their addresses, without reading them.  Objects are held in NumPy
arrays of them, whose elements are pointers: these are gathered in a quarter of the time that a list takes.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Column",
    "Neighbors",
    "attribute",
    "column_of",
    "edge_data",
    "fill_adjacency",
    "objects_of",
    "read_column",
    "read_neighbors",
]

# Values that are read and converted together, so that they are still in the cache when NumPy reads them again.
_BATCH = 4096
# Numbers are looked up in an array of their range where it has at most this many elements a number.
_SPARSEST = 128
# Larger integers are looked up as any other label.
_LARGEST = 2**62
# Addresses of two objects differ by at least 2**_APART: the bytes of a reference count and a type.
_APART = 4


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The adjacency of a graph, with one slot for each pair ``(u, v)`` and key, in the order of NetworkX.

    Attributes
    ----------
    nodes : list
        The node of each row.
    numbered : bool
        Whether the nodes are 0, 1, 2, ... in this order: a node is then its own row.
    directed : bool
        Whether slot ``(u, v)`` is an edge from u to v.  An undirected edge has two slots, a self-loop one.
    indptr, cols : int64 arrays
        The neighbors of row u are ``cols[indptr[u]:indptr[u + 1]]``.
    keys : list, optional
        The key of each slot of a multigraph.
    """

    nodes: list[Hashable]
    numbered: bool
    directed: bool
    indptr: NDArray[np.int64]
    cols: NDArray[np.int64]
    keys: list[Hashable] | None = None

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The row of each slot."""
        return np.repeat(np.arange(len(self.nodes), dtype=np.int64), np.diff(self.indptr))

    @cached_property
    def once(self) -> NDArray[np.bool_] | None:
        """Which slots NetworkX iterates over as edges; None for all: an undirected edge has a second slot."""
        return None if self.directed else self.cols >= self.rows

    @cached_property
    def edge(self) -> NDArray[np.int64]:
        """The number of each slot's edge, where edges are numbered as NetworkX iterates over them."""
        if self.once is None:
            return np.arange(len(self.cols))
        upper, lower = np.flatnonzero(self.once), np.flatnonzero(~self.once)
        number = np.empty(len(self.cols), np.int64)
        number[upper] = np.arange(len(upper))
        plain = upper[self.rows[upper] != self.cols[upper]]
        # Both orders list the edges by their ends, and parallel edges, of which each end has all, by their keys.
        number[lower[self._order(lower, self.cols, self.rows)]] = number[
            plain[self._order(plain, self.rows, self.cols)]
        ]
        return number

    def _order(self, slots: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
        pair = low[slots] * len(self.nodes) + high[slots]
        if self.keys is None:
            return np.argsort(pair)
        names = {key: number for number, key in enumerate(dict.fromkeys(self.keys))}
        keys = np.fromiter(map(names.__getitem__, self.keys), np.int64, len(self.cols))
        return np.lexsort((keys[slots], pair))


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute of every slot: ``values``, of which those where ``present`` is False are not defined.

    ``present`` is None where every slot has the attribute.  Values that are not numbers have the dtype object.
    """

    values: NDArray[Any]
    present: NDArray[np.bool_] | None = None

    def filled(self, default: Any) -> NDArray[Any]:
        """Return the values with a default where there is none."""
        if self.present is None:
            return self.values
        other = column_of([default]).values
        numbers = self.values.dtype.kind in "biufc" and other.dtype.kind in "biufc"
        values = np.empty(len(self.present), np.result_type(self.values, other) if numbers else object)
        values[:] = default
        values[self.present] = self.values[self.present]
        return values

    def __getitem__(self, slots: NDArray[np.int64]) -> Column:
        return Column(self.values[slots], None if self.present is None else self.present[slots])


def read_neighbors(G: Any) -> Neighbors:
    """Read the nodes and neighbors of a graph of NetworkX."""
    adjacency = _dictionaries(G._adj, G.is_multigraph())
    nodes = list(adjacency)
    n = len(nodes)
    degrees = np.fromiter(map(len, adjacency.values()), np.int64, n)
    cols, numbered = _rows_of(nodes, lambda: chain.from_iterable(adjacency.values()), int(degrees.sum()))
    keys: list[Hashable] | None = None
    if G.is_multigraph():
        keyed = [parallel for neighbors in adjacency.values() for parallel in neighbors.values()]
        counts = np.fromiter(map(len, keyed), np.int64, len(cols))
        keys = list(chain.from_iterable(keyed))
        total = np.append(0, np.cumsum(counts))
        ends = np.cumsum(degrees)
        degrees = total[ends] - total[ends - degrees]
        cols = np.repeat(cols, counts)
    return Neighbors(nodes, numbered, G.is_directed(), np.append(0, np.cumsum(degrees)), cols, keys)


def _dictionaries(adjacency: Mapping[Hashable, Any], keyed: bool) -> Mapping[Hashable, Any]:
    """Return the dictionaries of a graph; of a view, whose lengths can include hidden edges, new ones."""
    if isinstance(adjacency, dict):
        return adjacency
    if keyed:
        return {node: {v: dict(keyed) for v, keyed in adjacent.items()} for node, adjacent in adjacency.items()}
    return {node: dict(adjacent) for node, adjacent in adjacency.items()}


def _rows_of(nodes: list[Hashable], targets: Callable[[], Iterator[Any]], count: int) -> tuple[NDArray[np.int64], bool]:
    """Return the rows of some nodes, and whether every node is its own row."""
    n = len(nodes)
    whole: list[Any] = nodes if set(map(type, nodes)) <= {int} else [_LARGEST]
    if -_LARGEST < min(whole, default=0) <= max(whole, default=0) < _LARGEST:
        numbers = np.array(nodes, np.int64)
        wanted = np.fromiter(targets(), np.int64, count)
        if np.array_equal(numbers, np.arange(n)):
            return wanted, True
        return _find(numbers, wanted), False
    # The objects in the dictionaries of neighbors usually are those of the nodes: then their addresses suffice, and
    # the objects, which are scattered over the memory, need not be read.
    own = _addresses(objects_of(nodes, n))
    sample = np.fromiter(map(id, islice(targets(), _BATCH)), np.int64)
    if 2 * np.count_nonzero(np.isin(sample, own)) >= len(sample):
        rows = _find(own >> _APART, _addresses(objects_of(targets(), count)) >> _APART)
    else:
        rows = np.full(count, -1)
    unknown = rows < 0
    if unknown.any():
        index = dict(zip(nodes, range(n), strict=True))
        others = compress(targets(), unknown.tolist())
        rows[unknown] = np.fromiter(map(index.__getitem__, others), np.int64, int(unknown.sum()))
    return rows, False


def objects_of(things: Iterable[Any], count: int) -> NDArray[np.object_]:
    """Return an array of objects, whatever they are; `numpy.array` would read sequences as rows."""
    return np.fromiter(things, object, count)


def _addresses(objects: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return what `id` is for each element: the pointers that the array consists of."""
    pointers = objects.ctypes.data_as(ctypes.POINTER(ctypes.c_ssize_t))
    return np.ctypeslib.as_array(pointers, objects.shape).astype(np.int64)


def _find(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index of each wanted key, -1 where it is none."""
    n = len(keys)
    if not n:
        return np.full(len(wanted), -1)
    least, most = int(keys.min()), int(keys.max())
    if most - least < _SPARSEST * n:
        place = np.full(most - least + 2, -1)  # the last element is for those out of range
        place[keys - least] = np.arange(n)
        offset = wanted - least
        offset[(offset < 0) | (offset > most - least)] = -1
        return place[offset]
    order = np.argsort(keys)
    found = order[np.minimum(np.searchsorted(keys[order], wanted), n - 1)]
    return np.where(keys[found] == wanted, found, -1)


def edge_data(adjacency: Mapping[Hashable, Any], neighbors: Neighbors) -> NDArray[np.object_]:
    """Return the attributes of each edge, in the order of NetworkX, from the adjacency of a graph or view."""
    keyed = neighbors.keys is not None
    data: Iterator[Any] = chain.from_iterable(
        adjacent.values() for adjacent in _dictionaries(adjacency, keyed).values()
    )
    if keyed:
        data = chain.from_iterable(parallel.values() for parallel in data)
    slots = objects_of(data, len(neighbors.cols))
    return slots if neighbors.once is None else slots[neighbors.once]


def attribute(adjacency: Mapping[Hashable, Any], neighbors: Neighbors, name: Hashable) -> Column | None:
    """Read one attribute of every slot; None if no slot has it."""
    found = read_column(edge_data(adjacency, neighbors), name)
    return found if found is None or neighbors.directed else found[neighbors.edge]


def read_column(data: NDArray[np.object_], name: Hashable) -> Column | None:
    """Read one key of each dictionary; None if none has it."""
    order = np.argsort(_addresses(data))
    ordered = data[order]
    try:
        found = column_of(map(itemgetter(name), ordered))
    except KeyError:  # one lacks it: read again, and note which have it
        present = np.fromiter((name in attributes for attributes in ordered), np.bool_, len(data))
        if not present.any():
            return None
        known = column_of(attributes[name] for attributes in ordered[present]).values
        values = np.zeros(len(data), known.dtype)
        values[present] = known
        found = Column(values, present)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return found[place]


def column_of(values: Iterable[Any]) -> Column:
    """Return values as a column: of numbers if all are numbers, else of objects."""
    iterator, parts = iter(values), []
    while batch := list(islice(iterator, _BATCH)):
        parts.append(_array(batch))
    if not parts:
        return Column(np.zeros(0))
    if any(part.dtype == object for part in parts):
        return Column(np.concatenate([part.astype(object) for part in parts]))
    return Column(np.concatenate(parts))


def _array(batch: list[Any]) -> NDArray[Any]:
    try:
        numbers = np.array(batch)
    except (ValueError, OverflowError, TypeError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1 or numbers.dtype.kind not in "biufc":
        numbers = np.empty(len(batch), object)
        numbers[:] = batch
    return numbers


def fill_adjacency(
    G: Any, neighbors: Neighbors, columns: Mapping[Any, Column], dicts: list[dict[Any, Any]] | None = None
) -> None:
    """Write the edges of `neighbors` into a graph of NetworkX that has none; its nodes are set by the caller.

    The attributes of an edge are those of `dicts`, which lists edges, else one of each column.  Both slots of an
    undirected edge share their attributes, as in NetworkX.
    """
    collects = gc.isenabled()
    gc.disable()  # a collection visits all dictionaries made so far, of which none is garbage
    try:
        _fill(G, neighbors, columns, dicts)
    finally:
        if collects:
            gc.enable()


def _fill(G: Any, neighbors: Neighbors, columns: Mapping[Any, Column], dicts: list[dict[Any, Any]] | None) -> None:
    cols, nodes = neighbors.cols, objects_of(neighbors.nodes, len(neighbors.nodes))
    slots = None if neighbors.once is None else np.flatnonzero(neighbors.once)
    listed = _dicts(slots, len(cols), columns, dicts)
    data = objects_of(listed, len(listed))
    if slots is not None:
        data = data[neighbors.edge]
    if neighbors.keys is not None:
        _fill_keyed(G, neighbors, nodes[cols].tolist(), data.tolist())
    else:
        _fill_rows(G._adj, neighbors.nodes, neighbors.indptr, nodes[cols], data)
    if neighbors.directed and neighbors.keys is not None:
        _fill_predecessors(G, neighbors.nodes)
    elif neighbors.directed:
        order = np.argsort(cols, kind="stable")
        bounds = np.append(0, np.cumsum(np.bincount(cols, minlength=len(nodes))))
        _fill_rows(G._pred, neighbors.nodes, bounds, nodes[neighbors.rows[order]], data[order])


def _fill_rows(
    adjacency: dict[Any, Any],
    nodes: list[Hashable],
    bounds: NDArray[np.int64],
    targets: NDArray[np.object_],
    data: NDArray[np.object_],
) -> None:
    """adjacency[node] = {target: its data}; dictionaries that may be shared are not copied."""
    neighbors, attributes, ends = targets.tolist(), data.tolist(), bounds.tolist()
    for node, start, end in zip(nodes, ends[:-1], ends[1:], strict=True):
        adjacency[node] = dict(zip(neighbors[start:end], attributes[start:end], strict=True))


def _dicts(
    slots: NDArray[np.int64] | None, count: int, columns: Mapping[Any, Column], dicts: list[dict[Any, Any]] | None
) -> list[dict[Any, Any]]:
    """Return the attributes of some slots (None: of all), as new dictionaries."""
    if dicts is not None:
        return list(map(dict, dicts))
    chosen = {name: column if slots is None else column[slots] for name, column in columns.items()}
    if len(chosen) == 1:
        ((name, column),) = chosen.items()
        if column.present is None:
            return [{name: value} for value in column.values.tolist()]
    made: list[dict[Any, Any]] = [{} for _ in range(count if slots is None else len(slots))]
    for name, column in chosen.items():
        values = column.values.tolist()
        present = [True] * len(values) if column.present is None else column.present.tolist()
        for data, value, is_present in zip(made, values, present, strict=True):
            if is_present:
                data[name] = value
    return made


def _fill_keyed(G: Any, neighbors: Neighbors, targets: list[Hashable], data: list[dict[Any, Any]]) -> None:
    assert neighbors.keys is not None
    bounds = neighbors.indptr.tolist()
    shared: dict[tuple[Hashable, Hashable], dict[Hashable, Any]] = {}
    for node, start, end in zip(neighbors.nodes, bounds[:-1], bounds[1:], strict=True):
        adjacent: dict[Hashable, Any] = {}
        for slot in range(start, end):
            target = targets[slot]
            if target not in adjacent:
                known = None if neighbors.directed else shared.get((target, node))
                adjacent[target] = shared[node, target] = {} if known is None else known
            adjacent[target].setdefault(neighbors.keys[slot], data[slot])
        G._adj[node] = adjacent


def _fill_predecessors(G: Any, nodes: list[Hashable]) -> None:
    predecessors: dict[Hashable, dict[Hashable, Any]] = {node: {} for node in nodes}
    for node, adjacent in G._adj.items():
        for target, data in adjacent.items():
            predecessors[target][node] = data
    G._pred.update(predecessors)
