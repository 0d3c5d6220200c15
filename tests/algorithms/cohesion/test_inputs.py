"""What the algorithms accept: empty graphs, loops, every dtype and storage kind; and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.exceptions import DimensionMismatch, InvalidValue
from tests.algorithms.cohesion.test_triangles import skewed
from tests.algorithms.test_small_graphs import DIRECTED, UNDIRECTED, matrix

al = sr.algorithms
UNDIRECTED_ONLY: dict[str, Callable[..., Any]] = {
    "core_numbers": al.core_numbers,
    "edge_triangles": al.edge_triangles,
    "generalized_degree": al.generalized_degree,
    "graphlet_degrees": al.graphlet_degrees,
    "k_core": al.k_core,
    "k_truss": lambda A: al.k_truss(A, 3),
    "rich_club": al.rich_club,
    "square_clustering": al.square_clustering,
    "transitivity": al.transitivity,
    "triangle_centrality": al.triangle_centrality,
    "triangle_count": al.triangle_count,
    "triangles": al.triangles,
    "truss_numbers": al.truss_numbers,
}
CALLS = {
    **UNDIRECTED_ONLY,
    "average_clustering": al.average_clustering,
    "clustering": al.clustering,
    "clustering, Graphalytics": partial(al.clustering, method="graphalytics"),
}
calls = pytest.mark.parametrize("name", CALLS)


def equal(found: Any, expected: Any) -> bool:
    if isinstance(found, (Matrix, Vector)):
        return bool(found.isclose(expected, rel_tol=1e-12) if found.dtype.kind == "f" else found.isequal(expected))
    return bool(found == expected)


@calls
def test_no_square_matrix(name: str) -> None:
    function = name.partition(",")[0]
    with pytest.raises(DimensionMismatch, match=f"^{function}: .*square"):
        CALLS[name](Matrix(bool, 2, 3))
    with pytest.raises(InvalidValue, match=f"^{function}: .*Matrix.from_dense"):
        CALLS[name](np.eye(3))


@pytest.mark.parametrize("name", UNDIRECTED_ONLY)
def test_a_directed_graph(name: str) -> None:
    with pytest.raises(InvalidValue, match=rf"{name}: the graph must be undirected.*A\.T"):
        CALLS[name](matrix(DIRECTED["path"]))


@calls
@pytest.mark.parametrize("n", [0, 1, 4])
def test_no_edges(name: str, n: int) -> None:
    """No vertices, isolated ones, and loops alone: no triangle, core 0."""
    for A in (Matrix(np.float32, n, n), Matrix.identity(n, np.uint16)):
        found = CALLS[name](A)
        if name == "graphlet_degrees":
            assert found.shape == (n, 15)
            assert found.reduce_scalar("max").get(0) == 0
        elif isinstance(found, Matrix):
            assert (found.shape, found.nvals) == ((n, n), 0)
        elif name == "rich_club":
            assert found.nvals == 0
        elif isinstance(found, Vector):
            assert found.to_dict() == dict.fromkeys(range(n), 0)
        else:
            assert found == 0


@calls
def test_storage_kinds_and_values(name: str) -> None:
    """Compressed rows, bitmaps, listed rows, entries in host memory, weights of any type: the same result."""
    present = UNDIRECTED["medium"]
    A = matrix(present, np.ones(present.shape, np.float32))
    if name in ("k_core", "k_truss"):  # they return values: compare structures
        call: Callable[[Any], Any] = lambda B: CALLS[name](B).apply("one").dup(bool)  # noqa: E731
    else:
        call = CALLS[name]
    expected = call(A)
    kinds = [A.compress("packed"), A.compress("varint"), A.convert("bitmap"), A.convert("hypersparse")]
    kinds += [A.to(placement="host"), A.compress("packed").to(placement="pinned")]
    kinds += [matrix(present, np.full(present.shape, value)) for value in (np.uint8(200), -1.5, 0, True, 2j)]
    for other in kinds:
        assert equal(call(other), expected)


@calls
def test_the_argument_is_unchanged(name: str) -> None:
    A = matrix(skewed(80, 3))
    before = A.dup()
    CALLS[name](A)
    assert A.isequal(before, check_dtype=True)


@pytest.mark.parametrize("call", [al.k_core, al.k_truss])
def test_no_count(call: Callable[..., Any]) -> None:
    for k in (-1, 2.5, True, "3"):
        with pytest.raises(InvalidValue, match=f"{call.__name__}: k must"):
            call(matrix(UNDIRECTED["cycle"]), k)


@pytest.mark.parametrize("name", ["core_numbers", "graphlet_degrees", "square_clustering", "truss_numbers"])
def test_no_progress_function(name: str) -> None:
    with pytest.raises(InvalidValue, match=f"{name}: progress"):
        CALLS[name](matrix(UNDIRECTED["cycle"]), progress=5)
