"""Objects on a grid from entries and graphs of which each process has a share, and the storage of their parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, distributed
from semiring.distributed import Grid
from semiring.engines.requests import draw
from semiring.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    DuplicateIndex,
    IndexOutOfBound,
    InvalidType,
    InvalidValue,
)
from tests.distributed.grids import by_shape, in_folder, ranks_are_threads, run, same

__all__ = ["in_folder", "ranks_are_threads"]

al, dist = sr.algorithms, distributed


# -- even shares -----------------------------------------------------------------------------------------


@by_shape
@pytest.mark.parametrize("n", [1, 9, 10, 1500])
def test_an_order_that_evens_out_the_shares(shape: tuple[int, int], n: int) -> None:
    """Vertex k has entries in its row and column for the multiples of k + 1: the first rows have most of them."""
    rows, cols = np.nonzero((np.arange(n) % (np.arange(n)[:, None] + 1) == 0) & (n > 1))
    A = Matrix.from_coo(rows, cols, True, shape=(n, n))
    A = A.ewise_add(A.T, "any").new()
    levels = al.bfs_levels(A, n - 1)

    def program(grid: Grid) -> tuple[list[int], int, int]:
        B = A.to(grid.device)
        p = dist.even_order(B)
        C = B.permute(p)
        restored = al.ordering.restore(al.bfs_levels(C, al.ordering.inverse(p)[n - 1].value), p)
        assert same(restored, levels)
        return dist.gather(p).to_dense().tolist(), dist.local_part(B).part.nvals, dist.local_part(C).part.nvals

    found = run(shape, program)
    orders, before, after = zip(*found, strict=True)
    assert all(sorted(order) == list(range(n)) and order == orders[0] for order in orders)
    if n == 1500 and len(found) > 1:
        assert max(before) > 1.2 * np.mean(before)
        assert max(after) < (1.1 if 1 in shape else 1.25) * np.mean(after)


def test_an_even_order_is_of_a_square_matrix_on_a_grid() -> None:
    A = Matrix.from_coo([0], [1], shape=(2, 3))

    def program(grid: Grid) -> None:
        with pytest.raises(DimensionMismatch, match=r"even_order: expected a square matrix, got the shape \(2, 3\)"):
            dist.even_order(A.to(grid.device))
        for given in (A, Vector.full(1, 3, device=grid.device)):
            with pytest.raises(InvalidType, match="even_order: expected a Matrix on a grid"):
                dist.even_order(given)  # type: ignore[arg-type]

    run((2, 1), program)


# -- entries ---------------------------------------------------------------------------------------------


@by_shape
@pytest.mark.parametrize("size", [(13, 7), (1, 1), (40, 70)])
def test_from_coo_of_shares(shape: tuple[int, int], size: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    rows, cols, values = rng.integers(0, size[0], 90), rng.integers(0, size[1], 90), rng.integers(0, 9, 90)
    want = Matrix.from_coo(rows, cols, values, shape=size, dup_op="plus")
    flags = Matrix.from_coo(rows, cols, True, shape=size, dup_op="any")

    def program(grid: Grid) -> bool:
        own = rng_share(grid, 90)
        A = dist.from_coo(rows[own], cols[own], values[own], shape=size, grid=grid, dup_op="plus")
        B = dist.from_coo(rows[own], cols[own], shape=size, grid=grid, dup_op="any")
        return same(A, want) and same(B, flags) and B.is_iso and not A.is_iso

    assert all(run(shape, program))


def rng_share(grid: Grid, count: int) -> Any:
    """Positions of a list that belong to this process, of the last one none: some have more than others."""
    owners = np.random.default_rng(2).integers(0, max(grid.size - 1, 1), count)
    return np.flatnonzero(owners == grid.rank)


def test_the_shape_and_the_type_are_those_of_all_shares() -> None:
    def program(grid: Grid) -> Any:
        values = [[1, 2], [0.5], []][grid.rank]
        A = dist.from_coo([[0, 4], [7], []][grid.rank], [[1, 1], [0], []][grid.rank], values, grid=grid)
        v = dist.vector_from_coo([[0, 4], [7], []][grid.rank], values, grid=grid)
        return A.shape, str(A.dtype), A.to_dicts(), v.size, str(v.dtype), v.to_dict()

    expected = (8, 2), "float64", {0: {1: 1.0}, 4: {1: 2.0}, 7: {0: 0.5}}, 8, "float64", {0: 1.0, 4: 2.0, 7: 0.5}
    assert run((3, 1), program) == [expected] * 3


@by_shape
def test_edges_and_pairs_of_shares(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    edges = rng.integers(0, 20, (50, 2))
    want = Matrix.from_edgelist(edges, symmetric=True)
    sums = Vector.from_coo(edges[:, 0], edges[:, 1], size=33, dup_op="plus")

    def program(grid: Grid) -> bool:
        own = edges[rng_share(grid, 50)]
        A = dist.from_edgelist(own, symmetric=True, grid=grid)
        w = dist.vector_from_coo(own[:, 0], own[:, 1], size=33, grid=grid, dup_op="plus")
        return same(A, want) and same(w, sums)

    assert all(run(shape, program))


def test_errors_of_one_share_are_raised_on_all() -> None:
    def outcomes(grid: Grid) -> list[str]:
        calls = (
            lambda: dist.from_coo([0, grid.rank], [0, 0], [1.0, 2.0], shape=(3, 3), grid=grid),
            lambda: dist.from_coo([grid.rank + 1], [0], shape=(2, 2), grid=grid),
            lambda: dist.from_coo([0], [0] * (grid.rank + 1), shape=(2, 2), grid=grid),
            lambda: dist.vector_from_coo([5], [1.0], size=6, grid=grid),
            lambda: dist.from_edgelist([(0, "a")] if grid.rank else [(0, 1)], grid=grid),
            lambda: dist.from_part(Vector.full(grid.rank + 0.5, 3), shape=5, grid=grid),
            lambda: dist.from_part(Vector.full([1, 1.5][grid.rank], 3 - grid.rank), shape=5, grid=grid),
        )
        found = []
        for call in calls:
            with pytest.raises(sr.SemiringError) as caught:
                call()
            found.append(f"{caught.type.__name__}: {caught.value}")
        return found

    first, second = run((2, 1), outcomes)
    assert first == second
    kinds = (DuplicateIndex, IndexOutOfBound, DimensionMismatch, DuplicateIndex, InvalidValue, DimensionMismatch)
    for message, kind in zip(first, (*kinds, DomainMismatch), strict=True):
        assert message.startswith(kind.__name__), message
    assert "entry (0, 0)" in first[0]
    assert "entry 5" in first[3]
    assert first[1].endswith("(rank 1 of 2)")


@by_shape
def test_parts_are_taken_out_and_put_together(shape: tuple[int, int]) -> None:
    A, v = sr.random.rmat(5, 3, seed=2, weights="uniform"), Vector.from_coo([1, 30], [2.5, 1.0], size=32)

    def program(grid: Grid) -> bool:
        B, w = dist.scatter(A, grid), dist.scatter(v, grid)
        block, rows, cols = dist.local_part(B)
        segment, places, none = dist.local_part(w)
        assert cols is not None
        assert none is None
        assert block.isequal(A[rows.start : rows.stop, cols.start : cols.stop].new())
        assert segment.isequal(v[places.start : places.stop].new())
        with pytest.raises(InvalidType, match="on a grid"):
            dist.local_part(A)
        return same(dist.from_part(block, shape=(32, 32), grid=grid), A) and same(
            dist.from_part(segment, shape=32, grid=grid), v
        )

    assert all(run(shape, program))


# -- generated graphs ------------------------------------------------------------------------------------

GRAPHS: tuple[tuple[str, tuple[int, ...], dict[str, Any]], ...] = (
    ("kronecker", (7,), {}),
    ("kronecker", (6, 5), {"seed": 3, "weights": "uniform"}),
    ("rmat", (6, 4), {"symmetric": True}),
    ("rmat", (0,), {}),
    ("rmat", (6, 3), {"permute": True, "weights": "uniform"}),
    ("uniform", (0,), {}),
    ("uniform", (77, 3), {"weights": "uniform", "symmetric": False}),
    ("grid2d", (5, 7), {}),
    ("grid2d", (0, 3), {}),
    ("grid2d", (40, 50), {}),
    ("grid3d", (3, 4, 5), {}),
    ("path", (1,), {}),
    ("path", (9,), {}),
)


@by_shape
def test_graphs_are_those_of_one_process(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw, "CHUNK_EDGES", 300)  # several rounds, unequal ones

    def program(grid: Grid) -> list[Any]:
        wrong = []
        for name, arguments, options in GRAPHS:
            want = getattr(sr.random, name)(*arguments, **options)
            A = getattr(sr.random, name)(*arguments, device=grid.device, **options)
            if not same(A, want) or A.is_iso != want.is_iso or A.is_symmetric_structure != want.is_symmetric_structure:
                wrong.append((name, arguments, options))
        return wrong

    assert run(shape, program) == [[]] * (shape[0] * shape[1])


def test_a_process_sends_its_share_of_the_edges() -> None:
    """Weak scaling: with as many edges a process, the bytes that each sends stay nearly the same."""

    def program(grid: Grid) -> int:
        before = grid.traffic.bytes
        sr.random.rmat(8, 4 * grid.size, device=grid.device, permute=True)
        return grid.traffic.bytes - before

    sent = {p: run((p, 1), program) for p in (2, 4)}
    assert max(sent[4]) < 1.7 * max(sent[2])  # of 1024 keys of 8 bytes 1/2 and 3/4
    assert max(sent[4]) < 8 * 4 * 256


def test_generators_of_the_default_device_draw_shares() -> None:
    def program(grid: Grid) -> tuple[int, str]:
        steps: list[tuple[str, float]] = []
        with sr.use(grid.device):
            before = grid.traffic.bytes
            A = sr.random.rmat(8, 4, progress=lambda *step: steps.append(step))
            assert grid.traffic.bytes > before
            assert steps == [("drawing edges", 1.0), ("sorting edges", 0.0)]
            assert sr.random.star(5).device == sr.random.path(5).device == grid.device
        return A.nvals, A.device

    (found, device), *_ = run((2, 1), program)
    assert (found, device[:4]) == (sr.random.rmat(8, 4).nvals, "2x1 ")


def test_names_of_earlier_versions_are_replaced() -> None:
    with pytest.raises(AttributeError, match=r"replaced by semiring\.random: rmat\(\.\.\., device=grid\.device\)"):
        dist.random  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"replaced by semiring\.io\.read\(path, device=grid\.device\)"):
        dist.read  # type: ignore[attr-defined]  # noqa: B018


def test_wrong_arguments_of_generators() -> None:
    def program(grid: Grid) -> None:
        for call in (
            lambda: sr.random.rmat(40, device=grid.device),
            lambda: sr.random.rmat(4, a=0.9, b=0.9, device=grid.device),
            lambda: sr.random.uniform(-1, device=grid.device),
            lambda: sr.random.uniform(4, weights="normal", device=grid.device),
            lambda: sr.random.grid2d(-1, 4, device=grid.device),
        ):
            with pytest.raises(InvalidValue):
                call()

    run((2, 1), program)


# -- storage of the parts --------------------------------------------------------------------------------


@by_shape
def test_products_on_compressed_and_streamed_blocks(shape: tuple[int, int]) -> None:
    A = sr.random.kronecker(6, seed=1, weights="uniform")
    levels, product = al.bfs_levels(A, 3), A.mxm(A, "plus_times").new()
    order = list(range(A.nrows))[::-1]

    def program(grid: Grid) -> bool:
        B = dist.scatter(A, grid)
        kinds = (
            B.compress("varint"),
            B.compress().to(placement="host"),
            B.to(placement="host"),
            B.dup().convert("hypersparse"),
            B.dup().convert("bitmap"),
        )
        for C in kinds:
            assert same(C, A)
            assert same(al.bfs_levels(C, 3), levels)
            assert same(C.mxm(C, "plus_times").new(), product)
            assert same(C.T.new(), A.T.new())
            assert C.permute(order).codec == C.codec
        assert [C.codec for C in kinds] == ["varint", "packed", None, None, None]
        assert [C.placement for C in kinds] == ["device", "host", "host", "device", "device"]
        assert dist.local_part(kinds[3]).part.format == "hypersparse"
        assert kinds[0].compressed_nbytes("varint") == kinds[0].nbytes
        assert kinds[0].decompress().codec is None
        with pytest.raises(InvalidValue, match="full matrix"):
            B.dup().convert("full")
        return True

    assert all(run(shape, program))
