"""Products with long rows: a block accumulates a row in panels of columns, in shared memory."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import FP32, INT8, INT32, INT64
from ...formats import CSR, Array, Pattern, index_dtype
from ...memory.allocation import allocating
from ...operators.types import TypedSemiring
from ..recording import note
from ..spec import Mxm
from . import samples, tuning
from .algebra import ring_facts
from .arguments import arguments
from .kernel import Kernel, kernel
from .launch import counter, multiprocessors, read_one, values_of
from .mxm_dense import constant
from .primitives import cast_array, exclusive_scan
from .specialise import constants, semiring, typedefs

__all__ = ["panels_product", "rows_cost", "sorted_cost"]

_FILE = "mxm_panels.cuh"
_INT64 = np.dtype(np.int64)
_INT32 = np.dtype(np.int32)
_BYTE = np.dtype(np.uint8)
_BLOCK = 512
# Bytes of the slots of a panel: two blocks of a multiprocessor, or three, have theirs at once.
_SLOT_BYTES = 1 << 16
# Columns of a panel without slots: 16 KB of presence bits, and as many of the mask.
_MOST_COLUMNS = 1 << 17
_LEAST_COLUMNS = 1 << 10


class _Plan(NamedTuple):
    """The call plan: the packer of ``PanelArguments``, and the kernels."""

    pack: Callable[..., bytes]
    first: Kernel
    second: Kernel


@functools.lru_cache(maxsize=1024)
def _plan(
    ring: TypedSemiring,
    mask: tuple[bool, bool] | None,
    keeps: bool,
    panel: int,
    elements: tuple[Any, ...],
    *integers: np.dtype[Any],
) -> _Plan:
    """Return the plan.

    mask: whether it admits by value, and whether it is complemented.  keeps: results have values of their own.
    panel: its columns.  elements: the types of the values of A, B and the mask.  integers: AP, AI, BP, BI, MP, MI, O.
    """
    valued, complement = mask or (False, False)
    types = dict(zip(("A", "B", "M"), elements, strict=True))
    prologue = (
        typedefs(**dict(zip(("AP", "AI", "BP", "BI", "MP", "MI", "O"), integers, strict=True)))
        + typedefs(**types)
        + constants(MASKED=mask is not None, VALUED=valued, COMPLEMENT=complement, KEEPS=keeps)
        + constants(NATIVE=ring_facts(ring).native, PANEL=panel, BLOCK=_BLOCK)
        + semiring(ring)
    )
    pack = arguments(_FILE, "PanelArguments", **types, Z=ring.z)
    return _Plan(pack, *(kernel(_FILE, name, prologue) for name in ("mxm_panels_count", "mxm_panels_store")))


def sorted_cost(products: int) -> float:
    """Return the cost of a product by a sort."""
    return tuning.SORTED_PRODUCT * products


def rows_cost(q: Mxm, products: int) -> float:
    """Return the cost of a product by rows; infinite if slots have no exact start."""
    facts, iso = ring_facts(q.semiring), constant(q)
    if iso is None and not facts.is_any and not (facts.exact and facts.start is not None):
        return math.inf
    panel, panels = _panels(q)
    slots = q.a.nrows * panels * panel // (1 if iso is None else 32)
    return tuning.ROWS_PRODUCT * products + slots / tuning.ROWS_SLOTS


def _panels(q: Mxm) -> tuple[int, int]:
    """Return the columns of a panel, a power of two, and the panels of a row."""
    most = _MOST_COLUMNS if constant(q) is not None else _SLOT_BYTES // max(q.semiring.z.itemsize, 4)
    panel = max(_LEAST_COLUMNS, min(most, 1 << (q.ncols - 1).bit_length()))
    return panel, -(-q.ncols // panel)


def panels_product(q: Mxm, products: int) -> CSR | None:
    """t(i, j) = (+)_k A(i, k) (x) B(k, j), row by row; None if another method costs less.

    Each product is visited twice, and each panel costs its slots: it pays where rows of the result are long.  Memory
    beyond the result: 16 bytes a row and panel.  Synchronises: reads the number of entries.
    """
    a, b, z, mask, facts = q.a, q.b, q.semiring.z, q.mask, ring_facts(q.semiring)
    iso, cost = constant(q), rows_cost(q, products)
    if cost == math.inf or (q.method != "rows" and cost > sorted_cost(products)):
        return None
    panel, panels = _panels(q)
    note(method="rows", products=products, panels=panels)
    m = None if mask is None else mask.store
    assert m is None or isinstance(m, CSR)
    valued = mask is not None and not mask.structural
    index = index_dtype(b.ncols)
    plan = _plan(
        q.semiring,
        None if mask is None else (valued, mask.complement),
        iso is None,
        panel,
        (a.dtype, b.dtype, m.dtype if m is not None and valued else _BYTE),
        a.indptr.dtype, a.indices.dtype, b.indptr.dtype, b.indices.dtype,
        _INT32 if m is None else m.indptr.dtype, _INT32 if m is None else m.indices.dtype, index,
    )  # fmt: skip
    counts = cupy.empty(a.nrows * panels, _INT64)
    state, blocks = counter(2), multiprocessors() * (2048 // _BLOCK)
    (a_values, a_iso), (b_values, b_iso) = values_of(a), values_of(b)
    m_values, m_iso = values_of(m) if m is not None and valued else (None, _BYTE.type(0))

    def packed(taken: int, offsets: Array | None, indices: Array | None, values: Array | None) -> bytes:
        return plan.pack(
            a_indptr=a.indptr, a_indices=a.indices, a_values=a_values, a_iso=a_iso, b_indptr=b.indptr,
            b_indices=b.indices, b_values=b_values, b_iso=b_iso, mask_indptr=None if m is None else m.indptr,
            mask_indices=None if m is None else m.indices, mask_values=m_values, mask_iso=m_iso,
            start=z.type(0) if facts.start is None else facts.start, nrows=a.nrows, panels=panels, counts=counts,
            offsets=offsets, taken=taken, indices=indices, values=values,
        )  # fmt: skip

    plan.first(blocks, _BLOCK, packed(state.data.ptr, None, None, None))
    offsets = exclusive_scan(counts, _INT64)
    nvals = read_one(offsets[-1:])  # synchronises
    size = nvals * (index.itemsize + (0 if iso is not None else z.itemsize)) + (a.nrows + 1) * 8
    with allocating("mxm", "cuda", needed=lambda: size):
        indices = cupy.empty(nvals, index)
        values = None if iso is not None else cupy.empty(nvals, z)
        indptr = cast_array(cupy.ascontiguousarray(offsets[::panels]), index_dtype(nvals))
    shared = panel * max(z.itemsize, 4) if iso is None else 0
    plan.second(blocks, _BLOCK, packed(state.data.ptr + 8, offsets, indices, values), shared=shared)
    return CSR(Pattern(a.nrows, b.ncols, indptr, indices), z, values, iso)


def catalogue() -> Iterator[samples.Entry]:
    """Yield (kernel file, prologue): the rows of the catalogue for the kernels of this module."""
    for number, ring in enumerate(samples.SEMIRINGS):
        types = typedefs(AP=INT64, AI=INT32, A=FP32, BP=INT32, BI=INT64, B=INT8, MP=INT32, MI=INT32, M=INT8, O=INT64)
        flags = constants(MASKED=number > 0, VALUED=number > 1, COMPLEMENT=number > 2, KEEPS=number != 4)
        sizes = constants(NATIVE=ring_facts(ring).native, PANEL=_LEAST_COLUMNS << number, BLOCK=_BLOCK)
        yield _FILE, types + flags + sizes + semiring(ring)
