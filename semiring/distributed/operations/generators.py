"""Generated graphs in parts: each process draws its share of the edges.

A random number is a function of the seed and of its position, so the graph is the same for every number of processes.
Edges are drawn in rounds, and each round is sent to the processes that hold the positions, so the memory for edges on
their way does not grow with the graph.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ...config import engine_for
from ...engines.registry import run
from ...engines.requests import draw
from ...engines.requests.draw import BuildKeys, DrawEdges, Lattice, RandomEdges, column_bits
from ...facade.matrix import Matrix
from ...formats import CSR, Array, array_module
from ...io.files import Progress
from ...io.generators import (
    checked_shape,
    count_of_draws,
    csr_of,
    drawn_weights,
    from_draws,
    lattice_matrix,
    permuted,
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
        sides = checked_shape(shape)
        n = math.prod(sides)
        made = run(Lattice(sides, grid.rows(n), grid.cols(n)), engine_for(grid.local))
        return csr_of(made, None, symmetric=False), n

    return _matrix(grid, *grid.run_then_barrier(block), symmetric=True)


@version_of(from_draws)
def grid_from_draws(device: Any, *arguments: Any) -> Matrix:
    """Return the graph of drawn edges; each process draws consecutive ones.  Collective."""
    grid: Grid = device.executor.grid
    return grid.collective_call(draw_in_shares, grid, *arguments)


def draw_in_shares(
    grid: Grid,
    operation: str,
    edges: RandomEdges,
    permute: bool,
    edge_factor: int,
    symmetric: bool,
    loops: bool,
    weights: str | None,
    progress: Progress | None,
) -> Matrix:
    """Draw this process's share of the edges, and return the graph of all.  Collective."""
    engine, n = engine_for(grid.local), edges.n

    def prepared() -> tuple[int, RandomEdges]:
        total = count_of_draws(edges, edge_factor, weights)
        return total, permuted(operation, grid.local, edges) if permute else edges

    total, drawn = grid.run_then_barrier(prepared)
    bounds = [rank * total // grid.size for rank in range(grid.size + 1)]
    first, last = bounds[grid.rank], bounds[grid.rank + 1]
    most = max(high - low for low, high in itertools.pairwise(bounds))
    round_edges = max(draw.CHUNK_EDGES // (2 if symmetric else 1), 1)  # of which both directions are sent together
    route = _Routes(grid, n)
    arrived: list[Array] = []
    for begin in range(0, most, round_edges):  # as many rounds on each process
        count = min(round_edges, most, max(last - first - begin, 0))
        arrived += route.sent(run(DrawEdges(drawn, first + begin, count, symmetric, loops), engine))
        if progress is not None:
            progress("drawing edges", min((begin + round_edges) / most, 1.0))
    if progress is not None:
        progress("sorting edges", 0.0)

    def block() -> CSR:
        pattern = run(BuildKeys(route.nrows, route.ncols, arrived), engine)
        values = drawn_weights(grid.local, weights, pattern, edges, route.top, route.left)
        return csr_of(pattern, values, symmetric=False)

    return _matrix(grid, grid.run_then_barrier(block), n, symmetric=symmetric)


class _Routes:
    """Where the positions of an n x n matrix are held; a position is sent as one key of its block."""

    def __init__(self, grid: Grid, n: int) -> None:
        self._grid, self._bits, xp = grid, column_bits(n), array_module(grid.local)
        (height, width), bounds = grid.shape, segment_bounds(n, grid.size)
        self._tops = xp.asarray(bounds[::width], dtype=np.int64)
        lefts = bounds[::height]
        self._lefts = xp.asarray(lefts, dtype=np.int64)
        self._widths = xp.asarray([column_bits(right - left) for left, right in itertools.pairwise(lefts)], np.int64)
        (self.top, bottom), (self.left, right) = grid.rows(n), grid.cols(n)
        self.nrows, self.ncols = bottom - self.top, right - self.left

    def sent(self, keys: Array) -> list[Array]:
        """Send keys of positions in the matrix; return those of positions in this block.  Collective."""
        grid, xp = self._grid, array_module(self._grid.local)
        rows, cols = keys >> self._bits, keys & ((1 << self._bits) - 1)
        i = xp.searchsorted(self._tops[1:-1], rows, side="right")
        j = xp.searchsorted(self._lefts[1:-1], cols, side="right")
        keys = ((rows - self._tops[i]) << self._widths[j]) | (cols - self._lefts[j])
        order, ends = group_by_owner(keys, i * grid.shape[1] + j, grid.size, grid.local)
        keys = keys[order]
        messages = {rank: keys[low:high] for rank, (low, high) in enumerate(itertools.pairwise(ends)) if low < high}
        return [part for _, part in sorted(grid.comm.exchange(messages).items())]


def _matrix(grid: Grid, block: CSR, n: int, *, symmetric: bool) -> Matrix:
    store = matrix(grid, (n, n), block, iso=block.iso)
    if symmetric:
        store.pattern.facts["symmetric"] = True
    return Matrix._new(store)
