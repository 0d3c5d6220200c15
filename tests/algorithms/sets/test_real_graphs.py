"""Real graphs: forests as heavy as SciPy's; sets, colorings and matchings by property."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import semiring as sr
from tests.algorithms.components.drawn import host
from tests.algorithms.test_truth import FILES, graph
from tests.graphs import Graph

al = sr.algorithms


def weighted(g: Graph) -> tuple[Any, sr.Matrix]:
    """The undirected graph with symmetric weights: those of the file, or small numbers drawn for each edge."""
    s = g.symmetric()
    rows = np.repeat(np.arange(s.n), np.diff(s.indptr))
    drawn = (np.minimum(rows, s.indices) * 7919 + np.maximum(rows, s.indices) * 104729) % 97 + 1
    values = (drawn if s.weights is None else s.weights).astype(np.float64)
    return sp.csr_array((values, s.indices, s.indptr), shape=(s.n, s.n)), sr.Matrix.from_csr(
        s.indptr, s.indices, values, ncols=s.n
    )


@pytest.mark.wide
@pytest.mark.parametrize("name", FILES)
def test_spanning_forest(shared_data: Path, name: str) -> None:
    S, A = weighted(graph(name, shared_data))
    # Only the order of weights matters, and SciPy takes zeros for missing edges: it gets ranks, from 1.
    weights, ranks = np.unique(S.data, return_inverse=True)
    theirs = csgraph.minimum_spanning_tree(sp.csr_array((ranks + 1.0, S.indices, S.indptr), shape=S.shape))
    _, _, values = al.minimum_spanning_forest(A).to_coo(device="cpu")
    assert values.size == 2 * theirs.nnz
    assert (np.searchsorted(weights, values) + 1).sum() == 2 * theirs.sum()


@pytest.mark.wide
@pytest.mark.parametrize("name", FILES)
def test_sets_and_matchings(shared_data: Path, name: str) -> None:
    S, A = weighted(graph(name, shared_data))
    n = S.shape[0]
    rows, cols = np.repeat(np.arange(n), np.diff(S.indptr)), S.indices
    member = np.zeros(n, bool)
    member[list(al.maximal_independent_set(A).to_dict())] = True
    assert not (member[rows] & member[cols]).any()
    covered = member.copy()
    covered[rows[member[cols]]] = True
    assert covered.all()
    color = host(al.coloring(A))
    assert (color[rows] != color[cols]).all()
    mate = np.full(n, -1)
    found = al.maximal_matching(A, weight=True).to_dict()
    mate[list(found)] = list(found.values())
    matched = np.flatnonzero(mate >= 0)
    assert (mate[mate[matched]] == matched).all()
    assert ((mate[rows] >= 0) | (mate[cols] >= 0)).all()


@pytest.mark.wide
@pytest.mark.parametrize("name", FILES)
def test_bipartite_matching(shared_data: Path, name: str) -> None:
    g = graph(name, shared_data)
    mate = al.maximum_bipartite_matching(sr.Matrix.from_csr(g.indptr, g.indices, True, ncols=g.n)).to_dict()
    assert len(set(mate.values())) == len(mate)
    theirs = csgraph.maximum_bipartite_matching(sp.csr_array(g.scipy()), perm_type="column") if g.n else np.zeros(0)
    assert len(mate) == (theirs >= 0).sum()


def test_lagraph(shared_data: Path) -> None:
    folder = shared_data / "lagraph"
    expected = json.loads((folder / "lagraph_expected.json").read_text())
    assert (
        host(al.strongly_connected_components(sr.io.read(folder / "cover.mtx"))).tolist()
        == (expected["scc_cover.mtx"]["labels"])
    )
    A = sr.io.read(folder / "A.mtx")
    pairs = expected["msf_A.mtx"]["parent_pairs"]
    assert al.minimum_spanning_forest(A.ewise_add(A.T, "any")).nvals == 2 * len(pairs)
