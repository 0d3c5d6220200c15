"""Parts of a file into host memory or into the memory of the GPU, at the speed of the disk or of the link.

One thread copies some 10 GB/s out of the page cache, a fifth of what the link to a GPU takes, and has one request at
the disk at a time.  So several threads read pieces side by side, for a GPU into page-locked buffers that the device
copies from while the next ones are filled (`semiring.formats.transfer`).  The bytes of a mapped file would come through
page faults, 4 KB at a time.
"""

from __future__ import annotations

import os
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat
from semiring.formats.arrays import Array
from semiring.formats.locked import locked_empty
from semiring.formats.teams import team
from semiring.formats.transfer import upload_filled, uploaded
from semiring.io.files import PathLike

__all__ = ["read_into", "read_to_device", "read_to_locked"]

_PIECE_BYTES: Final = 1 << 24
# What is not larger is copied as it is, without the buffers.
_SMALL_BYTES: Final = 1 << 18


def read_into(path: PathLike, offset: int, target: NDArray[Any]) -> None:
    """Fill a contiguous array from a file, from byte ``offset`` on. O(bytes).

    Raises
    ------
    InvalidFormat
        The file ends before the array is full.
    OSError
    """
    flat = target.reshape(-1).view(np.uint8)
    work = [
        team().submit(_read, path, offset + begin, flat[begin : begin + _PIECE_BYTES])
        for begin in range(0, flat.size, _PIECE_BYTES)
    ]
    for done in work:
        done.result()


def read_to_locked(path: PathLike, offset: int, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """So many numbers of a file in page-locked host memory; MemoryError where there is not enough. O(bytes)."""
    target = locked_empty(count, dtype)
    read_into(path, offset, target)
    return target


def read_to_device(path: PathLike, offset: int, count: int, dtype: np.dtype[Any]) -> Array:
    """So many numbers of a file, from byte ``offset`` on, as a CuPy array.

    O(bytes). All has been read when this returns; the last copies to the device may be under way, in order on the
    current stream.

    Raises
    ------
    InvalidFormat
        The file ends before that.
    MemoryError
        CuPy's own, if the array does not fit.
    OSError
    """
    import cupy

    if count * dtype.itemsize <= _SMALL_BYTES:
        host = np.empty(count, dtype)
        read_into(path, offset, host)
        return uploaded(host)
    target = cupy.empty(count, dtype)
    upload_filled(lambda piece, begin: _read(path, offset + begin, piece), target)
    return target


def _read(path: PathLike, offset: int, target: NDArray[np.uint8]) -> None:
    # The system reads ahead by open file: with one of its own, each piece is a sequential read.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(descriptor, offset, target.size, os.POSIX_FADV_SEQUENTIAL)
        done = 0
        while done < target.size:
            found = _read_at(descriptor, offset + done, target[done:])
            if not found:
                raise InvalidFormat(
                    f"{os.fspath(path)}: byte {offset + done}: expected {target.size - done} bytes more, found the end"
                )
            done += found
    finally:
        os.close(descriptor)


def _read_at(descriptor: int, offset: int, target: NDArray[np.uint8]) -> int:
    """Read once, without Python's lock; how many bytes came."""
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [target.data], offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    with open(descriptor, "rb", buffering=0, closefd=False) as stream:
        return stream.readinto(target.data) or 0
