"""Layouts, scaling, running totals and choices on matrices of many tiles; compared with SciPy and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from semiring.dtypes import FC64, FP32, FP64, INT8, INT64
from semiring.engines.requests.operations import Concat, Reshape, Scale, Scan, SelectK
from semiring.formats import CSR, Full
from semiring.memory.arrays import to_host
from semiring.operators import binary, monoid
from semiring.operators.expression import Expression
from semiring.operators.types import TypedBinary
from tests.ops.test_many_entries import QUICK, SHAPES, drawn, run, store

POSITIONS = TypedBinary("positions", FP32, INT64, INT64, Expression("x + y + 3 * xi + 5 * yj"))


def _agrees(found: CSR, expected: Any) -> None:
    found, expected = found.to("cpu"), sp.csr_array(expected)
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    values = np.full(found.nvals, found.iso) if found.values is None else found.values
    np.testing.assert_allclose(values, expected.data)


def _layouts(S: Any, T: Any, wide: bool, engine: str) -> None:
    (n, m), a, b = S.shape, store(S, wide), store(T, wide)
    ones, other = store(S), store(T)
    ones, cast = CSR(ones.pattern, FP64, None, np.float64(2)), CSR(other.pattern, INT8, other.values.astype(np.int8))
    two = sp.csr_array((np.full(S.nnz, 2.0), S.indices, S.indptr), shape=S.shape)
    _agrees(run(Concat(n, 2 * m, FP32, (0, 0), (0, m), (a, b)), engine), sp.hstack([S, T]))
    mixed = Concat(2 * n + 3, 3 * m + 9, FC64, (0, n, n, n), (5, 0, m + 2, 2 * m + 9), (cast, a, ones, cast))
    gap, left = sp.csr_array((n, 2)), sp.csr_array((n, 5))
    below = sp.hstack([S, gap, two, sp.csr_array((n, 7)), T])
    above = sp.hstack([left, T, sp.csr_array((n, 2 * m + 4))])
    _agrees(run(mixed, engine), sp.vstack([above, below, sp.csr_array((3, 3 * m + 9))]))
    tiles = (a, *(store(sp.csr_array(X[:, :1]), wide) for X in (S, T) * 35), b)
    cols = (0, *range(m, m + 70), m + 70)
    wanted = sp.hstack([S, *[S[:, :1], T[:, :1]] * 35, T])
    _agrees(run(Concat(n, 2 * m + 70, FP32, (0,) * 72, cols, tiles), engine), wanted)


def _shapes(S: Any, T: Any, wide: bool, engine: str) -> None:
    size, entries = S.shape[0] * S.shape[1], S.tocoo()
    at = entries.row.astype(np.int64) * S.shape[1] + entries.col
    for nrows in (1, 2, 5, 100, S.shape[0], 2 * S.shape[1], size // 100, size):
        if size % nrows or nrows > 1 << 24:
            continue
        ncols = size // nrows
        expected = sp.coo_array((entries.data, (at // ncols, at % ncols)), shape=(nrows, ncols))
        _agrees(run(Reshape(store(S, wide), nrows, ncols), engine), expected)


def _scaling(S: Any, T: Any, wide: bool, engine: str) -> None:
    (n, m), entries, a = S.shape, S.tocoo(), store(S, wide)
    for by_rows, size, at in ((False, m, entries.col), (True, n, entries.row)):
        u = np.arange(1, size + 1)
        for dtype, op in ((FP32, binary.minus[FP32]), (FC64, binary.times[FC64])):
            sides = [S.data.astype(dtype), u[at].astype(dtype)]
            x, y = sides[::-1] if by_rows else sides
            made = run(Scale(a, Full(size, dtype, u.astype(dtype)), op, by_rows), engine)
            np.testing.assert_allclose(to_host(made.values), x - y if dtype == FP32 else x * y)
        if by_rows:
            continue
        found = run(Scale(a, Full(size, INT64, u), POSITIONS, by_rows), engine)
        wanted = S.data.astype(np.int64) + u[at] + 3 * entries.row.astype(np.int64) + 5 * entries.col
        np.testing.assert_array_equal(to_host(found.values), wanted)
        ones = CSR(a.pattern, FP32, None, np.float32(2))
        np.testing.assert_allclose(
            to_host(run(Scale(ones, Full(size, FP32, u.astype(np.float32)), binary.plus[FP32], False), engine).values),
            u[at] + 2,
        )


def _totals(S: Any, T: Any, wide: bool, engine: str) -> None:
    if S.nnz == 0:
        assert run(Scan(store(S, wide), monoid.plus[FP32]), engine).nvals == 0
        return
    starts = np.repeat(S.indptr[:-1], np.diff(S.indptr))
    for dtype in (FP32, FP64, FC64, INT8):
        a = store(S, wide)
        data = S.data.astype(dtype)
        with np.errstate(over="ignore"):
            sums = np.cumsum(data, dtype=dtype if dtype == INT8 else np.result_type(dtype, FP64))
            wanted = (sums - np.where(starts > 0, sums[starts - 1], 0)).astype(dtype)
        found = run(Scan(CSR(a.pattern, dtype, data), monoid.plus[dtype]), engine)
        np.testing.assert_allclose(to_host(found.values), wanted)
    iso = CSR(store(S, wide).pattern, FP64, None, np.float64(3))
    np.testing.assert_allclose(
        to_host(run(Scan(iso, monoid.plus[FP64]), engine).values), 3.0 * (np.arange(S.nnz) - starts + 1)
    )


def _ends(S: Any, T: Any, wide: bool, engine: str) -> None:
    begin, end = (np.repeat(edge, np.diff(S.indptr)) for edge in (S.indptr[:-1], S.indptr[1:]))
    p = np.arange(S.nnz)
    for k in (1, 3, 100):
        for how, kept in (("first", p < begin + k), ("last", p >= end - k)):
            entries = S.tocoo()
            expected = sp.coo_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=S.shape)
            _agrees(run(SelectK(store(S, wide), k, how, 0), engine), expected)


OPERATIONS: list[Callable[[Any, Any, bool, str], None]] = [_layouts, _shapes, _scaling, _totals, _ends]


@pytest.mark.costly
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda check: check.__name__[1:])
@pytest.mark.parametrize("wide", [False, pytest.param(True, marks=pytest.mark.wide)], ids=["", "wide"])
@pytest.mark.parametrize("shape", [s if s in QUICK else pytest.param(s, marks=pytest.mark.wide) for s in SHAPES])
def test_as_scipy(operation: Any, shape: str, wide: bool, engine: str) -> None:
    """Results of many tiles: long, empty and full rows, of every placement in a tile."""
    if engine == "reference":
        pytest.skip("the specification is dense")
    operation(drawn(shape, 1), drawn(shape, 2), wide, engine)
