"""A small graph as vertices and edges, through matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semiring.exceptions import DimensionMismatch, InvalidType, InvalidValue
from semiring.ops import reports_memory

from .placement import Floats, as_positions, placed
from .style import BLUES, FAINT, INK, axes_for, titled

if TYPE_CHECKING:
    from semiring import Matrix

#: The most vertices and entries that are drawn.
MOST_VERTICES, MOST_ENTRIES = 1_000, 10_000
# The most vertices whose names are drawn by default.
_NAMED: Final = 100
# Names of at most this many characters are drawn inside the circle of the vertex.
_SHORT: Final = 3
_NEAR: Final = 1e-6


@reports_memory
def layout(A: Matrix, *, seed: int = 0) -> Floats:
    """x = the positions in the plane with the least sum over u < v of (|x(u) - x(v)| - d(u, v))^2 / d(u, v)^2.

    d(u, v) is the number of steps from u to v, with edges in both directions, so that adjacent vertices have a distance
    of about 1.  Components are placed beside one another, the largest first.

    Parameters
    ----------
    A : square Matrix of at most 1,000 rows; entry (i, j) is an edge from i to j
    seed : of the small random displacements from which vertices with the same neighbors separate

    Returns
    -------
    n x 2 array of float64, in host memory; equal arguments give equal positions

    Raises
    ------
    DimensionMismatch
        If A is not square.
    InvalidValue
        If A has more than 1,000 rows.

    Notes
    -----
    Cost O(n nvals) for the distances, and O(n^2) on the host for each of at most 200 steps.  Synchronizes.
    Source: Gansner, Koren, North, "Graph Drawing by Stress Majorization", 2004.

    Examples
    --------
    >>> import semiring as sr
    >>> x = sr.plot.layout(sr.random.path(3))
    >>> [float(np.linalg.norm(x[v] - x[0]).round(1)) for v in range(3)]
    [0.0, 1.0, 2.0]
    """
    _check("layout", A)
    return placed(A, seed)


@reports_memory
def draw(
    A: Matrix,
    positions: Any = None,
    *,
    weights: bool = False,
    labels: bool | None = None,
    seed: int = 0,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a small graph: a circle for each vertex, a line for each edge, arrows unless A is symmetric.

    Parameters
    ----------
    A : square Matrix of at most 1,000 rows and 10,000 entries; entry (i, j) is an edge from i to j
    positions : n x 2 array, or a dictionary from each vertex (its label if A has labels) to (x, y); by default those of
        `semiring.plot.layout`
    weights : whether the value of each entry is written beside its edge
    labels : whether vertices have names: their `A.labels`, or their numbers; by default up to 100 vertices have
    seed : of the layout
    title, ax : as in `semiring.plot.spy`

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NotSupported
        If matplotlib is not installed.
    DimensionMismatch
        If A is not square.
    InvalidValue
        If A is larger; for positions of another shape, or that are not finite.

    Notes
    -----
    With `weights` edges are lines only if the values are symmetric too.  Cost of `semiring.plot.layout`, without
    `positions`.  Synchronizes, and copies the entries from a GPU.

    Examples
    --------
    >>> import semiring as sr
    >>> A = sr.Matrix.from_edgelist([("ann", "bob"), ("bob", "eve")], relabel=True)
    >>> axes = A.draw()
    >>> sorted(text.get_text() for text in axes.texts)
    ['ann', 'bob', 'eve']
    """
    _check("draw", A)
    if A.nvals > MOST_ENTRIES:
        raise InvalidValue(f"draw: {A.nvals:,} entries are too many to draw, at most {MOST_ENTRIES:,}; {_REMEDY}")
    (axis,) = axes_for("draw", ax)
    where = placed(A, seed) if positions is None else as_positions(positions, A)
    i, j, values = A.to_coo(device="cpu")
    lines = A.is_symmetric_structure and (not weights or A.is_iso or A.isequal(A.T))
    named = A.nrows <= _NAMED if labels is None else labels
    names = [str(name) for name in (range(A.nrows) if A.labels is None else A.labels)] if named else []
    inside = max(map(len, names), default=_SHORT + 1) <= _SHORT
    radius = 8.5 if inside else 4.5 if A.nrows <= _NAMED else 2.5  # points
    if lines:
        some = i <= j
        i, j, values = i[some], j[some], values[some]
    loops = i == j
    _edges(axis, where, i[~loops], j[~loops], None if lines else set(zip(i.tolist(), j.tolist(), strict=True)), radius)
    _loops(axis, where[i[loops]], radius)
    axis.scatter(*where.T, s=(2 * radius) ** 2, color=BLUES[1], edgecolors="white", linewidths=0.8, zorder=3)
    # Beside a circle a name is above or below it, away from its edges.
    lean = np.zeros(A.nrows)
    np.add.at(lean, np.concatenate([i, j]), np.concatenate([where[j] - where[i], where[i] - where[j]])[:, 1])
    lean[i[loops]] = np.inf
    for name, place, up in zip(names, where, (lean > _NEAR).tolist(), strict=False):
        if inside:
            axis.annotate(name, place, ha="center", va="center_baseline", fontsize=7, color="white", zorder=4)
        else:
            _beside(axis, name, place, -radius - 7 if up else radius + 7, fontsize=8, zorder=4)
    if weights:
        _weights(axis, where, i, j, values, radius, lines=lines)
    axis.set_axis_off()
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.12)
    axis.autoscale_view()
    facts = f"{A.nrows:,} vertices, {len(i):,} edges"
    titled(axis, (f"{A.name}: {facts}" if A.name else facts) if title is None else title)
    return axis


_REMEDY: Final = (
    "draw a part, such as B of _, B = sr.algorithms.ego_graph(A, v) or sr.algorithms.induced_subgraph(A, vertices), "
    "or where all entries are, A.spy()"
)


def _check(what: str, A: Matrix) -> None:
    if getattr(A, "ndim", None) != 2 or not hasattr(A, "nvals"):
        raise InvalidType(f"{what}: expected a Matrix, got {type(A).__name__}")
    if A.nrows != A.ncols:
        raise DimensionMismatch(
            f"{what}: a graph is a square matrix, this one is {A.nrows} x {A.ncols}; "
            "sr.block([[None, A], [A.T, None]]) is the bipartite graph of rows and columns"
        )
    if A.nrows > MOST_VERTICES:
        raise InvalidValue(f"{what}: {A.nrows:,} vertices are too many to draw, at most {MOST_VERTICES:,}; {_REMEDY}")


def _edges(axis: Any, where: Floats, i: Any, j: Any, arrows: set[tuple[int, int]] | None, radius: float) -> None:
    """Draw lines, or arrows if the set of all edges is given: bent ones where both directions are edges."""
    if arrows is None:
        from matplotlib.collections import LineCollection

        axis.add_collection(
            LineCollection(list(np.stack([where[i], where[j]], axis=1)), colors=FAINT, linewidths=0.9, zorder=1)
        )
        return
    from matplotlib.patches import FancyArrowPatch

    for u, v in zip(i.tolist(), j.tolist(), strict=True):
        bend = "arc3,rad=0.12" if (v, u) in arrows else "arc3"
        axis.add_patch(
            FancyArrowPatch(
                tuple(where[u]), tuple(where[v]), connectionstyle=bend, arrowstyle="-|>", mutation_scale=8,
                shrinkA=radius, shrinkB=radius + 1, color=FAINT, linewidth=0.9, zorder=1,
            )
        )  # fmt: skip


def _loops(axis: Any, where: Floats, radius: float) -> None:
    """Draw a circle above each vertex with an edge to itself."""
    from matplotlib.transforms import ScaledTranslation

    if len(where):
        above = axis.transData + ScaledTranslation(0, 1.6 * radius / 72, axis.figure.dpi_scale_trans)
        axis.scatter(*where.T, s=(2.2 * radius) ** 2, facecolors="none", edgecolors=FAINT, zorder=1, transform=above)


def _weights(axis: Any, where: Floats, i: Any, j: Any, values: Any, radius: float, *, lines: bool) -> None:
    """Write the value of each edge beside its middle: of arrows in both directions each beside its own."""
    pairs = set() if lines else set(zip(i.tolist(), j.tolist(), strict=True))
    for u, v, value in zip(i.tolist(), j.tolist(), values.tolist(), strict=True):
        shown = f"{value:.4g}" if isinstance(value, float) else str(value)
        along = where[v] - where[u]
        bent = 0.11 * np.array([along[1], -along[0]]) if (v, u) in pairs else 0.0
        _beside(axis, shown, where[u] + along / 2 + bent, 3.4 * radius if u == v else 0, fontsize=7, zorder=2)


def _beside(axis: Any, text: str, place: Floats, above: float, **options: Any) -> None:
    """Write a text some points above a place, with a white outline, so that it is readable on lines."""
    from matplotlib.patheffects import withStroke

    made = axis.annotate(
        text, place, xytext=(0, above), textcoords="offset points", ha="center", va="center", color=INK, **options
    )
    made.set_path_effects([withStroke(linewidth=2.2, foreground="white")])
