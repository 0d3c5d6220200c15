"""Matrices of blocks whose rows are divided in different ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..exceptions import DimensionMismatch, InvalidValue
from ..memory.allocation import reports_memory
from .base import Sparse
from .concatenation import concat

if TYPE_CHECKING:
    from .matrix import Matrix


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
