"""``.srb`` files as a wrong or hostile program would write them: other contents under correct checksums."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

_PAGE = 4096


def description_of(raw: bytes) -> dict[str, Any]:
    """The description of a file."""
    length = struct.unpack_from("<I", raw, 12)[0]
    found: dict[str, Any] = json.loads(raw[32 : 32 + length])
    return found


def with_description(raw: bytes, text: bytes, *, total: int | None = None) -> bytes:
    """The file with another description of at most a page."""
    prelude = struct.pack("<8sIIQI", raw[:8], 1, len(text), len(raw) if total is None else total, zlib.crc32(text))
    head = prelude + struct.pack("<I", zlib.crc32(prelude)) + text
    return head.ljust(_PAGE, b"\0") + raw[_PAGE:] if len(raw) > _PAGE else head


def forged(raw: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """The file with its description changed in place by `change`, and the sections' checksums correct."""
    description = description_of(raw)
    for section in description["sections"]:
        content = raw[section["offset"] : section["offset"] + section["bytes"]]
        section["crc32"] = zlib.crc32(content)
    change(description)
    return with_description(raw, json.dumps(description).encode())
