"""Matrix: a sparse matrix of one type, on the CPU or the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from . import aggregate, display, operators
from .base import MaskView, plan_of, scalar
from .exceptions import DimensionMismatch, InvalidValue
from .formats import CSR
from .infix import Infix, is_scalar
from .matrix_arrays import MatrixArrays
from .ops import reshape, structure
from .ops.assign import assign_matrix, column_matrix, row_matrix
from .ops.convert import index_list
from .ops.extract import element, extract_matrix, extract_row
from .ops.index import position, positions
from .ops.mxm import mxm
from .ops.mxv import mxv
from .ops.reduce import reduce_rows, reduce_scalar
from .ops.transpose import transpose
from .ops.write import Write
from .scalar import Scalar
from .vector import Vector, assigned, index_value

if TYPE_CHECKING:
    from .engines.spec import Index


class Matrix(MatrixArrays):
    """A matrix of shape (nrows, ncols), of which some positions hold a value.

    Parameters
    ----------
    dtype : type of the values (NumPy dtype, Python type or name)
    nrows, ncols : the shape
    name : shown by `repr`
    device : ``"cpu"`` or ``"cuda"``; by default the configured one

    Notes
    -----
    Missing is not zero: only stored entries exist, and explicit zeros stay.  Held as compressed sparse rows; the
    transpose is derived when an operation wants it, and cached with the entries it belongs to.
    """

    __slots__ = ()

    # -- looking -----------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """(nrows, ncols)."""
        return cast("tuple[int, int]", self._plan.shape if self._plan is not None else self.store.shape)

    @property
    def nrows(self) -> int:
        """The number of rows."""
        return self.shape[0]

    @property
    def ncols(self) -> int:
        """The number of columns."""
        return self.shape[1]

    @property
    def ndim(self) -> int:
        """2."""
        return 2

    @property
    def T(self) -> Transposed:
        """The transpose, as an operand: nothing is moved until an operation needs it, and then it is cached."""
        return Transposed(self)

    @property
    def operand(self) -> tuple[CSR, bool]:
        """The store and whether it is meant transposed (it is not)."""
        return self.store, False

    @property
    def is_symmetric_structure(self) -> bool:
        """True if (j, i) is stored wherever (i, j) is.  O(nvals log degree) the first time; synchronises."""
        return structure.is_symmetric(self.store.pattern)

    def get(self, row: int, col: int, default: Any = None) -> Any:
        """A(row, col), or `default` where nothing is stored.  Synchronises."""
        value = element(self.store, *self._place(row, col))
        return default if value is None else value

    def __contains__(self, place: tuple[int, int]) -> bool:
        return element(self.store, *self._place(*place)) is not None

    def _place(self, row: Any, col: Any) -> tuple[int, int]:
        return position(scalar(row), self.nrows, "rows"), position(scalar(col), self.ncols, "columns")

    # -- parts -------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """A[i, j]: a Scalar.  A[i, J], A[I, j], A[i]: a Vector.  A[I, J], A[I]: a Matrix, A(I[p], J[q]).

        I and J are slices, integers, boolean arrays, or full Vectors of integers.
        """
        rows, cols = _split(key)
        if is_scalar(rows) and is_scalar(cols):
            i, j = self._place(rows, cols)
            store = self.store
            return Scalar.pending(store.dtype, lambda: element(store, i, j), lambda value: self._set(i, j, value))
        if is_scalar(rows) or is_scalar(cols):
            made: Any = Vector._new(None, self._line(rows, cols, transposed=False))
        else:
            made = self._new(None, extract_matrix(self.store, self._rows(rows), self._cols(cols)))
        made._origin = (self, key)
        return made

    def extract(self, rows: Any = slice(None), cols: Any = slice(None), **writing: Any) -> Any:
        """A(I, J), by name: takes mask, accum, replace and out."""
        if is_scalar(rows) or is_scalar(cols):
            return self._deliver(self._line(rows, cols, transposed=False), writing, cls=Vector)  # type: ignore[arg-type]
        plan = extract_matrix(self.store, self._rows(rows), self._cols(cols))
        return self._deliver(plan, writing)  # type: ignore[arg-type]

    def _line(self, rows: Any, cols: Any, *, transposed: bool) -> Any:
        """The plan of one row or column; then of the part that the other index takes."""
        by_row = is_scalar(rows)
        at = position(scalar(rows), self.nrows, "rows") if by_row else position(scalar(cols), self.ncols, "columns")
        index = self._cols(cols) if by_row else self._rows(rows)
        plan = extract_row(self.store, at, transposed=not by_row)
        if index.is_all:
            return plan
        from .ops.extract import extract_vector

        return extract_vector(plan.into(), index)

    def __delitem__(self, key: Any) -> None:
        rows, cols = (_listed(part, n) for part, n in zip(_split(key), self.shape, strict=True))
        i, j = self._rows(rows), self._cols(cols)
        nothing = Matrix(self.dtype, i.count, j.count, device=self.device)
        self._become(assign_matrix(self.store, i, j, nothing.store))

    def _set(self, row: int, col: int, value: Any) -> None:
        if value is None:
            del self[row, col]
        else:
            self[[row], [col]] = value

    def _rows(self, key: Any) -> Index:
        return positions(index_value(key), self.nrows, "rows", self.device)

    def _cols(self, key: Any) -> Index:
        return positions(index_value(key), self.ncols, "columns", self.device)

    def _assign_region(self, key: Any, value: Any, write: Write, *, sub: bool) -> None:
        if isinstance(key, slice) and key == slice(None) and isinstance(value, Transposed):
            self._become(value.plan().into(self.store, write))
            return
        rows, cols = _split(key)
        if isinstance(value, Transposed):
            value = value.new()
        if isinstance(value, (Vector, list)) or getattr(value, "ndim", 0) == 1:
            value = _line_matrix(value, is_scalar(rows), is_scalar(cols))
        if isinstance(value, Infix) and not isinstance(value, Matrix):
            raise DimensionMismatch("a Vector is assigned to one row or column: C[i, :] << v")
        i, j = self._rows(_listed(rows, self.nrows)), self._cols(_listed(cols, self.ncols))
        self._become(assign_matrix(self.store, i, j, assigned(value, Matrix), write=write, sub=sub))

    # -- products ----------------------------------------------------------------------------------------

    def mxm(self, other: Matrix | Transposed, op: Any = "plus_times", **writing: Any) -> Matrix:
        """C(i, j) = (+)_k self(i, k) (x) other(k, j).

        Parameters
        ----------
        other : Matrix whose rows are this one's columns, or the ``.T`` of one
        op : semiring, by object or name
        **writing : mask, accum, replace, out.  A mask that is not complemented bounds the result: only what it
            admits is kept.

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch

        Notes
        -----
        Cost O(products).  Synchronises for the size of the result.
        """
        return multiply(self, other, op, writing)

    def mxv(self, other: Vector, op: Any = "plus_times", **writing: Any) -> Vector:
        """w(i) = (+)_k self(i, k) (x) other(k).

        Parameters
        ----------
        other : Vector of size ncols
        op : semiring, by object or name
        **writing : mask, accum, replace, out

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch

        Notes
        -----
        Cost O(nvals) at most; see `Vector.vxm` for push and pull.
        """
        return multiply_vector(self, other, op, writing)

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Vector):
            return self.mxv(other)
        return self.mxm(other) if isinstance(other, (Matrix, Transposed)) else NotImplemented

    def power(self, n: int, op: Any = "plus_times") -> Matrix:
        """A (x) A (x) ... n times over a semiring, by repeated squaring; n >= 1."""
        if n < 1:
            raise InvalidValue(f"power: n must be at least 1, got {n}")
        if self.nrows != self.ncols:
            raise DimensionMismatch(f"power: the matrix must be square, got shape {self.shape}")
        answer: Matrix | None = None
        square = self
        while True:
            if n & 1:
                answer = square if answer is None else answer.mxm(square, op)
            n >>= 1
            if not n:
                return answer.dup() if answer is self else cast(Matrix, answer)
            square = square.mxm(square, op)
            square.store  # noqa: B018  # carried out once, though it is used twice

    # -- reductions --------------------------------------------------------------------------------------

    def reduce_rowwise(self, op: Any = "plus", **writing: Any) -> Vector:
        """w(i) = (+)_j self(i, j), for rows that have entries; `op` a monoid or an aggregator."""
        return self._reduce(op, False, writing)

    def reduce_columnwise(self, op: Any = "plus", **writing: Any) -> Vector:
        """w(j) = (+)_i self(i, j), for columns that have entries; `op` a monoid or an aggregator."""
        return self._reduce(op, True, writing)

    def _reduce(self, op: Any, transposed: bool, writing: Any) -> Vector:
        aggregator = aggregate.as_aggregator(op)
        if aggregator is not None:
            made = aggregate.matrix(self, aggregator, transposed)
            return cast(Vector, self._deliver(plan_of("reduce", made.store), writing, cls=Vector))
        return cast(Vector, self._deliver(reduce_rows(self.store, op, transposed=transposed), writing, cls=Vector))

    def reduce_scalar(self, op: Any = "plus") -> Scalar:
        """S = (+) of all entries, a Scalar that is empty if there are none.  Reading its value synchronises."""
        aggregator = aggregate.as_aggregator(op)
        if aggregator is not None:
            return aggregate.whole(self, aggregator)
        monoid = operators.lookup_monoid(op).typed(self.dtype)
        store = self.store
        return Scalar.pending(monoid.z, lambda: reduce_scalar(store, monoid))

    reduce = reduce_scalar

    # -- shape -------------------------------------------------------------------------------------------

    def diag(self, k: int = 0) -> Vector:
        """The k-th diagonal as a Vector."""
        return Vector._new(reshape.diagonal_vector(self.store, k))

    def resize(self, nrows: int, ncols: int) -> None:
        """Change the shape; entries outside it are dropped."""
        self._become(reshape.resize_matrix(self.store, nrows, ncols))

    def transpose(self, **writing: Any) -> Matrix:
        """C(j, i) = self(i, j), as a Matrix of its own."""
        return self._deliver(transpose(self.store), writing)  # type: ignore[arg-type, no-any-return]

    def __repr__(self) -> str:
        return display.matrix(self)

    def _repr_html_(self) -> str:
        return display.html(self)


class Transposed:
    """``A.T``: a matrix as an operand, transposed.  Any operation that reads entries in that order derives it once."""

    __slots__ = ("_matrix",)

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix

    @property
    def T(self) -> Matrix:
        """The matrix itself."""
        return self._matrix

    @property
    def shape(self) -> tuple[int, int]:
        """(nrows, ncols) of the transpose."""
        nrows, ncols = self._matrix.shape
        return ncols, nrows

    @property
    def nrows(self) -> int:
        """The number of rows of the transpose."""
        return self._matrix.ncols

    @property
    def ncols(self) -> int:
        """The number of columns of the transpose."""
        return self._matrix.nrows

    @property
    def operand(self) -> tuple[CSR, bool]:
        """The store of the matrix, and that it is meant transposed."""
        return self._matrix.store, True

    def plan(self) -> Any:
        """The pending transpose."""
        return transpose(self._matrix.store)

    def new(self, dtype: Any = None, *, name: str | None = None) -> Matrix:
        """The transpose as a Matrix of its own."""
        made = Matrix._new(None, self.plan(), name)
        return made if dtype is None else made.dup(dtype, name=name)

    dup = new

    def mxm(self, other: Matrix | Transposed, op: Any = "plus_times", **writing: Any) -> Matrix:
        """C = A' (+).(x) other; see `Matrix.mxm`."""
        return multiply(self, other, op, writing)

    def mxv(self, other: Vector, op: Any = "plus_times", **writing: Any) -> Vector:
        """W = A' (+).(x) other; see `Matrix.mxv`."""
        return multiply_vector(self, other, op, writing)

    def reduce_rowwise(self, op: Any = "plus", **writing: Any) -> Vector:
        """The fold of each column of A."""
        return self._matrix.reduce_columnwise(op, **writing)

    def reduce_columnwise(self, op: Any = "plus", **writing: Any) -> Vector:
        """The fold of each row of A."""
        return self._matrix.reduce_rowwise(op, **writing)

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Vector):
            return self.mxv(other)
        return self.mxm(other) if isinstance(other, (Matrix, Transposed)) else NotImplemented

    def __getattr__(self, name: str) -> Any:
        # Everything else works on the transpose itself, which is cached with A.
        if name.startswith("__") or name == "_matrix":
            raise AttributeError(name)
        return getattr(self.new(), name)

    def __getitem__(self, key: Any) -> Any:
        return self.new()[key]

    def __invert__(self) -> MaskView:
        return ~self.new()

    def __add__(self, other: Any) -> Any:
        return self.new() + _plain(other)

    def __sub__(self, other: Any) -> Any:
        return self.new() - _plain(other)

    def __mul__(self, other: Any) -> Any:
        return self.new() * _plain(other)

    def __or__(self, other: Any) -> Any:
        return self.new() | _plain(other)

    def __and__(self, other: Any) -> Any:
        return self.new() & _plain(other)

    def __repr__(self) -> str:
        return display.matrix(self.new())


def _plain(other: Any) -> Any:
    return other.new() if isinstance(other, Transposed) else other


def multiply(a: Matrix | Transposed, b: Matrix | Transposed, op: Any, writing: Any) -> Matrix:
    """The pending or written product of two matrices, either transposed."""
    if not isinstance(b, (Matrix, Transposed)):
        raise InvalidValue(f"mxm: expected a Matrix, got {type(b).__name__}")
    (x, transpose_a), (y, transpose_b) = a.operand, b.operand
    like = a if isinstance(a, Matrix) else a.T

    def remake(operator: Any) -> Any:
        plan = mxm(x, y, operator, transpose_a=transpose_a, transpose_b=transpose_b)
        return like._deliver(plan, {}, remake=("product", remake))

    plan = mxm(x, y, op, transpose_a=transpose_a, transpose_b=transpose_b)
    return like._deliver(plan, writing, remake=("product", remake))  # type: ignore[no-any-return]


def multiply_vector(a: Matrix | Transposed, u: Vector, op: Any, writing: Any) -> Vector:
    """The pending or written product of a matrix, perhaps transposed, and a vector."""
    if not isinstance(u, Vector):
        raise InvalidValue(f"mxv: expected a Vector, got {type(u).__name__}")
    x, transposed = a.operand
    store = u.store

    def remake(operator: Any) -> Any:
        plan = mxv(x, store, operator, transposed=transposed)
        return u._deliver(plan, {}, cls=Vector, remake=("product", remake))

    plan = mxv(x, store, op, transposed=transposed)
    return u._deliver(plan, writing, cls=Vector, remake=("product", remake))  # type: ignore[no-any-return]


def _split(key: Any) -> tuple[Any, Any]:
    if isinstance(key, tuple):
        if len(key) != 2:
            raise InvalidValue(f"a Matrix takes two indices, got {len(key)}")
        return key
    return key, slice(None)


def _listed(part: Any, size: int) -> Any:
    return [position(scalar(part), size, "a matrix")] if is_scalar(part) else part


def _line_matrix(value: Any, one_row: bool, one_col: bool) -> Matrix:
    """A vector as the matrix of one row or one column that its place asks for."""
    if one_row == one_col:
        raise DimensionMismatch("a Vector is assigned to one row or column: C[i, :] << v or C[:, j] << v")
    entries = index_list(value.store if isinstance(value, Vector) else Vector.from_dense(value).store)
    return Matrix._new(row_matrix(entries) if one_row else column_matrix(entries))
