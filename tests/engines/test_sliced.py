"""Slices: their bounds, which of them are read, and that no result uses their borrowed memory."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from semiring.config import config
from semiring.dtypes import BOOL, FP64, INT64
from semiring.engines import recording, registry
from semiring.engines.operands import Index, Mask, Rows, Spec
from semiring.engines.reference.dense import sparsify
from semiring.engines.sliced import symmetry
from semiring.engines.sliced.bounds import SLICE, WORD, common_bounds, most, slice_bounds
from semiring.engines.spec import (
    Apply,
    Closure,
    Ewise,
    ExtractMatrix,
    IsSymmetric,
    Keep,
    Link,
    Mxv,
    Select,
    Transpose,
    WriteMatrix,
)
from semiring.engines.spec_storage import CheckCompressed, Slices
from semiring.exceptions import OutOfMemory
from semiring.formats import CSR, AnyPattern, Full, Pattern, index_dtype
from semiring.formats.records import record
from semiring.memory import allocation
from semiring.memory.arrays import to_host
from semiring.operators import binary, select, semiring
from semiring.operators.types import TypedIndexUnary
from tests import storage_kinds
from tests.compare import check, device_for, place, result_of
from tests.draw import make_matrix, make_vector, matrix_of, seeds
from tests.storage_kinds import in_kind, in_other_kinds, small_slices


def rows_of(lengths: list[int]) -> Pattern:
    """Rows of the given lengths."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.concatenate([np.arange(length) for length in lengths] or [np.arange(0)])
    widest = max(lengths, default=0) + 1
    return Pattern(len(lengths), widest, offsets.astype(np.int32), columns.astype(index_dtype(widest)))


@given(
    lengths=st.lists(st.sampled_from((0, 0, 1, 2, 5, 40, 300)), max_size=200), limit=st.sampled_from((1, 7, 64, 500))
)
@example(lengths=[1] * 96, limit=128)
@example(lengths=[1] * 1000, limit=200)
def test_cuts(engine: str, lengths: list[int], limit: int) -> None:
    """Slices cover all rows; each is small enough, or has 32 rows, which are not divided.

    A slice ends where the next 32 rows, or the next half of a slice, would make it too large.
    """
    pattern = rows_of(lengths).to(device_for(engine))
    with small_slices(limit):
        rows, entries = slice_bounds(pattern)
        assert common_bounds(pattern) == tuple(sorted(set(rows)))
    indptr = to_host(pattern.indptr)
    assert (rows[0], rows[-1]) == (0, pattern.nrows)
    assert list(entries) == [indptr[row] for row in rows]
    assert all(row % WORD == 0 for row in rows[:-1])
    sizes = indptr + np.arange(pattern.nrows + 1)  # of the entries and rows before a row
    for first, last in pairwise(rows):
        size = int(sizes[last] - sizes[first])
        assert size <= limit or last - first <= WORD
        assert first < last or pattern.nrows == 0
        if last < pattern.nrows:
            following = int(sizes[min(last + WORD, pattern.nrows)] - sizes[last])
            assert size + max(limit // 2, following) > limit


def test_cuts_are_found_once_for_each_limit(engine: str) -> None:
    pattern = rows_of([3] * 100).to(device_for(engine))
    with small_slices(40):
        assert slice_bounds(pattern) is slice_bounds(pattern)
        few = slice_bounds(pattern)
    assert len(few.rows) == 5
    assert slice_bounds(pattern).rows == (0, 100)


def test_two_slices_take_an_eighth_of_a_limited_memory() -> None:
    """Columns of 4 bytes and values of 8; without a limit, and in the memory of the CPU, a slice has the usual size."""
    budget = 1 << 30
    for device, limit, expected in (("cuda", budget, budget // 8 // 2 // 12), ("cuda", None, SLICE), ("cpu", 1, SLICE)):
        pattern: Any = SimpleNamespace(device=device, ncols=100)
        with config.set(device_memory=limit):
            assert most(pattern) == expected


BLOCKS = make_matrix(130, 130, INT64, 0.2, False, 7)


def on_host(a: CSR, engine: str) -> CSR:
    return in_kind(place(a, device_for(engine)), None, "host", engine)


def details(name: str, spec: Any, engine: str) -> dict[str, Any]:
    """The details that the sliced call recorded."""
    with small_slices(), recording.listen() as log:
        registry.run(spec, engine)
    (found,) = [call.details for call in log if call.operation == name and call.details.get("kernel") == "sliced"]
    return found


def in_slices(spec: Any, engine: str) -> bool:
    """False where the engine has its own implementation, which may skip smaller units."""
    found = registry.find(spec, engine)
    assert found is not None
    return found.about == f"{spec.name} slice by slice"


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


def test_closure_stops_where_no_sum_settles(engine: str) -> None:
    """A cycle that improves without end stops at the limit, and NaN is no improvement on NaN."""
    weights = np.array([[np.nan, -1.0], [-1.0, np.nan]])
    for present, settles in ((np.ones((2, 2), bool), False), (np.eye(2, dtype=bool), True)):
        a = on_host(sparsify(weights, present, FP64), engine)
        x = place(sparsify(np.array([np.nan if settles else 0.0, 0.0]), np.array([True, False]), FP64), a.device)
        rows = Rows(a)
        got = registry.run(Closure(x, rows, rows, semiring.min_plus[FP64], False, 5), engine)
        assert got.converged is settles
        assert got.steps == (1 if settles else 5)


def test_a_request_with_one_uncompressed_orientation_goes_to_the_engine(engine: str) -> None:
    """By columns in host memory, by rows in device memory: only the latter are read."""
    a = place(BLOCKS, device_for(engine))
    turned = on_host(registry.run(Transpose(BLOCKS), "reference"), engine)
    u = place(make_vector(130, INT64, "index", 0.1, False, 3), device_for(engine))
    spec = Mxv(130, 130, Rows(a), Rows(turned), u, semiring.plus_times[INT64], False)
    with small_slices(), recording.listen() as log:
        registry.run(spec, engine)
    assert not [call for call in log if call.operation == "slices"]


def test_an_implementation_may_leave_a_request_to_the_slices(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`find` decides; the slices are uncompressed and are passed to the engine, whatever it declares."""
    key = "mxv", engine
    registry.load(engine)
    rows = registry._table[key]
    monkeypatch.setattr(registry, "_implementations", {})
    eager = replace(rows[0], accepts=registry.EVERY_KIND, in_slices=lambda q: {"direction": "pull"})
    monkeypatch.setitem(registry._table, key, [eager, *rows[1:]])
    u = place(make_vector(130, INT64, "full", 1.0, False, 1), device_for(engine))
    for codec in ("varint", "packed"):
        a = Rows(in_kind(place(BLOCKS, device_for(engine)), codec, "device", engine))
        spec = Mxv(130, 130, a, a, u, semiring.plus_times[INT64], False)
        assert details("mxv", spec, engine)["direction"] == "pull"
        with small_slices():
            check(spec, engine)


def test_slices_that_request_the_whole_again_are_refused(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    importlib.import_module(registry._SLICED)  # which registers the function that the next line replaces
    monkeypatch.setitem(registry._sliced, "transpose", (lambda q, engine: registry.run(q, engine), frozenset()))
    with pytest.raises(RecursionError, match="transpose: the slices of a matrix requested the whole matrix again"):
        registry.run(Transpose(on_host(BLOCKS, engine)), engine)


@record
class Turned(Spec):
    """t(i, j) = a(i, j) where b(i, j) is present and the mask admits it, in no engine's table."""

    name: ClassVar[str] = "turned"
    a: CSR
    b: AnyPattern
    rows: Rows
    mask: Mask | None = None


def turned(q: Turned) -> Any:
    """The specs that reach the implementation hold uncompressed, device-resident rows only."""
    operands = [q.a.pattern, q.b, q.rows.get().pattern, *([] if q.mask is None else [q.mask.store.pattern])]
    assert all(registry.RESIDENT.admits(pattern.kind) for pattern in operands)
    return q


@pytest.fixture
def unsliced(engine: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The engine, with an operation that has no sliced implementation."""
    registry.load(engine)
    table = dict(registry._table)
    monkeypatch.setattr(registry, "_table", table)
    monkeypatch.setattr(registry, "_implementations", {})
    registry.implements(Turned, engine=engine, fuses=("mask",), accepts=registry.RESIDENT)(turned)
    yield engine
    registry._implementations.clear()


@pytest.mark.parametrize(("ready", "placement"), [(True, "host"), (False, "host"), (True, "pinned")])
def test_an_operation_without_slices_gets_uncompressed_copies(unsliced: str, ready: bool, placement: Any) -> None:
    """Every part of a request is copied, each matrix once; `explain` shows it."""
    engine = unsliced
    a, b = (in_kind(place(BLOCKS, device_for(engine)), codec, placement, engine) for codec in (None, "packed"))
    spec = Turned(a, b.pattern, Rows(b) if ready else Rows(None, lambda: b), Mask(a, True, False))
    row = registry.find(spec, engine)
    assert row is not None
    assert (row.fuses, row.about) == ({"mask"}, "turned on uncompressed copies")
    with small_slices(), recording.listen() as log:
        got = registry.run(spec, engine)
    outer = log[-1]
    assert (outer.operation, outer.details["kernel"]) == ("turned", "uncompressed first")
    assert outer.details["copies"] == (3 if ready else 2)
    assert got.mask.store is got.a
    expected = registry.run(Keep(BLOCKS, Mask(BLOCKS, True, False)), "reference")
    for field in ("indptr", "indices", "values"):
        np.testing.assert_array_equal(to_host(getattr(got.a, field)), getattr(expected, field))
        if field != "values":
            np.testing.assert_array_equal(to_host(getattr(got.b, field)), getattr(expected, field))


def test_uncompressed_copies_are_checked_together(unsliced: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """OutOfMemory has the bytes of all copies, before the first of them is made."""
    engine = unsliced
    a, b = (in_kind(place(BLOCKS, device_for(engine)), codec, "host", engine) for codec in (None, "packed"))
    entries = a.nvals
    monkeypatch.setattr(allocation, "_UNASKED", 0)
    monkeypatch.setattr(allocation, "free_memory", lambda device: entries * (12 + 4) - 1)
    with recording.listen() as log, pytest.raises(OutOfMemory, match=r"^turned: .* uncompressed rows") as caught:
        registry.run(Turned(a, b.pattern, Rows(a)), engine)
    assert caught.value.asked_bytes == entries * (12 + 4)
    assert not log


def test_requests_about_storage_are_not_decoded(engine: str) -> None:
    """Nor is a write of a matrix, which `ops` composes of operations that are processed in slices."""
    a = in_kind(place(BLOCKS, device_for(engine)), "varint", "host", engine)
    registry.load(engine)
    for spec in (CheckCompressed(a.pattern), Slices(a, (0, 130), (0,)), WriteMatrix(a, a, None, None, False)):
        row = registry.find(spec, engine)
        assert row is None or "copies" not in row.about


def test_a_closure_decodes_first_only_if_the_uncompressed_matrix_fits(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from semiring.engines.sliced import closure

    a = in_kind(place(BLOCKS, device_for(engine)), "varint", "device", engine)
    x = place(make_vector(130, INT64, "index", 0.1, False, 3), a.device)
    rows = Rows(a)
    spec = Closure(x, rows, rows, semiring.min_first[INT64], False, 200)
    for free, kernel in ((1 << 30, "uncompressed first"), (100, "sliced")):
        monkeypatch.setattr(closure, "free_memory", lambda device, free=free: free)
        with small_slices(), recording.listen() as log:
            registry.run(replace(spec), engine)
        kernels = [call.details.get("kernel") for call in log if call.kernel.endswith(".closure")]
        assert kernel in kernels or not in_slices(spec, engine)


def test_requests_are_compared_in_other_storage_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every matrix of a request is converted, the one of its mask too; otherwise `check` compares nothing more."""
    structure = Mask(BLOCKS, True, False)
    monkeypatch.setattr(storage_kinds, "KINDS", (("varint", "device"),))
    kept = in_other_kinds(Keep(BLOCKS, structure), "cpu")
    assert not kept.a.kind.uncompressed
    assert not kept.mask.store.kind.uncompressed


def test_a_decoded_closure_takes_the_directions_of_an_uncompressed_one(engine: str) -> None:
    """It pulls where the columns are at hand, and does not derive them where they are not."""
    turned = registry.run(Transpose(BLOCKS), "reference")
    plain = [place(a, device_for(engine)) for a in (BLOCKS, turned)]
    x = place(sparsify(np.ones(130, np.int64), np.arange(130) == 0, INT64), device_for(engine))

    def missing() -> CSR:
        pytest.fail("the columns were derived")

    def search(by_row: CSR, by_column: Rows) -> Closure:
        return Closure(x, Rows(by_row), by_column, semiring.any_pair[INT64], True, 200, trace=True)

    def directions(spec: Closure) -> list[str]:
        return [step.direction for step in registry.run(spec, engine).trace]

    packed = [in_kind(a, "packed", "device", engine) for a in plain]
    both = search(packed[0], Rows(packed[1]))
    if in_slices(both, engine) and engine != "reference":  # the specification reads columns in every direction
        assert directions(both) == directions(search(plain[0], Rows(plain[1])))
        assert set(directions(search(packed[0], Rows(None, missing)))) == {"push"}


def test_one_value_of_compressed_entries_remains_one_value(engine: str) -> None:
    iso = in_kind(place(make_matrix(40, 40, INT64, 0.3, True, 1), device_for(engine)), "varint", "device", engine)
    negative = TypedIndexUnary("negative", INT64, BOOL, INT64, "-x")
    spec = Apply(iso, negative, BOOL.type(False))
    made = registry.run(spec, engine)
    assert iso.iso is not None
    if in_slices(spec, engine) and engine != "reference":  # the specification stores every value
        assert made.iso == -iso.iso
