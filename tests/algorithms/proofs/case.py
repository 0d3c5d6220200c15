"""A graph under proof: as matrices of the library, as arrays, and as the objects of other programs."""

from __future__ import annotations

import importlib
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

import semiring as sr
from semiring import Matrix
from tests.verify import module_of

Array = Any


class Arcs(NamedTuple):
    """The entries of a matrix on its device, in order of the rows."""

    indptr: Array
    rows: Array
    columns: Array
    values: Array

    @property
    def xp(self) -> Any:
        """NumPy or CuPy."""
        return module_of(self.columns)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.indptr.size) - 1

    @property
    def degree(self) -> Array:
        """The number of entries of each row."""
        return self.xp.diff(self.indptr)


def arcs_of(A: Matrix) -> Arcs:
    """The entries of a matrix."""
    indptr, columns, values = A.to_csr(index_dtype=None)
    xp = module_of(columns)
    rows = xp.searchsorted(indptr, xp.arange(columns.size, dtype=indptr.dtype), side="right") - 1
    return Arcs(indptr, rows.astype(columns.dtype), columns, values)


class Case:
    """A graph without self-loops.

    D: as it is, directed or not, with one value.  A: every edge in both directions.  W: A with weights that are whole
    numbers from 1 to 97, the same in both directions.  V: D with such weights.
    """

    def __init__(self, name: str, D: Matrix) -> None:
        self.name = name
        self.D = D.select("offdiag").new()
        self.directed = not self.D.is_symmetric_structure
        self.A = self.D.ewise_add(self.D.T, "any").new() if self.directed else self.D

    def __str__(self) -> str:
        return self.name

    @property
    def n(self) -> int:
        """The number of vertices."""
        return int(self.A.nrows)

    @property
    def entries(self) -> int:
        """The number of entries of A."""
        return int(self.A.nvals)

    @cached_property
    def W(self) -> Matrix:
        """The undirected graph with weights."""
        return weighted(self.A, self.arcs)

    @cached_property
    def V(self) -> Matrix:
        """The graph as it is, with weights."""
        return weighted(self.D, self.directed_arcs) if self.directed else self.W

    @cached_property
    def arcs(self) -> Arcs:
        """The entries of A."""
        return arcs_of(self.A)

    @cached_property
    def directed_arcs(self) -> Arcs:
        """The entries of D."""
        return arcs_of(self.D) if self.directed else self.arcs

    @cached_property
    def sources(self) -> list[int]:
        """The vertex with most edges, and others that have some; the first vertex of a graph without edges."""
        degree = host(self.directed_arcs.degree)
        some = np.flatnonzero(degree)
        if some.size == 0:
            return [0] if self.n else []
        drawn = np.random.default_rng(1).choice(some, min(3, some.size), replace=False).tolist()
        return list(dict.fromkeys([int(degree.argmax()), *drawn]))

    @cached_property
    def scipy(self) -> Any:
        """A for SciPy, with ones."""
        return _scipy(self.A, 1.0)

    @cached_property
    def scipy_directed(self) -> Any:
        """D for SciPy, with ones."""
        return _scipy(self.D, 1.0)

    @cached_property
    def scipy_weighted(self) -> Any:
        """W for SciPy."""
        return _scipy(self.W, None)

    @cached_property
    def scipy_weighted_directed(self) -> Any:
        """V for SciPy."""
        return _scipy(self.V, None)

    @cached_property
    def networkx(self) -> Any:
        """W for NetworkX."""
        return _networkx(self.scipy_weighted, "Graph")

    @cached_property
    def networkx_directed(self) -> Any:
        """V for NetworkX."""
        return _networkx(self.scipy_weighted_directed, "DiGraph")

    @cached_property
    def igraph(self) -> Any:
        """W for igraph."""
        upper = self.scipy_weighted.tocoo()
        kept = upper.row < upper.col
        return _igraph(self.n, upper.row[kept], upper.col[kept], upper.data[kept], directed=False)

    @cached_property
    def igraph_directed(self) -> Any:
        """V for igraph."""
        given = self.scipy_weighted_directed.tocoo()
        return _igraph(self.n, given.row, given.col, given.data, directed=True)

    @cached_property
    def networkit(self) -> Any:
        """A for NetworKit."""
        networkit = importlib.import_module("networkit")
        upper = self.scipy.tocoo()
        kept = upper.row < upper.col
        graph = networkit.Graph(self.n)
        graph.addEdges((np.ones(int(kept.sum())), (upper.row[kept], upper.col[kept])), checkMultiEdge=False)
        return graph


def weighted(A: Matrix, arcs: Arcs) -> Matrix:
    """A with a weight from 1 to 97 for each edge, which its two vertices determine."""
    xp = arcs.xp
    low = xp.minimum(arcs.rows, arcs.columns).astype(np.int64)
    high = xp.maximum(arcs.rows, arcs.columns).astype(np.int64)
    return Matrix.from_csr(arcs.indptr, arcs.columns, (low * 7919 + high * 104729) % 97 + 1, ncols=A.ncols)


def host(array: Array) -> Any:
    """An array of any device as one of NumPy."""
    return np.asarray(array.get() if hasattr(array, "get") else array)


def full(v: sr.Vector, missing: Any) -> Array:
    """A Vector as an array on its device, with `missing` where nothing is stored."""
    return v.to_dense(missing)


def dense(v: sr.Vector | sr.Matrix, missing: Any = 0) -> Any:
    """A Vector or Matrix as an array of NumPy."""
    return host(v.to_dense(missing))


def largest(array: Array, otherwise: float = 0) -> Any:
    """The largest element as a number of Python; `otherwise` if there is none."""
    return array.max().item() if array.size else otherwise


def smallest(array: Array, otherwise: float = 0) -> Any:
    """The smallest element as a number of Python; `otherwise` if there is none."""
    return array.min().item() if array.size else otherwise


def close(found: Any, expected: Any, rtol: float = 1e-9, atol: float = 1e-12) -> None:
    """Fail unless two arrays are equal up to rounding."""
    np.testing.assert_allclose(host(found), host(expected), rtol=rtol, atol=atol)


def equal(found: Any, expected: Any) -> None:
    """Fail unless two arrays are equal."""
    np.testing.assert_array_equal(host(found), host(expected))


def _scipy(A: Matrix, value: float | None) -> Any:
    sparse = importlib.import_module("scipy.sparse")
    indptr, indices, values = (host(part) for part in A.to_csr(index_dtype=None))
    data = values.astype(np.float64) if value is None else np.full(indices.size, value)
    return sparse.csr_array((data, indices.astype(np.int32), indptr.astype(np.int32)), shape=A.shape)


def _networkx(S: Any, kind: str) -> Any:
    nx = importlib.import_module("networkx")
    return nx.from_scipy_sparse_array(S, create_using=getattr(nx, kind))


def _igraph(n: int, rows: Any, columns: Any, weights: Any, *, directed: bool) -> Any:
    igraph = importlib.import_module("igraph")
    return igraph.Graph(n, np.stack([rows, columns], 1), directed=directed, edge_attrs={"weight": weights})
