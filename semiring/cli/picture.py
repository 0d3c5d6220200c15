"""Frontier plots as a PNG, side by side, through matplotlib."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from semiring.cli.frontier import Frontiers
from semiring.cli.report import shown
from semiring.exceptions import NotSupported
from semiring.io.atomic import atomic_writer
from semiring.io.files import extension

_INK: Final = "#22303c"
_FAINT: Final = "#8795a1"
# One hue, darker as the sets shrink.
_LINES: Final = {
    "edge frontier": ("#66a3c6", "edge frontier: the edges that leave a level"),
    "without duplicates": ("#35789f", "without duplicates: their distinct ends"),
    "vertex frontier": ("#12355b", "vertex frontier: the level itself"),
}
_FEW_LEVELS: Final = 30
_PANEL_INCHES, _HEIGHT_INCHES = 4.7, 3.7


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def check(path: str) -> None:
    """Raise NotSupported for a plot that `draw` cannot write, before any work is done."""
    if extension(path) != (".png", ""):
        raise NotSupported(f"{shown(path)}: a frontier plot is written as .png")
    if not can_draw():
        raise NotSupported("drawing a PNG needs matplotlib: pip install 'semiring[plot]'")


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
        _panel(axis, plot, first=at == 0)
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
    with atomic_writer(path) as file:
        file.write(image.getvalue())


def _panel(axis: Any, plot: Frontiers, *, first: bool) -> None:
    few = plot.vertices.size <= _FEW_LEVELS
    levels = np.arange(plot.vertices.size)
    for name, values in plot.series:
        drawn = np.where(values > 0, values, np.nan)  # the logarithm of 0 is not finite
        colour, label = _LINES[name]
        marker = "o" if few else None
        axis.plot(levels, drawn, color=colour, label=label, linewidth=1.6, marker=marker, markersize=4.5)
    axis.set_yscale("log")
    top = max(int(values.max(initial=1)) for _, values in plot.series)
    axis.set_ylim(0.7, top * 1.6)
    axis.set_xlim(-0.02 * levels.size if not few else -0.3, levels.size - 1 + (0.3 if few else 0))
    if few:
        axis.set_xticks(levels)
    axis.set_title(plot.title, loc="left", color=_INK, fontsize=10.5, pad=16)
    axis.set_xlabel("level", color=_INK, fontsize=9)
    if first:
        axis.text(0, 1.015, "size, log scale", transform=axis.transAxes, color=_FAINT, fontsize=8)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axis.spines[side].set_color(_FAINT)
    axis.tick_params(colors=_INK, labelsize=8, width=0.6)
    axis.tick_params(which="minor", left=False)
    axis.grid(axis="y", color="#e3e8ec", linewidth=0.6)
    axis.set_axisbelow(True)
