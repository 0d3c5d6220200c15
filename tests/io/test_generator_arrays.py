from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

from semiring.io import generator_arrays as arrays


def test_random_bits_are_splitmix64() -> None:
    # The sequence of seed 1234567, as published with the reference implementation (Vigna, splitmix64.c).
    state = 1234567
    golden = 0x9E3779B97F4A7C15
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [arrays._mix((state + (i + 1) * golden) % 2**64) for i in range(3)] == expected
    bits = arrays.random_bits(np.arange(3, dtype=np.uint64), 5, 2)
    key = arrays._mix((arrays._mix(5) + 3 * golden) % 2**64)
    assert bits.tolist() == [arrays._mix((key + i * golden) % 2**64) for i in range(3)]


def test_streams_and_seeds_differ() -> None:
    counters = np.arange(100, dtype=np.uint64)
    draws = [arrays.random_bits(counters, seed, stream) for seed in (0, 1, -1) for stream in (0, 1)]
    assert len({bits for draw in draws for bits in draw.tolist()}) == 600


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4), (5,), (1, 1), (1,), (3, 1), (1, 4), (2, 1, 2)])
def test_lattices_are_networkx_grids(shape: tuple[int, ...]) -> None:
    indptr, indices = arrays.lattice(np, shape)
    grid = nx.convert_node_labels_to_integers(nx.grid_graph(tuple(reversed(shape))), ordering="sorted")
    for i in range(math.prod(shape)):
        assert indices[indptr[i] : indptr[i + 1]].tolist() == sorted(grid[i])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_empty_lattices(shape: tuple[int, ...]) -> None:
    indptr, indices = arrays.lattice(np, shape)
    assert (indptr.tolist(), indices.tolist()) == ([0], [])


@pytest.mark.parametrize("leaves", [0, 1, 5])
def test_star(leaves: int) -> None:
    indptr, indices = arrays.star_arrays(np, leaves)
    assert np.diff(indptr).tolist() == [leaves] + [1] * leaves
    assert indices.tolist() == [*range(1, leaves + 1), *[0] * leaves]


def test_edges_do_not_depend_on_the_chunk() -> None:
    whole = arrays.kronecker_edges(np, 7, 0, 1000, 3, 0.57, 0.19, 0.19)
    part = arrays.kronecker_edges(np, 7, 600, 300, 3, 0.57, 0.19, 0.19)
    for all_ends, ends in zip(whole, part, strict=True):
        np.testing.assert_array_equal(all_ends[600:900], ends)
    whole = arrays.uniform_edges(np, 99, 0, 1000, 3)
    part = arrays.uniform_edges(np, 99, 600, 300, 3)
    np.testing.assert_array_equal(whole[1][600:900], part[1])


def test_each_level_falls_into_quadrants_with_their_probabilities() -> None:
    rows, cols = arrays.kronecker_edges(np, 9, 0, 200_000, 11, 0.5, 0.3, 0.15)
    for level in range(9):
        quadrants = (rows >> level & 1) * 2 + (cols >> level & 1)
        shares = np.bincount(quadrants, minlength=4) / len(rows)
        np.testing.assert_allclose(shares, [0.5, 0.3, 0.15, 0.05], atol=0.006)


def test_a_graph_is_the_same_for_ever() -> None:
    rows, cols = arrays.kronecker_edges(np, 10, 0, 4, 1, 0.57, 0.19, 0.19)
    assert [rows.tolist(), cols.tolist(), arrays.permutation(np, 6, 1).tolist()] == [
        [36, 309, 32, 200],
        [50, 265, 532, 140],
        [2, 4, 5, 1, 0, 3],
    ]


def test_compression_sorts_and_drops_duplicates() -> None:
    chunks = [(np.array([2, 2, 0]), np.array([1, 1, 0])), (np.array([1]), np.array([2]))]
    indptr, indices = arrays.compress(np, chunks, 4, 3, symmetric=False, loops=True)
    assert (indptr.tolist(), indices.tolist()) == ([0, 1, 2, 3], [0, 2, 1])
    indptr, indices = arrays.compress(np, chunks, 4, 3, symmetric=True, loops=False)
    assert (indptr.tolist(), indices.tolist()) == ([0, 0, 1, 2], [2, 1])
    indptr, indices = arrays.compress(np, [], 0, 0, symmetric=True, loops=False)
    assert (indptr.tolist(), indices.tolist()) == ([0], [])


def test_keys_do_not_overflow_at_the_largest_size() -> None:
    n = 2**31
    rows = np.array([n - 1, n - 1, 5])
    # Without the offsets of all 2**31 rows: only the keys are of interest.
    keys = np.sort(rows * n + rows)
    assert (keys > 0).all()
    assert (keys % n).tolist() == [5, n - 1, n - 1]


def test_weights_are_symmetric_and_within_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "CHUNK_EDGES", 7)
    indptr, indices = arrays.lattice(np, (5, 6))
    weights = arrays.uniform_weights(np, indptr, indices, 1, 1, 255)
    assert weights.dtype == np.int32
    assert 1 <= weights.min() <= weights.max() <= 255
    rows = np.repeat(np.arange(30), np.diff(indptr))
    of = dict(zip(zip(rows.tolist(), indices.tolist(), strict=True), weights.tolist(), strict=True))
    assert all(of[j, i] == weight for (i, j), weight in of.items())
    assert len(set(of.values())) > 20
