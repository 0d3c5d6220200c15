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
_PAIRS = ({"pairs": lambda A: A}, {"top": 2})
MORE: dict[str, tuple[dict[str, Any], ...]] = {
    "adamic_adar": _PAIRS,
    "betweenness_centrality": ({"sources": [0, 1]},),
    "bfs_levels": ({"source": [0, 1]}, {"max_depth": 2}),
    "closeness_centrality": ({"vertices": [0, 1]},),
    "common_neighbors": _PAIRS,
    "connected_components": ({"method": "fastsv"},),
    "cosine": _PAIRS,
    "degrees": ({"direction": "in"},),
    "jaccard": _PAIRS,
    "minimum_spanning_forest": ({"maximum": True},),
    "overlap": _PAIRS,
    "pagerank": ({"personalization": lambda A: sr.Vector.from_coo([0], [1.0], size=A.nrows)},),
    "resource_allocation": _PAIRS,
    "sssp": ({"cutoff": 2},),
}


def _generated(dtype: np.dtype[Any]) -> sr.Matrix:
    return sr.random.kronecker(8, weights="uniform" if dtype.kind != "b" else None, seed=1)


def _stored(A: sr.Matrix) -> sr.Vector:
    return sr.Vector.from_dense(np.ones(A.nrows, A.dtype.name))


def _one(A: sr.Matrix) -> sr.Vector:
    return sr.Vector.from_coo([0], np.ones(1, A.dtype.name), size=A.nrows)


def _built(A: sr.Matrix, dup_op: str) -> sr.Matrix:
    entries = [np.concatenate([part, part]) for part in A.to_coo()]
    return sr.Matrix.from_coo(*entries, shape=A.shape, dup_op=dup_op)


# Operations of matrices, which are compiled as algorithms are: also those of the searches, shortest paths, ranks and
# counts of triangles that users compose.
OPERATIONS: dict[str, tuple[Callable[[sr.Matrix], Any], ...]] = {
    "mxv": (
        lambda A: A.mxv(sr.Vector.full(1, A.ncols)),
        lambda A: A.mxv(_stored(A)),
        lambda A: A.mxv(_stored(A), "min_plus"),
        lambda A: A.mxv(_one(A), "any_pair"),
    ),
    "vxm": (
        lambda A: _stored(A).vxm(A),
        lambda A: _one(A).vxm(A, "any_pair").new(mask=~_one(A).S),
        lambda A: _one(A).vxm(A, "min_plus"),
    ),
    "mxm": (lambda A: A.mxm(A), lambda A: A.mxm(A, "plus_pair").new(mask=A.S), lambda A: A.mxm(A, "min_plus")),
    "ewise_add": (lambda A: A.ewise_add(A.T, "plus"), lambda A: A.ewise_add(A.T, "min")),
    "ewise_mult": (lambda A: A.ewise_mult(A.T, "times"),),
    "transpose": (lambda A: A.T.new(),),
    "from_coo": (
        lambda A: sr.Matrix.from_coo(*A.to_coo(), shape=A.shape),
        lambda A: _built(A, "plus"),
        lambda A: _built(A, "min"),
        lambda A: _built(A, "last"),
    ),
    "kronecker": (lambda A: _generated(A.dtype),),
    "reduce_rowwise": (lambda A: A.reduce_rowwise("plus"), lambda A: A.reduce_rowwise("max")),
    "reduce": (lambda A: A.reduce_scalar("plus").value, lambda A: A.reduce_scalar("max").value),
    "select": (lambda A: A.select("tril"), lambda A: A.select(">", 0)),
    "apply": (lambda A: A.apply("ainv"), lambda A: A.apply("times", right=2)),
    "extract": (lambda A: A[0, :].new(), lambda A: A[[0, 1, 2], [0, 1, 2]].new()),
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
    for kind, symmetric in (*product(("cycle", "bipartite", *between, scale), (True, False)), ("ring", False)):
        n, rows, columns = _edges(kind, symmetric)
        for dtype in types:
            values = True if dtype == "bool" else np.ones(rows.size, dtype)
            yield sr.Matrix.from_coo(rows, columns, values, nrows=n, ncols=n)


@functools.cache
def _edges(kind: str | int, symmetric: bool) -> tuple[int, Any, Any]:
    """Return the number of vertices of a graph, and its edges, on the host.

    kind: a cycle of five vertices (directed: without a way back; a ring: with one, so that each vertex has a
    successor); a uniform bipartite graph, in which no vertex separates others (directed: acyclic, with long paths); or
    an R-MAT graph, by the binary logarithm of its vertices.
    """
    if isinstance(kind, int):
        A = sr.random.rmat(kind, symmetric=symmetric, loops=False, device="cpu")
        return A.nrows, *A.to_coo(values=False)[:2]
    if kind in ("cycle", "ring"):
        n, edges = 5, np.array([(0, 1), (1, 2), (2, 3), (3, 4), (0, 4) if kind == "cycle" else (4, 0)])
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
        return list(OPERATIONS[name])
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
