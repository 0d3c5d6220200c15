"""Products of dense matrices: cuBLAS for plus_times of floats, tiles in shared memory for every other semiring."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP32, FP64, INT8, is_record
from ...formats import CSR, Array, Full, FullPattern
from ...formats.csr import empty_csr
from ...operators.types import TypedSemiring
from ...record_types import zero
from ..recording import note
from ..shared.iso_results import product_value
from . import compile_samples
from .algebra import ring_facts
from .arguments import arguments
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, grid, multiprocessors, values_of
from .mxm_full_rows import product_rows
from .specialize import constants, semiring, typedefs

__all__ = ["dense_product", "full_times_full", "is_blas"]

_FILE = "mxm_full_gemm.cuh"
_BLOCK = 256
_TILE = 64
_DEPTH = 16
# The least number of k for which another block shares a tile: as many steps as cost a launch.
_SHORTEST = 16 * _DEPTH


class _Plan(NamedTuple):
    """The call plan: the packer of ``GemmArguments``, and the kernels."""

    pack: Callable[..., bytes]
    tiles: Kernel
    combine: Kernel


@functools.lru_cache(maxsize=1024)
def _plan(ring: TypedSemiring, reads: tuple[bool, bool], a: np.dtype[Any], b: np.dtype[Any]) -> _Plan:
    facts = ring_facts(ring)
    flags = constants(A_VALUES=reads[0], B_VALUES=reads[1], STARTED=facts.start is not None)
    pack = arguments(_FILE, "GemmArguments", A=a, B=b, Z=ring.z)
    prologue = typedefs(A=a, B=b) + flags + semiring(ring)
    return _Plan(pack, *(kernel(_FILE, name, prologue) for name in ("mxm_gemm", "mxm_gemm_combine")))


@functools.lru_cache(maxsize=1024)
def is_blas(ring: TypedSemiring, a: np.dtype[Any], b: np.dtype[Any]) -> bool:
    """Return True for plus_times of two matrices of one type, float32 or float64."""
    add, mult = ring.add.op, ring.mult
    types = {a, b, add.x, add.y, add.z, mult.x, mult.y, mult.z}
    return len(types) == 1 and a in (FP32, FP64) and add.expr.is_addition and mult.expr.is_multiplication


def full_times_full(a: CSR, b: CSR, ring: TypedSemiring) -> CSR:
    """t(i, j) = (+)_k a(i, k) (x) b(k, j) for full rows; the rows of the result are those of a that are not empty.

    If rows of b are empty, or rows of a, the product must not read their positions.
    """
    pattern, full = a.pattern, b.pattern
    assert isinstance(pattern, FullPattern)
    assert isinstance(full, FullPattern)
    made = product_rows(pattern).result(pattern, b.ncols)
    if b.nvals == 0 or made.nvals == 0:
        return empty_csr(a.nrows, b.ncols, ring.z, "cuda")
    nrows, inner = a.nvals // a.ncols, b.nvals // b.ncols
    left: CSR | Full = a
    if inner < b.nrows and a.values is not None:  # the columns of a whose rows of b are not empty
        present = cupy.flatnonzero(cupy.diff(full.indptr))  # synchronizes
        left = Full(nrows * inner, a.dtype, cupy.take(a.values.reshape(nrows, a.ncols), present, axis=1).reshape(-1))
    return CSR(made, ring.z, *dense_product(left, b, (nrows, inner, b.ncols), ring))


def dense_product(
    a: CSR | Full, b: CSR | Full, shape: tuple[int, int, int], ring: TypedSemiring
) -> tuple[Array | None, np.generic | None]:
    """Return the values of the product of two row-major arrays, or the value that all have; `shape` has no zero.

    a, b: stores with these values.  shape: rows of a, columns of a, columns of b.  plus_times of two arrays of one
    type, float32 or float64, is cuBLAS's: products are added in an order of its choice, in that type.
    """
    (nrows, inner, ncols), z, facts = shape, ring.z, ring_facts(ring)
    iso = product_value(ring, a.iso, b.iso)
    if iso is not None:
        note(method="gemm")
        return None, iso
    if is_blas(ring, a.dtype, b.dtype):
        note(method="gemm", kernel="cuBLAS")
        x = cupy.full((nrows, inner), a.iso, z) if a.values is None else a.values.reshape(nrows, inner)
        y = cupy.full((inner, ncols), b.iso, z) if b.values is None else b.values.reshape(inner, ncols)
        return cupy.matmul(x, y).reshape(-1), None
    note(method="gemm")
    plan = _plan(ring, (facts.x and a.values is not None, facts.y and b.values is not None), a.dtype, b.dtype)
    across = -(-ncols // _TILE)
    tiles, read = -(-nrows // _TILE) * across, 1 if facts.is_any else inner
    wanted = max(1, min(2 * multiprocessors() // tiles, read // _SHORTEST))
    length = -(-read // (wanted * _DEPTH)) * _DEPTH
    parts, count = -(-read // length), nrows * ncols
    out = cupy.empty(count, z)
    partial = out if parts == 1 else cupy.empty(parts * count, z)
    (a_values, a_iso), (b_values, b_iso) = values_of(a), values_of(b)
    plan.tiles(tiles * parts, _BLOCK, plan.pack(
        a_values=a_values, a_iso=a_iso, b_values=b_values, b_iso=b_iso, c_values=partial,
        start=zero(z) if facts.start is None else facts.start, nrows=nrows, inner=read, ncols=ncols,
        a_stride=inner, across=across, tiles=tiles, range=length,
    ))  # fmt: skip
    if parts > 1:
        plan.combine(grid(count), BLOCK, partial, count, parts, out)
    return out, None


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    for number, ring in enumerate(compile_samples.SEMIRINGS):
        facts = ring_facts(ring)
        yield _plan(ring, (facts.x and number != 1, facts.y), FP32, INT8)  # of 1, A has one value
    for ring in compile_samples.WIDE_SEMIRINGS:
        yield _plan(ring, (True, True), ring.z, ring.z if is_record(ring.z) else FP32)
