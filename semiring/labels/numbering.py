"""Number the distinct labels of columns: integers, text, and any hashable objects.

Many integers and texts are numbered by hash tables of compiled loops (`distinct`); of text that polars, pandas or Arrow
hold, these read Arrow's buffers.  Other objects, and few labels, are numbered by a dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..exceptions import InvalidValue
from . import arrow, distinct

# Addresses of objects that are compared to estimate how many differ.
_SAMPLE = 200_000
# Types without a value that stands for a missing one.
_PRESENT = {str, int, bytes}

Rows = np.ndarray[Any, Any]


def as_column(where: str, name: str, values: Any, *, fractions: bool = False) -> np.ndarray[Any, Any]:
    """Return labels as an array of int64 (uint64 if needed) or of objects; InvalidValue where one is missing.

    fractions: whether numbers may have them; in an edge list they are rather a column of something else.
    """
    array = array_of(values)
    if array.ndim != 1:
        raise InvalidValue(f"{where}: {name} must be one-dimensional, got {array.ndim} dimensions")
    kind = array.dtype.kind
    if kind in "iu":
        return array.astype(np.uint64 if array.dtype == np.uint64 and _is_large(array) else np.int64, copy=False)
    if kind == "f":
        return _whole(where, name, array, fractions)
    objects = array if kind == "O" else _objects(array.tolist())
    types = _types(objects)
    if not types <= _PRESENT:
        missing = next((k for k, label in enumerate(objects.tolist()) if label is None or label != label), None)
        if missing is not None:
            raise InvalidValue(f"{where}: {name}[{missing}] is missing ({objects[missing]!r}); drop or fill it first")
    if types and all(issubclass(t, (int, float, np.integer, np.floating)) and t is not bool for t in types):
        numbers = objects.tolist()
        if any(isinstance(number, (float, np.floating)) for number in numbers):
            return _whole(where, name, np.array(numbers, np.float64), fractions)
        large = min(numbers) >= 0 and 2**63 <= max(numbers) < 2**64
        if large or (min(numbers) >= -(2**63) and max(numbers) < 2**63):
            return np.array(numbers, np.uint64 if large else np.int64)
    return objects


def number_columns(where: str, columns: Mapping[str, Any]) -> tuple[np.ndarray[Any, Any], list[Rows]]:
    """Return the distinct labels of columns in ascending order, and the rows of each column.

    where, and the names of the columns: for messages.
    """
    columns = {name: arrow.on_host(column) for name, column in columns.items()}
    for name, column in columns.items():
        arrow.check_missing(where, name, column)
    if sum(map(len, columns.values())) < distinct.MANY:
        return _number(where, columns)
    texts = arrow.text_columns(list(columns.values()))
    if texts is not None:
        labels, rows = distinct.number_texts(texts)
        return _objects(labels), rows
    return _by_codes(where, columns) or _number(where, columns)


def _number(where: str, columns: Mapping[str, Any]) -> tuple[np.ndarray[Any, Any], list[Rows]]:
    parts = [as_column(where, name, column) for name, column in columns.items()]
    types = {part.dtype for part in parts if part.size}
    if len(types) > 1:  # NumPy would join int64 and uint64 as floats
        parts = [part.astype(object) for part in parts]
    if sum(part.size for part in parts) >= distinct.MANY:
        dtype = next(iter(types))
        if len(types) == 1 and dtype.kind in "iu":
            return distinct.number_integers([part.astype(dtype, copy=False) for part in parts])
        if all(_types(part) <= {str} for part in parts):
            labels, rows = distinct.number_texts([distinct.encoded(part.tolist()) for part in parts])
            return _objects(labels), rows
    joined = np.concatenate([part for part in parts if part.size] or parts[:1] or [np.empty(0, np.int64)])
    values, found = _number_integers(joined) if joined.dtype.kind in "iu" else _number_objects(where, joined)
    bounds = np.cumsum([0, *(part.size for part in parts)])
    return values, [found[bounds[k] : bounds[k + 1]] for k in range(len(parts))]


def _by_codes(where: str, columns: Mapping[str, Any]) -> tuple[np.ndarray[Any, Any], list[Rows]] | None:
    """Number the few labels that the rows of columns refer to; None if they do not refer to few.

    Columns of categories refer to them by codes, columns of objects by addresses: frames often hold one object for many
    rows, and the objects, which are scattered over the memory, are read once each.
    """
    coded = [arrow.categories(column) or _identities(column) for column in columns.values()]
    used: dict[str, Any] = {}
    tables = []
    for name, found in zip(columns, coded, strict=True):
        if found is None:
            return None
        codes, labels = found
        present = np.zeros(len(labels), np.bool_)
        present[codes] = True
        used[name] = array_of(labels)[present]
        tables.append(np.cumsum(present) - 1)
    try:
        values, ranks = _number(where, used)
    except InvalidValue:
        _number(where, columns)  # raises the same, with the positions in the columns
        raise
    rows = [rank[table][found[0]] for rank, table, found in zip(ranks, tables, coded, strict=True) if found is not None]
    return values, rows


def _repeats(values: Rows) -> bool:
    """Return whether about half of the values or more occur before, judged by a sample."""
    sample = values[:: max(1, values.size // _SAMPLE)]
    repeats = sample.size - np.unique(sample).size
    # Of n equally frequent values a sample of s, few beside n, has about s^2 / 2n repetitions.
    return 2 * repeats >= sample.size or repeats * values.size >= sample.size**2


def _identities(column: Any) -> tuple[Rows, np.ndarray[Any, Any]] | None:
    """Return a column of objects as the number of each row's object, and the objects; None if most differ."""
    array = array_of(column)
    if array.dtype != object or array.ndim != 1 or array.size < distinct.MANY:
        return None
    given = distinct.addresses(array)
    if not _repeats(given):
        return None
    addresses, (codes,) = distinct.number_integers([given])
    some_row = np.empty(addresses.size, np.int64)
    some_row[codes] = np.arange(array.size)
    return codes, array[some_row]


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


# -- arrays of labels ------------------------------------------------------------------------------------


def array_of(values: Any) -> np.ndarray[Any, Any]:
    """Return any column as a NumPy array, objects where it has no numbers."""
    values = arrow.decoded(arrow.on_host(values))
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
