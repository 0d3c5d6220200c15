"""Which requests are executed slice by slice, and which on uncompressed copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from semiring.dtypes import INT64
from semiring.engines import recording, registry
from semiring.engines.requests.operands import Mask, Rows, Spec
from semiring.engines.requests.operations import Keep, Mxv, Transpose, WriteMatrix
from semiring.engines.requests.storage import CheckCompressed, Slices
from semiring.exceptions import OutOfMemory
from semiring.formats import CSR, AnyPattern
from semiring.formats.records import record
from semiring.memory import allocation
from semiring.memory.arrays import to_host
from semiring.operators import semiring
from tests import storage_kinds
from tests.compare import check, device_for, place
from tests.draw import make_vector
from tests.engines.blocks import BLOCKS, details, on_host
from tests.storage_kinds import in_kind, in_other_kinds, small_slices


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
    again = registry.Rewriting(lambda q, engine: registry.run(q, engine))
    monkeypatch.setitem(registry.slicing_rule.rows(), "transpose", again)
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


def test_requests_are_compared_in_other_storage_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every matrix of a request is converted, the one of its mask too; otherwise `check` compares nothing more."""
    structure = Mask(BLOCKS, True, False)
    monkeypatch.setattr(storage_kinds, "KINDS", (("varint", "device"),))
    kept = in_other_kinds(Keep(BLOCKS, structure), "cpu")
    assert not kept.a.kind.uncompressed
    assert not kept.mask.store.kind.uncompressed
