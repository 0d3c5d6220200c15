"""Operations on matrices that an engine reads in slices: the slices that they read, and what results keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring.dtypes import BOOL, INT64
from semiring.engines import registry
from semiring.engines.reference.dense import sparsify
from semiring.engines.requests.graphs import Link
from semiring.engines.requests.operands import Index, Mask, Rows
from semiring.engines.requests.operations import Apply, Ewise, ExtractMatrix, IsSymmetric, Keep, Mxv, Select
from semiring.engines.requests.storage import Slices
from semiring.engines.sliced import symmetry
from semiring.exceptions import OutOfMemory
from semiring.formats import CSR, Full, Pattern
from semiring.memory import allocation
from semiring.operators import binary, select, semiring
from semiring.operators.expression import Expression
from semiring.operators.types import TypedIndexUnary
from tests.compare import check, device_for, place, result_of
from tests.draw import make_matrix, make_vector, matrix_of, seeds
from tests.engines.blocks import BLOCKS, details, in_slices, on_host
from tests.storage_kinds import in_kind, small_slices


def test_a_pull_reads_only_slices_that_the_mask_admits(engine: str) -> None:
    rows = Rows(on_host(BLOCKS, engine))
    u = place(make_vector(130, INT64, "full", 1.0, False, 1), device_for(engine))
    only = place(sparsify(np.ones(130, bool), np.arange(130) == 70, BOOL), device_for(engine))
    spec = Mxv(130, 130, rows, rows, u, semiring.plus_times[INT64], False, Mask(only, True, False), "pull")
    found = details("mxv", spec, engine)
    assert (found["slices"], found["skipped"], found["direction"]) == (5, 4, "pull")


def test_a_push_reads_only_slices_in_which_the_vector_has_entries(engine: str) -> None:
    rows = Rows(on_host(BLOCKS, engine))
    u = place(sparsify(np.arange(130), np.isin(np.arange(130), (1, 129)), INT64), device_for(engine))
    spec = Mxv(130, 130, rows, rows, u, semiring.plus_times[INT64], True)
    found = details("mxv", spec, engine)
    assert (found["slices"], found["skipped"], found["direction"]) == (5, 3, "push")


def test_keep_and_link_skip_irrelevant_slices(engine: str) -> None:
    a = on_host(BLOCKS, engine)
    one_row = np.zeros((130, 130), bool)
    one_row[40] = True
    mask = place(matrix_of(one_row, BOOL, True, np.random.default_rng(0)), device_for(engine))
    kept = Keep(a, Mask(mask, True, False))
    assert details("keep", kept, engine)["skipped"] == 4
    labels = np.where(np.arange(130) < 64, 0, np.arange(130)).astype(np.int32)
    forest = place(Full(130, labels.dtype, labels), device_for(engine))
    spec = Link(forest, a.pattern, 0, None, 0)
    if in_slices(spec, engine):
        assert details("link", spec, engine)["skipped"] == 2
    for first, last, skip in ((0, None, 0), (0, 2, None), (3, 40, None), (1, None, 5)):
        with small_slices():
            check(replace(spec, first=first, last=last, skip=skip), engine)
    with small_slices():
        check(kept, engine)


@pytest.fixture
def overwritten(engine: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The engine, with slices whose memory is overwritten as early as is allowed."""
    original = registry.find(Slices(on_host(BLOCKS, engine), (0, 130), (0,)), engine)
    assert original is not None

    def slices(q: Slices) -> Iterator[CSR]:
        before: list[Any] = []
        for rows in original.function(q):
            assert isinstance(rows.pattern, Pattern)
            values = None if rows.values is None else rows.values.copy()
            lent = [rows.indptr.copy(), rows.indices.copy()]
            yield CSR(Pattern(rows.nrows, rows.ncols, *lent), rows.dtype, values, rows.iso)
            for array in before:
                array[...] = 0
            before = [*lent, *([] if values is None else [values])]
        for array in before:
            array[...] = 0

    row = replace(original, function=slices)
    monkeypatch.setattr(registry, "_implementations", {})
    monkeypatch.setitem(registry._table, ("slices", engine), [row])
    return engine


@pytest.mark.parametrize("codec", [None, "varint", "packed"])
def test_results_do_not_use_borrowed_memory(overwritten: str, codec: str | None) -> None:
    engine = overwritten
    other = make_matrix(130, 130, INT64, 0.05, False, 8)
    empty = make_matrix(130, 130, INT64, 0.0, False, 8)
    everything = Index(130, 130)
    for spec, names in (
        (Select(BLOCKS, select.tril[INT64], INT64.type(500)), "a"),
        (Keep(BLOCKS, Mask(BLOCKS, True, False)), "a"),
        (Ewise(BLOCKS, empty, binary.plus[INT64], "union"), "ab"),
        (Ewise(BLOCKS, other, binary.second[INT64], "union"), "ab"),
        (ExtractMatrix(BLOCKS, everything, everything), "a"),
        (ExtractMatrix(BLOCKS, Index(130, 130, 129, -1), everything), "a"),
    ):
        formed = {
            name: in_kind(place(getattr(spec, name), device_for(engine)), codec, "host", engine) for name in names
        }
        with small_slices():
            got = result_of(replace(place(spec, device_for(engine)), **formed), engine)
        expected = registry.run(spec, "reference")
        for field in ("indptr", "indices", "values"):
            np.testing.assert_array_equal(getattr(got, field), getattr(expected, field))


@given(
    seed=seeds,
    spoil=st.booleans(),
    limit=st.sampled_from((40, 150, 1 << 20)),
    gathered=st.sampled_from((7, symmetry._GATHERED)),
)
def test_is_symmetric_by_random_numbers(engine: str, seed: int, spoil: bool, limit: int, gathered: int) -> None:
    rng = np.random.default_rng(seed)
    present = rng.random((150, 150)) < 0.05
    present |= present.T
    if spoil:
        i, j = (int(p) for p in rng.choice(150, 2, replace=False))
        present[i, j] ^= True
    a = on_host(matrix_of(present, BOOL, True, rng), engine)
    with small_slices(limit), patch.object(symmetry, "_GATHERED", gathered):
        assert registry.run(IsSymmetric(a.pattern), engine) is not spoil


def test_four_random_numbers_a_row_are_requested(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = IsSymmetric(on_host(BLOCKS, engine).pattern)
    monkeypatch.setattr(allocation, "_UNASKED", 0)
    monkeypatch.setattr(allocation, "free_memory", lambda device: 0)
    if in_slices(spec, engine):
        with small_slices(), pytest.raises(OutOfMemory, match=r"^is_symmetric: ") as caught:
            registry.run(spec, engine)
        assert caught.value.asked_bytes == 130 * 4 * 8


def test_one_value_of_compressed_entries_remains_one_value(engine: str) -> None:
    iso = in_kind(place(make_matrix(40, 40, INT64, 0.3, True, 1), device_for(engine)), "varint", "device", engine)
    negative = TypedIndexUnary("negative", INT64, BOOL, INT64, Expression("-x"))
    spec = Apply(iso, negative, BOOL.type(False))
    made = registry.run(spec, engine)
    assert iso.iso is not None
    if in_slices(spec, engine) and engine != "reference":  # the specification stores every value
        assert made.iso == -iso.iso
