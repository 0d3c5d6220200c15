"""Archives of NumPy and SciPy: matrices of either are read by the other, and damage is detected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.exceptions import InvalidFormat


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with sr.use("cpu"):
        yield


def dense(dtype: str) -> Any:
    return np.array([[0, 1, 0, 3], [0, 0, 0, 0], [5, 0, 1, 1]]).astype(dtype)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_scipy_reads_ours_and_we_read_scipys(tmp_path: Path, layout: str) -> None:
    S = sp.csr_array(dense("float32")).asformat(layout)
    sp.save_npz(tmp_path / "s.npz", S)
    A = sr.io.read(tmp_path / "s.npz")
    np.testing.assert_array_equal(A.to_dense(0), S.toarray())
    sr.io.write(tmp_path / "o.npz", A)
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "o.npz").toarray(), S.toarray())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "xyz"}, "array 'format': expected csr, csc or coo"),
        ({"indices": np.array([0, 9])}, "entry 1: expected a column from 0 to 2, found 9"),
        ({"indptr": np.array([0, 3, 2])}, "array 'indptr', position 2: expected offsets that rise from 0 to 2"),
        ({"indptr": np.array([0, 2])}, "array 'indptr': expected 3 elements"),
        ({"data": np.array(["1", "2"])}, "array 'data'"),
        ({"shape": np.array([-2, 3])}, "array 'shape'"),
        ({"indices": None}, "expected an array 'indices'"),
    ],
)
def test_malformed_archives_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    whole: dict[str, Any] = {
        "format": "csr", "shape": np.array([2, 3]), "data": np.array([1.0, 2.0]),
        "indptr": np.array([0, 1, 2]), "indices": np.array([0, 1]),
    }  # fmt: skip
    arrays = {key: value for key, value in (whole | change).items() if value is not None}
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InvalidFormat, match=rf"a\.npz: {message}"):
        sr.io.read(tmp_path / "a.npz")


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(InvalidFormat, match=r"a\.npz: expected a whole \.npz archive"):
        sr.io.read(tmp_path / "a.npz")


@pytest.mark.parametrize("compressed", [True, False])
def test_any_damage_to_an_archive_is_noticed_or_harmless(tmp_path: Path, compressed: bool) -> None:
    A = sr.random.rmat(4, 4, seed=1, weights="uniform")
    sr.io.write(tmp_path / "a.npz", A, compressed=compressed)
    raw = (tmp_path / "a.npz").read_bytes()
    path = tmp_path / "b.npz"
    damaged = [raw[:length] for length in range(0, len(raw), 37)]
    for at in range(0, len(raw), 3):
        for bit in (0x01, 0x40):
            damaged.append(raw[:at] + bytes([raw[at] ^ bit]) + raw[at + 1 :])
    refused = 0
    for content in damaged:
        path.write_bytes(content)
        try:
            found = sr.io.read(path)
        except InvalidFormat:
            refused += 1
        else:  # a date, or a field that every member has twice
            assert found.isequal(A)
    assert refused > len(damaged) // 2


def test_an_announced_array_beyond_memory(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {
        "format": np.array(b"csr"),
        "shape": np.array([1, 1]),
        "indptr": np.array([0, 0]),
        "data": np.zeros(0),
    }
    np.savez(tmp_path / "a.npz", **arrays, indices=np.zeros(0, np.int64))
    raw = (tmp_path / "a.npz").read_bytes()
    assert raw.count(b"(0,), }             ") == 2
    (tmp_path / "a.npz").write_bytes(raw.replace(b"(0,), }             ", b"(99999999999999,), }"))
    with pytest.raises(InvalidFormat, match=r"a\.npz: array 'data': expected a whole \.npz archive"):
        sr.io.read(tmp_path / "a.npz")
