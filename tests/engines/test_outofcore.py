"""Searches and components of matrices with entries in host memory equal those of the uncompressed matrix on the device.

Engine-neutral; each engine uses its own method (the CPU engine slices, the CUDA engine passes over tiles).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring import Matrix, Vector
from semiring.algorithms import bfs_levels, bfs_parents, bfs_trace, connected_components
from semiring.memory.arrays import to_host
from tests import storage_kinds, verify
from tests.draw import seeds

# On the CPU engine all of this goes slice by slice, which tests/facade/test_storage_kinds.py and test_sliced.py prove.
pytestmark = pytest.mark.wide

PLACED = [(codec, placement) for codec in (None, "varint", "packed") for placement in ("pinned", "host")]
IDS = [f"{codec or 'plain'}-{placement}" for codec, placement in PLACED]
DIRECTIONS = ("auto", "push", "pull")
KINDS = ("skewed", "star", "path", "pieces", "few rows", "directed")


@pytest.fixture(autouse=True)
def many_chunks(engine: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Chunks of a stream so small that small matrices have several."""
    if engine == "cuda":
        from semiring.engines.cuda import tuning
        from semiring.engines.cuda.outofcore import chunks, passes

        monkeypatch.setattr(tuning, "CHUNK_BYTES", 1 << 13)
        for call in ("COPY_CALL", "STAGED_CALL"):
            monkeypatch.setattr(tuning, call, 0)
        monkeypatch.setattr(chunks, "BLOCK_TILES", 32)
        monkeypatch.setattr(passes, "_BLOCK_WORDS", 1)
    with storage_kinds.small_slices(5000):
        yield


def graph(kind: str, n: int, seed: int) -> Matrix:
    """A graph of n rows; some rows are longer than several words of tiles, some empty, some tiles have many rows."""
    draw = np.random.default_rng(seed)
    if kind == "star":
        leaves = np.delete(np.arange(n), n // 3)
        rows, cols = np.full(n - 1, n // 3), leaves
    elif kind == "path":
        rows, cols = np.arange(n - 1), np.arange(1, n)
    elif kind == "pieces":
        rows, cols = draw.integers(0, n, (2, n // 2 + 1))
    elif kind == "few rows":
        rows, cols = draw.choice([0, n // 2, n - 1], 2 * n), draw.integers(0, n, 2 * n)
    else:
        rows, cols = (n * draw.random(6 * n) ** 3).astype(int), (n * draw.random(6 * n) ** 2).astype(int)
    if kind not in ("few rows", "directed"):
        rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    return Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, dup_op="any")


def placed(A: Matrix, codec: str | None, placement: str) -> Matrix:
    B = (A if codec is None else A.compress(codec)).to(placement=placement)
    assert (B.codec, B.placement) == (codec, placement)
    return B


def numbers(v: Vector) -> np.ndarray[Any, Any]:
    return to_host(v.to_dense(verify.UNREACHED))


def csr_of(A: Matrix) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    indptr, indices, _ = A.to_csr()
    return to_host(indptr), to_host(indices)


@pytest.mark.parametrize(("codec", "placement"), PLACED, ids=IDS)
@pytest.mark.parametrize("kind", KINDS)
def test_searches_equal_those_of_the_uncompressed_matrix(kind: str, codec: str | None, placement: str) -> None:
    A = graph(kind, 70 if kind == "path" else 9000, seed=5)
    B = placed(A, codec, placement)
    indptr, indices = csr_of(A)
    occupied = np.flatnonzero(np.diff(indptr))
    source = int(occupied[occupied.size // 2])
    levels = bfs_levels(A, source)
    trace = bfs_trace(A, source).steps
    for direction in DIRECTIONS:
        with sr.config.set(direction=direction):
            assert bfs_levels(B, source).isequal(levels)
            found = bfs_trace(B, source).steps
            parents = numbers(bfs_parents(B, source))
        assert [(step.frontier, step.edges) for step in found] == [(step.frontier, step.edges) for step in trace]
        verify.bfs_parents(indptr, indices, source, parents, numbers(levels))


@pytest.mark.parametrize(("codec", "placement"), PLACED, ids=IDS)
@pytest.mark.parametrize("kind", KINDS)
def test_components_equal_those_of_the_uncompressed_matrix(kind: str, codec: str | None, placement: str) -> None:
    A = graph(kind, 9000, seed=6)
    B = placed(A, codec, placement)
    assert connected_components(B).isequal(connected_components(A))


@pytest.mark.parametrize(("codec", "placement"), PLACED, ids=IDS)
def test_links_of_some_positions(codec: str | None, placement: str) -> None:
    A = graph("skewed", 4000, seed=7)
    B = placed(A, codec, placement)
    forest = sr.ops.singletons(Vector(bool, A.nrows, device=A.device))
    some = sr.ops.link(forest, A, first=0, last=1)
    giant = int(np.bincount(numbers(some)).argmax())
    for start, first, last, skip in (
        (forest, 0, 1, None),
        (forest, 1, 3, None),
        (forest, 5, None, None),
        (some, 2, None, giant),
        (some, 1, 1, giant),
    ):
        wanted = sr.ops.link(start, A, first=first, last=last, skip=skip)
        assert sr.ops.link(start, B, first=first, last=last, skip=skip).isequal(wanted)


@given(data=st.data())
def test_several_starts(data: st.DataObject) -> None:
    """From several rows at once, with one value or a value each, in every direction."""
    kind = data.draw(st.sampled_from(KINDS), label="kind")
    n = data.draw(st.sampled_from((3, 33, 130, 900)), label="n")
    codec, placement = data.draw(st.sampled_from(PLACED), label="form")
    A = graph(kind, n, data.draw(seeds, label="seed"))
    B = placed(A, codec, placement)
    starts = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=4), label="starts"))
    with sr.config.set(direction=data.draw(st.sampled_from(DIRECTIONS), label="direction")):
        depth = Vector.from_coo(starts, 0, np.int32, size=n)
        ones = [M.apply("second", right=np.int32(1)) for M in (A, B)]
        levels, wanted = (sr.ops.closure(depth, M, sr.semiring.min_plus) for M in reversed(ones))
        assert levels.isequal(wanted)
        reach = sr.ops.closure(Vector.from_coo(starts, True, size=n), B, sr.semiring.any_pair)
        own = sr.ops.closure(Vector.from_coo(starts, starts, np.int64, size=n), B, sr.semiring.any_secondi)
    depths, parents = numbers(levels), numbers(own)
    assert ((numbers(reach) == 1) == (depths >= 0)).all()
    indptr, indices = csr_of(A)
    assert (parents[starts] == starts).all()
    assert ((parents >= 0) == (depths >= 0)).all()
    arcs = set(zip(np.repeat(np.arange(n), np.diff(indptr)).tolist(), indices.tolist(), strict=True))
    for child in np.flatnonzero(depths > 0).tolist():
        assert depths[parents[child]] + 1 == depths[child]
        assert (int(parents[child]), child) in arcs


@pytest.mark.parametrize(("codec", "placement"), PLACED, ids=IDS)
@pytest.mark.parametrize("limit", [0, 1, 2])
def test_a_search_stops_at_the_limit(codec: str | None, placement: str, limit: int) -> None:
    A = placed(graph("path", 40, seed=0), codec, placement)
    start = Vector.from_coo([5], True, size=40)
    with pytest.raises(sr.exceptions.ConvergenceFailure) as caught:
        sr.ops.closure(start, A, sr.semiring.any_pair, max_steps=limit)
    assert caught.value.result.nvals == 1 + 2 * limit


def test_a_matrix_without_entries() -> None:
    for codec, placement in PLACED:
        A = placed(Matrix(bool, 50, 50), codec, placement)
        assert numbers(bfs_levels(A, 7)).tolist() == [0 if v == 7 else verify.UNREACHED for v in range(50)]
        assert numbers(connected_components(A)).tolist() == list(range(50))


@pytest.mark.gpu
@pytest.mark.parametrize("percent", [1, 10**6], ids=["copied", "read in place"])
@pytest.mark.parametrize("codec", [None, "varint", "packed"])
def test_a_stream_is_copied_or_read_in_place(codec: str | None, percent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either method alone; by default a pass chooses the cheaper one for each chunk."""
    from semiring.engines.cuda import tuning

    monkeypatch.setattr(tuning, "READ_PERCENT", percent)
    with sr.use("cuda"):
        for kind in KINDS:
            A = graph(kind, 900 if kind == "path" else 9000, seed=8)  # each level of a path is a few waits
            B = placed(A, codec, "host")
            source = int(np.flatnonzero(np.diff(csr_of(A)[0]))[0])
            assert connected_components(B).isequal(connected_components(A))
            for direction in DIRECTIONS:
                with sr.config.set(direction=direction):
                    assert bfs_levels(B, source).isequal(bfs_levels(A, source))
