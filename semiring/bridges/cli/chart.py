"""Frontier plots in the terminal: bars on a logarithmic scale, one or more columns for each level."""

from __future__ import annotations

import math
import os
import sys
from typing import Final

import numpy as np
from numpy.typing import NDArray

from semiring.bridges.cli.frontier import Frontiers
from semiring.bridges.cli.report import supports_unicode

#: The fills of edges, distinct neighbors and vertices: in color, in shades, and in ASCII.
_COLORS: Final = ("\x1b[38;5;152m", "\x1b[38;5;74m", "\x1b[38;5;24m")
_SHADES: Final = "░▒█"
_ASCII: Final = ".+#"
_PARTS: Final = " ▁▂▃▄▅▆▇█"
_LEAST_ROWS: Final = 10
_WIDEST_BAR: Final = 7


def chart(plot: Frontiers, *, width: int = 72, color: bool | None = None) -> str:
    """Render the plot as text.

    Parameters
    ----------
    plot : the sizes
    width : columns for the bars
    color : by default where standard output is a terminal that shows block characters
    """
    blocks = supports_unicode()
    color = blocks and _supports_color() if color is None else color
    depth = plot.vertices.size
    bar = max(1, min(_WIDEST_BAR, width // max(depth, 1) - 1))
    gap = 1 if bar > 1 else 0
    columns = min(depth, width)
    heights = [_heights(values, columns) for _, values in plot.series]
    highest = max(float(height.max(initial=0)) for height in heights)
    per_decade = max(2, round(_LEAST_ROWS / max(highest, 1)))
    # A size of 1 is drawn half a row high; a size of 0 is not drawn.
    heights = [np.where(height >= 0, np.maximum(height, 0.5 / per_decade), 0.0) for height in heights]
    fills = _fills(len(heights), blocks, color)
    lines = [plot.title, _legend(plot, fills)]
    for row in range(max(1, math.ceil(highest * per_decade)), 0, -1):
        power, within = divmod(row, per_decade)
        label = _decade(power) if within == 0 else ""
        tops = [np.clip(height * per_decade - (row - 1), 0, 1) for height in heights]
        cells = "".join(_cell([top[at] for top in tops], fills, bar, color) + " " * gap for at in range(columns))
        lines.append(f"{label:>6} {_axis(within == 0, blocks)}{cells}".rstrip())
    lines.append(f"{'1':>6} {_floor(columns * (bar + gap), blocks)}")
    lines.append(" " * 8 + _levels(depth, columns, bar + gap))
    return "\n".join(lines)


def _supports_color() -> bool:
    """Return whether to use color: on a terminal, unless NO_COLOR is set (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _heights(values: NDArray[np.int64], columns: int) -> NDArray[np.float64]:
    """Return log10 of the largest level in each column; -1 where all are 0."""
    starts = np.arange(columns) * values.size // max(columns, 1)
    largest = np.maximum.reduceat(values, starts) if values.size else values
    return np.where(largest > 0, np.log10(np.maximum(largest, 1)), -1.0)


def _fills(series: int, blocks: bool, color: bool) -> list[str]:
    palette = list(_COLORS if color else _SHADES if blocks else _ASCII)
    return palette if series == len(palette) else [palette[0], palette[-1]]


def _legend(plot: Frontiers, fills: list[str]) -> str:
    names = [name for name, _ in plot.series]
    parts = [f"{fill}█\x1b[0m" if "\x1b" in fill else fill for fill in fills]
    return " " * 8 + "   ".join(f"{part} {name}" for part, name in zip(parts, names, strict=True))


def _cell(tops: list[float], fills: list[str], bar: int, color: bool) -> str:
    """Render one cell of one level: the smallest series that reaches it is in front."""
    if color:
        return _colored(tops, fills, bar)
    for top, fill in zip(reversed(tops), reversed(fills), strict=True):
        if top >= 0.5:
            return fill * bar
    return " " * bar


def _colored(tops: list[float], fills: list[str], bar: int) -> str:
    """Render a cell in eighths: the front series ends within the cell, the next one fills the rest."""
    drawn = [(top, fill) for top, fill in zip(tops, fills, strict=True) if round(top * 8) > 0]
    if not drawn:
        return " " * bar
    front_top, front = drawn[-1]
    behind = [fill for top, fill in drawn[:-1] if top > front_top]
    back = behind[-1].replace("[38", "[48") if behind else ""
    return f"{front}{back}{_PARTS[round(front_top * 8)] * bar}\x1b[0m"


def _axis(tick: bool, blocks: bool) -> str:
    return ("┤" if tick else "│") if blocks else ("+" if tick else "|")


def _floor(cells: int, blocks: bool) -> str:
    return "└" + "─" * cells if blocks else "+" + "-" * cells


def _decade(power: int) -> str:
    """Return 10 to the power as a short label: 1, 10, 100, 1k, 10k, ..."""
    unit = ("", "k", "M", "G", "T")[min(power // 3, 4)]
    return f"{10 ** (power - 3 * min(power // 3, 4))}{unit}"


def _levels(depth: int, columns: int, step: int) -> str:
    """Return the line of level numbers below the bars: all where they fit, else every few."""
    cells = [" "] * (columns * step + 12)
    every = 1 if step > 2 else _round_step(depth, columns)
    for level in range(0, depth, every):
        at = level * columns // depth * step + (step // 2 - (step > 2) if step > 2 else 0)
        cells[at : at + len(str(level))] = str(level)
    return "".join(cells).rstrip() + "  level"


def _round_step(depth: int, columns: int) -> int:
    """Return the distance of numbered levels: 1, 2 or 5 times a power of ten, at least ten columns apart."""
    least = depth * 10 / max(columns, 1)
    power = 10 ** int(math.log10(max(least, 1)))
    return next(int(part * power) for part in (1, 2, 5, 10) if part * power >= least)
