"""Operations of Scalars with each other: union, intersection, selection, and accumulation; `Scalar` binds them.

A Scalar is a vector of one position: on the union of two, the present one counts where the other is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import dtypes, operators
from ..engines.numpy_helpers import evaluate
from ..exceptions import EmptyObject, InvalidType
from ..ops.apply import scalar_dtype
from ..ops.cast import cast_scalar
from .chain import Chain, WithDefaults

if TYPE_CHECKING:
    from .scalar import Scalar


def ewise_add(self: Scalar, other: Any, op: Any = "plus") -> Scalar:
    """S = self (+) other: `op` of both; the present one if the other is missing; empty if both are.

    Parameters
    ----------
    other : Scalar or number
    op : binary operator or monoid, by object or name

    Raises
    ------
    InvalidType, DomainMismatch, UnknownOperator
    """
    return _joined(self, _operand("ewise_add", self, other), op, union=True)


def ewise_mult(self: Scalar, other: Any, op: Any = "times") -> Scalar:
    """S = self (x) other: `op` of both, empty if one is missing; the rest as `ewise_add`."""
    return _joined(self, _operand("ewise_mult", self, other), op, union=False)


def ewise_union(self: Scalar, other: Any, op: Any, left_default: Any, right_default: Any) -> Scalar:
    """S = op(self, other), with a default for the missing one; empty if both are; the rest as `ewise_add`.

    Parameters
    ----------
    left_default, right_default : numbers or Scalars that replace self and `other`

    Raises
    ------
    EmptyObject
        If a default is a Scalar without a value.
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
    """
    typed = operators.lookup_select(op).typed(self._dtype, scalar_dtype(_number(thunk), self._dtype))
    value = self._read()
    if value is None:
        return type(self)(self.dtype)
    bound = {"x": cast_scalar(value, typed.x), "k": cast_scalar(_number(thunk), typed.k)}
    zero = np.int64(0)
    kept = evaluate(typed.expr, bound | {"i": zero, "j": zero}, typed.z)[()]
    return self.dup() if kept else type(self)(self.dtype)


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
