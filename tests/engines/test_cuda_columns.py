"""Readers of compressed columns on the GPU: one entry, a cursor, a warp, a range; each from every position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

cupy = pytest.importorskip("cupy")

from semiring.engines.cuda import compile, kernel  # noqa: E402
from semiring.engines.cuda.columns import column_argument, column_types  # noqa: E402
from semiring.engines.cuda.decode import decode_range  # noqa: E402
from semiring.engines.reference import codecs as reference  # noqa: E402
from semiring.formats import CODECS, TILE, Codec, CompressedPattern, Pattern, index_dtype  # noqa: E402
from semiring.formats.codecs import DEFINITIONS  # noqa: E402

pytestmark = pytest.mark.gpu

PROBE = """
#include "columns.cuh"

extern "C" __global__ void probe_at(ColumnsArgument argument, i64 n, const i64* starts, i64* out) {
    const Columns columns = open_columns(argument);
    for (i64 p = thread_id(); p < n; p += thread_count()) out[p] = columns.at(starts[p], p);
}

extern "C" __global__ void probe_cursor(ColumnsArgument argument, i64 n, const i64* starts, const i64* ends, i64 steps,
                                        i64* out) {
    const Columns columns = open_columns(argument);
    for (i64 p = steps * thread_id(); p < n; p += steps * thread_count()) {
        ColumnCursor cursor(columns, starts[p], p);
        for (i64 q = p; q < ends[p] && q < p + steps; ++q, cursor.next()) out[q] = cursor.column();
    }
}

extern "C" __global__ void probe_warp(ColumnsArgument argument, i64 rows, const i64* starts, const i64* firsts,
                                      const i64* lasts, i64* out) {
    const Columns columns = open_columns(argument);
    for (i64 r = warp_id(); r < rows; r += warp_count()) {
        WarpColumns walk(columns, starts[r], firsts[r], lasts[r]);
        while (walk.next())
            if (walk.inside) out[walk.p] = walk.column;
    }
}
"""
UNTOUCHED = -7
SHAPES = {"long rows": [300, 0, 0, 10, 700, 1], "short rows": [*range(7)] * 40, "sparse rows": [1, *[0] * 90] * 30}


@pytest.fixture(autouse=True)
def probe(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    read = compile._source
    monkeypatch.setattr(compile, "_source", lambda file: PROBE if file == "probe.cuh" else read(file))
    yield
    compile.module_text.cache_clear()


def probed(entry: str, pattern: Any, n: int, *arguments: Any) -> np.ndarray[Any, Any]:
    """What a probe of the text above writes for the entries of a pattern."""
    out = cupy.full(pattern.nvals, UNTOUCHED, np.int64)
    given = (cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments)
    kernel.Kernel("probe.cuh", entry, column_types(pattern))(4, 256, column_argument(pattern), n, *given, out)
    return np.asarray(out.get())


def rows_of(shape: str, ncols: int) -> Pattern:
    """Rows in which a few of the gaps are large, and the last one ends with the last column."""
    draw = np.random.default_rng(11)
    gaps = [1 + (draw.random(size) < 0.1) * draw.integers(0, ncols // 2000, size) for size in SHAPES[shape]]
    rows = [np.cumsum(gap) - 1 for gap in gaps]
    last = max(k for k, row in enumerate(rows) if row.size)
    rows[last] = rows[last] + (ncols - 1 - rows[last][-1])
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.concatenate(rows).astype(index_dtype(ncols))
    return Pattern(len(rows), ncols, indptr.astype(np.int32), indices)


@pytest.fixture(params=[(shape, ncols) for shape in SHAPES for ncols in (2**20, 2**31 - 1, 2**31, 2**40)])
def pattern(request: pytest.FixtureRequest) -> Pattern:
    return rows_of(*request.param)


@pytest.mark.parametrize("codec", [None, *CODECS])
def test_every_entry_from_everywhere(pattern: Pattern, codec: Codec | None) -> None:
    there = (pattern if codec is None else reference.encode(pattern, codec)).to("cuda")
    indptr = pattern.indptr.astype(np.int64)
    lengths = np.diff(indptr)
    starts, ends = np.repeat(indptr[:-1], lengths), np.repeat(indptr[1:], lengths)
    np.testing.assert_array_equal(probed("probe_at", there, pattern.nvals, starts), pattern.indices)
    for steps in (1, 5, 200):
        found = probed("probe_cursor", there, pattern.nvals, starts, ends, steps)
        walked = found != UNTOUCHED
        assert walked[::steps].all()
        np.testing.assert_array_equal(found[walked], pattern.indices[walked])
    for part in (1, 2, 3):
        firsts, lasts = indptr[:-1] + lengths // part * (part - 1), indptr[1:] - lengths // (2 * part)
        expected = np.full(pattern.nvals, UNTOUCHED, np.int64)
        for first, last in zip(firsts, lasts, strict=True):
            expected[first:last] = pattern.indices[first:last]
        np.testing.assert_array_equal(probed("probe_warp", there, pattern.nrows, indptr[:-1], firsts, lasts), expected)


@pytest.mark.parametrize("codec", CODECS)
def test_a_range_of_entries_from_a_part_of_the_stream(pattern: Pattern, codec: Codec) -> None:
    there: CompressedPattern = reference.encode(pattern, codec).to("cuda")
    draw = np.random.default_rng(3)
    at = there.at.get().astype(np.int64)
    for k in range(12):
        first, last = np.sort(draw.integers(0, pattern.nvals + 1, 2)).tolist()
        begin, end = int(at[first // TILE]), int(at[-(-last // TILE)]) + DEFINITIONS[codec].padding
        lead = begin * there.stream.itemsize % 16 // there.stream.itemsize
        held = cupy.zeros(lead + end - begin, there.stream.dtype)
        held[lead:] = there.stream[begin:end]
        room = cupy.full(pattern.nvals + 8, UNTOUCHED, there.base.dtype)
        # Stores of 16 bytes, and of one column.
        out = room[4 + (first + k % 2) % 4 :][: last - first]
        decode_range(replace(there, facts={}, placement="host"), first, last, out, held[lead:], begin)
        np.testing.assert_array_equal(out.get(), pattern.indices[first:last])
        assert int((room != UNTOUCHED).sum()) == last - first
