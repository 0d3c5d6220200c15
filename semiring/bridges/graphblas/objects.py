"""`Matrix`, `Vector` and `Scalar` with python-graphblas's spelling.

They are the classes of :mod:`semiring`, and results of their operations are of these classes too.  What differs:

- types are those of `semiring.compat.graphblas.dtypes`; exported indices are uint64;
- an object is iterated over by its indices; ``~A`` negates booleans; ``A.T.T is A`` until A changes;
- entries without values are 1.0, and one value for all entries makes repeated positions one entry;
- a Python number has the type INT64, FP64, FC64 or BOOL, whatever the type of the other operand;
- an accumulator computes in the type of the target; NaN equals nothing; masks see later writes to their object;
- arithmetic of a Scalar and its comparisons by order are Scalars; an empty one counts as 0 in ``+`` and ``-``;
- `Matrix.setdiag` raises for a diagonal outside the matrix, and `Matrix.from_dicts` raises `InvalidObject`.

``isinstance`` holds for the objects of :mod:`semiring` too, which its algorithms return.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import semiring
from semiring.bridges.graphblas.exceptions import InvalidObject
from semiring.bridges.graphblas.scalars import Scalar
from semiring.bridges.graphblas.spelling import Either, Sparse
from semiring.exceptions import IndexOutOfBound, InvalidValue

__all__ = ["Matrix", "Scalar", "Vector", "adopted"]


def _shared(value: Any, dup_op: Any) -> Any:
    """Return the operator that makes entries of one position and one value one entry."""
    if not isinstance(value, (int, float, complex, semiring.Scalar)):
        return dup_op
    if dup_op is not None:
        raise InvalidValue("dup_op must be None where all entries have one value: repeated positions are one entry")
    return "any"


class Vector(Sparse, semiring.Vector, metaclass=Either):  # type: ignore[misc]
    """`semiring.Vector` with python-graphblas's spelling.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> isinstance(gb.Vector(float, 3), sr.Vector)
    True
    """

    __slots__ = ()

    @classmethod
    def from_coo(cls, indices: Any, values: Any = 1.0, dtype: Any = None, **options: Any) -> Any:
        """As `semiring.Vector.from_coo`, by the rules of this module.

        Parameters
        ----------
        indices, values, dtype, **options : as `semiring.Vector.from_coo`; values are 1.0 by default, and with one
            value for all entries repeated indices are one entry

        Raises
        ------
        InvalidValue
            For a `dup_op` beside one value for all entries.

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> gb.Vector.from_coo([0, 2, 2]).to_dict()
        {0: 1.0, 2: 1.0}
        """
        options["dup_op"] = _shared(values, options.get("dup_op"))
        if isinstance(indices, list) and any(isinstance(index, float) for index in indices):
            indices = [int(index) for index in indices]
        return super().from_coo(indices, values, dtype, **options)

    def to_coo(self, dtype: Any = None, **options: Any) -> Any:
        """As `semiring.Vector.to_coo`, with indices of type uint64.

        Parameters
        ----------
        dtype, **options : as `semiring.Vector.to_coo`

        Raises
        ------
        InvalidValue, DomainMismatch, OutOfMemory

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> indices, values = gb.Vector.from_coo([0, 2]).to_coo()
        >>> str(indices.dtype), indices.tolist()
        ('uint64', [0, 2])
        """
        return super().to_coo(dtype, **{"index_dtype": np.uint64} | options)

    def __iter__(self) -> Iterator[int]:  # type: ignore[override]
        """Iterate over the indices of the entries."""
        return iter(super().to_coo(values=False)[0].tolist())


class Matrix(Sparse, semiring.Matrix, metaclass=Either):  # type: ignore[misc]
    """`semiring.Matrix` with python-graphblas's spelling.

    Examples
    --------
    >>> import semiring.compat.graphblas as gb
    >>> isinstance(gb.Matrix(float, 3, 3), sr.Matrix)
    True
    """

    __slots__ = ("_parent",)
    # The object whose transpose this one is, if it is one.
    _parent: Matrix

    @classmethod
    def from_coo(cls, rows: Any, columns: Any, values: Any = 1.0, dtype: Any = None, **options: Any) -> Any:
        """As `semiring.Matrix.from_coo`, by the rules of this module.

        Parameters
        ----------
        rows, columns, values, dtype, **options : as `semiring.Matrix.from_coo`; values are 1.0 by default, and with
            one value for all entries repeated positions are one entry

        Raises
        ------
        InvalidValue
            For a `dup_op` beside one value for all entries.

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> gb.Matrix.from_coo([0, 1, 1], [1, 0, 0]).to_dicts()
        {0: {1: 1.0}, 1: {0: 1.0}}
        """
        options["dup_op"] = _shared(values, options.get("dup_op"))
        return super().from_coo(rows, columns, values, dtype, **options)

    @classmethod
    def from_edgelist(cls, edges: Any, values: Any = None, dtype: Any = None, **options: Any) -> Any:
        """As `semiring.Matrix.from_edgelist`; edges without values are 1.0, and the shape need not be square.

        Parameters
        ----------
        edges, values, dtype, **options : as `semiring.Matrix.from_edgelist`

        Raises
        ------
        InvalidValue, DuplicateIndex

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> A = gb.Matrix.from_edgelist([(0, 1, 2.5), (0, 2, 3.5)])
        >>> A.shape, A.to_dicts()
        ((1, 3), {0: {1: 2.5, 2: 3.5}})
        """
        made = super().from_edgelist(edges, values, dtype, **options)
        if dtype is None and values is None and made.is_iso and made.dtype == "BOOL":
            made = made.dup(float)
        if options.keys().isdisjoint({"nrows", "ncols", "shape"}) and made.nvals:
            made.resize(*(int(indices.max()) + 1 for indices in made.to_coo(values=False)[:2]))
        return made

    @classmethod
    def from_dicts(cls, nested: Any, *arguments: Any, **options: Any) -> Any:
        """As `semiring.Matrix.from_dicts`; InvalidObject for an index past the end.

        Parameters
        ----------
        nested, *arguments, **options : as `semiring.Matrix.from_dicts`

        Raises
        ------
        InvalidObject, InvalidValue, DomainMismatch, OutOfMemory

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> gb.Matrix.from_dicts({0: {1: 5}}).nvals
        1
        """
        try:
            return super().from_dicts(nested, *arguments, **options)
        except IndexOutOfBound as error:
            raise InvalidObject(str(error)) from None

    def to_coo(self, dtype: Any = None, **options: Any) -> Any:
        """As `semiring.Matrix.to_coo`, with indices of type uint64; of ``A.T`` in the order of the entries of A.

        Parameters
        ----------
        dtype, **options : as `semiring.Matrix.to_coo`

        Raises
        ------
        InvalidValue, DomainMismatch, OutOfMemory

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> rows, columns, values = gb.Matrix.from_coo([0, 1], [2, 0]).to_coo()
        >>> str(rows.dtype), columns.tolist()
        ('uint64', [2, 0])
        """
        parent = getattr(self, "_parent", None)
        if parent is None:
            return super().to_coo(dtype, **{"index_dtype": np.uint64} | options)
        exchanged = options | {"rows": options.get("columns", True), "columns": options.get("rows", True)}
        columns, rows, values = self.T.to_coo(dtype, **exchanged)
        return rows, columns, values

    @property
    def T(self) -> Any:
        """The transpose of the present entries; ``A.T.T is A`` unless A has changed."""
        parent = getattr(self, "_parent", None)
        if parent is not None and self._transpose_of is (parent.store if parent._plan is None else parent._plan):
            return parent
        made = super().T
        made._parent = self
        return made

    def setdiag(self, values: Any, k: int = 0, **options: Any) -> None:
        """As `semiring.Matrix.setdiag`; IndexOutOfBound for a diagonal outside the matrix.

        Parameters
        ----------
        values, k, **options : as `semiring.Matrix.setdiag`

        Raises
        ------
        IndexOutOfBound
            For a diagonal outside the matrix.
        DimensionMismatch, InvalidValue, InvalidMask

        Examples
        --------
        >>> import semiring.compat.graphblas as gb
        >>> A = gb.Matrix(int, 2, 2)
        >>> A.setdiag(5)
        >>> A.to_dicts()
        {0: {0: 5}, 1: {1: 5}}
        """
        if hasattr(k, "__index__") and not -max(self.nrows, 1) < k < max(self.ncols, 1):
            raise IndexOutOfBound(f"setdiag: the diagonal is out of range: k = {k} in shape {self.shape}")
        super().setdiag(values, k, **options)

    def __iter__(self) -> Iterator[tuple[int, int]]:  # type: ignore[override]
        """Iterate over the positions (row, column) of the entries."""
        rows, columns, _ = super().to_coo(values=False)
        return zip(rows.tolist(), columns.tolist(), strict=True)


for _class in (Matrix, Vector):
    _class._matrix_class, _class._vector_class, _class._scalar_class = Matrix, Vector, Scalar
    _class._infers_arrays = True


def adopted(made: semiring.Matrix, name: str | None = None) -> Matrix:
    """Return a Matrix of this package with the entries of one of `semiring`."""
    return Matrix._new(made.store, name=made.name if name is None else name)
