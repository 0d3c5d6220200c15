"""Arrays of NumPy and matrices of SciPy as operands, and NumPy's functions on a Matrix and a Vector."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.exceptions import DimensionMismatch, InvalidType, RankMismatch, SemiringError
from semiring.memory.arrays import to_host

ROWS, COLUMNS, VALUES = [0, 0, 1, 3], [1, 2, 2, 0], [1.0, 9.0, 2.0, -4.0]
ARRAY = np.array([1.0, 2.0, -3.0, 0.0])
SQUARE = np.arange(16.0).reshape(4, 4)

ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


@pytest.fixture(autouse=True)
def without_kernels(engine: str) -> Iterator[None]:
    """Use the specification in place of the CPU engine: these tests concern the operands, and no kernel."""
    with sr.use("reference" if engine == "cpu" else engine):
        yield


@pytest.fixture
def A() -> Matrix:
    return Matrix.from_coo(ROWS, COLUMNS, VALUES, shape=(4, 4))


@pytest.fixture
def v() -> Vector:
    return Vector.from_coo([0, 2], [5.0, 6.0], size=4)


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, sr.Scalar):
        return bool(found.value == wanted.value)
    return type(found) is type(wanted) and found.device == wanted.device and found.isequal(wanted, check_dtype=True)


def sparse(scipy_format: str = "csr") -> Any:
    return pytest.importorskip("scipy.sparse").csr_array(SQUARE).asformat(scipy_format)


# -- operators ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ARITHMETIC + COMPARISONS)
def test_an_array_is_a_full_vector_on_either_side(name: str, v: Vector) -> None:
    operation, w = getattr(operator, name), Vector.from_dense(ARRAY)
    assert same(operation(v, ARRAY), operation(v, w))
    assert same(operation(ARRAY, v), operation(w, v))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "lt"])
def test_an_array_of_two_dimensions_is_a_full_matrix(name: str, A: Matrix, v: Vector) -> None:
    operation, X = getattr(operator, name), Matrix.from_dense(SQUARE)
    assert same(operation(A, SQUARE), operation(A, X))
    assert same(operation(SQUARE, A), operation(X, A))
    assert same(operation(A, ARRAY), operation(A, Vector.from_dense(ARRAY)))
    assert same(operation(SQUARE, v), operation(X, v))


def test_products_with_arrays(A: Matrix, v: Vector) -> None:
    x, X = Vector.from_dense(ARRAY), Matrix.from_dense(SQUARE)
    for found, wanted in (
        (A @ ARRAY, A @ x),
        (ARRAY @ A, x @ A),
        (A @ SQUARE, A @ X),
        (SQUARE @ A, X @ A),
        (v @ ARRAY, v @ x),
        (ARRAY @ v, x @ v),
        (v @ SQUARE, v @ X),
        (SQUARE @ v, X @ v),
        (A.T @ ARRAY @ A, A.T @ x @ A),
        (sr.semiring.min_plus(A @ ARRAY), A.mxv(x, "min_plus")),
    ):
        assert same(found, wanted)
    assert (A @ SQUARE).format == (A @ X).format
    np.testing.assert_array_equal(
        (A @ ARRAY).to_numpy(fill_value=0), A.to_numpy(fill_value=0) @ np.where(ARRAY == 0, 0, ARRAY)
    )


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil"])
def test_sparse_matrices_of_scipy(layout: str, A: Matrix, v: Vector) -> None:
    S = sparse(layout)
    B = sr.io.from_scipy_sparse(sparse())
    assert B.nvals == SQUARE.size - 1
    for found, wanted in (
        (A + S, A + B),
        (S + A, B + A),
        (A - S, A - B),
        (S - A, B - A),
        (A * S, A * B),
        (A < S, A < B),
        (A @ S, A @ B),
        (v @ S, v @ B),
        (A.mxm(S, "min_plus"), A.mxm(B, "min_plus")),
        (v.vxm(S), v.vxm(B)),
        (A.ewise_add(S, "max"), A.ewise_add(B, "max")),
        (A.kronecker(S), A.kronecker(B)),
    ):
        assert same(found, wanted)
    for operation in (lambda: S @ A, lambda: S * A):  # SciPy's own operators convert the right operand
        with pytest.raises(InvalidType, match="from_scipy_sparse"):
            operation()


def test_sparse_matrices_with_repeated_and_unsorted_entries(A: Matrix) -> None:
    sp = pytest.importorskip("scipy.sparse")
    S = sp.csr_array(([1.0, 2.0, 4.0], [2, 0, 2], [0, 3, 3, 3, 3]), shape=(4, 4))
    assert (A * S).to_dicts() == {0: {2: 45.0}}
    assert S.nnz == 3
    assert (Vector.full(1.0, 4) * sp.coo_array(([3.0, 4.0], ([1, 1],)), shape=(4,))).to_dict() == {1: 7.0}


def test_methods_accept_what_operators_accept(A: Matrix, v: Vector) -> None:
    x, X = Vector.from_dense(ARRAY), Matrix.from_dense(SQUARE)
    for found, wanted in (
        (A.mxv(ARRAY, "max_plus"), A.mxv(x, "max_plus")),
        (v.vxm(SQUARE), v.vxm(X)),
        (A.mxm(SQUARE), A.mxm(X)),
        (v.ewise_add(ARRAY, "max"), v.ewise_add(x, "max")),
        (v.ewise_mult(ARRAY), v.ewise_mult(x)),
        (v.ewise_union(ARRAY, "minus", 1, 2), v.ewise_union(x, "minus", 1, 2)),
        (A.ewise_mult(ARRAY), A.ewise_mult(x)),
        (v.inner(ARRAY), v.inner(x)),
        (v.outer(ARRAY), v.outer(x)),
        (A.kronecker(SQUARE), A.kronecker(X)),
    ):
        assert same(found, wanted)
    assert x.isequal(ARRAY)
    assert X.isclose(SQUARE + 1e-12, abs_tol=1e-9)
    assert not v.isequal(ARRAY)
    with pytest.raises(RankMismatch, match="mxv: expected a Vector, got an array of 2 dimensions"):
        A.mxv(SQUARE)
    with pytest.raises(InvalidType, match="vxm: expected a Matrix, got Vector"):
        v.vxm(v)  # type: ignore[arg-type]


def test_the_array_is_copied_when_the_operation_is_requested(A: Matrix, v: Vector) -> None:
    x = ARRAY.copy()
    product, total = A @ x, v + x
    x[:] = 100
    assert product.isequal(A @ ARRAY)
    assert total.isequal(v + ARRAY)


def test_in_place_keeps_type_and_shape(v: Vector) -> None:
    same_object = v
    v += ARRAY
    assert v is same_object
    assert v.to_dict() == {0: 6.0, 1: 2.0, 2: 3.0, 3: 0.0}
    x = ARRAY.copy()
    with pytest.raises(InvalidType, match=r"np.add of a Vector: out not accepted.*x\[\.\.\.\] = result"):
        x += v
    np.testing.assert_array_equal(x, ARRAY)


def test_one_dimension_on_the_left_of_two_is_ambiguous(A: Matrix, v: Vector) -> None:
    ambiguous: list[Callable[[], Any]] = [
        lambda: ARRAY + A,
        lambda: ARRAY * A,
        lambda: ARRAY < A,
        lambda: v - SQUARE,
        lambda: v * sparse(),
        lambda: v.ewise_add(SQUARE),
    ]
    for operation in ambiguous:
        with pytest.raises(InvalidType, match=r"A \+ x for rows"):
            operation()


def test_bits_are_for_booleans(v: Vector) -> None:
    b, flags = Vector.from_coo([0, 1], [True, False], size=4), ARRAY > 0
    w = Vector.from_dense(flags)
    for operation in (operator.or_, operator.and_, operator.xor):
        assert same(operation(b, flags), operation(b, w))
        assert same(operation(flags, b), operation(w, b))
        with pytest.raises(InvalidType, match="is for booleans, got float64 and float64"):
            operation(v, ARRAY)
        with pytest.raises(InvalidType, match="is for booleans, got float64 and float64"):
            operation(ARRAY, v)
    with pytest.raises(InvalidType, match="is for booleans"):
        np.bitwise_and(v, v)
    with pytest.raises(TypeError):
        v & np.True_
    with pytest.raises(TypeError):
        np.True_ | v


def test_errors_of_arrays(A: Matrix, v: Vector) -> None:
    with pytest.raises(DimensionMismatch):
        A @ np.ones(5)
    with pytest.raises(DimensionMismatch):
        np.ones(5) + v
    with pytest.raises(InvalidType, match="3 dimensions"):
        v + np.ones((2, 2, 2))
    with pytest.raises(TypeError, match="expected numbers, got text"):
        v * np.array(["a", "b", "c", "d"])
    with pytest.raises(TypeError, match="unsupported operand"):
        v + "text"  # type: ignore[operator]


def test_scalars_of_numpy(v: Vector) -> None:
    for two in (np.float64(2), np.array(2.0), np.int8(2)):
        assert (two * v).to_dict() == (v * two).to_dict() == {0: 10.0, 2: 12.0}
        assert (two - v).to_dict() == {0: -3.0, 2: -4.0}
        assert (two < v).to_dict() == {0: True, 2: True}
    assert (np.float32(2) * Vector.from_dense(np.ones(3, np.float32))).dtype == np.float32


# -- universal functions -----------------------------------------------------------------------------------

UNARY = ["sqrt", "exp", "abs", "negative", "sign", "floor", "log1p", "isnan", "square", "conjugate", "logical_not"]


@pytest.mark.parametrize("name", UNARY)
def test_universal_functions_of_entries(name: str) -> None:
    function, values = getattr(np, name), np.array([4.0, 0.25, 2.5])
    made = function(Matrix.from_coo([0, 2, 1], [1, 0, 2], values, shape=(3, 3)))
    assert made.nvals == 3
    rows, columns, found = made.to_coo()
    assert sorted(zip(rows.tolist(), columns.tolist(), strict=True)) == [(0, 1), (1, 2), (2, 0)]
    np.testing.assert_allclose(to_host(found), function(values[[0, 2, 1]]))


def test_invert_negates_booleans_and_bits() -> None:
    for values in (np.array([True, False]), np.array([3, 0])):
        np.testing.assert_array_equal(np.invert(Vector.from_dense(values)).to_numpy(), np.invert(values))


def test_universal_functions_that_are_operators(A: Matrix, v: Vector) -> None:
    w = Vector.from_dense(ARRAY)
    for name in ("add", "subtract", "multiply", "divide", "less", "equal", "power"):
        function = getattr(np, name)
        assert same(function(v, ARRAY), function(v, w))
        assert same(function(ARRAY, v), function(w, v))
    assert same(np.add(v, w), v + w)
    assert same(np.less(v, 5.5), v < 5.5)
    assert same(np.less(5.5, v), v > 5.5)
    assert same(np.matmul(A, ARRAY), A @ ARRAY)
    quotient, rest = np.divmod(v, 4)
    assert same(quotient, v // 4)
    assert same(rest, v % 4)


def test_other_universal_functions_accept_a_scalar(v: Vector) -> None:
    assert np.maximum(v, 5.5).to_dict() == np.maximum(5.5, v).to_dict() == {0: 5.5, 2: 6.0}
    assert np.hypot(Vector.from_coo([1], [3.0], size=2), 4).to_dict() == {1: 5.0}
    for other in (ARRAY, v):
        with pytest.raises(InvalidType, match=r"np.maximum.*ewise_add\(v, 'max'\).*ewise_mult\(v, 'max'\)"):
            np.maximum(v, other)


REFUSED: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "out": (r"out=: write C << result", lambda A, v: np.sqrt(v, out=ARRAY)),
    "where": (r"where=: write C\(mask\) << result", lambda A, v: np.sqrt(v, where=ARRAY > 0)),
    "dtype": (r"dtype=: write result\.dup\(dtype\)", lambda A, v: np.sqrt(v, dtype=float)),
    "reduce": (r"np\.add\.reduce accepts no Vector; use \.reduce", lambda A, v: np.add.reduce(v)),
    "at": (r"np\.add\.at accepts no Vector; use .*reduce_by", lambda A, v: np.add.at(v, [0], 1)),
    "outer": (r"v\.outer", lambda A, v: np.multiply.outer(v, v)),
    "accumulate": (r"\.scan", lambda A, v: np.add.accumulate(v)),
    "reduceat": (r"\.reduce_by", lambda A, v: np.add.reduceat(v, [0, 1])),
    "no operator": (r"np\.modf: no operator.*apply\(lambda", lambda A, v: np.modf(v)),
    "sum": (r'np\.sum of a Matrix: use \.reduce_scalar\("plus"\)', lambda A, v: np.sum(A)),
    "mean": (r'np\.mean of a Matrix: use \.reduce_scalar\("mean"\)', lambda A, v: np.mean(A, axis=0)),
    "dot": (r"np\.dot of a Matrix: use A @ B", lambda A, v: np.dot(A, ARRAY)),
    "concatenate": (r"np\.concatenate of a Vector: use semiring\.concat", lambda A, v: np.concatenate([v, v])),
    "allclose": (r"use \.isclose\(other\)", lambda A, v: np.allclose(v, ARRAY)),
    "norm": (r"np\.linalg\.norm: .*(4 of 16 positions|on a GPU)", lambda A, v: np.linalg.norm(A)),
    "copyto": (r"np\.copyto writes to no Vector; write C <<", lambda A, v: np.copyto(v, ARRAY)),
    "sum into": (r"np\.sum writes to no Vector", lambda A, v: np.sum(SQUARE, axis=0, out=v)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_names_what_there_is(name: str, A: Matrix, v: Vector) -> None:
    message, operation = REFUSED[name]
    before = v.dup()
    with pytest.raises(TypeError, match=message) as caught:
        operation(A, v)
    assert isinstance(caught.value, SemiringError)
    assert v.isequal(before)


def test_functions_of_full_objects_on_the_cpu(A: Matrix, v: Vector) -> None:
    full = Vector.from_dense(ARRAY, device="cpu")
    assert np.sum(full) == ARRAY.sum()
    assert np.mean(Matrix.from_dense(SQUARE, device="cpu")) == SQUARE.mean()
    np.testing.assert_array_equal(np.concatenate([full, ARRAY]), np.concatenate([ARRAY, ARRAY]))
    np.testing.assert_allclose(full, ARRAY)
    assert (np.shape(A), np.ndim(v), np.iscomplexobj(A), np.isrealobj(v)) == ((4, 4), 1, False, True)


# -- SciPy -------------------------------------------------------------------------------------------------


def test_scipys_constructors_name_the_conversion(A: Matrix) -> None:
    sp = pytest.importorskip("scipy.sparse")
    with pytest.raises(ValueError, match="csr_array") as caught:
        sp.csr_array(A)
    assert "sr.io.to_scipy_sparse" in str(caught.value.__cause__)
    with pytest.raises(InvalidType, match=r"sr\.io\.to_scipy_sparse"):
        sp.coo_matrix(A)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_a_matrix_is_a_linear_operator(A: Matrix, dtype: str) -> None:
    linear = pytest.importorskip("scipy.sparse.linalg")
    B = A.dup(dtype) * (1 + 2j if dtype == "complex128" else 1)
    L = linear.aslinearoperator(B)
    dense = B.to_numpy(fill_value=0)
    assert L.dtype == dtype
    np.testing.assert_allclose(L.matvec(ARRAY), dense @ ARRAY)
    np.testing.assert_allclose(L.rmatvec(ARRAY), dense.conj().T @ ARRAY)
    np.testing.assert_allclose(L @ SQUARE, dense @ SQUARE)
    np.testing.assert_allclose(L.H @ ARRAY[:, None], dense.conj().T @ ARRAY[:, None])
    with pytest.raises(DimensionMismatch):
        B.matvec(np.ones(3))


def test_a_solver_of_scipy() -> None:
    linear = pytest.importorskip("scipy.sparse.linalg")
    A = Matrix.from_dense(SQUARE @ SQUARE.T + 50 * np.eye(4))
    x, failed = linear.cg(A, ARRAY, rtol=1e-10)
    assert not failed
    np.testing.assert_allclose(A.matvec(x), ARRAY, atol=1e-8)


def test_where_arrays_are_accepted(A: Matrix, v: Vector) -> None:
    """The table of docs/numpy.md."""
    i, keep, p = np.array([0, 2]), ARRAY > 0, np.array([3, 1, 0, 2])
    assert Vector.from_coo(i, ARRAY[:2], size=4).to_dict() == {0: 1, 2: 2}
    assert sr.Labels(i).row(2) == 1
    assert v[i].to_dict() == {0: 5, 1: 6}
    assert A[keep, i].shape == (2, 2)
    w, B = v.dup(), A.dup()
    w(v.S) << ARRAY
    B[i, i] = SQUARE[:2, :2]
    assert w.to_dict() == {0: 1, 2: -3}
    assert B[2, 2].value == SQUARE[1, 1]
    assert v.isequal(v.ewise_mult(np.ones(4)))
    assert A.kronecker(np.ones((1, 1))).isequal(A)
    assert A.permute(p).nvals == A.nvals
    assert v.reduce_by(np.array([0, 0, 1, 1])).to_dict() == {0: 5, 1: 6}
    assert sr.algorithms.induced_subgraph(A, i).shape == (2, 2)
    assert A.apply("plus", right=np.float64(1)).nvals == A.nvals


def test_where_arrays_are_refused(A: Matrix, v: Vector, tmp_path: Any) -> None:
    """The rest of the table: each with an error of the library."""
    refused: list[Callable[[], Any]] = [
        lambda: A[SQUARE > 4],
        lambda: A.mxv(v, mask=ARRAY > 0),
        lambda: A(SQUARE > 4) << A,
        lambda: A.apply("plus", right=ARRAY),
        lambda: sr.algorithms.pagerank(SQUARE),  # type: ignore[arg-type]
        lambda: sr.algorithms.pagerank(A, personalization=ARRAY),
        lambda: sr.algorithms.modularity(A, np.array([0, 0, 1, 1])),  # type: ignore[arg-type]
        lambda: sr.algorithms.katz_centrality(A, beta=ARRAY),  # type: ignore[arg-type]
        lambda: sr.ops.closure(v, SQUARE, "min_plus"),  # type: ignore[call-overload]
        lambda: sr.plot.layout(SQUARE),  # type: ignore[arg-type]
        lambda: sr.io.write(tmp_path / "x.mtx", SQUARE),  # type: ignore[arg-type]
        lambda: sr.hstack([A, SQUARE]),  # type: ignore[list-item]
        lambda: sr.block([[A, SQUARE]]),  # type: ignore[list-item]
        lambda: sr.concat([[A, SQUARE]]),  # type: ignore[list-item]
        lambda: sr.vstack([v, ARRAY]),  # type: ignore[list-item]
    ]
    for call in refused:
        with pytest.raises(SemiringError):
            call()
    assert not (tmp_path / "x.mtx").exists()


def test_sums_of_booleans_are_counts(A: Matrix) -> None:
    """The table of docs/operators.md."""
    B, v = A.apply("one").dup(bool), Vector.full(True, 4)
    for operator_ in ("plus", "times"):
        assert v.reduce(operator_).dtype == B.reduce_rowwise(operator_).dtype == B.scan(operator_).dtype == np.int64
        assert v.reduce_by([0, 0, 1, 1], operator_).dtype == np.int64
        assert B.mxm(B, f"{operator_}_first").dtype == np.int64
        assert v.ewise_add(v, operator_).dtype == B.ewise_mult(B, operator_).dtype == bool
    assert v.reduce("plus").value == 4
    assert (B @ v).to_dict() == {0: 2, 1: 1, 3: 1}
    assert (B @ B).dtype == (v @ v).dtype == np.int64
    assert (v + v).dtype == (v * v).dtype == (v - v).dtype == B.kronecker(B).dtype == v.outer(v).dtype == bool
    assert (v - v).to_dict() == dict.fromkeys(range(4), False)
    for name in ("min", "max", "any", "lor", "land", "lxor"):
        assert v.reduce(name).dtype == B.mxm(B, f"{name}_first").dtype == bool
    w = Vector(bool, 4)
    w << B @ v
    assert (w.dtype, w.to_dict()) == (np.dtype(bool), {0: True, 1: True, 3: True})
