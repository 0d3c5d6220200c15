"""The operations that Matrix and Vector share: by name, called on their results, and as Python's operators."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Self, Unpack, cast, overload

from .. import dtypes, operators
from ..exceptions import InvalidType, InvalidValue
from ..operators.families import IndexUnary, Select, Semiring, Unary
from ..operators.types import TypedIndexUnary, TypedSemiring, TypedUnary
from ..ops.apply import apply
from ..ops.ewise import ewise_add, ewise_mult, ewise_union
from ..ops.select import select
from ..ops.write import PLAIN
from . import aggregate
from .base import Sparse
from .chain import Chain, WithDefaults, linked, with_defaults
from .operand import BITS, Dense, Number, check_booleans, expected, is_scalar, no_operand, scalar
from .writing import MaskView, Writing, as_mask

if TYPE_CHECKING:
    from .matrix import Matrix


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


# Binary operators of arithmetic -> Python's.
_INFIX = {
    "plus": operator.add,
    "minus": operator.sub,
    "times": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
}


class Infix(Elementwise):
    """The operations that Matrix and Vector share, element by element, as Python's operators.

    On the union of two objects: ``+`` is ewise_add plus, ``-`` is ewise_union minus with 0 for what is missing;
    on the intersection: ``*``, ``/``, ``//``, ``%``, ``**`` and comparisons are ewise_mult.  With a scalar: apply.
    ``|`` and ``&`` are ewise_add and ewise_mult whose operator may follow, for every link of a chain:
    ``binary.min(A | B & C)``; alone they mean plus and times (lor and land for booleans).  In place, ``A += B`` is
    ``A << A + B``: type and shape of A stay.
    """

    __slots__ = ()

    def _arithmetic(self, other: Any, op: str, *, union: bool = False) -> Any:
        if isinstance(other, Infix):
            return self._ewise(ewise_add if union else ewise_mult, other, op, {})
        return self.apply(op, right=scalar(other)) if is_scalar(other) else self._beside(other, _INFIX[op])

    def _reflected(self, other: Any, op: str) -> Self:
        if is_scalar(other):
            return self.apply(op, left=scalar(other))
        return cast(Self, self._beside(other, _INFIX[op], reflected=True))

    def _beside(self, other: Any, operation: Any, *, reflected: bool = False) -> Any:
        """Return operation(self, other) for an array or a sparse matrix of another library, as an object.

        reflected: operation(other, self).  NotImplemented for anything else; InvalidType for what is ambiguous.
        """
        made = self._converted(other)
        if made is None:
            no_operand(other)
            return NotImplemented
        operands = (made, self) if reflected else (self, made)
        if operation is not operator.matmul:
            check_rows(*operands)
        if operation in BITS:
            check_booleans(operation, *operands)
        return operation(*operands)

    def __rmatmul__(self, other: Any) -> Any:
        return self._beside(other, operator.matmul, reflected=True)

    def __ror__(self, other: Any) -> Any:
        return self._beside(other, operator.or_, reflected=True)

    def __rand__(self, other: Any) -> Any:
        return self._beside(other, operator.and_, reflected=True)

    @overload
    def __add__(self, other: Matrix) -> Matrix: ...
    @overload
    def __add__(self, other: Infix | Number | Dense) -> Self: ...
    def __add__(self, other: Any) -> Any:
        return self._arithmetic(other, "plus", union=True)

    def __radd__(self, other: Number | Dense) -> Self:
        return self._reflected(other, "plus")

    @overload
    def __sub__(self, other: Matrix) -> Matrix: ...
    @overload
    def __sub__(self, other: Infix | Number | Dense) -> Self: ...
    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Infix):
            zero = dtypes.unify(self.dtype, other.dtype).type(0)  # booleans stay booleans
            return self.ewise_union(other, "minus", zero, zero)
        return self._arithmetic(other, "minus")

    def __rsub__(self, other: Number | Dense) -> Self:
        return self._reflected(other, "minus")

    @overload
    def __mul__(self, other: Matrix) -> Matrix: ...
    @overload
    def __mul__(self, other: Infix | Number | Dense) -> Self: ...
    def __mul__(self, other: Any) -> Any:
        return self._arithmetic(other, "times")

    def __rmul__(self, other: Number | Dense) -> Self:
        return self._reflected(other, "times")

    @overload
    def __truediv__(self, other: Matrix) -> Matrix: ...
    @overload
    def __truediv__(self, other: Infix | Number | Dense) -> Self: ...
    def __truediv__(self, other: Any) -> Any:
        return self._arithmetic(other, "truediv")

    def __rtruediv__(self, other: Number | Dense) -> Self:
        return self._reflected(other, "truediv")

    @overload
    def __floordiv__(self, other: Matrix) -> Matrix: ...
    @overload
    def __floordiv__(self, other: Infix | Number | Dense) -> Self: ...
    def __floordiv__(self, other: Any) -> Any:
        return self._arithmetic(other, "floordiv")

    def __rfloordiv__(self, other: Number | Dense) -> Self:
        return self._reflected(other, "floordiv")

    @overload
    def __mod__(self, other: Matrix) -> Matrix: ...
    @overload
    def __mod__(self, other: Infix | Number | Dense) -> Self: ...
    def __mod__(self, other: Any) -> Any:
        return self._arithmetic(other, "mod")

    def __rmod__(self, other: Number | Dense) -> Self:
        return self._reflected(other, "mod")

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    @overload
    def __pow__(self, other: Matrix) -> Matrix: ...
    @overload
    def __pow__(self, other: Infix | Number | Dense) -> Self: ...
    def __pow__(self, other: Any) -> Any:
        return self._arithmetic(other, "pow")

    def __rpow__(self, other: Number | Dense) -> Self:
        return self._reflected(other, "pow")

    def __neg__(self) -> Self:
        return self.apply("ainv")

    def __abs__(self) -> Self:
        return self.apply("abs")

    def _compare(self, other: Any, op: str) -> Any:
        if not is_scalar(other):
            return self.ewise_mult(other, op) if isinstance(other, Infix) else self._foreign(other, op)
        store, bound = self.store, scalar(other)
        result = self._new(None, apply(store, op, right=bound))
        result._labeled(self)
        result._chain = Chain("compare", lambda by: select(store, by.operator(op), bound))
        return result

    def _foreign(self, other: Any, op: str) -> Any:
        """Return the comparison by `other`; TypeError if it has none, where Python's == would compare identities.

        None is not a value, and is equal to no object.
        """
        found = self._beside(other, getattr(operator, op))
        if found is not NotImplemented:
            return found
        if other is None or op not in ("eq", "ne"):
            return NotImplemented
        found = getattr(type(other), f"__{op}__")(other, self)
        if found is NotImplemented:
            raise TypeError(
                f"a {type(self).__name__} compares with numbers and objects of its kind, got {other!r}; "
                f"for identity use 'is'"
            )
        return found

    @overload  # type: ignore[override]  # element by element, where object's is a bool
    def __eq__(self, other: Matrix) -> Matrix: ...
    @overload
    def __eq__(self, other: Infix | Number | Dense) -> Self: ...
    def __eq__(self, other: Any) -> Any:
        return self._compare(other, "eq")

    @overload  # type: ignore[override]  # element by element, where object's is a bool
    def __ne__(self, other: Matrix) -> Matrix: ...
    @overload
    def __ne__(self, other: Infix | Number | Dense) -> Self: ...
    def __ne__(self, other: Any) -> Any:
        return self._compare(other, "ne")

    @overload
    def __lt__(self, other: Matrix) -> Matrix: ...
    @overload
    def __lt__(self, other: Infix | Number | Dense) -> Self: ...
    def __lt__(self, other: Any) -> Any:
        return self._compare(other, "lt")

    @overload
    def __le__(self, other: Matrix) -> Matrix: ...
    @overload
    def __le__(self, other: Infix | Number | Dense) -> Self: ...
    def __le__(self, other: Any) -> Any:
        return self._compare(other, "le")

    @overload
    def __gt__(self, other: Matrix) -> Matrix: ...
    @overload
    def __gt__(self, other: Infix | Number | Dense) -> Self: ...
    def __gt__(self, other: Any) -> Any:
        return self._compare(other, "gt")

    @overload
    def __ge__(self, other: Matrix) -> Matrix: ...
    @overload
    def __ge__(self, other: Infix | Number | Dense) -> Self: ...
    def __ge__(self, other: Any) -> Any:
        return self._compare(other, "ge")

    @overload
    def __or__(self, other: Matrix) -> Matrix: ...
    @overload
    def __or__(self, other: Infix | Dense) -> Self: ...
    def __or__(self, other: Any) -> Any:
        if not isinstance(other, Infix):
            return self._beside(other, operator.or_)
        return self._linked(other, ewise_add, "lor" if self._both_boolean(other) else "plus")

    @overload
    def __and__(self, other: Matrix) -> Matrix: ...
    @overload
    def __and__(self, other: Infix | Dense) -> Self: ...
    def __and__(self, other: Any) -> Any:
        if not isinstance(other, Infix):
            return self._beside(other, operator.and_)
        return self._linked(other, ewise_mult, "land" if self._both_boolean(other) else "times")

    @overload
    def __xor__(self, other: Matrix) -> Matrix: ...
    @overload
    def __xor__(self, other: Infix | Number | Dense) -> Self: ...
    def __xor__(self, other: Any) -> Any:
        if is_scalar(other):
            return self._of_truth(other, "lxor")
        if not isinstance(other, Infix):
            return self._beside(other, operator.xor)
        if not self._both_boolean(other):
            raise InvalidType(f"^ is for booleans, got {self.dtype} and {other.dtype}; binary.bxor(A | B) takes bits")
        return self._ewise(ewise_add, other, "lxor", {})

    def __rxor__(self, other: Number | Dense) -> Self:
        return self ^ other if is_scalar(other) else cast(Self, self._beside(other, operator.xor, reflected=True))

    def _linked(self, other: Infix, operation: Any, op: str) -> Any:
        """Return a link of a chain, whose operator may be called later."""

        def join(a: Any, b: Any, operator: Any) -> Any:
            if not isinstance(operator, WithDefaults):
                return operation(a[0], b[0], operator)
            if operation is not ewise_add:
                raise InvalidType(f"{operator!r}(...): defaults replace missing entries of A | B; A & B has none")
            return ewise_union(a[0], b[0], operator.op, scalar(operator.left), scalar(operator.right))

        return linked(self._kind_with(other), "ewise", self, other, join, op)

    def _both_boolean(self, other: Infix) -> bool:
        return bool(self.dtype == dtypes.BOOL and other.dtype == dtypes.BOOL)

    # In place the type of the object stays, where the operator returns a Matrix for a Vector and a Matrix.

    def __iadd__(self, other: Any) -> Self:  # type: ignore[misc]
        return self._in_place(self + other)

    def __isub__(self, other: Any) -> Self:  # type: ignore[misc]
        return self._in_place(self - other)

    def __imul__(self, other: Any) -> Self:  # type: ignore[misc]
        return self._in_place(self * other)

    def __itruediv__(self, other: Any) -> Self:  # type: ignore[misc]
        return self._in_place(self / other)

    def __ifloordiv__(self, other: Any) -> Self:  # type: ignore[misc]
        return self._in_place(self // other)

    def __imod__(self, other: Any) -> Self:  # type: ignore[misc]
        return self._in_place(self % other)

    def __ipow__(self, other: Any) -> Self:  # type: ignore[misc]
        return self._in_place(self**other)

    def __imatmul__(self, other: Infix) -> Self:
        product = self @ other
        if getattr(product, "ndim", self.ndim) != self.ndim:
            raise InvalidType(f"@= keeps a {type(self).__name__}; this product is a {type(product).__name__}")
        return self._in_place(product)

    def __ior__(self, other: Any) -> Self:  # type: ignore[misc]
        return self._in_place(self._of_truth(other, "lor") if is_scalar(other) else self | other)

    def __iand__(self, other: Any) -> Self:  # type: ignore[misc]
        return self._in_place(self._of_truth(other, "land") if is_scalar(other) else self & other)

    def __ixor__(self, other: Any) -> Self:  # type: ignore[misc]
        return self._in_place(self ^ other)

    def _of_truth(self, other: Any, op: str) -> Self:
        """Return `op` of the stored truths and one more; InvalidType for objects that are not boolean."""
        if self.dtype != dtypes.BOOL:
            raise InvalidType(f"{op} in place is for booleans; this {type(self).__name__} is of {self.dtype}")
        return self.apply(op, right=scalar(other))

    def _in_place(self, result: Any) -> Self:
        if self._origin is not None:
            return cast(Self, result)  # C[I, J] += x: Python passes the result to C.__setitem__
        self._assign(result, PLAIN)
        return self

    def __bool__(self) -> bool:
        raise InvalidType(
            f"the truth of a {type(self).__name__} is ambiguous: use .nvals, .isequal(other) or "
            f".reduce{'' if self.ndim == 1 else '_scalar'}('lor')"
        )
