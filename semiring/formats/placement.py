"""Where the entries of a matrix lie: in device memory, in host memory that kernels read, or in host memory to stream.

A placement is a property of the arrays, not of the format: `place` moves the columns (or the compressed stream) and the
values, and nothing else.  Offsets, and the anchors of compressed rows, stay in device memory: kernels read them first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from .arrays import Array, device_of, to_device, to_host
from .csr import CSR, AnyPattern
from .locked import in_host_memory, lock, locked_empty, mapped, seen_by_device
from .pattern import Pattern, Placement, kept_facts, plain_facts
from .teams import copied
from .transfer import download, uploaded

S = TypeVar("S", bound=CSR | AnyPattern)


def place(held: S, placement: Placement, device: str | None = None) -> S:
    """The same matrix or pattern with its entries where `placement` says, for `device` (by default its own).

    Parameters
    ----------
    held : store or pattern, plain or compressed, from any place
    placement : ``"device"``, ``"pinned"`` or ``"host"``; on the CPU, where all are one memory, it is only noted
    device : ``"cpu"`` or ``"cuda"``

    Raises
    ------
    MemoryError
        Where the memory asked for does not suffice, or the system locks no more.

    Notes
    -----
    Large arrays and mapped files are locked where they lie (see `formats.locked`), others are copied.  A mapped file
    that is to be streamed is not locked: it need not fit into memory.  Cost O(bytes moved); from device memory it
    synchronises, to device memory it does not.
    """
    device = held.device if device is None else device
    if held.device == device and held.placement == placement:
        return held
    if isinstance(held, CSR):
        values = None if held.values is None else placed(held.values, placement, device)
        return CSR(place(held.pattern, placement, device), held.dtype, values, held.iso)  # type: ignore[return-value]
    facts = kept_facts(held) if held.device == device else plain_facts(held)
    if isinstance(held, Pattern):
        entries = placed(held.indices, placement, device)
        indptr = to_device(held.indptr, device)
        return Pattern(held.nrows, held.ncols, indptr, entries, facts, placement)  # type: ignore[return-value]
    near = {name: to_device(getattr(held, name), device) for name in ("indptr", "base", "at")}
    entries = placed(held.stream, placement, device)
    return replace(held, **near, stream=entries, facts=facts, placement=placement)


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
