"""Generated graphs; published as ``semiring.random``.

Equal arguments and seed produce equal graphs on the CPU, on the GPU, and on a grid of processes, of which each draws
its share. All are square matrices, iso-valued bool true
unless `weights` is set, with sorted rows and without duplicates.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Final, ParamSpec

import numpy as np

from semiring.config import checked_device, default_device, engine_for
from semiring.devices import dispatched, local_device, on_device
from semiring.dtypes import BOOL
from semiring.engines.registry import run
from semiring.engines.requests.draw import BuildKeys, DrawEdges, DrawOrder, DrawWeights, Lattice, RandomEdges, Star
from semiring.exceptions import InvalidValue
from semiring.facade.matrix import Matrix
from semiring.formats import CSR, Pattern
from semiring.io.files import Progress
from semiring.memory.allocation import reports_memory, require
from semiring.memory.arrays import Array, index_dtype

__all__ = ["grid2d", "grid3d", "kronecker", "path", "rmat", "star", "uniform"]

# Both ends of an edge are one 64-bit key, which is sorted.
_LARGEST_N: Final = 2**31
_LARGEST_WEIGHT: Final = 255

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
    O(m log m) for the sort of m edges, after O(m scale) to draw them; 17 bytes of memory for each (34 if symmetric).
    On a GPU a level of the recursion is computed in registers: an edge is written once, before the sort. Synchronizes.

    Examples
    --------
    >>> A = sr.random.rmat(8, 4, seed=1, symmetric=True)
    >>> A.shape, A.dtype, A.nvals <= 2 * 4 * 256, A.is_symmetric_structure
    ((256, 256), dtype('bool'), True, True)
    """
    scale = checked("scale", scale, 0, 31)
    if min(a, b, c) < 0 or a + b + c > 1 + 1e-9:
        raise InvalidValue(f"a, b, c: expected probabilities whose sum is at most 1, got {a}, {b}, {c}")
    one, two, three = (round(share * 2**32) for share in (a, a + b, a + b + c))
    edges = RandomEdges(1 << scale, seed, (one, two, three))
    return from_draws(_device(device), "rmat", edges, permute, edge_factor, symmetric, loops, weights, progress)


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
    edges = RandomEdges(checked("n", n, 0, _LARGEST_N), seed)
    return from_draws(_device(device), "uniform", edges, False, edge_factor, symmetric, loops, weights, progress)


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
    leaves = checked("leaves", leaves, 0, 2**60)
    device = _device(device)
    local = local_device(device)
    require("star", local, 4 * leaves * index_dtype(2 * leaves).itemsize)
    store = csr_of(run(Star(leaves), engine_for(local)), None, symmetric=True)
    return Matrix._new(on_device(device, store))


def _device(device: str | None) -> str:
    return default_device() if device is None else checked_device(device)


@dispatched()
def lattice_matrix(device: str, shape: tuple[int, ...]) -> Matrix:
    """Return the points of a grid of this shape, each adjacent to the next along each axis."""
    shape = checked_shape(shape)
    everywhere = 0, math.prod(shape)
    pattern = run(Lattice(shape, everywhere, everywhere), engine_for(device))
    return Matrix._new(csr_of(pattern, None, symmetric=True))


@dispatched()
def from_draws(
    device: str,
    operation: str,
    edges: RandomEdges,
    permute: bool,
    edge_factor: int,
    symmetric: bool,
    loops: bool,
    weights: str | None,
    progress: Progress | None,
) -> Matrix:
    """Return the graph of drawn edges.  permute: renumber the vertices at random."""
    total = count_of_draws(edges, edge_factor, weights)
    if permute:
        edges = permuted(operation, device, edges)
    # The sort on a GPU holds two copies of the keys, and a byte a key; that on a CPU is in place.
    require(operation, device, 17 * total * (2 if symmetric else 1) + 8 * edges.n)

    def report(done: int) -> None:
        if progress is not None:
            progress("drawing edges", done / total)

    engine = engine_for(device)
    keys = [run(DrawEdges(edges, 0, total, symmetric, loops, report), engine)]
    if progress is not None:
        progress("sorting edges", 0.0)
    pattern = run(BuildKeys(edges.n, edges.n, keys), engine)
    return Matrix._new(csr_of(pattern, drawn_weights(device, weights, pattern, edges, 0, 0), symmetric=symmetric))


def count_of_draws(edges: RandomEdges, edge_factor: int, weights: str | None) -> int:
    """Return how many edges are drawn; InvalidValue for a wrong argument."""
    if weights not in (None, "uniform"):
        raise InvalidValue(f'weights: expected None or "uniform", got {weights!r}')
    return edges.n * checked("edge_factor", edge_factor, 0, 2**20)


def permuted(operation: str, device: str, edges: RandomEdges) -> RandomEdges:
    """Return the same edges between vertices that are renumbered at random; device: of the arrays."""
    require(operation, device, 24 * edges.n)  # random keys, their order, and the buffers of the sort
    return replace(edges, order=run(DrawOrder(edges.n, edges.seed), engine_for(device)))


def drawn_weights(
    device: str, weights: str | None, pattern: Pattern, edges: RandomEdges, top: int, left: int
) -> Array | None:
    """Return the weights of the entries of a block that begins at row `top` and column `left`; None without weights."""
    if weights is None:
        return None
    return run(DrawWeights(pattern, edges.seed, 1, _LARGEST_WEIGHT, top, left, edges.n), engine_for(device))


def csr_of(pattern: Pattern, values: Array | None, *, symmetric: bool) -> CSR:
    """Return a store of a pattern that is valid by construction; without values all entries are true."""
    if symmetric:
        pattern.facts["symmetric"] = True
    dtype = BOOL if values is None else np.dtype(values.dtype)
    return CSR(pattern, dtype, values, np.bool_(True) if values is None else None)


def checked_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sides of a lattice; `InvalidValue` if one is outside the limits."""
    return tuple(checked("side", side, 0, 2**60) for side in shape)


def checked(name: str, value: int, low: int, high: int) -> int:
    """Return ``value`` as an int; `InvalidValue` if it is outside the limits."""
    if not low <= int(value) <= high:
        raise InvalidValue(f"{name}: expected {low} to {high}, got {value}")
    return int(value)


def __dir__() -> list[str]:
    return sorted(__all__)
