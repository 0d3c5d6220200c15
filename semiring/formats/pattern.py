"""The structure of a sparse matrix: which entries are stored, without their values.

Patterns are immutable and shared: every matrix that differs only in values (a cast, an `apply`, an
iso-valued view) holds the same pattern, and so shares what has been derived from it.  So a cached
transpose is never stale: a matrix that changes has another pattern.

There are two kinds, uncompressed (`Pattern`) and compressed (`semiring.formats.ccsr.CompressedPattern`).
Both have the attributes ``nrows ncols nvals indptr facts placement format kind device nbytes to``.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from ..memory.arrays import Array, device_of, to_device
from ..memory.placement import Placement
from .kinds import StorageKind, storage_kind
from .records import derived, record


@record
class Pattern:
    """Compressed sparse rows without values.

    Row ``i`` holds the columns ``indices[indptr[i]:indptr[i + 1]]``, ascending, without duplicates.

    nrows, ncols: the shape.
    indptr: ``nrows + 1`` offsets, from 0 to ``nvals``; `index_dtype(nvals)`; in the device's memory.
    indices: ``nvals`` columns; `index_dtype(ncols)`; stored according to `placement`: for ``"pinned"`` on a GPU a CuPy
        array over host memory, for ``"host"`` a NumPy array.
    facts: what has been derived so far; a pattern never changes, so it stays valid: ``"symmetric"`` (bool),
        ``"transpose"`` (a pattern), and data of one engine (keys that start with the engine's name).
    """

    nrows: int
    ncols: int
    indptr: Array
    indices: Array
    facts: dict[str, Any] = field(default_factory=dict, repr=False)
    placement: Placement = "device"

    format: Literal["csr"] = field(default="csr", init=False, repr=False)

    @derived
    def nvals(self) -> int:
        """The number of stored entries."""
        return int(self.indices.size)

    @derived
    def kind(self) -> StorageKind:
        """Format, codec and placement."""
        return storage_kind("csr", "none", self.placement)

    @derived
    def device(self) -> str:
        """The device that computes with it: ``"cpu"`` or ``"cuda"``."""
        return device_of(self.indptr)

    @property
    def nbytes(self) -> int:
        """Bytes of both arrays, in any memory."""
        return int(self.indptr.nbytes + self.indices.nbytes)

    def to(self, device: str) -> Pattern:
        """Return the same pattern in the memory of another device; facts that hold no arrays are copied."""
        if device == self.device and self.placement == "device":
            return self
        return Pattern(
            self.nrows, self.ncols, to_device(self.indptr, device), to_device(self.indices, device), scalar_facts(self)
        )


def scalar_facts(pattern: Any) -> dict[str, Any]:
    """Return the facts that hold no arrays; they are valid for the same structure in any format and placement."""
    return {key: value for key, value in pattern.facts.items() if isinstance(value, (bool, int))}


def offset_facts(pattern: Any) -> dict[str, Any]:
    """Return the facts that stay valid where only the entries move: `scalar_facts`, and those from offsets alone.

    A class of facts that depends on row offsets alone has ``from_offsets = True`` (the row degrees, for example); one
    that holds addresses or copies of the entries has not.
    """
    kept = {key: value for key, value in pattern.facts.items() if getattr(value, "from_offsets", False) is True}
    return {**scalar_facts(pattern), **kept}
