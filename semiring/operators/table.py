"""The operator tables: one dictionary by name for each kind, built-in and registered operators alike."""

from __future__ import annotations

import keyword
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from semiring.exceptions import InvalidValue, NameTaken, UnknownOperator, near_names
from semiring.operators.near_names import MEANT

if TYPE_CHECKING:
    from semiring.operators.agg import Aggregator
    from semiring.operators.family import Family

__all__ = [
    "KINDS",
    "Operators",
    "Path",
    "add",
    "attribute",
    "attribute_of",
    "check_name",
    "find",
    "is_path",
    "listing",
    "names",
    "register",
    "unknown",
]

KINDS = ("unary", "binary", "indexunary", "select", "monoid", "semiring", "agg")
_TABLES: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
BINARY = _TABLES["binary"]
# Registered operators that are not made yet: functions that make them.
_LAZY: dict[tuple[str, str], Callable[[], Any]] = {}
# Typed operators by kind, name and the types of their operands: `lookup.typed`.  Another dictionary after a name has
# changed, so that a look-up that began before it leaves nothing in the new one.
TYPED: dict[tuple[str, object, object, object], Any] = {}


def add(family: Family[Any] | Aggregator, *aliases: str, kind: str | None = None) -> None:
    """Add an operator under its name and its aliases to the table of its kind, or of `kind`."""
    for name in (family.name, *aliases):
        _TABLES[kind or family.kind][name] = family


def register(kind: str, name: str, make: Callable[[], Any], *, lazy: bool = False) -> Any:
    """Add the operator that `make` returns under this name, and return it; if `lazy`, at its first use.

    A select operator is an index-unary operator too, unless one of that name exists.

    Raises
    ------
    NameTaken, InvalidValue
        As `check_name`.
    """
    check_name(kind, name)
    places = [kind]
    if kind == "select" and find("indexunary", name) in (None, find("select", name)):
        places.append("indexunary")
    made = None if lazy else make()
    for place in places:
        _TABLES[place].pop(name, None)
        _LAZY.pop((place, name), None)
        if lazy:
            _LAZY[place, name] = make
        else:
            _TABLES[place][name] = made
    _forget_types()
    return made


def _forget_types() -> None:
    global TYPED
    TYPED = {}


def check_name(kind: str, name: str) -> None:
    """Check that a user-defined operator of this kind may have this name; it replaces a user-defined one.

    A name with dots is a path, ``family.member``, and replaces nothing.

    Raises
    ------
    NameTaken
        If it belongs to a built-in operator or to another attribute of the module, or begins or continues the path of
        another operator.
    InvalidValue
        If it is not an identifier, nor identifiers joined by dots.
    """
    place = f"{kind}.register_new"
    parts = str(name).split(".")
    if any(not part.isidentifier() or part.startswith("__") or keyword.iskeyword(part) for part in parts):
        raise InvalidValue(f"{place}: expected a name, got {name!r}")
    earlier = find(kind, name)
    if earlier is not None and earlier.builtin:
        raise NameTaken(f"{place}: {name!r} is built in; choose another name")
    module = sys.modules[f"semiring.operators.{kind}"]
    begun = (".".join(parts[:count]) for count in range(1, len(parts)))
    # Registered operators are in the table only, so an attribute of the module itself is not one of them.
    taken = (
        parts[0] in vars(module) and parts[0] != "numpy",
        parts[0] == "numpy" and (len(parts) == 1 or parts[1] in dir(module.numpy)),
        len(parts) > 1 and earlier is not None,
        any(find(kind, path) is not None for path in begun),
        is_path(kind, name),
    )
    if any(taken):
        raise NameTaken(f"{place}: {kind}.{name} is already defined; choose another name")


def find(kind: str, name: str) -> Any:
    """Return the operator of this kind and name, or None."""
    found = _TABLES[kind].get(name)
    if found is None and (make := _LAZY.get((kind, name))) is not None:
        try:
            found = _TABLES[kind].setdefault(name, make())
        finally:  # other threads find one of both
            _LAZY.pop((kind, name), None)
    return found


def is_path(kind: str, name: str) -> bool:
    """Whether operators of this kind have names that continue this one, after a dot."""
    return any(known.startswith(f"{name}.") for known in names(kind))


class Path:
    """The operators whose names begin alike: ``unary.family`` of ``unary.family.member``.

    The operator is that of the first of `kinds` that has one.
    """

    def __init__(self, name: str, *kinds: str) -> None:
        self._name, self._kinds = name, kinds

    def __getattr__(self, name: str) -> Any:
        return attribute_of(self._kinds, f"{self._name}.{name}")

    def __dir__(self) -> list[str]:
        first = len(self._name) + 1
        whole = {known for kind in self._kinds for known in names(kind) if known.startswith(f"{self._name}.")}
        return sorted({known[first:].partition(".")[0] for known in whole})

    def __repr__(self) -> str:
        return f"{'|'.join(self._kinds)}.{self._name}: {', '.join(dir(self))}"


class Operators(ModuleType):
    """The class of the modules of operators: ``del unary.mine`` removes a registered operator."""

    def __delattr__(self, name: str) -> None:
        kind = self.__name__.rpartition(".")[2]
        if (kind, name) in _LAZY:
            del _LAZY[kind, name]
        elif (found := _TABLES[kind].get(name)) is not None and not found.builtin:
            del _TABLES[kind][name]
        else:
            super().__delattr__(name)
        _forget_types()


def names(kind: str) -> list[str]:
    """Return the names of all operators of a kind, built-in ones first."""
    return [*_TABLES[kind], *(name for place, name in _LAZY if place == kind)]


def listing(kind: str, *more: str) -> list[str]:
    """Return the names that completion offers in the module of this kind: operators and constructors."""
    return sorted(
        {*(name.partition(".")[0] for name in names(kind)), "from_string", "register_anonymous", "register_new", *more}
    )


def unknown(kind: str, name: str) -> UnknownOperator:
    """Return the error for an unknown name; its message lists similar names."""
    close = tuple(near_names(name, _TABLES[kind], n=3))
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
        close = near_names(name, _TABLES[other], cutoff=0.8) if other != kind else []
        if close and close[0] != name:
            return f"{other}.{close[0]}"
    return ""


def attribute(kind: str, name: str) -> Any:
    """Return the registered operator ``binary.name``, which is not a variable of the module, or raise an error."""
    return attribute_of((kind,), name)


def attribute_of(kinds: tuple[str, ...], name: str) -> Any:
    """Return the operator, or the path, that the first of these kinds has under this name, or raise an error."""
    for kind in kinds:
        if (found := find(kind, name)) is not None:
            return found
    if name.rpartition(".")[2].startswith("__"):
        raise AttributeError(name)
    if any(is_path(kind, name) for kind in kinds):
        return Path(name, *kinds)
    raise unknown(kinds[0], name)
