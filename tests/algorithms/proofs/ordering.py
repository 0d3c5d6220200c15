"""Orders: permutations with the documented property."""

from __future__ import annotations

import importlib

import numpy as np

import semiring as sr

from . import proves
from .case import Case, dense, equal, full, host, smallest

al = sr.algorithms


@proves("degree_order", "bfs_order", "locality_order", "reverse_cuthill_mckee")
def permutations(case: Case) -> None:
    """Every vertex once; degrees fall; levels rise; neighbors are nearer than in a random order."""
    arcs = case.arcs
    xp = arcs.xp
    for function in (al.degree_order, al.bfs_order, al.locality_order, al.reverse_cuthill_mckee):
        order = full(function(case.A), -1)
        equal(xp.sort(order), np.arange(case.n))
    equal(full(al.degree_order(case.A), -1), xp.argsort(-arcs.degree, kind="stable"))
    for source in case.sources[:1]:
        order = full(al.bfs_order(case.A, source), -1)
        levels = full(al.bfs_levels(case.A, source), -1)[order]
        reached = int((levels >= 0).sum())
        assert bool((levels[:reached] >= 0).all())
        assert smallest(xp.diff(levels[:reached])) >= 0


@proves("reverse_cuthill_mckee", "degree_order", "bfs_order", by="SciPy", entries=2_000_000)
def orders_of_scipy(case: Case) -> None:
    """A bandwidth that is hardly larger than SciPy's; degrees by a stable sort; levels by its search."""
    csgraph = importlib.import_module("scipy.sparse.csgraph")
    S, rows, columns = case.scipy, host(case.arcs.rows), host(case.arcs.columns)

    def bandwidth(order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
        place = np.empty(case.n, np.int64)
        place[order] = np.arange(case.n)
        return int(np.abs(place[rows] - place[columns]).max(initial=0))

    sp = importlib.import_module("scipy.sparse")
    theirs = bandwidth(csgraph.reverse_cuthill_mckee(sp.csr_matrix(S), symmetric_mode=True)) if case.n else 0
    assert bandwidth(dense(al.reverse_cuthill_mckee(case.A))) <= 2 * theirs + 5
    equal(dense(al.degree_order(case.A)), np.argsort(-np.diff(S.indptr), kind="stable"))
    if case.n:
        source = case.sources[0]
        reached = csgraph.breadth_first_order(S, source, return_predecessors=False)
        assert set(dense(al.bfs_order(case.A, source))[: reached.size].tolist()) == set(reached.tolist())
