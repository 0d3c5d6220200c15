"""The matrix-vector product: pull (by rows, or balanced for skewed rows) or push, chosen by rule."""

from __future__ import annotations

from typing import Any

from ...formats import IndexList, VectorStore, index_dtype
from ...formats.vectors import empty_vector
from ...memory.budget import free_device_memory
from ..registry import ADDRESSABLE, implements, run
from ..requests.operations import Convert, Mxv
from ..rows.bounds import slice_bounds
from ..shared.iso_results import mxv_value
from . import tuning
from .algebra import ring_facts
from .degrees import degrees
from .mxv_adaptive import push_or_pull
from .mxv_direction import DEVICE, choose
from .mxv_mask import kernel_mask
from .mxv_pull import pull
from .mxv_push import push


def _in_slices(q: Mxv) -> dict[str, Any] | None:
    """Return the fields to replace for a product slice by slice: a pull over all entries of a pinned compressed matrix.

    Bulk decoding by slices uses more of the interconnect's bandwidth than rows that wait for their tiles.  Condition:
    two uncompressed slices fit beside the result.
    """
    if not q.by_row.ready or q.nout == 0:
        return None
    a, u = q.by_row.get(), q.vector
    if a.placement != "pinned" or a.pattern.codec is None or mxv_value(q, a, u) is not None:
        return None
    mask = kernel_mask(q.mask, q.nout)
    if mask is None or mask.form != 0:
        return None
    choice = choose(q, mask)
    early = ring_facts(q.semiring).early and (choice.likely or degrees(a.pattern).longest <= tuning.EARLY_ROW)
    if choice.push or early:
        return None
    entry = index_dtype(a.ncols).itemsize + (0 if a.values is None else a.dtype.itemsize)
    needed = 2 * max(slice_bounds(a.pattern).held(), default=0) * entry + q.nout * (q.semiring.z.itemsize + 1)
    if needed > free_device_memory():
        return None
    if isinstance(u, IndexList):
        u = run(Convert(u, "bitmap"), "cuda")  # once, and not for each slice
    return {"vector": u, "direction": "pull"}


@implements(Mxv, engine="cuda", fuses=("mask",), accepts=ADDRESSABLE, in_slices=_in_slices)
def mxv(q: Mxv) -> VectorStore:
    """Rows that the mask does not admit are skipped before any work; pattern-only products read no values.

    Synchronizes only for cached facts: the longest row the first time that a matrix is used; and, if a row does not end
    at its first hit, for the number of entries of a bitmap vector if it was not known, and the number of edges of these
    entries if the direction depends on it.  A pinned compressed matrix that is read completely is processed slice by
    slice, if there is memory for two slices, and synchronizes for the bounds of the slices and for the longest row of
    each.
    """
    mask = kernel_mask(q.mask, q.nout)
    if mask is None or q.nout == 0:
        return empty_vector(q.nout, q.semiring.z, "cuda")
    choice = choose(q, mask)
    if choice is DEVICE:
        return push_or_pull(q, mask)
    return push(q, mask) if choice.push else pull(q, mask, choice.likely)
