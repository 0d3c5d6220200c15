"""Matrices and vectors from entries of which each process has its own share."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring import Matrix, Vector

from ..dtypes import unify
from ..engines import registry
from ..engines.requests.operations import BuildVector
from ..exceptions import DimensionMismatch, DuplicateIndex, InvalidType
from ..facade.edges import edges_of
from ..facade.operand import as_values, mean_of
from ..formats import Array, array_module, index_dtype
from ..memory.arrays import to_device
from ..ops.build import bounded_indices, duplicate_operator, entry_values, is_mean
from ..ops.cast import cast_scalar
from ..storage.coerce import as_indices, size_for, sizes, value_type
from .agreement import collective
from .grid import Grid
from .partition import vector
from .routing import Triples, by_owner, exchanged, repeated_position, routed

__all__ = ["from_coo", "from_edgelist", "vector_from_coo"]


@collective
def from_coo(
    rows: Any,
    columns: Any,
    values: Any = None,
    dtype: Any = None,
    *,
    shape: tuple[int, int] | None = None,
    grid: Grid,
    dup_op: Any = None,
) -> Matrix:
    """A(rows[p], columns[p]) = values[p], for the triples of all processes together.  Collective.

    Parameters
    ----------
    rows, columns : integers, in any order
        The triples of this process; any number of them, anywhere in the matrix.
    values : as many values, one for all, or None
        None is True.
    dtype : type of the values
        By default that of the values of all processes together, as NumPy promotes them.
    shape : by default the largest indices of all processes + 1
    grid : Grid
    dup_op : binary operator that combines repeated positions, in the order of the ranks, ``"last"`` or ``"mean"``

    Returns
    -------
    Matrix on the device of the grid.

    Raises
    ------
    DuplicateIndex
        If a position repeats, on one process or on two, and there is no `dup_op`.
    IndexOutOfBound, InvalidValue, DomainMismatch, OutOfMemory
        On all processes, with the rank where it was found.

    Notes
    -----
    Each triple is sent once, to the process that holds its position: 16 bytes and the value.  Cost O(k log k) for k
    triples on a process.

    Examples
    --------
    >>> def program(grid):
    ...     A = sr.distributed.from_coo([grid.rank, 2], [0, 1], [1.5, 1.0], shape=(3, 3), grid=grid, dup_op="plus")
    ...     return sr.distributed.gather(A).to_dicts()
    >>> sr.distributed.run(2, program)[0]
    {0: {0: 1.5}, 1: {0: 1.5}, 2: {1: 2.0}}
    """
    return _from_triples("from_coo", grid, (rows, columns), values, dtype, shape, dup_op)


@collective
def from_edgelist(
    edges: Any,
    values: Any = None,
    dtype: Any = None,
    *,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    symmetric: bool = False,
    shape: tuple[int, int] | None = None,
    grid: Grid,
    dup_op: Any = None,
) -> Matrix:
    """A(i, j) = True, or the value, for every edge of all processes together.  Collective.

    Parameters
    ----------
    edges : list of tuples, array of 2 or 3 columns, or a table, as in `Matrix.from_edgelist`
        The edges of this process.
    values, dtype : as `from_coo`, where the edges hold no values
    source, target, weight : columns of a table or an array, by name or position
    symmetric : store each edge in both directions
    shape : by default square, with the largest index of all processes + 1
    grid : Grid
    dup_op : binary operator that combines repeated edges, ``"last"`` or ``"mean"``; those without values are one entry

    Returns
    -------
    Matrix on the device of the grid.

    Raises
    ------
    InvalidType
        If both the edges and `values` hold values.
    DuplicateIndex, IndexOutOfBound, InvalidValue, DomainMismatch, OutOfMemory
        As `from_coo`.

    Notes
    -----
    Cost as `from_coo`.  Vertices are integers; `read` numbers those of a file that are text.

    Examples
    --------
    >>> def program(grid):
    ...     A = sr.distributed.from_edgelist([(0, grid.rank + 1)], symmetric=True, grid=grid)
    ...     return sr.distributed.gather(A).to_dicts()
    >>> sr.distributed.run(2, program)[0]
    {0: {1: True, 2: True}, 1: {0: True}, 2: {0: True}}
    """

    def parsed() -> tuple[Any, Any, Any]:
        rows, cols, found, _ = edges_of("from_edgelist", edges, source, target, weight)
        if found is not None and values is not None:
            raise InvalidType("from_edgelist: the edges hold values already; values= must be left out")
        given = values if found is None else found
        if not symmetric:
            return rows, cols, given
        xp = array_module(grid.local)
        rows, cols = (to_device(as_indices("edges", end), grid.local) for end in (rows, cols))
        off = xp.flatnonzero(rows != cols)
        if given is not None and np.ndim(given):
            weights = to_device(as_values(given, dtype), grid.local)
            given = xp.concatenate([weights, weights[off]])
        return xp.concatenate([rows, cols[off]]), xp.concatenate([cols, rows[off]]), given

    rows, cols, given = grid.run_then_barrier(parsed)
    unvalued = grid.all_reduce_and(given is None)
    dup_op = "any" if unvalued and dup_op is None else dup_op
    return _from_triples("from_edgelist", grid, (rows, cols), given, dtype, shape, dup_op, square=True)


def _from_triples(
    operation: str,
    grid: Grid,
    ends: tuple[Any, Any],
    values: Any,
    dtype: Any,
    shape: tuple[int, int] | None,
    dup_op: Any,
    square: bool = False,
) -> Matrix:
    if is_mean(dup_op):
        return mean_of(  # type: ignore[no-any-return]
            lambda x, t, dup: _from_triples(operation, grid, ends, x, t, shape, dup, square), values, dtype
        )

    def measured() -> tuple[Any, Any, Any, Any, tuple[int, int]]:
        rows, cols = as_indices("rows", ends[0]), as_indices("columns", ends[1])
        if rows.size != cols.size:
            raise DimensionMismatch(f"{operation}: {rows.size} rows and {cols.size} columns")
        given = as_values(True if values is None else values, dtype)
        nrows, ncols = sizes(operation, shape, nrows=None, ncols=None) if shape is not None else (None, None)
        extent = (size_for(rows) if nrows is None else nrows, size_for(cols) if ncols is None else ncols)
        return rows, cols, given, value_type("values", given, dtype), extent

    rows, cols, given, own, extent = grid.run_then_barrier(measured)
    chosen, iso = _agreed(grid, own, given, bool(rows.size))
    extents = grid.comm.allgather(extent)
    nrows, ncols = (max(sizes) for sizes in zip(*extents, strict=True))
    if square and shape is None:
        nrows = ncols = max(nrows, ncols)

    def checked() -> tuple[Triples, Any]:
        i = bounded_indices("rows", rows, nrows, grid.local).astype(np.int64)
        j = bounded_indices("columns", cols, ncols, grid.local).astype(np.int64)
        held, one = entry_values(given, int(i.size), chosen, grid.local)
        return Triples(i, j, held, one), duplicate_operator(dup_op, chosen)

    triples, dup = grid.run_then_barrier(checked)
    iso = None if dup_op not in (None, "any") else iso
    return Matrix._new(grid.run_then_barrier(lambda: routed(grid, triples, (nrows, ncols), chosen, dup=dup, iso=iso)))


def _agreed(grid: Grid, dtype: Any, values: Any, filled: bool) -> tuple[np.dtype[Any], np.generic | None]:
    """Return the type that holds the values of all processes with entries, and the value that all of them share."""
    one = values.dtype.type(values) if values.ndim == 0 else None
    found = grid.comm.allgather((dtype, one, filled))
    given = [each for each in found if each[2]] or found
    chosen = given[0][0]
    for other, _, _ in given[1:]:
        chosen = chosen if other == chosen else unify(chosen, other)
    shared = {None if each is None else cast_scalar(each, chosen).tobytes() for _, each, _ in given}
    return chosen, cast_scalar(given[0][1], chosen) if len(shared) == 1 and None not in shared else None


@collective
def vector_from_coo(
    indices: Any,
    values: Any = None,
    dtype: Any = None,
    *,
    size: int | None = None,
    grid: Grid,
    dup_op: Any = None,
) -> Vector:
    """w(indices[p]) = values[p], for the pairs of all processes together.  Collective.

    Parameters
    ----------
    indices : integers, in any order
        Those of this process.
    values, dtype, grid, dup_op : as `from_coo`
    size : by default the largest index of all processes + 1

    Returns
    -------
    Vector on the device of the grid.

    Raises
    ------
    DuplicateIndex, IndexOutOfBound, InvalidValue, DomainMismatch, OutOfMemory
        As `from_coo`.

    Notes
    -----
    Each pair is sent once.  Cost O(k log k) for k pairs on a process.

    Examples
    --------
    >>> def program(grid):
    ...     return sr.distributed.vector_from_coo([grid.rank], [2.5], size=4, grid=grid).to_dict()
    >>> sr.distributed.run(2, program)[0]
    {0: 2.5, 1: 2.5}
    """
    if is_mean(dup_op):
        return mean_of(  # type: ignore[no-any-return]
            lambda x, t, dup: vector_from_coo(indices, x, t, size=size, grid=grid, dup_op=dup), values, dtype
        )

    def measured() -> tuple[Any, Any, Any, int]:
        found = as_indices("indices", indices)
        given = as_values(True if values is None else values, dtype)
        (extent,) = sizes("vector_from_coo", size, size=None) if size is not None else (size_for(found),)
        return found, given, value_type("values", given, dtype), extent

    found, given, own, extent = grid.run_then_barrier(measured)
    chosen, _ = _agreed(grid, own, given, bool(found.size))
    count = max(grid.comm.allgather(extent))

    def checked() -> tuple[Any, Any, Any]:
        held = bounded_indices("indices", found, count, grid.local).astype(np.int64)
        entries, one = entry_values(given, int(held.size), chosen, grid.local)
        if entries is None:
            entries = array_module(grid.local).full(held.size, one, chosen)
        return held, entries, duplicate_operator(dup_op, chosen)

    held, entries, dup = grid.run_then_barrier(checked)
    return Vector._new(_sent_pairs(grid, count, held, entries, dup))


def _sent_pairs(grid: Grid, size: int, indices: Array, values: Array, dup: Any) -> Any:
    """Return the vector of the pairs that all processes have together.  Collective."""
    order, targets = by_owner(indices, size, grid)
    positions, together = exchanged(grid, targets, values[order])
    first, last = grid.segment(size)

    def built() -> Any:
        own = (positions - first).astype(index_dtype(last - first))
        try:
            return registry.run(BuildVector(last - first, values.dtype, own, together, None, dup), grid.engine)
        except DuplicateIndex:  # with the position in the segment
            raise repeated_position(positions) from None

    return vector(grid, size, grid.run_then_barrier(built))
