"""Calls with arguments that differ between processes: an error on each, with the calls of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.distributed import run
from semiring.distributed.call_ids import described
from semiring.engines.requests.draw import RandomEdges
from semiring.engines.requests.operations import ReduceScalar
from semiring.exceptions import InvalidValue


def vector(grid: Any, n: int = 10) -> sr.Vector:
    return sr.Vector.full(1.5, n, device=grid.device)


def graph(grid: Any, seed: int = 1) -> sr.Matrix:
    return sr.random.rmat(5, seed=seed, device=grid.device)


CALLS: dict[str, tuple[Any, str]] = {
    "operators": (lambda grid: vector(grid).reduce("plus" if grid.rank else "max").value, "float64, (plus|max)"),
    "sizes": (lambda grid: vector(grid, 10 + grid.rank).reduce("plus").value, "size 1[01] float64"),
    "types": (lambda grid: vector(grid).dup("int32" if grid.rank else "float64").reduce("plus").value, "size 10 int32"),
    "sources": (lambda grid: sr.algorithms.bfs_levels(graph(grid), grid.rank).nvals, r"size 32 int32 \[[01]\]"),
    "seeds": (lambda grid: graph(grid, grid.rank).nvals, "draw_in_shares of 32, [01]"),
    "semirings": (
        lambda grid: graph(grid).mxv(vector(grid, 32), "plus_times" if grid.rank else "min_plus").nvals,
        "mxv of .*(plus_times|min_plus)",
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_calls_that_differ_are_an_error_on_all(call: str) -> None:
    function, text = CALLS[call]
    with pytest.raises(InvalidValue, match=f"{text}.*every rank must make the same calls"):
        run(2, function)


def test_calls_of_the_same_arguments_are_none() -> None:
    def program(grid: Any) -> Any:
        x, A = vector(grid, 32), graph(grid)
        return A.mxv(x, "plus_times").reduce("plus").value, sr.algorithms.bfs_levels(A, 0).nvals

    assert len(set(run(3, program))) == 1


def test_what_is_compared() -> None:
    x = sr.Vector.from_coo([1, 5], [2.0, np.nan], size=999)
    assert described(x.store) == "size 999 float64 [1, 5] [2.0, nan]"
    assert described(sr.Vector.from_coo(range(17), 1, size=999).store) == "size 999 int64"
    assert described(ReduceScalar(x.store, sr.monoid.plus["float64"])).endswith(", plus")
    assert described(RandomEdges(8, 3)).startswith("8, 3")
    assert described(np.arange(3)) == described(None) == described(object()) == ""
