"""Products of two matrices, of which one of three is not sent: the result, or an operand; or B is replicated.

    C(i, j) = (+)_l  A(i, l) B(l, j)

SUMMA leaves the parts of C where they are.  In stages those who hold a range of the inner positions send it along their
row or column of the grid, and every process adds the product to its block of C.  Memory: beside the operands and C the
parts of one stage.

Where one operand is small beside the other, such as the frontiers of many sources beside a graph, the other one stays:
a process gathers the columns of A that are the rows of its block of B (or the rows of B that are the columns of its
block of A), multiplies, and sends the parts of the product to those who hold them, as in a product with a vector.
Memory: what is gathered, and a product as high (or as wide) as C.

Where every process holds B as a whole, it multiplies the rows of its segment (`replicated_products`).

The way of the fewest bytes is taken, by an estimate from the shapes and the numbers of entries, which is the same on
all processes (`product_bytes`).

Sources: of SUMMA van de Geijn, Watts, "SUMMA: Scalable Universal Matrix Multiplication Algorithm", 1997; for graphs
Buluç, Gilbert, "The Combinatorial BLAS", IJHPCA 2011; of operands that stay Schatz, van de Geijn, Poulson, "Parallel
Matrix Multiplication: A Systematic Journey", SIAM J. Sci. Comput. 38(6), 2016.
"""

from __future__ import annotations

import itertools

from ...engines import recording, registry
from ...engines.requests.operands import Index
from ...engines.requests.operations import Keep, Mxm
from ...engines.shared.iso_results import POSITIONS, product_value
from ...formats import CSR, with_values
from ...formats.hypersparse import empty_matrix
from ...ops import mxm as products
from ...ops.extract import extract_matrix
from ...ops.layout import concat
from ...ops.write import Write
from ..communication_filter import Excluded
from ..grid import Grid, segment_bounds
from ..matrix_messages import exchanged_blocks, shared
from ..partition import embed, local, local_mask, matrix, restrict, union
from ..product_bytes import sent_bytes, without_unread_values
from ..rules import grid_rule
from .replicated_products import by_replica

Range = tuple[int, int]


@grid_rule(Mxm, fuses=("mask",))
def mxm(q: Mxm, grid: Grid) -> CSR:
    """Multiply in the way of the fewest bytes."""
    made = by_replica(q, grid)
    return product(q, grid, None) if made is None else made


def product(q: Mxm, grid: Grid, sieve: Excluded | None) -> CSR:
    """Return the product, for which no operand is replicated.

    sieve: drops parts of it before they are sent, where B stays; the steps of a closure share one.
    """
    a, b = without_unread_values(q.a, q, "x"), without_unread_values(q.by_row.get(), q, "y")
    value = product_value(q.semiring, a.iso, b.iso)
    stays = least_sent(q, a, b, grid)
    recording.note(way=stays)
    if stays == "c":
        block = _by_stages(q, a, b, grid)
    else:  # where A stays, a process has parts of other rows
        block = _with_one_operand(q, a, b, grid, stays == "b", sieve if stays == "b" else None)
    return matrix(grid, (a.nrows, b.ncols), block, iso=value)


def least_sent(q: Mxm, a: CSR, b: CSR, grid: Grid) -> str:
    """Return which matrix is not sent, "a", "b" or "c".  Collective where the numbers of entries are not known yet."""
    sent = sent_bytes(q, a, b, grid)
    return min((way for way in sent if way != "whole"), key=lambda way: sent[way])


def _by_stages(q: Mxm, a: CSR, b: CSR, grid: Grid) -> CSR:
    """SUMMA over the ranges of inner positions that no process divides."""
    mask, shape = local_mask(q.mask), (a.nrows, b.ncols)
    (height, width), (row, col) = grid.shape, grid.coords
    bounds = segment_bounds(a.ncols, grid.size)
    stages = sorted({*range(0, grid.size + 1, height), *range(0, grid.size + 1, width)})
    rows, cols = grid.rows(shape[0]), grid.cols(shape[1])
    extent = rows[1] - rows[0], cols[1] - cols[0]
    positions = bool(q.semiring.mult.uses & POSITIONS)
    total: CSR = empty_matrix(*extent, q.semiring.z, grid.local)
    for first, last in itertools.pairwise(stages):
        low, high = bounds[first], bounds[last]
        if low == high:
            continue
        left, right = first // height, first // width
        mine = _part(local(a), None, _within(grid.cols(a.ncols), (low, high))) if col == left else None
        one = shared(mine, left, (extent[0], high - low), a.dtype, grid.row_comm, grid)
        mine = _part(local(b), _within(grid.rows(b.nrows), (low, high)), None) if row == right else None
        other = shared(mine, right, (high - low, extent[1]), b.dtype, grid.col_comm, grid)
        if positions:
            one = embed(one, (shape[0], a.ncols), rows[0], low)
            other = embed(other, (a.ncols, shape[1]), low, cols[0])
            made: CSR = restrict(products.mxm(one, other, q.semiring).into(), rows, cols)
            made = made if mask is None else registry.run(Keep(made, mask), grid.engine)
        else:
            made = products.mxm(one, other, q.semiring, method=q.method).into(None, Write(mask))
        total = made if not total.nvals else union(total, made, q.semiring.add)
    return total


def _with_one_operand(q: Mxm, a: CSR, b: CSR, grid: Grid, by_columns: bool, sieve: Excluded | None) -> CSR:
    """Multiply the block of one operand by what it meets of the other, and add up the parts of the product.

    by_columns: B stays, and processes add up in a column of the grid; else A, and in a row.
    """
    if by_columns:
        lines = gathered_lines(grid, a, by_columns=True)
        plan = products.mxm(lines, local(b), q.semiring, method=q.method)
        group, parts = grid.col_comm, [grid.rows(a.nrows, k * grid.shape[1]) for k in range(grid.shape[0])]
    else:
        lines = gathered_lines(grid, b, by_columns=False)
        plan = products.mxm(local(a), lines, q.semiring, method=q.method)
        group, parts = grid.row_comm, [grid.cols(b.ncols, k) for k in range(grid.shape[1])]
    t: CSR = plan.into(None, Write(None if sieve is None else sieve.mask))
    value = product_value(q.semiring, a.iso, b.iso)
    if value is not None:
        t = with_values(t, t.dtype, None, value)
    if sieve is not None:
        t = sieve.passed(t)
    mine = [_part(t, part, None) if by_columns else _part(t, None, part) for part in parts]
    shape = mine[group.rank].shape
    total: CSR = empty_matrix(*shape, t.dtype, grid.local)
    for each in exchanged_blocks(mine, [shape] * group.size, t.dtype, group, grid):
        if each.nvals:
            total = union(total, each, q.semiring.add) if total.nvals else each
    mask = local_mask(q.mask)
    return total if mask is None else registry.run(Keep(total, mask), grid.engine)


def gathered_lines(grid: Grid, x: CSR, *, by_columns: bool) -> CSR:
    """Return whole columns of a matrix, those with the numbers of the rows of this process; or rows.  Collective.

    by_columns: columns; else rows, with the numbers of the columns of this process.
    """
    width, extent = grid.shape[1], x.ncols if by_columns else x.nrows
    held, wanted = (grid.cols, grid.rows) if by_columns else (grid.rows, grid.cols)
    block, mine = local(x), held(extent)
    parts: dict[Range, CSR] = {}
    blocks: list[CSR | None] = []
    for rank in range(grid.size):
        both = _common(mine, wanted(extent, rank))
        if both is not None and both not in parts:
            parts[both] = _lines(block, both, mine, by_columns)
        blocks.append(None if both is None else parts[both])
    arriving = [_common(held(extent, rank), wanted(extent)) for rank in range(grid.size)]
    shapes: list[tuple[int, int]] = []
    for rank, both in enumerate(arriving):
        (top, bottom), (left, right) = grid.rows(x.nrows, rank), grid.cols(x.ncols, rank)
        count = 0 if both is None else both[1] - both[0]
        shapes.append((bottom - top, count) if by_columns else (count, right - left))
    sources = [rank for rank, both in enumerate(arriving) if both is not None and rank != grid.rank]
    found = exchanged_blocks(blocks, shapes, x.dtype, grid.comm, grid, sources)
    tiles: list[list[CSR]] = []
    for i in range(0, grid.size, width):
        line = [found[rank] for rank in range(i, i + width) if arriving[rank] is not None]
        if line:
            tiles.append(line)
    if not tiles:
        return empty_matrix(*((x.nrows, 0) if by_columns else (0, x.ncols)), x.dtype, grid.local)
    return tiles[0][0] if len(tiles) == len(tiles[0]) == 1 else concat(tiles).into()


def _lines(block: CSR, part: Range, held: Range, by_columns: bool) -> CSR:
    """Return some columns, or rows, of a block; part: their numbers in the whole matrix."""
    inside = _within(held, part)
    return _part(block, None, inside) if by_columns else _part(block, inside, None)


def _common(one: Range, other: Range) -> Range | None:
    low, high = max(one[0], other[0]), min(one[1], other[1])
    return (low, high) if low < high else None


def _within(held: Range, part: Range) -> Range:
    return part[0] - held[0], part[1] - held[0]


def _part(block: CSR, rows: Range | None, cols: Range | None) -> CSR:
    """Return the rows and columns of a block from the first to the last + 1; None: all."""
    at = Index(block.nrows, block.nrows) if rows is None else Index(block.nrows, rows[1] - rows[0], rows[0])
    to = Index(block.ncols, block.ncols) if cols is None else Index(block.ncols, cols[1] - cols[0], cols[0])
    return extract_matrix(block, at, to).into()
