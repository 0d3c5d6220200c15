"""Small graphs for components, trees and sets, as SciPy arrays, and conversions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr

Array = np.ndarray[Any, Any]


def drawn(n: int, degree: float, seed: int) -> Any:
    """A directed graph of n vertices with about n * degree edges, self-loops among them."""
    rng = np.random.default_rng(seed)
    m = int(n * degree)
    rows, cols = rng.integers(0, n, m), rng.integers(0, n, m)
    return pattern(sp.coo_array((np.ones(m), (rows, cols)), shape=(n, n)))


def pattern(S: Any) -> Any:
    """The structure with ones."""
    S = sp.csr_array(S)
    S.sum_duplicates()
    return sp.csr_array((np.ones(S.nnz), S.indices, S.indptr), shape=S.shape)


def star(n: int) -> Any:
    """Edges from vertex 0 to all others."""
    return sp.csr_array((np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))), shape=(n, n))


DIRECTED = {
    "null": sp.csr_array((0, 0)),
    "one": sp.csr_array((1, 1)),
    "loop": sp.csr_array(np.ones((1, 1))),
    "no-edges": sp.csr_array((4, 4)),
    "path": sp.csr_array(sp.eye_array(40, k=1)),
    "cycle": pattern(sp.eye_array(9, k=1) + sp.eye_array(9, k=-8)),
    "star": star(12),
    "complete": sp.csr_array(np.ones((7, 7))),
    "two-cliques": pattern(
        sp.block_diag([sp.coo_array(np.ones((5, 5))), sp.coo_array(np.ones((6, 6)))])
        + sp.csr_array(([1.0], ([4], [5])), (11, 11))
    ),
    **{f"drawn-{n}-{degree}": drawn(n, degree, n) for n in (30, 90) for degree in (0.5, 0.9, 1.5, 3)},
}
UNDIRECTED = {name: pattern(S + S.T) for name, S in DIRECTED.items()}
directed = pytest.mark.parametrize("S", DIRECTED.values(), ids=DIRECTED)
undirected = pytest.mark.parametrize("S", UNDIRECTED.values(), ids=UNDIRECTED)


def matrix(S: Any, values: Any = True) -> sr.Matrix:
    """The graph as a Matrix, with one value or with those of S where `values` is None."""
    S = sp.csr_array(S)
    return sr.Matrix.from_csr(S.indptr, S.indices, S.data if values is None else values, ncols=S.shape[1])


def host(v: sr.Vector) -> Array:
    """A full Vector as an array."""
    assert v.nvals == v.size
    return np.asarray(v.to_numpy())


def edges(A: sr.Matrix) -> set[tuple[int, int]]:
    """The entries of a symmetric Matrix, each pair once."""
    listed = [np.asarray(part.get() if hasattr(part, "get") else part).tolist() for part in A.to_coo()[:2]]
    return {(i, j) for i, j in zip(*listed, strict=True) if i <= j}


def smallest_members(labels: Array, count: int) -> Array:
    """Each label replaced by the smallest vertex that has it."""
    first = np.full(count, labels.size)
    np.minimum.at(first, labels, np.arange(labels.size))
    return first[labels]
