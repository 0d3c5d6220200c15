"""Plots of objects on a grid of processes show what those of one process show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import plot
from semiring.distributed import run

pyplot = pytest.importorskip("matplotlib.pyplot")
A = sr.random.kronecker(6, 4, weights="uniform", seed=1, device="cpu")
PLOTS: dict[str, Any] = {
    "spy": lambda A: plot.spy(A, resolution=20),
    "an order": lambda A: plot.spy(A, sr.algorithms.degree_order(A), resolution=20)[1],
    "hist": lambda A: plot.hist(A.reduce_rowwise("plus"), bins=9),
    "degrees of rows": plot.degree_distribution,
    "degrees of columns": lambda A: plot.degree_distribution(A, by="columns"),
    "frontiers": lambda A: plot.frontiers(sr.algorithms.bfs_levels(A, 0), A),
}


def shown(axis: Any) -> list[Any]:
    """What is drawn: cells, points and bars."""
    cells = [np.ma.filled(image.get_array(), 0) for image in axis.get_images()]
    return [*cells, *(line.get_xydata() for line in axis.lines), *(bar.get_bbox().bounds for bar in axis.patches)]


@pytest.mark.parametrize("name", PLOTS)
def test_plots_of_parts_show_the_whole(name: str) -> None:
    expected = shown(PLOTS[name](A))
    assert expected
    for found in run(2, lambda grid: shown(PLOTS[name](A.to(grid.device)))):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    pyplot.close("all")
