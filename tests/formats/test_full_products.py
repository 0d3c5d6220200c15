"""Products with full matrices have the entries that the specification, SciPy and SuiteSparse compute."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector

EXHAUSTIVE = pytest.mark.exhaustive
HEIGHT, INNER = 40, 30
WIDTHS = (1, 3, 33, 64, 100)
far = sr.binary.register_new("far_of_full", lambda x, y: abs(x - y) + 1)
sr.semiring.register_new("max_far_of_full", sr.monoid.max, far)
SEMIRINGS = ("plus_times", "min_plus", "any_pair", "max_second", "any_firsti", "plus_secondj", "max_far_of_full")
TYPES = ("bool", "int8", "int64", "float32", "float64")
SHORT = {
    *(("plus_times", "float64", rows) for rows in ("all", "some", "one value")),
    ("max_far_of_full", "int64", "some"),
}
CASES = [
    (ring, dtype) for ring in SEMIRINGS for dtype in TYPES if dtype != "bool" or ring in ("any_pair", "max_second")
]
PRODUCTS = [
    pytest.param(*case, rows, marks=() if (*case, rows) in SHORT else EXHAUSTIVE)
    for case in (*CASES, ("lor_land", "bool"))
    for rows in ("all", "some", "one value")
]


def full(rng: np.random.Generator, shape: tuple[int, int], dtype: str, rows: str = "all") -> Matrix:
    """Small integers; `rows`: all rows are present, some are, or all with one value."""
    if rows == "one value":
        return Matrix.from_scalar(np.dtype(dtype).type(3), *shape)
    values = rng.integers(0, 5, shape).astype(dtype)
    if rows == "all":
        return Matrix.from_dense(values)
    there = np.flatnonzero(np.arange(shape[0]) % 3 != 1)
    at = [axis.ravel() for axis in np.meshgrid(there, np.arange(shape[1]), indexing="ij")]
    return Matrix.from_coo(*at, values[there].ravel(), shape=shape).convert("full")


def sparse(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> Matrix:
    """A long row, empty ones, and few entries elsewhere."""
    there = rng.random(shape) < 0.15
    there[0] = True
    there[1::4] = False
    at = there.nonzero()
    return Matrix.from_coo(*at, rng.integers(0, 5, at[0].size).astype(dtype), shape=shape)


def transposed(a: Any) -> bool:
    return not isinstance(a, Matrix)


def specified(product: Callable[..., Matrix], *operands: Any) -> Matrix:
    """The same product by the specification, of operands with uncompressed rows."""
    with sr.use("reference"):
        plain = [a.T.decompress().to("cpu").T if transposed(a) else a.decompress().to("cpu") for a in operands]
        return product(*plain).new()


def pairs(rng: np.random.Generator, width: int, dtype: str, rows: str) -> Iterator[tuple[str, Any, Any]]:
    """Products of shape (HEIGHT, width), of which one or both operands are full."""
    a, x = sparse(rng, (HEIGHT, INNER), dtype), full(rng, (INNER, width), dtype, rows)
    d, y = full(rng, (HEIGHT, INNER), dtype, rows), full(rng, (width, INNER), dtype, rows)
    yield "sparse full", a, x
    yield "sparse full'", a, y.T
    yield "full full", d, x
    yield "full full'", d, y.T
    yield "full' full", full(rng, (INNER, HEIGHT), dtype).T, x
    yield "full sparse", d, sparse(rng, (INNER, width), dtype)
    yield "full sparse'", d, sparse(rng, (width, INNER), dtype).T


@pytest.mark.costly
@pytest.mark.parametrize(("ring", "dtype", "rows"), PRODUCTS)
def test_products(ring: str, dtype: str, rows: str) -> None:
    rng = np.random.default_rng(6)
    for width in WIDTHS:
        mask = sparse(rng, (HEIGHT, width), "int8")
        for name, a, b in pairs(rng, width, dtype, rows):
            expected = specified(lambda p, q: p.mxm(q, ring), a, b)
            made = a.mxm(b, ring).new()
            assert made.to("cpu").isequal(expected, check_dtype=True), (name, width)
            for kind in (lambda m: m.S, lambda m: m.V, lambda m: ~m.S, lambda m: ~m.V):
                inside = specified(lambda p, m, kind=kind: p.dup(mask=kind(m)), expected, mask)
                assert a.mxm(b, ring, mask=kind(mask)).to("cpu").isequal(inside, check_dtype=True), (name, width)


@pytest.mark.parametrize("accum", [None, "plus"])
@pytest.mark.parametrize("replace", [False, True])
def test_products_are_written(accum: str | None, replace: bool) -> None:
    rng = np.random.default_rng(7)
    a, x, c = sparse(rng, (9, 7), "float64"), full(rng, (7, 5), "float64"), sparse(rng, (9, 5), "float64")
    for target in (c, full(rng, (9, 5), "float64", "some")):
        for masked in (lambda m: m.V, lambda m: ~m.S):

            def write(out: Matrix, p: Matrix, q: Matrix, m: Matrix, masked: Any = masked) -> Matrix:
                out(masked(m), accum=accum, replace=replace) << p.mxm(q)
                return out

            expected = specified(lambda out, p, q, m: write(out.dup(), p, q, m), target, a, x, c)
            assert write(target.dup(), a, x, c).to("cpu").isequal(expected)


@pytest.mark.costly
@pytest.mark.parametrize(
    "ring", ["plus_times", *(pytest.param(s, marks=EXHAUSTIVE) for s in ("min_plus", "any_firsti"))]
)
@pytest.mark.parametrize("rows", ["all", "some", "one value"])
def test_vectors(ring: str, rows: str) -> None:
    rng = np.random.default_rng(8)
    d = full(rng, (HEIGHT, INNER), "float64", rows)
    given = [Vector.from_dense(rng.integers(0, 5, size).astype(float)) for size in (INNER, HEIGHT)]
    same = [Vector.full(2.0, size) for size in (INNER, HEIGHT)]
    half = [u[::2].new() for u in given]
    for (u, v), (wide, high) in ((given, (d, d)), (same, (d, d)), (half, (d[:, ::2].new(), d[::2].new()))):
        with sr.use("reference"):
            plain = [m.decompress().to("cpu") for m in (wide, high)]
            expected = [plain[0].mxv(u.to("cpu"), ring).new(), v.to("cpu").vxm(plain[1], ring).new()]
            expected.append(plain[1].T.mxv(v.to("cpu"), ring).new())
        for made, other in zip((wide.mxv(u, ring), v.vxm(high, ring), high.T.mxv(v, ring)), expected, strict=True):
            assert made.to("cpu").isequal(other, check_dtype=True)


def test_the_result_is_full(engine: str) -> None:
    rng = np.random.default_rng(9)
    a, x, d = sparse(rng, (9, 7), "float64"), full(rng, (7, 5), "float64"), full(rng, (9, 7), "float64", "some")
    if engine == "cpu":
        for c in (a.mxm(x), d.mxm(x), full(rng, (3, 9), "float64").mxm(a)):
            assert c.new().format == "full"
        with sr.explain() as log:
            d.mxm(x).wait()
            d.mxm(full(rng, (4, 7), "float64").T, mask=sparse(rng, (9, 4), "bool").S).wait()
        assert [call.details["method"] for call in log if call.operation == "mxm"] == ["matmul", "dot"]
    assert a.mxm(x).new().nvals == 5 * np.count_nonzero(np.diff(a.to_csr()[0]))
    mask = sparse(rng, (9, 9), "float64")
    made = full(rng, (9, 3), "float64").mxm(full(rng, (9, 3), "float64").T, mask=mask.S)
    assert made.new().nvals == mask.nvals


def test_infinities_and_empty_operands() -> None:
    x = Matrix.from_dense([[np.inf, 1.0], [0.0, np.nan]])
    zero = Matrix.from_dense([[0.0, 0.0], [1.0, 1.0]])
    expected = specified(lambda p, q: p.mxm(q), x, zero)
    assert x.mxm(zero).to("cpu").isequal(expected)
    assert x.decompress().mxm(zero).to("cpu").isequal(expected)
    for shape in ((0, 2), (2, 0), (0, 0)):
        e = Matrix.from_dense(np.ones(shape))
        if shape[1] == 2:
            assert e.mxm(x).new().shape == (0, 2)
        else:
            assert e.mxm(e.T, mask=Matrix.from_dense(np.ones((shape[0],) * 2)).decompress().S).nvals == 0
            assert e.mxm(e.T).nvals == e.mxv(Vector.from_dense(np.ones(0))).nvals == 0
    none = Matrix(float, 2, 2)
    for c in (none.mxm(x), x.mxm(none), x.mxm(x.T, mask=none.S), none.convert("full").mxm(x)):
        assert c.nvals == 0


GRAPHS = {
    "kron11": lambda: sr.random.kronecker(11, seed=2),
    "star": lambda: sr.random.star(3000),
}


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=EXHAUSTIVE)])
def test_scipy_agrees_on_graphs(graph: str, dtype: str) -> None:
    pytest.importorskip("scipy")
    a = GRAPHS[graph]().apply("one").dup(np.dtype(dtype))
    rng = np.random.default_rng(10)
    features = rng.integers(0, 4, (a.nrows, 64)).astype(dtype)
    x, s = Matrix.from_dense(features), sr.io.to_scipy_sparse(a)
    np.testing.assert_array_equal(a.mxm(x).to_numpy(0), s @ features)
    np.testing.assert_array_equal(x.T.mxm(a).to_numpy(0), (s.T @ features).T)
    dots = x.mxm(x.T, mask=a.S).new()
    rows, columns, values = (np.asarray(part.get() if hasattr(part, "get") else part) for part in dots.to_coo())
    assert rows.size == a.nvals
    np.testing.assert_array_equal(values, (features[rows] * features[columns]).sum(1))


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("ring", "dtype"),
    [
        ("plus_times", "float64"),
        *(
            pytest.param(ring, dtype, marks=EXHAUSTIVE)
            for ring in ("plus_times", "min_plus", "max_second", "plus_pair", "any_pair", "lor_land")
            for dtype in ("int8", "int64", "float32", "float64")
            if (ring, dtype) != ("plus_times", "float64")
        ),
    ],
)
@pytest.mark.parametrize("rows", ["all", "some"])
def test_suitesparse_agrees(ring: str, dtype: str, rows: str) -> None:
    gb = pytest.importorskip("graphblas", reason="python-graphblas is not installed")
    importlib.import_module("graphblas").init("suitesparse", blocking=True)
    rng = np.random.default_rng(11)

    def other(a: Any) -> Any:
        if transposed(a):
            return other(a.T).T
        return gb.Matrix.from_coo(*a.to("cpu").to_coo(), nrows=a.nrows, ncols=a.ncols, dtype=a.dtype)

    mask = sparse(rng, (HEIGHT, 33), "bool")
    for name, a, b in pairs(rng, 33, dtype, rows):
        theirs = getattr(gb.semiring, ring)(other(a) @ other(b))
        for made, found in (
            (a.mxm(b, ring), theirs.new()),
            (a.mxm(b, ring, mask=mask.S), theirs.new(mask=other(mask).S)),
        ):
            for mine, right in zip(made.new().to("cpu").to_coo(), found.to_coo(), strict=True):
                np.testing.assert_array_equal(mine, right, err_msg=name)
