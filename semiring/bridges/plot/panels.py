"""The panel of a frontier plot: a line for each series, on a logarithmic scale."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .style import BLUES, FAINT, INK, plain

LINES: Final = {
    "edge frontier": (BLUES[0], "edge frontier: the edges that leave a level"),
    "without duplicates": (BLUES[1], "without duplicates: their distinct ends"),
    "vertex frontier": (BLUES[2], "vertex frontier: the level itself"),
}
_FEW_LEVELS: Final = 30


def frontier_panel(axis: Any, series: list[tuple[str, NDArray[np.int64]]], title: str, *, first: bool = True) -> None:
    """Draw the sizes of each level.

    series: names of `LINES` with a size for each level, from the largest to the smallest.  first: whether to label the
    scale.
    """
    depth = series[0][1].size
    few = depth <= _FEW_LEVELS
    levels = np.arange(depth)
    for name, values in series:
        drawn = np.where(values > 0, values, np.nan)  # the logarithm of 0 is not finite
        color, label = LINES[name]
        marker = "o" if few else None
        axis.plot(levels, drawn, color=color, label=label, linewidth=1.6, marker=marker, markersize=4.5)
    axis.set_yscale("log")
    top = max(int(values.max(initial=1)) for _, values in series)
    axis.set_ylim(0.7, top * 1.6)
    axis.set_xlim(-0.02 * depth if not few else -0.3, max(depth - 1 + (0.3 if few else 0), 0.3))
    if few:
        axis.set_xticks(levels)
    axis.set_title(title, loc="left", color=INK, fontsize=10.5, pad=16)
    axis.set_xlabel("level", color=INK, fontsize=9)
    if first:
        axis.text(0, 1.015, "size, log scale", transform=axis.transAxes, color=FAINT, fontsize=8)
    plain(axis, grid="y")
