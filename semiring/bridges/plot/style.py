"""What all plots share: matplotlib, which is optional, the axes to draw on, and colors."""

from __future__ import annotations

from textwrap import wrap
from typing import Any, Final

from semiring.exceptions import NotSupported
from semiring.optional import installed, missing

INK: Final = "#22303c"
FAINT: Final = "#8795a1"
GRID: Final = "#e3e8ec"
_TITLE_SIZE: Final = 10
# One hue, from light to dark.
BLUES: Final = ("#66a3c6", "#35789f", "#12355b")


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return installed("matplotlib")


def require_matplotlib(what: str) -> None:
    """Raise NotSupported with the extra to install, unless matplotlib is installed."""
    if not can_draw():
        raise missing(what, "matplotlib")


def axes_for(what: str, ax: Any, count: int = 1) -> list[Any]:
    """Return the given axes, or new ones side by side in a figure of their own."""
    require_matplotlib(what)
    if ax is not None:
        given = [ax] if count == 1 else list(ax)
        if len(given) != count:
            raise NotSupported(f"{what}: draws {count} panels, and got {len(given)} axes")
        for axis in given:
            _arrange(axis.figure)
        return given
    from matplotlib import pyplot

    figure, made = pyplot.subplots(1, count, figsize=(4.8 * count, 3.9), squeeze=False, layout="constrained")
    figure.set_facecolor("white")
    return list(made[0])


def _arrange(figure: Any) -> None:
    """Let matplotlib keep titles and labels of the panels of a figure apart, unless its layout was set.

    The engine is ``"tight"``: a program may still call `tight_layout` or `subplots_adjust` without a warning.
    """
    import matplotlib

    root = figure.get_figure(root=True) if hasattr(figure, "get_figure") else figure
    settings: Any = matplotlib.rcParams
    pars = root.subplotpars
    untouched = all(getattr(pars, side) == settings[f"figure.subplot.{side}"] for side in vars(pars))
    if root.get_layout_engine() is None and untouched:
        root.set_layout_engine("tight")


def width_points(axis: Any) -> float:
    """Return the width that a title of axes has in their figure, in points of 1/72 inch."""
    place, (width, height) = axis.get_position(original=True), axis.figure.get_size_inches() * 72
    full = place.width * width
    # Axes with equal scales may be narrower, in the middle of their place.
    return float(full if axis.get_aspect() == "auto" else (full + min(full, place.height * height)) / 2)


def plain(axis: Any, *, grid: str = "") -> None:
    """Draw axes without a box, in gray; grid: ``"x"``, ``"y"``, ``"both"``, or empty for none."""
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axis.spines[side].set_color(FAINT)
    axis.tick_params(colors=INK, labelsize=8, width=0.6)
    axis.tick_params(which="minor", left=False, bottom=False)
    if grid:
        axis.grid(axis=grid, color=GRID, linewidth=0.6)
        axis.set_axisbelow(True)


def titled(axis: Any, title: str) -> None:
    """Set the title at the left, above the plot, in as many lines as its width needs."""
    characters = max(int(width_points(axis) / (_TITLE_SIZE * 0.55)), 12)
    lines = "\n".join(wrap(title, characters)) if title else ""
    axis.set_title(lines, loc="left", color=INK, fontsize=_TITLE_SIZE)


def labeled(axis: Any, x: str, y: str) -> None:
    """Name both axes."""
    axis.set_xlabel(x, color=INK, fontsize=9)
    axis.set_ylabel(y, color=INK, fontsize=9)
