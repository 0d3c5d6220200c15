"""The part of a Matrix or Vector that this process holds: taken out, and put together with those of the others."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from semiring import Matrix, Vector

from ..devices import in_parts
from ..exceptions import DimensionMismatch, DomainMismatch, InvalidType
from .agreement import collective
from .grid import Grid, grid_of
from .partition import local, matrix, vector

__all__ = ["LocalPart", "from_part", "local_part"]

S = TypeVar("S", Matrix, Vector)


class LocalPart(NamedTuple):
    """The part of an object that this process holds.

    Attributes
    ----------
    part : Matrix or Vector
        On the device of the parts, with positions from 0.
    rows : range
        The rows of the whole Matrix, or positions of the whole Vector, that it covers.
    cols : range or None
        The columns; None for a Vector.

    Examples
    --------
    >>> program = lambda grid: sr.distributed.local_part(Vector.full(1.0, 5, device=grid.device)).rows
    >>> sr.distributed.run(2, program)
    [range(0, 3), range(3, 5)]
    """

    part: Any
    rows: range
    cols: range | None


def local_part(A: Matrix | Vector) -> LocalPart:
    """Return the part of a Matrix or Vector that this process holds.

    Parameters
    ----------
    A : Matrix or Vector on a grid

    Returns
    -------
    LocalPart

    Raises
    ------
    InvalidType
        For anything that is not on a grid.

    Notes
    -----
    Cost O(1): the part is shared.  Not collective.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)])
    >>> def program(grid):
    ...     part, rows, cols = sr.distributed.local_part(sr.distributed.scatter(A, grid))
    ...     return [(rows[i], cols[j]) for i, line in part.to_dicts().items() for j in line]
    >>> sr.distributed.run(2, program)
    [[(0, 1), (1, 2)], [(2, 0)]]
    """
    given: Any = A
    if not isinstance(given, (Matrix, Vector)) or not in_parts(given.device):
        raise InvalidType(f"local_part: expected a Matrix or a Vector on a grid, got {A!r:.60}")
    store: Any = A.store
    grid = grid_of(store)
    if isinstance(given, Vector):
        return LocalPart(Vector._new(local(store)), range(*grid.segment(store.size)), None)
    return LocalPart(Matrix._new(local(store)), range(*grid.rows(store.nrows)), range(*grid.cols(store.ncols)))


@collective
def from_part(part: S, *, shape: tuple[int, ...] | int, grid: Grid) -> S:
    """Return the Matrix or Vector of which each process passes its part.  Collective.

    Parameters
    ----------
    part : Matrix or Vector
        The block of ``grid.rows(nrows)`` and ``grid.cols(ncols)``, or the segment of ``grid.segment(size)``, in any
        storage kind; of one type on all processes.
    shape : of the whole object
    grid : Grid

    Returns
    -------
    Matrix or Vector on the device of the grid.

    Raises
    ------
    InvalidType
        If the part is no Matrix and no Vector.
    DimensionMismatch
        If the part of a process has another shape than its place in the grid requires.
    DomainMismatch
        If the types of the parts differ.

    Notes
    -----
    Nothing is sent but the types.  Inverse: `local_part`.

    Examples
    --------
    >>> def program(grid):
    ...     first, last = grid.segment(5)
    ...     v = sr.distributed.from_part(Vector.from_dense(np.arange(first, last)), shape=5, grid=grid)
    ...     return sr.distributed.gather(v).to_dense().tolist()
    >>> sr.distributed.run(2, program)[0]
    [0, 1, 2, 3, 4]
    """
    whole = (shape,) if isinstance(shape, int) else tuple(shape)

    def checked() -> Any:
        given: Any = part
        if not isinstance(given, (Matrix, Vector)) or in_parts(given.device):
            raise InvalidType(f"from_part: expected a Matrix or a Vector of this process, got {type(part).__name__}")
        places = (grid.rows, grid.cols) if isinstance(given, Matrix) else (grid.segment,)
        if len(whole) != len(places):
            raise DimensionMismatch(f"from_part: a {type(part).__name__} has {len(places)} dimensions, shape= {whole}")
        expected = tuple(last - first for first, last in (f(n) for f, n in zip(places, whole, strict=True)))
        found = part.shape
        if found != expected:
            raise DimensionMismatch(
                f"from_part: the part of an object of shape {whole} has shape {expected}, not {found}"
            )
        return part.to(grid.local).store

    store = grid.run_then_barrier(checked)
    types = sorted({str(dtype) for dtype in grid.comm.allgather(store.dtype)})
    if len(types) > 1:
        raise DomainMismatch(f"from_part: the parts have different types: {', '.join(types)}")
    made: Any = matrix(grid, (whole[0], whole[1]), store) if len(whole) == 2 else vector(grid, whole[0], store)
    return part.with_store(made)
