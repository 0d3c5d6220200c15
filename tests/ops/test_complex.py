"""Complex values: NumPy and SciPy agree on products, sums, functions and casts; operators that need an order refuse."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import semiring as sr
from semiring import Matrix, Vector, binary, monoid, unary
from semiring.config import config
from semiring.engines.shared.expression_numpy import cast, evaluate
from semiring.exceptions import DomainMismatch
from semiring.io import from_scipy_sparse, to_scipy_sparse
from tests import sampling
from tests.compare import TOLERANCE

COMPLEX = [pytest.param(np.complex64, marks=pytest.mark.wide), np.complex128]  # each compiles kernels of its own
Array = np.ndarray[Any, Any]


def numbers(count: int, dtype: Any, seed: int = 0) -> Array:
    """Multiples of a quarter with small parts, whose sums and products are exact in any order."""
    rng = np.random.default_rng(seed)
    parts = rng.integers(-6, 7, (2, count)) / 4
    return (parts[0] + 1j * parts[1] if np.dtype(dtype).kind == "c" else parts[0]).astype(dtype)


def random(nrows: int, ncols: int, density: float, dtype: Any, seed: int = 0) -> Any:
    """A SciPy matrix in CSR format, without stored zeros in its pattern's sense: explicit ones stay."""
    made = sparse.random(nrows, ncols, density, format="csr", random_state=seed)
    return sparse.csr_matrix((numbers(made.nnz, dtype, seed), made.indices, made.indptr), shape=made.shape)


def dense(x: Any) -> Array:
    return np.asarray(x.to_numpy(0))


def close(got: Any, expected: Any) -> bool:
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype
    bound = TOLERANCE.get(got.dtype, 0)
    return bool(np.allclose(got, expected, rtol=bound, atol=bound, equal_nan=True))


@pytest.mark.costly
@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("sizes", [(20, 15, 33, 0.3), (300, 200, 260, 0.05), (60, 3000, 9000, 0.02)], ids=str)
def test_products_are_scipys(sizes: tuple[int, int, int, float], dtype: Any, engine: str) -> None:
    """Small, hashed and wide products; with a mask, its complement, and an accumulator."""
    m, k, n, density = sizes
    if engine == "reference" and n > 1000:
        pytest.skip("the specification is dense")
    a, b = random(m, k, density, dtype, 1), random(k, n, density, dtype, 2)
    A, B = from_scipy_sparse(a), from_scipy_sparse(b)
    expected = (a @ b).toarray()
    assert close(dense(A @ B), expected)
    M = from_scipy_sparse(random(m, n, 0.1, np.float32, 3))
    admitted = dense(M.apply("one")) != 0
    assert close(dense(A.mxm(B).new(mask=M.S)), np.where(admitted, expected, 0).astype(dtype))
    C = from_scipy_sparse(random(m, n, 0.2, dtype, 4))
    before = dense(C)
    C(~M.S, "plus") << A.mxm(B)
    assert close(dense(C), before + np.where(admitted, 0, expected).astype(dtype))
    assert close(dense(B.T @ A.T), expected.T)
    if m < 200:
        # A sum has one term here: the product over times is that of the terms, in any order.
        D = A.mxm(B, "times_first")
        rows, cols = np.nonzero(dense(D.apply("one")))
        p = next(iter(zip(rows.tolist(), cols.tolist(), strict=True)))
        pattern = (a[p[0]].toarray()[0] != 0) | (dense(A.apply("one"))[p[0]] != 0)
        both = pattern & (dense(B.apply("one"))[:, p[1]] != 0)
        assert close(dense(D)[p], np.prod(a[p[0]].toarray()[0][both], dtype=dtype))


@pytest.mark.costly
@pytest.mark.parametrize("dtype", COMPLEX)
def test_products_with_vectors(dtype: Any) -> None:
    a = random(700, 500, 0.02, dtype, 5)
    A = from_scipy_sparse(a)
    full = numbers(500, dtype, 6)
    sparse_u = np.where(np.arange(500) % 9 == 0, full, 0)
    listed = Vector.from_coo(np.arange(0, 500, 9), full[::9], size=500)
    for u, values in ((Vector.from_dense(full), full), (listed, sparse_u), (listed.convert("bitmap"), sparse_u)):
        for direction in ("auto", "push", "pull"):
            with config.set(direction=direction):
                assert close(dense(A @ u), (a @ values).astype(dtype)), direction
        assert close(dense(u.vxm(A.T)), (a @ values).astype(dtype))
        found = A.mxv(u, "any_first").new()
        assert np.isin(found.to_coo(device="cpu")[1], a.data).all()
    w = Vector.from_dense(numbers(700, dtype, 7))
    mask = Vector.from_coo([3, 77, 400, 699], [True] * 4, size=700)
    expected = dense(w)
    expected[[3, 77, 400, 699]] += (a @ full)[[3, 77, 400, 699]]
    w(mask.V, "plus") << A @ Vector.from_dense(full)
    assert close(dense(w), expected)
    assert close(listed.inner(Vector.from_dense(full), "plus_times").value, complex((sparse_u * full).sum()))


@pytest.mark.costly
@pytest.mark.parametrize("dtype", COMPLEX)
def test_sums_and_aggregators(dtype: Any) -> None:
    a = random(90, 70, 0.1, dtype, 8)
    A, entries, wide = from_scipy_sparse(a), a.data, a.data.astype(np.complex128)
    assert close(A.reduce_scalar("plus").value, complex(entries.sum()))
    assert close(dense(A.reduce_rowwise("plus")), np.asarray(a.sum(axis=1), dtype).ravel())
    assert close(dense(A.reduce_columnwise("plus")), np.asarray(a.sum(axis=0), dtype).ravel())
    v = Vector.from_dense(entries)
    few = Vector.from_dense(entries[entries != 0][:6])
    assert close(few.reduce("times").value, complex(np.prod(entries[entries != 0][:6])))
    assert v.reduce("any").value in entries
    expected = {
        "sum": wide.sum(), "mean": wide.mean(), "varp": wide.var(), "stds": wide.std(ddof=1), "count": entries.size,
        "L1norm": np.abs(wide).sum(), "L2norm": np.linalg.norm(wide), "Linfnorm": np.abs(wide).max(),
        "root_mean_square": np.sqrt((np.abs(wide) ** 2).mean()), "count_nonzero": np.count_nonzero(entries),
        "first": entries[0],
    }  # fmt: skip
    for name, value in expected.items():
        found = v.reduce(name)
        assert found.value == pytest.approx(value, rel=1e-6), name
        assert np.isrealobj(np.asarray(found.value)) == (name not in ("sum", "mean", "first")), name
    assert v.reduce(sr.agg.any).value is True
    for name in ("min", "max", "argmin", "argmax", "peak_to_peak", "mode", "logaddexp"):
        with pytest.raises(DomainMismatch, match=r"complex|order"):
            _ = v.reduce(name).value
    assert close(dense(Vector.from_dense(entries[:40]).scan()), np.cumsum(entries[:40]))


@pytest.mark.costly
@pytest.mark.parametrize("dtype", COMPLEX)
def test_element_wise_operations(dtype: Any) -> None:
    a, b = random(80, 60, 0.2, dtype, 9), random(80, 60, 0.2, dtype, 10)
    A, B = from_scipy_sparse(a), from_scipy_sparse(b)
    assert close(dense(A + B), (a + b).toarray())
    assert close(dense(A - B), (a - b).toarray())
    assert close(dense(A * B), a.multiply(b).toarray())
    assert close(dense(A * 2j), (a * dtype(2j)).toarray())
    assert (A * 2.5).dtype == dtype
    assert (A + A.apply("real")).dtype == dtype
    assert close(dense(A.apply("abs")), abs(a).toarray())
    assert close(dense(A.apply("conj").T), a.conj().T.toarray())
    assert close(dense(A.apply("imag")), a.imag.toarray())
    assert close(dense(A.apply("real").ewise_add(A.apply("imag"), "cmplx")), a.toarray())
    assert close(dense(A.apply(lambda x: x * 1j + x.real)), (a * dtype(1j) + a.real.astype(dtype)).toarray())
    zero = a.copy()
    zero.data[::3] = 0
    Z = from_scipy_sparse(zero)
    assert Z.select("!=", 0).nvals == np.count_nonzero(zero.data)
    assert Z.select("==", 0).nvals == (zero.data == 0).sum()
    assert close(dense(B.dup(mask=Z.V)), np.where(zero.toarray() != 0, b.toarray(), 0))
    assert A.isequal(A.dup())
    assert not A.isequal(A * 2)
    assert A.isclose(A * dtype(1 + 1e-9))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_building_and_moving(dtype: Any) -> None:
    rng = np.random.default_rng(11)
    rows, cols, values = rng.integers(0, 50, 900), rng.integers(0, 40, 900), numbers(900, dtype, 12)
    expected = sparse.coo_matrix((values, (rows, cols)), shape=(50, 40)).toarray()
    A = Matrix.from_coo(rows, cols, values, shape=(50, 40), dup_op="plus")
    assert close(dense(A), expected)
    assert close(dense(A.T), expected.T)
    assert close(dense(A[[3, 1, 1, 49], :]), expected[[3, 1, 1, 49]])
    A[7, 9] = 2 - 3j
    assert A[7, 9].value == 2 - 3j
    A[3:5, [1, 2]] = 1j
    assert close(dense(A)[3:5, 1:3], np.full((2, 2), 1j, dtype))
    assert close(dense(A.kronecker(A[:3, :3])), np.kron(dense(A), dense(A)[:3, :3]))
    assert close(dense(sr.hstack([A, A])), np.hstack([dense(A), dense(A)]))
    u = Vector.from_coo(rng.integers(0, 30, 200), numbers(200, dtype, 13), size=30, dup_op="times")
    assert u.dtype == dtype
    for form in ("bitmap", "full"):
        v = Vector.from_dense(numbers(64, dtype, 14)).convert(form)
        assert pickle.loads(pickle.dumps(v)).isequal(v)
    assert sr.Scalar.from_value(1 - 2j).value == 1 - 2j
    assert "0.25-0.5j" in repr(Vector.from_dense(np.array([0.25 - 0.5j], dtype), device="cpu"))
    assert from_scipy_sparse(to_scipy_sparse(A)).isequal(A)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_casts_keep_the_real_part(dtype: Any) -> None:
    z = np.array([0, 2j, 1.75 - 3j, -300.5 + 1j, np.nan + 1j], dtype)
    v = Vector.from_dense(z)
    assert v.dup("int8").to_numpy().tolist() == [0, 0, 1, -128, 0]
    assert v.dup("bool").to_numpy().tolist() == [False, True, True, True, True]
    np.testing.assert_array_equal(v.dup("float64").to_numpy(), z.real.astype(np.float64))
    assert close(Vector.from_dense(np.array([1, -2])).dup(dtype).to_numpy(), np.array([1, -2], dtype))
    for made in (Vector.from_dense(z, dtype="float64"), Vector.from_coo(range(5), z, dtype="float64")):
        np.testing.assert_array_equal(made.to_numpy(), z.real.astype(np.float64))
    np.testing.assert_array_equal(v.to_numpy(dtype=np.float64), z.real.astype(np.float64))
    w = Vector.from_dense(np.zeros(5))
    w << v
    assert w.dtype == np.float64
    assert cast(z, "float32").dtype == np.float32


def test_what_needs_an_order_or_a_truth_value_refuses() -> None:
    A = Matrix.from_coo([0, 1], [1, 0], [1j, 2.0], shape=(2, 2))
    assert A.dtype == np.complex128
    for refused in (
        lambda: A.ewise_add(A, "min"), lambda: A < A, lambda: A.select(">", 1), lambda: A.apply("lnot"),
        lambda: A.mxm(A, "min_plus"), lambda: A.reduce_scalar("max"), lambda: A.apply("erf"),
        lambda: A.apply(lambda x: max(x, 0)), lambda: A.sort(), lambda: A.selectk("largest", 1),
    ):  # fmt: skip
        with pytest.raises(DomainMismatch, match=r"complex|order"):
            refused()


def test_the_functions_are_numpys() -> None:
    z = numbers(60, np.complex128, 15)
    for op, expected in ((unary.sqrt, np.sqrt), (unary.exp, np.exp), (unary.log1p, np.log1p), (unary.arg, np.angle)):
        typed = op[np.complex128]
        assert close(evaluate(typed.expr, {"x": z}, typed.z), expected(z))
    assert binary.pow[complex].x == np.complex128
    assert monoid.times[complex].identity == 1


@pytest.mark.parametrize("dtype", COMPLEX)
def test_powers_of_whole_numbers_are_exact(dtype: Any) -> None:
    whole = np.arange(-4, 5)
    z = (whole[:, None] + 1j * whole).ravel().astype(dtype)
    z = z[z != 0]
    v = Vector.from_dense(z)
    for n in (1, 2, 3, 4, 5, 7, 8, -1, -2, -5):
        found = v.ewise_mult(Vector.full(dtype(n), z.size), "pow").to_numpy()
        if n > 0:
            np.testing.assert_array_equal(found, np.power(z, n))
        else:
            np.testing.assert_allclose(found, np.power(z, n), rtol=4 * np.finfo(dtype).eps)
    assert Vector.from_dense([2j]).ewise_mult(Vector.full(2.0, 1), "pow").to_dict() == {0: -4.0}


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", COMPLEX)
def test_storage_kinds(dtype: Any, engine: str) -> None:
    if engine == "reference":
        pytest.skip("the specification reads uncompressed matrices")
    a = random(400, 300, 0.05, dtype, sampling.seed % 1000)
    A = from_scipy_sparse(a)
    u = Vector.from_dense(numbers(300, dtype, 16))
    stored = [
        A.dup().compress("varint"),
        A.dup().compress("packed"),
        A.dup().convert("hypersparse"),
        A.dup().convert("bitmap"),
    ]
    for B in (*stored, Matrix.from_dense(a.toarray())):
        assert close(dense(B @ u), a @ dense(u))
        assert close(dense(B @ A.T), (a @ a.T).toarray())
