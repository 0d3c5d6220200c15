"""The header of a Matrix Market file: what the entries are, and where they begin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as field_of
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.dtypes import BOOL, lookup
from semiring.exceptions import DomainMismatch, InvalidFormat
from semiring.io.label_comments import FIRST, read_label_comments
from semiring.io.text import header_size, shortened
from semiring.io.text_scan import INTEGER, REAL, Column
from semiring.labels import Labels

__all__ = ["Header", "read_header", "value_columns"]

#: The type names of the ``%%GraphBLAS type`` comment (LAGraph_MMRead) that are not NumPy's.
_TYPE_NAMES: Final = {
    "float": "float32",
    "double": "float64",
    "float complex": "complex64",
    "double complex": "complex128",
}
_FIELDS: Final = ("real", "double", "integer", "unsigned-integer", "complex", "pattern")
_SYMMETRIES: Final = ("general", "symmetric", "skew-symmetric", "hermitian")
_WHITE: Final = b" \t\r"


@dataclass(frozen=True)
class Header:
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
    labels: Mapping[str, Labels] = field_of(default_factory=dict)


def read_header(text: NDArray[np.uint8], name: str) -> Header:
    """Return the header of a text; InvalidFormat if it is malformed, with `name` as the file.

    Without a banner the fields are those that LAGraph_MMRead defines: ``coordinate real general`` if three sizes
    follow, ``array real general`` if two do; a ``%%GraphBLAS`` line is then a comment.
    """
    first, after = _line_at(text, 0)
    banner = first.startswith("%%matrixmarket")
    layout, field, symmetry = _banner(first, name) if banner else ("", "real", "general")
    position, line = (after, 2) if banner else (0, 1)
    dtype = None
    labels: dict[str, Labels] = {}
    labels_line = line
    while True:
        if position >= len(text):
            expected = "a line with the sizes" if banner else "%%MatrixMarket or a line with the sizes"
            raise InvalidFormat(f"{name}:{line}: expected {expected}, found the end of the file")
        content, following = _line_at(text, position)
        if content and not content.startswith("%"):
            break
        words = content.lstrip("% ").split()
        misspelt = not banner and len(words) == 5 and words[1] == "matrix" and words[4] in _SYMMETRIES
        if misspelt or content.lstrip("% ").startswith("matrixmarket"):
            raise InvalidFormat(
                f"{name}:{line}: expected %%MatrixMarket at the beginning of line 1 alone, found {shortened(content)!r}"
            )
        if banner and content.startswith("%%graphblas"):
            dtype = _declared_type(content.split()[1:], name, line, symmetry, field) or dtype
        if banner and content.startswith(FIRST):
            labels_line = line
            labels, position, line = read_label_comments(text, position, line, name)
            continue
        position, line = following, line + 1

    sizes = content.split()
    layout = layout or ("array" if len(sizes) == 2 else "coordinate")
    counted = ("rows", "columns") if layout == "array" else ("rows", "columns", "entries")
    # LAGraph_MMWrite writes the number of entries in array files too.
    lengths = (2, 3) if layout == "array" else (3,)
    if len(sizes) not in lengths or not all(size.isascii() and size.isdigit() for size in sizes):
        expected = "" if banner else "a line that begins with %%MatrixMarket, or "
        raise InvalidFormat(
            f"{name}:{line}: expected {expected}the numbers of {', '.join(counted)}, found {shortened(content)!r}"
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
    for role, each in labels.items():
        expected_labels = {"rows": nrows, "columns": ncols}.get(role, len(each))
        if len(each) != expected_labels:
            raise InvalidFormat(f"{name}:{labels_line}: expected {expected_labels} labels of {role}, found {len(each)}")
    return Header(layout == "array", field, symmetry, dtype, nrows, ncols, count, following, line + 1, labels)


def _banner(line: str, name: str) -> tuple[str, str, str]:
    """Return the layout, the field and the symmetry in the first line of a text."""
    words = line.split()
    if len(words) != 5:
        raise InvalidFormat(
            f"{name}:1: expected %%MatrixMarket matrix FORMAT FIELD SYMMETRY (5 words), found {len(words)}"
        )
    banner, kind, layout, field, symmetry = words
    for found, allowed in (
        (banner, ("%%matrixmarket",)),
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
    return layout, field, symmetry


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


def value_columns(header: Header) -> tuple[Column, ...]:
    """Return the columns of values: numbers of the field, within the declared type; none of a pattern."""
    if header.field == "pattern":
        return ()
    if header.field == "complex":
        return Column("real part", REAL), Column("imaginary part", REAL)
    return (_value_column(header),)


def _value_column(header: Header) -> Column:
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
