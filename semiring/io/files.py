"""Bytes of a file, whatever it is compressed with, and files that appear whole or not at all.

Reading looks at the first bytes, so a file whose name hides or misstates its compression is read all the same;
writing goes by the name. Four compressions are known: gzip, bzip2, xz and Zstandard (the last through the optional
package ``zstandard``).
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat, NotSupported

__all__ = ["COMPRESSIONS", "PathLike", "Progress", "atomic_writer", "extension", "read_bytes"]

PathLike = str | os.PathLike[str]

#: Called with what is being done and the share that is done (0 to 1), a few times a second at most.
Progress = Callable[[str, float], None]

#: Extension -> the bytes that such a file begins with.
COMPRESSIONS: Final[dict[str, bytes]] = {
    ".gz": b"\x1f\x8b",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\x00",
    ".zst": b"\x28\xb5\x2f\xfd",
}

_CHUNK_BYTES: Final = 1 << 24


def extension(path: PathLike) -> tuple[str, str]:
    """Split off the format and the compression: ``"a/b.mtx.gz"`` gives ``(".mtx", ".gz")``, in lower case."""
    name = Path(path)
    last = name.suffix.lower()
    if last in COMPRESSIONS:
        return Path(name.stem).suffix.lower(), last
    return last, ""


def read_bytes(path: PathLike, progress: Progress | None = None) -> NDArray[np.uint8]:
    """All bytes of a file, decompressed.

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    FileNotFoundError, PermissionError, IsADirectoryError
        As ``open`` does.
    InvalidFormat
        The compressed stream is damaged or ends early; the message gives the byte.
    NotSupported
        The file is Zstandard and the package ``zstandard`` is not installed.
    """
    with open(path, "rb") as raw:
        total = os.fstat(raw.fileno()).st_size
        start = raw.read(8)
        raw.seek(0)
        compression = next((ext for ext, magic in COMPRESSIONS.items() if start.startswith(magic)), "")
        parts: list[bytes] = []
        try:
            stream = _decompressor(cast("IO[bytes]", raw), compression, path)
            while chunk := stream.read(_CHUNK_BYTES):
                parts.append(chunk)
                if progress is not None:
                    progress(f"reading {os.fspath(path)}", min(raw.tell() / max(total, 1), 1.0))
        except Exception as error:
            # Each library has its own exception for a damaged stream (zlib.error, LZMAError, ZstdError, EOFError).
            if not compression or isinstance(error, (NotSupported, MemoryError)):
                raise
            raise InvalidFormat(
                f"{os.fspath(path)}: near byte {raw.tell()} of {total}: expected a whole {compression} stream, "
                f"found: {error}"
            ) from error
    return np.frombuffer(parts[0] if len(parts) == 1 else b"".join(parts), dtype=np.uint8)


def _decompressor(raw: IO[bytes], compression: str, path: PathLike) -> IO[bytes]:
    if compression == ".gz":
        import gzip

        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw, mode="rb"))
    if compression == ".bz2":
        import bz2

        return cast("IO[bytes]", bz2.BZ2File(raw, "rb"))
    if compression == ".xz":
        import lzma

        return cast("IO[bytes]", lzma.LZMAFile(raw, "rb"))
    if compression == ".zst":
        # ZstdDecompressor.stream_reader ends quietly on a truncated frame; decompressobj knows whether it saw the end.
        return cast("IO[bytes]", _ZstdReader(raw, path))
    return raw


class _ZstdReader:
    """``read(n)`` over the frames of a Zstandard file; a last frame without its end is an ``EOFError``."""

    def __init__(self, raw: IO[bytes], path: PathLike) -> None:
        self._raw = raw
        self._decompressor = _zstandard(path).ZstdDecompressor()
        self._frame: Any = None
        self._rest = b""

    def read(self, count: int) -> bytes:
        while True:
            data = self._rest or self._raw.read(count)
            self._rest = b""
            if not data:
                if self._frame is not None:
                    raise EOFError("the stream ended before its end-of-frame marker")
                return b""
            if self._frame is None:
                self._frame = self._decompressor.decompressobj()
            out = bytes(self._frame.decompress(data))
            if self._frame.eof:
                self._rest = bytes(self._frame.unused_data)
                self._frame = None
            if out:
                return out


def _zstandard(path: PathLike) -> Any:
    try:
        import zstandard
    except ImportError as error:
        raise NotSupported(
            f"{os.fspath(path)} is compressed with Zstandard, which needs the package zstandard: "
            f"pip install zstandard (gzip, bzip2 and xz need nothing)"
        ) from error
    return zstandard


def _compressor(raw: IO[bytes], compression: str, path: PathLike) -> IO[bytes]:
    if compression == ".gz":
        import gzip

        # No name and no time in the header: equal matrices give equal files.
        return cast("IO[bytes]", gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0))
    if compression == ".bz2":
        import bz2

        return cast("IO[bytes]", bz2.BZ2File(raw, "wb"))
    if compression == ".xz":
        import lzma

        return cast("IO[bytes]", lzma.LZMAFile(raw, "wb"))
    return cast("IO[bytes]", _zstandard(path).ZstdCompressor(level=3).stream_writer(raw, closefd=False))


@contextlib.contextmanager
def atomic_writer(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes the place of ``path`` only when the block ends without an error.

    The bytes go to a new file in the same folder, are flushed to the disk, and are renamed over ``path``; on any
    error the new file is removed and ``path`` stays as it was. The name's last extension chooses the compression.

    Raises
    ------
    OSError
        The one that ``open(path, "wb")`` would raise, with this path: a folder that is missing, or may not be written.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    compression = extension(target)[1]
    # os.open and not tempfile: the finished file shall have the permissions that the user's umask gives.
    with _errors_naming(path):
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as raw:
            if compression:
                with _compressor(raw, compression, path) as stream:
                    yield stream
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        with _errors_naming(path):
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _errors_naming(path: PathLike) -> Iterator[None]:
    """Let the system's errors name the file that the caller asked for, not the one that stands in for it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
