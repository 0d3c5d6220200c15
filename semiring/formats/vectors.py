"""The three storage formats of vectors: an index list (few entries), a bitmap (many), full (all present).

Presence is one bit an entry, in 32-bit words: bit ``b`` of word ``w`` is entry ``32 * w + b``; bits at and
past `size` are 0.  A probe then reads 32 times fewer bytes than with a 32-bit flag, on both devices.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar, Protocol, Self, cast

import numpy as np

from ..devices import in_parts, local_device, moved, on_device
from ..memory.arrays import (
    Array,
    array_module,
    current_device,
    device_of,
    index_dtype,
    to_device,
    to_host,
)
from .records import derived, record


def word_count(size: int) -> int:
    """Return the number of 32-bit words that hold `size` presence bits."""
    return (size + 31) // 32


class Unread(Protocol):
    """A number on the device."""

    def read(self) -> int:
        """Return the number.  Synchronizes."""


class Count:
    """A number that may still be on the device; copied once, then cached.

    source: an int, an `Unread`, or a device array whose first element is the number.
    """

    __slots__ = ("_source", "_value")

    def __init__(self, source: int | Unread | Array) -> None:
        self._value: int | None = int(source) if isinstance(source, (int, np.integer)) else None
        self._source: Any = None if self._value is not None else source

    @property
    def known(self) -> bool:
        """Whether `get` returns without waiting for the device."""
        return self._value is not None

    @property
    def source(self) -> Any:
        """The object that holds the number on the device, or None once it is known."""
        return self._source

    def get(self) -> int:
        """Return the number.  Synchronizes on the first call, where it was computed on the GPU."""
        if self._value is None:
            source = self._source
            self._value = int(source.read() if hasattr(source, "read") else to_host(source)[0])
            self._source = None
        return self._value


class Uncounted(Count):
    """The number of bits of words, counted on their device when it is first asked for."""

    __slots__ = ("_words",)

    def __init__(self, words: Array) -> None:
        super().__init__(words)
        self._words: Array | None = words

    @property
    def source(self) -> Any:
        """An array with the number, or None once it is known."""
        if self._words is not None:
            self._source, self._words = bit_counts(self._words).sum(dtype=np.int64).reshape(1), None
        return self._source

    def get(self) -> int:
        """Return the number.  Synchronizes on the first call, where the words are on the GPU."""
        if self._words is not None and isinstance(self._words, np.ndarray):
            self._value, self._source, self._words = int(np.bitwise_count(self._words).sum()), None, None
        elif self.source is None:
            assert self._value is not None
        return super().get()


def bit_counts(words: Array) -> Array:
    """Return the number of bits in each word; by arithmetic, as not every version of CuPy counts bits."""
    pairs = words - ((words >> 1) & 0x55555555)
    fours = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333)
    return (((fours + (fours >> 4)) & 0x0F0F0F0F) * 0x01010101) >> 24


class VectorStore:
    """What vectors of all formats have; `distributed.part_stores` has another format.

    format: the name of the format.
    ARRAY: the name of the array that states which entries are present, or None.
    kind: None, as only matrices differ in codec and placement.
    values: one for each slot, or None where all entries have the value `iso`.
    """

    format: ClassVar[str]
    ARRAY: ClassVar[str | None] = None
    kind: ClassVar[None] = None

    size: int
    dtype: np.dtype[Any]
    values: Array | None
    iso: np.generic | None
    indices: Array
    words: Array

    @property
    def nvals(self) -> int:
        """The number of stored entries."""
        raise NotImplementedError

    @derived
    def device(self) -> str:
        """The device of the arrays."""
        assert self.ARRAY is not None
        return device_of(getattr(self, self.ARRAY))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        structure = 0 if self.ARRAY is None else int(getattr(self, self.ARRAY).nbytes)
        return structure + (0 if self.values is None else int(self.values.nbytes))

    def to(self, device: str) -> Self:
        """Return the same vector on another device."""
        if device == self.device:
            return self
        values = None if self.values is None or in_parts(device) else to_device(self.values, device)
        made: Self = moved(self, device) if in_parts(device) else self.copied(device, values)
        return made

    def copied(self, device: str, values: Array | None) -> Any:
        """Return the vector with its other arrays on a device."""
        raise NotImplementedError

    def with_values(self, dtype: np.dtype[Any], values: Array | None, iso: np.generic | None) -> Any:
        """Return a vector of the same structure with other values, or with one `iso` value."""
        raise NotImplementedError


@record
class IndexList(VectorStore):
    """Sorted indices of the entries, with their values.

    indices: ascending, without duplicates; `index_dtype(size)`.
    values: as long as `indices`, or None where iso-valued.
    """

    size: int
    dtype: np.dtype[Any]
    indices: Array
    values: Array | None
    iso: np.generic | None = None

    format = "index"
    ARRAY = "indices"
    invariant: ClassVar[str] = "(values is None) != (iso is None)"

    @derived
    def nvals(self) -> int:
        """The number of stored entries."""
        return int(self.indices.size)

    def copied(self, device: str, values: Array | None) -> IndexList:
        """Return the vector with its other arrays on a device."""
        return IndexList(self.size, self.dtype, to_device(self.indices, device), values, self.iso)

    def with_values(self, dtype: np.dtype[Any], values: Array | None, iso: np.generic | None) -> IndexList:
        """Return a vector of the same structure."""
        return IndexList(self.size, dtype, self.indices, values, iso)


class SingleEntry(IndexList):
    """An iso-valued index list of one entry whose index is known on the host: the source of a search.

    Kernels take the index by value; the array of indices is made when something else reads it.
    """

    def __init__(self, size: int, dtype: np.dtype[Any], index: int, iso: np.generic, device: str) -> None:
        vars(self).update(size=size, dtype=dtype, values=None, iso=iso, index=index, nvals=1, device=device)

    index: int

    @derived
    def indices(self) -> Array:
        """The index as an array on the device."""
        return to_device(np.array([self.index], index_dtype(self.size)), self.device)

    def to(self, device: str) -> Self:
        """The same vector on another device."""
        assert self.iso is not None
        return self if device == self.device else type(self)(self.size, self.dtype, self.index, self.iso, device)

    def with_values(self, dtype: np.dtype[Any], values: Array | None, iso: np.generic | None) -> IndexList:
        """Return a vector of the same structure."""
        if iso is None:
            return super().with_values(dtype, values, iso)
        return SingleEntry(self.size, dtype, self.index, iso, self.device)


@record
class Bitmap(VectorStore):
    """One presence bit for every index, and a value slot for every index.

    words: uint32, `word_count(size)` of them.
    values: `size` slots (those of absent entries have arbitrary contents), or None where iso-valued.
    count: the number of set bits; it may still be on the device.
    """

    size: int
    dtype: np.dtype[Any]
    words: Array
    values: Array | None
    iso: np.generic | None
    count: Count

    format = "bitmap"
    ARRAY = "words"
    invariant: ClassVar[str] = "(values is None) != (iso is None)"

    @property
    def nvals(self) -> int:
        """The number of stored entries.  Synchronizes if it is still on the device."""
        return self.count.get()

    def copied(self, device: str, values: Array | None) -> Bitmap:
        """Return the vector with its other arrays on a device."""
        words = to_device(self.words, device)
        return Bitmap(self.size, self.dtype, words, values, self.iso, Count(self.count.get()))

    def with_values(self, dtype: np.dtype[Any], values: Array | None, iso: np.generic | None) -> Bitmap:
        """Return a vector of the same structure."""
        return Bitmap(self.size, dtype, self.words, values, iso, self.count)


@record
class Full(VectorStore):
    """Every entry is present.

    values: `size` values, or None where iso-valued (then the vector has no array).
    on: the device of an iso-valued vector.
    """

    size: int
    dtype: np.dtype[Any]
    values: Array | None
    iso: np.generic | None = None
    on: str = "cpu"

    format = "full"
    invariant: ClassVar[str] = "(values is None) != (iso is None)"

    @property
    def nvals(self) -> int:
        """The number of stored entries: all."""
        return self.size

    @derived
    def device(self) -> str:
        """The device of the values."""
        return self.on if self.values is None else device_of(self.values)

    def copied(self, device: str, values: Array | None) -> Full:
        """Return the vector on a device."""
        return Full(self.size, self.dtype, values, self.iso, device)

    def with_values(self, dtype: np.dtype[Any], values: Array | None, iso: np.generic | None) -> Full:
        """Return a vector of the same structure."""
        return Full(self.size, dtype, values, iso, self.device)


def empty_vector(size: int, dtype: np.dtype[Any], device: str) -> IndexList:
    """Return a vector without entries."""
    if in_parts(device):
        return cast(IndexList, on_device(device, empty_vector(size, dtype, local_device(device))))
    made = IndexList(size, dtype, no_elements(index_dtype(size), device), no_elements(dtype, device))
    vars(made).update(nvals=0, device=device)
    return made


def no_elements(dtype: np.dtype[Any], device: str) -> Array:
    """Return an array without elements: one object for all, as nothing writes to it."""
    return _no_elements(dtype, device, current_device() if device == "cuda" else 0)


@functools.lru_cache(maxsize=256)
def _no_elements(dtype: np.dtype[Any], device: str, number: int) -> Array:
    return array_module(device).empty(0, dtype=dtype)
