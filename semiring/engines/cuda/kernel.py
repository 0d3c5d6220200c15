"""Kernel handles: from a kernel file and a prologue to launches.

A handle compiles and loads its kernel at the first launch on each device.  That launch also fixes the layout of the
arguments; every later launch packs all of them in one call and passes them to the driver, without the conversion of
each argument that a launch through `cupy.RawKernel` repeats.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from cupy.cuda import driver, get_current_stream, runtime

from ...dtypes import real_type
from .compile import module

__all__ = ["Handles", "Kernel", "code_of", "kernel"]

_INVALID_CONTEXT = 201
_POINTER = "P"
_ALIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}


def code_of(dtype: np.dtype[Any]) -> str:
    """Return the code of a value type in Python's module `struct`.

    That of a complex type is bytes aligned as its parts are; that of a record, bytes aligned as ``Record`` in C++ is.
    """
    if dtype.kind == "V":
        return f"0{_ALIGNED[min(dtype.itemsize & -dtype.itemsize, 8)]}{dtype.itemsize}s"
    return f"0{np.dtype(real_type(dtype)).char}{dtype.itemsize}s" if dtype.kind == "c" else dtype.char


def _code(argument: Any) -> str:
    """Return an argument's code in Python's module `struct`: an address, 64 bits, a NumPy type, or a struct's bytes."""
    if argument is None or hasattr(getattr(argument, "data", None), "ptr"):
        return _POINTER
    if isinstance(argument, np.generic):
        return code_of(argument.dtype)
    if isinstance(argument, int):
        return "?" if isinstance(argument, bool) else "q"
    if isinstance(argument, bytes):
        return f"0P{len(argument)}s"  # aligned as a struct that holds an address is
    raise TypeError(f"a kernel's argument is an array, None, an integer, a NumPy scalar or bytes, got {argument!r}")


def _launcher(function: int, codes: list[str]) -> Callable[..., None]:
    """``launch(grid, block, shared, stream, cooperative, *arguments)`` for arguments of these codes.

    The function is generated as source text, as in `namedtuple`, so that packing is one call without a loop.  Packed
    arguments are stored in frames: a launch removes one from a list and returns it, so no two launches share a frame.
    """
    form = struct.Struct("@" + "".join(codes))
    offsets, end = [], 0
    for number, code in enumerate(codes):
        end = struct.calcsize("@" + "".join(codes[: number + 1]))
        offsets.append(end - struct.calcsize("@" + code))
    frames: list[tuple[Any, int, Any]] = []

    def frame() -> tuple[Any, int, Any]:
        """Allocate a buffer for packed arguments, and return it with the address of the list of their addresses."""
        room = (ctypes.c_uint64 * (form.size // 8 + 1))()
        base = ctypes.addressof(room)
        addresses = (ctypes.c_void_p * max(len(offsets), 1))(*(base + offset for offset in offsets))
        return room, ctypes.addressof(addresses), addresses

    names = [f"a{number}" for number in range(len(codes))]
    values = [
        f"0 if {name} is None else {name}.data.ptr"
        if code == _POINTER
        else f"bytes({name})"
        if code[0] == "0"
        else name
        for name, code in zip(names, codes, strict=True)
    ]
    text = f"""
def launch({", ".join(["grid", "block", "shared", "stream", "cooperative", *names])}):
    try:
        taken = frames.pop()
    except IndexError:
        taken = frame()
    pack({", ".join(["taken[0]", "0", *values])})
    if cooperative:
        launch_cooperative(function, grid, 1, 1, block, 1, 1, shared, stream, taken[1])
    else:
        launch_kernel(function, grid, 1, 1, block, 1, 1, shared, stream, taken[1], 0)
    frames.append(taken)
"""
    made: dict[str, Any] = {
        "frames": frames,
        "frame": frame,
        "pack": form.pack_into,
        "function": function,
        "launch_kernel": driver.launchKernel,
        "launch_cooperative": driver.launchCooperativeKernel,
    }
    exec(text, made)
    launch: Callable[..., None] = made["launch"]
    return launch


class Kernel:
    """A handle of one entry point of a kernel file behind a prologue; it is loaded on first use on each device.

    ``kernel(grid, block, *args)`` queues it on CuPy's current stream without waiting for the device.  Arguments are
    CuPy arrays, other objects with ``x.data.ptr``, None (a null pointer), Python ints (64 bits), NumPy scalars (their
    type) and structs by value as bytes (see `arguments`); each position keeps the type that it has in the first launch.
    A grid of 0 blocks launches nothing.
    """

    __slots__ = ("_functions", "_launchers", "entry", "file", "prologue")

    def __init__(self, file: str, entry: str, prologue: str) -> None:
        self.file = file
        self.entry = entry
        self.prologue = prologue
        self._functions: dict[int, Any] = {}
        self._launchers: dict[int, Callable[..., None]] = {}

    def function(self) -> Any:
        """CuPy's function object on the current device (compiled and loaded if this is its first use)."""
        device = runtime.getDevice()
        found = self._functions.get(device)
        if found is None:
            found = module(device, self.file, self.prologue, self.entry).get_function(self.entry)
            self._functions[device] = found
        return found

    def __call__(self, grid: int, block: int, *args: Any, shared: int = 0, cooperative: bool = False) -> None:
        """Launch `grid` blocks of `block` threads with `shared` bytes of dynamic shared memory each."""
        if grid == 0:
            return
        device = runtime.getDevice()
        launch = self._launchers.get(device)
        if launch is None:
            launch = self._launchers[device] = _launcher(
                int(self.function().ptr), [_code(argument) for argument in args]
            )
        if shared > 48 * 1024:
            _allow_shared(self.function(), shared)
        stream = get_current_stream().ptr
        try:
            launch(grid, block, shared, stream, cooperative, *args)
        except driver.CUDADriverError as error:
            if error.status != _INVALID_CONTEXT:
                raise
            runtime.free(0)  # the runtime makes the device's context current on a thread that has not used it yet
            launch(grid, block, shared, stream, cooperative, *args)

    def resident_blocks(self, block: int, shared: int = 0) -> int:
        """Return the number of resident blocks of this size on one multiprocessor, the limit of a cooperative grid."""
        function = self.function()
        if shared > 48 * 1024:
            _allow_shared(function, shared)
        return int(driver.occupancyMaxActiveBlocksPerMultiprocessor(function.ptr, block, shared))


def _allow_shared(function: Any, shared: int) -> None:
    """Raise the kernel's limit of dynamic shared memory, which is 48 KB by default."""
    driver.funcSetAttribute(function.ptr, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)


@functools.lru_cache(maxsize=4096)
def kernel(file: str, entry: str, prologue: str = "") -> Kernel:
    """Return the kernel `entry` of ``kernels/<file>`` behind a prologue.  It is compiled at its first launch."""
    return Kernel(file, entry, prologue)


# A kernel, or a call plan: a tuple in which kernels are, beside other objects.
Handles: TypeAlias = Kernel | tuple[Any, ...]
