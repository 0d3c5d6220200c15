"""The operator tables: one dictionary by name for each kind, built-in and registered operators alike."""

from __future__ import annotations

import difflib
import keyword
import sys
from typing import TYPE_CHECKING, Any

from semiring.exceptions import InvalidValue, UnknownOperator
from semiring.operators.near_names import MEANT

if TYPE_CHECKING:
    from semiring.operators.agg import Aggregator
    from semiring.operators.family import Family

__all__ = ["KINDS", "add", "attribute", "check_name", "find", "listing", "names", "unknown"]

KINDS = ("unary", "binary", "indexunary", "select", "monoid", "semiring", "agg")
_TABLES: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}


def add(family: Family[Any] | Aggregator, *aliases: str, kind: str | None = None) -> None:
    """Add an operator under its name and its aliases to the table of its kind, or of `kind`."""
    for name in (family.name, *aliases):
        _TABLES[kind or family.kind][name] = family


def check_name(kind: str, name: str) -> None:
    """Check that a user-defined operator of this kind may have this name; it replaces a user-defined one.

    Raises
    ------
    InvalidValue
        If the name is not an identifier, or belongs to a built-in operator or to another attribute of the module.
    """
    place = f"{kind}.register_new"
    text = str(name)
    if not text.isidentifier() or text.startswith("_") or keyword.iskeyword(text):
        raise InvalidValue(f"{place}: expected a name, got {name!r}")
    earlier = _TABLES[kind].get(name)
    if earlier is not None and earlier.builtin:
        raise InvalidValue(f"{place}: {name!r} is built in; choose another name")
    # Registered operators are in the table only, so an attribute of the module itself is not one of them.
    if name in vars(sys.modules[f"semiring.operators.{kind}"]):
        raise InvalidValue(f"{place}: {kind}.{name} is already an attribute of the module; choose another name")


def find(kind: str, name: str) -> Any:
    """Return the operator of this kind and name, or None."""
    return _TABLES[kind].get(name)


def names(kind: str) -> list[str]:
    """Return the names of all operators of a kind, built-in ones first."""
    return list(_TABLES[kind])


def listing(kind: str, *more: str) -> list[str]:
    """Return the names that completion offers in the module of this kind: operators and constructors."""
    return sorted({*_TABLES[kind], "from_string", "register_anonymous", "register_new", *more})


def unknown(kind: str, name: str) -> UnknownOperator:
    """Return the error for an unknown name; its message lists similar names."""
    close = tuple(difflib.get_close_matches(name, _TABLES[kind], n=3))
    elsewhere = [other for other in KINDS if other != kind and name in _TABLES[other]]
    meant = MEANT.get(kind, {}).get(name.strip().lower())
    if meant is None:
        meant = " or ".join(repr(other) for other in close) or _close_elsewhere(kind, name)
    hint = f"; did you mean {meant}?" if meant else ""
    if elsewhere:
        hint += f"; {name!r} exists as {' and '.join(other + '.' + name for other in elsewhere)}"
    return UnknownOperator(f"no {kind} operator is called {name!r}{hint}", close=close)


def _close_elsewhere(kind: str, name: str) -> str:
    """Return an operator of another kind with nearly this name; empty if there is none."""
    for other in KINDS:
        close = difflib.get_close_matches(name, _TABLES[other], n=1, cutoff=0.8) if other != kind else []
        if close and close[0] != name:
            return f"{other}.{close[0]}"
    return ""


def attribute(kind: str, name: str) -> Any:
    """Return the registered operator ``binary.name``, which is not a variable of the module, or raise an error."""
    if (found := _TABLES[kind].get(name)) is not None:
        return found
    if name.startswith("__"):
        raise AttributeError(name)
    raise unknown(kind, name)
