"""Real graphs: centralities are those that other programs have computed and published."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algorithms import betweenness_centrality, katz_centrality, pagerank
from tests import sampling
from tests.algorithms.centrality.graphs import host
from tests.algorithms.test_truth import TRUTH, graph, matrix
from tests.graphs import Graph, load

SMALL, LARGE = 400, 30_000  # arcs; graphs of more are left to the exhaustive tier
NAMES = [name for name, fact in TRUTH.items() if "betweenness_undirected" in fact or "betweenness_directed" in fact]
SAMPLE = sampling.draw("betweenness", [name for name in NAMES if TRUTH[name]["simple_arcs"] < SMALL], 3)
by_name = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=sampling.marks(name, SAMPLE, pytest.mark.exhaustive)) for name in NAMES]
    or [pytest.param("none", marks=pytest.mark.skip(reason="no shared graphs"))],
)


@by_name
def test_betweenness_of_truth(name: str, shared_data: Path, engine: str) -> None:
    g, facts = graph(name, shared_data), TRUTH[name]
    if g.n > (300 if engine == "reference" else LARGE):
        pytest.skip("takes minutes")
    for which in ("betweenness_undirected", "betweenness_directed"):
        if which not in facts:
            continue
        directed = which.endswith("_directed")
        A = matrix(g if directed else g.symmetric())
        found = host(betweenness_centrality(A, normalized=False, directed=directed))
        assert found.sum() == pytest.approx(facts[which]["sum"])
        assert found.max(initial=0) == pytest.approx(facts[which]["max"])
        if found.max(initial=0) > 0:
            assert found[facts[which]["argmax"]] == pytest.approx(facts[which]["max"])


@pytest.mark.parametrize("name", ["karate.mtx", "west0067.mtx (directed)"])
def test_betweenness_of_lagraph(shared_data: Path, name: str) -> None:
    expected = json.loads((shared_data / "lagraph" / "lagraph_expected.json").read_text())["betweenness_4_sources"][
        name
    ]
    A = sr.io.read(shared_data / "lagraph" / name.split()[0]).select("offdiag").apply("one").new()
    found = betweenness_centrality(A, sources=expected["sources"], normalized=False, directed=True)
    np.testing.assert_allclose(host(found), expected["bc"], atol=1e-4)


RUNS = {
    "Test1": ("betweenness/Test1.graphml", True),
    "Road": ("betweenness/Road.graphml.gz", True),
    "Cite": ("betweenness/Cite.graphml.gz", True),
    "Wiki": ("snap/wiki-Vote.txt.gz", False),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "Test1" else [pytest.mark.exhaustive]) for name in RUNS]
)
def test_betweenness_of_others(shared_data: Path, engine: str, name: str) -> None:
    """Exact betweenness of undirected graphs, computed by others."""
    if engine == "reference" and name != "Test1":
        pytest.skip("takes minutes")
    file, normalized = RUNS[name]
    g = load(shared_data, file, TRUTH[file])
    found = host(betweenness_centrality(matrix(g.symmetric()), normalized=normalized))
    recorded = dict(rows(shared_data / "betweenness" / f"betweenness_centrality_{name}.txt.gz"))
    expected = np.array([float(recorded[str(int(v))]) for v in g.ids])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def rows(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt") as file:
        return [line.split() for line in file][1:]


@pytest.mark.parametrize("name", ["karate", "dolphins", "polbooks"])
def test_katz_of_cugraph(shared_data: Path, name: str) -> None:
    """Vertices by Katz centrality, for alpha = 1 / (largest degree + 1)."""
    arcs = np.loadtxt(shared_data / "cugraph" / f"{name}.csv")[:, :2].astype(int)
    n = int(arcs.max()) + 1
    A = sr.Matrix.from_coo(arcs[:, 0], arcs[:, 1], True, shape=(n, n), dup_op="any")
    A = A.ewise_add(A.T, "any")
    alpha = 1 / (A.reduce_rowwise("count").reduce("max").value + 1)
    found = host(katz_centrality(A, alpha, tol=1e-12))
    with (shared_data / "cugraph" / "ref" / "katz" / f"{name}.csv").open() as file:
        order = [int(line[0]) for line in csv.reader(file)]
    ranked = found[order]
    assert (ranked[:-1] >= ranked[1:] - 1e-6).all()


def test_pagerank_of_lagraph(shared_data: Path) -> None:
    expected = json.loads((shared_data / "lagraph" / "lagraph_expected.json").read_text())["pagerank_d085_tol1e-4"]
    for name, ranks in expected.items():
        if name.startswith("_"):
            continue
        A = sr.io.read(shared_data / "lagraph" / name.split()[0])
        A = A.ewise_add(A.T, "any") if "undirected" in name else A
        general = pagerank(A, start=sr.Vector.full(1.0, A.nrows))
        np.testing.assert_allclose(host(general), ranks, atol=1e-4)


def test_pagerank_of_graphalytics(shared_data: Path) -> None:
    """The general iteration takes the same steps as the uniform one, which `test_truth` compares with all results."""
    for name in ("graphalytics/test-pr-directed", "graphalytics/example-directed"):
        A = _pattern(graph(name, shared_data))
        options: dict[str, Any] = {"tol": 0, "max_iter": 14}
        uniform, general = pagerank(A, **options), pagerank(A, start=sr.Vector.full(1.0, A.nrows), **options)
        np.testing.assert_allclose(host(general), host(uniform), rtol=1e-12)


def _pattern(g: Graph) -> sr.Matrix:
    return sr.Matrix.from_csr(g.indptr, g.indices, True, ncols=g.n)
