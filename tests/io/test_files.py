"""Files of every format: round trips, options, and the errors of unreadable ones."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring import Matrix, Vector
from semiring.exceptions import DuplicateIndex, InvalidFormat, InvalidValue, NotSupported, OutOfMemory, SparseIds
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
    assert sr.io.read(path, relabel=True).labels.to_numpy().tolist() == [0, 1, 2, 3, 5_000_000_000]
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
    with pytest.warns(SparseIds, match="10,000 rows for 2 vertices with edges; relabel=True"):
        assert sr.io.read(path).nrows == 10_000


def test_relabeled_ids_are_returned(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("70 30\n")
    A = sr.io.read_edgelist(tmp_path / "a.txt", relabel=True)
    assert A.labels == sr.Labels([30, 70])
    assert triples(A) == [(1, 0, True)]


def test_progress_is_reported(tmp_path: Path) -> None:
    sr.io.write(tmp_path / "a.mtx", sr.random.path(1000))
    seen: list[tuple[str, float]] = []
    sr.io.read(tmp_path / "a.mtx", progress=lambda what, share: seen.append((what, share)))
    assert {what.split()[0] for what, _ in seen} == {"reading", "parsing"}
    assert all(0 <= share <= 1 for _, share in seen)


def test_the_error_for_unknown_extensions_lists_the_known(tmp_path: Path) -> None:
    (tmp_path / "a.docx").touch()
    with pytest.raises(FileNotFoundError):
        sr.io.read(tmp_path / "b.docx")
    with pytest.raises(NotSupported, match=r"\.mtx .*\.srb.*found '\.docx'"):
        sr.io.read(tmp_path / "a.docx")
    with pytest.raises(NotSupported, match=r"found '\.sg'"):
        sr.io.write(tmp_path / "a.sg", sr.random.path(3))
    with pytest.raises(InvalidValue, match="without a further compression"):
        sr.io.write(tmp_path / "a.srb.gz", sr.random.path(3))
    with pytest.raises(NotSupported, match="uncompressed"):
        sr.io.read(tmp_path / "a.npz.gz")
    with pytest.raises(FileNotFoundError):
        sr.io.read(tmp_path / "a.mtx")


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
    [("a.srb", "none"), ("a.mtx", "dup_op"), ("a.npz", "dup_op"), ("a.wel", "relabel, bipartite, header, sep, comment"),
     ("a.wsg", "dup_op"), ("a.e", "directed, dtype")],
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


def test_extensions_are_listed(tmp_path: Path) -> None:
    """`readers` and `writers` list what `read` and `write` accept, with their options."""
    for kind, options in sr.io.writers().items():
        path = tmp_path / f"graph{kind}"
        assert sr.io.extension(path) == (kind, "")
        assert sr.io.extension(f"{path}.GZ") == (kind, ".gz")
        assert kind in sr.io.readers()
        assert all(option.isidentifier() for option in options)
    with pytest.raises(InvalidValue) as error:
        sr.io.read(tmp_path / "graph.el", nothing=1)
    assert all(option in str(error.value) for option in sr.io.readers()[".el"])


def test_a_file_of_a_program_is_written_atomically(tmp_path: Path) -> None:
    path = tmp_path / "ranks.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), sr.io.atomic_writer(path) as file:
        file.write(b"new" * (1 // 0))
    assert path.read_text() == "old"
    with sr.io.atomic_writer(path) as file:
        file.write(b"new")
    assert [(item.name, item.read_text()) for item in tmp_path.iterdir()] == [("ranks.txt", "new")]


def test_a_skew_symmetric_diagonal_is_accepted_on_request(tmp_path: Path) -> None:
    path = tmp_path / "skew.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n1 1 5\n2 1 3\n")
    with pytest.raises(InvalidFormat, match="skew"):
        sr.io.mmread(path)
    assert sr.io.mmread(path, skew_diagonal=True).to_dicts() == {0: {0: 5.0, 1: -3.0}, 1: {0: 3.0}}
