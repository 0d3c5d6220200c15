"""The Kronecker product: the engine under test equals the specification and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring import Matrix, Vector
from semiring.config import config
from semiring.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64
from semiring.engines import registry
from semiring.engines.requests.operations import Kronecker
from semiring.exceptions import DimensionMismatch, DomainMismatch, InvalidValue, OutOfMemory
from semiring.formats import CSR, Pattern
from semiring.memory import allocation
from semiring.memory.budget import free_device_memory
from semiring.operators import binary
from semiring.operators.expression import Expression
from semiring.operators.types import TypedBinary
from tests.compare import assert_same, check, device_for, place
from tests.draw import make_matrix, matrices

PLACES = TypedBinary("places", INT64, INT64, INT64, Expression("x + 7 * xi + 11 * xj + 13 * yi + 17 * yj"))
# An operator of each kind, and the types of both operands, which differ from its own: values of both, and of one;
# positions; neither.
OPERATORS: list[tuple[TypedBinary, Any, Any]] = [
    (binary.times[FP64], FP32, INT8),
    (binary.second[INT32], BOOL, FP64),
    (PLACES, INT8, BOOL),
    (binary.pair[INT8], INT64, INT64),
]
SPECIFICATION = "the specification is dense, stores every value, and checks no memory"
few = st.sampled_from((0, 1, 2, 3, 7, 12))


@pytest.mark.costly
@pytest.mark.parametrize(("op", "left", "right"), [pytest.param(*row, id=row[0].name) for row in OPERATORS])
@given(data=st.data())
def test_as_the_specification(op: TypedBinary, left: Any, right: Any, engine: str, data: st.DataObject) -> None:
    """All shapes, empty ones and single rows too; with and without values of their own."""
    a = data.draw(matrices(data.draw(few), data.draw(few), left), label="A")
    b = data.draw(matrices(data.draw(few), data.draw(few), right), label="B")
    check(Kronecker(a, b, op), engine)


@pytest.mark.one_process("reads the arrays of a store")
@pytest.mark.costly
@pytest.mark.parametrize(
    "shapes", [((1, 400), (1, 300)), ((400, 1), (300, 1)), ((150, 90), (40, 130)), ((1, 1), (9, 9))]
)
@pytest.mark.parametrize("iso", [False, True])
def test_many_entries(engine: str, shapes: Any, iso: bool) -> None:
    """Enough for several threads, also within one row; compared with SciPy."""
    if engine == "reference":
        pytest.skip(SPECIFICATION)
    a, b = (make_matrix(*shape, FP64, 0.6, iso, 5) for shape in shapes)
    made = registry.run(place(Kronecker(a, b, binary.times[FP64]), device_for(engine)), engine).to("cpu")
    assert (made.iso is not None) == iso
    assert_same(made, csr_of(sp.kron(*(scipy_of(m) for m in (a, b)), format="csr")))


def scipy_of(a: CSR) -> Any:
    values = np.full(a.nvals, a.iso) if a.values is None else a.values
    return sp.csr_array((values, a.indices, a.indptr), shape=a.shape)


def csr_of(a: Any) -> CSR:
    a.sort_indices()
    return CSR(Pattern(*a.shape, a.indptr, a.indices), a.dtype, a.data)


@pytest.fixture
def A() -> Matrix:
    return Matrix.from_coo([0, 0, 2], [1, 3, 0], [2, 3, 5], shape=(3, 4))


@pytest.fixture
def B() -> Matrix:
    return Matrix.from_coo([0, 1], [1, 0], [10, 100], shape=(2, 2))


def dense(A: Matrix) -> Any:
    return A.to_numpy(0)


def test_blocks(A: Matrix, B: Matrix) -> None:
    expected = np.kron(dense(A), dense(B))
    C = A.kronecker(B)
    assert (C.shape, C.dtype, C.nvals) == ((6, 8), np.int64, 6)
    assert (dense(C) == expected).all()
    assert (dense(A.T.kronecker(B)) == np.kron(dense(A).T, dense(B))).all()
    assert (dense(A.T.kronecker(B.T)) == expected.T).all()
    assert A.kronecker(B.apply("one"), "first").reduce_scalar("plus").value == 20
    assert (A.kronecker(B, "lt").dtype, A.dup("float32").kronecker(B.dup("int8")).dtype) == (np.bool_, np.float32)


def test_positions_are_those_of_the_operands(A: Matrix, B: Matrix) -> None:
    for name, expected in {
        "firsti": {(0, 3): 0, (1, 2): 0, (0, 7): 0, (1, 6): 0, (4, 1): 2, (5, 0): 2},
        "firstj": {(0, 3): 1, (1, 2): 1, (0, 7): 3, (1, 6): 3, (4, 1): 0, (5, 0): 0},
        "secondi": {(0, 3): 0, (1, 2): 1, (0, 7): 0, (1, 6): 1, (4, 1): 0, (5, 0): 1},
        "secondj": {(0, 3): 1, (1, 2): 0, (0, 7): 1, (1, 6): 0, (4, 1): 1, (5, 0): 0},
    }.items():
        rows, cols, values = (part.tolist() for part in A.kronecker(B, name).to("cpu").to_coo())
        assert dict(zip(zip(rows, cols, strict=True), values, strict=True)) == expected


@pytest.mark.one_process("formats, codecs and placements are of parts")
def test_iso_valued_operands_give_an_iso_valued_result(A: Matrix, B: Matrix, engine: str) -> None:
    if engine == "reference":
        pytest.skip(SPECIFICATION)
    ones = A.apply("one")
    assert ones.kronecker(B.apply("one"), "plus").iso_value == 2
    assert ones.kronecker(B, "first").iso_value == 1
    assert A.kronecker(B, "pair").iso_value == 1
    assert not ones.kronecker(B).is_iso
    assert not ones.kronecker(B.apply("one"), "firsti").is_iso


def test_values_that_the_operator_does_not_read_are_not_passed_on(A: Matrix, B: Matrix) -> None:
    request: Any = A.kronecker(B, "second")._plan
    assert request.request.a.values is None
    assert request.request.b.values is not None


def test_it_is_pending_until_it_is_written(A: Matrix, B: Matrix) -> None:
    with sr.explain() as log:
        product = A.kronecker(B)
    assert not log
    full = np.kron(dense(A), dense(B))
    mask = Matrix.from_coo([0, 1, 4, 5], [3, 3, 1, 7], [True, False, True, True], shape=(6, 8))
    C = Matrix.from_coo([0, 5, 5], [3, 7, 0], [1, 2, 4], shape=(6, 8))
    D, E, F = C.dup(), C.dup(), C.dup()
    C(mask.S, accum="plus") << product
    assert C.to_dicts() == {0: {3: 21}, 4: {1: 50}, 5: {0: 4, 7: 2}}
    D(~mask.V) << product
    admitted = ~np.isin(np.arange(48).reshape(6, 8), [3, 4 * 8 + 1, 5 * 8 + 7])
    assert (dense(D) == np.where(admitted, full, dense(Matrix.from_coo([0, 5], [3, 7], [1, 2], shape=(6, 8))))).all()
    E(mask.V, replace=True) << product
    assert E.to_dicts() == {0: {3: 20}, 4: {1: 50}}
    assert A.kronecker(B, mask=mask.V, replace=True, out=F) is F
    assert F.isequal(E)
    assert A.kronecker(B, mask=mask.V).isequal(E)
    assert (dense(product.new()) == full).all()


@pytest.mark.one_process("kernels and plans are of parts")
def test_every_storage_kind_is_copied_first(A: Matrix, B: Matrix, engine: str) -> None:
    expected = A.kronecker(B)
    expected.wait()
    with sr.explain() as log:
        assert A.compress("packed").kronecker(B.to(placement="host")).isequal(expected)
    (outer,) = [call for call in log if call.details.get("kernel") == "uncompressed first"]
    assert (outer.operation, outer.details["copies"]) == ("kronecker", 2)


@pytest.mark.one_process("reads the arrays of a store")
def test_indices_are_as_wide_as_they_must_be(engine: str) -> None:
    if engine == "reference":
        pytest.skip(SPECIFICATION)
    a = Matrix.from_coo([1], [2**20 - 1], [2.0], shape=(3, 2**20))
    b = Matrix.from_coo([0, 0], [0, 2**20 - 2], [3.0, 5.0], shape=(1, 2**20))
    C = a.kronecker(b)
    assert (C.shape, C.store.indices.dtype) == ((3, 2**40), np.int64)
    assert C.to_dicts() == {1: {2**40 - 2**20: 6.0, 2**40 - 2: 10.0}}
    assert b.kronecker(a).store.indices.dtype == np.int64


def test_shapes_and_operands_that_are_refused(A: Matrix, B: Matrix) -> None:
    wide = Matrix(bool, 1, 2**31)
    with pytest.raises(
        InvalidValue, match=r"kronecker: ncols of the result must be at most 2\*\*60, got 4611686018427387904"
    ):
        wide.kronecker(wide)
    with pytest.raises(InvalidValue, match="kronecker: expected a Matrix, got Vector"):
        A.kronecker(Vector(int, 3))  # type: ignore[arg-type]
    with pytest.raises(DimensionMismatch, match=r"kronecker: the result has shape \(6, 8\), the mask \(3, 4\)"):
        A.kronecker(B, mask=A.S)
    with pytest.raises(DomainMismatch):
        A.dup("float64").kronecker(B, "band")


@pytest.mark.one_process("memory is of one process")
def test_the_memory_of_the_result_is_checked_first(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine == "reference":
        pytest.skip(SPECIFICATION)
    monkeypatch.setattr(allocation, "free_memory", lambda device: 1 << 30)
    tall = Matrix(bool, 2**15, 1)
    # Without the rule that lists the rows: a row takes an offset.
    with config.set(hyper_switch=0.0), pytest.raises(OutOfMemory, match=r"^kronecker: out of memory") as caught:
        tall.kronecker(tall).wait()
    assert caught.value.asked_bytes is not None
    assert caught.value.asked_bytes >= 4 * (2**30 + 1)
    full = Matrix.from_scalar(2.0, 1, 2**14)
    with pytest.raises(OutOfMemory, match=r"^kronecker: out of memory") as caught:
        full.kronecker(full, "firsti").wait()
    assert caught.value.asked_bytes is not None
    assert 0 <= caught.value.asked_bytes - 2**28 * (4 + 8) <= 64


@pytest.mark.gpu
def test_more_entries_than_32_bits_count() -> None:
    """2^31 + 2^16 entries: 64-bit offsets, 32-bit columns, 8.6 GB."""
    free = free_device_memory()
    if free is not None and free < 10 << 30:
        pytest.skip("the GPU has less than 10 GB free")
    with config.set(device="cuda"):
        row, column = Matrix.from_scalar(True, 1, 2**16), Matrix.from_scalar(True, 2**15 + 1, 1)
        C = row.kronecker(column, "pair")
        assert (C.nvals, C.store.indptr.dtype, C.store.indices.dtype) == (2**31 + 2**16, np.int64, np.int32)
        assert bool((C.store.indptr[1:] - C.store.indptr[:-1] == 2**16).all())
        indices = C.store.indices.reshape(-1, 2**16)
        assert bool((indices[0] == indices[-1]).all())
        assert bool((indices[-1][1:] - indices[-1][:-1] == 1).all())
        assert (int(indices[2**14, 0]), int(indices[-1, -1])) == (0, 2**16 - 1)


def test_an_empty_factor_of_many_rows() -> None:
    A = sr.Matrix.from_coo(np.arange(0, 1 << 20, 16), np.zeros(1 << 16, int), 1.0, shape=(1 << 20, 3))
    for C in (A.kronecker(sr.Matrix(float, 2, 5)), sr.Matrix(float, 2, 5).kronecker(A)):
        assert (C.shape, C.nvals, C.dtype) == ((1 << 21, 15), 0, np.float64)
