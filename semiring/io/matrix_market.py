"""Matrix Market files (.mtx): a strict reader.

Format: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market Exchange Formats: Initial Design", NISTIR 5935 (1996).
The comment ``%%GraphBLAS type <type>`` of SuiteSparse:GraphBLAS and LAGraph states the value type, so that all types
are preserved in a file; to other programs it is a comment.

Every byte of the text is checked by :mod:`semiring.io.text_scan`, which also parses integers exactly. Decimals are then
converted by SciPy's parallel reader (``fast_matrix_market``), which alone would read ``1 2.5 3`` as ``(1, 2) = .5``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.dtypes import BOOL, FC64, FP32, FP64, INT64, UINT64, lookup, real_type
from semiring.exceptions import DomainMismatch, InvalidFormat
from semiring.io.files import PathLike, Progress, naming_memory_errors
from semiring.io.text import header_size, read_text, shortened
from semiring.io.text_scan import INTEGER, REAL, Column, Table, character_classes, line_of_row, scan_table
from semiring.io.triples import TRUE, Triples

if TYPE_CHECKING:
    from semiring.facade.matrix import Matrix

__all__ = ["mmread", "parse_matrix_market"]

#: The type names of the ``%%GraphBLAS type`` comment (LAGraph_MMRead) that are not NumPy's.
_TYPE_NAMES: Final = {
    "float": "float32",
    "double": "float64",
    "float complex": "complex64",
    "double complex": "complex128",
}
_FIELDS: Final = ("real", "double", "integer", "unsigned-integer", "complex", "pattern")
_SYMMETRIES: Final = ("general", "symmetric", "skew-symmetric", "hermitian")
_CLASSES: Final = character_classes(b"", b"%")
_WHITE: Final = b" \t\r"


@dataclass(frozen=True)
class _Header:
    """The header; ``start`` and ``line`` are the byte and the line of the first entry."""

    array: bool
    field: str
    symmetry: str
    dtype: np.dtype[Any] | None
    nrows: int
    ncols: int
    count: int
    start: int
    line: int


@naming_memory_errors
def mmread(path: PathLike, *, dup_op: Any = None, progress: Progress | None = None) -> Matrix:
    """Read a Matrix Market file, compressed or not.

    ``A(i, j) = value`` of each line ``i j value``, counted from 1 in the file and from 0 in the matrix. An entry
    below the diagonal of a symmetric (skew-symmetric, hermitian) file also stores ``A(j, i) = value`` (``-value``, its
    conjugate).

    Parameters
    ----------
    path : str or PathLike
    dup_op : binary operator, optional
        How to combine entries at the same position.
    progress : callable, optional
        Called with the current step and the share done.

    Returns
    -------
    Matrix
        Of the type in the file's ``%%GraphBLAS type`` comment, else int64 for the field ``integer``, float64 for
        ``real``, complex128 for ``complex``, and iso-valued bool true for ``pattern``. An ``array`` file stores every
        entry, zeros too.

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
    return parse_matrix_market(read_text(path, progress), os.fspath(path), progress).to_matrix(dup_op)


def parse_matrix_market(text: NDArray[np.uint8], name: str = "", progress: Progress | None = None) -> Triples:
    """Parse the entries of a Matrix Market text; ``name`` is the file in messages."""
    header = _read_header(text, name)
    if header.array:
        return _read_array(text, header, name, progress)
    return _read_coordinate(text, header, name, progress)


def _read_header(text: NDArray[np.uint8], name: str) -> _Header:
    banner, position = _line_at(text, 0)
    words = banner.split()
    if not words or words[0] != "%%matrixmarket":
        raise InvalidFormat(f"{name}:1: expected a line that begins with %%MatrixMarket, found {banner[:60]!r}")
    if len(words) != 5:
        raise InvalidFormat(
            f"{name}:1: expected %%MatrixMarket matrix FORMAT FIELD SYMMETRY (5 words), found {len(words)}"
        )
    _, kind, layout, field, symmetry = words
    for found, allowed in (
        (kind, ("matrix",)),
        (layout, ("coordinate", "array")),
        (field, _FIELDS),
        (symmetry, _SYMMETRIES),
    ):
        if found not in allowed:
            raise InvalidFormat(f"{name}:1: expected one of {', '.join(allowed)}, found {found!r}")
    if layout == "array" and field == "pattern":
        raise InvalidFormat(f"{name}:1: expected values in an array file, found the field 'pattern'")
    if symmetry == "hermitian" and field != "complex":
        raise InvalidFormat(f"{name}:1: expected the field 'complex' with 'hermitian', found {field!r}")
    if symmetry == "skew-symmetric" and field in ("pattern", "unsigned-integer"):
        raise InvalidFormat(f"{name}:1: expected signed values with 'skew-symmetric', found the field {field!r}")

    dtype = None
    line = 2
    while True:
        if position >= len(text):
            raise InvalidFormat(f"{name}:{line}: expected a line with the sizes, found the end of the file")
        content, following = _line_at(text, position)
        if content.startswith("%%graphblas"):
            dtype = _declared_type(content.split()[1:], name, line, symmetry, field) or dtype
        if content and not content.startswith("%"):
            break
        position, line = following, line + 1

    counted = ("rows", "columns") if layout == "array" else ("rows", "columns", "entries")
    sizes = content.split()
    # LAGraph_MMWrite writes the number of entries in array files too.
    lengths = (2, 3) if layout == "array" else (3,)
    if len(sizes) not in lengths or not all(size.isascii() and size.isdigit() for size in sizes):
        raise InvalidFormat(
            f"{name}:{line}: expected the numbers of {', '.join(counted)}, found {shortened(content)!r}"
        )
    place = f"{name}:{line}"
    nrows, ncols = (header_size(sizes[k], counted[k], place) for k in range(2))
    rest = [header_size(size, "entries", place, bits=62) for size in sizes[2:]]
    if symmetry != "general" and nrows != ncols:
        raise InvalidFormat(f"{name}:{line}: expected a square matrix, since it is {symmetry}, found {nrows} x {ncols}")
    if layout == "coordinate":
        count = rest[0]
    elif symmetry == "general":
        count = nrows * ncols
    else:
        count = nrows * (nrows - 1) // 2 if symmetry == "skew-symmetric" else nrows * (nrows + 1) // 2
    if rest and rest[0] != count:
        raise InvalidFormat(f"{name}:{line}: expected {count} entries in a {nrows} x {ncols} array, found {rest[0]}")
    if field == "double" or (dtype is not None and dtype.kind == "f"):
        # With a declared float type, even the field "integer" may hold inf, as in LAGraph's test files.
        field = "real" if field != "pattern" else field
    return _Header(layout == "array", field, symmetry, dtype, nrows, ncols, count, following, line + 1)


def _line_at(text: NDArray[np.uint8], position: int) -> tuple[str, int]:
    """Return the line at a byte offset, in lower case and stripped, and the offset of the next one."""
    size = 1 << 12
    while True:
        chunk = text[position : position + size].tobytes()
        at = chunk.find(b"\n")
        if at >= 0 or position + size >= len(text):
            break
        size *= 4
    raw = chunk if at < 0 else chunk[:at]
    return raw.strip(_WHITE).decode("utf-8", "backslashreplace").lower(), position + len(raw) + 1


def _declared_type(words: list[str], name: str, line: int, symmetry: str, field: str) -> np.dtype[Any] | None:
    """Return the dtype of a ``%%GraphBLAS type <type>`` comment; None for other ``%%GraphBLAS`` comments."""
    if not words or words[0] != "type":
        return None
    written = " ".join(words[1:])
    type_name = written.removesuffix("_t").removeprefix("grb_")
    try:
        dtype = lookup(_TYPE_NAMES.get(type_name, type_name))
    except DomainMismatch as error:
        raise InvalidFormat(
            f"{name}:{line}: expected bool, int8_t to int64_t, uint8_t to uint64_t, float, double, float complex or "
            f"double complex after '%%GraphBLAS type', found {written!r}"
        ) from error
    if field != "pattern" and (field == "complex") != (dtype.kind == "c"):
        expected = "a complex" if field == "complex" else "no complex"
        raise InvalidFormat(f"{name}:{line}: expected {expected} type with the field {field!r}, found {written!r}")
    if symmetry == "skew-symmetric" and dtype.kind in "bu":
        raise InvalidFormat(f"{name}:{line}: expected a signed type in a skew-symmetric file, found {written!r}")
    return dtype


def _value_columns(header: _Header) -> tuple[Column, ...]:
    """Return the columns of values: numbers of the field, within the declared type; none of a pattern."""
    if header.field == "pattern":
        return ()
    if header.field == "complex":
        return Column("real part", REAL), Column("imaginary part", REAL)
    return (_value_column(header),)


def _value_column(header: _Header) -> Column:
    if header.field == "real":
        return Column("value", REAL)
    low, high = -(2**63), 2**64 - 1
    if header.field == "unsigned-integer":
        low = 0
    if header.dtype == BOOL:
        low, high = 0, 1
    elif header.dtype is not None and header.dtype.kind in "iu":
        limits = np.iinfo(header.dtype)
        low, high = int(limits.min), int(limits.max)
    if header.symmetry == "skew-symmetric":
        # The mirrored entry is the negative one, and the lowest integer of a type has none.
        low, high = max(low, -(2**63) + 1), min(high, 2**63 - 1)
        if header.dtype is not None and header.dtype.kind == "i":
            low = max(low, -int(np.iinfo(header.dtype).max))
    return Column("value", INTEGER, low, high)


def _read_coordinate(text: NDArray[np.uint8], header: _Header, name: str, progress: Progress | None) -> Triples:
    columns: tuple[Column, ...] = (
        Column("row", INTEGER, 1, header.nrows),
        Column("column", INTEGER, 1, header.ncols),
    )
    columns += _value_columns(header)

    def line_of(entry: int) -> int:
        return line_of_row(text, header.start, header.line, entry, columns, _CLASSES)

    def scan(keep: bool) -> Table:
        return scan_table(
            text, header.start, header.line, columns, _CLASSES,
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
        if decimal:
            values = _declared(table.reals[0], header, name, line_of)
        elif header.field == "complex":
            values = _complex(table, header, name, line_of)
        elif header.field == "pattern":
            values = TRUE if header.dtype is None else header.dtype.type(1)
        else:
            values = _integers(table.ints[2], header, table.large, table.negative, name)

    triples = Triples(header.nrows, header.ncols, rows, cols, values, line_of, name)
    if header.symmetry == "general":
        return triples
    if header.symmetry == "symmetric":
        return triples.symmetrised()
    diagonal = np.flatnonzero(rows == cols)
    if header.symmetry == "hermitian":
        _check_real(triples, diagonal)
        return _hermitian(triples)
    if diagonal.size:
        raise InvalidFormat(
            f"{name}:{line_of(int(diagonal[0]))}: expected no entry on the diagonal of a skew-symmetric matrix, "
            f"found one at {int(rows[diagonal[0]]) + 1}"
        )
    mirrored = triples.symmetrised()
    assert isinstance(mirrored.values, np.ndarray)
    mirrored.values[header.count :] *= -1
    return mirrored


def _complex(table: Table, header: _Header, name: str, line_of: Any) -> NDArray[Any]:
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
    mirrored = triples.symmetrised()
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
    text: NDArray[np.uint8], header: _Header
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


def _integers(bits: NDArray[np.int64], header: _Header, large: bool, negative: bool, name: str) -> NDArray[Any]:
    """Convert checked integers, int64 or the bits of uint64, to the declared type or the narrower of both."""
    if large and negative and (header.dtype is None or header.dtype.kind == "f"):
        raise InvalidFormat(
            f"{name}: expected integers that one 64-bit type holds, found some below 0 and some above 2**63 - 1"
        )
    numbers: NDArray[Any] = bits.view(np.uint64) if large else bits
    if header.dtype is not None:
        return numbers.astype(header.dtype, copy=False)
    return numbers.astype(UINT64 if header.field == "unsigned-integer" or large else INT64, copy=False)


def _declared(reals: NDArray[np.float64], header: _Header, name: str, line_of: Any) -> NDArray[Any]:
    """Convert decimals to the declared type."""
    return _cast(reals, FP64 if header.dtype is None else header.dtype, header, name, line_of)


def _cast(reals: NDArray[np.float64], dtype: np.dtype[Any], header: _Header, name: str, line_of: Any) -> NDArray[Any]:
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


def _read_array(text: NDArray[np.uint8], header: _Header, name: str, progress: Progress | None) -> Triples:
    columns = _value_columns(header)
    table = scan_table(
        text, header.start, header.line, columns, _CLASSES,
        name=name, expected_rows=header.count, progress=progress,
    )  # fmt: skip

    def line_of(entry: int) -> int:
        return line_of_row(text, header.start, header.line, entry, columns, _CLASSES)

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
    mirrored = triples.symmetrised()
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
