"""The direction of a matrix-vector product: chosen by the host, or on the device from exact counts."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ...dtypes import INT32, INT64
from ...formats import AnyPattern, Bitmap, Full, IndexList, VectorStore, word_count
from ..requests.operands import admitted_count
from ..requests.operations import Mxv
from ..shared.direction import Work, prefers_pull, preset
from . import tuning
from .algebra import ring_facts
from .columns import column_types
from .degrees import degrees
from .kernel import Handles, Kernel, kernel
from .launch import BLOCK, counter, grid, read_one
from .mxv_mask import KernelMask
from .mxv_push import listed
from .packing import packable
from .specialize import constants, typedefs

__all__ = ["DEVICE", "Choice", "choose", "work_of"]


class Choice(NamedTuple):
    """push: follow the edges of the vector's entries.  likely: a pull expects to hit an entry in a few probes."""

    push: bool
    likely: bool = False


_FULL = Choice(False, True)
# The device chooses (mxv_adaptive.py).
DEVICE = Choice(False, True)


def choose(q: Mxv, mask: KernelMask) -> Choice:
    """Choose push (one atomic for each edge of u's entries) or pull (probes until the sums are terminal)."""
    u = q.vector
    if isinstance(u, Full) and q.direction == "auto" and q.by_row.ready:  # as in `preset`; the common case
        return _FULL
    facts, known = ring_facts(q.semiring), preset(q)
    may_push = known != "pull" and (facts.is_any or facts.start is not None)
    if max(q.nout, q.ninner) >= 2**31 > min(q.nout, q.ninner):
        may_push = False  # lists hold rows in the type of columns
    if q.direction == "auto" and not packable(listed(u), (q.by_row if q.by_row.ready else q.by_column).get().nvals):
        may_push = False  # where it is forced, `push` raises
    if q.direction != "auto" or not may_push:
        return Choice(may_push, _is_dense(u))
    if known is None and facts.early and isinstance(u, Bitmap) and _alike(q):
        return _choose_early(q, u)
    present = u.nvals  # synchronizes where the number is still on the device
    if known == "push":  # the rows that a pull needs would have to be derived, for this product and later ones
        entries = q.by_column.get().nvals
        derived = Work(entries, 0, 0, facts.early, derived=entries)
        return Choice(
            not prefers_pull(tuning.DEVICE, derived, present, entries * present / max(q.ninner, 1)), _is_dense(u)
        )
    if present == 0:
        return Choice(True)
    work = work_of(q, admitted_count(mask.simple, q.nout), facts.early)
    if facts.early and present * tuning.CROWDED_SHARE >= q.ninner:  # the edges are not counted
        return Choice(not prefers_pull(tuning.DEVICE, work, present, work.entries), True)
    columns = q.by_column.get().pattern
    if not prefers_pull(tuning.DEVICE, work, present, min(work.entries, present * degrees(columns).longest)):
        return Choice(True)
    if prefers_pull(tuning.DEVICE, work, present, present):  # an empty row costs a push no less
        return Choice(False, _is_dense(u))
    edges = _edges(columns, u)  # synchronizes
    return Choice(not prefers_pull(tuning.DEVICE, work, present, edges), edges * tuning.DENSE_SHARE >= work.entries)


def _choose_early(q: Mxv, u: Bitmap) -> Choice:
    """Choose for rows that end at their first hit: the direction if it is obvious, else the device.

    With no more edges than a few words of presence bits, a push is obvious; with many entries, a pull.
    """
    if not u.count.known:
        return DEVICE
    present = u.nvals
    if present * tuning.CROWDED_SHARE >= q.ninner:
        return _FULL
    edges = present * degrees(q.by_column.get().pattern).longest
    return Choice(True) if tuning.EDGE_COST * edges <= tuning.WORD_COST * word_count(q.nout) else DEVICE


def _alike(q: Mxv) -> bool:
    """Whether one kernel can read both orientations."""
    a, t = q.by_row.get().pattern, q.by_column.get().pattern
    return a is t or column_types(a) == column_types(t)


def work_of(q: Mxv, admitted: int, early: bool) -> Work:
    """The work of each direction if the mask admits so many rows."""
    entries = q.by_row.get().nvals
    return Work(entries, admitted, entries * admitted // q.nout, early, push_words=word_count(q.nout))


def _is_dense(u: VectorStore) -> bool:
    """Whether a warp expects a hit in one round, as far as that is known without waiting."""
    return (not isinstance(u, Bitmap) or u.count.known) and u.nvals * tuning.DENSE_SHARE >= u.size


def _edges(pattern: AnyPattern, u: VectorStore) -> int:
    """The number of entries in the rows of a pattern that u has.  Synchronizes."""
    if isinstance(u, Full):
        return pattern.nvals
    listed = isinstance(u, IndexList)
    indices = u.indices if isinstance(u, IndexList) else None
    words = u.words if isinstance(u, Bitmap) else None
    items = u.nvals if listed else u.size
    total = counter()
    run_edges = _edges_kernel(pattern.indptr.dtype, INT64 if indices is None else indices.dtype, listed)
    run_edges(grid(items), BLOCK, pattern.indptr, indices, words, items, total)
    return read_one(total)  # synchronizes


@functools.cache
def _edges_kernel(offset: np.dtype[Any], index: np.dtype[Any], listed: bool) -> Kernel:
    return kernel("degrees.cuh", "count_edges", typedefs(P=offset, X=index) + constants(LISTED=listed))


def samples() -> Handles:
    """Return the kernels of this module for representative types and operators: see `catalog`."""
    return _edges_kernel(INT32, INT64, True), _edges_kernel(INT64, INT64, False)
