from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring import Matrix, Vector
from semiring.exceptions import (
    DimensionMismatch,
    DuplicateIndex,
    InvalidFormat,
    InvalidValue,
    NotSupported,
    OutOfMemory,
)
from semiring.memory import allocation
from tests.io.arrays import ALL_DTYPES, DATA, needs_data


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with sr.use("cpu"):
        yield


def dense(dtype: str) -> Any:
    return np.array([[0, 1, 0, 3], [0, 0, 0, 0], [5, 0, 1, 1]]).astype(dtype)


def triples(A: Any) -> list[tuple[int, int, Any]]:
    rows, cols, values = A.to_coo()
    return list(zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True))


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.npz", "a.srb"])
@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_matrices_survive_every_format(tmp_path: Path, name: str, dtype: str) -> None:
    A = sr.io.from_scipy_sparse(sp.csr_array(dense(dtype)))
    sr.io.write(tmp_path / name, A)
    B = sr.io.read(tmp_path / name)
    assert B.dtype == A.dtype
    assert B.shape == (3, 4)
    assert triples(B) == triples(A)


@pytest.mark.parametrize("name", ["a.mtx", "a.srb"])
def test_iso_matrices_stay_iso(tmp_path: Path, name: str) -> None:
    A = Matrix.from_coo([0, 2], [1, 1], True, nrows=3, ncols=3)
    assert A.is_iso
    sr.io.write(tmp_path / name, A)
    B = sr.io.read(tmp_path / name)
    assert B.is_iso
    assert B.dtype == bool
    assert triples(B) == triples(A)


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (2, 3)])
@pytest.mark.parametrize("name", ["a.mtx", "a.npz", "a.srb"])
def test_empty_matrices(tmp_path: Path, name: str, shape: tuple[int, int]) -> None:
    sr.io.write(tmp_path / name, Matrix(np.int16, *shape))
    B = sr.io.read(tmp_path / name)
    assert (B.shape, B.nvals, B.dtype) == (shape, 0, np.int16)


@pytest.mark.parametrize("form", ["index", "bitmap", "full"])
@pytest.mark.parametrize("iso", [False, True])
def test_vectors_survive_srb_in_their_format(tmp_path: Path, form: str, iso: bool) -> None:
    size = 40
    at = np.arange(size) if form == "full" else np.array([0, 31, 32, 39])
    v = Vector.from_coo(at, 2.5 if iso else at * 0.5, size=size).convert(form)
    sr.io.write(tmp_path / "v.srb", v)
    for w in (sr.io.read(tmp_path / "v.srb"), sr.io.open(tmp_path / "v.srb")):
        assert w.isequal(v, check_dtype=True)
    sr.io.write(tmp_path / "v.mtx", v)
    assert sr.io.read(tmp_path / "v.mtx").shape == (size, 1)


def test_open_maps_and_keeps_the_facts(tmp_path: Path) -> None:
    A = sr.random.grid2d(5, 7)
    sr.io.write(tmp_path / "a.srb", A)
    B = sr.io.open(tmp_path / "a.srb")
    assert isinstance(B, Matrix)
    assert B.store.pattern.facts == {"symmetric": True}
    assert triples(B) == triples(A)
    assert isinstance(B.store.indices.base, np.memmap)
    assert sr.io.open(tmp_path / "a.srb", placement="device", verify=True).isequal(A)


def test_duplicates_in_a_file_need_an_operator(tmp_path: Path) -> None:
    path = tmp_path / "a.wel"
    path.write_text("# c\n0 1 5\n1 0 6\n0 1 7\n")
    with pytest.raises(DuplicateIndex, match=r"a\.wel:4: .*row 0, column 1.*line 2"):
        sr.io.read(path)
    assert triples(sr.io.read(path, dup_op="plus")) == [(0, 1, 12), (1, 0, 6)]
    assert triples(sr.io.read(path, weights=False)) == [(0, 1, True), (1, 0, True)]


def test_the_error_for_ids_far_larger_than_the_edges_names_relabel(tmp_path: Path) -> None:
    path = tmp_path / "big.el"
    path.write_text("# c\n0 1\n0 5000000000\n2 3\n")
    with pytest.raises(OutOfMemory, match=r"big\.el:3: the id 5000000000 .*relabel=True.*nrows=5000000001 ") as caught:
        sr.io.read(path)
    assert caught.value.asked_bytes == 16 * 5_000_000_001
    assert sr.io.read(path, relabel=True)[1].tolist() == [0, 1, 2, 3, 5_000_000_000]
    path.write_text("1 5000000000\n")
    with pytest.raises(OutOfMemory, match=r"big\.el:1: the id 5000000000 needs a matrix of 5,000,000,000 rows"):
        sr.io.read(path, base=1)


def test_ids_beyond_the_free_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "free_memory", lambda device: 1 << 30)
    path = tmp_path / "big.el"
    path.write_text("0 99999999\n")
    with pytest.raises(OutOfMemory, match=r"big\.el:1: .*relabel=True"):
        sr.io.read(path)
    path.write_text("0 9999\n")
    assert sr.io.read(path).nrows == 10_000


def test_relabelled_ids_are_returned(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("70 30\n")
    A, ids = sr.io.read_edgelist(tmp_path / "a.txt", relabel=True)
    assert ids.tolist() == [30, 70]
    assert triples(A) == [(1, 0, True)]


def test_progress_is_reported(tmp_path: Path) -> None:
    sr.io.write(tmp_path / "a.mtx", sr.random.path(1000))
    seen: list[tuple[str, float]] = []
    sr.io.read(tmp_path / "a.mtx", progress=lambda what, share: seen.append((what, share)))
    assert {what.split()[0] for what, _ in seen} == {"reading", "parsing"}
    assert all(0 <= share <= 1 for _, share in seen)


def test_the_error_for_unknown_extensions_lists_the_known(tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match=r"\.mtx .*\.srb.*found '\.docx'"):
        sr.io.read(tmp_path / "a.docx")
    with pytest.raises(NotSupported, match=r"found '\.el'"):
        sr.io.write(tmp_path / "a.el", sr.random.path(3))
    with pytest.raises(InvalidValue, match="without a further compression"):
        sr.io.write(tmp_path / "a.srb.gz", sr.random.path(3))
    with pytest.raises(NotSupported, match="uncompressed"):
        sr.io.read(tmp_path / "a.npz.gz")
    with pytest.raises(FileNotFoundError):
        sr.io.read(tmp_path / "a.mtx")


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_scipy_reads_ours_and_we_read_scipys(tmp_path: Path, layout: str) -> None:
    S = sp.csr_array(dense("float32")).asformat(layout)
    sp.save_npz(tmp_path / "s.npz", S)
    A = sr.io.read(tmp_path / "s.npz")
    np.testing.assert_array_equal(A.to_dense(0), S.toarray())
    sr.io.write(tmp_path / "o.npz", A)
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "o.npz").toarray(), S.toarray())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "xyz"}, "array 'format': expected csr, csc or coo"),
        ({"indices": np.array([0, 9])}, "entry 1: expected a column from 0 to 2, found 9"),
        ({"indptr": np.array([0, 3, 2])}, "array 'indptr', position 2: expected offsets that rise from 0 to 2"),
        ({"indptr": np.array([0, 2])}, "array 'indptr': expected 3 elements"),
        ({"data": np.array([1j, 2])}, "array 'data'"),
        ({"shape": np.array([-2, 3])}, "array 'shape'"),
        ({"indices": None}, "expected an array 'indices'"),
    ],
)
def test_malformed_archives_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    whole: dict[str, Any] = {
        "format": "csr", "shape": np.array([2, 3]), "data": np.array([1.0, 2.0]),
        "indptr": np.array([0, 1, 2]), "indices": np.array([0, 1]),
    }  # fmt: skip
    arrays = {key: value for key, value in (whole | change).items() if value is not None}
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InvalidFormat, match=rf"a\.npz: {message}"):
        sr.io.read(tmp_path / "a.npz")


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(InvalidFormat, match=r"a\.npz: expected a whole \.npz archive"):
        sr.io.read(tmp_path / "a.npz")


@pytest.mark.parametrize("compressed", [True, False])
def test_any_damage_to_an_archive_is_noticed_or_harmless(tmp_path: Path, compressed: bool) -> None:
    A = sr.random.rmat(4, 4, seed=1, weights="uniform")
    sr.io.write(tmp_path / "a.npz", A, compressed=compressed)
    raw = (tmp_path / "a.npz").read_bytes()
    path = tmp_path / "b.npz"
    damaged = [raw[:length] for length in range(0, len(raw), 37)]
    for at in range(0, len(raw), 3):
        for bit in (0x01, 0x40):
            damaged.append(raw[:at] + bytes([raw[at] ^ bit]) + raw[at + 1 :])
    refused = 0
    for content in damaged:
        path.write_bytes(content)
        try:
            found = sr.io.read(path)
        except InvalidFormat:
            refused += 1
        else:  # a date, or a field that every member has twice
            assert found.isequal(A)
    assert refused > len(damaged) // 2


def test_an_announced_array_beyond_memory(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {
        "format": np.array(b"csr"),
        "shape": np.array([1, 1]),
        "indptr": np.array([0, 0]),
        "data": np.zeros(0),
    }
    np.savez(tmp_path / "a.npz", **arrays, indices=np.zeros(0, np.int64))
    raw = (tmp_path / "a.npz").read_bytes()
    assert raw.count(b"(0,), }             ") == 2
    (tmp_path / "a.npz").write_bytes(raw.replace(b"(0,), }             ", b"(99999999999999,), }"))
    with pytest.raises(InvalidFormat, match=r"a\.npz: array 'data': expected a whole \.npz archive"):
        sr.io.read(tmp_path / "a.npz")


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_scipy_exports_are_the_callers_own(layout: str) -> None:
    A = sr.io.from_scipy_sparse(sp.csr_array(dense("int32")))
    before = triples(A)
    S = sr.io.to_scipy_sparse(A, layout)
    S *= 2
    arrays = [getattr(S, part, None) for part in ("data", "indices", "indptr", "row", "col")]
    for array in arrays:
        if isinstance(array, np.ndarray) and array.dtype != object:
            array[...] = 0
    assert triples(A) == before


@pytest.mark.parametrize("layout", ["csr", "coo"])
def test_shared_scipy_exports_are_read_only(layout: str) -> None:
    A = sr.io.from_scipy_sparse(sp.csr_array(dense("int32")))
    S = sr.io.to_scipy_sparse(A, layout, copy=False)
    np.testing.assert_array_equal(S.toarray(), dense("int32"))
    assert np.shares_memory(S.data, A.to_csr()[2])
    with pytest.raises(ValueError, match="read-only"):
        S.data[0] = 9
    np.testing.assert_array_equal((S @ S.T).toarray(), dense("int32") @ dense("int32").T)


def test_arguments_that_make_no_sense(tmp_path: Path) -> None:
    A = sr.random.path(3)
    write: Any = sr.io.write
    read: Any = sr.io.read
    with pytest.raises(InvalidValue, match=r"write\(path, \.\.\.\): expected a path, got a Matrix"):
        write(A, tmp_path / "a.srb")
    with pytest.raises(InvalidValue, match="expected a Matrix or Vector as A, got 3"):
        write(tmp_path / "a.srb", 3)
    with pytest.raises(InvalidValue, match=r"read\(path, \.\.\.\): expected a path, got 3"):
        read(3)
    with pytest.raises(InvalidValue, match=r"shiny=: expected an option of \.npz files \(compressed\)"):
        sr.io.write(tmp_path / "a.npz", A, shiny=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "known"),
    [("a.srb", "none"), ("a.mtx", "dup_op"), ("a.npz", "dup_op"), ("a.wel", "relabel, directed"), ("a.wsg", "dup_op"),
     ("a.e", "directed, dtype")],
)  # fmt: skip
def test_the_error_for_unknown_options_lists_the_known(tmp_path: Path, name: str, known: str) -> None:
    with pytest.raises(InvalidValue, match=rf"foo=: expected an option of \{Path(name).suffix} files \({known}"):
        sr.io.read(tmp_path / name, foo=1)


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.npz", "a.srb"])
def test_a_missing_folder_is_named_as_given(tmp_path: Path, name: str) -> None:
    path = tmp_path / "none" / name
    with pytest.raises(FileNotFoundError) as caught:
        sr.io.write(path, sr.random.path(3))
    assert caught.value.filename == str(path)
    (tmp_path / name).mkdir()
    with pytest.raises(IsADirectoryError) as folder:
        sr.io.write(tmp_path / name, sr.random.path(3))
    assert folder.value.filename == str(tmp_path / name)
    assert [left.name for left in tmp_path.iterdir()] == [name]


def test_vertex_files_point_at_their_edges(tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match=r"g\.v: .*read the \.e file beside it"):
        sr.io.read(tmp_path / "g.v")


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_scipy_both_ways(layout: str) -> None:
    S = sp.csr_array(dense("int32")).asformat(layout)
    A = sr.io.from_scipy_sparse(S)
    back = sr.io.to_scipy_sparse(A, layout)
    assert back.format == layout
    np.testing.assert_array_equal(back.toarray(), S.toarray())


def test_scipy_duplicates_add_and_zeros_stay() -> None:
    S = sp.csr_array((np.array([1, 2, 0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    assert triples(sr.io.from_scipy_sparse(S)) == [(0, 0, 0), (0, 1, 3)]
    assert S.nnz == 3
    with pytest.raises(InvalidValue, match="SciPy"):
        sr.io.from_scipy_sparse(np.eye(2))


def test_networkx_both_ways() -> None:
    G = nx.Graph([("a", "b", {"weight": 2.5}), ("b", "b", {"weight": 4.0}), ("b", "c")])
    A = sr.io.from_networkx(G, weight="weight")
    np.testing.assert_array_equal(A.to_dense(0), [[0, 2.5, 0], [2.5, 4, 1], [0, 1, 0]])
    assert sr.io.from_networkx(G).is_iso
    back = sr.io.to_networkx(A, create_using=nx.Graph, nodes=["a", "b", "c"])
    assert nx.utils.graphs_equal(back, nx.Graph([("a", "b", {"weight": 2.5}), ("b", "b", {"weight": 4.0}),
                                                 ("b", "c", {"weight": 1.0})]))  # fmt: skip
    part = sr.io.from_networkx(G, nodelist=["c", "b"])
    assert triples(part) == [(0, 1, True), (1, 0, True), (1, 1, True)]
    D = nx.MultiDiGraph([(0, 1, {"w": 1}), (0, 1, {"w": 2})])
    assert triples(sr.io.from_networkx(D)) == [(0, 1, True)]
    with pytest.raises(DuplicateIndex):
        sr.io.from_networkx(D, weight="w")
    assert triples(sr.io.from_networkx(D, weight="w", dup_op="plus")) == [(0, 1, 3)]


def test_networkx_errors() -> None:
    with pytest.raises(InvalidValue, match="'z'"):
        sr.io.from_networkx(nx.path_graph(2), nodelist=["z"])
    with pytest.raises(InvalidValue, match="twice"):
        sr.io.from_networkx(nx.path_graph(2), nodelist=[0, 0])
    with pytest.raises(InvalidValue, match="edge attribute 'w'"):
        sr.io.from_networkx(nx.Graph([(0, 1, {"w": "far"})]), weight="w")
    with pytest.raises(DimensionMismatch, match="2 x 3"):
        sr.io.to_networkx(Matrix(bool, 2, 3))
    with pytest.raises(InvalidValue, match="2 different nodes"):
        sr.io.to_networkx(Matrix(bool, 2, 2), nodes=["a", "a"])


def test_kronecker_is_a_graph500_graph() -> None:
    A = sr.random.kronecker(10, seed=3)
    S = sr.io.to_scipy_sparse(A)
    assert A.shape == (1024, 1024)
    assert A.is_iso
    assert (S != S.T).nnz == 0
    assert S.diagonal().sum() == 0
    assert 15_000 < A.nvals < 32_768
    assert sr.random.kronecker(10, seed=3).isequal(A)
    assert not sr.random.kronecker(10, seed=4).isequal(A)
    W = sr.random.kronecker(10, seed=3, weights="uniform")
    S = sr.io.to_scipy_sparse(W)
    assert W.dtype == np.int32
    assert (S != S.T).nnz == 0
    assert (S.data.min(), S.data.max()) == (1, 255)


def test_other_generators() -> None:
    assert sr.random.rmat(4, 2, seed=1).shape == (16, 16)
    assert sr.random.uniform(100, 3, seed=1).is_symmetric_structure
    assert sr.random.star(4).nvals == 8
    assert sr.random.grid3d(2, 3, 4).nvals == 2 * (1 * 3 * 4 + 2 * 2 * 4 + 2 * 3 * 3)
    assert sr.random.path(1).nvals == 0
    assert sr.random.uniform(0).shape == (0, 0)
    assert sr.random.rmat(0).shape == (1, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sr.random.rmat(32), "scale: expected 0 to 31"),
        (lambda: sr.random.rmat(3, a=0.9, b=0.9), "probabilities"),
        (lambda: sr.random.rmat(3, -1), "edge_factor"),
        (lambda: sr.random.kronecker(3, weights="normal"), "weights"),
        (lambda: sr.random.path(-1), "side"),
    ],
)
def test_generators_refuse_what_makes_no_sense(call: Any, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        call()


def test_generators_name_their_keyword_arguments() -> None:
    uniform: Any = sr.random.uniform
    with pytest.raises(TypeError, match=r"uniform: expected n and edge_factor by position and seed= .*; got 3"):
        uniform(10, 10, 0.5)


@needs_data
def test_a_real_road_network_through_every_layer(tmp_path: Path) -> None:
    A = sr.io.read(DATA / "road" / "NY.gr.xz")
    assert (A.nrows, A.nvals) == (264346, 730100)
    sr.io.write(tmp_path / "ny.srb", A)
    assert sr.io.open(tmp_path / "ny.srb").isequal(A)


def test_files_are_opened_without_cupy(tmp_path: Path) -> None:
    sr.io.write(tmp_path / "a.srb", Matrix.from_edgelist([(0, 1), (1, 2)], nrows=3, ncols=3))
    code = (
        "import sys; sys.modules['cupy'] = None; import semiring as sr;"
        f"sr.use('cpu'); print(sr.io.open({str(tmp_path / 'a.srb')!r}).nvals)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert found.stdout.strip() == "2"


def test_importing_io_loads_no_engine() -> None:
    code = "import semiring.io, sys; print([m for m in ('numba','scipy','cupy','networkx') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert found.stdout.strip() == "[]"
