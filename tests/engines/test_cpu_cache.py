"""Stored kernels of the CPU engine: which processes and processors they serve, full disks, processes that fork."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

from semiring import kernel_store
from semiring.config import config
from semiring.engines.cpu.compile import _targets, kernel

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from semiring.engines.shared import compilations
from semiring.engines.cpu.compile import kernel
import kernels
print(*kernel(kernels.scaled)(np.arange(3.0)), compilations.count())
print(*kernel(kernels.scaled)(np.arange(3)), compilations.count())
"""
SCALED = "def scaled(x):\n    return x * {}\n"


def run(folder: Path, cache: Path, factor: int, **settings: str) -> list[str]:
    """Call a kernel for two types in a process of its own; return the results, and how many were compiled before."""
    folder.mkdir(exist_ok=True)
    (folder / "kernels.py").write_text(SCALED.format(factor))
    environment = {**os.environ, "SEMIRING_CACHE_DIR": str(cache), "SEMIRING_QUIET": "1", **settings}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.costly
def test_a_stored_kernel_serves_any_installation_and_no_other_source(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert run(tmp_path / "one", cache, 2) == ["0.0", "2.0", "4.0", "1", "0", "2", "4", "2"]
    # In another folder, at another time.
    assert run(tmp_path / "two", cache, 2) == ["0.0", "2.0", "4.0", "0", "0", "2", "4", "0"]
    assert run(tmp_path / "one", cache, 3) == ["0.0", "3.0", "6.0", "1", "0", "3", "6", "2"]
    moved = tmp_path / "moved"
    cache.rename(moved)
    shared = {"SEMIRING_SHARED_CACHE": str(moved)}
    assert run(tmp_path / "one", cache, 3, **shared) == ["0.0", "3.0", "6.0", "0", "0", "3", "6", "0"]
    assert not (cache / "cpu").exists()


@pytest.mark.costly
@pytest.mark.skipif(platform.machine() != "x86_64", reason="a level of x86-64")
def test_a_pack_for_a_level_of_processors_serves_this_one(tmp_path: Path) -> None:
    if "x86-64-v3" not in " ".join(_targets(*_codegen())):
        pytest.skip("this processor is below x86-64-v3")
    level, shared = tmp_path / "level", tmp_path / "shared"
    shared.mkdir()
    run(tmp_path, level, 2, NUMBA_CPU_NAME="x86-64-v3", NUMBA_CPU_FEATURES="")
    with config.set(cache_dir=level):
        kernel_store.write_pack(shared / "x86-64-v3.pack", kernel_store.entries())
    found = run(tmp_path, tmp_path / "own", 2, SEMIRING_SHARED_CACHE=str(shared))
    assert found == ["0.0", "2.0", "4.0", "0", "0", "2", "4", "0"]


def _codegen() -> tuple[str, str, str]:
    from numba.core.registry import cpu_target

    return cpu_target.target_context.codegen().magic_tuple()  # type: ignore[no-any-return]


def test_processors_use_code_of_the_levels_that_they_have() -> None:
    every = ",".join(f"+{name}" for name in ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "sse2"))
    triple = "x86_64-unknown-linux-gnu"
    native, level = _targets(triple, "znver4", every)
    assert (native, level) == (f"{triple} znver4 {every}", "x86_64 linux gnu x86-64-v3")
    assert _targets(triple, "x86-64-v3", "") == (level,)
    assert _targets(triple, "nehalem", "+sse2,-avx2,+lzcnt") == (f"{triple} nehalem +sse2,-avx2,+lzcnt",)
    assert _targets("aarch64-unknown-linux-gnu", "neoverse-v1", "+neon,+sve")[1] == "aarch64 linux gnu generic"


def test_a_full_disk_costs_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Any, *given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernel_store, "_write", full)
    with config.set(cache_dir=tmp_path):
        doubled = kernel(_doubled)
        assert doubled(np.arange(3.0)).tolist() == [0.0, 2.0, 4.0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_forked_while_a_thread_compiles_can_compile() -> None:
    compiling_now = threading.Event()

    def compile_slowly() -> None:
        with global_compiler_lock:
            compiling_now.set()
            time.sleep(0.3)

    compiler = threading.Thread(target=compile_slowly)
    compiler.start()
    compiling_now.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that waits for the lock indefinitely
        with global_compiler_lock:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    compiler.join()
    # Several threads that fork at once.
    forking = [threading.Thread(target=_fork) for _ in range(8)]
    for thread in forking:
        thread.start()
    for thread in forking:
        thread.join(20)
    assert not any(thread.is_alive() for thread in forking)
    with global_compiler_lock:  # and the parent has it again
        pass


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _doubled(x: Any) -> Any:
    return x * 2


@pytest.mark.parametrize("use", ["registry.load('cpu')", "text_scan._compiled()"])
def test_numba_is_imported_apart_from_the_main_thread(use: str) -> None:
    program = f"""
import sys, threading
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "numba":
            print(threading.get_ident() == threading.main_thread().ident)
sys.meta_path.insert(0, Finder())
from semiring.engines import registry
from semiring.io import text_scan
{use}
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["False"]
