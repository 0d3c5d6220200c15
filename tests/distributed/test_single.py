"""Grids of one process: requests run on the engine of the parts, and results are objects of the grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, distributed, use
from semiring.distributed import Grid, rules
from semiring.distributed.operations import one_process
from tests.distributed.grids import ranks_are_threads, run
from tests.distributed.test_more_operations import graph, half, labels, numbers, some_labels

__all__ = ["ranks_are_threads"]


@pytest.fixture(autouse=True)
def on_specification(engine: str) -> Any:
    with use("reference" if engine == "cpu" else engine):
        yield


def positions(A: Matrix) -> Vector:
    return labels(A).apply("times", right=4).new()


def assigned(A: Matrix) -> tuple[Matrix, Vector]:
    C, w = A.dup(), numbers(A)
    C[1:4, ::2] = 3
    w[positions(A)](accum="plus") << half(A)
    return C, w


PROGRAMS: dict[str, Callable[[Matrix], Any]] = {
    "element-wise": lambda A: (A.ewise_add(A.T.new(), "plus").new(), half(A).ewise_mult(labels(A), "minus").new()),
    "positions": lambda A: (A.apply("colindex").new(), A.select("tril", -1).new(), numbers(A).apply("rowindex").new()),
    "under a mask": lambda A: (A.dup(mask=A.select(">", 2).new().V), numbers(A).dup(mask=~half(A).S)),
    "extracts": lambda A: (A[::-2, 3:].new(), A[[3, 0, 3], :].new(), numbers(A)[positions(A)].new(), A[:, 2].new()),
    "assigns": assigned,
    "reductions": lambda A: (numbers(A), A.reduce_columnwise("max").new(), A.diag()),
    "rows": lambda A: (*A.sort(), A.scan("plus"), A.selectk("largest", 2), *A.minloc()),
    "groups": lambda A: (*numbers(A).minloc_by(labels(A)), *numbers(A).maxloc_by(some_labels(A), size=5)),
    "scaled": lambda A: (A.ewise_mult(labels(A), "times").new(), A.ewise_mult(half(A), "times").new()),
    "built": lambda A: Matrix.from_coo([2, 0], [1, 1], [5, 6], shape=A.shape, device=A.device),
    "larger": lambda A: (A.reshape(A.ncols * A.nrows, 1), A.kronecker(A[:2, :2].new(), "times")),
    "vote": lambda A: sr.ops.vote(A, labels(A)),
}


def parts(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_the_engine(name: str) -> None:
    A = graph(12, 40)
    expected = parts(PROGRAMS[name](A))

    def program(grid: Grid) -> None:
        for found, other in zip(parts(PROGRAMS[name](distributed.scatter(A, grid))), expected, strict=True):
            assert found.device == grid.device
            assert distributed.gather(found).isequal(other, check_dtype=True)
            assert found.nvals == other.nvals

    run((1, 1), program)


def test_a_grid_has_an_operation_for_each_request() -> None:
    assert {kind.name for kind in one_process._WHOLE} <= set(rules.rules())


def test_the_engine_computes_and_what_is_known_is_kept() -> None:
    A = graph(12, 40)

    def program(grid: Grid) -> None:
        B = distributed.scatter((A | A.T).new(), grid)
        assert B.is_symmetric_structure
        C = B.apply("ainv").new()
        assert C.store.pattern.facts is B.store.pattern.facts
        with sr.explain() as log:
            B[3:, :].new().nvals  # noqa: B018  computes it
        assert any(call.kernel.startswith(f"{grid.engine}.") for call in log)
        assert not any(call.details.get("messages") for call in log)

    run((1, 1), program)


def test_errors_are_those_of_the_engine() -> None:
    def program(grid: Grid) -> None:
        with pytest.raises(sr.exceptions.IndexOutOfBound):
            distributed.scatter(graph(5, 9), grid)[[7], :].new()
        with pytest.raises(sr.exceptions.DuplicateIndex, match=r"\(1, 2\)|1, 2"):
            Matrix.from_coo(np.array([1, 1]), np.array([2, 2]), [1, 2], shape=(4, 4), dup_op=None, device=grid.device)

    run((1, 1), program)
