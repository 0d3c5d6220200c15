"""Typed operators: what an engine receives. Frozen, hashable, picklable records with one expression each.

A typed operator defines the types that its arguments are cast to, the expression that is evaluated, and the type that
the result is cast to. The record holds everything that an engine may specialize on; `key` identifies it in caches.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from semiring.dtypes import DType, is_record
from semiring.dtypes import name as name_of
from semiring.exceptions import InvalidType, UnsupportedType
from semiring.operators.attributes import TypedRelations
from semiring.operators.expression import Expression
from semiring.record_types import spelled

__all__ = ["TypedBinary", "TypedIndexUnary", "TypedMonoid", "TypedSemiring", "TypedUnary"]


class _Named(Protocol):
    @property
    def name(self) -> str: ...


# Makes an object of a number, so that operators can be called on numbers alone: the facade, which has Scalars, sets it.
_of_number: list[Callable[[Any], Any]] = []


def accept_numbers(make: Callable[[Any], Any]) -> None:
    """Let operators be called on numbers, ``plus(5, 2)``, of which `make` makes objects."""
    _of_number[:] = [make]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex, np.number, np.bool_))


def dispatch(operator: _Named, operand: Any, *rest: Any, **options: Any) -> Any:
    """Apply `operator` to the object that it was called on: ``min_plus(A @ B)`` is ``A @ B`` with min_plus.

    The method ``_with_operator(operator, *rest, **options)`` of the object defines the result.  The object may be the
    right operand, ``minus(2, v)``; where there is none, numbers are made into objects.

    Raises
    ------
    InvalidType
        If the object accepts no operator.
    """
    with_operator = getattr(operand, "_with_operator", None)
    if with_operator is None and _is_number(operand) and len(rest) < 2 and not hasattr(operator, "mult"):
        for other in rest:
            if hasattr(other, "_with_operator"):
                return other._with_operator(operator, left=operand, **options)
        if _of_number and all(map(_is_number, rest)):
            return _of_number[0](operand)._with_operator(operator, *rest, **options)
    if with_operator is None:
        raise InvalidType(
            f"{operator.name}(...): expected a Matrix, a Vector, a Scalar or a pending result such as A @ B, "
            f"got {type(operand).__name__}"
        )
    return with_operator(operator, *rest, **options)


class _Callable(TypedRelations):
    """Base of the typed operators, which can be called on objects of the facade; their hash is computed once."""

    name: str

    def _hash_once(self) -> int:
        """Return the hash of the compared fields; it is the key of call plans."""
        found: int | None = self.__dict__.get("_hash")
        if found is None:
            values = [getattr(self, field.name) for field in fields(self) if field.compare]  # type: ignore[arg-type]
            # A record with an array has no hash of its own.
            found = hash(tuple(value.tobytes() if isinstance(value, np.void) else value for value in values))
            self.__dict__["_hash"] = found
        return found

    def __reduce__(self) -> Any:
        if getattr(self.parent, "builtin", False):
            return _restored, (type(self), self.__getstate__())
        return super().__reduce__()

    def __getstate__(self) -> dict[str, Any]:
        # Without the hash: hashes of strings differ between processes.
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}

    def __call__(self, operand: Any, *rest: Any, **options: Any) -> Any:
        """Apply the operator to the operand: see `Family.__call__`."""
        return dispatch(self, operand, *rest, **options)

    def typed(self, x: object = None, y: object = None) -> Self:
        """Return the operator itself: its types are fixed, operands are cast to them.

        Raises
        ------
        UnsupportedType
            If an operand or a type of the operator that it reads is a record, and the two differ.
        """
        for name, given in (("x", x), ("y", y)):
            own = getattr(self, name, None)
            if own is None or not isinstance(given, np.dtype) or given == own:
                continue
            if (is_record(own) or is_record(given)) and name in getattr(self, "uses", (name,)):
                raise UnsupportedType(f"{self!r}: an operand of {name_of(given)} is not cast to {name_of(own)}")
        return self


def _restored(cls: type[Any], state: dict[str, Any]) -> Any:
    """Return the typed operator of a family that a pickle names: the family's own where it has been made."""
    made = object.__new__(cls)
    made.__dict__.update(state)
    return next((known for known in list(made.parent._cache.values()) if known == made), made)


def _short(dtype: DType) -> str:
    return f"{dtype.str[1:]}{_digest(spelled(dtype))}" if is_record(dtype) else dtype.str[1:]


def _digest(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


class _Scalar(_Callable):
    """Base of the typed operators that an expression defines."""

    _kind: ClassVar[str]
    # The fields that are types: those of the operands and, last, of the result.
    _types: ClassVar[tuple[str, ...]]
    z: DType
    expr: Expression

    @cached_property
    def uses(self) -> frozenset[str]:
        """The variables that the expression reads; ``pair`` reads none, ``first`` reads x."""
        return self.expr.uses

    @cached_property
    def key(self) -> str:
        """A short identifier that is the same in every process; it covers types and expression."""
        types = "".join(_short(getattr(self, name)) for name in self._types)
        return f"{self.name}_{types}_{_digest(self.expr.text)}"

    @property
    def dtype(self) -> DType:
        """The type of the result."""
        return self.z

    def __repr__(self) -> str:
        types = name_of(self.type) if self.type == self.type2 else f"{name_of(self.type)}, {name_of(self.type2)}"
        return f"{self._kind}.{self.name}[{types}]"


@dataclass(frozen=True, repr=False)
class TypedUnary(_Scalar):
    """``z(x)``: the expression uses `x`."""

    __hash__ = _Callable._hash_once
    _kind: ClassVar[str] = "unary"
    _types: ClassVar[tuple[str, ...]] = ("x", "z")

    name: str
    x: DType
    z: DType
    expr: Expression
    # The family that this is from, or None.
    parent: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, repr=False)
class TypedBinary(_Scalar):
    """``z(x, y)``: the expression uses `x`, `y` and their positions `xi xj yi yj`.

    `laws` is a set of ``commutative``, ``associative``, ``idempotent`` and ``selective`` (the result is one
    of the operands). A law that is not listed may hold as well.
    """

    __hash__ = _Callable._hash_once
    _kind: ClassVar[str] = "binary"
    _types: ClassVar[tuple[str, ...]] = ("x", "y", "z")

    name: str
    x: DType
    y: DType
    z: DType
    expr: Expression
    laws: frozenset[str] = field(default=frozenset(), compare=False)
    # The family that this is from, or None.
    parent: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, repr=False)
class TypedIndexUnary(_Scalar):
    """``z(x, i, j, k)``: value, row, column (0 in a vector) and the thunk `k` that the caller passes."""

    __hash__ = _Callable._hash_once
    _kind: ClassVar[str] = "indexunary"
    _types: ClassVar[tuple[str, ...]] = ("x", "k", "z")

    name: str
    x: DType
    k: DType
    z: DType
    expr: Expression
    # The family that this is from, or None.
    parent: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class TypedMonoid(_Callable):
    """An associative, commutative operator on one type.

    `identity` is the result of an empty reduction to a scalar; None for ``any``, which has none (`is_any`).
    `terminal` is a value that no operand changes, None if there is none; ``any`` ends with its first operand.
    """

    __hash__ = _Callable._hash_once

    op: TypedBinary
    identity: np.generic | None
    terminal: np.generic | None
    is_any: bool = False
    # The family that this is from, or None.
    parent: Any = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the monoid, which is that of its operator."""
        return self.op.name

    @cached_property
    def expr(self) -> Expression:
        """The expression of the operator."""
        return self.op.expr

    @cached_property
    def dtype(self) -> DType:
        """The type of operands and result."""
        return self.op.z

    @cached_property
    def z(self) -> DType:
        """The type of operands and result."""
        return self.op.z

    @cached_property
    def uses(self) -> frozenset[str]:
        """The variables that the operator reads."""
        return self.op.uses

    @cached_property
    def key(self) -> str:
        """A short identifier that is the same in every process."""
        return f"{self.op.key}_{_digest(repr((self.identity, self.terminal, self.is_any)))}"

    def __repr__(self) -> str:
        return f"monoid.{self.name}[{name_of(self.dtype)}]"


@dataclass(frozen=True)
class TypedSemiring(_Callable):
    """Products by `mult`, reduced by `add`; the result type of `mult` is the type of `add`."""

    __hash__ = _Callable._hash_once

    add: TypedMonoid
    mult: TypedBinary
    label: str = field(default="", compare=False)
    # The family that this is from, or None.
    parent: Any = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its own name where it was registered under one, else ``add_mult``."""
        return self.label or f"{self.add.name}_{self.mult.name}"

    @cached_property
    def x(self) -> DType:
        """The type that left operands are cast to."""
        return self.mult.x

    @cached_property
    def y(self) -> DType:
        """The type that right operands are cast to."""
        return self.mult.y

    @cached_property
    def z(self) -> DType:
        """The type of the result."""
        return self.add.dtype

    @cached_property
    def dtype(self) -> DType:
        """The type of the result."""
        return self.add.dtype

    @cached_property
    def uses(self) -> frozenset[str]:
        """The variables that the multiplication reads."""
        return self.mult.uses

    @cached_property
    def key(self) -> str:
        """A short identifier that is the same in every process."""
        return f"{self.add.key}__{self.mult.key}"

    def __repr__(self) -> str:
        types = name_of(self.x) if self.x == self.y else f"{name_of(self.x)}, {name_of(self.y)}"
        return f"semiring.{self.name}[{types}]"
