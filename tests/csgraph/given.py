"""Graphs for the tests of `semiring.csgraph`: drawn, in every format, where the engine under test takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from tests import sampling

Array = np.ndarray[Any, Any]


def weights(n: int, density: float, seed: int, low: int = 1, high: int = 9) -> Array:
    """An n x n array of whole weights, 0 where there is no edge."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(low, high, (n, n)) * (rng.random((n, n)) < density)
    return drawn.astype(np.float64)


# Vertices, density and seed of graphs; the short tier takes two of them.
_GRAPHS = [(1, 0.0, 0), (1, 1.0, 1), (2, 0.5, 2), (7, 0.15, 3), (30, 0.03, 4), (30, 0.1, 5), (40, 0.6, 6)]
_SAMPLE = sampling.draw("graphs of csgraph", _GRAPHS, 2)
DRAWN = [
    pytest.param(graph, marks=sampling.marks(graph, _SAMPLE, pytest.mark.wide), id="-".join(map(str, graph)))
    for graph in _GRAPHS
]


def formats(D: Array) -> Iterator[Any]:
    """The graph of an array as an array, a masked array, and sparse arrays and matrices of SciPy."""
    yield D.copy()
    yield np.ma.array(D, mask=D == 0)
    for make in (sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.csr_matrix, sp.csc_matrix):
        yield make(D)


def given(graph: Any) -> Any:
    """The graph where the engine under test takes it: on a GPU a CuPy array or sparse matrix, in its format."""
    if not on_gpu():
        return graph
    import cupy
    from cupyx.scipy import sparse

    if isinstance(graph, np.ma.MaskedArray):
        return cupy.asarray(graph.filled(0))
    if isinstance(graph, np.ndarray):
        return cupy.asarray(graph)
    if graph.format in ("csr", "csc", "coo"):
        make = getattr(sparse, f"{graph.format}_matrix")
        host = getattr(sp, f"{graph.format}_matrix")(graph.astype(np.float64))
        return make(host)
    return sparse.csr_matrix(sp.csr_matrix(graph.astype(np.float64)))


def near(result: Any) -> Any:
    """A result in host memory, with the check that it was where the graph was."""
    if isinstance(result, tuple):
        return tuple(near(part) for part in result)
    if on_gpu() and (hasattr(result, "ndim") and not isinstance(result, np.generic)):
        assert type(result).__module__.startswith(("cupy", "cupyx")), type(result)
        return result.get()
    return result


def on_gpu() -> bool:
    return sr.Vector(bool, 1).device == "cuda"


def same(ours: Any, theirs: Any, *, exact: bool = True) -> None:
    """Check types and values; classes too where both are in host memory."""
    if isinstance(theirs, tuple):
        assert isinstance(ours, tuple)
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other, exact=exact)
        return
    moved = on_gpu() and hasattr(ours, "ndim")
    ours = near(ours)
    if moved:
        assert isinstance(theirs, np.ndarray) or sp.issparse(theirs)
    else:
        assert type(ours) is type(theirs)
    if sp.issparse(theirs):
        assert ours.shape == theirs.shape
        ours, theirs = ours.toarray(), theirs.toarray()
    if isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype
    compare: Callable[..., None] = np.testing.assert_array_equal if exact else np.testing.assert_allclose
    compare(ours, theirs)


def is_tree(distance: Array, before: Array, D: Array, source: int) -> None:
    """Check predecessors against their definition: edges that fill the distances, back to the source."""
    for v in range(distance.size):
        u = int(before[v])
        if v == source or not np.isfinite(distance[v]):
            assert u == -9999
            continue
        assert distance[u] + D[u, v] == distance[v]
        steps, at = 0, v
        while at != source:
            at, steps = int(before[at]), steps + 1
            assert steps <= distance.size, "predecessors form a cycle"
