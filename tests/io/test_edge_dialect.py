"""Edge lists as they are found: headers, separators, comments, quotes, byte-order marks, chosen columns."""

from __future__ import annotations

import math
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.exceptions import GuessedLayout, InvalidFormat, InvalidValue
from semiring.io import edge_names, text_parts, text_scan

CERTAIN = (
    "source,target src,dst from,to FromNodeId,ToNodeId node1,node2 Source,Target sender,receiver id1,id2 id_1,id_2 "
    "Node_A,Node_B source_id,target_id"
)
USUAL = (
    "user,item start,end u,v i,j user_id,friend_id person,friend follower,followee parent,child author1,author2 "
    "customer,product origin,destination citing,cited vertex1,vertex2 name1,name2 start_id,end_id "
    "userId,movieId left,right a,b from_user,to_user source_user_id,target_user_id buyer,seller page_from,page_to "
    "V1,V2 ego,alter User,Follows"
)
HEADERS = [name.split(",") for name in (CERTAIN + " " + USUAL).split()]


def written(folder: Path, content: str, name: str = "f.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode())
    return path


def edges(A: sr.Matrix) -> list[tuple[Any, ...]]:
    rows, cols, values = A.to_coo()
    labels = range(A.nrows) if A.labels is None else list(A.labels)
    return sorted(
        (labels[int(i)], labels[int(j)], value.item()) for i, j, value in zip(rows, cols, values, strict=True)
    )


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize(("separator", "kind"), [(",", ".csv"), ("\t", ".tsv"), (";", ".csv"), (" ", ".txt")])
def test_names_of_columns_are_no_edge(tmp_path: Path, quoted: bool, separator: str, kind: str) -> None:
    quoted = quoted and separator != " "  # fields between blanks have no quotes
    for header, weighted in product(HEADERS, (False, True)):
        rows = [header + ["w"] * weighted, ["ann", "bob"] + ["2"] * weighted, ["eve", "joe"] + ["3"] * weighted]
        if quoted:
            rows = [[f'"{field}"' for field in row] for row in rows]
        path = written(tmp_path, "".join(separator.join(row) + "\n" for row in rows), f"f{kind}")
        with warnings.catch_warnings():
            if not weighted:
                warnings.simplefilter("ignore", GuessedLayout)
            found = edges(sr.io.read(path, relabel=True))
        values = [2, 3] if weighted else [True, True]
        assert found == [("ann", "bob", values[0]), ("eve", "joe", values[1])]
        if not weighted:
            assert sr.io.read(path, relabel=True, header=False).nvals == 3
            assert sr.io.read(path, relabel=True, header=True).nvals == 2


@pytest.mark.parametrize("header", HEADERS, ids=",".join)
def test_a_guess_is_reported(tmp_path: Path, header: list[str]) -> None:
    path = written(tmp_path, ",".join(header) + "\nann,bob\n")
    if ",".join(header) in CERTAIN.split():
        sr.io.read(path, relabel=True)
    else:
        with pytest.warns(GuessedLayout, match=r"f\.csv:1: .* names of columns; header=False reads them as an edge"):
            sr.io.read(path, relabel=True)


@pytest.mark.parametrize(
    ("content", "count"),
    [
        ("user1,user2\nuser2,user3\n", 2),
        ("a,b\nb,c\n", 2),
        ("v1,v2\nv2,v3\nv4,v3\n", 3),
        ("user1,ann\nann,007\n", 2),  # a name that occurs again
        ("3.5,ann\n3.5,12\n", 2),
        ("u,v\nv,w\n", 2),
        ("station 1,station 2\nstation 2,station 1\n", 2),
        ("user,item,5\nann,bob,6\n", 2),
        ("1,2\nann,bob\n", 2),
        ("ann,bob\n", 1),
        ("name,value\nann,5\neve,7\nbob,7\n", 3),  # a column of numbers has a name
    ],
)
def test_ids_are_no_header(tmp_path: Path, content: str, count: int) -> None:
    assert sr.io.read(written(tmp_path, content), relabel=True).nvals == count


@pytest.mark.parametrize(
    "content", ["zug,zog\nann,bob\n", "user1,user2\nuser3,user4\n", "a,b\nc,d\n", "V1,V2\nv3,ann\n"]
)
def test_an_edge_that_could_be_a_header_is_reported(tmp_path: Path, content: str) -> None:
    path = written(tmp_path, content)
    with pytest.warns(GuessedLayout, match="neither .* nor .* occurs again: header=True"):
        assert sr.io.read(path, relabel=True).nvals == 2
    assert sr.io.read(path, relabel=True, header=False).nvals == 2


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("a;b;1,5\nb;c;2\n", {}, [("a", "b", 1.5), ("b", "c", 2.0)]),
        ("from;to;km\na;b;1,5\nb;c;2,25\n", {}, [("a", "b", 1.5), ("b", "c", 2.25)]),
        ("a;b;1.5\nb;c;2\n", {}, [("a", "b", 1.5), ("b", "c", 2.0)]),
        ("a;x,y\nb;c\n", {"header": False}, [("a", "x,y", True), ("b", "c", True)]),
        ("a|b\nb|c\n", {}, [("a", "b", True), ("b", "c", True)]),
        ("a:b\nb:c\n", {"sep": ":"}, [("a", "b", True), ("b", "c", True)]),
        ("a b\nb c\n", {}, [("a", "b", True), ("b", "c", True)]),
        ("#python,#java\n#java,%c\n", {}, [("#java", "%c", True), ("#python", "#java", True)]),
        ("# by me\n% 3 edges\n#\n#n,m,k\na,b\nb,#c\n", {}, [("a", "b", True), ("b", "#c", True)]),
        ("a,b\n#c,b\n", {"comment": "#"}, [("a", "b", True)]),
        ('"# c",b\nb,"% d"\n', {"comment": "#%"}, [("# c", "b", True), ("b", "% d", True)]),
        ('"a,b","c ""d"""\r\n"c ""d""","e\nf\rg"\r\n', {}, [("a,b", 'c "d"', True), ('c "d"', "e\nf\rg", True)]),
        ('" a ", b \n b,""\n', {}, [(" a ", "b", True), ("b", "", True)]),
        ("02134,2134\n2134,7\n", {}, [("02134", "2134", True), ("2134", "7", True)]),
        # More digits than Python converts to an integer.
        (f"{'1' * 4400},7\n7,{'1' * 4400}\n", {}, [("1" * 4400, "7", True), ("7", "1" * 4400, True)]),
        ('"1",2\n2,3\n', {}, [("1", "2", True), ("2", "3", True)]),
        ("+1,2\n2,3\n", {}, [("+1", "2", True), ("2", "3", True)]),
        ("-5,0\n0,7\n", {}, [(-5, 0, True), (0, 7, True)]),
        (f"{2**64 - 1},0\n", {}, [(2**64 - 1, 0, True)]),
        (f"{2**64},-1\n", {}, [(2**64, -1, True)]),
        ("id,w,x,y\n1,0.5,ann,bob\n", {"source": "x", "target": "y", "weight": "w"}, [("ann", "bob", 0.5)]),
        ("1,0.5,ann,bob\n", {"source": 2, "target": -1}, [("ann", "bob", True)]),
        ('1,"x,\n","n, m"\n2,y,\n', {"source": 0, "target": 1}, [("1", "x,\n", True), ("2", "y", True)]),
        ("a,b,2\n", {"symmetric": True}, [("a", "b", 2), ("b", "a", 2)]),
    ],
)  # fmt: skip
def test_csv_is_read_as_it_is_written(
    tmp_path: Path, content: str, options: dict[str, Any], expected: list[Any]
) -> None:
    assert edges(sr.io.read(written(tmp_path, content), relabel=True, **options)) == sorted(expected, key=str)


def test_a_name_of_more_digits_than_python_converts() -> None:
    for name in ("-" + "1" * 5000, "--5"):
        with pytest.raises(InvalidValue, match="no vertex is labeled '-"):
            sr.Labels([1, 2]).row(name)


def test_many_names_are_numbered_as_few_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ['"a,b"', "é", '"x ""y"""', "long name of more than eight bytes", '""', "b", "12"]
    content = "".join(f"{names[k % 7]},{names[k * k % 5]},{k}\n" for k in range(50))
    few = sr.io.read(written(tmp_path, content), relabel=True, dup_op="plus")
    monkeypatch.setattr(edge_names, "MANY", 0)
    many = sr.io.read(written(tmp_path, content), relabel=True, dup_op="plus")
    assert many.labels == few.labels
    assert many.isequal(few)
    (tmp_path / "g.csv").write_bytes(b"a,b\nb,\xff\n")
    with pytest.raises(InvalidFormat, match=r"g\.csv:2: expected ids in UTF-8, found the byte 0xff"):
        sr.io.read(tmp_path / "g.csv", relabel=True)


def test_blanks_and_quotes_in_white_space(tmp_path: Path) -> None:
    content = '"a" b 1,5\n#c\nb  \t"c" 2\n'
    assert edges(sr.io.read(written(tmp_path, content, "f.txt"), relabel=True)) == [
        ('"a"', "b", 1.5),
        ("b", '"c"', 2.0),
    ]


@pytest.mark.parametrize("kind", [".txt", ".el", ".edgelist"])
@pytest.mark.parametrize(
    ("content", "line", "skipped"),
    [
        ("#python,#java\n#java,#go\n", 1, 2),
        ("%x\t%y\n%y\t%z\n", 1, 2),
        ("#a #b\n", 1, 1),
        ("ann,bob\n#python,ann\n", 2, 1),
        ("source,target\n\nann,bob\n%python,ann\n", 4, 1),
        ("ann bob\n\n#c bob\n", 3, 1),
        ("12;12\n%x;12\n", 2, 1),
    ],
)
def test_a_comment_that_could_be_an_edge_is_reported(
    tmp_path: Path, content: str, line: int, skipped: int, kind: str
) -> None:
    path = written(tmp_path, content, f"f{kind}")
    with pytest.warns(GuessedLayout, match=rf":{line}: this line is a comment; comment='' reads it as an edge"):
        count = sr.io.read(path, relabel=True).nvals
    assert sr.io.read(path, relabel=True, comment="#%").nvals == count
    assert sr.io.read(path, relabel=True, comment="").nvals == count + skipped


@pytest.mark.parametrize(
    "content",
    [
        "# python, java\nann,bob\n",
        "#FromNodeId\tToNodeId\nann\tbob\n",
        "#V E w\nann bob\n",
        "#node1 node2\n1 2\n#3 4\n",
        "%%x y\nann bob\n#\n",
        "#made by a program\nann bob\n",
    ],
)
def test_other_comments_are_not_reported(tmp_path: Path, content: str) -> None:
    assert sr.io.read(written(tmp_path, content, "f.txt"), relabel=True).nvals == 1


def test_two_separators_are_a_guess(tmp_path: Path) -> None:
    path = written(tmp_path, "a;b;1,5\nb;c;2,5\n")
    with pytest.warns(GuessedLayout, match=r"f\.csv:1: columns are separated by ';'; sep=',' separates them otherwise"):
        A = sr.io.read(path, relabel=True)
    assert edges(A) == [("a", "b", 1.5), ("b", "c", 2.5)]
    assert edges(sr.io.read(path, relabel=True, sep=";")) == edges(A)
    path = written(tmp_path, "a\tb|c\nb\tc|d\n")
    with pytest.warns(
        GuessedLayout, match=r"f\.csv:1: columns are separated by '\\t'; sep='\|' separates them otherwise"
    ):
        sr.io.read(path, relabel=True, header=False)
    path = written(tmp_path, "# python,java\njava,c\n")
    with pytest.warns(GuessedLayout, match=r"f\.csv:1: this line is a comment; comment='' reads it as an edge"):
        assert sr.io.read(path, relabel=True).nvals == 1
    assert sr.io.read(path, relabel=True, comment="").nvals == 2


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("0,1\n# c\n1,2\n", {}, "f.csv:2: expected an integer as source, found '#'; comment='#%' skips"),
        ("a,b\n# c\nb,c\n", {"relabel": True}, r"f.csv:2: expected 2 columns \(source, target\), found 1"),
        ('a,"b"c\n', {"relabel": True}, "f.csv:1: expected a separator after a column in quotes, found 'c'"),
        ('a,b\nb,"c\n', {"relabel": True}, "f.csv:2: expected a quote that ends the column"),
        ("a;b;1,5\nb;c;2.5\n", {"relabel": True, "sep": ";"}, "f.csv:1: expected a number as weight, found '1,5'"),
        ("a;b;1.000,5\n", {"relabel": True, "sep": ";"}, "f.csv:1: expected a number as weight, found '1.000,5'"),
        (",a\n", {"relabel": True}, "f.csv:1: expected 2 columns .*, found an empty field as source"),
        ("0,1\n1,\n", {}, "f.csv:2: expected 2 columns .*, found an empty field as target"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, content: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidFormat, match=message):
        sr.io.read(written(tmp_path, content), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": ",,"}, "sep=: expected one character"),
        ({"sep": "1"}, "sep=: expected one character"),
        ({"sep": '"'}, "sep=: expected one character"),
        ({"comment": 3}, "comment=: expected the characters"),
        ({"comment": '"'}, "comment=: expected the characters"),
        ({"header": "yes"}, "header=: expected True, False or None"),
        ({"source": "x"}, "column source='x' is not in the file; the columns are 'from', 'to', 'km'"),
        ({"source": "from"}, "column target= is missing"),
        ({"source": "from", "target": "from"}, "must be different columns"),
        ({"source": "from", "target": 3}, "target=3: the file has 3 columns"),
        ({"source": "from", "target": 1.5}, "target=: expected an integer"),
        ({"source": "from", "target": "to", "header": False}, "source='from': the file has no names of columns"),
        ({"source": "from", "target": "to", "weights": True}, "weights=True: expected a column weight="),
        ({"weight": "km", "weights": False}, "expected weights=False or weight="),
    ],
)
def test_options_are_checked(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        sr.io.read(written(tmp_path, "from,to,km\n0,1,3\n"), **options)


def test_missing_weights_are_nan(tmp_path: Path) -> None:
    A = sr.io.read(written(tmp_path, "0,1,\n1,2,nan\n2,0,5\n"))
    assert A.dtype == np.float64
    assert [math.isnan(value) for value in A.to_coo()[2].tolist()] == [True, True, False]
    with pytest.raises(InvalidFormat, match=r"f\.csv:1: expected a weight of type int64, found nan"):
        sr.io.read(written(tmp_path, "0,1,\n1,2,7\n"), dtype="int64")


def test_a_long_comment_and_a_long_line_precede_the_edges(tmp_path: Path) -> None:
    content = "# c\n" * 30_000 + "from,to," + "x" * 100_000 + "\n0,1,2\n"
    assert edges(sr.io.read(written(tmp_path, content))) == [(0, 1, 2)]


@pytest.mark.parametrize("kind", [".csv", ".txt"])
def test_parts_of_a_text_are_scanned_on_several_threads(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    separator = "," if kind == ".csv" else " "
    lines = [separator.join((f"v{k * k % 97}", f"v{k % 89}", str(k))) + "\n" * (1 + (k % 5 == 0)) for k in range(400)]
    path = written(tmp_path, "".join(lines), f"f{kind}")
    whole = sr.io.read(path, relabel=True, dup_op="plus")
    for module in (text_parts, text_scan):
        monkeypatch.setattr(module, "PART_BYTES", 500)
    parts = sr.io.read(path, relabel=True, dup_op="plus")
    assert parts.isequal(whole, check_dtype=True)
    assert parts.labels == whole.labels
    path.write_text("".join(lines) + "v1" + separator + "v2" + separator + "x\n")
    line = 1 + "".join(lines).count("\n")
    with pytest.raises(InvalidFormat, match=rf"f\{kind}:{line}: expected a number as weight, found 'x'"):
        sr.io.read(path, relabel=True, dup_op="plus")
