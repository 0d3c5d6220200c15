"""What stands between an operation and its kernels: grid sizes, arguments, counters, and reading back.

Nothing here compiles or computes.  Only `read_back`, `read_one` and `Queued.read` wait for the device.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import cupy
import numpy as np

from ...formats import Array, Bitmap, Count, Full, IndexList, VectorStore
from ...memory.arrays import Transfers

__all__ = [
    "BLOCK",
    "Queued",
    "bitmap",
    "counter",
    "full",
    "grid",
    "multiprocessors",
    "read_back",
    "read_one",
    "values_of",
    "words_of",
]

BLOCK = 256
# Waves of resident blocks that a grid-stride kernel is cut into: enough to even out, few enough to stay cheap.
_WAVES = 4
_COUNTERS = 4096


@functools.cache
def _multiprocessors(device: int) -> int:
    return int(cupy.cuda.runtime.deviceGetAttribute(cupy.cuda.runtime.cudaDevAttrMultiProcessorCount, device))


def multiprocessors() -> int:
    """The number of multiprocessors of the current device."""
    return _multiprocessors(cupy.cuda.runtime.getDevice())


def grid(items: int, block: int = BLOCK, per_thread: int = 1) -> int:
    """Blocks for a grid-stride kernel over `items`: 0 for none, at most a few waves of the whole device."""
    wanted = -(-items // (block * per_thread))
    return min(wanted, multiprocessors() * (2048 // block) * _WAVES)


def values_of(store: Any) -> tuple[Array | None, np.generic]:
    """The two arguments ``(const T* values, T iso)`` of a store: an array and 0, or None and the shared value."""
    if store.values is None:
        return None, store.iso
    return store.values, store.dtype.type(0)


def words_of(store: VectorStore) -> Array | None:
    """The presence words of a bitmap; None for a full vector, which kernels read as all present."""
    assert not isinstance(store, IndexList)
    return store.words if isinstance(store, Bitmap) else None


_pools = threading.local()


def counter() -> Array:
    """One int64 on the device that holds 0 and that nobody else has.

    Counters are cut from an array that one memset clears, so an operation that counts costs no launch for it.
    They belong to a stream: what another stream queued cannot overtake the clearing.
    """
    key = (cupy.cuda.runtime.getDevice(), cupy.cuda.get_current_stream().ptr)
    pools: dict[Any, Any] = _pools.__dict__.setdefault("by_stream", {})
    pool, used = pools.get(key, (None, _COUNTERS))
    if used == _COUNTERS:
        pool, used = cupy.zeros(_COUNTERS, np.int64), 0
    pools[key] = (pool, used + 1)
    return pool[used : used + 1]


def bitmap(size: int, dtype: np.dtype[Any], words: Array, values: Any, count: Array | int) -> Bitmap:
    """A bitmap whose values are an array or one NumPy scalar, and whose count may still be on the device."""
    if isinstance(values, np.generic):
        return Bitmap(size, dtype, words, None, values, Count(count))
    return Bitmap(size, dtype, words, values, None, Count(count))


def full(size: int, dtype: np.dtype[Any], values: Any) -> Full:
    """A full vector on the GPU from an array or one NumPy scalar."""
    if isinstance(values, np.generic):
        return Full(size, dtype, None, values, "cuda")
    return Full(size, dtype, values)


def read_back(array: Array) -> np.ndarray[Any, Any]:
    """A small device array on the host: synchronises, and is counted like every copy back.

    Goes through pinned memory on the current stream, which costs 7 microseconds where a pageable copy costs 11.
    """
    return _copied(array, cupy.cuda.get_current_stream())


def read_one(array: Array) -> int:
    """The integer in a device array of one element: synchronises."""
    return int(read_back(array).item(0))


class Queued:
    """A small device array that queued kernels write, to be read without waiting for what is queued after them."""

    __slots__ = ("_array", "_device", "_written")

    def __init__(self, array: Array) -> None:
        self._array = array
        self._device = cupy.cuda.runtime.getDevice()
        self._written = cupy.cuda.Event(disable_timing=True)
        self._written.record()

    def read(self) -> np.ndarray[Any, Any]:
        """The array on the host: synchronises, with the kernels queued before this object was made."""
        with cupy.cuda.Device(self._device):
            stream = _reading_stream(self._device)
            stream.wait_event(self._written)
            return _copied(self._array, stream)


def _reading_stream(device: int) -> Any:
    """The stream of this thread for copies that wait for an event alone."""
    streams: dict[int, Any] = _pools.__dict__.setdefault("reading", {})
    if device not in streams:
        streams[device] = cupy.cuda.Stream(non_blocking=True)
    return streams[device]


def _copied(array: Array, stream: Any) -> np.ndarray[Any, Any]:
    """The array on the host, copied on `stream` through the pinned buffer of this thread."""
    arriving = getattr(_pools, "arriving", None)
    if arriving is not None:  # an interrupt left a copy that may still be under way into the same memory
        arriving.synchronize()  # synchronises
    pinned = getattr(_pools, "pinned", None)
    if pinned is None or pinned.nbytes < array.nbytes:
        room = max(4096, int(array.nbytes))
        memory = cupy.cuda.alloc_pinned_memory(room)
        pinned = _pools.pinned = np.frombuffer(memory, np.uint8, room)
    _pools.arriving = stream
    kind = cupy.cuda.runtime.memcpyDeviceToHost
    cupy.cuda.runtime.memcpyAsync(pinned.ctypes.data, array.data.ptr, array.nbytes, kind, stream.ptr)
    stream.synchronize()  # synchronises
    Transfers.copies += 1
    Transfers.bytes += int(array.nbytes)
    made: np.ndarray[Any, Any] = pinned[: array.nbytes].view(array.dtype).reshape(array.shape).copy()
    _pools.arriving = None
    return made
