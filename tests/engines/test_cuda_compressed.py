"""Traversals, unions and products on compressed rows equal those on uncompressed ones, which properties verify.

The graphs are large enough for rows over many tiles of a stream, tiles of many rows, and frontiers of many blocks;
one row in seven is nearly always empty.  On engines without kernels for compressed rows the same tests run in slices.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector, ops
from semiring.config import config
from semiring.formats import CODECS
from tests import verify

# On the CPU engine all of this goes slice by slice, which tests/facade/test_storage_kinds.py and test_sliced.py prove.
pytestmark = pytest.mark.wide

N = 2999
SOURCE = 1


@functools.cache
def triples(symmetric: bool) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Rows, columns and values: one row is nearly full, the first sixteenth is long, the others are short."""
    draw = np.random.default_rng(5)
    rows = [np.full(N - 7, 0), draw.integers(0, N, 5 * N), draw.integers(0, N // 16, 5 * N)]
    columns = [np.arange(N - 7), (N * draw.random(5 * N) ** 2).astype(np.int64), draw.integers(0, N, 5 * N)]
    i, j = np.concatenate(rows), np.concatenate(columns)
    kept = (i % 7 != 3) | (draw.random(i.size) < 0.01)
    i, j = i[kept], j[kept]
    if symmetric:
        i, j = np.concatenate([i, j]), np.concatenate([j, i])
    keys = np.unique(i * N + j)
    return keys // N, keys % N, draw.integers(1, 100, keys.size)


def graph(symmetric: bool, *, weighted: bool = True) -> Matrix:
    rows, columns, values = triples(symmetric)
    return Matrix.from_coo(rows, columns, values if weighted else True, shape=(N, N))


def plain(found: Vector, missing: int = -1) -> Any:
    return found.to("cpu").to_dense(missing)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_searches(codec: Any, direction: str, symmetric: bool) -> None:
    A = graph(symmetric, weighted=False)
    indptr, indices, _ = A.to("cpu").to_csr()
    with config.set(direction=direction):
        packed = A.compress(codec)
        levels = plain(sr.algorithms.bfs_levels(packed, SOURCE), verify.UNREACHED)
        parents = plain(sr.algorithms.bfs_parents(packed, SOURCE), verify.UNREACHED)
    verify.bfs_levels(indptr, indices, SOURCE, levels)
    verify.bfs_parents(indptr, indices, SOURCE, parents, levels)


def centers_and_leaves() -> Matrix:
    """40 long rows: all lead to 3000 leaves, and to two vertices with longer rows still, which also lead elsewhere.

    The last two vertices are beyond a leaf in the middle, and beyond the last leaf.
    """
    centers, leaves = np.arange(2, 42), np.arange(42, 3042)
    pairs = [(centers.repeat(leaves.size), np.tile(leaves, centers.size))]
    for hub in (0, 1):
        pairs += [(np.full(40, hub), centers), (np.full(200, hub), np.arange(3042, 3242) + 200 * hub)]
    pairs.append((np.array([3442, 3443]), np.array([1542, 3041])))
    i, j = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return Matrix.from_coo(np.concatenate([i, j]), np.concatenate([j, i]), True, shape=(3444, 3444))


@pytest.mark.parametrize("codec", [None, *CODECS])
@pytest.mark.parametrize("places", [1, 100, 1 << 20])
@pytest.mark.parametrize("source", [3442, 3443, 1542, 3100])
def test_long_rows_reached_late(codec: Any, places: int, source: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A neighbor that is neither a hub of a row nor among its first entries is found in the segments of the row."""
    if sr.cuda_available():
        from semiring.engines.cuda import tuning

        monkeypatch.setattr(tuning, "SEGMENTS", places)  # with a short list rows are searched by their own warp
    A = centers_and_leaves()
    indptr, indices, _ = A.to("cpu").to_csr()
    packed = A if codec is None else A.compress(codec)
    with config.set(direction="pull"):
        levels = plain(sr.algorithms.bfs_levels(packed, source), verify.UNREACHED)
        parents = plain(sr.algorithms.bfs_parents(packed, source), verify.UNREACHED)
    verify.bfs_levels(indptr, indices, source, levels)
    verify.bfs_parents(indptr, indices, source, parents, levels)


@pytest.mark.parametrize("codec", [None, *CODECS])
@pytest.mark.parametrize("direction", ["auto", "pull"])
def test_parents_with_a_value_of_each_entry(codec: Any, direction: str) -> None:
    """The product reads the entry itself, so no hub may replace it: any_second over distinct weights."""
    A = graph(False)
    x = Vector.from_coo([SOURCE], [1], size=N)
    with config.set(direction=direction):
        found = plain(ops.closure(x, A if codec is None else A.compress(codec), "any_second"))
    levels = plain(sr.algorithms.bfs_levels(A, SOURCE), verify.UNREACHED)
    rows, columns, values = triples(False)
    before = levels[rows] >= 0
    before &= levels[columns] == levels[rows] + 1
    legal = set(zip(columns[before].tolist(), values[before].tolist(), strict=True))
    reached = np.flatnonzero(levels > 0)
    assert all((int(j), int(found[j])) in legal for j in reached)
    assert ((found >= 0) == (levels >= 0)).all()


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_distances(codec: Any, symmetric: bool) -> None:
    A = graph(symmetric)
    assert (plain(sr.algorithms.sssp(A.compress(codec), SOURCE)) == plain(sr.algorithms.sssp(A, SOURCE))).all()


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("searched", [True, False])
def test_components(codec: Any, symmetric: bool, searched: bool) -> None:
    """After a search the hubs may be cached; then they are the sample."""
    A = graph(symmetric, weighted=False)
    indptr, indices, _ = A.to("cpu").to_csr()
    packed = A.compress(codec)
    if searched:
        sr.algorithms.bfs_levels(packed, SOURCE).wait()
    verify.components(indptr, indices, plain(sr.algorithms.connected_components(packed)))


def vectors() -> dict[str, Vector]:
    draw = np.random.default_rng(6)
    values = draw.integers(1, 50, N)
    some, few = np.flatnonzero(draw.random(N) < 0.6), np.flatnonzero(draw.random(N) < 0.01)
    return {
        "full": Vector.from_dense(values),
        "bitmap": Vector.from_coo(some, values[some], size=N).convert("bitmap"),
        "index": Vector.from_coo(few, values[few], size=N).convert("index"),
    }


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("form", ["full", "bitmap", "index"])
@pytest.mark.parametrize("direction", ["push", "pull"])
@pytest.mark.parametrize("ring", ["plus_times", "min_plus", "plus_secondi", "any_pair"])
def test_products(codec: Any, form: str, direction: str, ring: str) -> None:
    A, u = graph(False), vectors()[form]
    mask = vectors()["bitmap"]
    packed = A.compress(codec)
    with config.set(direction=direction):
        for multiply in (lambda a: a.mxv(u, ring), lambda a: u.vxm(a, ring), lambda a: a.mxv(u, ring, mask=~mask.S)):
            found, expected = multiply(packed).wait(), multiply(A).wait()
            assert found.isequal(expected)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("entries", [1, 3, 40])
def test_products_of_rows_of_one_length(codec: Any, entries: int) -> None:
    """By a lane a row, and by a warp."""
    draw = np.random.default_rng(7)
    keys = np.unique(np.repeat(np.arange(N), entries) * N + draw.integers(0, N, entries * N))
    A = Matrix.from_coo(keys // N, keys % N, draw.integers(1, 9, keys.size), shape=(N, N))
    u = vectors()["full"]
    assert A.compress(codec).mxv(u, "plus_times").wait().isequal(A.mxv(u, "plus_times").wait())
