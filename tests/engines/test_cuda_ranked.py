"""Pulls over ranked columns: the results of usual pulls, and when columns are ranked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

cupy = pytest.importorskip("cupy")

import semiring as sr  # noqa: E402
from semiring.config import config  # noqa: E402
from semiring.engines.cuda import mxv_ranked, program_run, program_tuning, tuning  # noqa: E402
from tests.loops import programs  # noqa: E402
from tests.loops.programs import hits  # noqa: E402
from tests.loops.test_programs import same  # noqa: E402

pytestmark = pytest.mark.gpu

FACT = "cuda.ranked"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Columns of small matrices are ranked at the first product."""
    for name, value in {"RANKED_ENTRIES": 0, "RANKED_PRODUCTS": 1, "RANKED_SHARE": 0}.items():
        monkeypatch.setattr(tuning, name, value)
    with config.set(device="cuda"):
        yield


def skewed(seed: int, nrows: int, ncols: int, dtype: Any) -> sr.Matrix:
    """Rows of very different lengths, the longest of many tiles, the last ones empty."""
    rng, entries = np.random.default_rng(seed), max(30_000, 4 * ncols)
    rows = (0.9 * nrows * rng.random(entries) ** 4).astype(np.int64)
    cols = (ncols * rng.random(entries) ** 3).astype(np.int64)
    rows[: entries // 4] = nrows // 2
    values = rng.integers(1, 9, entries).astype(dtype)
    return sr.Matrix.from_coo(rows, cols, values, nrows=nrows, ncols=ncols, dup_op="first")


def full(seed: int, size: int, dtype: Any) -> sr.Vector:
    return sr.Vector.from_dense(np.random.default_rng(seed).integers(1, 9, size).astype(dtype))


def kernels(log: Any) -> set[str]:
    return {call.details.get("kernel") for call in log if call.operation == "mxv"}


def usual(call: Any, monkeypatch: pytest.MonkeyPatch) -> sr.Vector:
    with monkeypatch.context() as patch:
        patch.setattr(tuning, "RANKED_ENTRIES", 1 << 60)
        found: sr.Vector = call().wait()
    return found


# More columns than shared memory has room for, and fewer.
@pytest.mark.parametrize("shape", [(400, 90_000), (3000, 5000), (20_000, 300)])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("plus_times", "float32"), ("plus_times", "int64"), ("min_plus", "float64"), ("max_second", "int8")],
)
def test_results_are_those_of_usual_pulls(
    name: str, dtype: str, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    A, u, w = skewed(1, *shape, dtype), full(2, shape[1], dtype), full(3, shape[0], dtype)
    for B, call in (
        (A, lambda: A.mxv(u, name)),
        (A, lambda: A.mxv(u, name)),  # with the cached ranks
        (None, lambda: w.vxm(A, name)),
        (None, lambda: A.apply("one").mxv(u, name)),  # iso-valued
    ):
        with sr.explain() as log:
            made = call().wait()
        assert made.isequal(usual(call, monkeypatch))
        if B is not None:
            assert kernels(log) == {"ranked"}
            assert B.store.pattern.facts[FACT].found is not None


def test_programs_repeat_products_over_ranked_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    repeated: list[bool] = []
    execute = program_run.Run._execute_ranked

    def counted(*arguments: Any) -> bool:
        repeated.append(execute(*arguments))
        return repeated[-1]

    monkeypatch.setattr(program_run.Run, "_execute_ranked", counted)
    monkeypatch.setattr(program_tuning, "HOST_ENTRIES", 0)
    A = skewed(1, 5000, 5000, "float64")
    found = sr.compile(strict=True)(hits)(A, 4)
    assert repeated == [False, False, *[True] * 6]  # two products, four iterations
    assert all(a.isclose(b, rel_tol=1e-9) for a, b in zip(found, hits(A, 4), strict=True))


@pytest.mark.parametrize("name", ["components", "labels", "extremes"])
def test_rows_end_at_the_extreme_of_a_vector(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_tuning, "BOUNDED_ENTRIES", 0)
    function, _ = programs.PROGRAMS[name]
    for n, edges in ((5000, 20_000), (300, 200), (40, 0)):
        A = programs.symmetric(n, edges, 1)
        assert same(sr.compile(strict=True)(function)(A), function(A))


def test_other_products_are_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    A = skewed(1, 3000, 5000, "float32")
    u = full(2, 5000, "float32")
    some = sr.Vector.from_coo(np.arange(0, 5000, 2), 1.0, size=5000).dup("float32").convert("bitmap")
    for call in (
        lambda: A.mxv(some, "plus_times"),
        lambda: A.mxv(u, "plus_times", mask=~full(4, 3000, bool).S),
        lambda: A.mxv(u, "plus_times", mask=sr.Vector.from_coo([1, 7], True, size=3000).S),
        lambda: A.mxv(u, "plus_first"),
        lambda: A.mxv(u, "min_secondi"),
        lambda: A.compress("packed").mxv(u, "plus_times"),
    ):
        with sr.explain() as log:
            call().wait()
        assert "ranked" not in kernels(log)


def test_a_vector_that_has_all_columns_with_entries_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    A = skewed(1, 3000, 5000, "float32")
    columns = np.unique(cupy.asnumpy(A.to_coo()[1]))
    assert columns.size < 5000
    for lacking, ranked in ((0, True), (1, False)):
        positions = columns[lacking:]
        values = np.random.default_rng(2).integers(1, 9, positions.size).astype("float32")
        u = sr.Vector.from_coo(positions, values, size=5000).convert("bitmap")
        for call in (lambda: A.mxv(u, "plus_times"), lambda: A.mxv(u, "max_second")):  # noqa: B023
            with sr.explain() as log:
                made = call().wait()
            assert made.isequal(usual(call, monkeypatch))
            assert (kernels(log) == {"ranked"}) == ranked


def test_columns_are_ranked_for_the_product_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "RANKED_PRODUCTS", 3)
    A, u = skewed(1, 3000, 5000, "float32"), full(2, 5000, "float32")
    made = []
    for _ in range(4):
        with sr.explain() as log:
            A.mxv(u).wait()
        made += kernels(log)
    assert made == ["balanced", "balanced", "ranked", "ranked"]


def test_columns_without_a_few_frequent_ones_are_refused_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "RANKED_SHARE", 30)
    monkeypatch.setattr(mxv_ranked, "_table", lambda value, result: 16)
    A, u = skewed(1, 3000, 5000, "float32"), full(2, 5000, "float32")
    with sr.explain() as log:
        A.mxv(u).wait()
    assert kernels(log) == {"balanced"}
    assert A.store.pattern.facts[FACT].refused


def test_without_memory_nothing_is_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mxv_ranked, "free_device_memory", lambda: 100_000)
    A, u = skewed(1, 3000, 5000, "float32"), full(2, 5000, "float32")
    with sr.explain() as log:
        A.mxv(u).wait()
    assert kernels(log) == {"balanced"}
    assert not A.store.pattern.facts[FACT].refused


@pytest.mark.parametrize("shape", [(400, 90_000), (3000, 5000), (20_000, 300)])
@pytest.mark.parametrize("dtype", ["float32", "int64", "int8"])
def test_columns_are_scaled_as_usual(dtype: str, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    A, u = skewed(1, *shape, dtype), full(2, shape[1], dtype)
    for call in (lambda: A * u, lambda: A.ewise_mult(u, "minus"), lambda: A.apply("one").ewise_mult(u, "second")):
        with sr.explain() as log:
            made = call().wait()
        assert made.isequal(usual(call, monkeypatch))
        assert {call.details.get("kernel") for call in log if call.operation == "scale"} == {"ranked"}
    for other in (lambda: A.ewise_mult(u, "first"), lambda: full(3, shape[0], dtype).ewise_mult(A, "plus")):
        with sr.explain() as log:
            other().wait()
        assert "ranked" not in {call.details.get("kernel") for call in log}
