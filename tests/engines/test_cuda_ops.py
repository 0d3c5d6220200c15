"""Properties of the CUDA engine: synchronization, the location of counts, streams, the kernel cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

cupy = pytest.importorskip("cupy")

import semiring as sr  # noqa: E402
from semiring import Vector, operators  # noqa: E402
from semiring.config import config  # noqa: E402
from semiring.engines import registry  # noqa: E402
from semiring.engines.cuda import tuning  # noqa: E402
from semiring.engines.requests.operands import Index, Mask, Spec  # noqa: E402
from semiring.engines.requests.operations import (  # noqa: E402
    Apply,
    Convert,
    Ewise,
    ExtractVector,
    Keep,
    Kronecker,
    ReduceRows,
    ReduceScalar,
    ScatterVector,
    Select,
    Transpose,
    WriteMatrix,
    WriteVector,
)
from semiring.formats import CSR, Bitmap, Count, Full, IndexList, Pattern, word_count  # noqa: E402
from semiring.memory.arrays import Transfers, to_host  # noqa: E402

pytestmark = pytest.mark.gpu

SIZE = 1000
INT32 = np.dtype(np.int32)
PLUS = operators.binary.plus.typed(INT32)


@pytest.fixture(autouse=True)
def on_the_gpu() -> Iterator[None]:
    with config.set(device="cuda"):
        yield


def some_bitmap(seed: int) -> Bitmap:
    rng = np.random.default_rng(seed)
    present = rng.random(SIZE) < 0.5
    bits = np.zeros(word_count(SIZE) * 32, np.uint8)
    bits[:SIZE] = present
    words = cupy.asarray(np.packbits(bits, bitorder="little").view(np.uint32))
    values = cupy.asarray(rng.integers(-5, 6, SIZE).astype(np.int32))
    return Bitmap(SIZE, INT32, words, values, None, Count(int(present.sum())))


def some_matrix() -> CSR:
    indptr = cupy.asarray(np.array([0, 2, 2, 3, 5], np.int32))
    indices = cupy.asarray(np.array([0, 3, 1, 0, 2], np.int32))
    return CSR(Pattern(4, 4, indptr, indices), INT32, cupy.arange(5, dtype=np.int32))


def specs() -> list[Spec]:
    u, v = some_bitmap(1), some_bitmap(2)
    mask = Mask(v, True, True)
    one = Full(SIZE, INT32, None, np.int32(7), "cuda")
    row = operators.indexunary.rowindex.typed(INT32)
    index = Index(SIZE, SIZE, array=cupy.arange(SIZE)[::-1].copy())
    return [
        WriteVector(u, v, mask, PLUS, False),
        WriteVector(u, one, mask, None, True),
        Keep(u, Mask(v, False, False)),
        Select(u, operators.select.valuegt.typed(INT32), np.int32(0)),
        Apply(u, row, np.int64(1)),
        Ewise(u, v, PLUS, "union"),
        Ewise(u, v, PLUS, "intersect"),
        ExtractVector(u, index),
        ScatterVector(u, index, PLUS),
        ScatterVector(u, index, None),
        ReduceRows(some_matrix(), operators.monoid.plus.typed(INT32)),
        Transpose(some_matrix()),
        Kronecker(some_matrix(), some_matrix(), PLUS),
        Convert(one, "bitmap"),
    ]


@pytest.mark.parametrize("spec", specs() if cupy.cuda.is_available() else [], ids=lambda q: q.name)
def test_dense_operations_do_not_wait(spec: Spec) -> None:
    Transfers.reset()
    registry.run(spec, "cuda")
    assert Transfers.copies == 0


def test_count_is_read_once() -> None:
    t = registry.run(Keep(some_bitmap(1), Mask(some_bitmap(2), True, False)), "cuda")
    assert isinstance(t, Bitmap)
    assert not t.count.known
    Transfers.reset()
    assert t.nvals == t.nvals
    assert (Transfers.copies, Transfers.bytes) == (1, 8)


@pytest.mark.parametrize("accum", [PLUS, None])
def test_matrix_write_reads_one_number(accum: Any) -> None:
    a = some_matrix()
    for mask in (None, Mask(a, True, True), Mask(a, False, False)):
        Transfers.reset()
        registry.run(WriteMatrix(a, some_matrix(), mask, accum, False), "cuda")
        assert Transfers.copies == 1


def test_compaction_and_scalar_read_one_number() -> None:
    Transfers.reset()
    listed = registry.run(Convert(some_bitmap(1), "index"), "cuda")
    assert isinstance(listed, IndexList)
    assert Transfers.copies == 1
    total = registry.run(ReduceScalar(listed, operators.monoid.plus.typed(INT32)), "cuda")
    assert Transfers.copies == 1
    assert total() == int(cupy.asnumpy(listed.values).sum())
    assert Transfers.copies == 2


def test_a_queued_scalar_does_not_wait_for_later_work() -> None:
    u = Vector.from_dense(cupy.arange(1000.0))
    assert u.reduce("plus").value == 499500.0  # allocations of the first read are done
    busy = cupy.RawKernel(
        """extern "C" __global__ void busy(long long cycles) {
            for (long long start = clock64(); clock64() - start < cycles;) {}
        }""",
        "busy",
    )
    busy((1,), (1,), (np.int64(1),))
    stream = cupy.cuda.get_current_stream()
    stream.synchronize()
    total = u.reduce("plus")
    busy((1,), (1,), (np.int64(10**9),))  # half a second
    assert total.value == 499500.0
    assert not stream.done
    stream.synchronize()


def test_results_share_what_does_not_change() -> None:
    u, a = some_bitmap(1), some_matrix()
    kept = registry.run(Keep(u, Mask(some_bitmap(2), True, False)), "cuda")
    assert kept.values is u.values
    mapped = registry.run(Apply(a, operators.indexunary.rowindex.typed(INT32), np.int64(0)), "cuda")
    assert mapped.pattern is a.pattern
    first, constant = operators.indexunary.rowindex.typed(INT32), Full(SIZE, INT32, None, np.int32(2), "cuda")
    assert registry.run(Apply(constant, first, np.int64(0)), "cuda").iso is None
    assert registry.run(Keep(constant, Mask(u, True, False)), "cuda").iso == 2


def test_work_is_queued_on_the_current_stream() -> None:
    expected = to_host(registry.run(Ewise(some_bitmap(1), some_bitmap(2), PLUS, "union"), "cuda").words)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        for _ in range(20):
            t = registry.run(Ewise(some_bitmap(1), some_bitmap(2), PLUS, "union"), "cuda")
            count = t.count.get()
    stream.synchronize()
    assert np.array_equal(to_host(t.words), expected)
    assert count == int(np.bitwise_count(expected).sum())


def test_more_counters_than_one_pool_contains() -> None:
    u, mask = some_bitmap(1), Mask(some_bitmap(2), True, False)
    results = [registry.run(Keep(u, mask), "cuda") for _ in range(4200)]
    assert len({t.nvals for t in results}) == 1


def test_rows_of_any_length_are_reduced() -> None:
    # Rows that end in a tile, at its edge, one entry past it, and one that spans many tiles.
    lengths = np.array([0, 1, 1023, 1024, 1025, 0, 200_000, 3, 2048, 1], np.int64)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = np.concatenate([np.arange(n) for n in lengths]).astype(np.int32)
    values = np.random.default_rng(3).integers(-9, 10, columns.size)
    a = CSR(
        Pattern(lengths.size, 200_000, cupy.asarray(indptr), cupy.asarray(columns)),
        np.dtype(np.int64),
        cupy.asarray(values),
    )
    t = registry.run(ReduceRows(a, operators.monoid.plus.typed(np.int64)), "cuda")
    sums = [values[indptr[r] : indptr[r + 1]].sum() for r in range(lengths.size) if lengths[r]]
    listed = registry.run(Convert(t, "index"), "cuda")
    assert to_host(listed.indices).tolist() == np.flatnonzero(lengths).tolist()
    assert to_host(listed.values).tolist() == sums


@pytest.mark.parametrize("ring", ["plus_times", "min_plus", "any_pair", "max_first"])
@pytest.mark.parametrize("mask", [None, "structure", "value", "complement"])
def test_both_products_of_small_matrices_agree(ring: str, mask: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slots for all positions, and the expansion, which is used where rows are long; `explain` names the method."""
    draw = np.random.default_rng(7)
    shapes = {"A": (300, 40), "B": (40, 1000), "M": (300, 1000)}
    made = {
        name: sr.Matrix.from_coo(
            *(draw.integers(0, n, 900) for n in shape), draw.integers(0, 4, 900), shape=shape, dup_op="max"
        )
        for name, shape in shapes.items()
    }
    A, B, M = made.values()
    masks: dict[str | None, Any] = {None: None, "structure": M.S, "value": M.V, "complement": ~M.S}
    results = []
    for steps, kernel in ((256, "cuda.mxm_dense"), (-1, "cuda.mxm")):
        monkeypatch.setattr(tuning, "DENSE_STEPS", steps)
        with sr.explain() as log:
            results.append(A.mxm(B, ring, mask=masks[mask]).wait())
        assert kernel in [call.kernel for call in log]
    assert results[0].nvals
    assert results[0].isequal(results[1])


def test_a_wide_result_has_no_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    """One warp would pass over the presence words of a row of a million columns alone."""
    monkeypatch.setattr(tuning, "DENSE_STEPS", 256)
    A = sr.Matrix.from_coo([0, 0], [0, 1], [2, 3], shape=(1, 2))
    B = sr.Matrix.from_coo([0, 1, 1], [5, 5, 999_999], [1, 1, 1], shape=(2, 1_000_000))
    with sr.explain() as log:
        C = A.mxm(B).wait()
    assert "cuda.mxm" in [call.kernel for call in log]
    assert [x.tolist() for x in C.to_coo()] == [[0, 0], [5, 999_999], [5, 3]]
