"""The functions of `semiring.plot`: plots of matrices and vectors through matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring import Matrix, Vector
from semiring.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    DuplicateIndex,
    IndexOutOfBound,
    InvalidType,
    InvalidValue,
)
from semiring.ops import reports_memory

from . import counts
from .graph import draw, layout
from .panels import frontier_panel
from .style import BLUES, axes_for, labeled, plain, titled, width_points

__all__ = ["degree_distribution", "draw", "frontiers", "hist", "layout", "spy"]

# Points of the width of axes in which the legend of a search has explanations.
_WIDE = 230.0


@reports_memory
def spy(A: Matrix, order: Any = None, *, resolution: int = 400, title: str | None = None, ax: Any = None) -> Any:
    """Draw where the entries of a matrix are: a cell is the darker, the more entries it holds.

    Parameters
    ----------
    A : Matrix
    order : permutation p, as `semiring.algorithms.ordering` returns it.  Two panels are drawn: A, and A(p, p), which
        is not computed.
    resolution : the most cells in each direction; a smaller matrix has a cell for each position
    title : above the (first) panel; by default the name, the shape and the number of entries
    ax : matplotlib axes to draw on (two with `order`); by default those of a new figure

    Returns
    -------
    matplotlib.axes.Axes, or a list of two with `order`

    Raises
    ------
    NotSupported
        If matplotlib is not installed.
    DimensionMismatch
        For an `order` of a matrix that is not square.
    InvalidValue
        If `order` is not a permutation, or for a resolution below 1.

    Notes
    -----
    Cost O(nvals), with temporary arrays of 2^23 entries; with `order` also of nrows elements.  Synchronizes, and copies
    at most resolution^2 numbers from a GPU.  Of a matrix on a grid every process gathers the whole.

    Examples
    --------
    >>> import semiring as sr
    >>> A = sr.random.grid2d(30, 30)
    >>> before, after = sr.plot.spy(A, sr.algorithms.ordering.reverse_cuthill_mckee(A))
    """
    if getattr(A, "ndim", None) != 2 or not hasattr(A, "nvals"):
        raise InvalidType(f"spy: expected a Matrix, got {type(A).__name__}")
    if resolution < 1:
        raise InvalidValue(f"spy: resolution must be at least 1, got {resolution}")
    axes = axes_for("spy", ax, 1 if order is None else 2)
    store = A.store if A.device in ("cpu", "cuda") else _whole(A).store
    _cells(axes[0], A, counts.entries_in_cells(store, resolution), _shape_of(A) if title is None else title)
    if order is None:
        return axes[0]
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"spy: only a square matrix has an order of its rows and columns, got {A.shape}")
    places = _places("order", order, A)
    _cells(axes[1], A, counts.entries_in_cells(store, resolution, places), "in the given order")
    return axes


@reports_memory
def hist(x: Vector | Matrix, bins: int = 50, *, log: bool = False, title: str | None = None, ax: Any = None) -> Any:
    """Draw how often values occur among the entries of a vector or a matrix.

    Parameters
    ----------
    x : Vector or Matrix
    bins : number of equal intervals; integers with fewer distinct values have a bar each
    log : whether the counts have a logarithmic scale
    title, ax : as in `spy`

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NotSupported
        If matplotlib is not installed.
    InvalidValue
        For values that are not real numbers, and fewer than 1 bin.

    Notes
    -----
    Values that are not finite are counted in the title.  Cost O(nvals).  Synchronizes, and copies `bins` numbers from a
    GPU.

    Examples
    --------
    >>> import semiring as sr
    >>> axes = sr.plot.hist(sr.algorithms.pagerank(sr.random.rmat(8, 8, seed=1)), log=True)
    """
    if not hasattr(x, "nvals") or getattr(x, "ndim", 0) not in (1, 2):
        raise InvalidType(f"hist: expected a Vector or a Matrix, got {type(x).__name__}")
    if bins < 1:
        raise InvalidValue(f"hist: bins must be at least 1, got {bins}")
    (axis,) = axes_for("hist", ax)
    found = counts.histogram(x, bins)
    axis.bar(found.edges[:-1], found.counts, np.diff(found.edges), align="edge", color=BLUES[0], edgecolor="white")
    if log:
        axis.set_yscale("log", nonpositive="clip")
    rest = f", {found.not_finite} not finite" if found.not_finite else ""
    titled(axis, f"{_name(x)}{x.nvals:,} values{rest}" if title is None else title)
    labeled(axis, f"value ({x.dtype})", "entries")
    plain(axis, grid="y")
    return axis


@reports_memory
def degree_distribution(A: Matrix, *, by: str = "rows", title: str | None = None, ax: Any = None) -> Any:
    """Draw how many vertices have each degree, on logarithmic scales: a straight line is a power law.

    Parameters
    ----------
    A : Matrix; entry (i, j) is an edge from i to j
    by : ``"rows"`` for the edges that leave a vertex, ``"columns"`` for those that enter it
    title, ax : as in `spy`

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NotSupported
        If matplotlib is not installed.
    InvalidValue

    Notes
    -----
    Vertices of degree 0 have no place on the scale; the title counts them.  Cost O(nrows), by columns also O(nvals).
    Synchronizes, and copies the distinct degrees and their numbers from a GPU.

    Examples
    --------
    >>> import semiring as sr
    >>> axes = sr.plot.degree_distribution(sr.random.rmat(10, 8, seed=1))
    """
    if by not in ("rows", "columns"):
        raise InvalidValue(f'degree_distribution: by must be "rows" or "columns", got {by!r}')
    (axis,) = axes_for("degree_distribution", ax)
    of_each, size = (A.reduce_rowwise, A.nrows) if by == "rows" else (A.reduce_columnwise, A.ncols)
    degrees, numbers = counts.distinct(of_each("count").to_coo(indices=False)[1])
    axis.loglog(degrees, numbers, linestyle="none", marker="o", markersize=3.5, color=BLUES[1], markeredgewidth=0)
    without = size - int(numbers.sum())
    rest = f", {without:,} without an edge" if without else ""
    titled(axis, f"{_name(A)}{size:,} vertices{rest}" if title is None else title)
    labeled(axis, "edges that leave a vertex" if by == "rows" else "edges that enter a vertex", "vertices")
    plain(axis, grid="both")
    return axis


@reports_memory
def frontiers(levels: Any, A: Matrix | None = None, *, title: str | None = None, ax: Any = None) -> Any:
    """Draw the number of vertices in each level of a search, and the edges that leave them.

    Parameters
    ----------
    levels : Vector of integers, as `semiring.algorithms.bfs_levels` returns it; or the trace of a search, which has the
        edges too
    A : the matrix that was searched, for the edges of each level
    title, ax : as in `spy`

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NotSupported
        If matplotlib is not installed.
    InvalidValue
        For levels that are not integers from 0.
    DimensionMismatch
        If A has another number of rows.

    Notes
    -----
    Cost O(n).  Synchronizes, and copies one number for each level from a GPU, two with A.

    Examples
    --------
    >>> import semiring as sr
    >>> A = sr.random.grid2d(20, 20)
    >>> axes = sr.plot.frontiers(sr.algorithms.bfs_levels(A, 0), A)
    """
    (axis,) = axes_for("frontiers", ax)
    steps = getattr(levels, "steps", None)
    if steps is not None:
        vertices = np.array([step.frontier for step in steps], np.int64)
        edges: Any = np.array([step.edges for step in steps], np.int64)
    else:
        if A is not None and A.nrows != levels.size:
            raise DimensionMismatch(f"frontiers: {levels.size} levels for a matrix of shape {A.shape}")
        leaving = None if A is None else _degrees(A)
        vertices, edges = counts.sizes_of_levels(levels, leaving)
    series = (
        [("vertex frontier", vertices)] if edges is None else [("edge frontier", edges), ("vertex frontier", vertices)]
    )
    reached = f"{int(vertices.sum()):,} vertices in {vertices.size:,} levels"
    frontier_panel(axis, series, reached if title is None else title)
    handles, texts = axis.get_legend_handles_labels()
    if width_points(axis) < _WIDE:
        texts = [text.partition(":")[0] for text in texts]
    axis.legend(handles, texts, loc="best", frameon=False, fontsize=8, labelcolor="linecolor", handlelength=1.4)
    return axis


def _cells(axis: Any, A: Matrix, cells: counts.Cells, title: str) -> None:
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    down, across = cells.counts.shape
    # One entry is visible on white, however many the fullest cell holds.
    colors = LinearSegmentedColormap.from_list("entries", ["#9cc4dc", *BLUES]).with_extremes(bad="white")
    shown = np.ma.masked_equal(cells.counts, 0)
    top = max(int(cells.counts.max(initial=1)), 2)
    extent = (-0.5, across * cells.width - 0.5, down * cells.height - 0.5, -0.5)
    if cells.counts.size:
        axis.imshow(shown, cmap=colors, norm=LogNorm(1, top), extent=extent, interpolation="nearest", aspect="auto")
    if A.nrows == A.ncols:
        axis.set_aspect("equal")
    axis.set_xlim(-0.5, max(A.ncols, 1) - 0.5)
    axis.set_ylim(max(A.nrows, 1) - 0.5, -0.5)
    titled(axis, title)
    labeled(axis, "column", "row")
    plain(axis)
    for side in ("top", "right"):
        axis.spines[side].set_visible(True)
        axis.spines[side].set_color("#c6ced5")


def _whole(A: Matrix) -> Matrix:
    from semiring.distributed import gather  # many modules, which a program with a grid has imported

    return gather(A)


def _places(name: str, order: Any, A: Matrix) -> Any:
    """Return the new number of each row and column of A, as an array on its device; InvalidValue for no permutation."""
    from semiring import algorithms  # many modules, for a second panel alone

    p = order.to(A.device) if isinstance(order, Vector) else Vector.from_dense(order, device=A.device)
    if p.size != A.nrows:
        raise InvalidValue(f"{name} must be a permutation of {A.nrows} numbers, got {p.size}")
    try:
        return algorithms.ordering.inverse(p).to_dense()
    except (DomainMismatch, DuplicateIndex, IndexOutOfBound) as error:
        raise InvalidValue(f"{name} must be a permutation of {A.nrows} numbers: {error}") from None


def _degrees(A: Matrix) -> Any:
    """Return the edges that leave each vertex, as an array on the device."""
    return A.reduce_rowwise("count").to_dense(fill_value=0)


def _name(x: Any) -> str:
    return f"{x.name}: " if x.name else ""


def _shape_of(A: Matrix) -> str:
    return f"{_name(A)}{A.nrows:,} x {A.ncols:,}, {A.nvals:,} entries"
