"""Union-find driven by the rows of a matrix: the linking pass of Afforest."""

from __future__ import annotations

import cupy

from ...formats import Full, index_dtype
from ..recording import note
from ..registry import ADDRESSABLE, EVERY_KIND, implements
from ..sampling import LinkSample, LinkSampleAnswer, link_first
from ..spec import Link
from . import tuning
from .arguments import arguments
from .columns import codec_types, column_argument, column_types
from .hubs import HUBS, hubs
from .kernel import kernel
from .launch import counter, grid, multiprocessors
from .packing import linked_rows, packing
from .specialise import constants, typedefs


@implements(Link, engine="cuda", accepts=ADDRESSABLE)
def link(q: Link) -> Full:
    """Rows with few entries by a thread each, the entries of the others divided evenly; compare-and-swap hooking.

    Two or three launches; nothing waits for the device.
    """
    forest, pattern = q.forest, q.pattern
    assert isinstance(forest, Full)
    n = pattern.nrows
    old = cupy.full(n, forest.iso, forest.dtype) if forest.values is None else forest.values
    parent = old.copy()
    if n == 0:
        return Full(n, forest.dtype, parent)
    types = typedefs(P=pattern.indptr.dtype, F=forest.dtype) + column_types(pattern)
    prologue = types + constants(BLOCK=tuning.LINK_BLOCK, SHORT_ROW=tuning.SHORT_ROW)
    last = -1 if q.last is None else q.last
    skip = forest.dtype.type(0 if q.skip is None else q.skip)
    row = start = before = count = None
    listed = linked_rows(q)
    shift = packing("link", listed, pattern.nvals, "with .to(placement='host') it goes tile by tile")
    if listed:
        row = cupy.empty(listed, index_dtype(pattern.ncols))
        start, before = cupy.empty((2, listed), pattern.indptr.dtype)
        count = counter()
    linked = arguments("link.cuh", "LinkArguments", F=forest.dtype)(
        indptr=pattern.indptr, indices=column_argument(pattern), old=old, parent=parent, n=n, first=q.first, last=last,
        skips=q.skip is not None, skip=skip, row=row, start=start, before=before, count=count, shift=shift,
    )  # fmt: skip
    kernel("link.cuh", "link_rows", prologue)(grid(n, tuning.LINK_BLOCK), tuning.LINK_BLOCK, linked)
    if row is not None:
        kernel("link.cuh", "link_listed", prologue)(4 * multiprocessors(), tuning.LINK_BLOCK, linked)
    kernel("link.cuh", "link_flatten", prologue)(grid(n, tuning.LINK_BLOCK), tuning.LINK_BLOCK, parent, n)
    return Full(n, forest.dtype, parent)


@implements(LinkSample, engine="cuda", accepts=EVERY_KIND)
def link_sample(q: LinkSample) -> LinkSampleAnswer:
    """The hubs of every row, if they are known; else its first neighbours, in turn.

    Out of the memory of the device hubs are worth finding: a pass over first neighbours touches as much of a stream.
    Finding them synchronises.
    """
    forest, n = q.forest, q.pattern.nrows
    assert isinstance(forest, Full)
    found = hubs(q.pattern, build=q.pattern.placement != "device") if 0 < q.count <= HUBS else None
    if found is None or forest.values is None or n == 0:
        return link_first(q, "cuda")
    parent = forest.values.copy()
    prologue = typedefs(P=q.pattern.indptr.dtype, F=forest.dtype) + codec_types("plain", found.dtype)
    prologue += constants(BLOCK=tuning.LINK_BLOCK, SHORT_ROW=tuning.SHORT_ROW)
    blocks = grid(n, tuning.LINK_BLOCK)
    kernel("link.cuh", "link_hubs", prologue)(blocks, tuning.LINK_BLOCK, found, q.count, parent, n)
    kernel("link.cuh", "link_flatten", prologue)(blocks, tuning.LINK_BLOCK, parent, n)
    note(kernel="hubs")
    return LinkSampleAnswer(Full(n, forest.dtype, parent), 0)
