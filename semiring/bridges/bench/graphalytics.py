"""LDBC Graphalytics: BFS, PR, WCC, CDLP, LCC and SSSP, by version 1.0 of its specification (Iosup et al., 2020).

A data set is ``NAME.properties`` beside ``NAME.v``, ``NAME.e`` and the reference results ``NAME-BFS`` and so on.  A
generated graph, and an algorithm without a reference result, are validated by implementations in SciPy and NumPy.
Results match exactly (BFS, CDLP), as partitions (WCC), or within 1e-4 of the reference value (PR, LCC, SSSP).  The rate
is EVPS: edges and vertices a second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import semiring as sr
from semiring.bridges.bench import validation
from semiring.bridges.bench.measuring import Contender
from semiring.bridges.bench.peers import finite_sum, scipy_matrix
from semiring.bridges.bench.suite import Kernel, Run, sources
from semiring.bridges.cli.report import shown
from semiring.exceptions import InvalidFormat, InvalidValue

ALGORITHMS: Final = ("bfs", "pr", "wcc", "cdlp", "lcc", "sssp")
#: The level of a vertex without a path.
FAR: Final = 2**63 - 1
_EPSILON: Final = 1e-4
#: Entries up to which SciPy and NumPy compute reference results.
_MOST_ENTRIES: Final = 1 << 25
_PARAMETERS: Final = {"pr.damping-factor": "0.85", "pr.num-iterations": "10", "cdlp.max-iterations": "10"}
#: Kernels of other programs that are named otherwise.
_SHARED: Final = {"wcc": "cc", "bfs": "bfs", "lcc": "lcc", "sssp": "sssp"}


@dataclass
class Dataset:
    """A graph, the ids of its vertices, its parameters by their names, and the folder of its reference results."""

    name: str
    A: sr.Matrix
    ids: NDArray[np.int64]
    parameters: dict[str, str]
    folder: Path | None

    def row(self, algorithm: str) -> int:
        """Return the row of the source of an algorithm."""
        word = self.parameters.get(f"{algorithm}.source-vertex")
        if word is None:
            raise InvalidFormat(f"{self.name}.properties: expected {algorithm}.source-vertex")
        at = int(np.searchsorted(self.ids, int(word)))
        if at == self.ids.size or self.ids[at] != int(word):
            raise InvalidFormat(f"{self.name}.properties: the vertex {word} of {algorithm}.source-vertex has no line")
        return at

    def algorithms(self) -> list[str]:
        """Return the algorithms that the data set lists, by default all."""
        listed = re.split(r"[\s,]+", self.parameters.get("algorithms", " ".join(ALGORITHMS)).strip())
        return [name for name in ALGORITHMS if name in listed]


def datasets(folder: str) -> Iterator[Dataset]:
    """Yield the data sets of a folder."""
    found = sorted(Path(folder).glob("*.properties"))
    if not found:
        raise InvalidValue(f"--files {shown(folder)}: expected data sets of Graphalytics, files NAME.properties")
    for path in found:
        text, prefix = path.read_text(encoding="utf-8"), f"graph.{path.stem}."
        pairs = [line.partition("=") for line in text.splitlines() if "=" in line and not line.startswith("#")]
        known = {key.strip().removeprefix(prefix): value.strip() for key, _, value in pairs}
        if "edge-file" not in known or known.get("directed") not in ("true", "false"):
            raise InvalidFormat(f"{shown(path)}: expected {prefix}edge-file, and {prefix}directed = true or false")
        edges = path.with_suffix(".e")  # some data sets name another file by mistake
        edges = edges if edges.exists() else path.parent / known["edge-file"]
        A, ids = sr.io.read_graphalytics(edges, directed=known["directed"] == "true")
        yield Dataset(path.stem, A.unlabeled().wait(), ids, known, path.parent)


def generated(scale: int, run: Run) -> Dataset:
    """Return the Kronecker graph with weights as a data set."""
    A = sr.random.kronecker(scale, 16, seed=run.seed, weights="uniform").dup(np.float64)
    found = sources(A, 1, run.generator)
    if not found:
        raise InvalidValue("graphalytics: the graph has no edges, so no source: increase the scale")
    known = _PARAMETERS | {f"{name}.source-vertex": str(found[0]) for name in ("bfs", "sssp")}
    return Dataset(f"kron{scale}", A.wait(), np.arange(A.nrows), known, None)


def graphalytics(run: Run, data: Dataset, runs: int) -> None:
    """Run the algorithms of a data set and add their rows."""
    A, others = data.A, run.programs(data.A)
    edges = A.nrows + (A.nvals // 2 if A.is_symmetric_structure else A.nvals)
    for name in data.algorithms():
        with run.progress.step(f"reference of {name}"):
            expected = _reference(data, name)
        call, values, number = _calls(data, name)

        def check(_: Any, found: sr.Vector, name: str = name, values: Any = values, expected: Any = expected) -> None:
            match(name, values(found), expected)

        # Other programs start where the algorithm does: the argument is the source.
        at = data.row(name) if name in ("bfs", "sssp") else 0
        shared = {program: _renamed(calls, name) for program, calls in others.items()}
        ours = Contender(partial(_waited, call), check)
        run.measure(data.name, Kernel(name, ours, number, [at] * runs, lambda _: edges), shared)


def _waited(call: Callable[[], Any], _: Any) -> Any:
    return call().wait()


def _renamed(calls: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {name: calls[_SHARED[name]]} if _SHARED.get(name) in calls else {}


def _calls(data: Dataset, name: str) -> tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the call of an algorithm, its values as the reference has them, and a number for other programs."""
    A, al = data.A, sr.algorithms
    known = _PARAMETERS | data.parameters

    def dense(found: sr.Vector, missing: Any = 0) -> NDArray[Any]:
        return np.asarray(found.to_dense(missing, device="cpu"))

    if name == "bfs":
        call = partial(al.bfs_levels, A, data.row(name))
        return call, lambda found: dense(found.dup(np.int64), FAR), lambda found: found.nvals
    if name == "sssp":
        call = partial(al.sssp, A, data.row(name))
        return call, lambda found: dense(found, np.inf), lambda found: finite_sum(dense(found, np.inf))
    if name == "pr":
        damping, steps = float(known["pr.damping-factor"]), int(known["pr.num-iterations"])
        call = partial(al.pagerank, A, damping, 0, steps)
        return call, dense, lambda found: found.reduce("max").value
    if name == "wcc":
        return partial(al.connected_components, A), dense, lambda found: np.unique(dense(found)).size
    if name == "cdlp":
        call = partial(al.label_propagation, A, method="synchronous", max_iter=int(known["cdlp.max-iterations"]))
        return call, lambda found: data.ids[dense(found)], lambda found: found.nvals
    return partial(al.clustering, A, method="graphalytics"), dense, lambda found: found.reduce("plus").value


def match(name: str, found: NDArray[Any], expected: NDArray[Any]) -> None:
    """Require the match that the specification has for an algorithm."""
    if name in ("bfs", "cdlp"):
        validation.equal(found, expected)
    elif name == "wcc":
        pairs = np.unique(np.stack([found, expected]), axis=1).shape[1]
        sizes = np.unique(found).size, np.unique(expected).size
        validation.require((pairs, pairs) == sizes, f"{sizes[0]} components, not the {sizes[1]} of the reference")
    else:
        both = np.isfinite(found) & np.isfinite(expected)
        validation.equal(np.where(both, 0, found), np.where(both, 0, expected))
        validation.close(found[both], expected[both], _EPSILON)


def _reference(data: Dataset, name: str) -> NDArray[Any]:
    """Return the reference result, of the data set or computed, in the order of the rows."""
    path = None if data.folder is None else data.folder / f"{data.name}-{name.upper()}"
    if path is None or not path.is_file():
        if data.A.nvals > _MOST_ENTRIES:
            what = f"{data.name}-{name.upper()}"
            raise InvalidValue(f"{what}: expected a reference result; SciPy validates up to {_MOST_ENTRIES:,} entries")
        return computed(data, name)
    kind = np.float64 if name in ("pr", "lcc", "sssp") else np.int64
    try:
        lines = np.loadtxt(path, dtype=[("id", np.int64), ("value", kind)], ndmin=1)
    except ValueError as error:
        raise InvalidFormat(f"{shown(path)}: expected lines of a vertex and a value: {error}") from None
    lines = lines[np.argsort(lines["id"])]
    if not np.array_equal(lines["id"], data.ids):
        raise InvalidFormat(f"{shown(path)}: expected a line for each of the {data.ids.size:,} vertices")
    found: NDArray[Any] = lines["value"]
    return found


def computed(data: Dataset, name: str) -> NDArray[Any]:
    """Return the result of an algorithm by SciPy and NumPy."""
    from scipy.sparse import csgraph

    S, known = scipy_matrix(data.A), _PARAMETERS | data.parameters
    found: NDArray[Any]
    if name in ("bfs", "sssp"):
        found = csgraph.dijkstra(S, indices=data.row(name), unweighted=name == "bfs")
        if name == "sssp":
            return found
        levels = np.full(found.size, FAR)
        levels[np.isfinite(found)] = found[np.isfinite(found)]
        return levels
    if name == "wcc":
        return np.asarray(csgraph.connected_components(S, connection="weak")[1])
    S.data = np.ones(S.nnz)
    if name == "cdlp":
        return data.ids[_propagated(S, int(known["cdlp.max-iterations"]))]
    if name == "pr":
        damping, n, degree = float(known["pr.damping-factor"]), S.shape[0], np.diff(S.indptr)
        found = np.full(n, 1 / n)
        for _ in range(int(known["pr.num-iterations"])):
            spread = S.T @ (found / np.maximum(degree, 1)) + found[degree == 0].sum() / n
            found = (1 - damping) / n + damping * spread
        return found
    N = ((S + S.T) != 0).astype(np.float64)
    N.setdiag(0)
    N.eliminate_zeros()
    degree = np.diff(N.tocsr().indptr)
    found = np.asarray((N @ S).multiply(N).sum(axis=1)).ravel() / np.maximum(degree * (degree - 1), 1)
    return found


def _propagated(S: Any, steps: int) -> NDArray[np.int64]:
    """Return labels after so many synchronous votes: the most frequent among neighbors, of several the least."""
    n = S.shape[0]
    rows, columns = S.nonzero()
    if (S != S.T).nnz:  # directed: the neighbors by arcs of either direction
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    label = np.arange(n)
    for _ in range(steps):
        keys, counts = np.unique(rows * np.int64(n) + label[columns], return_counts=True)
        voters, votes = np.divmod(keys, n)
        order = np.lexsort((votes, -counts, voters))
        voters, first = np.unique(voters[order], return_index=True)
        label = label.copy()
        label[voters] = votes[order][first]
    return label
