"""The public closures: of a vector, of rows, of many sources, with trees of paths, and of acyclic matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..engines.requests.graphs import ClosureResult, Step
from ..exceptions import ConvergenceFailure, InvalidValue
from ..formats import CSR, VectorStore
from ..memory.allocation import reports_memory
from .acyclic_closure import acyclic_closure as _acyclic_closure
from .api import HasMatrix, HasVector, V, operand_of
from .assign import row_matrix
from .cast import cast_scalar
from .closure import closure as _closure
from .closure_many import closure_many as _closure_many
from .closure_rows import closure_rows as _closure_rows
from .convert import index_list
from .structure import transposed

__all__ = [
    "Closed",
    "ClosedMany",
    "Step",
    "acyclic_closure",
    "closure",
    "closure_many",
    "closure_with_parents",
    "closure_with_trace",
]

F = TypeVar("F", bound=HasVector | HasMatrix)


@dataclass(frozen=True)
class Closed:
    """A closure with the facts of its run.

    Attributes
    ----------
    vector : Vector
        The closed vector.
    steps : int
        How many frontiers were expanded.
    trace : tuple of Step
        Direction, size of the frontier and its edges, for each.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> x = Vector.from_coo([0], [0], size=3)
    >>> closed = sr.ops.closure_with_trace(x, A, "min_plus", weight=1)
    >>> closed.steps, closed.trace[0].frontier, closed.vector.to_dict()
    (3, 1, {0: 0, 1: 1, 2: 2})
    """

    vector: Any
    steps: int
    trace: tuple[Step, ...]


@reports_memory
def closure(
    frontier: F, a: HasMatrix, semiring: Any, *, max_steps: int | None = None, weight: Any = None, direction: Any = None
) -> F:
    """C = x (+) x A (+) x A^2 (+) ...: the whole loop of a traversal, in one launch on a GPU.

    Entries that are new or have improved are multiplied again, until nothing changes.  Under ``min_plus`` over a
    pattern of ones this is BFS; over weights, shortest paths; under ``any_secondi``, BFS parents; under ``max_min``,
    widest paths; under ``min_first`` from one label per row, the components of a symmetric matrix.

    Parameters
    ----------
    frontier : Vector of size n, or Matrix, k x n
        The start: x; or one in each row, of which each has a closure of its own: X A*.
    a : Matrix, n x n (or its ``.T``)
    semiring
        Its monoid must be idempotent.
    max_steps
        Raise ConvergenceFailure (with the vector so far as ``.result``) if it still changes after this many steps;
        by default n, which only a cycle that improves indefinitely exceeds.  From a Matrix,
        ``.row`` is the first row of which this holds, and ``.result`` is 1 x n.
    weight
        A number used as the value of every entry of `a`; a Python number gets the type of `frontier`.
    direction
        ``"auto"``, ``"push"`` or ``"pull"``; by default ``config.direction``.  A search that may pull derives the
        transpose of a matrix that has none yet; ``"push"`` saves it for a matrix that is searched once.

    Returns
    -------
    Vector of size n, of the semiring's type; missing where `frontier` does not reach.  From a Matrix a k x n Matrix.

    Raises
    ------
    DimensionMismatch, DomainMismatch, ConvergenceFailure
    InvalidValue
        For another direction.

    Notes
    -----
    Cost: O(nvals) where entries are final on arrival (BFS), else O(nvals) a step.  Memory: at most 16 bytes a
    row beyond the matrix for BFS.  Synchronizes once, at the end; a few times a step where the entries reside in
    host memory.
    From a Matrix, the cost of each row; on a CPU closures of min and max have a row a thread, with the results of one
    row after the other.  For levels from many sources `closure_many` costs less.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(3, 3))
    >>> x = Vector.from_coo([0], [0], size=3)
    >>> sr.ops.closure(x, A, "min_plus").to_dict(), sr.ops.closure(x, A, "min_plus", weight=1).to_dict()
    ({0: 0, 1: 1, 2: 3}, {0: 0, 1: 1, 2: 1})
    >>> sr.ops.closure(Matrix.from_coo([0, 1], [0, 1], [0, 0], shape=(2, 3)), A, "min_plus").to_dicts()
    {0: {0: 0, 1: 1, 2: 3}, 1: {1: 0, 2: 2}}
    """
    store: Any = getattr(frontier, "store", None)
    if not isinstance(store, VectorStore):
        return _closure_of_rows(frontier, a, semiring, max_steps, weight, direction)  # type: ignore[no-any-return]
    found = run_closure(frontier, store, a, semiring, max_steps, weight, direction=direction)
    return frontier.with_store(found.store)  # type: ignore[arg-type, no-any-return]


@reports_memory
def closure_with_trace(
    frontier: HasVector, a: HasMatrix, semiring: Any, *, max_steps: int | None = None, weight: Any = None
) -> Closed:
    """Return `closure` with the facts of each step: push or pull, entries in the frontier, edges that leave it.

    Parameters
    ----------
    frontier, a, semiring, max_steps, weight : as `closure`

    Returns
    -------
    Closed

    Raises
    ------
    DimensionMismatch, DomainMismatch, ConvergenceFailure

    Notes
    -----
    Cost and synchronization as `closure`.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (1, 2)])
    >>> closed = sr.ops.closure_with_trace(Vector.from_coo([0], [0], size=3), A, "min_plus", weight=1)
    >>> [(step.frontier, step.edges) for step in closed.trace]
    [(1, 2), (2, 1)]
    """
    result = run_closure(frontier, frontier.store, a, semiring, max_steps, weight, trace=True)
    return Closed(frontier.with_store(result.store), result.steps, result.trace)


def _closure_of_rows(frontiers: Any, a: HasMatrix, semiring: Any, max_steps: Any, weight: Any, direction: Any) -> Any:
    operand = getattr(frontiers, "operand", None)
    if operand is None:
        raise InvalidValue(f"closure: expected a Vector or a Matrix first, got {type(frontiers).__name__}")
    store, turned = operand
    store = transposed(store) if turned else store
    matrix, flipped = _operand_with(weight, store.dtype, a)
    options: Any = {"transposed": flipped, "max_steps": max_steps, "direction": direction}
    try:
        return a.with_store(_closure_rows(store, matrix, semiring, **options))
    except ConvergenceFailure as failure:
        failure.result = a.with_store(row_matrix(index_list(failure.result)))
        raise


def _operand_with(weight: Any, dtype: np.dtype[Any], a: HasMatrix) -> tuple[CSR, bool]:
    """Return the matrix of a closure, with one value for all entries if a weight is given."""
    matrix, transposed = getattr(a, "operand", None) or operand_of("closure", a)
    if weight is not None:
        matrix = _weighted(matrix, weight if isinstance(weight, np.generic) else cast_scalar(weight, dtype))
    return matrix, transposed


def run_closure(
    frontier: Any,
    store: VectorStore,
    a: HasMatrix,
    semiring: Any,
    max_steps: int | None,
    weight: Any,
    **options: Any,
) -> ClosureResult:
    """Return the closure of `store`, that of `frontier`."""
    matrix, transposed = _operand_with(weight, store.dtype, a)
    try:
        return _closure(store, matrix, semiring, transposed=transposed, max_steps=max_steps, **options)
    except ConvergenceFailure as failure:
        failure.result = frontier.with_store(failure.result)
        raise


def _weighted(matrix: CSR, weight: np.generic) -> CSR:
    """Return the matrix with one value for all entries; the last one is kept, as a program repeats its searches."""
    known: CSR | None = matrix.cache.get("weighted")
    if (
        known is not None
        and known.iso is not None
        and (known.dtype, known.iso.tobytes())
        == (
            weight.dtype,
            weight.tobytes(),  # bytes: -0.0 and 0.0 are equal, and NaN differs from itself
        )
    ):
        return known
    made = matrix.cache["weighted"] = CSR(matrix.pattern, weight.dtype, None, weight)
    return made


@dataclass(frozen=True)
class ClosedMany:
    """The closure of many sources.

    Attributes
    ----------
    levels : Matrix, k x n, or None
        levels(s, v) = the fewest steps from source s to v; missing where there is no path.  None unless requested.
    counts : Matrix, k x steps, int64, or None
        counts(s, d) = the number of v at level d; missing where there are none.  None unless requested.
    steps : int
        The number of levels, of the source that has most of them.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (2, 3)])
    >>> closed = sr.ops.closure_many([0, 2], A, counts=True)
    >>> closed.steps, closed.levels.to_dicts(), closed.counts.to_dicts()
    (3, {0: {0: 0, 1: 1, 2: 1, 3: 2}, 1: {2: 0, 3: 1}}, {0: {0: 1, 1: 2, 2: 1}, 1: {0: 1, 1: 1}})
    """

    levels: Any
    counts: Any
    steps: int


@reports_memory
def closure_many(sources: Any, a: HasMatrix, *, levels: bool = True, counts: bool = False) -> ClosedMany:
    """R = S (+) S A (+) S A^2 (+) ... = S A*, boolean, with S(s, sources[s]) = true: the closure of many sources.

    Row s of R is the set of vertices that source s reaches; their levels, or only the number of vertices in each level,
    are the result.  One pass over the matrix advances all sources: a vertex holds a bit for each.

    Parameters
    ----------
    sources : sequence or array of k integers
        Rows of `a`, in any order, with repeats.
    a : Matrix, n x n (or its ``.T``)
        An entry (u, v) is an edge from u to v; values are not read.
    levels, counts
        Which results are computed; counts alone need far less memory.

    Returns
    -------
    ClosedMany : levels int32 (int64 from n = 2**31 - 1), counts int64

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, OutOfMemory

    Notes
    -----
    Sources are searched in groups: on a GPU of up to 1,024, as many as the memory admits, on a CPU of 512.  Cost for
    each group: O(nvals) for a level that is pulled, with up to 128 bytes read for each entry; a level with a small
    frontier is pushed.  Memory beside the result, for each vertex and source: three bits, and for levels one for each
    bit of a level number; on a GPU also six indices for each vertex.  Synchronizes a few times for each group.
    On a CPU few sources, and those of graphs where a vertex is rarely in the frontiers of many (roads, grids), are
    searched each by itself, on all threads: O(n + nvals) each, with memory for the levels of all vertices.
    For entries in host memory that kernels do not address, and compressed rows on a CPU that do not fit uncompressed,
    the sources are searched one by one.

    Sources: Then et al., "The More the Merrier: Efficient Multi-Source Graph Traversal", PVLDB 8(4), 2014; directions:
    Beamer, Asanović, Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> closed = sr.ops.closure_many([0, 1], A)
    >>> closed.levels.to_dicts()
    {0: {0: 0, 1: 1, 2: 2}, 1: {1: 0, 2: 1}}
    """
    matrix, transposed = operand_of("closure_many", a)
    found = _closure_many(sources, matrix, transposed=transposed, levels=levels, counts=counts)
    made = [None if store is None else a.with_store(store) for store in (found.levels, found.counts)]
    return ClosedMany(levels=made[0], counts=made[1], steps=found.steps)


@reports_memory
def closure_with_parents(
    frontier: V, a: HasMatrix, semiring: Any, *, max_steps: int | None = None, weight: Any = None
) -> tuple[V, V]:
    """Return (C, P):  C = x A*  as `closure`, and the tree of its paths:  C(v) = C(P(v)) (x) A(P(v), v).

    Parents lead from each entry to a start: an entry of x that kept its value, and is its own parent.

    Parameters
    ----------
    frontier, a, max_steps, weight : as `closure`
    semiring
        Its monoid is min or max; a better operand gives no worse product, and no positions are read.

    Returns
    -------
    (Vector, Vector), both of size n and with the same entries, except that NaN need not have a parent.  Parents are
        int32 (int64 from n = 2**31 - 1); which of several is returned is unspecified.

    Raises
    ------
    DimensionMismatch, DomainMismatch, ConvergenceFailure

    Notes
    -----
    On the CPU engine, cost and synchronization of `closure`; elsewhere O(nvals) more time and memory, for the entries
    for which the equation holds.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(3, 3))
    >>> distance, parent = sr.ops.closure_with_parents(Vector.from_coo([0], [0], size=3), A, "min_plus")
    >>> distance.to_dict(), parent.to_dict()
    ({0: 0, 1: 1, 2: 3}, {0: 0, 1: 0, 2: 1})
    """
    found: Any = run_closure(frontier, frontier.store, a, semiring, max_steps, weight, parents=True)
    return frontier.with_store(found.store), frontier.with_store(found.parents)


@reports_memory
def acyclic_closure(x: V, a: HasMatrix, semiring: Any, *, then: Any = None) -> V:
    """c(v) = f( x(v) (+) (+)_u c(u) (x) A(u, v) ): x A* of an acyclic A, every row once and in one call.

    A row is multiplied when all rows that lead to it are finished.  So, other than in `closure`, the monoid may be any,
    and f may depend on the finished sum.  Under ``plus_times`` from 1 at a source it counts paths; under ``max_plus``
    it computes longest paths; under ``bor_first`` with f(z) = the lowest bit that z lacks it colors greedily.

    Parameters
    ----------
    x : Vector of size n
        What each row begins with.
    a : Matrix, n x n (or its ``.T``)
        Without a cycle; an entry of the diagonal is one.
    semiring
        Any; its type is that of the result.
    then : unary operator, optional
        f, applied to each row's sum before it is multiplied.  Its result is cast to the semiring's type.

    Returns
    -------
    Vector of size n, of the semiring's type; missing where neither x nor a product has an entry.

    Raises
    ------
    DimensionMismatch, DomainMismatch, UnknownOperator
    GraphProperty
        If A has a cycle.
    NotSupported
        For records; on a GPU also for values of 16 bytes, and monoids without an identity, except `any`.

    Notes
    -----
    Cost O(n + nvals).  On a GPU one launch for all rows, with a barrier for each generation, the rows at equal distance
    on longest paths; sums of floats may differ in order from run to run there.  Synchronizes once, at the end.

    Source: Kahn, "Topological Sorting of Large Networks", CACM 5(11), 1962.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
    >>> one = Vector.from_coo([0], [1], size=5)
    >>> sr.ops.acyclic_closure(one, A, "plus_first").to_dict()
    {0: 1, 1: 1, 2: 1, 3: 2, 4: 2}
    >>> sr.ops.acyclic_closure(one, A, "plus_first", then=lambda x: 10 * x).to_dict()
    {0: 10, 1: 100, 2: 100, 3: 2000, 4: 20000}
    """
    matrix, transposed = operand_of("acyclic_closure", a)
    return x.with_store(_acyclic_closure(x.store, matrix, semiring, transposed=transposed, then=then))  # type: ignore[no-any-return]
