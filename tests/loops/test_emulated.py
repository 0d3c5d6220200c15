"""The CUDA text of programs: it compiles, and on a CPU, with the C++ compiler, it gives the results of plain Python."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cupy", reason="the modules of the CUDA engine import CuPy")

import semiring as sr
from semiring import Matrix, Vector
from semiring.engines import registry
from semiring.engines.cpu import program
from semiring.engines.cuda import compile, program_lists, program_tuning
from semiring.engines.cuda.program_code import Code
from semiring.engines.programs import tracing
from semiring.engines.programs.program import RunProgram
from semiring.loops import while_loops
from tests.loops import (
    emulated,
    function_loops,
    interpreted,
    programs,
    test_lists,
    test_random_programs,
    test_searches,
)
from tests.loops.test_programs import same

# Items that one block processes alone, and from which it parts; shares of lists; entries from which on the host
# multiplies.
_TUNINGS = [(0, 0, 8, 64, 0), (5, 3, 1, 1, 1 << 23), (100, 50, 8, 2, 0), (8192, 4096, 2, 3, 1 << 23)]

needs_compiler = pytest.mark.skipif(emulated.COMPILER is None, reason="no g++ for the emulation of CUDA")


@contextmanager
def executed_by(function: Callable[[RunProgram], Any]) -> Iterator[None]:
    """Let a function execute the programs of the CPU engine."""
    registry.load("cpu")
    rows = registry._table["run_program", "cpu"]
    kept = list(rows)
    rows[:] = [dataclasses.replace(kept[0], function=function)]
    registry._implementations.clear()
    try:
        yield
    finally:
        rows[:] = kept
        registry._implementations.clear()


@pytest.fixture(autouse=True)
def _on_the_cpu(device: str) -> Iterator[None]:
    if device == "cuda":
        pytest.skip("a GPU executes the text itself")
    with sr.use("cpu"):
        yield


def _tuned(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    names = ("ALONE_MOST", "ALONE_LEAST", "SPARSE_SHARE", "RELIST_SHARE", "HOST_ENTRIES")
    for name, value in zip(names, _TUNINGS[number % len(_TUNINGS)], strict=True):
        monkeypatch.setattr(program_tuning, name, value)
    monkeypatch.setattr(program_tuning, "HOST_MASKED", program_tuning.HOST_ENTRIES)
    for name, value in (
        ("PROGRAM_BLOCK", emulated.BLOCK), ("SOME_BLOCKS", 2), ("SOME_MOST", 30), ("SOME_LEAST", 20),
        ("PATIENCE", number % 3), ("BOUNDED_ENTRIES", 0 if number % 2 == 0 else 1 << 20),
        ("WATCHED_CYCLES", (1 << 28, 2, 9)[number % 3]),
    ):  # fmt: skip
        monkeypatch.setattr(program_tuning, name, value)


def _compile_text(function: Any, arguments: tuple[Any, ...], arch: str, *, executed: bool = False) -> None:
    """Compile the texts of a function; executed: by the CPU engine, else its programs have no effect."""
    texts: list[str] = []

    def compiled(q: RunProgram) -> Any:
        texts.append(Code(q.program).text())
        assert compile.compile_text("program.cuh", texts[-1], arch)
        return program.run_program(q) if executed else None

    with executed_by(compiled):
        found = sr.compile(strict=True)(function)(*arguments)
    assert texts
    assert same(function(*arguments), found)


@pytest.mark.nvrtc
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.costly) for name in programs.PROGRAMS])
def test_the_text_compiles(name: str) -> None:
    function, arguments = programs.PROGRAMS[name]
    _compile_text(
        function, (programs.symmetric(30, 60, 1), *arguments), ("sm_80", "sm_90", "compute_100")[len(name) % 3]
    )


@pytest.mark.nvrtc
@pytest.mark.costly
def test_the_text_of_lists_and_groups_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_kernel", interpreted.kernel)
    A, v = programs.symmetric(30, 60, 1), test_searches.VECTORS[1]
    _compile_text(test_lists.betweenness, (A, 2), "sm_90", executed=True)
    _compile_text(test_lists.dependencies, (A, 0), "sm_80", executed=True)
    _compile_text(test_searches.grouped, (v, test_searches.LABELS[0]), "compute_100")
    _compile_text(test_searches.grouped, (v * 0.5, test_searches.LABELS[0]), "sm_90")
    _compile_text(test_searches.converged, (v * 0.5, v * 2.0), "sm_80")


@needs_compiler
@pytest.mark.costly
@pytest.mark.parametrize("name", [name for name in programs.PROGRAMS if name != "bfs_parents"])
def test_programs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function, arguments = programs.PROGRAMS[name]
    _tuned(monkeypatch, len(name))
    emulation = emulated.Emulation(tmp_path, 2 + len(name) % 2)
    for seed, (n, edges) in enumerate([(200, 600), (9, 0)]):
        A = programs.symmetric(n, edges, seed)
        with executed_by(emulation):
            found = sr.compile(strict=True)(function)(A, *arguments)
        assert same(function(A, *arguments), found), name
    assert emulation.ran == 2


@needs_compiler
@pytest.mark.parametrize("blocks", [1, 2])
def test_loops_of_numbers_end_when_their_time_is_over(
    blocks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their iterations have no barrier of their own."""

    def counted(v: Vector, most: int) -> tuple[Vector, int]:
        k = 0
        while k < most:
            v << v * 1
            j = 0
            while j < 9:
                j += 2
            k += j
        return v, k

    _tuned(monkeypatch, 1)
    monkeypatch.setattr(program_tuning, "WATCHED_CYCLES", 20)
    emulation = emulated.Emulation(tmp_path, blocks)
    with executed_by(emulation):
        v, k = sr.compile(strict=True)(counted)(Vector.full(1, 3), 1000)
    assert (v.to_dict(), k) == ({0: 1, 1: 1, 2: 1}, 1000)
    assert emulation.yielded > 5


@needs_compiler
@pytest.mark.costly
@pytest.mark.parametrize("codec", ["varint", "packed"])
def test_compressed_matrices(codec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tracing._READ, "cpu", tracing._READ["cuda"])
    emulation = emulated.Emulation(tmp_path)
    for number, name in enumerate(["bfs_levels", "rank", "bellman_ford", "core_numbers"]):
        function, arguments = programs.PROGRAMS[name]
        for seed, (n, edges) in enumerate([(300, 9000), (200, 300), (9, 0)]):
            _tuned(monkeypatch, number + seed)
            A = programs.symmetric(n, edges, seed)
            with executed_by(emulation):
                found = sr.compile(strict=True)(function)(A.compress(codec), *arguments)
            assert same(function(A, *arguments), found), (name, n)
    assert emulation.ran == 12


def positive_ranks(A: Matrix, rank: Vector) -> Vector:
    """Ranks along the edges of A, whose values are not read."""
    for _ in range(5):
        rank = rank.vxm(A, "plus_first").apply("times", right=0.5)
    return rank


@needs_compiler
@pytest.mark.parametrize("value", [None, 2 + 1j])
def test_matrices_whose_values_are_wider_than_a_word(
    value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _tuned(monkeypatch, 1)
    A = programs.symmetric(40, 90, 3).dup(complex)
    if value is not None:
        A = A.apply("second", right=value)
    rank = Vector.full(1.0, A.nrows)
    emulation = emulated.Emulation(tmp_path)
    with executed_by(emulation):
        found = sr.compile(strict=True)(positive_ranks)(A, rank)
    assert same(positive_ranks(A, rank), found)
    assert emulation.ran == 1


@pytest.mark.nvrtc
@pytest.mark.costly
@pytest.mark.parametrize("codec", ["varint", "packed"])
def test_the_text_of_compressed_matrices_compiles(codec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tracing._READ, "cpu", tracing._READ["cuda"])
    A = programs.symmetric(30, 60, 1).compress(codec)
    for name, arch in (("bfs_levels", "sm_80"), ("bellman_ford", "compute_100")):
        function, arguments = programs.PROGRAMS[name]
        _compile_text(function, (A, *arguments), arch)


LISTS = {"appended": (test_lists.appended, 6), "items": (test_lists.items, 40)}


@needs_compiler
@pytest.mark.costly
@pytest.mark.parametrize("name", LISTS)
def test_programs_with_lists(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function, most = LISTS[name]
    emulation = emulated.Emulation(tmp_path)
    for number, make in enumerate(test_lists.VECTORS):
        _tuned(monkeypatch, number + len(name))
        monkeypatch.setattr(program_lists, "_FIRST", (2, 1024)[number % 2])
        for n in (0, 1, most):
            expected = test_lists.outcome(function, make(), n)
            with executed_by(emulation):
                assert test_lists.outcome(sr.compile(function), make(), n) == expected, (n, make())
    assert emulation.ran
    assert emulation.grown


@needs_compiler
@pytest.mark.costly
@pytest.mark.parametrize("first", [1024, 1])
def test_searches_that_keep_lists(first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_lists, "_FIRST", first)
    emulation = emulated.Emulation(tmp_path)
    for number, (n, edges) in enumerate([(200, 400), (300, 90), (6, 0)]):
        _tuned(monkeypatch, number + first)
        A = programs.symmetric(n, edges, number)
        for function, argument in ((test_lists.dependencies, 0), (test_lists.betweenness, 3)):
            with executed_by(emulation):
                found = sr.compile(strict=True)(function)(A, argument)
            assert same(function(A, argument), found), (function, n)
    assert emulation.ran == 9
    assert (emulation.grown > 0) == (first == 1)


@needs_compiler
@pytest.mark.costly
@pytest.mark.parametrize("name", ["converged", "compared", "grouped", "removed", "summarized"])
def test_comparisons_and_groups(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function = getattr(test_searches, name)
    emulation = emulated.Emulation(tmp_path)
    for number, (v, w) in enumerate(test_searches.pairs(name)):
        _tuned(monkeypatch, number)
        expected = test_searches.unsigned_zeros(test_searches.outcome(function, v.dup(), w.dup()))
        with executed_by(emulation):
            found = test_searches.unsigned_zeros(test_searches.outcome(sr.compile(function), v.dup(), w.dup()))
        assert found == expected, (v, w)
    assert emulation.ran


@needs_compiler
@pytest.mark.costly
@pytest.mark.parametrize("name", ["levels", "rank", "exchanged", "of_an_inner_loop"])
def test_loops_of_functions(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function = getattr(function_loops, name)
    monkeypatch.setattr(while_loops, "_loops", {})  # programs of the CPU engine
    emulation = emulated.Emulation(tmp_path)
    for number, (n, edges) in enumerate([(200, 600), (9, 4)]):
        _tuned(monkeypatch, number + len(name))
        A = programs.symmetric(n, edges, number)
        argument = 0.5 if name == "rank" else 4
        with executed_by(emulation):
            found = function(function_loops.compiled, A, argument)
        assert same(function(function_loops.plain, A, argument), found), name
    assert emulation.ran == 2


@needs_compiler
@pytest.mark.costly
def test_random_programs_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trial_count: Callable[[int, int, int], int]
) -> None:
    count: Counter[str] = Counter()
    wanted, seed = trial_count(4, 30, 500), 0
    while count["compiled"] < wanted:
        _tuned(monkeypatch, seed)
        with executed_by(emulated.Emulation(tmp_path, 2 + seed % 2)):
            test_random_programs._check(tmp_path, seed, count)
        seed += 1
        assert seed < 4 * wanted + 8, count
