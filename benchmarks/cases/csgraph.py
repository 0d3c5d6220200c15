"""Every function of semiring.csgraph against SciPy on the same arrays, conversions included.

SciPy's Bellman-Ford, and everything about all pairs, is measured on a corner of the graph: the vertices that a search
reaches first.  On a GPU graphs are CuPy's and SciPy has the same ones in host memory, where it runs once.  Every result
is compared with SciPy's before its time is reported.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph as theirs

import semiring as sr
from semiring import csgraph as ours

from .. import graphs
from ..case import ONLY, Run
from ..harness import Contender, Samples, compare

GRAPHS = {"cpu": ("roads", "kron16"), "cuda": ("kron20",)}
RUNS = 4
# Vertices of corners: for Bellman-Ford, and for all pairs.
CORNER, PAIRS = 2000, 1000


class Given(NamedTuple):
    """A graph in one memory: whole, as corners, and what functions of predecessors need.

    module: the functions for it.  integers: the graph with integers, where the memory has sparse matrices of them.
    """

    module: Any
    graph: Any
    integers: Any
    corner: Any
    pairs: Any
    dense: Any
    before: Any
    all_before: Any
    source: int
    far: int


class Case(NamedTuple):
    """A call, and a check that raises AssertionError unless the first result is as right as the second."""

    call: Callable[[Given], Any]
    check: Callable[[Any, Any], None]


def equal(found: Any, expected: Any) -> None:
    """The same values; of several results the first."""
    if isinstance(expected, tuple):
        found, expected = found[0], expected[0]
    if sp.issparse(expected):
        assert found.shape == expected.shape
        assert abs(found - expected).max() <= 1e-6
        return
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def as_heavy(found: Any, expected: Any) -> None:
    """Trees of one weight."""
    assert found.nnz == expected.nnz
    np.testing.assert_allclose(found.sum(), expected.sum())


def as_many(found: Any, expected: Any) -> None:
    """Matchings of one size."""
    assert (found >= 0).sum() == (expected >= 0).sum()


def as_strong(found: Any, expected: Any) -> None:
    """As many flows."""
    assert found.flow_value == expected.flow_value


def permutation(found: Any, expected: Any) -> None:
    """Permutations of one size."""
    np.testing.assert_array_equal(np.sort(found), np.sort(expected))


CASES = {
    "connected_components": Case(lambda g: g.module.connected_components(g.graph), equal),
    "connected_components strong": Case(lambda g: g.module.connected_components(g.graph, connection="strong"), equal),
    "dijkstra": Case(lambda g: g.module.dijkstra(g.graph, indices=g.source), equal),
    "dijkstra predecessors": Case(
        lambda g: g.module.dijkstra(g.graph, indices=g.source, return_predecessors=True), equal
    ),
    "dijkstra undirected": Case(lambda g: g.module.dijkstra(g.graph, directed=False, indices=g.source), equal),
    "dijkstra unweighted": Case(lambda g: g.module.dijkstra(g.graph, indices=g.source, unweighted=True), equal),
    "dijkstra unweighted, 16 sources": Case(
        lambda g: g.module.dijkstra(g.graph, indices=np.arange(16), unweighted=True), equal
    ),
    "dijkstra min_only": Case(lambda g: g.module.dijkstra(g.graph, indices=[g.source, 1, 2], min_only=True), equal),
    "shortest_path": Case(lambda g: g.module.shortest_path(g.graph, indices=[g.source, g.far]), equal),
    "shortest_path of a corner, all pairs": Case(lambda g: g.module.shortest_path(g.pairs), equal),
    "bellman_ford of a corner": Case(lambda g: g.module.bellman_ford(g.corner, indices=0), equal),
    "johnson of a corner": Case(lambda g: g.module.johnson(g.corner, indices=0), equal),
    "floyd_warshall of a corner": Case(lambda g: g.module.floyd_warshall(g.pairs), equal),
    "floyd_warshall predecessors of a corner": Case(
        lambda g: g.module.floyd_warshall(g.pairs, return_predecessors=True), equal
    ),
    "yen of a corner": Case(lambda g: g.module.yen(g.pairs, 0, 9, 3), equal),
    "breadth_first_order": Case(lambda g: g.module.breadth_first_order(g.graph, g.source), equal),
    "breadth_first_order undirected": Case(
        lambda g: g.module.breadth_first_order(g.graph, g.source, directed=False), equal
    ),
    "breadth_first_tree": Case(lambda g: g.module.breadth_first_tree(g.graph, g.source), equal),
    "depth_first_order": Case(lambda g: g.module.depth_first_order(g.graph, g.source), equal),
    "depth_first_tree": Case(lambda g: g.module.depth_first_tree(g.graph, g.source), equal),
    "minimum_spanning_tree": Case(lambda g: g.module.minimum_spanning_tree(g.graph), as_heavy),
    "maximum_flow": Case(lambda g: g.module.maximum_flow(g.integers, g.source, g.far), as_strong),
    "maximum_bipartite_matching": Case(lambda g: g.module.maximum_bipartite_matching(g.graph), as_many),
    "structural_rank": Case(lambda g: g.module.structural_rank(g.graph), equal),
    "reverse_cuthill_mckee": Case(lambda g: g.module.reverse_cuthill_mckee(g.graph, True), permutation),
    "laplacian": Case(lambda g: g.module.laplacian(g.graph), equal),
    "laplacian normed": Case(lambda g: g.module.laplacian(g.graph, normed=True), equal),
    "laplacian symmetrized": Case(lambda g: g.module.laplacian(g.graph, symmetrized=True), equal),
    "reconstruct_path": Case(lambda g: g.module.reconstruct_path(g.graph, g.before), equal),
    "construct_dist_matrix of a corner": Case(lambda g: g.module.construct_dist_matrix(g.pairs, g.all_before), equal),
    "csgraph_from_dense of a corner": Case(lambda g: g.module.csgraph_from_dense(g.dense), equal),
    "csgraph_to_dense of a corner": Case(lambda g: g.module.csgraph_to_dense(g.corner), equal),
}


def load(name: str) -> Any:
    """The graph of that name in host memory, with weights from 1 to 255 of float64."""
    if name == "roads":
        A: sr.Matrix = sr.io.read(Path(sr.__file__).parent / "data" / "NY.gr.xz")
    else:
        A = graphs.make(f"{name}w")
    return sr.io.to_scipy_sparse(A).astype(np.float64)


def in_host_memory(S: Any) -> Given:
    """What SciPy gets."""
    source = int(np.argmax(np.diff(S.indptr)))
    order, before = theirs.breadth_first_order(S, source)
    corner, pairs = (sp.csr_array(S[order[:size]][:, order[:size]]) for size in (CORNER, PAIRS))
    dense = theirs.csgraph_to_dense(corner)
    all_before = theirs.shortest_path(pairs, return_predecessors=True)[1]
    integers = S.astype(np.int32)
    return Given(theirs, S, integers, corner, pairs, dense, before, all_before, source, int(order[-1]))


def on(device: str, g: Given) -> Given:
    """What this library gets: the same arrays, or copies of them on the GPU."""
    if device == "cpu":
        return g._replace(module=ours)
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    whole, corner, pairs = (csr_matrix(sp.csr_matrix(part)) for part in (g.graph, g.corner, g.pairs))
    dense, before, all_before = map(cupy.asarray, (g.dense, g.before, g.all_before))
    return Given(ours, whole, whole, corner, pairs, dense, before, all_before, g.source, g.far)


def near(result: Any) -> Any:
    """A result in host memory."""
    if isinstance(result, tuple):
        return tuple(map(near, result))
    if hasattr(result, "flow"):
        return SimpleNamespace(flow_value=result.flow_value)
    return result.get() if hasattr(result, "get") else result


def row(run: Run, what: str, case: Case, here: Given, there: Given) -> float:
    """Measure one function; return how many times as fast it is as SciPy's."""
    start = time.perf_counter()
    expected = case.call(there)
    once = Samples((1e3 * (time.perf_counter() - start),))

    def check(_: Any, found: Any) -> None:
        case.check(near(found), expected)

    contenders = {"here": Contender(lambda _: case.call(here), check)}
    if not run.on_gpu:
        contenders["SciPy"] = Contender(lambda _: case.call(there))
    found = {"SciPy": once, **compare(contenders, range(RUNS), run.device)}
    found = {name: found[name] for name in ("here", "SciPy")}
    ratio = found["SciPy"].median / found["here"].median
    run.timed(what, found, facts={"ratio": ratio})
    return ratio


OPTIONS = {"graphs": (GRAPHS, "with weights"), "only": ONLY}


def main(run: Run) -> None:
    """The functions that are selected on each graph, and the geometric mean of their ratios."""
    for name in run.options.graphs:
        there = in_host_memory(load(name))
        here = on(run.device, there)
        ratios = [row(run, f"{name} {title}", case, here, there) for title, case in CASES.items() if run.selects(title)]
        if ratios:
            mean = statistics.geometric_mean(ratios)
            run.add(f"{name}, geometric mean of {len(ratios)}", "x SciPy", mean, at_most=False)
