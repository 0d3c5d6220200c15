"""Products with full rows on the GPU: each agrees with the product of the same matrices as uncompressed rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

cupy = pytest.importorskip("cupy")

import semiring as sr  # noqa: E402
from semiring import Matrix, Vector  # noqa: E402
from semiring.engines import recording  # noqa: E402
from semiring.engines.cuda import tuning  # noqa: E402
from semiring.memory.arrays import Transfers, to_host  # noqa: E402

from ..pool import udf  # noqa: E402

pytestmark = pytest.mark.gpu

INNER = 3 * tuning.FULL_SEGMENT + 5
ROWS = 45
# Semirings, and the types of the sparse and of the full matrix.
RINGS: dict[str, tuple[Any, type, type]] = {
    "plus_times float32": ("plus_times", np.float32, np.float32),
    "plus_times float64": ("plus_times", np.float64, np.float64),
    "plus_times mixed": ("plus_times", np.int8, np.float32),
    "min_plus int32": ("min_plus", np.int32, np.int32),
    "max_first int8": ("max_first", np.int8, np.int8),
    "plus_second int8": ("plus_second", np.int8, np.int8),
    "lor_land bool": ("lor_land", np.bool_, np.bool_),
    "plus_pair": ("plus_pair", np.int16, np.float64),
    "any_firsti": ("any_firsti", np.float32, np.float32),
    "any_secondj": ("any_secondj", np.float32, np.float32),
    "min_firstj": ("min_firstj", np.float32, np.float32),
    "plus_secondi": ("plus_secondi", np.float32, np.float32),
    "user-defined": (udf, np.int64, np.int64),
}
WIDTHS = (1, 3, 33, 64, 100)
CASES = [(ring, WIDTHS[(number + more) % len(WIDTHS)]) for number, ring in enumerate(RINGS) for more in (0, 2)]
CASES += [("plus_times float32", width) for width in (2, 8, 16, 128, 256, 600)]
KINDS = ("every", "some", "iso", "no rows")


def values(rng: np.random.Generator, count: int, dtype: type) -> Any:
    """Small integers, so that sums of floats are exact."""
    return rng.integers(0, 2, count).astype(bool) if dtype is np.bool_ else rng.integers(-2, 3, count).astype(dtype)


def sparse(dtype: type, shape: tuple[int, int] = (ROWS, INNER), seed: int = 1) -> Matrix:
    """Short rows, empty rows, rows of one segment, and two rows that are longer."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, min(40, shape[1]), shape[0])
    lengths[:8:3] = 0
    if shape[1] == INNER:
        lengths[[10, 20, 30, 40]] = INNER, tuning.FULL_SEGMENT, tuning.FULL_SEGMENT + 1, INNER - 7
    columns = [np.sort(rng.choice(shape[1], length, replace=False)) for length in lengths]
    rows = np.repeat(np.arange(shape[0]), lengths)
    return Matrix.from_coo(rows, np.concatenate(columns), values(rng, rows.size, dtype), shape=shape)


def full(kind: str, dtype: type, shape: tuple[int, int], seed: int = 2) -> Matrix:
    rng = np.random.default_rng(seed)
    if kind == "iso":
        return Matrix.from_scalar(dtype(1), *shape)
    if kind == "every":
        return Matrix.from_dense(values(rng, shape[0] * shape[1], dtype).reshape(shape))
    wanted = np.flatnonzero(rng.random(shape[0]) < (0.4 if kind == "some" else 0))
    rows, columns = np.repeat(wanted, shape[1]), np.tile(np.arange(shape[1]), wanted.size)
    return Matrix.from_coo(rows, columns, values(rng, rows.size, dtype), shape=shape).convert("full")


def assert_same(made: Any, expected: Any) -> Matrix:
    c = made.new()
    assert c.isequal(expected.new(), check_dtype=True)
    return c


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("ring", "width"), CASES)
def test_sparse_times_full(ring: str, width: int, kind: str) -> None:
    semiring, x, y = RINGS[ring]
    a, b = sparse(x), full(kind, y, (INNER, width))
    assert (a.format, b.format) == ("csr", "full")
    for _ in range(2):  # the second call reads what the first one cached
        c = assert_same(a.mxm(b, semiring), a.mxm(b.decompress(), semiring))
        assert c.format == "full"
    if kind != "some":
        assert_same(a.mxm(b.T.new().T, semiring), a.mxm(b.decompress(), semiring))
    mask = sparse(np.float32, (ROWS, width), 5)
    for m in (mask.S, mask.V, ~mask.S):
        assert_same(a.mxm(b, semiring, mask=m), a.mxm(b.decompress(), semiring, mask=m))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("ring", "width"), CASES)
def test_sparse_times_full_under_a_sparse_mask(ring: str, width: int, kind: str) -> None:
    """Few entries in a row are computed alone, and many with their row; the mask lists long rows and empty ones."""
    semiring, x, y = RINGS[ring]
    a, b, rng = sparse(x), full(kind, y, (INNER, width)), np.random.default_rng(5)
    few = rng.integers(0, width, ROWS)
    many = np.flatnonzero(rng.random(width) < 0.6)
    rows = np.concatenate([np.arange(0, ROWS, 2), np.repeat([4, 8], many.size)])
    columns = np.concatenate([few[::2], many, many])
    mask = Matrix.from_coo(rows, columns, rng.integers(0, 2, rows.size), shape=(ROWS, width), dup_op="max")
    plain = b.decompress()
    for m in (mask.S, mask.V):
        with recording.listen() as calls:
            c = assert_same(a.mxm(b, semiring, mask=m), a.mxm(plain, semiring, mask=m))
        if semiring not in ("any_pair", "plus_pair"):
            assert kind == "iso" or "mxm_sparse_full_mask" in str(calls)
        out = c.dup()
        out(m, accum="max") << a.mxm(b, semiring)
        other = c.dup()
        other(m, accum="max") << a.mxm(plain, semiring)
        assert out.isequal(other)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("ring", "width"), CASES)
def test_full_times_full_under_a_mask(ring: str, width: int, kind: str) -> None:
    semiring, x, y = RINGS[ring]
    mask = sparse(np.float32)
    a, t = full(kind, x, (ROWS, width), 3), full("some" if kind == "every" else "every", y, (INNER, width), 4)
    for one, other in ((a, t), (full("every", x, (ROWS, width)), full("every", y, (INNER, width)))):
        for m in (mask.S, mask.V):
            c = one.mxm(other.T, semiring, mask=m)
            assert_same(c, one.decompress().mxm(other.decompress().T, semiring, mask=m))
    made = full("every", x, (ROWS, width)).mxm(full("every", y, (INNER, width)).T, semiring, mask=mask.S).new()
    assert made.store.pattern is mask.store.pattern


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("ring", "width"), CASES[::2])
def test_full_times_sparse(ring: str, width: int, kind: str) -> None:
    semiring, x, y = RINGS[ring]
    a = full(kind, x, (width, ROWS), 3)
    for b in (sparse(y), sparse(y, (INNER, ROWS)).T.new(), full("every", y, (ROWS, 30)).decompress()):
        c = assert_same(a.mxm(b, semiring), a.decompress().mxm(b, semiring))
        if b.nvals == b.nrows * b.ncols and kind == "every":
            assert c.format == "full"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("ring", "width"), CASES)
def test_full_times_full(ring: str, width: int, kind: str) -> None:
    semiring, x, y = RINGS[ring]
    a, every = full(kind, x, (70, width), 3), full("every", x, (70, width), 3)
    mask = sparse(np.float32, (70, 66))
    for one, b in ((a, full("every", y, (width, 66), 4)), (every, full(kind, y, (width, 66), 4))):
        expected = one.decompress().mxm(b.decompress(), semiring)
        assert_same(one.mxm(b, semiring), expected)
        assert_same(one.mxm(b.T.new().T, semiring), expected)
        assert_same(one.mxm(b, semiring, mask=~mask.S), one.decompress().mxm(b.decompress(), semiring, mask=~mask.S))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("ring", "width"), CASES[::2])
def test_products_with_vectors(ring: str, width: int, kind: str) -> None:
    semiring, x, y = RINGS[ring]
    a, rng = full(kind, x, (70, width)), np.random.default_rng(4)
    u, v = Vector.from_dense(values(rng, width, y)), Vector.from_dense(values(rng, 70, y))
    mask = Vector.from_coo([1, 5, 69], True, size=70)
    plain = a.decompress()
    for one, other in (
        (a.mxv(u, semiring), plain.mxv(u, semiring)),
        (a.mxv(u, semiring, mask=~mask.S), plain.mxv(u, semiring, mask=~mask.S)),
        (a.T.mxv(v, semiring), plain.T.mxv(v, semiring)),
        (v.vxm(a, semiring), v.vxm(plain, semiring)),
        (u.vxm(a.T, semiring), u.vxm(plain.T, semiring)),
    ):
        assert one.new().isequal(other.new(), check_dtype=True)


@pytest.mark.parametrize("dtype", [np.bool_, np.int16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 70), (33, 64), (100, 31), (0, 3)])
def test_transposes(shape: tuple[int, int], dtype: type) -> None:
    x = values(np.random.default_rng(1), shape[0] * shape[1], dtype).reshape(shape)
    a = Matrix.from_dense(x)
    np.testing.assert_array_equal(to_host(a.T.new().to_dense(0)), x.T)


def test_large_products_agree_with_vectors() -> None:
    """(A B) 1 = A (B 1), of a graph with rows of very different lengths, and A' B under it."""
    g = sr.random.kronecker(14, seed=1)
    rng = np.random.default_rng(1)
    x = rng.integers(-4, 5, (g.ncols, 64)).astype(np.float32)
    b, ones = Matrix.from_dense(x), sr.Vector.full(np.float32(1), 64)
    c = g.mxm(b).new()
    assert c.mxv(ones).isequal(g.mxv(b.mxv(ones)))
    assert g.mxm(c).mxv(ones).isequal(g.mxv(c.mxv(ones)))
    d = b.mxm(b.T, mask=g.S).new()
    rows, columns, found = (to_host(part) for part in d.to_coo())
    some = rng.integers(0, rows.size, 1000)
    np.testing.assert_array_equal(found[some], (x[rows[some]] * x[columns[some]]).sum(axis=1))


def test_a_repeated_product_reads_nothing_back() -> None:
    a, b = sparse(np.float32), full("every", np.float32, (INNER, 64))
    a.mxm(b).new()
    before = Transfers.copies
    a.mxm(b).new()
    assert Transfers.copies == before


def test_shared_arrays_need_no_alignment() -> None:
    a, mask, x = sparse(np.float32), sparse(np.float32, (INNER, INNER)), cupy.arange(INNER * 64 + 1) % 7
    for start in (0, 1):
        values = x.astype(np.float32)[start : start + INNER * 64].reshape(INNER, 64)
        b = Matrix.from_dense(values, copy=False)
        rows = b.decompress()
        assert_same(a.mxm(b), a.mxm(rows))
        assert_same(b.mxm(b.T, mask=mask.S), rows.mxm(rows.T, mask=mask.S))


def test_products_use_these_kernels() -> None:
    a, b, mask = sparse(np.float32), full("every", np.float32, (INNER, 64), 2), sparse(np.float32)
    left = full("every", np.float32, (ROWS, 64), 3)
    for name, product in {
        "mxm_sparse_full": lambda: a.mxm(b),
        "mxm_full_mask": lambda: left.mxm(b.T, mask=mask.S),
        "mxm_full_sparse": lambda: b.T.new().mxm(mask.T.new()),
        "mxm_full_full": lambda: left.mxm(b.T),
    }.items():
        with recording.listen() as calls:
            product().new()
        assert name in str(calls)
