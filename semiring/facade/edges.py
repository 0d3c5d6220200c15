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

from ..exceptions import InvalidType, InvalidValue
from ..formats import array_module, device_of
from ..memory.arrays import to_host
from ..record_types import of_columns as records_of
from ..storage.coerce import as_array

_PLACE = "from_edgelist"
_ROLES = ("source", "target", "weight")
_IDS = "relabel=True numbers the ids that occur, and A.labels maps them to rows"


if TYPE_CHECKING:
    from ..labels import Labels

Relabel: TypeAlias = "bool | Labels | tuple[bool | Labels, bool | Labels]"


class Edges(NamedTuple):
    """Sources, targets and values (None: the edges hold none) of as many edges; the labels of both, if any."""

    rows: Any
    columns: Any
    values: Any
    labels: tuple[Labels | None, Labels | None] = (None, None)


def edges_of(
    given: Any, source: Any, target: Any, weight: Any, relabel: Relabel = False, *, named: bool = False
) -> Edges:
    """Return the edges of a table, an array of 2 or 3 columns, or a list of pairs or triples.

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
                f"{_PLACE}: relabel= is True, False, semiring.Labels, or a pair of these for sources and targets, "
                f"got {type(part).__name__}"
            )
    columns = columns_of(_PLACE, given)
    if columns is not None:
        return _of_table(columns, source, target, weight, relabel, named)
    if hasattr(given, "store"):
        raise InvalidValue(f"{_PLACE}: a {type(given).__name__} is no edge list; its entries are .to_edgelist()")
    if hasattr(given, "ndim"):
        given = as_array("edges", given)
        if given.ndim != 2:
            raise InvalidValue(f"{_PLACE}: expected an array of 2 or 3 columns, got shape {given.shape}")
        parts = {k: given[:, k] for k in range(given.shape[1])}
        chosen = _chosen(list(parts), source, target, weight)
        ends = {f"edges[:, {k}]": parts[k] for k in chosen[:2]}
        return _of_columns(ends, _weights(parts, chosen[2], named=named), relabel)
    if (source, target, weight) != (None, None, None):
        raise InvalidValue(f"{_PLACE}: source=, target= and weight= name columns of a table, got a list of edges")
    return _of_list(given, relabel, named)


def _of_list(given: Any, relabel: Relabel, named: bool) -> Edges:
    if isinstance(given, (str, bytes)):
        raise InvalidValue(f"{_PLACE}: expected edges (i, j) or (i, j, value), got text; io.read reads files")
    try:
        edges = [tuple(edge) for edge in given]
    except TypeError as error:
        raise InvalidValue(f"{_PLACE}: expected edges (i, j) or (i, j, value), or a table of them ({error})") from error
    widths = {len(edge) for edge in edges}
    if not widths <= {2} and widths != {3}:
        raise InvalidValue(f"{_PLACE}: expected edges of 2 or 3 parts each, got {sorted(widths)}")
    # Each column separately: in one array of floats with a weight of 0.5, an id above 2**53 would lose digits.
    ends: dict[str, Any] = {}
    for k in (0, 1):
        column = [edge[k] for edge in edges]
        ends[f"edges[:, {k}]"] = as_array("edges", column, np.int64) if _are_rows(relabel, k) else column
    weights = [edge[2] for edge in edges] if widths == {3} else None
    if weights is not None and not named and None in weights:
        weights = _floats(weights)
    return _of_columns(ends, weights, relabel)


def _of_table(
    columns: Mapping[Any, Any], source: Any, target: Any, weight: Any, relabel: Relabel, named: bool
) -> Edges:
    chosen = _chosen(list(columns), source, target, weight)
    ends = {}
    for k, name in enumerate(chosen[:2]):
        column = columns[name]
        ends[f"column {name!r}"] = _without_missing(name, column) if _are_rows(relabel, k) else column
    return _of_columns(ends, _weights(columns, chosen[2], _with_nan, named=named), relabel)


def _of_columns(ends: dict[str, Any], values: Any, relabel: Relabel) -> Edges:
    """Return edges, whose ends are rows already, or labels under `relabel`.  ends: two columns, by their names."""
    if isinstance(relabel, tuple):
        (rows, of_rows), (cols, of_cols) = (
            _numbered({name: column}, its) for (name, column), its in zip(ends.items(), relabel, strict=True)
        )
        return Edges(rows[0], cols[0], values, (of_rows, of_cols))
    (rows, cols), labels = _numbered(ends, relabel)
    return Edges(rows, cols, values, (labels, labels))


def _are_rows(relabel: Relabel, end: int) -> bool:
    return (relabel[end] if isinstance(relabel, tuple) else relabel) is False


def _numbered(ends: dict[str, Any], relabel: bool | Labels) -> tuple[list[Any], Labels | None]:
    """Return columns of vertices as rows, and their labels if they have any."""
    from ..labels import Labels, number_columns

    if relabel is False:
        return [_vertices(name, column) for name, column in ends.items()], None
    if relabel is True:
        labels, rows = number_columns(_PLACE, ends)
        return rows, Labels.of_distinct(labels)
    return [relabel.rows(column) for column in ends.values()], relabel


def _weights(
    columns: Mapping[Any, Any], chosen: Any, read: Any = lambda name, column: column, *, named: bool = False
) -> Any:
    """Return the column of weights, as it is if it is `named`, or records of several; None for None."""
    if named and isinstance(chosen, list):
        raise InvalidValue(f"{_PLACE}: records hold numbers; value_labels= is for one column of names")
    if named:
        return None if chosen is None else columns[chosen]
    if not isinstance(chosen, list):
        return None if chosen is None else _numbers(chosen, read(chosen, columns[chosen]))
    return records_of({str(name): to_host(_numbers(name, read(name, columns[name]))) for name in chosen})


def _numbers(name: Any, values: Any) -> Any:
    if values.dtype.kind == "O":
        values = _floats(values.tolist())
    if values.dtype.kind not in "biufcV":
        raise InvalidValue(
            f"{_PLACE}: column {name!r} holds the weights and must hold numbers, got {_content(values)}; "
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


def _chosen(names: list[Any], source: Any, target: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Return the names of the columns of sources, targets and weights."""
    from ..labels.tables import listed

    several = isinstance(weight, (list, tuple)) and weight not in names
    if several and not weight:
        raise InvalidValue(f"{_PLACE}: weight= names no column")
    weights = [_column(names, "weight", key) for key in weight] if several else []
    given = source, target, weights[0] if several else weight
    named = {role: _column(names, role, key) for role, key in zip(_ROLES, given, strict=True)}
    if named["source"] is None and named["target"] is None and named["weight"] is None:
        if len(names) not in (2, 3):
            raise InvalidValue(
                f"{_PLACE}: expected 2 or 3 columns (source, target, weight), got {len(names)}: {listed(names)}; "
                f"name them by source=, target= and weight="
            )
        named = dict(zip(_ROLES, [*names, None][:3], strict=True))
    elif named["source"] is None or named["target"] is None:
        missing = "source" if named["source"] is None else "target"
        raise InvalidValue(f"{_PLACE}: {missing}= is missing; source= and target= are given together")
    found = [*(name for name in named.values() if name is not None), *weights[1:]]
    if len(set(found)) < len(found):
        raise InvalidValue(f"{_PLACE}: source=, target= and weight= must be different columns, got {listed(found)}")
    return named["source"], named["target"], weights or named["weight"]


def _column(names: list[Any], role: str, key: Any) -> Any:
    """Return the column with this name, or at this position if none has the name; None for None."""
    if key is None:
        return None
    if key in names:
        return key
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and -len(names) <= key < len(names):
        return names[int(key)]
    from ..labels.tables import listed

    raise InvalidValue(f"{_PLACE}: {role}={key!r} is no column; the columns are {listed(names)}")


# -- tables ------------------------------------------------------------------------------------------------


def _missing(column: Any) -> int:
    """Return how many values of a column of a frame are missing."""
    for count in ("null_count", "isna", "isnull"):  # Arrow and polars; pandas
        found = getattr(column, count, None)
        if found is not None:
            found = found() if callable(found) else found
            return int(found.sum()) if hasattr(found, "sum") else int(found)
    return 0


def _with_nan(name: Any, column: Any) -> Any:
    """Return a column of weights as an array, with NaN for values that are missing."""
    from ..labels import arrow

    if _missing(column):
        column = arrow.on_host(column)
        filled = arrow.floats(column)
        if filled is not None:
            return filled
        if getattr(getattr(column, "dtype", None), "kind", "") == "O":  # of pandas: see `_weights`
            return column.to_numpy()
    return _without_missing(name, column)


def _without_missing(name: Any, column: Any) -> Any:
    """Return a column as an array; InvalidValue where values are missing."""
    missing = _missing(column)
    if missing and not _not_a_number(column):
        raise InvalidValue(f"{_PLACE}: column {name!r} lacks {missing} values; drop or fill these rows first")
    if hasattr(column, "dtype") and hasattr(column.dtype, "numpy_dtype"):  # pandas' own nullable types
        column = column.to_numpy(dtype=column.dtype.numpy_dtype)
    if type(column).__module__.partition(".")[0] == "pyarrow":  # its DLPack supports numbers only
        column = column.to_numpy(zero_copy_only=False)
    array = as_array(f"column {name!r}", column)
    if array.ndim != 1:
        raise InvalidValue(f"{_PLACE}: column {name!r} must be one-dimensional, got {array.ndim} dimensions")
    return array


def _not_a_number(column: Any) -> bool:
    """Whether what pandas counts as missing is the NaN of an ordinary column of floats, a valid weight."""
    return isinstance(getattr(column, "dtype", None), np.dtype) and column.dtype.kind == "f"


def _vertices(where: str, array: Any) -> Any:
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
        raise InvalidValue(f"{_PLACE}: {where} must hold vertices, which are integers, got {to_host(wrong)[0]}; {_IDS}")
    raise InvalidValue(f"{_PLACE}: {where} must hold vertices, which are integers, got {_content(array)}; {_IDS}")


def _content(array: Any) -> str:
    """Return the type of the elements of an array, with an example that is not a number."""
    return str(array.dtype) if array.dtype.kind in "biufc" else f"{array.dtype} such as {array.tolist()[0]!r}"
