"""The structure of a sparse matrix: which entries are stored, without their values.

Patterns are immutable and shared: every matrix that differs only in values (a cast, an `apply`, an
iso-valued view) holds the same pattern, and so shares what has been derived from it.  That is why a
cached transpose can never be stale: a matrix that changes has another pattern.

There are two kinds, plain (`Pattern`) and compressed (`semiring.formats.ccsr.CompressedPattern`).  What
both offer: ``nrows ncols nvals indptr facts placement format kind device nbytes to``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from ..memory.arrays import Array, device_of, to_device
from ..memory.placement import Placement
from .kinds import StorageKind, storage_kind


@dataclass(frozen=True, eq=False)
class Pattern:
    """Compressed sparse rows without values.

    Row ``i`` holds the columns ``indices[indptr[i]:indptr[i + 1]]``, ascending, without duplicates.

    nrows, ncols: the shape.
    indptr: ``nrows + 1`` offsets, from 0 to ``nvals``; `index_dtype(nvals)`; in the device's memory.
    indices: ``nvals`` columns; `index_dtype(ncols)`; where `placement` says: for ``"pinned"`` on a GPU a CuPy array
        over host memory, for ``"host"`` a NumPy array.
    facts: what has been derived so far and stays true for ever: ``"symmetric"`` (bool), ``"transpose"``
        (a pattern), and what an engine derives for itself (its keys start with
        the engine's name).
    """

    nrows: int
    ncols: int
    indptr: Array
    indices: Array
    facts: dict[str, Any] = field(default_factory=dict, repr=False)
    placement: Placement = "device"

    format: Literal["csr"] = field(default="csr", init=False, repr=False)

    @property
    def nvals(self) -> int:
        """The number of stored entries."""
        return int(self.indices.size)

    @property
    def kind(self) -> StorageKind:
        """Format, codec and placement."""
        return storage_kind("csr", "none", self.placement)

    @property
    def device(self) -> str:
        """The device that computes with it: ``"cpu"`` or ``"cuda"``."""
        return device_of(self.indptr)

    @property
    def nbytes(self) -> int:
        """Bytes of both arrays, wherever they lie."""
        return int(self.indptr.nbytes + self.indices.nbytes)

    def to(self, device: str) -> Pattern:
        """The same pattern in the memory of another device; facts that hold no arrays travel along."""
        if device == self.device and self.placement == "device":
            return self
        return Pattern(
            self.nrows, self.ncols, to_device(self.indptr, device), to_device(self.indices, device), plain_facts(self)
        )


def plain_facts(pattern: Any) -> dict[str, Any]:
    """The facts that hold no arrays, and so are true of the same structure in any form and place."""
    return {key: value for key, value in pattern.facts.items() if isinstance(value, (bool, int))}


def kept_facts(pattern: Any) -> dict[str, Any]:
    """The facts that stay true where only the entries move: `plain_facts`, and arrays derived from the rows alone.

    A class of facts says so of itself by ``of_rows = True`` (the degrees of the rows, for one).  What holds addresses
    or copies of the entries does not.
    """
    kept = {key: value for key, value in pattern.facts.items() if getattr(value, "of_rows", False) is True}
    return {**plain_facts(pattern), **kept}
