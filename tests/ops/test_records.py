"""Records: values of several numbers in every storage kind, by every operation, against dictionaries of tuples."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Scalar, Vector, binary, dtypes, indexunary, monoid, unary
from semiring.exceptions import DomainMismatch, NotSupported, UnsupportedType

ALIGNED = np.dtype([("n", np.int32), ("w", np.float64)], align=True)
PACKED = np.dtype([("b", np.int8), ("w", np.float32), ("h", np.int16)])
NESTED = np.dtype([("at", [("i", np.int64), ("j", np.int16)]), ("v", np.float32, (2,)), ("ok", np.bool_)], align=True)
LAYOUTS = [pytest.param(ALIGNED, id="aligned"), pytest.param(PACKED, id="packed")]
Entries = dict[Any, Any]

lighter = binary.register_anonymous(lambda x, y: x if x.w <= y.w else y, "lighter")
joined = binary.register_anonymous(lambda x, y: (min(x[0], y[0]), x["w"] + y["w"]), "joined")


@pytest.fixture(autouse=True)
def layout(request: pytest.FixtureRequest, engine: str) -> None:
    """Skip on a GPU what it refuses: `test_record_types.test_layouts_that_a_gpu_refuses`."""
    given = getattr(request.node, "callspec", None)
    dtype = None if given is None else given.params.get("dtype")
    if engine == "cuda" and dtype in (PACKED, NESTED):
        pytest.skip("CuPy has no arrays of these records")


def records(count: int, dtype: np.dtype[Any], seed: int = 0) -> np.ndarray[Any, Any]:
    """Small whole numbers in every leaf, so that sums are exact."""
    rng = np.random.default_rng(seed)
    made = np.zeros(count, dtype)
    for leaf in sr.record_types.leaves(dtype):
        sr.record_types.view(made, leaf)[...] = rng.integers(0, 2 if leaf.dtype == bool else 20, count)
    return made


def random(nrows: int, ncols: int, nvals: int, dtype: np.dtype[Any], seed: int = 0) -> Matrix:
    rng = np.random.default_rng(seed)
    at = rng.choice(nrows * ncols, nvals, replace=False)
    return Matrix.from_coo(at // ncols, at % ncols, records(nvals, dtype, seed), shape=(nrows, ncols))


def entries(A: Any) -> Entries:
    """{(i, j): tuple} of a matrix, {i: tuple} of a vector."""
    *indices, values = (part.tolist() for part in A.to_coo(device="cpu"))
    return dict(zip(indices[0] if len(indices) == 1 else zip(*indices, strict=True), values, strict=True))


def light(x: Any, y: Any) -> Any:
    """What `lighter` computes, on tuples of which field 1 is w."""
    return x if x[1] <= y[1] else y


def add(x: Any, y: Any) -> Any:
    """What `joined` computes; further fields are those of no test."""
    return (min(x[0], y[0]), x[1] + y[1])


@pytest.mark.wide
@pytest.mark.parametrize("dtype", LAYOUTS)
def test_elementwise(dtype: np.dtype[Any]) -> None:
    A, B = random(30, 20, 200, dtype, 1), random(30, 20, 250, dtype, 2)
    a, b = entries(A), entries(B)
    assert A.dtype == dtype
    assert A.nvals == 200
    both = {at: light(a[at], b[at]) for at in a.keys() & b.keys()}
    assert entries(A.ewise_mult(B, lighter)) == both
    assert entries(A.ewise_add(B, lighter)) == a | b | both
    assert entries(A.ewise_mult(B, "first")) == {at: a[at] for at in both}
    assert entries(A.ewise_mult(B, "second")) == {at: b[at] for at in both}
    assert entries(A.ewise_add(B, "second")) == a | b
    assert entries(A.ewise_mult(B, "eq")) == {at: a[at] == b[at] for at in both}
    assert entries(A.ewise_mult(B, "!=")) == {at: a[at] != b[at] for at in both}
    assert entries(A.ewise_mult(B, "pair")) == dict.fromkeys(both, 1)
    chosen = A.ewise_add(B, "any").new()
    assert all(value in (a.get(at), b.get(at)) for at, value in entries(chosen).items())
    u, v = Vector.from_dense(records(50, dtype, 3)), Vector.from_coo([3, 40], records(2, dtype, 4), size=50)
    x, y = entries(u), entries(v)
    assert entries(u.ewise_mult(v, lighter)) == {i: light(x[i], y[i]) for i in y}
    assert entries(u.ewise_add(v, lighter)) == x | {i: light(x[i], y[i]) for i in y}
    assert entries(u.ewise_union(v, lighter, 0, 0)) == {i: light(x[i], y.get(i, (0,) * len(x[i]))) for i in x}
    for bad in ("plus", "min", "lor", "<"):
        with pytest.raises(DomainMismatch):
            A.ewise_add(B, bad)


@pytest.mark.wide
def test_apply_and_select() -> None:
    A = random(30, 20, 200, ALIGNED, 1)
    a = entries(A)
    assert entries(A.apply(lambda x: x.n * 2)) == {at: x[0] * 2 for at, x in a.items()}
    assert entries(A.apply(lambda x: (x.n + 1, -x.w))) == {at: (x[0] + 1, -x[1]) for at, x in a.items()}
    renamed = A.apply(unary.register_anonymous(lambda x: {"p": x.w > 9, "q": {"r": x.n, "s": 1.5}}))
    assert renamed.dtype == dtypes.lookup({"p": bool, "q": {"r": "int32", "s": float}})
    if A.device == "cuda":  # 24 bytes with their gaps
        with pytest.raises(NotSupported, match="at most 16 bytes, got 24"):
            renamed.wait()
    else:
        assert entries(renamed) == {at: (x[1] > 9, (x[0], 1.5)) for at, x in a.items()}
    assert entries(A.apply("one")) == dict.fromkeys(a, 1)
    assert entries(A.apply("identity")) == a
    assert entries(A.apply(joined, right=(3, 0.5))) == {at: add(x, (3, 0.5)) for at, x in a.items()}
    assert entries(A.apply(joined, left=(3, 0.5))) == {at: add((3, 0.5), x) for at, x in a.items()}
    assert entries(A.apply(binary.register_anonymous(lambda x, y: x.w * y), right=2.5)) == {
        at: x[1] * 2.5 for at, x in a.items()
    }
    placed = indexunary.register_anonymous(lambda x, i, j, k: {"n": x.n + i, "j": j + k})
    assert entries(A.apply(placed, 7)) == {(i, j): (x[0] + i, j + 7) for (i, j), x in a.items()}
    assert entries(A.apply("rowindex")) == {(i, j): i for i, j in a}
    assert entries(A.select("tril")) == {(i, j): x for (i, j), x in a.items() if j <= i}
    assert entries(A.select(lambda x, i, j, k: x.w > k, 9)) == {at: x for at, x in a.items() if x[1] > 9}
    some = next(iter(a.values()))
    assert entries(A.select("==", some)) == {at: x for at, x in a.items() if x == some}
    numbers = A.apply(lambda x: x.n)
    made = unary.register_anonymous(lambda x: {"n": x, "w": x / 2})
    assert entries(numbers.apply(made)) == {at: (x[0], x[0] / 2) for at, x in a.items()}
    with pytest.raises(DomainMismatch, match="no field 'missing'"):
        A.apply(lambda x: x.missing)
    with pytest.raises(UnsupportedType, match="read its fields"):
        A.apply("sqrt")


@pytest.mark.wide
@pytest.mark.parametrize("dtype", LAYOUTS)
def test_products(dtype: np.dtype[Any]) -> None:
    """A semiring of two operators on records, and `any` over a product; a mask, an accumulator, both orientations."""
    if dtype == PACKED:
        times = binary.register_anonymous(lambda x, y: (x.b, x.w + y.w, y.h))
        multiply: Callable[[Any, Any], Any] = lambda x, y: (x[0], x[1] + y[1], y[2])  # noqa: E731
        least = monoid.register_anonymous("x if x.w < y.w or (x.w == y.w and x.b <= y.b) else y", (127, np.inf, 0))
    else:
        times = binary.register_anonymous(lambda x, y: (x.n, x.w + y.w))
        multiply = lambda x, y: (x[0], x[1] + y[1])  # noqa: E731
        least = monoid.register_anonymous("x if x.w < y.w or (x.w == y.w and x.n <= y.n) else y", (2**31 - 1, np.inf))
    ring = sr.semiring.register_anonymous(least, times)

    def better(x: Any, y: Any) -> Any:
        return x if (x[1], x[0]) <= (y[1], y[0]) else y

    def product(a: Entries, b: Entries) -> Entries:
        made: Entries = {}
        for (i, k), x in sorted(a.items()):
            for (l, j), y in sorted(b.items()):
                if k == l:
                    z = multiply(x, y)
                    made[i, j] = better(made[i, j], z) if (i, j) in made else z
        return made

    def same(got: Any, expected: Entries) -> bool:
        # `h` of equal sums may be that of either
        found = entries(got)
        return {at: x[:2] for at, x in found.items()} == {at: x[:2] for at, x in expected.items()}

    A, B = random(25, 18, 120, dtype, 1), random(18, 30, 150, dtype, 2)
    a, b = entries(A), entries(B)
    whole = product(a, b)
    assert same(A.mxm(B, ring), whole)
    assert same(B.T.mxm(A.T, ring), {(j, i): x for (i, j), x in product_of_transposed(a, b, multiply, better).items()})
    M = random(25, 30, 300, ALIGNED, 5)
    inside = entries(M).keys()
    assert same(A.mxm(B, ring).new(mask=M.S), {at: x for at, x in whole.items() if at in inside})
    assert same(A.mxm(B, ring).new(mask=~M.S), {at: x for at, x in whole.items() if at not in inside})
    C = random(25, 30, 200, dtype, 6)
    c = entries(C)
    C(accum=lighter) << A.mxm(B, ring)
    assert same(C, c | whole | {at: light(c[at], whole[at]) for at in c.keys() & whole.keys()})
    for u in (Vector.from_dense(records(18, dtype, 7)), Vector.from_coo([1, 5, 17], records(3, dtype, 8), size=18)):
        column = {(i, 0): x for i, x in entries(u).items()}
        for direction in ("auto", "push", "pull"):
            with sr.config.set(direction=direction):
                got = A.mxv(u, ring).new()
            assert same(got, {i: x for (i, _), x in product(a, column).items()}), direction
        row = {(0, i): x for (i, _), x in column.items()}
        assert same(u.vxm(B, ring), {j: x for (_, j), x in product(row, b).items()})
        every = A.mxv(u, "any_second").new()
        assert entries(every).keys() == {i for i, _ in product(a, column)}
        assert set(entries(every).values()) <= set(column.values())
        inner = u.inner(u, ring)
        folded: Any = None
        for x in column.values():
            z = multiply(x, x)
            folded = z if folded is None else better(folded, z)
        assert inner.value[:2] == folded[:2]
    counts = A.mxm(B, "plus_pair").new()
    assert counts.dtype == np.int64
    assert counts.reduce_scalar("plus").value == sum(k == l for _, k in a for l, _ in b)


def product_of_transposed(a: Entries, b: Entries, multiply: Any, better: Any) -> Entries:
    """The product of B' and A', transposed again: the operands of each product are exchanged."""
    made: Entries = {}
    for (i, k), x in a.items():
        for (l, j), y in b.items():
            if k == l:
                z = multiply(y, x)
                made[i, j] = better(made[i, j], z) if (i, j) in made else z
    return made


@pytest.mark.wide
def test_reductions() -> None:
    least = monoid.register_anonymous("x if x.w < y.w or (x.w == y.w and x.n <= y.n) else y", (2**31 - 1, np.inf))
    total = monoid.register_anonymous(lambda x, y: (x.n + y.n, x.w + y.w), (0, 0))
    A = random(30, 20, 200, ALIGNED, 1)
    a = entries(A)
    assert A.reduce_scalar(total).value == tuple(map(sum, zip(*a.values(), strict=True)))
    assert A.reduce_scalar(least).value == min(a.values(), key=lambda x: (x[1], x[0]))
    assert A.reduce_scalar("any").value in a.values()
    rows: dict[int, list[Any]] = {}
    for (i, _), x in a.items():
        rows.setdefault(i, []).append(x)
    assert entries(A.reduce_rowwise(total)) == {i: tuple(map(sum, zip(*x, strict=True))) for i, x in rows.items()}
    assert all(x in rows[i] for i, x in entries(A.reduce_rowwise("any")).items())
    columns: dict[int, list[Any]] = {}
    for (_, j), x in a.items():
        columns.setdefault(j, []).append(x)
    assert entries(A.reduce_columnwise(total)) == {j: tuple(map(sum, zip(*x, strict=True))) for j, x in columns.items()}
    v = Vector.from_dense(records(3000, ALIGNED, 2))
    assert v.reduce(total).value == tuple(map(sum, zip(*entries(v).values(), strict=True)))
    assert Vector(ALIGNED, 5).reduce(total).value in (None, (0, 0.0))
    assert v.reduce("count").value == 3000
    with pytest.raises(DomainMismatch):
        v.reduce("plus")


@pytest.mark.wide
def test_writes_and_parts() -> None:
    A = random(30, 20, 200, ALIGNED, 1)
    a = entries(A)
    A[3, 4] = (7, 0.25)
    A[5, 6] = {"n": 1, "w": 2.0}
    A[7, 8] = 3
    A[9, 1] = np.array((4, 5.5), ALIGNED)[()]
    a |= {(3, 4): (7, 0.25), (5, 6): (1, 2.0), (7, 8): (3, 3.0), (9, 1): (4, 5.5)}
    assert entries(A) == a
    assert (A[3, 4].value, A.get(5, 6), A[29, 19].get(), A[3, 4] == (7, 0.25)) == (
        (7, 0.25),
        (1, 2.0),
        a.get((29, 19)),
        True,
    )
    del A[3, 4]
    del a[3, 4]
    A(accum=joined)[5, 6] << (0, 1.5)
    a[5, 6] = (0, 3.5)
    assert entries(A) == a
    assert entries(A[[4, 2, 2], 3:9]) == {
        (p, j - 3): a[i, j] for p, i in enumerate((4, 2, 2)) for j in range(3, 9) if (i, j) in a
    }
    assert entries(A[5, :]) == {j: x for (i, j), x in a.items() if i == 5}
    assert entries(A.T) == {(j, i): x for (i, j), x in a.items()}
    assert A.T.T.isequal(A)
    A[2:4, :] = (9, 9.5)
    a |= {(i, j): (9, 9.5) for i in (2, 3) for j in range(20)}
    assert entries(A) == a
    A[0, [1, 2]] = [(1, 1), (2, 2)]
    a |= {(0, 1): (1, 1.0), (0, 2): (2, 2.0)}
    assert entries(A) == a
    M = random(30, 20, 100, ALIGNED, 2)
    A(M.S) << (0, 0)
    a |= dict.fromkeys(entries(M), (0, 0.0))
    assert entries(A) == a
    B = random(30, 20, 150, ALIGNED, 3)
    A(~M.S, replace=True) << B
    assert entries(A) == {at: x for at, x in entries(B).items() if at not in entries(M)}
    A << 1
    assert A.nvals == 600
    assert set(entries(A).values()) == {(1, 1.0)}
    with pytest.raises(DomainMismatch):
        A.V  # noqa: B018
    with pytest.raises(DomainMismatch, match="can be made of"):
        A[0, 0] = (1, 2, 3)
    with pytest.raises(DomainMismatch):
        Matrix(float, 30, 20) << B
    numbers = B.apply(lambda x: x.n)
    A(accum=None) << numbers
    assert entries(A) == {at: (x[0], float(x[0])) for at, x in entries(B).items()}


@pytest.mark.wide
@pytest.mark.parametrize("dtype", [*LAYOUTS, pytest.param(NESTED, id="nested")])
def test_construction_and_export(dtype: np.dtype[Any]) -> None:
    values = records(40, dtype, 1)
    rng = np.random.default_rng(2)
    at = rng.choice(100, 40, replace=False)
    A = Matrix.from_coo(at // 10, at % 10, values, shape=(10, 10))
    expected = dict(zip(at.tolist(), values.tolist(), strict=True))
    rows, columns, found = A.to_coo(device="cpu")
    assert found.dtype == dtype
    assert {int(k): str(x) for k, x in zip(rows * 10 + columns, found.tolist(), strict=True)} == {
        k: str(x) for k, x in expected.items()
    }
    assert Matrix.from_csr(*A.to_csr(), ncols=10).isequal(A)
    assert Matrix.from_csc(*A.to_csc(), nrows=10).isequal(A)
    assert pickle.loads(pickle.dumps(A)).isequal(A, check_dtype=True)
    v = A[3, :].new()
    assert pickle.loads(pickle.dumps(v)).isequal(v, check_dtype=True)
    s = Scalar.from_value(values[0])
    assert s.dtype == dtype
    assert pickle.loads(pickle.dumps(s)) == s
    again = np.concatenate([values, values[::-1]])
    doubled = np.concatenate([at, at[::-1]])
    for dup, kept in (("first", expected), ("second", expected)):
        C = Matrix.from_coo(doubled // 10, doubled % 10, again, shape=(10, 10), dup_op=dup)
        assert C.isequal(A), (dup, kept)
    dense = A.to_numpy(0)
    assert dense.shape == (10, 10)
    assert dense.dtype == dtype
    D = Matrix.from_dense(dense)
    assert D.format in ("full", "parts")  # on a grid
    assert D.isequal(Matrix.from_dense(dense.tolist(), dtype=dtype)) or dtype is NESTED
    assert D.ewise_mult(A, "eq").reduce_scalar("land").value
    D(A.S) << A
    assert D.nvals == 100
    assert not A.isequal(D)
    assert A.isequal(A.dup())
    assert repr(A)
    assert A._repr_html_()


@pytest.mark.wide
@pytest.mark.parametrize("format", ["csr", "full", "bitmap", "hypersparse", "compressed"])
def test_formats(format: str, tmp_path: Any, engine: str) -> None:
    A = random(30, 20, 600 if format == "full" else 200, ALIGNED, 1)
    a = entries(A)
    if format == "compressed":
        A = A.compress("packed") if hasattr(A, "compress") else A
    elif format != "csr":
        A.convert(format)
    assert entries(A) == a
    assert entries(A.T) == {(j, i): x for (i, j), x in a.items()}
    assert entries(A.apply(lambda x: x.w)) == {at: x[1] for at, x in a.items()}
    B = random(30, 20, 150, ALIGNED, 2)
    b = entries(B)
    assert entries(A.ewise_mult(B, lighter)) == {at: light(a[at], b[at]) for at in a.keys() & b.keys()}
    assert entries(A.ewise_add(B, joined)) == a | b | {at: add(a[at], b[at]) for at in a.keys() & b.keys()}
    assert entries(A.select("triu")) == {(i, j): x for (i, j), x in a.items() if j >= i}
    assert entries(A[4:9, :]) == {(i - 4, j): x for (i, j), x in a.items() if 4 <= i < 9}
    u = Vector.from_dense(np.arange(20))
    scaled = binary.register_anonymous(lambda x, y: x.w * y)
    ring = sr.semiring.register_anonymous("plus", scaled)
    expected: Entries = {}
    for (i, j), x in a.items():
        expected[i] = expected.get(i, 0) + x[1] * j
    assert entries(A.mxv(u, ring)) == expected
    for name in ("a.srb", "a.npz"):
        sr.io.write(tmp_path / name, A)
        assert sr.io.read(tmp_path / name).isequal(A, check_dtype=True)


def test_refusals(tmp_path: Any) -> None:
    """What has no meaning on records raises an error with another way."""
    A = random(20, 20, 100, ALIGNED, 1)
    with pytest.raises(DomainMismatch, match="sort a field"):
        A.sort()
    with pytest.raises(NotSupported, match="step by step"):
        sr.ops.closure(A[0, :], A, "any_first")
    with pytest.raises(DomainMismatch, match="not records"):
        sr.io.mmwrite(tmp_path / "a.mtx", A)
    with pytest.raises(DomainMismatch, match="not records"):
        sr.io.to_scipy_sparse(A)
    with pytest.raises(DomainMismatch, match="no common type"):
        A.ewise_add(A.apply("one"), "any")
