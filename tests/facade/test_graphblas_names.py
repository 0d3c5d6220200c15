"""Names, keywords and calls of python-graphblas that objects of this library accept."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Scalar, Vector, agg, binary, indexunary, monoid, select, unary
from semiring.exceptions import (
    DomainMismatch,
    InvalidFormat,
    InvalidMask,
    InvalidOperator,
    InvalidType,
    InvalidValue,
    OutputNotEmpty,
    RankMismatch,
    UnsupportedType,
)
from semiring.memory.arrays import to_host


def vector() -> Vector:
    return Vector.from_coo([1, 3, 4, 6], [1, 1, 2, 0], size=7)


def matrix() -> Matrix:
    return Matrix.from_coo([0, 0, 1, 2, 2], [1, 3, 0, 1, 2], [5, 2, 7, 1, 9], nrows=3, ncols=4)


def test_an_operator_takes_numbers_on_either_side() -> None:
    v = vector()
    assert binary.minus(2, v).isequal(v.apply("minus", left=2))
    assert binary.minus(v, 2).isequal(v.apply("minus", right=2))
    assert binary.plus(5, 2) == 7
    assert binary.plus(5, Scalar.from_value(2)) == 7
    assert unary.cos(0) == 1
    assert indexunary.rowindex(matrix(), thunk=2).isequal(matrix().apply("rowindex", 2))
    with pytest.raises(TypeError, match="got object"):
        unary.sin(object())
    with pytest.raises(TypeError):
        unary.exp(v, 1)


def test_defaults_replace_missing_entries_of_a_chain() -> None:
    v, w = Vector.from_coo([0], [1], size=3), Vector.from_coo([1], [2], size=3)
    united = binary.plus(v | w, left_default=10, right_default=20)
    assert united.to_dict() == {0: 21, 1: 12}
    assert monoid.plus(v | w, left_default=10, right_default=Scalar.from_value(20)).isequal(united)
    for bad in (v & w, v @ w, v):
        with pytest.raises(TypeError):
            binary.plus(bad, left_default=10, right_default=20)
    with pytest.raises(InvalidType, match="both"):
        binary.plus(v | w, left_default=10)


def test_scalars_with_operators() -> None:
    s, t, empty = Scalar.from_value(1), Scalar.from_value(2), Scalar(int)
    assert binary.plus((s | t) | empty) == 3
    assert binary.plus(1 | (2 | empty)) == 3
    assert monoid.max((s & t) & empty).is_empty
    assert binary.minus(s | empty, left_default=10, right_default=20) == -19
    assert s.ewise_union(empty, "plus", 10, 20) == 21
    assert (s.ewise_add(t).value, s.ewise_mult(empty).value) == (3, None)
    assert (~Scalar.from_value(True)).value is False
    assert (~Scalar(bool)).is_empty
    assert s.select(">", 0) == 1
    assert s.select(">", 1).is_empty
    with pytest.raises(TypeError):
        operator.invert(s)
    with pytest.raises(TypeError):
        s | "text"


def test_a_link_of_scalars_has_the_values_of_its_moment() -> None:
    s = Scalar.from_value(1)
    link = s | 2
    s.value = 100
    assert binary.plus(link) == 3


def test_scalars_are_written_to() -> None:
    s = Scalar.from_value(5)
    s(accum=binary.plus) << 6
    s() << s
    assert s == 11
    s(binary.times) << Scalar(int)
    assert s == 11
    total = Scalar(float)
    total(accum="plus") << vector().reduce()
    total(accum="plus") << 0.25
    assert total == 4.25
    for bad in (
        lambda: s(s),
        lambda: s(mask=vector().S),
        lambda: s(replace=True),
        lambda: s(sr.replace),
        lambda: s()[0],
    ):
        with pytest.raises(TypeError):
            bad()


def test_values_are_python_numbers() -> None:
    v, A = vector(), matrix()
    for value, kind in (
        (v[1].value, int),
        (v.get(1), int),
        (A.get(0, 1), int),
        (v.dup(float)[1].value, float),
        (v.dup(bool)[1].get(), bool),
        (v.dup(np.float32).reduce().value, float),
    ):
        assert type(value) is kind
    assert v.get(0, "none") == "none"
    assert Scalar.from_value(2**63, np.uint64).value == 2**63


def test_exports_by_parts() -> None:
    v, A = vector(), matrix()
    indices, values = v.to_coo(float, indices=False, sort=False)
    assert indices is None
    assert values.dtype == float
    rows, columns, values = A.to_coo(rows=False, values=False)
    assert (rows, values) == (None, None)
    assert to_host(columns).tolist() == [1, 3, 0, 1, 2]
    assert A.to_csr(np.float32)[2].dtype == A.to_csc(np.float32)[2].dtype == np.float32
    assert A.to_edgelist(values=False)[1] is None
    assert A.to_dicts("columnwise") == A.T.to_dicts() == {0: {1: 7}, 1: {0: 5, 2: 1}, 2: {2: 9}, 3: {0: 2}}
    assert Matrix.from_dicts(A.to_dicts("col"), order="col").isequal(A)
    assert Matrix.from_dicts([{1: 5, 3: 2}, {0: 7}, {1: 1, 2: 9}]).isequal(A)
    for bad in (lambda: A.to_dicts("diagonal"), lambda: Matrix.from_dicts([{0: 1}], nrows=2)):
        with pytest.raises(InvalidValue):
            bad()


@pytest.mark.parametrize(
    "make", [matrix, lambda: Matrix(int, 5, 2), lambda: Matrix.from_coo([4], [0], [1], nrows=9, ncols=1)]
)
def test_doubly_compressed_rows(make: Callable[[], Matrix]) -> None:
    A = make()
    nrows, ncols = A.shape
    assert Matrix.from_dcsr(*A.to_dcsr(), nrows=nrows, ncols=ncols).isequal(A, check_dtype=True)
    assert Matrix.from_dcsc(*A.to_dcsc(float), nrows=nrows, ncols=ncols).isequal(A.dup(float), check_dtype=True)
    compressed, indptr, _, _ = A.to_dcsr()
    assert len(compressed) == len(indptr) - 1 == len(A.to_dicts())


@pytest.mark.parametrize(
    "arrays", [([], [], [], []), ([0], [0, 2], [1], [1]), ([0, 1], [0, 2, 1], [0], [1]), ([0], [1, 1], [0], [1])]
)
def test_doubly_compressed_rows_are_checked(arrays: Any) -> None:
    with pytest.raises(InvalidFormat):
        Matrix.from_dcsr(*arrays, dtype=int)


def test_build_may_clear_and_resize() -> None:
    v, A = vector(), matrix()
    with pytest.raises(OutputNotEmpty):
        v.build([0], [1])
    assert v.build([0, 8], [1, 2], clear=True, size=9).to_dict() == {0: 1, 8: 2}
    assert A.build([4], [4], [1], clear=True, nrows=5, ncols=5).to_dicts() == {4: {4: 1}}


def test_input_masks_limit_what_a_part_is_taken_from() -> None:
    v, m = Vector.from_dense([0, 1, 2]), Vector.from_coo([0, 2], [0, 2], size=3)
    assert v[[0, 1]].new(input_mask=m.S).to_dict() == {0: 0}
    w = Vector(int, 2)
    w(input_mask=m.V) << v[[1, 2]]
    assert w.to_dict() == {1: 2}
    A = Matrix.from_dense([[0, 1, 2], [3, 4, 5]])
    assert A[1, [0, 2]].new(input_mask=m.V).to_dict() == {1: 5}
    assert A[:, 0].new(input_mask=Matrix.from_coo([1], [0], True, nrows=2, ncols=3).S).to_dict() == {1: 3}
    for bad in (
        lambda: v.new(input_mask=m.S),
        lambda: v[[0]].new(input_mask=m.S, mask=m.S),
        lambda: w(input_mask=m.S) << v,
        lambda: w(m.S, input_mask=m.S),
        lambda: w(input_mask=m.S)[[0]],
        lambda: A[:1, :1].new(input_mask=m.S),
    ):
        with pytest.raises(TypeError):
            bad()


def test_reductions_without_entries() -> None:
    v, A = Vector(int, 3), Matrix(int, 2, 2)
    for reduced in (v.reduce, A.reduce_scalar):
        assert reduced("min").is_empty
        assert reduced("times", allow_empty=False) == 1
        assert reduced(agg.sum, allow_empty=False) == 0
        for bad in (agg.mean, agg.first, "any"):
            with pytest.raises(InvalidValue):
                reduced(bad, allow_empty=False)


def test_aggregators_of_a_type_and_by_call() -> None:
    v, A = vector(), matrix()
    assert agg.sum(v) == 4
    assert agg.sum[float](v).value == 4.0
    assert v.dup("int8").reduce(agg.count["int16"]).dtype == np.int16
    assert v.reduce(agg.mean["int64"]).dtype == agg.mean["int64"].return_type == np.float64
    assert v.reduce(agg.argmax["int8"]).dtype == np.int64
    assert agg.sum(A, rowwise=True).isequal(A.reduce_rowwise(agg.sum))
    assert agg.sum["float32"](A, columnwise=True).isequal(A.reduce_columnwise(agg.sum).dup("float32"), check_dtype=True)
    assert agg.from_string("+[int8]") is agg.sum["int8"]
    assert ("int64" in agg.bitwise_all, "float64" in agg.bitwise_all) == (True, False)
    for bad in (lambda: agg.sum(v, rowwise=True), lambda: agg.sum(A, rowwise=True, columnwise=True)):
        with pytest.raises(InvalidValue):
            bad()


def test_masks_select() -> None:
    v, A = vector(), matrix()
    kept = v.select(v == 1)
    assert kept.to_dict() == {1: 1, 3: 1}
    assert v.select(kept.S).isequal(kept)
    assert v.select(~kept.S).to_dict() == {4: 2, 6: 0}
    assert A.select("col<=", 1).isequal(select.colle(A, 1))
    assert A.select("TRIU").isequal(select.triu(A))
    with pytest.raises(InvalidType, match="thunk"):
        v.select(kept.S, 3)
    with pytest.raises(RankMismatch):
        A.select(kept.S)


@pytest.mark.parametrize("method", [operator.ior, operator.iand, operator.ixor])
def test_booleans_in_place(method: Callable[[Any, Any], Any]) -> None:
    values = np.array([True, False, True])
    v = Vector.from_dense(values)
    for other, array in ((True, np.array(True)), (Vector.from_dense(~values), ~values)):
        assert method(v.dup(), other).to_numpy().tolist() == method(values.copy(), array).tolist()
    with pytest.raises(TypeError):
        method(vector(), True)


def test_replace_is_a_part_of_a_write() -> None:
    v, m = vector(), Vector.from_coo([1], True, size=7)
    v(m.S, sr.replace) << 5
    assert v.to_dict() == {1: 5}
    v(accum="plus", mask=m.S).update(2)
    assert v.to_dict() == {1: 7}
    assert repr(sr.replace) == "replace"
    del v(m.S)[1]
    assert v.nvals == 0


def test_errors_are_also_what_python_raises() -> None:
    v, A = vector(), matrix()
    calls: list[tuple[Callable[[], Any], tuple[type[Exception], ...]]] = [
        (lambda: binary.bor[float], (KeyError, DomainMismatch, UnsupportedType)),
        (lambda: v.ewise_add(v, sr.semiring.plus_times), (TypeError, ValueError, InvalidOperator)),
        (lambda: v.reduce(binary.minus), (TypeError, InvalidOperator)),
        (lambda: v[object()], (TypeError, InvalidValue)),
        (lambda: v << object(), (TypeError, InvalidValue)),
        (lambda: v.ewise_add(3), (TypeError, InvalidValue)),
        (lambda: v(A.S) << v, (TypeError, RankMismatch)),
        (lambda: A[:, :](v.S) << 1, (TypeError, ValueError, RankMismatch)),
        (lambda: v[1](v.S) << 1, (TypeError, InvalidMask)),
        (lambda: v.__setitem__(0, [1]), (TypeError, InvalidType)),
        (lambda: v.to_dense(), (TypeError, ValueError)),
        (lambda: bool(A), (TypeError, ValueError)),
        (lambda: v.wait("soon"), (ValueError,)),
        (lambda: Scalar.from_value(1).isequal(object()), (TypeError, ValueError)),
        (lambda: Matrix.from_coo([0], [0], [object()]), (TypeError, ValueError)),
    ]
    for call, errors in calls:
        with pytest.raises(errors[0]) as caught:
            call()
        assert all(isinstance(caught.value, error) for error in (*errors, sr.exceptions.GraphblasException))
    with pytest.raises(KeyError) as missing:
        binary.bor[float]
    assert str(missing.value).startswith("binary.bor is not")


def test_a_diagonal_of_another_type() -> None:
    v = vector()
    assert v.diag(1, float).diag(1, dtype=int).isequal(v, check_dtype=True)
    assert v.diag(0, float).dtype == float


def test_waiting_takes_the_mode() -> None:
    for x in (vector(), matrix(), Scalar.from_value(1)):
        assert x.wait("complete") is x


def test_a_diagonal_under_a_mask_of_the_whole_matrix() -> None:
    A = sr.Matrix.from_coo([0, 1, 1], [0, 1, 2], [1, 0, 3], shape=(2, 3))
    A.setdiag(7, mask=A.S)
    assert A.to_dicts() == {0: {0: 7}, 1: {1: 7, 2: 3}}
    A.setdiag(9, 1, mask=~A.S)
    assert A.to_dicts() == {0: {0: 7, 1: 9}, 1: {1: 7, 2: 3}}
    with pytest.raises(sr.exceptions.DimensionMismatch, match="mask has shape"):
        A.setdiag(1, mask=A.T.S)


def test_division_with_remainder() -> None:
    v = vector()
    whole, rest = divmod(v, 2)
    assert whole.isequal(v // 2)
    assert rest.isequal(v % 2)
    whole, rest = divmod(7, v)
    assert whole.isequal(7 // v)
    assert rest.isequal(7 % v)
    assert divmod(Scalar.from_value(7), 2) == (3, 1)
    assert divmod(7, Scalar.from_value(2)) == (3, 1)


def test_names_of_objects() -> None:
    made = [Vector.from_dict({0: 1}, name="a"), Vector.from_pairs([(0, 1)], name="a"), vector().diag(name="a")]
    assert {
        one.name for one in [*made, vector().diag().diag(dtype=float, name="a"), vector().diag().diag(name="a")]
    } == {"a"}
