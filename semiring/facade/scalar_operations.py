"""Scalars in Python's arithmetic, and operations of Scalars: with each other, by operators, copies and comparison.

A Scalar is a vector of one position: on the union of two, the present one counts where the other is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import dtypes, operators
from ..engines.shared.expression_numpy import evaluate
from ..exceptions import DomainMismatch, EmptyObject, InvalidType
from ..ops.apply import exact_comparison, scalar_dtype
from ..ops.cast import cast_scalar
from ..ops.equal import equal_records
from ..record_types import of_value
from .chain import Chain, WithDefaults

if TYPE_CHECKING:
    from .scalar import Scalar


class Numeric:
    """Arithmetic and order of a Scalar, by its value."""

    __slots__ = ()

    _dtype: np.dtype[Any]

    def _unwrapped(self) -> Any:
        """Return the value; EmptyObject if there is none."""
        raise NotImplementedError

    def _partner(self, other: Any) -> Any:
        """Return the other operand; a Python integer that does not fit in this type gets a type that holds it."""
        value = unwrapped(other)
        if isinstance(value, bool) or not isinstance(value, int) or self._dtype.kind not in "iu":
            return value
        low, high = dtypes.limits(self._dtype)
        return value if int(low) <= value <= int(high) else scalar_dtype(value, self._dtype).type(value)

    def __add__(self, other: Any) -> Any:
        return self._unwrapped() + self._partner(other)

    def __radd__(self, other: Any) -> Any:
        return self._partner(other) + self._unwrapped()

    def __sub__(self, other: Any) -> Any:
        return self._unwrapped() - self._partner(other)

    def __rsub__(self, other: Any) -> Any:
        return self._partner(other) - self._unwrapped()

    def __mul__(self, other: Any) -> Any:
        return self._unwrapped() * self._partner(other)

    def __rmul__(self, other: Any) -> Any:
        return self._partner(other) * self._unwrapped()

    def __truediv__(self, other: Any) -> Any:
        return self._unwrapped() / self._partner(other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._partner(other) / self._unwrapped()

    def __floordiv__(self, other: Any) -> Any:
        return self._unwrapped() // self._partner(other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._partner(other) // self._unwrapped()

    def __mod__(self, other: Any) -> Any:
        return self._unwrapped() % self._partner(other)

    def __rmod__(self, other: Any) -> Any:
        return self._partner(other) % self._unwrapped()

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __pow__(self, other: Any) -> Any:
        return self._unwrapped() ** self._partner(other)

    def __rpow__(self, other: Any) -> Any:
        return self._partner(other) ** self._unwrapped()

    def __lt__(self, other: Any) -> Any:
        return self._unwrapped() < unwrapped(other)

    def __le__(self, other: Any) -> Any:
        return self._unwrapped() <= unwrapped(other)

    def __gt__(self, other: Any) -> Any:
        return self._unwrapped() > unwrapped(other)

    def __ge__(self, other: Any) -> Any:
        return self._unwrapped() >= unwrapped(other)

    def __neg__(self) -> Any:
        return -self._unwrapped()

    def __abs__(self) -> Any:
        return abs(self._unwrapped())


def unwrapped(value: Any) -> Any:
    """Return the value of a Scalar (EmptyObject if there is none), anything else unchanged."""
    return value._unwrapped() if isinstance(value, Numeric) else value


# What a Scalar is compared with, besides other Scalars and None.
_COMPARED = (int, float, complex, np.generic, np.ndarray)


def ewise_add(self: Scalar, other: Any, op: Any = "plus") -> Scalar:
    """S = self (+) other: `op` of both; the present one if the other is missing; empty if both are.

    Parameters
    ----------
    other : Scalar or number
    op : binary operator or monoid, by object or name

    Raises
    ------
    InvalidType, DomainMismatch, UnknownOperator

    Examples
    --------
    >>> s, missing = Scalar.from_value(5), Scalar(int)
    >>> s.ewise_add(3).value, s.ewise_add(missing).value, s.ewise_add(3, "max").value
    (8, 5, 5)
    """
    return _joined(self, _operand("ewise_add", self, other), op, union=True)


def ewise_mult(self: Scalar, other: Any, op: Any = "times") -> Scalar:
    """S = self (x) other: `op` of both; empty if one is missing.

    Parameters
    ----------
    other : Scalar or number
    op : binary operator or monoid, by object or name

    Raises
    ------
    InvalidType, DomainMismatch, UnknownOperator

    Examples
    --------
    >>> s, missing = Scalar.from_value(5), Scalar(int)
    >>> s.ewise_mult(3).value, s.ewise_mult(missing).value
    (15, None)
    """
    return _joined(self, _operand("ewise_mult", self, other), op, union=False)


def ewise_union(self: Scalar, other: Any, op: Any, left_default: Any, right_default: Any) -> Scalar:
    """S = op(self, other), with a default for the missing one; empty if both are.

    Parameters
    ----------
    other : Scalar or number
    op : binary operator or monoid, by object or name
    left_default, right_default : numbers or Scalars that replace self and `other`

    Raises
    ------
    EmptyObject
        If a default is a Scalar without a value.
    InvalidType, DomainMismatch, UnknownOperator

    Examples
    --------
    >>> s, missing = Scalar.from_value(5), Scalar(int)
    >>> missing.ewise_union(s, "minus", 0, 0).value
    -5
    """
    return _united(self, _operand("ewise_union", self, other), WithDefaults(op, left_default, right_default))


def select(self: Scalar, op: Any, thunk: Any = 0) -> Scalar:
    """Return the value if op(value, 0, 0, thunk) holds, else an empty Scalar.

    Parameters
    ----------
    op : select or index-unary operator, by object or name
    thunk : number or Scalar

    Raises
    ------
    InvalidType, DomainMismatch, UnknownOperator

    Examples
    --------
    >>> s = Scalar.from_value(5)
    >>> s.select(">", 3).value, s.select(">", 7).value
    (5, None)
    """
    family, thunk, _ = exact_comparison(operators.lookup_select(op), _number(thunk), self._dtype)
    typed = family.typed(self._dtype, scalar_dtype(thunk, self._dtype))
    value = self._read()
    if value is None:
        return type(self)(self.dtype)
    bound = {"x": cast_scalar(value, typed.x), "k": cast_scalar(thunk, typed.k)}
    zero = np.int64(0)
    kept = evaluate(typed.expr, bound | {"i": zero, "j": zero}, typed.z)[()]
    return self.dup() if kept else type(self)(self.dtype)


def apply(self: Scalar, op: Any, right: Any = None, *, left: Any = None) -> Scalar:
    """op(value), op(value, right) or op(left, value); empty stays empty.

    Parameters
    ----------
    op : unary operator, or binary operator with one side bound
    right, left : the bound side

    Raises
    ------
    DomainMismatch, UnknownOperator, InvalidValue, EmptyObject

    Examples
    --------
    >>> s = Scalar.from_value(4)
    >>> s.apply("sqrt").value, s.apply("minus", left=10).value, s.apply("pow", right=3).value
    (2.0, 6, 64)
    """
    x = self._read()
    variables: dict[str, Any] = {"x": x}
    if right is not None and left is not None:
        raise InvalidType("apply: bind left= or right=, not both")
    if right is not None or left is not None:
        bound = unwrapped(left if right is None else right)
        family, bound, is_left = exact_comparison(operators.lookup_binary(op), bound, self._dtype, left=right is None)
        types = self._dtype, scalar_dtype(bound, self._dtype)
        typed: Any = family.typed(*(types[::-1] if is_left else types))
        variables = {"x": bound, "y": x} if is_left else {"x": x, "y": bound}
    else:
        typed = operators.lookup_unary(op).typed(self._dtype)
    if x is None:
        return type(self)(typed.z)
    variables = {name: cast_scalar(value, getattr(typed, name)) for name, value in variables.items()}
    return type(self).from_value(evaluate(typed.expr, variables, typed.z)[()], typed.z)


def dup(
    self: Scalar, dtype: Any = None, *, clear: bool = False, is_cscalar: bool | None = None, name: str | None = None
) -> Scalar:
    """Return a copy.

    Parameters
    ----------
    dtype : type to cast the value to
    clear : leave the value out
    is_cscalar : accepted for programs of python-graphblas; changes nothing
    name : shown by `repr`

    Raises
    ------
    DomainMismatch

    Examples
    --------
    >>> s = Scalar.from_value(2.5)
    >>> s.dup(int).value, s.dup(clear=True).is_empty
    (2, True)
    """
    return type(self).from_value(None if clear else self._read(), self._dtype if dtype is None else dtype, name=name)


def new(
    self: Scalar,
    dtype: Any = None,
    *,
    mask: Any = None,
    input_mask: Any = None,
    is_cscalar: bool | None = None,
    name: str | None = None,
) -> Scalar:
    """Return a copy, by python-graphblas's name.

    Parameters
    ----------
    dtype, is_cscalar, name : as `dup`
    mask, input_mask : accepted as None alone, for a Scalar has no mask

    Raises
    ------
    InvalidType
        For a mask.
    DomainMismatch

    Examples
    --------
    >>> Vector.from_dense([5, 6]).reduce().new(float).value
    11.0
    """
    if mask is not None or input_mask is not None:
        raise InvalidType("new: a Scalar has no mask")
    return self.dup(dtype, name=name)


def isequal(self: Scalar, other: Any, *, check_dtype: bool = False) -> bool:
    """Return True if both are empty, or both hold equal values (NaN equals NaN).

    Parameters
    ----------
    other : Scalar, number, or None for an empty one
    check_dtype : whether the types must agree too

    Examples
    --------
    >>> s = Scalar.from_value(5)
    >>> s.isequal(5.0), s.isequal(None), Scalar(int).isequal(None)
    (True, False, True)
    """
    if dtypes.is_record(self._dtype) and not (other is None or hasattr(other, "_unwrapped")):
        other = as_record(other, self._dtype)
    a, b = self._read(), _comparable(other)
    if check_dtype and isinstance(other, type(self)) and self._dtype != other._dtype:
        return False
    if a is None or b is None:
        return a is None and b is None
    if isinstance(a, np.void) or isinstance(b, np.void):
        return _same_records(a, b)
    return bool(a == b or (a != a and b != b))


def as_record(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a value that is compared with a record as a record of its type; itself where it has other fields."""
    try:
        return of_value(value, dtype)
    except DomainMismatch:
        return np.zeros((), "V1")[()]  # differs from every record


def _same_records(a: Any, b: Any) -> bool:
    """Return whether all fields are equal (NaN equals NaN); a number equals the record with it in every field."""
    dtype = a.dtype if isinstance(a, np.void) else b.dtype
    try:
        x, y = of_value(a, dtype), of_value(b, dtype)
    except DomainMismatch:
        return False
    return bool(equal_records(np.array([x], dtype), np.array([y], dtype)).all())


def isclose(
    self: Scalar, other: Any, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False
) -> bool:
    """Return True if both are empty, or both hold values with |a - b| <= abs_tol + rel_tol |b|.

    Parameters
    ----------
    other : Scalar, number, or None for an empty one
    rel_tol, abs_tol : the tolerances
    check_dtype : whether the types must agree too

    Examples
    --------
    >>> s = Scalar.from_value(2.0)
    >>> s.isclose(2.001), s.isclose(2.001, rel_tol=0.01)
    (False, True)
    """
    a, b = self._read(), _comparable(other)
    if check_dtype and isinstance(other, type(self)) and self._dtype != other._dtype:
        return False
    if a is None or b is None:
        return a is None and b is None
    return bool(np.isclose(a, b, rtol=rel_tol, atol=abs_tol, equal_nan=True))


def is_comparable(value: Any) -> bool:
    """Return whether a Scalar may be compared with this: a Scalar, a number or None."""
    return value is None or hasattr(value, "_unwrapped") or isinstance(value, _COMPARED)


def _comparable(value: Any) -> Any:
    """Return the number that a Scalar is compared with, or None; InvalidType if it is neither."""
    if not is_comparable(value):
        raise InvalidType(f"a Scalar is compared with a Scalar, a number or None, got {type(value).__name__}")
    return value._read() if hasattr(value, "_read") else value


def linked(self: Scalar, other: Any, *, union: bool, reflected: bool = False) -> Any:
    """Return ``s | t`` or ``s & t``: plus and times (lor and land of booleans), unless an operator is called on it."""
    if not _is_number(other):
        return NotImplemented
    partner = _operand("|" if union else "&", self, other)
    left, right = (partner, self) if reflected else (self, partner)
    boolean = left.dtype == right.dtype == dtypes.BOOL
    names = ("lor", "plus") if union else ("land", "times")
    sides = (_side(left), _side(right))

    def under(operator: Any) -> Scalar:
        a, b = (side.chain.rebound(operator) if side.chain else side.value for side in sides)
        return _joined(a, b, operator, union=union)

    made = _joined(left, right, names[0] if boolean else names[1], union=union)
    made._chain = Chain("ewise", under)
    return made


class _Side(NamedTuple):
    value: Scalar
    chain: Chain | None


def _side(x: Scalar) -> _Side:
    """Return one side of a link: its chain, or its present value, for the Scalar may change."""
    chain = x._chain
    return _Side(x, chain) if chain is not None and chain.kind == "ewise" else _Side(x.dup(), None)


def accumulated(self: Scalar, value: Any, accum: Any) -> Any:
    """Return the value of ``s(accum) << value``: of both where both are present, else the present one."""
    partner = _operand("<<", self, value)
    return _joined(self, partner, accum, union=True)._read()


def _joined(a: Scalar, b: Scalar, op: Any, *, union: bool) -> Scalar:
    if isinstance(op, WithDefaults):
        if not union:
            raise InvalidType(f"{op!r}(...): defaults replace missing entries of A | B; A & B has none")
        return _united(a, b, op)
    typed = operators.lookup_binary(op).typed(a.dtype, b.dtype)
    x, y = a._read(), b._read()
    if x is not None and y is not None:
        return _evaluated(a, typed, x, y)
    present = x if y is None else y
    return type(a).from_value(present if union else None, typed.z)


def _united(a: Scalar, b: Scalar, op: WithDefaults) -> Scalar:
    left, right = _number(op.left), _number(op.right)
    types = [
        dtypes.unify(a.dtype, scalar_dtype(left, a._dtype)),
        dtypes.unify(b.dtype, scalar_dtype(right, b._dtype)),
    ]
    typed = operators.lookup_binary(op.op).typed(*types)
    x, y = a._read(), b._read()
    if x is None and y is None:
        return type(a)(typed.z)
    return _evaluated(a, typed, left if x is None else x, right if y is None else y)


def _evaluated(like: Scalar, typed: Any, x: Any, y: Any) -> Scalar:
    variables = {"x": cast_scalar(x, typed.x), "y": cast_scalar(y, typed.y)}
    variables |= dict.fromkeys(("xi", "xj", "yi", "yj"), np.int64(0))
    return like.from_value(evaluate(typed.expr, variables, typed.z)[()], typed.z)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex, np.generic)) or getattr(value, "ndim", None) == 0


def _operand(operation: str, beside: Scalar, value: Any) -> Scalar:
    """Return the other operand as a Scalar, a number in a type that `beside` gives."""
    if hasattr(value, "_unwrapped"):
        return value  # type: ignore[no-any-return]
    if not _is_number(value):
        raise InvalidType(f"{operation}: expected a Scalar or a number beside a Scalar, got {type(value).__name__}")
    return beside.from_value(value, scalar_dtype(value, beside._dtype))


def _number(value: Any) -> Any:
    """Return a number, or the value of a Scalar; EmptyObject if it has none."""
    if hasattr(value, "_unwrapped"):
        return value._unwrapped()
    if value is None:
        raise EmptyObject("a default must be a number or a Scalar with a value, got None")
    if not _is_number(value):
        raise InvalidType(f"expected a number or a Scalar, got {type(value).__name__}")
    return value
