"""Generated graphs in parts: each process draws its share of the edges.

A random number is a function of the seed and of its position, so the graph is the same for every number of processes.
Edges are drawn in rounds, and each round is sent to the processes that hold the positions, so the memory for edges on
their way does not grow with the graph.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...facade.matrix import Matrix
from ...formats import CSR, Array, array_module
from ...io import generator_arrays as arrays
from ...io.files import Progress
from ...io.generators import (
    LARGEST_WEIGHT,
    Draw,
    count_of_draws,
    csr_of_arrays,
    from_draws,
    lattice_matrix,
)
from ..grid import Grid, segment_bounds
from ..partition import matrix
from ..routing import group_by_owner
from ..rules import version_of


@version_of(lattice_matrix)
def grid_lattice(device: Any, shape: tuple[int, ...]) -> Matrix:
    """Return the points of a grid; each process makes its block, and nothing is sent.  Collective."""
    grid: Grid = device.executor.grid

    def block() -> tuple[CSR, int]:
        sides = tuple(arrays.checked("side", side, 0, 2**60) for side in shape)
        n = math.prod(sides)
        rows, cols = grid.rows(n), grid.cols(n)
        made = arrays.lattice(array_module(grid.local), sides, rows, cols)
        return csr_of_arrays(*made, None, symmetric=False, ncols=cols[1] - cols[0]), n

    return _matrix(grid, *grid.run_then_barrier(block), symmetric=True)


@version_of(from_draws)
def grid_from_draws(device: Any, *arguments: Any) -> Matrix:
    """Return the graph of drawn edges; each process draws consecutive ones.  Collective."""
    grid: Grid = device.executor.grid
    return grid.collective_call(draw_in_shares, grid, *arguments)


def draw_in_shares(
    grid: Grid,
    operation: str,
    prepare: Callable[[Any], Draw],
    n: int,
    edge_factor: int,
    seed: int,
    symmetric: bool,
    loops: bool,
    weights: str | None,
    progress: Progress | None,
) -> Matrix:
    """Draw this process's share of the edges, and return the graph of all.  Collective."""
    xp = array_module(grid.local)
    total, draw = grid.run_then_barrier(lambda: (count_of_draws(n, edge_factor, weights), prepare(xp)))
    bounds = [rank * total // grid.size for rank in range(grid.size + 1)]
    first, last = bounds[grid.rank], bounds[grid.rank + 1]
    most = max(high - low for low, high in itertools.pairwise(bounds))
    route = _Routes(grid, n)
    arrived: list[Array] = []
    for begin in range(0, most, arrays.CHUNK_EDGES):  # as many rounds on each process
        count = min(arrays.CHUNK_EDGES, most, max(last - first - begin, 0))
        rows, cols = draw(first + begin, count)
        if not loops:
            off = rows != cols
            rows, cols = rows[off], cols[off]
        for starts, ends in ((rows, cols), (cols, rows)) if symmetric else ((rows, cols),):
            arrived += route.sent(starts, ends)
        if progress is not None:
            progress("drawing edges", min((begin + arrays.CHUNK_EDGES) / most, 1.0))
    if progress is not None:
        progress("sorting edges", 0.0)

    def block() -> CSR:
        keys = xp.concatenate(arrived) if arrived else xp.zeros(0, np.int64)
        arrived.clear()
        indptr, indices = arrays.distinct_rows(xp, keys, route.nrows, route.ncols)
        values, at = None, (route.top, route.left, n)
        if weights is not None:
            values = arrays.uniform_weights(xp, indptr, indices, seed, 1, LARGEST_WEIGHT, block=at)
        return csr_of_arrays(indptr, indices, values, symmetric=False, ncols=route.ncols)

    return _matrix(grid, grid.run_then_barrier(block), n, symmetric=symmetric)


class _Routes:
    """Where the positions of an n x n matrix are held; a position is sent as one key of its block."""

    def __init__(self, grid: Grid, n: int) -> None:
        self._grid, xp = grid, array_module(grid.local)
        (height, width), bounds = grid.shape, segment_bounds(n, grid.size)
        self._tops = xp.asarray(bounds[::width], dtype=np.int64)
        self._lefts = xp.asarray(bounds[::height], dtype=np.int64)
        (self.top, bottom), (self.left, right) = grid.rows(n), grid.cols(n)
        self.nrows, self.ncols = bottom - self.top, right - self.left

    def sent(self, rows: Array, cols: Array) -> list[Array]:
        """Return the keys of this block that the processes send in this round.  Collective."""
        grid, xp = self._grid, array_module(self._grid.local)
        i = xp.searchsorted(self._tops[1:-1], rows, side="right")
        j = xp.searchsorted(self._lefts[1:-1], cols, side="right")
        widths = self._lefts[1:] - self._lefts[:-1]
        keys = (rows - self._tops[i]) * widths[j] + (cols - self._lefts[j])
        order, ends = group_by_owner(keys, i * grid.shape[1] + j, grid.size, grid.local)
        keys = keys[order]
        messages = [keys[low:high] if low < high else None for low, high in itertools.pairwise(ends)]
        return [part for part in grid.comm.alltoall(messages) if part is not None]


def _matrix(grid: Grid, block: CSR, n: int, *, symmetric: bool) -> Matrix:
    store = matrix(grid, (n, n), block, iso=block.iso)
    if symmetric:
        store.pattern.facts["symmetric"] = True
    return Matrix._new(store)
