"""``.srb``: the arrays of a matrix or vector in their memory layout, opened by mapping the file.

A text file of a billion edges takes minutes to parse; the same matrix in this format is usable after some milliseconds,
and its bytes are read from the disk on first access.  (Reading: :mod:`semiring.io.srb_reading`.)

Layout, all numbers little-endian
---------------------------------
====== ===== ==========================================================================================
byte   size  content
====== ===== ==========================================================================================
0      8     magic ``89 53 52 42 0D 0A 1A 0A`` (a transfer as text would change it)
8      4     version of the layout: 1, or 2 of a file with labels
12     4     bytes of the description, d
16     8     bytes of the whole file
24     4     CRC-32 of the description
28     4     CRC-32 of bytes 0 to 27
32     d     the description: JSON in UTF-8
====== ===== ==========================================================================================

Sections follow, each at a multiple of 4096 bytes (a page), with zeros between. The description is an object with

``kind``      ``"matrix"`` or ``"vector"``
``format``    for matrices ``"csr"``, ``"ccsr"`` (compressed rows), ``"full"`` (rows with all columns or none),
              ``"bitmap"`` or ``"hypersparse"`` (a list of the rows that have entries); for vectors ``"index"``,
              ``"bitmap"`` or ``"full"``. A reader rejects formats that it does not support.
``codec``     only for ``"ccsr"``: the name of a codec, for example ``"varint"``
``shape``     ``[nrows, ncols]`` or ``[size]``
``nvals``     number of stored entries
``dtype``     name of the value type, as in NumPy; of a record, the tuple (names, types, offsets, size) as Python text
``iso``       null, or the bytes (hexadecimal) of the value that all entries share; then there is no section ``values``
``facts``     computed properties of the matrix: ``{"symmetric": true}`` (or false), or nothing; a reader checks them,
              or documents that it trusts them
``labels``    only of a file with labels: a list of descriptions of label sets (:mod:`semiring.io.label_sets`)
``sections``  a list of ``{"name", "dtype", "count", "offset", "bytes", "crc32"}``, in this order:

========= =====================================================================================================
format    sections
========= =====================================================================================================
csr       ``indptr`` (nrows + 1), ``indices`` (nvals), ``values`` (nvals)
ccsr      ``indptr`` (nrows + 1), ``base`` (a tile), ``at`` (a tile, and one more), ``stream``, ``values`` (nvals)
hyper-    ``rows`` (listed rows), ``offsets`` (listed rows + 1), ``indices`` (nvals), ``values`` (nvals)
sparse
index     ``indices`` (nvals), ``values`` (nvals)
bitmap    ``words`` (a bit a position, 32 to a word), ``values`` (a position; of a matrix in row-major order)
full      of a matrix ``indptr`` (nrows + 1), ``values`` (nvals); of a vector ``values`` (size)
========= =====================================================================================================

The arrays of label sets follow, as :mod:`semiring.io.label_sets` names them.

Tiles are defined in :mod:`semiring.formats.ccsr`, the elements of the stream in :mod:`semiring.formats.codecs`; the
padding after a stream is part of its section.  For compressed rows ``indptr`` is ``<i4`` below 2^31 entries, else
``<i8``, and ``base`` likewise by columns; ``at`` is ``<u4`` below 2^32 elements of the stream, else ``<i8``; ``stream``
has the element type of its codec.
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

from semiring.formats import Codec
from semiring.io.atomic import atomic_writer
from semiring.io.files import PathLike, Progress, checked_progress
from semiring.io.label_sets import encode_sets
from semiring.labels import Labels
from semiring.record_types import spelled

__all__ = ["LABELED", "MAGIC", "VERSION", "Store", "checksum", "write_store"]

MAGIC: Final = b"\x89SRB\r\n\x1a\n"
VERSION: Final = 1
# Of files with labels: those without are the same as before, and earlier programs read them.
LABELED: Final = 2
PAGE_BYTES: Final = 4096

PRELUDE: Final = struct.Struct("<8sIIQI")
PRELUDE_CRC: Final = struct.Struct("<I")
DESCRIPTION_AT: Final = PRELUDE.size + PRELUDE_CRC.size
_CHUNK_BYTES: Final = 1 << 24


@dataclass(frozen=True, eq=False)
class Store:
    """The description of a file, with its arrays.

    Attributes
    ----------
    kind, format : str
    shape : tuple of int
    nvals : int
    dtype : numpy.dtype
    iso : NumPy scalar or None
    arrays : mapping from section name to array
    facts : mapping
    codec : str or None
        The codec of compressed rows.
    offsets : mapping from section name to its first byte in the file
        Empty for a store without a file.
    checksums : mapping from section name to the CRC-32 of its bytes, as the file states it
        Empty for a store without a file.
    labels : mapping from what they name (``rows``, ``columns``, ``values``) to Labels
    label_arrays : mapping from section name to array, of the labels in a file
    """

    kind: str
    format: str
    shape: tuple[int, ...]
    nvals: int
    dtype: np.dtype[Any]
    iso: np.generic | None
    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    codec: Codec | None = None
    offsets: Mapping[str, int] = field(default_factory=dict)
    checksums: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, Labels] = field(default_factory=dict)
    label_arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def write_store(path: PathLike, store: Store, progress: Progress | None = None) -> None:
    """Write a store to a file, atomically. O(bytes)."""
    progress = checked_progress(progress)
    label_sets, label_arrays = encode_sets("write_srb", store.labels)
    arrays = {**store.arrays, **label_arrays}
    sections = [section(name, array.dtype, array.size) for name, array in arrays.items()]
    for about, array in zip(sections, arrays.values(), strict=True):
        about["crc32"] = checksum(_content(array))
    description = describe(store, sections, label_sets)
    place_sections(description)
    head, total = header(description)
    with atomic_writer(path) as stream:
        stream.write(head)
        position = len(head)
        for about, array in zip(sections, arrays.values(), strict=True):
            stream.write(bytes(about["offset"] - position))
            content = _content(array).reshape(-1).view(np.uint8).data
            for start in range(0, len(content), _CHUNK_BYTES):
                stream.write(content[start : start + _CHUNK_BYTES])
                if progress is not None:
                    progress(f"writing {os.fspath(path)}", (about["offset"] + start) / total)
            position = about["offset"] + len(content)


def section(name: str, dtype: np.dtype[Any], count: int) -> dict[str, Any]:
    """Return the description of a section, without offset and checksum."""
    size = int(count)
    nbytes = size * dtype.itemsize
    return {"name": name, "dtype": _little_type(dtype).str, "count": size, "offset": 0, "bytes": nbytes, "crc32": 0}


def describe(store: Store, sections: list[dict[str, Any]], label_sets: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the description of a store with these sections and label sets; its arrays are not read."""
    return {
        "kind": store.kind,
        "format": store.format,
        **({} if store.codec is None else {"codec": store.codec}),
        "shape": list(store.shape),
        "nvals": store.nvals,
        "dtype": spelled(store.dtype),
        "iso": None if store.iso is None else _little(store.iso).tobytes().hex(),
        "facts": dict(store.facts),
        **({"labels": label_sets} if label_sets else {}),
        "sections": sections,
    }


def place_sections(description: dict[str, Any]) -> None:
    """Set the offsets of the sections, for any checksums."""
    sections: list[dict[str, Any]] = description["sections"]
    # The description contains the offsets, which depend on its length: measure it with the longest numbers.
    longest = [{**about, "offset": 2**63, "crc32": 2**32 - 1} for about in sections]
    offset = _page_after(DESCRIPTION_AT + len(json.dumps({**description, "sections": longest})))
    for about in sections:
        about["offset"] = offset
        offset = _page_after(offset + about["bytes"])


def header(description: dict[str, Any]) -> tuple[bytes, int]:
    """Return the bytes before the first section, and those of the whole file."""
    text = json.dumps(description).encode()
    ends = [about["offset"] + about["bytes"] for about in description["sections"]]
    total = max(ends, default=DESCRIPTION_AT + len(text))
    version = LABELED if "labels" in description else VERSION
    prelude = PRELUDE.pack(MAGIC, version, len(text), total, zlib.crc32(text))
    return prelude + PRELUDE_CRC.pack(zlib.crc32(prelude)) + text, total


def checksum(array: NDArray[Any]) -> int:
    """Return the CRC-32 of an array's bytes."""
    content = array.reshape(-1).view(np.uint8).data
    value = 0
    for start in range(0, len(content), _CHUNK_BYTES):
        value = zlib.crc32(content[start : start + _CHUNK_BYTES], value)
    return value


def _little(scalar: np.generic) -> NDArray[Any]:
    return _content(np.array(scalar))


def _content(array: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers as a file holds them: contiguous, in little-endian byte order."""
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))


def _little_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of a section: of records, so many bytes, as the description has their fields."""
    return np.dtype((np.void, dtype.itemsize)) if dtype.names is not None else dtype.newbyteorder("<")


def _page_after(offset: int) -> int:
    return -(-offset // PAGE_BYTES) * PAGE_BYTES
