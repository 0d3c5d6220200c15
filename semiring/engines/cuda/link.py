"""Union-find over the rows of a matrix: the hook pass of Afforest."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...dtypes import INT32, INT64
from ...formats import Array, Full, index_dtype
from ...memory.arrays import copied
from ..recording import note
from ..registry import ADDRESSABLE, EVERY_KIND, implements
from ..requests.graphs import Link
from ..requests.operations import ScalarResult
from ..rows.link_sample import LinkSample, LinkSampleResult, MostFrequent, link_first
from . import compile_samples, tuning
from .arguments import arguments
from .columns import codec_types, column_argument, column_types
from .hubs import HUBS, hubs
from .kernel import Handles, Kernel, kernel
from .launch import counter, grid, multiprocessors, read_back, scratch
from .packing import linked_rows, packing
from .primitives import filled
from .specialize import constants, typedefs

# Labels that `frequent_value` draws, a thread each (FREQUENT_DRAWS).
_DRAWS = 1024


class _Plan(NamedTuple):
    """The call plan of union-find: its kernels, and the packer of their arguments."""

    copy: Kernel
    rows: Kernel
    listed: Kernel
    flatten: Kernel
    hubs: Kernel
    pack: Callable[..., bytes]


@functools.cache
def _plan(offset: np.dtype[Any], label: np.dtype[Any], columns: str) -> _Plan:
    """columns: the part of the prologue that describes the columns of the pattern."""
    prologue = typedefs(P=offset, F=label) + columns
    prologue += constants(BLOCK=tuning.LINK_BLOCK, SHORT_ROW=tuning.SHORT_ROW)
    names = "copy", "rows", "listed", "flatten", "hubs"
    copy, rows, listed, flatten, by_hubs = (kernel("link.cuh", f"link_{name}", prologue) for name in names)
    return _Plan(copy, rows, listed, flatten, by_hubs, arguments("link.cuh", "LinkArguments", F=label))


@implements(Link, engine="cuda", accepts=ADDRESSABLE)
def link(q: Link) -> Full:
    """Hook by compare-and-swap: one thread for each short row, the entries of long rows partitioned evenly.

    Three to five launches.  Does not synchronize; a label to skip that is on the device is read there.
    """
    forest = q.forest
    assert isinstance(forest, Full)
    old = forest.values if forest.iso is None else filled(forest.size, forest.iso)
    assert old is not None
    return Full(forest.size, forest.dtype, _linked(q, old))


def _linked(q: Link, old: Array) -> Array:
    """Return the flat forest after hooking the rows to the entries at the positions of `q`."""
    pattern, dtype, n = q.pattern, old.dtype, q.pattern.nrows
    parent = cupy.empty(n, dtype)
    if n == 0:
        return parent
    plan = _plan(pattern.indptr.dtype, dtype, column_types(pattern))
    skip_at = q.skip if isinstance(q.skip, DeviceLabel) else None
    skip = None if skip_at is not None else q.skipped()
    skips = skip is not None or skip_at is not None
    row = start = before = count = None
    listed = linked_rows(q)
    shift = packing("link", listed, pattern.nvals, "with .to(placement='host') it goes tile by tile")
    if listed:
        column, offset = listed * index_dtype(pattern.ncols).itemsize, listed * pattern.indptr.dtype.itemsize
        _held, (row, start, before) = scratch(column, offset, offset)
        count = counter()
    linked = plan.pack(
        indptr=pattern.indptr, indices=column_argument(pattern), old=old, parent=parent, n=n, first=q.first,
        last=-1 if q.last is None else q.last, skips=skips, skip=dtype.type(0 if skip is None else skip),
        skip_at=skip_at, row=row, start=start, before=before, count=count, shift=shift,
    )  # fmt: skip
    block = tuning.LINK_BLOCK
    blocks = grid(n, block)
    plan.copy(blocks, block, linked)
    if not skips and pattern.nvals <= tuning.CHAINED_DEGREE * n:
        plan.flatten(blocks, block, parent, n)
    plan.rows(blocks, block, linked)
    if listed:
        plan.listed(4 * multiprocessors(), block, linked)
    plan.flatten(blocks, block, parent, n)
    return parent


@implements(LinkSample, engine="cuda", accepts=EVERY_KIND)
def link_sample(q: LinkSample) -> LinkSampleResult:
    """Hook every row to its hubs, if they are cached; else to its first neighbors, in one pass.

    For entries outside device memory hubs are built: a pass over first neighbors reads as much of the stream.
    Building them synchronizes.
    """
    forest, n = q.forest, q.pattern.nrows
    assert isinstance(forest, Full)
    found = hubs(q.pattern, build=q.pattern.placement != "device") if 0 < q.count <= HUBS else None
    if found is None or forest.values is None or n == 0:
        if forest.values is None or not q.pattern.kind.addressable or not 0 < q.count <= tuning.SHORT_ROW:
            return link_first(q, "cuda")
        first = Link(forest, q.pattern, 0, q.count, None)
        return LinkSampleResult(Full(n, forest.dtype, _linked(first, forest.values)), q.count)
    parent = copied(forest.values)
    plan = _plan(q.pattern.indptr.dtype, forest.dtype, codec_types("uncompressed", found.dtype))
    blocks = grid(n, tuning.LINK_BLOCK)
    plan.hubs(blocks, tuning.LINK_BLOCK, found, q.count, parent, n)
    plan.flatten(blocks, tuning.LINK_BLOCK, parent, n)
    note(kernel="hubs")
    return LinkSampleResult(Full(n, forest.dtype, parent), 0)


class DeviceLabel:
    """A label in device memory: kernels read it there; a call reads it back and synchronizes."""

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    @property
    def data(self) -> Any:
        """Its address is ``data.ptr``."""
        return self._array.data

    def __call__(self) -> np.generic:
        """The label on the host.  Synchronizes."""
        label: np.generic = read_back(self._array)[0]  # synchronizes
        return label


@implements(MostFrequent, engine="cuda")
def most_frequent(q: MostFrequent) -> ScalarResult:
    """A label that is most frequent in a sample of 1,024 that one block draws; it stays on the device."""
    forest = q.forest
    assert isinstance(forest, Full)
    if forest.values is None or forest.size == 0:
        return forest.iso if forest.size else None
    label = cupy.empty(1, forest.dtype)
    _frequent_value(forest.dtype)(1, _DRAWS, forest.values, forest.size, label)
    return DeviceLabel(label)


@functools.cache
def _frequent_value(label: np.dtype[Any]) -> Kernel:
    return kernel("frequent.cuh", "frequent_value", typedefs(F=label))


def samples() -> Iterator[Handles]:
    """Yield the kernels of this module for representative types and operators: see `catalog`."""
    uncompressed = compile_samples.UNCOMPRESSED, compile_samples.UNCOMPRESSED
    for index in (INT32, INT64):
        for label, columns in zip(cycle((INT32, INT64)), (*uncompressed, *compile_samples.COMPRESSED), strict=False):
            yield _plan(index, label, columns)
        yield _frequent_value(index)
