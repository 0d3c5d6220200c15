"""Properties that verify a result, whichever of the valid results it is.

Everything takes a graph as CSR arrays and a result as an array, NumPy or CuPy, and works in slices of entries,
so that a graph that fills most of a GPU can still be verified there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

Array = Any
SLICE = 1 << 26
UNREACHED = -1


def module_of(array: Array) -> Any:
    """NumPy or CuPy, whichever owns the array."""
    return np if isinstance(array, np.ndarray) else sys.modules["cupy"]


def arcs(indptr: Array, indices: Array, entries: int = SLICE) -> Iterator[tuple[Array, Array]]:
    """(rows, columns) of the entries, slice by slice."""
    xp = module_of(indices)
    for start in range(0, int(indices.size), entries):
        stop = min(start + entries, int(indices.size))
        position = xp.arange(start, stop, dtype=np.int64)
        yield xp.searchsorted(indptr, position, side="right") - 1, indices[start:stop]


def bfs_levels(indptr: Array, indices: Array, source: int, levels: Array) -> None:
    """Prove that `levels` are the distances from `source` along entries (i, j); -1 where there is no path.

    Distances are the only numbers with these properties: the source alone has level 0; no arc leads from a
    reached row to an unreached one, or to one more than a level deeper; and whatever else is reached has
    an arc from a row one level above.
    """
    xp = module_of(indices)
    n = int(indptr.size) - 1
    assert levels.shape == (n,), f"{levels.shape} levels for {n} rows"
    assert int(levels.min()) >= UNREACHED
    assert int(levels[source]) == 0, f"the source has level {int(levels[source])}"
    assert int((levels == 0).sum()) == 1, "level 0 belongs to the source alone"
    supported = xp.zeros(n, dtype=bool)
    supported[source] = True
    for i, j in arcs(indptr, indices):
        above, below = levels[i], levels[j]
        lost = (above >= 0) & ((below < 0) | (below > above + 1))
        assert not bool(lost.any()), f"arc to a row that is unreached or too deep: {_first(lost, i, j)}"
        supported[j[(above >= 0) & (below == above + 1)]] = True
    orphans = (levels >= 0) & ~supported
    assert not bool(orphans.any()), f"{int(orphans.sum())} reached rows have no arc from the level above"


def bfs_parents(indptr: Array, indices: Array, source: int, parents: Array, levels: Array) -> None:
    """Prove that `parents` is a breadth-first tree, given its `levels` (which `bfs_levels` proves).

    The source is its own parent; whatever else is reached has as parent a row one level above with an arc to it; -1
    where there is no path.
    """
    xp = module_of(indices)
    assert int(parents[source]) == source, f"the parent of the source is {int(parents[source])}"
    assert bool(((parents >= 0) == (levels >= 0)).all()), "parents and levels reach different rows"
    children = xp.flatnonzero(parents >= 0)
    children = children[children != source]
    depth = levels[parents[children]] + 1
    assert bool((depth == levels[children]).all()), "a parent is not one level above its child"
    by_arc = xp.zeros(int(indptr.size) - 1, dtype=bool)
    for i, j in arcs(indptr, indices):
        by_arc[j[parents[j] == i]] = True
    assert bool(by_arc[children].all()), "a parent has no arc to its child"


def components(indptr: Array, indices: Array, labels: Array, count: int | None = None) -> None:
    """Prove that `labels` name weakly connected components by a member each.

    Labels agree along every entry, so no component is split.  Each label is the label of a row that carries
    its own index, and `count` labels occur, the number of components where that is known: so none are merged.
    """
    xp = module_of(indices)
    n = int(indptr.size) - 1
    assert labels.shape == (n,), f"{labels.shape} labels for {n} rows"
    if n == 0:
        return
    assert int(labels.min()) >= 0
    assert int(labels.max()) < n
    assert bool((labels[labels] == labels).all()), "a label is not a member of its component"
    for i, j in arcs(indptr, indices):
        apart = labels[i] != labels[j]
        assert not bool(apart.any()), f"an entry joins two labels: {_first(apart, i, j)}"
    if count is not None:
        found = int((labels == xp.arange(n, dtype=labels.dtype)).sum())
        assert found == count, f"{found} components; expected {count}"


def _first(wrong: Array, i: Array, j: Array) -> tuple[int, int]:
    p = int(wrong.argmax())
    return int(i[p]), int(j[p])
