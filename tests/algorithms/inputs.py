"""Small graphs of every structure, with values of every kind: the inputs on which all algorithms are tested.

A structure is (rows, columns, vertices); a kind of values maps whole weights of 1 to 5, equal in both directions of an
edge, to the values of the matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semiring import Matrix

Array = np.ndarray[Any, Any]
_ARCS = ((0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (0, 4), (5, 6))  # and vertex 7, which is isolated
_CYCLES = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (3, 6))  # of even length alone


class Structure(NamedTuple):
    """The entries of a graph."""

    rows: Array
    columns: Array
    n: int

    @property
    def weights(self) -> Array:
        """A whole number from 1 to 5 for each edge, the same in both directions."""
        low, high = np.minimum(self.rows, self.columns), np.maximum(self.rows, self.columns)
        return (low * 3 + high * 5 + low * high) % 5 + 1


def _structure(arcs: Any, n: int, *, both: bool = False, loops: tuple[int, ...] = ()) -> Structure:
    listed = {*arcs, *((v, u) for u, v in arcs if both), *((v, v) for v in loops)}
    rows, columns = np.array(sorted(listed), np.int64).reshape(-1, 2).T
    return Structure(rows, columns, n)


def _wheel(n: int) -> list[tuple[int, int]]:
    return [(0, v) for v in range(1, n)] + [(v, v % (n - 1) + 1) for v in range(1, n)]


STRUCTURES: dict[str, Structure] = {
    "null": _structure([], 0),
    "one": _structure([], 1),
    "one-loop": _structure([], 1, loops=(0,)),
    "no-edges": _structure([], 4),
    "edge": _structure([(0, 1)], 2, both=True),
    "directed": _structure(_ARCS, 8),
    "directed-loops": _structure(_ARCS, 8, loops=(0, 3, 7)),
    "acyclic": _structure([(u, v) for u, v in _ARCS if u < v], 8),
    "undirected": _structure(_ARCS, 8, both=True),
    "undirected-loops": _structure(_ARCS, 8, both=True, loops=(0, 3, 7)),
    "bipartite": _structure(_CYCLES, 8, both=True),
    "wheel": _structure(_wheel(9), 9, both=True),
    "complete": _structure([(u, v) for u in range(6) for v in range(6)], 6),
}
VALUES: dict[str, Callable[[Array], Any]] = {
    "true": lambda w: True,
    "bool": lambda w: w > 2,
    "uint8": lambda w: (50 * w).astype(np.uint8),
    "int8": lambda w: (25 * w).astype(np.int8),
    "int64": lambda w: w,
    "float32": lambda w: w.astype(np.float32),
    "float64": lambda w: w / 2,
    "shares": lambda w: w / 8,
    "complex": lambda w: w + 1j,
    "zeros": lambda w: 0 * w,
    "some-zeros": lambda w: np.where(w > 2, w, 0.0),
    "negative": lambda w: np.where(w > 4, -1.0, w),
    "all-negative": lambda w: -w,
    "nan": lambda w: np.where(w == 2, np.nan, w),
    "inf": lambda w: np.where(w == 2, np.inf, w),
    "minus-inf": lambda w: np.where(w == 2, -np.inf, w),
}
INPUTS = [(structure, values) for structure in STRUCTURES for values in VALUES]


def matrix(structure: str | Structure, values: str = "true", *, dtype: Any = None) -> Matrix:
    """The graph as a Matrix of the current engine; dtype: convert the values."""
    rows, columns, n = made = STRUCTURES[structure] if isinstance(structure, str) else structure
    given = VALUES[values](made.weights)
    return Matrix.from_coo(rows, columns, given if dtype is None else given.astype(dtype), nrows=n, ncols=n)
