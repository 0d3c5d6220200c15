"""Real graphs: triangles, clustering, cores and trusses are those that others have published or computed."""

from __future__ import annotations

import functools
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from tests import sampling
from tests.algorithms.test_truth import DATA, TRUTH, digest, graph, matrix, results, whole

al = sr.algorithms
NAMES = [name for name, fact in TRUTH.items() if "triangles" in fact]
SAMPLE = sampling.draw("cohesion", [name for name in NAMES if TRUTH[name]["simple_arcs"] < 20_000], 12)
by_name = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=sampling.marks(name, SAMPLE, pytest.mark.wide)) for name in NAMES]
    or [pytest.param("none", marks=pytest.mark.skip(reason="no shared graphs"))],
)


def read(name: str, folder: Path, engine: str, *, directed: bool = False) -> Matrix:
    g = graph(name, folder)
    if engine == "reference" and g.n > 400:
        pytest.skip("the reference engine takes minutes")
    return matrix(g if directed else g.symmetric())  # type: ignore[no-any-return]


@by_name
def test_truth(name: str, shared_data: Path, engine: str) -> None:
    facts, A = TRUTH[name], read(name, shared_data, engine)
    assert al.triangle_count(A) == facts["triangles"]
    triangles = whole(al.triangles(A), -1, np.int64)
    assert triangles.sum() == 3 * facts["triangles"]
    if "global_transitivity" in facts:
        assert al.transitivity(A) == pytest.approx(facts["global_transitivity"] or 0.0, rel=1e-12)
    if "lcc_mean_graphalytics" in facts:
        found = al.clustering(read(name, shared_data, engine, directed=True), method="graphalytics")
        assert whole(found, np.nan, np.float64).mean() == pytest.approx(
            facts["lcc_mean_graphalytics"], rel=1e-12, abs=1e-15
        )
    if "degeneracy" in facts:
        core = whole(al.core_numbers(A), -1, np.int64)
        assert core.max(initial=0) == facts["degeneracy"]
        assert core.sum() == facts["sum_core_numbers"]
        assert (core == facts["degeneracy"]).sum() == facts["vertices_in_max_core"]
        if "core_numbers" in facts["sha256"]:
            assert digest(core) == facts["sha256"]["core_numbers"]


@by_name
def test_trusses_contain_one_another(name: str, shared_data: Path, engine: str) -> None:
    """Every edge of the k-truss is in k - 2 triangles of it, and those of truss number k are not in the next one."""
    A = read(name, shared_data, engine)
    if A.nvals > 200_000:
        pytest.skip("takes minutes")
    T = al.truss_numbers(A)
    assert T.nvals == A.nvals
    for k in (3, 4, 6):
        B = al.k_truss(A, k)
        assert B.isequal(A.dup(mask=T.select(">=", k).S))
        support = al.edge_triangles(B).reduce_scalar("min").value
        assert support is None or support >= k - 2


@functools.cache
def lagraph() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "lagraph" / "lagraph_expected.json").read_text())
    return found


def test_lagraph(shared_data: Path, engine: str) -> None:
    """Its triangle counts, largest cores and square clustering, transcribed from its tests."""
    known = lagraph()
    for name, count in known["triangle_count"].items():
        file = f"lagraph/{name}"
        if file not in TRUTH or (engine == "reference" and TRUTH[file]["simple_arcs"] > 1000):
            continue
        assert al.triangle_count(matrix(graph(file, shared_data).symmetric())) == count
    for name, most in known["kcore_kmax"].items():
        core = al.core_numbers(matrix(graph(f"lagraph/{name}", shared_data).symmetric()))
        assert core.reduce("max").get(0) == most
    squares = known["square_clustering"]
    edges = [(u, v) for edge in squares["edges"] for u, v in (edge, edge[::-1])]
    found = al.square_clustering(Matrix.from_edgelist(edges, nrows=17, ncols=17)).to_dict()
    expected = {v: squares["values"].get(str(v), 0.0) for v in range(17)}
    assert found == pytest.approx(expected, rel=1e-12)


LCC = [name for name in TRUTH if name.startswith("graphalytics/") and (DATA / f"{name}-LCC").exists()]


@pytest.mark.parametrize("name", LCC or [pytest.param("none", marks=pytest.mark.skip(reason="no shared graphs"))])
def test_graphalytics(name: str, shared_data: Path) -> None:
    g = graph(name, shared_data)
    ids, expected = results(shared_data / f"{name}-LCC", np.nan)
    assert (ids == g.ids).all()
    np.testing.assert_allclose(
        whole(al.clustering(matrix(g), method="graphalytics"), np.nan, np.float64), expected, rtol=1e-12
    )


def test_cugraph(shared_data: Path) -> None:
    """The edges of the 5-truss of polbooks."""
    A = matrix(graph("cugraph/polbooks.csv", shared_data).symmetric())
    listed = np.loadtxt(shared_data / "cugraph" / "ref" / "ktruss" / "polbooks.csv")[:, :2].astype(int).tolist()
    expected = {ends for u, v in listed for ends in ((u, v), (v, u))}
    rows, cols, _ = al.k_truss(A, 5).to("cpu").to_coo()
    assert set(zip(rows.tolist(), cols.tolist(), strict=True)) == expected


def test_graphscope(shared_data: Path, engine: str) -> None:
    """The 3-core and the triangles of every vertex of p2p-31."""
    name = "p2p-31/p2p-31.e.gz"
    A, ids = read(name, shared_data, engine), graph(name, shared_data).ids
    folder = shared_data / "p2p-31" / "gstest"
    lines = gzip.decompress((folder / "p2p-31-triangles.gz").read_bytes()).decode().split()
    listed = np.array(lines, np.float64).reshape(-1, 2).astype(np.int64)
    expected = dict(listed.tolist())
    assert dict(zip(ids.tolist(), whole(al.triangles(A), -1, np.int64).tolist(), strict=True)) == expected
    core = whole(al.core_numbers(A), -1, np.int64)
    theirs = np.array(gzip.decompress((folder / "p2p-31-kcore.gz").read_bytes()).decode().split(), np.int64)
    assert set(ids[core >= 3].tolist()) == set(theirs.tolist())
    assert Counter(core.tolist()).total() == ids.size
