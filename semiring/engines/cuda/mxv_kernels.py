"""The kernels of the matrix-vector product, for a semiring, types and flags."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FC64, FP32, INT8, INT32, INT64, UINT8
from ...formats import CSR, Array, Bitmap, Full, word_count
from ...operators.types import TypedSemiring
from ..requests.operations import Mxv
from . import compile_samples, tuning
from .algebra import ring_facts
from .columns import column_types
from .kernel import Handles, Kernel, kernel
from .launch import Counter, bitmap, counter
from .mxv_mask import KernelMask
from .specialize import constants, semiring, typedefs

__all__ = [
    "PLANS",
    "Output",
    "Types",
    "balanced_kernels",
    "count_bits_kernel",
    "either_kernel",
    "pull_kernel",
    "push_kernels",
    "types_of",
]

# Call plans of one matrix; a program uses few semirings and types with it.
PLANS = 64
_BALANCED = ("mxv_balanced", "mxv_carry")


class Output(NamedTuple):
    """What the kernels of a product write: presence and number of entries, and values.

    words, counter: None if the pattern alone determines which rows have an entry.  constant: the value of all entries,
    if it is known beforehand; otherwise `values` has a slot for every row.
    """

    words: Array | None
    values: Array | None
    constant: np.generic | None
    counter: Counter | None

    @classmethod
    def of(cls, q: Mxv, constant: np.generic | None) -> Output:
        """Allocate the output of a product; the kernels write all words."""
        values = cupy.empty(q.nout, q.semiring.z) if constant is None else None
        return cls(cupy.empty(word_count(q.nout), np.uint32), values, constant, counter())

    def store(self, q: Mxv) -> Bitmap:
        """The product, whose count stays on the device."""
        assert self.words is not None
        assert self.counter is not None
        values = self.values if self.constant is None else self.constant
        return bitmap(q.nout, q.semiring.z, self.words, values, self.counter)


class Types(NamedTuple):
    """What the text of a product's kernels depends on besides the semiring."""

    offset: np.dtype[Any]
    columns: str
    element: np.dtype[Any]
    operand: np.dtype[Any]
    masked: np.dtype[Any]
    flip: bool
    u_full: bool
    form: int
    complement: bool
    valued: bool


def types_of(q: Mxv, a: CSR, mask: KernelMask, valued: bool) -> Types:
    """valued: products have values of their own."""
    u = q.vector
    return Types(
        a.pattern.indptr.dtype, column_types(a.pattern), a.dtype, u.dtype, mask.dtype, q.flip, isinstance(u, Full),
        mask.form, mask.complement, valued,
    )  # fmt: skip


@functools.lru_cache(maxsize=1024)
def _prologue(ring: TypedSemiring, types: Types) -> str:
    named = typedefs(P=types.offset, A=types.element, U=types.operand, M=types.masked) + types.columns
    flags = constants(
        FLIP=types.flip, U_FULL=types.u_full, MASK=types.form, COMPLEMENT=types.complement, VALUED=types.valued
    )
    return semiring(ring) + named + flags


@functools.lru_cache(maxsize=1024)
def pull_kernel(ring: TypedSemiring, types: Types, entry: str, lanes: int) -> Kernel:
    """lanes: that process a row together."""
    own = constants(GROUP=lanes, PROBES=tuning.PROBES)
    return kernel("mxv_pull.cuh", entry, _prologue(ring, types) + own)


@functools.lru_cache(maxsize=1024)
def balanced_kernels(ring: TypedSemiring, types: Types) -> tuple[Kernel, Kernel]:
    """The kernels of the tiles, and of the carry of rows that span several."""
    text = _prologue(ring, types) + constants(TILE=tuning.TILE, BLOCK=tuning.TILE_BLOCK)
    balanced, carry = (kernel("mxv_balanced.cuh", name, text) for name in _BALANCED)
    return balanced, carry


@functools.lru_cache(maxsize=1024)
def push_kernels(ring: TypedSemiring, types: Types, form: int) -> tuple[Kernel, Kernel]:
    """form: of the vector: 0 an index list, 1 a bitmap, 2 full."""
    own = constants(U_FORM=form, NATIVE=ring_facts(ring).native, BLOCK=tuning.PUSH_BLOCK)
    text = _prologue(ring, types) + own
    return kernel("mxv_push.cuh", "mxv_list", text), kernel("mxv_push.cuh", "mxv_push", text)


@functools.lru_cache(maxsize=1024)
def either_kernel(ring: TypedSemiring, types: Types) -> Kernel:
    """The kernel that chooses between push and pull, for a bitmap."""
    own = constants(
        U_FORM=1, NATIVE=ring_facts(ring).native, BLOCK=tuning.PUSH_BLOCK, RESIDENT=tuning.GRID_RESIDENT,
        PROBES=tuning.PROBES, **tuning.cost_constants(tuning.DEVICE),
    )  # fmt: skip
    return kernel("mxv_adaptive.cuh", "mxv_adaptive", _prologue(ring, types) + own)


@functools.cache
def count_bits_kernel() -> Kernel:
    """Return the kernel that adds the number of bits of words to a counter."""
    return kernel("convert.cuh", "count_bits", typedefs(I=INT32, V=UINT8))


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    yield count_bits_kernel()
    shapes = ((INT32, False, 0), (INT64, True, 1), (INT32, True, 2), (INT32, False, 3))
    for number, ring in enumerate(compile_samples.SEMIRINGS):
        for shape in (number, number + 1):
            index, flip, mask = shapes[shape % 4]
            compressed = compile_samples.COMPRESSED[(number + shape) % len(compile_samples.COMPRESSED)]
            for columns, lanes in (
                (compile_samples.UNCOMPRESSED, (1, 8, 32)[shape % 3]),
                (compressed, (1, 32)[number % 2]),
            ):
                masked = FP32 if mask > 1 else UINT8
                types = Types(index, columns, FP32, INT8, masked, flip, not flip, mask, flip, mask != 1)
                yield pull_kernel(ring, types, "mxv_pull_group", lanes), balanced_kernels(ring, types)
                yield push_kernels(ring, types, shape % 2 if flip else 2)
                if flip:  # a bitmap under a mask
                    yield either_kernel(ring, types)
    some = Types(INT32, compile_samples.UNCOMPRESSED, FP32, FP32, UINT8, True, False, 1, False, True)
    yield pull_kernel(compile_samples.SEMIRINGS[0], some, "mxv_pull_early", 1)
    for values in (FC64, compile_samples.RECORD_SEMIRINGS[0].z):  # that the operator does not read
        types = some._replace(operand=values)
        yield push_kernels(compile_samples.SEMIRINGS[-1], types, 1), either_kernel(compile_samples.SEMIRINGS[-1], types)
    for number, ring in enumerate(compile_samples.WIDE_SEMIRINGS):
        form = number % 3
        types = some._replace(element=ring.z, operand=ring.z, masked=FP32 if form > 1 else UINT8)
        types = types._replace(flip=number == 1, form=form)
        yield pull_kernel(ring, types, "mxv_pull_group", 8), balanced_kernels(ring, types)
        if ring_facts(ring).start is not None:
            yield push_kernels(ring, types, 1)
