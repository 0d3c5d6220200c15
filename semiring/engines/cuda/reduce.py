"""Reduction of rows to a vector, and of everything to one value; the inner product."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP32, INT8, INT32, INT64, is_record
from ...formats import CSR, Array, Bitmap, IndexList, VectorStore
from ...operators.types import TypedBinary, TypedMonoid, TypedSemiring
from ..registry import implements
from ..requests.operations import Inner, ReduceRows, ReduceScalar, ScalarResult
from ..shared.iso_results import reduced_value
from . import compile_samples, tuning
from .degrees import present_rows
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, Queued, counter, grid, multiprocessors, values_of, words_of
from .primitives import as_dense
from .row_tiles import TILE_BLOCK, find_tiles, row_tiles
from .specialize import binary, constants, monoid, semiring, typedefs

# Blocks whose partial results fit into the pool of counters, which needs no allocation.
_FEW_BLOCKS = 16
_INT32 = np.dtype(np.int32)
_TILE_TEXT = constants(TILE=tuning.REDUCE_TILE)


@implements(ReduceRows, engine="cuda")
def reduce_rows(q: ReduceRows) -> VectorStore:
    """t(i) = (+)_j a(i, j): partitioned by entries, not by rows, so skewed rows cost no more.

    An iso-valued matrix is reduced from its row offsets alone.  The result shares the pattern's presence bits of
    non-empty rows; it is full if all rows are known to be non-empty.  Does not wait for the device.
    """
    a, z = q.a, q.monoid.dtype
    value = reduced_value(q.monoid, a.iso)
    if value is not None:
        return present_rows(a.pattern, z, value)
    first_only = q.monoid.is_any
    out = cupy.empty(a.nrows, z)
    plan = _plan(q.monoid, a.dtype, a.indptr.dtype, z)
    if first_only:
        plan.first(grid(a.nrows), BLOCK, a.nrows, a.indptr, *values_of(a), out)
    elif a.iso is not None:
        plan.iso(grid(a.nrows), BLOCK, a.nrows, a.nvals, a.indptr, a.iso, out)
    else:
        segments(plan, a.nvals, a.indptr, a.nrows, row_tiles(a.pattern, tuning.REDUCE_TILE), a, out)
    return present_rows(a.pattern, z, out)


@dataclass(frozen=True)
class Values:
    """Values in an order: an array, or `size` times one scalar."""

    size: int
    dtype: np.dtype[Any]
    values: Array | None
    iso: np.generic | None


class _Plan(NamedTuple):
    """The kernels of a reduction by rows; `iso` and `first` are those of a monoid."""

    tiles: Kernel
    carry: Kernel
    fold: Kernel
    iso: Kernel
    first: Kernel


@functools.lru_cache(maxsize=1024)
def _plan(add: TypedMonoid | TypedBinary, element: np.dtype[Any], offset: np.dtype[Any], out: np.dtype[Any]) -> _Plan:
    op, text = (add.op, monoid("add", add)) if isinstance(add, TypedMonoid) else (add, binary("add", add))
    prologue = typedefs(A=element, P=offset, OUT=out) + _TILE_TEXT
    prologue += constants(FORM=2, COMMUTES="commutative" in op.laws) + text
    return _Plan(*(kernel("reduce.cuh", f"reduce_rows_{name}", prologue) for name in _Plan._fields))


def segments(
    plan: _Plan, n: int, indptr: Array, nrows: int, first_row: Array, source: CSR | Values, out: Array
) -> None:
    """out[r] = the ordered combination of row r's values, for every row that has any, by an associative operator.

    first_row: the tiles of the rows, of REDUCE_TILE steps.
    """
    if n == 0:
        return
    tiles = int(first_row.size) - 1
    carry = cupy.empty(tiles, out.dtype)
    values = values_of(source)
    block = TILE_BLOCK if out.dtype.itemsize <= 8 else TILE_BLOCK // 2
    grid_of_tiles = -(-32 * tiles // block)  # a warp for each
    plan.tiles(grid_of_tiles, block, n, indptr, nrows, *values, first_row, tiles, out, carry)
    if tiles > 1:
        plan.carry(-(-tiles // BLOCK), BLOCK, indptr, nrows, first_row, tiles, carry, out)


def combine_runs(starts: Array, runs: int, source: Values, op: TypedBinary, out: Array) -> None:
    """out[r] = the values at positions starts[r] .. starts[r + 1] combined by `op`, left to right."""
    plan = _plan(op, source.dtype, starts.dtype, out.dtype)
    if "associative" in op.laws:
        first_row = find_tiles(starts, runs, source.size, tuning.REDUCE_TILE)
        segments(plan, source.size, starts, runs, first_row, source, out)
    else:
        plan.fold(grid(runs), BLOCK, runs, starts, *values_of(source), out)


@implements(ReduceScalar, engine="cuda")
def reduce_scalar(q: ReduceScalar) -> ScalarResult:
    """(+) over all entries: one launch.  Reading the result waits for this launch, not for work queued later."""
    a, z = q.a, q.monoid.dtype
    n = a.nvals if isinstance(a, (CSR, IndexList)) else a.size
    if n == 0:
        return None
    words = a.words if isinstance(a, Bitmap) else None
    return _one_value(_reduce_all(q.monoid, a.dtype), n, z, n, words, *values_of(a))


@functools.lru_cache(maxsize=1024)
def _reduce_all(add: TypedMonoid, element: np.dtype[Any]) -> Kernel:
    prologue = typedefs(A=element, P=_INT32, OUT=add.dtype) + constants(FORM=2, COMMUTES=False) + _TILE_TEXT
    return kernel("reduce.cuh", "reduce_all", prologue + monoid("add", add))


@implements(Inner, engine="cuda")
def inner(q: Inner) -> ScalarResult:
    """(+)_k  u(k) (x) v(k): one launch, and one to make a bitmap of v if both are index lists.

    Reading the result waits for it and for nothing that is queued later.
    """
    x, y, swapped = q.u, q.v, False
    if isinstance(y, IndexList) and not isinstance(x, IndexList):
        x, y, swapped = y, x, True
    dense = as_dense(y)
    n = x.nvals if isinstance(x, IndexList) else x.size
    if n == 0:
        return None
    listed = x.indices if isinstance(x, IndexList) else None
    run = _inner_product(q.semiring, x.dtype, y.dtype, None if listed is None else listed.dtype, swapped)
    words = None if isinstance(x, IndexList) else words_of(x)
    operands = (listed, words, *values_of(x), words_of(dense), *values_of(dense))
    return _one_value(run, n, q.semiring.z, n, *operands)


@functools.lru_cache(maxsize=1024)
def _inner_product(
    ring: TypedSemiring, u: np.dtype[Any], v: np.dtype[Any], listed: np.dtype[Any] | None, swapped: bool
) -> Kernel:
    """listed: the type of the indices of an index list."""
    prologue = typedefs(U=u, V=v, I=_INT32 if listed is None else listed, P=_INT32)
    prologue += constants(LISTED=listed is not None, SWAPPED=swapped, FORM=0) + semiring(ring)
    return kernel("inner.cuh", "inner_product", prologue)


def _one_value(run: Kernel, items: int, z: np.dtype[Any], *arguments: Any) -> Callable[[], np.generic | None]:
    """Launch a kernel that ends with `reduce_blocks`; the function returned waits for its value."""
    blocks = min(-(-items // BLOCK), 8 * multiprocessors())  # all of them resident
    partial = 1 + -(-z.itemsize // 8)  # words: whether there is a value, and its bytes
    words = partial * (1 + blocks)
    result = counter(words) if blocks <= _FEW_BLOCKS else cupy.empty(words, np.uint64)
    run(blocks, BLOCK, *arguments, result, counter())
    queued = Queued(result, 8 * partial)

    def value() -> np.generic | None:
        found = queued.read()  # synchronizes
        if not found[0]:
            return None
        read: np.generic = np.frombuffer(found, z, 1, 8)[0]  # the value is in the low bytes behind the first word
        return read

    return value


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for add in (compile_samples.PLUS, compile_samples.MIN8, compile_samples.LOR, compile_samples.ANY):
        yield _plan(add, FP32, INT64, add.dtype), _reduce_all(add, FP32)
    for ring in compile_samples.WIDE_SEMIRINGS:
        yield _plan(ring.add, ring.z, INT64, ring.z), _reduce_all(ring.add, ring.z)
        yield _inner_product(ring, ring.z, ring.z if is_record(ring.z) else FP32, None, False)
    yield _plan(compile_samples.PLUS32, INT8, INT32, INT8), _plan(compile_samples.SECOND8, INT8, INT32, INT8)
    for number, ring in enumerate(compile_samples.SEMIRINGS):
        listed = (None, INT64)[number % 2]
        yield _inner_product(ring, FP32, INT8, listed, number % 4 == 3)
