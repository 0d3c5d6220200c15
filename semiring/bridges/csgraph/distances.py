"""Distances from vertices of a graph, and the trees of shortest paths: what the functions of `paths` share.

    distance = closure({s: 0 for the sources s}, A, min_plus)

A predecessor of v is a u with distance(u) + A(u, v) = distance(v).  On a CPU the closure finds it.  On a GPU, where
some such u is nearer than v, the nearest of them is chosen, as Dijkstra's algorithm does: distances fall along the path
back.  Otherwise (weights of 0, negative ones, and those so small that adding them changes nothing) predecessors are the
parents of a search of these edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import NegativeCycleError

from semiring import Matrix, Vector, ops, semiring
from semiring.exceptions import ConvergenceFailure
from semiring.memory.arrays import Array, array_module, to_device, to_host

from .conversion import NONE, entry_rows

_FLOAT = np.dtype(np.float64)
# Vertices, and entries for each, of graphs with many levels, such as roads.
_LARGE, _DENSE = 100_000, 8
_SHORTEST = semiring.min_plus[_FLOAT]


def sources_of(indices: Any, n: int) -> np.ndarray[Any, Any]:
    """Return the vertices that an argument `indices` names, all if it is None; negative ones count from the end."""
    if indices is None:
        return np.arange(n, dtype=np.int32)
    found = np.array(to_host(indices) if hasattr(indices, "get") else indices, order="C", dtype=np.int32, copy=True)
    found[found < 0] += n
    if np.any(found < 0) or np.any(found >= n):
        raise ValueError("indices out of range 0...N")
    return found


class Distances:
    """The distances in one graph from one set of sources after another.

    A : Matrix of float64, the weights; unweighted: every edge has length 1 instead.
    """

    def __init__(self, A: Matrix, *, unweighted: bool = False) -> None:
        self.A, self.n, self.unweighted = A, A.nrows, unweighted
        self.xp = array_module(A.device)
        self._entries: tuple[Array, Array, Array] | None = None

    def of(self, sources: np.ndarray[Any, Any]) -> Array:
        """d(v) = the distance from the nearest of the sources; infinity without a path.  Synchronizes."""
        return self._closure(self._start(sources)).to_dense(fill_value=np.inf)

    def tree(self, sources: np.ndarray[Any, Any]) -> tuple[Array, Array]:
        """Return `of`, and p(v) = the vertex before v on a shortest path; NONE for sources and where there is no path.

        Synchronizes.
        """
        if self.A.device != "cpu":
            distance = self.of(sources)
            return distance, self._predecessors(distance, sources)
        found, parent = self._closure(self._start(sources), parents=True)
        before = parent.to_dense(fill_value=NONE, dtype=np.int32)
        before[sources] = NONE
        return found.to_dense(fill_value=np.inf), before

    def of_each(self, sources: np.ndarray[Any, Any]) -> Array:
        """Return the distances from each source, one row each."""
        k = sources.size
        if self.unweighted and k > 1 and self.n and not self._is_long():
            levels = ops.closure_many(sources, self.A).levels
            return levels.dup(_FLOAT).to_dense(fill_value=np.inf)
        if self.unweighted or self.A.device != "cpu" or k == 0 or self.n == 0:
            found = self.xp.empty((k, self.n), _FLOAT)
            for number in range(k):
                found[number] = self.of(sources[number : number + 1])
            return found
        starts = Matrix.from_coo(np.arange(k), sources, 0.0, _FLOAT, shape=(k, self.n), device=self.A.device)
        return self._closure(starts).to_dense(fill_value=np.inf)

    def trees(self, sources: np.ndarray[Any, Any]) -> tuple[Array, Array]:
        """Return `tree` of each source, one row each."""
        if self.A.device != "cpu":
            distance = self.of_each(sources)
            before = self.xp.empty(distance.shape, np.int32)
            for number, row in enumerate(distance):
                before[number] = self._predecessors(row, sources[number : number + 1])
            return distance, before
        distance, before = np.empty((sources.size, self.n), _FLOAT), np.empty((sources.size, self.n), np.int32)
        for number in range(sources.size):
            distance[number], before[number] = self.tree(sources[number : number + 1])
        return distance, before

    def _start(self, sources: np.ndarray[Any, Any]) -> Vector:
        return Vector.from_coo(np.unique(sources), 0.0, _FLOAT, size=self.n, device=self.A.device)

    def _closure(self, start: Any, *, parents: bool = False) -> Any:
        closure: Any = ops.closure_with_parents if parents else ops.closure
        try:
            return closure(start, self.A, _SHORTEST, weight=_FLOAT.type(1) if self.unweighted else None)
        except ConvergenceFailure as failure:
            raise NegativeCycleError("Negative cycle detected") from failure

    def _is_long(self) -> bool:
        """Whether searches probably have many levels, of which single searches on a CPU take less time."""
        return self.A.device == "cpu" and self.n >= _LARGE and self.A.nvals < _DENSE * self.n

    def _predecessors(self, distance: Array, sources: np.ndarray[Any, Any]) -> Array:
        xp, starts = self.xp, to_device(sources, self.A.device)
        rows, columns, weights = self._listed()
        near, far = distance[rows], distance[columns]
        falling = near < far
        near += weights
        tight = near == far
        chosen = xp.flatnonzero(tight & falling)  # synchronizes
        before, after, near = rows[chosen], columns[chosen], distance[rows[chosen]]
        nearest = xp.full(self.n, np.inf)
        xp.minimum.at(nearest, after, near)
        found = xp.full(self.n, self.n, np.int32)
        xp.minimum.at(found, after, xp.where(near == nearest[after], before, np.int32(self.n)))
        found[found == self.n] = NONE
        lacking = (found == NONE) & xp.isfinite(distance)
        lacking[starts] = False
        if bool(lacking.any()):  # synchronizes
            found = self._by_search(rows[tight], columns[tight], sources)
        found[starts] = NONE
        return found

    def _listed(self) -> tuple[Array, Array, Array]:
        """Return the row, the column and the weight of each entry."""
        if self._entries is None:
            rows, (_, columns, weights) = entry_rows(self.A), self.A.to_csr(index_dtype=None)
            self._entries = rows, columns, self.xp.ones(1, _FLOAT) if self.unweighted else weights
        return self._entries

    def _by_search(self, rows: Array, columns: Array, sources: np.ndarray[Any, Any]) -> Array:
        """Return the parents of a search of these edges."""
        T = Matrix.from_coo(rows, columns, True, nrows=self.n, ncols=self.n, device=self.A.device)
        starts = np.unique(sources)
        start = Vector.from_coo(starts, starts, np.int32, size=self.n, device=self.A.device)
        return ops.closure(start, T, semiring.any_secondi[np.int32]).to_dense(fill_value=NONE)


def roots(predecessors: Array, distance: Array, xp: Any) -> Array:
    """r(v) = the source of the tree that holds v; NONE where the distance is infinite.  Synchronizes."""
    root = xp.where(predecessors == NONE, xp.arange(predecessors.size, dtype=np.int32), predecessors)
    while True:
        following = root[root]
        if bool((following == root).all()):  # synchronizes
            return xp.where(xp.isfinite(distance), root, np.int32(NONE))
        root = following
