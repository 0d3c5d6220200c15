"""Nothing that a .srb file states is believed by `read`, and nothing impossible by `open`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Vector
from semiring.dtypes import lookup
from semiring.exceptions import DomainMismatch, InvalidFormat, OutOfMemory
from semiring.formats import CODECS
from semiring.io import srb_reading
from tests.io.forged import description_of, forged, with_description


def change(path: Path, by: Callable[[dict[str, Any]], Any]) -> None:
    path.write_bytes(forged(path.read_bytes(), by))


def stored(folder: Path, thing: Matrix | Vector) -> Path:
    path = folder / "a.srb"
    sr.io.write(path, thing)
    return path


@pytest.fixture
def directed() -> Matrix:
    return Matrix.from_coo([0, 0, 2], [1, 2, 0], [1.5, 2.5, 3.5], nrows=3, ncols=3)


@pytest.mark.parametrize("codec", [None, *CODECS])
@pytest.mark.parametrize("asked", [None, *CODECS])
@pytest.mark.parametrize("placement", ["device", "host"])
def test_a_stated_symmetry_is_checked(
    tmp_path: Path, directed: Matrix, codec: str | None, asked: str | None, placement: str
) -> None:
    for A, lie in ((directed, True), (directed.ewise_add(directed.T.new(), "plus"), False)):
        path = stored(tmp_path, A if codec is None else A.compress(codec))
        change(path, lambda description: description.update(facts={"symmetric": not lie}))  # noqa: B023
        B = sr.io.read(path, compress=asked, placement=placement)
        assert B.store.pattern.facts["symmetric"] is not lie
        assert B.is_symmetric_structure is not lie
        change(path, lambda description: description.update(facts={"symmetric": lie}))  # noqa: B023
        with pytest.raises(InvalidFormat, match=r"a\.srb: byte 32: expected facts that are true of the matrix"):
            sr.io.read(path, compress=asked, placement=placement)
        with pytest.raises(InvalidFormat, match="facts that are true"):
            sr.io.open(path, compress=asked, placement=placement, verify=True)


@pytest.mark.parametrize("facts", [{"symmetric": True}, {"symmetric": 1}, {"symmetric": "yes"}, [], None, 5], ids=str)
def test_facts_that_cannot_be_are_refused_by_open(tmp_path: Path, facts: Any) -> None:
    path = stored(tmp_path, Matrix.from_coo([0], [1], [2.5], nrows=2, ncols=3))
    change(path, lambda description: description.update(facts=facts))
    with pytest.raises(InvalidFormat, match="byte 32: expected"):
        sr.io.open(path)


@pytest.mark.parametrize("value", [2**70, 2**63, -1, 1.0, True, "3", None, [3]], ids=str)
@pytest.mark.parametrize("key", ["nvals", "shape", "offset", "bytes", "count", "crc32"])
def test_only_integers_in_their_range_are_numbers(tmp_path: Path, directed: Matrix, key: str, value: Any) -> None:
    path = stored(tmp_path, directed)

    def forge(description: dict[str, Any]) -> None:
        if key == "shape":
            description["shape"][1] = value
        elif key == "nvals":
            description["nvals"] = value
        else:
            description["sections"][-1][key] = value

    change(path, forge)
    with pytest.raises(InvalidFormat, match="byte 32: expected an integer from 0 to"):
        sr.io.open(path)


def test_missing_keys_are_refused(tmp_path: Path, directed: Matrix) -> None:
    path = stored(tmp_path, directed)
    raw = path.read_bytes()
    for key in description_of(raw):
        path.write_bytes(forged(raw, lambda description, key=key: description.pop(key)))  # type: ignore[misc]
        with pytest.raises(InvalidFormat, match="byte 32: expected a whole description"):
            sr.io.open(path)
    for key in description_of(raw)["sections"][0]:
        path.write_bytes(forged(raw, lambda d, key=key: d["sections"][0].pop(key)))  # type: ignore[misc]
        with pytest.raises(InvalidFormat, match="byte 32: expected a whole description"):
            sr.io.open(path)


@pytest.mark.parametrize(
    "text",
    [b"[" * 100_000, b'{"kind":' * 50_000, b"9" * 5000, b'{"nvals":' + b"9" * 5000 + b"}", b"[]", b'"x"', b"\xff"],
)
def test_descriptions_that_are_none(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "a.srb"
    sr.io.write(path, Matrix(bool, 1, 1))
    raw = path.read_bytes()[:4096]
    path.write_bytes(with_description(raw[:4096], text, total=32 + len(text)))
    with pytest.raises(InvalidFormat, match="byte 32: expected a"):
        sr.io.open(path)


@pytest.mark.parametrize("form", ["index", "bitmap", "full"])
def test_a_vector_has_no_more_entries_than_its_size(tmp_path: Path, form: str) -> None:
    v = Vector.from_coo(np.arange(40), 2.5, size=40).convert(form)
    path = stored(tmp_path, v)
    change(path, lambda description: description.update(nvals=41))
    with pytest.raises(InvalidFormat, match=r"expected (at most )?40 entries, found 41"):
        sr.io.open(path)


def test_a_full_vector_has_as_many_entries_as_its_size(tmp_path: Path) -> None:
    path = stored(tmp_path, Vector.from_coo(np.arange(40), 2.5, size=40).convert("full"))
    change(path, lambda description: description.update(nvals=39))
    with pytest.raises(InvalidFormat, match="expected 40 entries, found 39"):
        sr.io.open(path)


@pytest.mark.parametrize(("dtype", "iso"), [("bool", "02"), ("bool", "ff"), ("bool", "0100"), ("bool", ""),
                                            ("int16", "010000"), ("int16", "01"), ("float64", "00" * 9)])  # fmt: skip
def test_an_iso_value_has_the_bytes_of_its_type(tmp_path: Path, dtype: str, iso: str) -> None:
    path = stored(tmp_path, Matrix.from_coo([0], [1], 1, dtype=dtype, nrows=2, ncols=2))
    change(path, lambda description: description.update(iso=iso))
    with pytest.raises(InvalidFormat, match=f"byte 32: expected the . bytes of a value of type {dtype} as iso, found"):
        sr.io.open(path)


def test_stored_bools_are_0_or_1(tmp_path: Path) -> None:
    path = stored(tmp_path, Matrix.from_coo([0, 1], [1, 0], [True, False], nrows=2, ncols=2))
    raw = bytearray(path.read_bytes())
    at = description_of(bytes(raw))["sections"][-1]["offset"] + 1
    raw[at] = 2
    path.write_bytes(forged(bytes(raw), lambda description: None))
    with pytest.raises(InvalidFormat, match=rf"byte {at}: expected a bool 0 or 1, found 2"):
        sr.io.read(path)


@pytest.mark.parametrize("section", ["indptr", "indices"])
@pytest.mark.parametrize("number", [2**32, 2**32 + 1, -(2**32), 2**63 - 1])
def test_wide_indices_are_not_cut_off(tmp_path: Path, section: str, number: int) -> None:
    arrays = {"indptr": np.array([0, 1, 2], np.int64), "indices": np.array([0, 1], np.int64)}
    arrays[section][1] = number
    from semiring.io.srb import Store, write_store

    path = tmp_path / "a.srb"
    write_store(path, Store("matrix", "csr", (2, 2), 2, np.dtype(bool), np.bool_(True), arrays))
    for verify in (True, False):
        with pytest.raises(
            InvalidFormat, match=f"section '{section}': expected numbers that int32 holds, found {number}"
        ):
            sr.io.open(path, verify=verify)
    path = tmp_path / "v.srb"
    indices = {"indices": np.array([0, number], np.int64)}
    write_store(path, Store("vector", "index", (5,), 2, np.dtype(bool), np.bool_(True), indices))
    for verify in (True, False):
        with pytest.raises(InvalidFormat, match=r"v\.srb: "):
            sr.io.open(path, verify=verify)


def test_repeated_columns_make_a_file_malformed(tmp_path: Path, directed: Matrix) -> None:
    path = stored(tmp_path, directed)
    raw = bytearray(path.read_bytes())
    at = description_of(bytes(raw))["sections"][1]["offset"]
    raw[at : at + 8] = np.array([1, 1], "<i4").tobytes()
    path.write_bytes(forged(bytes(raw), lambda description: None))
    with pytest.raises(InvalidFormat, match=r"a\.srb: "):
        sr.io.read(path)


def test_bytes_after_the_end_are_refused(tmp_path: Path, directed: Matrix) -> None:
    path = stored(tmp_path, directed)
    raw = path.read_bytes()
    path.write_bytes(raw + b"\0")
    with pytest.raises(InvalidFormat, match=f"byte {len(raw)}: expected the end of the file, found 1 bytes more"):
        sr.io.open(path)


def test_an_address_space_that_is_full_is_no_damage(
    tmp_path: Path, directed: Matrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stored(tmp_path, directed)

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(srb_reading.np, "memmap", full)
    for read in (sr.io.read, sr.io.open, sr.io.read_srb):
        with pytest.raises(OutOfMemory, match=r"reading .*a\.srb"):
            read(path)


@pytest.mark.parametrize("name", ["01", "(", "i4,", "i4,f8", "float16", "O", "<i4" * 40, "(2,)i4", 4, None, [], {}])
def test_types_that_are_none_of_ours(tmp_path: Path, directed: Matrix, name: Any) -> None:
    with pytest.raises(DomainMismatch, match="is not supported; expected one of: bool"):
        lookup(name)
    path = stored(tmp_path, directed)
    change(path, lambda description: description.update(dtype=name))
    with pytest.raises(
        InvalidFormat, match=r"byte 32: expected a whole description, found (DomainMismatch|NotNumbers)"
    ):
        sr.io.open(path)
