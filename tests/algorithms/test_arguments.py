"""The error for a wrong argument of an algorithm names the expected and the given type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semiring import Matrix, algorithms
from semiring.exceptions import IndexOutOfBound, InvalidValue, NegativeCycle
from semiring.memory.arrays import Transfers

CALLS: dict[str, Callable[[Any], Any]] = {
    "bfs_levels": lambda A: algorithms.bfs_levels(A, 0),
    "bfs_parents": lambda A: algorithms.bfs_parents(A, 0),
    "sssp": lambda A: algorithms.sssp(A, 0),
    "pagerank": lambda A: algorithms.pagerank(A),
    "connected_components": lambda A: algorithms.connected_components(A),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_matrix(name: str) -> None:
    with pytest.raises(InvalidValue, match=f"{name}.*ndarray.*Matrix.from_dense"):
        CALLS[name](np.eye(3))
    with pytest.raises(InvalidValue, match=f"{name}.*Matrix.*str"):
        CALLS[name]("graph.mtx")
    scipy_sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(InvalidValue, match=f"{name}.*sr.io.from_scipy_sparse"):
        CALLS[name](scipy_sparse.eye(3).tocsr())
    networkx = pytest.importorskip("networkx")
    with pytest.raises(InvalidValue, match=f"{name}.*sr.io.from_networkx"):
        CALLS[name](networkx.path_graph(3))


@pytest.mark.parametrize(
    "parameters",
    [
        {"tol": float("nan")},
        {"tol": -1},
        {"damping": "a"},
        {"damping": float("nan")},
        {"max_iter": 2.5},
        {"max_iter": -1},
    ],
)
def test_no_number(parameters: dict[str, Any]) -> None:
    A = Matrix.from_edgelist([(0, 1), (1, 0)])
    with pytest.raises(InvalidValue, match=f"pagerank: {next(iter(parameters))}"):
        algorithms.pagerank(A, **parameters)


SEARCHES = [algorithms.bfs_levels, algorithms.bfs_parents, algorithms.sssp]


@pytest.mark.parametrize("search", SEARCHES)
def test_a_source_is_a_row_number(search: Callable[..., Any]) -> None:
    """An integer of any type below the number of rows, neither a boolean nor a float."""
    A = Matrix.from_edgelist([(0, 1), (1, 2)], nrows=3, ncols=3)
    for source in (1, np.int8(1), np.uint64(1), np.array(1)):
        assert search(A, source).to_coo()[0].tolist() == [1, 2]
    for source in (True, np.bool_(True), 1.0, np.float64(1), "1", None):
        with pytest.raises(InvalidValue, match=f"{search.__name__}: a source is a row number"):
            search(A, source)
    for source in (-1, 3, np.int8(-1), np.uint64(3)):
        with pytest.raises(IndexOutOfBound, match=f"{search.__name__}: source {source} is out of bounds"):
            search(A, source)


def test_the_vertex_of_a_negative_cycle_is_one_counted_read() -> None:
    A = Matrix.from_coo([0, 1, 2], [1, 2, 1], [1.0, -2.0, 1.0], shape=(3, 3))
    before = Transfers.copies
    with pytest.raises(NegativeCycle) as caught:
        algorithms.sssp(A, 0)
    assert caught.value.vertex in (1, 2)
    assert (Transfers.copies > before) == (A.device == "cuda")
