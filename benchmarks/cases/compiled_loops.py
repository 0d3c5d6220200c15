"""Loops of user programs, compiled, beside the same step by step and the functions of the library.

A figure is the time of the compiled program over that of the function of the library, on the same graph in the same
run; the targets are those of user programs on an H200 and on two cores.  The loops of the engines are timed in turns
with the programs; the target is the ratio from which on an engine keeps its loop.  Results are compared before they are
timed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np

import semiring as sr
from semiring import Matrix, Vector
from tests.loops import programs, user_forests, user_programs, user_sets

from .. import graphs, machine
from ..case import ONLY, Run
from ..report import Peer, Row

# Name, program, its arguments, and the call of the library.
EngineCase: TypeAlias = tuple[str, Callable[..., Any], tuple[Any, ...], Callable[[], Any]]

ROADS = machine.ROOT / "semiring" / "data" / "NY.gr.xz"
_TURNS, _ENGINE_TURNS = 7, 15
_LONG_S = 1.0
# An engine keeps a loop beside which a compiled program takes more than this many times as long.
_KEPT = 1.1


def cases(device: str) -> Iterator[tuple[str, Callable[..., Any], Matrix, tuple[Any, ...], Callable[[], Any] | None]]:
    """Name, program, graph, further arguments, and the call of the library for the same purpose."""
    searched = ("kron20", "kron22", "kron24", "grid5000x5000") if device == "cuda" else ("kron12", "kron16")
    for name in searched:
        yield from _searches(name, graphs.make(name))
    yield from _searches("path of 10^6", _path(1_000_000))
    if device == "cpu":
        yield from _searches("roads of New York", sr.io.read(ROADS).apply("one").dup(bool))
    for name in ("kron14", "kron20", "kron22") if device == "cuda" else ("kron12",):
        yield from _programs(name, graphs.make(name))


def _path(n: int) -> Matrix:
    at = np.arange(n - 1)
    return Matrix.from_coo(np.r_[at, at + 1], np.r_[at + 1, at], True, nrows=n, ncols=n)


def _source(A: Matrix) -> int:
    return int(A.reduce_rowwise(sr.agg.count).to_coo()[0][0])


def _searches(name: str, A: Matrix) -> Iterator[Any]:
    s = _source(A)
    yield f"bfs_levels, {name}", programs.bfs_levels, A, (s,), partial(sr.algorithms.bfs_levels, A, s)


def _programs(name: str, A: Matrix) -> Iterator[Any]:
    s = _source(A)
    yield f"bfs_parents, {name}", programs.bfs_parents, A, (s,), partial(sr.algorithms.bfs_parents, A, s)
    F = A.dup(float)
    yield f"rank_steps, {name}", programs.rank_steps, F, (), lambda: _limited(sr.algorithms.pagerank, F, 20)
    yield f"components, {name}", programs.components, A, (), partial(sr.algorithms.connected_components, A)
    W = _weighted(A)
    yield f"bellman_ford, {name}", programs.bellman_ford, W, (s,), partial(sr.algorithms.sssp, W, s)
    chosen = partial(sr.algorithms.maximal_independent_set, A, seed=1)
    yield f"independent_set, {name}", programs.independent_set, A, (1,), chosen
    yield f"core_numbers, {name}", programs.core_numbers, A, (), partial(sr.algorithms.core_numbers, A)
    yield (
        f"bfs_to_depth, {name}",
        programs.bfs_to_depth,
        A,
        (s, 3),
        partial(sr.algorithms.bfs_levels, A, s, max_depth=3),
    )
    sources = A.reduce_rowwise(sr.agg.count).to_coo()[0][:16].tolist()
    central = partial(sr.algorithms.betweenness_centrality, A, sources=sources, normalized=False, directed=True)
    yield f"betweenness, {name}", user_programs.betweenness, A, (sources,), central
    yield f"hits, {name}", programs.hits, A, (20,), lambda: _limited(sr.algorithms.hits, A, 20)
    central = partial(_limited, sr.algorithms.katz_centrality, F, 20)
    yield f"katz, {name}", programs.katz, F, (1e-4, 1.0, 20, 0.0), central
    yield f"delta_stepping, {name}", user_programs.delta_stepping, W, (s,), partial(sr.algorithms.sssp, W, s)
    reached, levels = sr.algorithms.bfs_levels(A, s).to_coo()
    t = int(reached[np.argmax(levels)])
    search = partial(sr.algorithms.bfs_levels, A, s)
    yield f"distance, {name}", programs.distance, A, (s, t), search
    yield f"two_sided, {name}", programs.two_sided, A, (s, t), search
    yield f"filtered, {name}", user_programs.filtered, W, (s, 12.0), partial(_search_below, W, s, 12.0)
    yield f"labels, {name}", programs.labels, A, (), partial(sr.algorithms.connected_components, A)
    if name != "kron22":  # 1,600 rounds of all edges on kron20
        yield f"coloring, {name}", user_sets.jones_plassmann, A, (), partial(sr.algorithms.coloring, A)


def engine_cases(device: str) -> Iterator[EngineCase]:
    """The loops of the engines as programs of vector operations, beside the operations of the library."""
    yield from _forests()
    for name in ("kron12", "kron16", "roads of New York"):
        W = sr.io.read(ROADS).dup(float) if name.startswith("roads") else _weighted(graphs.make(name))
        yield from _lengths(name, W)  # first: which transposes of W are known decides directions
        yield from _central(name, W.dup(bool))
        yield from _acyclic(name, W)
        yield from _ordered(name, W, device)
        if device == "cpu":
            yield from _flows(name, W)


def _forests() -> Iterator[EngineCase]:
    """Sums over the trees of a random recursive tree and of a path, both of a million vertices."""
    n, rng = 1_000_000, np.random.default_rng(0)
    values, names = Vector.from_dense(rng.integers(0, 9, n)), rng.permutation(n)
    above = np.empty(n, np.int64)
    above[names] = names[(rng.random(n) * np.arange(n)).astype(np.int64)]
    for name, parent in (("random tree of 10^6", above), ("path of 10^6", np.maximum(np.arange(n) - 1, 0))):
        forest = Vector.from_dense(parent)
        for towards, climbs, rounds in (
            ("roots", user_forests.subtree_sums, user_forests.subtree_sums_by_rounds),
            ("leaves", user_forests.path_sums, user_forests.path_sums_by_rounds),
        ):
            library = partial(sr.ops.treefix, forest, values, towards=towards)
            yield f"treefix to the {towards} by climbs, {name}", climbs, (forest, values), library
            yield f"treefix to the {towards} by rounds, {name}", rounds, (forest, values), library


def _weighted(A: Matrix) -> Matrix:
    """Weights from 1 to 16 that depend on the ends of an edge."""
    W = A.apply("rowindex").ewise_mult(A.apply("colindex"), "plus").apply("band", right=15).dup(float)
    W << W + 1.0
    return W


def _acyclic(name: str, W: Matrix) -> Iterator[EngineCase]:
    """Numbers of paths along the shortest paths from a vertex, and the colors of the greedy order."""
    s = _source(W)
    T = sr.algorithms.sssp(W, s)
    tight = T.ewise_mult(W, "plus").ewise_mult(T, "eq").select("==", True).new()
    start, full = Vector.from_coo([s], 1.0, size=W.nrows), Vector.full(0.0, W.nrows)
    full[s] = 1.0
    counts = partial(sr.ops.acyclic_closure, start, tight, "plus_first")
    yield f"acyclic_closure, numbers of shortest paths, {name}", user_forests.path_counts, (tight, full), counts
    degree = W.reduce_rowwise(sr.agg.count).dup(float)
    key = Vector.full(0.0, W.nrows).ewise_add(degree, "plus").apply("times", right=float(W.nrows))
    key << key.ewise_add(Vector.full(0, W.nrows).apply("rowindex").dup(float), "plus")
    order = key.ewise_mult(W, "first").ewise_mult(key, "gt").select("==", True).new()
    none = Vector.full(0, W.nrows, np.uint64)
    bits = partial(sr.ops.acyclic_closure, none, order, "bor_first", then=user_forests.lowest_free)
    yield f"acyclic_closure, colors, {name}", user_forests.greedy_colors, (order,), bits


def _ordered(name: str, W: Matrix, device: str) -> Iterator[EngineCase]:
    """Spanning forests of the edges in order, and votes."""
    if device == "cpu":  # a GPU has no loop over edges in order
        half = W.select("triu", 1).new()
        yield f"span, {name}", user_forests.spanning_forest, (half,), partial(sr.ops.span, half)
        forest = partial(sr.algorithms.minimum_spanning_forest, W)
        rounds = partial(sr.algorithms.minimum_spanning_forest, method="boruvka")
        yield f"span, by rounds of operations, {name}", rounds, (W,), partial(forest, method="kruskal")
    ones = W.dup(bool).apply("second", right=1).select("offdiag").new()
    yield (
        f"vote, {name}",
        user_forests.elected,
        (ones,),
        partial(sr.algorithms.label_propagation, ones, method="synchronous"),
    )


def _lengths(name: str, W: Matrix) -> Iterator[EngineCase]:
    """Lengths of shortest paths, from one source and from sixteen."""
    s = _source(W)
    library = partial(sr.algorithms.sssp, W, s)
    yield f"relax, every changed row, {name}", programs.bellman_ford, (W, s), library
    delta = 10_000.0 if name.startswith("roads") else 3.0
    yield f"relax, by buckets, {name}", user_programs.delta_stepping, (W, s, delta), library
    sources = W.reduce_rowwise(sr.agg.count).to_coo()[0][:16].tolist()
    each = partial(sr.algorithms.sssp, W, sources)
    yield f"closure_rows, 16 sources, {name}", user_forests.lengths_from_each, (W, sources), each


def _central(name: str, A: Matrix) -> Iterator[EngineCase]:
    """Betweenness from several sources, of which a program has one at a time."""
    starting = A.reduce_rowwise(sr.agg.count).to_coo()[0]
    for count in (16, 64):
        sources = starting[:count].tolist()
        library = partial(sr.algorithms.betweenness_centrality, A, sources=sources, normalized=False, directed=True)
        yield f"closure_many, {count} sources, {name}", user_programs.betweenness, (A, sources), library


def _flows(name: str, W: Matrix) -> Iterator[EngineCase]:
    """The value of a maximum flow between the rows of the largest degrees, along trees and along paths."""
    degree = W.reduce_rowwise(sr.agg.count)
    t, s = (int(v) for v in np.argsort(-degree.to_numpy(fill_value=0), kind="stable")[:2])
    yield (
        f"flow, {name}",
        partial(_flow_value, method="trees"),
        (W, s, t),
        partial(_flow_value, W, s, t, method="paths"),
    )


def _flow_value(A: Matrix, s: int, t: int, *, method: str) -> float:
    return float(sr.algorithms.maximum_flow(A, s, t, method=method).value)


def _search_below(A: Matrix, s: int, limit: float) -> Vector:
    return sr.algorithms.bfs_levels(A.select("<", limit), s)


def _limited(function: Callable[..., Any], A: Matrix, steps: int) -> Any:
    """Return the result of so many iterations of an algorithm that ends when it converges."""
    try:
        return function(A, max_iter=steps, tol=1e-30)
    except sr.exceptions.ConvergenceFailure as error:
        return error.result


def _samples(call: Callable[[], Any], turns: int) -> list[float]:
    made = []
    for _ in range(turns):
        begin = time.perf_counter()
        _wait(call())
        made.append((time.perf_counter() - begin) * 1e3)
        if made[-1] > _LONG_S * 1e3:
            break
    return made


def _wait(found: Any) -> None:
    """Wait for a result that is still computed."""
    if isinstance(found, tuple):
        for each in found:
            _wait(each)
    if isinstance(found, (Vector, Matrix)):
        found.wait()
        if found.device == "cuda":
            import cupy

            cupy.cuda.get_current_stream().synchronize()


def _same(name: str, a: Any, b: Any) -> bool:
    """Return whether two results agree; of parents which vertices have one, since any of several is right."""
    if isinstance(a, tuple):
        return all(_same(name, *each) for each in zip(a, b, strict=True))
    if isinstance(a, Matrix):
        return bool(a.isequal(b) or a.isclose(b, rel_tol=1e-6))
    if not isinstance(a, Vector):
        return bool(a == b)
    if "parents" in name:
        a, b = a.apply("one"), b.apply("one")
    return bool(a.isequal(b) or (a.dtype.kind == "f" and a.isclose(b, rel_tol=1e-6)))


def _measure_engine(run: Run) -> int:
    """Measure the loops of the engines beside programs, in turns."""
    run.result = "engine-loops"
    for name, function, given, library in engine_cases(run.device):
        if not run.selects(name):
            continue
        compiled = function if isinstance(function, partial) else sr.compile(function)
        begin = time.perf_counter()
        found = compiled(*given)
        first = time.perf_counter() - begin
        expected = library()
        if name.startswith("acyclic_closure, numbers"):
            found = found.select("!=", 0.0).new()
        assert _same(name, found, expected), name
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(_ENGINE_TURNS):
            ours += _samples(partial(compiled, *given), 1)
            theirs += _samples(library, 1)
        median, least = statistics.median(ours), min(ours)
        note = f"compiled {median:.3g} ms; ratio of minima {least / min(theirs):.3g}; first call {first:.2g} s"
        peer = Peer("library", statistics.median(theirs), samples=tuple(theirs))
        ratio = median / statistics.median(theirs)
        run.add(name, "x library", ratio, _KEPT, peers=(peer,), note=note, samples=tuple(ours))
    return 0 if run.report.rows else 1


def small_steps(v: Vector, w: Vector, steps: int) -> Vector:
    """Four operations an iteration, on vectors that lack entries; all keep theirs."""
    for _ in range(steps):
        t = v.ewise_add(w, "plus")
        t = t.select("<", 1000.0)
        v(accum="max") << t.apply("times", right=0.5)
        w << w.ewise_mult(t, "min")
    return v


def _small() -> Row:
    """The time of an operation on vectors of 64 positions."""
    steps = 10_000
    v, w = Vector.from_coo(np.arange(0, 64, 2), 1.0, size=64), Vector.from_coo(np.arange(0, 64, 3), 2.0, size=64)
    compiled = sr.compile(strict=True)(small_steps)
    compiled(v.dup(), w.dup(), 2)
    ours = [took / steps / 4 * 1e3 for took in _samples(lambda: compiled(v.dup(), w.dup(), steps), _TURNS)]
    few = 100
    small_steps(v.dup(), w.dup(), few)
    plain = [took / few / 4 * 1e3 for took in _samples(lambda: small_steps(v.dup(), w.dup(), few), _TURNS)]
    note = f"step by step {statistics.median(plain):.3g} us"
    return Row("an operation, small vectors", "us", statistics.median(ours), 3.0, note=note, samples=tuple(ours))


def _target(device: str, name: str) -> float:
    """Return the most that the ratio shall be."""
    if device == "cpu":
        return 1.5
    least = {"bfs_levels": 1.3, "rank_steps": 1.15, "hits": 1.15, "independent_set": 1.2}
    least |= {"components": 3.0, "core_numbers": 3.0, "betweenness": 3.0, "coloring": 3.0, "labels": 3.0, "katz": 1.15}
    return least.get(name.partition(",")[0], 1.5)


OPTIONS = {
    "only": ONLY,
    "engine": (False, "the loops of the engines beside the same as programs; result engine-loops"),
}


def main(run: Run) -> int | None:
    """The programs that are selected, or the loops of the engines."""
    if run.options.engine:
        return _measure_engine(run)
    if run.selects("small vectors"):
        run.report.add(_small())
    for name, function, A, rest, library in cases(run.device):
        if not run.selects(name):
            continue
        compiled = sr.compile(strict="betweenness" not in name)(function)  # its loop over sources is Python's
        begin = time.perf_counter()
        found = compiled(A, *rest)
        first = time.perf_counter() - begin
        if "path" not in name:
            assert _same(name, function(A, *rest), found), name
        elif library is not None:
            assert library().isequal(found), name
        ours = _samples(lambda: compiled(A, *rest), _TURNS)  # noqa: B023
        peers = []
        if "path" not in name or run.device == "cpu":
            plain = _samples(lambda: function(A, *rest), _TURNS if "path" not in name else 1)  # noqa: B023
            peers.append(Peer("step by step", statistics.median(plain), samples=tuple(plain)))
        ratio = None
        if library is not None:
            library()
            theirs = _samples(library, _TURNS)
            peers.append(Peer("library", statistics.median(theirs), samples=tuple(theirs)))
            ratio = statistics.median(ours) / statistics.median(theirs)
        note = f"compiled {statistics.median(ours):.3g} ms; first call {first:.2g} s"
        target = _target(run.device, name)
        run.add(name, "x library", ratio, target, peers=tuple(peers), note=note, samples=tuple(ours))
    return None
