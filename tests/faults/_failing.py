"""An allocator that fails on purpose: NumPy's on the CPU (NEP 49), CuPy's on a GPU.

NumPy takes the memory of arrays from a handler of four C functions.  These are compiled by numba, so that no Python
runs inside an allocation, and so that arrays may be freed at any time, also at exit.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numba import types

# The words of the state: allocations so far, the one that fails (0: none), whether all after it fail too.
_COUNT, _AT, _LASTING = 0, 1, 2
_state = np.zeros(3, np.int64)

_libc = ctypes.CDLL(None)
_malloc, _calloc, _realloc, _free = _libc.malloc, _libc.calloc, _libc.realloc, _libc.free
_malloc.argtypes, _malloc.restype = [ctypes.c_size_t], ctypes.c_size_t
_calloc.argtypes, _calloc.restype = [ctypes.c_size_t] * 2, ctypes.c_size_t
_realloc.argtypes, _realloc.restype = [ctypes.c_size_t] * 2, ctypes.c_size_t
_free.argtypes, _free.restype = [ctypes.c_size_t], None

_WORD, _STATE = types.uintp, types.CPointer(types.int64)


@numba.njit
def _fails(state: Any) -> bool:
    words = numba.carray(state, 3)
    words[0] += 1
    return words[1] > 0 and (words[0] == words[1] or (words[2] != 0 and words[0] > words[1]))  # type: ignore[no-any-return]


@numba.cfunc(_WORD(_STATE, _WORD))
def _taken(state: Any, size: Any) -> Any:
    return np.uint64(0) if _fails(state) else np.uint64(_malloc(size))


@numba.cfunc(_WORD(_STATE, _WORD, _WORD))
def _cleared(state: Any, count: Any, size: Any) -> Any:
    return np.uint64(0) if _fails(state) else np.uint64(_calloc(count, size))


@numba.cfunc(_WORD(_STATE, _WORD, _WORD))
def _resized(state: Any, pointer: Any, size: Any) -> Any:
    return np.uint64(0) if _fails(state) else np.uint64(_realloc(pointer, size))


@numba.cfunc(types.void(_STATE, _WORD, _WORD))
def _given_back(state: Any, pointer: Any, size: Any) -> None:
    _free(pointer)


class _Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("state", "malloc", "calloc", "realloc", "free")]


class _Handler(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("allocator", _Allocator)]


_functions = (_taken.address, _cleared.address, _resized.address, _given_back.address)
_handler = _Handler(b"semiring faults", 1, _Allocator(_state.ctypes.data, *_functions))
_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_NAME = b"mem_handler"  # the capsule stores its address
_capsule = _python.PyCapsule_New(ctypes.addressof(_handler), _NAME, None)
# Arrays that are freed at exit still need all of this.
for _kept in (_NAME, _capsule, _handler, _state, _taken, _cleared, _resized, _given_back, _fails):
    _python.Py_IncRef(ctypes.py_object(_kept))
# The index of PyDataMem_SetHandler in NumPy's table of C functions.
_SET_HANDLER = 304
_table = _python.PyCapsule_GetPointer(np._core._multiarray_umath._ARRAY_API, None)  # type: ignore[attr-defined]
_set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(
    ctypes.cast(_table, ctypes.POINTER(ctypes.c_void_p))[_SET_HANDLER]
)


class Allocations:
    """count: the allocations of the block so far."""

    @property
    def count(self) -> int:
        return int(_state[_COUNT])


@contextmanager
def failing(engine: str, at: int, lasting: bool = False) -> Iterator[Allocations]:
    """Let allocation number `at` of the block fail (0: none), and under `lasting` all after it."""
    _state[:] = 0, at, lasting
    with _cupy_failing() if engine == "cuda" else _numpy_failing():
        yield Allocations()


@contextmanager
def _numpy_failing() -> Iterator[None]:
    before = _set_handler(_capsule)
    try:
        yield
    finally:
        _state[_AT] = 0
        _set_handler(before)


@contextmanager
def _cupy_failing() -> Iterator[None]:
    import cupy

    pool = cupy.get_default_memory_pool()
    before = cupy.cuda.get_allocator()

    def allocate(size: int) -> Any:
        _state[_COUNT] += 1
        count, at, lasting = _state.tolist()
        if at and (count == at or (lasting and count > at)):
            raise cupy.cuda.memory.OutOfMemoryError(size, pool.total_bytes(), 0)
        return before(size)

    cupy.cuda.set_allocator(allocate)
    try:
        yield
    finally:
        _state[_AT] = 0
        cupy.cuda.set_allocator(before)
