"""Matrix: a sparse matrix of one type, on the CPU or the GPU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack, cast, overload

from ..engines.requests.operands import Mask
from ..exceptions import InvalidType, InvalidValue, RankMismatch
from ..formats import CSR, VectorStore
from ..formats.hypersparse import empty_matrix, prefers_hypersparse
from ..memory.allocation import allocating, require_rows
from ..ops import check, equal, structure
from ..ops.assign import assign_line, assign_matrix, column_matrix, row_matrix
from ..ops.convert import index_list
from ..ops.extract import extract_line, extract_matrix
from ..ops.write import Plan, Write
from ..record_types import plain
from ..storage.coerce import sizes
from ..storage.index import pair, position, positions
from . import changes, concatenation, display, edges, entries, matrix_arrays, matrix_conversions, reductions, rowwise
from .matrix_operations import MatrixOperations
from .operand import Integer, Several, as_records, device_for, dimensions, is_empty, is_scalar, scalar
from .vector import Vector, check_element, index_value
from .vector_arrays import constructed
from .writing import MaskView, Writing

if TYPE_CHECKING:
    from ..engines.requests.operands import Index
    from .scalar import Scalar


class Matrix(MatrixOperations):
    """A matrix of shape (nrows, ncols), of which some positions hold a value.

    Parameters
    ----------
    dtype : type of the values (NumPy dtype, Python type or name)
    nrows, ncols (or shape) : the number of rows and of columns; 0 by default
    name : shown by `repr`
    device : ``"cpu"`` or ``"cuda"``; by default the configured one

    Raises
    ------
    DomainMismatch
        If the first argument is not a type.
    InvalidValue
        For a size that is negative or not an integer.
    OutOfMemory

    Notes
    -----
    Missing is not zero: only stored entries exist, and explicit zeros stay.  Stored as compressed sparse rows, or, if
    few of very many rows have entries, as a list of these (see `convert`); the transpose is derived when an operation
    needs it, and cached with the entries.

    Examples
    --------
    >>> A = Matrix(int, 2, 3)
    >>> A[0, 1] = 5
    >>> A.shape, A.nvals, A.to_dicts()
    ((2, 3), 1, {0: {1: 5}})
    """

    __slots__ = ()
    ndim: ClassVar[int] = 2

    def __init__(
        self,
        dtype: Any = float,
        nrows: int | None = None,
        ncols: int | None = None,
        *,
        shape: tuple[int, int] | None = None,
        name: str | None = None,
        device: str | None = None,
    ) -> None:
        chosen, where = constructed("Matrix", dtype, "nrows", "ncols"), device_for(device=device)
        rows, columns = (size or 0 for size in sizes("Matrix", shape, nrows=nrows, ncols=ncols))
        if not prefers_hypersparse(rows, 0):
            require_rows("Matrix", where, rows, 0, 0)
        with allocating("Matrix", where):
            self._hold(empty_matrix(rows, columns, chosen, where), name)

    # -- from and to arrays, edges and dictionaries ------------------------------------------------------

    from_csr = classmethod(matrix_arrays.from_csr)
    from_csc = classmethod(matrix_arrays.from_csc)
    from_dcsr = classmethod(matrix_arrays.from_dcsr)
    from_dcsc = classmethod(matrix_arrays.from_dcsc)
    from_coo = classmethod(matrix_arrays.from_coo)
    from_dense = classmethod(matrix_arrays.from_dense)
    from_scalar = classmethod(matrix_arrays.from_scalar)
    identity = classmethod(matrix_arrays.identity)
    build = matrix_arrays.build
    to_csr = matrix_arrays.to_csr
    to_csc = matrix_arrays.to_csc
    to_dcsr = matrix_arrays.to_dcsr
    to_dcsc = matrix_arrays.to_dcsc
    to_coo = matrix_arrays.to_coo
    to_dense = matrix_arrays.to_dense
    __dlpack__ = matrix_arrays.dlpack
    __dlpack_device__ = matrix_arrays.dlpack_device

    from_edgelist = classmethod(edges.from_edgelist)
    from_dicts = classmethod(edges.from_dicts)
    to_edgelist = edges.to_edgelist
    to_dicts = edges.to_dicts
    to_pandas = entries.to_pandas
    to_polars = entries.to_polars
    to_arrow = entries.to_arrow
    items = entries.items
    iter_rows = entries.iter_rows
    iter_columns = entries.iter_columns
    spy = display.spy
    draw = display.draw

    # -- conversions -------------------------------------------------------------------------------------

    convert = matrix_conversions.convert
    compress = matrix_conversions.compress
    decompress = matrix_conversions.decompress
    compressed_nbytes = matrix_conversions.compressed_nbytes
    diag = matrix_conversions.diag
    setdiag = matrix_conversions.setdiag
    resize = matrix_conversions.resize
    split = concatenation.split
    reposition = concatenation.reposition
    reshape = concatenation.reshape
    flatten = concatenation.flatten
    __reduce__ = matrix_conversions.pickled

    # -- changes in batches ------------------------------------------------------------------------------

    insert = changes.insert
    upsert = changes.upsert
    delete = changes.delete
    batch = changes.batch
    snapshot = changes.snapshot
    compact = changes.compact

    # -- reductions --------------------------------------------------------------------------------------

    reduce_rowwise = reductions.reduce_rowwise
    reduce_columnwise = reductions.reduce_columnwise
    reduce_scalar = reductions.reduce_scalar

    # -- the entries of each row in order ----------------------------------------------------------------

    scan = rowwise.scan
    sort = rowwise.sort
    selectk = rowwise.selectk
    minloc = reductions.minloc
    maxloc = reductions.maxloc

    # -- properties and elements -------------------------------------------------------------------------

    @property
    def codec(self) -> str | None:
        """The codec of compressed rows (see `compress`); None where rows are uncompressed.

        Examples
        --------
        >>> Matrix.identity(3).codec, Matrix.identity(3).compress("varint").codec
        (None, 'varint')
        """
        codec: str | None = self.store.pattern.codec
        return codec

    @property
    def is_symmetric_structure(self) -> bool:
        """True if (j, i) is stored wherever (i, j) is.  O(nvals log degree) the first time; synchronizes.

        Examples
        --------
        >>> A = Matrix.from_edgelist([(0, 1), (1, 0), (1, 2)])
        >>> A.is_symmetric_structure, (A + A.T).is_symmetric_structure
        (False, True)
        """
        return structure.is_symmetric(self.store.pattern)

    @property
    def is_symmetric(self) -> bool:
        """True if A(j, i) = A(i, j).  Cost that of a transpose and a comparison, once for a matrix; synchronizes.

        Examples
        --------
        >>> Matrix.from_coo([0, 1], [1, 0], [5, 6]).is_symmetric
        False
        """
        return equal.symmetric(self.store)

    def get(self, row: int, col: int, default: Any = None) -> Any:
        """A(row, col), or `default` where nothing is stored.

        Parameters
        ----------
        row, col : integers, of which negative ones count from the end; or labels
        default : returned where nothing is stored

        Returns
        -------
        A Python number, or `default`.

        Raises
        ------
        IndexOutOfBound
            For an index past the end.
        InvalidValue, InvalidType
            For a name that no vertex has, and for what is neither an integer nor a name.

        Notes
        -----
        Cost O(log degree).  Synchronizes on the GPU.

        Examples
        --------
        >>> A = Matrix.from_coo([0, 1], [2, 0], [5, 6], shape=(2, 3))
        >>> A.get(0, 2), A.get(-1, 0), A.get(0, 0, default=0)
        (5, 6, 0)
        """
        value = self._element(self._place(*self._split((row, col))))()
        return default if value is None else plain(value)

    def __contains__(self, place: tuple[int, int]) -> bool:
        return self._element(self._place(*self._split(pair(place))))() is not None

    def _place(self, row: Any, col: Any) -> tuple[int, int]:
        nrows, ncols = self.shape
        return position(scalar(row), nrows, "rows"), position(scalar(col), ncols, "columns")

    # -- parts -------------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, key: tuple[Integer, Integer]) -> Scalar: ...
    @overload
    def __getitem__(
        self, key: Integer | tuple[Integer, Several | Vector] | tuple[Several | Vector, Integer]
    ) -> Vector: ...
    @overload
    def __getitem__(self, key: Several | Vector | MaskView | tuple[Several | Vector, Several | Vector]) -> Self: ...
    def __getitem__(self, key: Any) -> Any:
        """A[i, j]: a Scalar.  A[i, J], A[I, j], A[i]: a Vector.  A[I, J], A[I]: a Matrix, A(I[p], J[q]).

        A mask in brackets, A[M.S], keeps the entries that it admits.  The result is a value; left of ``<<`` it is the
        target, so that ``A[I, J] << x`` and ``A[I, J](mask) << x`` write into A.

        Parameters
        ----------
        key : a pair of indices, or one for rows alone: integers, slices, lists or arrays of integers, boolean arrays,
            full Vectors of integers; names where there are labels (``A["ann", ["bob", "eve"]]``); or a mask (``M.S``)

        Raises
        ------
        IndexOutOfBound, InvalidValue, DimensionMismatch, DeviceMismatch

        Notes
        -----
        ``A[i, j] = x``, ``A[i, j](accum) << x`` and ``del A[i, j]`` cost O(1): they are collected and applied when A is
        next used.

        Examples
        --------
        >>> A = Matrix.from_coo([0, 0, 1], [0, 2, 1], [5, 6, 7], shape=(2, 3))
        >>> A[0, 2].value, A[0].to_dict(), A[:, 1].to_dict(), A[[1, 0], 1:].to_dicts()
        (6, {0: 5, 2: 6}, {1: 7}, {0: {0: 7}, 1: {1: 6}})
        >>> A[:, 1] = 0
        >>> A.to_dicts()
        {0: {0: 5, 1: 0, 2: 6}, 1: {1: 0}}
        """
        made: Any
        if isinstance(key, MaskView):
            made = self._new(None, self._masked(key))._labeled_as(self)
            made._origin = (self, key)
            return made
        rows, cols = self._split(key)
        if is_scalar(rows) and is_scalar(cols):
            at = self._place(rows, cols)
            return self._scalar_class._pending(self.dtype, self._element(at), (self, at))
        if is_scalar(rows) or is_scalar(cols):
            made = self._vector_class._new(None, self._line(rows, cols))
        else:
            made = self._new(None, extract_matrix(self.store, *self._region(rows, cols)))
        made._origin = (self, (rows, cols))
        return made if self._labels is None else self._name_part(made, rows, cols)

    def extract(self, rows: Any = slice(None), cols: Any = slice(None), **writing: Unpack[Writing]) -> Any:
        """A(I, J), by name: a Matrix, or a Vector where one of both is an integer.

        Parameters
        ----------
        rows, cols : slice, integers, boolean array, full Vector of integers, or (one of both) an integer
        **writing : mask, accum, replace, out

        Returns
        -------
        Matrix; or Vector where one of both indices is an integer.

        Raises
        ------
        IndexOutOfBound, InvalidValue, DomainMismatch, DeviceMismatch

        Examples
        --------
        >>> A = Matrix.from_coo([0, 0, 1], [0, 2, 1], [5, 6, 7], shape=(2, 3))
        >>> A.extract([1, 0], slice(1, 3)).to_dicts(), A.extract(0, [2, 0]).to_dict()
        ({0: {0: 7}, 1: {1: 6}}, {0: 6, 1: 5})
        """
        rows, cols = self._split((rows, cols))
        if is_scalar(rows) or is_scalar(cols):
            made = self._deliver(self._line(rows, cols), writing, self._vector_class)
        else:
            made = self._deliver(extract_matrix(self.store, *self._region(rows, cols)), writing)
        return made if self._labels is None else self._name_part(made, rows, cols)

    def _line(self, rows: Any, cols: Any) -> Plan[VectorStore]:
        """Return the plan of the part of one row or column that the other index selects."""
        if is_scalar(rows):
            if is_scalar(cols):
                raise InvalidValue("extract: both indices are integers; A[i, j] and A.get(i, j) give one element")
            return extract_line(self.store, position(scalar(rows), self.nrows, "rows"), self._cols(cols))
        at = position(scalar(cols), self.ncols, "columns")
        return extract_line(self.store, at, self._rows(rows), transposed=True)

    def __delitem__(self, key: Any) -> None:
        if isinstance(key, MaskView):
            self._become(self._masked(~key).into())
            return
        rows, cols = self._split(key)
        if is_scalar(rows) and is_scalar(cols):
            self._delete_element(self._place(rows, cols))
            return
        i, j = self._rows(rows), self._cols(cols)
        nothing = Matrix(self.dtype, i.count, j.count, device=self.device)
        self._become(assign_matrix(self.store, i, j, nothing.store))

    def _rows(self, key: Any) -> Index:
        return _positions(key, self.nrows, "rows", self.device)

    def _region(self, rows: Any, cols: Any) -> tuple[Index, Index]:
        """Return both indices; one object for the same positions of a square matrix, whose symmetry is then kept."""
        index = self._rows(rows)
        return index, index if rows is cols and self.nrows == self.ncols else self._cols(cols)

    def _cols(self, key: Any) -> Index:
        return _positions(key, self.ncols, "columns", self.device)

    def _assign_region(self, key: Any, value: Any, write: Write, *, sub: bool) -> None:
        value = as_records(value, self._described.dtype)
        if isinstance(key, MaskView):
            self._assign_masked(key, value, write)
            return
        rows, cols = self._split(slice(None) if key is None else key)
        if write.mask is None and is_scalar(rows) and is_scalar(cols) and is_scalar(value):
            self._write_element(self._place(rows, cols), value, write.accum)
            return
        i, j = self._rows(rows), self._cols(cols)
        line = _LINES.get((is_scalar(rows), is_scalar(cols)))
        if is_scalar(rows) and is_scalar(cols):
            check_element("A[i, j]", value, write, sub)
        mask, assign = write.mask, partial(assign_matrix, sub=sub)
        if mask is not None and not isinstance(mask.store, CSR):
            # C(m.S)[i, J] << v: a mask of the whole row or column; C[i, J](m.S) << v: of the part.
            write = write._replace(mask=Mask(_as_line(mask.store, line, "masks"), mask.structural, mask.complement))
            assign = assign if sub else partial(assign_line, column=is_scalar(cols))
        elif mask is not None and sub and line is not None and check.shape_of(mask.store) != (i.count, j.count):
            raise RankMismatch("the mask of a part of one row or column is a Vector: C[i, J](m) << v")
        if isinstance(value, Matrix):
            if line is not None and value.shape != (i.count, j.count):
                raise RankMismatch("a part of one row or column is assigned from a Vector or a scalar: C[i, :] << v")
            source: Any = value.store
        elif is_empty(value):
            source = Matrix(self.dtype, i.count, j.count, device=self.device).store
        elif is_scalar(value):
            source = scalar(value)
        elif isinstance(value, Vector) or dimensions(value) == 1:
            u = value if isinstance(value, Vector) else Vector.from_dense(value, device=self.device)
            source = _as_line(u.store, line, "is assigned to")
        elif dimensions(value) == 2:
            source = Matrix.from_dense(value, device=self.device).store
        else:
            raise InvalidType(
                f"cannot assign a {type(value).__name__} to a Matrix; expected a Matrix or a scalar (an empty Scalar, "
                f"or del, deletes)"
            )
        self._become(assign(self.store, i, j, source, write=write))

    def __repr__(self) -> str:
        return display.matrix(self)

    def _repr_html_(self) -> str:
        return display.html(self)


MatrixOperations._matrix_class = Vector._matrix_class = Matrix
MaskView._made = Matrix, Vector

# (One row, one column) -> the conversion of a vector to that region.
_LINES = {(True, False): row_matrix, (False, True): column_matrix}


def _as_line(u: VectorStore, line: Any, does: str) -> CSR:
    """Return a vector as a matrix of one row or one column, by `line`."""
    if line is None:
        raise RankMismatch(f"a Vector {does} one row or column: C[i, :] << v or C[:, j] << v")
    return cast(CSR, line(index_list(u)))


def _positions(key: Any, size: int, axis: str, device: str) -> Index:
    if is_scalar(key):
        key = [position(scalar(key), size, axis)]
    return positions(index_value(key), size, axis, device)
