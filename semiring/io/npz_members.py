"""Arrays of a NumPy archive (.npz), read one at a time; sizes are checked against the archive before allocation."""

from __future__ import annotations

import errno
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat
from semiring.io.files import PathLike, open_to_read
from semiring.memory.allocation import require

__all__ = ["Members"]

_CHUNK_BYTES: Final = 1 << 24
# Deflate encodes at most 258 bytes in 2 bits: a member cannot hold more than this ratio.
_LARGEST_RATIO: Final = 1032
_SPARE_BYTES: Final = 1 << 10

# Exceptions of Python's zip reader, its decompressors and NumPy's header parser for damaged content.
_DAMAGED: Final = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError, IndexError, ValueError, TypeError, SyntaxError,
    AttributeError, NotImplementedError, RuntimeError, OverflowError,
)  # fmt: skip


class Members:
    """The arrays of an archive by name; a context manager, as it holds the file open.

    Raises
    ------
    InvalidFormat
        The file is not a zip archive.
    """

    def __init__(self, path: PathLike) -> None:
        self._name = os.fspath(path)
        self._stream = open_to_read(path)  # closed by the context
        try:
            self._stream.peek(1)  # an error of the disk, which the zip reader would take for damage
            with self._damages():
                self._archive = zipfile.ZipFile(self._stream)
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()
        self._stream.close()

    def __contains__(self, key: str) -> bool:
        with self._damages():
            return f"{key}.npy" in self._archive.namelist()

    def array(self, key: str, kinds: str, size: int | None = None) -> NDArray[Any]:
        """Return an array of the archive, of at most one dimension.

        Parameters
        ----------
        key : its name
        kinds : the allowed kinds of dtype, as NumPy letters
        size : the required number of elements; None: any number

        Raises
        ------
        InvalidFormat
            There is no such array, it has another type or size, or the member is damaged.
        OutOfMemory
            It does not fit in the free memory.
        """
        with self._damages(key):
            found = {info.filename: info for info in self._archive.infolist()}
            member = found.get(f"{key}.npy")
        if member is None:
            names = sorted(name.removesuffix(".npy") for name in found)
            raise InvalidFormat(f"{self._name}: expected an array {key!r}, found {names}")
        with self._damages(key):
            opened = self._archive.open(member)
        with opened as stream:
            with self._damages(key):
                shape, dtype = _header(stream)
                head_bytes = stream.tell()
            count = int(np.prod(shape, dtype=object))
            strange = dtype.hasobject or (dtype.kind == "V" and dtype.names is None)
            if (
                dtype.kind not in kinds
                or strange
                or dtype.shape
                or len(shape) > 1
                or (size is not None and count != size)
            ):
                expected = "any number of" if size is None else str(size)
                raise InvalidFormat(
                    f"{self._name}: array {key!r}: expected {expected} elements of kind {' or '.join(kinds)}, found "
                    f"{count} of {dtype} in {len(shape)} dimensions"
                )
            self._check_bytes(member, key, head_bytes, count * dtype.itemsize)
            require(f"reading array {key!r} of {self._name}", "cpu", count * dtype.itemsize)
            content = np.empty(count, dtype=dtype)
            with self._damages(key):
                _fill(stream, content)
        if dtype.kind == "b" and (wrong := np.flatnonzero(content.view(np.uint8) > 1)).size:
            raise InvalidFormat(f"{self._name}: array {key!r}: expected bools 0 or 1, found another at {int(wrong[0])}")
        return content.reshape(shape)

    def _check_bytes(self, member: zipfile.ZipInfo, key: str, head_bytes: int, stated: int) -> None:
        """Raise InvalidFormat unless the member has the size that its header states, and can have it."""
        largest = member.compress_size
        if member.compress_type == zipfile.ZIP_DEFLATED:
            largest = largest * _LARGEST_RATIO + _SPARE_BYTES
        elif member.compress_type != zipfile.ZIP_STORED:
            largest = member.file_size
        if head_bytes + stated != member.file_size or member.file_size > largest:
            raise InvalidFormat(
                f"{self._name}: array {key!r}: expected {stated:,} bytes, as its header states, found a "
                f"member of {member.file_size - head_bytes:,} in {member.compress_size:,} compressed bytes"
            )

    @contextmanager
    def _damages(self, key: str | None = None) -> Iterator[None]:
        """Convert exceptions of the zip reader for damaged content to InvalidFormat."""
        try:
            yield
        except InvalidFormat:
            raise
        except _DAMAGED as error:
            self._raise_damaged(key, error)
        except Exception as error:
            # An OSError of bz2 has no errno, and EINVAL is a seek before the file; any other is an error of the disk.
            # LZMAError is compared by name: lzma may be missing, and is imported only where a file uses it.
            damaged = isinstance(error, OSError) and error.errno in (None, errno.EINVAL)
            if not damaged and type(error).__name__ != "LZMAError":
                raise
            self._raise_damaged(key, error)

    def _raise_damaged(self, key: str | None, error: Exception) -> None:
        place = self._name if key is None else f"{self._name}: array {key!r}"
        reason = str(error) or type(error).__name__
        raise InvalidFormat(f"{place}: expected a whole .npz archive, found: {reason}") from error


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and dtype of a member, from the header of NumPy's format."""
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"version {version} of NumPy's format")
    try:
        shape, _, dtype = read(stream)
    except (MemoryError, RecursionError, tokenize.TokenError) as error:  # from Python's parser, for open brackets
        raise ValueError("a header that is not a dictionary") from error
    return shape, dtype


def _fill(stream: IO[bytes], content: NDArray[Any]) -> None:
    """Read an array and the end of the member, which compares its checksum."""
    view = content.view(np.uint8) if content.size and content.dtype.itemsize else np.empty(0, np.uint8)
    done = 0
    while done < view.size:
        chunk = stream.read(min(view.size - done, _CHUNK_BYTES))
        if not chunk:
            raise EOFError("the member ends early")
        view[done : done + len(chunk)] = np.frombuffer(chunk, np.uint8)
        done += len(chunk)
    if stream.read(1):
        raise ValueError("more bytes than its header states")
