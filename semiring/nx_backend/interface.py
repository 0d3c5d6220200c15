"""The object that NetworkX loads: its functions by name, conversion, and when to use them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import networkx as nx

from . import (  # noqa: F401  registers the functions of each
    ancestry,
    assignment,
    bipartite,
    bipartite_measures,
    centrality,
    cohesion,
    colouring,
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
    neighbourhoods,
    operators,
    paths,
    prediction,
    products,
    projections,
    sets,
    similarity,
    structure,
    traversal,
    unweighted,
    weighted,
)
from .convert import convert_from_nx, convert_to_nx
from .differences import on_start_tests
from .registry import CHEAP, FUNCTIONS

__all__ = ["Backend", "backend"]

#: Parameters that may hold a function of an edge, which no matrix stores.
_LENGTHS = ("weight", "distance", "capacity")


class Backend:
    """What NetworkX calls: one attribute for each function of `FUNCTIONS`, and the conversions."""

    convert_from_nx = staticmethod(convert_from_nx)
    convert_to_nx = staticmethod(convert_to_nx)
    on_start_tests = staticmethod(on_start_tests)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            return FUNCTIONS[name]
        except KeyError:
            raise AttributeError(f"the semiring backend has no function {name!r}") from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *FUNCTIONS})

    def can_run(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
        """Return whether a call can be computed, or why not.  What only the graph shows is refused by the function."""
        if name not in FUNCTIONS:
            return f"{name} is not implemented"
        given = signature(FUNCTIONS[name]).bind_partial(*args, **kwargs).arguments
        for parameter in _LENGTHS:
            if callable(given.get(parameter)):
                return f"a function as {parameter}"
        return True

    def should_run(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
        """Return whether the conversion of the graph pays, or why not."""
        G: Any = args[0] if args else next(iter(kwargs.values()), None)
        cache = getattr(G, "__networkx_cache__", None) or {}
        if cache.get("backends", {}).get("semiring"):
            return True
        if name in CHEAP:
            return "NetworkX answers in less time than the conversion of the graph takes"
        least = nx.config.backends.semiring.minimum_size
        if hasattr(G, "number_of_edges") and len(G) < least and len(G) + G.number_of_edges() < least:
            return f"the graph has fewer than {least} nodes and edges"
        return True


backend = Backend()
