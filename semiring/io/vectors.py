"""Vectors as tables: a line ``index,value`` or ``label,value`` for each entry, in .csv, .tsv and .parquet."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semiring.dtypes import FP64, INT64, UINT64, lookup
from semiring.exceptions import DomainMismatch, GuessedLayout, InvalidFormat, InvalidValue, NotSupported
from semiring.io.atomic import atomic_writer
from semiring.io.edge_lists import weights_as
from semiring.io.edge_lists_write import LINES, SEPARATORS, label_fields, lines, numbers
from semiring.io.files import PathLike, extension, naming_memory_errors, read_bytes
from semiring.io.label_sets import label_sets, without_value_labels
from semiring.io.matrix_market import mmread
from semiring.io.parquet import read_columns
from semiring.io.srb_mapped import read_srb
from semiring.io.triples import host_triples
from semiring.labels import Labels

if TYPE_CHECKING:
    from semiring.facade.vector import Vector

__all__ = ["read_vector", "write_vector"]

_NAMES: Final = {True: "label", False: "index"}
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]*")
# A line of a key, quoted or not, and a value; or any other line, without them.
_LINE: Final = (
    r'(?:(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^",\r\n][^,\r\n]*)),(?P<value>[^,\r\n]*)|[^\r\n]+)(?:\r\n|\r|\n|\Z)'
    r"|[\r\n]+"
)


def write_vector(path: PathLike, v: Vector, *, header: bool = True) -> None:
    """Write the entries of a vector as lines ``index,value``, or ``label,value`` with labels.

    Parameters
    ----------
    path : str or PathLike
        ``.csv`` separates columns by commas, ``.tsv`` by tabs; a known extension of a compression compresses.
    v : Vector
        With labels, its positions are written by them.
    header : bool
        Begin with the line ``index,value`` or ``label,value``.

    Raises
    ------
    DomainMismatch
        Records and complex numbers, which the file does not hold.
    InvalidValue
        Labels that are neither text nor integers of int64.
    NotSupported
        Another extension.

    Notes
    -----
    Labels are quoted as by `write_edgelist`.  The file does not hold the size, nor labels without an entry.  The write
    is atomic.  Cost O(bytes).  Synchronizes, and copies a vector on the GPU to the host.

    Examples
    --------
    >>> sr.io.write_vector("v.csv", Vector.from_coo([0, 2], [1.5, 2.5], size=3))
    >>> with open("v.csv") as file:
    ...     print(file.read(), end="")
    index,value
    0,1.5
    2,2.5
    """
    kind = extension(path)[0]
    if kind not in SEPARATORS:
        raise NotSupported(f"{os.fspath(path)}: expected one of the extensions {' '.join(SEPARATORS)}")
    v = without_value_labels("write_vector", v)
    separator, entries, sets = SEPARATORS[kind], host_triples(v), label_sets(v)
    dtype = np.dtype(entries.values.dtype)
    if dtype.kind not in "biuf":
        raise DomainMismatch(f"write_vector: {kind} files hold numbers, not {dtype}; write a .srb file")
    shown = label_fields("write_vector", sets["rows"], separator)[entries.rows] if sets else entries.rows
    values = numbers(entries.values, len(shown))
    with atomic_writer(path) as stream:
        if header:
            stream.write(f"{_NAMES['rows' in sets]}{separator}value\n".encode())
        for first in range(0, len(shown), LINES):
            part = slice(first, first + LINES)
            stream.write(lines([shown[part].tolist(), values[part].tolist()], separator).encode())


@naming_memory_errors
def read_vector(
    path: PathLike,
    *,
    relabel: bool | Labels | None = None,
    size: int | None = None,
    dtype: Any = None,
    dup_op: Any = None,
) -> Vector:
    """Read a vector: v(i) = value for each line ``i,value`` of a .csv, .tsv or .parquet; or a .srb or .mtx file.

    Parameters
    ----------
    path : str or PathLike
        A ``.mtx`` file holds a vector as a matrix of one column.
    relabel : bool, Labels or None
        Whether the first column of a table holds labels: True numbers them in ascending order, `Labels` has the
        numbering, of a graph for example; the result has ``.labels``. By default if the column is named ``label``.
    size : int, optional
        By default of a table the largest index + 1; of others a check.
    dtype : optional
        By default of a text int64 where all values are integers, else float64; of others that of the file.
    dup_op : binary operator, optional
        How to combine values at the same position.

    Returns
    -------
    Vector

    Raises
    ------
    InvalidFormat
        A malformed file, or one that holds no vector of this size.
    InvalidValue
        An unknown label, or ``size`` together with ``relabel``.
    DuplicateIndex, IndexOutOfBound
    NotSupported
        Another extension, or pyarrow is not installed.

    Warns
    -----
    GuessedLayout
        Columns of a ``.csv`` are separated by semicolons, and the values have decimal commas: ``ann;1,5``.

    Notes
    -----
    Semicolons separate the columns of a ``.csv`` if they do so in every line, before a number.
    Cost O(bytes), of text in Python: about a million lines a second.

    Examples
    --------
    >>> A = Matrix.from_edgelist([("ann", "bob"), ("bob", "eve")], relabel=True)
    >>> sr.io.write("levels.csv", sr.algorithms.bfs_levels(A, A.labels.row("bob")))
    >>> v = sr.io.read_vector("levels.csv", relabel=A.labels)
    >>> v.labels.to_dict(v)
    {'bob': 0, 'eve': 1}
    """
    from semiring.facade.matrix import Matrix
    from semiring.facade.vector import Vector

    kind, name = extension(path)[0], os.fspath(path)
    if kind in (".srb", ".mtx"):
        found: Any = read_srb(path) if kind == ".srb" else mmread(path, dup_op=dup_op)
        if kind == ".mtx" and isinstance(found, Matrix) and found.ncols == 1:
            found = found[:, 0].dup()
        if not isinstance(found, Vector) or size not in (None, found.size):
            wanted = "a Vector" if size is None else f"a Vector of size {size}"
            raise InvalidFormat(f"{name}: expected {wanted}, found a {type(found).__name__} of shape {found.shape}")
        return found if dtype is None else found.dup(dtype)
    if kind in SEPARATORS:
        first, keys, values = _table(path, SEPARATORS[kind], dtype)
    elif kind == ".parquet":
        first, keys, values = read_columns("read_vector", path)
    else:
        raise NotSupported(f"{name}: expected one of the extensions {' '.join(SEPARATORS)} .parquet .srb .mtx")
    if relabel is None:
        relabel = str(first).lower() == _NAMES[True]
    if relabel is False:
        if not keys.dtype.kind == "i":
            raise InvalidFormat(f"{name}: expected integers as positions; relabel=True numbers labels")
        return Vector.from_coo(keys, values, dtype, size=size, dup_op=dup_op)
    if size is not None:
        raise InvalidValue("read_vector: labels give the size; leave out size=")
    if relabel is True:
        labels, rows = Labels.number(keys)
    else:
        labels, rows = relabel, relabel.rows(keys)
    made = Vector.from_coo(rows, values, dtype, size=len(labels), dup_op=dup_op)
    made.labels = labels
    return made


def _table(path: PathLike, separator: str, dtype: Any) -> tuple[str, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the name of the first column, and both columns of a text.  Raises InvalidFormat."""
    name, content = os.fspath(path), read_bytes(path).tobytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFormat(f"{name}: byte {error.start}: expected UTF-8, found {content[error.start]:#04x}") from error

    def line_of(entry: int) -> int:
        return 1 + text.count("\n", 0, found[entry].start("value"))

    found, point = _lines(text, separator), "."
    if separator == ",":
        others = [each for each in _lines(text, ";") if each[0].strip("\r\n")] if ";" in text else []
        if others and all(
            each["value"] and _number(each["value"], ",") is not None for each in others[len(others) > 1 :]
        ):
            if all(each["value"] is not None for each in found if each[0].strip("\r\n")):
                guess = f"{name}:1: columns were separated by ';', with decimal commas; quotes keep ';' in a label"
                warnings.warn(guess, GuessedLayout, stacklevel=3)
            found, point = others, ","
    malformed = next((k for k, each in enumerate(found) if each["value"] is None and each[0].strip("\r\n")), None)
    if malformed is not None:
        at = 1 + text.count("\n", 0, found[malformed].start())
        raise InvalidFormat(f"{name}:{at}: expected a label or index and a value, separated by {separator!r}")
    found = [each for each in found if each["value"] is not None]
    first = ""
    if found and _number(found[0]["value"], point) is None:
        first = found.pop(0)["plain"] or ""
    values = [_number(each["value"], point) for each in found]
    if None in values:
        at = values.index(None)
        raise InvalidFormat(f"{name}:{line_of(at)}: expected a number as value, found {found[at]['value']!r:.60}")
    given = _array(values)
    if all(each["plain"] is not None and _INTEGER.fullmatch(each["plain"]) for each in found):
        keys = _array([int(each["plain"]) for each in found])
    else:
        keys = np.empty(len(found), object)
        keys[:] = [
            (each["quoted"] or "").replace('""', '"') if each["plain"] is None else each["plain"] for each in found
        ]
    return first, keys, given if dtype is None else weights_as(given, lookup(dtype), name, line_of)


def _array(values: list[Any]) -> np.ndarray[Any, Any]:
    """Return integers as int64 or uint64, which hold all of them, or float64."""
    if all(type(value) is int for value in values):
        for dtype in (INT64, UINT64):
            with contextlib.suppress(OverflowError):
                return np.array(values, dtype)
    return np.array(values, FP64)


def _lines(text: str, separator: str) -> list[re.Match[str]]:
    return list(re.finditer(_LINE.replace(",", separator), text))


def _number(text: str, point: str) -> int | float | None:
    try:
        return int(text) if _INTEGER.fullmatch(text) else float(text.replace(point, "."))
    except ValueError:
        return None
