"""Labels of many edges are numbered by compiled loops, with the result of sorting a set of them."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring import Labels, Matrix
from semiring.exceptions import InvalidValue
from semiring.labels import distinct, numbering

# Characters of one to four bytes, with NUL; many texts are beginnings of others, or agree in their first words.
TEXT = st.builds(
    lambda head, tail: head + tail,
    st.sampled_from(["", "vertex ", "a" * 17]),
    st.text("a\0b\x7fé€\U0001f600", max_size=9),
)
TEXTS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=60)
INTEGERS = st.lists(st.tuples(*[st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)] * 2), min_size=1, max_size=60)


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small columns take the way of large ones, in three parts, with tables that are enlarged."""
    monkeypatch.setattr(distinct, "MANY", 1)
    monkeypatch.setattr(distinct, "_SLOTS", 4)
    monkeypatch.setattr(distinct._Engine, "parts", lambda self, work: 3)


def _polars(column: list[Any]) -> Any:
    return pytest.importorskip("polars").Series(column)


def _categories_of_polars(column: list[Any]) -> Any:
    polars = pytest.importorskip("polars")
    return polars.Series(column).cast(polars.Categorical)


def _arrow(column: list[Any], kind: str) -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.array(column, getattr(pyarrow, kind)())


def _part_of_arrow(column: list[Any]) -> Any:
    return pytest.importorskip("pyarrow").array([column[0], *column, column[0]]).slice(1, len(column))


def _chunks(column: list[Any]) -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.chunked_array([column[:1], column[1:], []], type=None if column[1:] else pyarrow.string())


def _dictionary(column: list[Any]) -> Any:
    return pytest.importorskip("pyarrow").chunked_array([column[:1], column]).slice(1).dictionary_encode()


def _pandas(column: list[Any], dtype: Any = None) -> Any:
    return pytest.importorskip("pandas").Series(column, dtype=dtype)


COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "objects": lambda column: np.array([*column, None], object)[:-1],
    "polars": _polars,
    "polars categories": _categories_of_polars,
    "Arrow": lambda column: _arrow(column, "string"),
    "Arrow large": lambda column: _arrow(column, "large_string"),
    "Arrow views": lambda column: _arrow(column, "string_view"),
    "Arrow part": _part_of_arrow,
    "Arrow chunks": _chunks,
    "Arrow dictionary": _dictionary,
    "pandas": _pandas,
    "pandas objects": lambda column: _pandas(column, object),
    "pandas categories": lambda column: _pandas(column, "category"),
}


@pytest.mark.costly
@pytest.mark.parametrize("kind", COLUMNS)
@given(edges=TEXTS)
def test_texts_are_numbered_in_the_order_of_code_points(kind: str, edges: list[tuple[str, str]]) -> None:
    columns = [[edge[k] for edge in edges] for k in (0, 1)]
    labels, rows, targets = Labels.number(*map(COLUMNS[kind], columns))
    assert list(labels) == sorted({*columns[0], *columns[1]})
    assert [labels[rows].tolist(), labels[targets].tolist()] == columns


@given(edges=INTEGERS)
def test_integers_of_any_range_are_numbered(edges: list[tuple[int, int]]) -> None:
    columns = [np.array([edge[k] for edge in edges], np.int64) for k in (0, 1)]
    for given_columns in (
        columns,
        [column.view(np.uint64) for column in columns],
        [columns[0].astype(object), columns[1]],
    ):
        labels, rows, targets = Labels.number(*given_columns)
        assert list(labels) == sorted({int(x) for column in given_columns for x in column})
        assert [labels[rows].tolist(), labels[targets].tolist()] == [column.tolist() for column in given_columns]


@pytest.mark.parametrize("count", [1, 3])
@given(edges=TEXTS)
def test_any_number_of_columns_shares_a_numbering(count: int, edges: list[tuple[str, str]]) -> None:
    columns = [[edge[k % 2] for edge in edges[: len(edges) - k]] for k in range(count)]
    labels, *rows = Labels.number(*columns)
    assert list(labels) == sorted(set().union(*columns))
    assert [labels[row].tolist() for row in rows] == columns


def test_many_labels_agree_with_numpy() -> None:
    drawn = np.random.default_rng(1).integers(-(2**62), 2**62, 30_000)[
        np.random.default_rng(2).integers(0, 30_000, 90_000)
    ]
    expected, ranks = np.unique(drawn, return_inverse=True)
    labels, rows = Labels.number(drawn)
    assert np.array_equal(labels.to_numpy(), expected)
    assert np.array_equal(rows, ranks)
    names = [f"{value:x}" for value in drawn.tolist()]
    labels, rows = Labels.number(names)
    assert list(labels) == sorted(set(names))
    assert labels[rows].tolist() == names


def test_columns_of_different_libraries_are_numbered_together() -> None:
    for first in COLUMNS:
        labels, rows, targets = Labels.number(COLUMNS[first](["é", "b"]), COLUMNS["pandas categories"](["a", "b"]))
        assert (list(labels), rows.tolist(), targets.tolist()) == (["a", "b", "é"], [2, 1], [0, 1])


def test_without_pyarrow_text_is_read_as_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [_polars(["é", "b", "é"]), _polars(["a", "b", "b"])]

    def lacks(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("semiring.labels.arrow.import_module", lacks)
    labels, rows, targets = Labels.number(*columns)
    assert (list(labels), rows.tolist(), targets.tolist()) == (["a", "b", "é"], [2, 1, 2], [0, 1, 1])


class Color(enum.Enum):
    RED, BLUE = 1, 2


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["a", None, "b", "a"], r"columns\[0\]\[1\] is missing"),
        (["a", float("nan"), "b"], r"columns\[0\]\[1\] is missing"),
        (["a", 1, "a", 1], "of one type, got int and str"),
        ([0.5, 1, 0.5, 1], r"columns\[0\]\[0\] is 0.5, which is no label"),
        ([[1], [1]], "hashable"),
    ],
)
def test_objects_that_are_no_labels_raise_as_few_of_them_do(column: list[Any], message: str) -> None:
    shared = np.empty(len(column), object)
    shared[:] = column
    with pytest.raises(InvalidValue, match=message):
        Labels.number(np.tile(shared, 3))


def test_objects_without_an_order_are_numbered() -> None:
    labels, rows = Labels.number([Color.RED, Color.BLUE, Color.RED, Color.RED])
    assert labels[rows].tolist() == [Color.RED, Color.BLUE, Color.RED, Color.RED]
    mixed, places = Labels.number(np.array([2**63, 5], np.uint64), np.array([-1, 5]))[:2]
    assert list(mixed) == [-1, 5, 2**63]
    assert places.tolist() == [2, 1]


@pytest.mark.parametrize("kind", ["pandas", "polars", "Arrow", "pandas categories", "Arrow dictionary"])
def test_missing_labels_of_many_raise(kind: str) -> None:
    with pytest.raises(InvalidValue, match="column 'a' lacks 1 values"):
        Matrix.from_edgelist({"a": COLUMNS[kind](["x", None, "z"]), "b": COLUMNS[kind](["y", "y", "y"])}, relabel=True)


@pytest.mark.costly
def test_one_object_for_many_rows_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    real = numbering.as_column
    monkeypatch.setattr(numbering, "as_column", lambda *a, **k: (seen.append(len(a[2])), real(*a, **k))[1])
    names = np.array(["vertex 1", "vertex 2", "vertex 3"], object)
    rows = Labels.number(np.tile(names, 100))[1]
    assert seen == [3]
    assert rows.tolist() == [0, 1, 2] * 100


@pytest.mark.parametrize(
    ("distinct_values", "expected"), [(20, True), (20_000, True), (100_000, True), (1_000_000, False)]
)
def test_repetitions_are_estimated_by_a_sample(distinct_values: int, expected: bool) -> None:
    rng = np.random.default_rng(1)
    values = np.arange(1_000_000) if distinct_values == 1_000_000 else rng.integers(0, distinct_values, 1_000_000)
    assert numbering._repeats(values) is expected
