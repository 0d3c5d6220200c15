"""Which closures may stop at the first arrival: the levels of a type that is wide enough, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.strategies import STRATEGIES


def by_definition(start: dict[int, Any], arcs: list[tuple[int, int]], weight: Any, n: int, dtype: str) -> Any:
    """min_plus frontier by frontier on Python lists, in arithmetic of `dtype`: what has improved is relaxed again."""
    kind = np.dtype(dtype).type
    value = {row: kind(x) for row, x in start.items()}
    frontier = set(value)
    for _ in range(n):
        improved = {}
        for i, j in arcs:
            if i in frontier:
                with np.errstate(over="ignore"):
                    arriving = kind(value[i] + kind(weight))
                if arriving < improved.get(j, value.get(j, np.inf)):
                    improved[j] = arriving
        value.update(improved)
        frontier = set(improved)
    return value


LONG = [(i, i + 1) for i in range(139)]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("start", "arcs", "weight", "n", "dtype"),
    [
        # A level wraps around on the long way, and comes out smaller than that of the short one.
        pytest.param({0: 0}, [*LONG, (0, 139)], 1, 140, "int8", id="more levels than the type has"),
        pytest.param({0: 0}, [(0, 1), (1, 2), (2, 3), (0, 3)], 50, 4, "int8", id="heavy steps"),
        pytest.param({0: 100, 1: 100}, [*LONG[:39], (0, 39)], 1, 40, "int8", id="a high start"),
        pytest.param({0: 255}, [(0, 1), (1, 2), (0, 2)], 1, 3, "uint8", id="unsigned, from the end"),
        # What an arc costs is negative: the longer way is the shorter one.
        pytest.param({0: 0}, [(0, 1), (1, 2), (0, 2)], -1, 3, "int8", id="negative"),
        pytest.param({0: 0}, [(0, 1), (1, 2), (0, 2)], -0.5, 3, "float64", id="negative, floating"),
        # Just wide enough, and the usual case.
        pytest.param({0: 0}, [*LONG[:126], (0, 126)], 1, 127, "int8", id="as many levels as the type has"),
        pytest.param({0: 0}, [(0, 1), (1, 2), (0, 2)], 0.5, 3, "float64", id="floating"),
        pytest.param({0: 5}, [(0, 1), (1, 2), (0, 2)], 0, 3, "int8", id="steps that cost nothing"),
    ],
)
def test_levels(start: dict[int, Any], arcs: list[tuple[int, int]], weight: Any, n: int, dtype: str) -> None:
    rows, cols = zip(*arcs, strict=True)
    A = sr.Matrix.from_coo(rows, cols, np.dtype(dtype).type(weight), dtype, nrows=n, ncols=n)
    x = sr.Vector.from_coo(list(start), next(iter(start.values())), dtype, size=n)
    assert A.store.iso is not None
    assert x.store.iso is not None
    indices, values = sr.ops.closure(x, A, "min_plus").to_coo()
    got = dict(
        zip(np.asarray(indices.get() if hasattr(indices, "get") else indices).tolist(), values.tolist(), strict=True)
    )
    assert got == by_definition(start, arcs, weight, n, dtype)


@pytest.mark.costly
def test_different_starts_are_not_final() -> None:
    """Two sources a step apart, of which the farther one starts much lower."""
    A = sr.Matrix.from_coo([0, 1, 2], [3, 2, 3], 1, "int64", nrows=4, ncols=4)
    x = sr.Vector.from_coo([0, 1], [10, 0], "int64", size=4)
    assert sr.ops.closure(x, A, "min_plus").get(3) == 2


def test_different_weights_are_not_final() -> None:
    A = sr.Matrix.from_coo([0, 0, 1], [2, 1, 2], [9, 1, 1], "int64", nrows=3, ncols=3)
    assert sr.ops.closure(sr.Vector.from_coo([0], 0, "int64", size=3), A, "min_plus").get(2) == 2


@pytest.mark.costly
def test_other_semirings_are_not_final() -> None:
    """max_plus and min_max over one value: a later arrival may be better."""
    A = sr.Matrix.from_coo([0, 0, 1], [2, 1, 2], 1, "int64", nrows=3, ncols=3)
    x = sr.Vector.from_coo([0], 0, "int64", size=3)
    assert sr.ops.closure(x, A, "max_plus").get(2) == 2
    assert sr.ops.closure(x, A, "min_minus").get(2) == -2


@pytest.mark.costly
def test_a_weight_stands_for_every_entry() -> None:
    A = sr.Matrix.from_coo([0, 1, 0], [1, 2, 2], [10.0, 20.0, 5.0], nrows=4, ncols=4)
    start = sr.Vector.from_coo([0], 0, np.int32, size=4)
    steps = sr.ops.closure(start, A, "min_plus", weight=1)
    assert (steps.dtype, steps.to_numpy(-1).tolist()) == (np.int32, [0, 1, 1, -1])
    halves = sr.ops.closure_with_trace(start, A, "min_plus", weight=np.float64(0.5)).vector
    assert (halves.dtype, halves.to_numpy(-1).tolist()) == (np.float64, [0, 0.5, 0.5, -1])
    assert sr.ops.closure(start, A, "min_plus").to_numpy(-1).tolist() == [0, 10, 5, -1]
    with pytest.raises(sr.exceptions.InvalidValue, match="expected a number"):
        sr.ops.closure(start, A, "min_plus", weight="1")


@pytest.mark.costly
def test_no_step() -> None:
    """An empty frontier is returned, any other has not converged, and a negative number of steps is refused."""
    A = sr.Matrix.from_coo([0, 1], [1, 2], 1, "int64", nrows=3, ncols=3)
    start = sr.Vector.from_coo([0], 5, "int64", size=3)
    assert sr.ops.closure(sr.Vector("int64", 3), A, "min_plus", max_steps=0).nvals == 0
    with pytest.raises(sr.exceptions.ConvergenceFailure, match="after 0 steps") as caught:
        sr.ops.closure(start, A, "min_plus", max_steps=0)
    assert caught.value.result.isequal(start)
    with pytest.raises(sr.exceptions.InvalidValue, match="max_steps must not be negative, got -1"):
        sr.ops.closure(start, A, "min_plus", max_steps=-1)


@pytest.mark.one_process("formats, codecs and placements are of parts")
@pytest.mark.parametrize("values", [7, [7]], ids=["one for all", "its own"])
def test_a_vector_of_one_entry(values: Any) -> None:
    """It keeps its index on the host, and is a vector like any other."""
    v = sr.Vector.from_coo([3], values, np.int16, size=5)
    assert (v.nvals, v.format, v.to_dict()) == (1, "index", {3: 7})
    assert (v + v).to_dict() == {3: 14}
    assert v.dup(np.float64).to_dict() == {3: 7.0}
    assert v.vxm(sr.Matrix.from_coo([3], [1], [2], nrows=5, ncols=5)).to_dict() == {1: 14}
    v[3] << 9
    assert v.to_dict() == {3: 9}
    for wrong in (5, -1):
        with pytest.raises(sr.exceptions.IndexOutOfBound, match=rf"indices\[0\] = {wrong} is out of bounds"):
            sr.Vector.from_coo([wrong], 7, size=5)


@pytest.mark.costly
def test_an_operator_named_plus_that_does_not_add() -> None:
    ring = sr.semiring.register_anonymous(sr.monoid.min, sr.binary.register_anonymous("abs(x - y)", "plus"))
    pattern = sr.Matrix.from_coo([0, 0, 1], [3, 1, 3], True, nrows=4, ncols=4)
    weights = sr.Matrix.from_scalar(1, 4, 4).dup(mask=pattern.S)
    start = sr.Vector.from_coo([0], 0, size=4)
    assert sr.ops.closure(start, weights, ring).to_dict() == {0: 0, 1: 1, 3: 0}


@pytest.mark.costly
@pytest.mark.parametrize(
    "strategy", [name if name == "two_phase" else pytest.param(name, marks=pytest.mark.wide) for name in STRATEGIES]
)
def test_strategies_have_the_same_levels(strategy: str) -> None:
    """On a GPU each has kernels of its own; other engines do not read the setting."""
    for A in (sr.random.kronecker(9, seed=2), sr.random.grid2d(30, 40), sr.random.star(300), sr.random.grid2d(1, 200)):
        for codec in (None, "varint"):
            stored = A if codec is None else A.compress(codec)
            with sr.config.set(strategy=strategy):
                level, parent = sr.algorithms.bfs_levels(stored, 1), sr.algorithms.bfs_parents(stored, 1)
            with sr.use("cpu"):
                expected = sr.algorithms.bfs_levels(A.to("cpu"), 1)
            assert level.to("cpu").isequal(expected)
            depth, edges = expected.to_dict(), A.to("cpu")
            assert parent.to("cpu").to_dict().keys() == depth.keys()
            for v, p in parent.to("cpu").items():
                assert v == p == 1 or (depth[p] + 1 == depth[v] and edges.get(p, v) is not None)
