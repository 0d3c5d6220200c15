"""Kernels that a call is going to need are compiled beside the first one; no GPU is needed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cupy", reason="the modules of the CUDA engine import CuPy")

from semiring import kernel_store
from semiring.config import config
from semiring.engines.cuda import catalog, compile, compile_ahead, kernel_lists
from semiring.exceptions import SemiringError

A, B, C, D = (("file.cuh", "types", name) for name in "abcd")
SCAN = "scan.cuh", "", "scan"


@pytest.fixture
def lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Let these be the recorded lists; none before."""

    def forget() -> None:
        kernel_lists._read.cache_clear()
        kernel_lists._numbers.cache_clear()
        kernel_lists._lists.cache_clear()

    def put(made: dict[str, Any]) -> None:
        (tmp_path / kernel_lists.FILE).write_bytes(
            kernel_lists.packed({name: {"bool": calls} for name, calls in made.items()})
        )
        forget()

    with monkeypatch.context() as patch:
        patch.setattr(kernel_lists, "files", lambda _: tmp_path)
        forget()
        yield put
    forget()


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    yield
    _wait(lambda: not any(thread.name == "semiring: compile" for thread in threading.enumerate()))
    compile_ahead._ready.clear()
    assert not compile_ahead._pending


def _wait(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


def target(name: str) -> tuple[str, str, str, str]:
    return "file.cuh", name, "sm_90", "kernel"


def test_what_all_calls_that_need_a_kernel_need_follows_it(lists: Any) -> None:
    lists({"mxm": [[A, B, C], [A, B, D], [C, D]], "mxv": [[A, D]]})
    assert [kernel_lists.text(number) for number in kernel_lists.numbers("mxm", ["bool"])] == [A, B, C, D]
    assert [kernel_lists.text(number) for number in kernel_lists.numbers("mxv", ["float64", "bool"])] == [A, D]
    assert kernel_lists.numbers("mxv", ["float64"]) == kernel_lists.numbers("vxm", ["bool"]) == []
    assert kernel_lists.types() == ["bool"]
    assert kernel_lists.following("mxm", A) == [B]
    assert kernel_lists.following("mxm", D) == []
    assert kernel_lists.following("mxv", A) == [D]
    assert kernel_lists.following("mxv", B) == []  # a kernel that the lists lack
    assert kernel_lists.following("mxm", ("file.cuh", "types", "other")) == []


def test_what_all_calls_need_beside_the_same_kernel_follows_one_of_other_types(lists: Any) -> None:
    lists({"mxm": [[A, B, C, SCAN], [SCAN, A, B, D]], "mxv": [[A, D]]})
    A2, B2, D2 = (("file.cuh", "other types", name) for name in "abd")
    assert kernel_lists.following("mxm", A2) == [B2, SCAN]
    assert kernel_lists.following("mxm", ("other.cuh", "types", "a")) == []
    assert kernel_lists.following("mxv", A2) == [D2]
    assert kernel_lists.following(None, A2) == []  # nothing is common to all three
    lists({"mxv": [[A, D]], "vxm": [[D, A]]})
    assert kernel_lists.following(None, A2) == [D2]


def test_the_call_is_the_outermost_function_with_lists(lists: Any) -> None:
    lists({"pagerank": [[A]], "mxv": [[B]]})
    names = {"running": kernel_lists.running_function, "__name__": "semiring.somewhere"}
    exec("def mxv(): return running()\ndef pagerank(): return mxv()\ndef other(): return mxv()", names)
    assert names["pagerank"]() == "pagerank"  # type: ignore[operator]
    assert names["other"]() == "mxv"  # type: ignore[operator]
    names["__name__"] = "users"
    assert names["pagerank"]() is None  # type: ignore[operator]
    assert kernel_lists.running_function() is None


def test_without_lists_nothing_follows(lists: Any) -> None:
    assert kernel_lists.types() == kernel_lists.numbers("mxm", ["bool"]) == []
    assert kernel_lists.running_function() is None


def test_each_kernel_is_compiled_once_and_others_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_ahead, "processors", lambda: list(range(3)))
    compiled, both = [], threading.Barrier(2, timeout=20)

    def slow(file: str, prologue: str, arch: str, entry: str) -> bytes:
        compiled.append(prologue)
        if prologue in "ab":
            both.wait()  # the caller and another thread
        return prologue.encode()

    assert compile_ahead.compile_together(target("a"), [target("b"), target("c")], slow, "mxm") == b"a"
    assert compile_ahead.compile_together(target("b"), [target("c")], slow, "mxm") == b"b"
    assert compile_ahead.compile_together(target("c"), [], slow, "mxm") == b"c"
    assert sorted(compiled) == ["a", "b", "c"]


def test_a_kernel_that_does_not_compile_is_reported_by_the_call_that_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_ahead, "processors", lambda: list(range(2)))

    def failing(file: str, prologue: str, arch: str, entry: str) -> bytes:
        if prologue == "b":
            raise SemiringError("CUDA kernel b")
        return prologue.encode()

    assert compile_ahead.compile_together(target("a"), [target("b")], failing, "mxm") == b"a"
    _wait(lambda: not compile_ahead._pending)
    with pytest.raises(SemiringError, match="CUDA kernel b"):
        compile_ahead.compile_together(target("b"), [], failing, "mxm")


def test_an_interrupt_ends_what_is_pending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_ahead, "processors", lambda: list(range(1)))  # no thread takes the others

    def interrupted(*_: str) -> bytes:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compile_ahead.compile_together(target("a"), [target("b"), target("c")], interrupted, "mxm")
    assert not compile_ahead._pending


@pytest.mark.parametrize(("quiet", "patience", "line"), [(False, 0, True), (False, 60, False), (True, 0, False)])
def test_a_line_where_it_takes_long(
    quiet: bool, patience: float, line: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compile_ahead, "_PATIENCE", patience)
    monkeypatch.setattr(compile_ahead, "processors", lambda: list(range(2)))

    def slow(file: str, prologue: str, arch: str, entry: str) -> bytes:
        time.sleep(0.3)
        return b""

    with config.set(quiet=quiet):
        compile_ahead.compile_together(target("a"), [target("b")], slow, "pagerank")
    told = capfd.readouterr().err
    assert told == ("semiring: compiling 2 CUDA kernels for pagerank (first time only)\n" if line else "")


def test_an_architecture_executes_the_code_of_the_first_of_its_generation() -> None:
    assert compile._served("sm_86") == ["sm_86", "sm_80"]
    assert compile._served("sm_90") == ["sm_90"]
    assert compile._served("sm_121") == ["sm_121", "sm_120"]


@pytest.mark.nvrtc
def test_the_compiler_fills_the_store(lists: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_ahead, "processors", lambda: list(range(2)))
    kernels = {kernel.file: (kernel.file, kernel.prologue, kernel.entry) for kernel in catalog.kernels()}
    chosen = [kernels["covered.cuh"], kernels["degrees.cuh"], kernels["scan.cuh"]]
    lists({"mxm": [chosen]})

    def on(text: tuple[str, str, str], arch: str) -> tuple[str, str, str, str]:
        return text[0], text[1], arch, text[2]

    with config.set(cache_dir=tmp_path):
        code = compile._binary(*on(chosen[0], "sm_86"), "mxm")
        _wait(lambda: kernel_store.facts().kernels == 3)
        assert compile._binary(*on(chosen[0], "sm_86"), "mxm") == code
        assert compile._stored(*on(chosen[1], "sm_86")) is not None
        assert compile._stored(*on(chosen[1], "sm_80")) is None  # older than the code
        older = compile._binary(*on(chosen[2], "sm_80"), None)
        (tmp_path / "cuda" / f"{compile.key_of(*on(chosen[2], 'sm_86'))}.bin").unlink()
        assert compile._stored(*on(chosen[2], "sm_86")) == older
