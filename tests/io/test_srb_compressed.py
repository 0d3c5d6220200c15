from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semiring.engines.reference.codecs import encode
from semiring.exceptions import InvalidFormat
from semiring.formats import CODECS, Codec, Pattern
from semiring.formats.codecs import DEFINITIONS
from semiring.io.srb import Store, write_store
from semiring.io.srb_reading import map_store

NCOLS = 1000
NVALS = 300  # three tiles


def example(codec: Codec, *, iso: Any = True, facts: dict[str, Any] | None = None) -> Store:
    """Three rows of 100, 0 and 200 entries."""
    indptr = np.array([0, 100, 100, 300], np.int32)
    indices = np.concatenate([np.arange(100) * 9, np.arange(200) * 5]).astype(np.int32)
    encoded = encode(Pattern(3, NCOLS, indptr, indices), codec)
    arrays = {name: getattr(encoded, name) for name in ("indptr", "base", "at", "stream")}
    dtype: np.dtype[Any] = np.dtype(bool)
    if iso is None:
        arrays["values"] = np.linspace(0, 1, NVALS)
        dtype = np.dtype(np.float64)
    given = None if iso is None else np.bool_(iso)
    return Store("matrix", "ccsr", (3, NCOLS), NVALS, dtype, given, arrays, facts or {}, codec)


@pytest.fixture(params=CODECS)
def codec(request: pytest.FixtureRequest) -> Codec:
    chosen: Codec = request.param
    return chosen


@pytest.fixture
def path(tmp_path: Path, codec: Codec) -> Path:
    target = tmp_path / "a.srb"
    write_store(target, example(codec))
    return target


@pytest.mark.parametrize("iso", [True, None])
def test_compressed_stores_survive_a_file_exactly(tmp_path: Path, codec: Codec, iso: Any) -> None:
    store = example(codec, iso=iso, facts={"symmetric": False})
    write_store(tmp_path / "a.srb", store)
    found = map_store(tmp_path / "a.srb", verify=True)
    assert (found.kind, found.format, found.codec, found.shape, found.nvals, found.facts) == (
        "matrix", "ccsr", codec, (3, NCOLS), NVALS, {"symmetric": False},
    )  # fmt: skip
    assert list(found.arrays) == list(store.arrays) == list(found.offsets)
    for name, array in store.arrays.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array)
    raw = (tmp_path / "a.srb").read_bytes()
    begin = found.offsets["stream"]
    assert raw[begin : begin + store.arrays["stream"].nbytes] == store.arrays["stream"].tobytes()


def test_read_only_mappings(path: Path) -> None:
    assert not map_store(path, writable=False).arrays["stream"].flags.writeable
    assert map_store(path).arrays["stream"].flags.writeable


def edit(path: Path, section: dict[str, dict[str, Any]] | None = None, **changes: Any) -> dict[str, Any]:
    """Rewrite the description with correct checksums, as a wrong or hostile program would; return the old one."""
    raw = path.read_bytes()
    length = struct.unpack_from("<I", raw, 12)[0]
    before = json.loads(raw[32 : 32 + length])
    after = before | {key: value for key, value in changes.items() if value is not ...}
    after = {key: value for key, value in after.items() if changes.get(key) is not ...}
    after["sections"] = [part | (section or {}).get(part["name"], {}) for part in after["sections"]]
    content = json.dumps(after).encode()
    prelude = struct.pack("<8sIIQI", raw[:8], 1, len(content), len(raw), zlib.crc32(content))
    path.write_bytes((prelude + struct.pack("<I", zlib.crc32(prelude)) + content).ljust(4096, b"\0") + raw[4096:])
    found: dict[str, Any] = before
    return found


@pytest.mark.parametrize(
    "changes",
    [
        {"codec": "zip"},
        {"codec": None},
        {"codec": ...},
        {"codec": ["varint"]},
        {"format": "csr"},
        {"format": "ccsr2"},
        {"kind": "vector", "shape": [3]},
        {"nvals": NVALS + 128},
        {"nvals": NVALS - 1},
        {"nvals": 2**62},
        {"shape": [4, NCOLS]},
        {"shape": [3, 2**40]},
        {"iso": None},
        {"section": {"base": {"count": 2}}},
        {"section": {"at": {"count": 3, "bytes": 12}}},
        {"section": {"at": {"dtype": "<i8"}}},
        {"section": {"indptr": {"dtype": "<i8", "bytes": 32}}},
        {"section": {"stream": {"count": -1}}},
        {"section": {"stream": {"count": "7"}}},
        {"section": {"stream": {"dtype": "<u2"}}},
        {"section": {"stream": {"name": "indices"}}},
        {"section": {"stream": {"offset": 4096}}},
    ],
    ids=str,
)
def test_descriptions_that_do_not_fit_together_are_refused(path: Path, changes: dict[str, Any]) -> None:
    edit(path, **changes)
    with pytest.raises(InvalidFormat, match=r"a\.srb: byte \d+: expected"):
        map_store(path)


def test_the_codec_of_another_stream_is_refused(path: Path, codec: Codec) -> None:
    edit(path, codec=next(other for other in CODECS if other != codec))
    with pytest.raises(InvalidFormat, match=r"section 'stream'"):
        map_store(path)


def test_a_stream_that_is_cut_short_is_refused(path: Path, codec: Codec) -> None:
    part = edit(path)["sections"][3]
    wide = np.dtype(part["dtype"]).itemsize
    for count in (part["count"] - 1, DEFINITIONS[codec].padding - 1, 0):
        edit(path, section={"stream": {"count": count, "bytes": wide * count}})
        with pytest.raises(InvalidFormat, match=r"expected (tiles from 0 to|at least)"):
            map_store(path)


@pytest.mark.parametrize("tile", [0, -1])
def test_tiles_must_span_the_stream(path: Path, tile: int) -> None:
    raw = bytearray(path.read_bytes())
    part = edit(path)["sections"][2]
    at = part["offset"] + (part["bytes"] - 4 if tile else 0)
    raw[at] ^= 1
    path.write_bytes(raw)
    with pytest.raises(InvalidFormat, match=rf"byte {part['offset']}: expected tiles from 0 to \d+"):
        map_store(path)


def test_truncated_files_are_refused(path: Path) -> None:
    raw = path.read_bytes()
    for keep in (0, 31, 400, 4096, 8192, 12288, len(raw) - 1):
        path.write_bytes(raw[:keep])
        with pytest.raises(InvalidFormat, match=r"a\.srb: byte \d+: expected"):
            map_store(path)


def test_damaged_sections_are_noticed_by_verification(path: Path) -> None:
    raw = path.read_bytes()
    for part in edit(path)["sections"]:
        changed = bytearray(raw)
        changed[part["offset"] + part["bytes"] // 2] ^= 4
        path.write_bytes(changed)
        with pytest.raises(InvalidFormat, match=r"byte \d+: expected .*(damaged|tiles)"):
            map_store(path, verify=True)


def test_a_matrix_without_entries(tmp_path: Path, codec: Codec) -> None:
    encoded = encode(Pattern(2, 3, np.zeros(3, np.int32), np.zeros(0, np.int32)), codec)
    arrays = {name: getattr(encoded, name) for name in ("indptr", "base", "at", "stream")}
    write_store(tmp_path / "a.srb", Store("matrix", "ccsr", (2, 3), 0, np.dtype(bool), np.bool_(1), arrays, {}, codec))
    found = map_store(tmp_path / "a.srb", verify=True)
    assert found.arrays["at"].tolist() == [0]
    assert found.arrays["stream"].size == DEFINITIONS[codec].padding


def test_plain_files_do_not_speak_of_codecs(tmp_path: Path) -> None:
    arrays = {"indptr": np.array([0, 1], np.int32), "indices": np.array([0], np.int32)}
    write_store(tmp_path / "a.srb", Store("matrix", "csr", (1, 1), 1, np.dtype(bool), np.bool_(1), arrays))
    assert "codec" not in edit(tmp_path / "a.srb")
