"""Sums that are not sent: which ones are dropped, results without them, and that fewer bytes are sent."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, distributed, use
from semiring.distributed import Grid
from semiring.distributed.communication_filter import Excluded, Improvements, saved_bytes
from tests import sampling
from tests.distributed.grids import run

SHAPES = ((2, 1), (1, 2), (2, 2), (3, 2), (2, 3), (4, 1))
SAMPLE = sampling.draw("grids of sieves", SHAPES, 1)


@pytest.fixture(autouse=True)
def on_the_specification(engine: str) -> Any:
    """Compute the parts with the reference engine, for which nothing is compiled."""
    if engine != "cpu":
        pytest.skip("ranks are threads on the CPU")
    with use("reference"):
        yield


@pytest.mark.parametrize("name", ["min", "max"])
def test_sums_are_sent_where_they_change_what_was_sent(name: str) -> None:
    rng = np.random.default_rng(4)
    sums: dict[int, float] = {}
    sieve = Improvements(getattr(sr.monoid, name)[np.float64], "cpu", 50, "cpu")
    better = np.fmin if name == "min" else np.fmax
    dropped = 0
    for _ in range(40):
        at = np.flatnonzero(rng.random(50) < rng.random())
        values = rng.integers(0, 30, at.size).astype(float)
        values[rng.random(at.size) < 0.1] = np.nan
        expected = {}
        for i, value in zip(at.tolist(), values.tolist(), strict=True):
            total = float(better(sums[i], value)) if i in sums else value
            if i not in sums or not np.array_equal(total, sums[i], equal_nan=True):
                sums[i], expected[i] = total, value
        found = Vector._new(sieve.passed(Vector.from_coo(at, values, size=50).store)).to_dict()
        assert found.keys() == expected.keys()
        assert np.array_equal(list(found.values()), list(expected.values()), equal_nan=True)
        dropped += at.size - len(found)
        assert np.array_equal(sieve.store.values[list(sums)], list(sums.values()), equal_nan=True)
        assert sieve.store.nvals == len(sums)
    assert dropped > 100


def test_positions_are_excluded_after_a_sum_and_after_an_update() -> None:
    first, second = Vector.from_coo([1, 4], [7, 8], size=9), Vector.from_coo([1, 5, 6], [9, 9, 9], size=9)
    for repeated in (True, False):
        sieve = Excluded("cpu", repeated=repeated)
        assert sieve.mask is None
        assert Vector._new(sieve.passed(first.store)).to_dict() == {1: 7, 4: 8}
        sieve.exclude(Vector.from_coo([6], True, size=9).store)
        expected = {5: 9} if repeated else {1: 9, 5: 9}
        assert Vector._new(sieve.passed(second.store)).to_dict() == expected


def test_a_holder_sends_what_saves_more_bytes_than_it_takes() -> None:
    size = 4096
    some = Vector.from_coo(np.arange(0, size, 4), 1.5, size=size)
    more = Vector.from_coo(np.arange(0, size, 2), 1.5, size=size)
    # 512 bytes of a bitmap; 1,024 values of 8 bytes, each sent with the probability 1 - exp(-degree / 2).
    for degree, sends in ((0.12, False), (0.14, True)):
        saved = saved_bytes(8, 0.5, degree)
        assert saved == pytest.approx(8 * (1 - np.exp(-degree / 2)))
        assert (Excluded("cpu", repeated=True).update(some.store, saved) is not None) == sends
        assert sends == (1024 * saved > 512)
    sieve = Excluded("cpu", repeated=True)
    assert Vector._new(sieve.update(some.store, 8.0)).isequal(some.apply("one").new().dup(dtype=bool))
    assert sieve.update(some.store, 8.0) is None
    left = Vector._new(sieve.update(more.store, 8.0))
    assert np.array_equal(left.to_coo()[0], np.arange(2, size, 4))


def parents(A: Matrix) -> Vector:
    """The rows from which a search arrives, level by level; each is written under a mask."""
    reached = Vector.from_coo([5], [5], size=A.nrows).to(A.device)
    frontier = reached.dup()
    while frontier.nvals:
        frontier(~reached.S, replace=True) << frontier.vxm(A, "min_secondi")
        reached(frontier.S) << frontier
    return reached


def masked_by_values(A: Matrix) -> Vector:
    w = Vector.full(0.0, A.nrows, device=A.device)
    thirds = w.apply("rowindex").new().apply("mod", right=3).new()
    w(thirds.V) << A.reduce_rowwise("plus").new().vxm(A, "plus_times")
    w(thirds.select("<", 2).new().S, accum="plus") << w.vxm(A, "plus_times")
    return w


PROGRAMS = {
    "parents": lambda A: sr.algorithms.bfs_parents(A, 5),
    "levels": lambda A: sr.algorithms.bfs_levels(A, 5),
    "distances": lambda A: sr.algorithms.sssp(A, 5),
    "loop": parents,
    "values": masked_by_values,
}


@pytest.mark.parametrize(
    "shape", [pytest.param(s, id="x".join(map(str, s)), marks=sampling.marks(s, SAMPLE)) for s in SHAPES]
)
@pytest.mark.parametrize("symmetric", [True, False])
def test_results_are_those_of_one_process_and_fewer_bytes_are_sent(
    shape: tuple[int, int], symmetric: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    A = sr.random.rmat(7, 8, seed=1, symmetric=symmetric, weights="uniform").dup(dtype=np.float64)
    expected = {name: program(A) for name, program in PROGRAMS.items()}

    def program(grid: Grid) -> dict[str, int]:
        B, sent = distributed.scatter(A, grid), {}
        for name, run_one in PROGRAMS.items():
            before = grid.traffic.bytes
            found = run_one(B)
            sent[name] = grid.traffic.bytes - before
            assert distributed.gather(found).isclose(expected[name], rel_tol=1e-12, check_dtype=True), name
        return sent

    found = run(shape, program)
    closures = importlib.import_module("semiring.distributed.operations.closure")
    monkeypatch.setattr(closures, "_sieve", lambda *_: None)
    monkeypatch.setattr(Excluded, "passed", lambda self, t: t)
    monkeypatch.setattr(Excluded, "update", lambda *_: None)
    without = run(shape, program)
    total = {name: [sum(each[name] for each in ranks) for ranks in (found, without)] for name in PROGRAMS}
    assert all(sent <= all_sums for sent, all_sums in total.values()), total
    if min(shape) > 1:
        assert all(sent < all_sums for sent, all_sums in total.values()), total


@pytest.mark.exhaustive
@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (4, 1)])
def test_hypersparse_graphs(shape: tuple[int, int]) -> None:
    """Nothing has a slot for each row."""
    with use("cpu"):
        hypersparse_graphs(shape)


def hypersparse_graphs(shape: tuple[int, int]) -> None:
    n, rng = 2**40, np.random.default_rng(1)
    rows = np.unique(rng.integers(0, n, 200))
    at = rng.integers(0, rows.size, (2, 1500))
    A = Matrix.from_coo(rows[at[0]], rows[at[1]], rng.random(1500), shape=(n, n), dup_op="min")
    mask = Vector.from_coo(rows[::2], np.arange(rows[::2].size) % 3, size=n)
    source, few = int(rows[at[0][0]]), Vector.from_coo(rows[:50], 1.5, size=n)
    programs = (
        lambda A, mask, few: sr.algorithms.sssp(A, source),
        lambda A, mask, few: sr.algorithms.bfs_levels(A, source),
        lambda A, mask, few: sr.ops.closure(few, A, "max_min"),
        lambda A, mask, few: few.vxm(A, "plus_times").new(mask=mask.V),
        lambda A, mask, few: few.vxm(A, "plus_times").new(mask=~mask.S),
        lambda A, mask, few: A.mxm(A, "plus_times").new(),
        lambda A, mask, few: A[:3, :].new().mxm(A, "plus_times").new(),
    )

    def program(grid: Grid) -> list[bool]:
        parts = [distributed.scatter(x, grid) for x in (A, mask, few)]
        return [distributed.gather(one(*parts)).isclose(one(A, mask, few), check_dtype=True) for one in programs]

    assert run(shape, program)[0] == [True] * len(programs)
