"""Entries on the way to the processes that hold their positions."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..engines.requests.operations import BuildMatrix
from ..engines.rows.residency import listed_or_resident
from ..engines.shared.validation import repeated
from ..exceptions import DuplicateIndex
from ..formats import CSR, Array, HyperPattern, Pattern, array_module, device_of, index_dtype
from ..memory.arrays import to_host
from ..ops.build import from_triples
from ..ops.convert import index_list
from ..ops.extract import column_numbers, row_numbers
from . import call_ids
from .grid import Grid, segment_bounds
from .partition import local, matrix

# Entries that a process sends in a round: 64 MiB with values of 8 bytes.
_ROUND = 1 << 22


class Triples(NamedTuple):
    """Entries at positions of a whole matrix; iso: the value of all of them, if there are no values."""

    rows: Array
    cols: Array
    values: Array | None
    iso: np.generic | None


def triples(block: CSR, row: int, col: int) -> Triples:
    """Return the entries of a block whose first position is (row, col)."""
    a = listed_or_resident(block)
    rows, cols = row_numbers(a).astype(np.int64), column_numbers(a).astype(np.int64)
    rows += row
    cols += col
    return Triples(rows, cols, a.values, a.iso)


class Entries:
    """The entries of a block at positions of another matrix, which are made for a part of them at a time.

    move: from the rows and columns of entries, whose first position is (row, col), to those in the other matrix.
    """

    def __init__(self, block: CSR, row: int, col: int, move: Callable[[Array, Array], tuple[Array, Array]]) -> None:
        self._block, self._row, self._col, self._move = listed_or_resident(block), row, col, move
        self.count = int(self._block.nvals)

    def part(self, low: int, high: int) -> Triples:
        """Return the entries from `low` to `high`, in the order of the rows."""
        a, xp = self._block, array_module(self._block.device)
        p = a.pattern
        assert isinstance(p, (Pattern, HyperPattern))
        offsets = p.offsets if isinstance(p, HyperPattern) else p.indptr
        rows = xp.searchsorted(offsets, xp.arange(low, high, dtype=offsets.dtype), side="right") - 1
        rows = p.rows[rows].astype(np.int64) if isinstance(p, HyperPattern) else rows.astype(np.int64)
        cols = p.indices[low:high].astype(np.int64)
        rows += self._row
        cols += self._col
        return Triples(*self._move(rows, cols), None if a.values is None else a.values[low:high], a.iso)


def entries(grid: Grid, a: CSR, move: Callable[[Array, Array], tuple[Array, Array]]) -> Entries:
    """Return the entries of the block of this process, moved from their positions in the whole matrix."""
    return Entries(local(a), grid.rows(a.nrows)[0], grid.cols(a.ncols)[0], move)


def routed(
    grid: Grid, given: Triples | Entries, shape: tuple[int, int], dtype: Any, *, dup: Any = None, iso: Any = None
) -> CSR:
    """Return the matrix of the entries that all processes have together.  Collective.

    dup: combines entries at one position, in the order of the ranks; without it repeated positions raise DuplicateIndex
    on the process that they belong to.  iso: the value of all entries everywhere.
    They are sent in rounds, by their positions in the block of the receiver, so that beside the operand and what has
    arrived, of 4 or 8 bytes for each number and the value, only those of a round are held.
    """
    count = given.count if isinstance(given, Entries) else int(given.rows.size)

    def part(low: int, high: int) -> Triples:
        if isinstance(given, Entries):
            return given.part(low, high)
        return Triples(
            given.rows[low:high],
            given.cols[low:high],
            None if given.values is None else given.values[low:high],
            given.iso,
        )

    if grid.size == 1:
        return matrix(grid, shape, built(part(0, count), shape, dtype, grid, dup=dup), iso=iso)
    xp, (height, width) = array_module(grid.local), grid.shape
    tops, lefts = (
        xp.asarray(segment_bounds(extent, grid.size)[::step], dtype=np.int64)
        for extent, step in zip(shape, (width, height), strict=True)
    )
    most = int(grid.comm.allgather_array(np.array([count])).max())
    arrived: dict[int, list[Triples]] = {}
    for begin in range(0, most, _ROUND):  # as many rounds on each process
        t = part(min(begin, count), min(begin + _ROUND, count))
        i = xp.searchsorted(tops[1:-1], t.rows, side="right")
        j = xp.searchsorted(lefts[1:-1], t.cols, side="right")
        moved = Triples(
            (t.rows - tops[i]).astype(index_dtype(shape[0]), copy=False),
            (t.cols - lefts[j]).astype(index_dtype(shape[1]), copy=False),
            t.values,
            t.iso,
        )
        for rank, each in grid.comm.exchange(_divided(grid, moved, i * width + j)).items():
            arrived.setdefault(rank, []).append(each)
    (top, bottom), (left, right) = grid.rows(shape[0]), grid.cols(shape[1])
    own = concatenate_triples([each for rank in sorted(arrived) for each in arrived.pop(rank)], dtype, grid.local)
    try:
        block = built(own, (bottom - top, right - left), dtype, grid, dup=dup)
    except DuplicateIndex:  # with the position in the block
        raise repeated_position(own.rows.astype(np.int64) + top, own.cols.astype(np.int64) + left) from None
    return matrix(grid, shape, block, iso=iso)


def built(t: Triples, shape: tuple[int, int], dtype: Any, grid: Grid, *, dup: Any = None) -> CSR:
    """Return the matrix of triples as an ordinary one of this process."""
    rows, cols = t.rows.astype(index_dtype(shape[0]), copy=False), t.cols.astype(index_dtype(shape[1]), copy=False)
    return from_triples(call_ids.operation(), BuildMatrix(*shape, dtype, rows, cols, t.values, t.iso, dup), grid.local)


def scatter_entries(grid: Grid, u: Any, shape: tuple[int, int], at: Callable[[Array], tuple[Array, Array]]) -> CSR:
    """Return the matrix with t(at(i)) = u(i) for the entries of a vector.  Collective."""
    segment = index_list(local(u))
    rows, cols = at(segment.indices.astype(np.int64) + grid.segment(u.size)[0])
    return routed(grid, Triples(rows, cols, segment.values, segment.iso), shape, u.dtype, iso=u.iso)


def repeated_position(rows: Array, cols: Array | None = None) -> DuplicateIndex:
    """Return the error for positions of a matrix, or without `cols` of a vector, of which two are equal: the first."""
    xp = array_module(device_of(rows))
    keys = [rows] if cols is None else [rows, cols]
    order = xp.lexsort(xp.stack(keys[::-1]))
    equal = functools.reduce(operator.and_, (key[order][1:] == key[order][:-1] for key in keys))
    at = order[1:][equal][:1]
    place = tuple(int(to_host(key[at])[0]) for key in keys)
    return repeated(place[0] if cols is None else place)  # type: ignore[arg-type]


def group_by_owner(keys: Array, owner: Array, count: int, device: str) -> tuple[Array, list[int]]:
    """Return a stable order of entries by their owner, and the bounds of each owner's in it.  Synchronizes."""
    xp = array_module(device)
    order = xp.argsort(owner, kind="stable")
    ends = xp.searchsorted(owner[order], xp.arange(count + 1))
    return order, to_host(ends).tolist()


def by_owner(positions: Array, size: int, grid: Grid) -> tuple[Array, dict[int, Array]]:
    """Return a stable order of positions by the process that holds them, and the positions for each that holds any."""
    xp = array_module(grid.local)
    bounds = xp.asarray(segment_bounds(size, grid.size)[1:-1], dtype=np.int64)
    owner = xp.searchsorted(bounds, positions, side="right")
    order, ends = group_by_owner(positions, owner, grid.size, grid.local)
    sorted_positions = positions[order]
    bounds_of = enumerate(itertools.pairwise(ends))
    return order, {rank: sorted_positions[low:high] for rank, (low, high) in bounds_of if low < high}


def exchanged(grid: Grid, targets: dict[int, Array], *arrays: Array) -> list[Array]:
    """Send to each process its target positions and as many elements of each array, which are in the order of the
    processes; return what came, joined in the order of the ranks.  Collective.
    """
    messages: dict[int, Any] = {}
    at = 0
    for rank, target in targets.items():
        messages[rank] = (target, *(array[at : at + target.size] for array in arrays))
        at += target.size
    found = [message for _, message in sorted(grid.comm.exchange(messages).items())]
    xp = array_module(grid.local)
    dtypes = (np.dtype(np.int64), *(array.dtype for array in arrays))
    return [xp.concatenate([xp.zeros(0, dtype), *(part[k] for part in found)]) for k, dtype in enumerate(dtypes)]


def _divided(grid: Grid, t: Triples, owner: Array) -> dict[int, Triples]:
    order, ends = group_by_owner(t.rows, owner, grid.size, grid.local)
    rows, cols, values = t.rows[order], t.cols[order], None if t.values is None else t.values[order]
    return {
        rank: Triples(rows[low:high], cols[low:high], None if values is None else values[low:high], t.iso)
        for rank, (low, high) in enumerate(itertools.pairwise(ends))
        if low < high
    }


def concatenate_triples(found: list[Triples], dtype: Any, device: str) -> Triples:
    """Return triples one after another; with one value for all of them where they share it."""
    xp = array_module(device)
    if not found:
        none = xp.zeros(0, np.int64)
        return Triples(none, none, xp.zeros(0, dtype), None)
    rows, cols = xp.concatenate([t.rows for t in found]), xp.concatenate([t.cols for t in found])
    isos = {None if t.iso is None else t.iso.tobytes() for t in found}
    if len(isos) == 1 and None not in isos:
        return Triples(rows, cols, None, found[0].iso)
    values = [xp.full(t.rows.size, t.iso, dtype) if t.values is None else t.values for t in found]
    return Triples(rows, cols, xp.concatenate(values), None)
