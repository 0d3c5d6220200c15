"""Text files that announce too much, end their lines otherwise, or have more columns than are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.exceptions import IgnoredColumns, InvalidFormat, InvalidValue, OutOfMemory
from semiring.io.edge_lists import parse_edgelist
from semiring.io.read import READERS
from semiring.io.text import header_size, universal_newlines
from semiring.memory import allocation
from tests.io.arrays import entries, text

_BANNER = "%%MatrixMarket matrix {} real {}\n"


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with sr.use("cpu"):
        yield


def written(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize("number", [str(2**63), str(2**64), str(2**70), "9" * 5000], ids=["63", "64", "70", "5000"])
@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.mtx", _BANNER.format("coordinate", "general") + "N 1 1\n1 1 1\n", 2),
        ("a.mtx", _BANNER.format("coordinate", "general") + "1 N 1\n1 1 1\n", 2),
        ("a.mtx", _BANNER.format("coordinate", "general") + "1 1 N\n1 1 1\n", 2),
        ("a.mtx", _BANNER.format("array", "general") + "N N\n1\n", 2),
        ("a.mtx", _BANNER.format("array", "general") + "1 1 N\n1\n", 2),
        ("a.gr", "p sp N 1\na 1 1 1\n", 1),
        ("a.gr", "c x\np sp 1 N\na 1 1 1\n", 2),
        ("a.gr", "p tw 1 N\n1 1\n", 1),
        ("a.jlg", "N,1,d,x\n1,1\n", 1),
        ("a.jlg", "1,N,d,x\n1,1\n", 1),
        ("a.graph", "N 1\n1\n", 1),
        ("a.graph", "1 N\n1\n", 1),
        ("a.graph", "1 1 010 N\n1\n", 1),
        ("a.graph-txt", "N\n0\n", 1),
    ],
)
def test_sizes_beyond_64_bits_are_refused_with_their_line(
    tmp_path: Path, name: str, content: str, line: int, number: str
) -> None:
    path = written(tmp_path, name, content.replace("N", number))
    with pytest.raises(InvalidFormat, match=rf"{name}:{line}: expected .*, found") as caught:
        sr.io.read(path)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
def test_arrays_whose_entries_have_no_64_bit_number(tmp_path: Path, symmetry: str) -> None:
    path = written(tmp_path, "a.mtx", _BANNER.format("array", symmetry) + f"{2**60} {2**60}\n1\n")
    with pytest.raises(InvalidFormat, match=r"a\.mtx:4: expected \d+ entries, found the end of the file after 1"):
        sr.io.read(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.mtx", _BANNER.format("coordinate", "general") + f"{2**59} 1 1\n1 1 1\n"),
        ("a.gr", f"p sp {2**59} 1\na 1 1 1\n"),
        ("a.jlg", f"{2**59},1,d,x\n1,1\n"),
    ],
)
def test_offsets_beyond_memory_are_rejected_before_an_allocation(tmp_path: Path, name: str, content: str) -> None:
    path = written(tmp_path, name, content)
    with sr.config.set(hyper_switch=0.0), pytest.raises(OutOfMemory, match="asked for"):
        sr.io.read(path)
    assert (sr.io.read(path).nvals, sr.io.read(path).format) == (1, "hypersparse")


@pytest.mark.parametrize("name", ["a.graph", "a.graph-txt"])
def test_announced_lists_that_the_file_does_not_contain(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, f"{2**59} 1\n1\n" if name == "a.graph" else f"{2**59}\n0\n")
    with pytest.raises(InvalidFormat, match="found the end of the file after 1"):
        sr.io.read(path)


def test_numbers_are_compared_with_the_free_memory_before_they_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "a.el", "0 1\n" * 5_000_000)  # 20 MB of text, 80 MB of numbers
    monkeypatch.setattr(allocation, "free_memory", lambda device: 70 << 20)
    with pytest.raises(OutOfMemory, match=r"reading .*a\.el: out of memory on cpu \(asked for 80,000,000 bytes"):
        sr.io.read(path)


def test_leading_zeros_are_no_size() -> None:
    assert header_size("0" * 5000 + "7", "rows", "f:1") == 7
    assert header_size(str(2**60), "rows", "f:1") == 2**60
    assert header_size("000", "rows", "f:1") == 0


_EDGES = "# c\n0 1\n1 2\n2 0\n"
_WEIGHTED = "# c\n0 1 .5\n1 2 4\n2 0 6\n"
_MARKET = _BANNER.format("coordinate", "general") + "% c\n3 3 3\n1 2 .5\n2 3 1\n3 1 2\n"
_GRAPHML = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<graph edgedefault="directed">
<node id="a"/>
<node id="b"/>
<edge source="a"
 target="b"/>
</graph>
</graphml>
"""
_GML = 'graph [\ndirected 1\nnode [\nid 0\nlabel "a"\n]\nnode [\nid 1\nlabel "b"\n]\nedge [\nsource 0\ntarget 1\n]\n]\n'
# A file of each format of text that `read` accepts, by the name of the file.
TEXTS = {
    "a.el": _EDGES,
    "a.wel": _WEIGHTED,
    "a.txt": _EDGES,
    "a.tsv": "0\t1\t.5\n1\t2\t4\n",
    "a.csv": "source,target,weight\n0,1,.5\n1,2,4\n",
    "a.edgelist": _WEIGHTED,
    "a.e": "30 10 .5\n10 40 1\n",
    "a.mtx": _MARKET,
    "a.mmio": _BANNER.format("array", "general") + "2 2\n1\n2\n3\n4\n",
    "a.gr": "c c\np sp 3 3\na 1 2 5\na 2 3 6\na 3 1 7\n",
    "a.jlg": "3,3,d,x\n1,2\n2,3\n3,1\n",
    "a.graph": "% c\n3 3\n2 3\n1 3\n1 2\n",
    "a.graph-txt": "3\n1 2\n\n0\n",
    "out.a": "% asym positive\n1 2 5\n2 3 6\n",
    "a.graphml": _GRAPHML,
    "a.gml": _GML,
}


def test_every_format_of_text_is_tested() -> None:
    binary = {".sg", ".wsg", ".parquet", ".npz", ".srb"}
    assert {"out." if name == "out.a" else Path(name).suffix for name in TEXTS} == set(READERS) - binary


@pytest.mark.parametrize(("name", "content"), TEXTS.items(), ids=TEXTS)
@pytest.mark.parametrize("end", ["\r", "\r\n", "mixed"])
def test_every_line_end_is_one(tmp_path: Path, name: str, content: str, end: str) -> None:
    expected = sr.io.read(written(tmp_path, name, content))
    ends = ["\r", "\r\n", "\n"] if end == "mixed" else [end]
    lines = content.split("\n")[:-1]
    # A "\r" before an empty line that ends in "\n" is one end of a line, "\r\n", as in every other program.
    if end == "mixed" and "" in lines:
        ends = ["\r\n", "\r"]
    other = "".join(line + ends[k % len(ends)] for k, line in enumerate(lines))
    found = sr.io.read(written(tmp_path, name, other))
    assert found.isequal(expected, check_dtype=True)
    assert sr.io.read(written(tmp_path, name, other.removesuffix("\n").removesuffix("\r"))).isequal(expected)


@pytest.mark.parametrize(("name", "content"), TEXTS.items(), ids=TEXTS)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_content(tmp_path: Path, name: str, content: str, encoding: str) -> None:
    expected = sr.io.read(written(tmp_path, name, content))
    (tmp_path / name).write_bytes(content.encode(encoding))
    assert sr.io.read(tmp_path / name).isequal(expected, check_dtype=True)


def test_a_mark_that_the_content_contradicts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xff\xfea")
    with pytest.raises(InvalidFormat, match=r"a\.csv: expected utf-16, as its first bytes mark it"):
        sr.io.read(tmp_path / "a.csv")


def test_errors_count_the_lines_that_end_in_a_carriage_return(tmp_path: Path) -> None:
    with pytest.raises(InvalidFormat, match=r"a\.el:3: expected an integer as source, found 'x'"):
        sr.io.read(written(tmp_path, "a.el", "0 1\r\n1 2\rx 3\r"))


def test_text_without_a_lone_carriage_return_is_not_copied() -> None:
    content = text("0 1\r\n2 3\n")
    assert universal_newlines(content) is content
    assert universal_newlines(text("a\r\rb\r\n\r")).tobytes() == b"a\n\nb\r\n\n"
    assert universal_newlines(text("")).size == 0


def test_columns_that_are_not_read_are_reported(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "# c\n0 1 2 77 8\n1 0 3 78 9\n")
    with pytest.warns(IgnoredColumns, match=r"a\.txt:2: columns after the weight are ignored, 2 a line"):
        A = sr.io.read(path)
    assert A.to_dicts() == {0: {1: 2}, 1: {0: 3}}
    assert sr.io.read(path, weights=False).nvals == 2  # no warning: it was requested


@pytest.mark.parametrize(
    "options",
    [{"base": 2**70}, {"base": "1"}, {"nrows": -1}, {"nrows": 2**64}, {"ncols": 1.5}, {"skip_lines": -1}],
    ids=str,
)
def test_arguments_that_are_no_numbers(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue, match=f"{next(iter(options))}=: expected an integer from"):
        sr.io.read(written(tmp_path, "a.el", "0 1\n"), **options)


def test_large_unsigned_weights_are_exact() -> None:
    given = parse_edgelist(text(f"0 1 {2**64 - 1}\n1 0 {2**63 + 1}\n"), "f", dtype="uint64")[0]
    assert entries(given) == [(0, 1, 2**64 - 1), (1, 0, 2**63 + 1)]
    with pytest.raises(InvalidFormat, match="f:1: expected a weight of type uint64"):
        parse_edgelist(text("0 1 1.9e19\n"), "f", dtype="uint64")
    with pytest.raises(InvalidFormat, match="expected a weight of type uint64"):
        parse_edgelist(text(f"0 1 {2**64 - 1}\n1 0 -1\n"), "f", dtype="uint64")
    with np.errstate(all="raise"), pytest.raises(InvalidFormat, match="f:1: expected a weight of type int64"):
        parse_edgelist(text("0 1 9223372036854775808.0\n"), "f", dtype="int64")
