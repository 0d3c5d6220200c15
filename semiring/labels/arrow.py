"""Columns of polars, pandas and Arrow, read without a Python object for each row.

All three hold text in Arrow's layout: the bytes of all texts, and where each one starts.  pyarrow shares these buffers;
where it is not installed, columns of text are read as objects.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..exceptions import InvalidValue
from .distinct import Texts

Array = np.ndarray[Any, Any]


def library_of(column: Any) -> str:
    """Return the library that holds a column: ``polars``, ``pandas`` or ``pyarrow``; empty for any other."""
    for name, kinds in (("polars", ("Series",)), ("pandas", ("Series",)), ("pyarrow", ("Array", "ChunkedArray"))):
        library = sys.modules.get(name)
        if library is not None and isinstance(column, tuple(getattr(library, kind) for kind in kinds)):
            return name
    return ""


def on_host(column: Any) -> Any:
    """Return a column of cuDF as one of Arrow, which copies it to the host; any other unchanged."""
    is_other_frame = hasattr(column, "iloc") and not library_of(column)
    return column.to_arrow() if is_other_frame and hasattr(column, "to_arrow") else column


def check_missing(where: str, name: str, column: Any) -> None:
    """Raise InvalidValue if a column of a frame lacks values; those of objects are checked by `as_column`."""
    library, missing = library_of(column), 0
    if library == "pyarrow":
        missing = int(column.null_count)
    elif library == "polars":
        missing = int(column.null_count())
    elif library == "pandas" and column.dtype != object:
        missing = int(column.isna().sum())
    if missing:
        raise InvalidValue(f"{where}: {name} lacks {missing} values; drop or fill these rows first")


def floats(column: Any) -> Array | None:
    """Return a column of numbers as floats, with NaN where values are missing; None for any other column."""
    library = library_of(column)
    if library == "pyarrow":
        pyarrow = sys.modules["pyarrow"]
        types = pyarrow.types
        kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        if not any(is_kind(column.type) for is_kind in kinds):
            return None
        if types.is_boolean(column.type):
            column = column.cast(pyarrow.int8())
        kind = pyarrow.float32() if types.is_float32(column.type) else pyarrow.float64()
        return np.asarray(column.cast(kind, safe=False).to_numpy(zero_copy_only=False))
    if library == "polars":
        polars = sys.modules["polars"]
        if not (column.dtype.is_numeric() or column.dtype == polars.Boolean):
            return None
        kind = polars.Float32 if column.dtype == polars.Float32 else polars.Float64
        return np.asarray(column.cast(kind).to_numpy())
    if library == "pandas" and getattr(column.dtype, "kind", "") in "iufb":
        return np.asarray(
            column.to_numpy(np.float32 if column.dtype.name.lower() == "float32" else np.float64, na_value=np.nan)
        )
    return None


def categories(column: Any) -> tuple[Array, Any] | None:
    """Return a column of categories as the code of each row and the labels of the codes; None for any other column."""
    library = library_of(column)
    if library == "pandas" and hasattr(column, "cat"):
        return column.cat.codes.to_numpy(), column.cat.categories
    pyarrow = sys.modules.get("pyarrow")
    if library != "pyarrow" or pyarrow is None or not pyarrow.types.is_dictionary(column.type):
        return None
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.unify_dictionaries()
        if not column.num_chunks:
            return np.empty(0, np.int64), []
        codes = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in column.chunks])
        return codes, column.chunk(0).dictionary
    return column.indices.to_numpy(zero_copy_only=False), column.dictionary


def decoded(column: Any) -> Any:
    """Return a column without categories: those of Arrow and polars as text, which NumPy reads."""
    library = library_of(column)
    if library == "pyarrow" and sys.modules["pyarrow"].types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    if library == "polars":
        polars = sys.modules["polars"]
        return column.cast(polars.String) if column.dtype in (polars.Categorical, polars.Enum) else column
    return column


def text_columns(columns: Sequence[Any]) -> list[Texts] | None:
    """Return columns that all hold text as shared buffers; None for any others, and without pyarrow."""
    if not columns or not all(map(library_of, columns)):
        return None
    try:
        pyarrow = import_module("pyarrow")
    except ImportError:
        return None
    found = []
    for column in columns:
        texts = _buffers(pyarrow, column)
        if texts is None:
            return None
        found.append(texts)
    return found


def _buffers(pyarrow: Any, column: Any) -> Texts | None:
    """Return the buffers of one column of text without missing values."""
    library = library_of(column)
    if library == "polars":
        column = decoded(column)
        if column.dtype != sys.modules["polars"].String:
            return None
        column = column.to_arrow()
    elif library == "pandas":
        if not isinstance(column.dtype, sys.modules["pandas"].StringDtype):
            return None
        column = pyarrow.array(column)
    types = pyarrow.types
    is_view = types.is_string_view(column.type)
    if not (types.is_string(column.type) or types.is_large_string(column.type) or is_view):
        return None
    if isinstance(column, pyarrow.ChunkedArray):
        if column.num_chunks != 1:
            column = pyarrow.chunked_array([column.cast(pyarrow.large_string()).combine_chunks()])
        column = column.chunk(0)
    if is_view:
        column = column.cast(pyarrow.large_string())
    offsets, data = column.buffers()[1:]
    width = np.int64 if types.is_large_string(column.type) else np.int32
    bounds = np.frombuffer(offsets, width) if len(column) else np.zeros(1, width)
    return Texts.of_offsets(
        np.frombuffer(data or b"", np.uint8), bounds[column.offset : column.offset + len(column) + 1]
    )  # fmt: skip
