"""Parents of the entries of a closed vector, in one pass over the entries of the matrix."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import INT32, INT64
from ...formats import Bitmap, Full, IndexList, VectorStore, index_dtype
from ...operators.types import TypedSemiring
from ..registry import RESIDENT, implements
from ..requests.graphs import StrictParents
from . import compile_samples
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, read_one, values_of, words_of
from .primitives import as_dense, gather
from .specialize import constants, semiring, typedefs


@implements(StrictParents, engine="cuda", accepts=RESIDENT)
def strict_parents(q: StrictParents) -> VectorStore | None:
    """Three launches; each entry reads the values of its row and of its column.  Synchronizes: reads one number."""
    a, n = q.a, q.a.nrows
    closed, first = as_dense(q.closed), as_dense(q.frontier)
    parent, missing = cupy.empty(n, index_dtype(n + 1)), cupy.zeros(1, np.uint32)
    plan = _plan(q.semiring, a.indptr.dtype, a.indices.dtype, a.dtype, parent.dtype)
    entries = words_of(closed), *values_of(closed)
    plan.roots(grid(n), BLOCK, n, *entries, words_of(first), *values_of(first), parent)
    plan.entries(grid(a.nvals), BLOCK, a.nvals, a.indptr, n, a.indices, *values_of(a), *entries, parent)
    plan.missing(grid(n), BLOCK, n, words_of(closed), parent, missing)
    if read_one(missing):  # synchronizes
        return None
    if isinstance(q.closed, IndexList):
        return IndexList(n, parent.dtype, q.closed.indices, gather(parent, q.closed.indices))
    if isinstance(q.closed, Bitmap):
        return Bitmap(n, parent.dtype, q.closed.words, parent, None, q.closed.count)
    return Full(n, parent.dtype, parent)


class _Plan(NamedTuple):
    """The kernels."""

    roots: Kernel
    entries: Kernel
    missing: Kernel


@functools.lru_cache(maxsize=256)
def _plan(op: TypedSemiring, *types: np.dtype[Any]) -> _Plan:
    named = typedefs(**dict(zip(("P", "I", "Y", "L"), types, strict=True)))
    text = named + constants(FORM=2) + semiring(op)
    return _Plan(*(kernel("parents.cuh", f"parents_{name}", text) for name in ("roots", "entries", "missing")))


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    ordered = [op for op in compile_samples.SEMIRINGS if op.add.expr.order]
    for op, index in zip(ordered, (INT32, INT64), strict=True):
        yield _plan(op, index, index, op.mult.y, index)
