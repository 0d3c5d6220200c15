"""A kernel that reads a matrix and its transpose, where their tile offsets have two types: as from 2^32 bytes on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy")

import semiring as sr
from semiring import operators
from semiring.config import config
from semiring.engines import registry
from semiring.engines.cuda.columns import codec_types, side_by_side, types_of_both
from semiring.engines.requests.graphs import Closure
from semiring.engines.requests.operands import Rows
from semiring.formats import CSR, CompressedPattern, IndexList, Pattern
from tests import verify

INT32 = np.dtype(np.int32)
INT64 = np.dtype(np.int64)
UINT32 = np.dtype(np.uint32)


def compressed(offset: np.dtype[Any], codec: Any = "varint") -> CompressedPattern:
    """An empty pattern of 3 rows."""
    return CompressedPattern(
        3, 3, 0, codec, np.zeros(4, INT32), np.zeros(0, INT32), np.zeros(1, offset), np.zeros(16, np.uint8)
    )


def test_narrow_offsets_are_widened_once() -> None:
    narrow, wide = compressed(UINT32), compressed(INT64)
    for a, t in ((narrow, wide), (wide, narrow)):
        here, there = side_by_side(a, t)
        assert here.at.dtype == there.at.dtype == INT64
        assert here.stream is a.stream
        assert there.stream is t.stream
        assert wide in (here, there)
    assert side_by_side(narrow, wide)[0] is side_by_side(wide, narrow)[1]
    assert narrow.at.dtype == UINT32
    other = replace(narrow, stream=np.zeros(16, np.uint8))  # shares the facts
    assert side_by_side(other, wide)[0].stream is other.stream


def test_what_one_kernel_reads_stays_as_it_is() -> None:
    narrow, wide, other = compressed(UINT32), compressed(INT64), compressed(UINT32, "packed")
    plain = Pattern(3, 3, np.zeros(4, INT32), np.zeros(0, INT32))
    for pair in ((narrow, narrow), (narrow, other), (wide, wide), (plain, wide), (narrow, plain), (plain, plain)):
        assert side_by_side(*pair) == pair
    for pair, codec, offset in (
        ((plain, wide), "uncompressed", INT64),
        ((narrow, plain), "varint", UINT32),
        (side_by_side(other, wide), "packed", INT64),
    ):
        assert types_of_both(*pair).startswith(codec_types(codec, INT32, offset))


@pytest.mark.gpu
@pytest.mark.parametrize("codec", ["varint", "packed"])
@pytest.mark.parametrize("widened", ["rows", "columns"])
@pytest.mark.parametrize("direction", ["pull", "auto", "push"])
def test_searches(codec: Any, widened: str, direction: str) -> None:
    """Forced to pull it pulls; it did push instead."""
    with sr.use("cuda"):
        A = sr.random.kronecker(11, seed=3)
        indptr, indices, _ = A.to("cpu").to_csr()
        pattern = A.compress(codec).wait().store.pattern
    wide = replace(pattern, at=pattern.at.astype(INT64), facts={})
    here, there = (wide, pattern) if widened == "rows" else (pattern, wide)
    a, t = (CSR(p, np.dtype(np.int64), None, np.int64(1)) for p in (here, there))
    source, n = int(np.diff(indptr).argmax()), a.nrows
    import cupy

    start = IndexList(n, np.dtype(np.int64), cupy.asarray(np.array([source], INT32)), None, np.int64(0))
    typed = operators.lookup_semiring("min_plus").typed(np.dtype(np.int64), np.dtype(np.int64))
    with config.set(device="cuda"):
        found = registry.run(Closure(start, Rows(a), Rows(t), typed, True, n, direction, True), "cuda")
        levels = sr.Vector._new(found.store).to("cpu").to_dense(verify.UNREACHED)
    verify.bfs_levels(indptr, indices, source, levels)
    if direction != "auto":
        assert {step.direction for step in found.trace} == {direction}
