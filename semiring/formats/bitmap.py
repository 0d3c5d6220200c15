"""Bitmap matrices: one presence bit and one value slot for every position, in row-major order.

The bits and the values are those of a bitmap vector (`formats.vectors`) of nrows ncols entries: entry (i, j) of the
matrix is entry i ncols + j of the vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Self

import numpy as np

from ..config import config
from ..memory.arrays import Array, array_module, device_of, index_dtype, to_device, to_host
from ..memory.placement import Placement
from ..record_types import zero
from .csr import CSR
from .pattern import AnyPattern, offset_facts, scalar_facts
from .records import derived, record
from .vectors import Bitmap, Count, bit_counts, word_count

# A result without bits becomes a bitmap at this many times the density at which one with bits ceases to be one.
_HYSTERESIS = 2


@record
class BitmapPattern(AnyPattern):
    """The structure of a matrix that has a bit for each position.

    nrows, ncols: the shape.
    words: the bits, uint32, in the memory of the device; bit ``b`` of word ``w`` is the position ``32 w + b``, which is
        ``i ncols + j``; bits past ``nrows ncols`` are 0.
    count: the number of bits that are set; it may still be on the device.
    facts: see `AnyPattern`; ``"rows"``: the same structure as uncompressed rows.
    placement: that of the values.
    """

    format = "bitmap"
    by_position = True
    ARRAYS = ("words",)
    ENTRIES = None
    codec = None
    base = at = None

    nrows: int
    ncols: int
    words: Array
    count: Count
    facts: dict[str, Any] = field(default_factory=dict, repr=False)
    placement: Placement = "device"

    @property
    def nvals(self) -> int:  # type: ignore[override]
        """The number of stored entries.  Synchronizes if it is still on the device."""
        return self.count.get()

    @derived
    def device(self) -> str:
        """The device that computes with it."""
        return device_of(self.words)

    @derived
    def slots(self) -> int:
        """The number of values: one for each position."""
        return self.nrows * self.ncols

    @derived
    def indptr(self) -> Array:
        """The number of entries before each row.  Cost O(nrows ncols / 32), once."""
        xp = array_module(self.device)
        first = xp.arange(self.nrows + 1, dtype=np.int64) * self.ncols
        before = xp.zeros(self.words.size + 1, dtype=np.int64)
        xp.cumsum(bit_counts(self.words), out=before[1:])
        words = xp.concatenate([self.words, xp.zeros(1, dtype=np.uint32)])[first >> 5]
        part = words & ((xp.uint32(1) << (first & 31).astype(np.uint32)) - xp.uint32(1))
        return (before[first >> 5] + bit_counts(part)).astype(index_dtype(self.nvals), copy=False)

    @classmethod
    def sections(
        cls, nrows: int, ncols: int, nvals: int, codec: str | None, elements: int
    ) -> dict[str, tuple[int, np.dtype[Any]]]:
        """Return the size and the dtype of the bits."""
        return {"words": (word_count(nrows * ncols), np.dtype(np.uint32))}

    @classmethod
    def wrong_ends(
        cls, arrays: Mapping[str, Array], nvals: int, codec: str | None, shape: tuple[int, ...]
    ) -> tuple[str, str | None] | None:
        """Check the number of bits, and that none is set past the last position."""
        words, size = to_host(arrays["words"]).astype(np.uint32, copy=False), shape[0] * shape[1]
        found = int(bit_counts(words).sum(dtype=np.int64))
        if found != nvals:
            return f"expected {nvals} bits, found {found}", "words"
        if size & 31 and int(words[-1]) >> (size & 31):
            return f"expected no bit past position {size}, found one", "words"
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
        """Return the pattern with these arrays."""
        return cls(nrows, ncols, arrays["words"], Count(nvals), facts, placement)

    def placed(self, placement: Placement, device: str) -> Self:
        """Return the same pattern for values with this placement."""
        facts = offset_facts(self) if self.device == device else scalar_facts(self)
        return self.with_arrays({"words": to_device(self.words, device)}, facts, placement)


def is_bitmap(a: Any) -> bool:
    """Return True for a bitmap matrix."""
    return isinstance(getattr(a, "pattern", None), BitmapPattern)


def bits_shaped(u: Bitmap, nrows: int, ncols: int) -> CSR:
    """Return a vector of nrows ncols entries as a bitmap matrix, which shares its arrays."""
    return CSR(pattern_of(u, nrows, ncols), u.dtype, u.values, u.iso)


def prefers_bitmap(nvals: int, slots: int, *, has_bits: bool = True) -> bool:
    """Return True if the result of an operation on a bitmap matrix is to be one.

    The rule: a density of at least `config.bitmap_switch`; twice that for a result that the operation made without
    bits (`has_bits` is False), so that a matrix near the threshold does not change its format at every operation.
    """
    least = config.bitmap_switch * (1 if has_bits else _HYSTERESIS)
    return least > 0 and nvals >= least * slots


def pattern_of(u: Bitmap, nrows: int, ncols: int) -> BitmapPattern:
    """Return the pattern whose bits are those of a vector of nrows ncols entries."""
    return BitmapPattern(nrows, ncols, u.words, u.count)


def words_of_flags(flags: Array) -> Array:
    """Return the bits of an array of booleans."""
    xp = array_module(device_of(flags))
    packed = xp.packbits(flags.reshape(-1), bitorder="little")
    words = xp.zeros(word_count(int(flags.size)), dtype=np.uint32)
    words.view(np.uint8)[: packed.size] = packed
    return words


def flags_of_words(words: Array, size: int) -> Array:
    """Return one boolean for each of `size` bits."""
    return array_module(device_of(words)).unpackbits(words.view(np.uint8), bitorder="little")[:size].view(np.bool_)


def bit_count(words: Array) -> Count:
    """Return the number of bits, which may remain on the device."""
    return Count(bit_counts(words).sum(dtype=np.int64).reshape(1))


def cleared(u: Bitmap) -> Array:
    """Return the values of a vector that has some, with 0 in the slots without an entry.

    Equal vectors then have equal values, and no uninitialized memory leaves the program.
    """
    flags = flags_of_words(u.words, u.size)
    if u.dtype.names is not None:  # CuPy's `where` has no records
        assert u.values is not None
        made = u.values.copy()
        made[~flags] = zero(u.dtype)
        return made
    return array_module(u.device).where(flags, u.values, zero(u.dtype))
