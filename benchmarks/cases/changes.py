"""Batches of changes to a graph, beside building it again: insert, delete, apply, and read it afterwards.

A batch has random edges, in arrays on the device.  ``insert``, ``delete``: `insert` and `delete` alone, which keep the
batch beside the graph.  ``applied``: with `compact`, beside a new matrix of all edges by this library, and by CuPy or
SciPy.  ``stream``: many batches one after the other and one `compact`, for each batch.  ``search``: the first search
after a hundredth of the entries was inserted, which applies them, and the second, beside one of a new matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import semiring as sr

from .. import graphs
from ..case import Run
from ..harness import RUNS, Contender, compare, measure

OPTIONS = {
    "graphs": ({"cuda": ("kron22",), "cpu": ("kron18",)}, "that are changed"),
    "batches": ({"cuda": (10_000, 1_000_000, 100_000_000), "cpu": (10_000, 1_000_000)}, "edges of a batch"),
    "stream": (100, "batches of the stream, each of the smallest size"),
}
# Milliseconds at most on an H200 and on two cores, by the edges of a batch.
BOUNDS = {"cuda": {10_000: 0.4, 1_000_000: 4.0, 100_000_000: 300.0}, "cpu": {10_000: 25.0, 1_000_000: 250.0}}


def drawn(A: sr.Matrix, count: int, seed: int) -> dict[str, Any]:
    """Random edges, on the device."""
    xp = graphs.module(A)
    rng = xp.random.default_rng(seed)
    return {"source": rng.integers(0, A.nrows, count), "target": rng.integers(0, A.nrows, count)}


def built(A: sr.Matrix, edges: dict[str, Any]) -> sr.Matrix:
    """A new matrix of the entries of A and of edges."""
    xp, (rows, columns, _) = graphs.module(A), A.to_coo(values=False)
    both = xp.concatenate([rows, edges["source"]]), xp.concatenate([columns, edges["target"]])
    return sr.Matrix.from_coo(*both, True, shape=A.shape, dup_op="any")


def built_by_peer(A: sr.Matrix, edges: dict[str, Any]) -> Any:
    """The same by CuPy or SciPy, from arrays of rows and columns."""
    xp, (rows, columns, _) = graphs.module(A), A.to_coo(values=False, index_dtype=np.int32)
    if xp is np:
        from scipy import sparse
    else:
        from cupyx.scipy import sparse
    both = tuple(
        xp.concatenate([old, new.astype(np.int32)])
        for old, new in ((rows, edges["source"]), (columns, edges["target"]))
    )
    made = sparse.coo_matrix((xp.ones(both[0].size, np.float32), both), A.shape).tocsr()
    made.sum_duplicates()
    return made


def changed(run: Run, name: str, A: sr.Matrix, count: int) -> None:
    """Insert and delete a batch, and apply it."""
    bound = BOUNDS[run.device].get(count)
    batches = [drawn(A, count, seed) for seed in range(RUNS)]
    expected = built(A, batches[0])

    def inserted(index: int) -> sr.Matrix:
        B = A.snapshot()
        B.insert(batches[index])
        return B

    def deleted(index: int) -> sr.Matrix:
        B = A.snapshot()
        B.delete(batches[index])
        return B

    def check(index: int, B: sr.Matrix) -> None:
        assert index or B.isequal(expected)

    def check_deleted(index: int, B: sr.Matrix) -> None:
        counts = A.snapshot().delete(batches[index])
        assert B.nvals == A.nvals - counts.found

    run.timed(f"insert {count:,} {name}", measure(inserted, check, range(RUNS), run.device), bound)
    times = measure(deleted, check_deleted, range(RUNS), run.device)
    run.timed(f"delete {count:,} {name}", times, None if bound is None else 1.2 * bound)
    contenders = {
        "applied": Contender(lambda index: inserted(index).compact(), check),
        "built": Contender(lambda index: built(A, batches[index]), check),
        "scipy" if run.device == "cpu" else "cupy": Contender(
            lambda index: built_by_peer(A, batches[index]), lambda index, C: _check_peer(index, C, expected)
        ),
    }
    run.timed(f"insert {count:,} and apply {name}", compare(contenders, range(RUNS), run.device))


def _check_peer(index: int, C: Any, expected: sr.Matrix) -> None:
    assert index or C.nnz == expected.nvals


def streamed(run: Run, name: str, A: sr.Matrix, count: int) -> None:
    """Many batches: milliseconds for each."""
    number = run.options.stream
    batches = [drawn(A, count, seed) for seed in range(number)]
    expected = built(A, {end: graphs.module(A).concatenate([b[end] for b in batches]) for end in batches[0]})

    def stream(_: int) -> sr.Matrix:
        B = A.snapshot()
        for batch in batches:
            B.insert(batch)
        return B.compact()

    def check(_: int, B: sr.Matrix) -> None:
        assert B.isequal(expected)

    found = measure(stream, check, range(RUNS), run.device)
    run.timed(f"stream of {number} x {count:,} {name}, all", found)


def searched(run: Run, name: str, A: sr.Matrix) -> None:
    """The first and the second search of a graph that has changed, beside a search of a new one."""
    edges = drawn(A, A.nvals // 200, 7)
    B, fresh = A.snapshot(), A.ewise_add(_symmetric(A, edges), "any").wait()
    source = int(graphs.sources(A, 1)[0])
    expected = sr.algorithms.bfs_levels(fresh, source)

    def check(_: int, levels: Any) -> None:
        assert levels.isequal(expected)

    def first(_: int) -> Any:
        C = B.snapshot()
        C.insert(edges, symmetric=True)
        return sr.algorithms.bfs_levels(C, source)

    C = A.snapshot()
    C.insert(edges, symmetric=True)
    calls: dict[str, Callable[[int], Any]] = {
        "changed": lambda _: sr.algorithms.bfs_levels(C, source),
        "new": lambda _: sr.algorithms.bfs_levels(fresh, source),
    }
    found = compare({what: Contender(call, check) for what, call in calls.items()}, range(RUNS), run.device)
    run.timed(f"bfs_levels after a hundredth {name}", found)
    run.timed(f"insert a hundredth and search {name}", measure(first, check, range(RUNS), run.device))


def _symmetric(A: sr.Matrix, edges: dict[str, Any]) -> sr.Matrix:
    return sr.Matrix.from_edgelist(edges, symmetric=True, shape=A.shape, dup_op="any")


def main(run: Run) -> None:
    """Each graph and each size of batch."""
    for name in run.options.graphs:
        A = graphs.make(name)
        assert A.is_symmetric_structure
        for count in run.options.batches:
            changed(run, name, A, int(count))
        streamed(run, name, A, int(min(run.options.batches)))
        searched(run, name, A)
