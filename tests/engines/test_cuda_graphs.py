"""Graph kernels of the CUDA engine beside the CPU engine and their definitions, by `emulated_kernels` without a GPU."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy", reason="the engine imports CuPy")

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines.cuda import arrays as cuda_arrays
from semiring.engines.cuda import parents as cuda_parents
from semiring.engines.cuda import span as cuda_span
from semiring.engines.requests.graphs import Span, StrictParents
from semiring.formats import Bitmap, Full, IndexList
from semiring.ops.closure import typed_semiring
from tests import sampling
from tests.engines.emulated_kernels import emulate
from tests.loops import emulated

pytestmark = pytest.mark.skipif(emulated.COMPILER is None, reason="kernels are run by a C++ compiler for the host")
N = 300


@pytest.fixture(params=[cuda_span, cuda_parents, cuda_arrays], ids=["span", "parents", "arrays"])
def module(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Any:
    emulate(request.param, monkeypatch, tmp_path_factory.getbasetemp() / "kernels")
    return request.param


def only(module: Any) -> Any:
    return pytest.mark.parametrize("module", [module], indirect=True, ids=[module.__name__.rpartition(".")[2]])


def drawn(values: Any, seed: int = 3) -> Matrix:
    """A graph of several components, with a chain, and a row of many entries."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate([np.arange(60), rng.integers(0, N - 20, 400), np.zeros(150, np.int64)])
    columns = np.concatenate([np.arange(1, 61), rng.integers(0, N - 20, 400), np.arange(150)])
    return Matrix.from_coo(rows, columns, values(rng, rows.size), shape=(N, N), dup_op="first", device="cpu")


VALUES: dict[str, Any] = {
    "ties": lambda rng, count: rng.integers(0, 4, count).astype(np.int8),
    "wide": lambda rng, count: rng.integers(-(2**62), 2**62, count),
    "floats": lambda rng, count: np.where(rng.random(count) < 0.1, np.nan, rng.normal(size=count)),
    "single": lambda rng, count: rng.normal(size=count).astype(np.float32),
    "one value": lambda rng, count: True,
}


@only(cuda_span)
@pytest.mark.parametrize(
    ("values", "largest"),
    [
        ("ties", True),
        ("floats", False),
        *(pytest.param(*of, marks=pytest.mark.wide) for of in product(VALUES, (False, True))),
    ],
)
def test_a_spanning_forest_is_that_of_the_cpu(
    module: Any, values: str, largest: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    A = drawn(VALUES[values])
    with sr.use("cpu"):
        expected = sr.ops.span(A, largest=largest)
    marked: list[np.ndarray[Any, Any]] = []
    monkeypatch.setattr(module, "compact_csr", lambda a, marks: marked.append(marks))
    module.span(Span(A.store, largest))
    bits = np.unpackbits(marked[0].view(np.uint8), bitorder="little")[: A.nvals].astype(bool)
    rows, columns, _ = A.to_coo()
    found = set(zip(rows[bits].tolist(), columns[bits].tolist(), strict=True))
    assert found == {place for place, _ in expected.items()}


@only(cuda_span)
def test_nothing_is_spanned_without_entries(module: Any) -> None:
    store = Matrix(float, 3, 3, device="cpu").store
    assert module.span(Span(store, False)) is store


def _closed(A: Matrix, start: Vector, ring: str) -> tuple[StrictParents, dict[int, Any]]:
    with sr.use("cpu"):
        closed = sr.ops.closure(start, A, ring)
        typed = typed_semiring(ring, start.dtype, A.store)
        return StrictParents(A.store, closed.store, start.store, typed), closed.to_dict()


@only(cuda_parents)
@pytest.mark.parametrize("kind", ["list", "bitmap", "full"])
def test_parents_are_strictly_better_rows(module: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    A = drawn(lambda rng, count: rng.integers(1, 9, count))
    start = Vector.full(1000, N) if kind == "full" else Vector(int, N)
    start[0], start[77] = 0, 3
    q, value = _closed(A, start.wait(), "min_plus")
    if kind == "list":
        given = sorted(value)
        indices = np.array(given, np.int32)
        q = StrictParents(q.a, IndexList(N, q.closed.dtype, indices, np.array([value[v] for v in given])), *_rest(q))
    monkeypatch.setattr(module, "as_dense", _dense)
    made = module.strict_parents(q)
    assert isinstance(made, {"list": IndexList, "bitmap": Bitmap, "full": Full}[kind])
    assert made.dtype == np.int32
    parent = Vector._new(made).to_dict()
    assert parent.keys() == value.keys()
    weight, first = A.to_dicts(), start.to_dict()
    for v, p in parent.items():
        if p == v:
            assert value[v] == first[v]
        else:
            assert value[p] < value[v] == value[p] + weight[p][v]


def _rest(q: StrictParents) -> tuple[Any, Any]:
    return q.frontier, q.semiring


def _dense(u: Any) -> Any:
    """A vector with a slot for each index, as the engine makes it."""
    if isinstance(u, (Bitmap, Full)):
        return u
    return Vector._new(u).convert("bitmap").store


@only(cuda_parents)
def test_an_edge_of_weight_0_leaves_parents_to_a_search(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A = Matrix.from_coo([0, 1, 2], [1, 2, 1], [4, 0, 0], shape=(3, 3), device="cpu")
    q, _ = _closed(A, Vector.from_coo([0], [0], size=3, device="cpu"), "min_plus")
    monkeypatch.setattr(module, "as_dense", _dense)
    assert module.strict_parents(q) is None


@only(cuda_arrays)
def test_arrays_agree(module: Any) -> None:
    x = np.array([1.0, np.nan, -0.0, np.inf, 5.0])
    assert module.agree(x, x.copy(), None)
    assert module.agree(x, np.array([1.0, np.nan, 0.0, np.inf, 5.0], np.float32), None)
    for at, other in enumerate((2.0, 0.0, 1e-300, -np.inf, np.nan)):
        changed = x.copy()
        changed[at] = other
        assert not module.agree(x, changed, None)
    near = x * (1 + 1e-7)
    assert not module.agree(x, near, None)
    assert module.agree(x, near, (1e-6, 0.0))
    assert not module.agree(np.array([np.inf]), np.array([5.0]), (1.0, np.inf))
    assert module.array_equal(np.arange(700), np.arange(700))
    assert not module.array_equal(np.arange(700), np.arange(701))
    assert module.agree(np.zeros(0), np.zeros(0), None)


@only(cuda_arrays)
def test_a_permutation_has_each_number_once(module: Any) -> None:
    rng = np.random.default_rng(1)
    for dtype in (np.int32, np.int64):
        array = rng.permutation(1000).astype(dtype)
        assert module.is_permutation(array)
        for wrong in (-1, 1000, int(array[1])):
            changed = array.copy()
            changed[0] = wrong
            assert not module.is_permutation(changed)


@only(cuda_arrays)
def test_values_are_assigned_at_indices(module: Any) -> None:
    out, at = np.zeros(50, np.float32), np.arange(40, 0, -3, dtype=np.int64)
    module.scatter(out, at, at.astype(np.float32) / 7)
    expected = np.zeros(50, np.float32)
    expected[at] = at.astype(np.float32) / 7
    np.testing.assert_array_equal(out, expected)


# Each is compiled for the host.
SORTED = [("uint32", "int8"), ("uint64", "int8"), ("uint32", "float64"), ("uint64", "float64")]
SORTED += [("uint32", "complex128"), ("uint64", "complex128")]
SEARCHED = ["int32", "int64", "uint64", "int8"]


def sampled(rows: list[Any], count: int) -> list[Any]:
    """Parametrization of a test by `rows`, of which the short tier takes `count`."""
    sample = sampling.draw(f"arrays {rows}", rows, count)
    return [pytest.param(row, marks=sampling.marks(row, sample, pytest.mark.wide), id=str(row)) for row in rows]


@only(cuda_arrays)
@pytest.mark.parametrize("types", sampled(SORTED, 2))
@pytest.mark.parametrize("n", [1, 2, 777])
def test_few_keys_are_sorted_stably(module: Any, types: tuple[str, str], n: int) -> None:
    key, value = map(np.dtype, types)
    rng = np.random.default_rng(n)
    keys, values = rng.integers(0, 40, n).astype(key) << key.type(20), np.arange(n).astype(value)
    order = np.argsort(keys, kind="stable")
    made, moved = module.sorted_few(keys.copy(), values, 26)
    np.testing.assert_array_equal(made, keys[order])
    np.testing.assert_array_equal(moved, values[order])


@only(cuda_arrays)
@pytest.mark.parametrize("dtype", sampled(SEARCHED, 2))
@pytest.mark.parametrize("side", ["left", "right"])
def test_searches(module: Any, dtype: Any, side: Any) -> None:
    rng = np.random.default_rng(2)
    for size in (0, 1, 500):
        ascending, wanted = np.sort(rng.integers(0, 90, size)).astype(dtype), rng.integers(0, 100, 300).astype(dtype)
        found = module.searchsorted(ascending, wanted, side)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, np.searchsorted(ascending, wanted, side))


@only(cuda_arrays)
@pytest.mark.parametrize("dtype", [np.dtype(np.int32), np.dtype(np.int64)])
def test_repeated_indices_and_offsets(module: Any, dtype: Any) -> None:
    first = 5_000_000_003
    np.testing.assert_array_equal(module.cyclic(first, first + 99, 7, dtype), np.arange(first, first + 99) % 7)
    offsets = first + np.arange(0, 900, 3)
    np.testing.assert_array_equal(module.rebased(offsets, first, dtype), offsets - first)
