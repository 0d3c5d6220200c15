from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from semiring.exceptions import InvalidFormat
from semiring.io import loading
from semiring.memory import thread_pool, transfer
from semiring.memory.arrays import to_host


@pytest.mark.parametrize("chunk", [8, 100, 1 << 24])
def test_parts_of_a_file_are_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(thread_pool, "_CHUNK", chunk)
    content = np.arange(500, dtype=np.int32)
    (tmp_path / "a").write_bytes(b"\xff" * 24 + content.tobytes())
    target = np.zeros(300, np.int32)
    loading.read_into(tmp_path / "a", 24 + 4 * 150, target)
    np.testing.assert_array_equal(target, content[150:450])
    loading.read_into(tmp_path / "a", 24, target[:0])


@pytest.mark.gpu
@pytest.mark.parametrize("count", [0, 1, 1000, transfer._BUFFER // 4, 9 * transfer._BUFFER // 4 + 7])
def test_parts_of_a_file_are_loaded_to_the_device(tmp_path: Path, count: int) -> None:
    content = np.arange(count + 20, dtype=np.int32)
    content.tofile(tmp_path / "a")
    dtype = np.dtype(np.int32)
    found, start = loading.read_to_device(tmp_path / "a", [(40, count, dtype), (0, 7, dtype)])
    np.testing.assert_array_equal(to_host(found), content[10 : 10 + count])
    np.testing.assert_array_equal(to_host(start), content[:7])
    locked = loading.read_to_locked(tmp_path / "a", 40, count, dtype)
    np.testing.assert_array_equal(locked, content[10 : 10 + count])
    with pytest.raises(InvalidFormat, match="found the end"):
        loading.read_to_device(tmp_path / "a", [(0, 7, dtype), (40, count + 11, dtype)])


def test_a_file_that_ends_early_is_named_with_the_byte(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(100))
    with pytest.raises(InvalidFormat, match=r"a: byte 100: expected 12 bytes more, found the end"):
        loading.read_into(tmp_path / "a", 40, np.zeros(9, np.float64))


def test_a_missing_file_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        loading.read_into(tmp_path / "none", 0, np.zeros(1))


def test_systems_without_positioned_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.preadv", raising=False)
    monkeypatch.delattr("os.posix_fadvise", raising=False)
    (tmp_path / "a").write_bytes(bytes(range(200)))
    target = np.zeros(64, np.uint8)
    loading.read_into(tmp_path / "a", 5, target)
    assert target.tolist() == list(range(5, 69))
