"""NumPy's universal functions by NumPy's names: ``unary.numpy.sin``, ``binary.numpy.add``, ``monoid.numpy.fmax``.

A name is the operator that `lookup` finds for the function of that name, ``np.sin``; of a semiring two such names
joined by an underscore, ``semiring.numpy.add_multiply``.  Operators registered as
``"numpy.name"`` are here too.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from semiring.exceptions import UnknownOperator
from semiring.operators import binary, monoid, op, semiring, table, unary
from semiring.operators.lookup import compose, lookup_kind

__all__ = ["Ufuncs", "install"]


class Ufuncs(ModuleType):
    """The namespace ``numpy`` of the operators of these kinds."""

    def __init__(self, name: str, *kinds: str) -> None:
        super().__init__(name, __doc__)
        self._kinds = kinds
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for kind in self._kinds:
            if (found := table.find(kind, f"numpy.{name}") or _find(kind, name)) is not None:
                return found
        raise UnknownOperator(f"{self.__name__} has no function {name!r}")

    def __dir__(self) -> list[str]:
        names = [name for name, value in vars(np).items() if isinstance(value, np.ufunc)]
        found = {name for kind in self._kinds for name in names if _find(kind, name) is not None}
        if "semiring" in self._kinds:
            adds = [name for name in names if _find("monoid", name)]
            found |= {f"{add}_{mult}" for add in adds for mult in names if _find("binary", mult)}
        registered = {name for kind in self._kinds for name in table.names(kind) if name.startswith("numpy.")}
        return sorted(found | {name.removeprefix("numpy.") for name in registered})


def _find(kind: str, name: str) -> Any:
    if kind == "semiring":
        return _semiring(name)
    function = getattr(np, name, None)
    if not isinstance(function, np.ufunc):
        return None
    try:
        return lookup_kind(kind, function)
    except UnknownOperator:
        return None


def _semiring(name: str) -> Any:
    for place in (p for p, letter in enumerate(name) if letter == "_"):
        add, mult = _find("monoid", name[:place]), _find("binary", name[place + 1 :])
        if add is not None and mult is not None:
            return compose(add, mult)
    return None


def install() -> None:
    """Add the namespaces to the modules of operators."""
    for module in (unary, binary, monoid, semiring):
        kind = module.__name__.rpartition(".")[2]
        module.numpy = Ufuncs(f"{kind}.numpy", kind)  # type: ignore[attr-defined]
    op.numpy = Ufuncs("op.numpy", "binary", "unary", "semiring", "monoid")
