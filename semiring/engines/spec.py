"""The requests to an engine: one frozen record, a spec, for each operation.

`ops` guarantees for every spec: shapes agree, operators are typed, arrays reside on the engine's device, index arrays
are in range.  An engine guarantees: a new store (operands are never modified), on the same device, in any vector
format, and iso-valued where that can be determined without waiting for the device.

Notation: ``T`` is the result before mask, accumulator and output; ``k`` the inner index.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..formats import CSR, AnyPattern, Array, VectorStore
from ..formats.records import record
from .operands import Index, Mask, Rows, Spec

if TYPE_CHECKING:
    from ..operators.types import TypedBinary, TypedIndexUnary, TypedMonoid, TypedSemiring


@record
class Mxv(Spec):
    """t(o) = (+)_k  M(o, k) (x) u(k), for a matrix-vector product; operands swapped under `flip`.

    by_row: the rows of M (pull traverses them).  by_column: the rows of M transposed (push traverses them).
    flip: False for mxv: ``mult(x=M(o, k), y=u(k))`` with positions ``xi=o xj=k yi=k yj=0``.
          True for vxm: ``mult(x=u(k), y=M(o, k))`` with positions ``xi=0 xj=k yi=k yj=o``
          (the user's matrix is M transposed).
    mask: over the output; an implementation that fuses ``"mask"`` omits results that it does not admit.
    direction: ``"auto"``, or forced ``"push"`` / ``"pull"``.
    """

    name: ClassVar[str] = "mxv"
    nout: int
    ninner: int
    by_row: Rows
    by_column: Rows
    vector: VectorStore
    semiring: TypedSemiring
    flip: bool
    mask: Mask | None = None
    direction: str = "auto"


@record
class Mxm(Spec):
    """t(i, j) = (+)_k  A(i, k) (x) B(k, j); positions ``xi=i xj=k yi=k yj=j``.

    by_row: B.  by_column: the transpose of B, for implementations that read columns; None: it is not offered.  At least
    one of both is ready.  method: ``"auto"``, or a method that an engine uses if it has it.
    """

    name: ClassVar[str] = "mxm"
    a: CSR
    by_row: Rows
    by_column: Rows | None
    semiring: TypedSemiring
    mask: Mask | None = None
    method: str = "auto"

    @classmethod
    def of(cls, a: CSR, b: CSR, semiring: TypedSemiring, mask: Mask | None = None) -> Mxm:
        """Return the product of A and B by rows."""
        return cls(a, Rows(b), None, semiring, mask)

    @property
    def b(self) -> CSR:
        """B by rows; derived if only its columns are at hand."""
        return self.by_row.get()

    @property
    def ncols(self) -> int:
        """The number of columns of B."""
        return self.by_row.get().ncols if self.by_row.ready or self.by_column is None else self.by_column.get().nrows


@record
class Kronecker(Spec):
    """t(i r + k, j c + l) = op(a(i, j), b(k, l)) for b of shape (r, c); positions ``xi=i xj=j yi=k yj=l``."""

    name: ClassVar[str] = "kronecker"
    a: CSR
    b: CSR
    op: TypedBinary


@record
class Ewise(Spec):
    """Element by element: both vectors, or both matrices.

    mode ``"intersect"``: t = op(a, b) where both are present.
    mode ``"union"``: op(a, b) where both are present; where one is, that value, cast to the result type.
    mode ``"fill"``: op(a, b), op(a, beta), op(alpha, b): beta or alpha replaces the absent operand.
    Positions: ``xi = yi = i``, ``xj = yj = j`` (a vector is a column: j = 0).
    """

    name: ClassVar[str] = "ewise"
    a: CSR | VectorStore
    b: CSR | VectorStore
    op: TypedBinary
    mode: str
    alpha: np.generic | None = None
    beta: np.generic | None = None
    mask: Mask | None = None


@record
class Apply(Spec):
    """t = op(a(i, j), i, j, k) on the entries of a (a vector is a column: j = 0).

    Unary and bound binary operators are expressed in this form.
    """

    name: ClassVar[str] = "apply"
    a: CSR | VectorStore
    op: TypedIndexUnary
    k: np.generic


@record
class Select(Spec):
    """The entries of a for which op(a(i, j), i, j, k) holds."""

    name: ClassVar[str] = "select"
    a: CSR | VectorStore
    op: TypedIndexUnary
    k: np.generic


@record
class Keep(Spec):
    """The entries of a that the mask admits."""

    name: ClassVar[str] = "keep"
    a: CSR | VectorStore
    mask: Mask


@record
class Outside(Spec):
    """The entries of a that are outside the region rows x columns (a vector has rows only)."""

    name: ClassVar[str] = "outside"
    a: CSR | VectorStore
    rows: Index
    cols: Index | None


@record
class ReduceRows(Spec):
    """t(i) = (+)_j a(i, j), for the rows that have entries."""

    name: ClassVar[str] = "reduce_rows"
    a: CSR
    monoid: TypedMonoid


# The result of an operation that returns one value: a NumPy scalar, None if there is no entry, or a function that waits
# for the device and returns either of them.  It does not wait for work queued after the operation.
ScalarResult = np.generic | None | Callable[[], np.generic | None]


def scalar_value(result: ScalarResult) -> np.generic | None:
    """Return the value of a scalar result.  Synchronizes if it is still on the device."""
    return result() if callable(result) else result


@record
class ReduceScalar(Spec):
    """s = (+)_ij a(i, j) over all entries; the result is a `ScalarResult`."""

    name: ClassVar[str] = "reduce_scalar"
    a: CSR | VectorStore
    monoid: TypedMonoid


@record
class Inner(Spec):
    """s = (+)_k  u(k) (x) v(k), u as a row and v as a column: positions ``xi=0 xj=k yi=k yj=0``.

    The result is a `ScalarResult`.  For an engine without it, `ops.inner` computes the products and reduces them.
    """

    name: ClassVar[str] = "inner"
    u: VectorStore
    v: VectorStore
    semiring: TypedSemiring


@record
class ExtractVector(Spec):
    """t(p) = u(index[p]); repeated indices allowed."""

    name: ClassVar[str] = "extract_vector"
    u: VectorStore
    index: Index


@record
class ExtractMatrix(Spec):
    """t(p, q) = a(rows[p], cols[q]); repeated indices allowed."""

    name: ClassVar[str] = "extract_matrix"
    a: CSR
    rows: Index
    cols: Index


@record
class ExtractRow(Spec):
    """t(j) = a(row, j), a vector of size ncols."""

    name: ClassVar[str] = "extract_row"
    a: CSR
    row: int


@record
class ScatterVector(Spec):
    """t(index[p]) = u(p), size `index.size`.

    Where an index repeats, values combine by `dup` (in any order, so `dup` should be associative and commutative);
    without `dup` the value with the largest p is kept.
    """

    name: ClassVar[str] = "scatter_vector"
    u: VectorStore
    index: Index
    dup: TypedBinary | None


@record
class ScatterMatrix(Spec):
    """t(rows[p], cols[q]) = a(p, q), shape (rows.size, cols.size); repeats as in `ScatterVector`."""

    name: ClassVar[str] = "scatter_matrix"
    a: CSR
    rows: Index
    cols: Index
    dup: TypedBinary | None


@record
class Transpose(Spec):
    """t(j, i) = a(i, j)."""

    name: ClassVar[str] = "transpose"
    a: CSR


@record
class IsSymmetric(Spec):
    """True if a(j, i) is present wherever a(i, j) is.  Values are not compared.  Synchronizes."""

    name: ClassVar[str] = "is_symmetric"
    pattern: AnyPattern


@record
class BuildVector(Spec):
    """A vector from (index, value) pairs in any order; raises DuplicateIndex where an index repeats and `dup` is None.

    values: an array, or None with `iso` given.  Repeats combine by `dup` in the order given.
    """

    name: ClassVar[str] = "build_vector"
    size: int
    dtype: np.dtype[Any]
    indices: Array
    values: Array | None
    iso: np.generic | None
    dup: TypedBinary | None


@record
class BuildMatrix(Spec):
    """A matrix from (row, column, value) triples in any order; as `BuildVector`."""

    name: ClassVar[str] = "build_matrix"
    nrows: int
    ncols: int
    dtype: np.dtype[Any]
    rows: Array
    cols: Array
    values: Array | None
    iso: np.generic | None
    dup: TypedBinary | None


@record
class ImportCSR(Spec):
    """A matrix from arrays in CSR format: validated, narrowed to the required index widths, each row sorted.

    Raises InvalidFormat, which names the array and the position, for offsets that do not start at 0, decrease, or do
    not end at the number of columns given, and for columns out of range; DuplicateIndex (first one) without `dup`.
    Arrays that already meet these conditions are not copied.
    """

    name: ClassVar[str] = "import_csr"
    nrows: int
    ncols: int
    dtype: np.dtype[Any]
    indptr: Array
    indices: Array
    values: Array | None
    iso: np.generic | None
    dup: TypedBinary | None


@record
class Convert(Spec):
    """The same vector in the format ``"index"``, ``"bitmap"`` or ``"full"`` (full only where all are present)."""

    name: ClassVar[str] = "convert"
    u: VectorStore
    to: str


@record
class Closure(Spec):
    """c = x (+) x A (+) x A^2 (+) ... = x A*, computed frontier by frontier until no entry changes.

    by_row: rows of A (push traverses them); by_column: rows of A transposed (pull).
    final_on_arrival: an entry never changes once present (monoid `any`; or `min_plus` where all weights are one
        value >= 0 and all sources have one value), so the search is level-synchronous and may pull.
    max_steps: stop after this number of frontiers, with `ClosureResult.converged` False.
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
