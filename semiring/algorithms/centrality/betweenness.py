"""Betweenness of vertices and edges, exact or from a sample of the sources, by Brandes' method.

`brandes` counts paths of the fewest edges, `weighted` those of the least weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from semiring import Matrix, Vector, ops, vstack
from semiring.exceptions import InvalidValue, NotSupported, OutOfMemory

from ..checks import Vertices, Weight, count, each_row, is_many, processor, read_weight, seed_of, square
from ..checks import weights as check_weights
from ..progress import Progress, reporter
from ..randomness import uniform
from ..vertex_labels import algorithm
from .brandes import Graph, backward, by_source, forward
from .iteration import floating
from .weighted import WeightedGraph, edge_sums, vertex_sums

# A batch has at most so many sources, and so many pairs of a vertex and a source: about 80 bytes each.
_SOURCES = 128
_PAIRS = {"cpu": 2**25, "cuda": 2**29}
# Of weighted graphs a batch has at most so many pairs of an entry and a source: about 50 bytes each.
_ENTRIES = {"cpu": 2**24, "cuda": 2**28}
# How the shares of edges are summed.  A vertex has an entry for each source that reaches it, so a dot product of sparse
# levels has few terms; by its costs, the CPU engine would derive no transpose for one level.  On a GPU all levels are
# summed as sparse ones: a product of a full and a sparse matrix under a mask computes all entries there (measured,
# kron20 on an H200: 1.5 ms a source, and 85 with pairs of levels).
_EDGES = {"cpu": "dot", "cuda": "auto"}
_BY_PAIRS = {"cpu": True, "cuda": False}


@algorithm("v")
def betweenness_centrality(
    A: Matrix,
    *,
    weight: Weight = None,
    samples: int | None = None,
    sources: Vertices | None = None,
    seed: int = 0,
    normalized: bool = True,
    endpoints: bool = False,
    directed: bool | None = None,
    dtype: Any = np.float64,
    batch: int | None = None,
    progress: Progress | None = None,
) -> Vector:
    """b(v) = sum over s != v != t of the share of the shortest paths from s to t on which v lies.

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; self-loops have no effect.
    weight : True or str, optional
        True: the length of an edge is its value, which must be positive; str: that field of its record.
        Default: values are not read, and every length is 1.
    samples : int, optional
        Estimate from so many random sources, as NetworkX does with its k; default: all vertices are sources, which is
        exact.
    sources : sequence of distinct rows or names
        Sum over these s alone, and all t; not together with `samples`.
    seed : int, of the random sources
    normalized : bool
        Divide by the number of pairs (s, t): (n - 1)(n - 2), or n (n - 1) with `endpoints`.
    endpoints : bool
        Whether a path counts for its ends.
    directed : bool
        False: each pair of vertices counts once, which matters unless `normalized`.  Default: whether A(v, u) is
        missing for some A(u, v), or with `weight` differs from it.
    dtype : float64 or float32, of paths and shares
    batch : int
        How many sources are processed together; default: up to 128, fewer for large graphs.
    progress : function of (sources done, sources), called after each batch
        On a grid of processes these are the sources of the process, where each has sources of its own.

    Returns
    -------
    Vector of size n, full, float64.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch
    NotSupported
        If there are more shortest paths between two vertices than `dtype` holds.
    OutOfMemory
        If one source does not fit.

    Notes
    -----
    Cost O(nvals) for each source.  Memory about 80 bytes for each vertex and source of a batch, and a copy of the
    structure; a batch that does not fit is halved.  Synchronizes a few times a level.

    With weights the cost is that of `sssp` and O(nvals) for each source, and the memory about 50 bytes for each entry
    and source of a batch.  Paths are equally long if their sums are equal as int64 or floats; of decimal fractions
    rounding may separate them.  An infinite weight is longer than all paths of finite ones: of paths of infinite length
    those with the fewest infinite weights are the shortest, of these those with the least sum of the others.  On a grid
    of processes sources are divided, as in `ops.map_reduce`.

    Sources: Brandes, "A Faster Algorithm for Betweenness Centrality", 2001; Brandes, Pich, "Centrality Estimation in
    Large Networks", 2007 (samples); scaling as in NetworkX.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2), (1, 3)])
    >>> sr.algorithms.betweenness_centrality(A | A.T, normalized=False).to_dict()
    {0: 0.0, 1: 3.0, 2: 0.0, 3: 0.0}
    """
    A, weighted = read_weight("betweenness_centrality", A, weight)
    plan = _plan("betweenness_centrality", A, weighted, samples, sources, seed, directed, dtype, batch)

    def summed(A: Matrix, chosen: Sequence[int]) -> Vector:
        part = plan.of(A, chosen)
        total = Vector.full(0.0, A.nrows, device=A.device)
        if isinstance(part.graph, WeightedGraph):
            sums = partial(vertex_sums, "betweenness_centrality", part.graph, endpoints=endpoints)
        else:
            sums = partial(_vertices, part.graph, endpoints=endpoints)
        for batch in part.batches("betweenness_centrality", progress, sums):
            total(accum="plus") << batch
        return total

    total = ops.map_reduce(summed, A, plan.sources, values=weighted)
    _check_finite("betweenness_centrality", total.reduce("plus").get(0.0), plan.dtype)
    own, other = _scales(plan, normalized, endpoints)
    if own != other:
        total(accum="times")[plan.sources] << own / other
    return total.apply("times", right=other).dup()


@algorithm("vv")
def edge_betweenness_centrality(
    A: Matrix,
    *,
    weight: Weight = None,
    samples: int | None = None,
    sources: Vertices | None = None,
    seed: int = 0,
    normalized: bool = True,
    directed: bool | None = None,
    dtype: Any = np.float64,
    batch: int | None = None,
    progress: Progress | None = None,
) -> Matrix:
    """B(u, v) = sum over s and t of the share of the shortest paths from s to t that contain the edge (u, v).

    Parameters
    ----------
    A : Matrix, n x n
        An entry (u, v) is an edge from u to v; self-loops have no effect.
    weight : True or str, optional
        True: the length of an edge is its value, which must be positive; str: that field of its record.
        Default: values are not read, and every length is 1.
    samples, sources, seed, dtype, batch, progress : as `betweenness_centrality`
    normalized : bool
        Divide by the number of pairs (s, t), n (n - 1).
    directed : bool
        False: an edge is both A(u, v) and A(v, u), whose sums are added, and each pair of vertices counts once, which
        matters unless `normalized`.  Default: whether A(v, u) is missing for some A(u, v), or with `weight` differs.

    Returns
    -------
    Matrix with the structure of A, float64.

    Raises
    ------
    DimensionMismatch, IndexOutOfBound, InvalidValue, DomainMismatch, NotSupported, OutOfMemory

    Notes
    -----
    Cost, memory and synchronization as `betweenness_centrality`, and one product under the mask A for each batch.

    Sources: Brandes, "On Variants of Shortest-Path Betweenness Centrality and their Generic Computation", 2008.

    Examples
    --------
    >>> A = Matrix.from_edgelist([(0, 1), (1, 2)])
    >>> sr.algorithms.edge_betweenness_centrality(A, normalized=False).to_dicts()
    {0: {1: 2.0}, 1: {2: 2.0}}
    """
    A, weighted = read_weight("edge_betweenness_centrality", A, weight)
    plan = _plan("edge_betweenness_centrality", A, weighted, samples, sources, seed, directed, dtype, batch)

    def summed(A: Matrix, chosen: Sequence[int]) -> Matrix:
        part = plan.of(A, chosen)
        total = A.apply("second", right=np.float64(0)).dup()
        sums: Callable[[list[int]], Any]
        if isinstance(part.graph, WeightedGraph):
            sums = partial(edge_sums, "edge_betweenness_centrality", part.graph)
        else:
            sums = partial(_edges, part.graph)
        for batch in part.batches("edge_betweenness_centrality", progress, sums):
            total(accum="plus") << batch
        return total

    total = ops.map_reduce(summed, A, plan.sources, values=weighted)
    _check_finite("edge_betweenness_centrality", total.reduce_scalar("plus").get(0.0), plan.dtype)
    if not plan.directed:
        total = total.ewise_add(total.T, "plus")
    return total.apply("times", right=_scales(plan, normalized, endpoints=True)[1]).dup()


@dataclass
class _Plan:
    """The sources of a call.  sampled: they stand for all vertices, so sums are scaled."""

    graph: Graph | WeightedGraph
    sources: list[int]
    sampled: bool
    directed: bool
    batch: int

    @property
    def n(self) -> int:
        return self.graph.A.nrows

    def of(self, A: Matrix, sources: Sequence[int]) -> _Plan:
        """Return the plan for some of the sources, with the graph on this device."""
        graph = self.graph if A is self.graph.A else type(self.graph)(A, self.dtype)
        return replace(self, graph=graph, sources=list(sources))

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.graph.dtype

    def batches(self, name: str, progress: Progress | None, sums: Callable[[list[int]], Any]) -> Iterator[Any]:
        """Yield the sums of each batch of sources; one that does not fit is halved."""
        report: Callable[[int, int | None], object] = reporter(name, progress)
        done = 0
        if not self.sources:
            report(0, 0)
        while done < len(self.sources):
            chosen = self.sources[done : done + self.batch]
            try:
                part = sums(chosen)
            except OutOfMemory:
                if len(chosen) == 1:
                    raise
                self.batch = len(chosen) // 2
                continue
            yield part
            done += len(chosen)
            report(done, len(self.sources))


def _vertices(graph: Graph, sources: list[int], *, endpoints: bool) -> Vector:
    """Return the sum of the dependencies of a batch of sources; with `endpoints` the paths that end at a vertex too."""
    total = Vector.full(0.0, graph.A.nrows, device=graph.A.device)
    levels = forward(graph, sources)
    if endpoints and len(levels) > 1:
        reached = [by_source(level.paths, dense=level.dense) for level in levels[1:]]
        total(accum="plus") << vstack(reached).reduce_columnwise("count")
        of_sources = Vector.full(0.0, len(sources), device=graph.A.device)
        for part in reached:
            of_sources(accum="plus") << part.reduce_rowwise("count")
        total(accum="plus")[sources] << of_sources
    parts = []
    for step in backward(graph, levels, len(sources)):
        if step.dependencies is None:
            continue
        if step.by_vertex:
            total(accum="plus") << step.dependencies.reduce_rowwise("plus")
        else:
            parts.append(step.dependencies)
    if parts:
        total(accum="plus") << vstack(parts).reduce_columnwise("plus")
    return total


def _edges(graph: Graph, sources: list[int]) -> Matrix:
    """Return the sum over a batch of sources and d of F(d)(u) Y(d + 1)(v), for the edges (u, v)."""
    levels = forward(graph, sources)
    before = levels[:-1]
    total = graph.A.apply("second", right=np.float64(0)).dup()
    paths, shares = [], []  # of pairs of sparse levels, which are many in deep graphs, for one product
    for step in backward(graph, levels, len(sources)):
        level = before.pop()
        if _BY_PAIRS[processor(graph.A)] and (level.dense or step.level.dense):
            left = level.paths if level.dense else level.paths.T
            right = step.shares.T if step.level.dense else step.shares
            total(accum="plus") << left.mxm(right, "plus_times", mask=graph.A.S)
        else:
            paths.append(by_source(level.paths, dense=level.dense))
            shares.append(by_source(step.shares, dense=step.level.dense))
    if paths:
        method = _EDGES[processor(graph.A)]
        total(accum="plus") << vstack(paths).T.mxm(vstack(shares), "plus_times", mask=graph.A.S, method=method)
    return total


def _plan(
    name: str,
    A: Matrix,
    weighted: bool,
    samples: Any,
    sources: Any,
    seed: Any,
    directed: bool | None,
    dtype: Any,
    batch: Any,
) -> _Plan:
    n = square(name, A)
    if weighted:
        check_weights(name, A, above=0)
    kind = floating(name, dtype)
    chosen, seed = _chosen(name, A, samples, sources, seed_of(name, seed)), None
    if batch is None:
        most = _ENTRIES[processor(A)] // max(n, A.nvals, 1) if weighted else _PAIRS[processor(A)] // max(n, 1)
        batch = max(1, min(_SOURCES, most))
    elif count(name, "batch", batch) < 1:
        raise InvalidValue(f"{name}: batch must be at least 1, got {batch}")
    if directed is None:
        directed = not A.is_symmetric_structure or (weighted and not A.is_iso and not A.isequal(A.T))
    graph = WeightedGraph(A, kind) if weighted else Graph(A, kind)
    return _Plan(graph, chosen, sources is None and len(chosen) < n, directed, int(batch))


def _chosen(name: str, A: Matrix, samples: Any, sources: Any, seed: int) -> list[int]:
    """Return the sources."""
    n = A.nrows
    if sources is not None:
        if samples is not None:
            raise InvalidValue(f"{name}: samples and sources exclude each other")
        if not is_many(sources):
            raise InvalidValue(f"{name}: sources must be a sequence of rows, got {sources!r}")
        rows = each_row(name, sources, n)
        if len(set(rows)) < len(rows):
            raise InvalidValue(f"{name}: sources must be distinct")
        return rows
    if samples is None:
        return list(range(n))
    if not 1 <= count(name, "samples", samples) <= n:
        raise InvalidValue(f"{name}: samples must be from 1 to the number of vertices, {n}, got {samples}")
    drawn = uniform(n, seed, device=A.device).selectk("smallest", int(samples))
    return [int(v) for v in drawn.to_coo(values=False, device="cpu")[0]]


def _scales(plan: _Plan, normalized: bool, endpoints: bool) -> tuple[float, float]:
    """Return the factors of sources and of other vertices.

    A vertex is in the sums of all pairs (s, t) of N vertices: all n, or those other than itself.  A sample without
    `endpoints` has k - 1 sources other than itself if it is a source, and k if it is not.
    """
    n, k = plan.n, len(plan.sources)
    N = n if endpoints else n - 1
    pairs = 1.0 / (N * (N - 1)) if normalized and N > 1 else 1.0
    if not normalized and not plan.directed:
        pairs = 0.5
    if not plan.sampled or N < 2:
        return pairs, pairs
    own = k if endpoints else k - 1
    return pairs * N / own if own else float("nan"), pairs * N / k


def _check_finite(name: str, total: float, dtype: np.dtype[Any]) -> None:
    if not np.isfinite(total):
        more = ", dtype=float64 may hold them" if dtype.itemsize < 8 else ""
        raise NotSupported(
            f"{name}: there are more than {np.finfo(dtype).max:.2g} shortest paths between two vertices{more}"
        )
