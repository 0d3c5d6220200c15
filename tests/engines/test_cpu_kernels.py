"""Properties of the CPU engine: threads, scalar code, the cache on disk, directions that agree."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from semiring.engines import registry
from semiring.engines.cpu import threads
from semiring.engines.requests.graphs import Closure, Link
from semiring.engines.requests.operands import Mask, Rows
from semiring.engines.requests.operations import Convert, ImportCSR, IsSymmetric, Mxv, Transpose
from semiring.formats import CSR, Bitmap, Full, IndexList, Pattern
from semiring.operators.expression import Expression
from semiring.operators.types import TypedBinary, TypedMonoid, TypedSemiring

I4, F8, B1 = np.dtype(np.int32), np.dtype(np.float64), np.dtype(np.bool_)
PLUS_TIMES = TypedSemiring(
    TypedMonoid(TypedBinary("plus", F8, F8, F8, Expression("x + y")), np.float64(0), None),
    TypedBinary("times", F8, F8, F8, Expression("x * y")),
)
MIN_PLUS = TypedSemiring(
    TypedMonoid(TypedBinary("min", I4, I4, I4, Expression("min(x, y)")), np.int32(2**31 - 1), np.int32(-(2**31))),
    TypedBinary("plus", I4, I4, I4, Expression("x + y")),
)


def random_graph(n: int, degree: float, seed: int) -> CSR:
    """A symmetric pattern without values."""
    rng = np.random.default_rng(seed)
    present = rng.random((n, n)) < degree / n
    present |= present.T
    indptr = np.zeros(n + 1, np.int32)
    np.cumsum(present.sum(axis=1), out=indptr[1:])
    return CSR(Pattern(n, n, indptr, np.nonzero(present)[1].astype(np.int32)), B1, None, np.bool_(True))


def levels_of(graph: CSR, source: int) -> np.ndarray:
    """Breadth-first levels, -1 where unreached, one vertex at a time."""
    level = np.full(graph.nrows, -1)
    level[source] = 0
    queue = [source]
    for v in queue:
        for w in graph.indices[graph.indptr[v] : graph.indptr[v + 1]]:
            if level[w] < 0:
                level[w] = level[v] + 1
                queue.append(int(w))
    return level


def search(graph: CSR, source: int, direction: str) -> Closure:
    rows = Rows(graph)
    frontier = IndexList(graph.nrows, I4, np.array([source], np.int32), None, np.int32(0))
    return Closure(frontier, rows, rows, MIN_PLUS, True, 10**9, direction, trace=True)


@pytest.mark.costly
@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_levels_on_any_number_of_threads(direction: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from semiring.engines.cpu import closure

    monkeypatch.setattr(closure, "available", lambda: count)
    monkeypatch.setattr(closure, "MANY_TO_SHARE", 1000)  # so that levels use threads
    graph = random_graph(700, 60, seed=3)
    result = registry.run(search(graph, 5, direction), "cpu")
    dense = registry.run(Convert(result.store, "full"), "cpu")
    assert result.converged
    np.testing.assert_array_equal(dense.values, levels_of(graph, 5))
    assert sum(step.frontier for step in result.trace) == graph.nrows
    assert sum(step.edges for step in result.trace) == graph.nvals
    if direction != "auto":
        assert {step.direction for step in result.trace} == {direction}


@pytest.mark.costly
def test_a_long_path_overflows_no_trace() -> None:
    n = 5000
    indptr = np.minimum(np.arange(n + 1), n - 1).astype(np.int32)
    path = CSR(Pattern(n, n, indptr, np.arange(1, n, dtype=np.int32)), B1, None, np.bool_(True))
    result = registry.run(search(path, 0, "push"), "cpu")
    assert result.steps == len(result.trace) == n
    np.testing.assert_array_equal(result.store.values, np.arange(n))
    short = registry.run(replace(search(path, 0, "push"), max_steps=7), "cpu")
    assert (short.converged, short.steps, short.store.nvals) == (False, 7, 8)


def test_pull_derives_the_transpose_only_when_it_pays() -> None:
    asked = []
    graph = random_graph(400, 8, seed=1)

    def derive() -> CSR:
        asked.append(True)
        return graph

    spec = replace(search(graph, 0, "push"), by_column=Rows(None, derive))
    registry.run(spec, "cpu")
    assert not asked
    registry.run(replace(spec, direction="auto"), "cpu")
    assert len(asked) == 1


@pytest.mark.parametrize("blocks", [1, 4])
def test_sums_do_not_depend_on_direction_or_threads(blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from semiring.engines.cpu import mxv

    graph = random_graph(300, 20, seed=2)
    weights = np.random.default_rng(0).random(graph.nvals)
    a = CSR(graph.pattern, F8, weights)
    t = registry.run(Transpose(a), "cpu")
    u = Full(300, F8, np.random.default_rng(1).random(300))
    monkeypatch.setattr(mxv, "_BLOCK_EDGES", graph.nvals // blocks)
    results = {}
    for direction in ("push", "pull"):
        for count in (1, 4):
            monkeypatch.setattr(mxv, "threads_for", lambda work, count=count: count)
            q = Mxv(300, 300, Rows(a), Rows(t), u, PLUS_TIMES, False, None, direction)
            results[direction, count] = registry.run(Convert(registry.run(q, "cpu"), "bitmap"), "cpu")
    for (direction, _), other in results.items():
        first = results[direction if blocks > 1 else "push", 1]
        np.testing.assert_array_equal(first.words, other.words)
        held = np.unpackbits(other.words.view(np.uint8), count=300, bitorder="little").astype(bool)
        np.testing.assert_array_equal(first.values[held], other.values[held])  # to the last bit
        np.testing.assert_allclose(results["pull", 1].values[held], other.values[held], rtol=1e-14)


def test_mask_is_absorbed() -> None:
    graph = random_graph(100, 5, seed=4)
    rows = Rows(graph)
    mask = Mask(IndexList(100, B1, np.array([3, 40, 99], np.int32), None, np.bool_(True)), True, True)
    u = Full(100, I4, None, np.int32(1))
    t = registry.run(Mxv(100, 100, rows, rows, u, MIN_PLUS, False, mask), "cpu")
    indices = registry.run(Convert(t, "index"), "cpu").indices
    wanted = np.setdiff1d(np.flatnonzero(np.diff(graph.indptr)), [3, 40, 99])
    np.testing.assert_array_equal(indices, wanted)


def test_read_only_arrays_need_no_second_kernel() -> None:
    from semiring.engines.cpu.transpose import _transpose

    graph = random_graph(50, 4, seed=5)
    registry.run(Transpose(graph), "cpu")
    before = len(_transpose.signatures)
    frozen = Pattern(50, 50, graph.indptr.copy(), graph.indices.copy())
    frozen.indptr.flags.writeable = frozen.indices.flags.writeable = False
    registry.run(Transpose(CSR(frozen, B1, None, np.bool_(True))), "cpu")
    assert len(_transpose.signatures) == before
    assert not frozen.indptr.flags.writeable


def test_right_arrays_are_taken_without_a_copy() -> None:
    indptr, indices = np.array([0, 1, 3], np.int32), np.array([1, 0, 2], np.int32)
    values = np.array([1.0, 2.0, 3.0])
    a = registry.run(ImportCSR(2, 3, F8, indptr, indices, values, None, None), "cpu")
    assert a.indptr is indptr
    assert a.indices is indices
    assert a.values is values


def test_kernels_run_in_many_python_threads() -> None:
    graph = random_graph(600, 80, seed=6)
    expected = levels_of(graph, 0)
    wrong: list[object] = []

    def work() -> None:
        try:
            for _ in range(10):
                store = registry.run(search(graph, 0, "auto"), "cpu").store
                if not np.array_equal(registry.run(Convert(store, "full"), "cpu").values, expected):
                    wrong.append("levels differ")
                if not registry.run(IsSymmetric(graph.pattern), "cpu"):
                    wrong.append("not symmetric")
        except BaseException as error:
            wrong.append(error)

    together = [threading.Thread(target=work) for _ in range(4)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    assert wrong == []


def test_an_error_in_one_thread_reaches_the_caller() -> None:
    def failing(t: int, count: int, control: np.ndarray) -> None:
        if t == 1:
            raise ArithmeticError("thread 1")

    with pytest.raises(ArithmeticError, match="thread 1"):
        threads.run(failing, 3)
    seen: list[int] = []
    threads.run(lambda t, count, control: seen.append(t), 3)
    assert sorted(seen) == [0, 1, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_its_own_threads() -> None:
    threads.run(lambda t, count, control: None, 3)
    child = os.fork()
    if child == 0:
        seen: list[int] = []
        threads.run(lambda t, count, control: seen.append(t), 3)
        os._exit(0 if sorted(seen) == [0, 1, 2] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_linking_flattens_and_skips() -> None:
    graph = random_graph(500, 1.5, seed=7)
    forest = Full(500, I4, np.arange(500, dtype=np.int32))
    linked = registry.run(Link(forest, graph.pattern, 0, None, None), "cpu")
    labels = linked.values
    np.testing.assert_array_equal(labels[labels], labels)
    for v in range(500):
        reached = levels_of(graph, v) >= 0
        assert labels[v] == np.flatnonzero(reached)[0]
    np.testing.assert_array_equal(forest.values, np.arange(500))


def test_bits_past_the_end_are_clear() -> None:
    v = Full(45, I4, np.arange(45, dtype=np.int32))
    made = registry.run(Convert(v, "bitmap"), "cpu")
    assert isinstance(made, Bitmap)
    assert int(made.words[1]) == (1 << 13) - 1


_PROGRAM = """
import numpy as np
from semiring.engines import registry
from semiring.engines.requests.operations import Apply
from semiring.formats import Full
from semiring.operators.expression import Expression
from semiring.operators.types import TypedIndexUnary
f8 = np.dtype(np.float64)
op = TypedIndexUnary("mine", f8, f8, f8, Expression("max(x, k) * 3.0 + abs(x - k)"))
print(registry.run(Apply(Full(3, f8, np.array([1.0, 2.0, 5.0])), op, np.float64(2)), "cpu").values.tolist())
"""


@pytest.mark.costly
def test_user_defined_kernels_are_compiled_once_for_all_processes(tmp_path: os.PathLike[str]) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "SEMIRING_QUIET"}
    environment["SEMIRING_CACHE_DIR"] = str(tmp_path)
    said = []
    for _ in range(2):
        ran = subprocess.run(
            [sys.executable, "-c", _PROGRAM], env=environment, capture_output=True, text=True, check=True
        )
        assert ran.stdout.strip() == "[7.0, 6.0, 18.0]"
        said.append(ran.stderr)
    assert "compiling CPU kernel apply._apply for mine float64" in said[0]
    assert said[1] == ""
