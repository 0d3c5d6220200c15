"""Files and graphs of other programs: written and read back, labels kept."""

from __future__ import annotations

import gzip
import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Labels, Matrix, Vector
from semiring.exceptions import DimensionMismatch, DomainMismatch, InvalidFormat, InvalidValue, NotSupported
from tests.io.arrays import DATA, needs_data

# `.el` files hold no weights, and this module writes every format.
pytestmark = pytest.mark.filterwarnings("ignore::semiring.exceptions.LostWeights")

NAMED = [("eve", "ann", 1.5), ("ann", "bob", 2.5), ("bob", "bob", 3.5)]
WRITTEN = [".el", ".wel", ".txt", ".tsv", ".csv", ".edgelist", ".csv.gz", ".parquet"]


def weighted(dtype: Any = float) -> Matrix:
    return Matrix.from_coo([0, 2, 1], [2, 0, 1], np.array([1, 2, 3], dtype), shape=(3, 3))


@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.parametrize("dtype", [float, int, bool])
def test_edges_are_read_back(ending: str, dtype: Any, tmp_path: Path) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    A, path = weighted(dtype), tmp_path / f"a{ending}"
    sr.io.write(path, A)
    back = sr.io.read(path)
    expected = A if dtype is not bool and ending != ".el" else A.apply("one")
    assert back.isequal(expected.dup(back.dtype))
    assert back.dtype == (bool if ending == ".el" else expected.dtype) or dtype is bool


@pytest.mark.parametrize("ending", [ending for ending in WRITTEN if ending != ".el"])
def test_labels_are_written_and_read(ending: str, tmp_path: Path) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    A = Matrix.from_edgelist(NAMED, relabel=True)
    sr.io.write(tmp_path / f"a{ending}", A)
    back = sr.io.read(tmp_path / f"a{ending}", relabel=True)
    assert back.labels == A.labels
    assert back.isequal(A, check_dtype=True)


def test_a_label_that_a_format_cannot_hold(tmp_path: Path) -> None:
    A = Matrix.from_edgelist([("New York", 'a "b", c')], relabel=True)
    sr.io.write(tmp_path / "a.csv", A, header=True)
    assert sr.io.read(tmp_path / "a.csv", relabel=True).labels == A.labels
    with pytest.raises(InvalidValue, match="'New York' does not fit"):
        sr.io.write(tmp_path / "a.txt", A)
    assert not (tmp_path / "a.txt").exists()
    with pytest.raises(DomainMismatch, match="numbers"):
        sr.io.write(tmp_path / "a.txt", Matrix.identity(2, complex))
    with pytest.raises(NotSupported, match=r"holds matrices; a vector is written to \.mtx \.tsv \.csv \.parquet \.srb"):
        sr.io.write(tmp_path / "a.npz", Vector(int, 3))


def test_roads_are_read_back(tmp_path: Path) -> None:
    A = weighted(int)
    sr.io.write(tmp_path / "a.gr.gz", A, comment="three\nroads")
    assert gzip.decompress((tmp_path / "a.gr.gz").read_bytes()).startswith(b"c three\nc roads\np sp 3 3\na 1 3 1\n")
    assert sr.io.read(tmp_path / "a.gr.gz").isequal(A, check_dtype=True)
    for wrong, error in ((weighted(float), DomainMismatch), (Matrix(int, 2, 3), DimensionMismatch)):
        with pytest.raises(error):
            sr.io.write(tmp_path / "b.gr", wrong)
    with pytest.raises(InvalidValue, match="int64"):
        sr.io.write(tmp_path / "b.gr", Matrix.from_coo([0], [0], np.array([2**63], np.uint64)))
    assert not (tmp_path / "b.gr").exists()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("% sym unweighted\n% 2 3 3\n1 2\n2 3\n", {0: {1: True}, 1: {0: True, 2: True}, 2: {1: True}}),
        ("% asym posweighted\n1 2 0.5 1300\n2 1 2 1301\n", {0: {1: 0.5}, 1: {0: 2.0}}),
        ("% asym positive\n1 2\n1 2\n2 1\n", {0: {1: 2}, 1: {0: 1}}),
        ("% bip unweighted\n1 3\n2 1\n", {0: {2: True}, 1: {0: True}}),
    ],
)
def test_konect(content: str, expected: dict[int, Any], tmp_path: Path) -> None:
    (tmp_path / "out.example").write_text(content)
    A = sr.io.read(tmp_path / "out.example")
    assert A.to_dicts() == expected
    assert (A.shape[0] == A.shape[1]) == ("bip" not in content)


@pytest.mark.parametrize("content", ["1 2\n", "% sym\n1 2\n", "% sym heavy\n1 2\n", "% other unweighted\n", ""])
def test_konect_states_its_format(content: str, tmp_path: Path) -> None:
    (tmp_path / "out.example").write_text(content)
    with pytest.raises(InvalidFormat, match=r"out\.example:1: expected"):
        sr.io.read(tmp_path / "out.example")


@pytest.mark.parametrize("kind", ["graphml", "gml"])
@pytest.mark.parametrize("directed", [False, True])
def test_markup(kind: str, directed: bool, tmp_path: Path) -> None:
    nx = pytest.importorskip("networkx")
    G = (nx.DiGraph if directed else nx.Graph)()
    G.add_weighted_edges_from(NAMED)
    getattr(nx, f"write_{kind}")(G, tmp_path / f"a.{kind}")
    A = sr.io.read(tmp_path / f"a.{kind}")
    assert A.labels is not None
    assert list(A.labels) == list(G)
    assert A.isequal(sr.io.from_networkx(G, weight="weight"))
    plain = (tmp_path / f"a.{kind}").read_bytes()
    (tmp_path / f"b.{kind}.gz").write_bytes(gzip.compress(plain))
    assert sr.io.read(tmp_path / f"b.{kind}.gz").isequal(A)
    (tmp_path / f"c.{kind}").write_bytes(plain[: len(plain) // 2])
    with pytest.raises(InvalidFormat, match="c\\."):
        sr.io.read(tmp_path / f"c.{kind}")


@needs_data
def test_published_graphml() -> None:
    A = sr.io.read(DATA / "betweenness" / "Cite.graphml.gz")
    assert A.nvals > 1000
    assert A.labels is not None
    assert len(A.labels) == A.nrows


def test_what_is_no_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(InvalidFormat, match="Parquet"):
        sr.io.read(tmp_path / "a.parquet")


def test_columns_of_parquet_are_named(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    parquet.write_table(pyarrow.table({"x": [7], "b": [1], "a": [0]}), tmp_path / "a.parquet")
    assert sr.io.read(tmp_path / "a.parquet", source="a", target="b").to_dicts() == {0: {1: True}}


@pytest.mark.parametrize("directed", [False, True])
def test_igraph_both_ways(directed: bool) -> None:
    igraph = pytest.importorskip("igraph")
    G = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (2, 2)], directed=directed)
    G.es["km"] = [1.5, 2.5, 3.5]
    G.vs["name"] = ["a", "b", "c", "d"]
    A = sr.io.from_igraph(G, weight="km")
    assert A.labels == Labels(["a", "b", "c", "d"])
    assert A.nvals == (3 if directed else 5)
    back = sr.io.to_igraph(A, weight="km", directed=directed)
    assert (back.is_directed(), back.vs["name"]) == (directed, ["a", "b", "c", "d"])
    assert sorted(zip(back.get_edgelist(), back.es["km"], strict=True)) == [((0, 1), 1.5), ((1, 2), 2.5), ((2, 2), 3.5)]
    with pytest.raises(InvalidValue, match="no attribute"):
        sr.io.from_igraph(G, weight="miles")
    with pytest.raises(InvalidValue, match="symmetric"):
        sr.io.to_igraph(Matrix.from_edgelist([(0, 1)]), directed=False)
    with pytest.raises(DimensionMismatch):
        sr.io.to_igraph(Matrix(int, 2, 3))


def test_torch_geometric() -> None:
    index = np.array([[0, 1, 1], [1, 2, 2]])
    assert sr.io.from_torch_geometric(SimpleNamespace(edge_index=index, num_nodes=4)).shape == (4, 4)
    data = SimpleNamespace(edge_index=index, edge_attr=np.array([0.5, 1.0, 2.0]))
    assert sr.io.from_torch_geometric(data, dup_op="plus").to_dicts() == {0: {1: 0.5}, 1: {2: 3.0}}
    with pytest.raises(InvalidValue, match="edge_index"):
        sr.io.from_torch_geometric(SimpleNamespace(edge_index=index.T))


class _Tensor(np.ndarray):  # type: ignore[type-arg]
    def clone(self) -> Any:
        return self.copy()


def _with_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the few names that are used in the place of torch and torch_geometric where these are not installed."""
    if importlib.util.find_spec("torch") is None:
        tensor = SimpleNamespace(from_dlpack=lambda array: np.from_dlpack(array).view(_Tensor))
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(stack=np.stack))
        monkeypatch.setitem(sys.modules, "torch.utils", SimpleNamespace(dlpack=tensor))
        monkeypatch.setitem(sys.modules, "torch.utils.dlpack", tensor)
    if importlib.util.find_spec("torch_geometric") is None:
        monkeypatch.setitem(sys.modules, "torch_geometric", SimpleNamespace())
        monkeypatch.setitem(sys.modules, "torch_geometric.data", SimpleNamespace(Data=SimpleNamespace))


@pytest.mark.skipif(sr.cuda_available(), reason="the stand-ins of tensors are in host memory")
def test_to_torch_geometric(monkeypatch: pytest.MonkeyPatch) -> None:
    _with_stand_ins(monkeypatch)
    A = weighted()
    made = sr.io.to_torch_geometric(A)
    assert made.num_nodes == A.nrows
    rows, cols, values = A.to_coo()
    assert np.array_equal(np.asarray(made.edge_index), [rows, cols])
    assert np.array_equal(np.asarray(made.edge_weight), values)
    assert sr.io.from_torch_geometric(made).isequal(A)
    structure = sr.io.to_torch_geometric(Matrix.from_edgelist([(0, 1), (1, 0)]))
    assert getattr(structure, "edge_weight", None) is None
    with pytest.raises(DimensionMismatch):
        sr.io.to_torch_geometric(Matrix(int, 2, 3))


def test_networkx_keeps_its_nodes() -> None:
    nx = pytest.importorskip("networkx")
    G = nx.DiGraph([("b", "a"), ("a", (1, 2)), ((1, 2), 0.5)])
    A = sr.io.from_networkx(G)
    assert A.labels is not None
    assert list(A.labels) == ["b", "a", (1, 2), 0.5]
    assert set(sr.io.to_networkx(A).edges) == set(G.edges)
