"""The compiled kernels on disk: several processes at once, processes that are killed, disks that are full."""

from __future__ import annotations

import os
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

from semiring.engines.cpu import compile as compiling
from semiring.engines.cpu.compile import _CacheFile, kernel


def cache_file(folder: Path) -> _CacheFile:
    return _CacheFile(cache_path=str(folder), filename_base="kernel-1.py311", source_stamp="stamp")  # type: ignore[no-untyped-call]


def test_processes_that_save_at_once_keep_each_others_code(tmp_path: Path) -> None:
    mine, other = cache_file(tmp_path), cache_file(tmp_path)
    mine.save("float64", "code for float64")
    other.save("int64", "code for int64")
    mine.save("float64", "code for float64")
    reader = cache_file(tmp_path)
    assert reader.load("int64") == "code for int64"
    assert reader.load("float64") == "code for float64"


def test_a_process_killed_while_it_saves_leaves_no_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(old: object, new: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            cache_file(tmp_path).save("float64", "code")
    after = cache_file(tmp_path)
    assert after.load("float64") is None
    after.save("float64", "code")
    assert after.load("float64") == "code"


def test_code_of_another_version_of_the_source_is_not_loaded(tmp_path: Path) -> None:
    cache_file(tmp_path).save("float64", "code")
    changed = _CacheFile(cache_path=str(tmp_path), filename_base="kernel-1.py311", source_stamp="later")  # type: ignore[no-untyped-call]
    assert changed.load("float64") is None


def test_types_of_one_name_do_not_share_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_CacheFile, "_name", lambda self, key: "kernel.nbc")
    cache_file(tmp_path).save("float64", "code for float64")
    assert cache_file(tmp_path).load("int64") is None


@pytest.mark.parametrize("content", [b"", b"\x80\x05", b"no pickle at all"])
def test_a_damaged_file_is_an_entry_that_is_missing(tmp_path: Path, content: bytes) -> None:
    cache = cache_file(tmp_path)
    cache.save("float64", "code")
    (damaged,) = tmp_path.glob("*.nbc")
    damaged.write_bytes(content)
    assert cache.load("float64") is None
    cache.save("float64", "code")
    assert cache.load("float64") == "code"


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    old, new = tmp_path / "kernel.nbc.tmp.0123", tmp_path / "kernel.nbc.tmp.4567"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    cache_file(tmp_path).save("float64", "code")
    assert not old.exists()
    assert new.exists()


def test_a_full_disk_costs_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Any, name: str, data: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiling, "_folder", str(tmp_path))
    monkeypatch.setattr(_CacheFile, "_save_data", full)
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
