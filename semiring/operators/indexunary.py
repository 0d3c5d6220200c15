"""Index-unary operators: functions of a value `x`, its row `i`, its column `j` and a thunk `k`.

In a vector the row is the index and the column is 0. ``A.apply(indexunary.rowindex)`` returns the row of every entry.
"""

from __future__ import annotations

from semiring.dtypes import ALL, BOOL, FP64, INT64, ORDERED, DType
from semiring.operators import table
from semiring.operators.expression import Expression
from semiring.operators.families import IndexUnary
from semiring.operators.family import POSITION_TYPES
from semiring.operators.lookup import lookup_indexunary
from semiring.operators.registration import registration
from semiring.operators.types import TypedIndexUnary


def _row(name: str, expr: str, types: tuple[DType, ...], z: DType | str = "same") -> IndexUnary:
    made = IndexUnary(name, Expression(expr), types, z)
    table.add(made)
    return made


# Positions.
rowindex = _row("rowindex", "i + k", POSITION_TYPES)
colindex = _row("colindex", "j + k", POSITION_TYPES)
diagindex = _row("diagindex", "j - i + k", POSITION_TYPES)
index = _row("index", "i + k", POSITION_TYPES)

# A number in [0, 1) that depends on the position and on the thunk, a seed, alone.
random = _row("random", "random(i, j, k)", (INT64,), FP64)

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
valuegt = _row("valuegt", "x > k", ORDERED, BOOL)
valuege = _row("valuege", "x >= k", ORDERED, BOOL)
valuelt = _row("valuelt", "x < k", ORDERED, BOOL)
valuele = _row("valuele", "x <= k", ORDERED, BOOL)


register_new, register_anonymous = registration(IndexUnary, "lambda x, i, j, k: abs(i - j) <= k")


def from_string(text: str) -> IndexUnary | TypedIndexUnary:
    """Return the operator of this name or symbol, with an optional type in brackets: ``"rowindex[int32]"``.

    Parameters
    ----------
    text : str

    Raises
    ------
    UnknownOperator, DomainMismatch

    Examples
    --------
    >>> from_string("rowindex"), from_string("valuegt[int32]")
    (indexunary.rowindex, indexunary.valuegt[int32])
    """
    return lookup_indexunary(text)


def __getattr__(name: str) -> IndexUnary:
    made: IndexUnary = table.attribute("indexunary", name)
    return made


def __dir__() -> list[str]:
    return table.listing("indexunary")
