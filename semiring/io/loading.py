"""Parts of a file into host memory or into the memory of the GPU, at the speed of the disk or of the link.

One thread copies some 10 GB/s out of the page cache, a fifth of what the link to a GPU takes, and has one request at
the disk at a time.  So several threads read pieces side by side, for a GPU into page-locked buffers that the device
copies from while the next ones are filled (`semiring.memory.transfer`).  The bytes of a mapped file would come through
page faults, 4 KB at a time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat
from semiring.io.files import PathLike
from semiring.memory.arrays import Array
from semiring.memory.locked import locked_empty
from semiring.memory.teams import each
from semiring.memory.transfer import Fill, upload_filled, uploaded

__all__ = ["read_into", "read_to_device", "read_to_locked"]

# What is not larger, all together, comes without page-locked buffers, which would be kept for ever.
_SMALL_BYTES: Final = 1 << 22


def read_into(path: PathLike, offset: int, target: NDArray[Any]) -> None:
    """Fill a contiguous array from a file, from byte ``offset`` on. O(bytes).

    Raises
    ------
    InvalidFormat
        The file ends before the array is full.
    OSError
    """
    flat = target.reshape(-1).view(np.uint8)
    with _Reader(path) as reader:
        each(flat.size, lambda begin, end: reader.read(offset + begin, flat[begin:end]))


def read_to_locked(path: PathLike, offset: int, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """So many numbers of a file in page-locked host memory; MemoryError where there is not enough. O(bytes)."""
    target = locked_empty(count, dtype)
    read_into(path, offset, target)
    return target


def read_to_device(path: PathLike, sections: Iterable[tuple[int, int, np.dtype[Any]]]) -> list[Array]:
    """CuPy arrays of numbers of a file: of each section from byte ``offset`` on so many numbers of that type.

    O(bytes). All has been read when this returns; the last copies to the device may be under way, in order on the
    current stream.

    Raises
    ------
    InvalidFormat
        The file ends before that.
    MemoryError
        CuPy's own, if an array does not fit; `CannotLock`, if the system gives no page-locked buffers.
    OSError
    """
    import cupy

    sections = list(sections)
    if sum(count * dtype.itemsize for _, count, dtype in sections) <= _SMALL_BYTES:
        return [uploaded(_read_small(path, *section)) for section in sections]

    def filling(offset: int) -> Fill:
        return lambda piece, begin: reader.read(offset + begin, piece)

    with _Reader(path) as reader:
        parts = [(filling(offset), cupy.empty(count, dtype)) for offset, count, dtype in sections]
        upload_filled(parts)
    return [made for _, made in parts]


def _read_small(path: PathLike, offset: int, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    target = np.empty(count, dtype)
    read_into(path, offset, target)
    return target


class _Reader:
    """A file that several threads read, each through a descriptor of its own: the system reads ahead by open file."""

    def __init__(self, path: PathLike) -> None:
        self.path = path
        self.descriptors: dict[int, int] = {}

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self.descriptors.values():
            os.close(descriptor)

    def read(self, offset: int, target: NDArray[np.uint8]) -> None:
        """Fill an array from byte ``offset`` on."""
        descriptor, done = self._descriptor(), 0
        while done < target.size:
            found = _read_at(descriptor, offset + done, target[done:])
            if not found:
                raise InvalidFormat(
                    f"{os.fspath(self.path)}: byte {offset + done}: expected {target.size - done} bytes more, found "
                    "the end"
                )
            done += found

    def _descriptor(self) -> int:
        thread = threading.get_ident()
        if thread not in self.descriptors:
            self.descriptors[thread] = os.open(self.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(self.descriptors[thread], 0, 0, os.POSIX_FADV_SEQUENTIAL)
        return self.descriptors[thread]


def _read_at(descriptor: int, offset: int, target: NDArray[np.uint8]) -> int:
    """Read once, without Python's lock; how many bytes came."""
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [target.data], offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    with open(descriptor, "rb", buffering=0, closefd=False) as stream:
        return stream.readinto(target.data) or 0
