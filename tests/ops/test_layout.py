"""Matrices and vectors side by side, in parts, shifted and reshaped: the specification and NumPy agree."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines.requests.operations import Concat, Reshape
from semiring.exceptions import DeviceMismatch, DimensionMismatch, InvalidValue
from tests import poison
from tests.compare import check
from tests.draw import dtypes, matrices

few = st.sampled_from((0, 1, 2, 5, 9))


@pytest.mark.costly
@given(data=st.data())
def test_concat_is_as_the_specification(engine: str, data: st.DataObject) -> None:
    """Grids of tiles of all types, some of them missing, with and without entries."""
    heights = data.draw(st.lists(few, min_size=1, max_size=3))
    widths = data.draw(st.lists(few, min_size=1, max_size=3))
    rows, cols = list(accumulate(heights, initial=0)), list(accumulate(widths, initial=0))
    tiles = [
        (rows[k], cols[l], data.draw(matrices(height, width, data.draw(dtypes))))
        for k, height in enumerate(heights)
        for l, width in enumerate(widths)
        if data.draw(st.integers(0, 3))
    ]
    if tiles:
        check(Concat(rows[-1], cols[-1], data.draw(dtypes), *zip(*tiles, strict=True)), engine)


@pytest.mark.parametrize("value", [0, 0x7F, 0xFF])
def test_bands_of_long_rows_do_not_read_new_memory(value: int, engine: str) -> None:
    """The last row of a band was wrong where the memory of the offsets did not happen to hold right ones."""
    A = sr.random.rmat(9, 40, seed=1, weights="uniform")[:300, :300].new()
    expected = A.to("cpu").to_dense(0)
    tiles = [[A[i : i + 100, j : j + 150].new() for j in (0, 150)] for i in (0, 100, 200)]
    if engine == "cuda":
        import cupy

        with cupy.cuda.using_allocator(poison.allocator(value)):
            found = sr.block(tiles)
    else:
        found = sr.block(tiles)
    assert found.nvals == A.nvals
    np.testing.assert_array_equal(found.to("cpu").to_dense(0), expected)


@given(data=st.data())
def test_reshape_is_as_the_specification(engine: str, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(((12, 10), (1, 120), (120, 1), (7, 0), (0, 0), (5, 24))))
    others = {0: [(0, 5), (3, 0), (0, 0)], 120: [(1, 120), (8, 15), (120, 1), (40, 3)]}
    a = data.draw(matrices(*shape, data.draw(dtypes)))
    check(Reshape(a, *data.draw(st.sampled_from(others[shape[0] * shape[1]]))), engine)


@pytest.fixture
def A() -> Matrix:
    return Matrix.from_coo([0, 0, 2, 3], [1, 3, 0, 4], [2, 3, 5, 7], shape=(4, 5))


def dense(a: Any) -> Any:
    return a.to_numpy(0)


def test_a_grid_of_tiles(A: Matrix) -> None:
    B = Matrix.from_coo([0, 1], [1, 0], [1.5, 2.5], shape=(2, 2))
    C = sr.concat([[A, None], [None, B]], name="C")
    assert (C.shape, C.dtype, C.nvals, C.name) == ((6, 7), np.float64, 6, "C")
    assert (dense(C)[:4, :5] == dense(A)).all()
    assert (dense(C)[4:, 5:] == dense(B)).all()
    assert (dense(sr.hstack([A, A.T[:4, :3], A])) == np.hstack([dense(A), dense(A).T[:4, :3], dense(A)])).all()
    assert (dense(sr.vstack([A.T, A.T, A.T])) == np.vstack([dense(A).T] * 3)).all()
    assert sr.concat([[A]], dtype="float32").dtype == np.float32
    assert sr.vstack([A.compress("varint"), A.to(placement="host")]).isequal(sr.vstack([A, A]))


def test_equal_values_are_stored_once(A: Matrix, engine: str) -> None:
    if engine == "reference":
        pytest.skip("the specification stores every value")
    ones = A.apply("one")
    assert sr.hstack([ones, ones.dup("int8")]).iso_value == 1
    assert not sr.hstack([ones, A]).is_iso


def test_vectors_one_after_the_other() -> None:
    u, v = Vector.from_coo([1], [5], size=3), Vector.from_coo([0, 1], [0.5, 7], size=2)
    w = sr.hstack([u, v, u])
    assert (w.size, w.to_dict()) == (8, {1: 5.0, 3: 0.5, 4: 7.0, 6: 5.0})
    assert sr.concat([u, v]).isequal(w[:5])
    assert sr.vstack([u, u]).to_dicts() == {0: {1: 5}, 1: {1: 5}}


def test_refused_grids(A: Matrix) -> None:
    for tiles in ([], [[]], [[None]], [[A, None], [A, None]], [A], [[A], [3]], A):
        with pytest.raises(InvalidValue, match=r"concat: |expected"):
            sr.concat(tiles)
    for grid in ([[A, A.T]], [[A], [A.T]], [[A, A], [A]]):
        with pytest.raises(DimensionMismatch, match="concat"):
            sr.concat(grid)


@pytest.mark.gpu
def test_tiles_on_one_device(A: Matrix) -> None:
    with pytest.raises(DeviceMismatch):
        sr.hstack([A.to("cpu"), A.to("cuda")])


def test_split_is_the_inverse_of_concat(A: Matrix) -> None:
    for rows, cols in ((3, [1, 0, 4]), (None, 2), ([2, 2], None), (1, 1), (9, 9)):
        tiles = A.split(rows, cols)
        assert sr.concat(tiles).isequal(A)
    assert [[tile.shape for tile in row] for row in A.split(3, [1, 4])] == [[(3, 1), (3, 4)], [(1, 1), (1, 4)]]
    for sizes in (0, -1, 1.5, [2, -2, 4]):
        with pytest.raises((InvalidValue, TypeError)):
            A.split(sizes)
    with pytest.raises(DimensionMismatch):
        A.split([1, 2])


@pytest.mark.parametrize("offsets", [(0, 0), (1, 0), (-1, 2), (2, -3), (-4, 0), (0, 9), (-9, -9), (3, 4)])
@pytest.mark.parametrize("shape", [(None, None), (7, 2), (1, 9), (0, 3)])
def test_reposition(A: Matrix, offsets: tuple[int, int], shape: Any) -> None:
    C = A.reposition(*offsets, nrows=shape[0], ncols=shape[1])
    expected = {(i + offsets[0], j + offsets[1]): x for i, row in A.to_dicts().items() for j, x in row.items()}
    nrows, ncols = (4 if shape[0] is None else shape[0]), (5 if shape[1] is None else shape[1])
    assert C.shape == (nrows, ncols)
    kept = {(i, j): x for (i, j), x in expected.items() if 0 <= i < nrows and 0 <= j < ncols}
    assert {(i, j): x for i, row in C.to_dicts().items() for j, x in row.items()} == kept


@pytest.mark.parametrize("offset", [0, 2, -2, 9, -9])
@pytest.mark.parametrize("size", [None, 3, 0, 9])
def test_reposition_a_vector(offset: int, size: int | None) -> None:
    u = Vector.from_coo([0, 3, 4], [5, 6, 7], size=5)
    w = u.reposition(offset, size=size)
    assert w.size == (5 if size is None else size)
    assert w.to_dict() == {i + offset: x for i, x in u.to_dict().items() if 0 <= i + offset < w.size}


@pytest.mark.parametrize("order", ["rowwise", "columnwise"])
def test_reshape_as_numpy(A: Matrix, order: str) -> None:
    numpy_order: Any = "C" if order == "rowwise" else "F"
    for shape in ((2, 10), (20, 1), (1, 20), (5, 4)):
        expected = dense(A).reshape(shape, order=numpy_order)
        assert (dense(A.reshape(*shape, order=order)) == expected).all()
        flat = A.flatten(order=order)
        assert (dense(flat) == dense(A).flatten(order=numpy_order)).all()
        assert (dense(flat.reshape(shape, order=order)) == expected).all()
    assert A.reshape(-1, 2).shape == A.reshape((10, -1)).shape == (10, 2)
    assert (dense(A.T.reshape(4, 5)) == dense(A).T.reshape(4, 5)).all()


def test_refused_shapes(A: Matrix) -> None:
    for shape in ((3, 3), (-1, 3), (0, 0)):
        with pytest.raises(DimensionMismatch):
            A.reshape(shape)
    for sizes in ((-1, -1), 20, (2.5, 8), (2, 5, 2)):
        with pytest.raises(InvalidValue):
            A.reshape(sizes)
    with pytest.raises(InvalidValue, match="order"):
        A.reshape(2, 10, order="C")
    with pytest.raises(InvalidValue, match="2\\*\\*60"):
        Matrix(int, 2, 1 << 60).flatten()


def test_a_mask_and_an_output(A: Matrix) -> None:
    C = A.dup()
    C(A.S) << A.reposition(0, 1)
    assert C.to_dicts() == {}
    assert A.reposition(1, 0, mask=A.S, out=A.dup(), accum="plus").isequal(A)


def test_blocks_in_nested_lists() -> None:
    """As NumPy's, with zeros for None."""
    rng = np.random.default_rng(5)

    def made(nrows: int, ncols: int) -> Any:
        return rng.integers(0, 3, (nrows, ncols))

    a, b, c, d, e = made(2, 3), made(2, 2), made(4, 1), made(4, 4), made(1, 5)
    zeros = np.zeros((2, 2), int)
    A, B, C, D, E = (Matrix.from_dense(x, missing_value=0) for x in (a, b, c, d, e))
    cases = [
        ([[A, B], [C, D], [E]], [[a, b], [c, d], [e]]),
        ([[A, None], [E], [None, B[:, [1]]]], [[a, zeros], [e], [np.zeros((2, 4), int), b[:, [1]]]]),
        ([[A, None], [None, B]], [[a, zeros], [np.zeros((2, 3), int), b]]),
        ([[[[A], [A]], D]], [[np.block([[a], [a]]), d]]),
        ([A, B], [a, b]),
        ([(A,), (A,)], [[a], [a]]),
    ]
    for blocks, expected in cases:
        assert (sr.block(blocks).to_numpy(0) == np.block(expected)).all()
    assert sr.block([[A, B], [E]], "float32", name="F").dtype == np.float32
    assert sr.block([[A, B.dup(float)], [E]]).dtype == np.float64
    for blocks in ([], [[]], A, [[A], None], [[A, 3]], [[A, None], [None, None, B]], [[None, None, A], [E]]):
        with pytest.raises(InvalidValue, match="block"):
            sr.block(blocks)
    for blocks in ([[A, B], [D]], [[A, C]]):
        with pytest.raises(DimensionMismatch):
            sr.block(blocks)
