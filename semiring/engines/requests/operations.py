"""The requests to an engine: one frozen record, a spec, for each operation on matrices and vectors.

`ops` guarantees for every spec: shapes agree, operators are typed, arrays reside on the engine's device, index arrays
are in range.  An engine guarantees: a new store (operands are never modified), on the same device, in any vector
format, and iso-valued where that can be determined without waiting for the device.

Notation: ``T`` is the result before mask, accumulator and output; ``k`` the inner index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...formats import CSR, AnyPattern, Array, Bitmap, Full, VectorStore
from ...formats.records import record
from .operands import Index, Mask, Rows, Spec

if TYPE_CHECKING:
    from ...operators.types import TypedBinary, TypedIndexUnary, TypedMonoid, TypedSemiring


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


# How `SelectK` chooses entries of a row.
HOW = ("first", "last", "smallest", "largest", "random")


@record
class Scale(Spec):
    """t(i, j) = op(a(i, j), u(j)) on the entries of a; under `by_rows` op(u(i), a(i, j)).

    Positions: ``xi = yi = i``, ``xj = yj = j``.
    """

    name: ClassVar[str] = "scale"
    a: CSR
    u: Full
    op: TypedBinary
    by_rows: bool


@record
class Scan(Spec):
    """t(i, j) = (+)_l a(i, l) over the entries of row i with l <= j, on the entries of a, in ascending order."""

    name: ClassVar[str] = "scan"
    a: CSR
    monoid: TypedMonoid


@record
class SortRows(Spec):
    """The entries of each row in ascending order of their values (`descending`: in descending order), from column 0.

    Equal values keep their order, and NaN is behind all numbers.  The result is `SortedRows`.
    """

    name: ClassVar[str] = "sort_rows"
    a: CSR
    descending: bool


@record
class SortedRows:
    """values(i, p) is the p-th value of row i, and columns(i, p), of int64, the column that it had."""

    values: CSR
    columns: CSR


@record
class SelectK(Spec):
    """Up to k entries of each row: the first or the last, those of the smallest or largest values, or any (`HOW`).

    Of equal values the first entries are selected; NaN only where there are not enough numbers.  ``"random"`` selects
    the k smallest of the numbers that `engines.shared.order.random_keys` computes from `seed`, row and column.
    """

    name: ClassVar[str] = "select_k"
    a: CSR
    k: int
    how: str
    seed: int


@record
class LocateRows(Spec):
    """The smallest value (`largest`: the largest) of each row that has entries, and its column.

    Of equal values, 0.0 and -0.0 among them, the first one; NaN only where there is no number.  The result is
    `Located`, with an element for each row.
    """

    name: ClassVar[str] = "locate_rows"
    a: CSR
    largest: bool


@record
class LocateGroups(Spec):
    """The smallest value (`largest`: the largest) of each group, and its index: u(p) is in group index[p].

    Chosen as by `LocateRows`.  The result is `Located`, with an element for each group that has entries.
    """

    name: ClassVar[str] = "locate_groups"
    u: VectorStore
    index: Index
    largest: bool


@record
class Located:
    """Values, and the positions that they have in their row or vector, of int64; both have the same structure."""

    values: VectorStore
    positions: VectorStore


@record
class Concat(Spec):
    """t(rows[n] + i, cols[n] + j) = tiles[n](i, j), of the given type; all other positions are empty.

    tiles: in the memory of the device, uncompressed or hypersparse; `ops.concat` copies others.  They do not overlap.
    They are in ascending order of (row, column), and tiles that have a row of the result in common have all of their
    rows in common.
    """

    name: ClassVar[str] = "concat"
    nrows: int
    ncols: int
    dtype: np.dtype[Any]
    rows: tuple[int, ...]
    cols: tuple[int, ...]
    tiles: tuple[CSR, ...]

    def alone(self, n: int) -> bool:
        """Return whether tile n is the only one in its rows, so that its entries stay neighbors."""
        return all(row != self.rows[n] for m, row in enumerate(self.rows) if m in (n - 1, n + 1))


@record
class Reshape(Spec):
    """t(p // ncols, p % ncols) = a(i, j) for p = i * a.ncols + j, of shape (nrows, ncols) with as many positions."""

    name: ClassVar[str] = "reshape"
    a: CSR
    nrows: int
    ncols: int


@record
class FusedMxm(Spec):
    """A product t as in `Mxm`, of the entries that the mask admits, which is read by one operation alone.

    An engine need not implement these specs, nor accept every operand: `ops.fused` then computes t first.  An
    implementation applies the mask.
    """

    name: ClassVar[str] = "mxm_fused"
    decodable: ClassVar[bool] = False
    a: CSR
    by_row: Rows
    by_column: Rows | None
    semiring: TypedSemiring
    mask: Mask | None
    method: str

    @property
    def product(self) -> Mxm:
        """The request for t alone."""
        return Mxm(self.a, self.by_row, self.by_column, self.semiring, self.mask, self.method)

    @property
    def by_rows(self) -> Mxm:
        """The request for t alone, by a method that reads the rows of B."""
        return Mxm(self.a, self.by_row, None, self.semiring, self.mask, self.method)


@record
class MxmReduceScalar(FusedMxm):
    """s = (+)_ij t(i, j) over all entries of a product; the result is a `ScalarResult`."""

    name: ClassVar[str] = "mxm_reduce_scalar"
    monoid: TypedMonoid


@record
class MxmReduceRows(FusedMxm):
    """w(i) = (+)_j t(i, j) of a product, for the rows that have entries."""

    name: ClassVar[str] = "mxm_reduce_rows"
    monoid: TypedMonoid


@record
class MxmSelect(FusedMxm):
    """The entries of a product for which op(t(i, j), i, j, k) holds."""

    name: ClassVar[str] = "mxm_select"
    op: TypedIndexUnary
    k: np.generic


@record
class ReplaceRows(Spec):
    """t(rows[p], :) = a(p, :), and the other rows of c, which has the type of a; None if a row repeats.

    For an engine without it, and where rows repeat, `ops.assign` scatters a and merges it with the rest of c.
    """

    name: ClassVar[str] = "replace_rows"
    decodable: ClassVar[bool] = False
    c: CSR
    rows: Index
    a: CSR


# Outputs up to which a product and its write are one request: calls cost more than the work, and a new store costs as
# little as an update in place (reasoned).
SHORT = 1024


@record
class WriteVector(Spec):
    """The complete write  C<M, replace> accum= T  for vectors, in one pass.

    The result has C's dtype.
    """

    name: ClassVar[str] = "write_vector"
    c: VectorStore
    t: VectorStore
    mask: Mask | None
    accum: TypedBinary | None
    replace: bool


@record
class WriteMxv(Mxv):
    """The complete write  C<M, replace> accum= T  of a product T of at most `SHORT` outputs.

    Positions and directions: as `Mxv`.  The result has C's dtype.
    """

    name: ClassVar[str] = "write_mxv"
    decodable: ClassVar[bool] = False
    c: VectorStore | None = None
    accum: TypedBinary | None = None
    replace: bool = False


@record
class UpdateVector(Spec):
    """C<M> accum= T in the arrays of C, which nobody else holds; only positions in `listed` may change.

    listed: T, or the vector of a mask that is not complemented; few entries, a list or a bitmap.
    mask: what else limits the write; None: all listed positions are written.  Without an accumulator a listed position
    that T lacks is deleted; where C is full, there is none.
    The result is a new store of the arrays of C, which no longer describes them.  The update ends without an interrupt.
    """

    name: ClassVar[str] = "update_vector"
    c: Bitmap | Full
    t: VectorStore
    listed: VectorStore
    mask: Mask | None
    accum: TypedBinary | None


@record
class UpdateMatrix(Spec):
    """C accum= T in the arrays of C, a bitmap or without missing entries, which nobody else holds.

    t: rows with few entries.  Without an accumulator its entries replace those of C at the same positions.
    Positions of the accumulator, and the result: as `UpdateVector`, of which C are the entries in row-major order.
    """

    name: ClassVar[str] = "update_matrix"
    decodable: ClassVar[bool] = False
    c: CSR
    t: CSR
    accum: TypedBinary | None


@record
class WriteMatrix(Spec):
    """The complete write  C<M, replace> accum= T  for matrices; as `WriteVector`.

    Positions of the accumulator: ``xi = yi = i``, ``xj = yj = j``.
    """

    name: ClassVar[str] = "write_matrix"
    decodable: ClassVar[bool] = False
    c: CSR
    t: CSR
    mask: Mask | None
    accum: TypedBinary | None
    replace: bool
