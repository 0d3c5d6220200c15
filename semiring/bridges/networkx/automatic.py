"""When NetworkX's automatic dispatch uses the backend: where it is expected to take less time, compilation included.

The one place of the rule.  ``measured.csv`` has the milliseconds of NetworkX and of the backend, for each function at
several sizes, as ``benchmarks networkx-costs`` measured them on two cores; a size is the nodes and edges together.  A
function has a row for each set of parameters that change how much it computes: ``triangles`` of all nodes is one,
``triangles nodes`` of one node is another.  What has no row is faster in NetworkX.  Between and beyond the sizes costs
are powers of the size.
"""

from __future__ import annotations

import sys
from bisect import bisect
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.resources import files
from inspect import signature
from itertools import islice
from math import exp, log
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx

import semiring
from semiring.config import config
from semiring.io.networkx_arrays import column_of

from .convert import is_view
from .graph import Graph
from .registry import FUNCTIONS
from .settings import device_name, minimum_size

__all__ = ["MARGIN", "NARROWING", "Cost", "cost_of", "costs", "has_run", "row_of", "should_run"]

#: Parameters that restrict a function to some nodes, edges or distances.
NARROWING = frozenset({
    "cutoff", "depth_limit", "ebunch", "k", "nbunch", "nbunch1", "nbunch2", "node", "nodelist", "nodes", "radius",
    "S", "s", "source", "sources", "T", "t", "target", "targets", "top_nodes", "u", "v",
})  # fmt: skip
#: Edge attributes, with which other algorithms run than without.
_LENGTHS = frozenset({"capacity", "distance", "weight"})

# How many times faster the backend must be expected to be, as graphs differ from those measured.
MARGIN = 1.5
# Milliseconds: of a conversion without and with an edge attribute for each node and edge, and of a view for each; of
# the first call of a process, of loading a function's kernels from the disk, and of compiling them.
_CONVERSION_MS, _VIEW_MS = (0.0003, 0.0008), 0.01
_START_MS, _LOAD_MS, _COMPILE_MS = 2000.0, 500.0, 8000.0
# Views are converted only for functions whose costs grow at least with this power of the size; their edges are
# estimated from those of so many nodes.
_STEEP, _SAMPLE = 1.5, 16


class Cost(NamedTuple):
    """Logarithms, of ascending sizes, and there of the milliseconds of NetworkX and of the backend."""

    sizes: tuple[float, ...]
    theirs: tuple[float, ...]
    own: tuple[float, ...]

    def at(self, size: float) -> tuple[float, float]:
        """Return the milliseconds of NetworkX and of the backend, whose calls have a fixed part."""
        at = log(max(size, 1))
        return exp(self._along(self.theirs, at)), exp(self._along(self.own, max(at, self.sizes[0])))

    def _along(self, values: tuple[float, ...], at: float) -> float:
        i = min(max(bisect(self.sizes, at) - 1, 0), len(self.sizes) - 2)
        share = (at - self.sizes[i]) / (self.sizes[i + 1] - self.sizes[i])
        return values[i] + (values[i + 1] - values[i]) * share

    @property
    def is_steep(self) -> bool:
        """Whether NetworkX takes much more than twice the time for twice the size."""
        return self.theirs[-1] - self.theirs[-2] >= _STEEP * (self.sizes[-1] - self.sizes[-2])


@cache
def costs() -> dict[str, Cost]:
    """Return the rows of the table, by function and narrowing parameters."""
    with (files(__package__) / "measured.csv").open(encoding="utf-8") as table:
        rows = [line.split(",") for line in table if not line.startswith("#")]
    found = {}
    for name, *figures in rows:
        logs = [log(float(figure)) for figure in figures]
        found[name] = Cost(tuple(logs[::3]), tuple(logs[1::3]), tuple(logs[2::3]))
    return found


@cache
def _steep() -> frozenset[str]:
    """Return the functions of superlinear costs, for which the conversion of a view can pay."""
    return frozenset(row.partition(" ")[0] for row, cost in costs().items() if cost.is_steep)


class _Shape(NamedTuple):
    """What of a function's parameters matters: (position, name, default) of those that select a row."""

    optional: tuple[tuple[int, str, Any], ...]
    lengths: tuple[tuple[int, str, Any], ...]


@cache
def _shape(name: str) -> _Shape:
    listed = list(enumerate(signature(FUNCTIONS[name]).parameters.values()))
    lengths = tuple((i, p.name, p.default) for i, p in listed if p.name in _LENGTHS)
    optional = tuple((i, p.name, p.default) for i, p in listed if p.name in NARROWING and p.default is not p.empty)
    return _Shape(optional + tuple(entry for entry in lengths if entry[2] is None), lengths)


def row_of(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Return the name of the row of a call: the function and its narrowing parameters that are given."""
    count = len(args)
    for i, parameter, default in _shape(name).optional:
        value = args[i] if i < count else kwargs.get(parameter, default)
        if value is not default and value is not None:
            name += f" {parameter}"
    return name


class _Rows(NamedTuple):
    """The rows of a function: by the sum of the bits of the parameters that are given."""

    optional: tuple[tuple[int, int, str, Any], ...]  # (bit, position, name, default); bit 0: in no row
    costs: Mapping[int, Cost]


@cache
def _rows(name: str) -> _Rows:
    found = [(row.split(" ")[1:], cost) for row, cost in costs().items() if row.split(" ")[0] == name]
    narrowing = {parameter for parameters, _ in found for parameter in parameters}
    optional = _shape(name).optional if found else ()
    bits = {its[1]: 1 << k if its[1] in narrowing else 0 for k, its in enumerate(optional)}
    ordered = sorted(optional, key=lambda its: bits[its[1]] > 0)
    return _Rows(
        tuple((bits[parameter], i, parameter, default) for i, parameter, default in ordered),
        {sum(bits[parameter] for parameter in parameters): cost for parameters, cost in found},
    )


def cost_of(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Cost | None:
    """Return the row of a call, None if it has none.

    NetworkX asks in every dispatch, and needs microseconds for one pair of vertices: so the function is looked up
    first, and then the parameters whose presence means that there is no row.
    """
    optional, rows = _rows(name)
    if not rows:
        return None
    count, given = len(args), 0
    for bit, i, parameter, default in optional:
        value = args[i] if i < count else kwargs.get(parameter, default)
        if value is not None and value is not default:
            if not bit:
                return None
            given |= bit
    return rows.get(given)


def _length(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Return the edge attribute that a call reads, None for none."""
    count = len(args)
    for i, parameter, default in _shape(name).lengths:
        value = args[i] if i < count else kwargs.get(parameter, default)
        if value is not None:
            return value
    return None


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """Return whether the backend is expected to take less time than NetworkX for a call, or why not."""
    G: Any = args[0] if args else next(iter(kwargs.values()), None)
    if not isinstance(G, nx.Graph):
        return True
    least = minimum_size()
    if least is not None:
        return _at_least(G, least)
    row = cost_of(name, args, kwargs)
    if row is None:
        return "NetworkX takes less time"
    view = is_view(G)
    if view and name not in _steep():
        return "a view is converted at every call, which takes longer"
    length = _length(name, args, kwargs)
    converted = _converted(G, length)
    if converted is not None:
        size, extra = len(converted) + converted.number_of_edges(), 0.0
    elif view:
        size = _size_of_view(G)
        extra = size * _VIEW_MS
    else:
        size = len(G) + sum(map(len, G._adj.values())) // (1 if G.is_directed() else 2)
        extra = size * _CONVERSION_MS[length is not None]
    theirs, own = row.at(size)
    gain = theirs - MARGIN * own - extra
    if gain <= 0:
        return f"{size} nodes and edges: {theirs:.2g} ms in NetworkX, {theirs - gain:.2g} ms with a conversion"
    form = _form(name, args, kwargs, G, length)
    first = _first_ms(form)
    if gain <= first and not _has_cost(form, gain, first):
        return f"{size} nodes and edges: {theirs:.2g} ms in NetworkX, {first:.2g} ms to compile or load the kernels"
    return True


def _size_of_view(G: Any) -> int:
    """Return the nodes and about the edges of a view, which calls a filter for each edge that is counted."""
    some = list(islice(G, _SAMPLE))
    slots = len(G) * sum(len(G._adj[node]) for node in some) / max(len(some), 1)
    return len(G) + int(slots) // (1 if G.is_directed() else 2)


def _at_least(G: Any, least: float) -> bool | str:
    """Apply the setting `minimum_size`; of views, whose edges take long to count, to the nodes."""
    size = len(G)
    if size < least and not is_view(G):
        size += G.number_of_edges()
    if size >= least or _converted(G, None) is not None:
        return True
    return f"the graph has fewer than {least:g} nodes and edges"


def _converted(G: Any, length: Any) -> Graph | None:
    """Return the conversion of a graph that NetworkX has kept with an edge attribute; None if there is none."""
    kept = (getattr(G, "__networkx_cache__", None) or {}).get("backends", {}).get("semiring", {})
    for (edges, _), graph in list(kept.items()):
        if isinstance(graph, Graph) and (
            length is None or edges is True or (edges and any(attribute == length for attribute, _ in edges))
        ):
            return graph
    return None


# The first call ------------------------------------------------------------------------------------------------------

#: The calls that have run in this process, by what selects their kernels.
_ran: set[str] = set()
#: The milliseconds that the others would have saved without their first call, by form.
_missed: dict[str, float] = {}


def _form(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], G: Any, length: Any) -> str:
    """Return what selects the kernels of a call: its row, the directions, and the type of the weights."""
    row, kind = row_of(name, args, kwargs), "none"
    if isinstance(G, Graph):
        column = G.column(length) if length is not None else None
        kind = column.values.dtype.kind if column is not None else kind
    elif length is not None:
        value = next((value for *_, value in G.edges(data=length) if value is not None), None)
        kind = "none" if value is None else column_of([value]).values.dtype.kind
    return f"{row} {'directed' if G.is_directed() else 'undirected'} {kind}".replace(" ", ".")


def _record(form: str) -> Path:
    """Return the file that records that the kernels of a form are on the disk."""
    source = Path(semiring.__file__)  # reading the version takes 60 ms
    installed = int(source.stat().st_mtime) if source.exists() else 0  # 0 in a zip file
    version = f"{installed}-{sys.implementation.cache_tag}-{device_name()}"
    return Path(config.cache_dir) / "networkx" / version / f"{form}.ran"


@cache
def _is_on_disk(form: str) -> bool:
    return _record(form).exists()


def _first_ms(form: str) -> float:
    """Return the milliseconds that the first call of a form takes longer than later ones; 0 if it has run."""
    if form in _ran:
        return 0.0
    return (0.0 if _ran else _START_MS) + (_LOAD_MS if _is_on_disk(form) else _COMPILE_MS)


def _has_cost(form: str, gain: float, first: float) -> bool:
    """Return whether the calls of a form that stayed in NetworkX together cost what loading its kernels takes.

    Nothing is compiled for several calls: only one that takes NetworkX longer may wait for the compiler.
    """
    _missed[form] = _missed.get(form, 0.0) + gain
    return first < _COMPILE_MS and _missed[form] > first


def has_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Record that a function of the backend returned: its kernels are compiled."""
    G: Any = args[0] if args else next(iter(kwargs.values()), None)
    if not isinstance(G, Graph):
        return
    form = _form(name, args, kwargs, G, _length(name, args, kwargs))
    if form not in _ran:
        _ran.add(form)
        with suppress(OSError):  # a folder that cannot be written has no kernels either
            path = _record(form)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
