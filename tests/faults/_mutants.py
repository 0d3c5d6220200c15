"""Small valid files of every format, and ways to damage them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.sparse

import semiring as sr
from semiring import Matrix, Vector
from tests.io.forged import forged

EXTREMES = (
    b"0", b"1", b"-1", b"2", b"127", b"255", b"65536", b"2147483647", b"2147483648", b"4294967296",
    b"1152921504606846976", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808",
    b"18446744073709551615", b"18446744073709551616", b"1" + b"0" * 40, b"9" * 4400, b"1e400", b"-0.0", b"nan", b"inf",
    b"-inf", b"0x10", b"1_0", b"\xff", b"",
)  # fmt: skip
_NUMBER = re.compile(rb"[0-9]+")


@dataclass(frozen=True)
class Original:
    """A valid file.

    name: its file name, extension included.  content: its bytes.
    repair: corrects the checksums after a change; None where the format has none.
    """

    name: str
    content: bytes
    repair: Callable[[bytes], bytes] | None = None


def originals() -> list[Original]:
    """Files of every format that is read: text, compressed text, archives, serialized graphs, mapped files."""
    texts = {
        "a.mtx": "%%MatrixMarket matrix coordinate real general\n%%GraphBLAS type double\n3 4 4\n1 1 .5\n2 3 -1e3\n"
                 "3 1 7\n3 4 1e-30\n",
        "i.mtx": "%%MatrixMarket matrix coordinate integer symmetric\n% c\n4 4 3\n2 1 -5\n3 3 9\n4 2 100\n",
        "p.mtx": "%%MatrixMarket matrix coordinate pattern general\n%%GraphBLAS type uint8_t\n3 3 2\n1 2\n3 3\n",
        "d.mtx": "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4.5\n5\n6\n",
        "k.mtx": "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n",
        "a.el": "# edges\n0 1\n1 2\r\n2 0\n3 3\n",
        "a.wel": "0 1 5\n1 2 7\n2 0 9\n",
        "a.csv": "0,1,2.5\n1,2,3.5\n4,0,-1\n",
        "a.tsv": "0\t1\n1\t2\n",
        "a.e": "10 30 0.5\n30 20 0.25\n",
        "a.jlg": "4,3,u,x\n1,2\n2,3\n3,4\n",
        "a.gr": "c roads\np sp 4 3\na 1 2 10\na 2 3 20\na 4 1 30\n",
        "t.gr": "c t\np tw 4 3\n1 2\n2 3\n3 4\n",
        "a.graph": "% c\n4 3\n2 3\n1\n1 4\n3\n",
        "w.graph": "3 2 011 1\n1 2 5\n1 1 5 3 6\n1 2 6\n",
        "a.graph-txt": "4\n1 2\n\n0 3\n2\n",
    }  # fmt: skip
    found = [Original(name, text.encode()) for name, text in texts.items()]
    packers: dict[str, Callable[[bytes], bytes]] = {".gz": _gzip, ".bz2": bz2.compress, ".xz": lzma.compress}
    try:
        import zstandard

        packers[".zst"] = zstandard.ZstdCompressor(write_checksum=True).compress
    except ImportError:
        pass
    for suffix, pack in packers.items():
        repair = _repaired_gzip if suffix == ".gz" else None
        found.append(Original(f"a.el{suffix}", pack(texts["a.el"].encode()), repair))
    for weights in (False, True):
        found.append(Original(f"a.{'w' if weights else ''}sg", _serialized(weights)))
    return found + _binaries()


def _serialized(weights: bool) -> bytes:
    arcs = [1, 5, 0, 6, 2, 7] if weights else [1, 0, 2]
    one_way = np.array([0, 1, 3, 3], "<i8").tobytes() + np.array(arcs, "<i4").tobytes()
    return b"\1" + np.array([3, 3], "<i8").tobytes() + one_way * 2


def _binaries() -> list[Original]:
    """Written by the library itself, into memory by way of a folder."""
    import tempfile

    A = Matrix.from_coo([0, 0, 1, 2, 2], [1, 3, 0, 2, 3], [1.5, -2.0, 3.0, 4.0, 5.5], nrows=4, ncols=4)
    S = sr.random.grid2d(3, 3)
    B = Matrix.from_coo([0, 1], [1, 0], [True, False], nrows=2, ncols=2)
    v = Vector.from_coo([1, 4, 33], [7, 8, 9], size=40, dtype="int16")
    things: dict[str, Any] = {
        "a.srb": A, "s.srb": S, "b.srb": B, "c.srb": S.compress("varint"), "p.srb": A.compress("packed"),
        "v.srb": v.convert("index"), "w.srb": v.convert("bitmap"),
        "f.srb": Vector.from_coo(np.arange(5), np.arange(5) * 0.5, size=5).convert("full"),
        "e.srb": Vector.from_coo(np.arange(5), 2.5, size=5).convert("full"),
    }  # fmt: skip
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, thing in things.items():
            path = Path(folder) / name
            sr.io.write(path, thing)
            found.append(Original(name, path.read_bytes(), _repaired_srb))
        for name, compressed in (("a.npz", False), ("z.npz", True)):
            path = Path(folder) / name
            sr.io.write(path, A, compressed=compressed)
            found.append(Original(name, _undated(path, compressed), None if compressed else _repaired_npz))
        for layout in ("csc", "coo"):
            path = Path(folder) / f"{layout}.npz"
            scipy.sparse.save_npz(path, sr.io.to_scipy_sparse(A, layout), compressed=False)
            found.append(Original(path.name, _undated(path, False), _repaired_npz))
    return found


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)  # the same mutants at any time


def _undated(path: Path, compressed: bool) -> bytes:
    """An archive without the times at which its members were written."""
    made = io.BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(made, "w") as copy:
        for name in archive.namelist():
            method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
            copy.writestr(zipfile.ZipInfo(name), archive.read(name), method)
    return made.getvalue()


def _repaired_gzip(raw: bytes) -> bytes:
    """The deflated bytes with the checksum and length of their unpacked contents."""
    try:
        content = zlib.decompressobj(wbits=-15).decompress(raw[10:], 1 << 16)
    except zlib.error:
        return raw
    return raw[:-8] + struct.pack("<II", zlib.crc32(content), len(content) & 0xFFFFFFFF)


def _repaired_srb(raw: bytes) -> bytes:
    try:
        return forged(raw, lambda description: None)
    except (ValueError, KeyError, TypeError, struct.error, AttributeError, OverflowError, RecursionError):
        return raw


def _repaired_npz(raw: bytes) -> bytes:
    """Stored members with the checksums of their contents, in their own headers and in the directory."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            made = bytearray(raw)
            directory = archive.start_dir
            for info in archive.infolist():
                name_bytes, extra_bytes = struct.unpack_from("<HH", raw, info.header_offset + 26)
                begin = info.header_offset + 30 + name_bytes + extra_bytes
                crc = struct.pack("<I", zlib.crc32(raw[begin : begin + info.compress_size]))
                made[info.header_offset + 14 : info.header_offset + 18] = crc
                made[directory + 16 : directory + 20] = crc
                lengths = struct.unpack_from("<HHH", raw, directory + 28)
                directory += 46 + sum(lengths)
    except (zipfile.BadZipFile, struct.error, ValueError, NotImplementedError, OverflowError):
        return raw
    return bytes(made)


def _flip(raw: bytearray, random: Random) -> None:
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        raw[_place(raw, random)] ^= 1 << random.randrange(8)


def _truncate(raw: bytearray, random: Random) -> None:
    del raw[_place(raw, random) :]


def _insert(raw: bytearray, random: Random) -> None:
    at = _place(raw, random)
    raw[at:at] = random.choice((random.randbytes(random.randrange(1, 20)), b"\n", b"\r", b"\0" * 9, b" 1"))


def _delete(raw: bytearray, random: Random) -> None:
    at = _place(raw, random)
    del raw[at : at + random.choice((1, 1, 2, 4, 8, 50))]


def _duplicate(raw: bytearray, random: Random) -> None:
    at, to = _place(raw, random), _place(raw, random)
    raw[to:to] = raw[at : at + random.choice((1, 4, 8, 30, 500))]


def _swap_lines(raw: bytearray, random: Random) -> None:
    lines = bytes(raw).split(b"\n")
    i, j = random.randrange(len(lines)), random.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    raw[:] = b"\n".join(lines)


def _replace_number(raw: bytearray, random: Random) -> None:
    """A number of the text by an extreme one; of a binary file, also eight or four bytes."""
    numbers = list(_NUMBER.finditer(bytes(raw)))
    if numbers and random.random() < 0.8:
        found = random.choice(numbers)
        raw[found.start() : found.end()] = random.choice(EXTREMES)
        return
    at, wide = _place(raw, random), random.choice((4, 8))
    value = random.choice((0, 1, -1, 2**31 - 1, -(2**31), 2**31, 2**62, -(2**63), 2**63 - 1))
    raw[at : at + wide] = (value % 2 ** (8 * wide)).to_bytes(wide, "little")


def _overwrite(raw: bytearray, random: Random) -> None:
    at = _place(raw, random)
    raw[at : at + 8] = random.randbytes(min(8, len(raw) - at))


def _place(raw: bytearray, random: Random) -> int:
    """A position in the file; in a padded one mostly outside the padding."""
    place = random.randrange(max(len(raw), 1))
    if len(raw) > 4096 and random.random() < 0.9:
        for _ in range(20):
            if place < len(raw) and any(raw[max(place - 4, 0) : place + 4]):
                break
            place = random.randrange(len(raw))
    return min(place, max(len(raw) - 1, 0)) if raw else 0


def _edit_description(raw: bytes, random: Random) -> bytes:
    """A `.srb` file with one value of its description replaced, and right checksums."""
    values: list[Any] = [
        0, 1, -1, 2, 3, 40, 4096, 8192, 2**31, 2**32, 2**60, 2**63, 2**64, 2**70, 1.5, True, False, None, "", "csr",
        "ccsr", "varint", "packed", "index", "bitmap", "full", "matrix", "vector", "<i4", "<i8", "<f8", "|b1",
        "float64", "bool", "int16", "02", "01", [], {}, [3], [3, 3], {"symmetric": True}, {"symmetric": False},
    ]  # fmt: skip

    def change(description: dict[str, Any]) -> None:
        target: Any = description
        while True:
            keys = list(target) if isinstance(target, dict) else list(range(len(target)))
            key = random.choice(keys)
            if isinstance(target[key], (dict, list)) and target[key] and random.random() < 0.8:
                target = target[key]
                continue
            if random.random() < 0.1:
                del target[key]
            else:
                target[key] = random.choice(values)
            return

    return forged(raw, change)


_DAMAGES: tuple[Callable[[bytearray, Random], None], ...] = (
    _flip, _truncate, _insert, _delete, _duplicate, _swap_lines, _replace_number, _overwrite,
)  # fmt: skip


def mutant(original: Original, random: Random) -> bytes:
    """The content of a damaged file; half of those with checksums have them corrected."""
    if original.name.endswith(".srb") and random.random() < 0.3:
        return _edit_description(original.content, random)
    raw = bytearray(original.content)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        if raw:
            random.choice(_DAMAGES)(raw, random)
    if original.repair is not None and random.random() < 0.6:
        return original.repair(bytes(raw))
    return bytes(raw)
