"""Labels in text, Parquet, GraphML and GML: what is written is read back as the same edges between the same labels."""

from __future__ import annotations

import csv
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring import Labels, Matrix, Vector
from semiring.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    GuessedLayout,
    InvalidFormat,
    InvalidValue,
    LostLabels,
)
from semiring.io.read import WRITERS

# `.el` files hold no weights, and this module writes every format.
pytestmark = pytest.mark.filterwarnings("ignore::semiring.exceptions.LostWeights")

HOSTILE = [
    *(
        "# c",
        "% c",
        "a\tb",
        " lead",
        "trail ",
        "02134",
        "2134",
        "a,b",
        "a;b",
        'q"q',
        '"',
        "",
        "line\nend",
        "cr\rlf",
        "\r\n",
    ),
    *(
        "+1",
        "-5",
        "0",
        "1.5",
        "1e5",
        ".5",
        "nan",
        "inf",
        "\u00a0x",
        "x\u2028",
        "\ufeffx",
        "\0",
        "source",
        "target",
        "from",
    ),
    *(
        "to",
        "label",
        "value",
        "é",
        "𝄞",
        "<'>",
        "]]>",
        "()",
        "[]",
        "NAN",
        "INF",
        "&amp;",
        "\x1f",
        "null",
        "\\",
        "//x",
        "a b",
    ),
]
WHITE = [".el", ".wel", ".txt", ".edgelist"]
QUOTING = [".csv", ".tsv"]
MARKUP = [".graphml", ".gml"]

labels_of_text = st.lists(
    st.one_of(st.sampled_from(HOSTILE), st.text(max_size=6), st.text("a1,;\t \"'#%\r\n-+.e\ufeff", max_size=4)),
    min_size=2, max_size=6, unique=True,
)  # fmt: skip
labels_of_integers = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=6, unique=True)


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with sr.use("cpu"):
        yield


def ring(labels: list[Any]) -> Matrix:
    """A cycle through all labels, in their order."""
    n = len(labels)
    A = Matrix.from_coo(np.arange(n), (np.arange(n) + 1) % n, np.arange(n) + 1, shape=(n, n))
    A.labels = Labels(labels)
    return A


def edges(A: Matrix, values: bool = True) -> dict[tuple[Any, Any], Any]:
    rows, cols, weights = A.to_coo()
    kept = weights.tolist() if values else [1] * len(rows)
    return dict(zip(zip(A.labels[rows].tolist(), A.labels[cols].tolist(), strict=True), kept, strict=True))


def written(path: Path, A: Any) -> bool:
    """Write an object; return whether the format holds its labels."""
    try:
        sr.io.write(path, A)
    except InvalidValue as error:
        refused = str(error)
    else:
        return True
    assert re.search(r"label ['\"]|found ", refused)
    assert not path.exists()
    return False


def round_trip(path: Path, labels: list[Any]) -> bool:
    """Write and read a graph; return whether the format holds its labels.  Asserts that all of them come back."""
    A = ring(labels)
    if not written(path, A):
        return False
    options = {} if path.suffix in MARKUP else {"relabel": True}
    back = sr.io.read(path, **options)
    values = path.suffix != ".el"
    assert edges(back, values) == edges(A, values)
    assert set(map(type, back.labels)) == set(map(type, labels))
    path.unlink()
    return True


@given(labels=st.one_of(labels_of_text, labels_of_integers))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("kind", [*MARKUP, ".parquet"])
def test_labels_come_back(tmp_path: Path, kind: str, labels: list[Any]) -> None:
    if kind == ".parquet":
        pytest.importorskip("pyarrow")
    round_trip(tmp_path / f"a{kind}", labels)


@pytest.mark.parametrize(("kind", "lost"), [(".graphml", {"\0", "\x1f"}), (".gml", {"()", "[]"}), (".parquet", set())])
def test_hostile_labels_that_markup_holds(tmp_path: Path, kind: str, lost: set[str]) -> None:
    if kind == ".parquet":
        pytest.importorskip("pyarrow")
    assert {label for label in HOSTILE if not round_trip(tmp_path / f"a{kind}", [label, "x y"])} == lost


@pytest.mark.parametrize("kind", [*WHITE, *QUOTING, *MARKUP, ".parquet"])
@pytest.mark.parametrize("label", [uuid.UUID(int=7), (1, 2), 1.5, b"x", 2**70, "\ud800"], ids=repr)
def test_labels_that_are_other_objects_are_refused(tmp_path: Path, kind: str, label: Any) -> None:
    if kind == ".parquet":
        pytest.importorskip("pyarrow")
    assert not round_trip(tmp_path / f"a{kind}", ["a", label])


@pytest.mark.parametrize("kind", WHITE)
def test_labels_that_need_quotes_are_refused_where_there_are_none(tmp_path: Path, kind: str) -> None:
    kept = {"source", "target", "from", "to", "label", "value", "é", "𝄞", "<'>", "]]>", "()", "[]", "NAN", "INF"}
    kept |= {"null", "\\", "//x", "nan", "inf"}
    for label in HOSTILE:
        path = tmp_path / f"a{kind}"
        if label in kept:
            sr.io.write(path, ring([label, "x"]))
            path.unlink()
        else:
            with pytest.raises(InvalidValue, match=r"does not fit: without quotes.*\.csv, \.tsv, \.parquet and \.srb"):
                sr.io.write(path, ring([label, "x"]))


@pytest.mark.parametrize("kind", QUOTING)
def test_text_is_quoted_as_csv_has_it(tmp_path: Path, kind: str) -> None:
    kept = [label for label in HOSTILE if label != "\0"]  # the module csv reads it from version 3.11 on
    path = tmp_path / f"a{kind}"
    sr.io.write(path, ring(kept))
    with path.open(newline="", encoding="utf-8") as file:
        first, *rows = csv.reader(file, delimiter="," if kind == ".csv" else "\t", strict=True)
    assert first == ["source", "target", "weight"]
    assert [row[0] for row in rows] == kept
    text = path.read_text(encoding="utf-8")
    for label in ("02134", "# c", " lead", "", "1.5", "a,b", "a\tb", "\ufeffx"):
        assert f'"{label}"' in text
    for label in ("source", "é", "a b"):
        assert f'"{label}"' not in text


def test_pandas_reads_what_is_written(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    A = ring(["ann", 'q"q', "a,b", "x\ny"])
    sr.io.write(tmp_path / "a.csv", A)
    frame = pandas.read_csv(tmp_path / "a.csv")
    assert frame.to_dict("list") == A.to_pandas().to_dict("list")
    v = Vector.from_coo([0, 2], [1.5, 2.5], size=4)
    sr.io.write(tmp_path / "v.csv", v)
    assert pandas.read_csv(tmp_path / "v.csv").to_dict("list") == v.to_pandas().to_dict("list")


@pytest.mark.parametrize("kind", [*WHITE, *QUOTING])
def test_an_edge_between_names_of_columns_is_an_edge(tmp_path: Path, kind: str) -> None:
    assert round_trip(tmp_path / f"a{kind}", ["from", "to"])
    A = Matrix.from_edgelist([("source", "target")], relabel=True)
    sr.io.write(tmp_path / f"b{kind}", A)
    assert sr.io.read(tmp_path / f"b{kind}", relabel=True).nvals == 1


def test_headers_are_as_they_were_asked_for(tmp_path: Path) -> None:
    A = Matrix.from_coo([0], [1], [5], shape=(2, 2))
    for kind, first in ((".csv", "source,target,weight"), (".tsv", "source\ttarget\tweight"), (".txt", "0 1 5")):
        sr.io.write(tmp_path / f"a{kind}", A)
        assert (tmp_path / f"a{kind}").read_text().splitlines()[0] == first
    sr.io.write(tmp_path / "b.csv", A, header=False)
    assert (tmp_path / "b.csv").read_text() == "0,1,5\n"
    sr.io.write(tmp_path / "b.txt", A, header=True, weights=False)
    assert (tmp_path / "b.txt").read_text() == "source target\n0 1\n"


# -- formats without labels ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WRITERS)
def test_every_format_keeps_labels_or_warns(tmp_path: Path, kind: str) -> None:
    if kind == ".parquet":
        pytest.importorskip("pyarrow")
    A, path = ring(["ann", "bob", "eve"]), tmp_path / f"a{kind}"
    if kind == ".gr":
        with pytest.warns(LostLabels, match=r"write_dimacs: \.gr files hold no labels"):
            sr.io.write(path, A)
        return
    sr.io.write(path, A)
    options = {"relabel": True} if kind in (*WHITE, *QUOTING, ".parquet") else {}
    assert sr.io.read(path, **options).labels == A.labels


# -- vectors ---------------------------------------------------------------------------------------------


@given(labels=st.one_of(labels_of_text, labels_of_integers))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("name", ["v.csv", "v.tsv", "v.parquet"])
def test_vectors_with_labels_come_back(tmp_path: Path, name: str, labels: list[Any]) -> None:
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    v = Vector.from_coo(np.arange(len(labels)), np.arange(len(labels)) * 0.5)
    v.labels = Labels(labels)
    if not written(tmp_path / name, v):
        return
    back = sr.io.read_vector(tmp_path / name)
    assert back.labels.to_dict(back) == v.labels.to_dict(v)
    assert set(map(type, back.labels)) == set(map(type, labels))
    assert sr.io.read_vector(tmp_path / name, relabel=v.labels).isequal(v)
    (tmp_path / name).unlink()


@pytest.mark.parametrize("name", ["v.csv", "v.tsv", "v.parquet", "v.srb", "v.mtx"])
def test_vectors_come_back(tmp_path: Path, name: str) -> None:
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    v = Vector.from_coo([1, 4], [5, 7], size=6)
    sr.io.write(tmp_path / name, v)
    kept = name in ("v.srb", "v.mtx")
    assert sr.io.read_vector(tmp_path / name, size=6).isequal(v, check_dtype=True)
    assert sr.io.read_vector(tmp_path / name, dtype=float).dtype == float
    assert sr.io.read_vector(tmp_path / name).size == (6 if kept else 5)
    empty = Vector(int, 3)
    sr.io.write(tmp_path / name, empty)
    assert sr.io.read_vector(tmp_path / name, size=3).isequal(empty)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("index,value\n0\n", {}, r"v\.csv:2: expected a label or index and a value"),
        ("index,value\n0,1,2\n", {}, r"v\.csv:2: expected a label or index and a value"),
        ('label,value\n"a,1\n', {}, r"v\.csv:2: expected a label or index and a value"),
        ("index,value\n0,1\n1,x\n", {}, r"v\.csv:3: expected a number as value, found 'x'"),
        ("index,value\n0,1\n1,300\n", {"dtype": "int8"}, r"v\.csv:3: expected a weight of type int8"),
        ("ann,1\n", {}, "expected integers as positions; relabel=True"),
        (b"label,value\n\xff,1\n", {}, r"v\.csv: byte 12: expected UTF-8"),
    ],
)
def test_malformed_vectors_are_refused_with_their_line(
    tmp_path: Path, content: Any, options: dict[str, Any], message: str
) -> None:
    (tmp_path / "v.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidFormat, match=message):
        sr.io.read_vector(tmp_path / "v.csv", **options)


@pytest.mark.parametrize(
    ("content", "expected", "guess"),
    [
        ("ann;1,5\nbob;2,5\n", {"ann": 1.5, "bob": 2.5}, True),
        ("name;score\nann;1,5\nbob;2\n", {"ann": 1.5, "bob": 2.0}, False),
        ('"ann;1",5\n"b,c",6\n', {"ann;1": 5, "b,c": 6}, False),
        ("ann;x,5\nbob,6\n", {"ann;x": 5, "bob": 6}, False),
        ("ann;5\nbob, jr;6\n", {"ann": 5, "bob, jr": 6}, False),
    ],
)
def test_vectors_between_semicolons(tmp_path: Path, content: str, expected: dict[str, float], guess: bool) -> None:
    path = tmp_path / "v.csv"
    path.write_text(content)
    with pytest.warns(GuessedLayout, match=r"v\.csv:1: columns were separated by ';'") if guess else nullcontext():
        v = sr.io.read_vector(path, relabel=True)
    assert v.labels.to_dict(v) == expected


def test_vectors_of_other_programs(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_bytes(b'\xef\xbb\xbfname,score\r\nbob,2\r\n\r\n"o\'neil, ann",1.5\r\n')
    v = sr.io.read_vector(path, relabel=True)
    assert v.labels.to_dict(v) == {"bob": 2.0, "o'neil, ann": 1.5}
    path.write_text("3,1\n3,2\n")
    assert sr.io.read_vector(path, dup_op="plus").to_dict() == {3: 3}
    with pytest.raises(InvalidValue, match="leave out size"):
        sr.io.read_vector(path, relabel=True, size=5)
    with pytest.raises(DomainMismatch, match=r"\.srb"):
        sr.io.write(path, Vector(complex, 3))
    sr.io.write(tmp_path / "a.srb", Matrix.identity(3))
    with pytest.raises(InvalidFormat, match="expected a Vector of size 4, found a Matrix"):
        sr.io.read_vector(tmp_path / "a.srb", size=4)


# -- GraphML and GML -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MARKUP)
def test_networkx_reads_what_is_written(tmp_path: Path, kind: str) -> None:
    nx = pytest.importorskip("networkx")
    read = {".graphml": nx.read_graphml, ".gml": nx.read_gml}[kind]
    labels = ["<a & 'b'>", '"é"', "x\ty", "alone"]
    A = Matrix.from_coo([0, 1, 2], [1, 0, 2], [1.5, 1.5, 2.5e-30], shape=(4, 4))
    A.labels = Labels(labels)
    sr.io.write(tmp_path / f"a{kind}", A)
    G = read(tmp_path / f"a{kind}")
    assert not G.is_directed()
    assert list(G) == labels
    assert {frozenset((u, v)): w for u, v, w in G.edges(data="weight")} == {
        frozenset(labels[:2]): 1.5,
        frozenset(labels[2:3]): 2.5e-30,
    }
    back = sr.io.read(tmp_path / f"a{kind}")
    assert back.isequal(A, check_dtype=True)
    assert back.labels == A.labels
    sr.io.write(tmp_path / f"b{kind}.gz", A, directed=True)
    assert read(tmp_path / f"b{kind}.gz").is_directed()
    assert sr.io.read(tmp_path / f"b{kind}.gz").isequal(A)


@pytest.mark.parametrize("kind", MARKUP)
def test_graphs_in_markup(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a{kind}"
    for A in (Matrix.from_coo([0], [2], True, shape=(4, 4)), Matrix(float, 3, 3), Matrix(int, 0, 0)):
        sr.io.write(path, A)
        back = sr.io.read(path)
        assert back.shape == A.shape
        assert back.isequal(A.dup(back.dtype))
        assert list(back.labels) == list(range(A.nrows))
    with pytest.raises(DimensionMismatch, match="square"):
        sr.io.write(path, Matrix(int, 2, 3))
    with pytest.raises(InvalidValue, match=r"directed=False.*symmetric"):
        sr.io.write(path, ring([1, 2, 3]), directed=False)


def test_two_sets_of_vertices_are_no_graph(tmp_path: Path) -> None:
    """Position 0 is the row "u1" and the column "m1": a format with one set of vertices would make one of both."""
    A = Matrix.from_edgelist([("u1", "m1", 1), ("u2", "m2", 3)], relabel=True, bipartite=True)
    B = Matrix.from_coo([0], [1], [2], shape=(2, 2))
    B.row_labels = Labels(["a", "b"])
    for X in (A, B):
        writes: list[Callable[[], Any]] = [partial(sr.io.write, tmp_path / f"a{kind}", X) for kind in MARKUP]
        for call in (*writes, partial(sr.io.to_networkx, X), partial(sr.io.to_igraph, X)):
            with pytest.raises(InvalidValue, match="same labels for rows and columns"):
                call()
    assert list(sr.io.to_networkx(A, nodes="xy").edges) == [("x", "x"), ("y", "y")]
    A.labels = None
    assert list(sr.io.to_networkx(A).edges) == [(0, 0), (1, 1)]
