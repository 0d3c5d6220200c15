"""Allocations that fail: the same error wherever they do, with what was asked, what is free, and what would help."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..config import config
from ..exceptions import OutOfMemory
from ..formats.locked import CannotLock
from .budget import free_device_memory

_HELP = {
    "cpu": "use smaller types or iso values, or a mask that keeps the result small",
    "cuda": "use smaller types or iso values, a mask that keeps the result small, or .to('cpu')",
}


# What is smaller is allocated without asking: what is free takes longer to learn than to use up.
_UNASKED = 1 << 26


def require(operation: str, device: str, count: int, *, hint: str = "") -> None:
    """OutOfMemory if `operation` needs `count` bytes on `device` and fewer are free.

    Asked before an allocation whose size the user's numbers decide: where the system promises more memory than it
    has, the allocation itself succeeds, and the process is killed when it writes there.
    hint: what would help, if more is known than the type of the values.
    """
    if count <= (_UNASKED if config.device_memory is None else min(_UNASKED, config.device_memory // 64)):
        return
    free = free_memory(device)
    if free is not None and count > free:
        raise _error(operation, device, count, free, hint)


@contextmanager
def allocating(operation: str, device: str) -> Iterator[None]:
    """Turn a MemoryError inside the block into OutOfMemory."""
    try:
        yield
    except OutOfMemory:
        raise
    except MemoryError as error:
        raise out_of_memory(operation, device, error) from error


def out_of_memory(operation: str, device: str, error: MemoryError) -> OutOfMemory:
    """The error that tells a user about `error`, which NumPy or CuPy raised in `operation` on `device`."""
    if isinstance(error, OutOfMemory):
        return error
    if isinstance(error, CannotLock):
        return OutOfMemory(
            f"{operation}: {error}; placement='host' needs no locked memory",
            asked_bytes=error.nbytes,
            free_bytes=free_memory("cpu"),
        )
    return _error(operation, device, _asked(error), free_memory(device))


def _error(operation: str, device: str, asked: int | None, free: int | None, hint: str = "") -> OutOfMemory:
    amounts = ", ".join(
        f"{what} {count:,} bytes" for what, count in (("asked for", asked), ("free are", free)) if count is not None
    )
    return OutOfMemory(
        f"{operation}: out of memory on {device}{f' ({amounts})' if amounts else ''}; {hint or _HELP[device]}",
        asked_bytes=asked,
        free_bytes=free,
    )


def _asked(error: MemoryError) -> int | None:
    size = getattr(error, "_total_size", None)  # NumPy's own subclass
    if size is not None:
        return int(size)
    found = re.search(r"allocating ([\d,]+) bytes", str(error))  # CuPy's message
    return int(found.group(1).replace(",", "")) if found else None


def free_memory(device: str) -> int | None:
    """Bytes that can be allocated on a device, within the budget where there is one; None if the system does not tell.

    For ``"cpu"`` what the system and the control groups of the process leave.
    """
    if device == "cuda":
        return free_device_memory()
    known = [count for count in (_free_of_system(), *_free_of_groups()) if count is not None]
    return min(known, default=None)


def _free_of_system() -> int | None:
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
        return int(found.group(1)) << 10 if found else None
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return None


def _free_of_groups(root: Path = Path("/sys/fs/cgroup"), of: Path = Path("/proc/self/cgroup")) -> Iterator[int]:
    """What each control group of this process, and each group that holds it, leaves of its limit (Linux containers)."""
    try:
        lines = of.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            names, base = ("memory.max", "memory.current", "inactive_file"), root
        elif "memory" in controllers.split(","):
            names, base = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"), root / "memory"
        else:
            continue
        group = base / path.lstrip("/")
        for folder in (group, *group.parents):
            try:
                limit, used = ((folder / name).read_text().strip() for name in names[:2])
                idle = re.search(rf"^{names[2]} (\d+)$", (folder / "memory.stat").read_text(), re.MULTILINE)
            except OSError:  # the root has no limit, and a container may not see the path that it has outside
                limit = "max"
            if limit != "max":
                # Pages of files that nobody uses are given back before anything is killed.
                yield max(int(limit) - int(used) + (int(idle.group(1)) if idle else 0), 0)
            if folder == base:
                break
