"""Writes of products of few outputs, which are one request, have the entries of the steps that define them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, config
from semiring.engines import registry
from semiring.engines.requests.operations import SHORT, WriteMxv
from semiring.exceptions import DimensionMismatch, OutOfMemory

SIZE = 100


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def matrix(rng: np.random.Generator, dtype: Any = np.float64, n: int = SIZE) -> Matrix:
    positions = rng.choice(n * n, 4 * n, replace=False)
    return Matrix.from_coo(*np.divmod(positions, n), rng.integers(1, 9, 4 * n).astype(dtype), nrows=n, ncols=n)


def vector(rng: np.random.Generator, form: str, dtype: Any = np.float64, n: int = SIZE) -> Vector:
    count = {"full": n, "iso": n, "bitmap": n // 2, "index": n // 8, "few": 2}[form]
    if form == "iso":
        return Vector.full(dtype(3), n)
    positions = np.sort(rng.choice(n, count, replace=False))
    made = Vector.from_coo(positions, rng.integers(1, 9, count).astype(dtype), size=n)
    return made.convert("index" if form == "few" else form)


def stepwise(write: Any) -> None:
    """Execute a write composed of its steps."""
    before = config.fusion
    config.fusion = False
    try:
        write()
    finally:
        config.fusion = before


def writes_short(v: Vector, engine: str) -> bool:
    return engine == "cpu" and " " not in v.device


TARGETS = ("full", "iso", "bitmap", "index", "few")
MASKS = (None, "S", "V", "~S", "~V")
CASES = list(itertools.product(TARGETS, MASKS, (None, "max", "minus")))


@pytest.mark.costly
@pytest.mark.parametrize(("target", "kind", "accum"), CASES)
def test_a_write_is_its_steps(target: str, kind: str | None, accum: str | None, rng: np.random.Generator) -> None:
    A, flags = matrix(rng), vector(rng, "bitmap", np.int64).apply("mod", right=2)
    for operand, replace, dtype in itertools.product(("full", "bitmap", "few"), (False, True), (np.float64, np.int32)):
        x, fused = vector(rng, operand), vector(rng, target, dtype)
        composed = fused.dup()
        mask = None if kind is None else {"S": flags.S, "V": flags.V, "~S": ~flags.S, "~V": ~flags.V}[kind]
        for op in ("plus_times", "any_pair", "min_plus"):
            fused(mask, accum=accum, replace=replace) << A.mxv(x, op)
            stepwise(lambda: composed(mask, accum=accum, replace=replace) << A.mxv(x, op))  # noqa: B023
            assert fused.isequal(composed, check_dtype=True)
            fused(mask, accum=accum, replace=replace) << x.vxm(A, op)
            stepwise(lambda: composed(mask, accum=accum, replace=replace) << x.vxm(A, op))  # noqa: B023
            assert fused.isequal(composed, check_dtype=True)


@pytest.mark.one_process("kernels and plans are of parts")
def test_a_short_write_is_one_request(engine: str, rng: np.random.Generator) -> None:
    for n, short in ((SHORT, True), (SHORT + 1, False)):
        A, x, y = matrix(rng, n=n), vector(rng, "full", n=n), vector(rng, "full", n=n)
        with sr.explain() as log:
            y(accum="max") << A.mxv(x)
        assert [call.operation for call in log].count(WriteMxv.name) == (short and writes_short(y, engine))


def test_operands_and_other_holders_keep_their_entries(rng: np.random.Generator) -> None:
    A, x, y = matrix(rng), vector(rng, "full"), vector(rng, "full")
    copy, product = y.dup(), A.mxv(x)
    expected = product.dup()
    y(accum="plus") << product
    assert copy.isequal(y) is False
    assert product.isequal(expected)
    x(accum="plus") << A.mxv(x)
    assert product.isequal(expected)


def test_a_failed_write_changes_nothing(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    A, x, y = matrix(rng), vector(rng, "full"), vector(rng, "full")
    before, store = y.dup(), y.store
    with pytest.raises(DimensionMismatch):
        y(Vector.from_coo([0], True, size=SIZE + 1).S) << A.mxv(x)
    assert y.store is store

    def failing(*_: Any) -> Any:
        raise OutOfMemory("no memory")

    monkeypatch.setattr(registry, "call", failing)
    with pytest.raises(MemoryError):
        y(accum="max") << A.mxv(x)
    assert y.store is store
    monkeypatch.undo()
    assert y.isequal(before)
