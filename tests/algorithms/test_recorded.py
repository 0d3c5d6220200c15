"""Results that others recorded, beside those of `test_truth` and of the families.

``truth.json``: strong components, diameters, spanning forests, degrees, votes.  GraphScope: trees of searches, degrees.
GraphChallenge: the graphs of its k-truss example.  GAPBS: sizes of its test graphs.  WebGraph: strong components.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from tests import sampling
from tests.algorithms.test_truth import TRUTH, digest, graph, host, matrix, smallest_member, whole

al = sr.algorithms
MEDIUM = 2_000_000  # arcs
# The record of this graph is that of a component of 177 vertices; by SciPy's shortest paths it is 30 in the largest.
DIAMETERS = {"lagraph/zenios.mtx.gz": 30}
SAMPLE = sampling.draw("recorded", [name for name, fact in TRUTH.items() if fact["simple_arcs"] < 1000], 4)
by_name = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=sampling.marks(name, SAMPLE, pytest.mark.wide)) for name in TRUTH]
    or [pytest.param("none", marks=pytest.mark.skip(reason="no shared graphs"))],
)


@pytest.mark.costly
@by_name
def test_truth(shared_data: Path, name: str) -> None:
    facts, g = TRUTH[name], graph(name, shared_data)
    D, A = matrix(g), matrix(g.symmetric())
    assert al.degrees(D).reduce("max").get(0) == facts["max_out_degree"]
    assert al.degrees(D, "in").reduce("max").get(0) == facts["max_in_degree"]
    assert al.degrees(A).reduce("max").get(0) == facts["max_undirected_degree"]
    if "scc" in facts:
        labels = whole(al.strongly_connected_components(D), -1, np.int64)
        sizes = np.bincount(labels)
        assert ((sizes > 0).sum(), sizes.max()) == (facts["scc"], facts["scc_largest"])
        assert digest(labels) == facts["sha256"]["scc_min_index"]
    if "cdlp_10it" in facts:
        labels = whole(al.label_propagation(D, method="synchronous"), -1, np.int64)
        sizes = np.bincount(labels)
        assert (labels.sum(), (sizes > 0).sum(), sizes.max()) == tuple(
            facts["cdlp_10it"][key] for key in ("sum_labels", "labels", "largest")
        )
        assert digest(labels) == facts["sha256"]["cdlp_10it"]
    if "msf" in facts:
        s = g.symmetric()
        weights = np.zeros(0) if s.weights is None else s.weights  # a file without entries has no column of weights
        F = al.minimum_spanning_forest(Matrix.from_csr(s.indptr, s.indices, weights, ncols=s.n))
        assert F.nvals == 2 * facts["msf"]["edges"]
        assert F.reduce_scalar("plus").get(0.0) / 2 == pytest.approx(facts["msf"]["weight"], rel=1e-9)
    if "diameter_largest_wcc" in facts and A.nvals <= MEDIUM:
        component = al.connected_components(A)
        most = int(np.bincount(whole(component, -1, np.int64)).argmax())
        largest = al.induced_subgraph(A, component.select("==", most))
        assert al.diameter(largest) == DIAMETERS.get(name, facts["diameter_largest_wcc"])


def pairs(path: Path) -> Any:
    """A file of two numbers a line."""
    return np.array(gzip.decompress(path.read_bytes()).decode().split(), np.float64).reshape(-1, 2)


@pytest.mark.costly
def test_graphscope(shared_data: Path, engine: str) -> None:
    """Trees of searches from vertex 6 of p2p-31, without directions: each edge is one step further; degrees."""
    if engine == "reference":
        pytest.skip("takes minutes")
    g = graph("p2p-31/p2p-31.e.gz", shared_data).symmetric()
    folder, source = shared_data / "p2p-31" / "gstest", int(np.searchsorted(g.ids, 6))
    weighted = Matrix.from_csr(g.indptr, g.indices, g.weights, ncols=g.n)
    step = dict(zip(g.ids.tolist(), range(g.n), strict=True))
    for file, found in (
        ("p2p-31-bfs.gz", al.bfs_levels(matrix(g), source).dup(float)),
        ("p2p-31-sssp_path.gz", al.sssp(weighted, source)),
    ):
        distance = whole(found, np.inf, np.float64)
        listed = pairs(folder / file).astype(np.int64)
        ends = np.array([[step[u], step[v]] for u, v in listed.tolist()])
        ends = np.where((distance[ends[:, 0]] <= distance[ends[:, 1]])[:, None], ends, ends[:, ::-1])
        lengths = 1.0 if "bfs" in file else np.array([weighted.get(u, v) for u, v in ends.tolist()])
        np.testing.assert_allclose(distance[ends[:, 0]] + lengths, distance[ends[:, 1]])
        assert len(listed) == np.isfinite(distance).sum() - 1
    expected = pairs(folder / "p2p-31-degree_centrality.gz")
    np.testing.assert_allclose(whole(al.degree_centrality(matrix(g)), np.nan, np.float64), expected[:, 1], rtol=1e-5)


def test_graphchallenge(shared_data: Path) -> None:
    """The graph of the k-truss example loses one edge in its 3-truss; both incidence files are their graphs."""
    folder = shared_data / "graphchallenge"
    edge, vertex = (np.loadtxt(folder / "ktruss_example.tsv").astype(int)[:, :2] - 1).T
    E = Matrix.from_coo(edge, vertex, True, nrows=6, ncols=5)
    A = E.T.mxm(E, "lor_land").select("offdiag").new()
    truss = al.k_truss(A, 3)
    assert (al.triangle_count(A), A.nvals, truss.nvals) == (2, 12, 10)
    u, v = next((u, v) for u, row in A.to_dicts().items() for v in row if truss.get(u, v) is None)
    assert {u, v} == {1, 4}
    rows, columns = (np.loadtxt(folder / "A_adj.tsv").astype(int)[:, :2] - 1).T
    B = Matrix.from_coo(rows, columns, True, nrows=5, ncols=5)
    ends, edges = (np.loadtxt(folder / "A_inc.tsv").astype(int)[:, :2] - 1).T
    assert sorted(zip(ends.tolist(), edges.tolist(), strict=True)) == sorted(
        (w, number)
        for number, pair in enumerate(_edges_of(ends, edges))
        for w in pair
        if pair in {tuple(sorted(p)) for p in zip(rows.tolist(), columns.tolist(), strict=True)}
    )
    assert al.triangle_count(B) == 2


def _edges_of(ends: Any, edges: Any) -> list[tuple[int, ...]]:
    return [tuple(sorted(ends[edges == number].tolist())) for number in range(edges.max() + 1)]


@pytest.mark.parametrize("file", ["4.el", "4.wel", "4.gr", "4.mtx", "4w.mtx", "4w.graph"])
def test_gapbs(shared_data: Path, file: str) -> None:
    """Vertices and edges that GAPBS prints for its test graphs."""
    text = (shared_data / "gapbs" / "reference" / f"graph-{file}.out").read_text()
    vertices, edges = map(int, re.findall(r"(\d+) nodes and (\d+) ", text)[0])
    A = matrix(graph(f"gapbs/graphs/{file}", shared_data))
    assert A.nrows == vertices
    assert int(al.degrees(A).reduce("plus").get(0)) == edges


@pytest.mark.wide
def test_webgraph(shared_data: Path, engine: str) -> None:
    """The strong components of cnr-2000: its labels name the same classes."""
    if engine == "reference":
        pytest.skip("takes minutes")
    g = graph("law/cnr-2000-llp.graph-txt.gz", shared_data)
    theirs = np.frombuffer(gzip.decompress((shared_data / "law" / "cnr-2000.scc.gz").read_bytes()), ">i4")
    found = host(al.strongly_connected_components(matrix(g)).to_dense())
    np.testing.assert_array_equal(found, smallest_member(theirs.astype(np.int64)))
