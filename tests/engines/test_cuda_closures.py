"""Searches of the CUDA engine without a GPU: the host code of `closure_level`, and kernels of the C++ compiler.

Two blocks of 64 threads execute a search (`tests.loops.emulated`); all strategies must have the CPU engine's results.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

pytest.importorskip("cupy", reason="the engine imports CuPy")

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines.cuda import closure, closure_plans, columns, tuning
from semiring.engines.cuda.compile import module_text
from semiring.engines.cuda.kernel import Kernel
from semiring.engines.cuda.specialize import constants
from semiring.engines.requests.graphs import Closure, ClosureResult
from semiring.engines.requests.operands import Rows
from semiring.formats import CSR, index_dtype
from semiring.formats.vectors import SingleEntry
from semiring.ops.closure import final_on_arrival, typed_semiring
from semiring.strategies import STRATEGIES
from tests.loops import emulated

pytestmark = pytest.mark.skipif(emulated.COMPILER is None, reason="kernels are run by a C++ compiler for the host")

_SEARCH = """extern "C" void run(unsigned blocks, bool whole, const SourceArguments* entered,
                                 const MatrixArguments* matrix, const SearchArguments* given) {
    launch(1, [=] { closure_cluster(*entered, *matrix, *given); });
    if (whole) launch(blocks, [=] { closure_grid(*matrix, *given); });
}"""
_RELAX = """extern "C" void run(unsigned blocks, bool whole, const RelaxArguments* given) {
    launch(1, [=] { relax_cluster(*given); });
    if (whole) launch(blocks, [=] { relax_grid(*given); });
}
extern "C" void enter(unsigned blocks, const SourceArguments* entered, const RelaxArguments* given) {
    launch(blocks, [=] { relax_enter(*entered, *given); });
}"""


class Addressed(np.ndarray[Any, Any]):
    """An array of the host whose address is where CuPy's arrays have theirs."""

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ctypes.data)


def addressed(array: Any) -> Any:
    if array is None:
        return None
    # Streams begin at a multiple of 16.
    array = np.asarray(array)
    room = np.zeros(array.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy.view(Addressed)


class Memory:
    """What `cupy.cuda.alloc` returns, filled with bytes that no kernel may depend on."""

    held: ClassVar[list[Any]] = []

    def __init__(self, nbytes: int) -> None:
        room = np.full(nbytes + 512, 0xAB, np.uint8)
        Memory.held.append(room)
        self.ptr = room.ctypes.data + -room.ctypes.data % 256

    def memset_async(self, value: int, nbytes: int, stream: Any) -> None:
        ctypes.memset(self.ptr, value, nbytes)

    def __add__(self, offset: int) -> int:
        return self.ptr + offset


def array_at(shape: int, dtype: Any, address: int) -> Any:
    dtype = np.dtype(dtype)
    room = (ctypes.c_char * (shape * dtype.itemsize)).from_address(address)
    return np.frombuffer(room, dtype).view(Addressed)


def words_at(address: int, count: int) -> tuple[int, ...]:
    return struct.unpack(f"{count}Q", ctypes.string_at(address, 8 * count))


def uncached() -> None:
    for made in (
        closure_plans._level_kernels, closure_plans._block_text, closure_plans._phases, closure_plans.relax_plan
    ):  # fmt: skip
        made.cache_clear()


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let `closure_level` use arrays of the host, and emulated kernels of few threads that pull and segment early."""
    folder = tmp_path_factory.getbasetemp() / "kernels"
    folder.mkdir(exist_ok=True)

    def launch(self: Any, first: tuple[bytes, ...], second: tuple[bytes, ...] | None) -> None:
        library(self.kernels[0]).run(2, second is not None, *map(ctypes.create_string_buffer, first))

    def library(kernel: Kernel) -> ctypes.CDLL:
        calls = _SEARCH if kernel.file == "closure_level.cuh" else _RELAX
        return emulated.library(module_text(kernel.file, kernel.prologue), calls, folder)

    def call(self: Kernel, grid: int, block: int, *arguments: Any) -> None:
        if self.entry == "relax_enter":
            library(self).enter(2, *map(ctypes.create_string_buffer, arguments))
        else:  # the bits of a result are counted
            words, _, count = arguments
            bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8)).sum()
            ctypes.memmove(count, int(bits).to_bytes(8, "little"), 8)

    def degrees(pattern: Any) -> Any:
        entries = np.diff(np.asarray(pattern.indptr))
        bits = np.packbits(np.r_[entries > 0, np.zeros(32, bool)], bitorder="little")
        words = addressed(bits[: len(bits) // 4 * 4].view(np.uint32))
        return SimpleNamespace(
            words=words, data=words.data, nonempty=int((entries > 0).sum()), longest=int(entries.max())
        )

    arrays = SimpleNamespace(
        cuda=SimpleNamespace(alloc=Memory),
        ndarray=array_at,
        empty=lambda *of: addressed(np.zeros(*of)),
        asarray=addressed,
    )
    monkeypatch.setattr(closure_plans._Pair, "launch", launch)
    monkeypatch.setattr(Kernel, "__call__", call)
    monkeypatch.setattr(closure_plans, "degrees", degrees)
    monkeypatch.setattr(closure_plans, "hubs", lambda pattern, build: None)
    monkeypatch.setattr(closure, "get_current_stream", lambda: None)
    monkeypatch.setattr(closure, "read_words", words_at)
    monkeypatch.setattr(closure, "read_back", lambda array: array)
    for module in (closure, columns):
        monkeypatch.setattr(module, "cupy", arrays)
    small = {
        "GRID_BLOCK": 64,
        "CLUSTER_BLOCK": 64,
        "PROBES": 4,
        "EAGER_EDGES": 40,
        "CLUSTER_EDGES": 200,
        "SKEWED_ROW": 20,
    }
    for name, value in small.items():
        monkeypatch.setattr(tuning, name, value)
    uncached()
    yield
    uncached()
    Memory.held.clear()


def stored(A: Matrix) -> CSR:
    store: Any = A.store
    pattern = store.pattern
    arrays = {name: addressed(getattr(pattern, name)) for name in pattern.ARRAYS}
    return CSR(pattern.with_arrays(arrays, {}, pattern.placement), store.dtype, addressed(store.values), store.iso)


def searched(
    A: Matrix, start: Vector, ring: str, *, strategy: str = "auto", direction: str = "auto", steps: int | None = None
) -> ClosureResult:
    a, t, n = stored(A), stored(A.T.new()), A.nrows
    ((source, value),) = start.items()
    frontier = SingleEntry(n, start.dtype, source, start.dtype.type(value), "cpu")
    typed = typed_semiring(ring, start.dtype, A.store)
    assert final_on_arrival(frontier, A.store, typed)
    limit = n if steps is None else steps
    return closure.closure_level(
        Closure(frontier, Rows(a), Rows(t), typed, True, limit, direction, strategy, trace=True)
    )


def entries(found: ClosureResult) -> dict[int, Any]:
    store: Any = found.store
    present = np.flatnonzero(np.unpackbits(store.words.view(np.uint8), bitorder="little"))
    assert store.nvals == present.size
    return {int(v): (store.iso if store.values is None else store.values[v]).item() for v in present}


def graph(seed: int, n: int = 700, *, symmetric: bool = False) -> Matrix:
    """A dense part with two rows of many entries, a chain behind it, and vertices that nothing reaches."""
    rng = np.random.default_rng(seed)
    dense = n // 2
    rows = [rng.integers(0, dense, 4 * dense), np.zeros(200, np.int64), np.full(90, 7), np.arange(dense, dense + 60)]
    ends = [rng.integers(0, dense, 4 * dense), rng.integers(0, dense, 200), rng.integers(0, dense, 90)]
    rows, ends = np.concatenate(rows), np.concatenate([*ends, np.arange(dense + 1, dense + 61)])
    rows, ends = np.append(rows, 3), np.append(ends, dense)
    if symmetric:
        rows, ends = np.concatenate([rows, ends]), np.concatenate([ends, rows])
    return Matrix.from_coo(rows, ends, True, shape=(n, n), dup_op="first", device="cpu")


def check(A: Matrix, source: int, strategy: str, direction: str) -> ClosureResult:
    """Levels, reachable vertices and parents of one search each; return the first."""
    with sr.use("cpu"):
        expected = sr.ops.closure(Vector.from_coo([source], [0], size=A.nrows), A, "min_plus", weight=1)
    ones = Matrix._new(replace(A.store, dtype=np.dtype(np.int64), values=None, iso=np.int64(1)))
    found = searched(ones, Vector.from_coo([source], [0], size=A.nrows, device="cpu"), "min_plus",
                     strategy=strategy, direction=direction)  # fmt: skip
    level = expected.to_dict()
    assert found.converged
    assert entries(found) == level
    reached = searched(A, Vector.from_coo([source], [True], size=A.nrows, device="cpu"), "any_pair",
                       strategy=strategy, direction=direction)  # fmt: skip
    assert set(entries(reached)) == set(level)
    parents = searched(A, Vector.from_coo([source], [source], size=A.nrows, device="cpu"), "any_secondi",
                       strategy=strategy, direction=direction)  # fmt: skip
    parent = entries(parents)
    edges = {(u, v) for (u, v), _ in A.items()}
    assert parent.keys() == level.keys()
    assert all(v == source or ((p, v) in edges and level[p] + 1 == level[v]) for v, p in parent.items())
    assert [step.frontier for step in found.trace] == np.bincount(list(level.values())).tolist()[: found.steps]
    return found


@pytest.mark.parametrize(
    "strategy",
    [name if name == "hybrid" else pytest.param(name, marks=pytest.mark.wide) for name in STRATEGIES],
)
def test_strategies_search_as_the_cpu_does(strategy: str, kernels: None) -> None:
    found = check(graph(1), 5, strategy, "auto")
    directions = {step.direction for step in found.trace}
    assert directions == ({"push", "pull"} if STRATEGIES[strategy].pulls else {"push"})


@pytest.mark.costly
@pytest.mark.parametrize(
    ("rows", "lists", "direction"),
    [(2, 0, "auto"), *(pytest.param(*of, marks=pytest.mark.wide) for of in product((1, 3), (0, 1), ("auto", "pull")))],
)
def test_pulls_with_other_thresholds(
    rows: int, lists: int, direction: str, kernels: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "PULL_ROWS", rows)
    monkeypatch.setattr(tuning, "PULL_LISTS", lists)
    found = check(graph(2, symmetric=True), 5, "auto", direction)
    directions = {step.direction for step in found.trace}
    assert directions == ({"push", "pull"} if direction == "auto" else {"pull"})


def two_of(pattern: Any, build: bool) -> Any:
    """In place of the hubs of each row its first and its last entry."""
    rows = Matrix._new(CSR(pattern, np.dtype(bool), None, np.True_)).to_dicts()
    hubs = np.full((2, pattern.nrows), -1, index_dtype(pattern.nrows))
    for i, row in rows.items():
        hubs[:, i] = min(row), max(row)
        if len(row) == 1:
            hubs[1, i] = -1
    return addressed(hubs.reshape(-1))


@pytest.mark.parametrize(
    ("codec", "strategy"),
    [pytest.param(*of, marks=pytest.mark.wide) for of in product(("varint", "packed"), STRATEGIES)],
)
def test_compressed_rows(codec: str, strategy: str, kernels: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closure_plans, "hubs", two_of)
    monkeypatch.setattr(closure_plans, "_HALF", constants(CLUSTER_BLOCK=64))
    check(graph(3, symmetric=True).compress(codec), 5, strategy, "auto")


@pytest.mark.wide
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_search_stops_after_its_steps(strategy: str, kernels: None) -> None:
    A = graph(4)
    found = searched(
        A, Vector.from_coo([5], [True], size=A.nrows, device="cpu"), "any_pair", strategy=strategy, steps=2
    )
    assert (found.converged, found.steps) == (False, 2)
    with sr.use("cpu"):
        level = sr.algorithms.bfs_levels(A, 5).to_dict()
    assert set(entries(found)) == {v for v, d in level.items() if d <= 2}


def test_pushes_are_numbered_as_in_the_kernel() -> None:
    text = (Path(closure.__file__).parent / "kernels" / "push_strategies.cuh").read_text(encoding="utf-8")
    listed = text.partition("enum { ")[2].partition(" }")[0].lower().split(", ")
    assert {strategy.push for strategy in STRATEGIES.values()} == set(listed)


def test_a_strategy_that_does_not_exist() -> None:
    with pytest.raises(sr.exceptions.InvalidValue, match="two_phase"):
        sr.config.set(strategy="twophase")


@pytest.mark.parametrize(
    ("ring", "kind"),
    [
        ("min_plus", "int64"),
        *(pytest.param(*of, marks=pytest.mark.wide) for of in product(("min_plus", "max_min"), ("float32", "int64"))),
    ],
)
def test_relaxation_in_order(ring: str, kind: str, kernels: None, monkeypatch: pytest.MonkeyPatch) -> None:
    A = graph(6)
    weights = np.random.default_rng(6).integers(1, 50, A.nvals).astype(kind)
    W = Matrix._new(replace(A.store, dtype=weights.dtype, values=weights, iso=None))
    start = Vector.from_coo([5], np.array([0 if ring == "min_plus" else 1000], kind), size=A.nrows, device="cpu")
    with sr.use("cpu"):
        expected = sr.ops.closure(start, W, ring).to_dict()
    monkeypatch.setattr(closure, "filled", lambda count, value: addressed(np.full(count, value)))
    monkeypatch.setattr(closure, "scratch", scratched)
    monkeypatch.setattr(closure, "degrees", closure_plans.degrees)
    monkeypatch.setattr(tuning, "ORDER_FEW", 16)
    typed = typed_semiring(ring, start.dtype, W.store)
    frontier = SingleEntry(A.nrows, start.dtype, 5, start.dtype.type(start[5].value), "cpu")
    found = closure.closure_relax(Closure(frontier, Rows(stored(W)), Rows(None), typed, False, A.nrows))
    assert found.converged
    assert entries(found) == expected


def lattice() -> Matrix:
    """Short rows, of which lanes of a warp follow several, and a chain that one warp follows."""
    rows, ends, _ = sr.random.grid2d(24, 24, device="cpu").to_coo()
    chain = np.arange(575, 640)
    rows, ends = np.concatenate([rows, chain, chain + 1]), np.concatenate([ends, chain + 1, chain])
    return Matrix.from_coo(rows, ends, True, shape=(641, 641), device="cpu")


@pytest.mark.costly
@pytest.mark.parametrize("direction", ["push", pytest.param("auto", marks=pytest.mark.wide)])
def test_short_rows(direction: str, kernels: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in (200, 60):
        monkeypatch.setattr(tuning, "CLUSTER_EDGES", limit)
        uncached()
        check(lattice(), 0, "auto", direction)


def scratched(*parts: int) -> tuple[Any, list[int]]:
    held = [Memory(nbytes) for nbytes in parts]
    return held, [memory.ptr for memory in held]
