"""Functions among the variables of a loop: what they read of the functions around them becomes variables, too."""

from __future__ import annotations

import types
from dataclasses import replace
from typing import Any

from ..engines.programs.traced import Untraceable
from ..exceptions import NotSupported
from ..facade.vector import Vector
from .captures import Captures, Several, capture, captured_function
from .keys import Variables
from .source import Site

# Sets of functions of which the sites of a loop are kept.
_KEPT = 16


class _Straight:
    """The traced form of a loop that calls functions among its variables `names`."""

    def __init__(self, site: Site, names: tuple[str, ...], captures: Captures) -> None:
        self._traced: Any = site.traced
        self._names, self._captures = names, captures
        self._own = tuple(name for name in site.variables.names if name not in names)
        self.parameters = (*self._own, *captures.names)

    def __call__(self, tracer: Any, **values: Any) -> None:
        captures = self._captures
        tracer.captured = {name: values[name] for name in captures.names if isinstance(values[name], Vector)}
        own = {name: values[name] for name in self._own}
        own.update(zip(self._names, captures.functions(values), strict=True))
        self._traced(tracer, **own)


class LocalFunctions:
    """The sites of a loop, one for each structure of the functions that it calls."""

    def __init__(self) -> None:
        self._sites: dict[tuple[Any, ...], tuple[Site, Captures | None]] = {}

    def site(self, site: Site, scope: dict[str, Any], package: str) -> tuple[Any, Site, dict[str, Any]]:
        """Return the site for the functions of a scope, with a key of it and the values of its variables.

        Raises
        ------
        Untraceable
            If a function reads a variable that the loop assigns.
        """
        found = [(name, captured_function(scope.get(name), package)) for name in site.called]
        names = tuple([name for name, function in found if function is not None])
        functions = tuple([function for _, function in found if function is not None])
        if not functions or isinstance(site.traced, Untraceable):
            return None, site, scope
        signature: list[int] = []
        captured: list[Any] = []
        capture(functions, signature, captured)
        key = names, tuple(signature)
        known = self._sites.get(key)
        if known is None:
            while len(self._sites) >= _KEPT:
                self._sites.pop(next(iter(self._sites)), None)
            known = self._sites.setdefault(key, self._made(site, names, functions, package))
        made, captures = known
        if captures is None:
            return None, site, scope
        scope = {name: value for name, value in scope.items() if name not in names}
        scope.update(zip(captures.names, captures.values(captured), strict=True))
        return key, made, scope

    def _made(
        self, site: Site, names: tuple[str, ...], functions: tuple[types.FunctionType, ...], package: str
    ) -> tuple[Site, Captures | None]:
        own = [name for name in site.variables.names if name not in names]
        try:
            captures = Captures(functions, tuple(site.variables.names))
        except NotSupported:  # the loop cannot call one of them
            return site, None
        read = sorted(captures.cell_names() & set(site.assigned))
        traced: Any = _Straight(site, names, captures)
        if read:
            traced = Untraceable(f"a function that the loop calls reads {read[0]}, which the loop assigns")
        variables = Variables((*own, *captures.names), package)
        outside = Several([site.outside, captures.outside()])
        static = frozenset(captures.static)
        return replace(site, variables=variables, traced=traced, outside=outside, static=static), captures
