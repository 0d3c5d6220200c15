"""Attributes of vertices: a table beside the labels, from and to frames.  `Labels` binds the functions as methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import DimensionMismatch, InvalidType, InvalidValue
from ..optional import needed
from .numbering import array_of
from .tables import columns_of, listed

if TYPE_CHECKING:
    from .mapping import Labels

Array = np.ndarray[Any, Any]


def checked(where: str, table: Any, size: int) -> dict[str, Array]:
    """Return the columns of a table as arrays of their own; InvalidType for no table, DimensionMismatch by length."""
    made = {}
    for name, column in _columns(where, table).items():
        array = _numbers(np.array(array_of(column)))
        if array.shape != (size,):
            raise DimensionMismatch(f"{where}: {size} labels, and attribute {name!r} has shape {array.shape}")
        made[str(name)] = frozen(array)
    return made


def _columns(where: str, table: Any) -> dict[Any, Any]:
    columns = columns_of(where, table)
    if columns is None:
        raise InvalidType(
            f"{where}: expected a table of attributes, a frame or a dictionary, got {type(table).__name__}"
        )
    return columns


def _numbers(array: Array) -> Array:
    """Return objects as numbers, if all are booleans, all integers, or all floats or missing; else None for missing."""
    if array.dtype != object or array.ndim != 1 or not array.size:
        return array
    listed = [None if _is_missing(x) else x for x in array.tolist()]
    kinds = set(map(type, listed))
    if kinds == {float, type(None)} or (len(kinds) == 1 and kinds <= {bool, int, float}):
        numbers = np.array(listed, np.float64 if float in kinds else None)
        if numbers.dtype != object:  # of integers that 64 bits hold
            return numbers
    array[:] = listed
    return array


def _is_missing(x: Any) -> bool:
    return (
        x is None or type(x).__name__ in ("NAType", "NaTType") or (isinstance(x, (float, np.floating)) and bool(x != x))
    )


def lengthened(column: Array, count: int) -> Array:
    """Return a column with missing values for so many further rows."""
    missing = np.full(count, np.nan if column.dtype.kind == "f" else None, None if column.dtype.kind == "f" else object)
    return np.concatenate([column if column.dtype.kind == "f" else column.astype(object), missing])


def frozen(array: Array) -> Array:
    """Return an array that cannot be written."""
    array = array.view()
    array.setflags(write=False)
    return array


def split(where: str, frame: Any, key: Any) -> tuple[Any, dict[Any, Any]]:
    """Return the column of labels of a table (None: the first), and the other columns by name."""
    columns = _columns(where, frame)
    key = next(iter(columns), None) if key is None else key
    if key not in columns:
        raise InvalidValue(f"{where}: {key!r} is no column; the columns are {listed(list(columns))}")
    return columns[key], {name: column for name, column in columns.items() if name != key}


def to_pandas(self: Labels, key: str = "label") -> Any:
    """Return a pandas frame with a row for each vertex: its label, and its attributes.

    Parameters
    ----------
    key : name of the column of labels

    Raises
    ------
    InvalidValue
        If an attribute has this name.
    NotSupported
        If pandas is not installed.

    Notes
    -----
    Cost O(n) a column.  `Labels.from_frame` reads the frame back.

    Examples
    --------
    >>> sr.Labels(["ann", "bob"], {"age": [31, 44]}).to_pandas().to_dict("list")
    {'label': ['ann', 'bob'], 'age': [31, 44]}
    """
    return needed("Labels.to_pandas", "pandas").DataFrame(_table(self, "to_pandas", key))


def to_polars(self: Labels, key: str = "label") -> Any:
    """Return a polars frame, as `to_pandas`.

    Parameters
    ----------
    key : name of the column of labels

    Raises
    ------
    InvalidValue
        If an attribute has this name.
    NotSupported
        If polars is not installed.

    Notes
    -----
    Cost O(n) a column.

    Examples
    --------
    >>> sr.Labels(["ann", "bob"], {"age": [31, 44]}).to_polars("id").rows()
    [('ann', 31), ('bob', 44)]
    """
    polars, table = needed("Labels.to_polars", "polars"), _table(self, "to_polars", key)
    return polars.DataFrame([polars.Series(name, _inferred(column)) for name, column in table.items()])


def to_arrow(self: Labels, key: str = "label") -> Any:
    """Return a pyarrow table, as `to_pandas`.

    Parameters
    ----------
    key : name of the column of labels

    Raises
    ------
    InvalidValue
        If an attribute has this name.
    NotSupported
        If pyarrow is not installed.

    Notes
    -----
    Cost O(n) a column.

    Examples
    --------
    >>> sr.Labels(["ann", "bob"], {"age": [31, 44]}).to_arrow().to_pydict()
    {'label': ['ann', 'bob'], 'age': [31, 44]}
    """
    table = _table(self, "to_arrow", key)
    return needed("Labels.to_arrow", "pyarrow").table({name: _inferred(column) for name, column in table.items()})


def _table(labels: Labels, where: str, key: str) -> dict[str, Array]:
    if key in labels.attributes:
        raise InvalidValue(f"Labels.{where}: {key!r} is an attribute; name the column of labels by key=")
    # pandas may hand out what it is given.
    return {key: np.array(labels.to_numpy()), **{name: np.array(column) for name, column in labels.attributes.items()}}


def _inferred(column: Array) -> Any:
    return column.tolist() if column.dtype.kind == "O" else column
