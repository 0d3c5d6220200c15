"""Compressed streams, piece by piece and to their very end.

A compressed file is one or more streams (gzip calls them members, Zstandard frames).  The libraries' own file objects
ignore what follows the last one, or return short of a truncated one; here anything else than a further stream or the
padding that the format allows is an error.  A piece has a bounded size whatever the ratio, so a file that unpacks to
more than the memory is noticed before it has filled it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, Final, Protocol

from semiring.exceptions import InvalidFormat, NotSupported

__all__ = ["COMPRESSIONS", "compression_of", "pieces", "zstandard_module"]

#: Extension -> the bytes that such a file begins with.
COMPRESSIONS: Final[dict[str, bytes]] = {
    ".gz": b"\x1f\x8b",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\x00",
    ".zst": b"\x28\xb5\x2f\xfd",
}

# Bytes read at a time.  What follows a stream is copied, so that many small members cost this much each.
_INPUT_BYTES: Final = 1 << 16
# Bytes returned at a time.
_PIECE_BYTES: Final = 1 << 20
# Zstandard has no limit for a piece: a run of 128 KiB takes 4 bytes of input, so these become 128 MiB at most.
_ZSTANDARD_INPUT_BYTES: Final = 1 << 12


class _Stream(Protocol):
    """What `bz2.BZ2Decompressor` and `lzma.LZMADecompressor` offer; the classes below do for the others."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def compression_of(start: bytes) -> str:
    """The extension of the compression that a file with these first bytes has, or an empty string."""
    return next((extension for extension, magic in COMPRESSIONS.items() if start.startswith(magic)), "")


def pieces(raw: IO[bytes], compression: str, name: str) -> Iterator[bytes]:
    """The content of a compressed file, in pieces.

    Raises
    ------
    InvalidFormat
        A stream is damaged or truncated, or something else follows the last one; the message gives the byte.
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
                piece = stream.decompress(data, _PIECE_BYTES)
            except damaged as error:
                raise malformed(error) from error
            data = b""
            if piece:
                yield piece
            elif stream.needs_input and not stream.eof:
                data = raw.read(_INPUT_BYTES)
                if not data:
                    raise malformed("the file ends before the stream")
        data = _after_padding(raw, stream.unused_data, compression, malformed)


def _after_padding(
    raw: IO[bytes], rest: bytes, compression: str, malformed: Callable[[object], InvalidFormat]
) -> bytes:
    """The beginning of the next stream, or nothing at the end of the file."""
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
        raise malformed(f"{zeros} bytes of padding after a stream, which are no multiple of 4")
    magic = COMPRESSIONS[compression]
    if 0 < len(rest) < len(magic):
        rest += raw.read(len(magic) - len(rest))
    skippable = compression == ".zst" and rest[1:4] == b"\x2a\x4d\x18" and rest[0] & 0xF0 == 0x50
    if rest and not rest.startswith(magic) and not skippable:
        raise malformed("further bytes after its end")
    return rest


def _decompressor(compression: str, name: str) -> tuple[Callable[[], _Stream], tuple[type[Exception], ...]]:
    """What makes the decompressor of one stream, and the exceptions by which it refuses a damaged one."""
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
    """One Zstandard frame.  ``stream_reader`` ends quietly on a truncated one; ``decompressobj`` does not."""

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
    """The package ``zstandard``, or NotSupported with what to install for the file `name`."""
    try:
        import zstandard
    except ImportError as error:
        raise NotSupported(
            f"{name} is compressed with Zstandard, which needs the package zstandard: "
            f"pip install zstandard (gzip, bzip2 and xz need nothing)"
        ) from error
    return zstandard
