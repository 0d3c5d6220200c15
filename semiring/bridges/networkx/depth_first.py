"""Depth-first traversal in the order of NetworkX, on the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from .graph import Graph, Node
from .registry import implements, refuse

_LABELS = ("forward", "nontree", "reverse", "reverse-depth_limit")


def distinct_neighbors(G: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return offsets and columns of the slots, where parallel edges are one."""
    indptr, cols, rows = G.neighbors.indptr, G.cols, G.rows
    if not G.is_multigraph():
        return indptr, cols
    first = np.append(True, (rows[1:] != rows[:-1]) | (cols[1:] != cols[:-1]))[: len(cols)]
    return np.append(0, np.cumsum(np.bincount(rows[first], minlength=len(G)))), cols[first]


def depth_first(
    G: Graph, starts: NDArray[np.int64], limit: float | None = None, *, tree_only: bool = True
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]:
    """Return parents, children and kinds of the steps of a search from each start that is not reached yet."""
    from .depth_first_kernel import walk

    indptr, cols = distinct_neighbors(G)
    most = 2 * len(G) + (0 if tree_only else len(cols))
    steps, labels = np.empty((most, 2), np.int64), np.empty(most, np.int8)
    deepest = len(G) if limit is None else int(np.ceil(min(max(limit, 0), len(G))))
    count = walk(indptr, cols, starts, deepest, tree_only, steps, labels)
    return steps[:count, 0], steps[:count, 1], labels[:count]


def postorder(G: Graph) -> NDArray[np.int64]:
    """Return the rows in the order in which a search from every node, in their order, leaves them."""
    made: NDArray[np.int64] = G.kept("left", lambda: _left(G))
    return made


def _left(G: Graph) -> NDArray[np.int64]:
    _, children, labels = depth_first(G, np.arange(len(G)))
    left: NDArray[np.int64] = children[labels == 2]
    return left


def _steps(
    G: Graph, source: Any, depth_limit: Any, tree_only: bool = True
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]:
    if source is None:
        return depth_first(G, np.arange(len(G)), depth_limit, tree_only=tree_only)
    row = G.index.get(source)
    if row is None:
        raise nx.NetworkXError(f"The node {source} is not in the {'di' if G.is_directed() else ''}graph.")
    return depth_first(G, np.array([row]), depth_limit, tree_only=tree_only)


def _plain(sort_neighbors: Any) -> None:
    if sort_neighbors is not None:
        raise refuse("neighbors in an order given by a function")


def _edges(G: Graph, source: Any, depth_limit: Any) -> Iterator[tuple[Node, Node]]:
    parents, children, labels = _steps(G, source, depth_limit)
    tree = (labels == 0) & (parents != children)
    yield from zip(G.labels(parents[tree]), G.labels(children[tree]), strict=True)


@implements()
def dfs_edges(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> Iterator[tuple[Node, Node]]:
    """Yield (parent, child) for each node discovered."""
    _plain(sort_neighbors)
    return _edges(G, source, depth_limit)


@implements()
def dfs_tree(G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None) -> nx.DiGraph:
    """Return the directed tree of a search; its forest without a source."""
    _plain(sort_neighbors)
    tree = nx.DiGraph()
    tree.add_nodes_from(G.nodes if source is None else [source])
    tree.add_edges_from(_edges(G, source, depth_limit))
    return tree


@implements()
def dfs_predecessors(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> dict[Node, Node]:
    """Return the parent of each node discovered."""
    _plain(sort_neighbors)
    return {child: parent for parent, child in _edges(G, source, depth_limit)}


@implements()
def dfs_successors(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> dict[Node, list[Node]]:
    """Return the children of each node that has some."""
    _plain(sort_neighbors)
    found: dict[Node, list[Node]] = {}
    for parent, child in _edges(G, source, depth_limit):
        found.setdefault(parent, []).append(child)
    return found


@implements()
def dfs_preorder_nodes(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> Iterator[Node]:
    """Yield the nodes in the order of discovery."""
    _plain(sort_neighbors)
    return _nodes(G, source, depth_limit, 0)


@implements()
def dfs_postorder_nodes(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> Iterator[Node]:
    """Yield the nodes in the order in which the search leaves them; without those at the depth limit."""
    _plain(sort_neighbors)
    return _nodes(G, source, depth_limit, 2)


def _nodes(G: Graph, source: Any, depth_limit: Any, label: int) -> Iterator[Node]:
    _, children, labels = _steps(G, source, depth_limit)
    yield from G.labels(children[labels == label])


@implements()
def dfs_labeled_edges(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> Iterator[tuple[Node, Node, str]]:
    """Yield (parent, child, label) for each step of a search."""
    _plain(sort_neighbors)

    def labeled() -> Iterator[tuple[Node, Node, str]]:
        parents, children, labels = _steps(G, source, depth_limit, tree_only=False)
        yield from zip(G.labels(parents), G.labels(children), map(_LABELS.__getitem__, labels.tolist()), strict=True)

    return labeled()
