"""What products of two matrices send: estimates from shapes and numbers of entries, the same on all processes."""

from __future__ import annotations

import numpy as np

from ..engines.requests.operations import Mxm
from ..engines.shared.iso_results import POSITIONS, product_value
from ..formats import CSR, with_values
from .grid import Grid
from .matrix_messages import flat_bytes, row_bytes
from .replication import replicated, sent_in_place
from .rows import has_whole_rows

__all__ = ["estimated", "sent_bytes", "without_unread_values"]


def sent_bytes(q: Mxm, a: CSR, b: CSR, grid: Grid, *, transposed: bool = False) -> dict[str, float]:
    """Return the bytes of a process for each way: "a", "b" or "c" is not sent, or B is replicated ("whole").

    b: B, or its transpose.  Collective where the numbers of entries are not known yet.

    A part of the product that is sent has as many entries as there are products of entries, if both operands were
    random; at most one for each position.  The bytes of a replica are less by those that products have sent in its
    place.
    """
    (height, width), size = grid.shape, grid.size
    (nrows, ninner), ncols = a.shape, b.nrows if transposed else b.ncols
    reads_a, reads_b = (operand in q.semiring.mult.uses for operand in ("x", "y"))
    of_a, of_b = _matrix_bytes(a, reads_a), _matrix_bytes(b, reads_b)
    itemsize = q.semiring.z.itemsize if product_value(q.semiring, a.iso, b.iso) is None else 0
    terms = a.nvals * b.nvals / max(ninner, 1) / size
    away = (size - 1) / size
    sent = {"c": ((width - 1) * of_a + (height - 1) * of_b) / size}
    if size > 1 and not q.semiring.mult.uses & POSITIONS and all((nrows, ninner, ncols)):
        above = estimated(nrows, -(-ncols // width), terms, itemsize)
        beside = estimated(-(-nrows // height), ncols, terms, itemsize)
        sent["b"] = away * of_a / height + (height - 1) / height * above
        sent["a"] = away * of_b / width + (width - 1) / width * beside
    sent["whole"] = 0.0 if replicated(grid, b, values=reads_b) else max(0.0, away * of_b - sent_in_place(b))
    if width > 1:
        entries = terms * size
        if q.mask is not None and not q.mask.complement:
            entries = min(entries, q.mask.store.nvals)
        moved = estimated(nrows, ncols, entries, itemsize)
        moved += 0 if has_whole_rows(grid, a) else of_a
        store = None if q.mask is None else q.mask.store
        if isinstance(store, CSR) and not has_whole_rows(grid, store):
            moved += _matrix_bytes(store, q.mask is not None and not q.mask.structural)
        sent["whole"] += (width - 1) / width / size * moved
    return sent


def without_unread_values(x: CSR, q: Mxm, operand: str) -> CSR:
    """Return an operand, "x" or "y"; with one value for all entries if the product does not read its values."""
    if x.iso is not None or operand in q.semiring.mult.uses:
        return x
    return with_values(x, x.dtype, None, np.zeros(1, x.dtype)[0])


def _matrix_bytes(x: CSR, values: bool) -> float:
    return estimated(*x.shape, x.nvals, x.dtype.itemsize if values and x.iso is None else 0)


def estimated(nrows: int, ncols: int, count: float, itemsize: int) -> float:
    """Return the bytes of a block with so many entries, or with all positions if those are fewer."""
    size = nrows * ncols
    entries = min(int(count), size)
    return entries * itemsize + min(
        flat_bytes(size, entries, itemsize, compress=False), row_bytes(nrows, ncols, entries)
    )
