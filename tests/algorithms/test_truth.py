"""Real graphs: levels, components, ranks and distances are those that others have computed.

``truth.json`` has, for each file, sums and SHA-256 digests of whole result vectors (as little-endian int32,
-1 where not reached).  The Graphalytics, GraphScope and LAGraph results are from the authors of those systems.
Where the shared graphs are missing, the road network that the package brings along is still held against its facts.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csgraph

import semiring as sr
from tests import verify
from tests.conftest import shared_folder
from tests.graphs import Graph, load

DATA = shared_folder()
LARGE = 300_000  # entries; larger files take seconds to parse, and are left to --exhaustive on the CPU


def truth() -> dict[str, dict[str, Any]]:
    """The facts by file name; nothing where the shared graphs are not there."""
    path = DATA / "truth.json"
    facts = json.loads(path.read_text()) if path.is_file() else {}
    return {name: fact for name, fact in facts.items() if "id_rule" in fact}


TRUTH = truth()
FILES = [
    pytest.param(name, marks=[pytest.mark.slow, pytest.mark.wide] if fact["simple_arcs"] > LARGE else [], id=name)
    for name, fact in TRUTH.items()
] or [pytest.param("none", marks=pytest.mark.skip(reason=f"no shared graphs at {DATA}"))]
SEARCHES = [
    pytest.param(*item.values, which, marks=item.marks, id=f"{item.id}-{which}")
    for item in FILES
    for which in ("bfs_maxdeg", "bfs_first", "bfs_undirected_maxdeg")
    if which in TRUTH.get(str(item.values[0]), {"bfs_first": None})
]
WEIGHTED = [item for item in FILES if "sssp_maxdeg" in TRUTH.get(str(item.values[0]), {})] or FILES[:1]


@functools.lru_cache(maxsize=2)
def graph(name: str, folder: Path) -> Graph:
    return load(folder, name, TRUTH[name])


def matrix(g: Graph, *, weighted: bool = False) -> Any:
    values = g.weights if weighted and g.weights is not None else True
    return sr.Matrix.from_csr(g.indptr, g.indices, values, ncols=g.n)


def host(array: Any) -> np.ndarray[Any, Any]:
    return np.asarray(array.get() if hasattr(array, "get") else array)


def whole(v: Any, missing: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """A Vector as an array, with `missing` where nothing is stored."""
    out = np.full(v.size, missing, dtype)
    indices, values = (host(part) for part in v.to_coo())
    out[indices] = values
    return out


def digest(array: np.ndarray[Any, Any]) -> str:
    return hashlib.sha256(array.astype("<i4").tobytes()).hexdigest()


def smallest_member(labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Each label replaced by the smallest row that carries it."""
    least = np.full(labels.size, labels.size, np.int64)
    np.minimum.at(least, labels, np.arange(labels.size))
    return least[labels]


@pytest.mark.parametrize(("name", "which"), SEARCHES)
def test_bfs(shared_data: Path, name: str, which: str) -> None:
    facts = TRUTH[name]
    g = graph(name, shared_data)
    if "undirected" in which:
        g = g.symmetric()
    expected, source = facts[which], facts[which]["source_index"]
    A = matrix(g)
    levels = whole(sr.algorithms.bfs_levels(A, source), -1, np.int64)
    verify.bfs_levels(g.indptr, g.indices, source, levels)
    reached = levels[levels >= 0]
    assert (reached.size, reached.max(), reached.sum()) == (
        expected["reached"],
        expected["eccentricity"],
        expected["sum_levels"],
    )
    assert digest(levels) == facts["sha256"][f"{which}_levels"]
    parents = whole(sr.algorithms.bfs_parents(A, source), -1, np.int64)
    verify.bfs_parents(g.indptr, g.indices, source, parents, levels)


@pytest.mark.parametrize("name", FILES)
def test_components(shared_data: Path, name: str) -> None:
    facts = TRUTH[name]
    g = graph(name, shared_data)
    s = g.symmetric()
    labels = whole(sr.algorithms.connected_components(matrix(s)), -1, np.int64)
    verify.components(s.indptr, s.indices, labels, facts["wcc"])
    assert np.bincount(labels, minlength=1).max() == facts["wcc_largest"]
    assert digest(smallest_member(labels)) == facts["sha256"]["wcc_min_index"]
    assert csgraph.connected_components(s.scipy())[0] == facts["wcc"]


@pytest.mark.parametrize("name", FILES)
def test_pagerank(shared_data: Path, name: str) -> None:
    expected = TRUTH[name]["pagerank_30it_d085"]
    rank = ranks(matrix(graph(name, shared_data)), 30)
    assert rank.sum() == pytest.approx(expected["sum"], rel=1e-9)
    assert (rank**2).sum() == pytest.approx(expected["sum_sq"], rel=1e-9)
    for row, value in expected["top3"]:
        assert rank[row] == pytest.approx(value, rel=1e-9)


def ranks(A: Any, iterations: int, damping: float = 0.85) -> np.ndarray[Any, Any]:
    """PageRank after exactly so many iterations."""
    rank = sr.algorithms.pagerank(A, damping=damping, tol=0, max_iter=iterations)
    return whole(rank, 0.0, np.float64)


@pytest.mark.parametrize("name", WEIGHTED)
def test_sssp(shared_data: Path, name: str) -> None:
    facts = TRUTH[name]["sssp_maxdeg"]
    g = graph(name, shared_data)
    distance = whole(sr.algorithms.sssp(matrix(g, weighted=True), facts["source_index"]), np.inf, np.float64)
    reached = distance[np.isfinite(distance)]
    assert reached.size == facts["reached"]
    assert reached.max() == pytest.approx(facts["max"], rel=1e-9)
    assert reached.sum() == pytest.approx(facts["sum"], rel=1e-9)


COUNTED_FROM_0 = re.compile(r"\.(mtx|gr|graph)(\.gz|\.xz)?$")  # by the reader, whatever the file does
READABLE = (
    [
        item
        for item in FILES
        if re.search(r"\.(mtx|el|wel|csv|gr|graph|txt|edgelist)(\.gz|\.xz)?$", name := str(item.values[0]))
        and TRUTH[name]["id_base"] is not None
        and name not in ("lagraph/complex.mtx", "gapbs/graphs/4.graph")  # complex numbers; promises sizes and has none
    ]
    or FILES[:1]
)


@pytest.mark.parametrize("name", READABLE)
def test_readers_return_the_same_graph(shared_data: Path, name: str) -> None:
    """`sr.io.read` stores every arc that the simple reader of these tests finds, and nothing else but self-loops."""
    g, facts = graph(name, shared_data), TRUTH[name]
    base = 0 if COUNTED_FROM_0.search(name) else facts["id_base"]
    rows, cols, _ = (host(part) for part in sr.io.read(shared_data / name, dup_op="any").to_coo())
    kept = rows != cols
    keys = (rows[kept].astype(np.int64) - base) * g.n + (cols[kept] - base)
    turned = keys % g.n * g.n + keys // g.n
    arcs = np.repeat(np.arange(g.n), np.diff(g.indptr)) * g.n + g.indices
    assert np.isin(keys, arcs).all()
    assert (np.unique(keys if facts["directed"] else np.concatenate([keys, turned])) == arcs).all()


# Results by others


def results(path: Path, missing: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """(ids, values) of a file with a line ``id value`` for each vertex."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    table = np.array(text.replace("infinity", "inf").split(), dtype=object).reshape(-1, 2)
    values = table[:, 1].astype(np.float64)
    values[values >= 2.0**63 - 1] = missing
    order = np.argsort(table[:, 0].astype(np.int64))
    return table[order, 0].astype(np.int64), values[order]


GRAPHALYTICS = [
    (name, kind)
    for name in TRUTH
    if name.startswith("graphalytics/")
    for kind in ("BFS", "SSSP", "PR", "WCC")
    if (DATA / f"{name}-{kind}").exists()
] or [pytest.param("none", "none", marks=pytest.mark.skip(reason=f"no shared graphs at {DATA}"))]


def settings_of(folder: Path, name: str) -> dict[str, str]:
    text = (folder / f"{name}.properties").read_text()
    short = name.split("/")[1]
    found = re.findall(rf"^graph\.{re.escape(short)}\.(\S+) *= *(.*)$", text, re.MULTILINE)
    return {key: value.strip() for key, value in found}


@pytest.mark.parametrize(("name", "kind"), GRAPHALYTICS)
def test_graphalytics(shared_data: Path, name: str, kind: str) -> None:
    path = shared_data / f"{name}-{kind}"
    chosen = settings_of(shared_data, name)
    source = int(chosen.get(f"{kind.lower()}.source-vertex", -1))
    iterations = int(chosen.get("pr.num-iterations", 0))
    check_published(graph(name, shared_data), path, kind, source, iterations)


@pytest.mark.parametrize(
    ("result", "undirected"),
    [
        ("p2p-31-BFS-directed.gz", False),
        ("p2p-31-BFS.gz", True),
        ("p2p-31-SSSP.gz", True),
        ("p2p-31-WCC.gz", True),
        ("p2p-31-PR.gz", True),
    ],
)
def test_p2p(shared_data: Path, result: str, undirected: bool) -> None:
    g = graph("p2p-31/p2p-31.e.gz", shared_data)
    kind = result.split("-")[2].removesuffix(".gz")
    check_published(g.symmetric() if undirected else g, shared_data / "p2p-31" / result, kind, 6, 10)


def check_published(g: Graph, path: Path, kind: str, source_id: int, iterations: int) -> None:
    missing = -1.0 if kind == "BFS" else np.inf
    ids, expected = results(path, missing)
    assert (ids == g.ids).all(), "results and graph name different vertices"
    source = int(np.searchsorted(g.ids, source_id))
    if kind == "BFS":
        got = whole(sr.algorithms.bfs_levels(matrix(g), source), -1, np.int64)
        assert (got == expected).all()
    elif kind == "SSSP":
        got = whole(sr.algorithms.sssp(matrix(g, weighted=True), source), np.inf, np.float64)
        np.testing.assert_allclose(got, expected, rtol=1e-9)
    elif kind == "PR":
        np.testing.assert_allclose(ranks(matrix(g), iterations), expected, rtol=1e-4)
    else:
        got = whole(sr.algorithms.connected_components(matrix(g.symmetric())), -1, np.int64)
        theirs = np.unique(expected, return_inverse=True)[1]
        assert (smallest_member(got) == smallest_member(theirs)).all()


@functools.cache
def lagraph() -> dict[str, Any]:
    path = DATA / "lagraph" / "lagraph_expected.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    return found


def lagraph_file(name: str) -> str:
    """The entry of truth.json for a file that LAGraph's tests name."""
    return next(entry for entry in TRUTH if entry in (f"lagraph/{name}", f"lagraph/{name}.gz"))


@pytest.mark.parametrize("name", list(lagraph().get("connected_components", {})) or FILES[:1])
def test_lagraph_components(shared_data: Path, name: str) -> None:
    g = graph(lagraph_file(name), shared_data).symmetric()
    labels = whole(sr.algorithms.connected_components(matrix(g)), -1, np.int64)
    verify.components(g.indptr, g.indices, labels, lagraph()["connected_components"][name])


RANKED = [key for key in lagraph().get("pagerank_d085_tol1e-4", {}) if not key.startswith("_")]


@pytest.mark.costly
@pytest.mark.parametrize("key", RANKED or FILES[:1])
def test_lagraph_pagerank(shared_data: Path, key: str) -> None:
    name = key.split()[0]
    expected = np.array(lagraph()["pagerank_d085_tol1e-4"][key])
    A = sr.io.read(shared_data / "lagraph" / name)  # with the diagonal entries that the simple graph lacks
    A = A.apply("one") if A.nvals else A
    np.testing.assert_allclose(ranks(A, 100), expected, atol=1e-4)


# The road network of New York that the package brings along (semiring/data/ORIGIN.md).  These are the facts that
# truth.json has for the same file, byte for byte: computed with plain Python and SciPy, not with this package.
BUNDLED = Path(sr.__file__).parent / "data"
NEW_YORK: dict[str, Any] = {
    "id_rule": "0-based index = id - 1",
    "id_base": 1,
    "vertices": 264346,
    "simple_arcs": 730100,
    "directed": False,
    "weighted": False,
    "components": "61fa6e3ba85f7d57dfcca734bf5686fdaa7c6b897db15332982875f81f04d0d1",
    "sum_sq_of_ranks": 4.072883660613545e-06,
    "top_ranks": {263849: 9.364214176886579e-06, 194460: 9.268234315178942e-06, 106976: 9.214274985924961e-06},
}
# source: digest of the levels, eccentricity, sum of the levels
NEW_YORK_LEVELS = {
    0: ("d4bd20c378c8b65ccd3dfda5b90dc137a5770034b81870c122b6696afe890990", 619, 90771609),
    140960: ("bd36078be7581a2ada883df9dba3e0b2d84e4218919422f42bef6e9003e35a0d", 415, 56509180),
}


@pytest.fixture(scope="module")
def new_york() -> Graph:
    """The result of the simple reader of these tests."""
    return load(BUNDLED, "NY.gr.xz", NEW_YORK)


@pytest.fixture(scope="module")
def roads(engine: str) -> Any:
    """As the package reads it."""
    return sr.io.read(BUNDLED / "NY.gr.xz")


def test_new_york_is_read(new_york: Graph, roads: Any) -> None:
    assert (roads.nrows, roads.nvals) == (NEW_YORK["vertices"], NEW_YORK["simple_arcs"])
    rows, cols, _ = (host(part) for part in roads.to_coo())
    assert (rows == np.repeat(np.arange(new_york.n), np.diff(new_york.indptr))).all()
    assert (cols == new_york.indices).all()


@pytest.mark.parametrize("source", NEW_YORK_LEVELS)
def test_new_york_levels(new_york: Graph, roads: Any, source: int) -> None:
    levels = whole(sr.algorithms.bfs_levels(roads, source), -1, np.int64)
    parents = whole(sr.algorithms.bfs_parents(roads, source), -1, np.int64)
    assert (digest(levels), levels.max(), levels.sum()) == NEW_YORK_LEVELS[source]
    assert levels.min() == 0
    verify.bfs_parents(new_york.indptr, new_york.indices, source, parents, levels)


def test_new_york_components(roads: Any) -> None:
    labels = whole(sr.algorithms.connected_components(roads), -1, np.int64)
    assert digest(smallest_member(labels)) == NEW_YORK["components"]
    assert (labels == labels[0]).all()


def test_new_york_ranks(roads: Any) -> None:
    rank = ranks(roads, 30)
    assert rank.sum() == pytest.approx(1.0, rel=1e-9)
    assert (rank**2).sum() == pytest.approx(NEW_YORK["sum_sq_of_ranks"], rel=1e-9)
    for row, value in NEW_YORK["top_ranks"].items():
        assert rank[row] == pytest.approx(value, rel=1e-9)
