"""Reading parts of a file into host memory or GPU memory, at the bandwidth of the disk or of the interconnect (PCIe).

One thread copies some 10 GB/s out of the page cache, a fifth of the bandwidth of the interconnect, and issues one disk
request at a time.  So several threads read chunks in parallel, for a GPU into page-locked buffers that the device
copies from while the next ones are filled (`semiring.memory.transfer`).  A mapped file would be read through page
faults, 4 KB at a time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.exceptions import InvalidFormat
from semiring.io.files import PathLike, errors_naming
from semiring.memory.arrays import Array
from semiring.memory.locked import locked_empty
from semiring.memory.thread_pool import parallel_for
from semiring.memory.transfer import Fill, upload_filled, uploaded

__all__ = ["read_into", "read_to_device", "read_to_locked"]

# Sections of at most this total size are copied without page-locked buffers, which are never freed.
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
        parallel_for(flat.size, lambda begin, end: reader.read(offset + begin, flat[begin:end]))


def read_to_locked(path: PathLike, offset: int, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Read `count` numbers of a file into page-locked host memory; MemoryError where there is too little. O(bytes)."""
    target = locked_empty(count, dtype)
    read_into(path, offset, target)
    return target


def read_to_device(path: PathLike, sections: Iterable[tuple[int, int, np.dtype[Any]]]) -> list[Array]:
    """Read sections (offset, count, dtype) of a file into CuPy arrays.

    O(bytes). The file has been read when this returns; the last copies to the device may still run, in order on the
    current stream.

    Raises
    ------
    InvalidFormat
        The file ends before that.
    MemoryError
        CuPy's own, if an array does not fit; `CannotLock`, if the system locks no buffers.
    OSError
    """
    import cupy

    sections = list(sections)
    if sum(count * dtype.itemsize for _, count, dtype in sections) <= _SMALL_BYTES:
        return [uploaded(_read_small(path, *section)) for section in sections]

    def filling(offset: int) -> Fill:
        return lambda chunk, begin: reader.read(offset + begin, chunk)

    with _Reader(path) as reader:
        parts = [(filling(offset), cupy.empty(count, dtype)) for offset, count, dtype in sections]
        upload_filled(parts)
    return [made for _, made in parts]


def _read_small(path: PathLike, offset: int, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    target = np.empty(count, dtype)
    read_into(path, offset, target)
    return target


class _Reader:
    """A file that several threads read, each through its own descriptor: read-ahead is tracked by descriptor."""

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
            with errors_naming(self.path):
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
    """Read once, without the GIL, and return the number of bytes."""
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [target.data], offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    with open(descriptor, "rb", buffering=0, closefd=False) as stream:
        return stream.readinto(target.data) or 0
