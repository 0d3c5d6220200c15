"""Algorithms as users write them: step by step, compiled, on every engine, and beside other programs."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from tests.loops import programs
from tests.loops.programs import PROGRAMS


def same(a: Any, b: Any) -> bool:
    """Return whether two results agree; floating sums up to their order."""
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Vector):
        exact = a.dtype.kind != "f"
        return bool(a.isequal(b, check_dtype=True) if exact else a.dtype == b.dtype and a.isclose(b, rel_tol=1e-9))
    return type(a) is type(b) and bool(a == pytest.approx(b))


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.costly) for name in PROGRAMS])
def test_compiled_programs_give_the_same(name: str, device: str) -> None:
    if name == "bfs_parents" and device == "cuda":
        pytest.skip("any of several parents is right; see test_searches_agree_with_networkx")
    function, arguments = PROGRAMS[name]
    compiled = sr.compile(strict=True)(function)
    for seed, (n, edges) in enumerate([(60, 120), (300, 1500), (40, 20), (8, 0)]):
        A = programs.symmetric(n, edges, seed)
        expected, found = function(A, *arguments), compiled(A, *arguments)
        assert same(expected, found), (seed, expected, found)
        plan = compiled.plan(A, *arguments)
        assert plan.loops
        assert all(loop.compiled for loop in plan.loops), plan
        if n < 100 and device == "cpu":
            with sr.use("reference"):  # there the decorated function runs step by step
                assert same(expected, sr.compile(function)(A, *arguments))


@pytest.fixture(scope="module")
def graph() -> tuple[Matrix, Any]:
    A = programs.symmetric(400, 1600, 5)
    return A, nx.from_numpy_array(A.to_numpy(fill_value=0))


@pytest.mark.costly
def test_searches_agree_with_networkx(graph: tuple[Matrix, Any]) -> None:
    A, G = graph
    lengths = nx.single_source_shortest_path_length(G, 0)
    assert sr.compile(programs.bfs_levels)(A, 0).to_dict() == lengths
    parents = sr.compile(programs.bfs_parents)(A, 0).to_dict()
    assert parents.keys() == lengths.keys()
    assert all(lengths[p] == lengths[v] - 1 and G.has_edge(p, v) for v, p in parents.items() if v)
    for target in (3, 77, 399):
        expected = lengths.get(target, -1)
        assert sr.compile(programs.distance)(A, 0, target) == expected
        assert sr.compile(programs.two_sided)(A, 0, target) == expected


@pytest.mark.costly
def test_numbers_agree_with_networkx(graph: tuple[Matrix, Any]) -> None:
    A, G = graph
    labels = sr.compile(programs.components)(A).to_dict()
    assert {frozenset(c) for c in nx.connected_components(G)} == {
        frozenset(v for v in labels if labels[v] == label) for label in set(labels.values())
    }
    assert sr.compile(programs.core_numbers)(A).to_dict() == nx.core_number(G)
    lengths = nx.single_source_dijkstra_path_length(G, 0)
    assert sr.compile(programs.bellman_ford)(A, 0).to_dict() == lengths
    chosen = set(sr.compile(programs.independent_set)(A, 1).to_dict())
    assert all(not chosen & set(G[v]) for v in chosen)
    assert all(v in chosen or chosen & set(G[v]) for v in G)


def test_a_long_path_is_searched_in_one_kernel() -> None:
    n = 20_000
    at = np.arange(n - 1)
    A = Matrix.from_coo(np.r_[at, at + 1], np.r_[at + 1, at], True, nrows=n, ncols=n)
    compiled = sr.compile(strict=True)(programs.bfs_levels)
    assert compiled(A, 0).isequal(sr.algorithms.bfs_levels(A, 0))
    assert compiled.plan(A, 0).loops[0].iterations == n


@pytest.mark.parametrize("kind", ["varint", "packed", "pinned"])
def test_a_gpu_reads_compressed_and_pinned_matrices(kind: str, device: str) -> None:
    if device != "cuda":
        pytest.skip("programs of the CPU engine read uncompressed matrices")
    for n, edges in ((60, 120), (300, 20_000)):
        A = programs.symmetric(n, edges, 1)
        B = A.to(placement="pinned") if kind == "pinned" else A.compress(kind)
        for name in ("bfs_levels", "rank", "bellman_ford"):
            function, arguments = PROGRAMS[name]
            assert same(function(A, *arguments), sr.compile(strict=True)(function)(B, *arguments)), name


@pytest.mark.parametrize("kind", ["compressed", "hypersparse", "bitmap", "pinned"])
def test_other_storage_kinds_run_step_by_step(kind: str) -> None:
    A = programs.symmetric(60, 120, 1)
    expected = programs.bfs_levels(A, 0)
    if kind == "compressed":
        A = A.compress("varint")
    elif kind == "pinned":
        A = A.to(placement="host")
    else:
        A = A.convert(kind)
    assert sr.compile(programs.bfs_levels)(A, 0).isequal(expected)
