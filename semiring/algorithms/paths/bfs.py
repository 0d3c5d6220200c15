"""Breadth-first search: levels and parents.

The level of a vertex is the fewest steps from the source; a parent is a neighbor one level nearer.  Both are
closures x A* of one vector x under the matrix, and differ only in the semiring:

    level  = closure({source: 0},      A with weight 1, min_plus)
    parent = closure({source: source}, A,               any_secondi)

An entry is final once it is set, so the closure is the level-synchronous search, and its engine switches between push
(top-down) and pull (bottom-up) automatically.  From several sources at once it is the boolean closure S A* of a matrix
with a row for each source.

Sources: Beamer, Asanović, Patterson, "Direction-Optimizing Breadth-First Search", SC 2012; Hiragushi, Takahashi,
"Efficient Hybrid Breadth-First Search on GPUs", 2013; Merrill, Garland, Grimshaw, "Scalable GPU Graph Traversal", PPoPP
2012; from several sources: Then et al., "The More the Merrier: Efficient Multi-Source Graph Traversal", PVLDB 8(4),
2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from semiring import Matrix, Vector, ops, semiring
from semiring.exceptions import ConvergenceFailure

from ..checks import Vertex, Vertices, count, each_row, is_many, row, square
from ..vertex_labels import algorithm

_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)


@dataclass(frozen=True)
class BfsTrace:
    """The levels of a search, and a trace of its steps.

    Attributes
    ----------
    levels : Vector
        As `bfs_levels` returns them.
    steps : tuple of Step
        For each level its direction (``"push"`` or ``"pull"``), the number of vertices in its frontier, and the number
        of edges that leave them.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (1, 2)])
    >>> trace = sr.algorithms.bfs_trace(A, 0)
    >>> trace.levels.to_dict(), [(step.frontier, step.edges) for step in trace.steps]
    ({0: 0, 1: 1, 2: 1}, [(1, 2), (2, 1)])
    """

    levels: Vector
    steps: tuple[ops.Step, ...]

    def __repr__(self) -> str:
        lines = ("  ".join(text.rjust(9) for text in line) for line in self._table())
        return "\n".join([*lines, repr(self.levels)])

    def _repr_html_(self) -> str:
        rows = (f"<tr>{''.join(f'<td>{text}</td>' for text in line)}</tr>" for line in self._table())
        return f"<table>{''.join(rows)}</table>"

    def _table(self) -> list[list[str]]:
        steps = ((level, step.direction, step.frontier, step.edges) for level, step in enumerate(self.steps))
        return [["level", "direction", "vertices", "edges"], *([str(part) for part in step] for step in steps)]


@overload
def bfs_levels(  # type: ignore[overload-overlap]  # text is a sequence of text
    A: Matrix, source: Vertex, *, nearest: bool = False, max_depth: int | None = None
) -> Vector: ...
@overload
def bfs_levels(
    A: Matrix, source: Vertices, *, nearest: Literal[False] = False, max_depth: int | None = None
) -> Matrix: ...
@overload
def bfs_levels(A: Matrix, source: Vertices, *, nearest: Literal[True], max_depth: int | None = None) -> Vector: ...
@overload
def bfs_levels(A: Matrix, source: Any, *, nearest: bool = False, max_depth: int | None = None) -> Vector | Matrix: ...
@algorithm("v|sv")
def bfs_levels(A: Matrix, source: Any, *, nearest: bool = False, max_depth: int | None = None) -> Vector | Matrix:
    """level(v) = the fewest steps from the source to v along stored entries (u, v); missing where there is no path.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    source : int, or a name in ``A.labels``; or a sequence of k of them
        The start vertex or vertices.
    nearest : bool
        Of several sources: whether to return the steps from the nearest one, instead of the steps from each.
    max_depth : int, optional
        Return levels of at most this only.

    Returns
    -------
    Vector of size n, int32 (int64 from n = 2**31 - 1); for k sources, unless `nearest`, a k x n Matrix, one row each.

    Raises
    ------
    DimensionMismatch
        If A is not square.
    IndexOutOfBound
        If a source is not a row of A.
    InvalidValue
        If `max_depth` is negative or not an integer.

    Notes
    -----
    Cost O(n + nvals), less where pulling stops early; beside the matrix at most 16 bytes a vertex.  The first search
    on a matrix determines whether its structure is symmetric (and if not, for uncompressed rows, the transpose), and
    caches it.  Synchronizes once, at the end; once a level where the entries are in host memory.

    A search from one source ends at `max_depth`, and so does one from the nearest source, which costs the same.  For a
    row each, several sources are searched together, with one pass over the matrix for all of them (`ops.closure_many`,
    which states cost and memory); those of entries in host memory that kernels do not address, one by one.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (2, 3)], nrows=5, ncols=5)
    >>> sr.algorithms.bfs_levels(A, 0).to_dict()
    {0: 0, 1: 1, 2: 1, 3: 2}
    >>> sr.algorithms.bfs_levels(A, [0, 2]).to_dicts()
    {0: {0: 0, 1: 1, 2: 1, 3: 2}, 1: {2: 0, 3: 1}}
    >>> sr.algorithms.bfs_levels(A, [0, 2], nearest=True).to_dict()
    {0: 0, 1: 1, 2: 0, 3: 1}
    """
    n = square("bfs_levels", A)
    most = None if max_depth is None else count("bfs_levels", "max_depth", max_depth)
    if is_many(source):
        sources = each_row("bfs_levels", source, n)
        if not nearest:
            levels: Matrix = ops.closure_many(sources, A).levels
            return levels if most is None else levels.select("<=", most)
        sources = sorted(set(sources))
    else:
        sources = [row("bfs_levels", source, n)]
    dtype = _INT32 if n < 2**31 - 1 else _INT64
    start = Vector.from_coo(sources, 0, dtype, size=n, device=A.device)
    try:
        return ops.closure(start, A, semiring.min_plus, max_steps=most, weight=dtype.type(1))
    except ConvergenceFailure as failure:
        if most is None:
            raise
        found: Vector = failure.result
        return found


@algorithm(levels="v")
def bfs_trace(A: Matrix, source: Vertex) -> BfsTrace:
    """level(v) as `bfs_levels` from one source, with direction, frontier and edges of every level.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    source : int, or a name in ``A.labels``

    Returns
    -------
    BfsTrace

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue

    Notes
    -----
    Cost and synchronization as `bfs_levels` from one source.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (1, 2)])
    >>> [(step.frontier, step.edges) for step in sr.algorithms.bfs_trace(A, 0).steps]
    [(1, 2), (2, 1)]
    """
    n = square("bfs_trace", A)
    dtype = _level_dtype(n)
    start = Vector.from_coo([row("bfs_trace", source, n)], 0, dtype, size=n, device=A.device)
    closed = ops.closure_with_trace(start, A, semiring.min_plus, weight=dtype.type(1))
    return BfsTrace(closed.vector, closed.trace)


@algorithm("v>v")
def bfs_parents(A: Matrix, source: Vertex) -> Vector:
    """parent(v) = a u with a stored entry (u, v) and level(u) = level(v) - 1; parent(source) = source.

    Which such u is returned is unspecified.  Missing where there is no path.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; values are not read.
    source : int, or a name in ``A.labels``

    Returns
    -------
    Vector of size n, int32 (int64 from n = 2**31 - 1).

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue

    Notes
    -----
    Cost and synchronization as `bfs_levels` from one source.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (2, 3)], nrows=5, ncols=5)
    >>> sr.algorithms.bfs_parents(A, 0).to_dict()
    {0: 0, 1: 0, 2: 1, 3: 2}
    """
    n = square("bfs_parents", A)
    s, dtype = row("bfs_parents", source, n), _level_dtype(n)
    start = Vector.from_coo([s], s, dtype, size=n, device=A.device)
    return ops.closure(start, A, semiring.any_secondi[dtype])


def _level_dtype(n: int) -> np.dtype[Any]:
    return _INT32 if n < 2**31 - 1 else _INT64
