"""Products with a replicated operand, and what reads them: each process multiplies the rows of its segment.

    C(i, :) = (+)_l  A(i, l) B(l, :)      for the rows i of the segment

With B as a whole on every process, a row of C needs the row of A and that of the mask alone.  On a grid of one column
a block has whole rows, so nothing is sent but B, once; else rows are exchanged within a row of the grid.  The request
is that of one process, so a product whose reduction or selection the engine fuses is not stored.
"""

from __future__ import annotations

import numpy as np

from ...engines import recording
from ...engines.requests.operands import Mask
from ...engines.requests.operations import FusedMxm, Mxm, MxmReduceRows, MxmReduceScalar, MxmSelect
from ...engines.shared.iso_results import product_value
from ...formats import CSR, structure_only
from ...ops import mxm as products
from ...ops.reduce import reduce_rows, reduce_scalar
from ...ops.select import select
from ...ops.write import Plan, Write
from ..grid import Grid
from ..part_stores import PartVector
from ..partition import embed, local, matrix, restrict, vector
from ..product_bytes import sent_bytes, without_unread_values
from ..replication import admitted, count_sent, replica, replicated
from ..rows import blocks_of_rows, whole_rows
from ..rules import grid_rule
from .reductions import combined


def by_replica(q: Mxm, grid: Grid) -> CSR | None:
    """Return the product with B as a whole; None if another way sends less, or a process has no memory for it."""
    b, transposed = _stored(q, grid)
    if not replicates(q, grid):
        sent = sent_bytes(q, q.a, b, grid, transposed=transposed)
        count_sent(b, min(sent[way] for way in sent if way != "whole"))
        return None
    a, b = without_unread_values(q.a, q, "x"), without_unread_values(b, q, "y")
    shape = q.a.nrows, b.nrows if transposed else b.ncols
    plan, mask = _rows(q, grid)
    made: CSR = plan.into(None, Write(mask))
    if "xi" in q.semiring.mult.uses:
        made = restrict(made, grid.segment(shape[0]), (0, shape[1]))
    return matrix(grid, shape, local(blocks_of_rows(grid, made, shape)), iso=product_value(q.semiring, a.iso, b.iso))


def replicates(q: Mxm, grid: Grid) -> bool:
    """Return whether the product replicates B.  Collective."""
    b, transposed = _stored(q, grid)
    sent = sent_bytes(q, q.a, b, grid, transposed=transposed)
    return sent["whole"] <= min(sent.values()) and admitted(grid, b, values="y" in q.semiring.mult.uses)


def _stored(q: Mxm, grid: Grid) -> tuple[CSR, bool]:
    """Return B or its transpose, whichever is at hand, and whether it is the transpose; a replicated one first."""
    if q.by_column is None or not q.by_column.ready:
        return q.by_row.get(), False
    if not q.by_row.ready:
        return q.by_column.get(), True
    rows, columns = (replicated(grid, x.get(), values="y" in q.semiring.mult.uses) for x in (q.by_row, q.by_column))
    return (q.by_column.get(), True) if columns and not rows else (q.by_row.get(), False)


def _rows(q: Mxm, grid: Grid) -> tuple[Plan[CSR], Mask | None]:
    """Return the product of the rows of the segment, and the rows of the mask.  Collective.

    Under an operator that reads the row of A, they are at their positions in the whole.
    """
    b, transposed = _stored(q, grid)
    other = replica(grid, b, values="y" in q.semiring.mult.uses)
    recording.note(way="whole")
    rows, mask = whole_rows(grid, without_unread_values(q.a, q, "x")), None
    of_mask: CSR | None = None
    if q.mask is not None:
        assert isinstance(q.mask.store, CSR)
        of_mask = whole_rows(grid, structure_only(q.mask.store.pattern) if q.mask.structural else q.mask.store)
    if "xi" in q.semiring.mult.uses:
        first = grid.segment(q.a.nrows)[0]
        rows = embed(rows, q.a.shape, first, 0)
        of_mask = None if of_mask is None else embed(of_mask, (q.a.nrows, of_mask.ncols), first, 0)
    if q.mask is not None and of_mask is not None:
        mask = Mask(of_mask, q.mask.structural, q.mask.complement)
    return products.mxm(rows, other, q.semiring, transpose_b=transposed, method=q.method), mask


# -- what reads the product ------------------------------------------------------------------------------


def _fusible(q: FusedMxm, grid: Grid) -> bool:
    return "xi" not in q.semiring.mult.uses and replicates(q.product, grid)


def _product(q: FusedMxm, grid: Grid) -> Plan[CSR]:
    plan, mask = _rows(q.product, grid)
    return plan.under(mask)


@grid_rule(MxmReduceRows, when=_fusible)
def mxm_reduce_rows(q: MxmReduceRows, grid: Grid) -> PartVector:
    """Reduce the rows of the segment."""
    return vector(grid, q.a.nrows, reduce_rows(_product(q, grid), q.monoid).into())


@grid_rule(MxmReduceScalar, when=_fusible)
def mxm_reduce_scalar(q: MxmReduceScalar, grid: Grid) -> np.generic | None:
    """Reduce the rows of the segment, and combine the results in the order of the ranks."""
    return combined(grid, reduce_scalar(_product(q, grid), q.monoid)(), q.monoid)


def _selects_values(q: MxmSelect, grid: Grid) -> bool:
    return q.op.uses <= {"x", "k"} and _fusible(q, grid)


@grid_rule(MxmSelect, when=_selects_values)
def mxm_select(q: MxmSelect, grid: Grid) -> CSR:
    """Select entries of the rows of the segment by their values."""
    made: CSR = select(_product(q, grid), q.op, q.k).into()
    return blocks_of_rows(grid, made, (q.a.nrows, q.product.ncols))
