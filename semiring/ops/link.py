"""Union-find over the rows of a matrix: hook the trees of the ends of entries, the step of Afforest.

    for every row i (not skipped) and its neighbors j at positions first <= p < last of the row:  hook(i, j)

The forest is a full vector of row numbers: forest[v] <= v is the parent of v, roots are their own parents.
A hook stores the smaller root as the parent of the larger one by compare-and-swap, and is repeated until the roots
agree, so one pass is exact on every graph; non-atomic stores, as in papers on the subject, lose hooks.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..devices import dispatched
from ..engines import registry
from ..engines.requests.graphs import Link
from ..engines.requests.operations import ScalarResult
from ..engines.rows.link_sample import LinkAll, LinkSample, LinkSampleResult, MostFrequent
from ..exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from ..formats import CSR, Full, VectorStore, array_module, index_dtype
from ..memory.allocation import require
from . import check
from .structure import is_symmetric


@dispatched(1)
def singletons(size: int, device: str) -> VectorStore:
    """Return the forest in which every row is its own root."""
    return numbers(0, size, index_dtype(size), device)


def numbers(first: int, last: int, dtype: np.dtype[Any], device: str) -> Full:
    """Return first, ..., last - 1."""
    require("singletons", device, (last - first) * dtype.itemsize)
    return Full(last - first, dtype, array_module(device).arange(first, last, dtype=dtype))


def link(
    forest: VectorStore,
    a: CSR,
    *,
    first: int = 0,
    last: int | None = None,
    skip: int | ScalarResult = None,
    sample: int = 0,
) -> VectorStore:
    """Return the forest after hooking the trees of both ends of the visited entries; every tree of it is flat.

    first, last: which neighbors of each row are visited, by position in the row (last=None: to its end).
    skip: rows whose root is this one are not visited (None: visit all).
    sample: visit all entries, those of `link_sample` first; then, where the structure is symmetric, those of rows that
        are not in the most frequent tree.  The rows of that tree need no visit, because the row at the other end of
        each of their entries has the same entry.
    Shapes: A (n, n); the forest n, int32 or int64, full, as `singletons` or `link` returned it.
    Cost: nearly O(visited entries) probes.  Does not synchronize, but for the first test of symmetry.  Source: Sutton,
    Ben-Nun, Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling", IPDPS 2018.
    """
    _check_operands("link", forest, a)
    if first < 0 or (last is not None and last < first):
        raise InvalidValue(f"link: positions must satisfy 0 <= first <= last, got {first} and {last}")
    engine = check.engine_of("link", forest, a)
    if sample:
        if sample < 0 or first or last is not None or skip is not None:
            raise InvalidValue("link: sample must not be negative, and replaces first, last and skip")
        return _all_linked(forest, a, sample, engine)
    return cast(VectorStore, registry.run(Link(forest, a.pattern, first, last, skip), engine))


def _all_linked(forest: VectorStore, a: CSR, count: int, engine: str) -> VectorStore:
    skips = is_symmetric(a.pattern)
    if registry.implemented(LinkAll, engine):
        return cast(VectorStore, registry.run(LinkAll(forest, a.pattern, count, skips), engine))
    found = registry.run(LinkSample(forest, a.pattern, count), engine)
    skip = registry.run(MostFrequent(found.store), engine) if skips else None
    return cast(VectorStore, registry.run(Link(found.store, a.pattern, found.visited, None, skip), engine))


def link_sample(forest: VectorStore, a: CSR, *, neighbors: int = 2) -> LinkSampleResult:
    """Return the forest after hooking each row to up to `neighbors` of its neighbors, the ones cheapest to find.

    The result contains the position in every row from which `link` is to continue: `neighbors` if the first ones were
    visited, 0 if others were.  Errors and cost are those of `link`.
    """
    _check_operands("link_sample", forest, a)
    if neighbors < 0:
        raise InvalidValue(f"link_sample: neighbors must not be negative, got {neighbors}")
    engine = check.engine_of("link_sample", forest, a)
    return cast(LinkSampleResult, registry.run(LinkSample(forest, a.pattern, neighbors), engine))


def most_frequent(forest: VectorStore) -> ScalarResult:
    """Return a most frequent label in a sample of a forest, which `link` may skip; None for an empty forest.

    Cost O(1).  Does not synchronize: the label of a forest on a GPU is copied when it is read.
    """
    engine = check.engine_of("most_frequent", forest)
    return cast(ScalarResult, registry.run(MostFrequent(forest), engine))


def _check_operands(operation: str, forest: VectorStore, a: CSR) -> None:
    if a.nrows != a.ncols:
        raise DimensionMismatch(f"{operation}: the matrix must be square, got shape {a.shape}")
    if forest.size != a.nrows:
        raise DimensionMismatch(
            f"{operation}: a matrix of shape {a.shape} needs a forest of size {a.nrows}, got {forest.size}"
        )
    if forest.dtype != index_dtype(a.nrows):
        raise DomainMismatch(f"{operation}: the forest must be {index_dtype(a.nrows)}, got {np.dtype(forest.dtype)}")
    if forest.format not in ("full", "parts") or forest.values is None:
        raise InvalidValue(f"{operation}: the forest must be a full vector; make one with ops.singletons")
