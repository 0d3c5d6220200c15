"""The operations that Matrix and Vector share, as Python's operators: + - * / // % ** comparisons | & and in place."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Self, cast, overload

from .. import dtypes
from ..exceptions import InvalidType
from ..ops.apply import apply
from ..ops.ewise import ewise_add, ewise_mult, ewise_union
from ..ops.select import select
from ..ops.write import PLAIN
from .chain import Chain, WithDefaults, linked
from .elementwise import Elementwise, check_rows
from .operand import Dense, Number, is_scalar, no_operand, scalar

if TYPE_CHECKING:
    from .matrix import Matrix

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
# Python's operators that mean bits beside arrays, and plus and times beside objects of this library.
BITS = {operator.or_: ("|", "plus", "bor"), operator.and_: ("&", "times", "band")}


def check_booleans(operation: Any, left: Any, right: Any) -> None:
    """Raise InvalidType unless both are boolean: | and & of numbers mean plus and times here, and bits in NumPy."""
    sign, meaning, bits = BITS[operation]
    if not (left.dtype == right.dtype == dtypes.BOOL):
        raise InvalidType(
            f"{sign} beside arrays is for booleans, got {left.dtype} and {right.dtype}: between Vectors or Matrices it "
            f"means {meaning}; bits are binary.{bits}(v {sign} w)"
        )


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
