"""What `explain` records on a grid: what each process sent, for operations and for the levels of searches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.config import config
from semiring.distributed import Grid
from semiring.engines.recording import Call
from tests.distributed.grids import local, ranks_are_threads, run
from tests.distributed.launches import launch

__all__ = ["ranks_are_threads"]

SENT = ("collectives", "messages", "sent_bytes")


@pytest.fixture(autouse=True)
def on_the_specification(engine: str) -> Any:
    """Compute the parts with the reference engine, for which nothing is compiled; or on a GPU."""
    with sr.use("reference" if engine == "cpu" else engine):
        yield


def sent(call: Call) -> list[int]:
    return [call.details[name] for name in SENT]


@pytest.mark.parametrize("shape", [(4, 1), (2, 2), (3, 2)], ids=lambda shape: f"{shape[0]}x{shape[1]}")
def test_a_product_sends_what_the_formula_states(shape: tuple[int, int]) -> None:
    n = 32 * 6
    v = Vector.from_dense(np.arange(n) + 0.5)
    dense = np.ones((n, n))
    dense[0, 1] = 0  # of a symmetric structure the transpose is at hand too
    A = Matrix.from_dense(dense, missing_value=0)

    def program(grid: Grid) -> list[int]:
        B, w = A.to(grid.device), v.to(grid.device)
        with sr.explain() as log:
            B.mxv(w, "plus_second").new()
        products = [call for call in log if call.kernel == "distributed.mxv"]
        assert len(products) == 1
        assert products[0].details["communication_ms"] > 0
        return sent(products[0])

    r, c = shape
    for rank, found in enumerate(run(shape, program)):
        # The segment of the vector to the blocks with its columns, and sums along the rows: 8 bytes for each entry.
        # The last collective is the agreement that no process has failed.
        messages = sum(k % c == rank // r for k in range(r * c) if k != rank) + c - 1
        assert found == [3 if c > 1 else 2, messages, messages * n // (r * c) * 8]


def searched(grid: Grid) -> tuple[list[Call], Call]:
    A = sr.random.kronecker(7, 4, seed=1).to(grid.device)
    sr.algorithms.bfs_levels(A, 2)  # what is derived once is kept
    before = grid.traffic.messages, grid.traffic.bytes
    with sr.explain() as log:
        sr.algorithms.bfs_levels(A, 2)
    assert sum(sent(call)[1] for call in log if not call.depth) == grid.traffic.messages - before[0]
    assert sum(sent(call)[2] for call in log if not call.depth) == grid.traffic.bytes - before[1]
    closure = next(call for call in log if call.operation == "closure")
    return [call for call in log if call.operation == "step"], closure


def test_the_levels_of_a_search_add_up() -> None:
    A = sr.random.kronecker(7, 4, seed=1)
    trace = sr.algorithms.bfs_trace(A, 2)
    for steps, closure in run((2, 2), searched):
        assert [call.details["step"] for call in steps] == list(range(1, len(trace.steps) + 1))
        assert [call.details["frontier"] for call in steps] == [step.frontier for step in trace.steps]
        assert {(call.kernel, call.depth) for call in steps} == {("distributed.closure", 1)}
        # Beside its levels a search counts the entries of the first frontier, a number, and agrees.
        rest = np.array(sent(closure)) - np.sum([sent(call) for call in steps], axis=0)
        assert rest.tolist() == [2, 2, 2 * 8]
        assert sum(call.ms for call in steps) < closure.ms


def test_many_searches_are_recorded_by_level() -> None:
    A = sr.random.path(5)

    def program(grid: Grid) -> list[tuple[int, int]]:
        with sr.explain() as log:
            sr.algorithms.bfs_levels(A.to(grid.device), [0, 4])
        return [(call.details["step"], call.details["frontier"]) for call in log if call.operation == "step"]

    with config.set(replicated_share=0):
        assert run((2, 1), program)[0] == [(1, 2), (2, 2), (3, 2), (4, 2), (5, 2)]


def test_the_table_indents_calls_within_calls_and_counts_their_time_once() -> None:
    def program(grid: Grid) -> tuple[list[Call], str]:
        v = Vector.from_dense([1, 2, 3]).to(grid.device)
        with sr.explain() as log:
            v.reduce("plus").get()
        return list(log), repr(log)

    log, table = run((2, 1), program)[0]
    assert [(call.kernel, call.depth) for call in log[-2:]] == [
        ("cuda.reduce_scalar" if local() == "cuda" else "reference.reduce_scalar", 1),
        ("distributed.reduce_scalar", 0),
    ]
    lines = table.splitlines()
    assert lines[-3].startswith("  reduce_scalar ")
    assert lines[-2].startswith("reduce_scalar ")
    assert float(lines[-1].split()[1]) == pytest.approx(sum(call.ms for call in log if not call.depth), abs=1e-3)


@pytest.mark.exhaustive
def test_processes_of_mpi_record_what_they_sent(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    program = """
        import numpy as np
        import semiring as sr
        from semiring import Vector

        grid = sr.distributed.Grid(shape=(3, 1))
        assert not grid.comm.between_hosts and not grid.col_comm.between_hosts  # so nothing is compressed
        A = sr.random.kronecker(7, 4, seed=1).to(grid.device)
        v = Vector.from_dense(np.arange(128.0)).to(grid.device)
        with sr.explain() as log:
            A.mxv(v, "plus_second").new()
            sr.algorithms.bfs_levels(A, 2)
        product = next(call.details for call in log if call.kernel == "distributed.mxv")
        steps = [call.details for call in log if call.operation == "step"]
        first, last = grid.segment(128)
        assert (product["collectives"], product["messages"], product["sent_bytes"]) == (2, 2, 2 * 8 * (last - first))
        assert product["communication_ms"] > 0
        # To the 2 others: in a step one or two numbers, and the segment of the frontier if it has entries.
        assert all(step["collectives"] == 2 + ("edges" in step) for step in steps)
        assert all(2 <= step["messages"] - 2 * ("edges" in step) <= 4 for step in steps)
        if grid.rank == 0:
            print("recorded", len(steps) > 1)
    """
    ran = launch(tmp_path, 3, program)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "recorded True\n", "")
