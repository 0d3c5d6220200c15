"""``.srb``: a matrix or vector as it lies in memory, opened by mapping the file instead of reading it.

A text file of a billion edges takes minutes to parse; the same matrix in this form is usable after some milliseconds,
and its bytes come from the disk as they are touched.

Layout, all numbers little-endian
---------------------------------
====== ===== ==========================================================================================
byte   size  content
====== ===== ==========================================================================================
0      8     magic ``89 53 52 42 0D 0A 1A 0A`` (a file that was sent as text no longer has it)
8      4     version of the layout, 1
12     4     bytes of the description, d
16     8     bytes of the whole file
24     4     CRC-32 of the description
28     4     CRC-32 of bytes 0 to 27
32     d     the description: JSON in UTF-8
====== ===== ==========================================================================================

Sections follow, each from a multiple of 4096 bytes (a page) on, with zeros between. The description is an object with

``kind``      ``"matrix"`` or ``"vector"``
``format``    ``"csr"``; for vectors ``"index"``, ``"bitmap"`` or ``"full"``. A reader refuses formats that it does
              not know, so compressed formats can be added without a new version.
``shape``     ``[nrows, ncols]`` or ``[size]``
``nvals``     number of stored entries
``dtype``     name of the value type, as in NumPy
``iso``       null, or the bytes (hexadecimal) of the value that all entries share; then there is no section ``values``
``facts``     what is known to be true of the matrix, for example ``{"symmetric": true}``
``sections``  a list of ``{"name", "dtype", "count", "offset", "bytes", "crc32"}``: for ``"csr"`` ``indptr``
              (nrows + 1), ``indices`` (nvals) and ``values`` (nvals); for vectors ``indices`` (nvals) or ``words`` (a
              bit a position, 32 to a word), and ``values``.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from semiring.dtypes import lookup
from semiring.exceptions import DomainMismatch, InvalidFormat
from semiring.io.files import PathLike, Progress, atomic_writer

__all__ = ["MAGIC", "VERSION", "Store", "map_store", "write_store"]

MAGIC: Final = b"\x89SRB\r\n\x1a\n"
VERSION: Final = 1
PAGE_BYTES: Final = 4096

_PRELUDE: Final = struct.Struct("<8sIIQI")
_PRELUDE_CRC: Final = struct.Struct("<I")
_DESCRIPTION_AT: Final = _PRELUDE.size + _PRELUDE_CRC.size
_CHUNK_BYTES: Final = 1 << 24
_INDEX_DTYPES: Final = ("<i4", "<i8")


@dataclass(frozen=True, eq=False)
class Store:
    """What a file describes, with its arrays.

    Attributes
    ----------
    kind, format : str
    shape : tuple of int
    nvals : int
    dtype : numpy.dtype
    iso : NumPy scalar or None
    arrays : mapping from section name to array
    facts : mapping
    """

    kind: str
    format: str
    shape: tuple[int, ...]
    nvals: int
    dtype: np.dtype[Any]
    iso: np.generic | None
    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any] = field(default_factory=dict)


def write_store(path: PathLike, store: Store, progress: Progress | None = None) -> None:
    """Write a store to a file that appears when it is complete, or not at all. O(bytes)."""
    sections: list[dict[str, Any]] = []
    for name, array in store.arrays.items():
        little = array.dtype.newbyteorder("<")
        sections.append(
            {
                "name": name,
                "dtype": little.str,
                "count": int(array.size),
                "offset": 0,
                "bytes": int(array.nbytes),
                "crc32": _crc32(np.ascontiguousarray(array, dtype=little)),
            }
        )
    description = {
        "kind": store.kind,
        "format": store.format,
        "shape": list(store.shape),
        "nvals": store.nvals,
        "dtype": store.dtype.name,
        "iso": None if store.iso is None else _little(store.iso).tobytes().hex(),
        "facts": dict(store.facts),
        "sections": sections,
    }
    # Offsets stand in the description, on whose length they depend: measure it with the widest that there can be.
    for section in sections:
        section["offset"] = 2**63
    offset = _page_after(_DESCRIPTION_AT + len(json.dumps(description)))
    for section in sections:
        section["offset"] = offset
        offset = _page_after(offset + section["bytes"])
    text = json.dumps(description).encode()
    total = max((section["offset"] + section["bytes"] for section in sections), default=_DESCRIPTION_AT + len(text))
    prelude = _PRELUDE.pack(MAGIC, VERSION, len(text), total, zlib.crc32(text))
    with atomic_writer(path) as stream:
        stream.write(prelude + _PRELUDE_CRC.pack(zlib.crc32(prelude)) + text)
        position = _DESCRIPTION_AT + len(text)
        for section, array in zip(sections, store.arrays.values(), strict=True):
            stream.write(bytes(section["offset"] - position))
            content = np.ascontiguousarray(array, dtype=section["dtype"]).reshape(-1).view(np.uint8).data
            for start in range(0, len(content), _CHUNK_BYTES):
                stream.write(content[start : start + _CHUNK_BYTES])
                if progress is not None:
                    progress(f"writing {os.fspath(path)}", (section["offset"] + start) / total)
            position = section["offset"] + len(content)


def map_store(path: PathLike, *, verify: bool = False, progress: Progress | None = None) -> Store:
    """Map a file: check all that stands in its description, and leave the arrays on the disk until they are used.

    Parameters
    ----------
    path : str or PathLike
    verify : bool
        Also read every section and compare its checksum. O(bytes) instead of O(1).

    Returns
    -------
    Store
        Its arrays are private, copy-on-write views of the file.

    Raises
    ------
    InvalidFormat
        Not such a file, another version, cut short, damaged, or with a description that does not fit together; the
        message gives file and byte.
    """
    name = os.fspath(path)
    with open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        text, total = _read_prelude(stream.read(_DESCRIPTION_AT), stream, name)
    if size < total:
        raise InvalidFormat(f"{name}: byte {size}: expected {total} bytes, found the end of the file")
    try:
        description = json.loads(text)
    except ValueError as error:
        raise InvalidFormat(f"{name}: byte {_DESCRIPTION_AT}: expected a description in JSON, found {error}") from error
    try:
        store, sections = _interpret(description, total, name, path)
    except (KeyError, TypeError, ValueError, OverflowError, DomainMismatch) as error:
        if isinstance(error, InvalidFormat):
            raise
        raise InvalidFormat(
            f"{name}: byte {_DESCRIPTION_AT}: expected a whole description, found {type(error).__name__}: {error}"
        ) from error
    if verify:
        for done, section in enumerate(sections):
            if _crc32(store.arrays[section["name"]]) != section["crc32"]:
                raise InvalidFormat(
                    f"{name}: byte {section['offset']}: expected the {section['bytes']} bytes of section "
                    f"{section['name']!r} to have the checksum {section['crc32']}, found another: the file is damaged"
                )
            if progress is not None:
                progress(f"verifying {name}", (done + 1) / len(sections))
    return store


def _read_prelude(start: bytes, stream: Any, name: str) -> tuple[bytes, int]:
    if start[: len(MAGIC)] != MAGIC:
        raise InvalidFormat(f"{name}: byte 0: expected a .srb file, which begins with {MAGIC!r}, found {start[:8]!r}")
    if len(start) < _DESCRIPTION_AT:
        raise InvalidFormat(f"{name}: byte {len(start)}: expected {_DESCRIPTION_AT} bytes of header, found the end")
    _, version, length, total, text_crc = _PRELUDE.unpack(start[: _PRELUDE.size])
    if version != VERSION:
        raise InvalidFormat(f"{name}: byte 8: expected version {VERSION} of the layout, found {version}")
    if _PRELUDE_CRC.unpack(start[_PRELUDE.size :])[0] != zlib.crc32(start[: _PRELUDE.size]):
        raise InvalidFormat(f"{name}: byte {_PRELUDE.size}: expected the checksum of the header, found another")
    text = stream.read(length)
    if len(text) < length:
        at = _DESCRIPTION_AT + len(text)
        raise InvalidFormat(f"{name}: byte {at}: expected {length} bytes of description, found the end of the file")
    if zlib.crc32(text) != text_crc:
        raise InvalidFormat(f"{name}: byte {_DESCRIPTION_AT}: expected the description's checksum, found another")
    return text, total


def _interpret(
    description: dict[str, Any], total: int, name: str, path: PathLike
) -> tuple[Store, list[dict[str, Any]]]:
    """The store of a description, once every number in it has been checked against the others."""
    kind, form = str(description["kind"]), str(description["format"])
    shape = tuple(int(size) for size in description["shape"])
    nvals, dtype = int(description["nvals"]), lookup(description["dtype"])
    iso = None
    if description["iso"] is not None:
        raw = bytes.fromhex(description["iso"])
        iso = np.frombuffer(raw, dtype=dtype.newbyteorder("<"), count=1)[0].astype(dtype)

    def refuse(what: str, at: int = _DESCRIPTION_AT) -> InvalidFormat:
        return InvalidFormat(f"{name}: byte {at}: {what}")

    if min((*shape, nvals)) < 0 or len(shape) != {"matrix": 2, "vector": 1}.get(kind):
        raise refuse(f"expected a matrix or vector of a non-negative shape, found {kind} {shape} of {nvals} entries")
    expected = _expected_sections(kind, form, shape, nvals, dtype, iso is not None)
    if expected is None:
        raise refuse(f"expected a format that this version reads, found the {kind} format {form!r}")

    sections: list[dict[str, Any]] = description["sections"]
    if [section["name"] for section in sections] != list(expected):
        raise refuse(f"expected sections {list(expected)}, found {[section['name'] for section in sections]}")
    arrays = {}
    floor = _DESCRIPTION_AT
    for section in sections:
        count, dtypes = expected[section["name"]]
        offset, length = int(section["offset"]), int(section["bytes"])
        if section["dtype"] not in dtypes or section["count"] != count:
            raise refuse(
                f"expected {count} numbers of type {' or '.join(dtypes)} in section {section['name']!r}, found "
                f"{section['count']} of type {section['dtype']}"
            )
        if length != count * np.dtype(section["dtype"]).itemsize:
            raise refuse(f"expected section {section['name']!r} to hold {count} numbers, found {length} bytes")
        if offset % PAGE_BYTES or offset < floor or offset + length > total:
            raise refuse(f"expected section {section['name']!r} on a page from {floor} to {total}, found {offset}")
        floor = offset + length
        arrays[section["name"]] = _map_section(path, offset, count, np.dtype(section["dtype"]))
    store = Store(kind, form, shape, nvals, dtype, iso, arrays, dict(description["facts"]))
    if form == "csr" and (int(arrays["indptr"][0]) != 0 or int(arrays["indptr"][-1]) != nvals):
        raise refuse(
            f"expected offsets from 0 to {nvals}, found {int(arrays['indptr'][0])} to {int(arrays['indptr'][-1])}",
            int(sections[0]["offset"]),
        )
    return store, sections


def _expected_sections(
    kind: str, form: str, shape: tuple[int, ...], nvals: int, dtype: np.dtype[Any], iso: bool
) -> dict[str, tuple[int, tuple[str, ...]]] | None:
    """Section name -> (count, allowed dtypes), in order; None for a format that is not known."""
    sections: dict[str, tuple[int, tuple[str, ...]]]
    slots = nvals
    if (kind, form) == ("matrix", "csr"):
        sections = {"indptr": (shape[0] + 1, _INDEX_DTYPES), "indices": (nvals, _INDEX_DTYPES)}
    elif (kind, form) == ("vector", "index"):
        sections = {"indices": (nvals, _INDEX_DTYPES)}
    elif (kind, form) == ("vector", "bitmap"):
        sections = {"words": ((shape[0] + 31) // 32, ("<u4",))}
        slots = shape[0]
    elif (kind, form) == ("vector", "full"):
        sections = {}
        slots = shape[0]
    else:
        return None
    if not iso:
        sections["values"] = (slots, (dtype.newbyteorder("<").str,))
    return sections


def _map_section(path: PathLike, offset: int, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    if not count:
        return np.empty(0, dtype=dtype.newbyteorder("="))
    # Copy-on-write: the arrays are ordinary writable ones to compiled code, and the file never changes.
    mapped: NDArray[Any] = np.memmap(path, dtype=dtype, mode="c", offset=offset, shape=(count,))
    return mapped.view(np.ndarray)


def _crc32(array: NDArray[Any]) -> int:
    content = array.reshape(-1).view(np.uint8).data
    value = 0
    for start in range(0, len(content), _CHUNK_BYTES):
        value = zlib.crc32(content[start : start + _CHUNK_BYTES], value)
    return value


def _little(scalar: np.generic) -> NDArray[Any]:
    array = np.asarray(scalar)
    return array.astype(array.dtype.newbyteorder("<"))


def _page_after(offset: int) -> int:
    return -(-offset // PAGE_BYTES) * PAGE_BYTES
