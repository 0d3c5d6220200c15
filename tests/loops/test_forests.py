"""The loops of the engines, compiled from vector operations, have the results of the operations of the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from tests.loops import user_forests
from tests.loops.programs import symmetric


def _parents(n: int, long: bool) -> np.ndarray[Any, Any]:
    """The parents of a random tree, or of a path, whose vertices are in a random order."""
    rng = np.random.default_rng(n)
    above = np.maximum(np.arange(n) - 1, 0) if long else (rng.random(n) * np.arange(n)).astype(np.int64)
    names = rng.permutation(n)
    parent = np.empty(n, np.int64)
    parent[names] = names[above]
    return parent


@pytest.mark.costly
@pytest.mark.parametrize("long", [False, True])
def test_sums_of_trees(long: bool) -> None:
    parent = Vector.from_dense(_parents(300, long))
    values = Vector.from_dense(np.random.default_rng(1).integers(0, 9, 300))
    for towards, programs in (
        ("roots", (user_forests.subtree_sums, user_forests.subtree_sums_by_rounds)),
        ("leaves", (user_forests.path_sums, user_forests.path_sums_by_rounds)),
    ):
        expected = sr.ops.treefix(parent, values, towards=towards)
        for program in programs:
            assert sr.compile(strict=True)(program)(parent, values).isequal(expected), program.__name__


@pytest.mark.costly
def test_acyclic_graphs() -> None:
    for seed in range(3):
        T = symmetric(60, 150, seed).select("triu", 1).new()
        start = Vector.from_coo([0, 3], [1.0, 2.0], size=60)
        counts = sr.compile(strict=True)(user_forests.path_counts)(T, start.ewise_add(Vector.full(0.0, 60), "plus"))
        assert counts.select("!=", 0.0).isequal(sr.ops.acyclic_closure(start, T, "plus_first"))
        bits = sr.compile(strict=True)(user_forests.greedy_colors)(T)
        none = Vector.full(0, 60, np.uint64)
        assert bits.isequal(sr.ops.acyclic_closure(none, T, "bor_first", then=user_forests.lowest_free))


@pytest.mark.costly
def test_spanning_forests_and_votes(device: str) -> None:
    A = symmetric(80, 200, 4)
    upper = A.select("triu", 1).new()
    if device == "cpu":
        assert user_forests.spanning_forest(upper).isequal(sr.ops.span(upper))
    assert user_forests.elected(A).isequal(sr.algorithms.label_propagation(A, method="synchronous").dup(int))
    assert user_forests.lengths_from_each(A, [0, 5]).isequal(sr.algorithms.sssp(A, [0, 5]))


@pytest.mark.costly
def test_entries_of_a_mask_are_kept_along_the_shorter_list() -> None:
    """An iteration costs what the mask lists: 20,000 steps over 20,000 positions would take seconds otherwise."""
    n = 20_000
    at = np.arange(n - 1)
    T = Matrix.from_coo(at, at + 1, True, nrows=n, ncols=n)
    assert sr.algorithms.longest_paths(T.dup(float)).to_numpy().tolist() == list(range(n))
    counts = sr.compile(strict=True)(user_forests.path_counts)(T, Vector.full(1.0, n))
    assert counts.to_numpy().tolist() == list(range(1, n + 1))


def test_a_write_after_an_inner_loop_is_in_place() -> None:
    n = 50
    vertex = np.arange(n - 1)
    program = sr.compile(strict=True)(user_forests.kruskal)
    lower, upper = Vector.from_dense(vertex), Vector.from_dense(vertex + 1)
    assert program(lower, upper, n).reduce("land").get(False)
    assert ", second)" not in str(program.plan(lower, upper, n))
