"""Move entries in their order: matrices side by side, shifted, in parts, and in another shape.

concat:      C(r_k + i, c_l + j) = T_kl(i, j), r_k and c_l the sums of the sizes before
reposition:  C(i + r, j + c) = A(i, j), for positions within C
reshape:     C(p // n, p % n) = A(i, j) for p = i * ncols + j
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate
from typing import cast

from .. import dtypes
from ..config import engine_for
from ..devices import dispatched, in_parts
from ..engines import registry
from ..engines.requests.operands import Index
from ..engines.requests.operations import Concat, Reshape
from ..engines.rows.residency import listed_or_resident, resident
from ..exceptions import DimensionMismatch, InvalidValue
from ..formats import CSR, IndexList, VectorStore
from ..formats.hypersparse import prefers_hypersparse
from . import check, structure
from .assign import row_matrix
from .convert import index_list
from .extract import extract_matrix, extract_vector
from .reshape import resize_vector
from .write import Plan

__all__ = [
    "concat",
    "concat_vectors",
    "flatten",
    "reposition",
    "reposition_vector",
    "reshape",
    "reshape_vector",
    "row_vector",
]


def concat(tiles: Sequence[Sequence[CSR | None]]) -> Plan[CSR]:
    """C of a grid of tiles, given by rows; None: a tile without entries, whose size follows from its neighbors."""
    heights = [_common("rows", n, [tile.nrows for tile in row if tile is not None]) for n, row in enumerate(tiles)]
    columns = list(zip(*tiles, strict=True))
    widths = [_common("columns", n, [tile.ncols for tile in col if tile is not None]) for n, col in enumerate(columns)]
    present = [tile for row in tiles for tile in row if tile is not None]
    device = check.one_device("concat", present[0].device, *present)
    dtype = reduce(dtypes.unify, (tile.dtype for tile in present))
    rows, cols = list(accumulate(heights, initial=0)), list(accumulate(widths, initial=0))
    at = [(rows[k], cols[l], t) for k, row in enumerate(tiles) for l, t in enumerate(row) if t is not None]
    shape = rows[-1], cols[-1]

    def request() -> CSR:
        nvals = sum(tile.nvals for tile in present)
        resided = {id(tile): held(tile, shape[0], nvals) for tile in present}
        parts = tuple(zip(*((row, col, resided[id(tile)]) for row, col, tile in at), strict=True))
        return cast(CSR, registry.run(Concat(*shape, dtype, *parts), engine_for(device)))

    return Plan("concat", shape, dtype, device, request)


@dispatched()
def held(a: CSR, nrows: int, nvals: int) -> CSR:
    """Return a matrix as part of a result: hypersparse if the rule selects that for the result, else with all rows."""
    return structure.listed_rows(listed_or_resident(a)) if prefers_hypersparse(nrows, nvals) else resident(a)


def _common(axis: str, number: int, sizes: list[int]) -> int:
    """Return the size that the tiles of one row or column of the grid share."""
    if not sizes:
        raise InvalidValue(f"concat: every row and column of tiles needs a Matrix that gives its size; {axis} {number}")
    if len(set(sizes)) > 1:
        raise DimensionMismatch(f"concat: tiles that share {axis} {number} of the grid have {sizes} {axis}")
    return sizes[0]


def concat_vectors(parts: Sequence[VectorStore]) -> Plan[VectorStore]:
    """W = the vectors one after the other."""
    device = check.one_device("concat", parts[0].device, *parts)
    dtype = reduce(dtypes.unify, (part.dtype for part in parts))
    size = sum(part.size for part in parts)
    request = lambda: row_vector(concat([[row_matrix(index_list(part)) for part in parts]]).into())  # noqa: E731
    return Plan("concat", (size,), dtype, device, request)


@dispatched()
def row_vector(a: CSR) -> IndexList:
    """Return a matrix of one row as a vector, sharing its arrays."""
    a = resident(a)
    return IndexList(a.ncols, a.dtype, a.indices, a.values, a.iso)


def reposition(a: CSR, row: int, col: int, nrows: int, ncols: int) -> Plan[CSR]:
    """C(i + row, j + col) = A(i, j); entries outside C are dropped."""
    if (row, col, nrows, ncols) == (0, 0, *a.shape):
        return Plan("reposition", a.shape, a.dtype, a.device, lambda: a)

    def request() -> CSR:
        part = extract_matrix(a, _kept(a.nrows, row, nrows), _kept(a.ncols, col, ncols)).into()
        at = ((max(row, 0),), (max(col, 0),)) if 0 not in part.shape else ((0,), (0,))
        tile = (held(part, nrows, part.nvals),)
        return cast(CSR, registry.run(Concat(nrows, ncols, a.dtype, *at, tile), engine_for(a.device)))

    return Plan("reposition", (nrows, ncols), a.dtype, a.device, request)


def _kept(size: int, offset: int, new: int) -> Index:
    """Return the positions below `size` that an offset moves to a position below `new`."""
    first = max(-offset, 0)
    return Index(size, max(min(size, new - offset) - first, 0), first)


def reposition_vector(u: VectorStore, offset: int, size: int) -> Plan[VectorStore]:
    """W(i + offset) = u(i); entries outside w are dropped."""

    def request() -> VectorStore:
        if offset == 0:
            return resize_vector(u, size)
        part = index_list(extract_vector(u, _kept(u.size, offset, size)).into())
        at = ((0,), (max(offset, 0) if part.size else 0,))
        spec = Concat(1, size, u.dtype, *at, (row_matrix(part),))
        return row_vector(registry.run(spec, engine_for(u.device)))

    return Plan("reposition", (size,), u.dtype, u.device, request)


def reshape(a: CSR, nrows: int, ncols: int, *, by_columns: bool = False) -> Plan[CSR]:
    """C of another shape with the same entries in the same order: by rows, or by columns in both shapes."""
    if nrows * ncols != a.nrows * a.ncols:
        raise DimensionMismatch(
            f"reshape: shape {a.shape} has {a.nrows * a.ncols} positions, {nrows, ncols} has others"
        )
    if nrows * ncols >= 1 << 63:
        raise InvalidValue(f"reshape: a matrix of shape {a.shape} has more positions than 64-bit numbers")

    def by_rows() -> CSR:
        return _reshaped(a, nrows, ncols)

    def transposed() -> CSR:
        return structure.transposed(_reshaped(structure.transposed(a), ncols, nrows))

    return Plan("reshape", (nrows, ncols), a.dtype, a.device, transposed if by_columns else by_rows)


def _reshaped(a: CSR, nrows: int, ncols: int) -> CSR:
    if not in_parts(a.device) and prefers_hypersparse(nrows, a.nvals):
        a = structure.listed_rows(listed_or_resident(a))
    return cast(CSR, registry.run(Reshape(a, nrows, ncols), engine_for(a.device)))


def reshape_vector(u: VectorStore, nrows: int, ncols: int, *, by_columns: bool = False) -> Plan[CSR]:
    """C(p // ncols, p % ncols) = u(p); under `by_columns` C(p % nrows, p // nrows) = u(p)."""
    if nrows * ncols != u.size:
        raise DimensionMismatch(f"reshape: a vector of size {u.size} has other positions than shape {nrows, ncols}")

    def request() -> CSR:
        line = row_matrix(index_list(u))
        if not by_columns:
            return reshape(line, nrows, ncols).into()
        return structure.transposed(reshape(line, ncols, nrows).into())

    return Plan("reshape", (nrows, ncols), u.dtype, u.device, request)


def flatten(a: CSR, *, by_columns: bool = False) -> Plan[VectorStore]:
    """W(i * ncols + j) = A(i, j); under `by_columns` w(j * nrows + i)."""
    size = a.nrows * a.ncols

    def request() -> VectorStore:
        source = structure.transposed(a) if by_columns else a
        return row_vector(reshape(source, 1, size).into())

    return Plan("flatten", (size,), a.dtype, a.device, request)
