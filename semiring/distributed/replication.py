"""Matrices that every process holds as a whole, beside its block: operands of products that are sent once.

A replica is gathered when a product reads it first, and kept with the matrix as its transpose is: a changed matrix has
none.  Its pattern is kept with the pattern, for all matrices of that structure.

Memory: two replicas, one of which is on the way, may take `config.replicated_share` of the free memory of each process;
processes on one host that compute on the CPU share its memory.  All processes agree, once for each pattern.

Bytes: it is not known whether a matrix will be multiplied again.  So a product counts what it sends in place of a
replica, and the matrix is replicated once that has cost as much: less than twice the bytes are sent of the better way,
whatever comes (the ski rental problem: Karlin, Manasse, Rudolph, Sleator, "Competitive Snoopy Caching", Algorithmica 3,
1988).  The counts follow from estimates that are the same on all processes.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from ..config import config
from ..engines.requests.operands import Index
from ..formats import CSR, AnyPattern, index_dtype, structure_only
from ..memory.allocation import free_memory
from ..operators.types import TypedMonoid
from ..ops.extract import extract_matrix
from .grid import Grid
from .matrix_messages import exchanged_blocks
from .partition import all_segments, local, matrix, reduce_scatter, union
from .process import local_rank
from .scattering import allgather_store

__all__ = ["admitted", "count_sent", "replica", "replicated", "sent_in_place", "sum_and_partition"]

_REPLICA, _ADMITTED, _SENT = "replica", "replica admitted", "sent in place of a replica"


def replicated(grid: Grid, a: CSR, *, values: bool) -> bool:
    """Return whether `replica` sends nothing."""
    return grid.size == 1 or _REPLICA in a.cache or (not _read(a, values) and _REPLICA in a.pattern.facts)


def replica(grid: Grid, a: CSR, *, values: bool) -> CSR:
    """Return the whole matrix, which is kept.  Collective unless it is `replicated`.

    values: False if the caller reads none; then a replica of the pattern suffices, and all entries may be true.
    """
    if grid.size == 1:
        return _knowing(local(a), a)
    known: CSR | None = a.cache.get(_REPLICA)
    if known is not None:
        return known
    facts = a.pattern.facts
    if _read(a, values):
        known = a.cache[_REPLICA] = _gathered(grid, a)
        facts.setdefault(_REPLICA, known.pattern)
        return known
    pattern: AnyPattern | None = facts.get(_REPLICA)
    if pattern is None:
        pattern = facts[_REPLICA] = _gathered(grid, structure_only(a.pattern)).pattern
    return structure_only(pattern) if a.iso is None else CSR(pattern, a.dtype, None, a.iso)


def _read(a: CSR, values: bool) -> bool:
    return values and a.iso is None


def _gathered(grid: Grid, a: CSR) -> CSR:
    made = _knowing(grid.run_then_barrier(lambda: allgather_store(a)), a)  # kept by all processes, or by none
    return made if a.iso is None else CSR(made.pattern, a.dtype, None, a.iso)


def _knowing(whole: CSR, a: CSR) -> CSR:
    """Return the whole matrix, with what is known of its symmetry."""
    if "symmetric" in a.pattern.facts:
        whole.pattern.facts["symmetric"] = a.pattern.facts["symmetric"]
    return whole


def admitted(grid: Grid, a: CSR, *, values: bool) -> bool:
    """Return whether each process has memory for a replica.  Collective the first time."""
    if replicated(grid, a, values=values):
        return True
    facts, itemsize = a.pattern.facts, a.dtype.itemsize if _read(a, values) else 0
    key = f"{_ADMITTED}, {itemsize} bytes a value"
    if key not in facts:
        rows = a.nvals * (index_dtype(a.ncols).itemsize + itemsize) + (a.nrows + 1) * index_dtype(a.nvals).itemsize
        free = _free(grid)
        facts[key] = grid.all_reduce_and(free is None or 2 * rows <= config.replicated_share * free)
    return bool(facts[key])


def _free(grid: Grid) -> int | None:
    """Return the free memory of this process; None if it is unknown."""
    free, everyone = free_memory(grid.local), grid.comm
    if free is None or (grid.local == "cuda" and not everyone.threads):
        return free
    local_count = local_rank(os.environ) if everyone.between_hosts else None
    return free // (grid.size if local_count is None else local_count[1])


def sent_in_place(a: CSR) -> int:
    """Return the bytes that products have sent of a process in place of a replica."""
    return int(a.pattern.facts.get(_SENT, 0))


def count_sent(a: CSR, count: float) -> None:
    """Add the estimated bytes that a process sends in a product that does not replicate the matrix."""
    a.pattern.facts[_SENT] = sent_in_place(a) + int(count)


def sum_and_partition(grid: Grid, store: Any, monoid: TypedMonoid) -> Any:
    """Return the parts of the sum of vectors or of matrices, of which each process has one as a whole.  Collective."""
    if not isinstance(store, CSR):
        return reduce_scatter(grid, store, all_segments, store.size, monoid)
    blocks, at = list[CSR | None](), [(grid.rows(store.nrows, k), grid.cols(store.ncols, k)) for k in range(grid.size)]
    for (top, bottom), (left, right) in at:
        rows, cols = Index(store.nrows, bottom - top, top), Index(store.ncols, right - left, left)
        blocks.append(extract_matrix(store, rows, cols).into())
    (top, bottom), (left, right) = at[grid.rank]
    found = exchanged_blocks(blocks, [(bottom - top, right - left)] * grid.size, store.dtype, grid.comm, grid)
    return matrix(grid, store.shape, functools.reduce(lambda a, b: union(a, b, monoid), found))
