"""`Matrix.from_edgelist`: a graph from lists, arrays and tables of edges; ambiguous input raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from semiring.exceptions import InvalidValue
from semiring.facade.edges import edges_of

SOURCES, TARGETS, WEIGHTS = [0, 1, 3], [1, 2, 0], [0.5, 2.0, 4.25]
COLUMNS = {"from": SOURCES, "to": TARGETS, "km": WEIGHTS}


def _pandas(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("pandas").DataFrame(columns)


def _polars(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("polars").DataFrame(columns)


def _arrow(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("pyarrow").table(columns)


def _batch(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("pyarrow").RecordBatch.from_pydict(columns)


class _Stream:
    """A table that offers the Arrow stream interface alone, as DuckDB's results do."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self.table = _arrow(columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def _structured(columns: dict[str, Any]) -> Any:
    parts = {name: np.asarray(part) for name, part in columns.items()}
    made = np.empty(len(next(iter(parts.values()))), [(name, part.dtype) for name, part in parts.items()])
    for name, part in parts.items():
        made[name] = part
    return made


TABLES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dictionary": lambda columns: dict(columns),
    "dictionary of arrays": lambda columns: {name: np.asarray(part) for name, part in columns.items()},
    "structured array": _structured,
    "pandas": _pandas,
    "polars": _polars,
    "Arrow": _arrow,
    "Arrow batch": _batch,
    "Arrow stream": _Stream,
}
EXPECTED = {0: {1: 0.5}, 1: {2: 2.0}, 3: {0: 4.25}}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_a_graph(kind: str) -> None:
    A = Matrix.from_edgelist(TABLES[kind](COLUMNS))
    assert (A.shape, A.dtype, A.to_dicts()) == ((4, 4), np.float64, EXPECTED)
    unweighted = Matrix.from_edgelist(TABLES[kind]({name: COLUMNS[name] for name in ("from", "to")}))
    assert (unweighted.shape, unweighted.dtype, unweighted.nvals) == ((4, 4), bool, 3)


@pytest.mark.parametrize("kind", TABLES)
def test_three_edges_in_three_columns_are_not_transposed(kind: str) -> None:
    A = Matrix.from_edgelist(TABLES[kind]({"a": [0, 1, 2], "b": [1, 2, 0], "c": [7, 8, 9]}))
    assert A.to_dicts() == {0: {1: 7}, 1: {2: 8}, 2: {0: 9}}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"source": "from", "target": "to", "weight": "km"}, EXPECTED),
        ({"source": 1, "target": -2, "weight": 3}, EXPECTED),
        ({"source": "to", "target": "from"}, {1: {0: True}, 2: {1: True}, 0: {3: True}}),
    ],
)
def test_columns_by_name_and_position(kind: str, names: dict[str, Any], expected: Any) -> None:
    wide = {"id": [7, 8, 9], "from": SOURCES, "to": TARGETS, "km": WEIGHTS}
    assert Matrix.from_edgelist(TABLES[kind](wide), **names).to_dicts() == expected


@pytest.mark.parametrize("kind", TABLES)
def test_the_type_of_the_weights_is_kept(kind: str) -> None:
    for dtype in (np.int8, np.uint64, np.float32):
        columns = {"s": np.array([0, 1]), "t": np.array([1, 0]), "w": np.array([1, 2], dtype)}
        assert Matrix.from_edgelist(TABLES[kind](columns)).dtype == dtype
    assert Matrix.from_edgelist(TABLES[kind](columns), dtype=np.int16).dtype == np.int16


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize(
    ("columns", "asked", "message"),
    [
        ({**COLUMNS, "more": [1, 2, 3]}, {}, r"2 or 3 columns.*got 4: 'from', 'to', 'km', 'more'.*source="),
        ({"only": SOURCES}, {}, "2 or 3 columns"),
        ({"s": ["a", "b"], "t": ["b", "c"]}, {}, r"column 's'.*integers.*'a'.*relabel=True"),
        ({"s": [0.5, 1.0], "t": [1, 2]}, {}, r"column 's'.*integers, got 0\.5"),
        ({"s": [0, 1], "t": [1.0, np.nan]}, {}, "column 't'.*(integers, got nan|lacks 1 value)"),
        ({"s": [True, False], "t": [0, 1]}, {}, "column 's'.*integers, got bool"),
        ({"s": [0, 1], "t": [1, 2], "w": ["x", "y"]}, {}, "column 'w' holds the weights.*numbers"),
        (COLUMNS, {"source": "fron", "target": "to"}, r"source='fron' is no column.*'from', 'to', 'km'"),
        (COLUMNS, {"source": "from"}, "target= is missing"),
        (COLUMNS, {"weight": "km"}, "source= is missing"),
        (COLUMNS, {"source": "from", "target": "from"}, "different columns"),
        (COLUMNS, {"source": 0, "target": 9}, "target=9 is no column"),
        (COLUMNS, {"values": 3}, "hold values already"),
    ],
)
def test_what_is_ambiguous_is_refused(kind: str, columns: Any, asked: Any, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        Matrix.from_edgelist(TABLES[kind](columns), **asked)


@pytest.mark.parametrize("kind", ["polars", "Arrow", "Arrow batch", "Arrow stream"])
@pytest.mark.parametrize("column", ["s", "t"])
def test_missing_vertices_are_refused(kind: str, column: str) -> None:
    columns: dict[str, list[Any]] = {"s": [0, 1], "t": [1, 2], "w": [1, 2]}
    columns[column] = [None, 1]
    with pytest.raises(InvalidValue, match=f"column '{column}' lacks 1 value"):
        Matrix.from_edgelist(TABLES[kind](columns))


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("missing", [np.nan, None])
@pytest.mark.parametrize("weight", [2.0, 2, True])
def test_a_missing_weight_is_nan(kind: str, missing: Any, weight: Any) -> None:
    if missing is not None and not isinstance(weight, float):
        weight = float(weight)  # no table has NaN among integers
    table = TABLES[kind]({"s": [0, 1], "t": [1, 2], "w": [missing, weight]})
    for relabel in (False, True):
        A = Matrix.from_edgelist(table, relabel=relabel)
        assert A.dtype == np.float64
        assert np.isnan(A[0, 1].value)
        assert A[1, 2].value == weight
    with pytest.raises(InvalidValue, match="the weight of row 0 is missing"):
        Matrix.from_edgelist(table, dtype=int)


def test_missing_weights_elsewhere(tmp_path: Any) -> None:
    for missing in (None, np.nan):
        A = Matrix.from_edgelist([(0, 1, missing), (1, 2, 5)])
        assert np.isnan(A[0, 1].value)
        assert A[1, 2].value == 5
        with pytest.raises(InvalidValue, match="the weight of row 0 is missing"):
            Matrix.from_edgelist([(0, 1, missing), (1, 2, 5)], dtype=int)
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"s": [0, 1], "t": [1, 2], "w": [None, 5]}), tmp_path / "a.parquet")
    A = sr.io.read(tmp_path / "a.parquet")
    assert np.isnan(A[0, 1].value)
    assert A[1, 2].value == 5
    single = pyarrow.table({"s": [0, 1], "t": [1, 2], "w": pyarrow.array([None, 5], pyarrow.float32())})
    assert Matrix.from_edgelist(single).dtype == np.float32


class _Cudf:
    """A frame with the interface of cuDF's: columns by `iloc`, which convert by `to_arrow`, and to NumPy if numeric."""

    class Column:
        def __init__(self, values: list[Any]) -> None:
            self.arrow = pytest.importorskip("pyarrow").array(values)
            self.iloc, self.null_count, self.dtype = values, self.arrow.null_count, np.asarray(values).dtype

        def to_arrow(self) -> Any:
            return self.arrow

        def get(self, index: Any) -> Any:
            return self.iloc[index]

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            if self.dtype.kind not in "iuf":
                raise TypeError("text has no conversion to NumPy")
            return np.array(self.iloc, dtype)

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = list(columns)
        parts = [_Cudf.Column(values) for values in columns.values()]

        class Position:
            def __getitem__(self, key: tuple[slice, int]) -> _Cudf.Column:
                return parts[key[1]]

        self.iloc = Position()


def test_the_interface_of_cudf() -> None:
    assert Matrix.from_edgelist(_Cudf(COLUMNS)).to_dicts() == EXPECTED
    A = Matrix.from_edgelist(_Cudf({"s": ["b", "a"], "t": ["a", "c"], "w": [1, 2]}), relabel=True)
    assert A.labels is not None
    assert (list(A.labels), A.to_dicts()) == (["a", "b", "c"], {1: {0: 1}, 0: {2: 2}})
    assert Matrix.from_edgelist(_Cudf({"s": [70, 50], "t": [50, 60]}), relabel=True).shape == (3, 3)
    with pytest.raises(InvalidValue, match="column 't' lacks 1 values"):
        Matrix.from_edgelist(_Cudf({"s": ["b", "a"], "t": ["a", None]}), relabel=True)


def test_pandas_columns_of_its_own_types() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"s": [0, 1], "t": [1, 2], "w": [1, 2]}).astype({"s": "Int64", "w": "Int8"})
    A = Matrix.from_edgelist(frame)
    assert (A.dtype, A.to_dicts()) == (np.int8, {0: {1: 1}, 1: {2: 2}})
    frame.loc[0, "w"] = None
    assert np.isnan(Matrix.from_edgelist(frame)[0, 1].value)
    frame["w"] = frame["w"].astype(object)  # with pandas' own NA
    assert np.isnan(Matrix.from_edgelist(frame)[0, 1].value)
    frame["w"] = [None, "five"]
    with pytest.raises(InvalidValue, match=r"column 'w' (holds the weights and must hold numbers|lacks 1 value)"):
        Matrix.from_edgelist(frame)
    plain = pandas.DataFrame({"s": [0, 1], "t": [1, 2], "w": [np.nan, 2.0]}, index=["x", "y"])
    assert np.isnan(Matrix.from_edgelist(plain)[0, 1].value)  # a float column's NaN is a number as elsewhere
    twice = pandas.DataFrame([[0, 1, 2]], columns=["s", "s", "w"])
    with pytest.raises(InvalidValue, match="two columns have one name"):
        Matrix.from_edgelist(twice)
    assert Matrix.from_edgelist(pandas.DataFrame([[0, 5, 2]])).to_dicts() == {0: {5: 2}}  # columns named 0, 1, 2


def test_the_error_for_a_lazy_frame_names_collect() -> None:
    polars = pytest.importorskip("polars")
    with pytest.raises(InvalidValue, match=r"LazyFrame.*\.collect\(\)"):
        Matrix.from_edgelist(polars.LazyFrame(COLUMNS))


def test_an_edge_list_is_a_graph() -> None:
    assert Matrix.from_edgelist([(0, 1), (1, 2)]).shape == (3, 3)
    assert Matrix.from_edgelist([(4, 1)]).shape == (5, 5)
    assert Matrix.from_edgelist(np.array([[0, 7]])).shape == (8, 8)
    assert Matrix.from_edgelist([]).shape == (0, 0)
    assert Matrix.from_edgelist({"s": [], "t": []}).shape == (0, 0)
    assert Matrix.from_edgelist([(0, 1)], shape=(2, 3)).shape == (2, 3)
    assert Matrix.from_edgelist([(0, 4)], nrows=2).shape == (2, 5)
    assert Matrix.from_edgelist([(4, 0)], ncols=2).shape == (5, 2)


def test_lists_keep_large_ids_and_weights_apart() -> None:
    large = 2**53 + 1
    assert edges_of("f", [(0, large, 0.5)], None, None, None).columns.tolist() == [large]
    assert Matrix.from_edgelist([(0, 1, 2), (1, 0, 3)]).dtype == np.int64
    assert Matrix.from_edgelist([(0, 1, 2), (1, 0, 0.5)]).dtype == np.float64


def test_arrays_name_their_columns_by_position() -> None:
    edges = np.array([[9, 0, 1, 5], [9, 1, 2, 6]])
    assert Matrix.from_edgelist(edges, source=1, target=2, weight=3).to_dicts() == {0: {1: 5}, 1: {2: 6}}
    with pytest.raises(InvalidValue, match="2 or 3 columns"):
        Matrix.from_edgelist(edges)
    with pytest.raises(InvalidValue, match="name columns of a table"):
        Matrix.from_edgelist([(0, 1)], source=0, target=1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.array([[0.0, 2.0**60]]), "integers"),
        (np.array([[0.0, np.inf]]), "integers, got inf"),
        (np.array([["a", "b"]]), "'a'"),
        (np.zeros(3), r"shape \(3,\)"),
        (np.zeros((2, 4)), "2 or 3 columns"),
        ("0 1", "text"),
        ([(0.5, 1)], "integers"),
        ([(0, 1), (1,)], r"\[1, 2\]"),
        ({"s": [[0]], "t": [[1]]}, "one-dimensional"),
        ({"s": [0, 1], "t": [1]}, "equally long"),
        (Matrix(int, 2, 2), "to_edgelist"),
    ],
)
def test_what_is_no_edge_list(wrong: Any, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        Matrix.from_edgelist(wrong)
