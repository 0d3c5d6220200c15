"""Generated graphs in NumPy: the random numbers, and the requests of generators."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

from semiring.engines.requests import draw
from semiring.engines.requests.draw import (
    BuildKeys,
    DrawEdges,
    DrawOrder,
    DrawWeights,
    Lattice,
    RandomEdges,
    Star,
    column_bits,
)
from semiring.engines.shared import draw_numpy
from semiring.formats import Array, Pattern

SHARES = tuple(round(share * 2**32) for share in (0.57, 0.76, 0.95))


def drawn(edges: RandomEdges, first: int, count: int, *, symmetric: bool = False, loops: bool = True) -> Array:
    """The rows and the columns of edges."""
    keys = draw_numpy.draw_edges(DrawEdges(edges, first, count, symmetric, loops))
    bits = column_bits(edges.n)
    return np.array([keys >> bits, keys & ((1 << bits) - 1)])


def lattice(*shape: int) -> Pattern:
    everywhere = 0, math.prod(shape)
    return draw_numpy.lattice(Lattice(shape, everywhere, everywhere))


def test_random_bits_are_splitmix64() -> None:
    # The sequence of seed 1234567, as published with the reference implementation (Vigna, splitmix64.c).
    state = 1234567
    golden = 0x9E3779B97F4A7C15
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [draw_numpy._mix((state + (i + 1) * golden) % 2**64) for i in range(3)] == expected
    bits = draw_numpy.random_bits(np.arange(3, dtype=np.uint64), 5, 2)
    key = draw_numpy._mix((draw_numpy._mix(5) + 3 * golden) % 2**64)
    assert bits.tolist() == [draw_numpy._mix((key + i * golden) % 2**64) for i in range(3)]


def test_streams_and_seeds_differ() -> None:
    counters = np.arange(100, dtype=np.uint64)
    draws = [draw_numpy.random_bits(counters, seed, stream) for seed in (0, 1, -1) for stream in (0, 1)]
    assert len({bits for draw in draws for bits in draw.tolist()}) == 600


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4), (5,), (1, 1), (1,), (3, 1), (1, 4), (2, 1, 2)])
def test_lattices_are_networkx_grids(shape: tuple[int, ...]) -> None:
    made = lattice(*shape)
    grid = nx.convert_node_labels_to_integers(nx.grid_graph(tuple(reversed(shape))), ordering="sorted")
    for i in range(math.prod(shape)):
        assert made.indices[made.indptr[i] : made.indptr[i + 1]].tolist() == sorted(grid[i])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_empty_lattices(shape: tuple[int, ...]) -> None:
    made = lattice(*shape)
    assert (made.indptr.tolist(), made.indices.tolist()) == ([0], [])


@pytest.mark.parametrize("leaves", [0, 1, 5])
def test_star(leaves: int) -> None:
    made = draw_numpy.star(Star(leaves))
    assert np.diff(made.indptr).tolist() == [leaves] + [1] * leaves
    assert made.indices.tolist() == [*range(1, leaves + 1), *[0] * leaves]


def test_edges_do_not_depend_on_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    for edges in (RandomEdges(128, 3, SHARES), RandomEdges(99, 3)):
        whole = drawn(edges, 0, 1000)
        np.testing.assert_array_equal(whole[:, 600:900], drawn(edges, 600, 300))
        both = np.sort(np.concatenate((whole, whole[::-1]), axis=1)[:, np.tile(whole[0] != whole[1], 2)])
        monkeypatch.setattr(draw, "CHUNK_EDGES", 300)
        reported: list[int] = []
        request = DrawEdges(edges, 0, 1000, True, False, reported.append)
        keys, bits = draw_numpy.draw_edges(request), column_bits(edges.n)
        np.testing.assert_array_equal(np.sort([keys >> bits, keys & ((1 << bits) - 1)]), both)
        assert reported == [300, 600, 900, 1000]


def test_each_level_falls_into_quadrants_with_their_probabilities() -> None:
    shares = tuple(round(share * 2**32) for share in (0.5, 0.8, 0.95))
    rows, cols = drawn(RandomEdges(512, 11, shares), 0, 200_000)
    for level in range(9):
        quadrants = (rows >> level & 1) * 2 + (cols >> level & 1)
        np.testing.assert_allclose(np.bincount(quadrants, minlength=4) / len(rows), [0.5, 0.3, 0.15, 0.05], atol=0.006)


def test_a_graph_is_the_same_for_ever() -> None:
    rows, cols = drawn(RandomEdges(1024, 1, SHARES), 0, 4)
    assert [rows.tolist(), cols.tolist(), draw_numpy.draw_order(DrawOrder(6, 1)).tolist()] == [
        [36, 309, 32, 200],
        [50, 265, 532, 140],
        [2, 4, 5, 1, 0, 3],
    ]


def test_keys_are_sorted_and_repeats_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_numpy, "_SLICE_KEYS", 3)
    keys = np.array([2 << 2 | 1, 2 << 2 | 1, 0, 1 << 2 | 2, 0, 2 << 2 | 1, 2 << 2])
    for parts in ([keys.copy()], [keys[:2], keys[2:]]):
        made = draw_numpy.build_keys(BuildKeys(4, 3, parts))
        assert (made.indptr.tolist(), made.indices.tolist(), parts) == ([0, 1, 2, 4, 4], [0, 2, 0, 1], [])
    made = draw_numpy.build_keys(BuildKeys(0, 0, []))
    assert (made.indptr.tolist(), made.indices.tolist()) == ([0], [])


def test_keys_do_not_overflow_at_the_largest_size() -> None:
    n = 2**31
    rows = np.array([n - 1, n - 1, 5])
    # Without the offsets of all 2**31 rows: only the keys are of interest.
    keys = np.sort(rows << column_bits(n) | rows)
    assert (keys > 0).all()
    assert (keys % n).tolist() == [5, n - 1, n - 1]


def test_weights_are_symmetric_and_within_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw, "CHUNK_EDGES", 7)
    made = lattice(5, 6)
    weights = draw_numpy.draw_weights(DrawWeights(made, 1, 1, 255, 0, 0, 30))
    assert weights.dtype == np.int32
    assert 1 <= weights.min() <= weights.max() <= 255
    rows = np.repeat(np.arange(30), np.diff(made.indptr))
    of = dict(zip(zip(rows.tolist(), made.indices.tolist(), strict=True), weights.tolist(), strict=True))
    assert all(of[j, i] == weight for (i, j), weight in of.items())
    assert len(set(of.values())) > 20
