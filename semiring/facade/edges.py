"""Convert edges to three arrays: from lists, arrays, and the columns of tables.

A table is anything with named columns: a pandas or polars frame, an Arrow table or record batch, an object with the
Arrow stream interface (which pyarrow reads), a dictionary of columns, a structured NumPy array.  A table is recognised
by its interface, so that none of these libraries is needed.

Ambiguous input raises InvalidValue: more columns than (source, target) or (source, target, weight) unless they are
named, missing vertices, and vertices that are not integers where they are not numbered.  A missing weight (null, NA,
None) is NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..exceptions import InvalidType, InvalidValue
from ..formats import array_module, device_of
from ..memory.arrays import to_host
from ..optional import needed
from ..storage.coerce import as_array

if TYPE_CHECKING:
    from ..labels import Labels

_PLACE = "from_edgelist"
_ROLES = ("source", "target", "weight")
_IDS = "relabel=True numbers the ids that occur, and A.labels maps them to rows"


class Edges(NamedTuple):
    """Sources, targets and values (None: the edges hold none) of as many edges; the labels of vertices, if any."""

    rows: Any
    columns: Any
    values: Any
    labels: Labels | None = None


def edges_of(given: Any, source: Any, target: Any, weight: Any, relabel: bool | Labels = False) -> Edges:
    """Return the edges of a table, an array of 2 or 3 columns, or a list of pairs or triples.

    source, target, weight: columns by name or position; None: the first, the second, and the third if there is one.
    relabel: number the vertices, or use a numbering.  InvalidValue for anything else, or if it is ambiguous.
    """
    if not isinstance(relabel, bool):
        from ..labels import Labels

        if not isinstance(relabel, Labels):
            raise InvalidType(f"{_PLACE}: relabel= is True, False or semiring.Labels, got {type(relabel).__name__}")
    columns = _columns(given)
    if columns is not None:
        return _of_table(columns, source, target, weight, relabel)
    if hasattr(given, "store"):
        raise InvalidValue(f"{_PLACE}: a {type(given).__name__} is no edge list; its entries are .to_edgelist()")
    if hasattr(given, "ndim"):
        given = as_array("edges", given)
        if given.ndim != 2:
            raise InvalidValue(f"{_PLACE}: expected an array of 2 or 3 columns, got shape {given.shape}")
        parts = {k: given[:, k] for k in range(given.shape[1])}
        chosen = _chosen(list(parts), source, target, weight)
        ends = {f"edges[:, {k}]": parts[k] for k in chosen[:2]}
        return _of_columns(ends, None if chosen[2] is None else _weights(chosen[2], parts[chosen[2]]), relabel)
    if (source, target, weight) != (None, None, None):
        raise InvalidValue(f"{_PLACE}: source=, target= and weight= name columns of a table, got a list of edges")
    return _of_list(given, relabel)


def _of_list(given: Any, relabel: bool | Labels) -> Edges:
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
    ends: dict[str, Any] = {f"edges[:, {k}]": [edge[k] for edge in edges] for k in (0, 1)}
    if relabel is False:
        ends = {name: as_array("edges", column, np.int64) for name, column in ends.items()}
    weights = [edge[2] for edge in edges] if widths == {3} else None
    if weights is not None and None in weights:
        weights = _floats(weights)
    return _of_columns(ends, weights, relabel)


def _of_table(columns: Mapping[Any, Any], source: Any, target: Any, weight: Any, relabel: bool | Labels) -> Edges:
    chosen = _chosen(list(columns), source, target, weight)
    ends = {f"column {name!r}": columns[name] for name in chosen[:2]}
    if relabel is False:
        ends = {f"column {name!r}": _without_missing(name, columns[name]) for name in chosen[:2]}
    if chosen[2] is None:
        return _of_columns(ends, None, relabel)
    return _of_columns(ends, _weights(chosen[2], _with_nan(chosen[2], columns[chosen[2]])), relabel)


def _of_columns(ends: dict[str, Any], values: Any, relabel: bool | Labels) -> Edges:
    """Return edges, whose ends are rows already, or labels under `relabel`.  ends: two columns, by their names."""
    if relabel is False:
        rows, cols = (_vertices(name, column) for name, column in ends.items())
        return Edges(rows, cols, values)
    from ..labels import Labels, number_columns

    if isinstance(relabel, Labels):
        rows, cols = (relabel.rows(column) for column in ends.values())
        return Edges(rows, cols, values, relabel)
    labels, (rows, cols) = number_columns(_PLACE, ends)
    return Edges(rows, cols, values, Labels.of_distinct(labels))


def _weights(name: Any, values: Any) -> Any:
    if values.dtype.kind == "O":
        values = _floats(values.tolist())
    if values.dtype.kind not in "biufcV":
        raise InvalidValue(
            f"{_PLACE}: column {name!r} holds the weights and must hold numbers, got {_content(values)}; "
            f"name another one by weight="
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
    named = {role: _column(names, role, key) for role, key in zip(_ROLES, (source, target, weight), strict=True)}
    if named["source"] is None and named["target"] is None and named["weight"] is None:
        if len(names) not in (2, 3):
            raise InvalidValue(
                f"{_PLACE}: expected 2 or 3 columns (source, target, weight), got {len(names)}: {_listed(names)}; "
                f"name them by source=, target= and weight="
            )
        named = dict(zip(_ROLES, [*names, None][:3], strict=True))
    elif named["source"] is None or named["target"] is None:
        missing = "source" if named["source"] is None else "target"
        raise InvalidValue(f"{_PLACE}: {missing}= is missing; source= and target= are given together")
    found = [name for name in named.values() if name is not None]
    if len(set(found)) < len(found):
        raise InvalidValue(f"{_PLACE}: source=, target= and weight= must be different columns, got {_listed(found)}")
    return named["source"], named["target"], named["weight"]


def _column(names: list[Any], role: str, key: Any) -> Any:
    """Return the column with this name, or at this position if none has the name; None for None."""
    if key is None:
        return None
    if key in names:
        return key
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and -len(names) <= key < len(names):
        return names[int(key)]
    raise InvalidValue(f"{_PLACE}: {role}={key!r} is no column; the columns are {_listed(names)}")


def _listed(names: list[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return f"{shown}, ..." if len(names) > 8 else shown


# -- tables ------------------------------------------------------------------------------------------------


def _columns(given: Any) -> dict[Any, Any] | None:
    """Return the columns of a table by name, or None if `given` is not a table."""
    if isinstance(given, Mapping):
        return dict(given)
    names = getattr(getattr(given, "dtype", None), "names", None)
    if names is not None:  # a structured array
        return {name: given[name] for name in names}
    if hasattr(given, "column_names") and hasattr(given, "column"):  # Arrow
        return _unique(list(given.column_names), [given.column(k) for k in range(len(given.column_names))])
    if hasattr(given, "get_columns") and hasattr(given, "columns"):  # polars
        return _unique(list(given.columns), list(given.get_columns()))
    if hasattr(given, "iloc") and hasattr(given, "columns"):  # pandas, cuDF
        return _unique(list(given.columns), [given.iloc[:, k] for k in range(len(given.columns))])
    if hasattr(given, "collect") and hasattr(given, "collect_schema"):
        raise InvalidValue(f"{_PLACE}: a {type(given).__name__} is not computed yet; use .collect()")
    if hasattr(given, "__arrow_c_stream__"):
        return _columns(_arrow(given))
    return None


def _arrow(given: Any) -> Any:
    return needed(f"{_PLACE} of a {type(given).__name__}", "pyarrow").table(given)


def _unique(names: list[Any], columns: list[Any]) -> dict[Any, Any]:
    if len(set(names)) < len(names):
        raise InvalidValue(f"{_PLACE}: two columns have one name: {_listed(names)}")
    return dict(zip(names, columns, strict=True))


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
        if bool(to_host(exact.all())):  # synchronises on the GPU
            return array.astype(np.int64)
        wrong = array[~exact][:1]
        raise InvalidValue(f"{_PLACE}: {where} must hold vertices, which are integers, got {to_host(wrong)[0]}; {_IDS}")
    raise InvalidValue(f"{_PLACE}: {where} must hold vertices, which are integers, got {_content(array)}; {_IDS}")


def _content(array: Any) -> str:
    """Return the type of the elements of an array, with an example that is not a number."""
    return str(array.dtype) if array.dtype.kind in "biufc" else f"{array.dtype} such as {array.tolist()[0]!r}"
