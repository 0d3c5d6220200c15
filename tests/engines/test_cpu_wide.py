"""The CPU engine on dimensions far larger than the number of entries, its thresholds forced on small operands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring.dtypes import FP64, INT64
from semiring.engines.requests.operands import Index
from semiring.engines.requests.operations import (
    BuildMatrix,
    ExtractMatrix,
    ExtractVector,
    Keep,
    Mxm,
    Mxv,
    Outside,
    Transpose,
    WriteVector,
)
from semiring.exceptions import DuplicateIndex
from semiring.operators import binary, semiring
from tests import sampling
from tests.compare import check, result_of
from tests.draw import both_ways, densities, indexes, make_vector, masks, matrices, seeds, sizes, some_sizes, vectors

# A product that reads values, and products that read positions; a short run draws one of the latter, in mxm, because
# each compiles its own kernels.
VALUES = pytest.param(semiring.plus_times[FP64], FP64, id="values")
POSITIONS = {
    "columns": semiring.min_secondj,
    "rows": semiring.min_firsti,
    "inner of A": semiring.min_firstj,
    "inner of B": semiring.min_secondi,
}


def by_positions(count: int) -> list[Any]:
    """Products that read positions; `count` of them in a short run."""
    sample = sampling.draw("products of positions", POSITIONS, count)
    return [
        pytest.param(ring[INT64], INT64, id=name, marks=sampling.marks(name, sample))
        for name, ring in POSITIONS.items()
    ]


@pytest.fixture(autouse=True, scope="module")
def every_dimension_is_wide(engine: str) -> Iterator[None]:
    """A threshold of 0 entries; only the CPU engine has one."""
    if engine != "cpu":
        pytest.skip("thresholds of the CPU engine")
    from semiring.engines.cpu import index_rank, mxv

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_rank, "WIDE_SHARE", 0)
        patch.setattr(index_rank, "WIDE_FLOOR", 0)
        patch.setattr(index_rank, "_TABLE_SHARE", 1)
        patch.setattr(mxv, "_DENSE_SIZE", 0)
        yield


@given(data=st.data())
def test_extract_matrix(engine: str, data: st.DataObject) -> None:
    nrows, ncols = data.draw(st.tuples(sizes, sizes), label="shape")
    a = data.draw(matrices(nrows, ncols, FP64), label="A")
    check(ExtractMatrix(a, data.draw(indexes(nrows), label="rows"), data.draw(indexes(ncols), label="cols")), engine)


@given(data=st.data())
def test_extract_vector(engine: str, data: st.DataObject) -> None:
    size = data.draw(sizes, label="size")
    check(ExtractVector(data.draw(vectors(size, FP64)), data.draw(indexes(size), label="index")), engine)


@given(data=st.data())
def test_outside(engine: str, data: st.DataObject) -> None:
    nrows, ncols = data.draw(st.tuples(some_sizes, some_sizes), label="shape")
    rows, cols = data.draw(indexes(nrows), label="rows"), data.draw(indexes(ncols), label="cols")
    check(Outside(data.draw(matrices(nrows, ncols, FP64)), rows, cols), engine)
    check(Outside(data.draw(vectors(nrows, FP64)), rows, None), engine)


@pytest.mark.costly
@pytest.mark.parametrize(("ring", "dtype"), [VALUES, *by_positions(1)])
@given(data=st.data())
def test_mxm(engine: str, ring: Any, dtype: Any, data: st.DataObject) -> None:
    nrows, ninner, ncols = data.draw(st.tuples(sizes, sizes, sizes), label="shapes")
    a, b = data.draw(matrices(nrows, ninner, dtype), label="A"), data.draw(matrices(ninner, ncols, dtype), label="B")
    check(Mxm.of(a, b, ring, data.draw(st.none() | masks((nrows, ncols)), label="mask")), engine)


@pytest.mark.costly
@pytest.mark.parametrize(("ring", "dtype"), [VALUES, *by_positions(0)])
@given(data=st.data())
def test_mxv(engine: str, ring: Any, dtype: Any, data: st.DataObject) -> None:
    nout, ninner = data.draw(st.tuples(sizes, sizes), label="nout, ninner")
    by_row, by_column = both_ways(data.draw(matrices(nout, ninner, dtype), label="M"), True)
    u, mask = data.draw(vectors(ninner, dtype), label="u"), data.draw(st.none() | masks((nout,)), label="mask")
    direction = data.draw(st.sampled_from(("push", "pull")), label="direction")
    check(Mxv(nout, ninner, by_row, by_column, u, ring, data.draw(st.booleans()), mask, direction), engine)


@given(data=st.data())
def test_keep_and_write(engine: str, data: st.DataObject) -> None:
    size = data.draw(some_sizes, label="size")
    u, mask = data.draw(vectors(size, FP64), label="u"), data.draw(masks((size,)), label="mask")
    check(Keep(u, mask), engine)
    # Two lists of one entry each: aligned in compact slots.
    few = [make_vector(400, FP64, "index", 0.02, False, data.draw(seeds)) for _ in range(2)]
    wide_mask = data.draw(masks((400,)), label="wide mask")
    accum = data.draw(st.sampled_from((None, binary.plus[FP64])), label="accum")
    check(WriteVector(*few, wide_mask, accum, data.draw(st.booleans(), label="replace")), engine)


@given(data=st.data())
def test_transpose(engine: str, data: st.DataObject) -> None:
    nrows, ncols = data.draw(st.tuples(sizes, sizes), label="shape")
    check(Transpose(data.draw(matrices(nrows, ncols, FP64), label="A")), engine)


@given(
    shape=st.tuples(some_sizes, some_sizes), count=st.integers(0, 40), seed=seeds, dup=st.sampled_from((None, "plus"))
)
def test_build_matrix(engine: str, shape: tuple[int, int], count: int, seed: int, dup: str | None) -> None:
    rng = np.random.default_rng(seed)
    rows, cols = (rng.integers(0, size, count).astype(np.int32) for size in shape)
    op = None if dup is None else getattr(binary, dup)[INT64]
    spec = BuildMatrix(*shape, INT64, rows, cols, rng.integers(0, 9, count), None, op)
    places = list(zip(rows.tolist(), cols.tolist(), strict=True))
    if dup is None and len(set(places)) < count:
        first = min(place for place in places if places.count(place) > 1)
        with pytest.raises(DuplicateIndex, match=rf"entry \({first[0]}, {first[1]}\) is given"):
            result_of(spec, engine)
    else:
        check(spec, engine)


@given(n=some_sizes, density=densities, seed=seeds, run=st.sampled_from((0, 1, 512)))
def test_offsets_of_few_rows_among_many(engine: str, n: int, density: float, seed: int, run: int) -> None:
    from semiring.engines.cpu import index_rank

    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(n) < density).astype(np.int32)
    offsets = np.cumsum([0, *rng.integers(1, 4, rows.size)]).astype(np.int32)
    with patch.object(index_rank, "_RUN", run):
        made = index_rank.spread_offsets(rows, offsets, n)
    assert made.dtype == offsets.dtype
    assert made.tolist() == [offsets[np.searchsorted(rows, i)] for i in range(n + 1)]


def test_a_range_of_one_may_have_any_step(engine: str) -> None:
    u = make_vector(9, FP64, "index", 1.0, False, 1)
    for step in (-3, 0, 1, 4):
        check(ExtractVector(u, Index(9, 1, 5, step)), engine)
