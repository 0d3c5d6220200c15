"""Reduction of rows to a vector, and of everything to a scalar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from ...formats import CSR, Array, Bitmap, IndexList, VectorStore, word_count
from ...operators.types import TypedBinary
from ..numpy_helpers import cast
from ..registry import implements
from ..spec import ReduceRows, ReduceScalar
from .compile import kernel
from .launch import BLOCK, bitmap, counter, grid, multiprocessors, read_back, values_of
from .primitives import moved
from .specialise import binary, constants, monoid, typedefs

_TILE = 1024
_INT32 = np.dtype(np.int32)


@implements(ReduceRows, engine="cuda")
def reduce_rows(q: ReduceRows) -> VectorStore:
    """t(i) = (+)_j a(i, j): work is cut by entries, not by rows, so skewed rows cost no more.  Nothing waits."""
    a, z = q.a, q.monoid.dtype
    words = cupy.empty(word_count(a.nrows), np.uint32)
    count = counter()
    first_only = q.monoid.is_any
    iso = z.type(cast(a.iso, z)[()]) if first_only and a.iso is not None else None
    out = None if iso is not None else cupy.empty(a.nrows, z)
    prologue = typedefs(A=a.dtype, P=a.indptr.dtype, OUT=z) + constants(FIRST_ONLY=first_only)
    prologue += constants(FORM=2) + monoid("add", q.monoid)
    if not first_only:
        segments(prologue, a.nvals, a.indptr, a.nrows, a, out)
    run = kernel("reduce.cuh", "reduce_rows_presence", prologue)
    run(grid(a.nrows), BLOCK, a.nrows, a.indptr, *values_of(a), out, words, count)
    return bitmap(a.nrows, z, words, iso if out is None else out, count if a.nrows else 0)


@dataclass(frozen=True)
class Values:
    """Values in an order: an array, or `size` times one scalar."""

    size: int
    dtype: np.dtype[Any]
    values: Array | None
    iso: np.generic | None


def segments(prologue: str, n: int, indptr: Array, nrows: int, source: CSR | Values, out: Array) -> None:
    """out[r] = the ordered combination of row r's values, for every row that has any, by an associative operator.

    The prologue names A, P, OUT and ``add``.
    """
    if n == 0:
        return
    tiles = -(-n // _TILE)
    head, tail = cupy.empty(tiles, out.dtype), cupy.empty(tiles, out.dtype)
    blocks = grid(tiles * 32)
    kernel("reduce.cuh", "reduce_rows_tiles", prologue)(
        blocks, BLOCK, n, indptr, nrows, *values_of(source), out, head, tail
    )
    if tiles > 1:
        kernel("reduce.cuh", "reduce_rows_carry", prologue)(blocks, BLOCK, n, indptr, nrows, out, head, tail)


def combine_runs(starts: Array, runs: int, source: Values, op: TypedBinary, out: Array) -> None:
    """out[r] = the values at positions starts[r] .. starts[r + 1] combined by `op`, left to right."""
    prologue = typedefs(A=source.dtype, P=starts.dtype, OUT=out.dtype) + constants(FIRST_ONLY=False, FORM=2)
    prologue += binary("add", op)
    if "associative" in op.laws:
        segments(prologue, source.size, starts, runs, source, out)
    else:
        kernel("reduce.cuh", "reduce_rows_fold", prologue)(grid(runs), BLOCK, runs, starts, *values_of(source), out)


@implements(ReduceScalar, engine="cuda")
def reduce_scalar(q: ReduceScalar) -> np.generic | None:
    """(+) over all entries, or None if there is none.  Synchronises: 16 bytes are read back."""
    a, z = q.a, q.monoid.dtype
    n = a.nvals if isinstance(a, (CSR, IndexList)) else a.size
    if n == 0:
        return None
    prologue = typedefs(A=a.dtype, P=_INT32, OUT=z) + constants(FIRST_ONLY=False, FORM=2)
    prologue += monoid("add", q.monoid)
    blocks = min(-(-n // BLOCK), 4 * multiprocessors())
    parts, hits = cupy.empty(blocks, z), cupy.empty(blocks, np.uint32)
    result = cupy.empty(2, np.uint64)
    words = a.words if isinstance(a, Bitmap) else None
    kernel("reduce.cuh", "reduce_all", prologue)(blocks, BLOCK, n, words, *values_of(a), parts, hits)
    kernel("reduce.cuh", "reduce_parts", prologue)(1, BLOCK, blocks, parts, hits, result)
    found = read_back(result)  # synchronises
    if not found[0]:
        return None
    answer: np.generic = found[1:].astype(moved(z)).view(z)[0]
    return answer
