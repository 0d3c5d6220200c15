"""All operators in one namespace: ``op.plus``, ``op.sqrt``, ``op.rowindex``, ``op.min_plus``.

A name that several kinds have denotes the binary operator, else the unary, else the index-unary one. Monoids are
represented by their binary operators, which are accepted wherever a monoid is, unless only the monoid has the name.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from semiring.exceptions import UnknownOperator
from semiring.operators import table

# A later import overrides an earlier one, which yields the order stated above; register_new and the like are deleted.
# ruff: noqa: I001
from semiring.operators.semiring import *  # noqa: F403
from semiring.operators.indexunary import *  # type: ignore[assignment]  # noqa: F403
from semiring.operators.unary import *  # type: ignore[assignment]  # noqa: F403
from semiring.operators.binary import *  # type: ignore[assignment]  # noqa: F403

del register_new, register_anonymous, from_string  # type: ignore[used-before-def]  # noqa: F821


_KINDS = ("binary", "unary", "indexunary", "semiring", "monoid")


def from_string(text: str) -> Any:  # type: ignore[no-redef]
    """Return the operator of this name or symbol: the unary one, else the binary, the semiring, or the aggregator.

    Parameters
    ----------
    text : str

    Raises
    ------
    UnknownOperator
        If there is none of any kind.

    Examples
    --------
    >>> from_string("sqrt"), from_string("+"), from_string("min.+")
    (unary.sqrt, binary.plus, semiring.min_plus)
    """
    from semiring.operators import agg, binary, semiring, unary  # their names are operators here

    # A sign alone negates, or adds two.
    for kind in (binary, unary, semiring, agg) if text.startswith("+") else (unary, binary, semiring, agg):
        with suppress(UnknownOperator):
            return kind.from_string(text)
    raise table.unknown("binary", text)


def __getattr__(name: str) -> Any:
    return table.attribute_of(_KINDS, name)


def __dir__() -> list[str]:
    return sorted({name.partition(".")[0] for kind in _KINDS for name in table.names(kind)})
