"""Reading ``.srb`` files: every number of the description is checked before an array is made (layout: `.srb`)."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
import zlib
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from semiring.dtypes import BOOL, is_record, lookup
from semiring.engines.shared.expression_numpy import scalar
from semiring.exceptions import DomainMismatch, InvalidFormat
from semiring.formats import CODECS, FORMATS, BitmapPattern, Codec, Pattern
from semiring.io.files import PathLike, Progress, checked_progress, errors_naming, open_to_read
from semiring.io.label_sets import check_labels, decode_sets, label_arrays
from semiring.io.srb import (
    DESCRIPTION_AT,
    LABELED,
    MAGIC,
    PAGE_BYTES,
    PRELUDE,
    PRELUDE_CRC,
    VERSION,
    Store,
    checksum,
)
from semiring.record_types import leaves, parsed

__all__ = ["map_store"]

_INDEX_DTYPES: Final = ("<i4", "<i8")

# Far beyond any file, and far enough below 2**63 for index arithmetic.
_LARGEST: Final = 2**60

# Section name -> (how many numbers; dtypes that it may have).
_Expected = dict[str, tuple[int, tuple[str, ...]]]


def map_store(
    path: PathLike, *, verify: bool = False, writable: bool = True, progress: Progress | None = None
) -> Store:
    """Map a file: check its whole description, and leave the arrays on the disk until they are used.

    Parameters
    ----------
    path : str or PathLike
    verify : bool
        Also read every section, compare its checksum, and check that bools are 0 or 1. O(bytes) instead of O(1).
    writable : bool
        Return private, copy-on-write views of the file, which compiled code can write. False: read-only views, which
        can be page-locked without a copy.

    Returns
    -------
    Store

    Raises
    ------
    InvalidFormat
        Not such a file, another version, truncated, damaged, or with an inconsistent description; the message contains
        file and byte.
    """
    progress, name = checked_progress(progress), os.fspath(path)
    with open_to_read(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        text, total = _read_prelude(stream.read(DESCRIPTION_AT), stream, size, name)
    if size < total:
        raise InvalidFormat(f"{name}: byte {size}: expected {total} bytes, found the end of the file")
    if size > total:
        raise InvalidFormat(f"{name}: byte {total}: expected the end of the file, found {size - total} bytes more")
    try:
        description = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidFormat(f"{name}: byte {DESCRIPTION_AT}: expected a description in JSON, found: {error}") from error
    try:
        store, sections = _interpret(description, total, name, path, "c" if writable else "r")
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, DomainMismatch) as error:
        if isinstance(error, InvalidFormat):
            raise
        raise InvalidFormat(
            f"{name}: byte {DESCRIPTION_AT}: expected a whole description, found {type(error).__name__}: {error}"
        ) from error
    if verify:
        arrays = {**store.arrays, **store.label_arrays}
        for done, section in enumerate(sections):
            if checksum(arrays[section["name"]]) != section["crc32"]:
                raise InvalidFormat(
                    f"{name}: byte {section['offset']}: expected the {section['bytes']} bytes of section "
                    f"{section['name']!r} to have the checksum {section['crc32']}, found another: the file is damaged"
                )
            if section["name"] == "values" and (store.dtype == BOOL or is_record(store.dtype)):
                _check_bools(store.arrays["values"], section["offset"], name)
            if progress is not None:
                progress(f"verifying {name}", (done + 1) / len(sections))
        check_labels(store.labels, name)
    return store


def _check_bools(values: NDArray[Any], offset: int, name: str) -> None:
    """Raise InvalidFormat for a bool that is neither 0 nor 1, of numbers or within records."""
    content = values.view(np.uint8).reshape(values.size, values.dtype.itemsize)
    for leaf in leaves(values.dtype):
        if leaf.dtype == BOOL and (wrong := np.flatnonzero(content[:, leaf.offset] > 1)).size:
            at = int(wrong[0])
            where = offset + at * values.dtype.itemsize + leaf.offset
            raise InvalidFormat(f"{name}: byte {where}: expected a bool 0 or 1, found {content[at, leaf.offset]}")


def _read_prelude(start: bytes, stream: Any, size: int, name: str) -> tuple[bytes, int]:
    if start[: len(MAGIC)] != MAGIC:
        raise InvalidFormat(f"{name}: byte 0: expected a .srb file, which begins with {MAGIC!r}, found {start[:8]!r}")
    if len(start) < DESCRIPTION_AT:
        raise InvalidFormat(f"{name}: byte {len(start)}: expected {DESCRIPTION_AT} bytes of header, found the end")
    _, version, length, total, text_crc = PRELUDE.unpack(start[: PRELUDE.size])
    if version not in (VERSION, LABELED):
        raise InvalidFormat(f"{name}: byte 8: expected version {VERSION} or {LABELED} of the layout, found {version}")
    if PRELUDE_CRC.unpack(start[PRELUDE.size :])[0] != zlib.crc32(start[: PRELUDE.size]):
        raise InvalidFormat(f"{name}: byte {PRELUDE.size}: expected the checksum of the header, found another")
    if size < DESCRIPTION_AT + length:
        raise InvalidFormat(f"{name}: byte {size}: expected {length} bytes of description, found the end of the file")
    text = stream.read(length)
    if zlib.crc32(text) != text_crc:
        raise InvalidFormat(f"{name}: byte {DESCRIPTION_AT}: expected the description's checksum, found another")
    return text, total


def _interpret(
    description: dict[str, Any], total: int, name: str, path: PathLike, mode: Literal["c", "r"]
) -> tuple[Store, list[dict[str, Any]]]:
    """Return the store of a description, after a check of every number against the others."""

    def invalid(what: str, at: int = DESCRIPTION_AT) -> InvalidFormat:
        return InvalidFormat(f"{name}: byte {at}: {what}")

    def whole(what: str, number: Any, largest: int = _LARGEST) -> int:
        # JSON also has 1.5, true and numbers of any size.
        if type(number) is not int or not 0 <= number <= largest:
            raise invalid(f"expected an integer from 0 to {largest} as {what}, found {number!r}")
        return number

    kind, form = str(description["kind"]), str(description["format"])
    shape = tuple(whole("size", size) for size in description["shape"])
    nvals, dtype = whole("nvals", description["nvals"]), _value_type(description["dtype"])
    codec: Codec | None = description["codec"] if form in FORMATS and FORMATS[form].HAS_CODEC else None
    iso = None if description["iso"] is None else _iso_value(description["iso"], dtype, invalid)

    if len(shape) != {"matrix": 2, "vector": 1}.get(kind):
        raise invalid(f"expected a matrix or vector and its shape, found {kind} {list(shape)}")
    slots = math.prod(shape)
    filled = (kind, form) == ("vector", "full")
    if nvals > slots or (filled and nvals != slots):
        raise invalid(f"expected {'' if filled else 'at most '}{slots} entries, found {nvals}")
    facts = description["facts"]
    symmetric = facts.get("symmetric", False)
    if not isinstance(symmetric, bool) or (symmetric and (kind != "matrix" or shape[0] != shape[1])):
        raise invalid(f"expected facts that a {kind} {list(shape)} can have, found {facts}")
    if codec not in (None, *CODECS):
        raise invalid(f"expected one of the codecs {', '.join(CODECS)}, found {codec!r}")
    sections: list[dict[str, Any]] = description["sections"]
    for section in sections:
        for key in ("count", "offset", "bytes"):
            whole(f"{key} of section {section['name']!r}", section[key])
        whole(f"crc32 of section {section['name']!r}", section["crc32"], 2**32 - 1)
    counted = FORMATS[form].COUNTED if form in FORMATS else None
    elements = next((int(section["count"]) for section in sections if section["name"] == counted), 0)
    expected = _expected_sections(kind, form, shape, nvals, dtype, iso is not None, codec, elements)
    if expected is None:
        raise invalid(f"expected a format that this version reads, found the {kind} format {form!r}")

    label_sets = description.get("labels", [])
    counts = {section["name"]: int(section["count"]) for section in sections}
    expected |= label_arrays(label_sets, shape, lambda key: counts.get(key, 0))

    if [section["name"] for section in sections] != list(expected):
        raise invalid(f"expected sections {list(expected)}, found {[section['name'] for section in sections]}")
    arrays, offsets = {}, {}
    floor = DESCRIPTION_AT
    for section in sections:
        count, dtypes = expected[section["name"]]
        offset, length = int(section["offset"]), int(section["bytes"])
        if section["dtype"] not in dtypes or section["count"] != count:
            raise invalid(
                f"expected {count} numbers of type {' or '.join(dtypes)} in section {section['name']!r}, found "
                f"{section['count']} of type {section['dtype']}"
            )
        if length != count * np.dtype(section["dtype"]).itemsize:
            raise invalid(f"expected section {section['name']!r} to hold {count} numbers, found {length} bytes")
        if offset % PAGE_BYTES or offset < floor or offset + length > total:
            raise invalid(f"expected section {section['name']!r} on a page from {floor} to {total}, found {offset}")
        floor = offset + length
        offsets[section["name"]] = offset
        arrays[section["name"]] = _map_section(path, offset, count, np.dtype(section["dtype"]), mode)
    of_labels = {key: arrays.pop(key) for key in list(arrays) if key.startswith("labels")}
    labels = decode_sets(label_sets, of_labels, name)
    _as_records(arrays, dtype)
    stated = {section["name"]: int(section["crc32"]) for section in sections}
    store = Store(kind, form, shape, nvals, dtype, iso, arrays, dict(facts), codec, offsets, stated, labels, of_labels)
    wrong = FORMATS[form].wrong_ends(arrays, nvals, codec, shape) if kind == "matrix" else None
    if wrong is not None:
        message, section_name = wrong
        raise invalid(message, DESCRIPTION_AT if section_name is None else offsets[section_name])
    return store, sections


def _value_type(text: Any) -> np.dtype[Any]:
    """Return the type that a description names."""
    if isinstance(text, str) and text.startswith("("):
        try:
            return lookup(parsed(text))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
            raise DomainMismatch(f"{text!r} is no value type ({error})") from None
    found = lookup(text)
    if is_record(found):  # by a name, which another program may have given to another type
        raise DomainMismatch(f"{text!r} is no value type of a file")
    return found


def _as_records(arrays: dict[str, NDArray[Any]], dtype: np.dtype[Any]) -> None:
    """Give values that are records their fields; the bytes are shared."""
    if dtype.names is not None and "values" in arrays:
        little = arrays["values"].view(dtype.newbyteorder("<"))
        arrays["values"] = little if sys.byteorder == "little" else little.astype(dtype)


def _iso_value(text: Any, dtype: np.dtype[Any], invalid: Any) -> np.generic:
    """Return the iso value from its bytes in the description."""
    raw = bytes.fromhex(text)
    if len(raw) != dtype.itemsize or (dtype == BOOL and raw not in (b"\0", b"\1")):
        raise invalid(f"expected the {dtype.itemsize} bytes of a value of type {dtype.name} as iso, found {text!r}")
    return scalar(np.frombuffer(raw, dtype=dtype.newbyteorder("<")).astype(dtype), dtype)


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
    """Return the sections of a format, in order; None for an unknown format.

    elements: the length of a compressed stream, or of a list of rows, as the file states it; the other numbers do not
    determine it.
    """
    sections: _Expected
    slots = nvals
    if kind == "matrix" and form in FORMATS and (codec is not None) == FORMATS[form].HAS_CODEC:
        wanted = FORMATS[form].sections(shape[0], shape[1], nvals, codec, elements)
        slots = shape[0] * shape[1] if form == BitmapPattern.format else nvals
        # A file of uncompressed rows may have wider indices than necessary.
        sections = {
            name: (size, _INDEX_DTYPES if form == Pattern.format else (_little(dtype),))
            for name, (size, dtype) in wanted.items()
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
    if dtype.names is not None:
        return f"|V{dtype.itemsize}"
    return dtype.newbyteorder("<").str


def _map_section(
    path: PathLike, offset: int, count: int, dtype: np.dtype[Any], mode: Literal["c", "r"]
) -> NDArray[Any]:
    if not count:
        return np.empty(0, dtype=dtype.newbyteorder("="))
    try:
        with errors_naming(path):
            mapped: NDArray[Any] = np.memmap(path, dtype=dtype, mode=mode, offset=offset, shape=(count,))
    except OSError as error:
        if error.errno == errno.ENOMEM:  # no room in the address space
            raise MemoryError(f"mapping {os.fspath(path)}") from error
        raise
    return mapped.view(np.ndarray)
