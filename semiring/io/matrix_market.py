"""Matrix Market files (.mtx): a strict reader.

Format: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market Exchange Formats: Initial Design", NISTIR 5935 (1996).
The comment ``%%GraphBLAS type <type>`` of SuiteSparse:GraphBLAS and LAGraph states the value type, so that all types
are preserved in a file; to other programs it is a comment.

Every byte of the text is checked by :mod:`semiring.io.text_scan`, which also parses integers exactly. Decimals are then
converted by SciPy's parallel reader (``fast_matrix_market``), which alone would read ``1 2.5 3`` as ``(1, 2) = .5``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.dtypes import BOOL, FC64, FP32, FP64, INT64, UINT64, real_type
from semiring.exceptions import InvalidFormat
from semiring.io.files import PathLike, Progress, naming_memory_errors
from semiring.io.label_sets import set_label_sets
from semiring.io.matrix_market_header import Header, read_header, value_columns
from semiring.io.text import read_text
from semiring.io.text_scan import INTEGER, Column, Table, character_classes, line_of_row, scan_table
from semiring.io.triples import TRUE, Triples

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["CLASSES", "entry_columns", "mirrored", "mmread", "parse_matrix_market", "values_of"]

CLASSES: Final = character_classes(b"", b"%")


@naming_memory_errors
def mmread(
    path: PathLike, *, dup_op: Any = None, skew_diagonal: bool = False, progress: Progress | None = None
) -> Matrix:
    """Read a Matrix Market file, compressed or not.

    ``A(i, j) = value`` of each line ``i j value``, counted from 1 in the file and from 0 in the matrix. An entry
    below the diagonal of a symmetric (skew-symmetric, hermitian) file also stores ``A(j, i) = value`` (``-value``, its
    conjugate).

    A file without a ``%%MatrixMarket`` line is read as LAGraph reads it: as ``coordinate real general`` if its first
    line that is no comment has the numbers of rows, columns and entries, as ``array real general`` if it has those of
    rows and columns.

    Parameters
    ----------
    path : str or PathLike
    dup_op : binary operator, optional
        How to combine entries at the same position.
    skew_diagonal : bool
        Whether a skew-symmetric file may have entries on the diagonal, which the format excludes; they are stored as
        they are.
    progress : callable, optional
        Called with the current step and the share done.

    Returns
    -------
    Matrix
        Of the type in the file's ``%%GraphBLAS type`` comment, else int64 for the field ``integer``, float64 for
        ``real``, complex128 for ``complex``, and iso-valued bool true for ``pattern``. An ``array`` file stores every
        entry, zeros too. With the labels that `mmwrite` wrote as comments.

    Raises
    ------
    InvalidFormat
        The file is malformed; the message contains file and line, what was expected and what was found.
    DuplicateIndex
        Two entries have the same position and there is no ``dup_op``.
    OutOfMemory
        The text, its entries or the matrix do not fit in the free memory.

    Notes
    -----
    O(bytes) and the building of the matrix.  The text stays in memory while it is read, beside 8 bytes for each number.

    Examples
    --------
    >>> with open("graph.mtx", "w") as file:
    ...     for line in ("%%MatrixMarket matrix coordinate real symmetric", "3 3 2", "2 1 1.5", "3 2 2.5"):
    ...         print(line, file=file)
    >>> sr.io.mmread("graph.mtx").to_dicts()
    {0: {1: 1.5}, 1: {0: 1.5, 2: 2.5}, 2: {1: 2.5}}
    """
    text, name = read_text(path, progress), os.fspath(path)
    header = read_header(text, name)
    made = parse_matrix_market(text, name, progress, header=header, skew_diagonal=skew_diagonal).to_matrix(dup_op)
    return set_label_sets(made, header.labels)


def parse_matrix_market(
    text: NDArray[np.uint8],
    name: str = "",
    progress: Progress | None = None,
    *,
    header: Header | None = None,
    skew_diagonal: bool = False,
) -> Triples:
    """Parse the entries of a Matrix Market text.

    name: of the file, for messages.  header: that of the text, if it has been read.
    skew_diagonal: whether a skew-symmetric file may have entries on the diagonal.
    """
    header = read_header(text, name) if header is None else header
    if header.array:
        return _read_array(text, header, name, progress)
    return mirrored(_read_coordinate(text, header, name, progress), header, skew_diagonal=skew_diagonal)


def _read_coordinate(text: NDArray[np.uint8], header: Header, name: str, progress: Progress | None) -> Triples:
    columns = entry_columns(header)

    def line_of(entry: int) -> int:
        return line_of_row(text, header.start, header.line, entry, columns, CLASSES)

    def scan(keep: bool) -> Table:
        return scan_table(
            text, header.start, header.line, columns, CLASSES,
            name=name, expected_rows=header.count, keep=keep, progress=progress,
        )  # fmt: skip

    decimal = header.field == "real"
    table = scan(keep=not decimal)
    converted = _convert_decimals(text, header) if decimal else None
    if decimal and (converted is None or np.isinf(converted[2]).any()):
        # SciPy rejects some legal text (indented lines, comments between entries, a leading +), and reads a number
        # beyond float64 as infinity, which only the scan distinguishes from a written one.
        table = scan(keep=True)
    values: NDArray[Any] | np.generic
    if converted is not None:
        rows, cols = converted[0], converted[1]
        values = _declared(converted[2], header, name, line_of)
    else:
        rows, cols = table.ints[0] - 1, table.ints[1] - 1
        values = values_of(table, header, name, line_of)
    return Triples(header.nrows, header.ncols, rows, cols, values, line_of, name)


def entry_columns(header: Header) -> tuple[Column, ...]:
    """Return the columns of a line of a coordinate file."""
    places = Column("row", INTEGER, 1, header.nrows), Column("column", INTEGER, 1, header.ncols)
    return (*places, *value_columns(header))


def values_of(table: Table, header: Header, name: str, line_of: Callable[[int], int]) -> NDArray[Any] | np.generic:
    """Return the values of the entries of a coordinate file, of the declared type."""
    if header.field == "real":
        return _declared(table.reals[0], header, name, line_of)
    if header.field == "complex":
        return _complex(table, header, name, line_of)
    if header.field == "pattern":
        return TRUE if header.dtype is None else header.dtype.type(1)
    return _integers(table.ints[2], header, table.large, table.negative, name)


def mirrored(triples: Triples, header: Header, *, skew_diagonal: bool = False) -> Triples:
    """Return the entries with those that the symmetry of the file adds."""
    if header.symmetry == "general":
        return triples
    if header.symmetry == "symmetric":
        return triples.symmetrized()
    assert triples.line_of is not None
    diagonal = np.flatnonzero(triples.rows == triples.cols)
    if header.symmetry == "hermitian":
        _check_real(triples, diagonal)
        return _hermitian(triples)
    if diagonal.size and not skew_diagonal:
        raise InvalidFormat(
            f"{triples.name}:{triples.line_of(int(diagonal[0]))}: expected no entry on the diagonal of a "
            f"skew-symmetric matrix, found one at {int(triples.rows[diagonal[0]]) + 1}"
        )
    both = triples.symmetrized()
    assert isinstance(both.values, np.ndarray)
    both.values[len(triples.rows) :] *= -1
    return both


def _complex(table: Table, header: Header, name: str, line_of: Any) -> NDArray[Any]:
    """Return complex numbers of the declared type from columns of their parts."""
    dtype = FC64 if header.dtype is None else header.dtype
    values = np.empty(table.rows, dtype)
    values.real = _cast(table.reals[0], real_type(dtype), header, name, line_of)
    values.imag = _cast(table.reals[1], real_type(dtype), header, name, line_of)
    return values


def _check_real(triples: Triples, diagonal: NDArray[Any]) -> None:
    """Raise InvalidFormat unless the values on the diagonal of a hermitian file are real."""
    assert isinstance(triples.values, np.ndarray)
    assert triples.line_of is not None
    wrong = diagonal[triples.values[diagonal].imag != 0]
    if wrong.size:
        first = int(wrong[0])
        raise InvalidFormat(
            f"{triples.name}:{triples.line_of(first)}: expected a real number on the diagonal of a hermitian matrix, "
            f"found {triples.values[first]!s}"
        )


def _hermitian(triples: Triples) -> Triples:
    """Return the entries and the conjugates of those below the diagonal, mirrored."""
    mirrored = triples.symmetrized()
    assert isinstance(mirrored.values, np.ndarray)
    added = mirrored.values[len(triples.rows) :]
    np.conjugate(added, out=added)
    return mirrored


class _Spliced:
    """A replaced header followed by the entries of the file, as one stream, without a copy in memory."""

    def __init__(self, head: bytes, body: NDArray[np.uint8]) -> None:
        self._parts = [memoryview(head), body.data]

    def read(self, count: int = -1) -> bytes:
        while self._parts and not len(self._parts[0]):
            self._parts.pop(0)
        if not self._parts:
            return b""
        part = self._parts[0]
        count = len(part) if count < 0 else count
        self._parts[0] = part[count:]
        return bytes(part[:count])


def _convert_decimals(
    text: NDArray[np.uint8], header: Header
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]] | None:
    """Return 0-based rows, columns and values of checked entries, by SciPy; None where SciPy rejects the text."""
    if not header.count:
        return None
    from scipy.io import mmread as scipy_mmread

    head = f"%%MatrixMarket matrix coordinate real general\n{header.nrows} {header.ncols} {header.count}\n"
    try:
        matrix = scipy_mmread(_Spliced(head.encode(), text[header.start :]), spmatrix=False)
    except (ValueError, OverflowError):
        return None
    return matrix.row, matrix.col, matrix.data


def _integers(bits: NDArray[np.int64], header: Header, large: bool, negative: bool, name: str) -> NDArray[Any]:
    """Convert checked integers, int64 or the bits of uint64, to the declared type or the narrower of both."""
    if large and negative and (header.dtype is None or header.dtype.kind == "f"):
        raise InvalidFormat(
            f"{name}: expected integers that one 64-bit type holds, found some below 0 and some above 2**63 - 1"
        )
    numbers: NDArray[Any] = bits.view(np.uint64) if large else bits
    if header.dtype is not None:
        return numbers.astype(header.dtype, copy=False)
    return numbers.astype(UINT64 if header.field == "unsigned-integer" or large else INT64, copy=False)


def _declared(reals: NDArray[np.float64], header: Header, name: str, line_of: Any) -> NDArray[Any]:
    """Convert decimals to the declared type."""
    return _cast(reals, FP64 if header.dtype is None else header.dtype, header, name, line_of)


def _cast(reals: NDArray[np.float64], dtype: np.dtype[Any], header: Header, name: str, line_of: Any) -> NDArray[Any]:
    """Convert decimals to a type that is not complex; InvalidFormat for one that it does not hold."""
    if dtype == FP64:
        return reals
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype == FP32:
            values = reals.astype(FP32)
            wrong = np.isinf(values) & np.isfinite(reals)
        elif dtype == BOOL:
            values = reals != 0
            wrong = (reals != 0) & (reals != 1)
        else:
            limits = np.iinfo(dtype)
            # The upper limit plus one is a power of two, hence exact; the limit itself is not for 64 bits.
            wrong = ~((reals >= float(limits.min)) & (reals < float(limits.max + 1)) & (reals == np.floor(reals)))
            if header.symmetry == "skew-symmetric":
                wrong |= reals == float(limits.min)
            values = np.where(wrong, 0, reals).astype(dtype)
    at = np.flatnonzero(wrong)
    if at.size:
        first = int(at[0])
        raise InvalidFormat(f"{name}:{line_of(first)}: expected a value of type {dtype.name}, found {reals[first]!s}")
    return values


def _read_array(text: NDArray[np.uint8], header: Header, name: str, progress: Progress | None) -> Triples:
    columns = value_columns(header)
    table = scan_table(
        text, header.start, header.line, columns, CLASSES,
        name=name, expected_rows=header.count, progress=progress,
    )  # fmt: skip

    def line_of(entry: int) -> int:
        return line_of_row(text, header.start, header.line, entry, columns, CLASSES)

    if header.field == "real":
        given = _declared(table.reals[0], header, name, line_of)
    elif header.field == "complex":
        given = _complex(table, header, name, line_of)
    else:
        given = _integers(table.ints[0], header, table.large, table.negative, name)
    nrows, ncols = header.nrows, header.ncols
    if header.symmetry == "general":
        cols, rows = np.divmod(np.arange(header.count, dtype=np.int64), max(nrows, 1))
        return Triples(nrows, ncols, rows, cols, given, line_of, name)
    # In column order from the diagonal (below it, if skew) down: the upper triangle of the transpose, in row order.
    skew = header.symmetry == "skew-symmetric"
    cols, rows = np.triu_indices(nrows, 1 if skew else 0)
    triples = Triples(nrows, ncols, rows, cols, given, line_of, name)
    if header.symmetry == "hermitian":
        _check_real(triples, np.flatnonzero(rows == cols))
        return _hermitian(triples)
    mirrored = triples.symmetrized()
    if not skew:
        return mirrored
    assert isinstance(mirrored.values, np.ndarray)
    mirrored.values[header.count :] *= -1
    diagonal = np.arange(nrows)
    return Triples(
        nrows,
        ncols,
        np.concatenate([mirrored.rows, diagonal]),
        np.concatenate([mirrored.cols, diagonal]),
        np.concatenate([mirrored.values, np.zeros(nrows, dtype=given.dtype)]),
    )
