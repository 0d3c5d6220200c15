"""Vectors to files: text in chunks, or the formats of `semiring.io`; written atomically."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import semiring as sr
from semiring.cli.ranks import divided, prints, read, whole
from semiring.exceptions import InvalidFormat, NotSupported
from semiring.io.atomic import atomic_writer
from semiring.io.files import extension
from semiring.memory.arrays import to_host

_SEPARATORS = {".txt": " ", ".tsv": "\t", ".csv": ","}
_BINARY = (".mtx", ".srb")
#: Extensions of files that hold a Vector.
VECTORS = (*_SEPARATORS, *_BINARY)
_LINES_AT_ONCE = 1 << 16


def add_out(parser: argparse.ArgumentParser, what: str, *, matrices: bool = False) -> None:
    """Add the argument that names a file for a vector, or for a matrix too."""
    extensions = " ".join(_extensions(matrices))
    parser.add_argument(
        "--out", metavar="FILE", help=f"write {what} to a file ({extensions}), or to standard output: -"
    )


def check_out(path: str | None, *, matrices: bool = False) -> None:
    """Raise NotSupported for a file that cannot be written, before any work is done."""
    if path not in (None, "-") and extension(path)[0] not in _extensions(matrices):
        extensions = " ".join(_extensions(matrices))
        raise NotSupported(f"--out {path}: expected one of the extensions {extensions}, or - for standard output")


def _extensions(matrices: bool) -> list[str]:
    return [*_SEPARATORS, *_BINARY, ".npz"] if matrices else [*_SEPARATORS, *_BINARY]


def save(path: str, result: sr.Vector | sr.Matrix, *, ids: Any = None) -> None:
    """Write a line ``row value`` (``row column value``) for each entry, or what `semiring.io.write` writes.

    ids: the names of the rows in text, from ``--relabel``.
    """
    result = whole(result)
    if not prints():
        return
    if path == "-":
        for chunk in _lines(result, " ", ids):
            sys.stdout.write(chunk)
        return
    kind = extension(path)[0]
    if kind not in _SEPARATORS:
        sr.io.write(path, result)
        return
    with atomic_writer(path) as file:
        for chunk in _lines(result, _SEPARATORS[kind], ids):
            file.write(chunk.encode("ascii"))


def _lines(result: sr.Vector | sr.Matrix, separator: str, ids: Any) -> Iterator[str]:
    arrays: tuple[Any, ...] = result.to_coo(index_dtype=None)
    *places, values = (to_host(array) for array in arrays)
    if ids is not None:
        places = [ids[place] for place in places]
    for first in range(0, values.size, _LINES_AT_ONCE):
        part = slice(first, first + _LINES_AT_ONCE)
        rows = zip(*(place[part].tolist() for place in places), map(repr, values[part].tolist()), strict=True)
        yield "".join(separator.join(map(str, row)) + "\n" for row in rows)


def load_vector(path: str, n: int) -> sr.Vector:
    """Read a Vector of size n: a ``.srb`` file, or text as `save` writes it."""
    kind = extension(path)[0]
    if kind in _SEPARATORS:
        separator = None if kind == ".txt" else _SEPARATORS[kind]
        try:
            lines = np.loadtxt(path, delimiter=separator, ndmin=2)
        except ValueError as error:
            raise InvalidFormat(f"{path}: expected lines of a row and a value: {error}") from None
        if lines.shape[1] != 2:
            raise InvalidFormat(f"{path}: expected lines of a row and a value, found {lines.shape[1]} columns")
        values = lines[:, 1]
        integers = values.astype(np.int64)
        return divided(
            sr.Vector.from_coo(
                lines[:, 0].astype(np.int64), integers if np.array_equal(integers, values) else values, size=n
            )
        )
    found = read(path)
    if not isinstance(found, sr.Vector) or found.size != n:
        raise InvalidFormat(
            f"{path}: expected a Vector of size {n}, found a {type(found).__name__} of shape {found.shape}"
        )
    return found
