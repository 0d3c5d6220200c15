"""cuSPARSE's products of sparse and dense matrices, called through its C library: CuPy binds neither of its fast ones.

Each function returns a call on prepared descriptors and a workspace; arrays are shared, and the result is written to an
array that was allocated beforehand.  Sparse matrices have 32-bit offsets and columns; dense ones are row-major.
"""

from __future__ import annotations

import ctypes
import functools
import glob
import os
import sys
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

import semiring as sr

_INDEX_32, _ROW_MAJOR = 2, 2
_VALUES = {np.dtype(np.float32): 0, np.dtype(np.float64): 1}
_ALGORITHMS = {"default": 0, "ALG1": 4, "ALG2": 6, "ALG3": 12}


@functools.cache
def _library() -> tuple[Any, ctypes.c_void_p]:
    """The library that the process has loaded, or an installed one; and a handle on CuPy's current stream."""
    folders = [os.path.join(path, "nvidia", "*", "lib") for path in sys.path] + ["/usr/local/cuda/lib64"]
    found = [name for folder in folders for name in sorted(glob.glob(os.path.join(folder, "libcusparse.so.*")))]
    if not found:
        raise OSError("libcusparse is not installed")
    library = ctypes.CDLL(found[0])
    handle = ctypes.c_void_p()
    _check(library.cusparseCreate(ctypes.byref(handle)), "cusparseCreate")
    _check(library.cusparseSetStream(handle, ctypes.c_void_p(cupy.cuda.get_current_stream().ptr)), "cusparseSetStream")
    return library, handle


def _check(status: int, name: str) -> None:
    if status:
        raise RuntimeError(f"{name} returned {status}")


def _pointer(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)


def _sparse(shape: tuple[int, int], indptr: Any, indices: Any, values: Any) -> ctypes.c_void_p:
    """A descriptor of compressed sparse rows."""
    assert indptr.dtype == indices.dtype == np.int32
    made, (library, _handle) = ctypes.c_void_p(), _library()
    sizes = (ctypes.c_int64(n) for n in (*shape, indices.size))
    kinds = (_INDEX_32, _INDEX_32, 0, _VALUES[values.dtype])
    arrays = (_pointer(array) for array in (indptr, indices, values))
    _check(library.cusparseCreateCsr(ctypes.byref(made), *sizes, *arrays, *kinds), "cusparseCreateCsr")
    return made


def _dense(values: Any) -> ctypes.c_void_p:
    """A descriptor of a row-major array."""
    made, (library, _handle) = ctypes.c_void_p(), _library()
    sizes = (ctypes.c_int64(n) for n in (*values.shape, values.shape[1]))
    status = library.cusparseCreateDnMat(
        ctypes.byref(made), *sizes, _pointer(values), _VALUES[values.dtype], _ROW_MAJOR
    )
    _check(status, "cusparseCreateDnMat")
    return made


def _prepared(
    name: str, operands: tuple[Any, ...], transposed: int, algorithm: int, *arrays: Any
) -> Callable[[], None]:
    """Allocate the workspace of a product C = A op(B) and analyze it; return the call.

    arrays: those that the descriptors of the operands refer to, the first of the type of the values.
    """
    dtype = arrays[0].dtype
    library, handle = _library()
    one, zero = np.ones(1, dtype), np.zeros(1, dtype)
    a, b, c = operands
    arguments = (
        handle, 0, transposed, _pointer(one), a, b, _pointer(zero), c, _VALUES[dtype], algorithm,
    )  # fmt: skip
    nbytes = ctypes.c_size_t()
    _check(getattr(library, f"{name}_bufferSize")(*arguments, ctypes.byref(nbytes)), f"{name}_bufferSize")
    workspace = cupy.empty(max(nbytes.value, 1), np.uint8)
    _check(getattr(library, f"{name}_preprocess")(*arguments, _pointer(workspace)), f"{name}_preprocess")
    run = getattr(library, name)
    held = workspace, one, zero, *arrays  # the library reads them at every call

    def call() -> None:
        _check(run(*arguments, _pointer(held[0])), name)

    return call


def spmm(A: sr.Matrix, X: Any, algorithm: str = "default") -> tuple[Callable[[], None], Any]:
    """``Y = A X``: the call, and Y."""
    Y = cupy.empty((A.nrows, X.shape[1]), X.dtype)
    indptr, indices, values = A.to_csr(index_dtype=None)
    operands = _sparse(A.shape, indptr, indices, values), _dense(X), _dense(Y)
    return _prepared("cusparseSpMM", operands, 0, _ALGORITHMS[algorithm], values, indptr, indices, X, Y), Y


def sddmm(M: sr.Matrix, X: Any, Y: Any) -> tuple[Callable[[], None], Any]:
    """``C<M> = X Y'`` on the pattern of M: the call, and the values of C."""
    indptr, indices, _ = M.to_csr(index_dtype=None)
    values = cupy.zeros(M.nvals, X.dtype)
    operands = _dense(X), _dense(Y), _sparse(M.shape, indptr, indices, values)
    return _prepared("cusparseSDDMM", operands, 1, 0, values, indptr, indices, X, Y), values


ALGORITHMS = tuple(_ALGORITHMS)
