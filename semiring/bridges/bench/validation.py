"""Properties that verify a result, whichever of the valid results it is.

Everything takes a graph as CSR arrays (or the edge list it was made from) and a result as an array, NumPy or CuPy, and
works in slices of entries, so that a graph that fills most of a GPU can still be verified there.  Nothing calls the
library.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from semiring.exceptions import SemiringError

Array = Any
SLICE = 1 << 26
UNREACHED = -1
# Distances in floating point may differ by this share from the sums along another path.
ROUNDING = 1e-5


class WrongResult(SemiringError, AssertionError):
    """A result without a property that every correct result has."""


def require(holds: Any, message: str) -> None:
    """Raise WrongResult unless a condition holds."""
    if not bool(holds):
        raise WrongResult(message)


def module_of(array: Array) -> Any:
    """Return NumPy or CuPy, whichever owns the array."""
    return np if isinstance(array, np.ndarray) else sys.modules["cupy"]


def arcs(indptr: Array, indices: Array, entries: int = SLICE) -> Iterator[tuple[Array, Array]]:
    """Yield (rows, columns) of the entries, slice by slice."""
    xp = module_of(indices)
    for start in range(0, int(indices.size), entries):
        stop = min(start + entries, int(indices.size))
        position = xp.arange(start, stop, dtype=np.int64)
        yield xp.searchsorted(indptr, position, side="right") - 1, indices[start:stop]


def arcs_of(indptr: Array, indices: Array, rows: Array) -> tuple[Array, Array]:
    """Return (rows, columns) of the entries of some rows."""
    xp = module_of(indices)
    first = indptr[rows].astype(np.int64)
    ends = xp.cumsum(indptr[rows + 1] - first)
    position = xp.arange(int(ends[-1]) if ends.size else 0, dtype=np.int64)
    owner = xp.searchsorted(ends, position, side="right")
    within = position - (ends - (indptr[rows + 1] - first))[owner]
    return rows[owner], indices[first[owner] + within]


def bfs_levels(indptr: Array, indices: Array, source: int, levels: Array) -> None:
    """Prove that `levels` are the distances from `source` along entries (i, j); -1 where there is no path.

    Distances are the only numbers with these properties: the source alone has level 0; no arc leads from a
    reached row to an unreached one, or to one more than a level deeper; and whatever else is reached has
    an arc from a row one level above.
    """
    xp = module_of(indices)
    n = int(indptr.size) - 1
    require(levels.shape == (n,), f"{levels.shape} levels for {n} rows")
    require(levels.min() >= UNREACHED, "a level is negative")
    require(levels[source] == 0, "the level of the source is not 0")
    require((levels == 0).sum() == 1, "another row than the source has level 0")
    supported = xp.zeros(n, dtype=bool)
    supported[source] = True
    for i, j in arcs(indptr, indices):
        above, below = levels[i], levels[j]
        lost = (above >= 0) & ((below < 0) | (below > above + 1))
        _none(lost, i, j, "arc to a row that is unreached or too deep")
        supported[j[(above >= 0) & (below == above + 1)]] = True
    require(not ((levels >= 0) & ~supported).any(), "a reached row has no arc from the level above")


def bfs_parents(indptr: Array, indices: Array, source: int, parents: Array, levels: Array) -> None:
    """Prove that `parents` is a breadth-first tree, given its `levels` (which `bfs_levels` proves).

    The source is its own parent; whatever else is reached has as parent a row one level above with an arc to it; -1
    where there is no path.
    """
    xp = module_of(indices)
    require(parents[source] == source, "the source is not its own parent")
    require(((parents >= 0) == (levels >= 0)).all(), "parents and levels reach different rows")
    children = xp.flatnonzero(parents >= 0)
    children = children[children != source]
    depth = levels[parents[children]] + 1
    require((depth == levels[children]).all(), "a parent is not one level above its child")
    by_arc = xp.zeros(int(indptr.size) - 1, dtype=bool)
    for i, j in arcs(indptr, indices):
        by_arc[j[parents[j] == i]] = True
    require(by_arc[children].all(), "a parent has no arc to its child")


def depths(parents: Array, root: int) -> Array:
    """Return the steps from each vertex along its parents to the root; -1 where there is no parent.

    Raises WrongResult unless the parents are a tree: paths of doubled length that do not end at the root after as many
    doublings as vertices require contain a cycle.
    """
    xp = module_of(parents)
    n = int(parents.size)
    require(parents[root] == root, "the root is not its own parent")
    require(parents.max() < n, "a parent is not a vertex")
    reached = parents >= 0
    above = xp.where(reached, parents, root).astype(np.int64)
    require(reached[above].all(), "a parent is not reached")
    steps = (xp.arange(n) != root).astype(np.int64)
    for _ in range(n.bit_length() + 1):
        if bool((above == root).all()):
            return xp.where(reached, steps, UNREACHED)
        steps += steps[above]
        above = above[above]
    raise WrongResult("the parents contain a cycle")


def graph500_tree(
    ends: tuple[Array, Array],
    root: int,
    parents: Array,
    weights: Array | None = None,
    distances: Array | None = None,
) -> int:
    """Prove the five rules of Graph500's section 8 for a tree of an edge list; return the input edges in its component.

    1: the parents are a tree.  2: a tree edge joins levels that differ by one (distances: by its weight).  3: the ends
    of an input edge have levels that differ by at most one (distances: by at most its weight), or neither is in the
    tree.  4: the tree spans the component of the root.  5: each vertex and its parent are joined by an input edge.

    Levels are computed from the parents, so rule 2 holds for them.  Input edges are counted as they are listed, with
    self-loops and repetitions: the edges of TEPS.
    """
    xp = module_of(parents)
    level = depths(parents, root)
    reached = level >= 0
    joined = xp.arange(parents.size) == root
    if distances is not None:
        require(((distances >= 0) == reached).all(), "distances and parents reach different vertices")
        require(distances[root] == 0, "the distance of the root is not 0")
    inside = 0
    for start in range(0, int(ends[0].size), SLICE):
        u, v = (end[start : start + SLICE] for end in ends)
        _none(reached[u] != reached[v], u, v, "an edge leaves the tree")
        inside += int(reached[u].sum())
        if distances is None:
            _none(abs(level[u] - level[v]) > 1, u, v, "an edge joins levels that differ by more than one")
        else:
            assert weights is not None
            w = weights[start : start + SLICE]
            near, far = distances[u], distances[v]
            slack = ROUNDING * xp.maximum(near, far)
            _none(reached[u] & (abs(near - far) > w + slack), u, v, "an edge joins distances further apart than it")
        for a, b in ((u, v), (v, u)):
            tree = parents[b] == a
            if distances is not None:
                tree &= abs(distances[b] - distances[a] - w) <= slack
            joined[b[tree]] = True
    what = "" if distances is None else " of the weight by which their distances differ"
    require((joined | ~reached).all(), f"a vertex and its parent are joined by no edge{what}")
    return inside


def distances(indptr: Array, indices: Array, weights: Array, source: int, distance: Array, rounding: float = 0) -> None:
    """Prove distances from the source along positive weights; -1 where there is no path.

    They are the only numbers such that the source has 0, no entry improves a distance, and every other reached row
    has an entry that gives exactly its distance; rounding: both but for this share of it.
    """
    xp = module_of(indices)
    require(distance[source] == 0, "the distance of the source is not 0")
    supported = xp.zeros(distance.size, dtype=bool)
    supported[source] = True
    first = 0
    for i, j in arcs(indptr, indices):
        step = weights[first : first + int(j.size)]
        first += int(j.size)
        near, far = distance[i], distance[j]
        offered, slack = near + step, rounding * abs(far)
        _none((near >= 0) & ((far < 0) | (offered < far - slack)), i, j, "an entry offers a shorter path")
        supported[j[(near >= 0) & (abs(offered - far) <= slack)]] = True
    require((supported == (distance >= 0)).all(), "no entry gives the distance of a row")


def components(indptr: Array, indices: Array, labels: Array, count: int | None = None) -> None:
    """Prove that `labels` name weakly connected components by a member each.

    Labels agree along every entry, so no component is split.  Each label is the label of a row that carries
    its own index, and `count` labels occur, the number of components where that is known: so none are merged.
    """
    xp = module_of(indices)
    n = int(indptr.size) - 1
    require(labels.shape == (n,), f"{labels.shape} labels for {n} rows")
    if n == 0:
        return
    require(labels.min() >= 0, "a label is negative")
    require(labels.max() < n, "a label is not a row")
    require((labels[labels] == labels).all(), "a label is not a member of its component")
    for i, j in arcs(indptr, indices):
        _none(labels[i] != labels[j], i, j, "an entry joins two labels")
    if count is not None:
        found = int((labels == xp.arange(n, dtype=labels.dtype)).sum())
        require(found == count, f"{found} components; expected {count}")


def component_count(indptr: Array, indices: Array) -> int:
    """Return the number of weakly connected components, by least labels.

    Every root is hooked to the least neighboring root, then all paths are flattened, until nothing changes: then the
    roots of both ends of every entry are equal, and only entries have joined roots.
    """
    xp = module_of(indices)
    alone = xp.arange(int(indptr.size) - 1, dtype=np.int32)
    root = alone
    while True:
        before, root = root, root.copy()
        for i, j in arcs(indptr, indices):
            mine, theirs = before[i], before[j]
            apart = mine != theirs
            xp.minimum.at(root, xp.maximum(mine, theirs)[apart], xp.minimum(mine, theirs)[apart])
        above = root[root]
        while not bool((above == root).all()):
            root, above = above, above[above]
        if bool((root == before).all()):
            return int((root == alone).sum())


def pagerank_error(indptr: Array, indices: Array, ranks: Array, damping: float) -> float:
    """Return the sum of |change| in one more iteration of GAP's PageRank, in float64; sinks pass no rank on."""
    xp = module_of(indices)
    n = int(ranks.size)
    known = ranks.astype(np.float64)
    share = known / xp.maximum(indptr[1:] - indptr[:-1], 1)
    total = xp.zeros(n)
    for i, j in arcs(indptr, indices):
        total += xp.bincount(j, weights=share[i], minlength=n)
    return float(abs((1 - damping) / n + damping * total - known).sum())


def betweenness(indptr: Array, indices: Array, sources: Sequence[int]) -> Array:
    """Return the sum over the sources of the dependencies of each row, by Brandes' algorithm, one level at a time."""
    xp = module_of(indices)
    n = int(indptr.size) - 1
    total = xp.zeros(n)
    for source in sources:
        depth, paths, delta = xp.full(n, UNREACHED, np.int64), xp.zeros(n), xp.zeros(n)
        depth[source], paths[source] = 0, 1
        frontier = xp.asarray([source])
        levels: list[tuple[Array, Array]] = []
        while frontier.size:
            i, j = arcs_of(indptr, indices, frontier)
            depth[j[depth[j] < 0]] = len(levels) + 1
            tree = depth[j] == len(levels) + 1
            i, j = i[tree], j[tree]
            xp.add.at(paths, j, paths[i])
            levels.append((i, j))
            frontier = xp.unique(j)
        for i, j in reversed(levels):
            xp.add.at(delta, i, paths[i] / paths[j] * (1 + delta[j]))
        delta[source] = 0
        total += delta
    return total


def close(found: Array, expected: Array, tolerance: float) -> None:
    """Require every element within the relative tolerance of what is expected; NaN is never."""
    error = (abs(found - expected) <= tolerance * abs(expected)) | (found == expected)
    if not bool(error.all()):
        at = int(error.argmin())
        raise WrongResult(f"element {at} is {found[at]}, not {expected[at]}")


def equal(found: Array, expected: Array) -> None:
    """Require every element to be the same."""
    same = found == expected
    if not bool(same.all()):
        at = int(same.argmin())
        raise WrongResult(f"element {at} is {found[at]}, not {expected[at]}")


def _none(wrong: Array, i: Array, j: Array, message: str) -> None:
    """Raise WrongResult, which names the first of the wrong entries."""
    if bool(wrong.any()):
        p = int(wrong.argmax())
        raise WrongResult(f"{message}: ({int(i[p])}, {int(j[p])})")
