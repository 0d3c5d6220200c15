"""Positions of the vertices of a small graph in the plane: stress majorization of each component, packed in rows.

The stress of positions x is sum over u < v of (|x(u) - x(v)| - d(u, v))^2 / d(u, v)^2, where d(u, v) is the number of
steps between u and v.  A step of the majorization solves V x' = B(x) x, where V and B(x) are Laplacians with the
weights d^-2 and d^-1 / |x(u) - x(v)|, and never increases the stress.  The first positions are those of classical
scaling: the two principal axes of the squared distances.

Source: Gansner, Koren, North, "Graph Drawing by Stress Majorization", 2004.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring import ops
from semiring.exceptions import InvalidValue

if TYPE_CHECKING:
    from semiring import Matrix

Floats = NDArray[np.float64]

_STEPS: Final = 200
# The relative decrease of the stress below which a step is the last one.
_SMALL: Final = 1e-4
# The distance between the boxes of two components; adjacent vertices have the distance 1.
_GAP: Final = 1.0
# Squared distances are at least this.
_NEAR: Final = 1e-12
_ITERATIONS: Final = 60


def placed(A: Matrix, seed: int) -> Floats:
    """Return n x 2 positions for the vertices of a square matrix, whose entries are edges in both directions.

    Cost O(n nvals) for the distances, and O(n^2) on the host for each of at most 200 steps.  Synchronizes.
    """
    n = A.nrows
    if not n:
        return np.zeros((0, 2))
    U = A if A.is_symmetric_structure else A.ewise_add(A.T, "any")
    steps = np.full((n, n), np.inf)
    i, j, levels = ops.closure_many(range(n), U).levels.to_coo(device="cpu")
    steps[i, j] = levels
    group = np.isfinite(steps).argmax(axis=1)  # the first vertex of the component
    rng = np.random.default_rng(seed)
    members = [np.flatnonzero(group == label) for label in np.unique(group)]
    members.sort(key=len, reverse=True)
    parts = [_upright(_majorized(steps[np.ix_(some, some)], rng)) for some in members]
    positions = np.empty((n, 2))
    for some, part in zip(members, _packed(parts), strict=True):
        positions[some] = part
    return positions


def _majorized(steps: Floats, rng: np.random.Generator) -> Floats:
    """Return positions of one component whose distances approximate the numbers of steps."""
    n = len(steps)
    if n == 1:
        return np.zeros((1, 2))
    # Vertices with equal neighbors have equal positions of least stress on a line, which a step cannot separate.
    x = _scaled(steps, rng) + rng.normal(scale=0.05, size=(n, 2))
    off = ~np.eye(n, dtype=bool)
    weights = np.zeros((n, n))
    weights[off] = steps[off] ** -2
    solved = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + 1 / n)
    before = np.inf
    for _ in range(_STEPS):
        squares = (x**2).sum(axis=1)
        between = np.sqrt(np.maximum(squares[:, None] + squares - 2 * (x @ x.T), _NEAR))
        stress = float((weights * (between - steps) ** 2).sum())
        if stress >= before * (1 - _SMALL):
            break
        before = stress
        pull = -weights * steps / between
        np.fill_diagonal(pull, 0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        x = solved @ (pull @ x)
    return x


def _scaled(steps: Floats, rng: np.random.Generator) -> Floats:
    """Return the positions of classical scaling: of two large eigenvalues of -J D^2 J / 2, by subspace iteration."""
    squares = steps**2
    centered = (squares.mean(axis=0) + squares.mean(axis=1)[:, None] - squares - squares.mean()) / 2
    axes = rng.normal(size=(len(steps), 2))
    for _ in range(_ITERATIONS):
        axes, _ = np.linalg.qr(centered @ axes)
    values, turns = np.linalg.eigh(axes.T @ centered @ axes)
    x: Floats = (axes @ turns) * np.sqrt(np.maximum(values, 0))
    return x


def _upright(x: Floats) -> Floats:
    """Return positions turned so that the longest axis is horizontal, with a fixed sign, and the least ones are 0."""
    if len(x) > 1:
        x = x - x.mean(axis=0)
        axes = np.linalg.svd(x, full_matrices=False)[2]
        x = x @ axes.T
        largest = x[np.abs(x).argmax(axis=0), np.arange(2)]
        x = x * np.where(largest < 0, -1.0, 1.0)
    moved: Floats = x - x.min(axis=0)
    return moved


def _packed(parts: list[Floats]) -> list[Floats]:
    """Return the parts, which descend by size, moved into rows whose width is about the height of all rows."""
    sizes = [part.max(axis=0) + _GAP for part in parts]
    width = max(max(size[0] for size in sizes), float(np.sqrt(sum(size[0] * size[1] for size in sizes)) * 1.2))
    made, left, bottom, height = [], 0.0, 0.0, 0.0
    for part, size in zip(parts, sizes, strict=True):
        if left and left + size[0] > width:
            left, bottom, height = 0.0, bottom - height, 0.0
        height = max(height, size[1])
        made.append(part + np.array([left, bottom - size[1]]))
        left += size[0]
    return made


def as_positions(given: Any, A: Matrix) -> Floats:
    """Return given positions as an n x 2 array; from a dictionary by vertex, or by label.

    Raises InvalidValue for another shape, for a vertex without a position, and for positions that are not finite.
    """
    if isinstance(given, dict):
        names = range(A.nrows) if A.labels is None else list(A.labels)
        missing = [name for name in names if name not in given]
        if missing:
            raise InvalidValue(f"draw: positions has none for the vertex {missing[0]!r}")
        given = [given[name] for name in names]
    try:
        positions = np.asarray(given, np.float64).reshape(-1, 2) if len(given) == 0 else np.asarray(given, np.float64)
    except (TypeError, ValueError):
        positions = np.zeros(0)
    if positions.shape != (A.nrows, 2) or not np.isfinite(positions).all():
        raise InvalidValue(f"draw: positions must be {A.nrows} pairs (x, y) of finite numbers, one for each vertex")
    return positions
