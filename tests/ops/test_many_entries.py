"""Operations around the product on matrices of many tiles: long, empty and full rows; compared with SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from semiring.dtypes import BOOL, FP32, INT64
from semiring.engines import registry
from semiring.engines.requests.operands import Index, Mask, Spec
from semiring.engines.requests.operations import (
    Ewise,
    ExtractMatrix,
    Keep,
    Outside,
    ReduceRows,
    ReplaceRows,
    ScatterMatrix,
    Select,
    Transpose,
)
from semiring.formats import CSR, Pattern
from semiring.memory.arrays import to_host
from semiring.operators import binary
from semiring.operators.expression import Expression
from semiring.operators.types import TypedBinary, TypedIndexUnary, TypedMonoid
from tests.compare import device_for, place

# nrows, ncols, entries drawn, exponent of skewness, a full row, a full column.
SHAPES: dict[str, tuple[int, int, int, float, int | None, int | None]] = {
    "skewed": (3000, 3000, 20_000, 3, None, None),
    "a full row": (7000, 7000, 9000, 1, 6999, None),
    "a full column": (9000, 5, 100, 1, None, 1),
    "hypersparse": (40_000, 40_000, 50, 1, None, None),
    "one row": (1, 20_000, 15_000, 1, None, None),
    "one column": (20_000, 1, 9000, 1, None, None),
    "dense": (300, 300, 40_000, 1, None, None),
    "empty": (5000, 100, 0, 1, None, None),
}
QUICK = ("skewed", "hypersparse")
LOWER, UPPER, DIAGONAL, FIRST_COLUMNS, LAST_COLUMNS = (
    TypedIndexUnary(name, FP32, INT64, BOOL, Expression(expr))
    for name, expr in {
        "lower": "j <= i + k", "upper": "j >= i + k", "diagonal": "j == i + k", "first": "j <= k", "last": "j > k"
    }.items()
)  # fmt: skip
ABOVE = TypedIndexUnary("above", FP32, FP32, BOOL, Expression("x > k"))
PLUS = binary.plus[FP32]
LAST = TypedMonoid(
    TypedBinary("last", FP32, FP32, FP32, Expression("y"), frozenset({"associative"})), np.float32(0), None
)


def drawn(shape: str, seed: int) -> Any:
    """A SciPy matrix with values 1 to 8."""
    nrows, ncols, count, skew, row, column = SHAPES[shape]
    rng = np.random.default_rng(seed)
    i, j = (nrows * rng.random(count) ** skew).astype(int), (ncols * rng.random(count) ** skew).astype(int)
    if row is not None:
        i, j = np.append(i, np.full(ncols, row)), np.append(j, np.arange(ncols))
    if column is not None:
        i, j = np.append(i, np.arange(nrows)), np.append(j, np.full(nrows, column))
    made = sp.csr_array((np.ones(i.size, np.float32), (i, j)), shape=(nrows, ncols))
    made.sum_duplicates()
    made.data = rng.integers(1, 9, made.nnz).astype(np.float32)
    return made


def store(S: Any, wide: bool = False) -> CSR:
    """wide: with columns and row offsets of 64 bits."""
    S = sp.csr_array(S)
    S.sort_indices()
    index = np.int64 if wide else np.int32
    return CSR(Pattern(*S.shape, S.indptr.astype(index), S.indices.astype(index)), FP32, S.data.astype(np.float32))


def run(spec: Spec, engine: str) -> Any:
    return registry.run(place(spec, device_for(engine)), engine)


def _agrees(spec: Spec, expected: Any, engine: str) -> None:
    found = run(spec, engine).to("cpu")
    wanted = store(expected)
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    values = np.full(found.nvals, found.iso) if found.values is None else found.values
    np.testing.assert_allclose(values, wanted.values)


def _union(S: Any, T: Any, wide: bool, engine: str) -> None:
    for other in (T, sp.csr_array(sp.tril(S)), S, sp.csr_array(S.shape, dtype=np.float32)):
        _agrees(Ewise(store(S, wide), store(other, wide), PLUS, "union"), S + other, engine)
        _agrees(Ewise(store(other, wide), store(S, wide), PLUS, "union"), S + other, engine)


def _intersection(S: Any, T: Any, wide: bool, engine: str) -> None:
    for other in (T, sp.csr_array(sp.tril(S)), S):
        expected = sp.csr_array(S.multiply(other))
        _agrees(Ewise(store(S, wide), store(other, wide), binary.times[FP32], "intersect"), expected, engine)


def _selection(S: Any, T: Any, wide: bool, engine: str) -> None:
    _agrees(Select(store(S, wide), LOWER, np.int64(-1)), sp.tril(S, -1), engine)
    columns = S.tocoo()
    for op, k, kept in (
        (UPPER, 2, columns.col >= columns.row + 2),
        (DIAGONAL, -1, columns.col == columns.row - 1),
        (FIRST_COLUMNS, S.shape[1] // 3, columns.col <= S.shape[1] // 3),
        (LAST_COLUMNS, S.shape[1] // 3, columns.col > S.shape[1] // 3),
        (LAST_COLUMNS, -1, columns.col > -1),
        (LOWER, 2**62, columns.col < 0),
        (LOWER, -(2**62), columns.col < 0),
    ):
        expected = sp.csr_array((columns.data * kept, (columns.row, columns.col)), shape=S.shape)
        _agrees(Select(store(S, wide), op, np.int64(k)), S if k == 2**62 else drop_zeros(expected), engine)
    above = S.copy()
    above.data[above.data <= 4] = 0
    above.eliminate_zeros()
    _agrees(Select(store(S, wide), ABOVE, np.float32(4)), above, engine)
    _agrees(Select(store(S, wide), ABOVE, np.float32(0)), S, engine)
    inside = sp.csr_array(S.multiply(T != 0))
    _agrees(Keep(store(S, wide), Mask(store(T), True, False)), inside, engine)
    _agrees(Keep(store(S, wide), Mask(store(T), True, True)), drop_zeros(S - inside), engine)


def _region(S: Any, T: Any, wide: bool, engine: str) -> None:
    nrows, ncols = S.shape
    rows, cols = Index(nrows, -(-nrows // 3), 0, 3), Index(ncols, ncols // 2)
    entries = S.tocoo()
    entries.data = np.where((entries.row % 3 == 0) & (entries.col < ncols // 2), 0, entries.data)
    kept = drop_zeros(entries)
    _agrees(Outside(store(S, wide), rows, cols), kept, engine)


def _transposition(S: Any, T: Any, wide: bool, engine: str) -> None:
    _agrees(Transpose(store(S, wide)), S.T, engine)


def _rows(S: Any, T: Any, wide: bool, engine: str) -> None:
    nrows, every = S.shape[0], Index(S.shape[1], S.shape[1])
    drawn_rows = np.random.default_rng(1).integers(0, nrows, nrows + 5)
    for index, key in (
        (Index(nrows, -(-nrows // 2), 0, 2), np.arange(0, nrows, 2)),
        (Index(nrows, nrows, nrows - 1, -1), np.arange(nrows)[::-1]),
        (Index(nrows, nrows // 2, 0, 1), np.arange(nrows // 2)),
        (Index(nrows, nrows - nrows // 3, nrows // 3, 1), np.arange(nrows // 3, nrows)),
        (Index(nrows, drawn_rows.size, array=drawn_rows), drawn_rows),
    ):
        _agrees(ExtractMatrix(store(S, wide), index, every), S[key], engine)


def _reduction(S: Any, T: Any, wide: bool, engine: str) -> None:
    occupied = np.diff(S.indptr) > 0
    ends = S.data[np.maximum(S.indptr[1:] - 1, 0)] if S.nnz else np.zeros(S.shape[0], np.float32)
    for monoid, expected in ((TypedMonoid(PLUS, np.float32(0), None), S.sum(axis=1)), (LAST, ends)):
        found = run(ReduceRows(store(S, wide), monoid), engine)
        np.testing.assert_allclose(to_host(found.values)[occupied], np.asarray(expected)[occupied], rtol=1e-5)


def _scattering(S: Any, T: Any, wide: bool, engine: str) -> None:
    (nrows, ncols), entries = S.shape, S.tocoo()
    every = Index(ncols, ncols)
    for rows, cols in (
        (Index(nrows, nrows), every),
        (Index(3 * nrows, nrows, 1, 2), every),
        (Index(nrows + 9, nrows, 9, 1), Index(2 * ncols + 3, ncols, 3, 2)),
        (Index(nrows, nrows, nrows - 1, -1), every),
    ):
        i, j = rows.start + rows.step * entries.row, cols.start + cols.step * entries.col
        expected = sp.csr_array((entries.data, (i, j)), shape=(rows.size, cols.size))
        _agrees(ScatterMatrix(store(S, wide), rows, cols, None), expected, engine)


def drop_zeros(S: Any) -> Any:
    S = sp.csr_array(S)
    S.eliminate_zeros()
    return S


OPERATIONS: list[Callable[[Any, Any, bool, str], None]] = [
    _union, _intersection, _selection, _region, _transposition, _rows, _reduction, _scattering
]  # fmt: skip


def _parameters() -> list[Any]:
    """Two shapes are quick; the others, and indices of 64 bits, belong to the exhaustive tier and to other engines."""
    return [
        pytest.param(
            shape, wide, marks=[] if shape in QUICK and not wide else [pytest.mark.wide], id=shape + " wide" * wide
        )
        for shape in SHAPES
        for wide in (False, True)
    ]


@pytest.mark.costly
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda check: check.__name__[1:])
@pytest.mark.parametrize(("shape", "wide"), _parameters())
def test_as_scipy(operation: Any, shape: str, wide: bool, engine: str) -> None:
    """Results of many tiles, and in the first and the last of them."""
    if engine == "reference":
        pytest.skip("the specification is dense")
    operation(drawn(shape, 1), drawn(shape, 2), wide, engine)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "operation", [_union, _intersection, _selection, _region], ids=lambda check: check.__name__[1:]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_results_in_two_passes(operation: Any, shape: str, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    if engine != "cuda":
        pytest.skip("the passes belong to the GPU")
    from semiring.engines.cuda import tuning

    monkeypatch.setattr(tuning, "ONE_PASS_BYTES", 0)
    operation(drawn(shape, 1), drawn(shape, 2), False, engine)


def test_columns_far_apart(engine: str) -> None:
    """Rows and columns of a tile need more than 32 bits together."""
    if engine == "reference":
        pytest.skip("the specification is dense")
    S, T = (_stretched(drawn("skewed", seed)) for seed in (1, 2))
    _agrees(Ewise(store(S), store(T), PLUS, "union"), S + T, engine)
    _agrees(Ewise(store(S), store(T), binary.times[FP32], "intersect"), sp.csr_array(S.multiply(T)), engine)


def _stretched(S: Any) -> Any:
    """The matrix with its columns at equal distances among 2^31 - 1."""
    ncols = 2**31 - 1
    return sp.csr_array((S.data, S.indices * (ncols // S.shape[1]), S.indptr), shape=(S.shape[0], ncols))


@pytest.mark.gpu
@pytest.mark.parametrize("shape", SHAPES)
def test_transposes_by_radix_sort(shape: str, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    if engine != "cuda":
        pytest.skip("the method belongs to the GPU")
    from semiring.engines.cuda import tuning

    monkeypatch.setattr(tuning, "RADIX_ENTRIES", 1)
    S = drawn(shape, 1)
    _agrees(Transpose(store(S)), S.T, engine)
    iso = store(S)
    ones = CSR(iso.pattern, FP32, None, np.float32(1))
    S.data[:] = 1
    _agrees(Transpose(ones), S.T, engine)


def _replaced(S: Any, rows: Any, part: Any) -> Any:
    """S with the rows of `part` in place of those that `rows` lists."""
    kept, moved = np.ones(S.shape[0], np.float32), (np.ones(rows.size, np.float32), (rows, np.arange(rows.size)))
    kept[rows] = 0
    made = sp.csr_array(sp.diags_array(kept) @ S + sp.csr_array(moved, shape=(S.shape[0], rows.size)) @ part)
    made.eliminate_zeros()
    made.sort_indices()
    return made


@pytest.mark.gpu
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_rows_are_replaced(shape: str, wide: bool, engine: str) -> None:
    if engine != "cuda":
        pytest.skip("the method belongs to the GPU")
    S, T = drawn(shape, 1), drawn(shape, 2)
    nrows = S.shape[0]
    chosen = np.random.default_rng(3).permutation(nrows)[: -(-nrows // 3)]
    for index, rows in (
        (Index(nrows, nrows // 2, 0, 2), np.arange(0, nrows - 1, 2)),
        (Index(nrows, nrows, nrows - 1, -1), np.arange(nrows)[::-1]),
        (Index(nrows, 0), np.arange(0)),
        (Index(nrows, chosen.size, array=chosen), chosen),
    ):
        part = sp.csr_array(T[: rows.size])
        expected = _replaced(S, rows, part)
        _agrees(ReplaceRows(store(S, wide), index, store(part)), expected, engine)
        ones, others = store(S), store(part)
        found = run(ReplaceRows(_iso(ones, 2), index, _iso(others, 2)), engine)
        assert found.values is None
        assert found.iso == 2
        expected = _replaced((S != 0).astype(np.float32), rows, 3 * (part != 0).astype(np.float32))
        _agrees(ReplaceRows(_iso(ones, 1), index, _iso(others, 3)), expected, engine)
    repeated = Index(nrows, 2, array=np.zeros(2, np.int64))
    assert run(ReplaceRows(store(S), repeated, store(drawn(shape, 2)[[0, 0]])), engine) is None


def _iso(a: CSR, value: float) -> CSR:
    return CSR(a.pattern, FP32, None, np.float32(value))
