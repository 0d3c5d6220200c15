"""Closure and link: the engine under test equals the specification."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.dtypes import BOOL, FP64, INT32, INT64
from semiring.engines import registry
from semiring.engines.reference.dense import densify, sparsify
from semiring.engines.requests.graphs import Closure, ClosureResult, Link
from semiring.engines.requests.operations import Mxv
from semiring.formats import CSR, Full
from semiring.operators import semiring
from tests import sampling, storage_kinds
from tests.compare import assert_same, check, check_invariants, device_for, place, result_of, same_values
from tests.draw import both_ways, densities, make_matrix, seeds, sizes, some_sizes
from tests.pool import Semiring

FEW = settings(max_examples=settings().max_examples // 2)

# (semiring, whether an entry is final on arrival); all idempotent, and weights are not negative.
CLOSURES = [
    (Semiring(semiring.any_pair[BOOL], BOOL, BOOL), True),
    (Semiring(semiring.any_secondi[INT64], INT64, BOOL), True),
    (Semiring(semiring.any_first[INT32], INT32, BOOL), True),
    (Semiring(semiring.min_plus[INT64], INT64, INT64), True),  # over one weight, as for levels
    (Semiring(semiring.min_plus[INT64], INT64, INT64), False),
    (Semiring(semiring.min_plus[FP64], FP64, FP64), False),
    (Semiring(semiring.max_min[INT32], INT32, INT32), False),
    (Semiring(semiring.min_first[INT32], INT32, BOOL), False),
    (Semiring(semiring.lor_land[BOOL], BOOL, BOOL), False),
]
# The CPU engine compiles a kernel for each.
SAMPLE = sampling.draw("closures", range(len(CLOSURES)), 4)


def small_weights(a: CSR) -> CSR:
    """The same matrix with weights from 0 to 7, so that no path overflows."""
    if a.dtype == BOOL:
        return a
    if a.iso is not None:
        return replace(a, iso=a.dtype.type(3), cache={})
    assert a.values is not None
    rng = np.random.default_rng(a.nvals)
    return replace(a, values=rng.integers(0, 8, a.nvals).astype(a.dtype), cache={})


def closure_on(spec: Closure, engine: str) -> ClosureResult:
    found: ClosureResult = registry.run(place(spec, device_for(engine)), engine)
    return replace(found, store=found.store.to("cpu"))


@pytest.mark.costly
@pytest.mark.parametrize(
    ("pooled", "final"),
    [
        pytest.param(*row, id=f"{row[0].typed!r}-{row[1]}", marks=sampling.marks(number, SAMPLE, pytest.mark.wide))
        for number, row in enumerate(CLOSURES)
    ],
)
@FEW
@given(data=st.data())
def test_closure(engine: str, pooled: Semiring, final: bool, data: st.DataObject) -> None:
    n = data.draw(some_sizes, label="n")
    density = data.draw(st.sampled_from((0.0, 0.02, 0.05, 0.2)), label="density")
    seed = data.draw(seeds, label="seed")
    one_weight = data.draw(st.booleans(), label="one weight") or (final and not pooled.typed.add.is_any)
    a = small_weights(make_matrix(n, n, pooled.right, density, one_weight, seed))
    source = data.draw(st.integers(0, n - 1), label="source")
    x = sparsify(np.full(n, 2 if pooled.left != BOOL else True), np.arange(n) == source, pooled.left)
    by_row, by_column = both_ways(a, data.draw(st.booleans(), label="transpose is ready"))
    direction = data.draw(st.sampled_from(("auto", "push", "pull") if final else ("auto", "push")), label="direction")
    spec = Closure(x, by_row, by_column, pooled.typed, final, 10 * n + 10, direction, trace=True)

    expected = closure_on(spec, "reference")
    compare_closures(spec, source, expected, closure_on(spec, engine))
    if storage_kinds.is_chosen(spec, engine):
        with storage_kinds.small_slices():
            again = closure_on(storage_kinds.in_other_kinds(place(spec, device_for(engine)), engine), engine)
        compare_closures(spec, source, expected, again)


def compare_closures(spec: Closure, source: int, expected: ClosureResult, got: ClosureResult) -> None:
    assert got.converged
    check_invariants(got.store)
    assert_same(got.store, expected.store, values=not spec.semiring.add.is_any)
    if spec.final_on_arrival:
        assert got.steps == expected.steps
        assert [step.frontier for step in got.trace] == [step.frontier for step in expected.trace]
        assert_each_came_from_the_level_above(spec, got, source)


def assert_each_came_from_the_level_above(spec: Closure, got: ClosureResult, source: int) -> None:
    """Under ``any`` a value is legal if some entry of the frontier before, according to the result, gives it."""
    values, present = densify(got.store)
    n = values.size
    seen = np.arange(n) == source
    frontier = seen
    while frontier.any():
        legal, reached = np.zeros(n, bool), np.zeros(n, bool)
        for k in np.flatnonzero(frontier):
            only = sparsify(values, np.arange(n) == k, got.store.dtype)
            z, hit = densify(
                registry.run(Mxv(n, n, spec.by_column, spec.by_row, only, spec.semiring, True), "reference")
            )
            legal |= hit & same_values(z, values)
            reached |= hit
        frontier = reached & ~seen
        assert not (frontier & ~legal).any(), (
            f"no row of the level above gives the values at {np.flatnonzero(frontier & ~legal)}"
        )
        seen = seen | reached
    assert (seen == present).all()


@pytest.mark.costly
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_closure_stops_at_the_limit(engine: str, limit: int) -> None:
    """A path of four rows has four frontiers; the last finds nothing."""
    path = np.eye(4, k=1, dtype=bool)
    a = CSR(sparsify(path, path, BOOL).pattern, BOOL, None, np.True_)
    x = sparsify(np.ones(4, bool), np.arange(4) == 0, BOOL)
    by_row, by_column = both_ways(a, True)
    spec = Closure(x, by_row, by_column, semiring.any_pair[BOOL], True, limit)
    for form in (spec, storage_kinds.in_other_kinds(place(spec, device_for(engine)), engine)):
        got = closure_on(form, engine)
        assert not got.converged
        assert got.steps == limit
        assert densify(got.store)[1].tolist() == [p <= limit for p in range(4)]
        assert closure_on(replace(form, max_steps=4), engine).converged


@given(n=sizes, density=densities, seed=seeds, data=st.data())
def test_link(engine: str, n: int, density: float, seed: int, data: st.DataObject) -> None:
    pattern = make_matrix(n, n, BOOL, min(density, 0.2), True, seed).pattern
    forest: Any = Full(n, INT32, np.arange(n, dtype=np.int32))
    if n and data.draw(st.booleans(), label="after a first pass"):
        other = make_matrix(n, n, BOOL, 0.03, True, seed + 1).pattern
        forest = result_of(Link(forest, other, 0, 1, None), "reference")
    first = data.draw(st.integers(0, 3), label="first")
    last = data.draw(st.none() | st.integers(first, 5), label="last")
    skip = data.draw(st.none() | st.integers(0, max(n - 1, 0)), label="skip")
    check(Link(forest, pattern, first, last, skip), engine)
