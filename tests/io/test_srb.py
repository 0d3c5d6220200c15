from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import semiring as sr
from semiring import Vector
from semiring.exceptions import InvalidFormat
from semiring.formats import Bitmap, Count
from semiring.io.srb import Store, write_store
from semiring.io.srb_reading import map_store
from tests.io.arrays import ALL_DTYPES


def example(values: Any = None, iso: Any = None) -> Store:
    arrays = {"indptr": np.array([0, 2, 3], np.int32), "indices": np.array([0, 2, 1], np.int32)}
    if values is not None:
        arrays["values"] = values
    dtype = np.dtype((values if iso is None else iso).dtype)
    return Store("matrix", "csr", (2, 3), 3, dtype, iso, arrays, {"symmetric": False})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "a.srb"
    write_store(target, example(np.array([1.5, 2.5, 3.5])))
    return target


@st.composite
def stores(draw: st.DrawFn) -> Store:
    dtype = np.dtype(draw(st.sampled_from(ALL_DTYPES)))
    size, nvals = draw(st.integers(0, 70)), 0
    arrays: dict[str, Any] = {}
    form = draw(st.sampled_from(["csr", "index", "bitmap", "full"]))
    if form == "csr":
        lengths = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
        nvals = sum(lengths)
        wide = draw(st.sampled_from([np.int32, np.int64]))
        arrays["indptr"] = np.concatenate([[0], np.cumsum(lengths)]).astype(wide)
        arrays["indices"] = draw(hnp.arrays(np.int32, nvals, elements=st.integers(0, 8)))
        shape: tuple[int, ...] = (size, 9)
    else:
        shape = (size,)
        nvals = size
        if form == "index":
            arrays["indices"] = np.arange(size, dtype=np.int32)
        if form == "bitmap":
            arrays["words"] = draw(hnp.arrays(np.uint32, (size + 31) // 32))
    iso = None
    slots = nvals if form in ("csr", "index") else size
    if draw(st.booleans()):
        iso = draw(hnp.arrays(dtype, 1))[0]
    else:
        arrays["values"] = draw(hnp.arrays(dtype, slots))
    return Store("matrix" if form == "csr" else "vector", form, shape, nvals, dtype, iso, arrays)


@settings(deadline=None, max_examples=60)
@given(stores())
def test_stores_survive_a_file_exactly(tmp_path_factory: pytest.TempPathFactory, store: Store) -> None:
    target = tmp_path_factory.mktemp("srb") / "a.srb"
    write_store(target, store)
    found = map_store(target, verify=True)
    assert (found.kind, found.format, found.shape, found.nvals) == (store.kind, store.format, store.shape, store.nvals)
    assert found.dtype == store.dtype
    assert (found.iso is None) == (store.iso is None)
    np.testing.assert_array_equal(found.iso, store.iso)  # type: ignore[arg-type]
    assert list(found.arrays) == list(store.arrays)
    for name, array in store.arrays.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array)


def test_sections_begin_on_pages_and_mapped_arrays_are_private(path: Path) -> None:
    before = path.read_bytes()
    store = map_store(path)
    assert store.facts == {"symmetric": False}
    assert before[4096:4108] == np.array([0, 2, 3], "<i4").tobytes()
    store.arrays["values"][0] = 99
    assert path.read_bytes() == before


def test_iso_values_take_no_section(tmp_path: Path) -> None:
    write_store(tmp_path / "a.srb", example(iso=np.int8(-7)))
    found = map_store(tmp_path / "a.srb")
    assert found.iso == np.int8(-7)
    assert isinstance(found.iso, np.int8)
    assert "values" not in found.arrays


@pytest.mark.parametrize("keep", [0, 3, 8, 20, 31, 40, 300, 4095, 4100, 12300])
def test_truncated_files_are_refused(path: Path, keep: int) -> None:
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InvalidFormat, match=r"a\.srb: byte \d+: expected"):
        map_store(path)


def test_any_changed_byte_of_the_header_is_noticed_on_opening(path: Path) -> None:
    raw = path.read_bytes()
    end = 32 + struct.unpack_from("<I", raw, 12)[0]
    for at in range(0, end, 7):
        changed = bytearray(raw)
        changed[at] ^= 0x10
        path.write_bytes(changed)
        with pytest.raises(InvalidFormat, match=r"byte \d+: expected"):
            map_store(path)


@pytest.mark.parametrize("at", [4096 + 5, 8192 + 1, 12288 + 9])
def test_damaged_sections_are_noticed_by_verification(path: Path, at: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[at] ^= 1
    path.write_bytes(raw)
    with pytest.raises(InvalidFormat, match=rf"byte {at // 4096 * 4096}: expected .*damaged"):
        map_store(path, verify=True)


def forge(path: Path, **changes: Any) -> None:
    """Rewrite the description with correct checksums, as a wrong or hostile program would."""
    raw = path.read_bytes()
    length = struct.unpack_from("<I", raw, 12)[0]
    description = json.loads(raw[32 : 32 + length])
    for key, value in changes.items():
        if key.startswith("section_"):
            description["sections"][0][key.removeprefix("section_")] = value
        else:
            description[key] = value
    content = json.dumps(description).encode()
    prelude = struct.pack("<8sIIQI", raw[:8], 1, len(content), len(raw), zlib.crc32(content))
    head = prelude + struct.pack("<I", zlib.crc32(prelude)) + content
    path.write_bytes(head.ljust(4096, b"\0") + raw[4096:])


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "ccsr"},
        {"kind": "tensor"},
        {"dtype": "complex128"},
        {"dtype": "float32"},
        {"shape": [-2, 3]},
        {"shape": [2]},
        {"shape": [5, 3]},
        {"nvals": 4},
        {"nvals": "many"},
        {"iso": "zz"},
        {"iso": "00"},
        {"sections": []},
        {"sections": None},
        {"section_offset": 0},
        {"section_offset": 4097},
        {"section_offset": 2**40 * 4096},
        {"section_offset": -4096},
        {"section_count": 2},
        {"section_bytes": 8},
        {"section_dtype": "<f8"},
        {"section_dtype": "O"},
        {"section_name": "pointers"},
    ],
)
def test_descriptions_that_do_not_fit_together_are_refused(path: Path, changes: dict[str, Any]) -> None:
    forge(path, **changes)
    with pytest.raises(InvalidFormat, match=r"a\.srb: byte \d+: expected"):
        map_store(path)


def test_offsets_must_span_the_entries(tmp_path: Path) -> None:
    arrays = {"indptr": np.array([0, 2, 2], np.int32), "indices": np.array([0, 2, 1], np.int32)}
    write_store(tmp_path / "a.srb", Store("matrix", "csr", (2, 3), 3, np.dtype(bool), np.bool_(True), arrays))
    with pytest.raises(InvalidFormat, match="byte 4096: expected offsets from 0 to 3, found 0 to 2"):
        map_store(tmp_path / "a.srb")


def test_another_version_is_named(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[8] = 3
    path.write_bytes(raw)
    with pytest.raises(InvalidFormat, match="byte 8: expected version 1 or 2 of the layout, found 3"):
        map_store(path)


def test_absent_slots_of_a_bitmap_are_written_as_zero(tmp_path: Path) -> None:
    """Whatever the memory held there: equal vectors give equal files."""
    words = np.array([0b100010], np.uint32)
    written = set()
    for held in (0, 7):
        values = np.full(20, held, np.int16)
        values[[1, 5]] = [1, 2]
        v = Vector._new(Bitmap(20, values.dtype, words, values, None, Count(2)))
        sr.io.write(tmp_path / "v.srb", v)
        written.add((tmp_path / "v.srb").read_bytes())
    assert len(written) == 1
    again = sr.io.read(tmp_path / "v.srb")
    assert again.to_dense(0).tolist() == [0, 1, 0, 0, 0, 2, *[0] * 14]
