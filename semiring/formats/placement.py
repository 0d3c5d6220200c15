"""Placement of the entries of a matrix: device memory, host memory that kernels read, or host memory to stream.

A placement is a property of the arrays, not of the format: `place` moves the columns (or the compressed stream) and the
values only.  Offsets, and the anchors of compressed rows, stay in device memory: kernels read them first.
"""

from __future__ import annotations

from typing import TypeVar

from ..memory.placement import Placement, placed
from .csr import CSR
from .pattern import AnyPattern

S = TypeVar("S", bound=CSR | AnyPattern)


def place(held: S, placement: Placement, device: str | None = None) -> S:
    """Return the matrix or pattern with this placement of its entries, for `device` (by default its own).

    Parameters
    ----------
    held : store or pattern of any storage kind
    placement : ``"device"``, ``"pinned"`` or ``"host"``; on the CPU, where all are one memory, it is only recorded
    device : ``"cpu"`` or ``"cuda"``

    Raises
    ------
    MemoryError
        Where the memory does not suffice, or the system cannot lock more.

    Notes
    -----
    Large arrays and mapped files are locked in place (see `semiring.memory.locked`), others are copied.  A mapped file
    that is to be streamed is not locked: it need not fit into memory.  Cost O(bytes moved); from device memory it
    synchronizes, to device memory it does not.
    """
    device = held.device if device is None else device
    if held.device == device and held.placement == placement:
        return held
    if isinstance(held, CSR):
        values = None if held.values is None else placed(held.values, placement, device)
        return CSR(place(held.pattern, placement, device), held.dtype, values, held.iso)  # type: ignore[return-value]
    return held.placed(placement, device)
