"""Archives that announce other arrays than they contain, and members that are not read."""

from __future__ import annotations

import copy
import pickle
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix
from semiring.exceptions import InvalidFormat, OutOfMemory
from semiring.formats import CODECS
from semiring.io import npz_members
from semiring.memory import allocation

CSR: dict[str, Any] = {
    "format": np.array(b"csr"),
    "shape": np.array([2, 3]),
    "indptr": np.array([0, 2, 3]),
    "indices": np.array([0, 2, 1]),
    "data": np.array([1.5, 2.5, 3.5]),
}


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with sr.use("cpu"):
        yield


def archive(folder: Path, method: int = zipfile.ZIP_DEFLATED, **changes: Any) -> Path:
    """An archive of arrays, of members given as bytes, and without those that are None."""
    path = folder / "a.npz"
    with zipfile.ZipFile(path, "w", method) as made:
        for key, content in (CSR | changes).items():
            if isinstance(content, bytes):
                made.writestr(f"{key}.npy", content)
            elif content is not None:
                with made.open(f"{key}.npy", "w") as member:
                    np.lib.format.write_array(member, content, allow_pickle=True)
    return path


def head(text: str, version: int = 1) -> bytes:
    """The head of a member in NumPy's format."""
    raw = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(raw).to_bytes(2 if version == 1 else 4, "little") + raw


METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


@pytest.mark.parametrize("method", METHODS)
def test_every_compression_of_zip_is_read(tmp_path: Path, method: int) -> None:
    assert sr.io.read(archive(tmp_path, method)).to_dicts() == {0: {0: 1.5, 2: 2.5}, 1: {1: 3.5}}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [2, 4, 2**45, 2**62, 2**70])
def test_an_announced_size_is_the_one_of_the_member(tmp_path: Path, method: int, count: int) -> None:
    member = head(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({count},), }}") + bytes(24)
    with pytest.raises(InvalidFormat, match=r"a\.npz: array 'data': expected "):
        sr.io.read(archive(tmp_path, method, data=member))


@pytest.mark.parametrize("method", METHODS)
def test_a_directory_with_a_wrong_size(tmp_path: Path, method: int) -> None:
    member = head(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({2**45},), }}") + bytes(24)
    path = archive(tmp_path, method, data=member)
    raw = path.read_bytes()
    at = raw.rindex(b"data.npy") - 46  # its entry in the directory: the unpacked size is at byte 24
    assert int.from_bytes(raw[at + 24 : at + 28], "little") == len(member)
    claimed = 2**32 - 2
    count = (claimed - len(member) + 24) // 8
    changed = raw.replace(f"({2**45},)".encode(), f"({count},)".encode().ljust(len(f"({2**45},)")))
    if method != zipfile.ZIP_STORED:
        member = head(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({count},), }}") + bytes(24)
        changed = archive(tmp_path, method, data=member).read_bytes()
        at = changed.rindex(b"data.npy") - 46
    changed = changed[: at + 24] + (len(member) - 24 + 8 * count).to_bytes(4, "little") + changed[at + 28 :]
    path.write_bytes(changed)
    with pytest.raises((InvalidFormat, OutOfMemory), match=r"array 'data'"):
        sr.io.read(path)


def test_other_members_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path, bomb=bytes(1 << 24), notes=b"no array", objects=np.array([{}], dtype=object))
    opened: list[str] = []
    before = zipfile.ZipFile.open

    def noted(self: zipfile.ZipFile, member: Any, *args: Any, **kwargs: Any) -> Any:
        opened.append(member.filename)
        return before(self, member, *args, **kwargs)

    monkeypatch.setattr(zipfile.ZipFile, "open", noted)
    assert sr.io.read(path).nvals == 3
    assert set(opened) == {f"{name}.npy" for name in CSR}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": None}, "expected an array 'data', found"),
        (
            {"data": np.array([1, 2, 3], dtype=object)},
            "array 'data': expected any number of elements of kind b or i or u or f or c",
        ),
        ({"data": np.ones((3, 1))}, "in 2 dimensions"),
        (
            {"data": head("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }") + b"\0\1\2"},
            "expected bools 0 or 1",
        ),
        ({"data": b"no array"}, "array 'data': expected a whole"),
        ({"data": b""}, "array 'data': expected a whole"),
        ({"data": head("(" * 5000)}, "array 'data': expected a whole"),
        ({"data": head("-" * 9000 + "1")}, "array 'data': expected a whole"),
        ({"data": head("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", version=9) + bytes(24)}, "version"),
        ({"data": head("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,), }")}, "array 'data'"),
        (
            {"data": head("{'descr': ('<f8', (3,)), 'fortran_order': False, 'shape': (1,), }") + bytes(24)},
            "array 'data'",
        ),
        ({"shape": np.array([-1, 3])}, "expected sizes from 0"),
        ({"shape": np.array([2, 2**61])}, r"expected sizes from 0 to 2\*\*60"),
        ({"shape": np.array([2, 2**64 - 1], np.uint64)}, r"expected sizes from 0 to 2\*\*60"),
        ({"indptr": np.array([0, 4, 3])}, "array 'indptr', position 2: expected offsets that rise from 0 to 3"),
        ({"indptr": np.array([0, 2, 2**64 - 1], np.uint64)}, "array 'indptr', position 2"),
        ({"shape": np.array([4, 3]), "indptr": np.array([0, 2**63 - 1, -(2**63), -1, 3])}, "'indptr', position 2"),
        ({"indices": np.array([0, 2, 3])}, "expected a column from 0 to 2, found 3"),
        ({"indices": np.array([0, 2, 2**64 - 1], np.uint64)}, "expected a column from 0 to 2"),
        ({"format": np.array(b"dia")}, "expected csr, csc or coo"),
    ],
    ids=lambda given: str(list(given)) if isinstance(given, dict) else None,
)
def test_arrays_that_make_no_matrix(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidFormat, match=message) as caught:
        sr.io.read(archive(tmp_path, **changes))
    assert str(caught.value).startswith(f"{tmp_path / 'a.npz'}: ")


def test_offsets_of_a_gap_graph_whose_differences_overflow(tmp_path: Path) -> None:
    offsets = np.array([0, 2**63 - 1, -(2**63), -1, 3], "<i8")
    raw = b"\0" + np.array([3, 4], "<i8").tobytes() + offsets.tobytes() + np.zeros(3, "<i4").tobytes()
    (tmp_path / "a.sg").write_bytes(raw)
    with pytest.raises(InvalidFormat, match=r"a\.sg: byte 33: expected offsets that rise from 0 to 3"):
        sr.io.read(tmp_path / "a.sg")


def test_an_array_that_is_larger_than_what_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "_UNASKED", 0)
    monkeypatch.setattr(allocation, "free_memory", lambda device: 16)
    with pytest.raises(OutOfMemory, match=r"reading array 'data' of .*a\.npz: out of memory"):
        sr.io.read(archive(tmp_path, shape=np.array([0, 0]), format=np.array(b"coo"), data=np.zeros(1000)))


@pytest.mark.parametrize("damage", ["truncated", "flipped", "not an archive"])
def test_damaged_archives(tmp_path: Path, damage: str) -> None:
    path = archive(tmp_path, zipfile.ZIP_STORED)
    raw = bytearray(path.read_bytes())
    if damage == "truncated":
        raw = raw[:-30]
    elif damage == "flipped":
        raw[raw.index(np.float64(2.5).tobytes())] ^= 1
    else:
        raw = bytearray(b"0 1\n")
    path.write_bytes(raw)
    with pytest.raises(InvalidFormat, match=r"a\.npz: .*expected a whole \.npz archive"):
        sr.io.read(path)


def test_the_callers_signals_are_not_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stop(Exception):
        """The exception of a signal handler, raised anywhere in the program."""

    def stop(*_: Any) -> None:
        raise Stop

    path = archive(tmp_path)
    monkeypatch.setattr(npz_members, "_header", stop)
    with pytest.raises(Stop):
        sr.io.read(path)


@pytest.mark.parametrize("placement", ["device", "pinned", "host"])
@pytest.mark.parametrize("codec", [None, *CODECS])
def test_a_pickle_keeps_format_and_placement(placement: str, codec: str | None) -> None:
    A = Matrix.from_coo([0, 2], [1, 0], [1.5, 2.5], nrows=3, ncols=3, name="A")
    A = (A if codec is None else A.compress(codec)).to(placement=placement)
    for B in (pickle.loads(pickle.dumps(A)), copy.deepcopy(A)):
        assert (B.placement, B.codec, B.name) == (placement, codec, "A")
        assert B.isequal(A, check_dtype=True)


def test_pickles_without_a_placement_are_read() -> None:
    function, state = Matrix.from_coo([0], [1], [1.5], nrows=2, ncols=2).__reduce__()
    assert function(*state[:-1]).to_dicts() == {0: {1: 1.5}}
