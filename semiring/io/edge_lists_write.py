"""Write edge lists and DIMACS files: one edge a line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from semiring.io.atomic import atomic_writer
from semiring.io.files import PathLike, extension
from semiring.io.triples import host_triples

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["write_dimacs", "write_edgelist"]

# Edges that are formatted at a time.
_LINES: Final = 1 << 16
_SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
_UNWEIGHTED: Final = (".el",)
_INTEGER_LIMIT: Final = 2**63


def write_edgelist(path: PathLike, A: Matrix, *, weights: bool | None = None, header: bool = False) -> None:
    """Write the entries of a matrix as lines ``row column [value]``; a known extension compresses.

    Parameters
    ----------
    path : str or PathLike
        ``.csv`` separates columns by commas, ``.tsv`` by tabs, any other extension by blanks.
    A : Matrix
        With ``.labels``, its vertices are written by them.
    weights : bool, optional
        Whether to write the values; by default unless the file is an ``.el`` or all values are True.
    header : bool
        Begin with a line of column names.

    Raises
    ------
    DomainMismatch
        Records and complex numbers, which edge lists do not hold.
    InvalidValue
        A label that the format cannot hold: one with blanks where blanks separate the columns, or a line break.

    Notes
    -----
    The file does not hold the shape: vertices after the last one with an entry are lost (`read_edgelist` has
    ``nrows=``).  Floats are written with the digits that read back the same.  The write is atomic.  Cost O(bytes).
    Synchronises, and copies a matrix on the GPU to the host.

    Examples
    --------
    >>> A = Matrix.from_edgelist([("bob", "ann", 2.5)], relabel=True)
    >>> sr.io.write_edgelist("friends.csv", A, header=True)
    >>> with open("friends.csv") as file:
    ...     print(file.read(), end="")
    source,target,weight
    bob,ann,2.5
    """
    kind = extension(path)[0]
    separator = _SEPARATORS.get(kind, " ")
    entries = host_triples(A)
    dtype = np.dtype(entries.values.dtype)
    if dtype.kind not in "biuf":
        raise DomainMismatch(f"write_edgelist: edge lists hold numbers, not {dtype}; write a .srb file")
    if weights is None:
        weights = kind not in _UNWEIGHTED and not (dtype.kind == "b" and not isinstance(entries.values, np.ndarray))
    ends: list[NDArray[Any]] = [entries.rows, entries.cols]
    if A.labels is not None:
        ends = [A.labels[part] for part in ends]
    names = ["source", "target", "weight"][: 3 if weights else 2]
    with atomic_writer(path) as stream:
        if header:
            stream.write((separator.join(names) + "\n").encode())
        for columns in _parts(ends, _numbers(entries.values, len(entries.rows)) if weights else None):
            stream.write(_text(columns, separator).encode())


def write_dimacs(path: PathLike, A: Matrix, *, comment: str = "") -> None:
    """Write a square matrix of integers as a DIMACS ``.gr`` file: lines ``a source target length``, counted from 1.

    Parameters
    ----------
    path : str or PathLike
        With a known extension of a compression, the file is compressed.
    A : Matrix
        Of integers or booleans, which are written as 0 and 1.
    comment : str
        Lines for the top of the file.

    Raises
    ------
    DimensionMismatch
        The matrix is not square.
    DomainMismatch
        Values are not integers.
    InvalidValue
        A value beyond int64.

    Notes
    -----
    The write is atomic.  Cost O(bytes).  Synchronises, and copies a matrix on the GPU to the host.  Labels are not
    written.

    Examples
    --------
    >>> sr.io.write_dimacs("roads.gr", Matrix.from_coo([0, 1], [1, 2], [40, 25], shape=(3, 3)))
    >>> sr.io.read("roads.gr").to_dicts()
    {0: {1: 40}, 1: {2: 25}}
    """
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"write_dimacs: expected a square matrix, got {A.nrows} x {A.ncols}")
    entries = host_triples(A)
    if np.dtype(entries.values.dtype).kind not in "biu":
        raise DomainMismatch(f"write_dimacs: lengths are integers, got {entries.values.dtype}; cast by A.dup(int)")
    values = _numbers(entries.values, len(entries.rows))
    if values.dtype == np.uint64 and values.size and int(values.max()) >= _INTEGER_LIMIT:
        raise InvalidValue(f"write_dimacs: a length of {int(values.max())} exceeds int64")
    with atomic_writer(path) as stream:
        lines = [*(f"c {line}\n" for line in comment.splitlines()), f"p sp {A.nrows} {len(entries.rows)}\n"]
        stream.write("".join(lines).encode())
        for rows, cols, lengths in _parts([entries.rows + 1, entries.cols + 1], values):
            stream.write("".join(f"a {u} {v} {x}\n" for u, v, x in zip(rows, cols, lengths, strict=True)).encode())


def _numbers(values: NDArray[Any] | np.generic, count: int) -> NDArray[Any]:
    """Return values as an array of numbers; booleans as 0 and 1."""
    array = values if isinstance(values, np.ndarray) else np.full(count, values)
    return array.astype(np.uint8) if array.dtype.kind == "b" else array


def _parts(ends: list[NDArray[Any]], values: NDArray[Any] | None) -> Iterator[list[list[Any]]]:
    """Yield the columns of some lines after another, as Python objects."""
    columns = ends if values is None else [*ends, values]
    for first in range(0, len(ends[0]), _LINES):
        yield [column[first : first + _LINES].tolist() for column in columns]


def _text(columns: list[list[Any]], separator: str) -> str:
    words = [[str(x) for x in column] for column in columns[:2]]
    words += [[repr(x) for x in column] for column in columns[2:]]
    if separator == ",":
        made = io.StringIO()
        csv.writer(made, lineterminator="\n").writerows(zip(*words, strict=True))
        return made.getvalue()
    for word in (word for column in words[:2] for word in column):
        if not word or word[0] in "#%" or any(character in word for character in (separator, "\n", "\r", '"')):
            shape = f"columns separated by {separator!r}"
            raise InvalidValue(f"write_edgelist: {word!r} does not fit {shape}; write a .csv file")
    return "".join(separator.join(line) + "\n" for line in zip(*words, strict=True))
