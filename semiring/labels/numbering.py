"""Number the distinct labels of columns: integers, text, and any hashable objects.

A column of text is numbered by the library that holds it (polars, pandas, Arrow), which hashes its own layout; Python
objects are numbered by a dictionary.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..exceptions import InvalidValue

# Integer labels are looked up in a table, if it has at most so many rows a label.
TABLE_ROWS_A_LABEL = 32

Rows = np.ndarray[Any, Any]


def as_column(where: str, name: str, values: Any, *, fractions: bool = False) -> np.ndarray[Any, Any]:
    """Return labels as an array of int64 (uint64 if needed) or of objects; InvalidValue where one is missing.

    fractions: whether numbers may have them; in an edge list they are rather a column of something else.
    """
    array = _array(values)
    if array.ndim != 1:
        raise InvalidValue(f"{where}: {name} must be one-dimensional, got {array.ndim} dimensions")
    kind = array.dtype.kind
    if kind in "iu":
        return array.astype(np.uint64 if array.dtype == np.uint64 and _is_large(array) else np.int64)
    if kind == "f":
        return _whole(where, name, array, fractions)
    objects = array if kind == "O" else _objects(array.tolist())
    missing = next((k for k, label in enumerate(objects.tolist()) if label is None or label != label), None)
    if missing is not None:
        raise InvalidValue(f"{where}: {name}[{missing}] is missing ({objects[missing]!r}); drop or fill it first")
    types = _types(objects)
    if types and all(issubclass(t, (int, float, np.integer, np.floating)) and t is not bool for t in types):
        numbers = objects.tolist()
        if any(isinstance(number, (float, np.floating)) for number in numbers):
            return _whole(where, name, np.array(numbers, np.float64), fractions)
        large = min(numbers) >= 0 and 2**63 <= max(numbers) < 2**64
        if large or (min(numbers) >= -(2**63) and max(numbers) < 2**63):
            return np.array(numbers, np.uint64 if large else np.int64)
    return objects.copy() if objects is values else objects


def number_columns(where: str, columns: Mapping[str, Any]) -> tuple[np.ndarray[Any, Any], list[Rows]]:
    """Return the distinct labels of columns in ascending order, and the rows of each column.

    where, and the names of the columns: for messages.
    """
    given = list(columns.values())
    found = _by_their_library(where, columns)
    if found is None:
        parts = {name: as_column(where, name, column) for name, column in columns.items()}
        given = list(parts.values())
        kinds = {part.dtype.kind for part in given if part.size}
        joined = np.concatenate(given) if len(kinds) < 2 or "O" not in kinds else np.concatenate(
            [part.astype(object) for part in given]
        )  # fmt: skip
        found = _number_integers(joined) if joined.dtype.kind in "iu" else _number_objects(where, joined)
    labels, rows = found
    bounds = np.cumsum([0, *(len(column) for column in given)])
    return labels, [rows[bounds[k] : bounds[k + 1]] for k in range(len(given))]


def first_repeated(column: np.ndarray[Any, Any]) -> Any:
    """Return a label that occurs twice; None if all differ."""
    if column.dtype.kind in "iu":
        ordered = np.sort(column)
        twice = np.flatnonzero(ordered[1:] == ordered[:-1])
        return int(ordered[twice[0]]) if twice.size else None
    seen = set()
    for label in column.tolist():
        if label in seen:
            return label
        seen.add(label)
    return None


def position_table(values: np.ndarray[Any, Any], least: int, span: int) -> Rows:
    """Return the position of each integer from `least` on, -1 where it does not occur."""
    table = np.full(span, -1, np.int64)
    table[values - values.dtype.type(least)] = np.arange(len(values))
    return table


def _number_integers(column: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], Rows]:
    if not column.size:
        return column.astype(np.int64), np.empty(0, np.int64)
    least, most = int(column.min()), int(column.max())
    span = most - least + 1
    if span > 2 * len(column) + 1024:
        labels, rows = np.unique(column, return_inverse=True)
        return labels, rows.astype(np.int64, copy=False)
    offsets = column - column.dtype.type(least)
    present = np.zeros(span, bool)
    present[offsets] = True
    labels = np.flatnonzero(present).astype(column.dtype) + column.dtype.type(least)
    if len(labels) == span:
        return labels, offsets.astype(np.int64, copy=False)
    ranks = np.cumsum(present, dtype=np.int64)
    ranks -= 1
    return labels, ranks[offsets]


def _number_objects(where: str, column: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], Rows]:
    types = _types(column)
    if len(types) > 1:
        names = sorted(t.__name__ for t in types)
        raise InvalidValue(f"{where}: labels must be of one type, got {' and '.join(names)}; convert the columns first")
    listed = column.tolist()
    try:
        distinct = list(dict.fromkeys(listed))
    except TypeError as error:
        raise InvalidValue(f"{where}: labels must be hashable: {error}") from error
    try:
        distinct.sort()
    except TypeError:  # no order: as they occur
        distinct = list(dict.fromkeys(listed))
    index = {label: row for row, label in enumerate(distinct)}
    return _objects(distinct), np.fromiter(map(index.__getitem__, listed), np.int64, len(listed))


# -- columns of other libraries ----------------------------------------------------------------------------


def _by_their_library(where: str, columns: Mapping[str, Any]) -> tuple[np.ndarray[Any, Any], Rows] | None:
    """Number columns of text that are all of polars, of pandas or of Arrow; None for any other columns."""
    given = list(columns.values())
    for module, kind, number in (("polars", "Series", _polars), ("pandas", "Series", _pandas), ("pyarrow", "", _arrow)):
        library = sys.modules.get(module)
        if library is None or not given:
            continue
        types = (library.Array, library.ChunkedArray) if module == "pyarrow" else getattr(library, kind)
        if all(isinstance(column, types) for column in given):
            for name, column in columns.items():
                missing = int(column.null_count if module == "pyarrow" else _count(column))
                if missing:
                    raise InvalidValue(f"{where}: {name} lacks {missing} values; drop or fill these rows first")
            return number(library, given)
    return None


def _count(column: Any) -> Any:
    return column.null_count() if hasattr(column, "null_count") else column.isna().sum()


def _polars(pl: Any, columns: Sequence[Any]) -> tuple[np.ndarray[Any, Any], Rows] | None:
    texts = [c.cast(pl.String) if c.dtype in (pl.Categorical, pl.Enum) else c for c in columns]
    if any(column.dtype != pl.String for column in texts):
        return None
    both = pl.concat([column.alias("label").rechunk() for column in texts])
    distinct = both.unique().sort()
    rows = both.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int64)
    return _objects(distinct.to_list()), rows


def _pandas(pd: Any, columns: Sequence[Any]) -> tuple[np.ndarray[Any, Any], Rows] | None:
    text = [c.astype(c.cat.categories.dtype) if isinstance(c.dtype, pd.CategoricalDtype) else c for c in columns]
    if not all(isinstance(column.dtype, pd.StringDtype) for column in text):
        return None
    rows, distinct = pd.factorize(pd.concat(text, ignore_index=True), sort=True)
    return _objects(list(distinct)), rows.astype(np.int64, copy=False)


def _arrow(pa: Any, columns: Sequence[Any]) -> tuple[np.ndarray[Any, Any], Rows] | None:
    plain = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in columns]
    types = pa.types
    if not all(types.is_string(c.type) or types.is_large_string(c.type) for c in plain):
        return None
    chunks = [part for c in plain for part in (c.chunks if isinstance(c, pa.ChunkedArray) else [c])]
    encoded = pa.chunked_array(chunks, type=chunks[0].type if chunks else pa.string()).dictionary_encode()
    encoded = encoded.unify_dictionaries()
    if not encoded.num_chunks:
        return _objects([]), np.empty(0, np.int64)
    names = encoded.chunk(0).dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    codes = [part.indices.to_numpy(zero_copy_only=False) for part in encoded.chunks]
    return _objects([names[k] for k in order]), rank[np.concatenate(codes)]


def _array(values: Any) -> np.ndarray[Any, Any]:
    """Return any column as a NumPy array, objects where it has no numbers."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "get") and hasattr(values, "__cuda_array_interface__"):
        return np.asarray(values.get())
    if type(values).__module__.partition(".")[0] == "pyarrow":
        return np.asarray(values.to_numpy(zero_copy_only=False))
    if hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    return _objects(list(values))


def _objects(listed: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return a one-dimensional array of objects, also of tuples."""
    array = np.empty(len(listed), object)
    array[:] = listed if not listed or not isinstance(listed[0], (tuple, list)) else None
    if listed and isinstance(listed[0], (tuple, list)):
        for k, label in enumerate(listed):
            array[k] = label
    return array


def _types(objects: np.ndarray[Any, Any]) -> set[type]:
    return set(map(type, objects.tolist()))


def _is_large(array: np.ndarray[Any, Any]) -> bool:
    return bool(array.size) and int(array.max()) >= 2**63


def _whole(where: str, name: str, array: np.ndarray[Any, Any], fractions: bool) -> np.ndarray[Any, Any]:
    """Return floats that are integers as such, others as objects; InvalidValue for NaN, and unwanted fractions."""
    exact = (np.abs(array) <= 2.0**53) & (array == np.trunc(array))
    if exact.all():
        return array.astype(np.int64)
    wrong = np.flatnonzero(np.isnan(array) if fractions else ~exact)
    if not wrong.size:
        return _objects(array.tolist())
    at = int(wrong[0])
    what = "is missing (nan); drop or fill it first" if np.isnan(array[at]) else f"is {array[at]}, which is no label"
    raise InvalidValue(f"{where}: {name}[{at}] {what}")
