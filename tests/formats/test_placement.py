"""Placements: the same matrix in every placement, and arrays that are shared rather than copied."""

from __future__ import annotations

import gc
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.config import config, engine_for
from semiring.engines import registry
from semiring.engines.requests.storage import Slices
from semiring.formats import CSR, PLACEMENTS, Pattern
from semiring.formats.placement import place
from semiring.memory import locked
from semiring.memory.allocation import out_of_memory
from semiring.memory.arrays import to_host

pytestmark = pytest.mark.one_process("formats, codecs and placements are of parts")


def some_matrix(nrows: int = 700, ncols: int = 300, nvals: int = 9000, seed: int = 1) -> Matrix:
    generator = np.random.default_rng(seed)
    places = np.sort(generator.choice(nrows * ncols, nvals, replace=False))
    values = generator.integers(1, 1000, nvals)
    return Matrix.from_coo(places // ncols, places % ncols, values, nrows=nrows, ncols=ncols)


def arrays_of(A: Matrix) -> tuple[Any, ...]:
    return tuple(to_host(array) for array in A.to_csr())


def same_arrays(A: Matrix, B: Matrix) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(arrays_of(A), arrays_of(B), strict=True))


@pytest.mark.parametrize("first", PLACEMENTS)
@pytest.mark.parametrize("second", PLACEMENTS)
def test_a_matrix_is_the_same_in_every_placement(first: str, second: str) -> None:
    A = some_matrix()
    B = A.to(placement=first)
    C = B.to(placement=second)
    assert (B.placement, C.placement, A.placement) == (first, second, "device")
    assert B.device == C.device == A.device
    assert same_arrays(B, A)
    assert same_arrays(C, A)
    assert C.dtype == A.dtype


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_facts_of_the_structure_are_moved_too(placement: str) -> None:
    A = some_matrix()
    A.store.pattern.facts.update({"symmetric": False, "max_degree": 31, "an array": np.arange(3)})
    known = A.to(placement=placement).store.pattern.facts
    assert known["symmetric"] is False
    assert known["max_degree"] == 31
    assert placement == "device" or "an array" not in known


def test_the_same_placement_is_no_copy() -> None:
    A = some_matrix()
    assert A.to() is A
    assert A.to(placement="device") is A
    assert A.to(A.device, placement="auto") is A  # small: it fits
    B = A.to(placement="host")
    assert B.to(placement="host") is B
    assert B.to(A.device) is B


def test_names_and_values_stay() -> None:
    A = some_matrix()
    A.name = "A"
    assert A.to(placement="host").name == "A"
    iso = Matrix.identity(50, float, value=2.5).to(placement="pinned")
    assert iso.is_iso
    assert iso.iso_value == 2.5


def test_empty_matrices_have_placements_too() -> None:
    for placement in PLACEMENTS:
        B = Matrix(float, 4, 5).to(placement=placement)
        assert (B.placement, B.nvals, B.shape) == (placement, 0, (4, 5))


def test_what_is_no_placement_is_refused() -> None:
    for x in (some_matrix(), Vector.full(1.0, 3)):
        with pytest.raises(sr.exceptions.InvalidValue, match="'device', 'pinned', 'host' or 'auto'"):
            x.to(placement="gpu")
    with pytest.raises(sr.exceptions.NotSupported, match="a Vector is always in the memory of its device"):
        Vector.full(1.0, 3).to(placement="pinned")
    v = Vector.full(1.0, 3)
    assert v.to(placement="device") is v
    assert v.to(placement="auto") is v
    assert v.placement == "device"
    with pytest.raises(sr.exceptions.InvalidValue, match="placement"):
        Matrix.from_csr([0, 1], [0], placement="somewhere")


@pytest.mark.parametrize("placement", [*PLACEMENTS, "auto"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("shuffled", [False, True])
def test_arrays_get_the_requested_placement(placement: str, index: Any, shuffled: bool) -> None:
    A = some_matrix()
    indptr, indices, values = (array.copy() for array in arrays_of(A))
    if shuffled:
        for begin, end in pairwise(indptr):
            indices[begin:end] = indices[begin:end][::-1]
            values[begin:end] = values[begin:end][::-1]
    B = Matrix.from_csr(indptr.astype(index), indices.astype(index), values, ncols=300, placement=placement)
    assert B.placement == ("device" if placement == "auto" else placement)
    assert same_arrays(B, A)
    C = Matrix.from_csr(indptr, indices, ncols=300, placement=placement)
    assert C.is_iso
    assert np.array_equal(arrays_of(C)[1], arrays_of(A)[1])


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_repeated_columns_combine_on_the_way(placement: str) -> None:
    arrays = [0, 0, 3, 3, 5, 5], [2, 1, 2, 0, 0], [1, 2, 3, 4, 5]
    B = Matrix.from_csr(*arrays, ncols=3, dup_op="plus", placement=placement)
    assert B.placement == placement
    assert [part.tolist() for part in arrays_of(B)] == [[0, 0, 2, 2, 3, 3], [1, 2, 0], [2, 4, 9]]
    with pytest.raises(sr.exceptions.DuplicateIndex, match=r"\(1, 2\)"):
        Matrix.from_csr(*arrays, ncols=3, placement=placement)


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize(
    ("indptr", "indices", "says"),
    [
        ([0, 2, 3], [0, 1, 7], r"indices\[2\] is 7"),
        ([0, 2, 3], [0, -1, 1], r"indices\[1\] is -1"),
        ([1, 2, 3], [0, 1, 1], r"indptr\[0\] is 1"),
        ([0, 2, 1], [0], r"indptr\[2\] is 1"),
        ([0, 2, 4], [0, 1, 1], r"indptr\[2\] is 4"),
    ],
)
def test_malformed_arrays_are_rejected_in_every_placement(placement: str, indptr: Any, indices: Any, says: str) -> None:
    with pytest.raises(sr.exceptions.InvalidFormat, match=says):
        Matrix.from_csr(indptr, indices, ncols=3, placement=placement)


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("wanted", [range(7), (1, 2, 5), (6,), ()])
def test_slices_are_the_rows(placement: str, wanted: Any) -> None:
    A = some_matrix()
    B = A.to(placement=placement).store
    bounds = (0, 32, 33, 200, 200, 512, 699, 700)
    indptr, indices, values = arrays_of(A)
    engine = engine_for(A.device)
    found = registry.run(Slices(B, bounds, tuple(wanted)), engine)
    before: tuple[CSR, Any] | None = None
    for s, part in zip(wanted, found, strict=True):
        begin, end = indptr[bounds[s]], indptr[bounds[s + 1]]
        expected = indptr[bounds[s] : bounds[s + 1] + 1] - begin, indices[begin:end], values[begin:end]
        assert isinstance(part.pattern, Pattern)
        assert (part.placement, part.device, part.nrows) == ("device", A.device, bounds[s + 1] - bounds[s])
        # A slice is unchanged until the one after the next is requested.
        for held, arrays in ((part, expected), *([before] if before is not None else [])):
            for array, right in zip((held.indptr, held.indices, held.values), arrays, strict=True):
                assert np.array_equal(to_host(array), right)
        before = part, expected


# -- page-locked memory, without a driver ------------------------------------------------------------------

PAGE = 4096


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    """The requests to lock memory: address, bytes and flags; the stand-in accepts all."""
    asked: list[tuple[int, int, int]] = []
    monkeypatch.setattr(locked, "_registered", lambda *range_and_flags: asked.append(range_and_flags) is None)
    monkeypatch.setattr(locked, "_device_pointer", lambda pointer: pointer)
    monkeypatch.setattr(locked, "current_device", lambda: 0)
    monkeypatch.setattr(locked, "_on_device", lambda device: nullcontext())
    monkeypatch.setattr(locked, "_released", lambda *_: None)
    return asked


def address(array: np.ndarray[Any, Any]) -> int:
    return int(array.ctypes.data)


def test_pages_of_other_data_are_not_locked(registered: list[tuple[int, int, int]]) -> None:
    """Copies of which one end is locked and the other is not are refused, so no neighbor may be half locked."""
    small, large = np.arange(5000), np.arange(1 << 23)
    assert locked.lock(small) is None
    assert locked.lock(np.frombuffer(bytes(1 << 26), np.int64)) is None
    assert locked.lock(large[:1000]) is None, "a copy is cheaper"
    assert not registered
    made = locked.lock(large[1000:])
    assert made is not None
    assert address(made) == address(large[1000:])
    ((begin, nbytes, flags),) = registered
    assert flags == 0
    assert begin % PAGE == 0
    assert begin <= address(large)
    assert address(large) + large.nbytes <= begin + nbytes
    assert locked.lock(made) is made
    other = locked.lock(large[: 1 << 22])
    assert other is not None
    assert locked.locked_range(other) is locked.locked_range(made)
    assert len(registered) == 1
    assert not locked.mapped(made)


def test_mapped_files_are_locked_for_reading(registered: list[tuple[int, int, int]], tmp_path: Path) -> None:
    np.arange(10_000).tofile(tmp_path / "numbers")
    assert locked.lock(np.asarray(np.memmap(tmp_path / "numbers", np.int64, "c"))) is None
    array = np.asarray(np.memmap(tmp_path / "numbers", np.int64, "r", offset=800))
    made = locked.lock(array)
    assert made is not None
    assert address(made) == address(array)
    assert locked.mapped(made)
    assert not made.flags.writeable
    assert [flags for _, _, flags in registered] == [8]


def test_views_of_locked_memory_are_read_in_place(registered: list[tuple[int, int, int]]) -> None:
    """For any strides: a stand-in for CuPy's array over the memory."""
    large = np.arange(1 << 23).reshape(-1, 64)
    made = locked.lock(large)
    assert made is not None
    assert len(registered) == 1
    for seen in (made, made[3:7], made[::2, 5], made[100::-3, ::-1], made.T, made[5:5]):
        memory = SimpleNamespace(ptr=address(made), host=made)
        data = SimpleNamespace(mem=memory, ptr=address(seen))
        view = to_host(SimpleNamespace(data=data, shape=seen.shape, dtype=seen.dtype, strides=seen.strides))
        assert np.array_equal(view, seen)
        assert address(view) == address(seen)
        assert locked.locked_range(view) is locked.locked_range(made)


# -- on a GPU ----------------------------------------------------------------------------------------------


@pytest.mark.gpu
def test_neighbors_of_pinned_arrays_are_copied() -> None:
    """Small arrays share pages: those beside a pinned one go to the GPU and back as ever."""
    import cupy

    arrays = [np.arange(3000) for _ in range(40)]
    with sr.use("cuda"):
        pinned = [Matrix.from_csr(np.array([0, 3000]), array, placement="pinned") for array in arrays[::2]]
    for array in arrays:
        assert np.array_equal(cupy.asarray(array).get(), array)
    assert all(np.array_equal(to_host(A.store.indices), arrays[0]) for A in pinned)


@pytest.mark.gpu
def test_host_memory_is_locked_in_place() -> None:
    from semiring.memory.locked import in_host_memory, locked_range

    indices = np.arange(1 << 24, dtype=np.int32)
    with sr.use("cuda"):
        A = Matrix.from_csr(np.array([0, 1 << 24]), indices, placement="pinned", copy=False)
        B = A.to(placement="host")
    assert in_host_memory(A.store.indices)
    assert to_host(A.store.indices).ctypes.data == indices.ctypes.data
    assert B.store.indices.ctypes.data == indices.ctypes.data
    held = locked_range(B.store.indices)
    assert held is not None
    del held, A
    gc.collect()
    assert int(B.to(placement="device").reduce_scalar("plus").value) == 1 << 24
    del B
    gc.collect()
    assert locked_range(indices) is None


@pytest.mark.gpu
@pytest.mark.parametrize("mode", ["r", "c"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_mapped_file_has_every_placement(tmp_path: Path, mode: Any, placement: Any) -> None:
    columns = np.arange(3 << 20, dtype=np.int32)
    columns.tofile(tmp_path / "columns")
    mapped = np.memmap(tmp_path / "columns", np.int32, mode)
    with sr.use("cuda"):
        plain = Matrix.from_csr(np.array([0, columns.size]), columns).store
    store = CSR(Pattern(1, columns.size, to_host(plain.indptr), np.asarray(mapped)), plain.dtype, None, plain.iso)
    made = place(store, placement, "cuda")
    assert made.placement == placement
    parts = registry.run(Slices(made, (0, 1), (0,)), "cuda")
    assert np.array_equal(to_host(next(iter(parts)).indices), columns)


@pytest.mark.gpu
def test_large_pageable_arrays_go_through_staging() -> None:
    from semiring.memory.transfer import upload, uploaded

    source = np.random.default_rng(0).integers(0, 1 << 30, (40 << 20) // 4 + 12345, dtype=np.int32)
    assert np.array_equal(uploaded(source).get(), source)
    whole = uploaded(np.zeros_like(source))
    upload(source[1000:-7], whole[1000:-7])
    assert np.array_equal(whole.get()[1000:-7], source[1000:-7])


@pytest.mark.gpu
def test_parts_are_aligned_as_in_the_whole() -> None:
    from semiring.engines.cuda.outofcore.prefetch import prefetching

    with sr.use("cuda"):
        source = np.arange(100_000, dtype=np.uint8)
        ranges = [(5, 70), (70, 70), (133, 60_000), (99_000, 100_000)]
        for part, (begin, end) in zip(prefetching(source, ranges), ranges, strict=True):
            assert part.origin % 128 == 0
            assert part.held.data.ptr % 16 == 0
            assert np.array_equal(to_host(part.array), source[begin:end])
            past = min(end + 16, source.size)
            assert np.array_equal(to_host(part.held), source[part.position : past])


@pytest.mark.gpu
def test_the_other_device_is_reached_from_every_placement() -> None:
    with sr.use("cuda"):
        A = some_matrix()
        for placement in PLACEMENTS:
            B = A.to(placement=placement).to("cpu")
            assert (B.device, B.placement) == ("cpu", "device")
            assert same_arrays(B, A)
            C = B.to("cuda", placement=placement)
            assert (C.device, C.placement) == ("cuda", placement)
            assert same_arrays(C, A)
    assert config.device_memory is None


def test_memory_that_cannot_be_locked_is_reported_as_host_memory() -> None:
    told = out_of_memory("to", "cuda", locked.CannotLock(1 << 40, "out of memory"))
    assert "host memory" in str(told)
    assert "on cuda" not in str(told)
    assert told.asked_bytes == 1 << 40
