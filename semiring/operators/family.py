"""What all operator families share: name, lookup by type, pickling; and families that an expression defines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Generic, TypeVar

import numpy as np

from semiring.dtypes import ALL, BOOL, FP64, INT32, INT64, DType, is_record, real_type, unify
from semiring.dtypes import name as name_of
from semiring.exceptions import DomainMismatch, UnsupportedType
from semiring.operators.attributes import has_type
from semiring.operators.describe import describe
from semiring.operators.expression import Expression
from semiring.operators.infer import infer
from semiring.operators.types import (
    TypedBinary,
    TypedIndexUnary,
    TypedMonoid,
    TypedSemiring,
    TypedUnary,
    dispatch,
)

__all__ = ["POSITION_TYPES", "Family", "ScalarFamily", "nearest"]

T = TypeVar("T", TypedUnary, TypedBinary, TypedIndexUnary, TypedMonoid, TypedSemiring)
_POSITIONS: Final = frozenset({"i", "j", "xi", "xj", "yi", "yj"})
POSITION_TYPES: Final = (INT32, INT64)
# A function may have no name by which pickle finds it; the monoid of an operator contains the operator.
_NOT_PICKLED: Final = frozenset({"orig_func", "_monoid"})


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
        """Return the operator for operands of this type, as `typed`; for positions, the one with this result type.

        Parameters
        ----------
        dtype : a type, as `semiring.dtypes.lookup` accepts it; or a pair of types

        Raises
        ------
        DomainMismatch
            If the operator is not defined on it.

        Examples
        --------
        >>> sr.binary.plus["int32"], sr.binary.plus[float].return_type
        (binary.plus[int32], dtype('float64'))
        """
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

    def __call__(self, operand: Any, *rest: Any, **options: Any) -> Any:
        """``sqrt(A)``, ``plus(A | B)``, ``min_plus(A @ B)``, ``tril(A, -1)``: the operand with this operator.

        Parameters
        ----------
        operand : an object of this package, or a number
        *rest : the right operand of a binary operator, if `operand` is its left one (either may be a number:
            ``minus(2, v)``); the thunk of an index-unary or select operator
        **options : ``thunk=``, by name; ``left_default=`` and ``right_default=`` for the missing entries of ``A | B``

        Raises
        ------
        InvalidType
            If `operand` is not an object of this package that accepts an operator.

        Examples
        --------
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 9, 2], shape=(3, 3))
        >>> sr.semiring.min_plus(A @ A).to_dicts(), sr.binary.minus(10, A).to_dicts()
        ({0: {2: 3}}, {0: {1: 9, 2: 1}, 1: {2: 8}})
        >>> sr.unary.sqrt(A).to_dicts(), sr.select.triu(A, 2).to_dicts()
        ({0: {1: 1.0, 2: 3.0}, 1: {2: 1.4142135623730951}}, {0: {2: 9}})
        """
        return dispatch(self, operand, *rest, **options)

    def __contains__(self, dtype: object) -> bool:
        return has_type(self, dtype)

    def __repr__(self) -> str:
        return f"{self.kind}.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.builtin:
            return _builtin, (self.kind, self.name)
        state = {name: value for name, value in self.__dict__.items() if name not in _NOT_PICKLED}
        return _rebuild, (type(self), {**state, "_cache": {}})

    def _cached(self, key: Any, make: Callable[[], T]) -> T:
        if (made := self._cache.get(key)) is None:
            new = make()
            # Equal ones are one object, which pickle restores too: `_restored` in `types`.
            made = self._cache.setdefault(
                key, next((known for known in list(self._cache.values()) if known == new), new)
            )
        return made

    def _mismatch(self, *got: DType) -> DomainMismatch:
        supported = ", ".join(dtype.name for dtype in self.types) or "none of the built-in types"
        operands = " and ".join(map(name_of, got))
        return UnsupportedType(f"{self!r} is not defined on {operands}; it supports {supported}")


def _builtin(kind: str, name: str) -> Any:
    from semiring.operators.lookup import lookup_kind  # a cycle: lookup imports modules that import this one

    return lookup_kind(kind, name)


def _rebuild(cls: type[Any], state: dict[str, Any]) -> Any:
    made = object.__new__(cls)
    made.__dict__.update(state)
    return made


@dataclass(frozen=True, eq=False, repr=False)
class ScalarFamily(Family[T]):
    """A family given by an expression: `supported` types, and the result type `z` that follows from them.

    `z` is a type, ``"same"``, ``"real"`` (of complex types the real type of their parts, else the same), ``"double"``
    (floats and complex types stay, other types become float64) or ``"infer"``.
    `orig_func` is the Python function that a user-defined operator was made of, else None; pickles lack it.
    """

    expr: Expression
    supported: tuple[DType, ...] = ALL
    z: DType | str = "same"
    otherwise: DType | None = field(default=None, kw_only=True)
    orig_func: Callable[..., Any] | None = field(default=None, kw_only=True)

    @property
    def uses(self) -> frozenset[str]:
        """The variables that the expression reads."""
        return self.expr.uses

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
        return self.expr.text

    def _result(self, dtype: DType, **variables: DType) -> DType:
        if self.z == "infer" or dtype.kind == "c":  # `infer` refuses functions that complex numbers lack
            positions = dict.fromkeys(_POSITIONS, INT64)
            found = infer(self.expr, {"x": dtype, "y": dtype, "k": dtype} | positions | variables, repr(self))
            if self.z == "infer":
                return found
        if isinstance(self.z, np.dtype):
            return self.z
        if self.z == "real":
            return real_type(dtype)
        return dtype if self.z == "same" or dtype.kind in "fc" else FP64

    def _on_records(self, **operands: DType) -> DType:
        """Return the type of the result on operands of which one is a record, and which are not cast.

        Raises
        ------
        UnsupportedType
            If the expression has no meaning on them.
        """
        variables = dict.fromkeys(_POSITIONS, INT64) | operands
        try:
            found = infer(self.expr, variables, repr(self))
        except DomainMismatch as error:
            raise UnsupportedType(str(error)) from None
        return self.z if isinstance(self.z, np.dtype) and not is_record(found) else found

    def _choose(self, *operands: DType) -> DType:
        common = operands[0]
        for operand in operands[1:]:
            common = unify(common, operand)
        for dtype in nearest(common, self.supported):
            return dtype
        if self.otherwise is None:
            raise self._mismatch(*operands)
        return self.otherwise
