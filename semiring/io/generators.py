"""Generated graphs; published as ``semiring.random``.

Equal arguments and seed produce equal graphs on the CPU, on the GPU, and on a grid of processes, of which each draws
its share. All are square matrices, iso-valued bool true
unless `weights` is set, with sorted rows and without duplicates.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Final, ParamSpec

import numpy as np

from semiring.config import checked_device, default_device
from semiring.devices import dispatched, local_device, on_device
from semiring.dtypes import BOOL
from semiring.exceptions import InvalidValue
from semiring.facade.matrix import Matrix
from semiring.formats import CSR, Pattern
from semiring.io import generator_arrays as arrays
from semiring.io.files import Progress
from semiring.memory.allocation import reports_memory, require
from semiring.memory.arrays import Array, array_module, index_dtype

__all__ = ["grid2d", "grid3d", "kronecker", "path", "rmat", "star", "uniform"]

# n * n must be below 2**63: edges are sorted as one 64-bit key.
_LARGEST_N: Final = 2**31
LARGEST_WEIGHT: Final = 255

# Returns the rows and columns of edges: of the number of the first, and their count.
Draw = Callable[[int, int], tuple[Array, Array]]

P = ParamSpec("P")


def _explain_positional_errors(function: Callable[P, Matrix]) -> Callable[P, Matrix]:
    """Raise a TypeError that lists the keyword arguments where too many arguments are positional."""
    parameters = inspect.signature(function).parameters.values()
    positional = [item.name for item in parameters if item.kind is item.POSITIONAL_OR_KEYWORD]
    keywords = [f"{item.name}=" for item in parameters if item.kind is item.KEYWORD_ONLY]

    @wraps(function)
    def generated(*args: P.args, **kwargs: P.kwargs) -> Matrix:
        if len(args) > len(positional):
            raise TypeError(
                f"{function.__name__}: expected {' and '.join(positional)} by position and {' '.join(keywords)} by "
                f"name; got {len(args)} by position"
            )
        return function(*args, **kwargs)

    return generated


@_explain_positional_errors
@reports_memory
def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    seed: int = 0,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    symmetric: bool = False,
    loops: bool = True,
    permute: bool = False,
    weights: str | None = None,
    device: str | None = None,
    progress: Progress | None = None,
) -> Matrix:
    """Generate a recursive-matrix graph of ``2**scale`` vertices and at most ``edge_factor * 2**scale`` edges.

    Each edge is in a quadrant of the adjacency matrix with the probabilities a (upper left), b, c and
    ``1 - a - b - c``, recursively in that quadrant; an edge drawn twice is stored once. Source: D. Chakrabarti, Y.
    Zhan, C. Faloutsos, "R-MAT: A Recursive Model for Graph Mining", SDM 2004.

    Parameters
    ----------
    scale : int
        0 to 31.
    edge_factor : int
        Edges that are drawn for each vertex.
    seed : int
        From 0; equal seeds produce equal graphs.
    a, b, c : float
        Probabilities of three quadrants.
    symmetric : bool
        Store each edge in both directions.
    loops : bool
        Keep edges from a vertex to itself.
    permute : bool
        Renumber the vertices at random; otherwise vertices of low numbers have many edges.
    weights : ``"uniform"`` or None
        int32 weights from 1 to 255, equal in both directions.
    device : ``"cpu"``, ``"cuda"``, or that of a grid of processes, optional
        By default that of new objects.
    progress : callable, optional
        Called as ``progress(what, share)``, with the share done from 0 to 1.

    Returns
    -------
    Matrix

    Raises
    ------
    InvalidValue
        A parameter outside its range.

    Notes
    -----
    O(m log m) for m edges, and 16 bytes of memory for each (32 if symmetric); synchronizes.

    Examples
    --------
    >>> A = sr.random.rmat(8, 4, seed=1, symmetric=True)
    >>> A.shape, A.dtype, A.nvals <= 2 * 4 * 256, A.is_symmetric_structure
    ((256, 256), dtype('bool'), True, True)
    """
    scale = arrays.checked("scale", scale, 0, 31)
    if min(a, b, c) < 0 or a + b + c > 1 + 1e-9:
        raise InvalidValue(f"a, b, c: expected probabilities whose sum is at most 1, got {a}, {b}, {c}")
    device, n = _device(device), 1 << scale

    def prepare(xp: Any) -> Draw:
        if permute:
            require("rmat", local_device(device), 24 * n)  # random keys, their order, and the buffers of the sort
        order = arrays.permutation(xp, n, seed) if permute else None

        def draw(first: int, count: int) -> tuple[Array, Array]:
            rows, cols = arrays.kronecker_edges(xp, scale, first, count, seed, a, b, c)
            return (rows, cols) if order is None else (order[rows], order[cols])

        return draw

    return from_draws(device, "rmat", prepare, n, edge_factor, seed, symmetric, loops, weights, progress)


@_explain_positional_errors
@reports_memory
def kronecker(
    scale: int,
    edge_factor: int = 16,
    *,
    seed: int = 0,
    weights: str | None = None,
    device: str | None = None,
    progress: Progress | None = None,
) -> Matrix:
    """Generate the Graph500 graph: `rmat` with a = .57, b = c = .19, permuted, symmetric, without loops and duplicates.

    Source: Graph 500 specification, section 3 (graph500.org).

    Parameters
    ----------
    scale, edge_factor, seed, weights, device, progress : as `rmat`

    Returns
    -------
    Matrix

    Raises
    ------
    InvalidValue
        A parameter outside its range.

    Notes
    -----
    Cost and synchronization as `rmat`.

    Examples
    --------
    >>> A = sr.random.kronecker(8, seed=1)
    >>> A.shape, A.is_symmetric_structure, A.diag().nvals
    ((256, 256), True, 0)
    """
    return rmat(
        scale,
        edge_factor,
        seed=seed,
        symmetric=True,
        loops=False,
        permute=True,
        weights=weights,
        device=device,
        progress=progress,
    )


@_explain_positional_errors
@reports_memory
def uniform(
    n: int,
    edge_factor: int = 16,
    *,
    seed: int = 0,
    symmetric: bool = True,
    loops: bool = False,
    weights: str | None = None,
    device: str | None = None,
    progress: Progress | None = None,
) -> Matrix:
    """Generate an Erdos-Renyi graph of ``n`` vertices and at most ``n * edge_factor`` uniform random edges.

    Parameters
    ----------
    n : int
        At most ``2**31``.
    edge_factor, seed, symmetric, loops, weights, device, progress : as `rmat`

    Returns
    -------
    Matrix

    Raises
    ------
    InvalidValue
        A parameter outside its range.

    Notes
    -----
    Cost and synchronization as `rmat`.

    Examples
    --------
    >>> A = sr.random.uniform(100, 4, seed=1)
    >>> A.shape, A.is_symmetric_structure, A.nvals <= 2 * 400
    ((100, 100), True, True)
    """
    n = arrays.checked("n", n, 0, _LARGEST_N)

    def prepare(xp: Any) -> Draw:
        return lambda first, count: arrays.uniform_edges(xp, n, first, count, seed)

    return from_draws(_device(device), "uniform", prepare, n, edge_factor, seed, symmetric, loops, weights, progress)


@reports_memory
def grid2d(rows: int, cols: int, *, device: str | None = None) -> Matrix:
    """Generate the grid of ``rows x cols`` points: point (i, j) is vertex ``i * cols + j``, with up to 4 neighbors.

    Parameters
    ----------
    rows, cols : int
    device : as `rmat`

    Returns
    -------
    Matrix, symmetric.

    Notes
    -----
    Cost O(rows cols).

    Examples
    --------
    >>> sr.random.grid2d(2, 3).to_dicts()[1]
    {0: True, 2: True, 4: True}
    """
    return lattice_matrix(_device(device), (rows, cols))


@reports_memory
def grid3d(depth: int, rows: int, cols: int, *, device: str | None = None) -> Matrix:
    """Generate the grid of ``depth x rows x cols`` points, each with up to 6 neighbors, the last axis fastest.

    Parameters
    ----------
    depth, rows, cols : int
    device : as `rmat`

    Returns
    -------
    Matrix, symmetric.

    Notes
    -----
    Cost O(depth rows cols).

    Examples
    --------
    >>> sr.random.grid3d(2, 2, 2).to_dicts()[0]
    {1: True, 2: True, 4: True}
    """
    return lattice_matrix(_device(device), (depth, rows, cols))


@reports_memory
def path(n: int, *, device: str | None = None) -> Matrix:
    """Generate the path 0 - 1 - ... - (n - 1). O(n).

    Parameters
    ----------
    n : int
    device : as `rmat`

    Returns
    -------
    Matrix, symmetric.

    Notes
    -----
    Cost O(n).

    Examples
    --------
    >>> sr.random.path(3).to_dicts()
    {0: {1: True}, 1: {0: True, 2: True}, 2: {1: True}}
    """
    return lattice_matrix(_device(device), (n,))


@reports_memory
def star(leaves: int, *, device: str | None = None) -> Matrix:
    """Generate a star: vertex 0, adjacent to each of 1, ..., ``leaves``. O(leaves).

    Parameters
    ----------
    leaves : int
    device : as `rmat`

    Returns
    -------
    Matrix, symmetric.

    Notes
    -----
    Cost O(leaves).

    Examples
    --------
    >>> sr.random.star(2).to_dicts()
    {0: {1: True, 2: True}, 1: {0: True}, 2: {0: True}}
    """
    leaves = arrays.checked("leaves", leaves, 0, 2**60)
    device = _device(device)
    local = local_device(device)
    require("star", local, 4 * leaves * index_dtype(2 * leaves).itemsize)
    store = csr_of_arrays(*arrays.star_arrays(array_module(local), leaves), None, symmetric=True)
    return Matrix._new(on_device(device, store))


def _device(device: str | None) -> str:
    return default_device() if device is None else checked_device(device)


@dispatched()
def lattice_matrix(device: str, shape: tuple[int, ...]) -> Matrix:
    """Return the points of a grid of this shape, each adjacent to the next along each axis."""
    shape = tuple(arrays.checked("side", side, 0, 2**60) for side in shape)
    n, neighbors = math.prod(shape), 2 * len(shape)
    # For each point and direction, whether a neighbor exists, and its number; then the columns, and offsets.
    index = index_dtype(n * neighbors).itemsize
    require("grid", device, n * (neighbors * (1 + 2 * index) + 3 * index))
    return Matrix._new(csr_of_arrays(*arrays.lattice(array_module(device), shape), None, symmetric=True))


@dispatched()
def from_draws(
    device: str,
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
    """Return the graph of drawn edges.  prepare: of the module of arrays; returns the function that draws."""
    total = count_of_draws(n, edge_factor, weights)
    xp = array_module(device)
    draw = prepare(xp)
    require(operation, device, 16 * total * (2 if symmetric else 1) + 8 * n)

    def chunks() -> Iterator[tuple[Array, Array]]:
        for first in range(0, total, arrays.CHUNK_EDGES):
            yield draw(first, min(arrays.CHUNK_EDGES, total - first))
            if progress is not None:
                progress("drawing edges", min((first + arrays.CHUNK_EDGES) / total, 1.0))
        if progress is not None:
            progress("sorting edges", 0.0)

    indptr, indices = arrays.compress(xp, chunks(), total, n, symmetric=symmetric, loops=loops)
    values = None
    if weights is not None:
        values = arrays.uniform_weights(xp, indptr, indices, seed, 1, LARGEST_WEIGHT)
    return Matrix._new(csr_of_arrays(indptr, indices, values, symmetric=symmetric))


def count_of_draws(n: int, edge_factor: int, weights: str | None) -> int:
    """Return how many edges are drawn; InvalidValue for a wrong argument."""
    if weights not in (None, "uniform"):
        raise InvalidValue(f'weights: expected None or "uniform", got {weights!r}')
    return n * arrays.checked("edge_factor", edge_factor, 0, 2**20)


def csr_of_arrays(
    indptr: Array, indices: Array, values: Array | None, *, symmetric: bool, ncols: int | None = None
) -> CSR:
    """Return a store of arrays that are sorted, distinct and within range by construction; ncols: n if it is square."""
    nrows = int(indptr.size) - 1
    facts = {"symmetric": True} if symmetric else {}
    pattern = Pattern(nrows, nrows if ncols is None else ncols, indptr, indices, facts)
    dtype = BOOL if values is None else np.dtype(values.dtype)
    return CSR(pattern, dtype, values, np.bool_(True) if values is None else None)


def __dir__() -> list[str]:
    return sorted(__all__)
