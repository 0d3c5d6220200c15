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

_ENTRY = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\)\s+)?(\w+)\(([^)]*)\)')
_STRUCT = re.compile(r"const (\w+Arguments) (\w+)")
_BLOCKS = 2


def _call(entry: str, parameters: str) -> str:
    """A function of C++ that launches a kernel."""
    structs = {name: kind for kind, name in _STRUCT.findall(parameters)}
    names = ", ".join(
        f"*static_cast<const {structs[name]}*>({name})" if name in structs else name
        for name in re.findall(r"(\w+)\s*(?:,|$)", parameters)
    )
    parameters = _STRUCT.sub(r"const void* \2", parameters)
    launch = f"launch(blocks, [=] {{ {entry}({names}); }});"
    return f'extern "C" void call_{entry}(unsigned blocks, {parameters}) {{ {launch} }}\n'


def _argument(value: Any) -> Any:
    """The value of ctypes for an argument of `Kernel`."""
    if value is None or isinstance(value, np.ndarray):
        return ctypes.c_void_p(None if value is None else value.ctypes.data)
    if isinstance(value, bytes):  # a struct
        return ctypes.c_char_p(value)
    if isinstance(value, (bool, int)):
        return ctypes.c_bool(value) if isinstance(value, bool) else ctypes.c_longlong(value)
    return np.ctypeslib.as_ctypes_type(value.dtype)(value.item())


class _Counter(np.ndarray[Any, Any]):
    """Counters in memory of the host."""

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ctypes.data)

    def read(self) -> int:
        return int(self[0])


def _packing(make: Any) -> Any:
    """A function that returns a packer of a struct, for arrays in memory of the host."""

    def made(*names: Any, **types: Any) -> Any:
        pack = make(*names, **types)
        return lambda **fields: pack(
            **{name: _address(value) if isinstance(value, np.ndarray) else value for name, value in fields.items()}
        )

    return made


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.ctypes.data)


def _scratch(*parts: int) -> tuple[Any, list[int]]:
    memory = [_empty(part, np.uint8) for part in parts]
    return memory, [_address(part) for part in memory]


def _scanned(values: Any, dtype: Any) -> Any:
    return np.concatenate([[0], np.cumsum(values)]).astype(dtype)


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
        "counter": lambda count=1: np.zeros(count, np.int64).view(_Counter),
        "exclusive_scan": _scanned,
        "multiprocessors": lambda: 1,
        "read_words": lambda address, count: tuple((ctypes.c_uint64 * count).from_address(address)),
        "scratch": _scratch,
        "counting": lambda count, dtype: np.arange(count, dtype=dtype),
        "gather": lambda array, at: array[at],
        "read_one": lambda array: int(array[0]),
        "sorted_keys": _sorted,
    }
    for name in ("arguments", "operand_packer"):  # of the functions that plan launches, whose caches a test clears
        replaced[name] = _packing(getattr(module, name, None))
    for name, value in replaced.items():
        if hasattr(module, name):
            monkeypatch.setattr(module, name, value)
