"""Stores of which every process of a grid holds a part: a block of a matrix, a piece of a vector.

A store of parts has the shape, the type and the cached facts of the whole object, and one ordinary store: the part of
this process.  Which rows and columns that part covers follows from the shape of the object and of the grid alone
(`ProcessGrid`), so objects of one shape have matching parts.  `semiring.distributed` computes with them; nothing else
reads their arrays, and the stand-ins for these arrays raise NotSupported.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Any, ClassVar, Literal, NoReturn, ParamSpec, Self, TypeVar, cast

import numpy as np

from .. import config
from ..exceptions import NotSupported
from ..memory.arrays import Array, local_device
from ..memory.placement import Placement
from .kinds import StorageKind, storage_kind
from .pattern import AnyPattern, scalar_facts
from .records import derived, record

P = ParamSpec("P")
T = TypeVar("T")

# Pieces of at least so many positions begin at multiples of 32, so that bitmaps of pieces are joined by words.
_ALIGNED = 1024
_WORD = 32


@functools.lru_cache
def piece_bounds(extent: int, count: int) -> tuple[int, ...]:
    """Return the ``count + 1`` bounds of the pieces of `extent` positions, of nearly equal sizes."""
    size = -(-extent // count)
    if size >= _ALIGNED:
        size = -(-size // _WORD) * _WORD
    return tuple(min(k * size, extent) for k in range(count + 1))


class ProcessGrid(ABC):
    """Processes in `shape` rows and columns, and the partition of every object over them.

    With p = shape[0] * shape[1] processes each dimension has p pieces (`piece_bounds`).  Process (i, j), of rank
    ``i * shape[1] + j``, holds piece `rank` of a vector; of a matrix the block of the pieces of rows
    ``i * shape[1] ... (i + 1) * shape[1]`` and the pieces of columns ``j * shape[0] ... (j + 1) * shape[0]``.
    So the rows of a block are the pieces of the processes beside it, and blocks of a square grid transpose in pairs.

    device: the name of objects on this grid, such as ``"2x2 cpu"``.  local: the device of the parts.
    """

    device: str
    local: str
    shape: tuple[int, int]
    rank: int

    @property
    def size(self) -> int:
        """The number of processes."""
        return self.shape[0] * self.shape[1]

    @property
    def place(self) -> tuple[int, int]:
        """The row and the column of this process."""
        return divmod(self.rank, self.shape[1])

    def piece(self, extent: int, rank: int | None = None) -> tuple[int, int]:
        """Return the first and the last + 1 position of the piece of a process.

        Parameters
        ----------
        extent : the size of the dimension
        rank : of the process; by default of this one

        Examples
        --------
        >>> sr.distributed.run(2, lambda grid: grid.piece(10))
        [(0, 5), (5, 10)]
        """
        bounds, k = piece_bounds(extent, self.size), self.rank if rank is None else rank
        return bounds[k], bounds[k + 1]

    def rows(self, nrows: int, rank: int | None = None) -> tuple[int, int]:
        """Return the first and the last + 1 row of the block of a process.

        Parameters
        ----------
        nrows : of the matrix
        rank : of the process; by default of this one

        Examples
        --------
        >>> sr.distributed.run(4, lambda grid: grid.rows(10))
        [(0, 6), (0, 6), (6, 10), (6, 10)]
        """
        bounds, width = piece_bounds(nrows, self.size), self.shape[1]
        i = (self.rank if rank is None else rank) // width
        return bounds[i * width], bounds[(i + 1) * width]

    def cols(self, ncols: int, rank: int | None = None) -> tuple[int, int]:
        """Return the first and the last + 1 column of the block of a process.

        Parameters
        ----------
        ncols : of the matrix
        rank : of the process; by default of this one

        Examples
        --------
        >>> sr.distributed.run(4, lambda grid: grid.cols(10))
        [(0, 6), (6, 10), (0, 6), (6, 10)]
        """
        bounds, height = piece_bounds(ncols, self.size), self.shape[0]
        j = (self.rank if rank is None else rank) % self.shape[1]
        return bounds[j * height], bounds[(j + 1) * height]

    @abstractmethod
    def part(self, store: Any) -> Any:
        """Return the part of a store that this process holds, with positions of its own."""

    @abstractmethod
    def with_part(self, store: Any, part: Any) -> Any:
        """Return a matrix store of parts with another block of the same entries."""

    @abstractmethod
    def take(self, store: Any) -> Any:
        """Return the store of parts of an object that every process has as a whole."""

    @abstractmethod
    def whole(self, store: Any) -> Any:
        """Return the whole of a store of parts, on every process.  Collective."""

    @abstractmethod
    def replica(self, store: Any, *, values: bool) -> Any:
        """Return the whole of a matrix, kept with it; None if a process has no memory for it.  Collective."""

    @abstractmethod
    def sum(self, store: Any, monoid: Any) -> Any:
        """Return the store of parts of the sum of objects, of which each process has one as a whole.  Collective."""

    @abstractmethod
    def spread(self, u: Any, shape: tuple[int, int], at: Callable[[Array], tuple[Array, Array]]) -> Any:
        """Return the matrix with t(at(i)) = u(i) for the entries of a vector.  Collective.

        at: the rows and columns, of int64, for the indices of entries of this process, which are of int64 too.
        """

    @abstractmethod
    def found(self, value: Any) -> Any:
        """Return the value of the process that has one, None if none has.  Collective."""

    @abstractmethod
    def joint(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return ``function(*args, **kwargs)``; raise on all processes if it raises on one.  Collective."""

    @abstractmethod
    def together(self, function: Callable[[], T]) -> T:
        """Return what the function returns on this process, once it has returned on all.  Collective."""

    @abstractmethod
    def agreed(self, flag: bool) -> bool:
        """Return whether the flag is set on all processes.  Collective."""

    @abstractmethod
    def total(self, count: int) -> int:
        """Return the sum of the counts of all processes.  Collective."""

    @abstractmethod
    def account(self) -> AbstractContextManager[None]:
        """Note what this process sends inside the block in the record of the current call."""


def on_device(device: str, store: Any) -> Any:
    """Return a store that was made for the local device, as parts where `device` is that of a grid."""
    return grid_of(device).take(store) if " " in device else store


def moved(store: Any, device: str) -> Any:
    """Return a store on another device, of which at least one is a grid of processes.  From a grid it is collective."""
    return on_device(device, whole_of(store).to(local_device(device)))


def whole_of(store: Any) -> Any:
    """Return a store as one that this process reads: itself, or of parts the whole, which is collective."""
    return grid_of(store.device).whole(store) if " " in store.device else store


def on_part(function: Callable[P, T]) -> Callable[P, T]:
    """Make a function that changes the storage kind of a matrix, its first argument, act on the block of this process.

    Each process converts its own block; an error on one of them is raised on all.  Collective.
    """

    @functools.wraps(function)
    def converted(*args: P.args, **kwargs: P.kwargs) -> T:
        store: Any = args[0]
        if " " not in store.device:
            return function(*args, **kwargs)
        grid = grid_of(store.device)
        part = grid.part(store)
        act: Any = function
        made: Any = grid.together(lambda: act(part, *args[1:], **kwargs))
        return cast(T, store if grid.agreed(made is part) else grid.with_part(store, made))

    return converted


def grid_of(device: str) -> ProcessGrid:
    """Return the grid with this name; InvalidValue if there is none."""
    return cast(ProcessGrid, config.grid_of(device))


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
    """The values of one block: an array, or one value that all entries of the block share."""

    def __init__(self, array: Array | None, iso: np.generic | None) -> None:
        super().__init__(0 if array is None else int(array.nbytes))
        self.array, self.iso = array, iso


class Sum:
    """The sum of a number over all processes, computed when it is first read.  Reading is collective."""

    def __init__(self, grid: ProcessGrid, part: Any) -> None:
        self._grid, self._part = grid, part

    @derived
    def value(self) -> int:
        """The sum."""
        return self._grid.total(int(self._part.nvals))


@record
class PartPattern(AnyPattern):
    """The structure of a matrix, of which this process holds one block.

    grid: the processes, and which rows and columns each block covers.  part: the block, a pattern of any format.
    """

    format = "parts"
    ARRAYS = ()
    ENTRIES = None
    base = at = None

    grid: ProcessGrid
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
        return self.grid.device

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
class PartVector:
    """A vector of which this process holds one piece.

    iso: the value that all entries of all pieces are known to share, else None; a piece may share one all the same.
    """

    grid: ProcessGrid
    size: int
    dtype: np.dtype[Any]
    part: Any
    iso: np.generic | None = None

    format: ClassVar[Literal["parts"]] = "parts"
    kind: ClassVar[None] = None  # only matrices differ in codec and placement

    @derived
    def count(self) -> Sum:
        """The number of entries of all pieces."""
        return Sum(self.grid, self.part)

    @property
    def nvals(self) -> int:
        """The number of stored entries.  Collective the first time."""
        return self.count.value

    @property
    def values(self) -> Any:
        """The values of the piece, for those who pass them on."""
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
        return self.grid.device

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays of the piece."""
        return int(self.part.nbytes)

    def to(self, device: str) -> PartVector:
        """Return the same vector on another device; whole, if that is no grid."""
        return self if device == self.device else moved(self, device)
