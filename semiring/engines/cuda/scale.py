"""A matrix and a full vector, entry by entry: a product with a diagonal matrix."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np

from ...dtypes import FP32, INT8, INT32, INT64
from ...formats import CSR, Full, with_values
from ...operators.types import TypedBinary
from ..constants import binary_value
from ..registry import implements
from ..spec_rows import Scale
from . import samples
from .kernel import Kernel, kernel
from .launch import BLOCK, one_wave, values_of
from .specialise import binary, constants, typedefs


@implements(Scale, engine="cuda")
def scale(q: Scale) -> CSR:
    """t(i, j) = op(a(i, j), u(j)), or op(u(i), a(i, j)): one launch; none where the result is iso-valued."""
    a: CSR = q.a
    x: CSR | Full = q.u if q.by_rows else a
    y: CSR | Full = a if q.by_rows else q.u
    constant = binary_value(q.op, x.iso, y.iso)
    if constant is not None:
        return with_values(a, q.op.z, None, constant)
    out = cupy.empty(a.nvals, q.op.z)
    run = _plan(q.op, q.by_rows, a.indptr.dtype, a.indices.dtype, x.dtype, y.dtype)
    run(
        one_wave(run, a.nvals, 4),
        BLOCK,
        a.nvals,
        a.indptr,
        a.nrows,
        a.indices,
        *values_of(x),
        *values_of(y),
        out,
    )
    return with_values(a, q.op.z, out, None)


@functools.lru_cache(maxsize=1024)
def _plan(op: TypedBinary, by_rows: bool, *types: np.dtype[Any]) -> Kernel:
    return kernel("scale.cuh", "scale_entries", _prologue(op, by_rows, *types))


def _prologue(op: TypedBinary, by_rows: bool, *types: np.dtype[Any]) -> str:
    named = typedefs(**dict(zip(("P", "I", "X", "Y"), types, strict=True)))
    return named + constants(FORM=2, BY_ROWS=by_rows) + binary("combine", op)


def catalogue() -> Iterator[samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalogue for the kernels of this module."""
    for by_rows in (False, True):
        yield "scale.cuh", _prologue(samples.TIMES, by_rows, INT32, INT32, FP32, INT8)
        yield "scale.cuh", _prologue(samples.SECONDI, by_rows, INT64, INT64, INT8, FP32)
