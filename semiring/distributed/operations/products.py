"""Products: of a matrix and a vector, and of two matrices by SUMMA.

    w(o) = (+)_k  M(o, k) (x) u(k)

Each process needs the entries of u for the inner positions of its block, multiplies them by its block, and sends the
parts of the product to those who hold them.  Where M is at hand by rows, the block has the inner positions in its
columns; where its transpose is, in its rows.

    C(i, j) = (+)_l  A(i, l) B(l, j)

in stages: in each, those who hold a range of the inner positions send it along their row or column of the grid, and
every process adds the product to its block of C.  Memory: beside the operands and C the parts of one stage.

Sources: of the second van de Geijn, Watts, "SUMMA: Scalable Universal Matrix Multiplication Algorithm", 1997; of both
for graphs Buluç, Gilbert, "The Combinatorial BLAS", IJHPCA 2011.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...engines import registry
from ...engines.constants import mxv_value
from ...engines.operands import Index
from ...engines.registry import across
from ...engines.spec import Keep, Mxm, Mxv
from ...formats import CSR, with_values
from ...formats.hypersparse import empty_matrix
from ...formats.parts import piece_bounds
from ...ops import mxm as matrix_products
from ...ops import mxv as products
from ...ops.extract import extract_matrix
from ...ops.write import Write
from ..grid import Grid
from ..parts import (
    around,
    col_pieces,
    cut,
    folded,
    globally,
    local,
    local_mask,
    matrix,
    placed,
    placed_vector,
    row_pieces,
    section,
    union,
    vector,
)

_POSITIONS = frozenset({"xi", "xj", "yi", "yj"})


@across(Mxv, fuses=("mask",))
def mxv(q: Mxv, grid: Grid) -> Any:
    """Gather the inner positions of the block, multiply, and add up the products where they belong."""
    by_column = q.by_column.ready and not (q.by_row.ready and grid.shape[1] == 1)
    stored: CSR = (q.by_column if by_column else q.by_row).get()
    inner, outer = (row_pieces, col_pieces(grid)) if by_column else (col_pieces, row_pieces(grid))
    value = mxv_value(q, stored, q.vector)
    u: Any = around(grid, _read(q), inner)
    block: CSR = local(stored)
    positions = q.semiring.mult.uses & _POSITIONS
    if positions:
        block, u = globally(grid, stored), placed_vector(u, q.ninner, grid.piece(q.ninner, inner(grid).start)[0])
    if q.flip:
        product: Any = products.vxm(u, block, q.semiring, transposed=not by_column)
    else:
        product = products.mxv(block, u, q.semiring, transposed=by_column)
    # Where the block has the rows of the piece alone, its product is already the result.
    own, mask = len(outer) == 1 and not positions, local_mask(q.mask)
    t: Any = product.into(None, Write(mask if own else None))
    if positions:
        first, last = grid.piece(q.nout, outer.start)[0], grid.piece(q.nout, outer.stop - 1)[1]
        t = section(t, first, last, grid.engine)
    if value is not None:
        t = with_values(t, q.semiring.z, None, value)
    w = folded(grid, t, outer, q.nout, q.semiring.add).part
    if mask is not None and not own:
        w = registry.run(Keep(w, mask), grid.engine)
    return vector(grid, q.nout, w if value is None else with_values(w, q.semiring.z, None, value), iso=value)


def _read(q: Mxv) -> Any:
    """Return the vector; with one value for all entries if the product does not read its values."""
    u = q.vector
    if u.iso is not None or ("x" if q.flip else "y") in q.semiring.mult.uses:
        return u
    return with_values(u, u.dtype, None, np.zeros(1, u.dtype)[0])


@across(Mxm, fuses=("mask",))
def mxm(q: Mxm, grid: Grid) -> Any:
    """SUMMA over the ranges of inner positions that no process divides."""
    a, b, mask = q.a, q.by_row.get(), local_mask(q.mask)
    shape = a.nrows, b.ncols
    (height, width), (row, col) = grid.shape, grid.place
    bounds = piece_bounds(a.ncols, grid.size)
    stages = sorted({*range(0, grid.size + 1, height), *range(0, grid.size + 1, width)})
    rows, cols = grid.rows(shape[0]), grid.cols(shape[1])
    extent = rows[1] - rows[0], cols[1] - cols[0]
    positions = bool(q.semiring.mult.uses & _POSITIONS)
    total: CSR = empty_matrix(*extent, q.semiring.z, grid.local)
    for first, last in itertools.pairwise(stages):
        low, high = bounds[first], bounds[last]
        if low == high:
            continue
        left, right = first // height, first // width
        mine = _range(local(a), None, (low - grid.cols(a.ncols)[0], high - low)) if col == left else None
        one: CSR = grid.beside.broadcast(mine, left)
        mine = _range(local(b), (low - grid.rows(b.nrows)[0], high - low), None) if row == right else None
        other: CSR = grid.above.broadcast(mine, right)
        if positions:
            one = placed(one, (shape[0], a.ncols), rows[0], low)
            other = placed(other, (a.ncols, shape[1]), low, cols[0])
            made: CSR = cut(matrix_products.mxm(one, other, q.semiring).into(), rows, cols)
            made = made if mask is None else registry.run(Keep(made, mask), grid.engine)
        else:
            made = matrix_products.mxm(one, other, q.semiring, method=q.method).into(None, Write(mask))
        total = made if not total.nvals else union(total, made, q.semiring.add)
    return matrix(grid, shape, total)


def _range(block: CSR, rows: tuple[int, int] | None, cols: tuple[int, int] | None) -> CSR:
    """Return `count` rows or columns of a block from the first one on, given as (first, count)."""
    at = Index(block.nrows, block.nrows) if rows is None else Index(block.nrows, rows[1], rows[0])
    to = Index(block.ncols, block.ncols) if cols is None else Index(block.ncols, cols[1], cols[0])
    return extract_matrix(block, at, to).into()
