"""The structure of a sparse matrix: which entries are stored, without their values.

Patterns are immutable and shared: every matrix that differs only in values (a cast, an `apply`, an
iso-valued view) holds the same pattern, and so shares what has been derived from it.  So a cached
transpose is never stale: a matrix that changes has another pattern.

Each format is a subclass of `AnyPattern`; `formats.FORMATS` lists them.  Code that does not read columns uses the
attributes of `AnyPattern` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np

from ..memory.arrays import Array, device_of, index_dtype, to_device
from ..memory.placement import Placement, placed
from .kinds import StorageKind, storage_kind
from .records import derived, record


class AnyPattern:
    """What patterns of all formats have.

    format: the name of the format.
    ARRAYS: the names of the arrays, in the order of a file.
    ENTRIES: the name of the array that is stored according to `placement`; the others are always in the device's
        memory.  None for a format without such an array: `placement` is then that of the values alone.
    COUNTED: the name of the array whose length a file states, where shape, nvals and codec do not determine it.
    HAS_CODEC: True if the entries are encoded by a codec.
    READ_BY_ENGINES: True if engines read the entries as columns or through a codec.  Any other format needs an
        implementation of `Slices` that accepts it, on each engine.
    nrows, ncols, nvals: shape and number of entries.
    indptr: ``nrows + 1`` offsets of entries, from 0 to ``nvals``; `index_dtype(nvals)`.
    facts: what has been derived so far; a pattern never changes, so it stays valid: ``"symmetric"`` (bool),
        ``"transpose"`` (a pattern), and data of one engine (keys that start with the engine's name).
    every_row: True if all positions hold a value, in the order of positions.
    by_position: True if the value at (i, j) is in slot ``i ncols + j``, whether or not all positions hold one.
    codec: the name of the codec that decodes the entries; None if columns are stored as numbers.
    base, at: anchors and offsets of the tiles that the entries are stored in (`formats.ccsr`); None if entry p is
        element p.
    """

    format: ClassVar[str]
    ARRAYS: ClassVar[tuple[str, ...]]
    ENTRIES: ClassVar[str | None]
    COUNTED: ClassVar[str | None] = None
    HAS_CODEC: ClassVar[bool] = False
    READ_BY_ENGINES: ClassVar[bool] = False

    nrows: int
    ncols: int
    nvals: int
    indptr: Array
    facts: dict[str, Any]
    placement: Placement
    every_row: bool = False
    by_position: bool = False
    codec: str | None
    base: Array
    at: Array

    @classmethod
    def sections(
        cls, nrows: int, ncols: int, nvals: int, codec: str | None, elements: int
    ) -> dict[str, tuple[int, np.dtype[Any]]]:
        """Return the size and the dtype of each array of `ARRAYS`, if ``COUNTED`` has so many elements."""
        raise NotImplementedError

    @classmethod
    def wrong_ends(
        cls, arrays: Mapping[str, Array], nvals: int, codec: str | None, shape: tuple[int, ...]
    ) -> tuple[str, str | None] | None:
        """Check the first and the last offsets; return (expected and found, name of the array or None), or None."""
        first, last = int(arrays["indptr"][0]), int(arrays["indptr"][-1])
        if (first, last) != (0, nvals):
            return f"expected offsets from 0 to {nvals}, found {first} to {last}", "indptr"
        return None

    @classmethod
    def of_arrays(
        cls,
        nrows: int,
        ncols: int,
        nvals: int,
        codec: str | None,
        arrays: Mapping[str, Array],
        facts: dict[str, Any],
        placement: Placement,
    ) -> Self:
        """Return the pattern with these arrays, which have the names of `ARRAYS`."""
        raise NotImplementedError

    def around(self, begin: int, end: int, col: int) -> tuple[AnyPattern, int]:
        """Return a pattern whose row 1 is the part of row [begin, end) in the tile around `col`, and its first entry.

        Only formats that store the entries in tiles have it.
        """
        raise NotImplementedError

    @derived
    def entries(self) -> Array:
        """The array that is stored according to `placement`."""
        assert self.ENTRIES is not None
        return getattr(self, self.ENTRIES)

    @property
    def slots(self) -> int:
        """The number of values of a matrix that is not iso-valued: one for each entry, or for each position."""
        return self.nvals

    @property
    def offset_rows(self) -> int:
        """The number of rows that have an offset in memory."""
        return self.nrows

    @derived
    def kind(self) -> StorageKind:
        """Format, codec and placement."""
        return storage_kind(self.format, self.codec or "none", self.placement)

    @derived
    def device(self) -> str:
        """The device that computes with it: ``"cpu"`` or ``"cuda"``."""
        return device_of(self.indptr)

    @derived
    def nbytes(self) -> int:
        """Bytes of all arrays, in any memory."""
        return sum(int(getattr(self, name).nbytes) for name in self.ARRAYS)

    def to(self, device: str) -> Self:
        """Return the same pattern in the memory of another device; facts that hold no arrays are copied."""
        if device == self.device and self.placement == "device":
            return self
        arrays = {name: to_device(getattr(self, name), device) for name in self.ARRAYS}
        return self.with_arrays(arrays, scalar_facts(self), "device")

    def placed(self, placement: Placement, device: str) -> Self:
        """Return the same pattern with this placement of its entries, for `device`; see `formats.placement.place`."""
        facts = offset_facts(self) if self.device == device else scalar_facts(self)
        arrays = {name: to_device(getattr(self, name), device) for name in self.ARRAYS if name != self.ENTRIES}
        assert self.ENTRIES is not None
        arrays[self.ENTRIES] = placed(self.entries, placement, device)
        return self.with_arrays(arrays, facts, placement)

    def with_arrays(self, arrays: Mapping[str, Array], facts: dict[str, Any], placement: Placement) -> Self:
        """Return the same structure with other arrays, which have the names of `ARRAYS`."""
        return self.of_arrays(self.nrows, self.ncols, self.nvals, self.codec, arrays, facts, placement)


@record
class Pattern(AnyPattern):
    """Compressed sparse rows without values.

    Row ``i`` holds the columns ``indices[indptr[i]:indptr[i + 1]]``, ascending, without duplicates.

    nrows, ncols: the shape.
    indptr: ``nrows + 1`` offsets, from 0 to ``nvals``; `index_dtype(nvals)`; in the device's memory.
    indices: ``nvals`` columns; `index_dtype(ncols)`; stored according to `placement`: for ``"pinned"`` on a GPU a CuPy
        array over host memory, for ``"host"`` a NumPy array.
    facts: see `AnyPattern`.
    """

    format = "csr"
    ARRAYS = ("indptr", "indices")
    ENTRIES = "indices"
    READ_BY_ENGINES = True
    codec = None
    base = at = None

    nrows: int
    ncols: int
    indptr: Array
    indices: Array
    facts: dict[str, Any] = field(default_factory=dict, repr=False)
    placement: Placement = "device"

    @derived
    def nvals(self) -> int:
        """The number of stored entries."""
        return int(self.indices.size)

    @classmethod
    def sections(
        cls, nrows: int, ncols: int, nvals: int, codec: str | None, elements: int
    ) -> dict[str, tuple[int, np.dtype[Any]]]:
        """Return the size and the dtype of each array."""
        return {"indptr": (nrows + 1, index_dtype(nvals)), "indices": (nvals, index_dtype(ncols))}

    @classmethod
    def of_arrays(
        cls,
        nrows: int,
        ncols: int,
        nvals: int,
        codec: str | None,
        arrays: Mapping[str, Array],
        facts: dict[str, Any],
        placement: Placement,
    ) -> Self:
        """Return the pattern with these arrays."""
        return cls(nrows, ncols, arrays["indptr"], arrays["indices"], facts, placement)


def scalar_facts(pattern: AnyPattern) -> dict[str, Any]:
    """Return the facts that hold no arrays; they are valid for the same structure in any format and placement."""
    return {key: value for key, value in pattern.facts.items() if isinstance(value, (bool, int))}


def offset_facts(pattern: AnyPattern) -> dict[str, Any]:
    """Return the facts that stay valid where only the entries move: `scalar_facts`, and those from offsets alone.

    A class of facts that depends on row offsets alone has ``from_offsets = True`` (the row degrees, for example); one
    that holds addresses or copies of the entries has not.
    """
    kept = {key: value for key, value in pattern.facts.items() if getattr(value, "from_offsets", False) is True}
    return {**scalar_facts(pattern), **kept}
