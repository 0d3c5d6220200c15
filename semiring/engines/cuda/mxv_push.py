"""Push: the entries of the vector are multiplied by their columns; atomics combine the products."""

from __future__ import annotations

from typing import Any

from ...formats import CSR, Bitmap, IndexList, VectorStore, index_dtype, word_count
from ..recording import note
from ..requests.operations import Mxv
from ..shared.iso_results import mxv_value
from . import tuning
from .algebra import ring_facts
from .columns import column_argument
from .launch import counter, grid, multiprocessors, scratch, values_of
from .mxv_kernels import PLANS, Output, push_kernels, types_of
from .mxv_mask import KernelMask
from .packing import packing
from .primitives import fill

__all__ = ["listed", "push", "work_list"]


def listed(u: VectorStore) -> int:
    """A bound on the entries of u that does not wait for the device."""
    if isinstance(u, IndexList) or (isinstance(u, Bitmap) and u.count.known):
        return u.nvals
    return u.size


def push(q: Mxv, mask: KernelMask) -> VectorStore:
    """Follow the edges of every entry of the vector."""
    a, u, facts = q.by_column.get(), q.vector, ring_facts(q.semiring)
    capacity = listed(u)
    shift = packing("mxv", capacity, a.nvals, "let direction be 'auto'")
    out = Output.of(q, mxv_value(q, a, u))
    valued = out.constant is None
    form = 0 if isinstance(u, IndexList) else 1 if isinstance(u, Bitmap) else 2
    plans = a.pattern.facts.setdefault("cuda.push", {})
    key = q.semiring, a.dtype, u.dtype, form, mask.form, mask.complement, mask.dtype, q.flip, valued
    kernels = plans.get(key)
    if kernels is None:
        if len(plans) >= PLANS:
            plans.clear()
        kernels = plans[key] = push_kernels(q.semiring, types_of(q, a, mask, valued), form)
    run_list, run_push = kernels
    if out.values is not None and facts.start is not None:
        fill(out.values, facts.start)
    memory, row, start, before, carried = work_list(q, a, capacity, valued=valued)
    indices = u.indices.astype(index_dtype(a.ncols), copy=False) if isinstance(u, IndexList) else None
    words = u.words if isinstance(u, Bitmap) else None
    items, block, entries = u.nvals if isinstance(u, IndexList) else u.size, tuning.PUSH_BLOCK, counter()
    run_list(
        max(grid(items, block, 1 if form == 0 else 4), grid(word_count(q.nout), block)), block, a.indptr, indices,
        words, *values_of(u), items, row, start, before, carried, entries, shift, capacity, out.words, q.nout,
    )  # fmt: skip
    run_push(
        4 * multiprocessors(), block, a.indptr, column_argument(a.pattern), *values_of(a), None, *values_of(u),
        mask.words, mask.values, out.words, out.values, q.nout, row, start, before, carried, entries, shift,
        out.counter,
    )  # fmt: skip
    del memory  # referenced until the last kernel that uses it is queued
    note(direction="push", kernel="push")
    return out.store(q)


def work_list(q: Mxv, a: CSR, capacity: int, *, valued: bool) -> tuple[Any, int, int, int, int | None]:
    """Allocate the list of the entries of the vector; return the memory, and the addresses of its arrays.

    The arrays: rows, their first entries, the edges before each, and the values, where the product reads them.
    """
    offsets, facts, u = capacity * a.indptr.dtype.itemsize, ring_facts(q.semiring), q.vector
    carries = valued and (facts.x if q.flip else facts.y)
    memory, (row, start, before, at) = scratch(
        capacity * index_dtype(a.ncols).itemsize, offsets, offsets, capacity * u.dtype.itemsize if carries else 0
    )
    return memory, row, start, before, at if carries else None
