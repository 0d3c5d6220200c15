"""Where the entries of a matrix reside, and moving one array there."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .arrays import Array, device_of, to_host
from .locked import in_host_memory, lock, locked_empty, mapped, seen_by_device
from .teams import copied
from .transfer import download, uploaded

# Where the entries lie (the offsets always lie with the device that computes):
#   device  in the memory of the device;
#   pinned  in page-locked host memory, which kernels of a GPU read through the link (zero-copy);
#   host    in host memory, from which slices of rows are streamed to the device.
# For the CPU all three are the same memory; "host" then says that operations go slice by slice (a mapped file
# need not fit into memory).
Placement = Literal["device", "pinned", "host"]
PLACEMENTS: tuple[Placement, ...] = ("device", "pinned", "host")


def placed(array: Array, placement: Placement, device: str) -> Array:
    """The elements of one array where `placement` says, for `device`: a NumPy array for ``"host"`` and on the CPU."""
    if device == "cpu":
        return to_host(array)
    if placement == "device":
        if device_of(array) == "cuda" and not in_host_memory(array):
            return array
        return uploaded(to_host(array))
    host = _locked(array, reluctant=placement == "host")
    return seen_by_device(host) if placement == "pinned" else host


def _locked(array: Array, *, reluctant: bool) -> np.ndarray[Any, Any]:
    """The elements in page-locked host memory; a reluctant caller takes pageable memory rather than a copy."""
    if device_of(array) == "cuda" and not in_host_memory(array):
        made = locked_empty(int(array.size), array.dtype)
        download(array, made)
        return made
    host = np.ascontiguousarray(to_host(array))
    if not host.size or (reluctant and mapped(host)):
        return host
    # Kernels load words of 16 bytes.
    seen = lock(host) if reluctant or host.ctypes.data % 16 == 0 else None
    if seen is not None or reluctant:
        return host if seen is None else seen
    made = locked_empty(int(host.size), host.dtype)
    copied(made, host)
    return made
