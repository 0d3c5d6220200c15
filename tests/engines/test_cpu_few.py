"""Operands of few entries on the CPU engine: NumPy's results are those of the kernels, and a first search is short."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import semiring as sr
from semiring.engines.cpu import index_rank


@pytest.fixture(autouse=True)
def kernels_for_few() -> None:
    """Replace the fixture of all tests: the tests here set the limit themselves, or need its default."""


SHAPES = [(0, 0), (1, 1), (7, 5), (40, 40), (3, 2**20), (2**20, 3)]


def same(first: sr.Matrix, second: sr.Matrix) -> bool:
    """Equal stores: index types too, which kernels are compiled for."""
    a, b = first.store, second.store
    assert (a.indptr.dtype, a.indices.dtype) == (b.indptr.dtype, b.indices.dtype)
    return first.dtype == second.dtype and first.isequal(second)


def triples(shape: tuple[int, int], seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct positions in no order, with values."""
    rng = np.random.default_rng(seed)
    count = min(60, shape[0] * shape[1] // 2)
    positions = {(int(rng.integers(shape[0])), int(rng.integers(shape[1]))) for _ in range(count)}
    given = rng.permutation(np.array(sorted(positions), np.int64).reshape(-1, 2))
    return given[:, 0], given[:, 1], rng.integers(1, 9, len(given))


@pytest.mark.parametrize("values", ["array", "iso"])
@pytest.mark.parametrize("shape", SHAPES)
def test_numpy_builds_and_transposes_as_kernels_do(
    shape: tuple[int, int], values: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, cols, given = triples(shape, seed=1)
    made = []
    for few in (-1, 1 << 10):
        monkeypatch.setattr(index_rank, "FEW_ENTRIES", few)
        with sr.use("cpu"), sr.config.set(hyper_switch=0.0):  # an offset for each row
            A = sr.Matrix.from_coo(rows, cols, given if values == "array" else 3.5, nrows=shape[0], ncols=shape[1])
            made.append((A, A.T.dup()))
    assert same(made[0][0], made[1][0])
    assert same(made[0][1], made[1][1])


@pytest.mark.parametrize("few", [-1, 1 << 10])
@pytest.mark.parametrize("dup", [None, "plus"])
def test_repeats_are_combined_or_refused(few: int, dup: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_rank, "FEW_ENTRIES", few)
    with sr.use("cpu"):
        if dup is None:
            with pytest.raises(sr.exceptions.DuplicateIndex, match=r"\(2, 1\)"):
                sr.Matrix.from_coo([2, 0, 2], [1, 0, 1], [1, 2, 3], nrows=3, ncols=3)
        else:
            A = sr.Matrix.from_coo([2, 0, 2], [1, 0, 1], [1, 2, 3], nrows=3, ncols=3, dup_op=sr.binary.plus)
            assert A[2, 1].value == 4


@pytest.mark.parametrize("few", [-1, 1 << 10])
@pytest.mark.parametrize("extra", [[], [(3, 3)], [(1, 4)], [(4, 1)], [(5, 0), (0, 6)]])
def test_symmetry(few: int, extra: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_rank, "FEW_ENTRIES", few)
    edges = [(0, 1), (1, 0), (2, 5), (5, 2), *extra]
    with sr.use("cpu"):
        A = sr.Matrix.from_edgelist(edges, nrows=7, ncols=7)
        assert A.is_symmetric_structure == all((j, i) in edges for i, j in edges)


@pytest.mark.costly
@pytest.mark.parametrize("mask", ["none", "S", "V", "~S", "~V"])
@pytest.mark.parametrize("shape", [(0, 4, 3), (1, 1, 1), (9, 7, 8), (40, 30, 50), (5, 2**17, 6)])
@pytest.mark.parametrize("ring", ["plus_times", "any_pair", "min_second", "plus_secondj"])
def test_products_without_counting_equal_counted_ones(
    shape: tuple[int, int, int], mask: str, ring: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    m, k, n = shape
    with sr.use("cpu"):
        made = []
        A, B, M = (
            sr.Matrix.from_coo(*triples(dims, seed), nrows=dims[0], ncols=dims[1])
            for seed, dims in ((1, (m, k)), (2, (k, n)), (3, (m, n)))
        )
        M = M.select("!=", 4) | M.select("==", 4).apply("minus", right=4)  # some entries of the mask are 0
        for few in (-1, 1 << 10):
            monkeypatch.setattr(index_rank, "FEW_ENTRIES", few)
            view = {"none": None, "S": M.S, "V": M.V, "~S": ~M.S, "~V": ~M.V}[mask]
            made.append(A.mxm(B, ring, mask=view).dup())
        assert same(*made)
        assert made[0].store.pattern.indptr[-1] == made[1].store.pattern.indices.size


@pytest.mark.parametrize("condition", [("<", 5), ("<", 0), ("<", 99), ("tril", 0), ("rowle", 3)])
@pytest.mark.parametrize("shape", SHAPES)
def test_few_entries_are_selected_as_many(
    shape: tuple[int, int], condition: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, cols, given = triples(shape, seed=5)
    made = []
    with sr.use("cpu"), sr.config.set(hyper_switch=0.0):
        A = sr.Matrix.from_coo(rows, cols, given, nrows=shape[0], ncols=shape[1])
        for few in (-1, 1 << 22):
            monkeypatch.setattr(index_rank, "FEW_ENTRIES", few)
            made.append(A.select(*condition).dup())
    assert same(*made)


def test_a_small_search_pushes() -> None:
    with sr.use("cpu"):
        A = sr.Matrix.from_edgelist([(i, j) for i in range(20) for j in range(20)], nrows=20, ncols=20)
        trace = sr.algorithms.bfs_trace(A, 0)
    assert {step.direction for step in trace.steps} == {"push"}


@pytest.mark.costly
def test_a_small_search_compiles_one_kernel(tmp_path: Path) -> None:
    program = """
import semiring as sr
with sr.use("cpu"):
    A = sr.Matrix.from_edgelist([(0, 1), (1, 2), (2, 3), (3, 4)], nrows=5, ncols=5)
    print(sr.algorithms.bfs_levels(A, 0).to_numpy(-1).tolist())
"""
    environment = {**os.environ, "SEMIRING_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[0,", "1,", "2,", "3,", "4]"]
    assert [line.split()[4] for line in done.stderr.splitlines()] == ["closure_levels.pushes"]
