"""An error that one rank alone finds is raised on all of them, leaves outputs as they are, and the ranks go on."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Vector, distributed, exceptions
from semiring.distributed import Grid
from semiring.engines import registry
from tests.distributed.grids import ranks_are_threads, run
from tests.distributed.launches import launch

__all__ = ["ranks_are_threads"]

N = 32
A = sr.random.rmat(5, 4, seed=1, symmetric=True)
W = sr.random.rmat(5, 4, seed=2, weights="uniform").dup(float)
V = Vector.from_dense(np.arange(float(N)))
AT = np.array([3, 1, 4])

# What is written to w, from objects on the grid.
PROGRAMS: dict[str, Callable[..., Any]] = {
    "mxv": lambda w, B, X, u: w << X.mxv(u, "plus_times"),
    "vxm": lambda w, B, X, u: w << u.vxm(X, "plus_times"),
    "mask and accumulator": lambda w, B, X, u: w(u.S, accum="plus") << X.mxv(u, "plus_times"),
    "mxm": lambda w, B, X, u: w << X.mxm(X, "plus_times").new().reduce_rowwise("plus"),
    "transpose": lambda w, B, X, u: w << X.T.new().reduce_rowwise("plus"),
    "apply": lambda w, B, X, u: w << u.apply("ainv"),
    "extract": lambda w, B, X, u: w << u[np.arange(N - 1, -1, -1)],
    "assign": lambda w, B, X, u: w.__setitem__(AT, 7.0),
    "select": lambda w, B, X, u: w << X.select("tril", 0).new().reduce_rowwise("plus"),
    "rows": lambda w, B, X, u: w << X[::-1, :].new().reduce_rowwise("plus"),
    "closure": lambda w, B, X, u: w << sr.algorithms.bfs_levels(B, 0),
    "components": lambda w, B, X, u: w << sr.algorithms.connected_components(B),
    "reduce": lambda w, B, X, u: w << u.apply("plus", right=u.reduce("plus").get()),
    "paths": lambda w, B, X, u: w << sr.algorithms.sssp(X, 0),
    "votes": lambda w, B, X, u: w << sr.algorithms.label_propagation(B),
    "cores": lambda w, B, X, u: w << sr.algorithms.core_numbers(B),
    "forest": lambda w, B, X, u: w << sr.algorithms.minimum_spanning_forest(X.ewise_add(X.T, "min").new())
    .reduce_rowwise("plus"),
}  # fmt: skip
QUICK = ("mask and accumulator", "mxm")


class Fault:
    """Raises in a rank, in the local operation with a given number inside of a call on the grid."""

    def __init__(self, rank: int, at: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rank, self.at, self.seen, self.grid = rank, at, 0, None
        call = registry.call

        def counted(row: registry.Implementation, spec: Any) -> Any:
            if self.grid is not None and threading.current_thread().name == f"rank {self.rank}":
                inside = self.grid._agreement._inside
                if row.engine != "distributed" and inside:
                    self.seen += 1
                    if self.seen == self.at:
                        raise exceptions.OutOfMemory("injected", asked_bytes=77)
            return call(row, spec)

        monkeypatch.setattr(registry, "call", counted)


def attempt(name: str, shape: tuple[int, int], fault: Fault) -> list[Any]:
    """Run a program of `PROGRAMS` with a fault, then without: the error, w after it, and w at the end, by rank."""

    def program(grid: Grid) -> Any:
        operands = [distributed.scatter(x, grid) for x in (A, W, V)]
        w = Vector.full(0.5, N, device=grid.device)
        w.nvals  # noqa: B018  the sum over the ranks
        grid.comm.barrier()
        if grid.rank == fault.rank:
            fault.grid = grid
        error = None
        try:
            PROGRAMS[name](w, *operands)
        except exceptions.OutOfMemory as raised:
            error = str(raised), raised.asked_bytes
        fault.grid = None
        grid.comm.barrier()
        between = distributed.gather(w)
        if error is not None:
            PROGRAMS[name](w, *operands)
        return error, between, distributed.gather(w)

    return run(shape, program)


@pytest.mark.parametrize("shape", [(2, 1), *(pytest.param(s, marks=pytest.mark.exhaustive) for s in ((1, 2), (3, 2)))])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.exhaustive) for name in PROGRAMS]
)
def test_a_fault_in_a_local_operation(name: str, shape: tuple[int, int]) -> None:
    size = shape[0] * shape[1]
    for rank in {0, size - 1}:
        with pytest.MonkeyPatch.context() as monkeypatch:
            without = Fault(rank, None, monkeypatch)
            expected = attempt(name, shape, without)[0][2]
        assert without.seen
        for at in sorted({1, (without.seen + 1) // 2, without.seen}):
            with pytest.MonkeyPatch.context() as monkeypatch:
                found = attempt(name, shape, Fault(rank, at, monkeypatch))
            assert {error for error, _, _ in found} == {(f"injected (rank {rank} of {size})", 77)}
            assert all(between.isequal(Vector.full(0.5, N)) for _, between, _ in found)
            assert all(after.isequal(expected) for _, _, after in found)


class OwnError(LookupError):
    """A class that other processes need not have."""


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (exceptions.InvalidFormat("line 3"), exceptions.InvalidFormat, "line 3 (rank 1 of 3)"),
        (exceptions.UnknownOperator("no", close=("yes",)), exceptions.UnknownOperator, "no (rank 1 of 3)"),
        (FileNotFoundError(2, "No such file", "a.srb"), FileNotFoundError, "No such file (rank 1 of 3)"),
        (OSError("plain"), OSError, "plain (rank 1 of 3)"),
        (MemoryError(), MemoryError, " (rank 1 of 3)"),
        (KeyError("key"), KeyError, "key (rank 1 of 3)"),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), UnicodeError, "byte 0x78"),
        (ZeroDivisionError("by 0"), ZeroDivisionError, "by 0 (rank 1 of 3)"),
        (OwnError("own"), LookupError, "own (rank 1 of 3)"),
        (AssertionError("x" * 5000), AssertionError, "x (rank 1 of 3)"),
    ],
    ids=lambda value: getattr(value, "__name__", None) or type(value).__name__,
)
def test_the_class_and_the_message(error: Exception, kind: type[Exception], message: str) -> None:
    def fails(grid: Grid) -> int:
        if grid.rank == 1:
            raise error
        return grid.all_reduce_sum(1)

    def program(grid: Grid) -> BaseException:
        with pytest.raises(kind) as caught:
            grid.collective_call(fails, grid)
        assert grid.all_reduce_sum(1) == 3
        return caught.value

    found = run((3, 1), program)
    assert all(type(each) is kind and message in str(each) for each in found)


def test_an_argument_that_is_wrong_on_one_rank_in_a_joint_call() -> None:
    """It is found before anything is sent, while the others are in the operation."""
    wrong: tuple[Callable[[Vector], Any], ...] = (
        lambda u: u[N],
        lambda u: u.apply("no operator"),
        lambda u: u.ewise_mult(Vector(float, N + 1, device=u.device), "times"),
    )

    def program(grid: Grid) -> list[str]:
        u, found = distributed.scatter(V, grid), []

        def call(make: Callable[[Vector], Any]) -> Vector:
            v = u.apply("ainv").new()
            v << (make(u) if grid.rank == 1 else u.apply("abs"))
            return v.ewise_add(u, "plus").new()

        for make in wrong:
            with pytest.raises(exceptions.SemiringError) as caught:
                grid.collective_call(call, make)
            found.append(f"{type(caught.value).__name__} {str(caught.value)[-13:]}")
            assert distributed.gather(u.apply("ainv").new()).isequal(V.apply("ainv").new())
        return found

    names = ("IndexOutOfBound", "UnknownOperator", "DimensionMismatch")
    assert run((3, 1), program) == [[f"{name} (rank 1 of 3)" for name in names]] * 3


def test_calls_that_end_with_a_collective_agree_by_it() -> None:
    def program(grid: Grid) -> list[int]:
        u, found = distributed.scatter(V, grid), []

        def sums() -> float:
            return float(u.reduce("plus").get()) + float(u.apply("ainv").new().reduce("max").get())

        calls: tuple[Callable[[], Any], ...] = (
            lambda: u.reduce("plus").get(),
            sums,
            lambda: grid.collective_call(sums),
            lambda: grid.all_reduce_sum(1),
        )
        for call in calls:
            before = grid.traffic.collectives
            call()
            found.append(grid.traffic.collectives - before)
        return found

    assert run((3, 1), program) == [[1, 3, 3, 1]] * 3


def test_several_ranks_that_fail() -> None:
    def fails(grid: Grid, same: bool) -> None:
        if grid.rank:
            raise exceptions.InvalidValue("all" if same else f"mine is {grid.rank}")
        grid.row_comm.barrier()

    def everywhere(grid: Grid) -> None:
        raise exceptions.InvalidValue("all")

    def program(grid: Grid) -> list[str]:
        found = []
        for call in (lambda: fails(grid, False), lambda: fails(grid, True), lambda: everywhere(grid)):
            with pytest.raises(exceptions.InvalidValue) as caught:
                grid.collective_call(call)
            found.append(str(caught.value))
        grid.row_comm.barrier()
        return found

    assert run((2, 2), program) == [["mine is 1 (rank 1 of 4)", "all (rank 1 of 4)", "all"]] * 4


def test_an_error_in_a_group_of_some_ranks() -> None:
    """The ranks beside the one that fails wait for it, the others have gone on to a group of their own, or to all."""

    def fails(grid: Grid) -> int:
        if grid.rank == 3:
            raise exceptions.InvalidFormat("found")
        grid.row_comm.barrier()
        grid.col_comm.barrier()
        return grid.all_reduce_sum(1)

    def program(grid: Grid) -> tuple[str, int]:
        with pytest.raises(exceptions.InvalidFormat) as caught:
            grid.collective_call(fails, grid)
        grid.row_comm.barrier()
        grid.col_comm.barrier()
        return str(caught.value), grid.all_reduce_sum(1)

    for shape in ((2, 2), (3, 2), (2, 3), (4, 1)):
        size = shape[0] * shape[1]
        assert run(shape, program) == [(f"found (rank 3 of {size})", size)] * size


def test_together_inside_of_a_call_keeps_others_from_the_next_step() -> None:
    steps: list[int] = []

    def call(grid: Grid) -> None:
        grid.run_then_barrier(lambda: 1 // (2 - grid.rank))
        steps.append(grid.rank)

    def program(grid: Grid) -> None:
        with pytest.raises(ZeroDivisionError, match="rank 2 of 3"):
            grid.collective_call(call, grid)

    run((3, 1), program)
    assert steps == []


def test_a_rank_that_ends_while_another_fails() -> None:
    def fails() -> None:
        raise exceptions.InvalidValue("mine alone")

    def program(grid: Grid) -> None:
        if grid.rank == 1:
            grid.collective_call(fails)

    with pytest.raises(exceptions.InvalidValue, match="mine alone"):
        run((2, 1), program)


def test_a_damaged_part_is_found_by_all(tmp_path: Path) -> None:
    folder = tmp_path / "graph.parts"

    def program(grid: Grid) -> str:
        sr.io.write(folder, distributed.scatter(A, grid))
        if grid.rank == 0:
            damaged = sorted(folder.glob("*part-003*"))[0]
            damaged.write_bytes(damaged.read_bytes()[:-40])
        grid.comm.barrier()
        with pytest.raises(exceptions.InvalidFormat) as caught:
            sr.io.read(folder, device=grid.device)
        return str(caught.value)

    found = run((3, 1), program)
    assert len(set(found)) == 1
    assert "part-003" in found[0]


# -- processes -------------------------------------------------------------------------------------------

GOES_ON = """
    import os
    import semiring as sr
    from semiring import Vector, distributed, exceptions
    from semiring.distributed import Grid

    grid = Grid()
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    rank, size = grid.rank, grid.size

    def read_own(group, length):
        lines = "0 1\\n" * 40 + ("0 x\\n" if rank == size - 1 else "1 2\\n")
        with open(f"share-{rank}.el", "w") as stream:
            stream.write(lines)
        try:
            sr.io.read(f"share-{rank}.el", dup_op="any")
        except exceptions.InvalidFormat as error:
            raise exceptions.InvalidFormat(f"{error}; " + "long " * length) from error
        group.barrier()

    w = Vector.full(1.0, 10, device=grid.device)
    messages = set()
    cases = [(group, length) for length in (3, 900) for group in (grid.comm, grid.row_comm, grid.col_comm, grid.comm)]
    for group, length in cases:  # the longer message does not fit in a header
        try:
            grid.collective_call(read_own, group, length)
        except exceptions.InvalidFormat as error:
            messages.update(grid.comm.allgather(str(error)))
        assert distributed.gather(w.ewise_add(w, "plus").new()).to_dense().tolist() == [2.0] * 10
        assert grid.row_comm.allgather(rank) and grid.col_comm.allgather(rank)
    for message in messages:
        assert f"share-{size - 1}.el:41" in message and message.endswith(f"(rank {size - 1} of {size})"), message
    assert len(messages) == 2 and max(map(len, messages)) > 900
    if rank == 0:
        print("all have found it, and have gone on")
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [2, 3, 4])
def test_processes_find_the_error_of_one_and_go_on(count: int, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    ran = launch(tmp_path, count, GOES_ON)
    assert (ran.returncode, ran.stdout) == (0, "all have found it, and have gone on\n"), ran.stderr


@pytest.mark.exhaustive
def test_an_error_that_no_process_catches_ends_all(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    program = """
        import semiring as sr
        from semiring.distributed import Grid

        grid = Grid()
        grid.collective_call(lambda: sr.Vector.from_coo([grid.rank], size=1).nvals)
        """
    ran = launch(tmp_path, 2, program)
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert "rank 0 of 2 failed:" in ran.stderr
    assert "IndexOutOfBound" in ran.stderr
    assert "(rank 1 of 2)" in ran.stderr


# Where a rank fails after the others have all that they need of it: modules, and functions in them.
LATE = {
    "degrees of a closure": ("semiring.distributed.operations.directions", "reduce_rows"),
    "a transpose": ("semiring.distributed.operations.redistribution", "transpose"),
    "memory for a replica": ("semiring.distributed.replication", "free_memory"),
}


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("degrees of a closure", (2, 1)),
        ("degrees of a closure", (1, 2)),
        ("a transpose", (1, 2)),
        ("memory for a replica", (2, 1)),
    ],
)
def test_what_is_kept_is_kept_by_all_ranks_or_by_none(
    name: str, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The calls that follow an error match, and have the right results."""
    module, function = LATE[name]
    place = importlib.import_module(module)
    found, waiting = getattr(place, function), [True]

    def failing(*args: Any) -> Any:
        made = found(*args)
        done = made.into() if hasattr(made, "into") else made
        if threading.current_thread().name == "rank 1" and waiting:
            waiting.clear()
            raise exceptions.OutOfMemory("injected")
        return made if done is made else Made(done)

    def program(grid: Grid) -> list[Any]:
        B = distributed.scatter(W, grid)
        B = B.ewise_mult(B, "first").new()
        outcomes: list[Any] = []
        for _ in range(3):
            try:
                outcomes.append((B.is_symmetric_structure, sr.algorithms.bfs_levels(B, 0).nvals))
                outcomes.append(B.mxm(B, "plus_pair").reduce_scalar("plus").value)
            except exceptions.OutOfMemory as error:
                outcomes.append(str(error))
        return outcomes

    monkeypatch.setattr(place, function, failing)
    with sr.use("reference"):
        outcomes = run(shape, program)
    assert not waiting
    assert [each for each in outcomes[0] if isinstance(each, str)] == ["injected (rank 1 of 2)"]
    assert outcomes[0] == outcomes[1]
    levels = sr.algorithms.bfs_levels(W, 0).nvals
    products = W.mxm(W, "plus_pair").reduce_scalar("plus").value
    assert outcomes[0][-2:] == [(W.is_symmetric_structure, levels), products]


class Made:
    """A plan that has been carried out."""

    def __init__(self, store: Any) -> None:
        self.store = store

    def into(self) -> Any:
        return self.store
