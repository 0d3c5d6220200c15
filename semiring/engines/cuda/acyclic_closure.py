"""The closure of a vector under an acyclic matrix: the loop over generations runs on the device."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import BOOL, FP32, INT32, INT64, UINT32, UINT64
from ...exceptions import NotSupported
from ...formats import CSR, Bitmap, Full, index_dtype, structure_only, word_count
from ...operators import lookup_semiring
from ...operators.expression import Expression
from ...operators.types import TypedIndexUnary, TypedSemiring
from ...record_types import zero
from ..registry import ADDRESSABLE, implements, run
from ..requests.graphs import AcyclicClosure, AcyclicResult
from ..requests.operands import Rows
from ..requests.operations import Mxv, Transpose
from . import compile_samples, tuning
from .algebra import native_atomic, start_value
from .arguments import arguments
from .columns import codec_types, column_argument, column_types
from .degrees import degrees
from .kernel import Handles, Kernel, kernel
from .launch import bitmap, grid, multiprocessors, read_words, scratch, values_of, words_of
from .packing import packing
from .primitives import as_dense
from .specialize import constants, indexunary, semiring, typedefs

# Words of the state (acyclic_closure.cuh): listed, barrier, found, three counters.
_STATE = 6


class _Plan(NamedTuple):
    """The call plan: its kernels, and the packer of ``AcyclicArguments``."""

    enter: Kernel
    search: Kernel
    finish: Kernel
    pack: Callable[..., bytes]


@implements(AcyclicClosure, engine="cuda", accepts=ADDRESSABLE)
def acyclic_closure(q: AcyclicClosure) -> AcyclicResult:
    """Generation after generation in one cooperative launch; the number of entries in each column by a push before.

    Memory beyond the matrix and the result: a count, a column and two offsets a row.  Synchronizes once, at the end.
    Raises NotSupported for values of 16 bytes, and for monoids without an identity, except `any`.
    """
    a, n, z = q.a, q.a.nrows, q.semiring.z
    start = zero(z) if q.semiring.add.is_any else start_value(q.semiring.add)
    if start is None or z.itemsize > 8:
        raise NotSupported(
            f"acyclic_closure: on a GPU the monoid of {q.semiring.name} needs an identity and values of at most 8 bytes"
            "; move both operands by .to('cpu')"
        )
    if n == 0:
        return AcyclicResult(q.x, 0)
    shift = packing("acyclic_closure", n, a.nvals, "divide the graph into parts")
    x, counts = as_dense(q.x), _entries_of_columns(a)
    words, values, state = cupy.empty(word_count(n), np.uint32), cupy.empty(n, z), cupy.zeros(_STATE, np.uint64)
    offset, count = a.pattern.indptr.dtype, UINT32 if n < 2**32 else UINT64
    sizes = n * index_dtype(n).itemsize, n * offset.itemsize, n * offset.itemsize, n * count.itemsize
    _held, (row, begin, before, waiting) = scratch(*sizes)
    a_values, a_iso = values_of(a)
    plan = _plan(q.semiring, q.then, offset, a.dtype, count, column_types(a.pattern))
    given = plan.pack(
        indptr=a.pattern.indptr, indices=column_argument(a.pattern), a_values=a_values, a_iso=a_iso, present=words,
        values=values, absent=start, waiting=waiting, row=row, start=begin, before=before, state=state, n=n,
        shift=shift, skewed=degrees(a.pattern).longest > tuning.SKEWED_ROW,
    )  # fmt: skip
    block = tuning.GRID_BLOCK
    plan.enter(grid(n, block), block, words_of(x), *values_of(x), words_of(counts), *values_of(counts), given)
    plan.search(multiprocessors() * plan.search.resident_blocks(block), block, given, cooperative=True)
    plan.finish(grid(n), 256, given)
    listed, _, found = read_words(state.data.ptr, 3)  # synchronizes
    store = Full(n, z, values) if found == n else bitmap(n, z, words, values, found)
    return AcyclicResult(store, listed >> shift)


def _entries_of_columns(a: CSR) -> Bitmap | Full:
    """Return the number of entries of each column that has any."""
    n = a.nrows
    ones, ring = Full(n, INT64, None, np.int64(1), "cuda"), lookup_semiring("plus_pair").typed(INT64, INT64)
    rows = Rows(None, functools.partial(run, Transpose(a), "cuda")), Rows(structure_only(a.pattern))
    return as_dense(run(Mxv(n, n, *rows, ones, ring, True, None, "push"), "cuda"))


@functools.lru_cache(maxsize=1024)
def _plan(
    ring: TypedSemiring,
    then: TypedIndexUnary | None,
    offset: np.dtype[Any],
    element: np.dtype[Any],
    count: np.dtype[Any],
    columns: str,
) -> _Plan:
    """count: the type of the counts.  columns: the part of the prologue that describes the columns of the pattern."""
    native = 0 if ring.add.is_any else native_atomic(ring.add.op)
    step = TypedIndexUnary("identity", ring.z, BOOL, ring.z, Expression("x")) if then is None else then
    prologue = semiring(ring) + typedefs(P=offset, A=element, Z=ring.z, W=count)
    prologue += indexunary("then", step) + constants(THEN=then is not None, NATIVE=native) + columns
    prologue += constants(GRID_BLOCK=tuning.GRID_BLOCK, EAGER_EDGES=tuning.EAGER_EDGES)
    file = "acyclic_closure.cuh"
    enter, search, finish = (kernel(file, f"acyclic_{name}", prologue) for name in ("enter", "grid", "finish"))
    return _Plan(enter, search, finish, arguments(file, "AcyclicArguments", A=element, Z=ring.z))


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for number, ring in enumerate((*compile_samples.SEMIRINGS, compile_samples.COMPLEX_SEMIRINGS[0])):
        offset, count = ((INT32, UINT32), (INT64, UINT64))[number % 2]
        then = TypedIndexUnary("twice", ring.z, BOOL, ring.z, Expression("x")) if number % 3 == 0 else None
        for columns in (
            codec_types("uncompressed", offset),
            compile_samples.COMPRESSED[number % len(compile_samples.COMPRESSED)],
        ):
            yield _plan(ring, then, offset, FP32, count, columns)
