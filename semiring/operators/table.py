"""Where operators are found by name: one dictionary for each kind, built-in and registered ones alike."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from semiring.exceptions import InvalidValue, UnknownOperator

if TYPE_CHECKING:
    from semiring.operators.agg import Aggregator
    from semiring.operators.families import Family

__all__ = ["KINDS", "add", "find", "names", "register", "unknown"]

KINDS = ("unary", "binary", "indexunary", "select", "monoid", "semiring", "agg")
_TABLES: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}


def add(family: Family[Any] | Aggregator, *aliases: str, kind: str | None = None) -> None:
    """Enter an operator under its name and its aliases, in the table of its kind or of another."""
    for name in (family.name, *aliases):
        _TABLES[kind or family.kind][name] = family


def register(family: Family[Any]) -> None:
    """Enter a user's operator; a name of the user's own is replaced, a built-in one is not.

    Raises
    ------
    InvalidValue
        If the name is no identifier or belongs to a built-in operator.
    """
    if not family.name.isidentifier() or family.name.startswith("_"):
        raise InvalidValue(f"{family.kind}.register_new: expected a name, got {family.name!r}")
    earlier = _TABLES[family.kind].get(family.name)
    if earlier is not None and earlier.builtin:
        raise InvalidValue(f"{family.kind}.register_new: {family.name!r} is built in; choose another name")
    add(family)


def find(kind: str, name: str) -> Any:
    """The operator of this kind and name, or None."""
    return _TABLES[kind].get(name)


def names(kind: str) -> list[str]:
    """The names of all operators of a kind, built-in ones first."""
    return list(_TABLES[kind])


def unknown(kind: str, name: str) -> UnknownOperator:
    """The error for a name that nothing has, with those that resemble it."""
    close = tuple(difflib.get_close_matches(name, _TABLES[kind], n=3))
    elsewhere = [other for other in KINDS if other != kind and name in _TABLES[other]]
    hint = f"; did you mean {' or '.join(repr(other) for other in close)}?" if close else ""
    if elsewhere:
        hint += f"; {name!r} exists as {' and '.join(other + '.' + name for other in elsewhere)}"
    return UnknownOperator(f"no {kind} operator is called {name!r}{hint}", close=close)


def attribute(kind: str, name: str) -> Any:
    """What ``binary.name`` is where the module has no such line: a registered operator, or an error."""
    if (found := _TABLES[kind].get(name)) is not None:
        return found
    if name.startswith("__"):
        raise AttributeError(name)
    raise unknown(kind, name)
