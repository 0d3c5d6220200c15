"""Names of vertices on grids of processes: as arguments, indices and labels of results, as in one process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import semiring as sr
from semiring import Matrix, distributed
from semiring.distributed import Grid
from semiring.exceptions import InvalidValue, NegativeCycle
from tests.distributed.grids import parts_on, ranks_are_threads, run

__all__ = ["parts_on", "ranks_are_threads"]

EDGES = [("ann", "bob", 1.0), ("bob", "eve", 2.0), ("eve", "ann", 4.0), ("eve", "bob", 3.0)]
NAMED: dict[str, Callable[[Matrix], Any]] = {
    "transpose": lambda A: A.T,
    "product": lambda A: A @ A,
    "sum of rows": lambda A: A.reduce_rowwise(),
    "largest": lambda A: A.selectk("largest", 1),
    "part": lambda A: A[["eve", "ann"], :],
    "row": lambda A: A["eve"],
    "distances": lambda A: sr.algorithms.sssp(A, "ann"),
    "several": lambda A: sr.algorithms.sssp(A, ["eve", "ann"]),
    "parents": lambda A: sr.algorithms.bfs_parents(A, "ann"),
    "ranks": lambda A: sr.algorithms.pagerank(A, personalization={"ann": 1, 2: 3}, dangling={"bob": 1}),
    "subgraph": lambda A: sr.algorithms.induced_subgraph(A, ["eve", "ann"]),
    "neighborhood": lambda A: sr.algorithms.ego_graph(A, "ann")[1],
}


def names_of(x: Any) -> list[Any]:
    axes = (x.labels,) if x.ndim == 1 else (x.row_labels, x.column_labels)
    return [None if labels is None else list(labels) for labels in (*axes, x.value_labels)]


@pytest.mark.parametrize("shape", [(1, 1), (2, 1)], ids=str)
def test_names_on_a_grid(shape: tuple[int, int]) -> None:
    whole = Matrix.from_edgelist(EDGES, relabel=True)

    def program(grid: Grid) -> None:
        A = distributed.scatter(whole, grid)
        assert A["eve", "ann"].value == 4.0
        assert names_of(distributed.scatter(sr.algorithms.bfs_parents(whole, "ann"), grid))[1] == ["ann", "bob", "eve"]
        for what, function in NAMED.items():
            found, expected = function(A), function(whole)
            assert names_of(found) == names_of(distributed.gather(found)) == names_of(expected), what
            assert distributed.gather(found).isclose(expected), what
        with pytest.raises(InvalidValue, match="sssp: source: no vertex is labeled 'anne'"):
            sr.algorithms.sssp(A, "anne")
        B = distributed.scatter(whole.apply("ainv").new(), grid)
        with pytest.raises(NegativeCycle, match="from 'ann': 'bob' -> 'eve' -> 'bob'"):
            sr.algorithms.sssp(B, "ann")
        assert "rank" in str(A)
        assert "<table></table>" in A._repr_html_()

    run(shape, program)
