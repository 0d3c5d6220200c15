"""Compressed streams to their very end, bounded memory, and callers whose own errors are not the file's."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.exceptions import InvalidFormat, InvalidValue, OutOfMemory
from semiring.io import decompress, files
from semiring.io.files import read_bytes
from semiring.memory import allocation

ROOT = Path(__file__).resolve().parents[2]
CONTENT = bytes(range(256)) * 40


def zstd(content: bytes) -> bytes:
    found: bytes = pytest.importorskip("zstandard").ZstdCompressor(level=3).compress(content)
    return found


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with sr.use("cpu"):
        yield


@pytest.fixture(params=COMPRESS)
def suffix(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


def written(folder: Path, suffix: str, raw: bytes) -> Path:
    path = folder / f"a.el{suffix}"
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize("input_bytes", [1, 7, 1 << 16])
@pytest.mark.parametrize("piece_bytes", [1, 100, 1 << 20])
def test_streams_follow_one_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, input_bytes: int, piece_bytes: int
) -> None:
    monkeypatch.setattr(decompress, "_INPUT_BYTES", input_bytes)
    monkeypatch.setattr(decompress, "_CHUNK_BYTES", piece_bytes)
    compress = COMPRESS[suffix]
    raw = compress(CONTENT) + compress(b"") + compress(b"end")
    assert read_bytes(written(tmp_path, suffix, raw)).tobytes() == CONTENT + b"end"


@pytest.mark.parametrize("tail", [b"x", b"\0x", b"\1" * 100_000, b"\0" * 70_000 + b"\1", b"\x1f\x8b", b"BZ", b"\xfd7"])
def test_bytes_after_the_end_of_a_stream_are_refused(tmp_path: Path, suffix: str, tail: bytes) -> None:
    path = written(tmp_path, suffix, COMPRESS[suffix](CONTENT) + tail)
    with pytest.raises(InvalidFormat, match=rf"near byte \d+ of \d+: expected a whole {suffix} stream, found: "):
        read_bytes(path)


def test_padding_that_a_format_allows(tmp_path: Path) -> None:
    for zeros in (4, 100_000):
        for compress, suffix in ((gzip.compress, ".gz"), (lzma.compress, ".xz")):
            raw = compress(CONTENT) + bytes(zeros) + compress(b"more") + bytes(zeros)
            assert read_bytes(written(tmp_path, suffix, raw)).tobytes() == CONTENT + b"more"
    assert read_bytes(written(tmp_path, ".gz", gzip.compress(CONTENT) + b"\0")).tobytes() == CONTENT
    with pytest.raises(InvalidFormat, match="6 bytes of padding"):
        read_bytes(written(tmp_path, ".xz", lzma.compress(CONTENT) + bytes(6)))
    with pytest.raises(InvalidFormat, match="further bytes"):
        read_bytes(written(tmp_path, ".bz2", bz2.compress(CONTENT) + bytes(4)))


def test_skippable_frames_of_zstandard(tmp_path: Path) -> None:
    skippable = b"\x5f\x2a\x4d\x18\x03\0\0\0abc"
    path = written(tmp_path, ".zst", zstd(CONTENT) + skippable + zstd(b"end"))
    assert read_bytes(path).tobytes() == CONTENT + b"end"


def test_every_truncation_is_noticed(tmp_path: Path, suffix: str) -> None:
    raw = COMPRESS[suffix](b"0 1\n1 2\n")
    for keep in range(len(decompress.COMPRESSIONS[suffix]), len(raw)):
        with pytest.raises(InvalidFormat, match=rf"expected a whole {suffix} stream"):
            read_bytes(written(tmp_path, suffix, raw[:keep]))


def test_an_empty_file_is_no_compressed_one(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InvalidFormat, match=rf"a\.el{suffix}: byte 0: expected a {suffix} stream, found an empty file"):
        sr.io.read(written(tmp_path, suffix, b""))
    assert sr.io.read(written(tmp_path, "", b"")).shape == (0, 0)


def test_a_file_that_unpacks_to_more_than_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    path = written(tmp_path, suffix, COMPRESS[suffix](bytes(6 << 20)))
    monkeypatch.setattr(files, "_GROWTH_BYTES", 2 << 20)
    monkeypatch.setattr(allocation, "_UNASKED", 0)
    monkeypatch.setattr(allocation, "free_memory", lambda device: 1 << 20)
    with pytest.raises(OutOfMemory, match=r"a\.el.*: out of memory on cpu .*unpacks to more than [\d,]+ bytes"):
        read_bytes(path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures with Linux's ru_maxrss")
def test_unpacking_peaks_at_the_content(tmp_path: Path) -> None:
    size = 96 << 20
    path = written(tmp_path, ".gz", gzip.compress(bytes(size), 1))
    code = (
        "import resource, sys; from semiring.io.files import read_bytes\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"assert read_bytes({str(path)!r}).size == {size}\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ
    )
    assert int(found.stdout) < 1.2 * size


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.el"
    os.mkfifo(path)
    content = b"0 1\n" * 50_000
    feeder = threading.Thread(target=path.write_bytes, args=(content,))
    feeder.start()
    assert read_bytes(path).tobytes() == content
    feeder.join()


@pytest.mark.parametrize("name", ["a.el", "a.el.gz", "a.mtx", "a.npz", "a.srb", "a.sg"])
@pytest.mark.parametrize("progress", [True, "bar", 3])
def test_a_progress_that_cannot_be_called_is_the_callers_error(tmp_path: Path, name: str, progress: Any) -> None:
    with pytest.raises(InvalidValue, match=r"progress=: expected a function .* got "):
        sr.io.read(tmp_path / name, progress=progress)


def test_every_reader_and_writer_checks_progress(tmp_path: Path) -> None:
    wrong: Any = True
    for reader in (sr.io.mmread, sr.io.read_edgelist, sr.io.read_dimacs, sr.io.read_metis, sr.io.read_graph_txt,
                   sr.io.read_jlg, sr.io.read_sg, sr.io.read_graphalytics, sr.io.read_srb):  # fmt: skip
        with pytest.raises(InvalidValue, match="progress=: expected a function"):
            reader(tmp_path / "a", progress=wrong)
    with pytest.raises(InvalidValue, match="progress=: expected a function"):
        sr.io.write(tmp_path / "a.srb", sr.random.path(3), progress=wrong)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.mtx.bz2", "a.mtx.xz", "a.mtx.zst", "a.npz", "a.srb"])
@pytest.mark.parametrize("kind", [ValueError, OSError, EOFError, ZeroDivisionError])
def test_what_a_progress_function_raises_is_passed_on(tmp_path: Path, name: str, kind: type[Exception]) -> None:
    if name.endswith(".zst"):
        pytest.importorskip("zstandard")
    sr.io.write(tmp_path / name, sr.random.path(100))

    def stop(what: str, share: float) -> None:
        raise kind("the caller's own")

    with pytest.raises(kind, match="the caller's own") as caught:
        sr.io.read(tmp_path / name, progress=stop)
    assert type(caught.value) is kind


def test_a_failed_allocation_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "", b"0 1\n")

    def full(*_: Any, **__: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(np, "empty", full)
    for read in (sr.io.read, sr.io.read_edgelist):
        with pytest.raises(OutOfMemory, match=r"reading .*a\.el: out of memory"):
            read(path)
