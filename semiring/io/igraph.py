"""Conversion from and to graphs of igraph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import DimensionMismatch, InvalidValue
from semiring.io.edge_lists import edges_to_matrix
from semiring.io.label_sets import common_labels, named_values
from semiring.io.triples import TRUE, Triples, host_triples
from semiring.labels import Labels
from semiring.labels.coding import value_codes
from semiring.optional import needed
from semiring.record_types import of_columns

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["from_igraph", "to_igraph"]


def from_igraph(
    G: Any,
    weight: str | list[str] | None = None,
    *,
    dup_op: Any = None,
    vertex_attributes: bool | Iterable[str] = False,
    value_labels: bool | Labels = False,
) -> Matrix:
    """Return the adjacency matrix of a graph of igraph; its labels are the attribute ``name`` of the vertices.

    Parameters
    ----------
    G : igraph.Graph
        An undirected graph becomes a symmetric matrix.
    weight : str, or a list of them, optional
        The edge attribute that holds the value; of a list, each value is a record of these attributes. By default none
        is read, and the matrix is iso-valued.
    dup_op : binary operator, optional
        How to combine parallel edges with weights; without weights they are one entry.
    vertex_attributes : bool, or names of attributes
        Read these attributes of vertices, or all but ``name``, as ``.labels.attributes``. Without names the labels are
        the numbers of the vertices.
    value_labels : bool or Labels
        The attribute `weight` holds names, such as kinds of roads: store each as the rank of its name, in
        ``.value_labels`` of the result, or in these Labels.

    Returns
    -------
    Matrix

    Raises
    ------
    InvalidValue
        A graph of another library, an attribute that does not exist, one of edges that holds something else than
        numbers, or vertex names that repeat.
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
    names = None
    if value_labels is not False:
        if not isinstance(weight, str):
            raise InvalidValue(f"from_igraph: value_labels= is for one attribute of names, got weight={weight!r}")
        values, names = value_codes("from_igraph", weight, _attribute(G, weight), value_labels, dup_op)
    elif isinstance(weight, list):
        if not weight:
            raise InvalidValue("from_igraph: a list of weights names one attribute at least")
        values = of_columns({name: _weights(G, name) for name in weight})
    elif weight is not None:
        values = _weights(G, weight)
    triples = Triples(n, n, ends[:, 0], ends[:, 1], values, labels=_labels(G, vertex_attributes))
    A = edges_to_matrix(triples if G.is_directed() else triples.symmetrized(), dup_op)
    A.value_labels = names
    return A


def _attribute(G: Any, name: str) -> list[Any]:
    if name not in G.es.attributes():
        raise InvalidValue(f"from_igraph: edges have no attribute {name!r}; they have {G.es.attributes()}")
    return list(G.es[name])


def _weights(G: Any, name: str) -> NDArray[Any]:
    values = np.asarray(_attribute(G, name))
    if values.dtype.kind not in "biufc" and values.size:
        raise InvalidValue(
            f"edge attribute {name!r}: expected a number for each edge, got {values.dtype} values; value_labels=True "
            f"numbers names"
        )
    return values


def _labels(G: Any, wanted: bool | Iterable[str]) -> Labels | None:
    known = G.vs.attributes()
    if isinstance(wanted, bool):
        names = [name for name in known if name != "name"] if wanted else []
    else:
        names = [wanted] if isinstance(wanted, str) else list(wanted)
    if missing := [name for name in names if name not in known]:
        raise InvalidValue(f"from_igraph: vertices have no attribute {missing[0]!r}; they have {known}")
    if "name" not in known and not names:
        return None
    return Labels(G.vs["name"] if "name" in known else range(G.vcount()), {name: G.vs[name] for name in names})


def to_igraph(A: Matrix, weight: str | None = "weight", *, directed: bool = True) -> Any:
    """Return the graph of igraph whose adjacency matrix is ``A``, with the labels as the attribute ``name``.

    Parameters
    ----------
    A : Matrix
        Square.
    weight : str, optional
        The edge attribute that receives the values; None for none.  An iso-valued bool matrix sets none, and the
        fields of records are attributes of their names; values with ``.value_labels`` are these names.  Attributes
        of labels are those of vertices.
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
        ``directed=False`` for a matrix without a symmetric structure; or rows and columns have different labels.
    NotSupported
        igraph is not installed.

    Notes
    -----
    Cost O(nrows + nvals), in Python.  Synchronizes, and copies to the host.

    Examples
    --------
    >>> G = sr.io.to_igraph(Matrix.from_coo([0, 1], [1, 2], [5, 6], shape=(3, 3)))
    >>> G.get_edgelist(), G.es["weight"]
    ([(0, 1), (1, 2)], [5, 6])
    """
    igraph = needed("to_igraph", "igraph")
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"to_igraph: expected a square matrix, got {A.nrows} x {A.ncols}")
    labels = common_labels("to_igraph", A)
    if not directed:
        if not A.is_symmetric_structure:
            raise InvalidValue("to_igraph: an undirected graph needs a symmetric structure; use A | A.T")
        A = A.select("triu")
    entries = named_values(A, host_triples(A))
    G = igraph.Graph(n=A.nrows, edges=np.stack([entries.rows, entries.cols], axis=1), directed=directed)
    iso = not isinstance(entries.values, np.ndarray)
    if weight is not None and not (iso and entries.values.dtype == np.bool_):
        values = np.broadcast_to(entries.values, len(entries.rows))
        for name in values.dtype.names or [weight]:
            G.es[name] = (values[name] if values.dtype.names else values).tolist()
    if labels is not None:
        G.vs["name"] = list(labels)
        for name, column in labels.attributes.items():
            G.vs[name] = column.tolist()
    return G
