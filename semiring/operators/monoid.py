"""Monoids, one row each: operator, identity, terminal value, types.

A terminal value ends a reduction early. The result of ``any`` is either operand, so it has no identity, and its
first operand ends a reduction. The laws of ``min`` and ``max`` exclude NaN, which these operators ignore.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from semiring.dtypes import ALL, BOOL, COMPLEX, FLOATS, INTEGERS, REALS, UNSIGNED, DType
from semiring.exceptions import InvalidOperator, InvalidType
from semiring.operators import binary, table
from semiring.operators.binary import BITS
from semiring.operators.constants import Value
from semiring.operators.families import Binary, Monoid
from semiring.operators.lookup import lookup_monoid
from semiring.operators.monoid_laws import check_constant, check_laws
from semiring.operators.parameterized import Parameterized, same_parameters
from semiring.operators.types import TypedMonoid

TRUTH = (BOOL,)
NUMBERS = REALS + COMPLEX


def _row(
    op: Binary,
    identity: Value = None,
    terminal: Value = None,
    types: tuple[DType, ...] = ALL,
    *,
    otherwise: DType | None = None,
    is_any: bool = False,
    sums: bool = False,
) -> Monoid:
    made = Monoid(op.name, op, identity, terminal, types, otherwise=otherwise, is_any=is_any, sums=sums)
    table.add(made)
    return made


plus = _row(binary.plus, 0, None, NUMBERS, sums=True)
times = _row(binary.times, 1, dict.fromkeys(INTEGERS, 0), NUMBERS)
min = _row(binary.min, "highest", "lowest")
max = _row(binary.max, "lowest", "highest")
any = _row(binary.any, is_any=True)
land = _row(binary.land, 1, 0, TRUTH, otherwise=BOOL)
lor = _row(binary.lor, 0, 1, TRUTH, otherwise=BOOL)
lxor = _row(binary.lxor, 0, None, TRUTH, otherwise=BOOL)
lxnor = _row(binary.lxnor, 1, None, TRUTH, otherwise=BOOL)
eq = _row(binary.eq, 1, None, TRUTH, otherwise=BOOL)
band = _row(binary.band, "ones", 0, BITS)
bor = _row(binary.bor, 0, "ones", BITS)
bxor = _row(binary.bxor, 0, None, BITS)
bxnor = _row(binary.bxnor, "ones", None, INTEGERS)
# Not on types with a sign, where gcd(0, -2) is 2.
gcd = replace(_row(binary.gcd, 0, 1, UNSIGNED), declared_idempotent=True)
table.add(gcd)
logaddexp = _row(binary.logaddexp, -math.inf, math.inf, FLOATS)
logaddexp2 = _row(binary.logaddexp2, -math.inf, math.inf, FLOATS)


def register_new(
    name: str,
    op: Binary | Callable[..., Any] | str,
    identity: Value | Callable[..., Any],
    *,
    terminal: Value = None,
    is_idempotent: bool = False,
    lazy: bool = False,
) -> Monoid:
    """Register a monoid under `name`, as an attribute of this module and for look-up by name.

    Parameters
    ----------
    name : str
        As that of `binary.register_new`.
    op : Binary, callable or str
        The operator, which must be commutative and associative (tested on a few numbers between 0 and 5): a
        binary operator, or a function or an expression that `binary.register_new` accepts.  With one that has
        parameters the monoid has the same ones, and `identity` may be a function of them.
    identity : number, str or mapping
        The value e with ``op(e, x) == x``: a number, ``"lowest"`` or ``"highest"`` of the type, or a mapping from
        type to number. Types that cannot hold it are left out, except unsigned ones in which a negative integer wraps
        to an identity (-1 of ``x + y + 1``).
    terminal : number, str or mapping, optional
        A value t with ``op(t, x) == t``: reductions stop there.
    is_idempotent : bool
        Whether ``op(x, x) == x``: what the attribute of that name then is.
    lazy : bool
        Make the monoid at its first use, when errors are raised too; the result is None.

    Returns
    -------
    Monoid

    Raises
    ------
    NameTaken, UdfParseError
        If a function cannot be turned into an expression.
    InvalidValue
        If the identity is not a number, or if a law does not hold; the message contains a counterexample.
    DomainMismatch
        If no type exists on which the operator is closed and which holds the identity.

    Examples
    --------
    >>> hypot = sr.monoid.register_new("hypot", "sqrt(x * x + y * y)", identity=0)
    >>> Vector.from_dense([3.0, 4.0, 12.0]).reduce(hypot).value
    13.0
    """
    make = partial(register_anonymous, op, identity, name, terminal=terminal, is_idempotent=is_idempotent)
    return table.register("monoid", name, make, lazy=lazy)  # type: ignore[no-any-return]


def register_anonymous(
    op: Binary | Callable[..., Any] | str,
    identity: Value | Callable[..., Any],
    name: str = "",
    *,
    terminal: Value = None,
    is_idempotent: bool = False,
) -> Monoid:
    """Make a monoid as `register_new` does, without registering it.

    Parameters
    ----------
    op, identity, terminal, is_idempotent : as `register_new`
    name : only displayed

    Returns
    -------
    Monoid

    Raises
    ------
    UdfParseError, InvalidValue, DomainMismatch

    Examples
    --------
    >>> hypot = sr.monoid.register_anonymous("sqrt(x * x + y * y)", 0)
    >>> Vector.from_dense([3.0, 4.0]).reduce(hypot).value
    5.0
    """
    if isinstance(op, str) and (known := table.find("binary", op)) is not None:
        op = known
    if isinstance(op, (Monoid, TypedMonoid)) or (isinstance(op, Parameterized) and op.kind != "binary"):
        raise InvalidOperator(f"monoid: its operator must be a binary operator, got {op!r}")
    if isinstance(op, Parameterized):
        make = partial(register_anonymous, name=name, terminal=terminal, is_idempotent=is_idempotent)
        found = same_parameters("monoid", name or op.name, make, op, identity, declared_idempotent=is_idempotent)
        op.associate(found)
        return found  # type: ignore[return-value]
    if callable(identity):
        raise InvalidType("monoid: the identity is a function of the parameters of its operator, which has none")
    if not isinstance(op, Binary):
        op = binary.register_anonymous(op, name)
    where = f"monoid.{name}" if name else "monoid"
    check_constant(identity, "identity", where)
    if terminal is not None:
        check_constant(terminal, "terminal value", where)
    made = Monoid(name or op.name, op, identity, terminal, builtin=False, declared_idempotent=is_idempotent)
    check_laws(made, where)
    if not op.builtin:
        op.__dict__.setdefault("_monoid", made)
    return made


def from_string(text: str) -> Monoid | TypedMonoid:
    """Return the monoid of this name or symbol, with an optional type in brackets: ``"plus[int32]"``.

    Parameters
    ----------
    text : str

    Raises
    ------
    UnknownOperator, DomainMismatch

    Examples
    --------
    >>> from_string("+"), from_string("min[int32]")
    (monoid.plus, monoid.min[int32])
    """
    return lookup_monoid(text)


def __getattr__(name: str) -> Monoid:
    made: Monoid = table.attribute("monoid", name)
    return made


def __dir__() -> list[str]:
    return table.listing("monoid")
