"""Write edge lists and DIMACS files: one edge a line."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import DimensionMismatch, DomainMismatch, InvalidValue, LostLabels, LostWeights
from semiring.io.atomic import atomic_writer
from semiring.io.edge_dialect import HEAD_RECORDS, dialect_of, names_columns
from semiring.io.files import PathLike, extension
from semiring.io.label_sets import is_number_like, label_sets, without_value_labels, written_labels
from semiring.io.triples import host_triples
from semiring.labels import Labels

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["LINES", "SEPARATORS", "label_fields", "lines", "numbers", "write_dimacs", "write_edgelist"]

#: Lines that are formatted at a time.
LINES: Final = 1 << 16
#: Formats that quote, and what separates their columns.
SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
_UNWEIGHTED: Final = (".el",)
_WEIGHTED: Final = (".wel",)
# What needs quotes: separators, quotes, controls and line ends anywhere; white space, comment characters and a
# byte-order mark at the ends; the empty text.
_QUOTED: Final = re.compile(r"[,;|\"\x00-\x1f\x7f-\x9f\u2028\u2029]|\A[\s#%\ufeff]|\s\Z|\A\Z")
_BLANK: Final = re.compile(r"\s")
_INTEGER_LIMIT: Final = 2**63


def write_edgelist(path: PathLike, A: Matrix, *, weights: bool | None = None, header: bool | None = None) -> None:
    """Write the entries of a matrix as lines ``row column [value]``; a known extension compresses.

    Parameters
    ----------
    path : str or PathLike
        ``.csv`` separates columns by commas, ``.tsv`` by tabs, any other extension by blanks.
    A : Matrix
        Its labels are written in place of rows and columns.
    weights : bool, optional
        Whether to write the values, bools as 0 and 1; by default unless the file is an ``.el``, or all values are True
        and it is no ``.wel``.
    header : bool, optional
        Begin with the line ``source,target,weight``; by default in ``.csv`` and ``.tsv``, where other programs expect
        the names of columns.

    Raises
    ------
    DomainMismatch
        Records and complex numbers, which edge lists do not hold.
    InvalidValue
        A label that would not be read back as itself; the message contains it, and which formats hold it. Also
        ``weights=False`` for a ``.wel``.

    Warns
    -----
    LostWeights
        The file is an ``.el``, a value is other than 1, and ``weights`` is not given.

    Notes
    -----
    ``.csv`` and ``.tsv`` hold integers of int64 and any text as labels: text is quoted, by RFC 4180, where it holds a
    separator, a quote or a line break, begins or ends with white space, begins with a comment character, is empty, or
    could be read as a number.  Other extensions hold labels that need no quotes.

    The file does not hold the shape: vertices after the last one with an entry are lost (`read_edgelist` has
    ``nrows=``), and of a matrix with labels those without an entry.  Floats are written with the digits that read back
    the same.  The write is atomic.  Cost O(bytes).  Synchronizes, and copies a matrix on the GPU to the host.

    Examples
    --------
    >>> A = Matrix.from_edgelist([("bob", "ann", 2.5)], relabel=True)
    >>> sr.io.write_edgelist("friends.csv", A)
    >>> with open("friends.csv") as file:
    ...     print(file.read(), end="")
    source,target,weight
    bob,ann,2.5
    """
    kind = extension(path)[0]
    separator = SEPARATORS.get(kind, " ")
    A = without_value_labels("write_edgelist", A)
    entries = host_triples(A)
    dtype = np.dtype(entries.values.dtype)
    if dtype.kind not in "biuf":
        raise DomainMismatch(f"write_edgelist: edge lists hold numbers, not {dtype}; write a .srb file")
    are_lost = False
    if weights is None:
        are_lost = kind in _UNWEIGHTED and bool(np.any(entries.values != 1))
        weights = kind in _WEIGHTED or not (kind in _UNWEIGHTED or entries.are_true)
    elif kind in _WEIGHTED and not weights:
        raise InvalidValue(f"weights=False: every line of a {kind} file has a weight; write an .el file")
    sets = label_sets(A)
    ends: list[NDArray[Any]] = [entries.rows, entries.cols]
    for axis, role in enumerate(("rows", "columns")):
        if role in sets:
            ends[axis] = label_fields("write_edgelist", sets[role], separator)[ends[axis]]
    names = ["source", "target", "weight"][: 3 if weights else 2]
    values = numbers(entries.values, len(entries.rows)) if weights else None
    if header is None:
        header = kind in SEPARATORS or _begins_as_header(ends, values, kind)
    if are_lost:  # after the errors
        text = f"write_edgelist: {kind} files hold no weights; a .wel file does, and weights=False leaves them out"
        warnings.warn(text, LostWeights, stacklevel=2)
    with atomic_writer(path) as stream:
        if header:
            stream.write((separator.join(names) + "\n").encode())
        for columns in _parts(ends, values):
            stream.write(lines(columns, separator).encode())


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

    Warns
    -----
    LostLabels
        The matrix has labels, which the format does not hold.

    Notes
    -----
    The write is atomic.  Cost O(bytes).  Synchronizes, and copies a matrix on the GPU to the host.

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
    values = numbers(entries.values, len(entries.rows))
    if values.dtype == np.uint64 and values.size and int(values.max()) >= _INTEGER_LIMIT:
        raise InvalidValue(f"write_dimacs: a length of {int(values.max())} exceeds int64")
    if label_sets(A):
        warnings.warn(
            "write_dimacs: .gr files hold no labels; vertices are written by position", LostLabels, stacklevel=2
        )
    with atomic_writer(path) as stream:
        top = [*(f"c {line}\n" for line in comment.splitlines()), f"p sp {A.nrows} {len(entries.rows)}\n"]
        stream.write("".join(top).encode())
        for rows, cols, lengths in _parts([entries.rows + 1, entries.cols + 1], values):
            stream.write("".join(f"a {u} {v} {x}\n" for u, v, x in zip(rows, cols, lengths, strict=True)).encode())


def numbers(values: NDArray[Any] | np.generic, count: int) -> NDArray[Any]:
    """Return values as an array of numbers; booleans as 0 and 1."""
    array = values if isinstance(values, np.ndarray) else np.full(count, values)
    return array.astype(np.uint8) if array.dtype.kind == "b" else array


def _begins_as_header(ends: list[NDArray[Any]], values: NDArray[Any] | None, kind: str) -> bool:
    """Return whether `read_edgelist` would take the first edge for the names of columns."""
    columns = [column[:HEAD_RECORDS].tolist() for column in (*ends, *(() if values is None else (values,)))]
    head = np.frombuffer(lines(columns, " ").encode(), np.uint8)
    records = dialect_of(head, 0, 1, kind, "", None).records
    return names_columns(records, (0, 1, -1 if values is None else 2))[0]


def _parts(ends: list[NDArray[Any]], values: NDArray[Any] | None) -> Iterator[list[list[Any]]]:
    """Yield the columns of some lines after another, as Python objects."""
    columns = ends if values is None else [*ends, values]
    for first in range(0, len(ends[0]), LINES):
        yield [column[first : first + LINES].tolist() for column in columns]


def lines(columns: list[list[Any]], separator: str) -> str:
    """Return lines of columns: names that fit, integers, floats with the digits that read back the same."""
    words = [[x if isinstance(x, str) else repr(x) for x in column] for column in columns]
    return "".join(separator.join(line) + "\n" for line in zip(*words, strict=True))


def label_fields(function: str, labels: Labels, separator: str) -> NDArray[Any]:
    """Return the field of each label: integers, or text that is quoted where needed.

    Raises InvalidValue for labels that would not be read back as themselves.
    """
    quoting = separator != " "
    texts = written_labels(function, labels, None if quoting else _fault)
    if labels.to_numpy().dtype == np.int64:
        return labels.to_numpy()
    fields = np.empty(len(texts), object)
    fields[:] = [_quoted(text) for text in texts] if quoting else texts
    return fields


def _quoted(text: str) -> str:
    if _QUOTED.search(text) is None and not is_number_like(text):
        return text
    return '"' + text.replace('"', '""') + '"'


def _fault(text: str) -> str | None:
    """Return why a label needs quotes."""
    if _QUOTED.search(text) is None and _BLANK.search(text) is None and not is_number_like(text):
        return None
    return "without quotes it would not be read back as itself; .csv, .tsv, .parquet and .srb files hold it"
