"""Grids of processes: partitions, collectives, operations and algorithms against those of one process."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, distributed
from semiring.distributed import Grid
from semiring.distributed.communicator import Communicator
from semiring.distributed.grid import _RENAMED, segment_bounds
from semiring.distributed.partition import col_segments, readers, row_segments
from semiring.engines import registry
from semiring.engines.requests.operands import Spec
from semiring.exceptions import DeviceMismatch, InvalidType, InvalidValue, NotSupported
from tests import sampling
from tests.distributed.grids import local, ranks_are_threads, run

__all__ = ["ranks_are_threads"]

al = sr.algorithms

SHAPES = ((1, 1), (2, 1), (1, 2), (3, 1), (2, 2), (3, 2), (2, 3), (1, 4))
SAMPLE = sampling.draw("grids", SHAPES[1:], 2)
by_shape = pytest.mark.parametrize(
    "shape",
    [pytest.param(shape, id="x".join(map(str, shape)), marks=sampling.marks(shape, SAMPLE)) for shape in SHAPES],
)


def graph(n: int, entries: int, seed: int = 0) -> Matrix:
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, n, entries), rng.integers(0, n, entries)
    return Matrix.from_coo(rows, cols, rng.random(entries), shape=(n, n), dup_op="plus")


# -- partition -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extent", [0, 1, 5, 31, 64, 1000, 100_003])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 64])
def test_segments_cover_each_position_once(extent: int, count: int) -> None:
    bounds = segment_bounds(extent, count)
    assert bounds[0] == 0
    assert bounds[-1] == extent
    assert list(bounds) == sorted(bounds)
    assert len(bounds) == count + 1
    largest = max(high - low for low, high in pairwise(bounds))
    assert largest <= -(-extent // count) + 31


@by_shape
def test_readers_of_a_segment(shape: tuple[int, int]) -> None:
    def program(grid: Grid) -> None:
        for segments in (row_segments, col_segments):
            expected = [rank for rank in range(grid.size) if grid.rank in segments(grid, rank)]
            assert list(readers(grid, segments)) == expected

    run(shape, program)


@by_shape
def test_blocks_cover_each_position_once(shape: tuple[int, int]) -> None:
    def program(grid: Grid) -> Any:
        return grid.rows(13), grid.cols(7)

    counts = np.zeros((13, 7), int)
    for (top, bottom), (left, right) in run(shape, program):
        counts[top:bottom, left:right] += 1
    assert (counts == 1).all()


@by_shape
@pytest.mark.parametrize("size", [(0, 0), (1, 1), (5, 3), (40, 70)])
def test_scatter_and_gather(shape: tuple[int, int], size: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    dense = rng.integers(0, 3, size)
    A, v = Matrix.from_dense(dense, missing_value=0), Vector.from_dense(np.arange(size[0]) % 3, missing_value=0)

    def program(grid: Grid) -> bool:
        B, w = distributed.scatter(A, grid), v.to(grid.device)
        assert (B.shape, B.nvals, B.dtype, B.device) == (A.shape, A.nvals, A.dtype, grid.device)
        assert w.nvals == v.nvals
        return distributed.gather(B).isequal(A) and distributed.gather(w).isequal(v) and B.isequal(A.to(grid.device))

    assert all(run(shape, program))


def test_every_format_of_a_vector() -> None:
    full = Vector.from_dense(np.arange(5000))

    def program(grid: Grid) -> bool:
        kinds = [full, full.select("<", 100).new(), full.select(">", 100).new(), Vector.full(2, 5000)]
        kinds[2].convert("bitmap")
        return all(distributed.gather(distributed.scatter(v, grid)).isequal(v) for v in kinds)

    assert all(run((3, 1), program))


# -- operations ------------------------------------------------------------------------------------------

OPERATIONS: dict[str, Callable[[Matrix], Any]] = {
    "transpose": lambda A: A.T.new(),
    "mxv": lambda A: A.mxv(ones(A), "plus_times").new(),
    "vxm": lambda A: ones(A).vxm(A, "min_plus").new(),
    "vxm sparse": lambda A: some(A).vxm(A, "min_plus").new(),
    "vxm masked": lambda A: some(A).vxm(A, "plus_times").new(mask=~some(A).S),
    "positions in a product": lambda A: A.mxv(ones(A), "min_secondi").new(),
    "positions in a product of matrices": lambda A: A.mxm(A, "max_firstj").new(),
    "mxm": lambda A: A.mxm(A, "plus_times").new(),
    "mxm with a transpose": lambda A: A.mxm(A.T, "min_plus").new(),
    "mxm masked": lambda A: A.mxm(A, "plus_pair").new(mask=A.S),
    "ewise_add": lambda A: A.ewise_add(A.T.new(), "minus").new(),
    "ewise_mult": lambda A: A.ewise_mult(A.T.new(), "times").new(),
    "apply": lambda A: A.apply("ainv").new(),
    "apply positions": lambda A: A.apply("rowindex").new(),
    "select": lambda A: A.select(">", 0.5).new(),
    "select positions": lambda A: A.select("tril", -1).new(),
    "select positions of a vector": lambda A: ones(A).apply("rowindex").new().select("<", 7).new(),
    "rows": lambda A: A.reduce_rowwise("max").new(),
    "columns": lambda A: A.reduce_columnwise("min").new(),
    "total": lambda A: Vector.from_coo([0], [float(A.reduce_scalar("plus"))], size=1),
    "range": lambda A: A[2:9, 1:30:3].new(),
    "list": lambda A: A[[3, 1, 1, 7], [8, 2]].new(),
    "row": lambda A: A[3, :].new(),
    "column": lambda A: A[:, 3].new(),
    "positions": lambda A: ones(A)[[5, 5, 0]].new(),
    "element": lambda A: Vector.from_coo([0], [A.get(*first_entry(A))], size=1),
    "assign": lambda A: assigned(A),
    "accumulate": lambda A: A.dup()(accum="plus") << A,
    "duplicate": lambda A: A.dup(),
    "closure": lambda A: sr.ops.closure(some(A), A, "min_plus"),
}


def ones(A: Matrix) -> Vector:
    return Vector.full(1.0, A.nrows, device=A.device)


def some(A: Matrix) -> Vector:
    return Vector.from_coo([1, 4, 30], [0.5, 2.0, 1.5], size=A.nrows, device=A.device)


def first_entry(A: Matrix) -> tuple[int, int]:
    rows, cols, _ = A.to_coo()
    return int(rows[0]), int(cols[0])


def assigned(A: Matrix) -> Matrix:
    C = A.dup()
    C[3:20:2, [1, 5, 40]] = 7.0
    C[[2, 0], :] << A[:2, :].new()
    return C


@pytest.mark.costly
@by_shape
def test_operations(shape: tuple[int, int]) -> None:
    A = graph(47, 300)
    expected = {name: operation(A) for name, operation in OPERATIONS.items()}

    def program(grid: Grid) -> list[str]:
        B = distributed.scatter(A, grid)
        wrong = []
        for name, operation in OPERATIONS.items():
            made, right = operation(B), expected[name]
            made = made if made.device == right.device else distributed.gather(made)
            if not (made.dtype == right.dtype and made.isclose(right)):
                wrong.append(name)
        return wrong

    assert run(shape, program)[0] == []


KINDS: dict[str, Callable[[Matrix], Any]] = {
    "packed": lambda A: A.compress("packed"),
    "varint": lambda A: A.compress("varint"),
    "hypersparse": lambda A: A.dup().convert("hypersparse"),
    "bitmap": lambda A: A.dup().convert("bitmap"),
    "host": lambda A: A.to(placement="host"),
}
KIND_SAMPLE = sampling.draw("kinds of blocks", KINDS, 2)


@pytest.mark.costly
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=sampling.marks(kind, KIND_SAMPLE)) for kind in KINDS])
def test_blocks_of_every_storage_kind(kind: str) -> None:
    A = graph(47, 300)
    expected = {name: operation(A) for name, operation in OPERATIONS.items()}

    def program(grid: Grid) -> list[str]:
        B = KINDS[kind](distributed.scatter(A, grid))
        block = B.store.pattern.part
        assert kind in (block.codec, block.format, block.placement)
        wrong = []
        for name, operation in OPERATIONS.items():
            made, right = operation(B), expected[name]
            if not (made if made.device == right.device else distributed.gather(made)).isclose(right):
                wrong.append(name)
        return wrong

    assert run((2, 2), program)[0] == []


# -- algorithms ------------------------------------------------------------------------------------------

ALGORITHMS: dict[str, Callable[[Matrix], Any]] = {
    "bfs_levels": lambda A: al.bfs_levels(A, 3),
    "sssp": lambda A: al.sssp(A, 3),
    "connected_components": lambda A: al.connected_components(A | A.T),
    "fastsv": lambda A: al.connected_components(A | A.T, method="fastsv"),
    "pagerank": lambda A: al.pagerank(A),
    "degrees": lambda A: al.degrees(A, "in"),
}


@pytest.mark.costly
@by_shape
def test_algorithms(shape: tuple[int, int]) -> None:
    A = graph(80, 200, seed=2)
    expected = {name: algorithm(A) for name, algorithm in ALGORITHMS.items()}
    triangles = al.triangle_count(A | A.T)

    def program(grid: Grid) -> list[str]:
        B = distributed.scatter(A, grid)
        assert al.triangle_count(B | B.T) == triangles
        return [
            name
            for name, algorithm in ALGORITHMS.items()
            if not distributed.gather(algorithm(B)).isclose(expected[name], rel_tol=1e-9)
        ]

    assert run(shape, program)[0] == []


def test_results_do_not_depend_on_the_number_of_ranks() -> None:
    A = graph(300, 3000, seed=5).apply(lambda x: x * 1000).new().dup("int64")
    found = [
        run(shape, lambda grid: distributed.gather((s := distributed.scatter(A, grid)).mxm(s, "plus_times").new()))[0]
        for shape in SHAPES
    ]
    assert all(C.isequal(found[0]) for C in found)


# -- calls that are wrong --------------------------------------------------------------------------------


def test_objects_of_a_grid_and_of_one_process_do_not_mix() -> None:
    A = graph(10, 30)

    def program(grid: Grid) -> None:
        with pytest.raises(DeviceMismatch):
            distributed.scatter(A, grid).ewise_add(A, "plus")
        with pytest.raises(InvalidValue, match="on a grid already"):
            distributed.scatter(distributed.scatter(A, grid), grid)
        with pytest.raises(InvalidType):
            distributed.gather(A)
        with pytest.raises(InvalidType):
            distributed.scatter([1, 2], grid)  # type: ignore[type-var]

    run((2, 1), program)


def test_a_second_grid_of_the_same_processes_and_shape_is_the_same_device() -> None:
    A = graph(10, 30)

    def program(grid: Grid) -> None:
        again = Grid(grid.comm, shape=(2, 1), device=grid.local)
        assert again.device is grid.device
        B, C = distributed.scatter(A, grid), distributed.scatter(A, again)
        assert distributed.gather(B.ewise_add(C, "plus").new()).isequal(A.ewise_add(A, "plus").new())
        other = Grid(grid.comm, shape=(1, 2), device=grid.local)
        assert other.device != grid.device
        with pytest.raises(DeviceMismatch, match=r"on 2x1 cpu and 1x2 cpu; grids of other .*to\('cpu'\)"):
            B.ewise_add(distributed.scatter(A, other), "plus").new()

    run((2, 1), program)


def test_an_operation_that_is_missing_says_so() -> None:
    class Unheard(Spec):
        name = "unheard"

    def program(grid: Grid) -> None:
        with pytest.raises(NotSupported, match=r"unheard is not supported on a grid of processes.*gather"):
            registry.run(Unheard(), grid.device)

    run((2, 1), program)


def test_a_large_permutation_is_that_of_the_whole() -> None:
    A = sr.random.kronecker(8, 8, seed=1)  # of skewed degrees, so that rows are counted in the order of degrees
    assert run((2, 1), lambda grid: al.triangle_count(A.to(grid.device))) == [al.triangle_count(A)] * 2


def test_a_vector_of_booleans_is_an_index() -> None:
    v, flags = Vector.from_dense(np.arange(40)), np.arange(40) % 3 == 1

    def program(grid: Grid) -> list[int]:
        found = v.to(grid.device)[Vector.from_dense(flags, device=grid.device)].new()
        return distributed.gather(found).to("cpu").to_dense().tolist()

    assert run((3, 1), program) == [list(range(1, 40, 3))] * 3


def test_objects_are_shown_by_their_part() -> None:
    v = run((2, 1), lambda grid: Vector.from_dense(np.arange(5)).to(grid.device))[1]
    assert v.device == f"2x1 {local()}"
    assert repr(v) == f"Vector: size 5, int64 on {v.device}; rank 1 holds positions 3:5, 2 entries"
    A = run((2, 1), lambda grid: sr.random.path(4).to(grid.device))[0]
    assert repr(A).endswith(f"on 2x1 {local()}; rank 0 holds rows 0:2, columns 0:4, 3 entries")


def test_counts_are_sent_to_log2_of_the_processes() -> None:
    def program(grid: Grid) -> tuple[int, int]:
        before = grid.traffic.messages
        return grid.all_reduce_sum(grid.rank), grid.traffic.messages - before

    assert run((9, 8), program) == [(72 * 71 // 2, 7)] * 72
    assert run((8, 8), program) == [(64 * 63 // 2, 6)] * 64


def test_shapes_of_grids() -> None:
    assert run((3, 2), lambda grid: grid.coords)[5] == (2, 1)
    assert distributed.run(6, lambda grid: grid.shape)[0] == (3, 2)
    assert distributed.run(5, lambda grid: grid.shape)[0] == (5, 1)
    with pytest.raises(InvalidValue, match="needs 4 processes"):
        distributed.run(3, lambda grid: None, shape=(2, 2))
    with pytest.raises(InvalidValue, match="positive"):
        distributed.run(0, lambda grid: None)
    with pytest.raises(InvalidValue, match="that of a grid"):
        Vector(int, 3, device="7x7 cpu")


def test_a_rank_that_fails_ends_all() -> None:
    def program(grid: Grid) -> None:
        if grid.rank == 1:
            raise KeyError("lost")
        grid.comm.barrier()

    with pytest.raises(KeyError, match="lost"):
        run((3, 1), program)


def test_calls_that_differ_are_found() -> None:
    def one_more(grid: Grid) -> None:
        if grid.rank == 0:
            grid.comm.barrier()

    def another(grid: Grid) -> None:
        if grid.rank == 0:
            grid.comm.barrier()
        else:
            grid.comm.exchange({})

    for program in (one_more, another):
        with pytest.raises((InvalidValue, RuntimeError), match="every rank must make the same calls"):
            run((2, 1), program)


# -- collectives -----------------------------------------------------------------------------------------


def test_collectives() -> None:
    def program(grid: Grid) -> Any:
        c: Communicator = grid.comm
        assert c.allgather(c.rank * 10) == [0, 10, 20, 30, 40, 50]
        assert c.alltoall([(c.rank, k) for k in range(6)]) == [(k, c.rank) for k in range(6)]
        assert c.bcast("x" if c.rank == 4 else None, 4) == "x"
        assert [grid.row_comm.size, grid.col_comm.size] == [2, 3]
        return grid.row_comm.allgather(grid.coords), grid.col_comm.allgather(grid.coords)

    row, col = run((3, 2), program)[3]
    assert row == [(1, 0), (1, 1)]
    assert col == [(0, 1), (1, 1), (2, 1)]


def test_old_names_report_the_new_ones() -> None:
    def program(grid: Any) -> None:
        with pytest.raises(AttributeError, match=r"^Grid\.total is now Grid\.all_reduce_sum$"):
            grid.total(1)
        with pytest.raises(AttributeError, match="no attribute 'totals'"):
            grid.totals(1)
        assert all(hasattr(grid, name) for name in _RENAMED.values())

    run((1, 1), program)


def test_traffic_counts_what_is_sent() -> None:
    v = Vector.from_dense(np.arange(1000.0))

    def program(grid: Grid) -> tuple[int, int]:
        w = distributed.scatter(v, grid)
        before = grid.traffic.messages, grid.traffic.bytes
        distributed.gather(w)
        return grid.traffic.messages - before[0], grid.traffic.bytes - before[1]

    assert run((4, 1), program) == [(3, 3 * 250 * 8)] * 4


def test_nothing_is_sent_for_operations_on_parts() -> None:
    A = graph(50, 200)

    def program(grid: Grid) -> int:
        B = distributed.scatter(A, grid)
        before = grid.traffic.messages
        (B.apply("ainv").new().ewise_add(B, "times").new().select("tril", 0).new())
        return grid.traffic.messages - before

    assert run((2, 2), program) == [0] * 4


@pytest.mark.costly
def test_what_is_known_of_a_structure_does_not_depend_on_the_block_of_one_process() -> None:
    """The selection keeps all entries of the first block: it must not take over the count of the whole."""
    A = Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 0], [5, 6, 7, 8], shape=(4, 4))
    u = Vector.from_coo([0, 1], [2, 2], size=4)

    def program(grid: Grid) -> list[int]:
        B, w = distributed.scatter(A, grid), distributed.scatter(u, grid)
        found = [B.nvals, B.T.new().nvals]
        for C in (B.select("<=", 6).new(), B.ewise_mult(B.select("<", 8).new(), "plus").new(), w.ewise_mult(B).new()):
            found += [C.nvals, C.T.new().nvals, C.apply("ainv").new().nvals]
        return found

    for shape in ((2, 1), (4, 1), (2, 2)):
        assert run(shape, program) == [[4, 4, 2, 2, 2, 3, 3, 3, 2, 2, 2]] * (shape[0] * shape[1])


def test_what_one_process_alone_knows_of_a_matrix_is_known_on_all() -> None:
    """On two processes the block of a matrix with one row is the matrix itself, on the first one."""

    def program(grid: Grid) -> list[Any]:
        found = []
        for n in (1, 6):
            A = Matrix.from_coo(range(n), range(n), 1, shape=(n, n), device=local())
            if grid.rank == 0:
                assert A.is_symmetric_structure
            B = distributed.scatter(A, grid)
            assert B.store.pattern.facts.get("symmetric") is True
            found.append(distributed.gather(Vector.full(2, n, device=grid.device).vxm(B, "plus_times")).to_dict())
        return found

    assert run((2, 1), program) == [[{0: 2}, dict.fromkeys(range(6), 2)]] * 2


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (2, 2)], ids=str)
def test_one_process_gathers(shape: tuple[int, int]) -> None:
    A = sr.random.kronecker(5, 4, weights="uniform", seed=1, device="cpu")
    objects: list[Any] = [
        A,
        A.compress(),
        A.reduce_rowwise("plus"),
        Vector.full(2.5, 9, device="cpu"),
        Matrix(int, 7, 3),
    ]
    last = shape[0] * shape[1] - 1

    def program(grid: Grid) -> list[Any]:
        return [distributed.gather(distributed.scatter(X, grid), last) for X in objects]

    *others, whole = run(shape, program)
    assert others == [[None] * len(objects)] * last
    assert all(found.isequal(X, check_dtype=True) for found, X in zip(whole, objects, strict=True))

    def refused(grid: Grid) -> None:
        with pytest.raises(InvalidValue, match=f"root is a rank from 0 to {last}, got {last + 1}"):
            distributed.gather(distributed.scatter(A, grid), last + 1)

    run(shape, refused)
