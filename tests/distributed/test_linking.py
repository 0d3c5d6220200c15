"""Components on grids of processes: the labels of one process, whatever the shape; one exchange of hooks a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, distributed, ops
from semiring.distributed import Grid
from semiring.distributed.operations import linking
from tests import sampling
from tests.distributed.grids import parts_on, ranks_are_threads, run

__all__ = ["parts_on", "ranks_are_threads"]

SHAPES = ((1, 1), (2, 1), (1, 2), (3, 1), (2, 2), (5, 1), (3, 2), (2, 3))
SAMPLE = [(2, 1), *sampling.draw("grids of components", SHAPES[2:], 1)]
by_shape = pytest.mark.parametrize(
    "shape",
    [pytest.param(shape, id="x".join(map(str, shape)), marks=sampling.marks(shape, SAMPLE)) for shape in SHAPES],
)


def edges(n: int, rows: Any, cols: Any, *, symmetric: bool) -> Matrix:
    A = Matrix.from_coo(rows, cols, True, shape=(n, n), dup_op="any")
    return (A | A.T).new() if symmetric else A


def drawn(n: int, count: int, *, symmetric: bool = True, seed: int = 0) -> Matrix:
    rng = np.random.default_rng(seed)
    return edges(n, rng.integers(0, n, count), rng.integers(0, n, count), symmetric=symmetric)


def separate(parts: int, size: int) -> Matrix:
    """Dense parts of consecutive rows without edges between them: each process has a giant component of its own."""
    rng = np.random.default_rng(1)
    base = np.repeat(np.arange(parts) * size, 5 * size)
    rows, cols = (base + rng.integers(0, size, base.size) for _ in range(2))
    return edges(parts * size, rows, cols, symmetric=True)


def behind_samples(size: int) -> Matrix:
    """Two dense parts, of the rows of two processes, joined by (u, v), which is behind the first two of both rows.

    Rows 0 and 1 are leaves of v, and its first neighbors; row w joins v to its part, and has no other neighbors.
    """
    u, v, w = size - 1, 2 * size - 1, 2 * size - 2
    rows, cols, _ = separate(2, size).to("cpu").to_coo()
    kept = ~np.isin(rows, [0, 1, w]) & ~np.isin(cols, [0, 1, w])
    more = [0, 1, u, w, w], [v, v, v, v, size]
    return edges(2 * size, np.append(rows[kept], more[0]), np.append(cols[kept], more[1]), symmetric=True)


def permuted_path(n: int) -> Matrix:
    """Most labels of two processes differ."""
    at = np.random.default_rng(3).permutation(n)
    return edges(n, at[:-1], at[1:], symmetric=True)


GRAPHS: dict[str, Callable[[], Matrix]] = {
    "symmetric": lambda: drawn(200, 300),
    "sparse": lambda: drawn(300, 120),
    "directed": lambda: drawn(200, 210, symmetric=False),
    "separate parts": lambda: separate(3, 40),
    "parts joined behind the samples": lambda: behind_samples(40),
    "a path in another order": lambda: permuted_path(300),
    "a path": lambda: edges(130, np.arange(129), np.arange(1, 130), symmetric=True),
    "a path downwards": lambda: edges(130, np.arange(1, 130), np.arange(129), symmetric=False),
    "one part alone": lambda: edges(120, np.arange(100, 119), np.arange(101, 120), symmetric=True),
    "fewer rows than processes": lambda: edges(3, [0], [2], symmetric=True),
    "no entries": lambda: Matrix(bool, 50, 50),
    "no rows": lambda: Matrix(bool, 0, 0),
}
KINDS: dict[str, Callable[[Matrix], Matrix]] = {
    "csr": lambda A: A,
    "packed": lambda A: A.compress(),
    "hypersparse": lambda A: A.dup().convert("hypersparse"),
    "bitmap": lambda A: A.dup().convert("bitmap"),
}


def same(found: Vector, expected: Vector) -> bool:
    return distributed.gather(found).isequal(expected, check_dtype=True)


@by_shape
@pytest.mark.parametrize("gathered", [linking._GATHERED, 0], ids=["pairs of labels gathered", "in rounds"])
def test_components_are_those_of_one_process(
    shape: tuple[int, int], gathered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "_GATHERED", gathered)
    graphs = {name: make() for name, make in GRAPHS.items()}
    expected = {name: sr.algorithms.connected_components(A) for name, A in graphs.items()}

    def program(grid: Grid) -> None:
        for name, A in graphs.items():
            B = distributed.scatter(A, grid)
            assert same(sr.algorithms.connected_components(B), expected[name]), name
            assert same(ops.link(ops.singletons(Vector(bool, A.nrows, device=grid.device)), B), expected[name]), name

    run(shape, program)


@by_shape
def test_blocks_of_every_storage_kind(shape: tuple[int, int]) -> None:
    A, added = behind_samples(60), edges(120, [119], [3], symmetric=False)
    expected, together = (sr.algorithms.connected_components(C) for C in (A, A | added))

    def program(grid: Grid) -> None:
        for name, kind in KINDS.items():
            B = kind(distributed.scatter(A, grid))
            labels = sr.algorithms.connected_components(B)
            assert same(labels, expected), name
            more = kind(distributed.scatter(added, grid))
            assert same(sr.algorithms.connected_components(more, start=labels), together), name

    run(shape, program)


@pytest.mark.parametrize("shape", SHAPES[:2])
def test_the_steps_of_afforest_one_by_one(shape: tuple[int, int]) -> None:
    """A sample, its most frequent label, and the rest without the rows of that label."""
    A = drawn(400, 900, seed=4)
    expected = sr.algorithms.connected_components(A)

    def program(grid: Grid) -> None:
        B = distributed.scatter(A, grid)
        forest, position = ops.link_sample(ops.singletons(Vector(bool, A.nrows, device=grid.device)), B)
        labels = forest.to("cpu").to_dense()
        assert (labels <= np.arange(400)).all()
        assert (labels[labels] == labels).all()  # flat
        giant = ops.most_frequent(forest)
        assert same(ops.link(forest, B, first=position, skip=giant), expected)

    run(shape, program)


def test_rows_that_are_skipped_are_not_hooked() -> None:
    """Only row 0 has the entry that joins it, and its root is skipped."""
    A = edges(4, [0, 2], [1, 3], symmetric=False)

    def program(grid: Grid) -> Any:
        forest = ops.singletons(Vector(bool, 4, device=grid.device))
        return distributed.gather(ops.link(forest, distributed.scatter(A, grid), skip=0)).to_dense().tolist()

    assert run((2, 1), program)[0] == [0, 1, 2, 2]


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (3, 1)])
def test_what_is_sent(shape: tuple[int, int]) -> None:
    """The positions of one label, in bits, to each other process; nothing on one process."""
    n = 1024
    A = drawn(n, 8_000)
    A.is_symmetric_structure  # noqa: B018  it is passed on

    def program(grid: Grid) -> tuple[int, int]:
        B = distributed.scatter(A, grid)
        sr.algorithms.connected_components(B)
        before = grid.traffic.bytes, grid.traffic.collectives
        sr.algorithms.connected_components(B)
        return grid.traffic.bytes - before[0], grid.traffic.collectives - before[1]

    p = shape[0] * shape[1]
    for sent, collectives in run(shape, program):
        assert sent <= (p - 1) * (n / p / 8 + 100) + 2 * 8 * (p - 1).bit_length()
        # Whether all are alone, labels, the number of pairs, pairs, frequent labels; and three agreements.
        assert collectives <= 5 + 3


def test_few_changes_are_sent_as_such() -> None:
    """New edges to an old result of 1,024 rows."""
    A, added = drawn(1024, 5_000), edges(1024, [0, 17], [1023, 900], symmetric=False)
    old = sr.algorithms.connected_components(A)
    single = Matrix(bool, 1024, 1024)

    def program(grid: Grid) -> int:
        B = distributed.scatter(added, grid)
        identity = sr.algorithms.connected_components(distributed.scatter(single, grid))
        before = grid.traffic.bytes
        found = sr.algorithms.connected_components(B, start=identity)
        sent = grid.traffic.bytes - before
        assert same(found, sr.algorithms.connected_components(added))
        assert same(
            sr.algorithms.connected_components(B, start=distributed.scatter(old, grid)),
            sr.algorithms.connected_components(added, start=old),
        )
        return sent

    assert max(run((2, 1), program)) < 200
