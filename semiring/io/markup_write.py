"""Write GraphML and GML: all vertices, and an edge for each entry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from semiring.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from semiring.io.atomic import atomic_writer
from semiring.io.edge_lists_write import LINES
from semiring.io.files import PathLike
from semiring.io.label_sets import common_labels, without_value_labels, written_labels
from semiring.io.triples import host_triples

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["write_gml", "write_graphml"]

_GRAPHML_TYPES: Final = {"b": "boolean", "i": "long", "u": "long", "f": "double"}
# What XML 1.0 cannot hold, not as a character reference either.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_graphml(path: PathLike, A: Matrix, *, directed: bool | None = None) -> None:
    """Write the graph of a matrix as GraphML: its labels are the ids of the nodes, its values the edges' ``weight``.

    Parameters
    ----------
    path : str or PathLike
        A known extension of a compression compresses.
    A : Matrix
        Square.  Without labels the ids are the positions.
    directed : bool, optional
        By default unless the matrix is symmetric, with its values; False writes one edge for (i, j) and (j, i).

    Raises
    ------
    DimensionMismatch
        The matrix is not square.
    DomainMismatch
        Records and complex numbers.
    InvalidValue
        Labels that are neither text nor integers of int64, or hold a character that XML does not; different labels for
        rows and columns; or ``directed=False`` for a matrix that is not symmetric.

    Notes
    -----
    Where all values are True no weight is written.  Ids of GraphML are text; an attribute ``node_type`` of the graph
    states that they are integers, and `read_graphml` returns them as such.  The write is atomic.  Cost O(bytes).
    Synchronizes, and copies a matrix on the GPU to the host.

    Examples
    --------
    >>> A = Matrix.from_edgelist([("ann", "bob", 2.5)], relabel=True)
    >>> sr.io.write_graphml("graph.graphml", A)
    >>> sr.io.read("graph.graphml").labels == A.labels
    True
    """
    graph = _graph("write_graphml", A, directed, _xml_fault)
    ids = [quoteattr(name) for name in graph.names]
    kind = "directed" if graph.directed else "undirected"
    with atomic_writer(path) as stream:
        head = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
        if graph.integers:
            head.append('<key id="node_type" for="graph" attr.name="node_type" attr.type="string"/>')
        if graph.values is not None:
            of = _GRAPHML_TYPES[graph.values.dtype.kind]
            head.append(f'<key id="weight" for="edge" attr.name="weight" attr.type="{of}"/>')
        head.append(f'<graph edgedefault="{kind}">')
        if graph.integers:
            head.append('<data key="node_type">int</data>')
        stream.write(("\n".join(head) + "\n").encode())
        for first in range(0, len(ids), LINES):
            stream.write("".join(f"<node id={name}/>\n" for name in ids[first : first + LINES]).encode())
        for edges in graph.edges():
            stream.write("".join(_graphml_edge(ids[i], ids[j], x) for i, j, x in edges).encode())
        stream.write(b"</graph>\n</graphml>\n")


def write_gml(path: PathLike, A: Matrix, *, directed: bool | None = None) -> None:
    """Write the graph of a matrix as GML: its labels are those of the nodes, its values the edges' ``weight``.

    Parameters
    ----------
    path : str or PathLike
        A known extension of a compression compresses.
    A : Matrix
        Square.  Labels that are integers, or positions without labels, are the ids of the nodes.
    directed : bool, optional
        As for `write_graphml`.

    Raises
    ------
    DimensionMismatch
        The matrix is not square.
    DomainMismatch
        Records and complex numbers.
    InvalidValue
        Labels that are neither text nor integers of int64, or ``()`` or ``[]``, which NetworkX reads as empty lists;
        different labels for rows and columns; or ``directed=False`` for a matrix that is not symmetric.

    Notes
    -----
    Where all values are True no weight is written; else bools are 0 and 1.  Integers beyond 32 bits are written as they
    are, which NetworkX reads and the format does not provide.  The write is atomic.  Cost O(bytes).  Synchronizes, and
    copies a matrix on the GPU to the host.

    Examples
    --------
    >>> A = Matrix.from_edgelist([("ann", "bob", 2.5)], relabel=True)
    >>> sr.io.write_gml("graph.gml", A)
    >>> sr.io.read("graph.gml").labels == A.labels
    True
    """
    graph = _graph("write_gml", A, directed, _gml_fault)
    ids: list[Any] = graph.names if graph.integers else list(range(len(graph.names)))
    labels = [""] * len(ids) if graph.integers else [f' label "{_gml_text(name)}"' for name in graph.names]
    with atomic_writer(path) as stream:
        stream.write(f"graph [\n  directed {int(graph.directed)}\n".encode())
        for first in range(0, len(ids), LINES):
            nodes = zip(ids[first : first + LINES], labels[first : first + LINES], strict=True)
            stream.write("".join(f"  node [ id {name}{label} ]\n" for name, label in nodes).encode())
        for edges in graph.edges():
            stream.write(
                "".join(
                    f"  edge [ source {ids[i]} target {ids[j]}{'' if x is None else f' weight {_gml_number(x)}'} ]\n"
                    for i, j, x in edges
                ).encode()
            )
        stream.write(b"]\n")


class _Graph(NamedTuple):
    """What a file holds: a name of each vertex, and the edges; integers: whether the names are digits."""

    names: list[str]
    integers: bool
    directed: bool
    rows: np.ndarray[Any, Any]
    cols: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any] | None

    def edges(self) -> Iterator[Iterator[tuple[int, int, Any]]]:
        """Yield some edges after another: two positions, and a value or None."""
        for first in range(0, len(self.rows), LINES):
            part = slice(first, first + LINES)
            rows, cols = self.rows[part].tolist(), self.cols[part].tolist()
            values = [None] * len(rows) if self.values is None else self.values[part].tolist()
            yield zip(rows, cols, values, strict=True)


def _graph(function: str, A: Matrix, directed: bool | None, fault: Callable[[str], str | None]) -> _Graph:
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"{function}: expected a square matrix, got {A.nrows} x {A.ncols}")
    labels = common_labels(function, A)
    A = without_value_labels(function, A)
    entries = host_triples(A)
    dtype = np.dtype(entries.values.dtype)
    if dtype.kind not in "biuf":
        raise DomainMismatch(f"{function}: weights are numbers, not {dtype}; write a .srb file")
    symmetric = directed is not True and A.is_symmetric
    if directed is False and not symmetric:
        raise InvalidValue(f"{function}: directed=False: expected a symmetric matrix; A | A.T has both directions")
    names = list(map(str, range(A.nrows))) if labels is None else written_labels(function, labels, fault)
    integers = labels is None or labels.to_numpy().dtype.kind == "i"
    values = None if entries.are_true else entries.values
    rows, cols = entries.rows, entries.cols
    values = None if values is None else np.broadcast_to(values, len(rows))
    if symmetric:
        kept = rows <= cols
        rows, cols, values = rows[kept], cols[kept], None if values is None else values[kept]
    return _Graph(names, integers, not symmetric, rows, cols, values)


def _graphml_edge(source: str, target: str, value: Any) -> str:
    data = "/>" if value is None else f'><data key="weight">{_xml_number(value)}</data></edge>'
    return f"<edge source={source} target={target}{data}\n"


def _xml_number(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _xml_fault(label: str) -> str | None:
    found = _NOT_XML.search(label)
    return None if found is None else f"XML does not hold {found[0]!r}; .gml and .srb files do"


def _gml_fault(label: str) -> str | None:
    return "NetworkX reads it as an empty list; .graphml and .srb files hold it" if label in ("()", "[]") else None


def _gml_text(label: str) -> str:
    """Return text in ASCII, with references to other characters, to quotes and to ampersands."""
    return re.sub('[^ -~]|[&"]', lambda found: f"&#{ord(found[0])};", label)


def _gml_number(value: Any) -> str:
    """Return a number of GML: a real one has a point before its exponent."""
    if not isinstance(value, float):
        return str(int(value))
    if value != value:
        return "NAN"
    if np.isinf(value):
        return "+INF" if value > 0 else "-INF"
    mantissa, e, exponent = repr(value).partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + e.upper() + exponent
