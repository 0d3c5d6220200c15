"""`semiring.compat.graphblas`: what differs from `semiring` itself, typed by hand once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import semiring as sr
import semiring.compat.graphblas as gb
from semiring.compat.graphblas import dtypes

TYPES = [dtypes.lookup_dtype(dtype) for dtype in sr.dtypes.ALL]


def test_types_have_names_and_are_dtypes() -> None:
    assert [made.name for made in TYPES[:3]] == ["BOOL", "INT8", "INT16"]
    for made in TYPES:
        assert np.dtype(made) == made.np_type  # type: ignore[call-overload]
        assert made == made.name
        assert made.np_type == made
        assert made in {made.np_type}
        assert pickle.loads(pickle.dumps(made)) is made
        assert gb.Vector(made, size=2).dtype == made
        assert dtypes.lookup_dtype(made.c_type) is (dtypes.FP64 if made is dtypes.FP32 else made)


def test_types_compare_with_types_only() -> None:
    assert sorted([dtypes.UINT8, dtypes.INT64, dtypes.INT8, dtypes.FP64, dtypes.BOOL])[0] is dtypes.BOOL
    assert dtypes.BOOL < "FP32"
    assert dtypes.unify(dtypes.INT64, "UINT64") is dtypes.FP64
    with pytest.raises(TypeError):
        assert object() == dtypes.BOOL
    with pytest.raises(TypeError):
        assert dtypes.BOOL < 5


def numbers(dtype: str = "int64") -> gb.Matrix:
    made: gb.Matrix = gb.Matrix.from_coo([0, 0, 1], [1, 2, 0], [1, 2, 3], dtype, nrows=2, ncols=3)
    return made


def test_results_are_of_these_classes() -> None:
    A = numbers()
    v = gb.Vector.from_coo([0, 1], [4, 5], size=3)
    matrices = [A + A, A.T, A @ A.T, A[:, 1:], A.dup(), A.apply("ainv"), v.outer(v), v.diag(), A.kronecker(A)]
    matrices += [v.reshape(1, 3), A.ewise_mult(v, "times"), pickle.loads(pickle.dumps(A)), sr.concat([[A, A]])]
    vectors = [
        A @ v,
        v @ A.T,
        A[0],
        A[0, :],
        A.reduce_rowwise(),
        A.reduce_rowwise("count"),
        A.diag(),
        A.flatten(),
        v + v,
    ]
    vectors += [w for _, w in A.iter_rows()] + [pickle.loads(pickle.dumps(v))]
    scalars = [A[0, 1], v[0], A.reduce_scalar(), v.reduce("mean"), v.inner(v), v @ v, v[0] | v[1], -v[0], v[0] + 1]
    scalars += [v.reduce("argmax"), v[0].dup(), pickle.loads(pickle.dumps(v[0])), 2 * v[0], v[0] * v[1]]
    for kind, made in ((gb.Matrix, matrices), (gb.Vector, vectors), (gb.Scalar, scalars)):
        assert {type(one) for one in made} == {kind}
        assert {type(one.dtype) for one in made} == {dtypes.DataType}
    assert isinstance(sr.Vector(int, 2), gb.Vector)
    assert not isinstance(sr.Vector(int, 2), gb.Matrix)
    assert type(sr.Matrix(int, 2, 2) @ sr.Vector(int, 2)) is sr.Vector


def test_indices_are_unsigned_and_iterated_over() -> None:
    A = numbers()
    v = gb.Vector.from_coo([0, 2], [4, 5])
    assert {part.dtype for part in A.to_coo(values=False)[:2]} == {np.dtype(np.uint64)}
    assert v.to_coo()[0].dtype == np.uint64
    assert list(v) == [0, 2]
    assert list(A) == [(0, 1), (0, 2), (1, 0)]
    assert [part.tolist() for part in A.T.to_coo()] == [[1, 2, 0], [0, 0, 1], [1, 2, 3]]
    assert A.T.to_coo(rows=False)[0] is None


def test_the_transpose_of_the_transpose_is_the_object() -> None:
    A = numbers()
    transposed = A.T
    assert transposed.T is A
    A[0, 0] = 9
    assert transposed.T is not A
    assert transposed.T.isequal(numbers())
    assert A.T.T is A


def test_inversion_negates_booleans() -> None:
    v = gb.Vector.from_coo([0, 2], [True, False], size=3)
    assert (~v).to_dict() == {0: False, 2: True}
    with pytest.raises(TypeError, match="booleans"):
        ~numbers()


def test_arithmetic_of_scalars() -> None:
    s, none = gb.Scalar.from_value(5), gb.Scalar(int)
    assert [(s + 1).value, (1 - s).value, (s**2).value, (s // 2).value, (s % 2).value] == [6, -4, 25, 2, 1]
    assert (-s).apply(gb.unary.abs) == 5
    assert [(none + 1).value, (1 - none).value, (none - s).value, (s + none).value] == [1, 1, -5, 5]
    assert all(made.is_empty for made in (none + none, s * none, none / 2, 2**none, -none, none < s))
    assert ((s < 10).dtype, (s < 10).value, (s >= gb.Scalar.from_value(6)).value) == ("BOOL", True, False)
    assert (gb.select.value(s < 10) == s, gb.select.value(s > 10).is_empty) == (True, True)
    assert gb.select.valuene(5, s).is_empty
    assert (gb.Scalar.from_value(100, "INT8") + 100).value == 200
    assert gb.Scalar(int, is_cscalar=True).is_empty


def test_errors_for_programs_of_python_graphblas() -> None:
    A = numbers()
    with pytest.raises(IndexError, match="out of range"):
        A.setdiag(1, 3)
    with pytest.raises(gb.exceptions.InvalidObject):
        gb.Matrix.from_dicts([{1: 1}], ncols=1)
    with pytest.raises(OverflowError):
        gb.Vector.from_coo([0, 2**64], [0, 1])
    for wrong in (
        lambda: gb.Vector.from_scalar(1),
        lambda: gb.Matrix.from_scalar(1, nrows=2),
        lambda: A.setdiag(object()),
    ):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(TypeError, match="from_scalar"):
        gb.Vector.from_dense(1)
    with pytest.raises(gb.exceptions.NotImplementedException):
        A.reduce_rowwise(gb.binary.register_anonymous(lambda x, y: x + y))


def test_programs_with_other_libraries() -> None:
    sparse = gb.io.to_scipy_sparse(numbers())
    assert type(gb.io.from_scipy_sparse(sparse)) is gb.Matrix
    assert gb.io.from_scipy_sparse(sparse).isequal(numbers())
    assert gb.io.to_scipy_sparse(gb.Vector.from_coo([0, 2], [4, 5])).toarray().tolist() == [[4, 0, 5]]
    assert sr.algorithms.bfs_levels(gb.Matrix.from_coo([0, 1], [1, 2], nrows=3, ncols=3), 0).to_dict() == {
        0: 0,
        1: 1,
        2: 2,
    }


def test_operators_of_all_kinds_but_index_unary_ones() -> None:
    assert gb.op.plus is gb.binary.plus
    assert gb.op.min_plus is gb.semiring.min_plus
    assert gb.op.from_string("sqrt") is gb.unary.sqrt
    assert gb.op.numpy.add is gb.binary.numpy.add
    assert not {"rowindex", "tril"} & {*dir(gb.op), *vars(gb.op)}
    with pytest.raises(AttributeError):
        gb.op.rowindex  # noqa: B018
    made = gb.unary.register_new("only_in_op", "x + 3")
    assert gb.op.only_in_op is made
    del gb.unary.only_in_op
