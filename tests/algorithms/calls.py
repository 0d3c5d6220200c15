"""Every function of `semiring.algorithms` with arguments for any graph, and comparison of what two calls return.

Required arguments are those with which `semiring.warming` compiles; besides, each switch is turned once, and `MORE`
lists further choices.  The outcome of a call is a result, flattened into arrays on the host, or an error of the library
that the docstring names; any other exception, and any warning, fails the test.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semiring import Matrix, Scalar, Vector, algorithms, exceptions
from semiring.exceptions import ConvergenceFailure, SemiringError, UnsupportedType
from semiring.warming.worker import ARGUMENTS

Array = np.ndarray[Any, Any]
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: function
    for name in algorithms.__all__
    if inspect.isfunction(function := getattr(algorithms, name)) and "A" in inspect.signature(function).parameters
}
REQUIRED: dict[str, Any] = {
    **ARGUMENTS,
    "target": lambda A: max(A.nrows - 1, 0),
    "v": lambda A: max(A.nrows - 1, 0),
    "labels": lambda A: Vector.from_dense(np.arange(A.nrows) // 2 * 2),
    "vertices": lambda A: list(range(0, A.nrows, 2)),
    "starts": lambda A: list(range(A.nrows)),
    "sources": lambda A: list(range(0, A.nrows, 3)),
    "sizes": [2, 1],
    "length": 3,
}
START = lambda A: Vector.from_dense(np.arange(1.0, A.nrows + 1))  # noqa: E731
MORE: dict[str, tuple[dict[str, Any], ...]] = {
    "all_pairs": ({"method": "products"}, {"method": "searches"}),
    "betweenness_centrality": ({"sources": [0]}, {"samples": 2, "batch": 1}, {"directed": True}),
    "bfs_levels": (
        {"source": lambda A: [0, A.nrows - 1, 0]},
        {"max_depth": 1},
        {"source": lambda A: [0, A.nrows - 1, 0], "nearest": True, "max_depth": 1},
    ),
    "bfs_order": ({"source": 0},),
    "closeness_centrality": ({"vertices": [0]},),
    "clustering": ({"method": "graphalytics"},),
    "coarsen": ({"op": "max"},),
    "common_neighbors": ({"top": 1}, {"pairs": lambda A: A}),
    "connected_components": ({"method": "fastsv"},),
    "cosine": ({"top": 1, "weight": True}, {"pairs": lambda A: A}),
    "degrees": ({"direction": "in", "weight": True}, {"direction": "both", "weight": True}),
    "edge_betweenness_centrality": ({"sources": [0]}, {"directed": True}),
    "ego_graph": ({"radius": 2},),
    "eigenvector_centrality": ({"start": START, "max_iter": 1000},),
    "harmonic_centrality": ({"vertices": [0]},),
    "hits": ({"start": START, "weight": True, "max_iter": 1000},),
    "jaccard": ({"top": 1, "weight": True}, {"pairs": lambda A: A}),
    "katz_centrality": ({"alpha": 0.01, "weight": True, "start": START}, {"beta": START}),
    "label_propagation": ({"method": "synchronous"},),
    "markov_clustering": ({"expansion": 3, "prune": 0.0},),
    "node2vec_walks": ({"p": 0.25, "q": 4.0},),
    "pagerank": (
        {"personalization": 0, "weight": True},
        {"personalization": lambda A: Matrix.identity(A.nrows, np.float64), "dangling": "self"},
        {"start": START, "dangling": START},
    ),
    "sssp": ({"source": lambda A: [0, A.nrows - 1]}, {"cutoff": 4}),
}
# Parts of results of which the definition allows several: only where they are present is compared.
UNSPECIFIED = {
    "bfs_parents": ("",),
    "sssp_parents": ("",),
    "shortest_path_tree": ("parent",),
    "maximum_flow": ("flow", "source_side"),
}


class Call(NamedTuple):
    """A function with the arguments of one call; those that are functions are applied to the matrix."""

    name: str
    given: dict[str, Any]

    def __call__(self, A: Matrix) -> Any:
        arguments = {name: value(A) if callable(value) else value for name, value in self.given.items()}
        return FUNCTIONS[self.name](A, **arguments)

    def __str__(self) -> str:
        words = [f"{name}={'...' if callable(value) else value}" for name, value in self.given.items()]
        return f"{self.name}({', '.join(['A', *words])})"


def calls(name: str) -> list[Call]:
    """The calls of a function: with the required arguments alone, with each switch turned, and those of `MORE`."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    required = {p.name: REQUIRED[p.name] for p in parameters if p.default is p.empty and p.name != "A"}
    turned = [{p.name: not p.default} for p in parameters if isinstance(p.default, bool)]
    turned += [{p.name: True} for p in parameters if p.annotation == "Weight"]
    return [Call(name, {**required, **extra}) for extra in ({}, *turned, *MORE.get(name, ()))]


def documented_errors(name: str) -> tuple[type[Exception], ...]:
    """The classes that the section Raises of a function names, and OutOfMemory."""
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    section = re.search(r"^Raises\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    words = re.findall(r"\w+", section.group(1)) if section else []
    classes = [getattr(exceptions, word) for word in words if isinstance(getattr(exceptions, word, None), type)]
    return (exceptions.OutOfMemory, *classes)


def reads_values(name: str) -> bool:
    """Whether the docstring leaves open that values are read."""
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    return not re.search(r"values are( kept,)? not read", text, re.IGNORECASE)


def outcome(call: Call, A: Matrix) -> dict[str, Any] | type[Exception]:
    """The result as parts by name, or the class of the error."""
    try:
        return dict(flattened(call(A)))
    except ConvergenceFailure:
        return ConvergenceFailure
    except SemiringError as error:
        caught = error
    allowed = documented_errors(call.name)
    assert isinstance(caught, allowed), f"{call} raises {type(caught).__name__}, which is not documented: {caught}"
    named = isinstance(caught, UnsupportedType) or str(caught).partition(":")[0] in FUNCTIONS
    assert named, f"{call} names neither an operator nor an algorithm: {caught}"
    return type(caught)


def flattened(result: Any, name: str = "") -> list[tuple[str, Any]]:
    """The parts of a result: (path, host arrays, numbers and words)."""
    if isinstance(result, Scalar):
        return [(name, result.value)]
    if isinstance(result, (Vector, Matrix)):
        *places, values = (host(part) for part in result.to_coo(index_dtype=np.int64))
        return [(name, (tuple(result.shape), result.dtype, tuple(places), values))]
    if dataclasses.is_dataclass(result):
        items = [(field.name, getattr(result, field.name)) for field in dataclasses.fields(result)]
    elif isinstance(result, (list, tuple)):
        names = getattr(result, "_fields", [str(at) for at in range(len(result))])
        items = [("length", len(result)), *zip(names, result, strict=True)]
    else:
        return [(name, result)]
    return [part for key, item in items for part in flattened(item, f"{name}.{key}".strip("."))]


def host(array: Any) -> Array:
    """An array of any device as one of NumPy."""
    return np.asarray(array.get() if hasattr(array, "get") else array)


def differences(call: Call, found: Any, expected: Any, *, types: bool = True) -> str:
    """In which parts two outcomes differ; empty if they are the same up to rounding, whatever the directions of steps.

    types: compare the types of values too, not their numbers alone.
    """
    if isinstance(found, type) or isinstance(expected, type):
        return "" if found is expected else f"{_said(found)} instead of {_said(expected)}"
    free = UNSPECIFIED.get(call.name, ())
    wrong = [
        f"{name or 'result'}: {found.get(name)!r} instead of {expected.get(name)!r}"
        for name in {**found, **expected}
        if not name.endswith(".direction") and not _same(found.get(name), expected.get(name), name in free, types)
    ]
    return "; ".join(wrong)


def _said(outcome: Any) -> str:
    return outcome.__name__ if isinstance(outcome, type) else "a result"


def _same(found: Any, expected: Any, free: bool, types: bool) -> bool:
    if isinstance(found, tuple) and isinstance(expected, tuple) and len(found) == 4:
        shape, dtype, places, values = found
        if shape != expected[0] or len(places) != len(expected[2]) or (types and dtype != expected[1]):
            return False
        if free:
            return True
        return all(np.array_equal(*pair) for pair in zip(places, expected[2], strict=True)) and _close(
            values, expected[3], min((dtype, expected[1]), key=lambda t: t.itemsize)
        )
    if isinstance(found, (float, np.floating)) or isinstance(expected, (float, np.floating)):
        return _close(np.asarray(found), np.asarray(expected), np.dtype(np.float64))
    return bool(found == expected)


def _close(found: Array, expected: Array, dtype: np.dtype[Any]) -> bool:
    if found.shape != expected.shape:
        return False
    if not {found.dtype.kind, expected.dtype.kind} & set("fc"):
        return bool(np.array_equal(found, expected))
    tolerance = 1e-4 if dtype in (np.float32, np.complex64) else 1e-7
    return bool(np.allclose(found, expected, rtol=tolerance, atol=tolerance * 1e-2, equal_nan=True))
