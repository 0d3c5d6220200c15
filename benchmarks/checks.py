"""Checks of timed results: properties, tested without the library, on the device of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import semiring as sr
from semiring.bridges.bench import validation
from semiring.bridges.bench.validation import close, component_count, equal
from tests import verify

from .graphs import arrays, module

__all__ = [
    "Check",
    "close",
    "component_count",
    "components",
    "distances",
    "double_precision",
    "equal",
    "itself",
    "levels",
    "order",
    "parents",
    "product",
    "ranks",
]

Check = Callable[[Any, Any], None]


def levels(A: sr.Matrix) -> Check:
    """Levels of a search from the argument, as a Vector (of this package or of python-graphblas)."""
    indptr, indices = arrays(A)

    def check(source: int, found: Any) -> None:
        verify.bfs_levels(indptr, indices, source, found.to_dense(verify.UNREACHED))

    return check


def order(A: sr.Matrix) -> Check:
    """All rows that a path joins to the argument, each once, in ascending order of their levels."""

    def check(source: int, found: Any) -> None:
        depth = sr.algorithms.bfs_levels(A, source).to_dense(verify.UNREACHED)
        verify.bfs_levels(*arrays(A), source, depth)
        assert found.size == int((depth >= 0).sum()), f"{found.size} rows were reached"
        assert np.unique(found).size == found.size
        assert bool((np.diff(depth[found]) >= 0).all()), "a row comes before one that is nearer"
        assert int(depth[found[0]]) == 0

    return check


def parents(A: sr.Matrix) -> Check:
    """A breadth-first tree from the argument; its levels equal those of `bfs_levels`, which are verified too."""
    indptr, indices = arrays(A)

    def check(source: int, found: sr.Vector) -> None:
        depth = sr.algorithms.bfs_levels(A, source).to_dense(verify.UNREACHED)
        verify.bfs_levels(indptr, indices, source, depth)
        verify.bfs_parents(indptr, indices, source, found.to_dense(verify.UNREACHED), depth)

    return check


def components(A: sr.Matrix) -> Check:
    """Labels of the components of a symmetric pattern: as many as there are, and equal along every entry."""
    indptr, indices = arrays(A)
    count = component_count(indptr, indices)

    def check(_: Any, found: sr.Vector) -> None:
        verify.components(indptr, indices, found.to_dense(), count)

    return check


def itself(A: sr.Matrix) -> Any:
    """Each row's own number."""
    return _numbers(*arrays(A))


def _numbers(indptr: Any, indices: Any) -> Any:
    return verify.module_of(indices).arange(int(indptr.size) - 1, dtype=np.int32)


def distances(A: sr.Matrix) -> Check:
    """Distances from the argument along positive weights."""
    indptr, indices, weights = A.to_csr(index_dtype=None)

    def check(source: int, found: sr.Vector) -> None:
        validation.distances(indptr, indices, weights, source, found.to_dense(verify.UNREACHED))

    return check


def ranks(A: sr.Matrix, iterations: int, damping: float, tolerance: float, start: Any = None) -> Check:
    """PageRank after so many iterations from `start` (by default all equal), against sums in double precision."""
    indptr, indices = arrays(A)
    xp = module(A)
    n = A.nrows
    degree = (indptr[1:] - indptr[:-1]).astype(np.float64)
    expected = xp.full(n, 1 / n) if start is None else start.astype(np.float64)
    for _ in range(iterations):
        share = expected / xp.maximum(degree, 1.0)
        mass = float(expected[degree == 0].sum())
        total = xp.zeros(n)
        for i, j in verify.arcs(indptr, indices):
            total += xp.bincount(j, weights=share[i], minlength=n)
        expected = (1 - damping + damping * mass) / n + damping * total

    def check(_: Any, found: sr.Vector) -> None:
        close(found.to_dense(), expected, tolerance)

    return check


def product(A: sr.Matrix, x: Any, tolerance: float) -> tuple[Check, Check]:
    """Checks of A x, for a Vector and for an array, against the product in double precision."""
    expected = double_precision(A) @ x.astype(np.float64)

    def check_vector(_: Any, found: sr.Vector) -> None:
        close(found.to_dense(0), expected, tolerance)

    def check_array(_: Any, found: Any) -> None:
        close(found, expected, tolerance)

    return check_vector, check_array


def double_precision(A: sr.Matrix) -> Any:
    """The matrix as a SciPy or CuPy matrix in float64, which shares the structure."""
    indptr, indices, values = A.to_csr(index_dtype=None)
    if A.device == "cuda":
        from cupyx.scipy.sparse import csr_matrix
    else:
        from scipy.sparse import csr_array as csr_matrix
    return csr_matrix((values.astype(np.float64), indices, indptr), shape=A.shape)
