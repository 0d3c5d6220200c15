"""Index-unary operators: functions of a value `x`, its row `i`, its column `j` and a thunk `k`.

In a vector the row is the index and the column is 0. ``A.apply(indexunary.rowindex)`` gives the row of every entry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semiring.dtypes import ALL, BOOL, DType
from semiring.operators import table
from semiring.operators.families import POSITION_TYPES, IndexUnary
from semiring.operators.lookup import anonymous, lookup_indexunary
from semiring.operators.types import TypedIndexUnary


def _row(name: str, expr: str, types: tuple[DType, ...], z: DType | str = "same") -> IndexUnary:
    made = IndexUnary(name, expr, types, z)
    table.add(made)
    return made


# Positions.
rowindex = _row("rowindex", "i + k", POSITION_TYPES)
colindex = _row("colindex", "j + k", POSITION_TYPES)
diagindex = _row("diagindex", "j - i + k", POSITION_TYPES)
index = _row("index", "i + k", POSITION_TYPES)

# Conditions on the position (the row is the index in a vector).
tril = _row("tril", "j <= i + k", ALL, BOOL)
triu = _row("triu", "j >= i + k", ALL, BOOL)
diag = _row("diag", "j == i + k", ALL, BOOL)
offdiag = _row("offdiag", "j != i + k", ALL, BOOL)
rowle = _row("rowle", "i <= k", ALL, BOOL)
rowgt = _row("rowgt", "i > k", ALL, BOOL)
colle = _row("colle", "j <= k", ALL, BOOL)
colgt = _row("colgt", "j > k", ALL, BOOL)
indexle = _row("indexle", "i <= k", ALL, BOOL)
indexgt = _row("indexgt", "i > k", ALL, BOOL)

# Conditions on the value.
valueeq = _row("valueeq", "x == k", ALL, BOOL)
valuene = _row("valuene", "x != k", ALL, BOOL)
valuegt = _row("valuegt", "x > k", ALL, BOOL)
valuege = _row("valuege", "x >= k", ALL, BOOL)
valuelt = _row("valuelt", "x < k", ALL, BOOL)
valuele = _row("valuele", "x <= k", ALL, BOOL)


def register_new(name: str, function: Callable[..., Any] | str) -> IndexUnary:
    """Register a user-defined operator under `name`, as an attribute of this module and for look-up by name.

    Parameters
    ----------
    name : str
        An identifier that no built-in operator of this kind has.
    function : callable or str
        A Python function without loops, or an expression: ``lambda x, i, j, k: abs(i - j) <= k``.

    Returns
    -------
    IndexUnary
        It runs on every engine; its result type follows from the operands by NumPy's rules.

    Raises
    ------
    UdfParseError
        If it cannot be turned into an expression; the message quotes the line.
    InvalidValue
        If the name is taken by a built-in operator or is no identifier.
    """
    made = register_anonymous(function, name)
    table.register(made)
    return made


def register_anonymous(function: Callable[..., Any] | str, name: str = "") -> IndexUnary:
    """As `register_new`, without entering it anywhere; `name` is only shown."""
    made: IndexUnary = anonymous("indexunary", function, name)
    return made


def from_string(text: str) -> IndexUnary | TypedIndexUnary:
    """The operator of this name or symbol, with a type in brackets if one is wanted: ``"rowindex[int32]"``."""
    return lookup_indexunary(text)


def __getattr__(name: str) -> IndexUnary:
    made: IndexUnary = table.attribute("indexunary", name)
    return made
