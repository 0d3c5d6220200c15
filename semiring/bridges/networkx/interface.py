"""The object that NetworkX loads: its functions by name, conversion, and when to use them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, wraps
from inspect import signature
from typing import Any

from . import (  # noqa: F401  registers the functions of each
    ancestry,
    assignment,
    bipartite,
    bipartite_measures,
    centrality,
    cohesion,
    coloring,
    communicability,
    communities,
    components,
    connectivity,
    currents,
    cycles,
    dag,
    dependencies,
    depth_first,
    derived,
    distance_indices,
    distances,
    eulerian,
    fiedler,
    flows,
    hierarchy,
    holes,
    link_analysis,
    matchings,
    matrices,
    mixing,
    neighborhoods,
    operators,
    paths,
    prediction,
    products,
    projections,
    sets,
    settings,
    similarity,
    structure,
    traversal,
    unweighted,
    weighted,
)
from .automatic import has_run, should_run
from .convert import convert_from_nx, convert_to_nx
from .differences import on_start_tests
from .registry import FUNCTIONS

__all__ = ["Backend", "backend"]

#: Parameters that may hold a function of an edge, which no matrix stores.
_LENGTHS = ("weight", "distance", "capacity")


@cache
def _lengths(name: str) -> tuple[tuple[int, str], ...]:
    """Return the positions and names of such parameters of a function."""
    listed = enumerate(signature(FUNCTIONS[name]).parameters)
    return tuple((position, parameter) for position, parameter in listed if parameter in _LENGTHS)


class Backend:
    """What NetworkX calls: one attribute for each function of `FUNCTIONS`, and the conversions."""

    convert_from_nx = staticmethod(convert_from_nx)
    convert_to_nx = staticmethod(convert_to_nx)
    on_start_tests = staticmethod(on_start_tests)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            function = FUNCTIONS[name]
        except KeyError:
            raise AttributeError(f"the semiring backend has no function {name!r}") from None

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            has_run(name, args, kwargs)
            return result

        setattr(self, name, call)
        return call

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *FUNCTIONS})

    def can_run(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
        """Return whether a call can be computed, or why not.  What only the graph shows is refused by the function.

        NetworkX asks before every call, so a wrong device is an error here, whether or not a conversion is cached.
        """
        if name not in FUNCTIONS:
            return f"{name} is not implemented"
        settings.check()
        if kwargs or len(args) > 1:
            for position, parameter in _lengths(name):
                if callable(args[position] if position < len(args) else kwargs.get(parameter)):
                    return f"a function as {parameter}"
        return True

    should_run = staticmethod(should_run)


backend = Backend()
