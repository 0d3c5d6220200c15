"""Allocations that fail: the same error wherever they do, with what was asked, what is free, and what would help."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..exceptions import OutOfMemory

_HELP = {
    "cpu": "use smaller types or iso values, or a mask that keeps the result small",
    "cuda": "use smaller types or iso values, a mask that keeps the result small, or .to('cpu')",
}


@contextmanager
def allocating(operation: str, device: str) -> Iterator[None]:
    """Turn a MemoryError inside the block into OutOfMemory."""
    try:
        yield
    except MemoryError as error:
        raise out_of_memory(operation, device, error) from error


def out_of_memory(operation: str, device: str, error: MemoryError) -> OutOfMemory:
    """The error that tells a user about `error`, which NumPy or CuPy raised in `operation` on `device`."""
    if isinstance(error, OutOfMemory):
        return error
    asked, free = _asked(error), _free(device)
    amounts = ", ".join(
        f"{what} {count:,} bytes" for what, count in (("asked for", asked), ("free are", free)) if count is not None
    )
    return OutOfMemory(
        f"{operation}: out of memory on {device}{f' ({amounts})' if amounts else ''}; {_HELP[device]}",
        asked_bytes=asked,
        free_bytes=free,
    )


def _asked(error: MemoryError) -> int | None:
    size = getattr(error, "_total_size", None)  # NumPy's own subclass
    if size is not None:
        return int(size)
    found = re.search(r"allocating ([\d,]+) bytes", str(error))  # CuPy's message
    return int(found.group(1).replace(",", "")) if found else None


def _free(device: str) -> int | None:
    if device == "cuda":
        import cupy

        return int(cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes())
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return None
