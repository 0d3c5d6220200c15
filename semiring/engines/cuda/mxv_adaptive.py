"""The matrix-vector product whose direction the device chooses, in one cooperative launch.

The numbers that the choice depends on, the edges of the vector's entries and the rows that the mask admits, are often
known on the device alone; nothing waits for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cupy.cuda import runtime

from ...formats import Bitmap, VectorStore
from ..recording import note, noting
from ..requests.operands import admitted_count
from ..requests.operations import Mxv
from ..shared.direction import prefers_pull
from ..shared.iso_results import mxv_value
from . import tuning
from .algebra import ring_facts
from .arguments import arguments
from .columns import column_argument
from .kernel import Kernel
from .launch import Counter, counter, multiprocessors, values_of
from .mxv_direction import work_of
from .mxv_kernels import PLANS, Output, either_kernel, types_of
from .mxv_mask import KernelMask
from .mxv_push import work_list
from .primitives import fill

__all__ = ["push_or_pull"]


class _Plan(NamedTuple):
    """The call plan: the kernel, the packer of its arguments, and its resident blocks on each device."""

    kernel: Kernel
    pack: Callable[..., bytes]
    resident: dict[int, int]


def push_or_pull(q: Mxv, mask: KernelMask) -> VectorStore:
    """Launch the kernel that lists the vector's entries, chooses by the equation of `direction`, and multiplies.

    The pull is the one for likely hits: it is chosen where the vector has many edges for the rows that are open.
    """
    a, t, u, facts = q.by_row.get(), q.by_column.get(), q.vector, ring_facts(q.semiring)
    assert isinstance(u, Bitmap)
    out = Output.of(q, mxv_value(q, a, u))
    valued = out.constant is None
    plan = _plan(q, mask, valued)
    if out.values is not None and facts.start is not None:
        fill(out.values, facts.start)
    # A vector with more entries than the list has room for is pulled, as in `choose`.
    capacity = u.count.get() if u.count.known else q.ninner // tuning.CROWDED_SHARE + 1
    memory, row, start, before, carried = work_list(q, t, capacity, valued=valued)
    state, shift = counter(2), a.nvals.bit_length()
    a_values, a_iso = values_of(a)
    u_values, u_iso = values_of(u)
    packed = plan.pack(
        indptr=a.pattern.indptr, indices=column_argument(a.pattern), a_values=a_values, t_indptr=t.pattern.indptr,
        t_indices=column_argument(t.pattern), t_values=t.values, a_iso=a_iso, nvals=a.nvals, u_words=u.words,
        u_values=u_values, u_iso=u_iso, ninner=q.ninner, mask_words=mask.words, mask_values=mask.values,
        mask_count=_mask_count(mask), open_rows=admitted_count(mask.simple, q.nout), out_words=out.words,
        out_values=out.values, out_count=out.counter, nout=q.nout, row=row, start=start, before=before,
        carried=carried, capacity=capacity, shift=shift, state=state,
    )  # fmt: skip
    blocks = -(-max(q.nout, q.ninner) // tuning.PUSH_BLOCK)
    plan.kernel(min(blocks, _resident(plan)), tuning.PUSH_BLOCK, packed, cooperative=True)
    del memory  # referenced until the kernel is queued
    if noting():
        _note(q, mask, state, shift, capacity)  # synchronizes
    return out.store(q)


def _plan(q: Mxv, mask: KernelMask, valued: bool) -> _Plan:
    """valued: products have values of their own."""
    a = q.by_row.get()
    plans: dict[Any, _Plan] = a.pattern.facts.setdefault("cuda.either", {})
    key = q.semiring, a.dtype, q.vector.dtype, mask.form, mask.complement, mask.dtype, q.flip, valued
    plan = plans.get(key)
    if plan is None:
        if len(plans) >= PLANS:
            plans.clear()
        pack = arguments("mxv_adaptive.cuh", "EitherArguments", A=a.dtype, U=q.vector.dtype)
        plan = plans[key] = _Plan(either_kernel(q.semiring, types_of(q, a, mask, valued)), pack, {})
    return plan


def _resident(plan: _Plan) -> int:
    """Return the blocks of a cooperative launch: all of them are resident."""
    device = runtime.getDevice()
    found = plan.resident.get(device)
    if found is None:
        found = multiprocessors() * plan.kernel.resident_blocks(tuning.PUSH_BLOCK)
        plan.resident[device] = found
    return found


def _mask_count(mask: KernelMask) -> object:
    """Return the number of entries of a structural mask, if it is on the device alone; otherwise None."""
    simple = mask.simple
    if simple is None or not simple.structural or not isinstance(simple.store, Bitmap):
        return None
    return simple.store.count.source


def _note(q: Mxv, mask: KernelMask, state: Counter, shift: int, capacity: int) -> None:
    """Record the direction that the device has chosen.  Synchronizes."""
    found = state.read()
    rows, edges = found >> shift, found & ((1 << shift) - 1)
    if mask.simple is not None and isinstance(mask.simple.store, Bitmap):
        mask.simple.store.count.get()  # `admitted_count` does not wait
    work = work_of(q, admitted_count(mask.simple, q.nout), True)
    pulled = rows > capacity or prefers_pull(tuning.DEVICE, work, rows, edges)
    note(direction="pull" if pulled else "push", kernel="either")
