"""Operations that concern few positions of large matrices cost those positions, and have the result of the definition.

A mask or an operand lists the positions; matrices are updated in place; a product reads a mask where it needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector

SHAPE = 5, 70
SIZE = SHAPE[0] * SHAPE[1]


@pytest.fixture(autouse=True)
def _cpu(engine: str) -> None:
    if engine != "cpu":
        pytest.skip("methods of the CPU engine")


def drawn(rng: np.random.Generator, count: int, dtype: Any = np.int64, form: str = "csr") -> Matrix:
    """Random entries, or all of them in the form "full"."""
    places = np.sort(rng.choice(SIZE, SIZE if form == "full" else count, replace=False))
    values = rng.integers(1, 50, places.size).astype(dtype)
    if form == "full":
        return Matrix.from_dense(values.reshape(SHAPE))
    return Matrix.from_coo(*np.divmod(places, SHAPE[1]), values, shape=SHAPE).convert(form)


def defined(compute: Callable[..., Any], *operands: Any) -> Any:
    """The result of the reference engine."""
    with sr.use("reference"):
        return compute(*(operand.dup() for operand in operands))


def details(log: Any, name: str) -> list[Any]:
    return [call.details[name] for call in log if name in call.details]


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "ewise_mult": lambda A, B, mask: A.ewise_mult(B, "minus", mask=mask).new(),
    "ewise_add": lambda A, B, mask: A.ewise_add(B, "minus", mask=mask).new(),
    "ewise_union": lambda A, B, mask: A.ewise_union(B, "minus", 3, 4, mask=mask).new(),
    "positions": lambda A, B, mask: A.ewise_add(B, "secondi", mask=mask).new(),
}
MASKS: dict[str, Callable[[Any], Any]] = {"S": lambda M: M.S, "V": lambda M: M.V, "~S": lambda M: ~M.S}


@pytest.mark.costly
@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize("forms", [("csr", "csr"), ("bitmap", "full")])
def test_a_mask_of_few_entries_is_the_cost(name: str, forms: tuple[str, str]) -> None:
    rng = np.random.default_rng(len(name))
    compute = ELEMENTWISE[name]
    A, B = drawn(rng, 160, np.int64, forms[0]), drawn(rng, 140, np.int64, forms[1])
    M = drawn(rng, 20).apply("minus", right=25).new()
    M(M.S) << M.apply("max", right=0)
    for kind in ("S", "V", "~S"):
        with sr.explain() as log:
            made = compute(A, B, MASKS[kind](M))
        assert ("probed" in details(log, "kernel")) == (kind != "~S")
        expected = defined(lambda A, B, M, kind=kind: compute(A, B, MASKS[kind](M)), A, B, M)
        assert made.isequal(expected, check_dtype=True), kind


@pytest.mark.parametrize("form", ["full", "bitmap"])
def test_a_sparse_operand_is_the_cost(form: str) -> None:
    rng = np.random.default_rng(4)
    A, B, M = drawn(rng, 15), drawn(rng, 200, np.float64, form), drawn(rng, 150)
    for left, right in ((A, B), (B, A)):
        for kind in (None, "S", "~S"):
            mask = (lambda M: None) if kind is None else MASKS[kind]
            compute = lambda x, y, M, mask=mask: x.ewise_mult(y, "minus", mask=mask(M)).new()  # noqa: E731
            with sr.explain() as log:
                made = compute(left, right, M)
            assert "probed" in details(log, "kernel")
            assert made.isequal(defined(compute, left, right, M), check_dtype=True)


def test_vectors_under_a_mask_of_few_entries() -> None:
    rng = np.random.default_rng(5)
    m = Vector.from_coo(np.sort(rng.choice(SIZE, 9, replace=False)), rng.integers(0, 2, 9), size=SIZE)
    sides = {
        "full": Vector.from_dense(rng.integers(1, 9, SIZE)),
        "bitmap": Vector.from_coo(np.arange(0, SIZE, 2), 5, size=SIZE).convert("bitmap"),
        "index": Vector.from_coo(np.arange(0, SIZE, 3), np.arange(0, SIZE, 3), size=SIZE).convert("index"),
    }
    for u in sides.values():
        for v in (sides["full"], sides["index"]):
            for name, kind in (("ewise_mult", "S"), ("ewise_add", "V"), ("positions", "S")):
                compute = lambda u, v, m, name=name, kind=kind: ELEMENTWISE[name](u, v, MASKS[kind](m))  # noqa: E731
                assert compute(u, v, m).isequal(defined(compute, u, v, m), check_dtype=True)


@pytest.mark.costly
@pytest.mark.parametrize("form", ["full", "bitmap"])
def test_matrices_are_updated_in_place(form: str) -> None:
    rng = np.random.default_rng(6)
    C, T = drawn(rng, 200, np.int64, form), drawn(rng, 15)
    before, held = C.dup(), C.dup()
    C(accum="minus") << T  # held by three: copied
    store: Any = C.store
    address = store.values.__array_interface__["data"][0]
    del store
    with sr.explain() as log:
        C(accum="minus") << T
        C(T.S) << T
        C(accum="plus") << T.mxm(Matrix.from_coo(range(70), range(70), 2), "plus_times")
    store = C.store
    assert [call.operation for call in log].count("update_matrix") == 3
    assert store.values.__array_interface__["data"][0] == address
    assert held.isequal(before)

    def compute(C: Any, T: Any) -> Any:
        C(accum="minus") << T
        C(accum="minus") << T
        C(T.S) << T
        C(accum="plus") << T.apply("times", right=2).new()
        return C

    assert C.isequal(defined(compute, before, T), check_dtype=True)


def test_no_holder_of_a_matrix_sees_an_update() -> None:
    rng = np.random.default_rng(7)
    for form in ("full", "bitmap"):
        C, T = drawn(rng, 200, np.int64, form), drawn(rng, 10)
        C(accum="plus") << T
        mask, copy, pending = C.S, C.dup(), C.apply("plus", right=1)
        expected = copy.to_dicts()
        C(accum="plus") << T
        C(accum="plus") << T
        assert copy.to_dicts() == expected
        assert pending.to_dicts() == {i: {j: x + 1 for j, x in row.items()} for i, row in expected.items()}
        assert mask.new().nvals == copy.nvals
        view = C.apply("one").new()  # shares the structure
        C(accum="plus") << drawn(rng, 30)
        assert view.nvals == copy.nvals


def test_rows_with_many_entries_become_a_bitmap() -> None:
    rng = np.random.default_rng(8)
    C, T = drawn(rng, 200), drawn(rng, 10)
    few, iso = drawn(rng, 20), Matrix(np.int64, *SHAPE)
    iso << 1
    for target, form in ((C, "bitmap"), (few, "csr"), (iso, "full")):
        expected = defined(lambda C, T: C(accum="plus") << T, target, T)
        target(accum="plus") << T
        assert target.format == form
        assert target.isequal(expected, check_dtype=True)


@pytest.mark.costly
@pytest.mark.parametrize("ring", ["plus_times", "any_pair", "min_secondi", "plus_firstj"])
def test_a_product_reads_the_bits_of_a_complemented_mask(ring: str) -> None:
    rng = np.random.default_rng(9)
    B = Matrix.from_coo(*(rng.integers(0, 70, (2, 900))), rng.integers(1, 5, 900), shape=(70, 70), dup_op="max")
    for count in (6, 120):
        A, M = drawn(rng, count), drawn(rng, 150, form="bitmap")
        with sr.explain() as log:
            made = A.mxm(B, ring, mask=~M.S).new()
        assert details(log, "mask") == ["bits"]
        assert made.isequal(A.mxm(B, ring, mask=~M.convert("csr").S).new(), check_dtype=True)


@pytest.mark.costly
@pytest.mark.parametrize("ring", ["plus_pair", "plus_times", "min_secondi", "plus_firstj"])
def test_the_transpose_of_a_product_under_a_mask_is_derived_where_that_costs_less(ring: str) -> None:
    dense = sr.random.uniform(300, 1000, seed=3)
    symmetric = sr.Matrix.from_coo(*dense.to_coo()[:2], True, shape=dense.shape)
    weighted = symmetric.apply("colindex").new()
    for A in (symmetric, weighted.select("<", 290).new()):
        with sr.explain() as log:
            made = A.mxm(A, ring, mask=A.S).new()
        assert details(log, "method") == ["dot"]
        assert made.isequal(A.mxm(A, ring, mask=A.S, method="rows").new(), check_dtype=True)
    sparse = sr.random.uniform(3000, 2, seed=3)
    with sr.explain() as log:
        sparse.mxm(sparse, ring, mask=sparse.S).wait()
    assert details(log, "method") == ["rows"]


def test_rows_of_a_masked_product_have_no_gaps() -> None:
    """Threads write each row where the mask leaves space; rows without products leave gaps."""
    A = sr.random.uniform(9000, 12, seed=1)
    M = sr.random.uniform(9000, 3, seed=2)
    for ring in ("plus_times", "any_pair"):
        made = A.mxm(A, ring, mask=M.S, method="rows").new()
        assert made.isequal(A.mxm(A, ring).new()[M.S])
        assert 0 < made.nvals < M.nvals


def test_writing_into_an_empty_matrix_is_one_request() -> None:
    rng = np.random.default_rng(10)
    A, M = drawn(rng, 40), drawn(rng, 200)
    B = Matrix.from_coo(range(70), range(70), 2)
    for options in ({}, {"accum": "plus"}, {"replace": True}):
        C = Matrix(np.int64, *SHAPE)
        with sr.explain() as log:
            C(M.S, **options) << A.mxm(B, "plus_times")
        assert [call.operation for call in log] == ["mxm"]
        assert C.isequal(A.apply("times", right=2).new()[M.S])
