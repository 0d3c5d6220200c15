"""Frontier plots as a PNG, side by side, through matplotlib."""

from __future__ import annotations

import io
from collections.abc import Sequence

import semiring as sr
from semiring.bridges.cli.frontier import Frontiers
from semiring.bridges.cli.report import shown
from semiring.bridges.plot.panels import frontier_panel
from semiring.bridges.plot.style import require_matplotlib
from semiring.exceptions import NotSupported

_PANEL_INCHES, _HEIGHT_INCHES = 4.7, 3.7


def check(path: str) -> None:
    """Raise NotSupported for a plot that `draw` cannot write, before any work is done."""
    if sr.io.extension(path) != (".png", ""):
        raise NotSupported(f"{shown(path)}: a frontier plot is written as .png")
    require_matplotlib("drawing a PNG")


def draw(path: str, plots: Sequence[Frontiers]) -> None:
    """Write the plots to a PNG file, atomically.

    Parameters
    ----------
    path : the file
    plots : one panel each, from left to right

    Raises
    ------
    NotSupported
        If matplotlib is not installed, or for another extension.
    """
    check(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width = _PANEL_INCHES * len(plots)
    figure = Figure(figsize=(width, _HEIGHT_INCHES), facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(plots), squeeze=False)[0]
    for at, (axis, plot) in enumerate(zip(axes, plots, strict=True)):
        frontier_panel(axis, plot.series, plot.title, first=at == 0)
    side_by_side = len(plots) > 1
    left, bottom = 0.55 / width, (0.8 if side_by_side else 1.15) / _HEIGHT_INCHES
    figure.subplots_adjust(left=left, right=1 - 0.15 / width, top=0.86, bottom=bottom, wspace=0.16)
    figure.legend(
        handles=max((axis.get_lines() for axis in axes), key=len),
        loc="lower left",
        bbox_to_anchor=(left, 0.0),
        borderaxespad=0.5,
        borderpad=0,
        ncols=3 if side_by_side else 1,
        columnspacing=2.5,
        handlelength=1.4,
        labelcolor="linecolor",
        frameon=False,
        fontsize=8.5,
    )
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=160, metadata={"Software": None})
    with sr.io.atomic_writer(path) as file:
        file.write(image.getvalue())
