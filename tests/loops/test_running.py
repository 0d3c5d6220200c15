"""Compiled kernels of loops: interrupts and threads."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines.cpu import closure_hubs, program
from tests.loops.programs import bfs_levels, hits, independent_set


@sr.compile
def doubled(v: Vector, times: int) -> Vector:
    """v times a power of two."""
    for _ in range(times):
        v << v + v
    return v


@pytest.mark.costly
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers")
@pytest.mark.parametrize("nested", [False, True])
def test_a_long_loop_is_interrupted(nested: bool) -> None:
    @sr.compile(strict=True)
    def endless(v: Vector) -> None:
        k = 1
        while k > 0:
            v << v * 1
            k = 3 - k

    @sr.compile(strict=True)
    def within(v: Vector) -> None:
        k = 1
        while k > 0:
            j = 1
            while j > 0:
                v << v * 1
                j = 3 - j

    v, function = Vector.full(1, 3), within if nested else endless
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):  # during the compilation
            function(v)
        while True:  # until it is compiled, and then in the kernel
            signal.setitimer(signal.ITIMER_REAL, 3.0)
            begin = time.perf_counter()
            with pytest.raises(KeyboardInterrupt):
                function(v)
            if time.perf_counter() - begin < 3.5:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert v.to_dict() == {0: 1, 1: 1, 2: 1}


def test_threads_share_a_compiled_function(device: str) -> None:
    found: list[Any] = []

    def run(k: int) -> None:
        with sr.use(device):
            found.append((k, doubled(Vector.full(k, 5), 3).to_dict()[0]))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(k, 8 * k) for k in range(8)]


def test_a_program_that_has_pulled_reads_hubs_later(device: str) -> None:
    if device == "cuda":
        pytest.skip("hubs of the CPU engine")
    compiled, A = sr.compile(strict=True)(bfs_levels), sr.random.kronecker(10, 16, seed=2)
    for source in (0, 1, 5):
        assert compiled(A, source).isequal(bfs_levels(A, source))
        assert closure_hubs.cached(A.store.pattern) == (source > 0)


@pytest.mark.costly
def test_several_threads_execute_products_of_all_entries(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if device != "cpu":
        pytest.skip("a property of the CPU engine")
    A = sr.random.kronecker(6, 8, seed=1)
    monkeypatch.setattr(program, "_LARGE", A.nvals)
    pairs, levels = sr.compile(hits), sr.compile(bfs_levels)
    for threads, iterations in ((2, 0), (1, 10)):
        monkeypatch.setattr(program, "available", lambda threads=threads: threads)
        assert pairs.plan(A).loops[0].iterations == iterations  # type: ignore[attr-defined]
        assert all(a.isclose(b) for a, b in zip(pairs(A), hits(A), strict=True))
        assert levels.plan(A, 0).loops[0].iterations > 0  # type: ignore[attr-defined]


@pytest.mark.costly
def test_a_large_first_iteration_is_executed_by_several_threads(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if device != "cpu":
        pytest.skip("a property of the CPU engine")
    A = sr.random.kronecker(6, 8, seed=1)
    monkeypatch.setattr(program, "_LARGE", A.nvals // 2)
    rounds = sr.compile(strict=True)(independent_set)
    counts = []
    for threads in (1, 2):
        monkeypatch.setattr(program, "available", lambda threads=threads: threads)
        assert rounds(A, 1).isequal(independent_set(A, 1))
        counts.append(rounds.plan(A, 1).loops[0].iterations)  # type: ignore[attr-defined]
    assert counts[0] == counts[1] + 1 > 1


def test_a_product_of_which_nothing_is_admitted() -> None:
    @sr.compile(strict=True)
    def unchanged(A: Matrix, u: Vector, w: Vector) -> Vector:
        for _ in range(2):
            w(~u.S) << A.mxv(w, "min_plus")
        return w

    A, w = Matrix.identity(3, int), Vector.from_dense([1, 2, 3])
    assert unchanged(A, Vector.from_dense([4, 5, 6]), w).to_dict() == {0: 1, 1: 2, 2: 3}


def test_a_request_that_an_engine_fuses_is_two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU has inner products in one pass; a program has the product and its sum."""
    from semiring.engines import registry
    from semiring.engines.requests.operations import Inner

    found = registry.implemented
    monkeypatch.setattr(registry, "implemented", lambda spec, engine: spec is Inner or found(spec, engine))

    @sr.compile(strict=True)
    def halved(v: Vector) -> Vector:
        while v.inner(v).get(0.0) > 1.0:
            v = v * 0.5
        return v

    assert halved(Vector.from_coo([0, 2], [4.0, 3.0], size=3)).to_dict() == {0: 0.5, 2: 0.375}
