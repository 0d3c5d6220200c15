"""From objects of one process to objects on a grid, and back."""

from __future__ import annotations

from typing import Any, TypeVar, overload

import numpy as np

from semiring import Matrix, Vector

from ..algorithms.ordering import degree_order
from ..devices import in_parts
from ..engines.requests.operands import Index
from ..exceptions import DimensionMismatch, InvalidType, InvalidValue
from ..formats import CSR, Full, index_dtype
from ..memory.allocation import require
from ..memory.arrays import to_host
from ..ops.extract import extract_matrix
from ..ops.layout import concat
from .grid import Grid, grid_of
from .matrix_messages import decoded_block, encoded_block
from .partition import concatenate, decode_segment, local, matrix, slice_vector, vector
from .vector_messages import encoded

S = TypeVar("S", Matrix, Vector)


def scatter(A: S, grid: Grid) -> S:
    """Return a Matrix or a Vector on a grid; each process keeps its part of the whole object, which all of them have.

    Parameters
    ----------
    A : Matrix or Vector, the same on every process
    grid : Grid

    Returns
    -------
    Matrix or Vector, of the same shape, type and entries, on the device of the grid.

    Raises
    ------
    InvalidType
        For anything else.
    InvalidValue
        If A is on a grid.

    Notes
    -----
    Nothing is sent but whether the structure is symmetric, which is known on all processes if it is on one.  Cost
    O(nvals) on every process.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)])
    >>> sr.distributed.run(2, lambda grid: sr.distributed.scatter(A, grid).nvals)
    [3, 3]
    """
    if not isinstance(A, (Matrix, Vector)):
        raise InvalidType(f"scatter: expected a Matrix or a Vector, got {type(A).__name__}")
    if in_parts(A.device):
        raise InvalidValue(f"scatter: the {type(A).__name__} is on a grid already ({A.device})")
    return A.with_store(grid.partition(A.to(grid.local).store))._labeled_as(A)


def partition_store(store: Any, grid: Grid) -> Any:
    """Return the store of parts of an object that every process has as a whole."""
    if isinstance(store, CSR):
        made: Any = matrix(grid, store.shape, block_of(store, grid), iso=store.iso)
        # A process may have computed it alone; what is known decides which collectives follow.
        known = grid.broadcast_present(store.pattern.facts.get("symmetric"))
        if known is not None:
            made.pattern.facts["symmetric"] = known
    else:
        first, last = grid.segment(store.size)
        made = vector(grid, store.size, slice_vector(store, first, last, grid.engine), iso=store.iso)
    return made


@overload
def gather(A: S, root: None = None) -> S: ...
@overload
def gather(A: S, root: int) -> S | None: ...
def gather(A: S, root: int | None = None) -> S | None:
    """Return the whole of a Matrix or a Vector that is on a grid, on every process or on one.  Collective.

    Parameters
    ----------
    A : Matrix or Vector on a grid
    root : the rank of the process that has the whole, the same on all; None: every process has it

    Returns
    -------
    Matrix or Vector on the device of the parts; None on processes other than `root`.

    Raises
    ------
    InvalidType
        For anything that is not on a grid.
    InvalidValue
        If `root` is not a rank.

    Notes
    -----
    A process that has the whole needs memory for it.

    Examples
    --------
    >>> program = lambda grid: sr.distributed.gather(Vector.full(1.5, 3, device=grid.device)).to_dict()
    >>> sr.distributed.run(2, program)[1]
    {0: 1.5, 1: 1.5, 2: 1.5}
    """
    given: Any = A
    if not isinstance(given, (Matrix, Vector)) or not in_parts(given.device):
        raise InvalidType(f"gather: expected a Matrix or a Vector on a grid, got {A!r:.60}")
    grid = grid_of(given)
    if root is not None and not 0 <= root < grid.size:
        raise InvalidValue(f"gather: root is a rank from 0 to {grid.size - 1}, got {root}")
    whole = grid.collective_call(allgather_store, A.store, root)
    return None if whole is None else A.with_store(whole)._labeled_as(A)


def allgather_store(store: Any, root: int | None = None) -> Any:
    """Return the whole of a store on a grid, on every process, or on `root` and None on the others.  Collective.

    OutOfMemory before anything is sent, if a process has no memory for the whole.
    """
    grid = grid_of(store)
    part = local(store)
    if grid.size == 1:
        return part
    itemsize = 0 if store.iso is not None else store.dtype.itemsize
    if isinstance(store, CSR):
        offsets = store.nrows if store.nrows <= 64 * store.nvals else 0  # else only rows with entries are stored
        require("gather", grid.local, store.nvals * (index_dtype(store.ncols).itemsize + itemsize) + 4 * offsets)
    elif isinstance(part, Full):
        require("gather", grid.local, store.size * itemsize)

    def received(message: Any) -> list[Any]:
        if root is None:
            return grid.comm.allgather(message)
        others = [rank for rank in range(grid.size) if rank != root]
        found = grid.comm.exchange({} if grid.rank == root else {root: message}, others if grid.rank == root else ())
        return [found.get(rank) for rank in range(grid.size)]

    if not isinstance(store, CSR):
        found = received(encoded(part, grid.comm))
        if root not in (None, grid.rank):
            return None
        segments = [decode_segment(grid, sent, store.size, store.dtype, rank) for rank, sent in enumerate(found)]
        segments[grid.rank] = part
        return concatenate(segments, grid.engine, grid.local)
    parts: list[CSR] = []
    blocks = received(encoded_block(part, grid.comm, grid))
    if root not in (None, grid.rank):
        return None
    for rank, block in enumerate(blocks):
        (top, bottom), (left, right) = grid.rows(store.nrows, rank), grid.cols(store.ncols, rank)
        own = rank == grid.rank
        parts.append(part if own else decoded_block(block, (bottom - top, right - left), store.dtype, grid))
    width = grid.shape[1]
    rows = [parts[i : i + width] for i in range(0, grid.size, width)]
    return concat(rows).into()


def even_order(A: Matrix) -> Vector:
    """p(0), p(1), ... = the vertices of A by degree, dealt to the segments of the grid in turns.  Collective.

    So the blocks of ``A.permute(p)`` have nearly as many entries on all processes; contiguous rows have more where the
    first rows are those of vertices of high degree.

    Parameters
    ----------
    A : Matrix on a grid, n x n
        Values are not read.

    Returns
    -------
    Vector on the grid, of size n, full: a permutation, for `Matrix.permute`, `algorithms.ordering.inverse` and
    `algorithms.ordering.restore`.

    Raises
    ------
    InvalidType
        If A is not a Matrix on a grid.
    DimensionMismatch
        If A is not square.
    OutOfMemory

    Notes
    -----
    Every process has all n numbers for a moment, and sends its degrees to all.  One vertex of a high degree may still
    have more entries than the share of a process.  Cost O(n log n + nvals).  Synchronizes on the GPU.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (0, 3), (1, 0), (1, 2), (2, 0)])
    >>> def program(grid):
    ...     p = sr.distributed.even_order(A.to(grid.device))
    ...     part = sr.distributed.local_part(A.to(grid.device).permute(p)).part
    ...     return sr.distributed.gather(p).to_dense().tolist(), part.nvals
    >>> sr.distributed.run(2, program)
    [([0, 3, 1, 2], 3), ([0, 3, 1, 2], 3)]
    """
    given: Any = A
    if not isinstance(given, Matrix) or not in_parts(given.device):
        raise InvalidType(f"even_order: expected a Matrix on a grid, got {A!r:.60}")
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"even_order: expected a square matrix, got the shape {A.shape}")
    grid, n = grid_of(A), A.nrows
    by_degree = to_host(degree_order(A).to_dense())
    bounds = np.array([grid.segment(n, rank)[0] for rank in range(grid.size)])
    # Positions in the order in which they are dealt: the first of each segment, the second of each from the last
    # segment to the first, ...
    places = np.arange(n)
    segment = np.searchsorted(bounds, places, side="right") - 1
    turn = places - bounds[segment]
    dealt = np.argsort(turn * grid.size + np.where(turn % 2, grid.size - 1 - segment, segment))
    order = np.empty_like(by_degree)
    order[dealt] = by_degree
    return Vector.from_dense(order, device=A.device)


def block_of(whole: CSR, grid: Grid) -> CSR:
    """Return the block of a matrix that belongs to this process."""
    if grid.size == 1:
        return whole
    (top, bottom), (left, right) = grid.rows(whole.nrows), grid.cols(whole.ncols)
    rows = Index(whole.nrows, bottom - top, top)
    cols = Index(whole.ncols, right - left, left)
    return extract_matrix(whole, rows, cols).into()
