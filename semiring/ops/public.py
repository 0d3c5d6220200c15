"""Operations that are public as functions on Matrix and Vector objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from ..engines.spec import ClosureResult, ScalarResult, Step, scalar_value
from ..exceptions import ConvergenceFailure, InvalidValue
from ..formats import CSR, VectorStore
from ..memory.allocation import reports_memory
from .cast import cast_scalar
from .closure import closure as _closure
from .closure_many import closure_many as _closure_many
from .link import link as _link
from .link import link_sample as _link_sample
from .link import most_frequent as _most_frequent
from .link import singletons as _singletons


class HasVector(Protocol):
    """A facade object over a vector store."""

    @property
    def store(self) -> VectorStore:
        """The store, computed if it was pending."""

    def with_store(self, store: VectorStore) -> Any:
        """Return a new object of the same kind with another store."""


class HasMatrix(Protocol):
    """A facade object over a matrix store, or a transposed view of one."""

    @property
    def operand(self) -> tuple[CSR, bool]:
        """Return the store, and whether its transpose is the operand."""

    def with_store(self, store: CSR) -> Any:
        """Return a new Matrix with another store."""


V = TypeVar("V", bound=HasVector)
M = TypeVar("M", bound=HasMatrix)


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
    frontier: V, a: HasMatrix, semiring: Any, *, max_steps: int | None = None, weight: Any = None, direction: Any = None
) -> V:
    """C = x (+) x A (+) x A^2 (+) ...: the whole loop of a traversal, in one launch on a GPU.

    Entries that are new or have improved are multiplied again, until nothing changes.  Under ``min_plus`` over a
    pattern of ones this is BFS; over weights, shortest paths; under ``any_secondi``, BFS parents; under ``max_min``,
    widest paths; under ``min_first`` from one label per row, the components of a symmetric matrix.

    Parameters
    ----------
    frontier : Vector of size n
        The start: x.
    a : Matrix, n x n (or its ``.T``)
    semiring
        Its monoid must be idempotent.
    max_steps
        Raise ConvergenceFailure (with the vector so far as ``.result``) if it still changes after this many steps;
        by default n, which only a cycle that improves indefinitely exceeds.
    weight
        A number used as the value of every entry of `a`; a Python number gets the type of `frontier`.
    direction
        ``"auto"``, ``"push"`` or ``"pull"``; by default ``config.direction``.  A search that may pull derives the
        transpose of a matrix that has none yet; ``"push"`` saves it for a matrix that is searched once.

    Returns
    -------
    Vector of size n, of the semiring's type; missing where `frontier` does not reach.

    Raises
    ------
    DimensionMismatch, DomainMismatch, ConvergenceFailure
    InvalidValue
        For another direction.

    Notes
    -----
    Cost: O(nvals) where entries are final on arrival (BFS), else O(nvals) a step.  Memory: at most 16 bytes a
    row beyond the matrix for BFS.  Synchronises once, at the end; a few times a step where the entries reside in
    host memory.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(3, 3))
    >>> x = Vector.from_coo([0], [0], size=3)
    >>> sr.ops.closure(x, A, "min_plus").to_dict(), sr.ops.closure(x, A, "min_plus", weight=1).to_dict()
    ({0: 0, 1: 1, 2: 3}, {0: 0, 1: 1, 2: 1})
    """
    found = run_closure(frontier, a, semiring, max_steps, weight, direction=direction)
    return frontier.with_store(found.store)  # type: ignore[no-any-return]


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
    Cost and synchronisation as `closure`.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (1, 2)])
    >>> closed = sr.ops.closure_with_trace(Vector.from_coo([0], [0], size=3), A, "min_plus", weight=1)
    >>> [(step.frontier, step.edges) for step in closed.trace]
    [(1, 2), (2, 1)]
    """
    result = run_closure(frontier, a, semiring, max_steps, weight, trace=True)
    return Closed(frontier.with_store(result.store), result.steps, result.trace)


def run_closure(
    frontier: HasVector, a: HasMatrix, semiring: Any, max_steps: int | None, weight: Any, **options: Any
) -> ClosureResult:
    matrix, transposed = operand_of("closure", a)
    store = frontier.store
    if weight is not None:
        matrix = _weighted(matrix, cast_scalar(weight, weight.dtype if isinstance(weight, np.generic) else store.dtype))
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


def operand_of(operation: str, a: HasMatrix) -> tuple[CSR, bool]:
    operand = getattr(a, "operand", None)
    if operand is None:
        raise InvalidValue(f"{operation}: expected a Vector and then a Matrix, got {type(a).__name__} second")
    return operand  # type: ignore[no-any-return]


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
    bit of a level number; on a GPU also six indices for each vertex.  Synchronises a few times for each group.
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
def singletons(like: V) -> V:
    """f(v) = v: the forest in which every row is its own root, on the device and of the size of `like`.

    Parameters
    ----------
    like : Vector

    Returns
    -------
    Vector of int32, or int64 for sizes from 2**31.

    Notes
    -----
    Cost O(n).  Does not synchronise.

    Examples
    --------
    >>> sr.ops.singletons(Vector(bool, 3)).to_dict()
    {0: 0, 1: 1, 2: 2}
    """
    store = like.store
    return like.with_store(_singletons(store.size, store.device))  # type: ignore[no-any-return]


@reports_memory
def link(forest: V, a: HasMatrix, *, first: int = 0, last: int | None = None, skip: int | Label | None = None) -> V:
    """Hook i and j in the forest for every stored (i, j) at positions [first, last) of the rows that are not skipped.

    The step of Afforest: see `semiring.ops.link` for what a forest is.  The trees of the result are flat: two rows are
    in one set exactly if their entries are equal, and each entry is the smallest row of its set.

    Parameters
    ----------
    forest : Vector of size n, full, int32 (int64 from n = 2**31), from `singletons` or `link`
    a : Matrix, n x n
    first, last
        Which neighbours of each row: by position in the row; ``last=None`` means to its end.
    skip
        Rows whose root is this one are not visited: a row, or a `Label` from `most_frequent`.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue

    Notes
    -----
    Cost: O(visited entries).  Does not synchronise, unless the entries are streamed.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 2), (3, 4)])
    >>> sr.ops.link(sr.ops.singletons(Vector(bool, 5)), A).to_dict()
    {0: 0, 1: 1, 2: 0, 3: 3, 4: 3}
    """
    matrix, _ = operand_of("link", a)  # a hook has no direction, so the transpose visits the same pairs
    label = skip.result if isinstance(skip, Label) else skip
    return forest.with_store(_link(forest.store, matrix, first=first, last=last, skip=label))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Label:
    """A label of a forest, which may still reside on the GPU.

    Attributes
    ----------
    result : the label as the engine returned it

    Examples
    --------
    >>> label = sr.ops.most_frequent(Vector.from_dense([0, 1, 1, 1], dtype="int32"))
    >>> label.value
    1
    """

    result: ScalarResult

    @property
    def value(self) -> int | None:
        """The label; None for an empty forest.  Synchronises if it resides on the GPU."""
        found = scalar_value(self.result)
        return None if found is None else int(found)


@reports_memory
def most_frequent(forest: HasVector) -> Label:
    """Return the label that is most frequent in a sample of 1,024 entries: the giant component, which `link` may skip.

    Parameters
    ----------
    forest : Vector of size n, full, from `singletons`, `link` or `link_sample`

    Returns
    -------
    Label

    Raises
    ------
    InvalidValue

    Notes
    -----
    Cost O(1).  Does not synchronise: a label on a GPU stays there, and `link` reads it there.

    Examples
    --------
    >>> sr.ops.most_frequent(Vector.from_dense([0, 1, 1, 1], dtype="int32")).value
    1
    """
    store = forest.store
    if store.format not in ("full", "parts") or store.values is None:
        raise InvalidValue("most_frequent: the forest must be a full vector; make one with ops.singletons")
    return Label(_most_frequent(store))


@reports_memory
def link_sample(forest: V, a: HasMatrix, *, neighbours: int = 2) -> tuple[V, int]:
    """Hook each row to up to `neighbours` of its neighbours, those that are cheapest to find.

    These hooks join most of a giant component before `link` skips it: the first neighbours of each row; or, where they
    are cached, its neighbours with the longest rows.

    Parameters
    ----------
    forest : Vector of size n, full, int32 (int64 from n = 2**31), from `singletons` or `link`
    a : Matrix, n x n
    neighbours : int
        How many for each row; each costs O(n).

    Returns
    -------
    The new forest, and the position from which `link` continues: ``link(forest, a, first=position)`` omits nothing.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue

    Notes
    -----
    Cost O(n neighbours); once O(nvals) where the entries reside in host memory: the first call finds the neighbours
    with the longest rows.  Only that synchronises.

    Source: Sutton, Ben-Nun, Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling", IPDPS
    2018.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (3, 4)])
    >>> A = A | A.T
    >>> forest, position = sr.ops.link_sample(sr.ops.singletons(Vector(bool, 5)), A)
    >>> sr.ops.link(forest, A, first=position).to_dict()
    {0: 0, 1: 0, 2: 0, 3: 3, 4: 3}
    """
    matrix, _ = operand_of("link_sample", a)
    result = _link_sample(forest.store, matrix, neighbours=neighbours)
    return forest.with_store(result.store), result.visited


__all__ = [
    "Closed",
    "ClosedMany",
    "Label",
    "Step",
    "closure",
    "closure_many",
    "closure_with_trace",
    "link",
    "link_sample",
    "most_frequent",
    "reports_memory",
    "singletons",
]
