"""Objects die with their last reference: nothing waits for the cycle collector, which on a GPU means out of memory."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, select, semiring


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def looked(x: Any) -> Any:
    _ = x.nvals
    return x


def refused(v: Vector) -> Vector:
    with pytest.raises(sr.SemiringError):
        v << Vector(float, 99)
    return v


MADE: dict[str, Callable[[Matrix, Vector], Any]] = {
    "product": lambda A, v: A @ A,
    "product by name": lambda A, v: semiring.min_plus(A @ v),
    "product, looked at": lambda A, v: looked(v.vxm(A, "any_pair")),
    "ewise": lambda A, v: A + A,
    "ewise, looked at": lambda A, v: looked(v | v),
    "compare": lambda A, v: v > 1,
    "select": lambda A, v: select.value(A > 1),
    "transpose": lambda A, v: A.T,
    "transpose, looked at": lambda A, v: looked(A.T),
    "transpose, used": lambda A, v: looked(A.T + A),
    "region": lambda A, v: A[1:, :],
    "element": lambda A, v: A[0, 0],
    "element, looked at": lambda A, v: looked(A[0, 0]),
    "target": lambda A, v: A(A.S, "plus"),
    "write": lambda A, v: v(v.S, "plus") << v @ A,
    "aggregate": lambda A, v: looked(v.reduce("mean")),
    "search": lambda A, v: looked(A.reduce_rowwise(sr.agg.argmin)),
    "inner": lambda A, v: v.inner(v),
    "copy": lambda A, v: copy.deepcopy(A),
    "repr": lambda A, v: repr(A) and A,
    "explain": lambda A, v: explained(A, v),
    "closure": lambda A, v: sr.ops.closure(v, A, "min_plus"),
    "link": lambda A, v: sr.ops.link(sr.ops.singletons(v), A),
    "error": lambda A, v: refused(v),
}


def explained(A: Matrix, v: Vector) -> Any:
    with sr.explain() as log:
        made = looked(A @ v)
    return made, log


@pytest.mark.costly
@pytest.mark.parametrize("name", MADE)
def test_everything_dies_by_reference_count(name: str) -> None:
    A = Matrix.from_dense(np.arange(9.0).reshape(3, 3), missing_value=0)
    v = Vector.from_dense([1.0, 2.0, 3.0])
    MADE[name](A, v)  # loading and compilation are done now
    made = MADE[name](A, v)
    watched = [weakref.ref(x) for x in (A, v, A.store, A.store.pattern, v.store)]
    if not isinstance(made, tuple):
        watched.append(weakref.ref(made)) if hasattr(type(made), "__weakref__") else None
        store = getattr(made, "store", None)
        if store is not None:
            watched.append(weakref.ref(store))
    store = None
    del A, v, made
    assert [ref() for ref in watched if ref() is not None] == []


def test_a_computed_result_keeps_no_operand() -> None:
    A, v = Matrix.from_dense(np.eye(3)), Vector.from_dense([1.0, 2.0, 3.0])
    made = A @ v
    held = weakref.ref(A.store)
    del A
    assert held() is not None
    assert made.nvals == 3
    assert held() is None
