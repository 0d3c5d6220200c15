"""The operands of a product of matrices by rows, as kernels receive them: see ``mxm_operands.cuh``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...config import config
from ...dtypes import FP32, INT8, INT32, INT64
from ...formats import CSR, index_dtype
from ...memory.budget import free_device_memory
from ...operators.types import TypedSemiring
from ...record_types import zero
from ..requests.operations import Mxm
from ..shared.iso_results import product_value
from . import compile_samples
from .algebra import ring_facts
from .arguments import arguments
from .launch import values_of
from .specialize import constants, semiring, typedefs

__all__ = ["Operands", "constant", "fits", "operand_packer", "operands", "pack_operands", "sampled"]

_BYTE = np.dtype(np.uint8)
_INT32 = np.dtype(np.int32)
# Without a budget, so many bytes are taken to be free: the query takes longer than small products.
_FEW_BYTES = 1 << 28


class Operands(NamedTuple):
    """What kernels of a product share.

    prologue: their parameters.  packed: the struct ``ProductArguments``.  iso: the value of every result, if it is
    known.  column: the type of columns of the result.  entry_bytes: of an entry of the result.
    """

    prologue: str
    packed: bytes
    iso: np.generic | None
    column: np.dtype[Any]
    entry_bytes: int


def constant(q: Mxm) -> np.generic | None:
    """Return the value of every result if products are constant and the monoid is `any`, else None."""
    return product_value(q.semiring, q.a.iso, q.b.iso) if q.semiring.add.is_any else None


def fits(count: int) -> bool:
    """Return True if so many bytes are free; without a query if they are few."""
    budget = config.device_memory
    return count <= (_FEW_BYTES if budget is None else budget // 64) or count < free_device_memory()


def operands(q: Mxm) -> Operands:
    """Return the operands of a product."""
    a, b, z, mask, facts = q.a, q.b, q.semiring.z, q.mask, ring_facts(q.semiring)
    iso, index = constant(q), index_dtype(b.ncols)
    m = None if mask is None else mask.store
    assert m is None or isinstance(m, CSR)
    valued = m is not None and mask is not None and not mask.structural
    prologue, pack = _plan(
        q.semiring,
        None if mask is None else (valued, mask.complement),
        iso is None,
        (a.dtype, b.dtype, m.dtype if m is not None and valued else _BYTE),
        (
            a.indptr.dtype, a.indices.dtype, b.indptr.dtype, b.indices.dtype,
            _INT32 if m is None else m.indptr.dtype, _INT32 if m is None else m.indices.dtype,
            index, index_dtype(a.nrows),
        ),
    )  # fmt: skip
    packed = pack_operands(pack, a, b, m, zero(z) if facts.start is None else facts.start, valued=valued)
    return Operands(prologue, packed, iso, index, index.itemsize + (z.itemsize if iso is None else 0))


def pack_operands(
    pack: Callable[..., bytes], a: CSR, b: CSR, m: CSR | None, start: np.generic, *, valued: bool
) -> bytes:
    """Return the struct ``ProductArguments``.  m: the store of the mask.  valued: the mask admits by value."""
    (a_values, a_iso), (b_values, b_iso) = values_of(a), values_of(b)
    m_values, m_iso = values_of(m) if m is not None and valued else (None, _BYTE.type(0))
    return pack(
        a_indptr=a.indptr, a_indices=a.indices, a_values=a_values, a_iso=a_iso, b_indptr=b.indptr, b_indices=b.indices,
        b_values=b_values, b_iso=b_iso, mask_indptr=None if m is None else m.indptr,
        mask_indices=None if m is None else m.indices, mask_values=m_values, mask_iso=m_iso, nrows=a.nrows, start=start,
    )  # fmt: skip


def operand_packer(**types: np.dtype[Any]) -> Callable[..., bytes]:
    """Return the packer of ``ProductArguments``.  types: A, B, M and Z."""
    return arguments("mxm_operands.cuh", "ProductArguments", **types)


@functools.lru_cache(maxsize=1024)
def _plan(
    ring: TypedSemiring,
    mask: tuple[bool, bool] | None,
    keeps: bool,
    elements: tuple[np.dtype[Any], ...],
    integers: tuple[np.dtype[Any], ...],
) -> tuple[str, Callable[..., bytes]]:
    """Return the parameters of the kernels, and the packer of ``ProductArguments``.

    mask: whether it admits by value, and whether it is complemented.  keeps: results have values of their own.
    elements: the types of the values of A, B and the mask.  integers: AP, AI, BP, BI, MP, MI, O, R.
    """
    valued, complement = mask or (False, False)
    facts = ring_facts(ring)
    types = dict(zip(("A", "B", "M"), elements, strict=True))
    prologue = (
        typedefs(**dict(zip(("AP", "AI", "BP", "BI", "MP", "MI", "O", "R"), integers, strict=True)))
        + typedefs(**types)
        + constants(MASKED=mask is not None, VALUED=valued, COMPLEMENT=complement, KEEPS=keeps)
        + constants(NATIVE=facts.native, ORDERED=not facts.is_any and facts.start is None)
        + semiring(ring)
    )
    return prologue, operand_packer(**types, Z=ring.z)


def sampled() -> Iterator[tuple[str, int]]:
    """Yield `prologue` and `entry_bytes` of operands for the samples of the kernels of products."""
    for number in range(len(compile_samples.SEMIRINGS) + 1):
        ring = compile_samples.SEMIRINGS[min(number, len(compile_samples.SEMIRINGS) - 1)]
        index, keeps, part = (INT32, INT64)[number % 2], number != 4, number % 5
        mask = (part > 1, part > 2) if part else None
        integers = INT64, INT32, INT32, index, INT32, INT32, index, INT32
        prologue, _ = _plan(ring, mask, keeps, (FP32, INT8, INT8 if part > 1 else _BYTE), integers)
        yield prologue, index.itemsize + (ring.z.itemsize if keeps else 0)
    for ring in compile_samples.WIDE_SEMIRINGS:
        integers = INT64, INT32, INT32, INT32, INT32, INT32, INT32, INT32
        prologue, _ = _plan(ring, (True, False), True, (ring.z, ring.z, ring.z), integers)
        yield prologue, INT32.itemsize + ring.z.itemsize
