"""Generated graphs of the CUDA engine are those of NumPy, bit for bit.

No GPU is needed (`emulated_kernels`).  Sorts and `build` have tests of their own.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy", reason="the engine imports CuPy")

from semiring.engines.cuda import draw as cuda_draw
from semiring.engines.requests.draw import (
    BuildKeys,
    DrawEdges,
    DrawOrder,
    DrawWeights,
    Lattice,
    RandomEdges,
    Star,
)
from semiring.engines.shared import draw_numpy
from semiring.formats import Pattern
from tests.engines.emulated_kernels import emulate
from tests.loops import emulated

pytestmark = pytest.mark.skipif(emulated.COMPILER is None, reason="kernels are run by a C++ compiler for the host")

SHARES = ((0.57, 0.76, 0.95), (0.25, 0.5, 0.75), (0.0, 0.3, 1.0), (1.0, 1.0, 1.0))


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    emulate(cuda_draw, monkeypatch, tmp_path_factory.getbasetemp() / "kernels")


def same(made: Pattern, expected: Pattern) -> None:
    assert (made.nrows, made.ncols) == (expected.nrows, expected.ncols)
    for array, other in ((made.indptr, expected.indptr), (made.indices, expected.indices)):
        assert array.dtype == other.dtype
        np.testing.assert_array_equal(array, other)


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("loops", [True, False])
@pytest.mark.parametrize("symmetric", [True, False])
def test_edges(symmetric: bool, loops: bool) -> None:
    graphs = [RandomEdges(n, 7) for n in (1, 2, 99, 2**31 - 5, 2**31)]
    for scale, shares in itertools.product((0, 1, 2, 5, 8, 31), SHARES):
        one, two, three = (round(share * 2**32) for share in shares)
        order = np.random.default_rng(1).permutation(1 << scale) if scale in (5, 8) else None
        graphs.append(RandomEdges(1 << scale, scale - 3, (one, two, three), order))
    for edges, (first, count) in itertools.product(graphs, ((0, 0), (3, 1), (5_000_000_000, 333))):
        reported: list[int] = []
        made = cuda_draw.draw_edges(DrawEdges(edges, first, count, symmetric, loops, reported.append))
        expected = draw_numpy.draw_edges(DrawEdges(edges, first, count, symmetric, loops))
        assert made.dtype == expected.dtype == np.int64
        np.testing.assert_array_equal(np.sort(made), np.sort(expected))
        assert reported == [count] * (count > 0)


@pytest.mark.usefixtures("host")
def test_an_order() -> None:
    for n in (0, 1, 1000):
        np.testing.assert_array_equal(cuda_draw.draw_order(DrawOrder(n, 5)), draw_numpy.draw_order(DrawOrder(n, 5)))


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_weights(index: Any) -> None:
    for n, top, left in ((300, 0, 0), (2**31, 2**31 - 300, 5)):
        keys = draw_numpy.draw_edges(DrawEdges(RandomEdges(300, 2), 0, 900, False, True))
        pattern = draw_numpy.build_keys(BuildKeys(300, 300, [keys]))
        pattern = Pattern(300, 300, pattern.indptr.astype(index), pattern.indices.astype(index))
        request = DrawWeights(pattern, 4, -3, 255, top, left, n)
        made, expected = cuda_draw.draw_weights(request), draw_numpy.draw_weights(request)
        assert made.dtype == expected.dtype
        np.testing.assert_array_equal(made, expected)


@pytest.mark.usefixtures("host")
def test_lattices_and_stars() -> None:
    for shape in ((0,), (1,), (7,), (0, 3), (3, 0), (1, 1), (4, 5), (1, 6), (6, 1), (2, 3, 4), (3, 1, 2), (1, 1, 3)):
        n = math.prod(shape)
        bounds = sorted({0, n // 3, n // 2, n})
        blocks = [*itertools.pairwise(bounds), (0, n)]
        for rows, cols in itertools.product(blocks, blocks):
            request = Lattice(shape, rows, cols)
            same(cuda_draw.lattice(request), draw_numpy.lattice(request))
    for leaves in (0, 1, 2, 500):
        same(cuda_draw.star(Star(leaves)), draw_numpy.star(Star(leaves)))


def test_offsets_of_large_lattices_have_64_bits() -> None:
    shape = (1 << 20, 1 << 10, 3)
    side = math.prod(shape)
    request = Lattice(shape, (0, side), (0, side))
    entries = cuda_draw._entries_before(request, side) - cuda_draw._entries_before(request, 0)
    assert entries == sum(2 * (length - 1) * side // length for length in shape) > 2**31
