"""Products of a bitmap matrix and a vector, in the orientation in which the matrix is stored."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP32, INT8
from ...formats import Full, VectorStore, word_count
from ...formats.bitmap import BitmapPattern
from ...formats.vectors import empty_vector
from ...operators.types import TypedSemiring
from ..recording import note
from ..registry import RESIDENT_BITMAP, implements
from ..requests.operations import Mxv
from . import compile_samples
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, bitmap, counter, grid, multiprocessors, values_of, words_of
from .primitives import as_dense
from .specialize import constants, semiring, typedefs

_FILE = "mxv_bitmap.cuh"
# Warps, or threads that read columns, of a multiprocessor; and the least numbers of the inner index for each of them
# (reasoned: enough loads in flight, and partial results that are few beside the values).
_WARPS, _THREADS = 32, 1024
_SHORTEST_ROW, _SHORTEST_COLUMN = 512, 32


class _Plan(NamedTuple):
    rows: Kernel
    columns: Kernel
    combine: Kernel


@functools.lru_cache(maxsize=1024)
def _plan(ring: TypedSemiring, a: np.dtype[Any], u: np.dtype[Any], flip: bool, u_full: bool) -> _Plan:
    prologue = typedefs(A=a, U=u) + constants(FLIP=flip, U_FULL=u_full) + semiring(ring)
    return _Plan(*(kernel(_FILE, f"mxv_bits_{name}", prologue) for name in _Plan._fields))


@implements(Mxv, engine="cuda", accepts=RESIDENT_BITMAP)
def mxv_bitmap(q: Mxv) -> VectorStore:
    """t(o) = (+)_k M(o, k) (x) u(k), by the orientation that is at hand.  Does not wait for the device."""
    by_row, n, m, z = q.by_row.ready, q.nout, q.ninner, q.semiring.z
    a, u = (q.by_row if by_row else q.by_column).get(), as_dense(q.vector)
    if n == 0 or m == 0:
        return empty_vector(n, z, "cuda")
    assert isinstance(a.pattern, BitmapPattern)
    note(kernel="bits by row" if by_row else "bits by column")
    plan = _plan(q.semiring, a.dtype, u.dtype, q.flip, isinstance(u, Full))
    each, shortest = (_WARPS, _SHORTEST_ROW) if by_row else (_THREADS, _SHORTEST_COLUMN)
    parts = max(1, min(-(-multiprocessors() * each // n), -(-m // shortest)))
    length = -(-m // parts)
    partial, hits = cupy.empty(parts * n, z), cupy.empty(parts * n, np.bool_)
    arguments = (n, m, parts, length, a.pattern.words, *values_of(a), words_of(u), *values_of(u), partial, hits)
    if by_row:
        plan.rows(grid(32 * parts * n), BLOCK, *arguments)
    else:
        plan.columns(grid(parts * n), BLOCK, *arguments)
    words, values, count = cupy.empty(word_count(n), np.uint32), cupy.empty(n, z), counter()
    plan.combine(grid(32 * word_count(n)), BLOCK, n, parts, partial, hits, words, values, count)
    return bitmap(n, z, words, values, count)


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    rings = enumerate(compile_samples.SEMIRINGS)
    return tuple(_plan(ring, FP32, INT8, number % 2 == 1, number % 3 == 0) for number, ring in rings)
