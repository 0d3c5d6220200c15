"""Vectors to files: text in chunks, or the formats of `semiring.io`; written atomically."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import semiring as sr
from semiring.exceptions import NotSupported
from semiring.io.atomic import atomic_writer
from semiring.io.files import extension
from semiring.memory.arrays import to_host

_SEPARATORS = {".txt": " ", ".tsv": "\t", ".csv": ","}
_BINARY = (".mtx", ".srb")
_LINES_AT_ONCE = 1 << 16


def add_out(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the argument that names a file for a vector."""
    extensions = " ".join([*_SEPARATORS, *_BINARY])
    parser.add_argument(
        "--out", metavar="FILE", help=f"write {what} to a file ({extensions}), or to standard output: -"
    )


def check_out(path: str | None) -> None:
    """Raise NotSupported for a file that cannot be written, before any work is done."""
    if path not in (None, "-") and extension(path)[0] not in (*_SEPARATORS, *_BINARY):
        extensions = " ".join([*_SEPARATORS, *_BINARY])
        raise NotSupported(f"--out {path}: expected one of the extensions {extensions}, or - for standard output")


def save(path: str, vector: sr.Vector) -> None:
    """Write a vector: a line ``row value`` for each entry, or as `semiring.io.write` does."""
    if path == "-":
        for chunk in _lines(vector, " "):
            sys.stdout.write(chunk)
        return
    kind = extension(path)[0]
    if kind in _BINARY:
        sr.io.write(path, vector)
        return
    with atomic_writer(path) as file:
        for chunk in _lines(vector, _SEPARATORS[kind]):
            file.write(chunk.encode("ascii"))


def _lines(vector: sr.Vector, separator: str) -> Iterator[str]:
    arrays: tuple[Any, Any] = vector.to_coo(index_dtype=None)
    indices, values = (to_host(array) for array in arrays)
    for first in range(0, indices.size, _LINES_AT_ONCE):
        part = slice(first, first + _LINES_AT_ONCE)
        pairs = zip(indices[part].tolist(), values[part].tolist(), strict=True)
        yield "".join(f"{index}{separator}{value!r}\n" for index, value in pairs)
