"""Drawings of small graphs: what is in the axes, where vertices are placed, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, plot
from semiring import exceptions as ex
from semiring.bridges.plot import graph


@pytest.fixture(autouse=True)
def drawing() -> Iterator[None]:
    """Draw without a screen; skipped without matplotlib."""
    pytest.importorskip("matplotlib").use("Agg")
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def trips() -> Matrix:
    edges = [("Oslo", "Bergen", 463.5), ("Bergen", "Oslo", 460.0), ("Oslo", "Narvik", 1.0), ("Narvik", "Narvik", 2.0)]
    return Matrix.from_edgelist(edges, relabel=True)


def texts(axis: Any) -> list[str]:
    return sorted(text.get_text() for text in axis.texts)


def arrows(axis: Any) -> list[Any]:
    return [patch for patch in axis.patches if type(patch).__name__ == "FancyArrowPatch"]


def vertices(axis: Any) -> Any:
    """The positions of the circles of vertices."""
    return np.asarray(max(axis.collections, key=lambda c: c.get_zorder()).get_offsets())


def test_a_directed_graph_has_arrows_names_and_loops() -> None:
    A = trips()
    axis = A.draw(title="trips")
    assert texts(axis) == ["Bergen", "Narvik", "Oslo"]
    assert len(arrows(axis)) == 3
    assert len(axis.collections) == 2  # the vertices, and the loop of one
    assert axis.get_title(loc="left") == "trips"
    assert np.array_equal(vertices(axis), plot.layout(A))
    assert texts(A.draw(weights=True)) == sorted(["Bergen", "Narvik", "Oslo", "463.5", "460", "1", "2"])
    assert texts(A.draw(labels=False)) == []


def test_a_symmetric_graph_has_lines() -> None:
    A = sr.random.grid2d(4, 4)
    axis = A.draw()
    assert not arrows(axis)
    segments = next(c for c in axis.collections if hasattr(c, "get_segments")).get_segments()
    assert len(segments) == A.nvals // 2
    assert texts(axis) == sorted(map(str, range(16)))
    assert axis.get_title(loc="left") == "16 vertices, 24 edges"
    B = Matrix.from_coo([0, 1], [1, 0], [3, 4], shape=(2, 2))
    assert not arrows(B.draw())
    assert len(arrows(B.draw(weights=True))) == 2  # the values are not symmetric
    assert texts(Matrix.from_coo([0, 1], [1, 0], [3, 3], shape=(2, 2)).draw(weights=True)) == ["0", "1", "3"]


def test_positions() -> None:
    A = trips()
    given = {"Oslo": (1, 2), "Bergen": (3.0, 4.0), "Narvik": (5, 6)}
    assert vertices(A.draw(given)).tolist() == [[3, 4], [5, 6], [1, 2]]
    assert vertices(A.draw(np.eye(3)[:, :2])).tolist() == [[1, 0], [0, 1], [0, 0]]
    for wrong in (
        np.zeros((2, 2)),
        np.zeros((3, 3)),
        [(0, 0), (1, np.nan), (2, 2)],
        ["a", "b", "c"],
        [[1], [2, 3], []],
    ):
        with pytest.raises(ex.InvalidValue, match="positions must be 3 pairs"):
            A.draw(wrong)
    with pytest.raises(ex.InvalidValue, match="none for the vertex 'Narvik'"):
        A.draw({"Oslo": (1, 2), "Bergen": (3, 4)})


@pytest.mark.parametrize("n", [0, 1, 2])
def test_graphs_of_few_vertices(n: int) -> None:
    assert plot.layout(Matrix(bool, n, n)).shape == (n, 2)
    axis = Matrix(bool, n, n).draw()
    assert len(axis.texts) == n
    axis.figure.canvas.draw()


def test_the_layout_separates_vertices_and_components() -> None:
    A = sr.random.grid2d(6, 6)
    x = plot.layout(A)
    assert np.array_equal(x, plot.layout(A))
    i, j, _ = A.to_coo(device="cpu")
    lengths = np.linalg.norm(x[i] - x[j], axis=1)
    assert 0.7 < lengths.min() < lengths.max() < 1.3
    far = np.linalg.norm(x[:, None] - x[None], axis=2)[~np.eye(36, dtype=bool)]
    assert far.min() > 0.7
    star = plot.layout(sr.random.star(8))  # its leaves have equal neighbors
    assert np.linalg.norm(star[:, None] - star[None], axis=2)[~np.eye(9, dtype=bool)].min() > 0.3
    two = sr.block([[A, None], [None, sr.random.path(5)]])
    x = plot.layout(two)
    boxes = [(x[part].min(axis=0), x[part].max(axis=0)) for part in (slice(36), slice(36, 41))]
    assert (boxes[0][0] > boxes[1][1] + 0.9).any() or (boxes[1][0] > boxes[0][1] + 0.9).any()


def test_directions_and_weights_do_not_move_vertices() -> None:
    A = sr.random.grid2d(3, 5)
    for B in (A.select("triu"), A.select("tril"), A.apply("times", right=7.0)):
        np.testing.assert_allclose(plot.layout(B), plot.layout(A), atol=1e-9)


def test_what_is_too_large_is_refused() -> None:
    for function in (plot.draw, plot.layout):
        with pytest.raises(ex.InvalidValue, match=r"1,001 vertices are too many to draw, at most 1,000; .*ego_graph"):
            function(Matrix(bool, 1001, 1001))
        with pytest.raises(ex.DimensionMismatch, match=r"2 x 3; sr\.block\(\[\[None, A\], \[A\.T, None\]\]\)"):
            function(Matrix(bool, 2, 3))
        with pytest.raises(ex.InvalidType, match="expected a Matrix, got list"):
            function([1, 2])
    with pytest.raises(ex.InvalidValue, match="14,400 entries are too many"):
        Matrix.from_scalar(1, 120, 120).draw()
    assert len(Matrix(bool, graph.MOST_VERTICES // 2, graph.MOST_VERTICES // 2).draw().texts) == 0
    B = Matrix(bool, 2, 3)
    assert sr.block([[None, B], [B.T, None]]).draw() is not None


def overlaps(figure: Any) -> list[tuple[int, int]]:
    figure.canvas.draw()
    boxes = [axis.get_tightbbox(figure.canvas.get_renderer()) for axis in figure.axes]
    apart = 1.0  # pixels
    return [
        (p, q)
        for p, one in enumerate(boxes)
        for q, other in enumerate(boxes[:p])
        if min(one.x1, other.x1) - max(one.x0, other.x0) > apart
        and min(one.y1, other.y1) - max(one.y0, other.y0) > apart
    ]


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (2, 2)], ids=str)
def test_plots_on_one_figure_do_not_overlap(shape: tuple[int, int]) -> None:
    from matplotlib import pyplot

    A = sr.random.grid2d(40, 50)
    figure, axes = pyplot.subplots(*shape)
    calls = [A.spy, A.reduce_rowwise("count").hist, lambda ax: plot.degree_distribution(A, ax=ax), trips().draw]
    for call, axis in zip(calls, np.ravel(axes), strict=False):
        assert call(ax=axis) is axis
    assert overlaps(figure) == []
    figure.tight_layout()  # warnings are errors here
    assert overlaps(figure) == []


def test_a_layout_that_was_chosen_is_kept() -> None:
    from matplotlib import pyplot

    figure, axis = pyplot.subplots()
    figure.subplots_adjust(left=0.3)
    sr.random.path(4).spy(ax=axis)
    assert figure.get_layout_engine() is None
    assert figure.subplotpars.left == 0.3
    figure, axis = pyplot.subplots(layout="constrained")
    engine = figure.get_layout_engine()
    sr.random.path(4).spy(ax=axis)
    assert figure.get_layout_engine() is engine
    assert plot.hist(sr.Vector.full(1.0, 3), title="", ax=axis).get_title(loc="left") == ""
