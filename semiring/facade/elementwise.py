"""The operations that Matrix and Vector share: element by element, on one object or on two."""

from __future__ import annotations

from typing import Any, Self, Unpack

from .. import operators
from ..exceptions import InvalidValue
from ..operators.families import IndexUnary, Select, Semiring, Unary
from ..operators.types import TypedIndexUnary, TypedSemiring, TypedUnary
from ..ops.apply import apply
from ..ops.ewise import ewise_add, ewise_mult, ewise_union
from ..ops.select import select
from .base import Sparse, scalar
from .writing import Writing


class Elementwise(Sparse[Any]):
    """``ewise_add``, ``ewise_mult``, ``ewise_union``, ``apply``, ``select``, and operators called on an object."""

    __slots__ = ()

    def ewise_add(self, other: Self, op: Any = "plus", **writing: Unpack[Writing]) -> Self:
        """C = self (+) other on the union: `op` where both are present, the present one elsewhere.

        Parameters
        ----------
        other : of the same shape
        op : binary operator or monoid, by object or name
        **writing : mask, accum, replace, out

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch, UnknownOperator

        Notes
        -----
        Cost O(entries of both).
        """
        return self._ewise(ewise_add, other, op, writing)

    def ewise_mult(self, other: Self, op: Any = "times", **writing: Unpack[Writing]) -> Self:
        """C = self (x) other on the intersection: `op` where both are present.

        Parameters
        ----------
        other : of the same shape
        op : binary operator or monoid, by object or name
        **writing : mask, accum, replace, out

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch, UnknownOperator

        Notes
        -----
        Cost O(entries of both).
        """
        return self._ewise(ewise_mult, other, op, writing)

    def ewise_union(
        self, other: Self, op: Any, left_default: Any, right_default: Any, **writing: Unpack[Writing]
    ) -> Self:
        """C = op(self, other) on the union, with a default for the side that is missing.

        Parameters
        ----------
        other : of the same shape
        op : binary operator or monoid, by object or name
        left_default, right_default : scalars that stand for what self and what `other` lacks
        **writing : mask, accum, replace, out

        Raises
        ------
        DimensionMismatch, DomainMismatch, DeviceMismatch, UnknownOperator, EmptyObject
        """
        a, b = self.store, self._same_kind(other).store
        left, right = scalar(left_default), scalar(right_default)
        return self._deliver(ewise_union(a, b, op, left, right), writing)  # type: ignore[no-any-return]

    def _ewise(self, operation: Any, other: Any, op: Any, writing: Writing) -> Self:
        a, b = self.store, self._same_kind(other).store
        return self._deliver(operation(a, b, op), writing)  # type: ignore[no-any-return]

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
        """
        plan = apply(self.store, op, left=scalar(left), right=scalar(right))
        return self._deliver(plan, writing)  # type: ignore[no-any-return]

    def select(self, op: Any, thunk: Any = None, **writing: Unpack[Writing]) -> Self:
        """The entries for which op(self(i, j), i, j, thunk) holds.

        Parameters
        ----------
        op : select or index-unary operator, by object or name (``"tril"``, ``">"``, ``"rowle"``), or a lambda
        thunk : the scalar that it compares with; 0 by default
        **writing : mask, accum, replace, out

        Raises
        ------
        DomainMismatch, UnknownOperator, UdfParseError, EmptyObject

        Notes
        -----
        Cost O(nvals).
        """
        return self._deliver(select(self.store, op, scalar(thunk)), writing)  # type: ignore[no-any-return]

    def _with_operator(self, operator: Any, *rest: Any) -> Any:
        """What calling an operator on this means: ``min_plus(A @ B @ C)``, ``minus(A | B)``, ``tril(A, -1)``.

        An operator on a chain (`semiring.facade.chain`) applies to every link of it, and is settled then.
        """
        chain = self._chain
        wanted = _KINDS.get(type(operator), "ewise")
        if chain is not None and chain.kind == wanted and not rest:
            return self._new(None, chain.rebound(operator))
        if wanted == "apply" or (wanted == "ewise" and len(rest) == 1):
            return self.apply(operator, *rest)
        if wanted == "select":
            return self.select(operator, *rest)
        if wanted == "reduce":
            return self.reduce(operator)
        raise InvalidValue(
            f"{operator!r}(...): expected a result whose operator is not named yet: a chain of A @ B for a semiring, "
            f"of A | B and A & B for a binary operator, A > 3 for select.value; the operators of + - * and of methods "
            f"such as A.mxm(B) are settled"
        )

    def reduce(self, op: Any = "plus") -> Any:
        """S = (+) of all entries."""
        raise NotImplementedError


# What an operator asks of the object that it is called on; binary operators and monoids are not listed.
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
}
