"""Matrices side by side, in another shape, and Kronecker products: every entry moves to a position that follows from
its own, so processes send entries to the holders of their new positions.
"""

from __future__ import annotations

from ...engines.requests.operations import Concat, Kronecker, Reshape
from ...formats import CSR
from ...ops.cast import cast_store
from ...ops.kronecker import kronecker as products
from ..grid import Grid
from ..partition import local, to_global
from ..routing import Triples, concatenate_triples, routed, triples
from ..rules import grid_rule
from ..scattering import allgather_store


def entries(grid: Grid, a: CSR) -> Triples:
    """Return the entries of the block of this process, at their positions in the whole matrix."""
    return triples(local(a), grid.rows(a.nrows)[0], grid.cols(a.ncols)[0])


@grid_rule(Concat)
def concat(q: Concat, grid: Grid) -> CSR:
    """Send the entries of all tiles at once."""
    found = []
    for row, col, tile in zip(q.rows, q.cols, q.tiles, strict=True):
        t = entries(grid, cast_store(tile, q.dtype, grid.device))
        found.append(Triples(t.rows + row, t.cols + col, t.values, t.iso))
    isos = {None if t.iso is None else t.iso.tobytes() for t in found}
    iso = found[0].iso if len(isos) == 1 else None
    return routed(grid, concatenate_triples(found, q.dtype, grid.local), (q.nrows, q.ncols), q.dtype, iso=iso)


@grid_rule(Reshape)
def reshape(q: Reshape, grid: Grid) -> CSR:
    """Send every entry to its row and column in the new shape; its number in the old one has 64 bits."""
    a, t = q.a, entries(grid, q.a)
    number = t.rows * a.ncols + t.cols
    width = max(q.ncols, 1)
    moved = Triples(number // width, number % width, t.values, t.iso)
    return routed(grid, moved, (q.nrows, q.ncols), a.dtype, iso=a.iso)


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
    return routed(grid, triples(made, 0, 0), shape, q.op.z)
