"""The closure of a frontier: a loop of products, each of which reads only the slices that it needs; of many sources.

A push needs the slices in which the frontier has rows; a pull, where entries are final on arrival, those with absent
rows.  Addressable compressed rows are decoded once instead, if the uncompressed rows fit beside them: a search of many
steps would decode most of them in every step.  Otherwise many sources are searched one by one: a search from one source
has methods of its own for entries in host memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np

from ...formats import CSR, AnyPattern, Array, IndexList, Pattern, VectorStore, array_module, index_dtype
from ...formats.vectors import SingleEntry
from ...memory.allocation import free_memory
from ...memory.arrays import to_device, to_host
from ...operators import lookup_semiring
from ...operators.expression import Expression
from ...operators.types import TypedBinary
from .. import recording, registry
from ..registry import slicing_rule
from ..requests.graphs import Closure, ClosureMany, ClosureManyResult, ClosureResult, Step, counts_matrix
from ..requests.operands import Mask, Rows
from ..requests.operations import Ewise, Keep, Mxv
from ..rows.slices import drop_unread, is_uncompressed, uncompressed
from .products import product, united
from .vectors import converted

Q = TypeVar("Q", Closure, ClosureMany)

# The memory of a search beside the matrix.
_WORK_BYTES_A_ROW = 24


@slicing_rule(Closure)
def closure(q: Closure, engine: str) -> ClosureResult:
    """C = x (+) x A (+) x A^2 (+) ...: new and improved entries are the next frontier.

    Synchronizes several times a step.
    """
    uncompressed_first = decoded(q, engine)
    if uncompressed_first is not None:
        recording.note(kernel="uncompressed first")
        return cast(ClosureResult, registry.run(uncompressed_first, engine))
    reached = frontier = q.frontier
    trace: list[Step] = []
    steps = 0
    while frontier.nvals and steps < q.max_steps:  # synchronizes
        steps += 1
        size = frontier.nvals
        edges = _edges(q, frontier, engine) if q.trace else 0
        if q.final_on_arrival:
            found, direction = _times(q, frontier, Mask(reached, structural=True, complement=True), engine)
            reached, frontier = united(reached, found, q.semiring.add, engine), found
        else:
            found, direction = _times(q, frontier, None, engine)
            before, reached = reached, united(reached, found, q.semiring.add, engine)
            frontier = _changed(before, reached, found, engine)
        trace.append(Step(direction, size, edges))
    recording.note(kernel="sliced", steps=steps)
    return ClosureResult(reached, frontier.nvals == 0, steps, tuple(trace) if q.trace else ())


def decoded(q: Q, engine: str) -> Q | None:
    """Return the request with uncompressed rows; None where rows are in host memory, or do not fit uncompressed."""
    here = q.by_row.get()
    there = q.by_column.get() if q.by_column.ready else None
    compressed = {id(rows.pattern): rows for rows in (here, there) if rows is not None and not is_uncompressed(rows)}
    if not all(rows.kind.addressable for rows in compressed.values()):
        return None
    needed = sum(rows.nvals * index_dtype(rows.ncols).itemsize for rows in compressed.values())
    free = free_memory(here.device)
    if free is not None and needed + _WORK_BYTES_A_ROW * here.nrows > free:
        return None
    patterns: dict[int, AnyPattern] = {
        key: uncompressed(drop_unread(rows, False), engine, "closure").pattern for key, rows in compressed.items()
    }

    def with_decoded(rows: CSR) -> CSR:
        return CSR(patterns.get(id(rows.pattern), rows.pattern), rows.dtype, rows.values, rows.iso)

    by_column = Rows(None, lambda: uncompressed(q.by_column.get(), engine, "closure"))
    if there is not None:
        by_column = Rows(with_decoded(there))
    # A missing transpose is not computed: it would be cached uncompressed with the compressed matrix.
    direction = "push" if q.direction == "auto" and there is None else q.direction
    return replace(q, by_row=Rows(with_decoded(here)), by_column=by_column, direction=direction)


def _times(q: Closure, frontier: VectorStore, mask: Mask | None, engine: str) -> tuple[VectorStore, str]:
    """Return the product of the frontier, a row vector, and A, and its direction."""
    n = frontier.size
    return product(Mxv(n, n, q.by_column, q.by_row, frontier, q.semiring, True, mask, q.direction), engine)


def _changed(before: VectorStore, after: VectorStore, found: VectorStore, engine: str) -> VectorStore:
    """Return the entries of `after` that are new or differ from `before`; they are among those of `found`.

    NaN equals NaN, because otherwise a search would not end.
    """
    z = after.dtype
    same = TypedBinary("same", z, z, np.dtype(np.bool_), Expression("lor(x == y, land(x != x, y != y))"))
    touched = registry.run(Keep(after, Mask(found, structural=True, complement=False)), engine)
    equal = registry.run(Ewise(touched, before, same, "intersect"), engine)
    return cast(VectorStore, registry.run(Keep(touched, Mask(equal, structural=False, complement=True)), engine))


def _edges(q: Closure, frontier: VectorStore, engine: str) -> int:
    """Return the number of entries in the rows of the frontier."""
    indptr, rows = q.by_row.get().indptr, converted(frontier, "index", engine).indices
    xp = array_module(frontier.device)
    total = xp.asarray((indptr[rows + 1] - indptr[rows]).sum(dtype=np.int64))
    return int(to_host(total))  # synchronizes


@slicing_rule(ClosureMany)
def closure_many(q: ClosureMany, engine: str) -> ClosureManyResult:
    """S, S A, S A^2, ...: over decoded rows, or source by source.

    Source by source, each costs and synchronizes as the closure of one source.
    """
    uncompressed = decoded(q, engine)
    if uncompressed is not None:
        recording.note(kernel="uncompressed first")
        return cast(ClosureManyResult, registry.run(uncompressed, engine))
    recording.note(kernel="source by source")
    found = [_levels(q, int(source), engine) for source in q.sources]
    counts, steps = counts_matrix([_counted(row) for row in found], q.by_row.get().device)
    return ClosureManyResult(_stacked(q, found) if q.levels else None, counts if q.counts else None, steps)


def _levels(q: ClosureMany, source: int, engine: str) -> IndexList:
    """Return the levels of one source."""
    dtype, a = q.dtype, q.by_row.get()

    def steps(rows: CSR) -> CSR:
        return CSR(rows.pattern, dtype, None, dtype.type(1))

    by_column = Rows(steps(q.by_column.get()) if q.by_column.ready else None, lambda: steps(q.by_column.get()))
    found = registry.run(
        Closure(
            frontier=SingleEntry(a.nrows, dtype, source, dtype.type(0), a.device),
            by_row=Rows(steps(a)),
            by_column=by_column,
            semiring=lookup_semiring("min_plus").typed(dtype, dtype),
            final_on_arrival=True,
            max_steps=a.nrows,
            direction=q.direction,
        ),
        engine,
    )
    return cast(IndexList, converted(found.store, "index", engine))


def _values(row: IndexList) -> Array:
    if row.values is not None:
        return row.values
    return array_module(row.device).full(row.nvals, row.iso, dtype=row.dtype)


def _counted(row: IndexList) -> np.ndarray[Any, Any]:
    """Return the rows of each level, a column.  Synchronizes."""
    return to_host(array_module(row.device).bincount(_values(row))).reshape(-1, 1)


def _stacked(q: ClosureMany, found: list[IndexList]) -> CSR:
    """Return the levels of all sources as the rows of a matrix."""
    device, n = q.by_row.get().device, q.by_row.get().nrows
    xp = array_module(device)
    offsets = np.zeros(len(found) + 1, np.int64)
    np.cumsum([row.nvals for row in found], out=offsets[1:])
    indptr = to_device(offsets.astype(index_dtype(int(offsets[-1]))), device)
    indices = xp.concatenate([row.indices for row in found])
    return CSR(Pattern(len(found), n, indptr, indices), q.dtype, xp.concatenate([_values(row) for row in found]))
