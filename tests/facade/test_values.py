"""Types, scalars, aggregators, copies, comparison, constructors, and how objects look."""

from __future__ import annotations

import copy
import math
import operator
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Scalar, Vector, agg, binary, monoid
from semiring.exceptions import InvalidValue
from semiring.operators import table

# -- types -----------------------------------------------------------------------------------------------


@pytest.mark.costly
@pytest.mark.parametrize("left", sr.dtypes.ALL)
@pytest.mark.parametrize("right", sr.dtypes.ALL)
def test_types_unify_as_numpys_do(left: np.dtype[Any], right: np.dtype[Any]) -> None:
    u, v = Vector.full(1, 2, dtype=left), Vector.full(1, 2, dtype=right)
    assert (u + v).dtype == (u | v).dtype == np.result_type(left, right)
    assert (u - v).dtype == np.result_type(left, right)
    assert (u == v).dtype == bool
    assert (u / v).dtype.kind == ("c" if "c" in left.kind + right.kind else "f")
    if left == right:
        assert (u + v)[0].value == np.add(u[0].value, v[0].value)
        assert u.reduce("plus").value == 2  # booleans count
        target = Vector.full(7.9, 2)
        target << v
        assert target.dtype == np.float64


def test_python_numbers_take_the_type_of_the_other_operand_if_they_fit() -> None:
    v = Vector.from_dense(np.array([100, 1], np.int8))
    assert (v + 1).dtype == np.int8
    assert (v + 1.5).dtype == np.float64
    assert (v + 300).to_numpy().tolist() == [400, 301]
    assert v.select("<", 300).nvals == 2
    assert (v < 300).reduce("land").value
    assert (Vector.from_dense(np.array([1], np.uint8)) > -1).reduce("land").value
    assert (Vector.from_dense(np.array([1.5], np.float32)) * 2.5).dtype == np.float32
    assert (v + np.float32(1)).dtype == np.float32
    assert (v + True).dtype == np.int8
    assert (3 - v).to_numpy().tolist() == [-97, 2]
    assert (v + 1j).dtype == np.complex128
    assert (v + np.complex64(1j)).dtype == np.complex64
    assert (Vector.from_dense(np.array([1.5], np.float32)) + 1j).dtype == np.complex64
    v << np.complex128(3 + 1j)  # a cast keeps the real part
    assert v.to_numpy().tolist() == [3, 3]


OPERATORS: list[Callable[[Any, Any], Any]] = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize("op", OPERATORS)
def test_infix_operators_are_numpys(op: Callable[[Any, Any], Any]) -> None:
    x, y = np.array([7.0, -7.0, 2.0]), np.array([2.0, 2.0, 2.0])
    u, v = Vector.from_dense(x), Vector.from_dense(y)
    np.testing.assert_allclose(op(u, v).to_numpy(), op(x, y))
    np.testing.assert_allclose(op(u, 2.0).to_numpy(), op(x, 2.0))
    np.testing.assert_allclose(op(u, Scalar.from_value(2.0)).to_numpy(), op(x, 2.0))
    np.testing.assert_allclose(op(2.0, v).to_numpy(), op(2.0, y))
    np.testing.assert_allclose(op(np.float64(2.0), v).to_numpy(), op(2.0, y))
    np.testing.assert_allclose(op(Scalar.from_value(2.0), v).to_numpy(), op(2.0, y))
    assert op(Scalar.from_value(3.0), 2.0) == op(3.0, 2.0)
    assert op(3.0, Scalar.from_value(2.0)) == op(3.0, 2.0)


@pytest.mark.parametrize(
    "op",
    [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow],
)
def test_in_place_operators_keep_object_and_type(op: Callable[[Any, Any], Any]) -> None:
    v = u = Vector.from_dense(np.array([7, 4], np.int32))
    u = op(u, 2)
    assert u is v
    assert u.dtype == np.int32
    assert u.to_numpy().tolist() == op(np.array([7.0, 4.0]), 2).astype(int).tolist()


def test_in_place_products_and_logic() -> None:
    A = B = Matrix.from_dense([[0, 1], [1, 0]])
    A @= A
    assert A is B
    assert A.to_dense().tolist() == [[1, 0], [0, 1]]
    p = Vector.from_coo([0, 1], True, size=3)
    p |= Vector.from_coo([2], True, size=3)
    assert p.nvals == 3
    p &= Vector.from_coo([2], True, size=3)
    assert p.to_dict() == {2: True}
    assert (-A).to_dense().tolist() == [[-1, 0], [0, -1]]
    assert abs(-A).isequal(A)
    assert (p == None) is False  # noqa: E711


# -- aggregators -----------------------------------------------------------------------------------------

V = np.array([3.0, 0.0, 1.0, 5.0, 1.0])
AT = np.array([1, 2, 4, 6, 7])
EXPECTED: dict[str, Any] = {
    "sum": V.sum(), "prod": V.prod(), "min": 0, "max": 5, "any": True, "all": False, "exists": 1, "count": 5,
    "count_nonzero": 4, "count_zero": 1, "mean": V.mean(), "sum_of_squares": (V**2).sum(), "L0norm": 4,
    "root_mean_square": math.sqrt((V**2).mean()), "peak_to_peak": 5, "varp": V.var(), "vars": V.var(ddof=1),
    "stdp": V.std(), "stds": V.std(ddof=1), "L1norm": V.sum(), "L2norm": np.linalg.norm(V), "Linfnorm": 5,
    "hypot": np.linalg.norm(V), "argmin": 2, "argmax": 6, "first": 3, "last": 1, "first_index": 1, "last_index": 7,
    "mode": 1,    "geometric_mean": 0, "harmonic_mean": 0, "sum_of_inverses": np.inf,
    "logaddexp": np.logaddexp.reduce(V), "logaddexp2": np.logaddexp2.reduce(V),
}  # fmt: skip
BITS = {"bitwise_all": np.bitwise_and, "bitwise_any": np.bitwise_or}


def test_every_aggregator_is_tested() -> None:
    assert set(table.names("agg")) == set(EXPECTED) | set(BITS) | {"any_value"}


@pytest.mark.costly
@pytest.mark.parametrize("name", EXPECTED)
def test_aggregators(name: str) -> None:
    v = Vector.from_coo(AT, V, size=9)
    A = Matrix.from_coo(np.full(5, 2), AT, V, nrows=4, ncols=9)
    chosen = getattr(agg, name)
    assert math.isclose(v.reduce(chosen).value, EXPECTED[name], abs_tol=1e-12)
    assert math.isclose(chosen(v).value, EXPECTED[name], abs_tol=1e-12)
    for row in (A.reduce_rowwise(chosen), A.T.reduce_columnwise(chosen)):
        assert list(row.to_dict()) == [2]
        assert row.size == 4
        assert math.isclose(row[2].value, EXPECTED[name], abs_tol=1e-12)
    place = 2 * 9 if name in {"argmin", "argmax", "first_index", "last_index"} else 0
    assert math.isclose(A.reduce_scalar(chosen).value, EXPECTED[name] + place, abs_tol=1e-12)
    assert Vector(float, 9).reduce(chosen).is_empty
    assert Matrix(float, 4, 9).reduce_rowwise(chosen).nvals == 0
    columns = A.reduce_columnwise(chosen)
    assert columns.to_coo()[0].tolist() == AT.tolist()
    assert columns.dtype == row.dtype


def test_aggregators_of_bits_and_any_value() -> None:
    values = np.array([12, 10], np.uint8)
    for name, ufunc in BITS.items():
        assert Vector.from_dense(values).reduce(getattr(agg, name)).value == ufunc.reduce(values)
    assert Vector.from_dense(values).reduce(agg.any_value).value in values


def test_reductions_join_mask_accumulator_and_output() -> None:
    A = Matrix.from_dense(np.arange(6.0).reshape(2, 3))
    w = Vector.from_dense([100.0, 200.0])
    A.reduce_rowwise(agg.mean, mask=Vector.from_dense([False, True]), accum="plus", out=w)
    assert w.to_numpy().tolist() == [100, 204]
    w("plus") << A.reduce_rowwise("max")
    assert w.to_numpy().tolist() == [102, 209]
    assert A.reduce_scalar(max).value == A.reduce_scalar(np.maximum).value == 5
    assert (A.reduce_rowwise(binary.plus).dtype, A.apply("one").reduce_scalar().value) == (np.float64, 6)
    assert A.reduce_rowwise(monoid.plus[np.int32]).dtype == np.int32


# -- scalars ---------------------------------------------------------------------------------------------


def test_scalars() -> None:
    s, empty = Scalar.from_value(3), Scalar(int)
    assert (s.dtype, s.nvals, s.is_empty, s.value, s.get(5)) == (np.int64, 1, False, 3, 3)
    assert (empty.nvals, empty.is_empty, empty.value, empty.get(5), bool(empty)) == (0, True, None, 5, False)
    assert (int(s), float(s), [7, 8, 9, 10][s], np.asarray(s).item(), round(float(-s)), abs(-s)) == (3, 3, 10, 3, -3, 3)
    assert s == 3
    assert s != 4
    assert empty == Scalar(float)
    assert Scalar.from_value(np.nan).isequal(math.nan)
    assert s.isclose(3 + 1e-9)
    assert not s.isequal(Scalar.from_value(3.0), check_dtype=True)
    assert repr(s) == "Scalar(int64, 3)"
    assert repr(Scalar(bool, name="found")) == "Scalar('found', bool, empty)"
    s << 2.9
    assert s.value == 2
    s.value = None
    assert s.is_empty
    s.update(Scalar.from_value(4))
    assert s.apply("plus", right=1).value == 5
    assert s.apply("minus", left=1.5).value == -2.5
    assert s.apply("sqrt").value == 2
    assert sr.unary.ainv(s).value == -4
    assert empty.apply("sqrt").is_empty
    assert empty.apply("sqrt").dtype == np.float64
    assert s.dup(float, name="x").dtype == np.float64
    with pytest.raises(TypeError):
        hash(s)


def test_scalars_as_arguments() -> None:
    A = Matrix.from_dense(np.arange(6.0).reshape(2, 3))
    one = Vector.from_dense([0, 1]).reduce("max")
    assert A[one, one].value == A.get(one, one) == 4
    assert A[one, :].nvals == 3
    assert A.select(">", one).nvals == 4
    assert A.apply("plus", right=one).reduce_scalar("max").value == 6
    assert A.ewise_union(A, "plus", one, one).nvals == 6
    assert Vector.full(one, 3).to_numpy().tolist() == [1, 1, 1]
    A(A.S) << one
    assert A.reduce_scalar().value == 6
    assert (one == A).reduce_scalar("land")
    assert (one == A).reduce_scalar("land")
    assert A.to_dense(fill_value=one).tolist() == [[1, 1, 1], [1, 1, 1]]
    if one:
        assert one < 2 <= one + 1


# -- copies and comparison -------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["index", "bitmap", "full"])
def test_copies_of_vectors(form: str) -> None:
    v = Vector.from_dense(np.array([1, 0, 3], np.int16), name="v").convert(form)
    for twin in (copy.copy(v), copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        assert twin.isequal(v, check_dtype=True)
        assert twin.name == "v"
        twin[0] = 9
        assert v[0].value == 1


def test_copies_of_matrices_and_scalars() -> None:
    A = Matrix.from_coo([0, 2], [3, 1], [1.5, math.nan], shape=(4, 5), name="A")
    iso = Matrix.identity(3, np.int8)
    for x in (A, iso, A.T, Matrix(bool, 0, 7), A @ A.T):
        for twin in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
            assert twin.isequal(x, check_dtype=True)
            assert twin.name == x.name
            assert twin.shape == x.shape
    for s in (Scalar.from_value(3, name="s"), Scalar(np.int8)):
        for twin in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
            assert twin.isequal(s, check_dtype=True)
            assert twin.name == s.name
    assert A.dup(name="B").name == "B"
    assert A.dup(clear=True, dtype=int).isequal(Matrix(int, 4, 5), check_dtype=True)
    assert A.new(np.float32).dtype == np.float32


# -- constructors and exports ----------------------------------------------------------------------------


def test_shapes_are_given_or_the_largest_index_plus_one() -> None:
    assert Vector.from_coo([4, 2], 1).size == 5
    assert Vector.from_coo([], []).size == 0
    assert Matrix.from_coo([1], [7]).shape == (2, 8)
    assert Matrix.from_csr([0, 1, 1], [3]).shape == (2, 4)
    assert Matrix.from_csc([0, 1, 1], [3]).shape == (4, 2)
    assert Matrix.from_edgelist([]).shape == (0, 0)
    assert Matrix.from_edgelist(np.array([[0.0, 1.0, 2.5]])).to_dicts() == {0: {1: 2.5}}
    for wrong in ([(0, 1), (1, 2, 3)], [(0,)], [(0.5, 1)]):
        with pytest.raises(InvalidValue):
            Matrix.from_edgelist(wrong)
    with pytest.raises(InvalidValue, match="hold values already"):
        Matrix.from_edgelist([(0, 1, 2)], values=3)


def test_round_trips() -> None:
    A = Matrix.from_coo([2, 0, 2], [1, 4, 0], [3, 1, 2], shape=(3, 5))
    assert Matrix.from_csr(*A.to_csr(), ncols=5).isequal(A)
    assert Matrix.from_csc(*A.to_csc(), nrows=3).isequal(A)
    assert Matrix.from_coo(*A.to_coo(), shape=A.shape).isequal(A)
    assert Matrix.from_edgelist(*A.to_edgelist(), nrows=3, ncols=5).isequal(A)
    assert Matrix.from_dicts(A.to_dicts(), nrows=3, ncols=5).isequal(A)
    assert Matrix(int, 3, 5).build(*A.to_coo()).isequal(A)
    v = Vector.from_dict({3: 1.5, 0: 2.0}, size=5)
    assert Vector.from_coo(*v.to_coo(), size=5).isequal(v)
    assert Vector.from_pairs(v.to_dict().items(), size=5).isequal(v)
    assert Vector(float, 5).build(*v.to_coo()).isequal(v)
    assert Vector.from_dense(v.to_dense(np.nan), missing_value=np.nan).isequal(v)


def test_dense_copies_contain_the_fill_value_and_belong_to_the_caller() -> None:
    levels = Vector.from_coo([0], 3, size=2, dtype=np.int32)
    assert levels.to_dense(np.inf).tolist() == [3, np.inf]
    assert levels.to_dense(-1).dtype == np.int32
    assert Vector.from_coo([0], 3, size=2, dtype=np.uint8).to_dense(-1).tolist() == [3, -1]
    assert levels.to_dense(0, dtype=np.int8).dtype == np.int8
    full = Vector.from_dense([1, 2])
    full.to_dense()[0] = 9
    given = np.array([1, 2])
    kept = Vector.from_dense(given)
    given[0] = 9
    assert full[0].value == kept[0].value == 1


def test_numpy_accepts_dense_objects_and_nothing_iterates_over_elements() -> None:
    v, A = Vector.full(1.5, 3, device="cpu"), Matrix.from_dense(np.eye(2), device="cpu")
    assert np.asarray(v).tolist() == [1.5] * 3
    assert np.asarray(A, dtype=int).tolist() == [[1, 0], [0, 1]]
    with pytest.raises(InvalidValue, match="fill_value"):
        np.asarray(Vector(float, 3, device="cpu"))
    for x in (v, A):
        with pytest.raises(TypeError, match="not iterable"):
            iter(x)
    assert (np.ones(3) + v).to_dict() == {0: 2.5, 1: 2.5, 2: 2.5}
    assert len(v) == 3


@pytest.mark.gpu
def test_numpy_does_not_convert_objects_on_the_gpu() -> None:
    with pytest.raises(TypeError, match="to_numpy"):
        np.asarray(Vector.full(1.5, 3, device="cuda"))


def test_explicit_zeros_stay() -> None:
    A = Matrix.from_coo([0, 0], [0, 1], [0.0, 1.0], shape=(1, 2))
    assert A.nvals == (A * 2).nvals == (A @ Matrix.identity(2, float)).nvals == A.T.dup().nvals == 2
    assert A.select("!=", 0).nvals == 1


def test_diagonals() -> None:
    dense = np.arange(12.0).reshape(3, 4)
    A = Matrix.from_dense(dense)
    for k in range(-4, 6):
        assert A.diag(k).to_numpy().tolist() == np.diag(dense, k).tolist()
        B = A.dup()
        B.setdiag(7, k)
        size = np.diag(dense, k).size
        assert B.diag(k).to_numpy().tolist() == [7] * size
        assert (B - A).select("!=", 0).nvals == np.count_nonzero(np.diag(dense, k) != 7)
        v = Vector.from_dense(np.arange(3.0))
        np.testing.assert_array_equal(v.diag(k).to_numpy(0), np.diag(np.arange(3.0), k))
    A.setdiag(Vector.from_coo([1], 5.0, size=3))
    assert A.diag().to_dict() == {1: 5.0}
    assert A.nvals == 10


@pytest.mark.costly
def test_inner_and_outer_pass_positions() -> None:
    u, v = Vector.from_coo([1, 3], [2, 5], size=4), Vector.from_coo([0, 3], [1, 7], size=4)
    assert u.inner(v).value == 35
    for op in ("any_secondi", "any_firstj"):
        assert u.inner(v, op).value == 3  # the k where both are
    for op in ("any_secondj", "any_firsti"):
        assert u.inner(v, op).value == 0
    assert Vector(int, 4).inner(v).is_empty
    assert u.outer(v, "secondj").to_dicts() == {1: {0: 0, 3: 3}, 3: {0: 0, 3: 3}}
    assert u.outer(v, binary.plus[np.int32]).dtype == np.int32
    assert u.outer(v, lambda x, y: x * 10 + y).to_dicts() == {1: {0: 21, 3: 27}, 3: {0: 51, 3: 57}}


def test_operators_are_called_on_pending_results_only_where_they_belong() -> None:
    A = Matrix.from_dense([[1, 2], [3, 4]])
    product = A @ A
    assert product.nvals == 4
    with pytest.raises(InvalidValue, match="computed with its own operator"):
        sr.semiring.min_plus(product)  # it was looked at: there is nothing left to do under another operator
    with pytest.raises(InvalidValue, match="A @ B"):
        sr.semiring.min_plus(A | A)
    assert binary.plus(A, 1).reduce_scalar("max").value == 5
    assert binary.plus(A | A, 1).reduce_scalar("max").value == 9
    assert sr.select.row(A > 0).to_dicts() == {1: {0: 3, 1: 4}}


# -- looks -----------------------------------------------------------------------------------------------


def test_repr() -> None:
    v = Vector.from_coo([0, 2], [1.5, 2.0], size=3, name="v")
    assert re.match(r"Vector 'v': size 3, 2 entries of float64, (index|bitmap) on (cpu|cuda)\n", repr(v))
    assert repr(v).splitlines()[1:] == ["    0  1  2", "  1.5  .  2"]
    A = Matrix.from_coo([0, 99], [0, 99], [True, False], shape=(100, 100))
    assert [line.split() for line in repr(A).splitlines()[1:]] == [
        ["i", "j", "value"],
        ["0", "0", "T"],
        ["99", "99", "F"],
    ]
    lines = repr(Matrix.from_scalar(1.5, shape=(20, 30))).splitlines()
    assert lines[1].split() == ["0", "1", "2", "3", "4", "...", "25", "26", "27", "28", "29"]
    assert [line.split()[0] for line in lines[2:]] == [*"01234", "...", *map(str, range(15, 20))]
    assert repr(Matrix(int, 0, 3)).count("\n") == 0
    assert "all 1" in repr(Matrix.identity(2))
    assert repr(A @ A).startswith("Matrix: 100 x 100")
    assert repr(v > 1).startswith("Vector: size 3")


def test_html() -> None:
    A = Matrix.from_coo([0, 99], [0, 99], [1, 2], shape=(100, 100), name="<b>")
    html = A._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert html.count("<tr>") == html.count("</tr>") == 3
    assert Matrix.from_scalar(1, shape=(100, 100))._repr_html_().count("…") > 10
    assert Vector(float, 3)._repr_html_().count("<td>") == 3
    assert Matrix(float, 0, 0)._repr_html_().startswith("<p>")
