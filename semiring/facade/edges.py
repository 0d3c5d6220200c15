"""Convert edges to three arrays: from lists, arrays, and the columns of tables.

A table is anything with named columns: a pandas or polars frame, an Arrow table or record batch, an object with the
Arrow stream interface (which pyarrow reads), a dictionary of columns, a structured NumPy array.  A table is recognized
by its interface, so that none of these libraries is needed.

Ambiguous input raises InvalidValue: more columns than (source, target) or (source, target, weight) unless they are
named, missing vertices, and vertices that are not integers where they are not numbered.  A missing weight (null, NA,
None) is NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..dtypes import lookup
from ..exceptions import DimensionMismatch, DuplicateIndex, InvalidType, InvalidValue
from ..formats import array_module, device_of
from ..memory.allocation import allocating
from ..memory.arrays import to_host
from ..ops.build import bounded_indices
from ..ops.structure import transposed
from ..record_types import of_columns as records_of
from ..storage.coerce import as_array, as_indices, size_for, sizes
from .axis_labels import named_duplicate
from .operand import exported

if TYPE_CHECKING:
    from ..labels import Labels
    from .matrix import Matrix


_ROLES = ("source", "target", "weight")
_IDS = "from_edgelist(relabel=True) numbers the ids that occur, and A.labels maps them to rows"


Relabel: TypeAlias = "bool | Labels | tuple[bool | Labels, bool | Labels]"


class Edges(NamedTuple):
    """Sources, targets and values (None: the edges hold none) of as many edges; the labels of both, if any."""

    rows: Any
    columns: Any
    values: Any
    labels: tuple[Labels | None, Labels | None] = (None, None)


def edges_of(
    place: str, given: Any, source: Any, target: Any, weight: Any, relabel: Relabel = False, *, named: bool = False
) -> Edges:
    """Return the edges of a table, an array of 2 or 3 columns, or a list of pairs or triples.

    place: the function that errors name.
    source, target, weight: columns by name or position; None: the first, the second, and the third if there is one.
    A list of columns of weights gives records.  relabel: number the vertices, or use a numbering; a pair: those of
    sources and of targets, which are two sets.  named: the values are names, and are returned as given.  InvalidValue
    for anything else, or if it is ambiguous.
    """
    from ..labels import Labels
    from ..labels.tables import columns_of

    for part in relabel if isinstance(relabel, tuple) and len(relabel) == 2 else [relabel]:
        if not isinstance(part, (bool, Labels)):
            raise InvalidType(
                f"{place}: relabel= is True, False, semiring.Labels, or a pair of these for sources and targets, "
                f"got {type(part).__name__}"
            )
    columns = columns_of(place, given)
    if columns is not None:
        return _of_table(place, columns, source, target, weight, relabel, named)
    if hasattr(given, "store"):
        raise InvalidValue(f"{place}: a {type(given).__name__} is no edge list; its entries are .to_edgelist()")
    if hasattr(given, "ndim"):
        given = as_array("edges", given)
        if given.ndim != 2:
            raise InvalidValue(f"{place}: expected an array of 2 or 3 columns, got shape {given.shape}")
        parts = {k: given[:, k] for k in range(given.shape[1])}
        chosen = _chosen(place, list(parts), source, target, weight)
        ends = {f"edges[:, {k}]": parts[k] for k in chosen[:2]}
        return _of_columns(place, ends, _weights(place, parts, chosen[2], named=named), relabel)
    if (source, target, weight) != (None, None, None):
        raise InvalidValue(f"{place}: source=, target= and weight= name columns of a table, got a list of edges")
    return _of_list(place, given, relabel, named)


def _of_list(place: str, given: Any, relabel: Relabel, named: bool) -> Edges:
    if isinstance(given, (str, bytes)):
        raise InvalidValue(f"{place}: expected edges (i, j) or (i, j, value), got text; io.read reads files")
    try:
        edges = [tuple(edge) for edge in given]
    except TypeError as error:
        raise InvalidValue(f"{place}: expected edges (i, j) or (i, j, value), or a table of them ({error})") from error
    widths = {len(edge) for edge in edges}
    if not widths <= {2} and widths != {3}:
        raise InvalidValue(f"{place}: expected edges of 2 or 3 parts each, got {sorted(widths)}")
    # Each column separately: in one array of floats with a weight of 0.5, an id above 2**53 would lose digits.
    ends: dict[str, Any] = {}
    for k in (0, 1):
        column = [edge[k] for edge in edges]
        ends[f"edges[:, {k}]"] = as_array("edges", column, np.int64) if _are_rows(relabel, k) else column
    weights = [edge[2] for edge in edges] if widths == {3} else None
    if weights is not None and not named and None in weights:
        weights = _floats(weights)
    return _of_columns(place, ends, weights, relabel)


def _of_table(
    place: str, columns: Mapping[Any, Any], source: Any, target: Any, weight: Any, relabel: Relabel, named: bool
) -> Edges:
    chosen = _chosen(place, list(columns), source, target, weight)
    ends = {}
    for k, name in enumerate(chosen[:2]):
        column = columns[name]
        ends[f"column {name!r}"] = _without_missing(place, name, column) if _are_rows(relabel, k) else column
    return _of_columns(place, ends, _weights(place, columns, chosen[2], _with_nan, named=named), relabel)


def _of_columns(place: str, ends: dict[str, Any], values: Any, relabel: Relabel) -> Edges:
    """Return edges, whose ends are rows already, or labels under `relabel`.  ends: two columns, by their names."""
    if isinstance(relabel, tuple):
        (rows, of_rows), (cols, of_cols) = (
            _numbered(place, {name: column}, its) for (name, column), its in zip(ends.items(), relabel, strict=True)
        )
        return Edges(rows[0], cols[0], values, (of_rows, of_cols))
    (rows, cols), labels = _numbered(place, ends, relabel)
    return Edges(rows, cols, values, (labels, labels))


def _are_rows(relabel: Relabel, end: int) -> bool:
    return (relabel[end] if isinstance(relabel, tuple) else relabel) is False


def _numbered(place: str, ends: dict[str, Any], relabel: bool | Labels) -> tuple[list[Any], Labels | None]:
    """Return columns of vertices as rows, and their labels if they have any."""
    from ..labels import Labels, number_columns

    if relabel is False:
        return [_vertices(place, name, column) for name, column in ends.items()], None
    if relabel is True:
        labels, rows = number_columns(place, ends)
        return rows, Labels.of_distinct(labels)
    return [relabel.rows(column) for column in ends.values()], relabel


def _weights(
    place: str,
    columns: Mapping[Any, Any],
    chosen: Any,
    read: Any = lambda place, name, column: column,
    *,
    named: bool = False,
) -> Any:
    """Return the column of weights, as it is if it is `named`, or records of several; None for None."""
    if named and isinstance(chosen, list):
        raise InvalidValue(f"{place}: records hold numbers; value_labels= is for one column of names")
    if named:
        return None if chosen is None else columns[chosen]
    if not isinstance(chosen, list):
        return None if chosen is None else _numbers(place, chosen, read(place, chosen, columns[chosen]))
    return records_of({str(name): to_host(_numbers(place, name, read(place, name, columns[name]))) for name in chosen})


def _numbers(place: str, name: Any, values: Any) -> Any:
    if values.dtype.kind == "O":
        values = _floats(values.tolist())
    if values.dtype.kind not in "biufcV":
        raise InvalidValue(
            f"{place}: column {name!r} holds the weights and must hold numbers, got {_content(values)}; "
            f"name another one by weight=, or number its values by value_labels=True"
        )
    return values


def _floats(weights: list[Any]) -> Any:
    """Return numbers, of which some are missing, as floats with NaN for these; anything else as objects."""
    if all(x is None or isinstance(x, (int, float, np.number, np.bool_)) for x in map(_none_of_missing, weights)):
        return np.array([np.nan if _none_of_missing(x) is None else x for x in weights], np.float64)
    return np.array(weights, object)


def _none_of_missing(x: Any) -> Any:
    """Return None for the NA of pandas, anything else unchanged."""
    return None if type(x).__name__ == "NAType" else x


def _chosen(place: str, names: list[Any], source: Any, target: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Return the names of the columns of sources, targets and weights."""
    from ..labels.tables import listed

    several = isinstance(weight, (list, tuple)) and weight not in names
    if several and not weight:
        raise InvalidValue(f"{place}: weight= names no column")
    weights = [_column(place, names, "weight", key) for key in weight] if several else []
    given = source, target, weights[0] if several else weight
    named = {role: _column(place, names, role, key) for role, key in zip(_ROLES, given, strict=True)}
    if named["source"] is None and named["target"] is None and named["weight"] is None:
        if len(names) not in (2, 3):
            raise InvalidValue(
                f"{place}: expected 2 or 3 columns (source, target, weight), got {len(names)}: {listed(names)}; "
                f"name them by source=, target= and weight="
            )
        named = dict(zip(_ROLES, [*names, None][:3], strict=True))
    elif named["source"] is None or named["target"] is None:
        missing = "source" if named["source"] is None else "target"
        raise InvalidValue(f"{place}: {missing}= is missing; source= and target= are given together")
    found = [*(name for name in named.values() if name is not None), *weights[1:]]
    if len(set(found)) < len(found):
        raise InvalidValue(f"{place}: source=, target= and weight= must be different columns, got {listed(found)}")
    return named["source"], named["target"], weights or named["weight"]


def _column(place: str, names: list[Any], role: str, key: Any) -> Any:
    """Return the column with this name, or at this position if none has the name; None for None."""
    if key is None:
        return None
    if key in names:
        return key
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and -len(names) <= key < len(names):
        return names[int(key)]
    from ..labels.tables import listed

    raise InvalidValue(f"{place}: {role}={key!r} is no column; the columns are {listed(names)}")


# -- tables ------------------------------------------------------------------------------------------------


def _missing(column: Any) -> int:
    """Return how many values of a column of a frame are missing."""
    for count in ("null_count", "isna", "isnull"):  # Arrow and polars; pandas
        found = getattr(column, count, None)
        if found is not None:
            found = found() if callable(found) else found
            return int(found.sum()) if hasattr(found, "sum") else int(found)
    return 0


def _with_nan(place: str, name: Any, column: Any) -> Any:
    """Return a column of weights as an array, with NaN for values that are missing."""
    from ..labels import arrow

    if _missing(column):
        column = arrow.on_host(column)
        filled = arrow.floats(column)
        if filled is not None:
            return filled
        if getattr(getattr(column, "dtype", None), "kind", "") == "O":  # of pandas: see `_weights`
            return column.to_numpy()
    return _without_missing(place, name, column)


def _without_missing(place: str, name: Any, column: Any) -> Any:
    """Return a column as an array; InvalidValue where values are missing."""
    missing = _missing(column)
    if missing and not _not_a_number(column):
        raise InvalidValue(f"{place}: column {name!r} lacks {missing} values; drop or fill these rows first")
    if hasattr(column, "dtype") and hasattr(column.dtype, "numpy_dtype"):  # pandas' own nullable types
        column = column.to_numpy(dtype=column.dtype.numpy_dtype)
    if type(column).__module__.partition(".")[0] == "pyarrow":  # its DLPack supports numbers only
        column = column.to_numpy(zero_copy_only=False)
    array = as_array(f"column {name!r}", column)
    if array.ndim != 1:
        raise InvalidValue(f"{place}: column {name!r} must be one-dimensional, got {array.ndim} dimensions")
    return array


def _not_a_number(column: Any) -> bool:
    """Whether what pandas counts as missing is the NaN of an ordinary column of floats, a valid weight."""
    return isinstance(getattr(column, "dtype", None), np.dtype) and column.dtype.kind == "f"


def _vertices(place: str, where: str, array: Any) -> Any:
    """Return the array as integers; converts floats without a fraction (an array of edges with weights has floats)."""
    kind = array.dtype.kind
    if kind in "iu" or array.size == 0:
        return array if kind in "iu" else array.astype(np.int64)
    if kind == "f":
        xp = array_module(device_of(array))
        # Beyond 2**53 a float is not an exact integer; NaN and infinities fail the comparison.
        exact = (xp.abs(array) <= 2.0**53) & (array == xp.trunc(array))
        if bool(to_host(exact.all())):  # synchronizes on the GPU
            return array.astype(np.int64)
        wrong = array[~exact][:1]
        raise InvalidValue(f"{place}: {where} must hold vertices, which are integers, got {to_host(wrong)[0]}; {_IDS}")
    raise InvalidValue(f"{place}: {where} must hold vertices, which are integers, got {_content(array)}; {_IDS}")


def _content(array: Any) -> str:
    """Return the type of the elements of an array, with an example that is not a number."""
    return str(array.dtype) if array.dtype.kind in "biufc" else f"{array.dtype} such as {array.tolist()[0]!r}"


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
    rows, columns, found, labels = edges_of("from_edgelist", edges, source, target, weight, relabel, named=are_names)
    if weights is False:
        found = None
    elif weights and found is None:
        raise InvalidValue("from_edgelist: weights=True, but the edges have no third part")
    if found is not None:
        if values is not None:
            raise InvalidType("from_edgelist: the edges hold values already; values= must be left out")
        if not are_names:
            check_nan("from_edgelist", found, dtype)
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
        rows, columns, values = in_both_directions(rows, columns, values)
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


def check_nan(place: str, weights: Any, dtype: Any) -> None:
    """Raise InvalidValue for a weight that is missing, or NaN, where the type that was given has no NaN."""
    if dtype is None or lookup(dtype).kind not in "biu":
        return
    weights = weights if hasattr(weights, "dtype") else np.asarray(weights)
    if weights.dtype.kind not in "fc":
        return
    at = array_module(device_of(weights)).flatnonzero(weights != weights)[:1]
    if at.size:  # synchronizes on the GPU
        raise InvalidValue(f"{place}: the weight of row {int(at[0])} is missing (nan), and {dtype} has no NaN")


def in_both_directions(rows: Any, columns: Any, values: Any) -> tuple[Any, Any, Any]:
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
