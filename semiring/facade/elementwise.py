"""The operations that Matrix and Vector share, by name, and operators that are called on their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, Unpack, overload

from .. import operators
from ..exceptions import InvalidType, InvalidValue
from ..operators.families import IndexUnary, Select, Semiring, Unary
from ..operators.types import TypedIndexUnary, TypedSemiring, TypedUnary
from ..ops.apply import apply
from ..ops.ewise import ewise_add, ewise_mult, ewise_union
from ..ops.select import select
from . import aggregate
from .base import Sparse
from .chain import with_defaults
from .operand import expected, scalar
from .writing import MaskView, Writing, as_mask

if TYPE_CHECKING:
    from .matrix import Matrix
    from .operand import Dense


class Elementwise(Sparse[Any]):
    """The operations that Matrix and Vector share, element by element, by name."""

    __slots__ = ()

    @overload
    def ewise_add(self, other: Matrix, op: Any = "plus", **writing: Unpack[Writing]) -> Matrix: ...
    @overload
    def ewise_add(self, other: Elementwise | Dense, op: Any = "plus", **writing: Unpack[Writing]) -> Self: ...
    def ewise_add(self, other: Any, op: Any = "plus", **writing: Unpack[Writing]) -> Any:
        """C = self (+) other on the union: `op` where both are present, the present one elsewhere.

        Parameters
        ----------
        other : of the same shape; or a Vector beside a Matrix.  On the right of a Matrix the Vector, of size ncols, is
            every row of a matrix; on its left, of size nrows, every column.  An array is a full Vector or Matrix
        op : binary operator or monoid, by object or name
        **writing : mask, accum, replace, out

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch, UnknownOperator

        Notes
        -----
        Cost O(entries of both).  A Vector is expanded to a Matrix, of nrows or ncols times its entries; `ewise_mult`
        with a full Vector, which scales columns or rows, is one pass over the entries of the Matrix.

        Examples
        --------
        >>> u, v = Vector.from_coo([0, 1], [1, 2], size=3), Vector.from_coo([1, 2], [10, 20], size=3)
        >>> u.ewise_add(v).to_dict(), u.ewise_add(v, "max").to_dict()
        ({0: 1, 1: 12, 2: 20}, {0: 1, 1: 10, 2: 20})
        """
        return self._ewise(ewise_add, other, op, writing)

    @overload
    def ewise_mult(self, other: Matrix, op: Any = "times", **writing: Unpack[Writing]) -> Matrix: ...
    @overload
    def ewise_mult(self, other: Elementwise | Dense, op: Any = "times", **writing: Unpack[Writing]) -> Self: ...
    def ewise_mult(self, other: Any, op: Any = "times", **writing: Unpack[Writing]) -> Any:
        """C = self (x) other on the intersection: `op` where both are present.

        Parameters
        ----------
        other : of the same shape; or a Vector beside a Matrix, as in `ewise_add`
        op : binary operator or monoid, by object or name
        **writing : mask, accum, replace, out

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch, UnknownOperator

        Notes
        -----
        Cost O(entries of both); with a full Vector, which scales columns or rows, one pass over the entries of the
        Matrix.

        Examples
        --------
        >>> u, v = Vector.from_coo([0, 1], [1, 2], size=3), Vector.from_coo([1, 2], [10, 20], size=3)
        >>> u.ewise_mult(v).to_dict(), u.ewise_mult(v, "minus").to_dict()
        ({1: 20}, {1: -8})
        >>> A = Matrix.from_coo([0, 1], [1, 0], [5, 6])
        >>> A.ewise_mult(Vector.from_dense([2, 3])).to_dicts()
        {0: {1: 15}, 1: {0: 12}}
        """
        return self._ewise(ewise_mult, other, op, writing)

    @overload
    def ewise_union(
        self, other: Matrix, op: Any, left_default: Any, right_default: Any, **writing: Unpack[Writing]
    ) -> Matrix: ...
    @overload
    def ewise_union(
        self, other: Elementwise | Dense, op: Any, left_default: Any, right_default: Any, **writing: Unpack[Writing]
    ) -> Self: ...
    def ewise_union(
        self, other: Any, op: Any, left_default: Any, right_default: Any, **writing: Unpack[Writing]
    ) -> Any:
        """C = op(self, other) on the union, with a default for the missing operand.

        Parameters
        ----------
        other : of the same shape; or a Vector beside a Matrix, as in `ewise_add`
        op : binary operator or monoid, by object or name
        left_default, right_default : scalars that replace the missing entries of self and of `other`
        **writing : mask, accum, replace, out

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch, UnknownOperator
        EmptyObject
            If a default is a Scalar without a value.

        Notes
        -----
        Cost O(entries of both).

        Examples
        --------
        >>> u, v = Vector.from_coo([0, 1], [1, 2], size=3), Vector.from_coo([1, 2], [10, 20], size=3)
        >>> u.ewise_union(v, "minus", 0, 0).to_dict()
        {0: 1, 1: -8, 2: -20}
        """
        other = self._partner(other)
        plan = ewise_union(self.store, other.store, op, scalar(left_default), scalar(right_default))
        return self._deliver(plan, writing, self._kind_with(other))._labeled(self, other)

    def _ewise(self, operation: Any, other: Any, op: Any, writing: Writing) -> Self:
        other = self._partner(other)
        plan = operation(self.store, other.store, op)
        return self._deliver(plan, writing, self._kind_with(other))._labeled(self, other)  # type: ignore[no-any-return]

    def _partner(self, other: Any) -> Any:
        """Return the other operand, a Matrix or a Vector; an array becomes one; InvalidType for anything else."""
        if isinstance(other, Elementwise):
            return other
        made = self._converted(other)
        if made is None:
            raise expected("", type(self).__name__, other)
        check_rows(self, made)
        return made

    def _kind_with(self, other: Any) -> Any:
        """Return the class of the result of two operands: Matrix, unless both are Vectors."""
        return type(self) if self.ndim >= other.ndim else type(other)

    def apply(self, op: Any, right: Any = None, *, left: Any = None, **writing: Unpack[Writing]) -> Self:
        """C(i, j) = op(self(i, j)), op(self(i, j), right), op(left, self(i, j)), or op(self(i, j), i, j, right).

        Parameters
        ----------
        op : unary operator; binary operator with one side bound; or index-unary operator
        right, left : the bound scalar; `right` is also the thunk of an index-unary operator
        **writing : mask, accum, replace, out

        Raises
        ------
        DomainMismatch, UnknownOperator, UdfParseError, InvalidValue, EmptyObject

        Notes
        -----
        Cost O(nvals).  The structure is shared with the operand.

        Examples
        --------
        >>> v = Vector.from_coo([0, 2], [1, 4], size=3)
        >>> v.apply("sqrt").to_dict(), v.apply("minus", left=10).to_dict(), v.apply(lambda x: 2 * x + 1).to_dict()
        ({0: 1.0, 2: 2.0}, {0: 9, 2: 6}, {0: 3, 2: 9})
        >>> v.apply("rowindex", 100).to_dict()
        {0: 100, 2: 102}
        """
        plan = apply(self.store, op, left=scalar(left), right=scalar(right))
        return self._deliver(plan, writing)._labeled(self)  # type: ignore[no-any-return]

    def select(self, op: Any, thunk: Any = None, **writing: Unpack[Writing]) -> Self:
        """Return the entries for which op(self(i, j), i, j, thunk) holds.

        Parameters
        ----------
        op : select or index-unary operator, by object or name (``"tril"``, ``">"``, ``"rowle"``), or a lambda; or a
            mask, whose positions are kept: ``M.S``, ``~M.V``, or a boolean object
        thunk : the scalar that it compares with; 0 by default; a mask has none
        **writing : mask, accum, replace, out

        Raises
        ------
        DomainMismatch, UnknownOperator, UdfParseError, EmptyObject, InvalidMask, DimensionMismatch

        Notes
        -----
        Cost O(nvals).  A selection from a pending product of matrices (`Matrix.mxm`) is fused into it.

        Examples
        --------
        >>> A = Matrix.from_coo([0, 0, 1], [0, 1, 1], [5, -6, 7])
        >>> A.select(">", 0).to_dicts(), A.select("triu", 1).to_dicts(), A.select(lambda x, i, j: x + i > 7).to_dicts()
        ({0: {0: 5}, 1: {1: 7}}, {0: {1: -6}}, {1: {1: 7}})
        """
        if isinstance(op, (MaskView, Sparse)):
            if thunk is not None:
                raise InvalidType("select: a mask has no thunk")
            plan = self._masked(MaskView(as_mask(op)))
            return self._deliver(plan, writing)._labeled_as(self)  # type: ignore[no-any-return]
        plan = select(self._source, op, scalar(thunk))
        return self._deliver(plan, writing)._labeled_as(self)  # type: ignore[no-any-return]

    def _with_operator(self, operator: Any, *rest: Any, **options: Any) -> Any:
        """Return the result of an operator called on this: ``min_plus(A @ B @ C)``, ``minus(A | B)``, ``tril(A, -1)``.

        options: ``left``, the left operand of ``minus(2, A)``; else as `Family.__call__`.

        An operator on a chain (`semiring.facade.chain`) applies to every link of it, and is then final.
        """
        chain = self._chain
        wanted = _KINDS.get(type(operator), "ewise")
        if chain is not None and chain.kind == wanted and not rest and "left" not in options:
            return self._new(None, chain.rebound(with_defaults(operator, options)))._labeled_as(self)
        if wanted == "apply" or (wanted == "ewise" and len(rest) + ("left" in options) == 1):
            if "thunk" in options:
                options["right"] = options.pop("thunk")
            return self.apply(operator, *rest, **options)
        if wanted == "select":
            return self.select(operator, *rest, **options)
        if wanted == "reduce":
            return self._aggregated(operator, *rest, **options)
        raise InvalidType(
            f"{operator!r}(...): expected a result whose operator is not named yet: a chain of A @ B for a semiring, "
            f"of A | B and A & B for a binary operator, A > 3 for select.value; the operators of + - * and of methods "
            f"such as A.mxm(B) are settled"
        )

    def _aggregated(self, aggregator: Any, *, rowwise: bool, columnwise: bool) -> Any:
        """Return the result of an aggregator called on this: of all entries, or of each row or column."""
        if rowwise and columnwise:
            raise InvalidValue(f"{aggregator!r}(...): give rowwise= or columnwise=, not both")
        if rowwise or columnwise:
            if self.ndim == 1:
                raise InvalidValue(f"{aggregator!r}(...): a Vector has neither rows nor columns")
            return self.reduce_rowwise(aggregator) if rowwise else self.reduce_columnwise(aggregator)  # type: ignore[attr-defined]
        return aggregate.reduced(self, aggregator)


def check_rows(left: Any, right: Any) -> None:
    """Raise InvalidType for one dimension on the left of two, where one operand is an array.

    NumPy repeats its entries as rows on either side; a Vector on the left of a Matrix is a column.
    """
    if left.ndim < right.ndim:
        raise InvalidType(
            "one dimension on the left of two is ambiguous beside an array: NumPy repeats it as rows, this library as "
            "columns; write A + x for rows, and Vector.from_dense(x) + A or v + Matrix.from_dense(X) for columns"
        )


# The kind of operation that an operator called on an object performs; binary operators and monoids are not listed.
_KINDS: dict[type[Any], str] = {
    Semiring: "product",
    TypedSemiring: "product",
    operators.select.By: "compare",
    Select: "select",
    Unary: "apply",
    TypedUnary: "apply",
    IndexUnary: "apply",
    TypedIndexUnary: "apply",
    operators.agg.Aggregator: "reduce",
    operators.agg.TypedAggregator: "reduce",
}
