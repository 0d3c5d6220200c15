"""Compiled kernels on disk: what is found where, what damaged files do, packs, and what is counted and removed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from semiring import kernel_store
from semiring.config import config
from semiring.exceptions import InvalidValue

KEY, OTHER, THIRD = "0a" * 32, "1b" * 32, "2c" * 32
OURS = {
    f"cpu/{KEY}.bin": b"machine code",
    f"cpu/{OTHER}_12_99.part": b"half",
    f"cuda/{KEY}.bin": b"binary",
    "networkx/3.4-1.0/pagerank.ran": b"",
}
OTHERS = ("notes.txt", "cpu/notes.txt", "cpu/project/build/kernel.bin", "cuda/firmware.bin", "cuda/0a.pack")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of compiled kernels, in use."""
    for name, content in OURS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    with config.set(cache_dir=tmp_path / "new" / "folder"):
        assert kernel_store.load("cpu", KEY) is None
        kernel_store.save("cpu", KEY, b"code")
        kernel_store.save("cuda", KEY, b"", "compiler 1")
        assert kernel_store.load("cpu", KEY) == b"code"
        assert kernel_store.load("cuda", KEY, "compiler 1") == b""
        assert kernel_store.load("cpu", OTHER) is None
        assert list(kernel_store.entries()) == [(KEY, b"code"), (KEY, b"")]


def test_code_of_another_compiler_is_compiled_again(tmp_path: Path) -> None:
    with config.set(cache_dir=tmp_path):
        kernel_store.save("cuda", KEY, b"old", "compiler 1")
        assert kernel_store.load("cuda", KEY, "compiler 2") is None
        kernel_store.save("cuda", KEY, b"new", "compiler 2")
        assert kernel_store.load("cuda", KEY, "compiler 2") == b"new"


def test_every_torn_or_changed_file_is_missing(tmp_path: Path) -> None:
    with config.set(cache_dir=tmp_path):
        kernel_store.save("cpu", KEY, b"code")
        path = tmp_path / "cpu" / f"{KEY}.bin"
        whole = path.read_bytes()
        damaged = [whole[:size] for size in range(len(whole))]
        damaged += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
        for content in damaged:
            path.write_bytes(content)
            assert kernel_store.load("cpu", KEY) is None
        path.write_bytes(whole)
        assert kernel_store.load("cpu", KEY) == b"code"


def test_a_killed_writer_leaves_nothing_that_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    with config.set(cache_dir=tmp_path):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", killed)
            with pytest.raises(KeyboardInterrupt):
                kernel_store.save("cpu", KEY, b"code")
        assert kernel_store.load("cpu", KEY) is None
        assert list(tmp_path.rglob("*.part")) == []
        kernel_store.save("cpu", KEY, b"code")
        assert kernel_store.load("cpu", KEY) == b"code"


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    old, new = tmp_path / "cpu" / f"{KEY}_1_1.part", tmp_path / "cpu" / f"{KEY}_2_2.part"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    with config.set(cache_dir=tmp_path):
        kernel_store.save("cpu", KEY, b"code")
    assert not old.exists()
    assert new.exists()


def test_a_disk_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with config.set(cache_dir=file):
        kernel_store.save("cpu", KEY, b"code")
        assert kernel_store.load("cpu", KEY) is None
        assert not kernel_store.writable()
    with config.set(cache_dir=tmp_path / "folder"):
        assert kernel_store.writable()


def test_threads_that_save_at_once_leave_whole_files(tmp_path: Path) -> None:
    bodies = [bytes([number]) * 50_000 for number in range(8)]
    with config.set(cache_dir=tmp_path):
        threads = [threading.Thread(target=kernel_store.save, args=("cpu", KEY, body)) for body in bodies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert kernel_store.load("cpu", KEY) in bodies
    assert [path.name for path in (tmp_path / "cpu").iterdir()] == [f"{KEY}.bin"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_other_users_may_read_what_the_umask_allows(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with config.set(cache_dir=tmp_path):
            kernel_store.save("cpu", KEY, b"code")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "cpu" / f"{KEY}.bin").stat().st_mode) == 0o644


def test_shared_folders_are_read_and_never_written(tmp_path: Path) -> None:
    own, one, two = tmp_path / "own", tmp_path / "one", tmp_path / "two"
    for folder, key in ((one, KEY), (two, OTHER)):
        with config.set(cache_dir=folder):
            kernel_store.save("cpu", key, folder.name.encode(), "any compiler")
    with config.set(cache_dir=own, shared_cache=f"{one}{os.pathsep}{two}"):
        assert [kernel_store.load("cpu", key) for key in (KEY, OTHER, THIRD)] == [b"one", b"two", None]
        kernel_store.save("cpu", THIRD, b"own")
        kernel_store.save("cpu", KEY, b"mine")
        assert kernel_store.load("cpu", KEY) == b"mine"
    assert sorted(path.name for path in tmp_path.glob("o*e/cpu/*")) == [f"{KEY}.bin"]
    with config.set(shared_cache=()), pytest.raises(InvalidValue, match="shared_cache must be paths of folders; got 3"):
        config.shared_cache = 3  # type: ignore[assignment]


def kernels(count: int) -> dict[str, bytes]:
    """Keys and codes of several blocks; one code is empty, one longer than a block."""
    codes = {f"{number:064x}": bytes([number % 251]) * (number * 7919 % 60_000) for number in range(count)}
    return codes | {"ff" * 32: os.urandom(1_500_000)}


def test_a_pack_has_what_was_written(tmp_path: Path) -> None:
    written = kernels(100)
    path = tmp_path / "some.pack"
    size = kernel_store.write_pack(path, reversed(written.items()))
    assert size == path.stat().st_size
    pack = kernel_store.Pack(path)
    assert [key.hex() for key in pack.keys()] == sorted(written)  # noqa: SIM118
    assert {key: pack.load(bytes.fromhex(key)) for key in written} == written
    assert pack.load(bytes.fromhex(THIRD)) is None
    assert pack.load(b"\0" * 31 + b"\xfe") is None
    assert [path.name for path in tmp_path.iterdir()] == ["some.pack"]


def test_packs_serve_where_folders_do_not(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    kernel_store.write_pack(shared / "b.pack", [(KEY, b"packed"), (OTHER, b"packed too")])
    with config.set(cache_dir=tmp_path / "own", shared_cache=[shared]):
        assert kernel_store.load("cuda", OTHER, "any compiler") == b"packed too"
        assert kernel_store.facts().packed == 2
        kernel_store.save("cuda", KEY, b"compiled here", "one")
        assert kernel_store.load("cuda", KEY, "one") == b"compiled here"


def test_packs_of_a_package_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "semiring_kernels").mkdir()
    (tmp_path / "semiring_kernels" / "__init__.py").touch()
    kernel_store.write_pack(tmp_path / "semiring_kernels" / "cpu.pack", [(KEY, b"packed")])
    monkeypatch.syspath_prepend(tmp_path)
    kernel_store._packs_in.cache_clear()
    try:
        with config.set(cache_dir=tmp_path / "own"):
            assert kernel_store.load("cpu", KEY) == b"packed"
    finally:
        kernel_store._packs_in.cache_clear()


def test_a_damaged_pack_never_gives_other_code(tmp_path: Path) -> None:
    written = {KEY: b"code" * 50, OTHER: b"more" * 50}
    path = tmp_path / "some.pack"
    kernel_store.write_pack(path, written.items())
    whole = path.read_bytes()
    damaged = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
    for content in (*damaged, *(whole[:size] for size in range(0, len(whole), 7)), b""):
        path.write_bytes(content)
        pack = kernel_store.Pack(path)
        assert all(pack.load(bytes.fromhex(key)) in (None, code) for key, code in written.items())
    path.unlink()
    assert kernel_store.Pack(path).load(bytes.fromhex(KEY)) is None
    path.write_bytes(whole)
    assert kernel_store.Pack(path).load(bytes.fromhex(KEY)) == written[KEY]


def test_a_pack_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "some.pack"
    kernel_store.write_pack(path, [(KEY, b"old")])
    with pytest.raises(ValueError, match="non-hexadecimal"):
        kernel_store.write_pack(path, [(OTHER, b"new"), ("no key", b"")])
    with pytest.raises(InvalidValue, match=r"NAME\.pack; got '.*kernels\.zip'"):
        kernel_store.write_pack(tmp_path / "kernels.zip", [])
    assert kernel_store.Pack(path).load(bytes.fromhex(KEY)) == b"old"


def test_files_and_kernels_are_counted(folder: Path) -> None:
    with config.set(cache_dir=folder):
        assert kernel_store.facts() == kernel_store.Facts(folder, 4, 2, sum(map(len, OURS.values())))


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    with config.set(cache_dir=tmp_path / "none"):
        assert kernel_store.facts() == kernel_store.clear() == kernel_store.Facts(tmp_path / "none", 0, 0, 0)


def test_clear_removes_all_that_engines_wrote(folder: Path) -> None:
    with config.set(cache_dir=folder):
        removed = kernel_store.clear()
        assert (removed.files, kernel_store.facts().files) == (4, 0)
    assert list(folder.iterdir()) == []


def test_clear_keeps_the_files_of_others(folder: Path) -> None:
    for name in OTHERS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    with config.set(cache_dir=folder):
        kernel_store.clear()
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == set(OTHERS)


def test_a_key_of_cuda_code_does_not_depend_on_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cupy", reason="CuPy brings NVRTC")
    from semiring.engines.cuda import compile

    monkeypatch.setattr(compile, "compile_text", lambda *_: b"code")
    names = []
    for number, version in enumerate([sys.version_info, (3, 99, 0)]):
        monkeypatch.setattr(sys, "version_info", version)
        with config.set(cache_dir=tmp_path / str(number)):
            compile._binary("cast.cuh", "typedef int A, Z;\n", "sm_90", "cast_values", None)
            names += [path.name for path in (tmp_path / str(number) / "cuda").iterdir()]
    assert len(names) == 2
    assert len(set(names)) == 1


_COMPILES = """
import sys, time
from semiring import kernel_store
from semiring.config import config
config.cache_dir = sys.argv[1]
key = "a" * 64
print("ready", flush=True)
sys.stdin.readline()
with kernel_store.claimed("cpu", key) as waited:
    if kernel_store.load("cpu", key) is None:
        print("compiles", flush=True)
        time.sleep(float(sys.argv[2]))
        kernel_store.save("cpu", key, b"code")
    else:
        print("waited" if waited else "found", flush=True)
"""


def _started(folder: Path, count: int, seconds: float) -> list[subprocess.Popen[str]]:
    """Processes that claim a kernel at the same time."""
    command = [sys.executable, "-c", _COMPILES, str(folder), str(seconds)]
    made = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    for process in made:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in made:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return made


def _holder(folder: Path) -> subprocess.Popen[str]:
    """A process that compiles for a minute."""
    (made,) = _started(folder, 1, 60)
    assert made.stdout is not None
    assert made.stdout.readline() == "compiles\n"
    return made


def test_processes_of_a_machine_compile_a_kernel_once(tmp_path: Path) -> None:
    printed = [process.communicate()[0] for process in _started(tmp_path, 3, 0.5)]
    assert sorted(printed) == ["compiles\n", "waited\n", "waited\n"]


def test_a_claim_ends_with_its_process_and_excludes_no_other_kernel(tmp_path: Path) -> None:
    holder = _holder(tmp_path)
    with config.set(cache_dir=tmp_path):
        with kernel_store.claimed("cuda", "a" * 64) as waited:
            assert not waited
        holder.kill()
        holder.communicate()
        with kernel_store.claimed("cpu", "a" * 64):
            assert kernel_store.load("cpu", "a" * 64) is None


def test_a_claim_is_awaited_for_a_limited_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_store, "_LONGEST", 0.2)
    holder = _holder(tmp_path)
    with config.set(cache_dir=tmp_path), kernel_store.claimed("cpu", "a" * 64) as waited:
        assert waited
    holder.kill()
    holder.communicate()


def test_nobody_waits_for_a_kernel_that_cannot_be_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    holder = _holder(tmp_path)
    monkeypatch.setattr(kernel_store, "writable", lambda: False)
    with config.set(cache_dir=tmp_path), kernel_store.claimed("cpu", "a" * 64) as waited:
        assert not waited
    assert holder.poll() is None
    holder.kill()
    holder.communicate()


def test_without_a_file_to_lock_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_store, "_claims", lambda: None)
    with kernel_store.claimed("cpu", "b" * 64) as waited:
        assert not waited
