"""Launch utilities: grid sizes, arguments, counters, and read-backs.

Nothing here compiles or computes.  Only `read_back`, `read_one`, `read_words`, `Counter.read` and `Queued.read` wait
for the device.
"""

from __future__ import annotations

import functools
import struct
import threading
from typing import Any

import cupy
import numpy as np
from cupy.cuda import get_current_stream, runtime

from ...formats import Array, Bitmap, Count, Full, IndexList, VectorStore
from ...memory.arrays import Transfers
from ...record_types import zero

__all__ = [
    "BLOCK",
    "Counter",
    "Memory",
    "Queued",
    "bitmap",
    "counter",
    "full",
    "grid",
    "multiprocessors",
    "one_wave",
    "read_back",
    "read_one",
    "read_words",
    "scratch",
    "values_of",
    "words_of",
]

BLOCK = 256
# Waves of resident blocks of a grid-stride kernel: enough to balance load, few enough to limit overhead.
_WAVES = 4
_COUNTERS = 4096


@functools.cache
def _multiprocessors(device: int) -> int:
    return int(runtime.deviceGetAttribute(runtime.cudaDevAttrMultiProcessorCount, device))


def multiprocessors() -> int:
    """The number of multiprocessors of the current device."""
    return _multiprocessors(runtime.getDevice())


def grid(items: int, block: int = BLOCK, per_thread: int = 1) -> int:
    """Blocks for a grid-stride kernel over `items`: 0 for none, at most a few waves of the whole device."""
    wanted = -(-items // (block * per_thread))
    if wanted <= _WAVES:
        return wanted
    most = _multiprocessors(runtime.getDevice()) * (2048 // block) * _WAVES
    return wanted if wanted <= most else most


def one_wave(run: Any, items: int, per_thread: int) -> int:
    """Blocks of a kernel that processes `items` in consecutive ranges, one for each warp: at most those resident."""
    return min(-(-items // (BLOCK * per_thread)), _resident(run, runtime.getDevice()))


@functools.lru_cache(maxsize=4096)
def _resident(run: Any, device: int) -> int:
    return int(run.resident_blocks(BLOCK)) * _multiprocessors(device)


def values_of(store: Any) -> tuple[Array | None, np.generic]:
    """The two arguments ``(const T* values, T iso)`` of a store: an array and 0, or None and the shared value."""
    if store.values is None:
        return None, store.iso
    return store.values, zero(store.dtype)


def words_of(store: VectorStore) -> Array | None:
    """The presence words of a bitmap; None for a full vector, which kernels read as all present."""
    assert not isinstance(store, IndexList)
    return store.words if isinstance(store, Bitmap) else None


class Memory:
    """Device memory as an argument of kernels."""

    __slots__ = ("data",)

    def __init__(self, data: Any) -> None:
        self.data = data  # its address is ``data.ptr``, like that of an array


class Counter:
    """One int64 on the device that holds 0 when it is made, to be passed to kernels and read at most once."""

    __slots__ = ("data",)

    def __init__(self, data: Any) -> None:
        self.data = data  # its address is ``data.ptr``, like that of an array; keeps the memory alive

    def read(self) -> int:
        """The number.  Synchronizes."""
        return int.from_bytes(_read_bytes(self.data.ptr, 8, get_current_stream()), "little", signed=True)


class _Local(threading.local):
    """State of one thread: pools of counters, streams for read-backs, and page-locked memory for read-backs."""

    def __init__(self) -> None:
        # For a device and a stream: cleared memory, and how many counters of it are in use.
        self.counters: dict[tuple[int, int], list[Any]] = {}
        self.reading: dict[int, Any] = {}
        self.room: memoryview | None = None
        self.address = 0
        self.memory: Any = None
        # The stream of a copy into `room` that an interrupt left under way.
        self.arriving: Any = None


_local = _Local()


def counter(count: int = 1) -> Counter:
    """Return an exclusive int64 on the device that holds 0, the first of `count` if more are asked for.

    Counters are parts of an array that one memset clears, so an operation that counts needs no launch for it.
    Each belongs to a stream, so work of another stream cannot run before the memset.
    """
    key = runtime.getDevice(), get_current_stream().ptr
    pool = _local.counters.get(key)
    if pool is None or pool[1] + count > _COUNTERS:
        memory = cupy.zeros(_COUNTERS, np.int64)
        pool = _local.counters[key] = [memory.data, 0]
    used = pool[1]
    pool[1] = used + count
    return Counter(pool[0] + 8 * used)


def scratch(*parts: int) -> tuple[Any, list[int]]:
    """Allocate device memory for kernels at once; return the memory, and the addresses of parts of the given bytes.

    Each part is aligned to 256 bytes.  The memory must be referenced until the last kernel that uses it is queued.
    """
    begins, end = [], 0
    for nbytes in parts:
        begins.append(end)
        end += (nbytes + 255) & ~255
    memory = cupy.cuda.alloc(end)
    address = memory.ptr
    return memory, [address + begin for begin in begins]


def bitmap(size: int, dtype: np.dtype[Any], words: Array, values: Any, count: Counter | Array | int) -> Bitmap:
    """A bitmap whose values are an array or one NumPy scalar, and whose count may still be on the device."""
    iso = isinstance(values, np.generic)
    made = Bitmap(size, dtype, words, None if iso else values, values if iso else None, Count(count))
    vars(made)["device"] = "cuda"  # known here; later reads need not ask the array
    return made


def full(size: int, dtype: np.dtype[Any], values: Any) -> Full:
    """A full vector on the GPU from an array or one NumPy scalar."""
    if isinstance(values, np.generic):
        return Full(size, dtype, None, values, "cuda")
    return Full(size, dtype, values)


def read_back(array: Array) -> np.ndarray[Any, Any]:
    """Copy a small device array to the host: synchronizes, and is counted like every copy to the host.

    It is staged in pinned memory on the current stream, which takes 7 microseconds; a pageable copy takes 11.
    """
    return _copied(array, get_current_stream())


def read_one(array: Array | Counter) -> int:
    """The integer in a device array of one element, or of a counter: synchronizes."""
    return array.read() if isinstance(array, Counter) else int(read_back(array).item(0))


def read_words(address: int, count: int) -> tuple[int, ...]:
    """Return `count` unsigned 64-bit words at a device address: synchronizes, and is counted."""
    return struct.unpack(f"{count}Q", _read_bytes(address, 8 * count, get_current_stream()))


class Queued:
    """The first bytes of a device array that queued kernels write; reading does not wait for work queued later."""

    __slots__ = ("_array", "_device", "_nbytes", "_written")

    def __init__(self, array: Array | Counter, nbytes: int) -> None:
        self._array = array
        self._nbytes = nbytes
        self._device = runtime.getDevice()
        self._written = cupy.cuda.Event(disable_timing=True)
        self._written.record()

    def read(self) -> bytearray:
        """The bytes on the host: synchronizes, with the kernels queued before this object was made."""
        if runtime.getDevice() != self._device:
            with cupy.cuda.Device(self._device):
                return self.read()
        stream = _reading_stream(self._device)
        stream.wait_event(self._written)
        return _read_bytes(self._array.data.ptr, self._nbytes, stream)


def _reading_stream(device: int) -> Any:
    """The stream of this thread for copies that wait for an event alone."""
    if device not in _local.reading:
        _local.reading[device] = cupy.cuda.Stream(non_blocking=True)
    return _local.reading[device]


def _copied(array: Array, stream: Any) -> np.ndarray[Any, Any]:
    """The array on the host, copied on `stream`."""
    made: np.ndarray[Any, Any] = np.frombuffer(_read_bytes(array.data.ptr, array.nbytes, stream), array.dtype)
    return made if array.ndim == 1 else made.reshape(array.shape)


def _read_bytes(address: int, nbytes: int, stream: Any) -> bytearray:
    """Bytes of device memory, copied on `stream` through the page-locked memory of this thread.  Synchronizes."""
    local = _local
    if local.arriving is not None:  # an interrupt left a copy that may still be under way into the same memory
        local.arriving.synchronize()  # synchronizes
    if local.room is None or local.room.nbytes < nbytes:
        size = max(4096, nbytes)
        local.memory = cupy.cuda.alloc_pinned_memory(size)
        whole = np.frombuffer(local.memory, np.uint8, size)
        local.address = int(whole.ctypes.data)
        local.room = whole.data
    room = local.room
    local.arriving = stream
    runtime.memcpyAsync(local.address, address, nbytes, runtime.memcpyDeviceToHost, stream.ptr)
    stream.synchronize()  # synchronizes
    Transfers.copies += 1
    Transfers.bytes += nbytes
    made = bytearray(room[:nbytes])
    local.arriving = None
    return made
