"""The budget of device memory: its notation, its enforcement, and the errors when something does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.config import _from_environment, config
from semiring.exceptions import OutOfMemory
from semiring.formats import CODECS
from semiring.storage import memory_plan
from semiring.storage.memory_plan import estimated, uncompressed_nbytes, what_fits


@pytest.mark.parametrize(
    ("given", "count"),
    [
        (None, None),
        ("none", None),
        ("", None),
        (1, 1),
        (np.int64(5_800_000_000), 5_800_000_000),
        ("5.8 GB", 5_800_000_000),
        ("5.8GB", 5_800_000_000),
        ("512 MiB", 512 << 20),
        (" 2 tib ", 2 << 40),
        ("300 kB", 300_000),
        ("1_000", 1000),
        ("1,000 B", 1000),
        ("5,800,000.5 kB", 5_800_000_500),
    ],
)
def test_bytes_are_read(given: Any, count: int | None) -> None:
    with config.set(device_memory=given):
        assert config.device_memory == count
    assert config.device_memory is None


@pytest.mark.parametrize(
    "given", [0, -1, True, 1.5, "5.8 G", "much", "-3 GB", "1e9", [1], "0", "5,8 GB", "1_0 GB", "1,000,00"]
)
def test_what_is_no_size_is_refused(given: Any) -> None:
    with pytest.raises(sr.exceptions.InvalidValue, match=r"config.device_memory must be None or bytes.*5.8 GB"):
        config.device_memory = given
    assert config.device_memory is None


def test_the_environment_sets_it() -> None:
    made, wrong = _from_environment({"SEMIRING_DEVICE_MEMORY": "5.8 GB"})
    assert (made.device_memory, wrong) == (5_800_000_000, [])
    made, wrong = _from_environment({"SEMIRING_DEVICE_MEMORY": "lots"})
    assert made.device_memory is None
    assert "SEMIRING_DEVICE_MEMORY must be None or bytes" in wrong[0]


def test_the_error_names_what_fits_and_how_to_write_it() -> None:
    assert uncompressed_nbytes(10, 10, 100, 8) == 11 * 4 + 100 * 12
    assert uncompressed_nbytes(10, 2**31 + 1, 2**31, 0) == 11 * 8 + 2**31 * 8
    said = what_fits(10, 10, 1 << 40, 0, lambda: {"varint": 3 << 40, "packed": 1 << 20}, "cpu")
    for piece in (
        f"{uncompressed_nbytes(10, 10, 1 << 40, 0):,} bytes uncompressed",
        f"about {3 << 40:,} as varint",
        "free are",
    ):
        assert piece in said
    assert 'compress("packed").to(placement="device")' in said
    assert 'placement="pinned"' in said
    assert 'placement="auto"' in said
    assert "as varint" not in what_fits(10, 10, 100, 8, device="cpu")


def test_the_error_reports_bytes_of_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """On any GPU: the test sets the free memory, and the matrix is in host memory before it moves."""
    rows, cols = np.arange(1000).repeat(9) % 1000, np.arange(9000) % 997
    A = Matrix.from_coo(rows, cols, nrows=1000, ncols=997, dup_op="any", device="cpu")
    store, entries = A.store, memory_plan.entries_nbytes(A.store)
    offsets = A.nbytes - entries
    monkeypatch.setattr(memory_plan, "free_memory", lambda device: {"cpu": 10 * entries, "cuda": offsets + 100}[device])
    with pytest.raises(
        OutOfMemory, match=r'^open: the matrix needs .*uncompressed.*what works: .*placement="pinned"'
    ) as caught:
        memory_plan.destined("open", store, "device", "cuda")
    assert (caught.value.asked_bytes, caught.value.free_bytes) == (A.nbytes, offsets + 100)
    assert isinstance(caught.value, MemoryError)
    assert memory_plan.destined("open", store, "host", "cuda") == "host"
    monkeypatch.setattr(memory_plan, "free_memory", lambda device: offsets)  # enough for the offsets alone
    assert memory_plan.destined("open", store, "host", "cuda") == "host"
    with pytest.raises(OutOfMemory, match='placement="host"'):
        memory_plan.destined("open", store, "device", "cuda")
    monkeypatch.setattr(memory_plan, "free_memory", lambda device: offsets - 1)
    with pytest.raises(OutOfMemory, match=rf'of these {offsets:,} .*in every placement; what works: device="cpu"$'):
        memory_plan.destined("open", store, "host", "cuda")


@pytest.mark.parametrize(("values", "value_bytes"), [(np.ones(9000), 8), (np.float64(1), 0)])
def test_arrays_of_which_no_part_fits_are_refused(
    monkeypatch: pytest.MonkeyPatch, values: Any, value_bytes: int
) -> None:
    indptr, indices = np.arange(0, 9001, 9), np.arange(9000) % 997
    monkeypatch.setattr(memory_plan, "free_memory", lambda device: 100)
    monkeypatch.setattr(memory_plan, "estimated", lambda *_: {})
    arrays = indptr, indices, values, 997, np.dtype(np.float64), "cuda"
    for placement, needed in (("device", 1001 * 4 + 9000 * (4 + value_bytes)), ("host", 1001 * 4)):
        with pytest.raises(OutOfMemory, match=r"^from_csr: the matrix needs") as caught:
            memory_plan.arriving(*arrays, placement)
        assert (caught.value.asked_bytes, caught.value.free_bytes) == (needed, 100)


@pytest.mark.parametrize(
    ("device_free", "host_free", "expected"),
    [(1 << 30, 1 << 30, "device"), (2_000_000, 1 << 30, "pinned"), (2_000_000, 1_000_000, "host"), (None, 0, "device")],
)
def test_auto_leaves_room_to_work(
    monkeypatch: pytest.MonkeyPatch, device_free: int | None, host_free: int, expected: str
) -> None:
    monkeypatch.setattr(memory_plan, "free_memory", lambda device: host_free if device == "cpu" else device_free)
    assert memory_plan.automatic("cuda", 1000, 4004, 1_700_000) == expected
    assert memory_plan.automatic("cpu", 1000, 4004, 1_700_000) == "device"


@pytest.mark.one_process("reads the arrays of a store")
def test_estimates_are_close_to_the_compressed_size(engine: str) -> None:
    if engine == "reference":
        pytest.skip("the specification is dense")
    generator = np.random.default_rng(3)
    rows, cols = generator.integers(0, 40_000, (2, 3_000_000))
    A = Matrix.from_coo(rows, cols, nrows=40_000, ncols=40_000, dup_op="any")
    sizes = estimated(A.store.indptr, A.store.indices, 40_000, A.device)
    assert sizes.keys() == set(CODECS)
    indptr, indices, _ = A.to_csr()
    for codec in CODECS:
        real = A.compress(codec).store.pattern.nbytes
        assert abs(sizes[codec] - real) < 0.03 * real
    assert estimated(indptr, indices[::-1], 3, A.device) == {}  # malformed: no estimate


# -- on a GPU ----------------------------------------------------------------------------------------------

BUDGET = 256 << 20


@pytest.fixture
def small_gpu() -> Iterator[None]:
    import cupy

    cupy.get_default_memory_pool().free_all_blocks()
    with sr.use("cuda"), config.set(device_memory=BUDGET):
        yield
    cupy.get_default_memory_pool().free_all_blocks()


def large_arrays(nvals: int) -> tuple[Any, Any]:
    """Offsets and columns of a matrix with 64 entries a row."""
    nrows = nvals // 64
    columns = (np.arange(64, dtype=np.int32) * 1000)[None, :] + np.arange(nrows, dtype=np.int32)[:, None] % 1000
    return np.arange(nrows + 1) * 64, columns.reshape(-1)


@pytest.mark.gpu
@pytest.mark.usefixtures("small_gpu")
def test_what_exceeds_the_budget_is_refused_with_advice() -> None:
    indptr, columns = large_arrays(128 << 20)  # 512 MiB
    with pytest.raises(sr.exceptions.OutOfMemory) as caught:
        Matrix.from_csr(indptr, columns, ncols=64_000)
    said = str(caught.value)
    assert f"{uncompressed_nbytes(indptr.size - 1, 64_000, columns.size, 0):,} bytes uncompressed" in said
    assert 'placement="pinned"' in said
    assert caught.value.asked_bytes is not None
    assert caught.value.free_bytes is not None
    assert caught.value.asked_bytes > BUDGET >= caught.value.free_bytes
    zeros = np.zeros(BUDGET // 8 + 1)
    with pytest.raises(sr.exceptions.OutOfMemory):
        Vector.from_dense(zeros)


@pytest.mark.gpu
@pytest.mark.usefixtures("small_gpu")
@pytest.mark.parametrize("placement", ["pinned", "host", "auto"])
def test_larger_matrices_work_within_the_budget(placement: str) -> None:
    from semiring.memory.budget import peak_device_memory

    indptr, columns = large_arrays(128 << 20)
    with peak_device_memory() as peak:
        A = Matrix.from_csr(indptr, columns, ncols=64_000, placement=placement)
        assert A.placement == ("pinned" if placement == "auto" else placement)
        assert A.store.nbytes > BUDGET
        degrees = A.reduce_rowwise("plus")
        assert degrees.nvals == indptr.size - 1
        with pytest.raises(sr.exceptions.OutOfMemory, match="bytes uncompressed"):
            A.to(placement="device")
    assert 0 < peak.used <= peak.held <= BUDGET


@pytest.mark.gpu
@pytest.mark.usefixtures("small_gpu")
def test_memory_that_the_pool_keeps_is_given_back_at_the_limit() -> None:
    import cupy

    for size in range(20, 200, 9):
        cupy.empty(size << 20, np.uint8)
    assert cupy.get_default_memory_pool().total_bytes() <= BUDGET


@pytest.mark.gpu
def test_without_a_budget_the_pool_has_no_limit() -> None:
    import cupy

    with config.set(device_memory="64 MiB"):
        assert cupy.get_default_memory_pool().get_limit() == 64 << 20
    assert cupy.get_default_memory_pool().get_limit() == 0
    cupy.empty(128 << 20, np.uint8)
