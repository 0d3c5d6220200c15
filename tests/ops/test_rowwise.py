"""Running totals, sorting, choices of k entries and scaling: the specification and NumPy agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring import Matrix, Vector
from semiring.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64
from semiring.engines import registry
from semiring.engines.requests.operations import HOW, Scale, Scan, SelectK, SortRows
from semiring.exceptions import DimensionMismatch, InvalidValue
from semiring.formats import CSR, Pattern
from semiring.operators import binary, monoid
from semiring.operators.expression import Expression
from semiring.operators.types import TypedBinary
from tests.compare import assert_same, check, check_invariants, device_for, place
from tests.draw import contents, make_vector, matrices, ordered, seeds

PLACES = TypedBinary("places", INT64, INT64, INT64, Expression("x + 7 * xi + 11 * xj + 13 * yi + 17 * yj"))
few = st.sampled_from((0, 1, 2, 5, 9, 33))
# Operand types: each pair of types is another kernel.
some = st.sampled_from((BOOL, INT8, FP64))


@pytest.mark.costly
@pytest.mark.parametrize("op", [binary.times[FP64], binary.second[INT32], PLACES, binary.pair[INT8]], ids=str)
@given(data=st.data())
def test_scale_is_as_the_specification(op: TypedBinary, engine: str, data: st.DataObject) -> None:
    dtype = data.draw(some)
    a = data.draw(matrices(data.draw(few), data.draw(few), dtype))
    by_rows = data.draw(st.booleans())
    u = make_vector(a.shape[0 if by_rows else 1], dtype, "full", 1.0, data.draw(st.booleans()), 3)
    check(Scale(a, u, op, by_rows), engine)


@pytest.mark.parametrize(("name", "dtype"), [("plus", FP64), ("min", INT8), ("lor", BOOL), ("any", INT32)])
@given(data=st.data())
def test_scan_is_as_the_specification(name: str, dtype: Any, engine: str, data: st.DataObject) -> None:
    a = data.draw(matrices(data.draw(few), data.draw(few), data.draw(st.sampled_from((INT8, dtype)))))
    check(Scan(a, getattr(monoid, name)[dtype]), engine)


@given(data=st.data())
def test_sorted_rows_are_as_the_specification(engine: str, data: st.DataObject) -> None:
    a = data.draw(matrices(data.draw(few), data.draw(few), data.draw(ordered)))
    same_order(SortRows(a, data.draw(st.booleans())), engine)


def same_order(spec: SortRows, engine: str) -> None:
    got = registry.run(place(spec, device_for(engine)), engine)
    expected = registry.run(spec, "reference")
    for name in ("values", "columns"):
        made = getattr(got, name).to("cpu")
        check_invariants(made)
        assert_same(made, getattr(expected, name))


@pytest.mark.parametrize("how", HOW)
@given(data=st.data())
def test_selected_entries_are_as_the_specification(how: str, engine: str, data: st.DataObject) -> None:
    a = data.draw(matrices(data.draw(few), data.draw(few), data.draw(ordered)))
    check(SelectK(a, data.draw(st.integers(0, 12)), how, data.draw(seeds)), engine)


# Rows of every method of a sort, also one entry shorter or longer than its longest: see the tuning table.
LENGTHS = (0, 1, 32, 33, 64, 65, 128, 129, 256, 257, 700, 2048, 2049, 4096, 4097, 8192, 8193, 20000, 0, 9000, 2)


def skewed(dtype: Any) -> CSR:
    rng = np.random.default_rng(7)
    ncols = max(LENGTHS) + 5
    columns = np.concatenate([np.sort(rng.permutation(ncols)[:length]) for length in LENGTHS])
    indptr = np.concatenate([[0], np.cumsum(LENGTHS)])
    pattern = Pattern(len(LENGTHS), ncols, indptr.astype(np.int32), columns.astype(np.int32))
    return CSR(pattern, dtype, contents(rng, columns.size, dtype))


@pytest.mark.parametrize("dtype", [FP32, INT64], ids=str)
def test_rows_of_all_lengths(dtype: Any, engine: str) -> None:
    """Compared with NumPy: stable sorts, and totals of each row."""
    if engine == "reference":
        pytest.skip("the specification is dense")
    a = skewed(dtype)
    device = device_for(engine)
    rows = np.repeat(np.arange(a.nrows), np.diff(a.indptr))
    for descending in (False, True):
        made = registry.run(place(SortRows(a, descending), device), engine)
        # Values below 8 and the limits of the type; their negatives and complements are exact.
        key = a.values if not descending else (~a.values if dtype.kind == "i" else -a.values)
        order = np.lexsort((key, rows))
        assert (made.values.to("cpu").values == a.values[order]).all()
        assert (made.columns.to("cpu").values == a.indices[order]).all()
    for how in ("largest", "random"):
        chosen = registry.run(place(SelectK(a, 100, how, 5), device), engine).to("cpu")
        check_invariants(chosen)
        assert (np.diff(chosen.indptr) == np.minimum(np.diff(a.indptr), 100)).all()
    totals = registry.run(place(Scan(a, monoid.max[dtype]), device), engine).to("cpu")
    expected = [np.maximum.accumulate(part) for part in np.split(a.values, a.indptr[1:-1]) if part.size]
    assert (totals.values == np.concatenate(expected)).all()


def test_totals_of_a_long_vector(engine: str) -> None:
    """More entries than a group of tiles has."""
    if engine == "reference":
        pytest.skip("the specification is dense")
    values = np.random.default_rng(3).integers(-9, 9, 4_500_000)
    assert (Vector.from_dense(values).scan().to_numpy() == np.cumsum(values)).all()
    rows = Matrix.from_dense(values.reshape(3, -1)).scan().to_numpy()
    assert (rows == np.cumsum(values.reshape(3, -1), axis=1)).all()


@pytest.fixture
def A() -> Matrix:
    return Matrix.from_coo([0, 0, 0, 2, 3, 3], [1, 3, 4, 0, 2, 4], [2, 3, 1, 5, 7, 7], shape=(4, 5))


def dense(a: Any) -> Any:
    return a.to_numpy(0)


def test_running_totals(A: Matrix) -> None:
    assert A.scan().to_dicts() == {0: {1: 2, 3: 5, 4: 6}, 2: {0: 5}, 3: {2: 7, 4: 14}}
    assert A.scan("max", "columnwise").isequal(A.T.scan("max").T)
    assert A.T.scan("plus", "columnwise").T.isequal(A.scan())
    u = Vector.from_coo([0, 3, 4], [5, 6, 7], size=6)
    assert u.scan().to_dict() == {0: 5, 3: 11, 4: 18}
    assert u.convert("bitmap").scan("times").to_dict() == {0: 5, 3: 30, 4: 210}
    assert A.apply("one").scan("max").isequal(A.apply("one"))


def test_sorted_rows(A: Matrix) -> None:
    C, P = A.sort()
    assert C.to_dicts() == {0: {0: 1, 1: 2, 2: 3}, 2: {0: 5}, 3: {0: 7, 1: 7}}
    assert P.to_dicts() == {0: {0: 4, 1: 1, 2: 3}, 2: {0: 0}, 3: {0: 2, 1: 4}}
    assert A.sort(sr.binary.gt)[1].to_dicts() == {0: {0: 3, 1: 1, 2: 4}, 2: {0: 0}, 3: {0: 2, 1: 4}}
    turned = A.T.sort(">", "columnwise")
    assert all(x.T.isequal(y) for x, y in zip(turned, A.sort(">"), strict=True))
    w, p = Vector.from_coo([0, 3, 4], [6, 5, 7], size=6).sort()
    assert (w.to_dict(), p.to_dict()) == ({0: 5, 1: 6, 2: 7}, {0: 3, 1: 0, 2: 4})
    for op in ("plus", "le", None):
        with pytest.raises(InvalidValue, match="sort: the order"):
            A.sort(op)


def test_nan_is_behind_all_numbers() -> None:
    values = [np.nan, 1.0, -np.inf, -0.0, 0.0, np.inf, np.nan]
    A = Matrix.from_coo([0] * 7, range(7), values, shape=(1, 7))
    ascending, places = A.sort()
    assert places.to_numpy(-1).tolist() == [[2, 3, 4, 1, 5, 0, 6]]
    assert np.signbit(ascending.to_numpy(0)).tolist() == [[True, True] + [False] * 5]
    assert A.sort(">")[1].to_numpy(-1).tolist() == [[5, 1, 3, 4, 2, 0, 6]]
    assert A.selectk("largest", 2).to_dicts() == {0: {1: 1.0, 5: np.inf}}


def test_choices_of_k_entries(A: Matrix) -> None:
    assert A.selectk("first", 1).to_dicts() == {0: {1: 2}, 2: {0: 5}, 3: {2: 7}}
    assert A.selectk("last", 1).to_dicts() == {0: {4: 1}, 2: {0: 5}, 3: {4: 7}}
    assert A.selectk("largest", 1).to_dicts() == {0: {3: 3}, 2: {0: 5}, 3: {2: 7}}
    assert A.selectk("smallest", 2).to_dicts() == {0: {1: 2, 4: 1}, 2: {0: 5}, 3: {2: 7, 4: 7}}
    assert A.selectk("largest", 1, "columnwise").isequal(A.T.selectk("largest", 1).T)
    assert A.selectk("random", 9, seed=1).isequal(A)
    assert A.selectk("random", 0).nvals == 0
    u = Vector.from_coo([0, 3, 4], [6, 5, 7], size=6)
    assert u.selectk("largest", 2).to_dict() == {0: 6, 4: 7}
    for refused in (lambda: A.selectk("best", 1), lambda: A.selectk("first", -1), lambda: A.selectk("first", 1, "C")):
        with pytest.raises(InvalidValue):
            refused()


def test_every_entry_is_chosen_at_random_equally_often() -> None:
    A = Matrix.from_dense(np.ones((4000, 10)))
    counts = A.selectk("random", 3, seed=11).reduce_columnwise("plus").to_numpy(0)
    assert counts.sum() == 12000
    # 4000 trials of probability 0.3: standard deviation 29.
    assert (abs(counts - 1200) < 150).all()
    other = A.selectk("random", 3, seed=12)
    assert not other.isequal(A.selectk("random", 3, seed=11))


# A vector that is not full takes a product, which has a kernel for each operator and type.
@pytest.mark.costly
@pytest.mark.parametrize(
    ("format", "dtype", "ops"),
    [
        ("full", FP32, ("minus", "secondj")),
        ("bitmap", FP64, ("minus",)),
        pytest.param("index", INT8, ("minus", "firsti", "secondj", "pair"), marks=pytest.mark.wide),
    ],
)
def test_a_vector_beside_a_matrix(A: Matrix, format: str, dtype: Any, ops: tuple[str, ...]) -> None:
    """From the right it is every row, from the left every column."""
    A = A.dup(dtype)
    right, left = (Vector.from_coo(range(size), range(1, size + 1), dtype, size=size) for size in (5, 4))
    if format != "full":
        right, left = right.select("!=", 2), left.select("!=", 3)
    right, left = right.convert(format), left.convert(format)
    rows, cols = sr.vstack([right] * 4), sr.vstack([left] * 5).T.dup()
    for op in ops:
        assert A.ewise_mult(right, op).isequal(A.ewise_mult(rows, op), check_dtype=True)
        assert left.ewise_mult(A, op).isequal(cols.ewise_mult(A, op), check_dtype=True)
    assert A.ewise_add(right, "minus").isequal(A.ewise_add(rows, "minus"), check_dtype=True)
    assert left.ewise_add(A, "minus").isequal(cols.ewise_add(A, "minus"), check_dtype=True)
    assert (left - A).isequal(cols - A)
    assert sr.binary.minus(A | right).isequal(A.ewise_add(rows, "minus"))
    assert sr.binary.minus(left & A).isequal(cols.ewise_mult(A, "minus"))
    product = A.ewise_mult(right, "minus")
    assert A.ewise_mult(right, "minus", mask=A.S, out=A.dup(), accum="minus").isequal(A - product)


def test_refused_sizes(A: Matrix) -> None:
    u = Vector(float, 4)
    with pytest.raises(DimensionMismatch, match="it would fit on the left"):
        A * u
    with pytest.raises(DimensionMismatch, match="as many positions as it has rows"):
        Vector(float, 3) + A
