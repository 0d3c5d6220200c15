"""The operations of the algebra on matrices: products, transpose, permutation.

A method has the name of its module in `ops`.  Element-wise operations are shared with Vector (`infix`).
"""

from __future__ import annotations

import operator
from typing import Any, Self, Unpack, cast, overload

from .. import operators
from ..engines.requests.operands import Index
from ..exceptions import DimensionMismatch, InvalidType, InvalidValue, UnknownOperator
from ..formats import CSR, VectorStore
from ..ops.kronecker import kronecker
from ..ops.mxm import mxm
from ..ops.mxv import mxv
from ..ops.permute import permute
from ..ops.transpose import transpose
from ..ops.write import Plan, stored
from ..storage.coerce import extent, on_gpu, permutation
from . import axis_labels
from .axis_labels import LabeledMatrix
from .chain import linked
from .elementwise import Infix
from .operand import Dense
from .vector import Vector, index_value
from .writing import Writing


class MatrixOperations(LabeledMatrix, Infix):
    """A matrix as an operand: its shape, its transpose, and the operations of the algebra on it."""

    __slots__ = ()

    # -- the operand -------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """(nrows, ncols).

        Examples
        --------
        >>> Matrix(int, 2, 3).shape
        (2, 3)
        """
        store = self._store
        return cast("CSR", self._described).shape if store is None else store.shape

    @property
    def nrows(self) -> int:
        """The number of rows.

        Examples
        --------
        >>> Matrix(int, 2, 3).nrows
        2
        """
        return self.shape[0]

    @property
    def ncols(self) -> int:
        """The number of columns.

        Examples
        --------
        >>> Matrix(int, 2, 3).ncols
        3
        """
        return self.shape[1]

    @property
    def T(self) -> Self:
        """The transpose, pending: products read A in place, any other use derives it once and caches it with A.

        It is a value like any result, A(j, i) of the present entries.  It cannot be written to; ``.dup()`` of it can.

        Examples
        --------
        >>> A = Matrix.from_coo([0], [2], [5], shape=(2, 3))
        >>> A.T.to_dicts(), A.T.shape, (A @ A.T).to_dicts()
        ({2: {0: 5}}, (3, 2), {0: {0: 25}})
        """
        back, chain = self._transpose_of, self._chain
        if back is not None:
            made = self._new(None, back) if isinstance(back, Plan) else self._new(back)
        else:
            source = self.store if chain is None or chain.plan is None else cast("Plan[CSR]", self._plan)
            made = self._new(None, transpose(source))
            made._transpose_of = source
        made._chain = None if chain is None else chain.then(transpose)
        made._labels = axis_labels.transposed(self._labels)
        return made

    @property
    def operand(self) -> tuple[CSR, bool]:
        """The store that an operation should read, and whether to transpose it (``A.T`` returns that of A)."""
        if self._transpose_of is not None:
            return stored(self._transpose_of), True
        store = self._store
        return self.store if store is None else store, False

    # -- products ----------------------------------------------------------------------------------------

    def mxm(
        self, other: Self | Dense, op: Any = "plus_times", *, method: str = "auto", **writing: Unpack[Writing]
    ) -> Self:
        """C(i, j) = (+)_k self(i, k) (x) other(k, j).

        Parameters
        ----------
        other : Matrix whose rows are this one's columns, or an array; the ``.T`` of a Matrix is read in place where
            that is cheaper
        op : semiring, by object or name
        method : how to multiply; an engine uses another method where it cannot use this one.  ``"auto"``: by cost.
            ``"rows"``: row by row; on a GPU in shared memory, for long rows of the result.  ``"dot"``: a dot product
            for each entry of a mask that is not complemented; reads the columns of `other`.  On a GPU also
            ``"dense"``: a slot for each position, for small results; ``"hash"``: each row by the method of its size,
            merged by a thread, in a hash table, or as ``"rows"``; and ``"sort"``: all products, sorted by position.
            There, methods other than ``"auto"``, ``"rows"`` of a sparse and a full matrix, and ``"dot"`` of two full
            ones read full matrices as uncompressed rows.
        **writing : mask, accum, replace, out.  A mask that is not complemented bounds the result: only what it
            admits is kept.

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch, UnknownOperator
        InvalidValue
            If `other` is no Matrix, or there is no such method.

        Notes
        -----
        Cost O(products); of dot products O(sum of the column lengths of `other` over the entries of the mask).
        Synchronizes for the size of the result.  `explain` shows the method.

        The result is pending, with a mask too, unless `out` is given.  A reduction or a selection that is its first use
        is computed with it, and then no product is stored: ``L.mxm(L.T, "plus_pair", mask=L.S).reduce_scalar()`` counts
        triangles in the memory of L.  A second use computes and stores the product; uses that are requested before the
        first is executed share one stored product.

        Examples
        --------
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(3, 3))
        >>> A.mxm(A).to_dicts(), A.mxm(A.T, "plus_pair", mask=A.S).to_dicts()
        ({0: {2: 2}}, {0: {1: 1}})
        >>> D = Matrix.identity(3, int, value=0) + A
        >>> D.mxm(D, "min_plus")[0, 2].value
        3
        """
        if not isinstance(other, MatrixOperations):
            other = cast(Self, self._operand("mxm", other, 2))
        (a, transpose_a), (b, transpose_b) = self.operand, other.operand
        plan = mxm(a, b, op, transpose_a=transpose_a, transpose_b=transpose_b, method=method)
        made = self._deliver(plan, writing) if writing else self._new(None, plan)
        unnamed = self._labels is other._labels is None
        return made if unnamed else made._labeled_product(self, other)

    def mxv(self, other: Vector | Dense, op: Any = "plus_times", **writing: Unpack[Writing]) -> Vector:
        """w(i) = (+)_k self(i, k) (x) other(k).

        Parameters
        ----------
        other : Vector of size ncols, or an array, which is a full one
        op : semiring, by object or name
        **writing : mask, accum, replace, out

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch, UnknownOperator

        Notes
        -----
        Cost O(nvals) at most; see `Vector.vxm` for push and pull.

        Examples
        --------
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(3, 3))
        >>> u = Vector.from_coo([1, 2], [10, 100], size=3)
        >>> A.mxv(u).to_dict(), A.mxv(u, "min_plus").to_dict()
        ({0: 910, 1: 200}, {0: 11, 1: 102})
        """
        if not isinstance(other, Vector):
            other = cast(Vector, self._operand("mxv", other, 1))
        (a, transposed), u = self.operand, other._store
        plan = mxv(a, other.store if u is None else u, op, transposed=transposed)
        made = self._deliver(plan, writing, self._vector_class) if writing else self._vector_class._new(None, plan)
        unnamed = self._labels is other._labels is None
        return made if unnamed else made._labeled_product(self, other)  # type: ignore[no-any-return]

    def matvec(self, x: Any) -> Any:
        """y = A x for a dense array, as a dense array with 0 where no product is stored: SciPy's linear operator.

        ``scipy.sparse.linalg.aslinearoperator(A)``, and so ``cg(A, b)``, ``gmres`` and ``svds``, call this and
        `rmatvec`.

        Parameters
        ----------
        x : array of shape (ncols,) or (ncols, 1)

        Returns
        -------
        Array of shape (nrows,), of NumPy, or of CuPy if x is in GPU memory.

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch

        Notes
        -----
        Cost as `mxv`, and O(nrows + ncols) for the arrays.  For a matrix on a GPU and an array of NumPy it copies both
        vectors and synchronizes.

        Examples
        --------
        >>> from scipy.sparse.linalg import cg
        >>> A = Matrix.from_coo([0, 1, 2], [0, 1, 2], [2.0, 4.0, 8.0])
        >>> A.matvec(np.ones(3)).tolist()
        [2.0, 4.0, 8.0]
        >>> solution, info = cg(A, np.ones(3))
        >>> solution.round(6).tolist()
        [0.5, 0.25, 0.125]
        """
        return self._times_array(x)

    def rmatvec(self, x: Any) -> Any:
        """y = A^H x for a dense array, as a dense array with 0 where no product is stored: SciPy's linear operator.

        Parameters
        ----------
        x : array of shape (nrows,) or (nrows, 1)

        Returns
        -------
        Array of shape (ncols,), of NumPy, or of CuPy if x is in GPU memory.

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch

        Notes
        -----
        As `matvec`.  The transpose is read in place; the conjugate of complex values costs O(nvals) a call.

        Examples
        --------
        >>> Matrix.from_coo([0, 1], [1, 1], [1 + 2j, 3]).rmatvec(np.ones(2)).tolist()
        [0j, (4-2j)]
        """
        return (self.apply("conj") if self.dtype.kind == "c" else self).T._times_array(x)

    def _times_array(self, x: Any) -> Any:
        flat = x.reshape(-1) if getattr(x, "ndim", 1) == 2 and x.shape[1] == 1 else x
        return self.mxv(flat).to_dense(fill_value=0, device="cuda" if on_gpu(x) else "cpu")

    def kronecker(self, other: Self | Dense, op: Any = "times", **writing: Unpack[Writing]) -> Self:
        """C(i r + k, j c + l) = op(self(i, j), other(k, l)), where `other` has r rows and c columns.

        Each entry of this matrix becomes a block with the structure of `other`.

        Parameters
        ----------
        other : Matrix of any shape, or an array
        op : binary operator or monoid, by object or name.  The positions of an operator such as ``firsti`` are those in
            the operands: i and j for the first, k and l for the second.
        **writing : mask, accum, replace, out

        Returns
        -------
        Matrix of shape (nrows r, ncols c), of the operator's type, uncompressed and in the memory of the device.  It is
        iso-valued if the operator reads no positions, and only operands that are iso-valued.

        Raises
        ------
        InvalidValue
            If `other` is no Matrix, or a dimension of the result is larger than 2**60.
        DimensionMismatch
            If the mask or `out` has another shape than the result.
        DomainMismatch, DeviceMismatch, UnknownOperator
        OutOfMemory
            If the result does not fit, or an operand in another storage kind does not fit uncompressed.

        Notes
        -----
        Cost O(nrows r + nvals s) for s entries of `other`, and as much memory: a mask selects from the whole product.
        Values that the operator does not read are not accessed.  Synchronizes only for an operand that is transposed or
        copied from another storage kind.

        Examples
        --------
        >>> A = Matrix.from_coo([0, 1], [1, 0], [1, 2])
        >>> A.kronecker(A).to_dicts()
        {0: {3: 1}, 1: {2: 2}, 2: {1: 2}, 3: {0: 4}}
        """
        if not isinstance(other, MatrixOperations):
            other = cast(Self, self._operand("kronecker", other, 2))
        for name, size in (("nrows", self.nrows * other.nrows), ("ncols", self.ncols * other.ncols)):
            extent(f"kronecker: {name} of the result", size)
        (a, transpose_a), (b, transpose_b) = self.operand, other.operand
        plan = kronecker(a, b, op, transpose_a=transpose_a, transpose_b=transpose_b)
        return self._deliver(plan, writing)  # type: ignore[no-any-return]

    @overload
    def __matmul__(self, other: Vector) -> Vector: ...
    @overload
    def __matmul__(self, other: MatrixOperations) -> Self: ...
    @overload
    def __matmul__(self, other: Dense) -> Any: ...
    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Vector):
            return linked(self._vector_class, "product", self, other, _mxv, "plus_times")
        return (
            linked(type(self), "product", self, other, _mxm, "plus_times")
            if isinstance(other, MatrixOperations)
            else self._beside(other, operator.matmul)
        )

    def power(self, n: int, op: Any = "plus_times") -> Self:
        """A (x) A (x) ... n times over a semiring, by repeated squaring.

        Parameters
        ----------
        n : at least 0.  A^0 is the identity of the product: on the diagonal the identity of the multiplication
        op : semiring, by object or name

        Raises
        ------
        DimensionMismatch, DomainMismatch, UnknownOperator
        InvalidValue
            If n is not such an integer, or n is 0 and the multiplication has no identity (``any_secondi``).

        Notes
        -----
        Cost: at most 2 log2(n) products.

        Examples
        --------
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(3, 3))
        >>> A.power(2).to_dicts(), A.power(0).to_dicts()
        ({0: {2: 2}}, {0: {0: 1}, 1: {1: 1}, 2: {2: 1}})
        """
        if isinstance(n, bool) or not hasattr(n, "__index__"):
            raise InvalidType(f"power: n must be an integer from 0, got {n!r}")
        if n.__index__() < 0:
            raise InvalidValue(f"power: n must be an integer from 0, got {n!r}")
        n = n.__index__()
        if self.nrows != self.ncols:
            raise DimensionMismatch(f"power: the matrix must be square, got shape {self.shape}")
        if n == 0:
            return self._zeroth_power(op)
        power: Self | None = None
        square = self.dup()
        while True:
            if n & 1:
                power = square if power is None else power.mxm(square, op)
            n >>= 1
            if not n:
                return cast(Self, power)
            square = square.mxm(square, op)

    def _zeroth_power(self, op: Any) -> Self:
        ring = operators.lookup_semiring(op)
        z = ring.typed(self.dtype, self.dtype).z
        try:
            identity = operators.lookup_monoid(ring.mult).typed(z).identity
        except UnknownOperator:
            identity = None
        if identity is None:
            raise InvalidValue(f"power: {op!r} has no power 0, because its multiplication has no identity")
        return cast(Self, self._vector_class.full(identity, self.nrows, z, device=self.device).diag())

    # -- other orders of rows and columns ----------------------------------------------------------------

    def transpose(self, **writing: Unpack[Writing]) -> Self:
        """C(j, i) = self(i, j), as a new Matrix.

        Parameters
        ----------
        **writing : mask, accum, replace, out

        Raises
        ------
        DimensionMismatch, InvalidMask, DeviceMismatch

        Notes
        -----
        Cost O(nvals) once; the transpose is cached with the entries.

        Examples
        --------
        >>> Matrix.from_coo([0], [2], [5], shape=(2, 3)).transpose().to_dicts()
        {2: {0: 5}}
        """
        made = self._deliver(transpose(self.store), writing)
        if self._labels is not None:
            made._labels = axis_labels.transposed(self._labels)
        return made  # type: ignore[no-any-return]

    def permute(self, p: Any, q: Any = None) -> Self:
        """B(i, j) = self(p(i), q(j)): row i of the result is row p(i) of this matrix.

        So p lists the old numbers in their new order, as `semiring.algorithms.ordering` returns it; for a graph, vertex
        p(k) becomes vertex k.  The other direction is its inverse, `ordering.inverse(p)`.

        Parameters
        ----------
        p : permutation of range(nrows), as a full Vector, an array or a list of integers
        q : permutation of range(ncols); by default p, for a square matrix

        Returns
        -------
        Matrix, in the memory of the device; compressed by the same codec if this one is compressed, else uncompressed.

        Raises
        ------
        DimensionMismatch
            If the matrix is not square and q is missing.
        InvalidValue
            If p or q is not a permutation: names the first position that is out of range, or a number that occurs twice
            and one that is missing.
        DeviceMismatch
        OutOfMemory
            If the uncompressed result does not fit in the memory of the device.
        NotSupported
            On more columns than keys of 64 bits can sort.

        Notes
        -----
        Cost O(nvals log degree), one pass over the entries.  The cached transpose is not passed on; the fact
        that the structure is symmetric is, if q is p.  On the GPU the checks synchronize.

        Examples
        --------
        >>> A = Matrix.from_coo([0, 1], [1, 2], [5, 6], shape=(3, 3))
        >>> A.permute([2, 1, 0]).to_dicts(), A.permute([1, 0, 2], [0, 1, 2]).to_dicts()
        ({1: {0: 6}, 2: {1: 5}}, {0: {2: 6}, 1: {1: 5}})
        """
        nrows, ncols = self.shape
        if q is None and nrows != ncols:
            raise DimensionMismatch(f"permute: a matrix of shape {(nrows, ncols)} needs q too, an order of its columns")
        rows = cols = permutation("p", index_value(p), nrows, self.device)
        if q is not None and (q is not p or nrows != ncols):
            cols = permutation("q", index_value(q), ncols, self.device)
        made = self._new(None, permute(self.store, rows, cols))
        if self._labels is not None:
            made._labels = self._labels_at(Index(nrows, nrows, array=rows), Index(ncols, ncols, array=cols))
        return made


def _mxm(a: Any, b: Any, op: Any) -> Plan[CSR]:
    return mxm(a[0], b[0], op, transpose_a=a[1], transpose_b=b[1])


def _mxv(a: Any, u: Any, op: Any) -> Plan[VectorStore]:
    return mxv(a[0], u[0], op, transposed=a[1])
