"""Stores of which every process of a grid holds a part: a block of a matrix, a segment of a vector.

A store of parts has the shape, the type and the cached facts of the whole object, and one ordinary store: the part of
this process.  Which rows and columns that part covers follows from the shape of the object and of the grid alone
(`semiring.distributed.Grid`), so objects of one shape have matching parts.  The executor of their device computes with
them (`semiring.devices`); nothing else reads their arrays, and the stand-ins for these arrays raise NotSupported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, NoReturn, Self

import numpy as np

from ..devices import moved
from ..exceptions import NotSupported
from ..formats import AnyPattern, StorageKind, VectorStore, with_values
from ..formats.kinds import storage_kind
from ..formats.pattern import scalar_facts
from ..formats.records import derived, record
from ..memory.arrays import Array
from ..memory.placement import Placement


class Elsewhere:
    """Stands for an array of the whole object, which no process holds."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotSupported(
            "this needs an array of the whole object, and each process holds a part of it; "
            "use semiring.distributed.gather"
        )


class PartValues(Elsewhere):
    """The values of one block: `part`, an array, or one value that all entries of the block share."""

    def __init__(self, array: Array | None, iso: np.generic | None) -> None:
        super().__init__(0 if array is None else int(array.nbytes))
        self.part, self.iso = array, iso


class Sum:
    """The sum of a number over all processes, computed when it is first read.  Reading is collective."""

    def __init__(self, grid: Any, part: Any) -> None:
        self._grid, self._part = grid, part

    @derived
    def value(self) -> int:
        """The sum."""
        return int(self._grid.all_reduce_sum(int(self._part.nvals)))


@record
class PartPattern(AnyPattern):
    """The structure of a matrix, of which this process holds one block.

    grid: the processes, and which rows and columns each block covers.  part: the block, a pattern of any format.
    """

    format = "parts"
    ARRAYS = ()
    ENTRIES = None
    base = at = None

    grid: Any
    nrows: int
    ncols: int
    part: AnyPattern
    facts: dict[str, Any] = field(default_factory=dict, repr=False)

    @derived
    def count(self) -> Sum:
        """The number of entries of all blocks."""
        return Sum(self.grid, self.part)

    @property
    def nvals(self) -> int:  # type: ignore[override]
        """The number of stored entries.  Collective the first time."""
        return self.count.value

    @property
    def indptr(self) -> Any:
        """No process has the offsets of all rows."""
        return Elsewhere(0)

    @property
    def codec(self) -> str | None:  # type: ignore[override]
        """The codec of the block, which has the same one on all processes."""
        return self.part.codec

    @property
    def placement(self) -> Placement:  # type: ignore[override]
        """Where the entries of the block reside."""
        return self.part.placement

    def with_block(self, part: AnyPattern) -> PartPattern:
        """Return the same structure, with all that is known of it, where a process has its block in another object."""
        if part is self.part:
            return self
        made = PartPattern(self.grid, self.nrows, self.ncols, part, self.facts)
        made.__dict__["count"] = self.count
        return made

    @derived
    def kind(self) -> StorageKind:
        """The format, with the codec and the placement of the block."""
        return storage_kind(self.format, self.codec or "none", self.part.placement)

    @derived
    def device(self) -> str:
        """The device of the grid."""
        device: str = self.grid.device
        return device

    @derived
    def nbytes(self) -> int:
        """Bytes of the arrays of the block."""
        return self.part.nbytes

    def to(self, device: str) -> Self:
        """Only the same device."""
        if device == self.device:
            return self
        raise NotSupported(f"the structure of a matrix on {self.device} has no form on {device!r}")

    def placed(self, placement: Placement, device: str) -> Self:
        """Return the same pattern with another placement of its block."""
        part = self.part.placed(placement, self.grid.local)
        return type(self)(self.grid, self.nrows, self.ncols, part, scalar_facts(self))

    def with_arrays(self, arrays: Mapping[str, Array], facts: dict[str, Any], placement: Placement) -> Self:
        """Only the arrays of a block can be replaced."""
        raise NotSupported("a matrix on a grid of processes has no arrays of its own")


@record
class PartVector(VectorStore):
    """A vector of which this process holds one segment.

    iso: the value that all entries of all segments are known to share, else None; a segment may share one all the same.
    """

    grid: Any
    size: int
    dtype: np.dtype[Any]
    part: Any
    iso: np.generic | None = None

    format = "parts"

    @derived
    def count(self) -> Sum:
        """The number of entries of all segments."""
        return Sum(self.grid, self.part)

    @property
    def nvals(self) -> int:
        """The number of stored entries.  Collective the first time."""
        return self.count.value

    @property
    def values(self) -> Any:  # type: ignore[override]
        """The values of the segment, for those who pass them on."""
        return None if self.iso is not None else PartValues(self.part.values, self.part.iso)

    @property
    def indices(self) -> Any:
        """No process has the indices of all entries."""
        return Elsewhere(0)

    @property
    def words(self) -> Any:
        """No process has the presence bits of all positions."""
        return Elsewhere(0)

    @derived
    def device(self) -> str:
        """The device of the grid."""
        device: str = self.grid.device
        return device

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays of the segment."""
        return int(self.part.nbytes)

    def to(self, device: str) -> Self:
        """Return the same vector on another device; whole, if that is no grid."""
        return self if device == self.device else moved(self, device)

    def with_values(self, dtype: np.dtype[Any], values: Any, iso: np.generic | None) -> Self:
        """Return a vector with the values of another one, or with one value."""
        if iso is None and not isinstance(values, PartValues):
            raise NotSupported("the values of a vector on a grid of processes are replaced by operations alone")
        own = (None, iso) if iso is not None else (values.part, values.iso)
        return type(self)(self.grid, self.size, dtype, with_values(self.part, dtype, *own), iso)
