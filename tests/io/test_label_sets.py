"""Labels are kept in .srb, .npz and .mtx files, and in parts."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring import Labels, Matrix, Vector
from semiring.exceptions import InvalidFormat, InvalidValue, LostLabels
from semiring.io import label_sets
from tests.io.forged import forged

KEEPING = ["a.srb", "a.npz", "a.mtx", "a.mtx.gz"]
LABELS: dict[str, list[Any]] = {
    "text": ["ann", "é", "", "𝄞\0\n\r", "# c"],
    "surrogates": ["\ud800", "a\udfffb", "%%label", "%%labels 3 rows", "x" * 3000],
    "ascii": ["02134", "2134", " lead", "a,b", 'q"'],
    "integers": [-5, 2**63 - 1, 0, 7, -(2**63)],
    "unsigned": [5, 2**64 - 1, 0, 7, 2**63],
    "wide": [-(2**70), 2**200, 0, 1, 2],
    "mixed": ["1", 1, 1.5, (1, ("x", False)), float("inf")],
}


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with sr.use("cpu"):
        yield


def labeled(labels: Any) -> Matrix:
    A = Matrix.from_coo([0, 3], [1, 2], [1.5, 2.5], shape=(5, 5))
    A.labels = Labels(labels)
    return A


def same(found: Any, expected: Labels) -> bool:
    """Whether labels are equal, and of the same types."""
    return found == expected and list(map(type, found)) == list(map(type, expected))


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("name", KEEPING)
def test_labels_of_a_matrix_survive(tmp_path: Path, name: str, labels: list[Any]) -> None:
    A = labeled(labels)
    sr.io.write(tmp_path / name, A)
    readers = (sr.io.read, sr.io.open) if name == "a.srb" else (sr.io.read,)
    for read in readers:
        B = read(tmp_path / name)
        assert same(B.labels, A.labels)
        assert B.isequal(A, check_dtype=True)


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_of_a_vector_survive(tmp_path: Path, labels: list[Any]) -> None:
    v = Vector.from_coo([1, 4], [1, 2], size=5)
    v.labels = Labels(labels)
    sr.io.write(tmp_path / "v.srb", v)
    assert same(sr.io.read(tmp_path / "v.srb").labels, v.labels)
    assert same(sr.io.open(tmp_path / "v.srb").labels, v.labels)


@pytest.mark.parametrize("name", KEEPING)
@pytest.mark.parametrize("label", [uuid.UUID(int=7), b"x", frozenset("a"), (b"x",)])
def test_labels_that_are_other_objects_are_refused(tmp_path: Path, name: str, label: Any) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")
    with pytest.raises(InvalidValue, match=r"text, numbers or tuples of these, found .*map\(str"):
        sr.io.write(path, labeled(["a", "b", label, "c", "d"]))
    assert path.read_bytes() == b"old"


@given(st.lists(st.text(st.characters()), min_size=5, max_size=5, unique=True))
def test_any_text_is_encoded(labels: list[str]) -> None:
    about, arrays = label_sets.encode_sets("f", {"rows": Labels(labels)})
    assert list(label_sets.decode_sets(about, arrays, "f")["rows"]) == labels


def test_scipy_reads_the_matrix_and_ignores_the_labels(tmp_path: Path) -> None:
    A = labeled(LABELS["surrogates"])
    sr.io.write(tmp_path / "a.npz", A)
    sr.io.write(tmp_path / "a.mtx", A)
    for found in (scipy.sparse.load_npz(tmp_path / "a.npz"), scipy.io.mmread(tmp_path / "a.mtx")):
        assert np.array_equal(found.toarray(), A.to_dense(0))
    with (tmp_path / "a.mtx").open("rb") as file:
        assert max(map(len, file)) <= 1024


def test_files_without_labels_are_those_of_version_1(tmp_path: Path) -> None:
    A = labeled("abcde")
    sr.io.write(tmp_path / "a.srb", A)
    A.labels = None
    sr.io.write(tmp_path / "b.srb", A)
    versions = [(tmp_path / name).read_bytes()[8] for name in ("a.srb", "b.srb")]
    assert versions == [2, 1]
    assert sr.io.read(tmp_path / "b.srb").labels is None


def test_opened_labels_are_decoded_on_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sr.io.write(tmp_path / "a.srb", labeled("abcde"))
    decoded: list[int] = []
    plain = label_sets._texts
    monkeypatch.setattr(label_sets, "_texts", lambda *args: decoded.append(1) or plain(*args))
    A = sr.io.open(tmp_path / "a.srb")
    assert len((A @ A).labels) == 5
    assert not decoded
    assert A.labels.row("c") == 2
    assert A.labels[4] == "e"
    assert len(decoded) == 1


def test_two_sets_of_labels_are_stored(tmp_path: Path) -> None:
    sets = {"rows": Labels(["a", "b"]), "columns": Labels([7, 8, 9]), "values": Labels(["x"])}
    about, arrays = label_sets.encode_sets("f", sets)
    assert [each["of"] for each in about] == [["rows"], ["columns"], ["values"]]
    expected = label_sets.label_arrays(about, (2, 3), lambda key: arrays[key].size)
    assert {key: count for key, (count, _) in expected.items()} == {key: array.size for key, array in arrays.items()}
    assert label_sets.decode_sets(about, arrays, "f") == sets
    shared = label_sets.encode_sets("f", {"rows": sets["rows"], "columns": Labels(["a", "b"])})[0]
    assert shared == [{"of": ["rows", "columns"], "kind": "text", "count": 2}]


@pytest.mark.parametrize(
    "change",
    [
        {"of": ["rows"], "kind": "text", "count": 4},
        {"of": ["rows", "rows"], "kind": "text", "count": 5},
        {"of": ["depths"], "kind": "text", "count": 5},
        {"of": [], "kind": "text", "count": 5},
        {"of": ["rows"], "kind": "pickle", "count": 5},
        {"of": ["rows"], "kind": "integer", "count": 5},
        {"of": ["rows"], "kind": "text", "count": "5"},
        {"of": ["rows"]},
        5,
    ],
    ids=str,
)
def test_descriptions_that_contradict_the_file_are_refused_by_open(tmp_path: Path, change: Any) -> None:
    path = tmp_path / "a.srb"
    sr.io.write(path, labeled("abcde"))
    path.write_bytes(forged(path.read_bytes(), lambda description: description.update(labels=[change])))
    with pytest.raises(InvalidFormat, match=r"a\.srb: byte 32: expected"):
        sr.io.open(path)


def test_damaged_labels_are_found(tmp_path: Path) -> None:
    path = tmp_path / "a.srb"
    sr.io.write(path, labeled(["ann", "bob", "é", "d", "e"]))
    raw = path.read_bytes()
    at = raw.rindex("annbobéde".encode())
    for wrong in (b"bobbob", b"annbo\xff", b"annbobx\xc3"):
        path.write_bytes(raw[:at] + wrong + raw[at + len(wrong) :])
        with pytest.raises(InvalidFormat, match="section 'labels0' to have the checksum"):
            sr.io.read(path)
    with pytest.raises(InvalidFormat, match=r"a\.srb: labels0: expected labels in UTF-8"):
        list(sr.io.open(path).labels)  # of the last one, a character continues in the next label


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('%%labels 2 rows columns\n%%label "a"\n', "a.mtx:2: expected the labels of rows, columns or values"),
        ('%%labels 1 rows\n%%label "a"\n', "a.mtx:2: expected 2 labels of rows, found 1"),
        ('%%labels 2 rows\n%%label "a"\n%%label "a"\n', "a.mtx:2: expected 2 labels in JSON, found: .*twice"),
        ('%%labels 2 rows\n%%label "a"\n%%label "b\n', "a.mtx:2: expected 2 labels in JSON"),
        ("%%labels 2 rows\n%%label 1,2\n%%label 3\n", "a.mtx:2: expected 2 labels in JSON"),
        ("%%labels 2 rows\n%%label null\n%%label {}\n", "a.mtx:2: expected 2 labels in JSON"),
        ("%%labels 2 depths\n%%label 1\n%%label 2\n", "a.mtx:2: expected the labels of rows"),
    ],
)
def test_malformed_comments_are_refused_with_their_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "a.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate integer general\n{content}2 2 1\n1 2 5\n")
    with pytest.raises(InvalidFormat, match=message):
        sr.io.read(path)


def test_malformed_arrays_of_an_archive_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    sr.io.write(path, labeled("abcde"))
    with np.load(path) as held:
        arrays = dict(held)
    wrong = {
        "semiring_labels": np.array(b"{"),
        "semiring_labels0": np.frombuffer(b"abcdd", np.uint8),
        "semiring_labels0_ends": np.array([1, 2, 3, 4, 9]),
    }
    for key, array in wrong.items():
        np.savez(path, **{**arrays, key: array})
        with pytest.raises(InvalidFormat, match=r"a\.npz: "):
            sr.io.read(path)


def test_parts_and_files_of_a_grid_keep_labels(tmp_path: Path) -> None:
    A = labeled(["ann", "é", "", "d", "e"])
    v = A.reduce_rowwise("plus")
    for name in ("a.srb", "a.mtx"):
        sr.io.write(tmp_path / name, A)
    sr.io.write(tmp_path / "v.srb", v)

    def program(grid: Any) -> list[Any]:
        found = []
        for source in ("a.srb", "a.mtx", "v.srb"):
            X = sr.io.read(tmp_path / source, device=grid.device)
            found.append(X.labels)
            for target in (f"{source}.srb", f"{source}.parts"):
                sr.io.write(tmp_path / target, X)
                found.append(sr.io.read(tmp_path / target, device=grid.device).labels)
        file = sr.distributed.Checkpoint(tmp_path / "saved.checkpoint", grid)
        file.save(1, x=X)
        return [*found, file.load().state["x"].labels]

    for found in sr.distributed.run(3, program):
        assert all(labels == A.labels for labels in found)
    assert sr.io.read(tmp_path / "a.srb.srb").labels == A.labels
    assert len(list((tmp_path / "a.srb.parts").iterdir())) == 5  # three parts, labels, and the index


@pytest.mark.parametrize("name", KEEPING)
def test_rows_columns_and_values_have_labels_of_their_own(tmp_path: Path, name: str) -> None:
    A = Matrix.from_coo([0, 1], [2, 0], [1, 0], shape=(2, 3))
    A.row_labels, A.column_labels, A.value_labels = Labels(["u", "v"]), Labels([30, 10, 20]), Labels(["x", "y"])
    sr.io.write(tmp_path / name, A)
    B = sr.io.read(tmp_path / name)
    assert (B.row_labels, B.column_labels, B.value_labels) == (A.row_labels, A.column_labels, A.value_labels)
    A.column_labels = None
    sr.io.write(tmp_path / name, A)
    B = sr.io.read(tmp_path / name)
    assert (B.row_labels, B.column_labels, B.value_labels) == (A.row_labels, None, A.value_labels)


@pytest.mark.costly
def test_a_vector_keeps_the_names_of_its_values(tmp_path: Path) -> None:
    parents = sr.algorithms.bfs_parents(Matrix.from_edgelist([("a", "b"), ("b", "c")], relabel=True), "a")
    assert parents.value_labels is not None
    sr.io.write(tmp_path / "v.srb", parents)
    assert sr.io.open(tmp_path / "v.srb").value_labels == parents.value_labels
    sr.io.write(tmp_path / "v.mtx", parents)
    assert sr.io.read(tmp_path / "v.mtx").row_labels == parents.labels
    for name in ("v.csv", "v.parquet"):
        with pytest.warns(LostLabels, match="names of values"):
            sr.io.write(tmp_path / name, parents)
        assert sr.io.read_vector(tmp_path / name, relabel=parents.labels).isequal(parents)


@pytest.mark.parametrize("name", ["a.srb", "a.mtx", "a.csv"])
def test_attributes_that_are_not_written_are_a_warning(tmp_path: Path, name: str) -> None:
    A = Matrix.from_coo([0], [1], [1.5], shape=(2, 2))
    A.labels = Labels(["ann", "bob"], {"age": [31, 44]})
    with pytest.warns(LostLabels, match="no attributes of labels"):
        sr.io.write(tmp_path / name, A)
    back = sr.io.read(tmp_path / name, **({"relabel": True} if name == "a.csv" else {}))
    assert back.labels == A.labels
    assert not back.labels.attributes


@pytest.mark.parametrize("compress", [None, "varint"])
def test_labels_of_both_axes_are_read_into_every_storage_kind(tmp_path: Path, compress: str | None) -> None:
    A = Matrix.from_coo([0, 1], [2, 0], [5, 6], shape=(2, 3))
    A.row_labels, A.column_labels = Labels(["a", "b"]), Labels(["x", "y", "z"])
    sr.io.write(tmp_path / "a.npz", A)
    back = sr.io.read(tmp_path / "a.npz", compress=compress)
    assert (back.codec, back.row_labels, back.column_labels) == (compress, A.row_labels, A.column_labels)
