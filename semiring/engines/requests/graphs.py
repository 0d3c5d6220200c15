"""The specs of graph algorithms: closures, searches, union-find, peeling, forests, flows, votes (see `operations`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...exceptions import InvalidValue
from ...formats import CSR, AnyPattern, Full, Pattern, VectorStore, index_dtype
from ...formats.records import record
from ...memory.arrays import to_device
from ...operators.types import TypedSemiring
from .operands import Rows, Spec
from .operations import ScalarResult

if TYPE_CHECKING:
    from ...operators.types import TypedIndexUnary, TypedMonoid


@record
class Closure(Spec):
    """c = x (+) x A (+) x A^2 (+) ... = x A*, computed frontier by frontier until no entry changes.

    by_row: rows of A (push traverses them); by_column: rows of A transposed (pull).
    final_on_arrival: an entry never changes once present (monoid `any`; or `min_plus` where all weights are one
        value >= 0 and all sources have one value), so the search is level-synchronous and may pull.
    max_steps: stop after this number of frontiers, with `ClosureResult.converged` False.
    strategy: of a level-synchronous search on a GPU (`semiring.strategies`).
    parents: for min or max, and not final on arrival: the row that each value was computed from is also required;
        requested of implementations that fuse ``"parents"`` only, and never with a trace.
    The result (`ClosureResult`): the closed vector, and the facts of the run.
    """

    name: ClassVar[str] = "closure"
    frontier: VectorStore
    by_row: Rows
    by_column: Rows
    semiring: TypedSemiring
    final_on_arrival: bool
    max_steps: int
    direction: str = "auto"
    strategy: str = "auto"
    trace: bool = False
    parents: bool = False


@dataclass(frozen=True)
class Step:
    """One level of a closure: the size of its frontier, and how it was expanded.

    Attributes
    ----------
    direction : str
        ``"push"`` or ``"pull"``.
    frontier, edges : int
        The entries of the frontier, and the edges that leave them.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (0, 2), (1, 2)])
    >>> step = sr.algorithms.bfs_trace(A, 0).steps[0]
    >>> step.frontier, step.edges
    (1, 2)
    """

    direction: str
    frontier: int
    edges: int


@record
class ClosureResult:
    """The closed vector; whether it converged; the number of steps; a `Step` for each, and parents, if requested."""

    store: VectorStore
    converged: bool
    steps: int
    trace: tuple[Step, ...] = ()
    parents: VectorStore | None = None


@record
class StrictParents(Spec):
    """p(v) = a row u with c(u) (x) A(u, v) = c(v), where c(u) is strictly better in the order of the monoid.

    closed: c, the closure of `frontier` under A; semiring: its monoid is min or max.  Entries that kept the value of
    the frontier are their own parents.  The result is a forest, since values become strictly worse along a path; None
    if an entry has no such row, because a product equals its operand (an edge of weight 0).
    """

    name: ClassVar[str] = "strict_parents"
    a: CSR
    closed: VectorStore
    frontier: VectorStore
    semiring: TypedSemiring


@record
class Link(Spec):
    """Union-find over rows: for every row i and each neighbor j at positions [first, last) of the row, hook i and j.

    forest: int vector, full: forest[v] <= v is the parent of v; roots have forest[v] == v.  The result is a new forest
    in which both endpoints of each visited entry have the same root, and every tree is flat.
    skip: rows whose root is this label before the pass are not visited (None: visit all).  The label may be a
        `ScalarResult` that is still on the device.
    """

    name: ClassVar[str] = "link"
    forest: VectorStore
    pattern: AnyPattern
    first: int
    last: int | None
    skip: int | ScalarResult

    def skipped(self) -> int | None:
        """Return `skip` as a host value.  Synchronizes if it is on the device."""
        label = self.skip() if callable(self.skip) else self.skip
        return None if label is None else int(label)


@record
class ClosureMany(Spec):
    """The boolean closure S A* of k sources, level by level: S(s, sources[s]) = true, a row for each source.

    levels(s, v) = the least d such that (S A^d)(s, v) is true, missing if there is none.
    counts(s, d) = the number of v with levels(s, v) = d, missing if it is 0.

    by_row: rows of A (push traverses them); by_column: rows of A transposed (pull).  Values are not read.
    sources: rows of A, an int64 array in host memory, in any order, with repeats; at least one.
    dtype: of the levels, an integer type that holds every level.
    levels, counts: which results are requested, at least one.
    direction: ``"auto"``, or forced ``"push"`` / ``"pull"``.
    """

    name: ClassVar[str] = "closure_many"
    by_row: Rows
    by_column: Rows
    sources: np.ndarray[Any, Any]
    dtype: np.dtype[Any]
    levels: bool = True
    counts: bool = False
    direction: str = "auto"


@record
class ClosureManyResult:
    """The requested results, on the device of the matrix, and the number of levels.

    levels: k x n, of the requested type.  counts: k x steps, int64.  steps: levels that are not empty, for any source.
    """

    levels: CSR | None
    counts: CSR | None
    steps: int


@record
class ClosureRows(Spec):
    """The closure of every row of a matrix: C(s, :) = x (+) x A (+) x A^2 (+) ..., with x = X(s, :).

    frontiers: X, k x n, uncompressed rows in the memory of the device, of the type of the products.
    by_row: rows of A, n x n; by_column: rows of A transposed.
    Rows do not depend on each other: an implementation computes each as `Closure` does, without a limit of steps, and
    several at once.  The layer above computes the rows one after the other where there is no implementation.
    """

    name: ClassVar[str] = "closure_rows"
    decodable: ClassVar[bool] = False
    frontiers: CSR
    by_row: Rows
    by_column: Rows
    semiring: TypedSemiring


@record
class ClosureRowsResult:
    """C, or None and the first row that does not converge."""

    store: CSR | None
    unsettled: int | None = None


def group_bounds(sources: int, most: int) -> list[tuple[int, int]]:
    """Return the first and last (exclusive) source of each group of up to `most`."""
    return [(first, min(first + most, sources)) for first in range(0, sources, most)]


def counts_matrix(parts: Sequence[np.ndarray[Any, Any]], device: str) -> tuple[CSR, int]:
    """Return the counts of all sources as a matrix, int64, and its number of columns.

    parts: for each group an array of levels by sources, in host memory.  A source reaches rows in every level up to its
    last one, so a row of the matrix has the columns 0 to that level.
    """
    steps = max((int(np.count_nonzero(part.any(axis=1))) for part in parts), default=0)
    lengths = [np.count_nonzero(part, axis=0) for part in parts]
    offsets = np.zeros(sum(part.shape[1] for part in parts) + 1, np.int64)
    np.cumsum(np.concatenate(lengths), out=offsets[1:])
    nvals = int(offsets[-1])
    columns = np.concatenate([np.nonzero(part.T)[1] for part in parts])
    values = np.concatenate([part.T[part.T > 0] for part in parts])
    indptr, indices = offsets.astype(index_dtype(nvals)), columns.astype(index_dtype(steps))
    pattern = Pattern(offsets.size - 1, steps, to_device(indptr, device), to_device(indices, device))
    return CSR(pattern, np.dtype(np.int64), to_device(values.astype(np.int64), device)), steps


@record
class AcyclicClosure(Spec):
    """c(v) = f( x(v) (+) (+)_u c(u) (x) A(u, v) ), where each c(u) is final before it is multiplied.

    A row is finished after all rows with an entry in its column.  Rows without a value, because neither x nor a product
    has one, are finished too, and contribute none.  Rows on a cycle and behind one are never finished.
    a: square.  x: of the type of the monoid.  then: f, which reads no position and no thunk; None: f(z) = z.  Its
        result is cast to the type of the monoid.
    The positions of a product are those of vxm.
    The result is an `AcyclicResult`; the values of unfinished rows are arbitrary.
    """

    name: ClassVar[str] = "acyclic_closure"
    a: CSR
    x: VectorStore
    semiring: TypedSemiring
    then: TypedIndexUnary | None


@record
class AcyclicResult:
    """The vector c, and how many rows were finished."""

    store: VectorStore
    finished: int


# Errors that implementations detect.
FOREST_RANGE, FOREST_CYCLE = 1, 2


def forest_error(code: int) -> InvalidValue:
    """Return the exception for one of the errors."""
    if code == FOREST_RANGE:
        return InvalidValue("treefix: a parent is no row number; parents are from 0 to n - 1, that of a root is itself")
    return InvalidValue("treefix: parent has a cycle, and a forest has none; a root is its own parent")


@record
class Peel(Spec):
    """t(i) = max(0, the largest k such that i is in a set S of rows i with counts(i) - lost(i, S) >= k).

    lost(i, S) is the number of entries of row i in the columns outside S.  The result is full, of the type of `counts`.

    counts: int32 or int64.
    by_column: the pattern of the transpose of a square matrix; row j lists the rows that lose an entry with column j.
    least: t(i) = least, above 0, where this number is reached, and 0 elsewhere; None: every level.
    """

    name: ClassVar[str] = "peel"
    counts: Full
    by_column: AnyPattern
    least: int | None = None


@record
class Treefix(Spec):
    """t(v) = (+) of u(w) over the descendants w of v (`up`), or over its ancestors; v is both.

    parent: int32 or int64, parent(v) = v for a root.  values: u, of the type of the monoid, which is commutative.
    The result is full.  An implementation raises InvalidValue for a parent out of range and for a cycle.
    """

    name: ClassVar[str] = "treefix"
    parent: Full
    values: Full
    monoid: TypedMonoid
    up: bool


@record
class Span(Spec):
    """t = the entries (i, j) of a that join two trees, visited in the order of values, equal ones by row and column.

    a: square, with values that have an order.  largest: from the largest value on.  NaN is behind all numbers.
    """

    name: ClassVar[str] = "span"
    a: CSR
    largest: bool


@record
class MaximumFlow(Spec):
    """max over F, s, d of sum_v s(v), where  0 <= F <= a,  0 <= s <= supply,  0 <= d <= demand,  and at every vertex

        s(v) + sum_u F(u, v) = d(v) + sum_w F(v, w).

    a: square, real, with an entry (v, u) wherever it has (u, v).  Values that are not above 0, NaN among them, and the
        diagonal admit nothing.
    by_column: the transpose of a, uncompressed as a is.
    supply, demand: float64, finite, not negative; missing entries are 0.
    least: what is left of a capacity, a supply or a demand counts as 0 up to this amount.

    Which of several maximum flows is returned is unspecified.
    """

    name: ClassVar[str] = "flow"
    a: CSR
    by_column: CSR
    supply: VectorStore
    demand: VectorStore
    least: float


@record
class MaximumFlowResult:
    """F, s and d, float64 and without zeros, and the vertices on the side of the supplies in a minimum cut.

    side: boolean, all True.  Supplies outside are used up, and so are demands inside, and entries that leave it.
    """

    flow: CSR
    sent: VectorStore
    received: VectorStore
    side: VectorStore


# Keys of consecutive passes differ by this odd constant.
_PASS = 0x3C6EF372FE94F82B
_WORD = 1 << 64


@record
class Vote(Spec):
    """t(i) = the group G of the highest score(i, G), a group being the columns of one label.

        score(i, G) = sum of a(i, j) over j in G  -  rate mass(i) total(G - i)
        total(G - i) = totals(G) - (mass(i) if label(i) = G else 0)

    a: square; real values, cast to float64 and added up there.
    labels: int32 or int64.  A label outside 0 to n - 1 is no group: entries in its columns do not vote.
    mass, totals: float64, or both None: the score is the sum alone.
    rows: bool; a row i with rows(i) = false keeps its label.  None: every row votes.
    keep: the row's own group is a candidate, and wins ties; else the groups among the entries are, and the smallest
        wins.  A row without a candidate keeps its label.  A score that is NaN never wins.

    Products and differences of the score are rounded one by one, in the order written: if the sums are exact, all
    engines return the same groups.
    """

    name: ClassVar[str] = "vote"
    a: CSR
    labels: Full
    mass: Full | None
    totals: Full | None
    rate: float
    rows: Full | None
    keep: bool


@record
class LocalMoving(Spec):
    """t = the labels after votes by random parts of the rows, until no row moves.

        active(i) = true for all rows i
        repeat at most `passes` times:
            voters = the active rows i; part(i) = floor(parts random(i, 0, key_of_pass(seed, pass)))
            for p = 0 ... parts - 1:
                active(i) = false for the voters i of part p; all of them vote at once, as in `Vote`
                total(G) = the sum of mass(i) over label(i) = G, before the vote
                for the rows i that move, and a(i, j) with label(j) other than the new label(i): active(j) = true
            end when at most `few` rows moved

    a, labels, mass, rate, keep: as in `Vote`.
    parts: 1 to 65536.
    seed: int64.
    """

    name: ClassVar[str] = "local_moving"
    a: CSR
    labels: Full
    mass: Full | None
    rate: float
    parts: int
    seed: int
    passes: int
    few: int
    keep: bool


def key_of_pass(seed: int, number: int) -> int:
    """Return the third argument of `random` for the parts of a pass: an integer of 64 bits."""
    word = (seed + number * _PASS) % _WORD
    return word - _WORD if word >> 63 else word
