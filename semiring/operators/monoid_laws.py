"""Check of the monoid laws of a user-defined operator, on a few numbers.

The numbers come from the two common domains of monoids: the unit interval, and small counts. An operator may satisfy
the laws on one domain and violate them on the other (``max`` with identity 0, ``min(x + y, 1)``), so it is rejected
only where both domains yield a counterexample. Expressions are evaluated with NumPy; one that calls a helper that is
not listed here is accepted without a check.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semiring.dtypes import BOOL, FP64, INT64, DType
from semiring.exceptions import DomainMismatch, InvalidValue
from semiring.operators.constants import constant

if TYPE_CHECKING:
    from semiring.operators.families import Monoid
    from semiring.operators.types import TypedBinary, TypedMonoid

__all__ = ["check_constant", "check_laws", "user_identity"]

_DOMAINS: Final[dict[DType, tuple[tuple[float, ...], ...]]] = {
    FP64: ((0.0, 0.25, 0.5, 1.0), (0.0, 1.0, 2.0, 3.0, 5.0)),
    INT64: ((0, 1), (0, 1, 2, 3, 5)),
    BOOL: ((0, 1),),
}
_RULES: Final = ("lowest", "highest", "ones")


def _div(a: Any, b: Any) -> Any:
    if np.result_type(a, b).kind == "f":
        return np.true_divide(a, b)
    ends = np.iinfo(np.int64).max * np.sign(a)
    return np.where(b == 0, ends, np.trunc(np.true_divide(a, np.where(b == 0, 1, b))).astype(np.int64))


_NAMES: Final[dict[str, Callable[..., Any]]] = {
    "min": np.fmin,
    "max": np.fmax,
    "select": np.where,
    "land": np.logical_and,
    "lor": np.logical_or,
    "lxor": np.logical_xor,
    "lxnor": lambda a, b: np.asarray(a, bool) == np.asarray(b, bool),
    "lnot": np.logical_not,
    "div": _div,
    "truediv": np.true_divide,
    "pow": np.power,
    "mod": np.mod,
    "fmod": np.fmod,
    "band": np.bitwise_and,
    "bor": np.bitwise_or,
    "bxor": np.bitwise_xor,
    "bnot": np.invert,
    "sign": np.sign,
    "round": np.rint,
    "atan2": np.arctan2,
    "abs": np.abs,
}
_NAMES.update({name: getattr(np, name) for name in (
    "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2",
    "log10", "log1p", "hypot",
)})  # fmt: skip


def check_constant(value: object, what: str, where: str) -> None:
    """Raise `InvalidValue` unless an identity or terminal value is a number, a rule name or a mapping to these."""
    for part in value.values() if isinstance(value, Mapping) else (value,):
        if (isinstance(part, str) and part in _RULES) or isinstance(part, (tuple, np.void)):
            continue
        if not isinstance(part, (bool, int, float, complex, np.number, np.bool_)):
            raise InvalidValue(
                f"{where}: expected as {what} a number, a tuple (a record), 'lowest', 'highest', 'ones' or a mapping "
                f"from type to number, got {part!r}"
            )


def user_identity(identity: Any, op: TypedBinary) -> np.generic | None:
    """Return the identity of a user-defined operator in its type.

    A negative integer wraps in an unsigned type if the result is an identity there, which a few operands show.

    Raises
    ------
    OverflowError
        If the type does not contain it.
    """
    dtype = op.z
    try:
        return constant(identity, dtype)
    except OverflowError:
        if dtype.kind != "u" or not isinstance(identity, int) or identity >= 0 or not _is_evaluated(op):
            raise
    wrapped: np.generic = dtype.type(identity % 2 ** (8 * dtype.itemsize))
    x = np.arange(6, dtype=dtype)
    e = np.full_like(x, wrapped)
    with np.errstate(all="ignore"):
        if any((_evaluated(op, a, b) != x).any() for a, b in ((e, x), (x, e))):
            raise OverflowError(f"{identity} is no identity of {op!r}")
    return wrapped


def check_laws(monoid: Monoid, where: str) -> None:
    """Raise an error where `monoid` violates a monoid law.

    Raises
    ------
    DomainMismatch
        Where the operator is closed on no type that holds the identity.
    InvalidValue
        Where it is not associative or not commutative, or the identity changes an operand; with a counterexample.
    """
    if isinstance(monoid.identity, (tuple, np.void)) or monoid.op.expr.has_records:  # records are not drawn here
        return
    types = monoid.types
    if not types:
        raise DomainMismatch(
            f"{where}: on no type are the operands, the result and the identity {monoid.identity!r} of that same type"
        )
    for dtype, domains in _DOMAINS.items():
        if dtype not in types:
            continue
        try:
            found = [_counterexample(monoid.typed(dtype), domain) for domain in domains]
        except (TypeError, ValueError):  # not defined in NumPy, such as a negative power of integers
            continue
        if all(found):
            raise InvalidValue(f"{where}: not a monoid on {dtype.name}: {found[-1]}")


def _counterexample(monoid: TypedMonoid, domain: tuple[float, ...]) -> str:
    """Return a case that violates a law, as text; empty where none is found."""
    dtype, identity = monoid.dtype, monoid.identity
    if not _is_evaluated(monoid.op):
        return ""
    op = partial(_evaluated, monoid.op)

    def show(value: Any) -> str:
        return str(value.item())

    x, y, z = np.array(list(itertools.product(domain, repeat=3)), dtype).T
    e = np.full_like(x, identity)
    with np.errstate(all="ignore"):
        for left, a, b in (("op({e}, {x})", e, x), ("op({x}, {e})", x, e)):
            made = op(a, b)
            if (at := _first(made, x)) is not None:
                case = left.format(e=show(e[at]), x=show(x[at]))
                return f"{case} is {show(made[at])}, so {show(e[at])} is no identity"
        one, other = op(x, y), op(y, x)
        if (at := _first(one, other)) is not None:
            a, b = show(x[at]), show(y[at])
            return f"op({a}, {b}) is {show(one[at])} and op({b}, {a}) is {show(other[at])}"
        one, other = op(op(x, y), z), op(x, op(y, z))
        if (at := _first(one, other)) is not None:
            a, b, c = show(x[at]), show(y[at]), show(z[at])
            return f"op(op({a}, {b}), {c}) is {show(one[at])} and op({a}, op({b}, {c})) is {show(other[at])}"
    return ""


def _is_evaluated(op: TypedBinary) -> bool:
    """Whether NumPy evaluates the expression here."""
    names = compile(op.expr.text, "<operator>", "eval").co_names
    return op.uses <= {"x", "y"} and set(names) <= _NAMES.keys() | {"x", "y"}


def _evaluated(op: TypedBinary, x: Any, y: Any) -> Any:
    """Return the result for arrays of the operator's type."""
    if op.z == BOOL:  # computed as integers, as in C++
        x, y = x.astype(INT64), y.astype(INT64)
    # Safe to evaluate: normalized text contains only arithmetic and these functions.
    made = eval(op.expr.text, {"__builtins__": {}, **_NAMES, "x": x, "y": y})
    return np.broadcast_to(np.asarray(made).astype(op.z), np.shape(x))


def _first(a: Any, b: Any) -> int | None:
    """Return the first position where two arrays differ by more than rounding; positions with NaN are skipped."""
    close = np.isclose(a, b, rtol=1e-9, atol=1e-12) | np.isnan(a) | np.isnan(b)
    return None if close.all() else math.floor(np.argmin(close))
