"""Placements of the entries of a matrix, and the function that moves one array."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .arrays import Array, device_of, to_host
from .locked import in_host_memory, lock, locked_empty, mapped, seen_by_device
from .thread_pool import parallel_copy
from .transfer import download, uploaded

# Where the entries reside (the offsets are always in the memory of the device that computes):
#   device  in the memory of the device;
#   pinned  in page-locked host memory, which kernels of a GPU read over the interconnect (zero-copy);
#   host    in host memory, from which slices of rows are streamed to the device.
# For the CPU all three are the same memory; with "host", operations process one slice after another (a mapped file
# need not fit into memory).
Placement = Literal["device", "pinned", "host"]
PLACEMENTS: tuple[Placement, ...] = ("device", "pinned", "host")


def placed(array: Array, placement: Placement, device: str) -> Array:
    """Return an array with this placement, for `device`: a NumPy array for ``"host"`` and on the CPU."""
    if device == "cpu":
        return to_host(array)
    if placement == "device":
        if device_of(array) == "cuda" and not in_host_memory(array):
            return array
        return uploaded(to_host(array))
    host = _locked(array, avoid_copy=placement == "host")
    return seen_by_device(host) if placement == "pinned" else host


def _locked(array: Array, *, avoid_copy: bool) -> np.ndarray[Any, Any]:
    """Return the elements in page-locked host memory; `avoid_copy`: in pageable memory where locking needs a copy."""
    if device_of(array) == "cuda" and not in_host_memory(array):
        made = locked_empty(int(array.size), array.dtype)
        download(array, made)
        return made
    host = np.ascontiguousarray(to_host(array))
    if not host.size or (avoid_copy and mapped(host)):
        return host
    # Kernels load words of 16 bytes.
    locked = lock(host) if avoid_copy or host.ctypes.data % 16 == 0 else None
    if locked is not None or avoid_copy:
        return host if locked is None else locked
    made = locked_empty(int(host.size), host.dtype)
    parallel_copy(made, host)
    return made
