"""A spanning forest in the order of values, by Borůvka's algorithm: the rounds of ``span.cuh``."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import BOOL, FP64, INT8, INT32, INT64, UINT32, UINT64
from ...formats import CSR, index_dtype, word_count
from ...memory.allocation import require
from ..registry import RESIDENT, implements
from ..requests.graphs import Span
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, read_one
from .primitives import compact_csr, counting
from .specialize import constants, typedefs


@implements(Span, engine="cuda", accepts=RESIDENT)
def span(q: Span) -> CSR:
    """At most log2(n) rounds, of two passes over the entries each.  Synchronizes once a round."""
    a, n = q.a, q.a.nrows
    if a.nvals == 0:
        return a
    key = UINT64 if a.values is not None and a.dtype.itemsize > 4 else UINT32
    require("span", "cuda", n * (index_dtype(n).itemsize + key.itemsize + 8) + a.nvals // 8)
    plan = _plan(key, q.largest, a.values is not None, a.indptr.dtype, a.indices.dtype, a.dtype, index_dtype(n))
    label, places = counting(n, index_dtype(n)), cupy.empty(n, np.uint64)
    keys = None if a.values is None else cupy.empty(n, key)
    marks, joined = cupy.zeros(word_count(a.nvals), np.uint32), cupy.empty(1, np.uint32)
    entries = a.nvals, a.indptr, n, a.indices, a.values, label
    plan.next(grid(n), BLOCK, n, label, keys, places, joined)
    while True:
        if keys is not None:
            plan.keys(grid(a.nvals), BLOCK, *entries, keys)
        plan.places(grid(a.nvals), BLOCK, *entries, keys, places)
        plan.join(grid(n), BLOCK, a.indptr, n, a.indices, places, label, marks, joined)
        if not read_one(joined):  # synchronizes
            return compact_csr(a, marks)  # synchronizes
        plan.next(grid(n), BLOCK, n, label, keys, places, joined)


class _Plan(NamedTuple):
    """The kernels of a round."""

    keys: Kernel
    places: Kernel
    join: Kernel
    next: Kernel


@functools.lru_cache(maxsize=256)
def _plan(key: np.dtype[Any], largest: bool, valued: bool, *types: np.dtype[Any]) -> _Plan:
    named = typedefs(KEY=key, **dict(zip(("P", "I", "V", "F"), types, strict=True)))
    text = named + constants(DESCENDING=largest, VALUED=valued, FORM=2)
    return _Plan(*(kernel("span.cuh", f"span_{name}", text) for name in ("keys", "places", "join", "next")))


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    yield _plan(UINT32, False, True, INT32, INT32, INT8, INT32)
    yield _plan(UINT64, True, True, INT64, INT64, FP64, INT64)
    yield _plan(UINT32, False, False, INT32, INT32, BOOL, INT32)
