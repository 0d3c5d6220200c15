from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from semiring.exceptions import DuplicateIndex, InvalidFormat, InvalidValue
from semiring.io.files import read_bytes
from semiring.io.matrix_market import parse_matrix_market
from semiring.io.matrix_market_write import write_matrix_market
from semiring.io.triples import Triples
from tests.io.arrays import ALL_DTYPES, DATA, entries, needs_data, text

HEAD = "%%MatrixMarket matrix coordinate {} {}\n"

# File -> the line that is wrong; mangled14 has duplicates, which dup_op= allows.
MANGLED = {
    "mangled1": 1, "mangled2": 1, "mangled3": 1, "mangled4": 1, "mangled5": 1, "mangled6": 1, "mangled7": 2,
    "mangled8": 4, "mangled9": 4, "mangled10": 7, "mangled11": 5, "mangled12": 5, "mangled13": 7, "mangled15": 2,
    "mangled16": 2, "mangled_bool": 10, "mangled_format": 1, "mangled_int8": 8, "mangled_int16": 8,
    "mangled_int32": 8, "mangled_skew": 2, "mangled_uint8": 9, "mangled_uint16": 9, "mangled_uint32": 9,
}  # fmt: skip


@needs_data
@pytest.mark.parametrize(("name", "line"), MANGLED.items())
def test_every_mangled_file_is_refused_with_its_line(name: str, line: int) -> None:
    path = DATA / "lagraph" / "malformed" / f"{name}.mtx"
    with pytest.raises(InvalidFormat, match=rf"mangled\w*\.mtx:{line}: expected .*found"):
        parse_matrix_market(read_bytes(path), path.name)


@needs_data
def test_duplicates_of_mangled14() -> None:
    triples = parse_matrix_market(read_bytes(DATA / "lagraph/malformed/mangled14.mtx"), "mangled14.mtx")
    assert entries(triples) == [(0, 0, 3.0), (1, 1, 3.4), (1, 1, 7.1)]
    with pytest.raises(DuplicateIndex, match=r"mangled14\.mtx:8: .*row 1, column 1.*line 7.*dup_op="):
        triples.check_duplicates()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ":1: expected %%MatrixMarket or a line with the sizes, found the end"),
        ("% c\n\n", ":3: expected %%MatrixMarket or a line with the sizes, found the end"),
        ("junk\n", ":1: expected a line that begins with %%MatrixMarket, or the numbers of rows, columns, entries"),
        ("%c\n3 3 1 1\n", ":2: .*, or the numbers of rows, columns, entries, found '3 3 1 1'"),
        ("3 -3\n", ":1: .*, or the numbers of rows, columns, found '3 -3'"),
        ("3 3 1\n1 1\n", ":2: expected 3 columns"),  # neither for LAGraph a pattern
        ("3 3 2\n1 1 1\n", ":3: expected 2 entries, found the end"),
        ("2 1\n1 2\n", ":2: expected 1 column"),
        ("%MatrixMarket matrix coordinate real symmetric\n1 1 0\n", ":1: expected %%MatrixMarket at the beginning"),
        ("%c\n" + HEAD.format("real", "symmetric") + "1 1 0\n", ":2: expected %%MatrixMarket .* of line 1 alone"),
        ("%%MatrixMarkets matrix coordinate real general\n1 1 0\n", ":1: expected one of %%matrixmarket"),
        ("%%MatrixMarkt matrix coordinate real symmetric\n1 1 0\n", ":1: expected %%MatrixMarket at the beginning"),
        ("%%Matrix-Market matrix array real general\n1 1\n5\n", ":1: expected %%MatrixMarket at the beginning"),
        ("%%MatrixMarket matrix coordinate real\n1 1 0\n", r":1: .*5 words.*found 4"),
        (HEAD.format("real", "general"), ":2: expected a line with the sizes, found the end"),
        (HEAD.format("real", "general") + "-3 3 1\n", ":2: expected the numbers of rows, columns, entries"),
        (HEAD.format("real", "general") + f"{2**61} 3 0\n", r":2: expected at most 2\*\*60 rows"),
        (HEAD.format("pattern", "general") + f"3 3 {2**62}\n1 1\n", ":4: .*found the end of the file after 1"),
        (HEAD.format("real", "general") + "3 3 1\n1 2.5 3\n", ":3: expected an integer as column, found '2.5'"),
        (HEAD.format("real", "general") + "3 3 1\n1 2 1.2.3\n", ":3: expected a number as value, found '1.2.3'"),
        (HEAD.format("real", "general") + "3 3 1\n1 2 3 4\n", ":3: expected 3 columns .*one more: '4'"),
        (HEAD.format("real", "general") + "3 3 1\n0 2 3\n", ":3: expected row from 1 to 3, found '0'"),
        (HEAD.format("real", "general") + "3 3 1\n-1 2 3\n", ":3: expected row from 1 to 3, found '-1'"),
        (HEAD.format("real", "general") + "3 3 1\n1 2 1e999\n", ":3: expected a number that float64 holds"),
        (HEAD.format("real", "general") + "3 3 1\n1 1 1\n\n2 2 2\n", ":5: expected the end of the file after 1"),
        (HEAD.format("real", "general") + "0 0 1\n1 1 1\n", ":3: expected row from 1 to 0"),
        (HEAD.format("integer", "general") + "3 3 1\n1 1 1.0\n", ":3: expected an integer as value"),
        (HEAD.format("integer", "general") + f"3 3 1\n1 1 {2**64}\n", ":3: expected value from"),
        (HEAD.format("integer", "general") + f"3 3 2\n1 1 {2**63}\n2 2 -1\n", "one 64-bit type"),
        (HEAD.format("pattern", "general") + "3 3 1\n1 1 \xff\n", ":3: expected 2 columns"),
        (HEAD.format("integer", "skew-symmetric") + "3 3 1\n2 2 1\n", ":3: expected no entry on the diagonal"),
        (HEAD.format("pattern", "skew-symmetric") + "3 3 1\n2 1\n", ":1: expected signed values"),
        (HEAD.format("real", "general") + "%%GraphBLAS type int8_t\n1 1 1\n1 1 1.5\n", ":4: .*type int8, found 1.5"),
        (HEAD.format("real", "general") + "%%GraphBLAS type int8_t\n1 1 1\n1 1 nan\n", ":4: .*type int8, found nan"),
        (HEAD.format("real", "general") + "%%GraphBLAS type float\n1 1 1\n1 1 1e39\n", ":4: .*type float32"),
        (HEAD.format("complex", "hermitian") + "1 1 1\n1 1 1 2\n", ":3: expected a real number on the diagonal"),
        (HEAD.format("complex", "general") + "1 1 1\n1 1 1\n", ":3: expected 4 columns"),
        (HEAD.format("complex", "general") + "%%GraphBLAS type double\n1 1 0\n", ":2: expected a complex type"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", ":6: expected 4 entries, found the end"),
        ("%%MatrixMarket matrix array real general\n2 2 5\n1\n2\n3\n", ":2: expected 4 entries in a 2 x 2 array"),
    ],
)
def test_malformed_text_is_refused_with_its_line(content: str, message: str) -> None:
    with pytest.raises(InvalidFormat, match=message):
        parse_matrix_market(text(content.encode("latin-1")), "f.mtx")


@pytest.mark.parametrize(
    ("content", "dtype", "expected"),
    [
        (HEAD.format("pattern", "symmetric") + "2 2 2\n1 1\n2 1\n", "bool", [(0, 0, 1), (0, 1, 1), (1, 0, 1)]),
        (HEAD.format("integer", "general") + f"1 2 1\n1 2 {2**64 - 1}\n", "uint64", [(0, 1, 2**64 - 1)]),
        (HEAD.format("integer", "skew-symmetric") + "2 2 1\n2 1 7\n", "int64", [(0, 1, -7), (1, 0, 7)]),
        (HEAD.format("real", "general") + "\n% c\n2 2 1\n\n% c\n  +1 2 +.5\r\n\n", "float64", [(0, 1, 0.5)]),
        (HEAD.format("Real", "GENERAL") + "%%GraphBLAS type int32_t\n3 4 0\n", "int32", []),
        (HEAD.format("integer", "general") + "%%GraphBLAS type float\n1 1 1\n1 1 -inf", "float32", [(0, 0, -np.inf)]),
        (HEAD.format("pattern", "general") + "%%GraphBLAS type GrB_INT8\n1 1 1\n1 1\n", "int8", [(0, 0, 1)]),
        ("%%MatrixMarket matrix array integer general\n2 2\n1\n0\n3\n4\n", "int64",
         [(0, 0, 1), (0, 1, 3), (1, 0, 0), (1, 1, 4)]),
        ("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", "float64",
         [(0, 0, 1), (0, 1, 2), (1, 0, 2), (1, 1, 3)]),
        ("%%MatrixMarket matrix array real skew-symmetric\n2 2\n5\n", "float64",
         [(0, 0, 0), (0, 1, -5), (1, 0, 5), (1, 1, 0)]),
        ("%%MatrixMarket matrix array real general\n0 3\n", "float64", []),
        (HEAD.format("complex", "general") + "2 2 2\n1 2 1.5 -2\n% c\n2 1 inf 0\n", "complex128",
         [(0, 1, 1.5 - 2j), (1, 0, np.inf)]),
        (HEAD.format("complex", "hermitian") + "%%GraphBLAS type float complex\n2 2 2\n1 1 3 0\n2 1 1 2\n", "complex64",
         [(0, 0, 3), (0, 1, 1 - 2j), (1, 0, 1 + 2j)]),
        (HEAD.format("complex", "symmetric") + "2 2 1\n2 1 1 2\n", "complex128", [(0, 1, 1 + 2j), (1, 0, 1 + 2j)]),
        (HEAD.format("complex", "skew-symmetric") + "2 2 1\n2 1 1 2\n", "complex128",
         [(0, 1, -1 - 2j), (1, 0, 1 + 2j)]),
        (HEAD.format("pattern", "general") + "%%GraphBLAS type fc64\n1 1 1\n1 1\n", "complex128", [(0, 0, 1)]),
        ("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n", "complex128",
         [(0, 0, 1), (0, 1, 2 - 3j), (1, 0, 2 + 3j), (1, 1, 4)]),
    ],
)  # fmt: skip
def test_fields_symmetries_and_layouts(content: str, dtype: str, expected: list[Any]) -> None:
    triples = parse_matrix_market(text(content))
    assert triples.values.dtype == dtype
    assert entries(triples) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("3 4 2\n1 2 .5\n3 4 -1e3\n", [(0, 1, 0.5), (2, 3, -1000.0)]),
        ("% c\n%%GraphBLAS type int64_t\n\n3 3 1\n% c\n2 1 7\n", [(1, 0, 7.0)]),
        ("2 2\n1\n2\n3\ninf\n", [(0, 0, 1.0), (0, 1, 3.0), (1, 0, 2.0), (1, 1, float("inf"))]),
        ("4 4 0\n", []),
        ("0 5\n", []),
    ],
)
def test_files_without_a_banner(content: str, expected: list[Any]) -> None:
    found = parse_matrix_market(text(content), "a.mtx")
    assert (found.values.dtype, sorted(entries(found))) == (np.dtype(np.float64), expected)


@needs_data
@pytest.mark.parametrize("name", ["west0067", "full"])
def test_lagraph_files_without_a_banner(name: str) -> None:
    found, expected = (
        parse_matrix_market(read_bytes(DATA / "lagraph" / f"{name}{end}.mtx"), name) for end in ("_noheader", "")
    )
    assert found.values.dtype == np.float64
    assert entries(found) == entries(expected)


@st.composite
def triples(draw: st.DrawFn) -> Triples:
    nrows, ncols = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    cells = draw(st.lists(st.integers(0, nrows * ncols - 1), unique=True, max_size=8))
    dtype = np.dtype(draw(st.sampled_from(ALL_DTYPES)))
    values: Any = draw(hnp.arrays(dtype, len(cells)))
    if draw(st.booleans()):
        values = dtype.type(draw(st.integers(0, 1)))
    at = np.array(cells, dtype=np.int64)
    return Triples(nrows, ncols, at // ncols, at % ncols, values)


@settings(deadline=None, max_examples=150)
@given(triples())
def test_all_types_survive_a_file_exactly(tmp_path_factory: pytest.TempPathFactory, given_triples: Triples) -> None:
    path = tmp_path_factory.mktemp("mtx") / "a.mtx"
    write_matrix_market(path, given_triples)
    found = parse_matrix_market(read_bytes(path), "a.mtx")
    count = len(given_triples.rows)
    assert (found.nrows, found.ncols) == (given_triples.nrows, given_triples.ncols)
    assert found.values.dtype == given_triples.values.dtype
    np.testing.assert_array_equal(found.rows, given_triples.rows)
    np.testing.assert_array_equal(found.cols, given_triples.cols)
    np.testing.assert_array_equal(np.broadcast_to(found.values, count), np.broadcast_to(given_triples.values, count))


def test_other_readers_accept_our_files(tmp_path: Path) -> None:
    scipy_io = pytest.importorskip("scipy.io")
    path = tmp_path / "a.mtx"
    given_triples = Triples(3, 2, np.array([0, 2]), np.array([1, 0]), np.array([250, 3], dtype=np.uint8))
    write_matrix_market(path, given_triples, comment="two lines\nof a comment")
    assert scipy_io.mmread(path, spmatrix=False).toarray().tolist() == [[0, 250], [0, 0], [3, 0]]
    assert path.read_text().splitlines()[:2] == [
        "%%MatrixMarket matrix coordinate integer general", "%%GraphBLAS type uint8_t",
    ]  # fmt: skip


def test_a_comment_cannot_forge_a_header(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="comment"):
        write_matrix_market(tmp_path / "a.mtx", Triples(0, 0, *np.empty((2, 0), int), np.bool_(True)), comment="%%x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_compressions(tmp_path: Path, suffix: str) -> None:
    if suffix == ".zst":
        pytest.importorskip("zstandard")
    path = tmp_path / f"a.mtx{suffix}"
    rows = np.arange(1000)
    write_matrix_market(path, Triples(1000, 1000, rows, rows, rows.astype(np.int16)))
    assert len(parse_matrix_market(read_bytes(path)).rows) == 1000
    if suffix:
        raw = path.read_bytes()
        path.write_bytes(raw[: len(raw) * 2 // 3])
        with pytest.raises(InvalidFormat, match=rf"a\.mtx{suffix}: near byte \d+ of \d+: expected a whole {suffix}"):
            read_bytes(path)


def test_compression_is_detected_from_the_content(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    path.write_bytes(gzip.compress(b"hello"))
    assert read_bytes(path).tobytes() == b"hello"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy.io

    path = tmp_path / "a.mtx"
    path.write_text("old")

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(scipy.io, "mmwrite", fail)
    with pytest.raises(OSError, match="disk full"):
        write_matrix_market(path, Triples(1, 1, np.array([0]), np.array([0]), np.array([2.5])))
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.mtx"]
