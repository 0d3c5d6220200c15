"""An operator that is called on a chain applies to every link of it, or raises; never to some of the links."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Scalar, Vector, binary, monoid, select, semiring
from semiring.exceptions import DimensionMismatch, InvalidValue

min_plus, max_plus, plus_times = semiring.min_plus, semiring.max_plus, semiring.plus_times


def matrix(seed: int = 0) -> Matrix:
    generator = np.random.default_rng(seed)
    dense = generator.integers(1, 9, (4, 4)) * (generator.random((4, 4)) < 0.6)
    return Matrix.from_dense(dense, missing_value=0)


A, B, C = (matrix(seed) for seed in (1, 2, 3))
U, V, W = (Vector.from_dense([1, 0, 3, 2 + k], missing_value=0) for k in range(3))


def by(op: Any) -> Callable[..., Any]:
    return lambda x, y: x.vxm(y, op) if x.ndim == 1 else x.mxv(y, op) if y.ndim == 1 else x.mxm(y, op)


m = by(min_plus)
PRODUCTS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "two": (lambda: A @ B, lambda: m(A, B)),
    "three": (lambda: A @ B @ C, lambda: m(m(A, B), C)),
    "grouped to the right": (lambda: A @ (B @ C), lambda: m(A, m(B, C))),
    "a tree": (lambda: (A @ B) @ (C @ A), lambda: m(m(A, B), m(C, A))),
    "transposed operands": (lambda: A.T @ B @ C.T, lambda: m(m(A.T, B), C.T)),
    "a transposed link": (lambda: (A @ B).T @ C, lambda: m(m(A, B).T, C)),
    "a link transposed twice": (lambda: (A @ B).T.T @ C, lambda: m(m(A, B), C)),
    "a transposed chain": (lambda: (A @ B @ C).T, lambda: m(m(A, B), C).T),
    "matrices and a vector": (lambda: A @ B @ U, lambda: m(m(A, B), U)),
    "matrix, product of a vector": (lambda: A @ (B @ U), lambda: m(A, m(B, U))),
    "vector first": (lambda: U @ A @ B, lambda: m(m(U, A), B)),
    "vector, transposed": (lambda: U @ (A @ B).T, lambda: m(U, m(A, B).T)),
    "a settled link stays": (lambda: A @ max_plus(B @ C), lambda: m(A, B.mxm(C, max_plus))),
    "a named link stays": (lambda: A.mxm(B, "max_plus") @ C, lambda: m(A.mxm(B, max_plus), C)),
    "a method's link stays": (lambda: A.mxm(B) @ C, lambda: m(A.mxm(B, plus_times), C)),
    "a union inside": (lambda: A @ (B | C), lambda: m(A, B.ewise_add(C, "plus"))),
    "a copy is a value": (lambda: (A @ B).dup() @ C, lambda: m(A.mxm(B), C)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_semiring_reaches_every_product(name: str) -> None:
    chain, named = PRODUCTS[name]
    expected = named()
    assert min_plus(chain()).isequal(expected, check_dtype=True)
    assert semiring.min_plus[np.int64](chain()).isequal(expected)
    target = expected.dup(clear=True)
    target << min_plus(chain())
    assert target.isequal(expected)


e = monoid.min
UNIONS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "three unions": (lambda: A | B | C, lambda: A.ewise_add(B, e).ewise_add(C, e)),
    "three intersections": (lambda: U & V & W, lambda: U.ewise_mult(V, e).ewise_mult(W, e)),
    "mixed": (lambda: U | V & W, lambda: U.ewise_add(V.ewise_mult(W, e), e)),
    "mixed, grouped": (lambda: (U | V) & W, lambda: U.ewise_add(V, e).ewise_mult(W, e)),
    "transposed": (lambda: (A | B).T | C.T, lambda: A.ewise_add(B, e).ewise_add(C, e).T),
    "a product inside": (lambda: A @ B | C, lambda: A.mxm(B).ewise_add(C, e)),
    "a sum inside": (lambda: A + B | C, lambda: A.ewise_add(B, "plus").ewise_add(C, e)),
}


@pytest.mark.parametrize("name", UNIONS)
def test_an_operator_reaches_every_union_and_intersection(name: str) -> None:
    chain, named = UNIONS[name]
    assert monoid.min(chain()).isequal(named(), check_dtype=True)
    assert binary.min(chain()).isequal(named())


def test_the_example_of_the_contract() -> None:
    small = Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
    assert min_plus(small @ small @ small).to_dicts() == {0: {0: 3, 1: 4}, 1: {1: 9}}


def test_without_an_operator_a_chain_means_its_own() -> None:
    a, b, c = (x.to_numpy(0) for x in (A, B, C))
    assert ((A @ B @ C).to_numpy(0) == a @ b @ c).all()
    assert ((A @ B).T.to_numpy(0) == (a @ b).T).all()
    assert (A | B & C).isequal(A.ewise_add(B.ewise_mult(C, "times"), "plus"))
    p, q, r = (x.apply("one").dup(bool) for x in (A, B, C))
    assert (p | q & r).dtype == bool
    assert (U @ A @ V).value == U.to_numpy(0) @ a @ V.to_numpy(0)


@pytest.mark.one_process("counts requests, copies or locks of one process")
def test_a_link_is_computed_once() -> None:
    first = A @ B
    second = first @ C
    with sr.explain() as log:
        second.wait()
        first.wait()
    assert [call.operation for call in log] == ["mxm", "mxm"]


@pytest.mark.one_process("kernels and plans are of parts")
def test_a_mask_that_a_kernel_fuses_is_applied_once(engine: str) -> None:
    if engine == "reference":
        pytest.skip("the specification fuses no mask")
    found = A.dup()
    with sr.explain() as log:
        found(B.S, replace=True) << A.mxm(C)
        found.wait()
    assert [call.operation for call in log] == ["mxm"]


def test_a_chain_means_its_operands_as_they_were() -> None:
    a = A.dup()
    chain = a @ B @ C
    a.clear()
    assert chain.isequal(A.mxm(B).mxm(C))
    assert min_plus(A @ B @ C).nvals


@pytest.mark.parametrize("accum", [None, "plus"])
@pytest.mark.parametrize("replace", [False, True])
def test_under_a_mask_and_an_accumulator(accum: str | None, replace: bool) -> None:
    found, expected = (matrix(5) for _ in range(2))
    found(B.S, accum=accum, replace=replace) << min_plus(A @ B @ C)
    expected(B.S, accum=accum, replace=replace) << A.mxm(B, min_plus).mxm(C, min_plus)
    assert found.isequal(expected)


def test_scalars_of_chains() -> None:
    expected = U.vxm(A, min_plus).inner(V, min_plus)
    assert min_plus(U @ A @ V) == expected
    assert min_plus(U @ (A @ V)).value == U.inner(A.mxv(V, min_plus), min_plus).value
    looked_at = U @ V
    assert isinstance(looked_at, Scalar)
    assert looked_at.value == 1 + 9 + 2 * 3
    with pytest.raises(InvalidValue, match="computed with its own operator"):
        min_plus(looked_at)


def seen(x: Any) -> Any:
    repr(x)
    return x


SPENT: dict[str, Callable[[], Any]] = {
    "the whole": lambda: min_plus(seen(A @ B)),
    "a link": lambda: min_plus(seen(A @ B) @ C),
    "a link on the right": lambda: min_plus(A @ seen(B @ C)),
    "a transposed link": lambda: min_plus(seen(A @ B).T @ C),
    "a link of a link": lambda: min_plus(seen(A @ B) @ C @ A),
    "a vector": lambda: min_plus(seen(A @ U) @ A),
    "a union": lambda: monoid.min(seen(U | V) | W),
    "a comparison": lambda: select.value(seen(A > 3)),
}


@pytest.mark.parametrize("name", SPENT)
def test_a_link_that_was_read_is_not_skipped(name: str) -> None:
    with pytest.raises(InvalidValue, match=r"computed with its own operator.*\.dup\(\)"):
        SPENT[name]()


def test_a_value_that_was_written_to_is_no_link() -> None:
    x = seen(A @ B)
    x << C
    assert min_plus(x @ A).isequal(C.mxm(A, min_plus))
    y = A @ B
    y[0, 0] = 5
    assert min_plus(y @ A).isequal(y.dup().mxm(A, min_plus))


SETTLED: dict[str, Callable[[], Any]] = {
    "a sum": lambda: binary.minus(A + B),
    "a difference": lambda: monoid.min(A - B),
    "a product of elements": lambda: binary.plus(A * B),
    "a sum of products": lambda: min_plus((A @ A) + B),
    "a union of products": lambda: min_plus(A @ A | B),
    "a product of unions": lambda: monoid.min((A | B) @ C),
    "a method": lambda: min_plus(A.mxm(B)),
    "a union by name": lambda: monoid.min(A.ewise_add(B, "plus")),
    "rebound already": lambda: max_plus(min_plus(A @ B)),
    "no chain": lambda: min_plus(A),
}


@pytest.mark.parametrize("name", SETTLED)
def test_what_is_settled_is_not_rebound(name: str) -> None:
    with pytest.raises(InvalidValue, match="not named yet"):
        SETTLED[name]()


def test_errors_rise_where_the_chain_is_written() -> None:
    wide = Matrix(int, 4, 7)
    for wrong in (
        lambda: A @ B @ wide @ C,
        lambda: (A | B) | wide,
        lambda: U @ A @ wide @ A,
        lambda: B @ (A @ wide).T,
    ):
        with pytest.raises(DimensionMismatch):
            wrong()


def test_a_loop_is_no_chain() -> None:
    total = Vector(np.int64, 3)
    for step in range(500):
        total = total | Vector.from_coo([step % 3], [1], size=3)
    assert sum(total.to_dict().values()) == 500
    total = Vector(np.int64, 3)
    for step in range(200):
        total = total | Vector.from_coo([step % 3], [1], size=3)
    with pytest.raises(InvalidValue, match="more than 64 links"):
        monoid.min(total)


def test_a_chain_lets_its_operands_go() -> None:
    a = A.dup(dtype=np.int16)
    values = weakref.ref(a.store.values)
    gc.disable()
    try:
        kept = a @ B @ C
        del a
        assert values() is not None
        kept.wait()
        assert values() is None
    finally:
        gc.enable()
