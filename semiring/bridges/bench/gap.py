"""GAP: six kernels on each graph, by the rules of the GAP Benchmark Suite (Beamer, Asanovic, Patterson, 2015).

Sources are random vertices with out-edges.  bfs and sssp: 64 trials, one source each.  pr: 16 trials, damping 0.85,
float32 scores, until the sum of |change| is at most 1e-4; the ranks of sinks are dropped.  cc: 16 trials.  bc: 16
trials of 4 sources each.  tc: 3 trials on the undirected graph, each on a new matrix without cached results.  Weights
are integers from 1 to 255 unless a file has weights.  Self-loops and repeated edges are removed from files.

Each result is verified as GAP's verifiers do: parents are a tree of shortest paths, distances are those that no edge
improves, one more iteration changes ranks by at most the tolerance, labels agree along edges and are as many as there
are components, dependencies are those of Brandes' algorithm, and triangles those of a masked product.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Final

import semiring as sr
from semiring.bridges.bench import GAP_KERNELS, validation
from semiring.bridges.bench.ceilings import least_bytes
from semiring.bridges.bench.measuring import Contender
from semiring.bridges.bench.peers import finite_sum
from semiring.bridges.bench.suite import Kernel, Run, sources, with_weights
from semiring.bridges.cli.report import shown
from semiring.exceptions import InvalidValue

_TRIALS: Final = {"bfs": 64, "sssp": 64, "pr": 16, "cc": 16, "bc": 16, "tc": 3}
_DAMPING, _TOLERANCE, _ITERATIONS, _BC_SOURCES = 0.85, 1e-4, 1000, 4
_BC_ERROR: Final = 1e-6


def generated(kind: str, scale: int, seed: int) -> sr.Matrix:
    """Return the graph of 2**scale vertices and 16 edges drawn for each, with weights: ``kron`` or ``urand``."""
    if kind == "kron":
        return sr.random.kronecker(scale, 16, seed=seed, weights="uniform").wait()
    return sr.random.uniform(1 << scale, 16, seed=seed, weights="uniform").wait()


def files(folder: str, run: Run) -> Iterator[tuple[str, sr.Matrix]]:
    """Yield the name and the graph of each file of a folder that `semiring.io.read` accepts, without self-loops."""
    readers = sr.io.readers()
    names = [name for name in sorted(os.listdir(folder)) if sr.io.extension(name)[0] in readers]
    if not names:
        raise InvalidValue(f"--files {shown(folder)}: expected graphs, files of {' '.join(readers)}")
    for name in names:
        kind = sr.io.extension(name)[0]
        options: dict[str, Any] = {"dup_op": "min"} if "dup_op" in readers[kind] else {}
        with run.progress.step(f"reading {shown(name)}"):
            A = sr.io.read(os.path.join(folder, name), **options)
            if not isinstance(A, sr.Matrix) or A.nrows != A.ncols:
                raise InvalidValue(f"{shown(name)}: expected a square matrix, found {type(A).__name__} of {A.shape}")
            A = A.unlabeled().select("offdiag")
            weighted = A.iso_value is None and A.dtype.kind in "iuf" and bool(A.nvals)
            A = A if weighted else with_weights(A)
            if weighted and A.reduce_scalar("min").value <= 0:
                raise InvalidValue(f"{shown(name)}: expected weights above 0, which the verifier of sssp needs")
        yield name.partition(".")[0], A.wait()


def gap(run: Run, name: str, A: sr.Matrix, kernels: Sequence[str] = GAP_KERNELS, trials: int | None = None) -> None:
    """Run the kernels on a graph and add their rows; trials: at most so many of each."""
    others = run.programs(A)
    for kernel in kernels:
        count = _TRIALS[kernel] if trials is None else min(trials, _TRIALS[kernel])
        made = _Kernels(A, count, run).make(kernel)
        run.measure(name, made, others)


class _Kernels:
    """The kernels of one graph."""

    def __init__(self, A: sr.Matrix, count: int, run: Run) -> None:
        self.A, self.run, self.n = A, run, A.nrows
        self.indptr, self.indices, self.weights = A.to_csr(index_dtype=None)
        self.index, self.width = self.indices.dtype.itemsize, A.dtype.itemsize
        self.arguments: list[Any] = list(range(count))
        self.count = count
        self.edges: dict[int, float] = {}

    def make(self, name: str) -> Kernel:
        """Return a kernel by its name."""
        made: Kernel = getattr(self, f"_{name}")()
        return made

    def _least(self, kernel: str, entries: int | None = None, steps: int = 1, n: int | None = None) -> float:
        known = self.A.nvals if entries is None else entries
        return least_bytes(kernel, self.n if n is None else n, known, self.index, self.width, steps)

    def _sources(self) -> list[int]:
        found = sources(self.A, self.count, self.run.generator)
        if not found:
            raise InvalidValue("gap: the graph has no edges, so no source")
        return found

    def _count(self, source: int, reached: Any) -> None:
        rows = reached.nonzero()[0]
        self.edges[source] = float((self.indptr[rows + 1] - self.indptr[rows]).sum())

    def _bfs(self) -> Kernel:
        def check(source: int, found: sr.Vector) -> None:
            parents = found.to_dense(validation.UNREACHED)
            levels = validation.depths(parents, source)
            validation.bfs_levels(self.indptr, self.indices, source, levels)
            validation.bfs_parents(self.indptr, self.indices, source, parents, levels)
            self._count(source, parents >= 0)

        ours = Contender(lambda source: sr.algorithms.bfs_parents(self.A, source).wait(), check)
        keys = self._sources()
        rows = sr.algorithms.bfs_levels(self.A, keys[0]).nvals
        return Kernel("bfs", ours, lambda found: found.nvals, keys, self.edges.__getitem__, self._least("bfs", n=rows))

    def _sssp(self) -> Kernel:
        rounding = validation.ROUNDING if self.A.dtype.kind == "f" else 0

        def check(source: int, found: sr.Vector) -> None:
            distance = found.to_dense(validation.UNREACHED)
            validation.distances(self.indptr, self.indices, self.weights, source, distance, rounding)
            self._count(source, distance >= 0)

        ours = Contender(lambda source: sr.algorithms.sssp(self.A, source).wait(), check)
        keys = self._sources()
        reached = sr.algorithms.bfs_levels(self.A, keys[0]).to_dense(validation.UNREACHED) >= 0
        self._count(keys[0], reached)
        least = self._least("sssp", int(self.edges[keys[0]]), n=int(reached.sum()))
        return Kernel(
            "sssp", ours, lambda d: finite_sum(d.to_coo(device="cpu")[1]), keys, self.edges.__getitem__, least
        )

    def _pr(self) -> Kernel:
        steps: list[int] = []
        options: dict[str, Any] = {"tol": _TOLERANCE, "max_iter": _ITERATIONS, "dangling": "drop", "dtype": "float32"}
        sr.algorithms.pagerank(self.A, _DAMPING, **options, progress=lambda done, _: steps.append(done))

        def check(_: int, found: sr.Vector) -> None:
            error = validation.pagerank_error(self.indptr, self.indices, found.to_dense(), _DAMPING)
            validation.require(error <= _TOLERANCE, f"one more iteration changes the ranks by {error:.3g}")

        def largest(found: sr.Vector) -> float:
            return float(found.reduce("max").value / found.reduce("plus").value)

        ours = Contender(lambda _: sr.algorithms.pagerank(self.A, _DAMPING, **options).wait(), check)
        return Kernel(
            "pr", ours, largest, self.arguments, lambda _: steps[-1] * self.A.nvals, self._least("pr", steps=steps[-1])
        )

    def _cc(self) -> Kernel:
        expected = validation.component_count(self.indptr, self.indices)

        def check(_: int, found: sr.Vector) -> None:
            validation.components(self.indptr, self.indices, found.to_dense(), expected)

        ours = Contender(lambda _: sr.algorithms.connected_components(self.A).wait(), check)
        return Kernel("cc", ours, lambda _: expected, self.arguments, lambda _: self.A.nvals, self._least("cc"))

    def _bc(self) -> Kernel:
        def call(chosen: list[int]) -> sr.Vector:
            return sr.algorithms.betweenness_centrality(self.A, sources=chosen, normalized=False, directed=True).wait()

        def check(chosen: list[int], found: sr.Vector) -> None:
            expected = validation.betweenness(self.indptr, self.indices, chosen)
            near = _BC_ERROR * expected.max()
            validation.close(found.to_dense() + near, expected + near, _BC_ERROR)

        each = [sources(self.A, _BC_SOURCES, self.run.generator) for _ in self.arguments]
        chosen = [sorted(set(one)) for one in each]
        edges = float(2 * _BC_SOURCES * self.A.nvals)
        least = self._least("bc", steps=_BC_SOURCES)
        return Kernel(
            "bc", Contender(call, check), lambda found: found.reduce("max").value, chosen, lambda _: edges, least
        )

    def _tc(self) -> Kernel:
        U = self.A.apply("one").dup(bool)
        U = U if U.is_symmetric_structure else U.ewise_add(U.T, "lor")
        indptr, indices, _ = U.to_csr(index_dtype=None)
        lower = U.select("tril", -1)
        product = lower.mxm(lower, "plus_pair", mask=lower.S)
        expected = int(product.reduce_scalar("plus").get(0))

        def fresh(_: int) -> sr.Matrix:
            made = sr.Matrix.from_csr(indptr.copy(), indices.copy(), True, ncols=self.n)
            # A property of the input: it is computed here, before the timing.
            validation.require(made.is_symmetric_structure, "the graph of tc is not symmetric")
            return made

        def check(_: int, found: int) -> None:
            validation.require(found == expected, f"{found} triangles; expected {expected}")

        ours = Contender(sr.algorithms.triangle_count, check, fresh)
        least = self._least("tc", U.nvals)
        return Kernel("tc", ours, lambda found: found, self.arguments, lambda _: U.nvals, least)
