"""VoteRank by its rule in exact fractions and by NetworkX; Google matrices by NetworkX and PageRank."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.algorithms import google_matrix, pagerank, voterank
from semiring.exceptions import DimensionMismatch, InvalidValue
from tests.algorithms.components.drawn import DIRECTED, UNDIRECTED, matrix

GRAPHS = {f"directed-{name}": S for name, S in DIRECTED.items()} | {
    f"undirected-{name}": S for name, S in UNDIRECTED.items()
}


def elected(S: Any) -> list[int]:
    """The rule, with all votes counted again for each election."""
    n = S.shape[0]
    edges = [(u, v) for u, v in zip(*S.nonzero(), strict=True) if u != v]
    ability, order = [Fraction(1)] * n, []
    while len(order) < n:
        votes = [Fraction(0)] * n
        for u, v in edges:
            votes[u] += ability[v]
        best = max((v for v in range(n) if v not in order), key=lambda v: (votes[v], -v))
        if votes[best] == 0:
            break
        order.append(best)
        ability[best] = Fraction(0)
        for u, v in edges:
            if u == best:
                ability[v] = max(ability[v] - Fraction(n, len(edges)), Fraction(0))
    return order


@pytest.mark.parametrize("S", GRAPHS.values(), ids=GRAPHS)
def test_voterank(S: Any) -> None:
    found = voterank(matrix(S)).to_dict()
    assert sorted(found, key=found.__getitem__) == elected(S)
    assert sorted(found.values()) == list(range(len(found)))


def test_voterank_of_networkx() -> None:
    G = nx.karate_club_graph()
    A = sr.io.from_networkx(G, weight=None)
    theirs = nx.voterank(G)
    assert voterank(A).to_dict() == {v: k for k, v in enumerate(theirs)}
    steps: list[tuple[int, int | None]] = []
    first = voterank(A, number=3, progress=lambda done, total: steps.append((done, total)))
    assert first.to_dict() == {v: k for k, v in enumerate(theirs[:3])}
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert voterank(A, number=0).nvals == 0


@pytest.mark.parametrize("codec", [None, "packed"])
def test_google_matrix(codec: str | None) -> None:
    G = nx.gnp_random_graph(30, 0.1, seed=3, directed=True)
    G.add_edge(2, 2)
    for u, v in G.edges:
        G[u][v]["weight"] = (u + 2 * v) % 5
    given = {"personalization": {1: 2.0, 5: 1.0}, "dangling": {3: 1.0}}
    vectors = {name: Vector.from_dense([float(v.get(i, 0)) for i in range(30)]) for name, v in given.items()}
    for weight in (None, "weight"):
        A = sr.io.from_networkx(G, weight=weight)
        A = A if codec is None else A.compress(codec)
        plain = google_matrix(A, weight=weight is not None)
        np.testing.assert_allclose(plain.to("cpu").to_dense(), nx.google_matrix(G, weight=weight), rtol=1e-12)
        other = google_matrix(A, 0.5, weight=weight is not None, **vectors)
        np.testing.assert_allclose(other.to("cpu").to_dense(), nx.google_matrix(G, 0.5, weight=weight, **given))
        rank = pagerank(A, 0.5, 1e-12, weight=weight is not None, **vectors)
        assert rank.vxm(other, "plus_times").isclose(rank, abs_tol=1e-10)
    assert google_matrix(A, dtype="float32").dtype == np.float32


def test_bad_input() -> None:
    A = Matrix.from_edgelist([(0, 1)], nrows=3, ncols=3)
    for function in (voterank, google_matrix):
        with pytest.raises(DimensionMismatch):
            function(Matrix(bool, 2, 3))
        assert function(Matrix(bool, 0, 0)).nvals == 0
    with pytest.raises(InvalidValue, match="number"):
        voterank(A, number=-1)
    with pytest.raises(InvalidValue, match="damping"):
        google_matrix(A, 1.5)
    with pytest.raises(InvalidValue, match="personalization"):
        google_matrix(A, personalization=Vector.full(-1.0, 3))
    with pytest.raises(DimensionMismatch, match="dangling"):
        google_matrix(A, dangling=Vector.full(1.0, 4))
    with pytest.raises(InvalidValue, match="negative"):
        google_matrix(A.apply("second", right=-1.0), weight=True)
