"""Matrices and vectors side by side, in parts, shifted, and in another shape.

`Matrix` and `Vector` bind the functions with `self`; the others are public functions of the package.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from .. import dtypes
from ..exceptions import DimensionMismatch, InvalidValue
from ..memory.allocation import reports_memory
from ..ops import layout, structure
from ..storage.coerce import extent
from .base import Sparse
from .writing import Writing

if TYPE_CHECKING:
    from .matrix import Matrix
    from .vector import Vector


M = TypeVar("M", bound="Matrix")
_ORDERS = ("rowwise", "columnwise")


@reports_memory
def concat(tiles: Sequence[Any], dtype: Any = None, *, name: str | None = None) -> Any:
    """C = [[T_00, T_01, ...], [T_10, ...], ...]: a Matrix of tiles; or one Vector after the other.

    Parameters
    ----------
    tiles : rows of tiles, each a list of Matrix objects or None, for a tile without entries; or a list of Vectors.  The
        tiles in one row of the grid have equally many rows, those in one column equally many columns
    dtype : type of the values; by default the one that holds those of all tiles
    name : shown by `repr`

    Returns
    -------
    Matrix, uncompressed and in the memory of the device; of Vectors, a Vector.

    Raises
    ------
    DimensionMismatch
        If the sizes of tiles differ where they share rows or columns, or rows of the grid have different lengths.
    InvalidValue
        If nothing is given, or a row or column of the grid contains None alone.
    DomainMismatch, DeviceMismatch, OutOfMemory

    Notes
    -----
    Cost O(entries + rows of all tiles).  Tiles of other storage kinds are copied first.  Synchronizes only for these.

    Examples
    --------
    >>> A = Matrix.from_coo([0], [1], [5], shape=(1, 2))
    >>> concat([[A, None], [None, A]]).to_dicts()
    {0: {1: 5}, 1: {3: 5}}
    """
    listed = _row(tiles, "rows of tiles, as in [[A, B], [C, D]], or Vectors; see hstack and vstack")
    if listed and all(isinstance(part, Sparse) and part.ndim == 1 for part in listed):
        plan: Any = layout.concat_vectors([part.store for part in listed])
        cls = type(listed[0])
    else:
        grid = [_row(row, "a list of tiles in each row") for row in listed]
        if not grid or not grid[0]:
            raise InvalidValue("concat: expected at least one tile")
        if len({len(row) for row in grid}) > 1:
            raise DimensionMismatch(f"concat: the rows of the grid have {[len(row) for row in grid]} tiles")
        found = [tile for row in grid for tile in row if tile is not None]
        other = next((tile for tile in found if not isinstance(tile, Sparse) or tile.ndim != 2), None)
        if other is not None or not found:
            raise InvalidValue(f"concat: expected tiles that are a Matrix or None, got {type(other).__name__}")
        plan = layout.concat([[None if tile is None else stored(tile) for tile in row] for row in grid])
        cls = type(found[0])
    made = cls._new(None, plan)
    return made.dup(made.dtype if dtype is None else dtypes.lookup(dtype), name=name)


def _row(given: Any, expected: str) -> list[Any]:
    """Return a sequence of tiles, or of rows of them, as a list."""
    if isinstance(given, Sparse) or not isinstance(given, Sequence):
        raise InvalidValue(f"concat: expected {expected}, got {type(given).__name__}")
    return list(given)


def stored(a: Any) -> Any:
    """Return the store of a Matrix, which may be a transposed view."""
    store, transposed = a.operand
    return structure.transposed(store) if transposed else store


def hstack(parts: Sequence[Any], dtype: Any = None, *, name: str | None = None) -> Any:
    """C = [A, B, ...]: matrices with equally many rows side by side, or vectors one after the other.

    Parameters
    ----------
    parts : list of Matrix objects, or of Vectors
    dtype : type of the values; by default the one that holds those of all parts
    name : shown by `repr`

    Raises
    ------
    DimensionMismatch, InvalidValue, DomainMismatch, DeviceMismatch, OutOfMemory

    Notes
    -----
    Cost and synchronization as `concat`.

    Examples
    --------
    >>> A, B = Matrix.from_coo([0], [1], [5], shape=(2, 2)), Matrix.from_coo([1], [0], [6], shape=(2, 1))
    >>> hstack([A, B]).to_dicts()
    {0: {1: 5}, 1: {2: 6}}
    """
    listed = _row(parts, "a list of objects")
    vectors = listed and all(isinstance(part, Sparse) and part.ndim == 1 for part in listed)
    return concat(listed if vectors else [listed], dtype, name=name)


def vstack(parts: Sequence[Any], dtype: Any = None, *, name: str | None = None) -> Any:
    """C = [[A], [B], ...]: matrices with equally many columns, one below the other.

    Parameters
    ----------
    parts : list of Matrix objects and Vectors; a Vector is one row of C
    dtype : type of the values; by default the one that holds those of all parts
    name : shown by `repr`

    Raises
    ------
    DimensionMismatch, InvalidValue, DomainMismatch, DeviceMismatch, OutOfMemory

    Notes
    -----
    Cost and synchronization as `concat`.

    Examples
    --------
    >>> A, v = Matrix.from_coo([0], [1], [5], shape=(2, 2)), Vector.from_dense([6, 7])
    >>> vstack([A, v]).to_dicts()
    {0: {1: 5}, 2: {0: 6, 1: 7}}
    """
    rows = [part.reshape(1, -1) if getattr(part, "ndim", 2) == 1 else part for part in _row(parts, "a list of objects")]
    return concat([[row] for row in rows], dtype, name=name)


def split(self: M, rows: Any = None, cols: Any = None) -> list[list[M]]:
    """Return the tiles T_kl(i, j) = self(r_k + i, c_l + j), row by row: the inverse of `semiring.concat`.

    Parameters
    ----------
    rows, cols : the heights and widths of the tiles, which add up to the shape; an integer for equal ones, of which
        the last may be smaller; None: not divided

    Raises
    ------
    InvalidValue
        If a size is not a positive integer (in a list, 0 is a size too).
    DimensionMismatch
        If the sizes do not add up to the shape.

    Notes
    -----
    Cost O(nvals), when the tiles are used: they are pending.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 3], [1, 2], [5, 6], shape=(4, 3))
    >>> [[tile.shape for tile in row] for row in A.split(3, [1, 2])]
    [[(3, 1), (3, 2)], [(1, 1), (1, 2)]]
    """
    heights, widths = _bounds("rows", self.nrows, rows), _bounds("columns", self.ncols, cols)
    return [[self.extract(slice(*r), slice(*c)) for c in pairwise(widths)] for r in pairwise(heights)]


def _bounds(axis: str, size: int, given: Any) -> list[int]:
    """Return the bounds of the parts of an axis."""
    if given is None:
        return [0, size]
    if hasattr(given, "__index__"):
        step = extent(f"split: {axis}", given)
        if step == 0:
            raise InvalidValue(f"split: {axis} must be positive")
        return [*range(0, size, step), size] if size else [0, 0]
    bounds = list(accumulate((extent(f"split: {axis}", part) for part in given), initial=0))
    if bounds[-1] != size:
        raise DimensionMismatch(f"split: the sizes of {axis} add up to {bounds[-1]}, the matrix has {size}")
    return bounds


def reposition(
    self: M,
    row_offset: int,
    column_offset: int,
    *,
    nrows: int | None = None,
    ncols: int | None = None,
    **writing: Unpack[Writing],
) -> M:
    """C(i + row_offset, j + column_offset) = self(i, j); entries that would be outside C are dropped.

    Parameters
    ----------
    row_offset, column_offset : integers, also negative
    nrows, ncols : the shape of C; by default that of this matrix
    **writing : mask, accum, replace, out

    Raises
    ------
    InvalidValue, DimensionMismatch, OutOfMemory

    Notes
    -----
    Cost O(nrows + nvals).  Synchronizes if entries may be dropped.

    Examples
    --------
    >>> Matrix.from_coo([0, 1], [0, 1], [5, 6], shape=(2, 2)).reposition(0, 1).to_dicts()
    {0: {1: 5}}
    """
    offsets = operator.index(row_offset), operator.index(column_offset)
    rows, cols = (
        size if given is None else extent(f"reposition: {axis}", given)
        for axis, given, size in (("nrows", nrows, self.nrows), ("ncols", ncols, self.ncols))
    )
    return cast(M, self._deliver(layout.reposition(stored(self), *offsets, rows, cols), writing))


def reposition_vector(self: Vector, offset: int, *, size: int | None = None, **writing: Unpack[Writing]) -> Vector:
    """w(i + offset) = self(i); entries that would be outside w are dropped.

    Parameters
    ----------
    offset : integer, also negative
    size : of w; by default that of this vector
    **writing : mask, accum, replace, out

    Raises
    ------
    InvalidValue, DimensionMismatch

    Notes
    -----
    Cost O(nvals).

    Examples
    --------
    >>> Vector.from_coo([0, 2], [5, 6], size=3).reposition(1).to_dict()
    {1: 5}
    """
    length = self.size if size is None else extent("reposition: size", size)
    plan = layout.reposition_vector(self.store, operator.index(offset), length)
    return cast("Vector", self._deliver(plan, writing))


def reshape(self: M, nrows: int, ncols: int | None = None, *, order: str = "rowwise", **writing: Unpack[Writing]) -> M:
    """C(p // ncols, p % ncols) = self(i, j), where p is the number of position (i, j), counted by rows.

    Parameters
    ----------
    nrows, ncols : the shape of C, with as many positions; or a pair.  -1 for one of both: what the other leaves
    order : ``"rowwise"``, or ``"columnwise"``: positions of both shapes are counted by columns
    **writing : mask, accum, replace, out

    Raises
    ------
    DimensionMismatch
        If the shapes have different numbers of positions.
    InvalidValue, OutOfMemory

    Notes
    -----
    Cost O(nrows of C log ncols + nvals); the values are shared.  By columns it also transposes twice.

    Examples
    --------
    >>> Matrix.from_coo([0, 1], [2, 0], [5, 6], shape=(2, 3)).reshape(3, 2).to_dicts()
    {1: {0: 5, 1: 6}}
    """
    shape = _shape(nrows, ncols, self.nrows * self.ncols)
    plan = layout.reshape(stored(self), *shape, by_columns=by_columns("reshape", order))
    return cast(M, self._deliver(plan, writing))


def reshape_vector(
    self: Vector, nrows: int, ncols: int | None = None, *, order: str = "rowwise", **writing: Unpack[Writing]
) -> Matrix:
    """C(p // ncols, p % ncols) = self(p).

    Parameters
    ----------
    nrows, ncols : the shape of C, with as many positions; or a pair.  -1 for one of both: what the other leaves
    order : ``"rowwise"``, or ``"columnwise"``: C(p % nrows, p // nrows) = self(p)
    **writing : mask, accum, replace, out

    Raises
    ------
    DimensionMismatch
        If the shape has another number of positions.
    InvalidValue, OutOfMemory

    Notes
    -----
    Cost O(nrows log nvals + nvals).

    Examples
    --------
    >>> Vector.from_coo([0, 3], [5, 6], size=4).reshape(2, 2).to_dicts()
    {0: {0: 5}, 1: {1: 6}}
    """
    shape = _shape(nrows, ncols, self.size)
    plan: Any = layout.reshape_vector(self.store, *shape, by_columns=by_columns("reshape", order))
    return cast("Matrix", self._deliver(plan, writing, self._matrix_class))


def flatten(self: Matrix, *, order: str = "rowwise", **writing: Unpack[Writing]) -> Vector:
    """w(i * ncols + j) = self(i, j): all positions, row after row.

    Parameters
    ----------
    order : ``"rowwise"``, or ``"columnwise"``: w(j * nrows + i)
    **writing : mask, accum, replace, out

    Raises
    ------
    InvalidValue
        If there are more than 2**60 positions.
    OutOfMemory

    Notes
    -----
    Cost O(nvals); the values are shared.

    Examples
    --------
    >>> Matrix.from_coo([0, 1], [1, 0], [5, 6], shape=(2, 2)).flatten().to_dict()
    {1: 5, 2: 6}
    """
    extent("flatten: the number of positions", self.nrows * self.ncols)
    plan: Any = layout.flatten(stored(self), by_columns=by_columns("flatten", order))
    return cast("Vector", self._deliver(plan, writing, self._vector_class))


def _shape(nrows: Any, ncols: Any, count: int) -> tuple[int, int]:
    """Return a shape given as two sizes or a pair; -1 is what the other size leaves of `count` positions."""
    if ncols is None:
        if not isinstance(nrows, (tuple, list)) or len(nrows) != 2:
            raise InvalidValue(f"reshape: expected two sizes, got {nrows!r}")
        nrows, ncols = nrows
    if nrows == -1 and ncols != -1:
        return _rest(count, extent("ncols", ncols)), int(ncols)
    if ncols == -1:
        return extent("nrows", nrows), _rest(count, extent("nrows", nrows))
    return extent("nrows", nrows), extent("ncols", ncols)


def _rest(count: int, size: int) -> int:
    if size == 0 or count % size:
        raise DimensionMismatch(f"reshape: {count} positions are not divisible by {size}")
    return count // size


def by_columns(operation: str, order: Any) -> bool:
    """Return whether an operation goes along columns; InvalidValue for an unknown order."""
    if order not in _ORDERS:
        raise InvalidValue(f"{operation}: order is one of {', '.join(_ORDERS)}; got {order!r}")
    return bool(order == "columnwise")


@reports_memory
def block(blocks: Sequence[Any], dtype: Any = None, *, name: str | None = None) -> Matrix:
    """C = [[A, B], [D], ...]: a Matrix of blocks, each row of which is divided in its own way.

    As ``numpy.block`` and ``scipy.sparse.block_array``; `concat` is the same for a grid.

    Parameters
    ----------
    blocks : rows of blocks, each a list; or a list of blocks, for one row.  A block is a Matrix; None, for a block
        without entries; or a list of rows of blocks itself
    dtype : type of the values; by default the one that holds those of all blocks
    name : shown by `repr`

    Returns
    -------
    Matrix, uncompressed and in the memory of the device.

    Raises
    ------
    DimensionMismatch
        If the blocks of a row have different heights, or the rows have different widths.
    InvalidValue
        If nothing is given, or the size of a None does not follow from other blocks: in a grid it is that of the
        column, else a row has at most one, which takes the rest of the width.
    DomainMismatch, DeviceMismatch, OutOfMemory

    Notes
    -----
    Cost O(entries + rows of all blocks); twice that if rows are divided in different ways.

    Examples
    --------
    >>> A, B = Matrix.from_coo([0], [1], [5], shape=(1, 2)), Matrix.from_coo([0], [2], [6], shape=(1, 3))
    >>> block([[A, None], [None, A]]).to_dicts()
    {0: {1: 5}, 1: {3: 5}}
    >>> block([[A, A[:, [0]]], [B]]).to_dicts()
    {0: {1: 5}, 1: {2: 6}}
    """
    listed = _list(blocks)
    nested = any(isinstance(row, (list, tuple)) for row in listed)
    rows = [[_block(one) for one in _list(row)] for row in (listed if nested else [listed])]
    widths = {tuple(None if one is None else one.ncols for one in row) for row in rows}
    if not _is_grid(widths):
        total = _width(rows)
        rows = [[concat([_sized(row, total)])] for row in rows]
    made: Matrix = concat(rows)
    return made.dup(made.dtype if dtype is None else dtypes.lookup(dtype), name=name)


def _list(given: Any) -> list[Any]:
    """Return rows, or the blocks of a row, as a list."""
    if isinstance(given, Sparse) or not isinstance(given, Sequence):
        raise InvalidValue(f"block: expected a list of rows of blocks, got {type(given).__name__}")
    if not given:
        raise InvalidValue("block: expected at least one block in each row")
    return list(given)


def _block(given: Any) -> Any:
    """Return a block: a Matrix or None."""
    if isinstance(given, (list, tuple)):
        return block(given)
    if given is None or (isinstance(given, Sparse) and given.ndim == 2):
        return given
    raise InvalidValue(f"block: expected blocks that are a Matrix, None or lists, got {type(given).__name__}")


def _is_grid(widths: set[tuple[int | None, ...]]) -> bool:
    """Return True if all rows have the same number of blocks, and those in one column the same width."""
    if len({len(row) for row in widths}) > 1:
        return False
    return all(len({width for width in column if width is not None}) == 1 for column in zip(*widths, strict=True))


def _width(rows: list[list[Any]]) -> int:
    """Return the width that all rows without None have."""
    known: dict[int, int] = {}
    for number, row in enumerate(rows):
        if all(one is not None for one in row):
            known[sum(one.ncols for one in row)] = number
    if not known:
        raise InvalidValue("block: the rows are divided in different ways, and each contains None; give its size")
    if len(known) > 1:
        shown = ", ".join(f"{width} columns in row {number}" for width, number in known.items())
        raise DimensionMismatch(f"block: the rows of blocks have different widths: {shown}")
    return min(known)


def _sized(row: list[Any], total: int) -> list[Any]:
    """Return the blocks of a row, with a matrix without entries for None."""
    found = [one for one in row if one is not None]
    absent = len(row) - len(found)
    if not absent:
        return row
    rest = total - sum(one.ncols for one in found)
    if absent > 1 or not found or rest < 0:
        raise InvalidValue(f"block: the size of None does not follow from the rest of its row and the width {total}")
    first = found[0]
    made = type(first)(first.dtype, first.nrows, rest, device=first.device)
    return [made if one is None else one for one in row]
