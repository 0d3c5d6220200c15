"""GraphML and GML files, parsed by NetworkX."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from semiring.exceptions import InvalidFormat
from semiring.io.files import PathLike, Progress, extension, read_bytes
from semiring.io.networkx import from_networkx
from semiring.io.text import wide_encoding
from semiring.labels import Labels
from semiring.optional import needed

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["read_gml", "read_graphml"]


def read_graphml(
    path: PathLike, *, weight: str | None = "weight", dup_op: Any = None, progress: Progress | None = None
) -> Matrix:
    """Read a GraphML file, compressed or not, as an adjacency matrix whose labels are the ids of the nodes.

    Parameters
    ----------
    path : str or PathLike
    weight : str, optional
        The attribute of edges that holds the value, if any edge has it (an edge without it has the value 1); None:
        no values.
    dup_op : binary operator, optional
        How to combine parallel edges with weights.
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Returns
    -------
    Matrix
        Symmetric if the edges are undirected.

    Raises
    ------
    InvalidFormat
        A file that is no GraphML.
    NotSupported
        NetworkX is not installed, or a feature that its reader lacks (hyperedges, ports).
    DuplicateIndex

    Notes
    -----
    Ids are text; integers in a file that `write_graphml` wrote from integers.  Cost O(bytes), in Python.

    Examples
    --------
    >>> import networkx as nx
    >>> nx.write_graphml(nx.Graph([("a", "b")]), "graph.graphml")
    >>> A = sr.io.read("graph.graphml")
    >>> A.to_dicts(), list(A.labels)
    ({0: {1: True}, 1: {0: True}}, ['a', 'b'])
    """
    return _read("read_graphml", path, weight, dup_op, progress)


def read_gml(
    path: PathLike, *, weight: str | None = "value", dup_op: Any = None, progress: Progress | None = None
) -> Matrix:
    """Read a GML file, compressed or not, as an adjacency matrix whose labels are those of the nodes.

    Parameters
    ----------
    path : str or PathLike
    weight : str, optional
        The attribute of edges that holds the value, if any edge has it (an edge without it has the value 1); by default
        ``value``, or else ``weight``.  None: no values.
    dup_op : binary operator, optional
        How to combine parallel edges with weights.
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Returns
    -------
    Matrix
        Symmetric if the edges are undirected.

    Raises
    ------
    InvalidFormat
        A file that is no GML.
    NotSupported
        NetworkX is not installed.
    DuplicateIndex

    Notes
    -----
    Cost O(bytes), in Python.  The label of a node is its ``label``, or its ``id`` where nodes have none.

    Examples
    --------
    >>> import networkx as nx
    >>> nx.write_gml(nx.Graph([("a", "b")]), "graph.gml")
    >>> list(sr.io.read("graph.gml").labels)
    ['a', 'b']
    """
    return _read("read_gml", path, weight, dup_op, progress)


def _read(function: str, path: PathLike, weight: str | None, dup_op: Any, progress: Progress | None) -> Matrix:
    nx = needed(function, "networkx")
    content = read_bytes(path, progress).tobytes()
    try:
        if function == "read_graphml":
            G = nx.read_graphml(io.BytesIO(content))
        else:
            text = content.decode(wide_encoding(content[:4]) or "utf-8-sig")
            G = nx.parse_gml(text, label="label" if "label" in text else "id")
    except nx.NetworkXError as error:
        raise InvalidFormat(f"{os.fspath(path)}: {error}") from error
    except (SyntaxError, UnicodeDecodeError, ValueError, KeyError) as error:  # ParseError of XML is a SyntaxError
        raise InvalidFormat(f"{os.fspath(path)}: expected {extension(path)[0][1:]}: {error}") from error
    integers = G.graph.get("node_type") == "int" and function == "read_graphml"
    names = [weight] if weight != "value" else ["value", "weight"]
    held = next((name for name in names if name and any(name in data for *_, data in G.edges(data=True))), None)
    A = from_networkx(G, weight=held, dup_op=dup_op)
    if integers:
        try:
            A.labels = Labels([int(node) for node in G])
        except ValueError as error:
            raise InvalidFormat(f"{os.fspath(path)}: expected integers as ids of nodes: {error}") from error
    return A
