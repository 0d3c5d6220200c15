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

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

import numpy as np

from semiring.dtypes import ALL, INT64, DType, is_record, lookup, unify, widest
from semiring.exceptions import DomainMismatch
from semiring.operators.attributes import BinaryRelations, MonoidRelations, SemiringRelations
from semiring.operators.constants import Value, constant, constant_text
from semiring.operators.family import Family, ScalarFamily, nearest
from semiring.operators.monoid_laws import user_identity
from semiring.operators.types import TypedBinary, TypedIndexUnary, TypedMonoid, TypedSemiring, TypedUnary

__all__ = ["Binary", "IndexUnary", "Monoid", "Select", "Semiring", "Unary"]

_LAWS: Final = {"c": "commutative", "a": "associative", "i": "idempotent", "s": "selective"}


@dataclass(frozen=True, eq=False, repr=False)
class Unary(ScalarFamily[TypedUnary]):
    """A function of one value.

    Examples
    --------
    >>> Vector.from_dense([1, 4]).apply(sr.unary.sqrt).to_dict(), sr.unary.sqrt(4).value
    ({0: 1.0, 1: 2.0}, 2.0)
    """

    kind: ClassVar[str] = "unary"

    @property
    def is_positional(self) -> bool:
        """False: operators on positions, such as ``positioni``, are index-unary ones."""
        return False

    def typed(self, x: object) -> TypedUnary:
        """Return the operator for operands of type `x`; `DomainMismatch` where there is none.

        Parameters
        ----------
        x : a type, as `semiring.dtypes.lookup` accepts it

        Raises
        ------
        DomainMismatch

        Examples
        --------
        >>> sr.unary.sqrt.typed("int32").return_type
        dtype('float64')
        """
        operand = lookup(x)

        def make() -> TypedUnary:
            if is_record(operand):
                return TypedUnary(self.name, operand, self._on_records(x=operand), self.expr, self)
            dtype = self._choose(operand)
            return TypedUnary(self.name, dtype, self._result(dtype), self.expr, self)

        return self._cached(operand, make)

    def __getitem__(self, dtype: object) -> TypedUnary:
        return self.typed(dtype)


@dataclass(frozen=True, eq=False, repr=False)
class Binary(BinaryRelations, ScalarFamily[TypedBinary]):
    """A function of two values, or of the positions of their entries.

    `laws` has a letter for each law that holds on the types on which the operator is closed: c(ommutative),
    a(ssociative), i(dempotent), s(elective: the result is one of the operands). `follows` names the operand
    whose type alone determines the typed operator, where there is one. `counts`: the result is 0 or 1 of the
    operands' type, and sums of it are counts.

    Examples
    --------
    >>> u, v = Vector.from_dense([1, 4]), Vector.from_dense([3, 2])
    >>> u.ewise_add(v, sr.binary.max).to_dict(), sr.binary.max(u | v).to_dict(), sr.binary.max(3, 4).value
    ({0: 3, 1: 4}, {0: 3, 1: 4}, 4)
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
        return ", ".join([self.expr.text, *(_LAWS[letter] for letter in self.laws)])

    def typed(self, x: object, y: object = None) -> TypedBinary:
        """Return the operator for operands of types `x` and `y` (by default that of x).

        Parameters
        ----------
        x, y : types, as `semiring.dtypes.lookup` accepts them

        Raises
        ------
        DomainMismatch
            Where the family has none for them; the message lists the supported types.

        Examples
        --------
        >>> sr.binary.plus.typed("int32", "float32").return_type
        dtype('float64')
        """
        known = self._cache.get((x, y)) if isinstance(x, np.dtype) and isinstance(y, np.dtype) else None
        if known is not None:
            return known
        left = lookup(x)
        right = left if y is None else lookup(y)

        def make() -> TypedBinary:
            if self.positional:
                return self._on(INT64)
            if is_record(left) or is_record(right):
                result = self._on_records(x=left, y=right)
                closed = left == right == result
                laws = frozenset(_LAWS[letter] for letter in self.laws) if closed else frozenset[str]()
                return TypedBinary(self.name, left, right, result, self.expr, laws, self)
            chosen = {"x": (left,), "y": (right,)}.get(self.follows, (left, right))
            return self._on(self._choose(*chosen))

        return self._cached((left, right), make)

    def _on(self, dtype: DType) -> TypedBinary:
        result = self._result(dtype)
        laws = frozenset(_LAWS[letter] for letter in self.laws) if result == dtype else frozenset()
        return TypedBinary(self.name, dtype, dtype, result, self.expr, laws, self)

    def __getitem__(self, dtype: object) -> TypedBinary:
        if isinstance(dtype, tuple):
            return self.typed(*dtype)
        if not self.positional:
            return self.typed(dtype)
        result = lookup(dtype)
        return self._cached(("positions", result), lambda: self._on(self._choose(result)))


@dataclass(frozen=True, eq=False, repr=False)
class IndexUnary(ScalarFamily[TypedIndexUnary]):
    """A function of a value, its row and column, and a thunk that the caller passes.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1], [1, 0], [5, 6])
    >>> A.apply(sr.indexunary.rowindex).to_dicts(), sr.indexunary.colindex(A, thunk=10).to_dicts()
    ({0: {1: 0}, 1: {0: 1}}, {0: {1: 11}, 1: {0: 10}})
    """

    kind: ClassVar[str] = "indexunary"

    @property
    def is_positional(self) -> bool:
        """Whether the result is made of positions and the thunk alone."""
        return "x" not in self.uses

    def typed(self, x: object, k: object = None) -> TypedIndexUnary:
        """Return the operator for values of type `x` and a thunk of type `k`.

        By default the thunk has the type of x where the two are compared, int64 elsewhere. An operator that
        does not read the value has one typed form, whatever `x` is.

        Parameters
        ----------
        x, k : types of the values and of the thunk, as `semiring.dtypes.lookup` accepts them

        Raises
        ------
        DomainMismatch

        Examples
        --------
        >>> sr.indexunary.rowindex.typed(float).return_type
        dtype('int64')
        """
        known = self._cache.get((x, k)) if isinstance(x, np.dtype) and isinstance(k, np.dtype) else None
        if known is not None:
            return known
        value = lookup(x)
        thunk = None if k is None else lookup(k)

        def make() -> TypedIndexUnary:
            if "x" not in self.uses and not is_record(thunk or INT64):
                with suppress(DomainMismatch):  # fields of the thunk, which is a record then
                    return self._on(INT64, INT64)
            if is_record(value) or (thunk is not None and is_record(thunk)):
                return self._of_record(value, thunk)
            if self.z != "infer":
                dtype = self._choose(value) if thunk is None else self._choose(value, thunk)
                return self._on(dtype, dtype)
            return self._on(self._choose(value), INT64 if thunk is None else thunk)

        return self._cached((value, thunk), make)

    def _of_record(self, x: DType, thunk: DType | None) -> TypedIndexUnary:
        """Return the operator where one operand is a record; a thunk of no given type is an integer or a record too."""
        k = thunk or INT64
        try:
            result = self._on_records(x=x, k=k)
        except DomainMismatch:
            if thunk is not None:
                raise
            k, result = x, self._on_records(x=x, k=x)
        return TypedIndexUnary(self.name, x, k, result, self.expr, self)

    def _on(self, x: DType, k: DType) -> TypedIndexUnary:
        return TypedIndexUnary(self.name, x, k, self._result(x, k=k), self.expr, self)

    def __getitem__(self, dtype: object) -> TypedIndexUnary:
        if not self.positional:
            return self.typed(dtype)
        result = lookup(dtype)
        return self._cached(
            ("positions", result),
            lambda: TypedIndexUnary(self.name, INT64, INT64, self._choose(result), self.expr, self),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Select(IndexUnary):
    """A condition on a value and its position: entries for which it holds are kept.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [0, 1, 0], [5, 6, 7])
    >>> A.select(sr.select.tril).to_dicts(), sr.select.valuege(A, 6).to_dicts()
    ({0: {0: 5}, 1: {0: 7}}, {0: {1: 6}, 1: {0: 7}})
    """

    kind: ClassVar[str] = "select"


@dataclass(frozen=True, eq=False, repr=False)
class Monoid(MonoidRelations, Family[TypedMonoid]):
    """An associative and commutative binary operator on one type, with identity and terminal value.

    `is_any`: the result is either operand. `sums`: it adds, so that a semiring with it may count.
    `declared_idempotent`: the user states that ``f(x, x) == x``, which the laws of a user-defined operator do not say.

    Examples
    --------
    >>> v = Vector.from_dense([3, 1, 2])
    >>> v.reduce(sr.monoid.min).value, sr.monoid.min["int8"].identity
    (1, np.int8(127))
    """

    kind: ClassVar[str] = "monoid"
    op: Binary
    identity: Value = None
    terminal: Value = None
    supported: tuple[DType, ...] = ALL
    otherwise: DType | None = field(default=None, kw_only=True)
    is_any: bool = field(default=False, kw_only=True)
    sums: bool = field(default=False, kw_only=True)
    declared_idempotent: bool = field(default=False, kw_only=True)

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
        """Return the monoid for operands of type `x` (and `y`); `DomainMismatch` where there is none.

        Parameters
        ----------
        x, y : types, as `semiring.dtypes.lookup` accepts them

        Raises
        ------
        DomainMismatch

        Examples
        --------
        >>> sr.monoid.plus.typed("int32").identity
        np.int32(0)
        """
        operand = lookup(x) if y is None else unify(x, y)

        def make() -> TypedMonoid:
            if is_record(operand):
                if (made := self._on(operand)) is None:
                    raise self._mismatch(operand)
                return made
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
            op = self.op.typed(dtype)
            identity = constant(self.identity, dtype) if self.builtin else user_identity(self.identity, op)
        except (DomainMismatch, OverflowError):
            return None
        if not (op.x == op.z == dtype) or (identity is None and not self.is_any):
            return None
        try:
            terminal = constant(self.terminal, dtype)
        except OverflowError:  # the type does not contain this value, so no reduction reaches it
            terminal = None
        return TypedMonoid(op, identity, terminal, self.is_any, self)

    def __getitem__(self, dtype: object) -> TypedMonoid:
        return self.typed(dtype)


@dataclass(frozen=True, eq=False, repr=False)
class Semiring(SemiringRelations, Family[TypedSemiring]):
    """Products by a binary operator, reduced by a monoid.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(3, 3))
    >>> A.mxm(A, sr.semiring.min_plus).to_dicts(), sr.semiring.max_times(A @ A).to_dicts()
    ({0: {2: 3}}, {0: {2: 2}})
    """

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

        Parameters
        ----------
        x, y : types, as `semiring.dtypes.lookup` accepts them

        Raises
        ------
        DomainMismatch

        Examples
        --------
        >>> sr.semiring.plus_times.typed("int32", "float32").return_type
        dtype('float64')
        """
        known = self._cache.get((x, y)) if isinstance(x, np.dtype) and isinstance(y, np.dtype) else None
        if known is not None:
            return known

        def make() -> TypedSemiring:
            if self.add.sums and self.mult.counts and not any(map(is_record, (lookup(x), lookup(y or x)))):
                return self._of(self.mult.typed(widest(x if y is None else unify(x, y))))
            return self._of(self.mult.typed(x, y))

        return self._cached((x, y), make)

    def _of(self, mult: TypedBinary) -> TypedSemiring:
        add = self.add.typed(mult.z)
        if add.dtype != mult.z:
            mult = replace(mult, z=add.dtype)
        label = "" if self.name == f"{self.add.name}_{self.mult.name}" else self.name
        return TypedSemiring(add, mult, label, self)

    def __getitem__(self, dtype: object) -> TypedSemiring:
        types = tuple(map(lookup, dtype)) if isinstance(dtype, tuple) else lookup(dtype)
        return self._cached(("item", types), lambda: self._of(self.mult[types]))
