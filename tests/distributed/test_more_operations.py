"""Operations on grids of processes against those of one process: rows, layouts, groups, elements, graphs, closures."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, distributed, ops
from semiring.config import config
from semiring.distributed import Grid
from semiring.exceptions import DuplicateIndex, GraphProperty, InvalidValue, OutOfMemory
from tests import sampling
from tests.distributed.grids import local, parts_on, ranks_are_threads, run

__all__ = ["parts_on", "ranks_are_threads"]

SHAPES = ((1, 1), (2, 1), (1, 2), (3, 1), (2, 2), (3, 2), (2, 3))
SAMPLE = sampling.draw("grids of more operations", SHAPES[1:], 1)
by_shape = pytest.mark.parametrize(
    "shape",
    [pytest.param(shape, id="x".join(map(str, shape)), marks=sampling.marks(shape, SAMPLE)) for shape in SHAPES],
)


def graph(n: int, entries: int, *, dtype: Any = np.int64, seed: int = 0) -> Matrix:
    """Whole values from 0 to 4, so that many are equal."""
    rng = np.random.default_rng(seed)
    rows, cols, values = rng.integers(0, n, entries), rng.integers(0, n, entries), rng.integers(0, 5, entries)
    return Matrix.from_coo(rows, cols, values.astype(dtype), shape=(n, n), dup_op="max")


def weights(A: Matrix) -> Vector:
    return Vector.full(0, A.nrows, device=A.device).apply("rowindex").apply("mod", right=5).new()


def half(A: Matrix) -> Vector:
    return weights(A).select("<", 2).new()


def labels(A: Matrix) -> Vector:
    """0, 1 or 2 for each row; `half` of it has no label in `some_labels`."""
    return Vector.full(0, A.nrows, device=A.device).apply("rowindex").apply("mod", right=3).new()


def some_labels(A: Matrix) -> Vector:
    return labels(A).dup(mask=half(A).S)


def numbers(A: Matrix) -> Vector:
    return A.reduce_rowwise("plus").new()


OPERATIONS: dict[str, Callable[[Matrix], Any]] = {
    "scale columns": lambda A: A.ewise_mult(weights(A), "times").new(),
    "scale rows": lambda A: weights(A).ewise_mult(A, "minus").new(),
    "scale by some": lambda A: (A.ewise_mult(half(A), "plus").new(), half(A).ewise_mult(A, "first").new()),
    "scale by positions": lambda A: A.ewise_mult(weights(A), "secondj").new(),
    "a union with every row": lambda A: A.ewise_add(half(A), "plus").new(),
    "scan": lambda A: (A.scan("plus"), A.scan("max", "columnwise"), numbers(A).scan("plus")),
    "sort": lambda A: (*A.sort(), *A.sort(">", "columnwise"), *numbers(A).sort()),
    "smallest": lambda A: (A.selectk("smallest", 2), numbers(A).selectk("smallest", 3)),
    "largest": lambda A: (A.selectk("largest", 1), A.selectk("largest", 3, order="columnwise")),
    "first and last": lambda A: (A.selectk("first", 2), A.selectk("last", 1)),
    "random": lambda A: A.selectk("random", 2, seed=7),
    "minloc": lambda A: (*A.minloc(), *A.minloc("columnwise")),
    "maxloc": lambda A: (*A.maxloc(), *A.maxloc("columnwise")),
    "minloc by groups": lambda A: (*numbers(A).minloc_by(labels(A)), *numbers(A).maxloc_by(some_labels(A), size=5)),
    "sums of groups": lambda A: (numbers(A).reduce_by(labels(A)), numbers(A).reduce_by(some_labels(A), "max", size=4)),
    "modes of groups": lambda A: (
        numbers(A).reduce_by(labels(A), "mode"),
        numbers(A).reduce_by(some_labels(A), "last"),
    ),
    "groups in an array": lambda A: numbers(A).reduce_by(np.arange(A.nrows) % 4),
    "diagonals": lambda A: (A.diag(), A.diag(3), A.diag(-2), half(A).diag(), weights(A).diag(-3)),
    "set a diagonal": lambda A: (_with_diagonal(A, 7, 0), _with_diagonal(A, half(A), 0)),
    "larger": lambda A: (_resized(A, A.nrows + 9, A.ncols + 4), _resized(half(A), A.nrows + 11)),
    "smaller": lambda A: (_resized(A, A.nrows // 2, A.ncols // 3), _resized(half(A), A.nrows // 2)),
    "taller": lambda A: _resized(A, 2 * A.nrows + 1, max(A.ncols - 2, 0)),
    "shifted": lambda A: (A.reposition(2, -3), half(A).reposition(4), half(A).reposition(-1, size=A.nrows + 2)),
    "beside": lambda A: (sr.hstack([A, A.T.new()]), sr.vstack([A, A]), sr.concat([half(A), weights(A)])),
    "tiles": lambda A: sr.concat([[A, None], [None, A.dup(dtype=np.float64)]]),
    "tiles of one value": lambda A: sr.concat([[_ones(A), _ones(A)]]),
    "reshape": lambda A: (A.reshape(1, A.nrows * A.ncols), A.reshape(A.nrows * A.ncols, 1, order="columnwise")),
    "kronecker": lambda A: (A.kronecker(A[:3, :2].new(), "times"), A[:2, :3].new().kronecker(A, "minus")),
    "kronecker of positions": lambda A: A[:4, :4].new().kronecker(A, "firsti"),
    "outer": lambda A: half(A).outer(weights(A), "plus"),
    "inner": lambda A: Vector.from_coo([0], [int(half(A).inner(weights(A), "plus_times").get(0))], size=1),
    "strided ranges": lambda A: (A[::-1, 1::3].new(), weights(A)[::-2].new(), half(A)[3:].new()),
    "a row and a column": lambda A: (A[A.nrows // 2, :].new(), A[:, 0].new(), A[2:, 1].new()),
    "elements": lambda A: _with_elements(A),
    "elements of a vector": lambda A: _with_elements_of_vector(A),
    "masked rows and columns": lambda A: _with_masked_lines(A),
    "levels of many": lambda A: _searched(A),
    "shortest paths with parents": lambda A: ops.closure_with_parents(_source(A), A, "min_plus")[0],
    "peel": lambda A: (ops.peel(_counts(A), A), ops.peel(_counts(A), A, least=2)),
    "sums towards roots": lambda A: ops.treefix(_forest(A), weights(A), "plus", towards="roots"),
    "sums towards leaves": lambda A: ops.treefix(_forest(A), weights(A), "plus", towards="leaves"),
    "paths of an acyclic graph": lambda A: ops.acyclic_closure(weights(A), A.select("triu", 1).new(), "plus_first"),
    "greedy colors": lambda A: ops.acyclic_closure(
        weights(A), A.select("triu", 1).new(), "max_plus", then=lambda x: x + 1
    ),
    "spanning forest": lambda A: (ops.span((A | A.T).new()), ops.span(A, largest=True)),
    "votes": lambda A: (ops.vote(A, labels(A)), ops.vote(A, labels(A), ties="own", rows=_odd(A))),
    "votes with masses": lambda A: ops.vote(A, labels(A), mass=_mass(A), totals=_mass(A), rate=0.25),
    "local moving": lambda A: (ops.local_moving(A, labels(A), seed=3), ops.local_moving(A, labels(A), mass=_mass(A))),
    "pickled": lambda A: (_pickled(A), _pickled(half(A))),
}


def _with_diagonal(A: Matrix, source: Any, k: int) -> Matrix:
    C = A.dup()
    C.setdiag(source, k)
    return C


def _resized(x: Any, *shape: int) -> Any:
    y = x.dup()
    y.resize(*shape)
    return y


def _ones(A: Matrix) -> Matrix:
    return A.apply("one").new()


def _with_elements(A: Matrix) -> Matrix:
    C = A.dup()
    for i in range(0, A.nrows, 3):
        C[i, (5 * i) % A.ncols] = i
        C(accum="plus")[i, 1] << 2
    del C[0, 0]
    return C


def _with_masked_lines(A: Matrix) -> Matrix:
    """Masks of a whole row and column, where parts of these are assigned, and masks of the part."""
    C, m, i = A.dup(), half(A), A.nrows // 2
    C(m.S)[i, [2, 0, 3]] << weights(A)[[1, 2, 3]]
    C(~m.S, "plus", replace=True)[::-2, i] << 7
    del C(~m.V)[0, 1:]
    C[1, 1:](m[1:].S, "plus") << 50
    return C


def _with_elements_of_vector(A: Matrix) -> tuple[Vector, ...]:
    sparse, full = half(A).dup(), weights(A).dup()
    for v in (sparse, full):
        v[1] = 9
        v[A.nrows - 1] = 8
        v(accum="plus")[1] << 3
        del v[0]
    same = Vector.full(4, A.nrows, device=A.device)
    same[2] = 5
    return sparse, full, same


def _searched(A: Matrix) -> tuple[Any, ...]:
    found = ops.closure_many([0, 3, 3, A.nrows - 1], A, counts=True)
    return found.levels, found.counts


def _source(A: Matrix) -> Vector:
    return Vector.from_coo([1], [0], size=A.nrows, device=A.device)


def _counts(A: Matrix) -> Vector:
    return Vector.full(0, A.nrows, device=A.device).ewise_add(A.reduce_rowwise("count"), "plus").new()


def _forest(A: Matrix) -> Vector:
    """The parent of v is v // 2, and of 0 itself."""
    return Vector.full(0, A.nrows, device=A.device).apply("rowindex").apply("floordiv", right=2).new()


def _odd(A: Matrix) -> Vector:
    return weights(A).apply("mod", right=2).apply("eq", right=1).new()


def _mass(A: Matrix) -> Vector:
    return weights(A).dup(dtype=np.float64)


def _pickled(x: Any) -> Any:
    import pickle

    return pickle.loads(pickle.dumps(x))


def wrong(operations: dict[str, Callable[[Matrix], Any]], A: Matrix, grid: Grid, expected: dict[str, Any]) -> list[str]:
    """The operations whose results on a grid differ from those expected; an exception is the result of one."""
    B = distributed.scatter(A, grid)
    found = []
    for name, operation in operations.items():
        try:
            if not _equal(operation(B), expected[name]):
                found.append(name)
        except sr.exceptions.NotSupported as error:
            found.append(f"{name}: {error}")
    return found


def _equal(found: Any, expected: Any) -> bool:
    if isinstance(expected, tuple):
        return len(found) == len(expected) and all(map(_equal, found, expected))
    found = found.new() if hasattr(found, "new") else found
    found = found if found.device == local() else distributed.gather(found)
    return bool(
        found.isclose(expected, check_dtype=True)
        if expected.dtype.kind == "f"
        else found.isequal(expected.new(), check_dtype=True)
    )


def here() -> dict[str, Callable[[Matrix], Any]]:
    """The operations that the engine of the parts has."""
    return {name: each for name, each in OPERATIONS.items() if local() == "cpu" or name != "spanning forest"}


@by_shape
def test_operations(shape: tuple[int, int]) -> None:
    A = graph(31, 160)
    expected = {name: operation(A) for name, operation in here().items()}
    for found in run(shape, lambda grid: wrong(here(), A, grid, expected)):
        assert found == []


@by_shape
def test_fewer_rows_than_ranks(shape: tuple[int, int]) -> None:
    """Most parts are empty."""
    A = graph(4, 9, seed=1)
    expected = {name: operation(A) for name, operation in here().items()}
    for found in run(shape, lambda grid: wrong(here(), A, grid, expected)):
        assert found == []


HUGE = 2**40
HYPERSPARSE: dict[str, Callable[[Matrix], Any]] = {
    "larger": lambda A: _resized(A, 2 * HUGE, HUGE + 5),
    "smaller": lambda A: _resized(A, HUGE // 2, HUGE - 7),
    "a range": lambda A: A[HUGE // 4 : HUGE, ::3].new(),
    "shifted": lambda A: A.reposition(2**30, -5),
    "transpose": lambda A: A.T.new(),
    "scan": lambda A: A.scan("plus"),
    "largest": lambda A: A.selectk("largest", 1),
    "random": lambda A: A.selectk("random", 1, seed=1),
    "minloc": lambda A: A.minloc(),
    "numbers": lambda A: (numbers(A), numbers(A)[HUGE // 4 :].new(), numbers(A).diag(3)),
    "elements": lambda A: _with_elements_of_huge(A),
    "a row": lambda A: A[2**39 + 1, :].new(),
    "a tile": lambda A: sr.hstack([A, A]),
}


def _with_elements_of_huge(A: Matrix) -> Matrix:
    C = A.dup()
    C[HUGE - 1, 3] = 17
    C[0, HUGE - 1] = 4
    return C


@by_shape
def test_hypersparse_matrices(shape: tuple[int, int], parts_on: str) -> None:
    if parts_on == "reference":
        pytest.skip("the specification is dense")
    rng = np.random.default_rng(2)
    rows, cols = rng.integers(0, HUGE, (2, 300))
    rows[:150], cols[:20] = np.repeat(rows[:30], 5), 2**39 + 1
    rows[:3] = 2**39 + 1
    A = Matrix.from_coo(rows, cols, rng.integers(0, 9, 300), shape=(HUGE, HUGE), dup_op="max")
    expected = {name: operation(A) for name, operation in HYPERSPARSE.items()}
    for found in run(shape, lambda grid: wrong(HYPERSPARSE, A, grid, expected)):
        assert found == []


def test_errors_are_those_of_one_process() -> None:
    A = graph(13, 60)

    def program(grid: Grid) -> None:
        B = distributed.scatter((A | A.T).new(), grid)
        with pytest.raises(GraphProperty, match="cycle"):
            ops.acyclic_closure(weights(B), B, "plus_first")
        cycle = Vector.from_dense(np.roll(np.arange(13), 1), device=grid.device)
        with pytest.raises(InvalidValue, match="cycle"):
            ops.treefix(cycle, weights(B), "plus", towards="roots")
        with pytest.raises(InvalidValue, match="no row number"):
            ops.treefix(Vector.full(13, 13, device=grid.device), weights(B), "plus", towards="leaves")
        with pytest.raises(sr.exceptions.IndexOutOfBound, match="labels"):
            numbers(B).reduce_by(labels(B), size=2)

    run((2, 2), program)


def test_iteration_reads_the_whole() -> None:
    A = graph(9, 30)

    def program(grid: Grid) -> None:
        B = distributed.scatter(A, grid)
        assert list(B.items()) == list(A.items())
        assert [(i, w.to_dict()) for i, w in B.iter_rows()] == [(i, w.to_dict()) for i, w in A.iter_rows()]
        assert list(map(operator.itemgetter(0), B.iter_columns())) == [j for j, _ in A.iter_columns()]
        assert all(map(np.array_equal, B.to_dcsr(), A.to_dcsr()))

    run((2, 2), program)


def test_constructors_make_parts() -> None:
    dense = np.arange(35.0).reshape(7, 5)
    A = graph(9, 30)
    makers: tuple[Callable[[str], Any], ...] = (
        lambda device: Matrix.from_dense(dense, device=device),
        lambda device: Matrix.from_dense(dense, format="bitmap", device=device),
        lambda device: Matrix.from_dense(dense, missing_value=3, device=device),
        lambda device: Vector.from_dense(dense[0], device=device),
        lambda device: Matrix.from_csr(*A.to_csr(), ncols=9, device=device),
        lambda device: Matrix.from_csc(*A.to_csc(), nrows=9, device=device),
        lambda device: Matrix.from_dcsr(*A.to_dcsr(), shape=(9, 9), device=device),
        lambda device: Matrix.from_dcsc(*A.to_dcsc(), shape=(9, 9), device=device),
        lambda device: Matrix.identity(6, device=device),
        lambda device: Matrix.from_scalar(2, 4, 3, device=device),
        lambda device: Matrix.from_coo([0, 0, 5], [1, 1, 2], 1, shape=(6, 6), dup_op="plus", device=device),
        lambda device: Vector.from_coo([4, 4, 1], 1, size=6, dup_op="plus", device=device),
    )

    def program(grid: Grid) -> list[int]:
        pairs = [(make(grid.device), make(local())) for make in makers]
        assert all(made.device == grid.device for made, _ in pairs)
        return [k for k, (made, right) in enumerate(pairs) if not distributed.gather(made).isequal(right)]

    assert run((2, 2), program)[0] == []


def test_generated_graphs_are_on_the_device_of_new_objects() -> None:
    makers: tuple[Callable[[], Matrix], ...] = (
        lambda: sr.random.rmat(5, 3, seed=1, weights="uniform"),
        lambda: sr.random.grid2d(3, 5),
        lambda: sr.random.star(6),
    )
    expected, before = [make() for make in makers], config.device

    def program(grid: Grid) -> list[int]:
        config.device = grid.device  # the ranks are threads, and the name is the same on all
        made = [make() for make in makers]
        assert all(A.device == grid.device for A in made)
        assert [A.is_symmetric for A in made] == [A.is_symmetric for A in expected]
        return [k for k, A in enumerate(made) if not distributed.gather(A).isequal(expected[k])]

    try:
        assert run((2, 2), program)[3] == []
    finally:
        config.device = before


def test_errors_of_building_name_the_position_in_the_whole() -> None:
    def program(grid: Grid) -> None:
        with pytest.raises(DuplicateIndex, match="entry 3 is"):
            Vector.from_coo([0, 3, 4, 3, 4], 1, size=5, device=grid.device)
        with pytest.raises(DuplicateIndex, match=r"entry \(4, 3\) is"):
            Matrix.from_coo([0, 4, 4], [1, 3, 3], 1, shape=(5, 5), device=grid.device)
        with pytest.raises(DuplicateIndex, match="entry 4 is"):
            distributed.vector_from_coo([4], size=5, grid=grid)
        with pytest.raises(OutOfMemory, match=rf"identity: out of memory on {grid.local} .* use ") as caught:
            Matrix.identity(10**13, device=grid.device)
        assert isinstance(caught.value.free_bytes, int)

    run((2, 2), program)
