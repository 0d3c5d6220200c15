"""The columns of any table: a frame of pandas, polars or cuDF, an Arrow table, a dictionary, a structured array.

A table is recognized by its interface, so that none of these libraries is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..exceptions import InvalidValue
from ..optional import needed


def columns_of(where: str, given: Any) -> dict[Any, Any] | None:
    """Return the columns of a table by name, or None if `given` is not a table.  where: for messages."""
    if isinstance(given, Mapping):
        return dict(given)
    names = getattr(getattr(given, "dtype", None), "names", None)
    if names is not None:  # a structured array
        return {name: given[name] for name in names}
    if hasattr(given, "column_names") and hasattr(given, "column"):  # Arrow
        return _unique(where, list(given.column_names), [given.column(k) for k in range(len(given.column_names))])
    if hasattr(given, "get_columns") and hasattr(given, "columns"):  # polars
        return _unique(where, list(given.columns), list(given.get_columns()))
    if hasattr(given, "iloc") and hasattr(given, "columns"):  # pandas, cuDF
        return _unique(where, list(given.columns), [given.iloc[:, k] for k in range(len(given.columns))])
    if hasattr(given, "collect") and hasattr(given, "collect_schema"):
        raise InvalidValue(f"{where}: a {type(given).__name__} is not computed yet; use .collect()")
    if hasattr(given, "__arrow_c_stream__"):
        return columns_of(where, needed(f"{where} of a {type(given).__name__}", "pyarrow").table(given))
    return None


def listed(names: list[Any]) -> str:
    """Return the names of columns for a message."""
    shown = ", ".join(repr(name) for name in names[:8])
    return f"{shown}, ..." if len(names) > 8 else shown


def _unique(where: str, names: list[Any], columns: list[Any]) -> dict[Any, Any]:
    if len(set(names)) < len(names):
        raise InvalidValue(f"{where}: two columns have one name: {listed(names)}")
    return dict(zip(names, columns, strict=True))
