"""Operator families: one row each, for all types; indexing or `typed` gives the typed operator.

``plus`` is a family; ``plus[int32]`` is the operator on 32-bit integers. ``family.typed(x, y)`` chooses for given
operand types, in this order:

1. the operands' common type by NumPy's promotion (``first`` follows its left operand alone, ``second`` its
   right one);
2. where the family lacks that type, the nearest one that holds all its values (``sqrt`` of int32 is computed
   on float64); booleans are counted, so they are cast to int64 first;
3. where the family has such a rule, one fixed type (``lor`` casts anything to bool);
4. else `DomainMismatch`.

Operators on positions (``firsti``) return int64, unless indexed: ``firsti[int32]``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Generic, TypeVar

import numpy as np

from semiring.dtypes import ALL, BOOL, FP64, INT32, INT64, DType, lookup, unify, widest
from semiring.exceptions import DomainMismatch
from semiring.operators.constants import Value, constant, constant_text
from semiring.operators.describe import describe
from semiring.operators.expression import used_variables
from semiring.operators.infer import infer
from semiring.operators.types import (
    TypedBinary,
    TypedIndexUnary,
    TypedMonoid,
    TypedSemiring,
    TypedUnary,
    dispatch,
)

__all__ = ["Binary", "Family", "IndexUnary", "Monoid", "Select", "Semiring", "Unary"]

T = TypeVar("T", TypedUnary, TypedBinary, TypedIndexUnary, TypedMonoid, TypedSemiring)
_LAWS: Final = {"c": "commutative", "a": "associative", "i": "idempotent", "s": "selective"}
_POSITIONS: Final = frozenset({"i", "j", "xi", "xj", "yi", "yj"})
POSITION_TYPES: Final = (INT32, INT64)


def nearest(dtype: DType, supported: tuple[DType, ...]) -> list[DType]:
    """Return the types of `supported` that `dtype` may be cast to without loss, the best first."""
    if dtype in supported:
        return [dtype]
    safe = [other for other in supported if np.can_cast(dtype, other, "safe")]
    if dtype == BOOL and INT64 in safe:
        safe.insert(0, INT64)
    return safe


@dataclass(frozen=True, eq=False, repr=False)
class Family(Generic[T]):
    """The common part of all families: name, lookup by type, calls, pickling."""

    kind: ClassVar[str]
    name: str

    builtin: bool = field(default=True, kw_only=True)
    _cache: dict[Any, T] = field(default_factory=dict, kw_only=True, init=False)

    def __getitem__(self, dtype: object) -> T:
        """Return the operator for operands of this type, as `typed`; for positions, the one with this result type."""
        raise NotImplementedError

    @property
    def types(self) -> Mapping[DType, DType]:
        """Operand type to result type, for all types that need no cast."""
        raise NotImplementedError

    def __init_subclass__(cls) -> None:
        describe(cls)

    def _describe(self) -> str:
        """Return what the operator computes, as part of `doc`."""
        raise NotImplementedError

    @property
    def doc(self) -> str:
        """One line for ``help``: what it computes, its laws, and the types that need no cast."""
        types: dict[DType, list[str]] = {}
        for x, z in self.types.items():
            types.setdefault(z, []).append(x.name)
        if all(names == [z.name] for z, names in types.items()):
            listed = ", ".join(z.name for z in types)
        else:
            listed = "; ".join(f"{', '.join(names)} to {z.name}" for z, names in types.items())
        return f"{self!r}: {self._describe()}. Types: {listed}."

    def __call__(self, operand: Any, *rest: Any) -> Any:
        """``sqrt(A)``, ``plus(A | B)``, ``min_plus(A @ B)``, ``tril(A, -1)``: the operand with this operator.

        Raises
        ------
        InvalidValue
            If `operand` is not an object of this package that accepts an operator.
        """
        return dispatch(self, operand, *rest)

    def __repr__(self) -> str:
        return f"{self.kind}.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.builtin:
            return _builtin, (self.kind, self.name)
        return _rebuild, (type(self), {**self.__dict__, "_cache": {}})

    def _known(self, x: object, y: object) -> T | None:
        """Return the cached operator for two value types, without the conversion of names to types."""
        return self._cache.get((x, y)) if isinstance(x, np.dtype) and isinstance(y, np.dtype) else None

    def _cached(self, key: Any, make: Callable[[], T]) -> T:
        if (made := self._cache.get(key)) is None:
            made = self._cache.setdefault(key, make())
        return made

    def _mismatch(self, *got: DType) -> DomainMismatch:
        supported = ", ".join(dtype.name for dtype in self.types) or "none of the built-in types"
        operands = " and ".join(dtype.name for dtype in got)
        return DomainMismatch(f"{self!r} is not defined on {operands}; it supports {supported}")


def _builtin(kind: str, name: str) -> Any:
    from semiring.operators.lookup import lookup_kind  # a cycle: lookup imports modules that import this one

    return lookup_kind(kind, name)


def _rebuild(cls: type[Any], state: dict[str, Any]) -> Any:
    made = object.__new__(cls)
    made.__dict__.update(state)
    return made


@dataclass(frozen=True, eq=False, repr=False)
class _Scalar(Family[T]):
    """A family given by an expression: `supported` types, and the result type `z` that follows from them.

    `z` is a type, ``"same"``, ``"double"`` (floats stay, other types become float64) or ``"infer"``.
    """

    expr: str
    supported: tuple[DType, ...] = ALL
    z: DType | str = "same"
    otherwise: DType | None = field(default=None, kw_only=True)

    @property
    def uses(self) -> frozenset[str]:
        """The variables that the expression reads."""
        return used_variables(self.expr)

    @property
    def positional(self) -> bool:
        """Whether the result is made of positions alone: it has no operand type."""
        return bool(self.uses) and self.uses <= _POSITIONS | {"k"} and self.supported == POSITION_TYPES

    @property
    def types(self) -> Mapping[DType, DType]:
        """Operand type to result type, for all types that need no cast."""
        found = {}
        for dtype in self.supported:
            try:
                found[dtype] = self._result(dtype)
            except DomainMismatch:  # an inferred expression may use functions that this type lacks
                continue
        return found

    def _describe(self) -> str:
        return self.expr

    def _result(self, dtype: DType, **variables: DType) -> DType:
        if isinstance(self.z, np.dtype):
            return self.z
        if self.z == "infer":
            positions = dict.fromkeys(_POSITIONS, INT64)
            return infer(self.expr, {"x": dtype, "y": dtype, "k": dtype} | positions | variables, repr(self))
        return dtype if self.z == "same" or dtype.kind == "f" else FP64

    def _choose(self, *operands: DType) -> DType:
        common = operands[0]
        for operand in operands[1:]:
            common = unify(common, operand)
        for dtype in nearest(common, self.supported):
            return dtype
        if self.otherwise is None:
            raise self._mismatch(*operands)
        return self.otherwise


@dataclass(frozen=True, eq=False, repr=False)
class Unary(_Scalar[TypedUnary]):
    """A function of one value."""

    kind: ClassVar[str] = "unary"

    def typed(self, x: object) -> TypedUnary:
        """Return the operator for operands of type `x`; `DomainMismatch` where there is none."""
        operand = lookup(x)

        def make() -> TypedUnary:
            dtype = self._choose(operand)
            return TypedUnary(self.name, dtype, self._result(dtype), self.expr)

        return self._cached(operand, make)

    def __getitem__(self, dtype: object) -> TypedUnary:
        return self.typed(dtype)


@dataclass(frozen=True, eq=False, repr=False)
class Binary(_Scalar[TypedBinary]):
    """A function of two values, or of the positions of their entries.

    `laws` has a letter for each law that holds on the types on which the operator is closed: c(ommutative),
    a(ssociative), i(dempotent), s(elective: the result is one of the operands). `follows` names the operand
    whose type alone determines the typed operator, where there is one. `counts`: the result is 0 or 1 of the
    operands' type, and sums of it are counts.
    """

    kind: ClassVar[str] = "binary"
    laws: str = field(default="", kw_only=True)
    follows: str = field(default="", kw_only=True)
    counts: bool = field(default=False, kw_only=True)

    @property
    def commutative(self) -> bool:
        """Whether ``f(x, y) == f(y, x)`` is known to hold."""
        return "c" in self.laws

    @property
    def associative(self) -> bool:
        """Whether ``f(f(x, y), z) == f(x, f(y, z))`` is known to hold (for floats, up to rounding)."""
        return "a" in self.laws

    @property
    def idempotent(self) -> bool:
        """Whether ``f(x, x) == x`` is known to hold."""
        return "i" in self.laws

    @property
    def selective(self) -> bool:
        """Whether the result is known to be one of the operands."""
        return "s" in self.laws

    def _describe(self) -> str:
        return ", ".join([self.expr, *(_LAWS[letter] for letter in self.laws)])

    def typed(self, x: object, y: object = None) -> TypedBinary:
        """Return the operator for operands of types `x` and `y` (by default that of x).

        Raises
        ------
        DomainMismatch
            Where the family has none for them; the message lists the supported types.
        """
        known = self._known(x, y)
        if known is not None:
            return known
        left = lookup(x)
        right = left if y is None else lookup(y)

        def make() -> TypedBinary:
            if self.positional:
                return self._on(INT64)
            chosen = {"x": (left,), "y": (right,)}.get(self.follows, (left, right))
            return self._on(self._choose(*chosen))

        return self._cached((left, right), make)

    def _on(self, dtype: DType) -> TypedBinary:
        result = self._result(dtype)
        laws = frozenset(_LAWS[letter] for letter in self.laws) if result == dtype else frozenset()
        return TypedBinary(self.name, dtype, dtype, result, self.expr, laws)

    def __getitem__(self, dtype: object) -> TypedBinary:
        if isinstance(dtype, tuple):
            return self.typed(*dtype)
        if not self.positional:
            return self.typed(dtype)
        result = lookup(dtype)
        return self._cached(("positions", result), lambda: self._on(self._choose(result)))


@dataclass(frozen=True, eq=False, repr=False)
class IndexUnary(_Scalar[TypedIndexUnary]):
    """A function of a value, its row and column, and a thunk that the caller passes."""

    kind: ClassVar[str] = "indexunary"

    def typed(self, x: object, k: object = None) -> TypedIndexUnary:
        """Return the operator for values of type `x` and a thunk of type `k`.

        By default the thunk has the type of x where the two are compared, int64 elsewhere. An operator that
        does not read the value has one typed form, whatever `x` is.
        """
        known = self._known(x, k)
        if known is not None:
            return known
        value = lookup(x)
        thunk = None if k is None else lookup(k)

        def make() -> TypedIndexUnary:
            if "x" not in self.uses:
                return self._on(INT64, INT64)
            if self.z != "infer":
                dtype = self._choose(value) if thunk is None else self._choose(value, thunk)
                return self._on(dtype, dtype)
            return self._on(self._choose(value), INT64 if thunk is None else thunk)

        return self._cached((value, thunk), make)

    def _on(self, x: DType, k: DType) -> TypedIndexUnary:
        return TypedIndexUnary(self.name, x, k, self._result(x, k=k), self.expr)

    def __getitem__(self, dtype: object) -> TypedIndexUnary:
        if not self.positional:
            return self.typed(dtype)
        result = lookup(dtype)
        return self._cached(
            ("positions", result),
            lambda: TypedIndexUnary(self.name, INT64, INT64, self._choose(result), self.expr),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Select(IndexUnary):
    """A condition on a value and its position: entries for which it holds are kept."""

    kind: ClassVar[str] = "select"


@dataclass(frozen=True, eq=False, repr=False)
class Monoid(Family[TypedMonoid]):
    """An associative and commutative binary operator on one type, with identity and terminal value.

    `is_any`: the result is either operand. `sums`: it adds, so that a semiring with it may count.
    """

    kind: ClassVar[str] = "monoid"
    op: Binary
    identity: Value = None
    terminal: Value = None
    supported: tuple[DType, ...] = ALL
    otherwise: DType | None = field(default=None, kw_only=True)
    is_any: bool = field(default=False, kw_only=True)
    sums: bool = field(default=False, kw_only=True)

    @property
    def types(self) -> Mapping[DType, DType]:
        """The types on which it is a monoid."""
        return {dtype: dtype for dtype in self.supported if self._on(dtype) is not None}

    def _describe(self) -> str:
        if self.is_any:
            return "either operand"
        terminal = "" if self.terminal is None else f", terminal {constant_text(self.terminal)}"
        return f"{self.op.expr}, identity {constant_text(self.identity)}{terminal}"

    def typed(self, x: object, y: object = None) -> TypedMonoid:
        """Return the monoid for operands of type `x` (and `y`); `DomainMismatch` where there is none."""
        operand = lookup(x) if y is None else unify(x, y)

        def make() -> TypedMonoid:
            dtypes = nearest(operand, self.supported)
            if operand in self.supported:  # a user-defined operator may not be closed on this type
                dtypes += nearest(operand, tuple(d for d in self.supported if d != operand))
            for dtype in dtypes + ([] if self.otherwise is None else [self.otherwise]):
                if (made := self._on(dtype)) is not None:
                    return made
            raise self._mismatch(operand)

        return self._cached(operand, make)

    def _on(self, dtype: DType) -> TypedMonoid | None:
        """Return the monoid on exactly this type, if the operator is closed there and the type holds the identity."""
        try:
            op, identity = self.op.typed(dtype), constant(self.identity, dtype)
        except (DomainMismatch, OverflowError):
            return None
        if not (op.x == op.z == dtype) or (identity is None and not self.is_any):
            return None
        try:
            terminal = constant(self.terminal, dtype)
        except OverflowError:  # the type does not contain this value, so no reduction reaches it
            terminal = None
        return TypedMonoid(op, identity, terminal, self.is_any)

    def __getitem__(self, dtype: object) -> TypedMonoid:
        return self.typed(dtype)


@dataclass(frozen=True, eq=False, repr=False)
class Semiring(Family[TypedSemiring]):
    """Products by a binary operator, reduced by a monoid."""

    kind: ClassVar[str] = "semiring"
    add: Monoid
    mult: Binary

    @property
    def types(self) -> Mapping[DType, DType]:
        """Operand type to result type, for all types that need no cast."""
        found = {}
        for dtype in self.mult.types:
            try:
                found[dtype] = self[dtype].z
            except DomainMismatch:  # products of a type that the monoid lacks
                continue
        return found

    def _describe(self) -> str:
        return f"products {self.mult.expr}, reduced by {self.add._describe()}"

    def typed(self, x: object, y: object = None) -> TypedSemiring:
        """Return the semiring for operands of types `x` and `y`.

        The products have the result type of the multiplication; where the monoid lacks that type, both use the nearest
        type of the monoid (``plus_times`` on booleans counts in int64, ``lor_times`` is always boolean). Counts
        (``plus_pair``, ``plus_iseq``) are int64, uint64 or float64 for any operands; indexing (``plus_pair[int8]``)
        chooses another type.
        """
        known = self._known(x, y)
        if known is not None:
            return known

        def make() -> TypedSemiring:
            if self.add.sums and self.mult.counts:
                return self._of(self.mult.typed(widest(x if y is None else unify(x, y))))
            return self._of(self.mult.typed(x, y))

        return self._cached((x, y), make)

    def _of(self, mult: TypedBinary) -> TypedSemiring:
        add = self.add.typed(mult.z)
        if add.dtype != mult.z:
            mult = replace(mult, z=add.dtype)
        label = "" if self.name == f"{self.add.name}_{self.mult.name}" else self.name
        return TypedSemiring(add, mult, label)

    def __getitem__(self, dtype: object) -> TypedSemiring:
        return self._cached(("item", dtype), lambda: self._of(self.mult[dtype]))
