"""Plots of a matrix through `semiring.plot`; `Matrix` binds these functions as its methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .matrix import Matrix


def spy(self: Matrix, order: Any = None, *, resolution: int = 400, title: str | None = None, ax: Any = None) -> Any:
    """Draw where the entries are, through matplotlib: `semiring.plot.spy`.

    Parameters
    ----------
    order, resolution, title, ax : as in `semiring.plot.spy`

    Returns
    -------
    matplotlib.axes.Axes, or a list of two with `order`

    Raises
    ------
    NotSupported
        If matplotlib is not installed.
    DimensionMismatch, InvalidValue

    Notes
    -----
    Cost O(nvals).  Synchronizes, and copies only the counts of the cells from a GPU.

    Examples
    --------
    >>> axes = sr.random.grid2d(4, 4).spy(resolution=100)
    >>> len(axes.images)
    1
    """
    from ..plot import spy

    return spy(self, order, resolution=resolution, title=title, ax=ax)


def draw(
    self: Matrix,
    positions: Any = None,
    *,
    weights: bool = False,
    labels: bool | None = None,
    seed: int = 0,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a small graph as vertices and edges, through matplotlib: `semiring.plot.draw`.

    Parameters
    ----------
    positions, weights, labels, seed, title, ax : as in `semiring.plot.draw`

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NotSupported
        If matplotlib is not installed.
    DimensionMismatch, InvalidValue

    Notes
    -----
    At most 1,000 vertices and 10,000 entries.  Cost of `semiring.plot.layout`.  Synchronizes.

    Examples
    --------
    >>> axes = sr.random.grid2d(3, 3).draw()
    >>> len(axes.texts), axes.get_title(loc="left")
    (9, '9 vertices, 12 edges')
    """
    from ..plot import draw

    return draw(self, positions, weights=weights, labels=labels, seed=seed, title=title, ax=ax)
