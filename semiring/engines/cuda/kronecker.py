"""The Kronecker product: one launch writes the row offsets, one every entry."""

from __future__ import annotations

import functools
from typing import Any

import cupy
import numpy as np

from ...dtypes import FP32, INT8, INT32, INT64
from ...formats import CSR, Pattern, index_dtype
from ...memory.allocation import require
from ...operators.types import TypedBinary
from ..registry import RESIDENT, implements
from ..requests.operations import Kronecker
from ..shared.iso_results import binary_value
from . import compile_samples
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, one_wave, values_of
from .specialize import binary, constants, typedefs


# Every entry of an operand is read many times, so entries are not read over the interconnect.
@implements(Kronecker, engine="cuda", accepts=RESIDENT)
def kronecker(q: Kronecker) -> CSR:
    """t(i r + k, j c + l) = op(a(i, j), b(k, l)): a thread four entries; does not synchronize."""
    a, b, z = q.a, q.b, q.op.z
    nrows, ncols, nvals = a.nrows * b.nrows, a.ncols * b.ncols, a.nvals * b.nvals
    iso = binary_value(q.op, a.iso, b.iso)
    offset, column = index_dtype(nvals), index_dtype(ncols)
    entry = column.itemsize + (0 if iso is not None else z.itemsize)
    require("kronecker", "cuda", nvals * entry + (nrows + 1) * offset.itemsize)
    indptr, indices = cupy.empty(nrows + 1, offset), cupy.empty(nvals, column)
    values = None if iso is not None else cupy.empty(nvals, z)
    offsets, entries = _plan(q.op, *_types(a), *_types(b), offset, column)
    offsets(grid(nrows + 1), BLOCK, nrows, a.indptr, b.nrows, b.indptr, indptr)
    on_a, on_b = (a.indptr, a.indices, *values_of(a)), (b.nrows, b.ncols, b.indptr, b.indices, *values_of(b))
    entries(one_wave(entries, nvals, 4), BLOCK, nvals, nrows, indptr, *on_a, *on_b, indices, values)
    return CSR(Pattern(nrows, ncols, indptr, indices), z, values, iso)


def _types(a: CSR) -> tuple[np.dtype[Any], np.dtype[Any], np.dtype[Any]]:
    """Return the types of row offsets, columns and values."""
    return a.indptr.dtype, a.indices.dtype, a.dtype


@functools.lru_cache(maxsize=1024)
def _plan(op: TypedBinary, *types: np.dtype[Any]) -> tuple[Kernel, Kernel]:
    """Return the kernels that write the offsets and the entries, for the types AP, AI, A, BP, BI, B, P and J."""
    named = dict(zip(("AP", "AI", "A", "BP", "BI", "B", "P", "J"), types, strict=True))
    text = typedefs(**named) + constants(FORM=2) + binary("combine", op)
    return kernel("kronecker.cuh", "kronecker_offsets", text), kernel("kronecker.cuh", "kronecker_entries", text)


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    ops = compile_samples.TIMES, compile_samples.PLUS32, compile_samples.SECONDI
    types = (INT32, INT32, INT32), (INT64, INT32, INT64), (INT32, INT64, INT64)
    return tuple(_plan(op, a, b, FP32, b, a, INT8, c, c) for op, (a, b, c) in zip(ops, types, strict=True))
