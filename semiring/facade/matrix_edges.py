"""Matrix from and to edges: pairs, triples and tables of them, and nested dictionaries.

`Matrix` binds these functions as its methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import lookup
from ..exceptions import DimensionMismatch, DuplicateIndex, InvalidType, InvalidValue
from ..formats import array_module, device_of
from ..memory.allocation import allocating
from ..memory.arrays import to_host
from ..ops.build import bounded_indices
from ..ops.structure import transposed
from ..storage.coerce import as_indices, size_for, sizes
from .axis_labels import named_duplicate
from .edges import Relabel, edges_of
from .operand import exported

if TYPE_CHECKING:
    from ..labels import Labels
    from .matrix import Matrix


def from_edgelist(
    cls: type[Matrix],
    edges: Any,
    values: Any = None,
    dtype: Any = None,
    *,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    weights: bool | None = None,
    relabel: Relabel = False,
    bipartite: bool = False,
    value_labels: bool | Labels = False,
    symmetric: bool = False,
    nrows: int | None = None,
    ncols: int | None = None,
    shape: tuple[int, int] | None = None,
    dup_op: Any = None,
    name: str | None = None,
) -> Matrix:
    """A(i, j) = True, or the value, for every edge (i, j) or (i, j, value).

    Parameters
    ----------
    edges : list of tuples; array of 2 or 3 columns; or a table: a pandas, polars or cuDF frame, an Arrow table, a
        dictionary of columns, a structured NumPy array
    values : as many values, or one for all, where the edges hold none
    dtype : type of the values; by default theirs
    source, target, weight : columns of a table or an array, by name or position.  By default the first, the second
        and, if there is one, the third; with `source` and `target` alone the edges have no weights.  A list of columns
        of weights makes each value a record of them
    weights : False: a third column or part is not read.  True: there must be one
    relabel : True: vertices are named by labels (text, integers of any size, UUIDs), which are numbered in ascending
        order; the result has ``.labels``.  Or the `Labels` to use; or a pair of either, for sources and targets that
        are two sets: the result has ``.row_labels`` and ``.column_labels``
    bipartite : as ``relabel=(True, True)``: sources and targets, such as users and items, are numbered apart
    value_labels : True: the values are names, such as kinds of roads; each is stored as the rank of its name, int64,
        and the result has ``.value_labels``.  Or the `Labels` to use
    symmetric : store each edge in both directions
    nrows, ncols (or shape) : by default both the largest index of either end + 1, since an edge list is a graph; if
        only one is given, the other is the largest index on its side + 1
    dup_op : binary operator that combines repeated edges, ``"last"`` or ``"mean"``, as `from_coo`; those without values
        are one entry
    name : shown by `repr`

    Raises
    ------
    InvalidValue
        For vertices that are not integers (text, fractions, NaN) without `relabel`, labels of several types or
        unknown ones, missing vertices, a table of more columns than are named, and a missing weight (null, None, NaN),
        which is NaN, where `dtype` has no NaN.
    DuplicateIndex, IndexOutOfBound, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost O(k log k) for k edges; columns that hold integers are not copied before they are sorted.  On the GPU the
    checks synchronize.

    Examples
    --------
    >>> Matrix.from_edgelist([(0, 1), (1, 2)]).to_dicts()
    {0: {1: True}, 1: {2: True}}
    >>> A = Matrix.from_edgelist({"from": [0, 1], "to": [1, 2], "km": [3.5, 2.0]})
    >>> A.shape, A[1, 2].value
    ((3, 3), 2.0)
    >>> A = Matrix.from_edgelist([("eve", "ann"), ("ann", "bob")], relabel=True, symmetric=True)
    >>> A.to_dicts(), list(A.labels)
    ({0: {1: True, 2: True}, 1: {0: True}, 2: {0: True}}, ['ann', 'bob', 'eve'])
    >>> A = Matrix.from_edgelist([("ann", "tea", 2), ("bob", "tea", 1), ("ann", "rice", 5)], bipartite=True)
    >>> A.shape, A["ann", "rice"].value, list(A.row_labels), list(A.column_labels)
    ((2, 2), 5, ['ann', 'bob'], ['rice', 'tea'])
    >>> A = Matrix.from_edgelist([(0, 1, "road"), (1, 2, "rail")], value_labels=True)
    >>> A.to_dicts(), list(A.value_labels)
    ({0: {1: 1}, 1: {2: 0}}, ['rail', 'road'])
    """
    if bipartite and not isinstance(relabel, (bool, tuple)):
        raise InvalidValue("from_edgelist: bipartite=True has two sets of vertices: relabel=(Labels, Labels)")
    if bipartite and not isinstance(relabel, tuple):
        relabel = (True, True)
    if symmetric and isinstance(relabel, tuple):
        raise InvalidValue("from_edgelist: symmetric=True needs one set of vertices, and sources and targets are two")
    are_names = value_labels is not False
    rows, columns, found, labels = edges_of(edges, source, target, weight, relabel, named=are_names)
    if weights is False:
        found = None
    elif weights and found is None:
        raise InvalidValue("from_edgelist: weights=True, but the edges have no third part")
    if found is not None:
        if values is not None:
            raise InvalidType("from_edgelist: the edges hold values already; values= must be left out")
        if not are_names:
            _check_nan(found, dtype)
        values = found
    elif values is None and dup_op is None:
        dup_op = "any"
    names = None
    if are_names:
        values, names = _codes(values, value_labels, dup_op, dtype)
    nrows, ncols = sizes("from_edgelist", shape, nrows=nrows, ncols=ncols)
    for end, size, given in (("nrows", nrows, labels[0]), ("ncols", ncols, labels[1])):
        if given is not None and size not in (None, len(given)):
            raise InvalidValue(f"from_edgelist: {len(given)} labels give the shape; leave out {end}=, got {size}")
    nrows, ncols = (size if given is None else len(given) for size, given in zip((nrows, ncols), labels, strict=True))
    if nrows is None and ncols is None and not isinstance(relabel, tuple):
        nrows = ncols = max(size_for(rows), size_for(columns))
    if symmetric:
        if nrows != ncols:
            raise DimensionMismatch(f"from_edgelist: symmetric=True needs a square matrix, got {nrows} x {ncols}")
        rows, columns, values = _in_both_directions(rows, columns, values)
    try:
        made = cls.from_coo(rows, columns, values, dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name)
    except DuplicateIndex as error:
        raise named_duplicate("from_edgelist: ", error, *labels) from None
    made.row_labels, made.column_labels = labels
    made.value_labels = names
    return made


def _codes(values: Any, value_labels: bool | Labels, dup_op: Any, dtype: Any) -> tuple[Any, Labels]:
    """Return values that are names as their ranks, and the names."""
    from ..labels.coding import value_codes

    if values is None:
        raise InvalidValue("from_edgelist: value_labels= numbers values, and the edges hold none")
    return value_codes("from_edgelist", "weight", values, value_labels, dup_op, dtype)


def _check_nan(weights: Any, dtype: Any) -> None:
    """Raise InvalidValue for a weight that is missing, or NaN, where the type that was given has no NaN."""
    if dtype is None or lookup(dtype).kind not in "biu":
        return
    weights = weights if hasattr(weights, "dtype") else np.asarray(weights)
    if weights.dtype.kind not in "fc":
        return
    at = array_module(device_of(weights)).flatnonzero(weights != weights)[:1]
    if at.size:  # synchronizes on the GPU
        raise InvalidValue(f"from_edgelist: the weight of row {int(at[0])} is missing (nan), and {dtype} has no NaN")


def _in_both_directions(rows: Any, columns: Any, values: Any) -> tuple[Any, Any, Any]:
    """Return edges with the reverse of each that is no self-loop."""
    xp = array_module(device_of(rows))
    off = xp.flatnonzero(rows != columns)
    if values is not None and np.ndim(values):
        values = values if hasattr(values, "dtype") else np.asarray(values)
        values = xp.concatenate([values, values[off]])
    return xp.concatenate([rows, columns[off]]), xp.concatenate([columns, rows[off]]), values


def to_edgelist(
    self: Matrix,
    dtype: Any = None,
    *,
    index_dtype: Any = np.int64,
    device: str | None = None,
    values: bool = True,
    sort: bool = True,
) -> tuple[Any, Any]:
    """(array of nvals [row, column] pairs, the caller's own; values as `to_coo`).

    Parameters
    ----------
    dtype : type of the values; None: unchanged
    values : False: None in place of the values
    sort : accepted for programs of python-graphblas; edges are by row and then by column either way
    index_dtype : type of the pairs; None: the narrower of int32 and int64 that holds both
    device : ``"cpu"`` returns NumPy arrays, ``"cuda"`` CuPy arrays; None: those of the matrix's device

    Raises
    ------
    InvalidValue
        If the type cannot hold the last row or column.
    DomainMismatch, OutOfMemory

    Notes
    -----
    Cost O(nvals); 32 bytes an entry for int64 pairs, half of them while it runs.

    Examples
    --------
    >>> pairs, values = Matrix.from_coo([0, 1], [2, 0], [5, 6]).to_edgelist()
    >>> pairs.tolist(), values.tolist()
    ([[0, 2], [1, 0]], [5, 6])
    """
    rows, columns, weights = self.to_coo(dtype, index_dtype=index_dtype, values=values)
    with allocating("to_edgelist", self.device):
        pairs = array_module(self.device).stack([rows, columns], axis=1)
    return exported(pairs, device), exported(weights, device) if values else None


def to_dicts(self: Matrix, order: str = "rowwise") -> dict[int, dict[int, Any]]:
    """{row: {column: value}}, for rows that have entries.

    Parameters
    ----------
    order : ``"rowwise"``; or ``"columnwise"`` for {column: {row: value}}

    Raises
    ------
    InvalidValue

    Notes
    -----
    Cost O(nvals) objects; synchronizes on the GPU.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [0, 2, 1], [5, 6, 7])
    >>> A.to_dicts(), A.to_dicts("columnwise")
    ({0: {0: 5, 2: 6}, 2: {1: 7}}, {0: {0: 5}, 1: {2: 7}, 2: {0: 6}})
    """
    result: dict[int, dict[int, Any]] = {}
    source = self.T if _by_columns("to_dicts", order) else self
    rows, columns, values = (to_host(part).tolist() for part in source.to_coo(index_dtype=None))
    for i, j, x in zip(rows, columns, values, strict=True):
        result.setdefault(i, {})[j] = x
    return result


def from_dicts(
    cls: type[Matrix],
    nested: dict[int, dict[int, Any]] | list[dict[int, Any]],
    dtype: Any = None,
    *,
    order: str = "rowwise",
    nrows: int | None = None,
    ncols: int | None = None,
    shape: tuple[int, int] | None = None,
) -> Matrix:
    """A(i, j) = nested[i][j].

    Parameters
    ----------
    nested : {row: {column: value}}, or a list with {column: value} of each row
    dtype : type of the values; by default theirs
    order : ``"rowwise"``; or ``"columnwise"`` for {column: {row: value}}
    nrows, ncols (or shape) : by default the largest row of `nested` + 1, whether it has entries or not, and the
        largest column + 1 (by columns, the other way round)

    Raises
    ------
    IndexOutOfBound, InvalidValue, DomainMismatch, OutOfMemory

    Notes
    -----
    Cost O(k log k) for k entries, as Python objects.

    Examples
    --------
    >>> A = Matrix.from_dicts({0: {1: 5, 2: 6}, 1: {0: 7}})
    >>> A.shape, A.nvals, A[0, 2].value
    ((2, 3), 3, 6)
    """
    nrows, ncols = sizes("from_dicts", shape, nrows=nrows, ncols=ncols)
    if _by_columns("from_dicts", order):
        made = from_dicts(cls, nested, dtype, nrows=ncols, ncols=nrows)
        return cls._new(transposed(made.store))
    if isinstance(nested, (list, tuple)):
        if nrows is not None and nrows != len(nested):
            raise InvalidValue(f"from_dicts: a list of {len(nested)} rows needs nrows={len(nested)}, got {nrows}")
        nested = dict(enumerate(nested))
    try:
        triples = [(i, j, x) for i, row in nested.items() for j, x in row.items()]
    except AttributeError as error:
        raise InvalidValue(f"from_dicts: expected {{row: {{column: value}}}} ({error})") from error
    listed = as_indices("rows", list(nested))  # those without entries count too
    nrows = size_for(listed) if nrows is None else nrows
    bounded_indices("rows", listed, nrows, "cpu")
    rows, columns, values = ([part[k] for part in triples] for k in range(3))
    return cls.from_coo(rows, columns, values, dtype, nrows=nrows, ncols=ncols)


_ORDERS = {"row": False, "rowwise": False, "col": True, "colwise": True, "column": True, "columnwise": True}


def _by_columns(operation: str, order: str) -> bool:
    if order not in _ORDERS:
        raise InvalidValue(f"{operation}: order must be one of {', '.join(_ORDERS)}; got {order!r}")
    return _ORDERS[order]
