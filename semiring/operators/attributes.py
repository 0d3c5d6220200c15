"""What an operator is related to, as properties: its monoid, its mirror image, its types.

The names are python-graphblas's.  Families and typed operators share them; those of a typed operator are typed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semiring.dtypes import DType, lookup
from semiring.exceptions import DomainMismatch
from semiring.operators import table

if TYPE_CHECKING:
    from semiring.operators.families import Binary, Monoid, Semiring

__all__ = ["BinaryRelations", "MonoidRelations", "SemiringRelations", "TypedRelations"]

# f(x, y) = g(y, x), both ways.
_PAIRS: Final = (
    ("first", "second"),
    ("absfirst", "abssecond"),
    ("div", "rdiv"),
    ("truediv", "rtruediv"),
    ("floordiv", "rfloordiv"),
    ("minus", "rminus"),
    ("pow", "rpow"),
    ("gt", "lt"),
    ("ge", "le"),
    ("isgt", "islt"),
    ("isge", "isle"),
    ("firsti", "secondi"),
    ("firsti1", "secondi1"),
    ("firstj", "secondj"),
    ("firstj1", "secondj1"),
)
_MIRRORS: Final = dict(_PAIRS) | {b: a for a, b in _PAIRS}
# In the transpose of a product, rows and columns are exchanged as well as the operands.
_TRANSPOSED: Final = {
    "firsti": "secondj",
    "firsti1": "secondj1",
    "firstj": "secondi",
    "firstj1": "secondi1",
    "secondi": "firstj",
    "secondi1": "firstj1",
    "secondj": "firsti",
    "secondj1": "firsti1",
}


class BinaryRelations:
    """The relations of a `Binary`."""

    name: str
    builtin: bool

    @property
    def is_positional(self) -> bool:
        """Whether the result is made of positions alone."""
        positional: bool = self.positional  # type: ignore[attr-defined]
        return positional

    @property
    def is_commutative(self) -> bool:
        """Whether ``f(x, y) == f(y, x)`` is known to hold."""
        return self.commutes_to is self

    @property
    def commutes_to(self) -> Binary | None:
        """The operator g with ``g(y, x) == f(x, y)``, or None if there is none of that kind."""
        if self.commutative:  # type: ignore[attr-defined]
            return self  # type: ignore[return-value]
        found: Binary | None = table.find("binary", _MIRRORS.get(self.name, "")) if self.builtin else None
        return found

    @property
    def monoid(self) -> Monoid | None:
        """The monoid of this operator, or None; of a user-defined operator, the first that was made of it."""
        found: Monoid | None = table.find("monoid", self.name) if self.builtin else self.__dict__.get("_monoid")
        return None if found is None or found.op is not self else found


class MonoidRelations:
    """The relations of a `Monoid`."""

    op: Binary

    @property
    def binaryop(self) -> Binary:
        """The operator."""
        return self.op

    @property
    def is_positional(self) -> bool:
        """False: positions form no monoid."""
        return False

    @property
    def is_commutative(self) -> bool:
        """True: every monoid is."""
        return True

    @property
    def is_idempotent(self) -> bool:
        """Whether ``f(x, x) == x`` is known to hold."""
        return self.op.idempotent or bool(self.declared_idempotent)  # type: ignore[attr-defined]

    @property
    def commutes_to(self) -> Any:
        """The monoid itself."""
        return self

    @property
    def identities(self) -> dict[DType, Any]:
        """The identity by type, as Python numbers; None for ``any``."""
        typed = {dtype: self[dtype].identity for dtype in self.types}  # type: ignore[attr-defined, index]
        return {dtype: None if identity is None else identity.item() for dtype, identity in typed.items()}


class SemiringRelations:
    """The relations of a `Semiring`."""

    add: Monoid
    mult: Binary

    @property
    def monoid(self) -> Monoid:
        """The monoid that reduces the products."""
        return self.add

    @property
    def binaryop(self) -> Binary:
        """The operator of the products."""
        return self.mult

    @property
    def is_positional(self) -> bool:
        """Whether the products are made of positions alone."""
        return self.mult.is_positional

    @property
    def is_commutative(self) -> bool:
        """Whether it `commutes_to` itself."""
        return self.commutes_to is self

    @property
    def commutes_to(self) -> Semiring | None:
        """The semiring s with ``s(B.T @ A.T) == r(A @ B).T`` for this semiring r, or None if there is none."""
        name = _TRANSPOSED.get(self.mult.name) if self.mult.builtin else None
        mult = table.find("binary", name) if name else self.mult.commutes_to
        if mult is self.mult:
            return self  # type: ignore[return-value]
        if mult is None:
            return None
        from semiring.operators.lookup import compose  # a cycle: lookup imports modules that import this one

        return compose(self.add, mult)


class TypedRelations:
    """The relations of a typed operator: those of the family that it is from (`parent`), on its types."""

    parent: Any

    @property
    def type(self) -> DType:
        """The type that the (left) operand is cast to."""
        found: DType = getattr(self, "x", self.return_type)
        return found

    @property
    def type2(self) -> DType:
        """The type that the right operand is cast to."""
        return getattr(self, "y", self.type)

    @property
    def return_type(self) -> DType:
        """The type of the result."""
        found: DType = self.z  # type: ignore[attr-defined]
        return found

    @property
    def is_positional(self) -> bool:
        """Whether the result is made of positions alone."""
        return bool(getattr(self.parent, "is_positional", False))

    @property
    def is_commutative(self) -> bool:
        """Whether exchanging the operands is known to leave the result unchanged."""
        return bool(getattr(self.parent, "is_commutative", False))

    @property
    def is_idempotent(self) -> bool:
        """Whether ``f(x, x) == x`` is known to hold, of a monoid."""
        found: bool = self.parent.is_idempotent
        return found

    @property
    def orig_func(self) -> Any:
        """The Python function that a user-defined operator was made of, else None."""
        return getattr(self.parent, "orig_func", None)

    @property
    def commutes_to(self) -> Any:
        """The family's `commutes_to`, on these types."""
        return self._typed_alike(self.parent.commutes_to)

    @property
    def monoid(self) -> Any:
        """The monoid of a binary operator on these types, or of a semiring; None if there is none."""
        return getattr(self, "add", None) or self._typed_alike(self.parent.monoid)

    @property
    def binaryop(self) -> Any:
        """The operator of a monoid or a semiring."""
        return getattr(self, "mult", None) or self.op  # type: ignore[attr-defined]

    def _typed_alike(self, family: Any) -> Any:
        if family is None:
            return None
        if self.type != self.type2:
            return family[self.type2, self.type]
        try:
            found = family[self.return_type if family.is_positional else self.type]
        except DomainMismatch:  # a monoid may lack types of its operator
            return None
        return found if found.return_type == self.return_type and found.type == self.type else None


def has_type(family: Any, dtype: object) -> bool:
    """Whether a family is defined on operands of a type, or of a pair of types, cast or not."""
    try:
        return family[tuple(map(lookup, dtype)) if isinstance(dtype, tuple) else lookup(dtype)] is not None
    except DomainMismatch:
        if not isinstance(dtype, np.dtype):
            lookup(dtype)  # an unknown name is an error
        return False
