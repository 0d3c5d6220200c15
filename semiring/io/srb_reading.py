"""Reading ``.srb`` files: every number of the description is checked before an array is made (layout: `.srb`)."""

from __future__ import annotations

import json
import os
import zlib
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from semiring.dtypes import lookup
from semiring.exceptions import DomainMismatch, InvalidFormat
from semiring.formats.arrays import index_dtype
from semiring.formats.ccsr import CODECS, ELEMENT, PADDING, Codec, at_dtype, tile_count
from semiring.io.files import PathLike, Progress, checked_progress
from semiring.io.srb import (
    DESCRIPTION_AT,
    MAGIC,
    PAGE_BYTES,
    PRELUDE,
    PRELUDE_CRC,
    VERSION,
    Store,
    checksum,
)

__all__ = ["map_store"]

_INDEX_DTYPES: Final = ("<i4", "<i8")

# Section name -> (how many numbers; dtypes that it may have).
_Expected = dict[str, tuple[int, tuple[str, ...]]]


def map_store(
    path: PathLike, *, verify: bool = False, writable: bool = True, progress: Progress | None = None
) -> Store:
    """Map a file: check all that stands in its description, and leave the arrays on the disk until they are used.

    Parameters
    ----------
    path : str or PathLike
    verify : bool
        Also read every section and compare its checksum. O(bytes) instead of O(1).
    writable : bool
        Private, copy-on-write views of the file, ordinary arrays to compiled code. False: read-only ones, which can be
        page-locked without becoming copies.

    Returns
    -------
    Store

    Raises
    ------
    InvalidFormat
        Not such a file, another version, cut short, damaged, or with a description that does not fit together; the
        message gives file and byte.
    """
    progress, name = checked_progress(progress), os.fspath(path)
    with open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        text, total = _read_prelude(stream.read(DESCRIPTION_AT), stream, name)
    if size < total:
        raise InvalidFormat(f"{name}: byte {size}: expected {total} bytes, found the end of the file")
    try:
        description = json.loads(text)
    except ValueError as error:
        raise InvalidFormat(f"{name}: byte {DESCRIPTION_AT}: expected a description in JSON, found {error}") from error
    try:
        store, sections = _interpret(description, total, name, path, "c" if writable else "r")
    except (KeyError, TypeError, ValueError, OverflowError, DomainMismatch) as error:
        if isinstance(error, InvalidFormat):
            raise
        raise InvalidFormat(
            f"{name}: byte {DESCRIPTION_AT}: expected a whole description, found {type(error).__name__}: {error}"
        ) from error
    if verify:
        for done, section in enumerate(sections):
            if checksum(store.arrays[section["name"]]) != section["crc32"]:
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
    if len(start) < DESCRIPTION_AT:
        raise InvalidFormat(f"{name}: byte {len(start)}: expected {DESCRIPTION_AT} bytes of header, found the end")
    _, version, length, total, text_crc = PRELUDE.unpack(start[: PRELUDE.size])
    if version != VERSION:
        raise InvalidFormat(f"{name}: byte 8: expected version {VERSION} of the layout, found {version}")
    if PRELUDE_CRC.unpack(start[PRELUDE.size :])[0] != zlib.crc32(start[: PRELUDE.size]):
        raise InvalidFormat(f"{name}: byte {PRELUDE.size}: expected the checksum of the header, found another")
    text = stream.read(length)
    if len(text) < length:
        at = DESCRIPTION_AT + len(text)
        raise InvalidFormat(f"{name}: byte {at}: expected {length} bytes of description, found the end of the file")
    if zlib.crc32(text) != text_crc:
        raise InvalidFormat(f"{name}: byte {DESCRIPTION_AT}: expected the description's checksum, found another")
    return text, total


def _interpret(
    description: dict[str, Any], total: int, name: str, path: PathLike, mode: Literal["c", "r"]
) -> tuple[Store, list[dict[str, Any]]]:
    """The store of a description, once every number in it has been checked against the others."""
    kind, form = str(description["kind"]), str(description["format"])
    shape = tuple(int(size) for size in description["shape"])
    nvals, dtype = int(description["nvals"]), lookup(description["dtype"])
    codec: Codec | None = description["codec"] if form == "ccsr" else None
    iso = None
    if description["iso"] is not None:
        raw = bytes.fromhex(description["iso"])
        iso = np.frombuffer(raw, dtype=dtype.newbyteorder("<"), count=1)[0].astype(dtype)

    def refuse(what: str, at: int = DESCRIPTION_AT) -> InvalidFormat:
        return InvalidFormat(f"{name}: byte {at}: {what}")

    if min((*shape, nvals)) < 0 or len(shape) != {"matrix": 2, "vector": 1}.get(kind):
        raise refuse(f"expected a matrix or vector of a non-negative shape, found {kind} {shape} of {nvals} entries")
    if codec not in (None, *CODECS):
        raise refuse(f"expected one of the codecs {', '.join(CODECS)}, found {codec!r}")
    sections: list[dict[str, Any]] = description["sections"]
    elements = max(next((int(section["count"]) for section in sections if section["name"] == "stream"), 0), 0)
    expected = _expected_sections(kind, form, shape, nvals, dtype, iso is not None, codec, elements)
    if expected is None:
        raise refuse(f"expected a format that this version reads, found the {kind} format {form!r}")

    if [section["name"] for section in sections] != list(expected):
        raise refuse(f"expected sections {list(expected)}, found {[section['name'] for section in sections]}")
    arrays, offsets = {}, {}
    floor = DESCRIPTION_AT
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
        offsets[section["name"]] = offset
        arrays[section["name"]] = _map_section(path, offset, count, np.dtype(section["dtype"]), mode)
    store = Store(kind, form, shape, nvals, dtype, iso, arrays, dict(description["facts"]), codec, offsets)
    if kind == "matrix" and (int(arrays["indptr"][0]) != 0 or int(arrays["indptr"][-1]) != nvals):
        raise refuse(
            f"expected offsets from 0 to {nvals}, found {int(arrays['indptr'][0])} to {int(arrays['indptr'][-1])}",
            offsets["indptr"],
        )
    if codec is not None:
        _check_ends(store, refuse)
    return store, sections


def _check_ends(store: Store, refuse: Any) -> None:
    """The tiles must begin and end where the stream does. O(1)."""
    assert store.codec is not None
    at, padding = store.arrays["at"], PADDING[store.codec]
    length = int(store.arrays["stream"].size) - padding
    # A number has at least a byte, and a tile at least a word.
    least = store.nvals if store.codec == "varint" else tile_count(store.nvals)
    if length < least:
        raise refuse(
            f"expected at least {least} elements and {padding} behind them in the stream of {store.nvals} entries, "
            f"found {length + padding}"
        )
    if int(at[0]) != 0 or int(at[-1]) != length:
        raise refuse(
            f"expected tiles from 0 to {length}, {padding} before the end of the stream, found {int(at[0])} to "
            f"{int(at[-1])}",
            store.offsets["at"],
        )


def _expected_sections(
    kind: str,
    form: str,
    shape: tuple[int, ...],
    nvals: int,
    dtype: np.dtype[Any],
    iso: bool,
    codec: Codec | None,
    elements: int,
) -> _Expected | None:
    """The sections of a format, in order; None for a format that is not known.

    elements: what the file says of the stream's length, which follows from nothing else.
    """
    sections: _Expected
    slots = nvals
    if (kind, form) == ("matrix", "csr"):
        sections = {"indptr": (shape[0] + 1, _INDEX_DTYPES), "indices": (nvals, _INDEX_DTYPES)}
    elif (kind, form) == ("matrix", "ccsr") and codec is not None:
        tiles = tile_count(nvals)
        sections = {
            "indptr": (shape[0] + 1, (_little(index_dtype(nvals)),)),
            "base": (tiles, (_little(index_dtype(shape[1])),)),
            "at": (tiles + 1, (_little(at_dtype(elements)),)),
            "stream": (elements, (_little(ELEMENT[codec]),)),
        }
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
        sections["values"] = (slots, (_little(dtype),))
    return sections


def _little(dtype: np.dtype[Any]) -> str:
    return dtype.newbyteorder("<").str


def _map_section(
    path: PathLike, offset: int, count: int, dtype: np.dtype[Any], mode: Literal["c", "r"]
) -> NDArray[Any]:
    if not count:
        return np.empty(0, dtype=dtype.newbyteorder("="))
    mapped: NDArray[Any] = np.memmap(path, dtype=dtype, mode=mode, offset=offset, shape=(count,))
    return mapped.view(np.ndarray)
