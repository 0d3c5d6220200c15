"""Orders: permutations with the documented properties, and results that are translated back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring import Matrix, Vector
from semiring.algorithms import bfs_levels, bfs_parents, connected_components, ordering
from semiring.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    DuplicateIndex,
    IndexOutOfBound,
    InvalidValue,
)
from semiring.facade import matrix_arrays, vector_arrays
from semiring.facade.operand import device_for
from tests import verify

ORDERS: dict[str, Callable[[Matrix], Vector]] = {
    "degree_order": ordering.degree_order,
    "bfs_order": ordering.bfs_order,
    "reverse_cuthill_mckee": ordering.reverse_cuthill_mckee,
    "locality_order": ordering.locality_order,
}
by_name = pytest.mark.parametrize("name", ORDERS)


@st.composite
def graphs(draw: Any) -> Matrix:
    """A square matrix of any density, directed or not, with isolated vertices and loops."""
    n = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    present = rng.random((n, n)) < draw(st.sampled_from((0, 0.02, 0.1, 0.5)))
    if draw(st.booleans()):
        present |= present.T
    return Matrix.from_dense(present.astype(np.float64), 0)


def cliques(count: int, size: int, seed: int, hub: int | None = None) -> Matrix:
    """Cliques of one size, one edge from each to the next, numbered at random; the hub has an edge to every vertex."""
    n = count * size
    blocks = np.kron(np.eye(count, dtype=bool), np.ones((size, size), dtype=bool))
    at = np.arange(count - 1) * size
    blocks[at, at + size] = blocks[at + size, at] = True
    mixed = np.random.default_rng(seed).permutation(n)
    present = blocks[np.ix_(mixed, mixed)]
    if hub is not None:
        present[hub] = present[:, hub] = True
    return Matrix.from_dense(present, False)


def bandwidth(A: Matrix) -> int:
    rows, columns, _ = (part.get() if A.device == "cuda" else part for part in A.to_coo())
    return int(np.abs(rows.astype(np.int64) - columns).max(initial=0))


def gap_bits(A: Matrix) -> float:
    """The mean number of bits of a gap between columns of a row."""
    rows, columns, _ = (part.get() if A.device == "cuda" else part for part in A.to_coo())
    gaps = np.diff(columns.astype(np.int64))[np.diff(rows) == 0]
    return float(np.log2(gaps).mean())


@pytest.mark.costly
@by_name
@given(A=graphs())
@settings(max_examples=12)
def test_is_a_permutation_of_the_same_matrix(name: str, A: Matrix) -> None:
    p = ORDERS[name](A)
    found = p.to_numpy()
    assert p.dtype == np.int32
    assert p.device == A.device
    assert np.array_equal(np.sort(found), np.arange(A.nrows))
    before, after = A.to_numpy(0.0), A.permute(p).to_numpy(0.0)
    assert np.array_equal(after, before[np.ix_(found, found)])


@pytest.mark.costly
@by_name
@given(A=graphs(), data=st.data())
@settings(max_examples=8)
def test_results_find_back(name: str, A: Matrix, data: st.DataObject) -> None:
    p = ORDERS[name](A)
    B, q = A.permute(p), ordering.inverse(p)
    source = data.draw(st.integers(0, A.nrows - 1), label="source")
    start = int(q[source].get())
    levels = bfs_levels(A, source)
    assert ordering.restore(bfs_levels(B, start), p).isequal(levels)
    parents = ordering.restore(bfs_parents(B, start), p, vertices=True)
    indptr, indices, _ = A.to_csr()
    depth = levels.to_dense(verify.UNREACHED)
    verify.bfs_parents(indptr, indices, source, parents.to_dense(verify.UNREACHED), depth)
    labels = ordering.restore(connected_components(B), p, vertices=True).to_numpy()
    expected = connected_components(A).to_numpy()
    assert np.array_equal(expected[labels], expected), "a label is a vertex of its component"
    assert np.unique(labels).size == np.unique(expected).size


@pytest.mark.parametrize("descending", [True, False])
def test_degrees_are_sorted(descending: bool) -> None:
    A = sr.random.kronecker(8, 4, seed=3)
    p = ordering.degree_order(A, descending).to_numpy()
    degree = np.bincount(A.to("cpu").to_coo()[0], minlength=A.nrows)
    key = -degree if descending else degree
    assert np.array_equal(p, np.argsort(key, kind="stable"))


def test_search_order_is_by_component_and_level() -> None:
    """Two paths and two vertices alone; the second path is longer, and the order starts at the given vertex."""
    edges = [(0, 5), (5, 2), (1, 6), (6, 3), (3, 7), (6, 4)]
    A = Matrix.from_edgelist(edges, nrows=10, ncols=10)
    assert ordering.bfs_order(A).to_numpy().tolist() == [6, 1, 3, 4, 7, 5, 0, 2, 8, 9]
    assert ordering.bfs_order(A, 2).to_numpy().tolist() == [2, 5, 0, 6, 1, 3, 4, 7, 8, 9]
    assert ordering.bfs_order(A, 9).to_numpy().tolist() == [9, 5, 0, 2, 6, 1, 3, 4, 7, 8]


def test_a_mixed_path_has_bandwidth_one_again() -> None:
    mixed = np.random.default_rng(2).permutation(60)
    A = Matrix.from_coo(mixed[:-1], mixed[1:], True, shape=(60, 60))
    assert bandwidth(A.permute(ordering.reverse_cuthill_mckee(A))) == 1


def test_bandwidth_of_a_mixed_grid_falls() -> None:
    grid = sr.random.grid2d(12, 30)
    A = grid.permute(np.random.default_rng(1).permutation(grid.nrows))
    assert bandwidth(A.permute(ordering.reverse_cuthill_mckee(A))) <= 2 * bandwidth(grid.permute(range(360)))
    assert bandwidth(A.permute(ordering.reverse_cuthill_mckee(A))) <= 24 < bandwidth(A)


def test_locality_brings_cliques_together() -> None:
    A = cliques(50, 12, 4)
    B = A.permute(ordering.locality_order(A))
    assert gap_bits(B) < 0.5 < 3 < gap_bits(A)


@pytest.mark.parametrize("hub", [0, 300])
def test_a_common_neighbor_does_not_hide_the_cliques(hub: int) -> None:
    """The order depends on random numbers of the vertices, not on the numbers that they have."""
    A = cliques(50, 12, 4, hub)
    B = A.permute(ordering.locality_order(A))
    assert gap_bits(B) < 1 < 3 < gap_bits(A)


def test_locality_of_a_web_graph(shared_data: Any) -> None:
    """A crawl with randomized numbers becomes nearly as small as under its best published order."""
    crawl = sr.io.read(shared_data / "law" / "cnr-2000-llp.graph-txt.gz")
    mixed = crawl.permute(np.random.default_rng(1).permutation(crawl.nrows))
    found = gap_bits(mixed.permute(ordering.locality_order(mixed)))
    assert found < gap_bits(crawl) + 1.0
    assert found < 0.5 * gap_bits(mixed)


@by_name
def test_everything_is_made_where_the_matrix_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not on the default device, which may be another."""
    A = sr.random.kronecker(6, 4, seed=1)

    def asked(*arrays: Any, device: str | None = None) -> str:
        assert device == A.device
        return device_for(*arrays, device=device)

    for module in (vector_arrays, matrix_arrays):
        monkeypatch.setattr(module, "device_for", asked)
    assert ORDERS[name](A).device == A.device


@pytest.mark.gpu
@by_name
def test_the_default_device_is_another(name: str) -> None:
    with sr.use("cpu"):
        A = sr.random.kronecker(8, 4, seed=1)
        expected = ORDERS[name](A)
    with sr.use("cuda"):
        assert ORDERS[name](A).isequal(expected)


@by_name
@pytest.mark.parametrize(("codec", "placement"), [("varint", "device"), ("packed", "pinned"), (None, "host")])
def test_orders_of_every_storage_kind(name: str, codec: str | None, placement: str) -> None:
    A = cliques(12, 6, 1)
    p = ORDERS[name](A)
    B = A.to(placement=placement) if codec is None else A.compress(codec).to(placement=placement)
    assert (B.codec, B.placement) == (codec, placement)
    assert ORDERS[name](B).isequal(p)
    made = B.permute(p)
    assert (made.codec, made.placement) == (codec, "device")
    assert made.isequal(A.permute(p))


@by_name
def test_nothing_to_order(name: str) -> None:
    assert ORDERS[name](Matrix(bool, 0, 0)).size == 0
    assert ORDERS[name](Matrix(bool, 1, 1)).to_numpy().tolist() == [0]
    with pytest.raises(DimensionMismatch, match=name):
        ORDERS[name](Matrix(bool, 2, 3))
    with pytest.raises(InvalidValue, match=name):
        ORDERS[name](np.eye(3))  # type: ignore[arg-type]


def test_symmetry_is_carried() -> None:
    A = sr.random.grid2d(5, 6)
    assert A.is_symmetric_structure
    p = ordering.degree_order(A)
    assert A.permute(p).store.pattern.facts["symmetric"] is True
    assert "symmetric" not in A.permute(p, ordering.inverse(p)).store.pattern.facts


def test_two_orders_at_once() -> None:
    A = Matrix.from_dense(np.arange(12.0).reshape(3, 4))
    B = A.permute([2, 0, 1], Vector.from_dense([3, 1, 0, 2]))
    assert np.array_equal(B.to_numpy(), np.arange(12.0).reshape(3, 4)[np.ix_([2, 0, 1], [3, 1, 0, 2])])
    with pytest.raises(DimensionMismatch, match="needs q"):
        A.permute([2, 0, 1])
    with pytest.raises(InvalidValue, match=r"q\[1\] and q\[2\] are both 0, and 1 is missing"):
        A.permute([2, 0, 1], [3, 0, 0, 2])


def test_the_caller_may_write_to_his_order() -> None:
    A = Matrix.from_dense(np.eye(3), 0)
    p = np.array([2, 0, 1])
    B = A.permute(p, [0, 1, 2])
    p[:] = 0
    assert B.to_coo()[1].tolist() == [2, 0, 1]


def test_wrong_orders_and_results() -> None:
    p = Vector.from_dense([1, 0, 2])
    with pytest.raises(InvalidValue, match="Vector"):
        ordering.inverse([1, 0, 2])  # type: ignore[arg-type]
    with pytest.raises(DomainMismatch, match="integers"):
        ordering.inverse(Vector.from_dense([1.0, 0.0]))
    with pytest.raises(InvalidValue, match="full"):
        ordering.inverse(Vector.from_coo([0], [0], size=2))
    with pytest.raises(DuplicateIndex):
        ordering.inverse(Vector.from_dense([1, 1]))
    with pytest.raises(IndexOutOfBound):
        ordering.inverse(Vector.from_dense([0, 2]))
    with pytest.raises(InvalidValue, match="p must be full; 1 of 2"):
        Matrix.from_edgelist([(0, 1)], nrows=2, ncols=2).permute(Vector.from_coo([0], [0], size=2))
    with pytest.raises(InvalidValue, match="size 3"):
        ordering.restore(Vector.from_dense([1, 1]), p)
    with pytest.raises(InvalidValue, match="size 3"):
        ordering.restore([1, 2, 3], p)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="vertices are integers"):
        ordering.restore(Vector.from_dense([1.0, 2.0, 3.0]), p, vertices=True)
    with pytest.raises(IndexOutOfBound, match="bfs_order"):
        ordering.bfs_order(sr.random.grid2d(2, 2), 4)
