"""Products of a matrix and a vector.

    w(o) = (+)_k  M(o, k) (x) u(k)

Each process needs the entries of u for the inner positions of its block, multiplies them by its block, and sends the
parts of the product to those who hold them.  Where M is at hand by rows, the block has the inner positions in its
columns; where its transpose is, in its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ...engines import registry
from ...engines.requests.operations import Keep, Mxv
from ...engines.shared.iso_results import POSITIONS, mxv_value
from ...formats import CSR, VectorStore, with_values
from ...formats.vectors import empty_vector
from ...ops import mxv as products
from ...ops.write import Write
from ..communication_filter import Excluded, Sieve, everything, saved_bytes
from ..grid import Grid
from ..partition import (
    add_constant,
    allgather_segments,
    col_segments,
    concatenate_received,
    embed_vector,
    exchange_segments,
    local,
    local_mask,
    reduce_scatter,
    row_segments,
    slice_vector,
    to_global,
    vector,
)
from ..rules import grid_rule

Segments = Callable[..., range]


@grid_rule(Mxv, fuses=("mask",))
def mxv(q: Mxv, grid: Grid) -> Any:
    """Multiply, and drop sums that the mask does not admit."""
    return product(q, grid, None if q.mask is None else Excluded(grid.engine, repeated=False))


def product(q: Mxv, grid: Grid, sieve: Sieve | None, *, by_column: bool | None = None) -> Any:
    """Gather the inner positions of the block, multiply, and add up the products where they belong.

    sieve: drops sums before they are sent; those of the steps of a closure share one.
    by_column: whether the block has the inner positions in its rows; None: where both are at hand, the way that sends
    no sums.
    """
    if by_column is None:
        by_column = q.by_column.ready and not (q.by_row.ready and grid.shape[1] == 1)
    stored: CSR = (q.by_column if by_column else q.by_row).get()
    inner, outer = (row_segments, col_segments) if by_column else (col_segments, row_segments)
    value = mxv_value(q, stored, q.vector)
    mask = local_mask(q.mask)
    shift = _shift(q, grid.segment(q.nout, outer(grid).start)[0], grid.segment(q.ninner, inner(grid).start)[0])
    positions = shift is None
    # Where the block has the rows of the segment alone, its product is already the result.
    alone, ranks = len(outer(grid)) == 1, outer(grid)
    excluded = sieve if isinstance(sieve, Excluded) and not alone else None
    u: Any = _gathered(q, grid, inner, outer, local(stored), excluded if value is None else None)
    block: CSR = local(stored)
    if positions:
        block, u = _at_positions(grid, stored), embed_vector(u, q.ninner, grid.segment(q.ninner, inner(grid).start)[0])
    if q.flip:
        plan: Any = products.vxm(u, block, q.semiring, transposed=not by_column)
    else:
        plan = products.mxv(block, u, q.semiring, transposed=by_column)
    limit = None
    if not positions and (alone or excluded is not None):
        limit = excluded.mask if excluded is not None else mask
    t: Any = plan.into(None, Write(limit))
    if positions:
        first, last = grid.segment(q.nout, ranks.start)[0], grid.segment(q.nout, ranks.stop - 1)[1]
        t = slice_vector(t, first, last, grid.engine)
    if value is not None:
        t = with_values(t, q.semiring.z, None, value)
    elif shift:
        t = add_constant(t, shift)
    if sieve is not None and not alone:
        t = sieve.passed(t)
    w = reduce_scatter(grid, t, outer, q.nout, q.semiring.add).part
    if mask is not None and not (alone and limit is not None):
        w = registry.run(Keep(w, mask), grid.engine)
    return vector(grid, q.nout, w if value is None else with_values(w, q.semiring.z, None, value), iso=value)


def _gathered(
    q: Mxv, grid: Grid, inner: Segments, outer: Segments, block: CSR, excluded: Excluded | None
) -> VectorStore:
    """Return the inner positions of the vector.  Collective.

    excluded: receives the positions that the mask does not admit, where their holder sends them in the same exchange.
    """
    u, mask = _read(q), local_mask(q.mask)
    if excluded is None or mask is None:
        return allgather_segments(grid, u, inner)
    segment, ranks, inside = local(u), outer(grid), grid.segment(q.nout)
    width = grid.segment(q.nout, ranks.stop - 1)[1] - grid.segment(q.nout, ranks.start)[0]
    saved = saved_bytes(q.semiring.z.itemsize, segment.nvals / max(segment.size, 1), block.nvals / max(width, 1))
    without: Any = None
    if mask.structural and mask.complement:
        without = mask.store
    elif 8 * saved > 1:  # else not even a bit for each position pays
        without = registry.run(Keep(everything(inside[1] - inside[0], grid.local), mask.negated()), grid.engine)
    update = None if without is None else excluded.update(without, saved)
    found, arrived = exchange_segments(grid, (segment, inner), (update, outer))
    if any(each is not None for each in arrived.values()):
        nothing = vector(grid, q.nout, empty_vector(inside[1] - inside[0], np.dtype(np.bool_), grid.local))
        excluded.exclude(concatenate_received(grid, nothing, ranks, arrived))
    return concatenate_received(grid, u, inner(grid), found)


def _shift(q: Mxv, outer: int, inner: int) -> int | None:
    """Return what is added to the product of a block to make its values positions of the whole matrix.

    outer, inner: the first positions of the block.  None: the operator reads positions of which the product is no
    shift, so it needs them as they are in the whole matrix.
    """
    mult, add = q.semiring.mult, q.semiring.add
    first = (
        {"xi": 0, "xj": inner, "yi": inner, "yj": outer} if q.flip else {"xi": outer, "xj": inner, "yi": inner, "yj": 0}
    )
    if not any(first[name] for name in mult.uses & POSITIONS):
        return 0
    moves_along = add.is_any or add.expr.order
    return first.get(mult.expr.translation or "") if moves_along else None


def _at_positions(grid: Grid, stored: CSR) -> CSR:
    """Return the block with the shape and the positions of the whole matrix, kept with the block."""
    block = local(stored)
    known = block.cache.get("placed")
    if known is None:
        known = block.cache["placed"] = to_global(grid, stored)
    return cast(CSR, known)


def _read(q: Mxv) -> Any:
    """Return the vector; with one value for all entries if the product does not read its values."""
    u = q.vector
    if u.iso is not None or ("x" if q.flip else "y") in q.semiring.mult.uses:
        return u
    return with_values(u, u.dtype, None, np.zeros(1, u.dtype)[0])
