"""Generated graphs in parts: the graphs of `semiring.random`, of which each process draws its share.

A random number is a function of the seed and of its position, so the graph is the same for every number of processes,
and the one that `semiring.random` makes on one.  Edges are drawn in rounds, and each round is sent to the processes
that hold the positions, so the memory for edges on their way does not grow with the graph.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from semiring import Matrix

from ..dtypes import BOOL
from ..exceptions import InvalidValue
from ..formats import CSR, Array, Pattern, array_module
from ..io import generator_arrays as arrays
from .agreement import collective
from .grid import Grid, piece_bounds
from .partition import matrix
from .routing import group_by_owner

__all__ = ["grid2d", "grid3d", "kronecker", "path", "rmat", "uniform"]

# n * n must be below 2**63: edges are sorted as one 64-bit key.
_LARGEST_N = 2**31
_LARGEST_WEIGHT = 255


@collective
def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    grid: Grid,
    seed: int = 0,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    symmetric: bool = False,
    loops: bool = True,
    permute: bool = False,
    weights: str | None = None,
) -> Matrix:
    """Generate the recursive-matrix graph of `semiring.random.rmat` on a grid.  Collective.

    Parameters
    ----------
    scale, edge_factor : as `semiring.random.rmat`
    grid : Grid
    seed, a, b, c, symmetric, loops, permute, weights : as `semiring.random.rmat`

    Returns
    -------
    Matrix on the device of the grid, equal to ``semiring.random.rmat`` of the same arguments.

    Raises
    ------
    InvalidValue
        A parameter outside its range.
    OutOfMemory

    Notes
    -----
    O(m / p log m) for m edges and p processes.  Memory of a process: 16 bytes for each edge of its block, before equal
    ones are combined; with `permute` also 24 bytes a vertex, since each process computes the whole permutation.

    Examples
    --------
    >>> program = lambda grid: sr.distributed.random.rmat(6, 4, grid=grid, seed=1).nvals
    >>> sr.distributed.run(3, program)[0] == sr.random.rmat(6, 4, seed=1).nvals
    True
    """
    xp = array_module(grid.local)

    def prepared() -> tuple[int, Any]:
        exponent = arrays.checked("scale", scale, 0, 31)
        if min(a, b, c) < 0 or a + b + c > 1 + 1e-9:
            raise InvalidValue(f"a, b, c: expected probabilities whose sum is at most 1, got {a}, {b}, {c}")
        return exponent, arrays.permutation(xp, 1 << exponent, seed) if permute else None

    exponent, order = grid.run_then_barrier(prepared)

    def draw(first: int, count: int) -> tuple[Array, Array]:
        rows, cols = arrays.kronecker_edges(xp, exponent, first, count, seed, a, b, c)
        return (rows, cols) if order is None else (order[rows], order[cols])

    return _drawn(grid, draw, 1 << exponent, edge_factor, seed, symmetric, loops, weights)


@collective
def kronecker(scale: int, edge_factor: int = 16, *, grid: Grid, seed: int = 0, weights: str | None = None) -> Matrix:
    """Generate the Graph500 graph of `semiring.random.kronecker` on a grid.  Collective.

    Parameters
    ----------
    scale, edge_factor : as `semiring.random.kronecker`
    grid : Grid
    seed, weights : as `semiring.random.kronecker`

    Returns
    -------
    Matrix on the device of the grid, symmetric, equal to ``semiring.random.kronecker`` of the same arguments.

    Raises
    ------
    InvalidValue, OutOfMemory

    Notes
    -----
    Cost as `rmat`.

    Examples
    --------
    >>> def program(grid):
    ...     A = sr.distributed.random.kronecker(8, grid=grid, seed=1)
    ...     return sr.distributed.gather(A).isequal(sr.random.kronecker(8, seed=1))
    >>> sr.distributed.run(4, program)[0]
    True
    """
    return rmat(scale, edge_factor, grid=grid, seed=seed, symmetric=True, loops=False, permute=True, weights=weights)


@collective
def uniform(
    n: int,
    edge_factor: int = 16,
    *,
    grid: Grid,
    seed: int = 0,
    symmetric: bool = True,
    loops: bool = False,
    weights: str | None = None,
) -> Matrix:
    """Generate the Erdos-Renyi graph of `semiring.random.uniform` on a grid.  Collective.

    Parameters
    ----------
    n, edge_factor : as `semiring.random.uniform`
    grid : Grid
    seed, symmetric, loops, weights : as `semiring.random.uniform`

    Returns
    -------
    Matrix on the device of the grid, equal to ``semiring.random.uniform`` of the same arguments.

    Raises
    ------
    InvalidValue, OutOfMemory

    Notes
    -----
    Cost as `rmat`.

    Examples
    --------
    >>> program = lambda grid: sr.distributed.random.uniform(100, 4, grid=grid, seed=1).nvals
    >>> sr.distributed.run(3, program)[0] == sr.random.uniform(100, 4, seed=1).nvals
    True
    """
    order = grid.run_then_barrier(lambda: arrays.checked("n", n, 0, _LARGEST_N))
    xp = array_module(grid.local)

    def draw(first: int, count: int) -> tuple[Array, Array]:
        return arrays.uniform_edges(xp, order, first, count, seed)

    return _drawn(grid, draw, order, edge_factor, seed, symmetric, loops, weights)


@collective
def grid2d(rows: int, cols: int, *, grid: Grid) -> Matrix:
    """Generate the grid of points of `semiring.random.grid2d`; each process makes its block.

    Parameters
    ----------
    rows, cols : int
    grid : Grid

    Returns
    -------
    Matrix on the device of the grid, symmetric.

    Raises
    ------
    InvalidValue, OutOfMemory

    Notes
    -----
    Cost O(rows of the block); nothing is sent.

    Examples
    --------
    >>> program = lambda grid: sr.distributed.random.grid2d(3, 4, grid=grid).nvals
    >>> sr.distributed.run(3, program)[0] == sr.random.grid2d(3, 4).nvals
    True
    """
    return _lattice(grid, (rows, cols))


@collective
def grid3d(depth: int, rows: int, cols: int, *, grid: Grid) -> Matrix:
    """Generate the grid of points of `semiring.random.grid3d`; each process makes its block.

    Parameters
    ----------
    depth, rows, cols : int
    grid : Grid

    Returns
    -------
    Matrix on the device of the grid, symmetric.

    Raises
    ------
    InvalidValue, OutOfMemory

    Notes
    -----
    Cost O(rows of the block); nothing is sent.

    Examples
    --------
    >>> program = lambda grid: sr.distributed.random.grid3d(2, 3, 4, grid=grid).nvals
    >>> sr.distributed.run(3, program)[0] == sr.random.grid3d(2, 3, 4).nvals
    True
    """
    return _lattice(grid, (depth, rows, cols))


@collective
def path(n: int, *, grid: Grid) -> Matrix:
    """Generate the path 0 - 1 - ... - (n - 1); each process makes its block.

    Parameters
    ----------
    n : int
    grid : Grid

    Returns
    -------
    Matrix on the device of the grid, symmetric.

    Raises
    ------
    InvalidValue, OutOfMemory

    Notes
    -----
    Cost O(rows of the block); nothing is sent.

    Examples
    --------
    >>> sr.distributed.run(2, lambda grid: sr.distributed.random.path(5, grid=grid).nvals)[0]
    8
    """
    return _lattice(grid, (n,))


def _lattice(grid: Grid, shape: tuple[int, ...]) -> Matrix:
    def made() -> tuple[Array, Array, int]:
        sides = tuple(arrays.checked("side", side, 0, 2**60) for side in shape)
        n = math.prod(sides)
        return (*arrays.lattice(array_module(grid.local), sides, grid.rows(n), grid.cols(n)), n)

    indptr, indices, n = grid.run_then_barrier(made)
    return _matrix(grid, n, indptr, indices, None, True)


def _drawn(
    grid: Grid,
    draw: Callable[[int, int], tuple[Array, Array]],
    n: int,
    edge_factor: int,
    seed: int,
    symmetric: bool,
    loops: bool,
    weights: str | None,
) -> Matrix:
    """Return the graph of ``n * edge_factor`` drawn edges; each process draws consecutive ones."""

    def checked() -> int:
        if weights not in (None, "uniform"):
            raise InvalidValue(f'weights: expected None or "uniform", got {weights!r}')
        return n * arrays.checked("edge_factor", edge_factor, 0, 2**20)

    total = grid.run_then_barrier(checked)
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
    xp = array_module(grid.local)

    def made() -> tuple[Array, Array, Array | None]:
        keys = xp.concatenate(arrived) if arrived else xp.zeros(0, np.int64)
        arrived.clear()
        indptr, indices = arrays.distinct_rows(xp, keys, route.nrows, route.ncols)
        if weights is None:
            return indptr, indices, None
        block = route.top, route.left, n
        return indptr, indices, arrays.uniform_weights(xp, indptr, indices, seed, 1, _LARGEST_WEIGHT, block=block)

    return _matrix(grid, n, *grid.run_then_barrier(made), symmetric)


class _Routes:
    """Where the positions of an n x n matrix are held; a position is sent as one key of its block."""

    def __init__(self, grid: Grid, n: int) -> None:
        self._grid, xp = grid, array_module(grid.local)
        (height, width), bounds = grid.shape, piece_bounds(n, grid.size)
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


def _matrix(grid: Grid, n: int, indptr: Array, indices: Array, values: Array | None, symmetric: bool) -> Matrix:
    (top, bottom), (left, right) = grid.rows(n), grid.cols(n)
    pattern = Pattern(bottom - top, right - left, indptr, indices)
    iso = np.bool_(True) if values is None else None
    block = CSR(pattern, BOOL if values is None else np.dtype(values.dtype), values, iso)
    store = matrix(grid, (n, n), block, iso=iso)
    if symmetric:
        store.pattern.facts["symmetric"] = True
    return Matrix._new(store)


def __dir__() -> list[str]:
    return sorted(__all__)
