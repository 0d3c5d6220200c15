"""Report failed allocations by one error, with the bytes requested, the bytes free, and a remedy."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import ParamSpec, TypeVar

from ..config import config
from ..devices import local_device
from ..exceptions import OutOfMemory
from .arrays import index_dtype
from .budget import free_device_memory, free_when_held, reserve
from .locked import CannotLock

_HELP = {
    "cpu": "use smaller types or iso values, or a mask that keeps the result small",
    "cuda": "use smaller types or iso values, a mask that keeps the result small, or .to('cpu')",
}

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

_CUDA_MEMORY_ALLOCATION = 2
# Frequently called members that allocate nothing of a size that users determine, outside of requests to an engine.
_NOT_REPORTED = frozenset(
    {
        "__call__",
        "__lshift__",
        "__getattr__",
        "__init_subclass__",
        "shape",
        "nrows",
        "ncols",
        "size",
        "ndim",
        "dtype",
        "device",
        "store",
        "with_store",
        "operand",
        "mxm",
        "mxv",
        "vxm",
        "S",
        "V",
    }
)

# Smaller amounts are allocated without a check: the query of free memory takes longer than the allocation.
_UNASKED = 1 << 26


def require(operation: str, device: str, count: int, *, hint: str = "") -> None:
    """Raise OutOfMemory if `operation` needs `count` bytes on `device` and fewer are free.

    Called before an allocation whose size the user's arguments determine: if the system overcommits memory, the
    allocation itself succeeds, and the process is killed when it writes there.
    hint: a remedy, where a better one than another type of the values is known.
    """
    if count <= (_UNASKED if config.device_memory is None else min(_UNASKED, config.device_memory // 64)):
        return
    free = free_memory(device)
    if free is not None and count > free:
        raise _error(operation, device, count, free, hint)


def require_rows(operation: str, device: str, nrows: int, nvals: int, itemsize: int, *, scratch: int = 0) -> None:
    """Raise OutOfMemory unless compressed rows of this size fit in the free memory.

    itemsize: bytes of a value.  scratch: bytes a row and an entry that the operation needs besides; it also needs
    another offset a row.  If few rows are non-empty, the operation processes only these.
    """
    offset = index_dtype(nvals).itemsize
    sparse = nrows > 64 * (nvals + 1)
    per_row = offset + (offset + scratch if scratch and not sparse else 0)
    hint = ""
    if sparse:
        hint = (
            f"the indices are far larger than the number of entries (rows: {nrows:,}, entries: {nvals:,}): relabel the "
            f"vertices, from 0 without gaps, or give a smaller nrows="
        )
    require(operation, device, (nrows + 1) * per_row + nvals * (4 + itemsize + scratch), hint=hint)


def unpooled(operation: str, count: int) -> int:
    """Return the address of `count` bytes on the GPU outside of CuPy's pool, which other processes can map.

    They count against the budget; OutOfMemory if they are not free.  `free_unpooled` frees them.
    """
    import cupy

    free = free_device_memory()
    if count > free:
        raise _error(operation, "cuda", count, free)
    with allocating(operation, "cuda"):
        reserve(count)  # the pool frees what it only caches beyond its limit
        try:
            try:
                return int(cupy.cuda.runtime.malloc(count))
            except cupy.cuda.runtime.CUDARuntimeError as error:
                if not is_shortage(error):
                    raise
                cupy.get_default_memory_pool().free_all_blocks()
                return int(cupy.cuda.runtime.malloc(count))
        except BaseException:
            reserve(-count)
            raise


def free_unpooled(address: int, count: int) -> None:
    """Free memory of `unpooled`, once nothing on the GPU uses it."""
    import cupy

    cupy.cuda.runtime.free(address)  # synchronizes
    reserve(-count)


class allocating:
    """Turn an allocation that fails inside a `with` block into OutOfMemory; `needed`: bytes in all, if known."""

    __slots__ = ("_device", "_needed", "_operation")

    def __init__(self, operation: str, device: str, needed: Callable[[], int | None] | None = None) -> None:
        self._operation, self._device, self._needed = operation, device, needed

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and is_shortage(error):
            needed = None if self._needed is None else self._needed()
            raise out_of_memory(self._operation, self._device, error, needed) from error


def reports_memory(function: Callable[P, R], name: str | None = None) -> Callable[P, R]:
    """Decorate a public function: every allocation that fails in it raises OutOfMemory with its name.

    This converts MemoryError from NumPy, SciPy or numba, and the errors of CuPy and the CUDA runtime.  An OutOfMemory
    raised by an operation inside is propagated unchanged.

    Parameters
    ----------
    function : the function to decorate
    name : the name in the messages; by default that of the function

    Returns
    -------
    A function with the same parameters.

    Examples
    --------
    >>> @sr.ops.reports_memory
    ... def reach(A: Matrix, source: int) -> Vector:
    ...     return sr.algorithms.bfs_levels(A, source).apply("one")
    >>> reach(Matrix.identity(3, bool), 1).to_dict()
    {1: 1}
    """
    operation = (name or function.__name__).strip("_")

    @wraps(function)
    def reporting(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if is_shortage(error):
                raise out_of_memory(operation, "cpu", error) from error
            raise

    return reporting


def methods_report_memory(cls: type[C]) -> type[C]:
    """Decorate a class: `reports_memory` for the public methods, operators and properties that it defines itself."""
    for name, member in list(vars(cls).items()):
        special = name.startswith("__") and name.endswith("__")
        if name in _NOT_REPORTED or (name.startswith("_") and not special):
            continue
        operation = cls.__name__ if name == "__init__" else name
        if isinstance(member, FunctionType):
            setattr(cls, name, reports_memory(member, operation))
        elif isinstance(member, classmethod):
            setattr(cls, name, classmethod(reports_memory(member.__func__, operation)))
        elif isinstance(member, property) and member.fget is not None:
            getter = reports_memory(member.fget, operation)
            setattr(cls, name, property(getter, member.fset, member.fdel, member.__doc__))
    return cls


def is_shortage(error: BaseException) -> bool:
    """Return True for the errors that NumPy, CuPy, numba and the CUDA runtime raise for lack of memory."""
    if isinstance(error, MemoryError):
        return not isinstance(error, OutOfMemory)
    return type(error).__name__ == "CUDARuntimeError" and getattr(error, "status", None) == _CUDA_MEMORY_ALLOCATION


def out_of_memory(operation: str, device: str, error: Exception, needed: int | None = None) -> OutOfMemory:
    """Return the OutOfMemory for `error`, which was raised in `operation` for lack of memory.

    device: where it was raised, if the error itself does not contain it.  needed: bytes in all, if known.
    """
    if isinstance(error, CannotLock):
        return OutOfMemory(
            f"{operation}: {error}; placement='host' needs no locked memory",
            asked_bytes=error.nbytes,
            free_bytes=free_memory("cpu"),
        )
    held = getattr(error, "_total", None)  # CuPy's own subclass: what the pool held at the failure
    if type(error).__module__.startswith("cupy"):
        device = "cuda"
    elif hasattr(error, "_total_size"):  # NumPy's own subclass
        device = "cpu"
    if held is None:
        return _error(operation, device, _asked(error), free_memory(device), needed=needed)
    # Not the memory free now: the arrays of the operation are already freed when this is called.
    free = free_when_held(int(held), int(getattr(error, "_limit", 0)))
    return _error(operation, device, _asked(error), free, held=int(held), needed=needed)


def _error(
    operation: str,
    device: str,
    asked: int | None,
    free: int | None,
    hint: str = "",
    *,
    held: int | None = None,
    needed: int | None = None,
) -> OutOfMemory:
    amounts = (
        ("asked for {:,} bytes", asked),
        ("free are {:,} bytes" if held is None else "free were {:,} bytes", free),
        ("held {:,} bytes", held),
        ("needed in all about {:,} bytes", needed),
    )
    device = local_device(device)
    stated = ", ".join(text.format(count) for text, count in amounts if count is not None)
    return OutOfMemory(
        f"{operation}: out of memory on {device}{f' ({stated})' if stated else ''}; {hint or _HELP[device]}",
        asked_bytes=asked,
        free_bytes=free,
        held_bytes=held,
        needed_bytes=needed,
    )


def _asked(error: Exception) -> int | None:
    size = getattr(error, "_total_size", None)  # NumPy's own subclass
    if size is not None:
        return int(size)
    found = re.search(r"allocating ([\d,]+) bytes", str(error))  # CuPy's message
    return int(found.group(1).replace(",", "")) if found else None


def free_memory(device: str) -> int | None:
    """Return the bytes that can be allocated on a device, within the budget if there is one; None if unknown.

    For ``"cpu"``: the minimum over the system and the limits and control groups of the process.  Of a grid: on the
    device of the part of this process.
    """
    if local_device(device) == "cuda":
        return free_device_memory()
    known = [count for count in (_free_of_system(), _free_of_limits(), *_free_of_groups()) if count is not None]
    return min(known, default=None)


def _free_of_system() -> int | None:
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
        return int(found.group(1)) << 10 if found else None
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not every system reports it
        return None


def _free_of_limits() -> int | None:
    """Return the bytes left below the limit of the address space of the process (``ulimit -v``), if it has one."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return max(0, limit - pages * os.sysconf("SC_PAGE_SIZE"))
    except (ImportError, AttributeError, OSError, ValueError, IndexError):  # not every system has them
        return None


def _free_of_groups(root: Path = Path("/sys/fs/cgroup"), of: Path = Path("/proc/self/cgroup")) -> Iterator[int]:
    """Yield the bytes left below the limit of each control group of this process, ancestors included (Linux)."""
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
            except OSError:  # the root has no limit, and the path outside a container may be invisible inside it
                limit = "max"
            if limit != "max":
                # The system frees unused pages of files before it kills a process.
                yield max(int(limit) - int(used) + (int(idle.group(1)) if idle else 0), 0)
            if folder == base:
                break
