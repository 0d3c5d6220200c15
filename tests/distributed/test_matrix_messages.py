"""How blocks of matrices are sent, and products in which the result or an operand stays where it is."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, distributed, ops, use
from semiring.config import config
from semiring.distributed import Grid
from semiring.distributed.matrix_messages import SentRows, decoded_block, encoded_block, flat_bytes, row_bytes
from semiring.distributed.operations import matrix_products
from semiring.distributed.vector_messages import Sent
from semiring.formats import index_dtype
from tests import sampling
from tests.distributed.grids import run

SHAPES = ((2, 1), (1, 2), (2, 2), (3, 2), (2, 3), (4, 1))
STAYS = ("a", "b", "c")
CASES = tuple((shape, stays) for shape in SHAPES for stays in STAYS)
SAMPLE = sampling.draw("grids of products", CASES, 1)
WAY_SAMPLE = sampling.draw("grids of ways", SHAPES[2:], 1)


@pytest.fixture(autouse=True)
def on_cpu(engine: str) -> Iterator[None]:
    """Without replicas, of which test_replication.py is."""
    if engine != "cpu":
        pytest.skip("ranks are threads on the CPU")
    with config.set(replicated_share=0):
        yield


def drawn(nrows: int, ncols: int, entries: int, seed: int = 0) -> Matrix:
    rng = np.random.default_rng(seed)
    rows, cols, values = rng.integers(0, nrows, entries), rng.integers(0, ncols, entries), rng.integers(1, 5, entries)
    return Matrix.from_coo(rows, cols, values, shape=(nrows, ncols), dup_op="max")


def matrices() -> Iterator[Matrix]:
    """Blocks of a graph, of many sources, without rows, with one value, and in every format."""
    for shape, entries in (((40, 70_000), 900), ((300, 300), 2000), ((5, 900), 4000), ((64, 2000), 90), ((3, 2), 1)):
        A = drawn(*shape, entries)
        yield A
        yield A.apply("one").new()
        yield A.dup().convert("bitmap")
        yield A.apply("one").new().convert("bitmap")
        yield A[:0, :].new()
    yield drawn(2**40, 2**40, 700)
    yield drawn(2**21, 50, 700)
    yield Matrix.from_dense(np.arange(12.0).reshape(3, 4))
    yield drawn(200, 30, 400).mxm(Matrix.from_dense(np.ones((30, 7))), "plus_times").new()
    yield sr.random.rmat(8, 16, seed=1).compress("varint")
    yield sr.random.rmat(8, 16, seed=1).compress("packed")
    yield Matrix(float, 4, 4)


def test_every_block_returns() -> None:
    def program(grid: Grid) -> set[str]:
        forms = set()
        for A in matrices():
            sent = encoded_block(A.store, grid.comm, grid)
            made = decoded_block(sent, A.shape, A.dtype, grid)
            assert A.with_store(made).isequal(A, check_dtype=True)
            assert made.kind == A.store.kind or A.codec is not None or not A.nvals
            if sent is None:
                assert A.nvals == 0
                continue
            entries = sent.entries
            forms.add(entries.form if isinstance(entries, Sent) else type(entries).__name__)
            values = 0 if A.is_iso else A.dtype.itemsize * A.nvals
            nrows, ncols = A.shape
            size, k = nrows * ncols, A.nvals
            least = flat_bytes(size, k, 0 if A.is_iso else A.dtype.itemsize, compress=True)
            if isinstance(entries, SentRows):
                rows = nrows if entries.listed is None else entries.listed.size
                numbers = 0 if entries.listed is None else rows * index_dtype(nrows).itemsize
                assert sent.nbytes == values + numbers + row_bytes(rows, ncols, k)
            elif isinstance(entries, Sent):
                assert sent.nbytes <= values + least
            elif A.codec is not None:
                assert sent.nbytes <= values + min(least, row_bytes(*A.shape, k))
        return forms

    (forms,) = run((1, 1), program)
    assert forms == {"SentRows", "CSR", "full", "bitmap", "list"} | (forms & {"gaps"})


RINGS = ("plus_times", "any_pair", "min_plus", "plus_first", "max_secondj")
OPERATIONS: dict[str, Callable[..., Matrix]] = {
    "left": lambda F, A, X, M, ring: F.mxm(A, ring).new(),
    "right": lambda F, A, X, M, ring: A.mxm(X, ring).new(),
    "masked": lambda F, A, X, M, ring: F.mxm(A, ring).new(mask=~M.S),
    "by values": lambda F, A, X, M, ring: F.mxm(A, ring).new(mask=M.V),
}


@pytest.mark.costly
@pytest.mark.parametrize(
    ("shape", "stays"),
    [
        pytest.param(*case, id=f"{case[0][0]}x{case[0][1]}-{case[1]}", marks=sampling.marks(case, SAMPLE))
        for case in CASES
    ],
)
def test_products_in_every_way(shape: tuple[int, int], stays: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = matrix_products.least_sent

    def chosen(q: Any, *rest: Any) -> str:
        return "c" if rule(q, *rest) == "c" and q.semiring.mult.uses & matrix_products.POSITIONS else stays

    monkeypatch.setattr(matrix_products, "least_sent", chosen)
    with use("reference"):
        for n, k, m in ((31, 5, 23), (7, 1, 3), (3, 2, 2)):
            operands = drawn(k, n, 4 * k), drawn(n, n, 4 * n, 1), drawn(n, m, 2 * n, 2), drawn(k, n, 5 * k, 3)
            for F in (operands[0], operands[0].dup().convert("bitmap"), Matrix.from_dense(np.ones((k, n)))):
                given = F, *operands[1:]
                expected = {(name, ring): f(*given, ring) for name, f in OPERATIONS.items() for ring in RINGS}

                def program(grid: Grid, given: Any = given, expected: Any = expected) -> list[Any]:
                    parts = [distributed.scatter(x, grid) for x in given]
                    return [
                        case
                        for case, right in expected.items()
                        if not distributed.gather(OPERATIONS[case[0]](*parts, case[1])).isequal(right, check_dtype=True)
                    ]

                assert run(shape, program)[0] == []


def way(x: Matrix, y: Matrix, ring: str, shape: tuple[int, int]) -> str:
    """Which matrix a product does not send."""
    found = []
    with pytest.MonkeyPatch.context() as monkeypatch:
        rule = matrix_products.least_sent
        monkeypatch.setattr(matrix_products, "least_sent", lambda *given: found.append(rule(*given)) or found[-1])
        run(shape, lambda grid: distributed.scatter(x, grid).mxm(distributed.scatter(y, grid), ring).new())
    assert len(set(found)) == 1
    return str(found[0])


def test_the_matrix_that_stays() -> None:
    with use("reference"):
        F, A = drawn(4, 400, 4), drawn(400, 400, 5000)
        assert way(F, A, "any_pair", (2, 1)) == way(F, A, "any_pair", (2, 2)) == "b"
        assert way(A, F.T.new(), "any_pair", (1, 2)) == way(A, F.T.new(), "any_pair", (2, 2)) == "a"
        assert way(A, A, "plus_times", (2, 1)) == way(A, A, "plus_times", (2, 2)) == "c"
        assert way(F, A, "any_secondj", (2, 2)) == "c"


@pytest.mark.parametrize("parts_on", ["reference", pytest.param("cpu", marks=pytest.mark.exhaustive)])
def test_frontiers_of_many_sources_are_sent_in_place_of_the_graph(
    parts_on: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    A, sources = sr.random.kronecker(8, 16, seed=1), range(24)

    def program(grid: Grid) -> list[int]:
        B = distributed.scatter(A, grid)
        with sr.explain() as log:
            found = ops.closure_many(sources, B, counts=True)
        assert distributed.gather(found.levels).isequal(expected.levels, check_dtype=True)
        assert distributed.gather(found.counts).isequal(expected.counts, check_dtype=True)
        return [call.details["sent_bytes"] for call in log if call.operation == "step"]

    with use(parts_on):
        expected = ops.closure_many(sources, A, counts=True)
        sent = run((2, 1), program)
        # Of each level a bit for each position of the frontier and of the sums at most, and a few numbers; the
        # specification stores a byte for each value.
        assert max(map(max, sent)) < 24 * 256 / 8 * (1 if parts_on == "cpu" else 5) + 200
        monkeypatch.setattr(matrix_products, "least_sent", lambda *_: "c")
        graph = run((2, 1), program)
    assert (6 if parts_on == "cpu" else 1.5) * sum(map(sum, sent)) < sum(map(sum, graph))


@pytest.mark.parametrize(
    "shape", [pytest.param(s, id="x".join(map(str, s)), marks=sampling.marks(s, WAY_SAMPLE)) for s in SHAPES]
)
def test_a_search_whose_levels_are_multiplied_in_different_ways(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    A, sources = sr.random.grid2d(5, 6), range(0, 30, 4)

    def program(grid: Grid) -> bool:
        ways[grid.rank] = itertools.cycle("babc")
        found = ops.closure_many(sources, distributed.scatter(A, grid), counts=True)
        return distributed.gather(found.levels).isequal(expected.levels) and distributed.gather(found.counts).isequal(
            expected.counts
        )

    ways: dict[int, Iterator[str]] = {}
    monkeypatch.setattr(matrix_products, "least_sent", lambda *given: next(ways[given[-1].rank]))
    with use("reference"):
        expected = ops.closure_many(sources, A, counts=True)
        assert all(run(shape, program))
