"""Results to files: text in chunks, or the formats of `semiring.io`; written atomically."""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import semiring as sr
from semiring.bridges.cli.graphs import rows_of
from semiring.bridges.cli.ranks import divided, prints, read, whole
from semiring.bridges.cli.result_table import Outcome, Table
from semiring.exceptions import InvalidFormat, InvalidValue, NotSupported

_SEPARATORS = {".txt": " ", ".tsv": "\t", ".csv": ","}
_BINARY = (".mtx", ".srb")
#: Extensions of files that hold a Vector.
VECTORS = (*_SEPARATORS, *_BINARY)
_LINES_AT_ONCE = 1 << 16
# Names that need no quotes where they are no numbers and the separator is not in them.
_PLAIN = re.compile(r"(?![\s#%])[^,;|\"\x00-\x1f]+(?<!\s)")


def add_out(parser: argparse.ArgumentParser, what: str, *, matrices: bool = False) -> None:
    """Add the argument that names a file for a vector, or for a matrix too."""
    extensions = " ".join(_extensions(matrices))
    parser.add_argument(
        "--out", metavar="FILE", help=f"write {what} to a file ({extensions}), or to standard output: -"
    )


def check_out(path: str | None, *, matrices: bool = False) -> None:
    """Raise NotSupported for a file that cannot be written, before any work is done."""
    if path not in (None, "-") and sr.io.extension(path)[0] not in _extensions(matrices):
        extensions = " ".join(_extensions(matrices))
        raise NotSupported(f"--out {path}: expected one of the extensions {extensions}, or - for standard output")


def _extensions(matrices: bool) -> list[str]:
    return [*_SEPARATORS, *_BINARY, ".npz"] if matrices else [*_SEPARATORS, *_BINARY]


def save(path: str, found: Outcome) -> None:
    """Write a line for each row of the table of a result, or its Vector or Matrix as `semiring.io.write` does."""
    kind = sr.io.extension(path)[0]
    if path != "-" and kind not in _SEPARATORS:
        result = whole(found.main())
        if prints():
            sr.io.write(path, result)
        return
    made = found.table()
    if not prints():
        return
    lines = _lines(made, _SEPARATORS.get(kind, " "), quoting=kind != ".txt")
    if path == "-":
        sys.stdout.writelines(lines)
        return
    with sr.io.atomic_writer(path) as file:
        for chunk in lines:
            file.write(chunk.encode())


def _lines(made: Table, separator: str, *, quoting: bool) -> Iterator[str]:
    def text(value: Any) -> str:
        if isinstance(value, list):
            return separator.join(map(text, value))
        return _field(value, separator, quoting) if isinstance(value, str) else repr(value)

    for first in range(0, made.order.size, _LINES_AT_ONCE):
        columns = made.named(slice(first, first + _LINES_AT_ONCE))
        words = (map(text if column.dtype.kind == "O" else repr, column.tolist()) for column in columns)
        yield "".join(f"{separator.join(line)}\n" for line in zip(*words, strict=True))


def _field(name: str, separator: str, quoting: bool) -> str:
    """Return a name, in quotes where it could be read as something else."""
    if _PLAIN.fullmatch(name) and not _is_number(name) and (separator != " " or len(name.split()) == 1):
        return name
    if not quoting:
        raise InvalidValue(f"--out: {name!r} needs quotes, which .txt files have not: write a .csv or a .tsv file")
    return '"' + name.replace('"', '""') + '"'


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def load_vector(path: str, A: sr.Matrix, *, of_vertices: bool = False) -> sr.Vector:
    """Read a Vector with a position for each row of A: a ``.srb`` file, or text as `save` writes it.

    of_vertices: the values are vertices, by name where A has names; other values may be names.
    """
    kind = sr.io.extension(path)[0]
    if kind not in _SEPARATORS:
        found = read(path)
        if not isinstance(found, sr.Vector) or found.size != A.nrows:
            shape = f"found a {type(found).__name__} of shape {found.shape}"
            raise InvalidFormat(f"{path}: expected a Vector of size {A.nrows}, {shape}")
        return found
    try:
        if A.row_labels is not None:
            rows, values = _named_lines(path, kind, A.row_labels, of_vertices)
        else:
            lines = np.loadtxt(path, delimiter=None if kind == ".txt" else _SEPARATORS[kind], ndmin=2)
            if lines.shape[1] != 2:
                raise InvalidValue(f"found {lines.shape[1]} columns")
            rows, values = lines[:, 0].astype(np.int64), lines[:, 1]
    except (ValueError, csv.Error, InvalidValue) as error:
        raise InvalidFormat(f"{path}: expected lines of a row and a value: {error}") from None
    integers = values.astype(np.int64)
    values = integers if np.array_equal(integers, values) else values
    return divided(sr.Vector.from_coo(rows, values, size=A.nrows))


def _named_lines(path: str, kind: str, labels: sr.Labels, of_vertices: bool) -> tuple[Any, Any]:
    """Return the rows and the values of lines ``name value``."""
    with open(path, encoding="utf-8", newline="") as file:
        given = (line for line in file if line.strip() and not line.startswith("#"))
        split = csv.reader(given, delimiter=_SEPARATORS[kind], skipinitialspace=True, strict=True)
        lines = [line.split() for line in given] if kind == ".txt" else list(split)
    widths = {2, *map(len, lines)}
    if len(widths) > 1:
        raise InvalidValue(f"found {max(widths - {2})} columns")
    places, words = zip(*lines, strict=True) if lines else ((), ())
    if of_vertices or not all(map(_is_number, words)):
        return rows_of(labels, places), rows_of(labels, words)
    return rows_of(labels, places), np.array(list(map(float, words)), np.float64)
