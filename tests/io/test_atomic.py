"""Files appear whole or not at all, keep their mode, and leave nothing behind."""

from __future__ import annotations

import gzip
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from semiring.io import atomic
from semiring.io.atomic import atomic_writer

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and locks as POSIX has them")


def write(path: Path, content: bytes = b"new") -> None:
    with atomic_writer(path) as stream:
        stream.write(content)


def names(folder: Path) -> set[str]:
    return {item.name for item in folder.iterdir()}


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666, 0o755])
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o000])
def test_a_replaced_file_keeps_its_mode(tmp_path: Path, mode: int, umask: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    before = os.umask(umask)
    try:
        write(path)
        write(tmp_path / "fresh")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o666 & ~umask


@posix
def test_a_private_file_is_private_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with atomic_writer(path) as stream:
        stream.write(b"secret")
        (part,) = (item for item in tmp_path.iterdir() if item != path)
        assert stat.S_IMODE(part.stat().st_mode) == 0o600


@posix
def test_the_owner_is_kept_where_the_system_allows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o664)
    asked: list[tuple[int, int]] = []
    before = path.stat()
    monkeypatch.setattr(atomic.os, "fchown", lambda _, user, group: asked.append((user, group)))
    descriptor = os.open(path, os.O_RDWR)
    changed = SimpleNamespace(st_mode=before.st_mode, st_uid=before.st_uid + 1, st_gid=before.st_gid + 1)
    try:
        atomic._copy_permissions(descriptor, changed)  # type: ignore[arg-type]
        assert asked == [(before.st_uid + 1, -1), (-1, before.st_gid + 1)]
        assert stat.S_IMODE(path.stat().st_mode) == 0o664

        def refuse(*_: int) -> None:
            raise PermissionError

        monkeypatch.setattr(atomic.os, "fchown", refuse)
        atomic._copy_permissions(descriptor, changed)  # type: ignore[arg-type]
    finally:
        os.close(descriptor)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644  # another group gets the permissions of others


@posix
@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_stays_and_its_target_is_written(tmp_path: Path, there: bool) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link, chain = tmp_path / "elsewhere" / "data", tmp_path / "link", tmp_path / "chain"
    if there:
        target.write_bytes(b"old")
    link.symlink_to(Path("elsewhere") / "data")
    chain.symlink_to(link)
    write(chain)
    assert target.read_bytes() == b"new"
    assert link.is_symlink()
    assert chain.is_symlink()
    assert names(tmp_path / "elsewhere") == {"data"}
    assert names(tmp_path) == {"elsewhere", "link", "chain"}


@posix
def test_a_loop_of_links_is_the_systems_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="symbolic links") as caught:
        write(tmp_path / "a")
    assert caught.value.filename == str(tmp_path / "a")
    assert (tmp_path / "a").is_symlink()


@posix
def test_what_is_no_regular_file_is_written_directly(tmp_path: Path) -> None:
    path = tmp_path / "pipe.gz"
    os.mkfifo(path)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(gzip.decompress(path.read_bytes())))
    reader.start()
    write(path)
    reader.join()
    assert found == [b"new"]
    assert stat.S_ISFIFO(path.stat().st_mode)
    write(Path(os.devnull))
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


@posix
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o444)
    monkeypatch.setattr(atomic.os, "access", lambda *_: False)  # a superuser may write everything
    with pytest.raises(PermissionError) as caught:
        write(path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"


@posix
def test_the_parts_of_dead_processes_are_removed_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "a"
    code = (
        "import os, sys; from semiring.io.atomic import atomic_writer\n"
        f"with atomic_writer({str(path)!r}) as stream:\n"
        "    stream.write(b'half'); stream.flush(); print('ready', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code]
    writers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=os.environ)
        for _ in range(2)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    assert len(names(tmp_path)) == 2
    writers[0].send_signal(signal.SIGKILL)
    writers[0].wait()
    others = {".a.tmp", ".a.0123456789ab.part.bak", ".b.0123456789ab.part", ".a.short.part"}
    for name in others:
        (tmp_path / name).touch()
    write(path, b"whole")
    assert path.read_bytes() == b"whole"
    assert len(names(tmp_path) - others - {"a"}) == 1  # of the process that is at work
    assert others <= names(tmp_path)
    writers[1].communicate()
    assert writers[1].returncode == 0
    assert path.read_bytes() == b"half"
    assert names(tmp_path) == others | {"a"}
    for writer in writers:
        assert writer.stdin is not None
        assert writer.stdout is not None
        writer.stdin.close()
        writer.stdout.close()


@posix
def test_a_part_that_a_cleaner_takes_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    lock = atomic._lock

    def late(descriptor: int) -> bool:
        if not taken:
            (part,) = tmp_path.iterdir()
            taken.append(part.name)
            atomic._remove_unlocked(str(part))
        return lock(descriptor)

    monkeypatch.setattr(atomic, "_lock", late)
    write(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert names(tmp_path) == {"a"}


@posix
def test_writers_of_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a"
    failed: list[BaseException] = []

    def work(byte: bytes) -> None:
        try:
            for _ in range(40):
                write(path, byte * 5000)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(bytes([65 + k]),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    content = path.read_bytes()
    assert len(content) == 5000
    assert len(set(content)) == 1
    assert names(tmp_path) == {"a"}


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path, kind: type[BaseException]) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(b"old")

    def fail() -> None:
        with atomic_writer(path) as stream:
            stream.write(b"half")
            raise kind

    with pytest.raises(kind):
        fail()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == {"a.gz"}


def test_systems_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "fcntl", None)
    (tmp_path / ".a.0123456789ab.part").touch()
    write(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert names(tmp_path) == {"a"}
