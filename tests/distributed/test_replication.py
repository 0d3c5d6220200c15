"""Products and searches for which every process holds an operand as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, distributed, ops, use
from semiring.algorithms.cohesion.oriented import oriented, shares, without_loops
from semiring.config import config
from semiring.distributed import Grid, replication
from semiring.exceptions import DeviceMismatch, InvalidValue
from tests import sampling
from tests.distributed.grids import ranks_are_threads, run

__all__ = ["ranks_are_threads"]

SHAPES = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 2))
CASES = tuple((shape, share) for shape in SHAPES for share in (1.0, 0.0))
SAMPLE = sampling.draw("grids of replicas", CASES[2:], 1)
by_case = pytest.mark.parametrize(
    ("shape", "share"),
    [
        pytest.param(*case, id=f"{case[0][0]}x{case[0][1]}-{case[1]:.0f}", marks=sampling.marks(case, SAMPLE))
        for case in CASES
    ],
)


@pytest.fixture(autouse=True, params=["reference", pytest.param("cpu", marks=pytest.mark.exhaustive)])
def parts_on(request: pytest.FixtureRequest, engine: str) -> Any:
    """The engine of the parts; nothing is compiled for the specification."""
    with use(request.param if engine == "cpu" else engine):
        yield


def drawn(nrows: int, ncols: int, entries: int, seed: int = 0) -> Matrix:
    rng = np.random.default_rng(seed)
    rows, cols, values = rng.integers(0, nrows, entries), rng.integers(0, ncols, entries), rng.integers(1, 5, entries)
    return Matrix.from_coo(rows, cols, values, shape=(nrows, ncols), dup_op="max")


RINGS = ("plus_times", "any_pair", "plus_first", "max_firsti", "min_firstj", "max_secondj")
Run = Callable[[Matrix, Matrix, Matrix, str], Any]
PRODUCTS: dict[str, Run] = {
    "plain": lambda F, A, M, ring: F.mxm(A, ring).new(),
    "by columns": lambda F, A, M, ring: F.mxm(A.T, ring).new(),
    "masked": lambda F, A, M, ring: F.mxm(A, ring).new(mask=M.S),
    "outside a mask": lambda F, A, M, ring: F.mxm(A, ring).new(mask=~M.S),
    "by values": lambda F, A, M, ring: F.mxm(A.T, ring).new(mask=M.V),
    "accumulated": lambda F, A, M, ring: _accumulated(M, F.mxm(A, ring)),
    "rows": lambda F, A, M, ring: F.mxm(A, ring).reduce_rowwise("plus").new(),
    "rows under a mask": lambda F, A, M, ring: F.mxm(A.T, ring, mask=M.S).reduce_rowwise("max").new(),
    "sum": lambda F, A, M, ring: _scalar(F.mxm(A.T, ring, mask=M.S).reduce_scalar("plus")),
    "values": lambda F, A, M, ring: F.mxm(A, ring).select(">", 3).new(),
    "a triangle": lambda F, A, M, ring: F.mxm(A, ring).select("tril", 1).new(),
}

CALLS = tuple((name, ring) for name in PRODUCTS for ring in RINGS)


def _accumulated(M: Matrix, product: Any) -> Matrix:
    C = M.dup(dtype=np.int64)
    C(mask=M.S, accum="plus") << product
    return C


def _scalar(found: Any) -> Vector:
    value = found.get()
    return Vector.from_coo([0], [int(value)], size=1) if value is not None else Vector(np.int64, 1)


def equal(found: Any, expected: Any) -> bool:
    found = distributed.gather(found) if " " in found.device else found
    return bool(found.isequal(expected, check_dtype=True))


@by_case
def test_products(shape: tuple[int, int], share: float) -> None:
    for n, k in ((31, 5), (2, 3), (40, 1)) if sampling.exhaustive else ((31, 5),):
        left, A, M = drawn(k, n, 3 * k), drawn(n, n, 4 * n, 1), drawn(k, n, 4 * k, 2)
        for F in (left, left.dup().convert("bitmap"), left.apply("one").new()):
            chosen = CALLS if sampling.exhaustive else sampling.draw(f"replicas {n} {F.format}", CALLS, 9)
            expected = {(name, ring): PRODUCTS[name](F, A, M, ring) for name, ring in chosen}

            def program(grid: Grid, given: Any = (F, A, M), expected: Any = expected) -> list[Any]:
                parts = [distributed.scatter(x, grid) for x in given]
                return [
                    case for case, right in expected.items() if not equal(PRODUCTS[case[0]](*parts, case[1]), right)
                ]

            with config.set(replicated_share=share):
                assert run(shape, program)[0] == []


@pytest.mark.costly
@by_case
@pytest.mark.parametrize("transposed", [False, True])
def test_searches(shape: tuple[int, int], share: float, transposed: bool) -> None:
    A = drawn(40, 40, 90, 3)
    symmetric = A.ewise_add(A.T, "max").new()
    for B in (A, symmetric, sr.random.grid2d(4, 5)):
        for sources in ([3], [0, 3, 3, 19, 7, 2, 11, 5], [1, 0]):
            expected = ops.closure_many(sources, B.T if transposed else B, counts=True)

            def program(grid: Grid, B: Any = B, sources: Any = sources, expected: Any = expected) -> bool:
                C = distributed.scatter(B, grid)
                found = ops.closure_many(sources, C.T if transposed else C, counts=True)
                alone = ops.closure_many(sources, C.T if transposed else C, levels=False, counts=True)
                assert alone.levels is None
                return all(
                    equal(x, y)
                    for x, y in (
                        (found.levels, expected.levels),
                        (found.counts, expected.counts),
                        (alone.counts, expected.counts),
                    )
                )

            with config.set(replicated_share=share):
                assert all(run(shape, program))


def test_a_replica_is_sent_once_and_belongs_to_its_matrix() -> None:
    A = drawn(100, 100, 1500)

    def program(grid: Grid) -> list[int]:
        B, sent = distributed.scatter(A, grid), []
        for act in (
            lambda: B.mxm(B, "plus_times").new(),
            lambda: B.mxm(B, "any_pair").new(mask=B.S),
            lambda: B.mxm(B.T, "plus_times", mask=B.S).reduce_rowwise("plus").new(),
            lambda: B.apply("ainv").new().mxm(B.apply("ainv").new(), "any_pair").new(),  # of the same structure
            lambda: ops.closure_many(range(50), B).levels,
        ):
            before = grid.traffic.bytes
            act()
            sent.append(grid.traffic.bytes - before)
        B[0, 99] = 7
        before = grid.traffic.bytes
        assert equal(B.mxm(B, "plus_times").new(), changed.mxm(changed, "plus_times").new())
        return [*sent, grid.traffic.bytes - before]

    changed = A.dup()
    changed[0, 99] = 7
    with config.set(replicated_share=1.0):
        for sent in run((2, 1), program):
            numbers = 200  # counts of entries, agreements
            assert min(sent[0], sent[-1]) > 4000  # columns and values of half of the entries
            assert max(sent[1:-1]) <= numbers


def test_every_process_must_have_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    A = drawn(60, 60, 400)

    def replicated_with(free: Callable[[Grid], int | None]) -> list[bool]:
        monkeypatch.setattr(replication, "_free", free)

        def program(grid: Grid) -> bool:
            B = distributed.scatter(A, grid)
            assert equal(B.mxm(B, "plus_times").new(), A.mxm(A, "plus_times").new())
            return replication.replicated(grid, B.store, values=True)

        return run((3, 1), program)

    assert replicated_with(lambda grid: 1 << 20) == [True] * 3
    assert replicated_with(lambda grid: None) == [True] * 3
    assert replicated_with(lambda grid: 100 if grid.rank == 1 else 1 << 20) == [False] * 3
    monkeypatch.undo()
    with config.set(replicated_share=0):
        assert replicated_with(lambda grid: 1 << 40) == [False] * 3


def test_ranks_that_share_the_memory_of_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replication, "free_memory", lambda device: 1200)
    assert run((3, 1), lambda grid: replication._free(grid))[0] == 400
    monkeypatch.setattr(replication, "free_memory", lambda device: None)
    assert run((3, 1), lambda grid: replication._free(grid))[0] is None


def test_a_matrix_is_replicated_once_that_has_cost_as_much() -> None:
    """Products with few rows send less than a replica; their sum does not exceed it by more than one of them."""
    A, F = drawn(200, 200, 3000), drawn(4, 200, 40, 1)

    def program(grid: Grid) -> tuple[list[int], int]:
        B, C, sent = distributed.scatter(A, grid), distributed.scatter(F, grid), []
        for _ in range(40):
            before = grid.traffic.bytes
            C.mxm(B, "plus_times").new()
            sent.append(grid.traffic.bytes - before)
            if replication.replicated(grid, B.store, values=True):
                break
        before = grid.traffic.bytes
        C.mxm(B, "plus_times").new()
        return sent, grid.traffic.bytes - before

    with config.set(replicated_share=1.0):
        for sent, afterwards in run((2, 1), program):
            assert 2 < len(sent) < 40
            assert sum(sent[:-1]) < 2 * sent[-1]
            assert max(sent[:-1]) < sent[-1]
            assert afterwards <= 16  # counts of entries


@pytest.mark.costly
def test_processes_divide_the_triangles_of_the_order_of_degrees() -> None:
    """Nothing but the graph and the counts is sent, and no process has far more work than another."""
    A = sr.random.kronecker(8, 8, seed=1)
    A = A.ewise_add(A.T, "any").new()
    expected, count = sr.algorithms.triangles(A), sr.algorithms.triangle_count(A)
    graph = oriented(without_loops(A))
    assert graph.order is not None
    lengths = graph.upper.reduce_rowwise("count").new().to("cpu").to_dense(0)

    def program(grid: Grid) -> float:
        B = distributed.scatter(A, grid)
        with sr.explain() as log:
            assert equal(sr.algorithms.triangles(B), expected)
        assert sr.algorithms.triangle_count(B) == count
        assert not {"distributed.permute", "distributed.mxm"} & {call.kernel for call in log}
        first, last = (k * len(shares) // grid.size for k in (grid.rank, grid.rank + 1))
        _, beside, _ = graph.of_shares(shares[first:last]).lower.to("cpu").to_coo()
        return float(lengths[beside].sum())

    with config.set(replicated_share=1.0):
        for size in (2, 3, 4):
            work = run((size, 1), program)
            assert max(work) < 1.5 * sum(work) / size


def wheels(A: Matrix, sources: Any) -> Matrix:
    """The rows of the sources at their places, in a matrix of the shape of A."""
    chosen = Vector.from_coo(list(sources), True, size=A.nrows, device=A.device)
    return chosen.ewise_mult(A, "second").new()


@by_case
def test_sums_of_what_processes_compute_apart(shape: tuple[int, int], share: float) -> None:
    A = drawn(30, 30, 200, 5)
    of_rows = A[[3, 7, 8, 20, 21, 29, 5], :].new().reduce_columnwise("plus").new()
    algorithms = sr.algorithms
    B = A.ewise_add(A.T, "max").new()
    calls: dict[str, Callable[[Matrix, Matrix], Any]] = {
        "rows": lambda A, B: ops.map_reduce(wheels, A, [3, 7, 8, 20, 21, 29, 5]).reduce_columnwise("plus").new(),
        "columns": lambda A, B: ops.map_reduce(wheels, A.T, list(range(9))),
        "few": lambda A, B: ops.map_reduce(wheels, A, [4]),
        "most": lambda A, B: ops.map_reduce(wheels, A, list(range(30)), monoid="max"),
        "betweenness": lambda A, B: algorithms.betweenness_centrality(B),
        "of some": lambda A, B: algorithms.betweenness_centrality(
            A, sources=[1, 4, 2, 9, 11, 12, 20], endpoints=True, batch=2
        ),
        "weighted": lambda A, B: algorithms.betweenness_centrality(B, weight=True, samples=7, seed=1),
        "edges": lambda A, B: algorithms.edge_betweenness_centrality(B, sources=range(9)),
        "weighted edges": lambda A, B: algorithms.edge_betweenness_centrality(A, sources=range(7), weight=True),
    }
    chosen = calls if sampling.exhaustive else {name: calls[name] for name in sampling.draw("sums", calls, 3)}
    expected = {name: call(A, B) for name, call in chosen.items()}
    assert expected.get("rows", of_rows).isequal(of_rows)

    def program(grid: Grid) -> list[str]:
        C, D = distributed.scatter(A, grid), distributed.scatter(B, grid)
        found = {name: distributed.gather(call(C, D)) for name, call in chosen.items()}
        return [name for name, x in found.items() if not x.isclose(expected[name], rel_tol=1e-12)]

    with config.set(replicated_share=share):
        assert run(shape, program)[0] == []


def test_nothing_is_sent_in_the_levels_of_betweenness() -> None:
    A = sr.random.kronecker(6, 8, seed=1)

    def program(grid: Grid) -> tuple[int, list[str]]:
        B = distributed.scatter(A, grid)
        sr.algorithms.betweenness_centrality(B, sources=range(8))
        before = grid.traffic.bytes
        with sr.explain() as log:
            sr.algorithms.betweenness_centrality(B, sources=range(8))
        sending = [call.operation for call in log if call.details.get("sent_bytes") and not call.depth]
        return grid.traffic.bytes - before, sending

    with config.set(replicated_share=1.0):
        for sent, calls in run((2, 1), program):
            assert sent <= 64 // 2 * 8 + 64  # a segment of the sums, and a few numbers
            assert set(calls) <= {"reduce_scalar", "is_symmetric"}


def test_errors_of_what_processes_compute_apart() -> None:
    A = drawn(10, 10, 30)

    def failing(A: Matrix, rows: Any) -> Matrix:
        if 9 in rows:
            raise InvalidValue("no ninth row")
        return wheels(A, rows)

    def program(grid: Grid) -> None:
        B = distributed.scatter(A, grid)
        with pytest.raises(InvalidValue, match=r"no ninth row \(rank 1 of 2\)|no ninth row$"):
            ops.map_reduce(failing, B, range(10))
        with pytest.raises(DeviceMismatch, match="map_reduce: the function returned an object on 2x1"):
            ops.map_reduce(lambda A, rows: Vector.full(1, 10, device=grid.device), B, range(10))
        assert equal(ops.map_reduce(wheels, B, range(10)), A)

    with config.set(replicated_share=1.0):
        run((2, 1), program)
