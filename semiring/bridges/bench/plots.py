"""Times and rates of kernels against the scale of the graph, log-log, through matplotlib."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

import semiring as sr
from semiring.bridges.bench.rows import Row
from semiring.bridges.cli.report import shown
from semiring.bridges.plot.style import FAINT, GRID, INK, labeled, plain, require_matplotlib, titled
from semiring.exceptions import NotSupported

_COLORS: Final = ("#12355b", "#c0562f", "#3b8f6b", "#8a5aa8", "#b08a1e", "#35789f", "#7a7f85", "#a63a50")
_MARKERS: Final = "osD^vPX<"
_STROKES: Final = ("-", "--", "-.")
_ENDINGS: Final = (".png", ".svg")

Series = Mapping[str, list[tuple[int, Row]]]


def check(path: str) -> None:
    """Raise NotSupported for a plot that `draw` cannot write, before any work is done."""
    if sr.io.extension(path) not in [(ending, "") for ending in _ENDINGS]:
        raise NotSupported(f"--plot {shown(path)}: expected one of the extensions {' '.join(_ENDINGS)}")
    require_matplotlib("--plot")


def series(rows: Sequence[tuple[int, Row]]) -> dict[str, list[tuple[int, Row]]]:
    """Return the rows of each kernel and kind of graph, whose name ends with its scale, by scale."""
    found: dict[str, list[tuple[int, Row]]] = {}
    for scale, row in sorted(rows, key=lambda pair: pair[0]):
        found.setdefault(row.what.removesuffix(str(scale)), []).append((scale, row))
    return found


def slope(points: Sequence[tuple[int, Row]]) -> float:
    """Return b of the least-squares fit  time = a * 2**(b * scale);  1: proportional to the graph."""
    scales = np.array([scale for scale, _ in points], float)
    return float(np.polyfit(scales, [math.log2(row.value or math.nan) for _, row in points], 1)[0])


def draw(path: str, known: Series, title: str) -> None:
    """Write the plot atomically: times on the left, with a line of slope 1, rates on the right.

    A kernel has a color and a marker, a kind of graph a stroke.
    """
    check(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(9.6, 4.4), facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    times, rates = figure.subplots(1, 2)
    kernels, graphs = (list(dict.fromkeys(name.split()[part] for name in known)) for part in (0, 1))
    lines = []
    for name, points in known.items():
        kernel, graph = name.split()
        at, other = kernels.index(kernel) % len(_COLORS), graphs.index(graph) % len(_STROKES)
        style: dict[str, Any] = {
            "color": _COLORS[at], "marker": _MARKERS[at], "markersize": 4.5, "linewidth": 1.4,
            "linestyle": _STROKES[other], "markerfacecolor": _COLORS[at] if other == 0 else "white",
        }  # fmt: skip
        scales = [scale for scale, _ in points]
        (line,) = times.plot(scales, [row.value for _, row in points], label=f"{name}: {slope(points):.2f}", **style)
        lines.append(line)
        rated = [(scale, row.facts["rate"] / 1e6) for scale, row in points if "rate" in row.facts]
        if rated:
            rates.plot(*zip(*rated, strict=True), **style)
    every = sorted({scale for points in known.values() for scale, _ in points})
    start = min(row.value or math.inf for points in known.values() for scale, row in points if scale == every[0])
    proportional = [start / 2 * 2.0 ** (scale - every[0]) for scale in every]
    times.plot(every, proportional, color=FAINT, linewidth=1, linestyle=":")
    times.annotate(
        "slope 1", (every[0], proportional[0]), color=FAINT, fontsize=8, ha="left", va="center", xytext=(10, -6),
        textcoords="offset points",
    )  # fmt: skip
    for axis, name, unit in ((times, f"{title}: median time", "ms"), (rates, "Rate", "million edges a second")):
        axis.set_yscale("log")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        plain(axis, grid="both")
        axis.grid(which="major", color=GRID, linewidth=0.6)
        titled(axis, name)
        labeled(axis, "scale: $2^{scale}$ vertices", unit)
    figure.legend(
        handles=lines, loc="outside right upper", title="kernel, graph: slope", frameon=False, fontsize=8,
        title_fontsize=8, labelcolor=INK, alignment="left",
    )  # fmt: skip
    image = io.BytesIO()
    kind = sr.io.extension(path)[0][1:]
    figure.savefig(image, format=kind, dpi=160, metadata={"Software": None} if kind == "png" else {"Date": None})
    with sr.io.atomic_writer(path) as file:
        file.write(image.getvalue())
