"""Copies between host and device memory at the bandwidth of the interconnect (PCIe), for any host memory.

The device copies page-locked memory itself.  Other memory is staged in page-locked buffers that several threads fill:
each thread has two, and copies into one while the device reads the other.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import Array, Transfers
from .locked import locked_empty, locked_range
from .thread_pool import pool, pool_size

if TYPE_CHECKING:
    from concurrent.futures import Future

# Writes the bytes from position `begin` on into a chunk of page-locked memory.
Fill = Callable[[np.ndarray[Any, Any], int], None]
# The function that writes the bytes, and their array.
_Part = tuple[Fill, Array]

# Bytes of one buffer.  Smaller ones cost more calls, larger ones leave the cache between the two copies.  Files in
# memory were copied to an H200, from three hosts of 16 cores, with 39 to 50 GB/s through 12 x 2 buffers of 4 MB, 31 to
# 49 through 8 x 2 of 8 MB, and 19 to 29 through any number of 2 MB.
_BUFFER = 4 << 20
# The smallest chunk: each is a call to the driver.
_LEAST = 1 << 20
# Up to _SMALL bytes the driver stages an array itself, in one call; up to _AT_ONCE it copies them before it returns.
_SMALL = 4 << 20
_AT_ONCE = 64 << 10


def upload(source: np.ndarray[Any, Any], target: Array, stream: Any = None) -> None:
    """Copy host memory to device memory, in order on `stream` (by default the current one), without waiting.

    Both are contiguous and of one size.  Pageable memory has been read when this returns; page-locked memory must
    not change until the stream has executed the copy.
    """
    import cupy

    stream = cupy.cuda.get_current_stream() if stream is None else stream
    if not source.nbytes:
        return
    to, nbytes = int(target.data.ptr), int(source.nbytes)
    if locked_range(source) is not None or nbytes <= _SMALL:
        # The driver stages a small pageable array itself, before it returns.
        kind = cupy.cuda.runtime.memcpyHostToDevice
        cupy.cuda.runtime.memcpyAsync(to, source.ctypes.data, nbytes, kind, stream.ptr)
        return
    flat = source.view(np.uint8).reshape(-1)
    upload_filled([(lambda chunk, begin: np.copyto(chunk, flat[begin : begin + chunk.size]), target)], stream)


def upload_filled(parts: Sequence[tuple[Fill, Array]], stream: Any = None) -> None:
    """Copy to each array what its `fill` writes, as `upload`; several threads call it, each for its own chunks.

    All parts form one copy: none waits for the last chunks of the one before.
    """
    import cupy

    stream = cupy.cuda.get_current_stream() if stream is None else stream
    work = [(fill, target) for fill, target in parts if target.nbytes]
    if work:
        _staging(int(cupy.cuda.runtime.getDevice())).upload(work, stream)


def download(source: Array, target: np.ndarray[Any, Any]) -> None:
    """Copy device memory to host memory (fast where that is page-locked).  Synchronizes, and is counted."""
    import cupy

    stream = cupy.cuda.get_current_stream()
    if source.nbytes:
        kind = cupy.cuda.runtime.memcpyDeviceToHost
        cupy.cuda.runtime.memcpyAsync(target.ctypes.data, source.data.ptr, source.nbytes, kind, stream.ptr)
    stream.synchronize()  # synchronizes
    Transfers.copies += 1
    Transfers.bytes += int(source.nbytes)


def uploaded(source: np.ndarray[Any, Any]) -> Array:
    """Return a new array in device memory with the same elements."""
    import cupy

    if not source.dtype.isnative or not source.nbytes:
        return cupy.asarray(source)
    made = cupy.ndarray(source.shape, source.dtype)
    source = np.ascontiguousarray(source)
    if source.nbytes > _AT_ONCE:
        upload(source, made)
        return made
    # The driver takes so few bytes along with the command: a fifth of the time that `cupy.asarray` takes.
    runtime = cupy.cuda.runtime
    address, stream = source.__array_interface__["data"][0], cupy.cuda.get_current_stream().ptr
    runtime.memcpyAsync(made.data.ptr, address, source.nbytes, runtime.memcpyHostToDevice, stream)
    return made


class _Staging:
    """The page-locked buffers of one device: two for each thread, reused by the next upload.

    An upload that raises, or that an interrupt ends, does not return them: the threads that may still fill them own
    them, and they are freed with the last of these threads.
    """

    def __init__(self, device: int) -> None:
        self.device = device
        self.lock = threading.Lock()
        self.buffers: list[_Buffers] | None = None

    def upload(self, parts: list[_Part], stream: Any) -> None:
        """Copy what each `fill` writes to its array; all copies are queued when this returns."""
        from concurrent.futures import wait

        # A small total is divided into smaller chunks, so that every thread has some.
        total = sum(int(target.nbytes) for _, target in parts)
        size = min(max(total // (2 * pool_size()), _LEAST), _BUFFER)
        chunks = iter(
            [
                (fill, target, begin, min(begin + size, int(target.nbytes)))
                for fill, target in parts
                for begin in range(0, int(target.nbytes), size)
            ]
        )
        with self.lock:
            buffers, self.buffers = self.buffers, None
            if buffers is None:
                buffers = [_Buffers() for _ in range(pool_size())]
            work: list[Future[None]] = []
            try:
                for own in buffers:
                    work.append(pool().submit(self._copy_chunks, own, chunks, stream))
                for done in work:
                    done.result()
            except BaseException:
                for _ in chunks:
                    pass
                wait(work)
                raise
            self.buffers = buffers

    def _copy_chunks(self, own: _Buffers, chunks: Iterator[tuple[Fill, Array, int, int]], stream: Any) -> None:
        """Run on one thread: claim the next chunk, copy it into a free buffer, queue its copy to the device."""
        import cupy

        runtime = cupy.cuda.runtime
        runtime.setDevice(self.device)
        for turn, (fill, target, begin, end) in enumerate(chunks):
            buffer, copied = own.pairs[turn % 2]
            copied.synchronize()  # the device may still read what this buffer held; synchronizes
            chunk = buffer[: end - begin]
            fill(chunk, begin)
            kind = runtime.memcpyHostToDevice
            runtime.memcpyAsync(int(target.data.ptr) + begin, buffer.ctypes.data, chunk.nbytes, kind, stream.ptr)
            copied.record(stream)


class _Buffers:
    """The two buffers of one thread, each with the event after which it may be filled again."""

    def __init__(self) -> None:
        import cupy

        self.pairs = [
            (locked_empty(_BUFFER, np.dtype(np.uint8)), cupy.cuda.Event(disable_timing=True)) for _ in range(2)
        ]


@functools.cache
def _staging(device: int) -> _Staging:
    return _Staging(device)
