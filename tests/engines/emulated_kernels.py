"""Kernels of the CUDA engine on a CPU: a module's host code runs with NumPy's arrays, its launches call emulated text.

The C++ compiler of the machine compiles the text of a kernel (`tests.loops.emulated`).
"""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from semiring.engines.cuda.compile import module_text
from semiring.engines.cuda.kernel import Kernel
from tests.loops import emulated

_ENTRY = re.compile(r'extern "C" __global__ void (\w+)\(([^)]*)\)')
_BLOCKS = 2


def _call(entry: str, parameters: str) -> str:
    """A function of C++ that launches a kernel."""
    names = ", ".join(re.findall(r"(\w+)\s*(?:,|$)", parameters))
    launch = f"launch(blocks, [=] {{ {entry}({names}); }});"
    return f'extern "C" void call_{entry}(unsigned blocks, {parameters}) {{ {launch} }}\n'


def _argument(value: Any) -> Any:
    """The value of ctypes for an argument of `Kernel`."""
    if value is None or isinstance(value, np.ndarray):
        return ctypes.c_void_p(None if value is None else value.ctypes.data)
    if isinstance(value, (bool, int)):
        return ctypes.c_bool(value) if isinstance(value, bool) else ctypes.c_longlong(value)
    return np.ctypeslib.as_ctypes_type(value.dtype)(value.item())


class _Counter(np.ndarray[Any, Any]):
    """A counter in memory of the host."""

    def read(self) -> int:
        return int(self[0])


def _empty(size: int, dtype: Any) -> np.ndarray[Any, Any]:
    return np.frombuffer(bytearray(b"\xab" * (size * np.dtype(dtype).itemsize)), dtype)


def _sorted(keys: Any, values: Any, bits: int) -> tuple[Any, Any]:
    order = np.argsort(keys, kind="stable")
    return keys[order], values[order]


def emulate(module: ModuleType, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let a module of `engines.cuda` use NumPy's arrays and emulated kernels."""
    folder.mkdir(exist_ok=True)

    def launch(self: Kernel, grid: int, block: int, *arguments: Any, shared: int = 0) -> None:
        if grid == 0:
            return
        text = module_text(self.file, self.prologue)  # compiled once for all kernels of the file
        calls = "".join(_call(*found) for found in _ENTRY.findall(text))
        run = emulated.library(text, calls, folder)[f"call_{self.entry}"]
        run(_BLOCKS, *map(_argument, arguments))

    monkeypatch.setattr(Kernel, "__call__", launch)
    arrays = SimpleNamespace(empty=_empty, zeros=np.zeros, argsort=np.argsort, ascontiguousarray=np.ascontiguousarray)
    replaced = {
        "cupy": arrays,
        "grid": lambda n: min(n, _BLOCKS),
        "one_wave": lambda *_: _BLOCKS,
        "require": lambda *_: None,
        "counter": lambda: np.zeros(1, np.int64).view(_Counter),
        "counting": lambda count, dtype: np.arange(count, dtype=dtype),
        "gather": lambda array, at: array[at],
        "read_one": lambda array: int(array[0]),
        "sorted_keys": _sorted,
    }
    for name, value in replaced.items():
        if hasattr(module, name):
            monkeypatch.setattr(module, name, value)
