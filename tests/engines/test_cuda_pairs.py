"""Products under a mask as pairs of rows, by `emulated_kernels` without a GPU: beside the specification."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy", reason="the engine imports CuPy")

import semiring as sr
from semiring import Matrix
from semiring.engines.cuda import mxm_dot, tuning
from semiring.engines.requests.operands import Mask, Rows
from semiring.engines.requests.operations import Mxm
from tests import sampling
from tests.engines.emulated_kernels import emulate
from tests.loops import emulated

pytestmark = pytest.mark.skipif(emulated.COMPILER is None, reason="kernels are run by a C++ compiler for the host")

RINGS = ("plus_times", "plus_pair", "any_pair", "min_firstj", "max_second", "lor_land")
CASES = list(product(RINGS, ("tables", "searches", "both")))
SAMPLE = sampling.draw("products by pairs", CASES, 1)  # each is compiled for the host


@pytest.fixture(autouse=True)
def kernels(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Blocks of 64 threads with tables of 512 bytes, which one row fills several times."""
    plans = mxm_dot._plan, mxm_dot._pair_plan
    for plan in plans:
        plan.cache_clear()
    for name, value in (("PAIR_THREADS", 64), ("PAIR_TABLE", 512), ("PAIR_WIDE", 20), ("PAIR_PART", 500)):
        monkeypatch.setattr(tuning, name, value)
    emulate(mxm_dot, monkeypatch, tmp_path_factory.getbasetemp() / "kernels")
    yield
    for plan in plans:
        plan.cache_clear()


def drawn(rng: np.random.Generator, shape: tuple[int, int], nvals: int, dtype: Any, most: int = 5) -> Matrix:
    """Random entries, most of them in few rows."""
    rows = (shape[0] * rng.random(nvals) ** 4).astype(np.int64)
    values = rng.integers(0, most, nvals).astype(dtype)
    return Matrix.from_coo(rows, rng.integers(0, shape[1], nvals), values, shape=shape, dup_op="max", device="cpu")


def computed(A: Matrix, T: Matrix, M: Matrix, ring: str, *, structural: bool, estimated: bool = False) -> Matrix:
    """A T', under the mask M, as pairs."""
    a, t, m = A.store, T.store, M.store
    typed = getattr(sr.semiring, ring).typed(a.dtype, t.dtype)
    q = Mxm(a, Rows(T.T.dup().store), Rows(t), typed, Mask(m, structural=structural, complement=False))
    if estimated:
        dots = mxm_dot.DotProducts.of(q, lambda: np.inf)
        assert dots is not None
        assert dots.pairs
    else:
        dots = mxm_dot.DotProducts(q, m)
        dots.pairs = True
    whole, marks = dots.marked()
    there = np.unpackbits(marks.view(np.uint8), bitorder="little")[: M.nvals].astype(bool)
    rows, columns, _ = M.to_coo()
    values = whole.iso if whole.values is None else whole.values[there]
    return Matrix.from_coo(rows[there], columns[there], values, shape=(A.nrows, T.nrows), dtype=typed.z, device="cpu")


@pytest.mark.parametrize(
    ("ring", "method"), [pytest.param(*case, marks=sampling.marks(case, SAMPLE, pytest.mark.wide)) for case in CASES]
)
def test_pairs_agree_with_the_specification(ring: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "PAIR_ITEM", {"tables": -(1 << 40), "searches": 1 << 40, "both": 300}[method])
    rng = np.random.default_rng(5)
    dtype = bool if ring == "lor_land" else np.int64
    for same, structural, columns in ((True, True, 60_000), (False, False, 700)):
        A = drawn(rng, (90, columns), 4000, dtype)
        T = A if same else drawn(rng, (70, columns), 3000, dtype)
        M = drawn(rng, (90, T.nrows), 1200, np.int8, 2)
        made = computed(A, T, M, ring, structural=structural)
        with sr.use("cpu"):
            expected = A.mxm(T.T, ring, mask=M.S if structural else M.V).dup()
        assert expected.nvals
        assert made.isequal(expected, check_dtype=True), (same, structural, columns)


@pytest.mark.costly
@pytest.mark.parametrize("item", [-(1 << 40), 1 << 40])
def test_columns_of_64_bits_and_other_types(item: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "PAIR_ITEM", item)
    rng = np.random.default_rng(6)
    rows = (40 * rng.random(4000) ** 4).astype(np.int64)
    columns = np.where(rng.random(4000) < 0.7, rng.integers(0, 500, 4000), rng.integers(0, 1 << 40, 4000))
    A = Matrix.from_coo(rows, columns, rng.random(4000), shape=(40, 1 << 40), dup_op="max", device="cpu")
    T, M = A.apply("abs").dup(np.float32), drawn(rng, (40, 40), 400, bool)
    made = computed(A, T, M, "plus_times", structural=True)
    with sr.use("cpu"):
        expected = A.mxm(T.T, "plus_times", mask=M.S).dup()
    assert made.to_dicts().keys() == expected.to_dicts().keys()
    assert made.isclose(expected)


@pytest.mark.costly
def test_the_estimate_chooses_pairs_for_few_entries_of_long_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    A = drawn(rng, (300, 2000), 60_000, np.int64)
    M = drawn(rng, (300, 300), 250, bool)
    monkeypatch.setattr(tuning, "PRODUCT_LAUNCH", 0)
    made = computed(A, A, M, "plus_pair", structural=True, estimated=True)
    with sr.use("cpu"):
        assert made.isequal(A.mxm(A.T, "plus_pair", mask=M.S).dup())
    monkeypatch.setattr(tuning, "PAIR_MOST", 0)
    a = A.store
    q = Mxm(
        a, Rows(A.T.dup().store), Rows(a), sr.semiring.plus_pair.typed(a.dtype, a.dtype), Mask(M.store, True, False)
    )
    without = mxm_dot.DotProducts.of(q, lambda: np.inf)
    assert without is not None
    assert not without.pairs


@pytest.mark.parametrize("entries", [5, 50_000])
def test_other_methods_are_considered_only_if_their_products_may_cost_less(
    entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "DOT_SERIAL", 0)
    rng = np.random.default_rng(8)
    A = drawn(rng, (300, 2000), 60_000, np.int64)
    a, m = A.store, drawn(rng, (300, 300), entries, bool).store
    q = Mxm(a, Rows(A.T.dup().store), Rows(a), sr.semiring.plus_pair.typed(a.dtype, a.dtype), Mask(m, True, False))
    called: list[int] = []

    def others() -> float:
        called.append(1)
        return 0.0

    found = mxm_dot.DotProducts.of(q, others)
    assert (found is None) == bool(called) == (entries > 5)
