"""Page-locked host memory, which a GPU copies at the bandwidth of the interconnect and its kernels read directly.

Large arrays and mapped files are locked in place, without a copy; memory that the system cannot lock, or that shares
its pages with other data, is copied once into memory that can be locked.  Only whole pages are locked, and the driver
rejects every copy (cudaErrorInvalidValue) of a range that is only partly locked: locking shared pages would make copies
of the other data fail.  A `Locked` range is unlocked when the last array over it is deleted.
"""

from __future__ import annotations

import functools
import mmap
import sys
import threading
import weakref
from typing import Any

import numpy as np

from ..worker_thread import apart
from .arrays import Array, current_device
from .thread_pool import PAGE, commit_pages, read_pages

# Alignment of ranges: a page, and for large ones a huge page, which is locked 500 times faster than small pages.
_HUGE = 1 << 21
# Blocks of at least this size do not share pages: allocators map each separately, and store only their own metadata in
# its first and last page.
_ALONE = 1 << 25
# cudaHostRegisterReadOnly: for memory that the process itself may not write, such as a mapped file.
_READ_ONLY = 8


class Locked:
    """A page-locked range of host memory.

    pointer: its address on the host.  nbytes: its length.  device_pointer: its address for kernels.
    `owner` keeps the memory alive; it is unlocked when this object is deleted.
    """

    __slots__ = ("__weakref__", "_finalizer", "device_pointer", "nbytes", "owner", "pointer", "writable")

    def __init__(self, pointer: int, nbytes: int, owner: Any, *, writable: bool, registered: int | None) -> None:
        self.pointer, self.nbytes, self.owner, self.writable = pointer, nbytes, owner, writable
        self.device_pointer = _device_pointer(pointer)
        # At exit the system frees all memory, and CuPy may be unloaded.
        self._finalizer = weakref.finalize(self, _released, registered, current_device())
        self._finalizer.atexit = False

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The range as bytes, for NumPy, whose arrays then hold this object."""
        return {"data": (self.pointer, not self.writable), "shape": (self.nbytes,), "typestr": "|u1", "version": 3}


class CannotLock(MemoryError):
    """The system cannot lock this amount of host memory."""

    def __init__(self, nbytes: int, reason: str) -> None:
        super().__init__(f"cannot lock {nbytes:,} bytes of host memory: {reason}")
        self.nbytes = nbytes


def lock(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Lock the memory of an array; return it over page-locked memory, not copied, or None where that is impossible.

    The whole allocation that contains the array is locked (see `_whole`), so that every other part of it can still be
    copied.  Cost: loading mapped pages, and then about 0.1 s a GB for ordinary pages.  Pages that another array has
    locked are not locked twice: None, unless they contain the whole array.
    """
    if not array.size or not array.flags.c_contiguous:
        return None
    if locked_range(array) is not None:
        return array
    whole = _whole(array)
    if whole is None:
        return None
    begin = whole.ctypes.data // PAGE * PAGE
    end = -(-(whole.ctypes.data + whole.nbytes) // PAGE) * PAGE
    with _live_lock:
        held = next((other for other in list(_live) if other.pointer <= begin and end <= _end(other)), None)
        if held is not None:
            return _view(held, array)
        # A file is never locked for writing, nor where it is mapped copy-on-write: that would copy all its pages, one
        # after another.
        attempts: tuple[int, ...] = (0,) if whole.flags.writeable else (0, _READ_ONLY)
        if mapped(array):
            if array.flags.writeable:
                return None
            attempts = (_READ_ONLY,)
            read_pages(whole)  # by several threads; the driver would read the file page by page
        for flags in attempts:
            made = _locked(begin, end - begin, whole, flags)
            if made is not None:
                return _view(made, array)
    return None


def _locked(begin: int, nbytes: int, owner: Any, flags: int) -> Locked | None:
    """Lock a range that `owner` keeps alive; return None where the system does not.

    Runs on a separate thread: an interrupt between locking and creating the `Locked` would leave it locked forever.
    """
    device = current_device()

    def attempt() -> Locked | None:
        with _on_device(device):
            if not _registered(begin, nbytes, flags):
                return None
            made = Locked(begin, nbytes, owner, writable=flags == 0, registered=begin)
        _live.add(made)
        return made

    return apart(attempt)


def locked_empty(count: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Allocate an uninitialized array of `count` elements in page-locked memory; CannotLock where that fails.

    Several threads commit the pages before they are locked, which is then fast; the driver's allocation takes seconds
    for 10 GB.
    """
    import cupy

    nbytes = count * dtype.itemsize
    if not nbytes:
        return np.empty(0, dtype)
    step = _HUGE if nbytes >= 4 * _HUGE else PAGE
    room = np.empty(nbytes + 2 * step, np.uint8)
    begin = -room.ctypes.data % step
    inside = room[begin : begin + -(-nbytes // step) * step]
    commit_pages(inside)
    with _live_lock:
        own = _locked(inside.ctypes.data, inside.nbytes, room, 0)
        if own is not None:
            return _elements(own, nbytes, dtype)
    del room, inside
    try:
        memory = cupy.cuda.PinnedMemory(nbytes)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise CannotLock(nbytes, str(error)) from error
    with _live_lock:
        made = Locked(memory.ptr, nbytes, memory, writable=True, registered=None)
        _live.add(made)
    return _elements(made, nbytes, dtype)


def locked_range(array: np.ndarray[Any, Any]) -> Locked | None:
    """Return the page-locked range that contains an array, or None."""
    holder: Any = array
    while isinstance(holder, np.ndarray):
        holder = holder.base
    return holder if isinstance(holder, Locked) else None


def mapped(array: np.ndarray[Any, Any]) -> bool:
    """Return whether an array is over the pages of a file, locked or not."""
    return isinstance(_holder(array), mmap.mmap)


def seen_by_device(array: np.ndarray[Any, Any]) -> Array:
    """Return a CuPy array over the same page-locked memory, which kernels read over the interconnect."""
    import cupy

    if not array.size:
        return cupy.empty(0, array.dtype)
    held = locked_range(array)
    assert held is not None, "kernels can address page-locked memory only"
    address = held.device_pointer + (array.ctypes.data - held.pointer)
    memory = _host_memory()(address, array.nbytes, held, current_device())
    memory.host = array
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0))


def in_host_memory(array: Array) -> bool:
    """Return whether this is a CuPy array over page-locked host memory."""
    return getattr(getattr(getattr(array, "data", None), "mem", None), "host", None) is not None


def host_view(array: Array) -> np.ndarray[Any, Any]:
    """Return a NumPy array over the host memory of a CuPy array for which `in_host_memory` holds, with its strides."""
    memory = array.data.mem
    begin = int(array.data.ptr - memory.ptr)
    return np.ndarray(array.shape, array.dtype, memory.host.reshape(-1).view(np.uint8), begin, array.strides)


# The locked ranges: a part of one of them is not locked again.
_live: weakref.WeakSet[Locked] = weakref.WeakSet()
_live_lock = threading.RLock()


@functools.cache
def _host_memory() -> Any:
    import cupy

    class HostMemory(cupy.cuda.UnownedMemory):  # type: ignore[misc]
        """Page-locked memory as a CuPy memory object; `host` is the NumPy array over it."""

    return HostMemory


def _holder(array: np.ndarray[Any, Any]) -> Any:
    """Return the owner of the memory of an array: an array, a mapped file, or another object."""
    holder: Any = array
    while True:
        if isinstance(holder, np.ndarray) and holder.base is not None:
            holder = holder.base
        elif isinstance(holder, memoryview):
            holder = holder.obj
        elif isinstance(holder, Locked):
            holder = holder.owner
        else:
            return holder


def _whole(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Return the allocation that contains an array, where its pages hold no other data; else None.

    Also None for an array of less than half of the allocation: locking all of it would cost more than a copy.
    """
    holder = _holder(array)
    if isinstance(holder, mmap.mmap):
        whole = np.frombuffer(holder, np.uint8)
    elif isinstance(holder, np.ndarray) and holder.nbytes >= _ALONE:
        whole = holder
    else:
        return None
    return whole if 2 * array.nbytes >= whole.nbytes else None


def _elements(held: Locked, nbytes: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    seen: np.ndarray[Any, Any] = np.asarray(held)[:nbytes].view(dtype)
    return seen


def _view(held: Locked, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    begin = array.ctypes.data - held.pointer
    seen: np.ndarray[Any, Any] = np.asarray(held)[begin : begin + array.nbytes]
    seen = seen.view(array.dtype).reshape(array.shape)
    seen.flags.writeable = array.flags.writeable and held.writable
    return seen


def _end(held: Locked) -> int:
    return held.pointer + held.nbytes


def _registered(pointer: int, nbytes: int, flags: int) -> bool:
    import cupy

    try:
        cupy.cuda.runtime.hostRegister(pointer, nbytes, flags)
    except cupy.cuda.runtime.CUDARuntimeError:
        return False
    return True


def _device_pointer(pointer: int) -> int:
    import cupy

    return int(cupy.cuda.runtime.pointerGetAttributes(pointer).devicePointer)


def _on_device(device: int) -> Any:
    import cupy

    return cupy.cuda.Device(device)


def _released(registered: int | None, device: int) -> None:
    """Unlock an unreferenced range.  Synchronizes: kernels and copies that read it may still run."""
    if sys.is_finalizing():
        return

    def release() -> None:
        import cupy

        with _on_device(device):
            cupy.cuda.runtime.deviceSynchronize()  # synchronizes
            if registered is not None:
                cupy.cuda.runtime.hostUnregister(registered)

    apart(release)
