"""Decompression in chunks, with a check that the file ends with its last stream.

A compressed file is one or more streams (members in gzip, frames in Zstandard).  The file objects of the libraries
ignore bytes after the last one, or return early for a truncated one; here anything else than a further stream or the
padding that the format allows is an error.  The size of a chunk is bounded for every compression ratio, so a file that
unpacks to more than the free memory is detected before the memory is full.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, Final, Protocol

from semiring.exceptions import InvalidFormat
from semiring.optional import needed

__all__ = ["COMPRESSIONS", "compression_of", "decompressed_chunks", "zstandard_module"]

#: Extension -> the first bytes of such a file.
COMPRESSIONS: Final[dict[str, bytes]] = {
    ".gz": b"\x1f\x8b",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\x00",
    ".zst": b"\x28\xb5\x2f\xfd",
}

# Bytes read at a time.  The input after a stream is copied, so each of many small members costs a copy of this size.
_INPUT_BYTES: Final = 1 << 16
# Bytes returned at a time.
_CHUNK_BYTES: Final = 1 << 20
# Zstandard has no limit for a chunk: 4 bytes of input encode a run of 128 KiB, so this input yields at most 128 MiB.
_ZSTANDARD_INPUT_BYTES: Final = 1 << 12


class _Stream(Protocol):
    """The interface of `bz2.BZ2Decompressor` and `lzma.LZMADecompressor`; the classes below adapt the others."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def compression_of(start: bytes) -> str:
    """Return the extension of the compression of a file with these first bytes, or an empty string."""
    return next((extension for extension, magic in COMPRESSIONS.items() if start.startswith(magic)), "")


def decompressed_chunks(raw: IO[bytes], compression: str, name: str) -> Iterator[bytes]:
    """Yield the content of a compressed file in chunks.

    Raises
    ------
    InvalidFormat
        A stream is damaged or truncated, or other bytes follow the last one; the message contains the byte.
    NotSupported
        The file is Zstandard and the package ``zstandard`` is not installed.
    """
    make, damaged = _decompressor(compression, name)

    def malformed(reason: object) -> InvalidFormat:
        at, total = raw.tell(), os.fstat(raw.fileno()).st_size
        return InvalidFormat(
            f"{name}: near byte {at} of {total}: expected a whole {compression} stream, found: {reason}"
        )

    data = raw.read(_INPUT_BYTES)
    while data:
        stream = make()
        while not stream.eof:
            try:
                chunk = stream.decompress(data, _CHUNK_BYTES)
            except damaged as error:
                raise malformed(error) from error
            data = b""
            if chunk:
                yield chunk
            elif stream.needs_input and not stream.eof:
                data = raw.read(_INPUT_BYTES)
                if not data:
                    raise malformed("the file ends before the stream")
        data = _after_padding(raw, stream.unused_data, compression, malformed)


def _after_padding(
    raw: IO[bytes], rest: bytes, compression: str, malformed: Callable[[object], InvalidFormat]
) -> bytes:
    """Return the first bytes of the next stream, or nothing at the end of the file."""
    zeros = 0
    rest = rest or raw.read(_INPUT_BYTES)
    if compression in (".gz", ".xz"):
        while rest:
            content = rest.lstrip(b"\0")
            zeros += len(rest) - len(content)
            rest = content or raw.read(_INPUT_BYTES)
            if content:
                break
    if compression == ".xz" and zeros % 4:
        raise malformed(f"{zeros} bytes of padding after a stream, which is not a multiple of 4")
    magic = COMPRESSIONS[compression]
    if 0 < len(rest) < len(magic):
        rest += raw.read(len(magic) - len(rest))
    skippable = compression == ".zst" and rest[1:4] == b"\x2a\x4d\x18" and rest[0] & 0xF0 == 0x50
    if rest and not rest.startswith(magic) and not skippable:
        raise malformed("further bytes after its end")
    return rest


def _decompressor(compression: str, name: str) -> tuple[Callable[[], _Stream], tuple[type[Exception], ...]]:
    """Return a factory of decompressors for one stream, and the exceptions that they raise for a damaged one."""
    if compression == ".gz":
        return _GzipMember, (zlib.error,)
    if compression == ".bz2":
        import bz2

        return bz2.BZ2Decompressor, (OSError, ValueError)
    if compression == ".xz":
        import lzma

        return lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ), (lzma.LZMAError,)
    zstandard = zstandard_module(name)
    decompressor = zstandard.ZstdDecompressor()
    return lambda: _ZstandardFrame(decompressor.decompressobj()), (zstandard.ZstdError,)


class _GzipMember:
    """One gzip member; zlib checks its header, its length and its checksum."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._member.eof

    @property
    def needs_input(self) -> bool:
        return not self._member.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._member.decompress(self._member.unconsumed_tail + data, max_length)


class _ZstandardFrame:
    """One Zstandard frame.  ``stream_reader`` does not detect a truncated one; ``decompressobj`` does."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._rest = b""

    @property
    def eof(self) -> bool:
        return bool(self._frame.eof)

    @property
    def needs_input(self) -> bool:
        return not self._rest

    @property
    def unused_data(self) -> bytes:
        return bytes(self._frame.unused_data) + self._rest

    def decompress(self, data: bytes, _: int, /) -> bytes:
        data = self._rest + data
        self._rest = data[_ZSTANDARD_INPUT_BYTES:]
        return bytes(self._frame.decompress(data[:_ZSTANDARD_INPUT_BYTES]))


def zstandard_module(name: str) -> Any:
    """Return the package ``zstandard``; without it raise NotSupported with what to install for the file `name`."""
    return needed(f"{name}, compressed with Zstandard,", "zstandard")
