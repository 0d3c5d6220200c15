"""Shares of a text file: bytes [k / p, (k + 1) / p) of it, from the first line that begins in them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import IO, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NotSupported
from ..io.files import PathLike
from ..io.loading import read_into
from ..io.text import universal_newlines, wide_encoding
from ..memory.allocation import require
from .grid import Grid

__all__ = ["Share", "head_of", "share_of"]

T = TypeVar("T")

_HEAD_BYTES = 1 << 16
_STEP_BYTES = 1 << 16
# A line ends in LF, CR LF, or a CR alone.
_END = re.compile(rb"\n|\r(?!\n)")


class Share(NamedTuple):
    """The lines of a process: their bytes, the number of the first one, and that of the line after the whole text."""

    text: NDArray[np.uint8]
    line: int
    end: int


def head_of(path: PathLike, parse: Callable[[NDArray[np.uint8], bool], T | None]) -> T:
    """Return what `parse` finds in the first lines of a file.

    parse: a function of whole lines and of whether they are all of the file; None: it needs more of them.
    """
    size, wanted = os.path.getsize(path), _HEAD_BYTES
    while True:
        with open(path, "rb") as stream:
            end = _line_start(stream, wanted, size)
        head = _bytes(path, 0, end)
        encoding = wide_encoding(head[:4].tobytes())
        if encoding:
            raise NotSupported(f"{os.fspath(path)}: processes read UTF-8 in parts, found {encoding}; convert the file")
        found = parse(head, end == size)
        if found is not None:
            return found
        assert end < size
        wanted *= 8


def share_of(grid: Grid, path: PathLike, start: int, line: int, *, quotes: bool = False) -> Share:
    """Return the lines of this process of a text whose content begins at byte `start`, in line number `line`.

    quotes: a CR in quotes ends no line.  Collective.  Errors are raised on all processes.
    """

    def lines() -> NDArray[np.uint8]:
        size = os.path.getsize(path)
        with open(path, "rb") as stream:
            begin, end = (
                max(start, _line_start(stream, start + (size - start) * k // grid.size, size))
                for k in (grid.rank, grid.rank + 1)
            )
        return _bytes(path, begin, end, quotes=quotes)

    text = grid.run_then_barrier(lines)
    counts = grid.comm.allgather(int(np.count_nonzero(text == 10)))
    return Share(text, line + sum(counts[: grid.rank]), line + sum(counts))


def _bytes(path: PathLike, begin: int, end: int, *, quotes: bool = False) -> NDArray[np.uint8]:
    require(f"reading {os.fspath(path)}", "cpu", max(end - begin, 0))
    text = np.empty(max(end - begin, 0), np.uint8)
    read_into(path, begin, text)
    text.flags.writeable = False  # one type for the compiled loops
    return universal_newlines(text, quotes=quotes)


def _line_start(stream: IO[bytes], position: int, size: int) -> int:
    """Return the first byte from `position` on at which a line begins, or the size of the file."""
    if position <= 0:
        return 0
    at = position - 1
    while at < size:
        stream.seek(at)
        chunk = stream.read(_STEP_BYTES + 1)  # one byte ahead, to see whether LF follows CR
        for end in _END.finditer(chunk):
            if end.start() < _STEP_BYTES:
                return at + end.end()
        at += _STEP_BYTES
    return size
