"""The peak memory of a process is within the bounds of the table in docs/distributed_internals.md, on 8 ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, distributed
from semiring.distributed import Grid, routing, scattering
from semiring.distributed.operations import versions
from semiring.exceptions import OutOfMemory
from semiring.memory import allocation
from tests.distributed.grids import ranks_are_threads
from tests.distributed.memory import peaks

__all__ = ["ranks_are_threads"]

SHAPE = (4, 2)
N = 1 << 13
ORDER = np.random.default_rng(5).permutation(N)


class Sizes(NamedTuple):
    """Of the largest block: its entries, its rows and columns; the rows of a segment; entries and rows of the whole."""

    block: int
    lines: int
    segment: int
    nvals: int
    n: int


# A call on a weighted matrix and its structure, and the most bytes of a process: of the table, with values of 4 bytes.
CALLS: dict[str, tuple[Callable[[Matrix, Matrix], Any], Callable[[Sizes], float]]] = {
    "apply": (lambda A, G: A.apply("ainv").new(), lambda s: 6 * s.block),
    "ewise": (lambda A, G: A.ewise_add(A, "plus").new(), lambda s: 12 * s.block),
    "mxv": (lambda A, G: G.mxv(Vector.full(1.5, N, device=G.device), "plus_second"), lambda s: 40 * s.lines),
    "reduce_rowwise": (lambda A, G: A.reduce_rowwise("plus"), lambda s: 24 * s.lines),
    "transpose": (lambda A, G: A.T.new(), lambda s: 60 * s.block),
    "permute": (lambda A, G: A.permute(ORDER), lambda s: 64 * s.block),
    "extract": (lambda A, G: A[ORDER[: N // 2], :].new(), lambda s: 45 * s.block),
    "reshape": (lambda A, G: A.reshape(2 * N, N // 2), lambda s: 60 * s.block),
    "select": (lambda A, G: A.select("tril", -1).new(), lambda s: 10 * s.block),
    "scan": (lambda A, G: A.scan("plus"), lambda s: 45 * s.block),
    "selectk": (lambda A, G: A.selectk("largest", 4), lambda s: 45 * s.block),
    "bfs_levels": (lambda A, G: sr.algorithms.bfs_levels(G, 0), lambda s: 40 * s.lines),
    "sssp": (lambda A, G: sr.algorithms.sssp(A, 0), lambda s: 8 * s.block + 30 * s.lines),
    "connected_components": (
        lambda A, G: sr.algorithms.connected_components(G),
        lambda s: 8 * s.block + 30 * s.lines,
    ),
    "pagerank": (lambda A, G: sr.algorithms.pagerank(G), lambda s: 8 * s.block + 60 * s.lines),
    "label_propagation": (
        lambda A, G: sr.algorithms.label_propagation(G),
        lambda s: 40 * s.block + 60 * s.n,
    ),
    "louvain": (lambda A, G: sr.algorithms.louvain(G), lambda s: 75 * s.block + 60 * s.n),
    "minimum_spanning_forest": (
        lambda A, G: sr.algorithms.minimum_spanning_forest(A),
        lambda s: 45 * s.block + 60 * s.n,
    ),
    "core_numbers": (lambda A, G: sr.algorithms.core_numbers(G), lambda s: 8 * s.block + 30 * s.lines),
    "triangles": (lambda A, G: sr.algorithms.triangles(G), lambda s: 20 * s.nvals),
}
QUICK = ("transpose", "connected_components")


def finished(result: Any) -> Any:
    for each in result if isinstance(result, tuple) else (result,):
        if isinstance(each, (Matrix, Vector)):
            each.nvals  # noqa: B018  computes what is pending
    return result


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.exhaustive) for name in CALLS]
)
def test_a_process_holds_no_more_than_the_table_states(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routing, "_ROUND", 1 << 13)
    monkeypatch.setattr(versions, "_SMALL", -1)
    W, G = (
        sr.random.rmat(13, 16, seed=3, weights=weights, symmetric=True).permute(ORDER) for weights in ("uniform", None)
    )
    sizes: list[Sizes] = []
    call, bound = CALLS[name]

    def prepare(grid: Grid) -> tuple[Matrix, Matrix]:
        A, B = distributed.scatter(W, grid), distributed.scatter(G, grid)
        (top, bottom), (left, right) = grid.rows(N), grid.cols(N)
        first, last = grid.segment(N)
        block = max(grid.comm.allgather(grid.part(A.store).nvals))
        sizes.append(Sizes(block, bottom - top + right - left, last - first, A.nvals, N))
        assert A.is_symmetric_structure
        assert B.is_symmetric_structure
        # Compiles, which needs memory too: on other objects, since what a call derives is kept with them.
        finished(call(distributed.scatter(W, grid), distributed.scatter(G, grid)))
        grid.comm.barrier()
        return A, B

    found = peaks(SHAPE, prepare, lambda operands: finished(call(*operands)), monkeypatch)
    assert 0 < max(found) <= bound(sizes[0]) + 50_000, f"{max(found)} bytes of {bound(sizes[0]):.0f}: {sizes[0]}"


def test_what_a_process_cannot_hold_is_an_error_before_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    G = sr.random.rmat(8, 8, seed=1, symmetric=True)

    def program(grid: Grid) -> tuple[list[str], int]:
        B, errors = distributed.scatter(G, grid), []
        B.nvals  # noqa: B018  the sum over the ranks
        grid.comm.barrier()
        free[0], before = 800, grid.traffic.bytes
        for call in (lambda: distributed.gather(B), lambda: sr.algorithms.label_propagation(B)):
            with pytest.raises(OutOfMemory) as caught:
                call()
            errors.append(str(caught.value))
        return errors, grid.traffic.bytes - before

    monkeypatch.setattr(versions, "_SMALL", -1)
    monkeypatch.setattr(allocation, "_UNASKED", 0)
    free: list[int | None] = [None]
    monkeypatch.setattr(allocation, "free_memory", lambda device: free[0])
    monkeypatch.setattr(scattering, "encoded_block", None)
    for errors, _ in distributed.run(4, program):
        assert errors[0].startswith("gather: out of memory"), errors
