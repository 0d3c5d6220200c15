"""One process of `warm`: compile recorded CPU kernels, or run algorithms so that their kernels are compiled.

    python -m semiring.warming.worker DEVICE

Reads a number of `cpu_lists`, or a function and a type of values, per line, and writes one line of JSON for each: how
many kernels were compiled, the seconds that it took, or an error.
"""

from __future__ import annotations

import functools
import inspect
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

import semiring as sr
from semiring.engines.shared import compilations
from semiring.exceptions import ConvergenceFailure, GraphProperty, InvalidValue
from semiring.warming import cpu_lists

# A required argument of an algorithm besides the matrix -> the value to pass, or a function of the matrix.
ARGUMENTS: dict[str, Any] = {
    "source": 0,
    "target": 1,
    "u": 0,
    "v": 1,
    "sources": [0],
    "starts": [0],
    "vertices": [0],
    "sizes": [2],
    "length": 2,
    "k": 2,
    "labels": lambda A: sr.Vector.full(0, A.nrows),
}
# Calls that use kernels which calls with the default arguments do not.
MORE: dict[str, tuple[dict[str, Any], ...]] = {
    "bfs_levels": ({"source": [0, 1]},),
    "connected_components": ({"method": "fastsv"},),
}


def _generated(dtype: np.dtype[Any]) -> sr.Matrix:
    return sr.random.kronecker(8, weights="uniform" if dtype.kind != "b" else None, seed=1)


# Operations of matrices, which are compiled as algorithms are.
OPERATIONS: dict[str, Callable[[sr.Matrix], Any]] = {
    "mxv": lambda A: A.mxv(sr.Vector.full(1, A.ncols)),
    "mxm": lambda A: A.mxm(A),
    "ewise_add": lambda A: A.ewise_add(A.T, sr.binary.plus),
    "ewise_mult": lambda A: A.ewise_mult(A.T, sr.binary.times),
    "transpose": lambda A: A.T.new(),
    "from_coo": lambda A: sr.Matrix.from_coo(*A.to_coo(), shape=A.shape),
    "kronecker": lambda A: _generated(A.dtype),
    "reduce_rowwise": lambda A: A.reduce_rowwise("plus"),
    "select": lambda A: A.select("tril"),
    "apply": lambda A: A.apply(sr.unary.ainv),
}
TYPES = ("bool", "int64", "float64", "float32")
# Entries from which the CPU engine's kernels use threads: 2^13 vertices with 32 entries each on average.
_SCALE = 13
# And a graph of few entries: beside five vertices some functions have nothing to do.
_BETWEEN = (8,)
# A graph without hubs, leaves and isolated vertices, which R-MAT graphs have: 2^8 vertices of degree 12.
_BIPARTITE_SCALE = 8
# The same for functions that search from every vertex, or elect one after the other: 2^9 vertices.
_SMALL_SCALE = 9
FROM_EVERY_VERTEX = frozenset((
    *("all_pairs", "average_shortest_path_length", "betweenness_centrality", "closeness_centrality", "diameter"),
    *("eccentricity", "edge_betweenness_centrality", "global_efficiency", "harmonic_centrality", "radius", "voterank"),
    "wiener_index",
))  # fmt: skip


def scale(name: str) -> int:
    """Return the binary logarithm of the vertices of the larger graphs that a function is called on."""
    return _SMALL_SCALE if name in FROM_EVERY_VERTEX else _SCALE


def matrices(types: Sequence[str] = TYPES, scale: int = _SCALE, between: Sequence[int] = ()) -> Iterator[sr.Matrix]:
    """Yield graphs that need the same kernels as graphs of users: symmetric or not, of few or of many entries.

    scale, between: the binary logarithms of the vertices of the largest graphs, and of graphs between these and the
    smallest.  Values of the type bool are one value for all entries, as from an edge list; those of other types are
    stored.
    """
    for kind, symmetric in product(("cycle", "bipartite", *between, scale), (True, False)):
        n, rows, columns = _edges(kind, symmetric)
        for dtype in types:
            values = True if dtype == "bool" else np.ones(rows.size, dtype)
            yield sr.Matrix.from_coo(rows, columns, values, nrows=n, ncols=n)


@functools.cache
def _edges(kind: str | int, symmetric: bool) -> tuple[int, Any, Any]:
    """Return the number of vertices of a graph, and its edges, on the host.

    kind: a cycle of five vertices (directed: without a way back); a uniform bipartite graph, in which no vertex
    separates others (directed: acyclic, with long paths); or an R-MAT graph, by the binary logarithm of its vertices.
    """
    if isinstance(kind, int):
        A = sr.random.rmat(kind, symmetric=symmetric, loops=False, device="cpu")
        return A.nrows, *A.to_coo(values=False)[:2]
    if kind == "cycle":
        n, edges = 5, np.array([(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])
    else:
        n = 1 << _BIPARTITE_SCALE
        i, j = np.indices((n, n))
        admitted = (i < j) & ((i ^ j) & 1 == 1)  # between even and odd vertices
        edges = np.argwhere(admitted & (np.random.default_rng(1).random((n, n)) < 24 / n))
    if symmetric:
        edges = np.concatenate([edges, edges[:, ::-1]])
    return n, edges[:, 0], edges[:, 1]


def names() -> list[str]:
    """Return the functions that are called with one matrix."""
    algorithms = [name for name in sr.algorithms.__all__ if inspect.isfunction(getattr(sr.algorithms, name))]
    return [*OPERATIONS, *(name for name in algorithms if calls(name))]


def calls(name: str) -> list[Callable[[sr.Matrix], Any]]:
    """Return the calls of a function that compile all its kernels; none if it accepts more than one matrix."""
    if name in OPERATIONS:
        return [OPERATIONS[name]]
    algorithm = getattr(sr.algorithms, name)
    parameters = inspect.signature(algorithm).parameters
    if "A" not in parameters:
        return []
    required = [at.name for at in parameters.values() if at.default is at.empty and at.name != "A"]
    default = {parameter: ARGUMENTS[parameter] for parameter in required}
    more = list(MORE.get(name, ()))
    if "weight" in parameters and not parameters["weight"].default:
        more.append({"weight": True})
    return [functools.partial(_call, algorithm, {**default, **given}) for given in ({}, *more)]


def _call(algorithm: Callable[..., Any], given: dict[str, Any], A: sr.Matrix) -> Any:
    return algorithm(A, **{name: value(A) if callable(value) else value for name, value in given.items()})


def computed(call: Callable[[sr.Matrix], Any], A: sr.Matrix) -> bool:
    """Compute the result of a call; False if the algorithm is not defined on such a graph."""
    try:
        result = call(A)
    except (InvalidValue, GraphProperty):
        return False
    except ConvergenceFailure:
        return True
    if isinstance(result, sr.Matrix | sr.Vector):
        result.wait()
    return True


def run(name: str, dtype: str) -> None:
    """Run the calls of a function on graphs of a type of values."""
    for call in calls(name):
        # Graphs of their own for each call: what a call derives from a matrix, later ones do not.
        for A in matrices([dtype], scale(name), _BETWEEN):
            computed(call, A)


def main(device: str) -> None:
    """Process the lines of standard input until it ends."""
    with sr.use(device):
        compiled = 0  # the kernels that build the graphs count for the first algorithm
        for line in sys.stdin:
            started = time.perf_counter()
            result: dict[str, Any] = {}
            try:
                name, *dtype = line.split()
                if dtype:
                    run(name, *dtype)
                else:
                    cpu_lists.compiled(int(name))
            except Exception as error:
                result["error"] = f"{type(error).__name__}: {error}"
            result |= {"seconds": time.perf_counter() - started, "kernels": compilations.count() - compiled}
            compiled = compilations.count()
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
