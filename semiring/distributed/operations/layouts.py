"""Matrices side by side, in another shape, and Kronecker products: every entry moves to a position that follows from
its own, so processes send entries to the holders of their new positions.
"""

from __future__ import annotations

from ...engines.requests.operations import Concat, Kronecker, Reshape
from ...formats import CSR, Array
from ...ops.cast import cast_store
from ...ops.kronecker import kronecker as products
from ..grid import Grid
from ..partition import local, to_global
from ..routing import Entries, Triples, concatenate_triples, entries, routed, triples
from ..rules import grid_rule
from ..scattering import allgather_store


@grid_rule(Concat)
def concat(q: Concat, grid: Grid) -> CSR:
    """Send the entries of all tiles at once."""
    found = []
    for row, col, tile in zip(q.rows, q.cols, q.tiles, strict=True):
        held = cast_store(tile, q.dtype, grid.device)
        t = triples(local(held), grid.rows(held.nrows)[0], grid.cols(held.ncols)[0])
        found.append(Triples(t.rows + row, t.cols + col, t.values, t.iso))
    isos = {None if t.iso is None else t.iso.tobytes() for t in found}
    iso = found[0].iso if len(isos) == 1 else None
    return routed(grid, concatenate_triples(found, q.dtype, grid.local), (q.nrows, q.ncols), q.dtype, iso=iso)


@grid_rule(Reshape)
def reshape(q: Reshape, grid: Grid) -> CSR:
    """Send every entry to its row and column in the new shape; its number in the old one has 64 bits."""
    a, width = q.a, max(q.ncols, 1)

    def moved(rows: Array, cols: Array) -> tuple[Array, Array]:
        number = rows * a.ncols + cols
        return number // width, number % width

    return routed(grid, entries(grid, a, moved), (q.nrows, q.ncols), a.dtype, iso=a.iso)


@grid_rule(Kronecker)
def kronecker(q: Kronecker, grid: Grid) -> CSR:
    """Multiply the block of one operand by the whole of the other, of which every process gets a copy.

    The copied operand is the one with fewer entries.
    """
    a, b = q.a, q.b
    shape = a.nrows * b.nrows, a.ncols * b.ncols
    if b.nvals <= a.nvals:
        a, b = to_global(grid, a), allgather_store(b)
    else:
        a, b = allgather_store(a), to_global(grid, b)
    made: CSR = products(a, b, q.op).into()
    return routed(grid, Entries(made, 0, 0, lambda rows, cols: (rows, cols)), shape, q.op.z)
