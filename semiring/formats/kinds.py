"""Storage kinds: the format, the codec and the placement of a matrix, three properties that vary independently."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from ..memory.placement import Placement


class StorageKind(NamedTuple):
    """How one matrix is stored.

    format: a name of `formats.FORMATS`.  codec: its name, or ``"none"``.
    placement: see `Placement`.
    """

    format: str
    codec: str
    placement: Placement

    @property
    def addressable(self) -> bool:
        """True if kernels can read the entries where they are stored."""
        return self.placement != "host"

    @property
    def uncompressed(self) -> bool:
        """True for uncompressed rows that kernels can read where they are stored."""
        return self.format == "csr" and self.placement != "host"


@functools.cache
def storage_kind(format: str, codec: str, placement: Any) -> StorageKind:
    """The one `StorageKind` object of these properties."""
    return StorageKind(format, codec, placement)
