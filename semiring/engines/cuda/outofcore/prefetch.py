"""Chunks of a host array on the device, one after another: the next is copied while the current one is in use."""

from __future__ import annotations

import functools
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import cupy
import numpy as np

from ....formats import Array, device_of
from ....memory.locked import host_view, in_host_memory, locked_range
from ....memory.transfer import upload

__all__ = ["Chunk", "prefetching"]

Ranges = Sequence[tuple[int, int]]

# A chunk has the same offset in its buffer as in the whole array modulo this number of bytes: wide loads stay aligned.
_ALIGNED = 128
# Bytes that readers may load past the end of a chunk: one 16-byte word, as much as the padding of a compressed stream.
_PAST = 16


class Chunk:
    """The elements `begin` to `end` of an array, in device memory.

    array: the elements.  held: what has been copied, a little more at both ends, from element `position` on; it begins
    at a multiple of 16 bytes.  origin: the address that element 0 of the whole array would have; what it points to
    exists only as far as `held` goes.
    """

    __slots__ = ("array", "held", "origin", "position")

    def __init__(self, held: Array, position: int, begin: int, end: int) -> None:
        self.held, self.position = held, position
        self.array = held[begin - position : end - position]
        self.origin = int(held.data.ptr) - position * int(held.dtype.itemsize)


def prefetching(
    array: Array, ranges: Ranges, *, held: int = 1, subranges: Sequence[Ranges] | None = None
) -> Generator[Chunk]:
    """The elements [begin, end) of an array for each of `ranges`, in device memory, ready for the current stream.

    Parameters
    ----------
    array : entries of a pattern, or values: NumPy, over page-locked memory, or in device memory
    ranges : of elements, in the order of use
    held : the number of most recently yielded chunks that must remain valid
    subranges : of each range, what to copy, ascending; the rest is not copied.  By default the whole range

    Yields
    ------
    Chunk
        A view where the array is in device memory.  Else a copy in one of ``held + 1`` buffers, which are allocated
        once, as large as the largest range; the copy of the next chunk has begun.

    Notes
    -----
    Page-locked memory is copied on a stream of its own; anything else is staged by threads meanwhile.  The buffer
    of a chunk is written again when the `held`-th chunk after it is requested, once the work that was queued by then on
    the current stream is done.  Nothing here waits for the device, except for the copies out of memory that is not
    page-locked.
    """
    if device_of(array) == "cuda" and not in_host_memory(array):
        for begin, end in ranges:
            yield Chunk(array, 0, begin, end)
        return
    source = array if device_of(array) == "cpu" else host_view(array)
    copies = _Copies(np.ascontiguousarray(source), ranges, held + 1, subranges)
    try:
        copies.start(0)
        for k in range(len(ranges)):
            copies.start(k + 1)
            yield copies.finish(k)
    finally:
        copies.close()


class _Copies:
    """The ring of buffers: chunk k is stored in buffer k modulo their number."""

    def __init__(
        self, source: np.ndarray[Any, Any], ranges: Ranges, buffers: int, subranges: Sequence[Ranges] | None
    ) -> None:
        self.source, self.ranges = source, ranges
        self.subranges = [[extent] for extent in ranges] if subranges is None else subranges
        self.item = int(source.dtype.itemsize)
        count = min(buffers, len(ranges))
        most = max((end - begin for begin, end in ranges), default=0) * self.item
        self.buffers = [cupy.empty(most + _ALIGNED + _PAST, np.uint8) for _ in range(count)]
        self.copied = [cupy.cuda.Event(disable_timing=True) for _ in range(count)]
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.device = int(cupy.cuda.runtime.getDevice())
        self.staged: dict[int, Future[None]] = {}
        self.closed = False
        self.pageable = locked_range(source) is None

    def start(self, k: int) -> None:
        """Begin to copy chunk k, after all that is queued so far: the last work that reads what its buffer held."""
        if k >= len(self.ranges):
            return
        free = cupy.cuda.get_current_stream().record()
        if self.pageable:
            self.staged[k] = _stager().submit(self._copy, k, free)
        else:
            self._copy(k, free)

    def _copy(self, k: int, free: Any) -> None:
        cupy.cuda.runtime.setDevice(self.device)
        slot = k % len(self.buffers)
        origin = self._extent(self.ranges[k])[0]
        self.stream.wait_event(free)
        for subrange in self.subranges[k]:
            begin, past = self._extent(subrange)
            target = self.buffers[slot][(begin - origin) * self.item : (past - origin) * self.item]
            upload(self.source[begin:past], target, self.stream)
        self.copied[slot].record(self.stream)

    def _extent(self, subrange: tuple[int, int]) -> tuple[int, int]:
        """Return the elements to copy for a subrange: from a multiple of 128 bytes to 16 bytes past its end."""
        begin, end = subrange
        return begin - begin % (_ALIGNED // self.item), min(end + _PAST // self.item, int(self.source.size))

    def finish(self, k: int) -> Chunk:
        """Return chunk k; the current stream waits for its copy."""
        if k in self.staged:
            self.staged.pop(k).result()
        position, past = self._extent(self.ranges[k])
        slot = k % len(self.buffers)
        cupy.cuda.get_current_stream().wait_event(self.copied[slot])
        held = self.buffers[slot][: (past - position) * self.item].view(self.source.dtype)
        return Chunk(held, position, *self.ranges[k])

    def close(self) -> None:
        """Release the buffers; later work on the current stream waits for copies that may still be in progress."""
        for staged in self.staged.values():
            staged.result()
        cupy.cuda.get_current_stream().wait_event(self.stream.record())
        self.closed = True

    def __del__(self) -> None:
        # If an interrupt or an error prevented `close`, copies into the buffers may be in progress when their memory
        # returns to the pool.  The staging thread references this object until it has queued its copy.
        if not getattr(self, "closed", True):
            self.stream.synchronize()  # synchronizes


@functools.cache
def _stager() -> ThreadPoolExecutor:
    """Return the thread that stages memory that is not page-locked, one chunk after another."""
    return ThreadPoolExecutor(1, thread_name_prefix="semiring-prefetch")
