"""Bytes of a file, compressed or not.

Reading determines the compression from the first bytes and not from the name; writing (`semiring.io.atomic`) uses the
name.  Four compressions are supported: gzip, bzip2, xz and Zstandard (the last through
the optional package ``zstandard``).
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat, InvalidValue, OutOfMemory
from semiring.io.decompress import COMPRESSIONS, compression_of, decompressed_chunks
from semiring.memory.allocation import allocating, out_of_memory, require

__all__ = [
    "PathLike",
    "Progress",
    "checked_progress",
    "errors_naming",
    "extension",
    "naming_memory_errors",
    "open_to_read",
    "open_to_write",
    "read_bytes",
]

PathLike = str | os.PathLike[str]

#: Called with the current step and the share that is done (0 to 1), at most a few times a second.
Progress = Callable[[str, float], None]

_CHUNK_BYTES: Final = 1 << 24
# Free memory is queried again after each growth by this many bytes.
_GROWTH_BYTES: Final = 1 << 27

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def extension(path: PathLike) -> tuple[str, str]:
    """Return the extensions of a file by which `read` and `write` choose the format and the compression, in lower case.

    Parameters
    ----------
    path : str or PathLike

    Returns
    -------
    tuple of str: that of the format, and that of the compression; empty where the name has none

    Examples
    --------
    >>> sr.io.extension("a/b.mtx.gz"), sr.io.extension("b.SRB")
    (('.mtx', '.gz'), ('.srb', ''))
    """
    name = Path(path)
    last = name.suffix.lower()
    if last in COMPRESSIONS:
        return Path(name.stem).suffix.lower(), last
    return last, ""


@contextlib.contextmanager
def errors_naming(path: PathLike, others: Sequence[str] = ()) -> Iterator[None]:
    """Name a file in each OSError of the block that names none, or one of `others`, such as its temporary name."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, *others):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


class _Named(io.FileIO):
    """A file whose errors name a path."""

    def __init__(self, path: PathLike, mode: str, shown: PathLike, opener: Any = None) -> None:
        self._shown = shown
        with errors_naming(shown, [os.fspath(path)]):
            super().__init__(path, mode, opener=opener)

    def readinto(self, buffer: Any) -> int | None:
        with errors_naming(self._shown):
            return super().readinto(buffer)

    def readall(self) -> bytes:
        with errors_naming(self._shown):
            return super().readall()

    def write(self, content: Any) -> int:
        with errors_naming(self._shown):
            return super().write(content)

    def close(self) -> None:
        with errors_naming(self._shown):
            super().close()


def open_to_read(path: PathLike) -> io.BufferedReader:
    """Open a file for reading; each OSError names it, also one of a later read."""
    return io.BufferedReader(_Named(path, "rb", path))


def open_to_write(path: PathLike, mode: str, shown: PathLike, opener: Any = None) -> io.BufferedWriter:
    """Open a file for writing, with a mode of `open`; each OSError names `shown`, also one of a later write."""
    return io.BufferedWriter(_Named(path, mode, shown, opener))


def checked_progress(progress: Any) -> Progress | None:
    """Return `progress`; InvalidValue if it cannot be called."""
    if progress is not None and not callable(progress):
        raise InvalidValue(f"progress=: expected a function that is called as progress(what, share), got {progress!r}")
    return cast("Progress | None", progress)


def naming_memory_errors(read: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
    """Turn a MemoryError of a reader into OutOfMemory with the file, which is the reader's first argument."""

    @functools.wraps(read)
    def reader(*args: _Given.args, **kwargs: _Given.kwargs) -> _Found:
        try:
            return read(*args, **kwargs)
        except OutOfMemory:
            raise
        except MemoryError as error:
            path = args[0] if args else kwargs.get("path")
            device = "cuda" if type(error).__module__.startswith("cupy") else "cpu"
            raise out_of_memory(f"reading {path}", device, error) from error

    return reader


def read_bytes(path: PathLike, progress: Progress | None = None) -> NDArray[np.uint8]:
    """Read all bytes of a file, decompressed.

    Returns
    -------
    ndarray of uint8, read-only

    Raises
    ------
    FileNotFoundError, PermissionError, IsADirectoryError
        As ``open`` does.
    InvalidFormat
        The compressed stream is damaged or truncated, or is followed by other bytes; the message contains the byte.
    InvalidValue
        ``progress`` cannot be called.
    NotSupported
        The file is Zstandard and the package ``zstandard`` is not installed.
    OutOfMemory
        The content is larger than the free memory.

    Notes
    -----
    The peak is the content and some megabytes: it is read into its final array, or grows in place (where the system's
    ``realloc`` moves pages, as on Linux; elsewhere up to twice the content).  Exceptions of `progress` propagate.
    """
    progress, name = checked_progress(progress), os.fspath(path)
    with open_to_read(path) as raw, allocating(f"reading {name}", "cpu"):
        total = os.fstat(raw.fileno()).st_size

        def report() -> None:
            if progress is not None:
                progress(f"reading {name}", min(raw.tell() / total, 1.0) if total else 1.0)

        start = raw.peek(8)
        compression = compression_of(start)
        if not start and extension(path)[1]:  # every compressed stream has bytes: a truncated file
            raise InvalidFormat(f"{name}: byte 0: expected a {extension(path)[1]} stream, found an empty file")
        content = _Growing(name)
        if compression:
            for chunk in decompressed_chunks(raw, compression, name):
                if content.add(chunk):
                    report()
        else:
            head = _read_sized(raw, total, name, report)
            rest = raw.read(1)
            if not rest:  # a pipe reports size 0 and has more bytes
                return head
            content.add(head.tobytes())
            while rest:
                content.add(rest)
                rest = raw.read(_CHUNK_BYTES)
        report()
        return _read_only(np.frombuffer(content.held, dtype=np.uint8))


def _read_sized(raw: io.BufferedReader, size: int, name: str, report: Callable[[], None]) -> NDArray[np.uint8]:
    """Read the first `size` bytes of a file, or all if it has fewer."""
    require(f"reading {name}", "cpu", size)
    content, done = np.empty(size, dtype=np.uint8), 0
    while done < size:
        count = raw.readinto(content[done : done + _CHUNK_BYTES].data)
        if not count:
            break
        done += count
        report()
    return _read_only(content[:done])


def _read_only(content: NDArray[np.uint8]) -> NDArray[np.uint8]:
    # One type for the compiled loops: numba would compile them again for writable arrays.
    content.flags.writeable = False
    return content


class _Growing:
    """A buffer of appended chunks; it grows in place, and only while memory is free."""

    def __init__(self, name: str) -> None:
        self.held = bytearray()
        self._name = name
        self._measured = _GROWTH_BYTES
        self._reported = 0

    def add(self, chunk: bytes) -> bool:
        """Append; return True about every 16 MB.  OutOfMemory if the next 128 MB do not fit in the free memory."""
        size = len(self.held) + len(chunk)
        if size > self._measured:
            # A bytearray reserves an eighth more than it holds.
            requested = _GROWTH_BYTES + size // 8
            hint = f"the file unpacks to more than {len(self.held):,} bytes"
            require(f"reading {self._name}", "cpu", requested, hint=hint)
            self._measured = size + _GROWTH_BYTES
        self.held += chunk
        if size < self._reported + _CHUNK_BYTES:
            return False
        self._reported = size
        return True
