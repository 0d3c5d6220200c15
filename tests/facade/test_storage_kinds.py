"""Algorithms and operations on compressed, pinned and streamed matrices equal those on uncompressed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algorithms import bfs_levels, bfs_parents, connected_components, pagerank, sssp
from semiring.engines.rows import slices
from semiring.engines.sliced import entrywise
from semiring.exceptions import DimensionMismatch, OutOfMemory
from tests.storage_kinds import KINDS, in_kind, small_slices

N = 100
IDS = [f"{codec or 'plain'}-{placement}" for codec, placement in KINDS]


@pytest.fixture(params=KINDS, ids=IDS)
def formed(request: pytest.FixtureRequest, engine: str) -> Iterator[Callable[[sr.Matrix], sr.Matrix]]:
    """Convert a matrix to a storage kind, while slices are small."""
    codec, placement = request.param

    def form(a: sr.Matrix) -> sr.Matrix:
        return a.with_store(in_kind(a.store, codec, placement, engine))

    with small_slices(200):
        yield form


def graph(*, symmetric: bool, seed: int = 3) -> sr.Matrix:
    """Sparse enough to have several levels and components; whole weights from 1 to 9."""
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, N, (2, 2 * N))
    if symmetric:
        rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    weights = (rows + cols) % 9 + 1
    return sr.Matrix.from_coo(rows, cols, weights, "int64", nrows=N, ncols=N, dup_op="min")


def test_one_order_for_rows_and_columns_keeps_symmetry() -> None:
    A, p = graph(symmetric=True), np.roll(np.arange(N), 7)
    assert A.is_symmetric_structure
    for B in (A.permute(p), A.permute(p, p)):
        assert B.store.pattern.facts.get("symmetric") is True
    assert "symmetric" not in A.permute(p, p[::-1]).store.pattern.facts
    assert A.permute(p).isequal(A.permute(p, p))


@pytest.mark.one_process("kernels and plans are of parts")
def test_operators_of_positions_do_not_move_the_structure(formed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the values of each slice are kept."""
    kept: list[Any] = []
    joined = entrywise.values_together
    monkeypatch.setattr(entrywise, "values_together", lambda parts, *rest: kept.extend(parts) or joined(parts, *rest))
    plain = graph(symmetric=False)
    other = formed(plain)
    for name in ("rowindex", "colindex"):
        made = other.apply(name)
        assert made.isequal(plain.apply(name))
        assert made.format == other.format
    assert kept or (other.format, other.placement) in (("csr", "device"), ("csr", "pinned"))
    assert not any(hasattr(part, "pattern") for part in kept)


def test_a_matrix_without_entries(formed: Any) -> None:
    empty = formed(sr.Matrix(bool, 50, 50))
    assert bfs_levels(empty, 7).to_dense(-1).tolist() == [0 if v == 7 else -1 for v in range(50)]
    assert connected_components(empty).to_dense().tolist() == list(range(50))
    assert (empty.nvals, empty.T.nvals, empty.mxm(empty, "plus_pair").nvals) == (0, 0, 0)


@pytest.mark.costly
@pytest.mark.parametrize("symmetric", [False, True])
def test_algorithms(formed: Any, symmetric: bool) -> None:
    plain = graph(symmetric=symmetric)
    other = formed(plain)
    levels = bfs_levels(plain, 0)
    assert bfs_levels(other, 0).isequal(levels)
    assert bfs_levels(other, [0, 5]).isequal(bfs_levels(plain, [0, 5]))
    parents = bfs_parents(other, 0)
    assert parents.nvals == levels.nvals
    children = {v: p for v, p in zip(*(part.tolist() for part in parents.to("cpu").to_coo()), strict=True) if v != 0}
    for v, p in children.items():
        assert levels.get(p) == levels.get(v) - 1
        assert (p, v) in plain
    for method in ("afforest", "fastsv"):
        assert connected_components(other, method=method).isequal(connected_components(plain, method=method))
    assert pagerank(other).isclose(pagerank(plain))
    assert sssp(other, 0).isequal(sssp(plain, 0))
    assert other.is_symmetric_structure is symmetric


OPERATIONS: dict[str, Callable[[sr.Matrix, sr.Matrix, sr.Vector], Any]] = {
    "mxv": lambda a, b, u: a.mxv(u, "plus_times"),
    "mxv_transposed": lambda a, b, u: a.T.mxv(u, "min_plus"),
    "vxm": lambda a, b, u: u.vxm(a, "plus_firsti"),
    "mxm": lambda a, b, u: a.mxm(b, "plus_times"),
    "mxm_transposed": lambda a, b, u: a.mxm(b.T, "plus_pair"),
    "ewise_add": lambda a, b, u: a.ewise_add(b, "plus"),
    "ewise_mult": lambda a, b, u: a.ewise_mult(b, "minus"),
    "ewise_union": lambda a, b, u: a.ewise_union(b, "minus", 2, 3),
    "apply": lambda a, b, u: a.apply("ainv"),
    "apply_positions": lambda a, b, u: a.apply("rowindex"),
    "permute": lambda a, b, u: a.permute(np.roll(np.arange(N), 7), np.arange(N)[::-1]),
    "kronecker": lambda a, b, u: a.kronecker(b[:5, :7], "minus"),
    "concat": lambda a, b, u: sr.concat([[a, None], [b, a]]),
    "reshape": lambda a, b, u: a.reshape(N // 2, 2 * N),
    "reposition": lambda a, b, u: a.reposition(-3, 2),
    "scale": lambda a, b, u: a * sr.Vector.from_dense(np.arange(N)),
    "scan": lambda a, b, u: a.scan("max"),
    "sort": lambda a, b, u: a.sort(">")[1],
    "selectk": lambda a, b, u: a.selectk("random", 3),
    "cast": lambda a, b, u: a.dup("float32"),
    "select": lambda a, b, u: a.select("tril", -3),
    "extract": lambda a, b, u: a[[70, 3, 3, 99, 0], ::-2],
    "extract_row": lambda a, b, u: a[41, :],
    "extract_column": lambda a, b, u: a[:, 41],
    "reduce_rowwise": lambda a, b, u: a.reduce_rowwise("max"),
    "reduce_columnwise": lambda a, b, u: a.reduce_columnwise("plus"),
    "transpose": lambda a, b, u: a.T.dup(),
    "diag": lambda a, b, u: a.diag(2),
    "resize": lambda a, b, u: _resized(a),
    "masked_by_it": lambda a, b, u: b.dup(mask=~a.S),
}


def _resized(a: sr.Matrix) -> sr.Matrix:
    other = a.dup()
    other.resize(N + 5, N - 5)
    return other


@pytest.mark.costly
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(formed: Any, name: str) -> None:
    a, b = graph(symmetric=False), graph(symmetric=False, seed=4)
    u = sr.Vector.from_coo(range(0, N, 3), range(0, N, 3), "int64", size=N)
    operation = OPERATIONS[name]
    expected = operation(a, b, u).dup()
    for operands in ((formed(a), b), (a, formed(b)), (formed(a), formed(b))):
        got = operation(*operands, u).dup()
        assert got.dtype == expected.dtype
        assert got.isequal(expected)
        assert expected.isequal(got)


def test_scalars_elements_and_comparison(formed: Any) -> None:
    a = graph(symmetric=False)
    other = formed(a)
    assert other.reduce_scalar("plus").value == a.reduce_scalar("plus").value
    assert formed(a.apply("second", right=3)).reduce_scalar("plus").value == 3 * a.nvals
    assert other.isequal(a)
    assert not other.isequal(a.apply("plus", right=1))
    for i, j in ((0, 0), (17, 3), (int(a.to_coo()[0][5]), int(a.to_coo()[1][5]))):
        assert other.get(i, j) == a.get(i, j)


def test_writing_into_a_matrix(formed: Any) -> None:
    """Regions, masks and accumulators: the target is in another storage kind."""
    b = graph(symmetric=False, seed=4)
    for write in (
        lambda c: c.__setitem__((slice(0, 50), slice(0, 100)), b[50:, :]),
        lambda c: c(accum="plus") << b,
        lambda c: c(b.S) << b.apply("ainv"),
        lambda c: c(~b.S, replace=True) << 7,
        lambda c: c[10:60, 5:50](b[10:60, 5:50].V) << 3,
        lambda c: c(~b[:, 7].S, "plus", replace=True)[5:90:2, 3] << b[:43, 5],
        lambda c: c(b[7, :].S)[4, [9, 2, 50]] << [1, 2, 3],
    ):
        expected, got = graph(symmetric=False), formed(graph(symmetric=False))
        write(expected)
        write(got)
        assert got.isequal(expected)


@pytest.mark.one_process("formats, codecs and placements are of parts")
def test_operations_that_keep_the_structure_keep_the_storage_kind(formed: Any) -> None:
    a = formed(graph(symmetric=False))
    for kept in (a.apply("ainv"), a.dup("float32"), a.apply("second", right=1), a.apply("colindex")):
        assert kept.store.pattern is a.store.pattern
    other = a.select("tril").store
    assert (other.format, other.placement) == ("csr", "device")


@pytest.mark.one_process("memory is of one process")
def test_failures_leave_their_target(formed: Any, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    a, target = formed(graph(symmetric=False)), graph(symmetric=False, seed=4)
    before, entries = target.dup(), a.store
    with pytest.raises(DimensionMismatch):
        target(accum="plus") << a.mxm(sr.Matrix(int, N + 1, N), "plus_times")

    def nothing_fits(operation: str, device: str, count: int, *, hint: str = "") -> None:
        raise OutOfMemory(f"{operation}: {hint}")

    monkeypatch.setattr(slices, "require", nothing_fits)
    if not slices.is_uncompressed(a.store):
        with pytest.raises(OutOfMemory, match=r"transpose: .* uncompressed rows"):
            target(accum="plus") << a.T
    assert target.isequal(before)
    assert a.store is entries
