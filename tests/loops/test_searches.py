"""Compiled loops with comparisons of vectors, groups, and positions of extreme entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Vector, agg
from semiring.engines.cpu import program, program_code
from semiring.engines.programs import program as programs
from tests.loops import interpreted
from tests.loops.test_elements import outcome

NAN = float("nan")
VECTORS = [
    Vector.from_coo([1, 3, 4], [5, -6, 5], size=6),
    Vector.from_dense([1, 2, 1, 4, 1, 4]),
    Vector.from_dense([1.0, NAN, -0.0, 4.5, 0.0, NAN]),
    Vector.from_coo([0, 2, 5], [NAN, 3.5, -1.0], size=6),
    Vector.from_coo([0, 1, 5], np.array([3, 7, 3], np.int8), size=6),
    Vector.from_coo([2, 4], [True, False], size=6),
    Vector.from_dense(np.array([1, 2.5, 1, 4, 1, 4], np.float32)),
    Vector.full(2, 6),
    Vector(float, 6),
]
LABELS = [
    Vector.from_dense([0, 1, 0, 2, 1, 0]),
    Vector.from_coo([0, 3, 4], [5, 5, 1], size=6),
    Vector.from_dense(np.array([0, 0, 0, 0, 0, 9], np.int32)),
]


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch, device: str) -> Iterator[None]:
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)
    with sr.use(device):
        yield


def pairs(name: str) -> list[tuple[Vector, Vector]]:
    """Return vectors and what a function needs beside each: a choice, where every pair is a compilation."""
    others = VECTORS if name in ("converged", "compared") else LABELS
    chosen = [(v, others[number % len(others)]) for number, v in enumerate(VECTORS)]
    chosen += [(v * 1.5, others[0]) for v in VECTORS[:4]]
    return [(v * 1.0, w * 1.5) for v, w in chosen] if name == "converged" else chosen


def unsigned_zeros(found: Any) -> Any:
    """Return an outcome without the signs of zeros: the minimum of 0.0 and -0.0 depends on the order."""
    return str(found).replace("-0.0", "0.0")


def converged(v: Vector, w: Vector) -> tuple[Vector, int]:
    """Halve until nothing changes much."""
    k = 0
    while not v.isclose(w, rel_tol=0.25, abs_tol=0.1):
        w = v
        v = v * 0.5
        k += 1
        if k == 9 or v.isclose(w) or w.isequal(v, check_dtype=True):
            break
    return v, k


def compared(v: Vector, w: Vector) -> tuple[bool, ...]:
    """Compare vectors of several types, within limits that change."""
    same = close = typed = False
    tolerance = 0.0
    for _ in range(3):
        same = v.isequal(w)
        typed = v.isclose(w, check_dtype=True)
        close = v.isclose(w, rel_tol=tolerance)
        tolerance = tolerance + 0.5
    return same, close, typed


def grouped(v: Vector, labels: Vector) -> tuple[Vector, ...]:
    """Reduce groups, and find their extreme entries."""
    total, count = v.reduce_by(labels, "max"), v.reduce_by(labels, "count")
    mean, (low, least), (high, most) = v.reduce_by(labels, "mean", size=8), v.minloc_by(labels), v.maxloc_by(labels)
    for _ in range(2):
        total = v.reduce_by(labels, "max")
        count = v.reduce_by(labels, "count")
        mean = v.reduce_by(labels, "mean", size=8)
        low, least = v.minloc_by(labels)
        high, most = v.maxloc_by(labels)
    return total, count, mean, low, least, high, most


def removed(v: Vector, labels: Vector) -> list[Any]:
    """Delete the largest entry while there is one."""
    order = Vector(int, v.size)
    k = 0
    while v.nvals:
        at = v.reduce("argmax").get(0)
        order[k] = at
        v << v.select("!=", v[at])
        k += 1
        if k == v.size:
            break
    return order.to_dict(), v.to_dict(), k  # type: ignore[return-value]


def summarized(v: Vector, labels: Vector) -> tuple[Any, ...]:
    """Reduce by aggregators of one value."""
    a = b = c = d = 0.0
    e = f = g = 0
    for _ in range(2):
        a = v.reduce("mean").get(-1.0)
        b = v.reduce(agg.sum_of_squares).get(0) * 1.0
        c = v.reduce("min").get(0) * 1.0
        d = v.reduce("varp").get(-1.0)
        e = v.reduce("argmin").get(-1)
        f = v.reduce(agg.argmax).get(-1)
        g = v.reduce("count").get(0)
    return a, b, c, d, e, f, g


@pytest.mark.parametrize("function", [converged, compared, grouped, removed, summarized])
def test_a_gpu_gives_the_same(function: Any, device: str) -> None:
    if device != "cuda":
        pytest.skip("the CPU engine has every pair, below")
    for pair in pairs(function.__name__):
        v, w = (each.to(device) for each in pair)
        expected = unsigned_zeros(outcome(function, v.dup(), w.dup()))
        assert unsigned_zeros(outcome(sr.compile(function), v.dup(), w.dup())) == expected, pair


@pytest.mark.parametrize("function", [converged, compared])
def test_comparisons_are_those_of_python(function: Any, device: str) -> None:
    if device == "cuda":
        pytest.skip("every pair is a compilation on a GPU")
    compiled = sr.compile(strict=True)(function)
    for v in VECTORS:
        for w in VECTORS:
            if function is converged and (v.dtype != float or w.dtype != float):
                continue
            assert outcome(function, v.dup(), w.dup()) == outcome(compiled, v.dup(), w.dup()), (v, w)


@pytest.mark.costly
@pytest.mark.parametrize("function", [grouped, removed, summarized])
def test_groups_and_positions_are_those_of_python(function: Any, device: str) -> None:
    if device == "cuda":
        pytest.skip("every pair is a compilation on a GPU")
    for v in VECTORS:
        for labels in LABELS:
            assert outcome(function, v.dup(), labels.dup()) == outcome(sr.compile(function), v.dup(), labels.dup()), v


@pytest.mark.parametrize("function", [converged, compared, grouped, removed, summarized])
def test_searches_are_compiled(function: Any) -> None:
    labels = Vector.from_dense([0, 1, 0, 2, 1, 0])
    other = labels * 1.0 if function in (converged, compared) else labels
    (loop,) = sr.compile(function).plan(Vector.from_dense([1.5, 2.0, 1.0, 4.0, 1.0, 4.0]), other).loops
    assert loop.compiled, loop


def test_an_engine_refuses_steps_that_it_lacks(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    if device == "cuda":
        pytest.skip("the steps of the CPU engine")
    monkeypatch.setattr(program_code.Code, "optional", frozenset(), raising=False)
    v, w = Vector.from_dense([1.0, 2.0]), Vector.from_dense([2.0, 4.0])
    (loop,) = sr.compile(converged).plan(v, w).loops
    assert loop.reason == "the operation close, which programs of this engine do not have"
    assert "close" in programs.OPTIONAL
