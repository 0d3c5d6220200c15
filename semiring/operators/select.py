"""Select operators: conditions on value, row, column and thunk; ``select.tril(A, -1)``."""

from __future__ import annotations

from typing import Any

from semiring.dtypes import ALL, BOOL, ORDERED, DType
from semiring.exceptions import InvalidValue
from semiring.operators import table
from semiring.operators.expression import Expression
from semiring.operators.families import IndexUnary, Select
from semiring.operators.lookup import lookup_select
from semiring.operators.registration import registration
from semiring.operators.types import TypedIndexUnary, dispatch


def _row(name: str, expr: str, types: tuple[DType, ...] = ALL) -> Select:
    made = Select(name, Expression(expr), types, BOOL)
    table.add(made)
    return made


class By:
    """The subject of a comparison: values, rows, columns or indices. ``select.value(A > 3)`` keeps entries above 3.

    The pending result of ``A > 3`` holds the comparison and its thunk; it calls `operator` for the condition.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [0, 1, 1], [5, 6, 7])
    >>> sr.select.value(A > 5).to_dicts(), sr.select.column(A == 1).to_dicts()
    ({0: {1: 6}, 1: {1: 7}}, {0: {1: 6}, 1: {1: 7}})
    """

    def __init__(self, name: str, variable: str) -> None:
        self.name = name
        self._operators = {
            comparison: Select(f"{name}{comparison}", Expression(f"{variable} {symbol} k"), ALL, BOOL, builtin=False)
            for comparison, symbol in _COMPARISONS.items()
        }

    def operator(self, comparison: str) -> Select:
        """Return the condition for ``"eq"``, ``"ne"``, ``"gt"``, ``"ge"``, ``"lt"`` or ``"le"``.

        Parameters
        ----------
        comparison : str

        Raises
        ------
        InvalidValue
            For anything else.

        Examples
        --------
        >>> sr.select.value.operator("gt")
        select.valuegt
        """
        if (found := self._operators.get(comparison)) is None:
            raise InvalidValue(
                f"select.{self.name}: expected a comparison such as A > 3, got the operator {comparison!r}"
            )
        return found

    def __call__(self, comparison: Any) -> Any:
        """Return the entries, with their own values, for which a comparison with a number holds.

        Parameters
        ----------
        comparison : the pending result of a comparison with a number, such as ``A > 3``

        Raises
        ------
        InvalidType
            For anything else.

        Examples
        --------
        >>> sr.select.value(Vector.from_dense([5, 6, 7]) > 5).to_dict()
        {1: 6, 2: 7}
        """
        return dispatch(self, comparison)

    def __repr__(self) -> str:
        return f"select.{self.name}"


_COMPARISONS = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}


tril = _row("tril", "j <= i + k")
triu = _row("triu", "j >= i + k")
diag = _row("diag", "j == i + k")
offdiag = _row("offdiag", "j != i + k")
rowle = _row("rowle", "i <= k")
rowgt = _row("rowgt", "i > k")
colle = _row("colle", "j <= k")
colgt = _row("colgt", "j > k")
indexle = _row("indexle", "i <= k")
indexgt = _row("indexgt", "i > k")

valueeq = _row("valueeq", "x == k")
valuene = _row("valuene", "x != k")
valuegt = _row("valuegt", "x > k", ORDERED)
valuege = _row("valuege", "x >= k", ORDERED)
valuelt = _row("valuelt", "x < k", ORDERED)
valuele = _row("valuele", "x <= k", ORDERED)

# ``select.value(A > 3)``: the comparison chooses the operator.
value = By("value", "x")
row = By("row", "i")
column = By("column", "j")
index = By("index", "i")


register_new, register_anonymous = registration(Select, "lambda x, i, j, k: abs(i - j) <= k")


def from_string(text: str) -> Select | IndexUnary | TypedIndexUnary:
    """Return the operator of this name or symbol, with an optional type in brackets: ``">"``.

    Parameters
    ----------
    text : str

    Raises
    ------
    UnknownOperator, DomainMismatch

    Examples
    --------
    >>> from_string("tril"), from_string(">")
    (select.tril, select.valuegt)
    """
    return lookup_select(text)


def __getattr__(name: str) -> Select:
    made: Select = table.attribute("select", name)
    return made


def __dir__() -> list[str]:
    return table.listing("select", "value", "row", "column", "index")
